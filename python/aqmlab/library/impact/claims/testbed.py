"""Claims on the levels of the testbed, which only a testbed could judge."""

from __future__ import annotations

from aqmlab.library.impact.measures import MIXED, RED, TD, present, tcp_goodput, udp_loss
from aqmlab.papers import Claim, Evidence, Judgement
from aqmlab.papers.run.seeds import mean


def levels(evidence: Evidence) -> Judgement:
    """Leave the testbed's level of loss unjudged: it requires a testbed."""
    runs = evidence["mixed"]
    lose, have = (
        [mean(measure(runs, label, at)) for label in (TD, RED) for at in present(runs, MIXED).values()]
        for measure in (udp_loss, tcp_goodput)
    )
    return Judgement(
        [],
        "These levels are of Chariot's scripts on those PCs, which are not described. Our copy of them loses "
        f"{min(lose):.0f} to {max(lose):.0f} % of UDP and delivers {min(have):.1f} to {max(have):.1f} Mbit/s of TCP: "
        "only differences between disciplines are to be compared.",
    )


CLAIMS = (
    Claim(
        name="testbed-levels",
        text="On the testbed UDP loses 29 to 38 %, and TCP delivers 7 to 8.4 Mbit/s (in the text about 8.7).",
        where="Section III-A.2, Fig. 5",
        judge=levels,
        needs=["mixed"],
        shown=["fig5"],
    ),
)
