"""The figures and tables of RAQM's paper in its order, then ours."""

from aqmlab_papers import items
from aqmlab_papers.raqm.figures import balance, cases, future, law, readings, targets, theory

ITEMS = items(
    "fig1 fig2 fig3 fig4 fig5 fig6 fig7 fig8 numbers convergence rate-mode static periods balance start regulation "
    "saved readings rem-forms bottlenecks sub-aggregates",
    balance,
    cases,
    future,
    law,
    readings,
    targets,
    theory,
)
