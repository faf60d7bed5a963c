"""The figures and tables of the survey, then ours."""

from aqmlab_papers import items
from aqmlab_papers.survey.figures import drop_tail, router, sweeps, tables, theory

ITEMS = items(
    "fig1 table1 fig2 schemes classes configuration conditions costs learning change calibration fixed gains plant "
    "synchronisation lock-out load",
    drop_tail,
    router,
    sweeps,
    tables,
    theory,
)
