"""The claims of the LRED paper in its order, then ours."""

from aqmlab_papers import claims
from aqmlab_papers.lred.claims import (
    background,
    estimate,
    exp1_response,
    exp2_extreme_loads,
    exp3_targets,
    exp4_udp,
    exp5_short_flows,
    exp6_two_way,
    future,
    laws,
    measurement,
    theory,
)

CLAIMS = claims(
    background,
    estimate,
    laws,
    theory,
    exp1_response,
    exp2_extreme_loads,
    exp3_targets,
    exp4_udp,
    exp5_short_flows,
    exp6_two_way,
    measurement,
    future,
)
