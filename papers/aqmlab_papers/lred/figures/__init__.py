"""The figures and tables of the LRED paper in its order, then ours."""

from aqmlab_papers import items
from aqmlab_papers.lred.figures import curves, estimate, queues, tables

ITEMS = items(
    "fig1 fig2 fig3 fig4 fig5 fig6 fig7 fig8 fig9 fig10 fig11 fig12 fig13 fig14 fig15 fig16 fig17 numbers gains costs "
    "fig9-peak tradeoff laws related red-settings buffers buffer-response period steps sizes model marks noise "
    "priorities",
    curves,
    estimate,
    queues,
    tables,
)
