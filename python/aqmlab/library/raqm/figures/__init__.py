"""The figures and tables of RAQM's paper in its order, then ours."""

from aqmlab.library.raqm.figures import balance, cases, future, start, targets, theory

ITEMS = (
    theory.FIGURE_2,
    cases.FIGURE_4,
    cases.FIGURE_5,
    cases.FIGURE_6,
    targets.FIGURE_7,
    cases.FIGURE_8,
    theory.NUMBERS,
    theory.CONVERGENCE,
    balance.REGULATION,
    balance.BALANCE,
    start.START,
    balance.PERIODS,
    future.BOTTLENECKS,
    future.SUB_AGGREGATES,
)
