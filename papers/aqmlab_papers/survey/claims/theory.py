"""A claim on the plant (1): section 2.5."""

from aqmlab_papers import Effect, Judgement, claim
from aqmlab_papers.survey import theory


@claim(
    "the open-loop transfer function (OLTF) of the plant was given by …",
    "Section 2.5, eq. (1)",
    "plant",
    arithmetic=True,
)
def plant() -> Judgement:
    """The open-loop plant (1) of TCP and queue is that of the PI paper."""
    where = (theory.FLOWS_MIN, theory.RTT_MAX, theory.CAPACITY)
    checks = [
        Effect(f"gain of (1) over that of Hollot's plant, at {speed:g} rad/s").exact(
            abs(theory.printed_plant(1j * speed, *where)) / abs(theory.hollot(*where)(1j * speed)),
            least=0.999,
            most=1.001,
        )
        for speed in (0.02, 2, 200)  # below, between and above its two poles
    ]
    return Judgement(
        checks,
        "Hollot et al. keep the delay e^(-s R0) of the loop apart from the plant, as (1) does; without it, continuous "
        "PI's loop would be stable with any gain.",
    )
