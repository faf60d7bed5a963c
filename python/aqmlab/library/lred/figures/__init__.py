"""The figures and tables of the LRED paper in its order, then ours."""

from aqmlab.library.lred.figures import (
    estimate,
    exp1_response,
    exp2_extreme_loads,
    exp3_targets,
    exp4_udp,
    exp5_short_flows,
    exp6_two_way,
    future,
    measurement,
    theory,
)

ITEMS = (
    estimate.FIGURE_2,
    exp1_response.FIGURE_5,
    exp2_extreme_loads.FIGURE_6,
    exp3_targets.FIGURE_7,
    exp3_targets.FIGURE_8,
    exp4_udp.FIGURE_9,
    exp4_udp.FIGURE_10,
    exp5_short_flows.FIGURE_11,
    exp5_short_flows.FIGURE_12,
    exp5_short_flows.FIGURE_13,
    exp5_short_flows.FIGURE_14,
    exp6_two_way.FIGURE_15,
    exp6_two_way.FIGURE_16,
    measurement.FIGURE_17,
    exp2_extreme_loads.NUMBERS,
    theory.GAINS,
    future.MARKS_FIGURE,
    future.NOISE_FIGURE,
    future.PRIORITIES_FIGURE,
)
