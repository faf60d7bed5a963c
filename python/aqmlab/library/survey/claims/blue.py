"""Claims on BLUE: section 4.2."""

from __future__ import annotations

from aqmlab.library.survey import measures
from aqmlab.library.survey.measures import mean_of
from aqmlab.papers import Check, Claim, Evidence, Judgement


def blue_steps(evidence: Evidence) -> Judgement:
    """Compare BLUE's loss with that of other pairs of steps."""
    runs = evidence["steps"]
    printed, *others = runs.labels
    checks = [
        Check.of(
            f"loss of TCP packets: {other} minus {printed}",
            measures.difference(runs, measures.LOST, other, printed),
            least=0,
        )
        for other in others
    ]
    worst = max((mean_of(measures.LOST, runs, label), label) for label in runs.labels)
    return Judgement(
        checks,
        f"A probability that falls as fast as it rises, or faster, has to be learnt anew by overflows: {worst[1]} "
        f"loses {100 * worst[0]:.1f} % of TCP's packets, the printed steps "
        f"{100 * mean_of(measures.LOST, runs, printed):.1f} %.",
    )


CLAIMS = (
    Claim(
        name="blue-steps",
        text="BLUE's d1 must be much larger than d2: losses come only where it manages congestion too little.",
        where="Section 4.2",
        judge=blue_steps,
        needs=["steps"],
    ),
)
