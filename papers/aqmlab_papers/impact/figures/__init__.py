"""The figures and tables of the study in its order, then ours."""

from aqmlab_papers.impact.figures import beyond, design, goodput, loss_runs

ITEMS = (
    design.FIGURE_1,
    design.TABLE_1,
    design.FIGURE_2,
    design.FIGURE_3,
    goodput.FIGURE_4,
    goodput.FIGURE_5,
    loss_runs.FIGURE_6,
    goodput.FIGURE_7,
    goodput.FIGURE_8,
    loss_runs.FIGURE_9,
    goodput.FIGURE_10,
    loss_runs.FIGURE_11,
    *beyond.ITEMS,
)
