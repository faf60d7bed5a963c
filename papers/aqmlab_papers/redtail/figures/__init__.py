"""The figures and tables of the RED+Tail paper in its order, then ours."""

from aqmlab_papers import items
from aqmlab_papers.redtail.figures import future, model, short_queue, thresholds, transfers, web

ITEMS = items(
    "fig1 fig2 table1 table2 fig4 fig5 fig6 fig7 fig8 table3 fig9 fig10 fig11 fig12 fig13 fig14 table4 fig15 fig16 "
    "fig17 fig18 fig19 fig20 fig21 fig21-fixed eq12 masses one-loss synchronisation random-loss alarms causes over-n "
    "over-c1max over-t voice goodput weights slope trade-off room mixed queues targets table3-later prediction "
    "forecast optimum",
    future,
    model,
    short_queue,
    thresholds,
    transfers,
    web,
)
