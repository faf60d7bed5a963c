"""The claims of the LRED paper in its order, then ours."""

from aqmlab.library.lred.claims import (
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

CLAIMS = (
    *theory.CLAIMS,
    *estimate.CLAIMS,
    *exp1_response.CLAIMS,
    *exp2_extreme_loads.CLAIMS,
    *exp3_targets.CLAIMS,
    *exp4_udp.CLAIMS,
    *exp5_short_flows.CLAIMS,
    *exp6_two_way.CLAIMS,
    *measurement.CLAIMS,
    *theory.BEYOND,
    *exp1_response.BEYOND,
    *future.BEYOND,
)
