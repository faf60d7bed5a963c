"""The figures and tables of the study in its order, then ours."""

from aqmlab_papers import items
from aqmlab_papers.impact.figures import beyond, design, goodput, loss_runs

ITEMS = items(
    "fig1 table1 fig2 fig3 fig4 fig5 fig6 fig7 fig8 fig9 fig10 fig11 alone presets flows levels voice metrics equal "
    "short corners bursts links isolation failure buffer line runs split",
    beyond,
    design,
    goodput,
    loss_runs,
)
