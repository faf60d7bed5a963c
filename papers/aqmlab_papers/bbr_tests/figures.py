"""The figures: the phases of a flow alone, and changes of the link's rate."""

from collections.abc import Iterator

from aqmlab_papers import Axis, Curve, Evidence, Panel, figure
from aqmlab_papers.bbr_tests.experiments import TCPS
from aqmlab_papers.bbr_tests.measures import Path, curve

PATH = Path()
TIME = "Time (s)"
RATE = Axis("Sent, over the link's rate", 0, 2.2)


@figure(
    [
        Panel("a", "Sent", Axis(TIME, 0, 12), RATE),
        Panel("b", "In flight", Axis(TIME, 0, 12), Axis("In flight (BDP)", 0, 3.2)),
    ],
    needs=["alone"],
    caption="One run; means of 20 ms. Version 1 probes each eight round trips and has its PROBE_RTT after 10 s.",
    beyond=True,
)
def phases(evidence: Evidence) -> Iterator[Curve]:
    """The phases of a flow alone at 100 Mbit/s and 40 ms."""
    for tcp in TCPS:
        yield curve("a", tcp, evidence["alone"], lambda seen: seen.pace, PATH, (0, 12))
        yield curve("b", tcp, evidence["alone"], lambda seen: seen.flight, PATH, (0, 12))


@figure(
    [
        Panel("a", "70 % less from DRAIN on", Axis(TIME, 0, 7), RATE),
        Panel("b", "Ten times after 5 s", Axis(TIME, 4, 9), RATE),
    ],
    needs=["deeper-drain", "faster"],
    caption="One run; means of 20 ms. Rates are parts of 100 Mbit/s. In (a) 30 Mbit/s remain, and DRAIN sends "
    "more than that.",
    beyond=True,
)
def changes(evidence: Evidence) -> Iterator[Curve]:
    """The rate at which a flow sends when that of the link changes."""
    for panel, name, span in (("a", "deeper-drain", (0, 7)), ("b", "faster", (4, 9))):
        for tcp in TCPS:
            yield curve(panel, tcp, evidence[name], lambda seen: seen.pace, PATH, span)


ITEMS = (phases, changes)
