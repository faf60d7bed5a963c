"""The figures and tables of the survey, then ours."""

from aqmlab_papers.survey.figures import drop_tail, router, sweeps, tables, theory

ITEMS = (
    router.FIGURE_1,
    tables.TABLE_1,
    router.FIGURE_2,
    tables.SCHEMES,
    tables.CLASSES,
    tables.CONFIGURATION,
    tables.CONDITIONS,
    tables.COSTS,
    router.LEARNING,
    router.CHANGE,
    drop_tail.CALIBRATION,
    sweeps.FIXED,
    sweeps.GAINS,
    theory.PLANT,
    sweeps.SYNCHRONISATION,
    sweeps.LOAD,
)
