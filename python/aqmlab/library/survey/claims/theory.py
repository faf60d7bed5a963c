"""Claims on the plant (1): section 2.5."""

from __future__ import annotations

import cmath

from aqmlab.library.survey import theory
from aqmlab.papers import Check, Claim, Evidence, Judgement


def plant(_: Evidence) -> Judgement:
    """Compare the plant (1) with Hollot's."""
    where = (theory.FLOWS_MIN, theory.RTT_MAX, theory.CAPACITY)
    printed, hollot = theory.printed_plant(2j, *where), theory.hollot(*where)(2j)
    checks = [
        Check.exact(
            "gain of (1) over that of Hollot's plant, at 2 rad/s", abs(printed) / abs(hollot), least=0.999, most=1.001
        ),
        Check.exact(
            "delay that (1) leaves out, at 2 rad/s over the round trip",
            cmath.phase(printed / hollot) / (2.0 * theory.RTT_MAX),
            least=-0.001,
            most=0.001,
        ),
    ]
    return Judgement(
        checks,
        "The glyphs of (1) are garbled; put together they are the plant of Hollot et al. but for e^(-s R0), without "
        "which continuous PI's loop is stable with any gain.",
    )


CLAIMS = (
    Claim(
        name="plant",
        text="The open-loop plant (1) of TCP and queue is that of the PI paper.",
        where="Section 2.5, eq. (1)",
        judge=plant,
        shown=["plant"],
    ),
)
