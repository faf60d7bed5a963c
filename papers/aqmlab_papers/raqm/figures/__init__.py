"""The figures and tables of RAQM's paper in its order, then ours."""

from aqmlab_papers.raqm.figures import balance, cases, future, law, readings, targets, theory

ITEMS = (
    law.FIGURE_1,
    theory.FIGURE_2,
    cases.FIGURE_3,
    cases.FIGURE_4,
    cases.FIGURE_5,
    cases.FIGURE_6,
    targets.FIGURE_7,
    cases.FIGURE_8,
    theory.NUMBERS,
    theory.CONVERGENCE,
    law.RATE,
    law.STATIC,
    law.PERIODS,
    balance.BALANCE,
    balance.START,
    targets.REGULATION,
    readings.SAVED,
    readings.READINGS,
    readings.FORMS,
    future.BOTTLENECKS,
    future.SUB_AGGREGATES,
)
