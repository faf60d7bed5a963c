"""A claim on the plant (1): section 2.5."""

from __future__ import annotations

from aqmlab.library.survey import theory
from aqmlab.papers import Check, Judgement, claim


@claim(
    quote="the open-loop transfer function (OLTF) of the plant was given by …",
    where="Section 2.5, eq. (1)",
    shown="plant",
    arithmetic=True,
)
def plant() -> Judgement:
    """The open-loop plant (1) of TCP and queue is that of the PI paper."""
    where = (theory.FLOWS_MIN, theory.RTT_MAX, theory.CAPACITY)
    ratio = abs(theory.printed_plant(2j, *where)) / abs(theory.hollot(*where)(2j))
    return Judgement(
        [Check.exact("gain of (1) over that of Hollot's plant, at 2 rad/s", ratio, least=0.999, most=1.001)],
        "Hollot et al. keep the delay e^(-s R0) of the loop apart from the plant, as (1) does; without it, continuous "
        "PI's loop would be stable with any gain.",
    )
