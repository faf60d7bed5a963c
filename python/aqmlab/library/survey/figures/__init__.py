"""The figure and tables of the survey, then ours."""

from aqmlab.library.survey.figures import drop_tail, pi, schemes, theory

ITEMS = (
    schemes.TABLE_1,
    schemes.FIGURE_2,
    schemes.SCHEMES,
    drop_tail.CALIBRATION,
    drop_tail.NODES_TABLE,
    pi.GAINS_FIGURE,
    theory.PLANT,
    schemes.LOAD,
)
