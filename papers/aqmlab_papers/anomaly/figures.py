"""The figures: airtime, goodput and wait of three stations by the access point's queues."""

from collections.abc import Iterator

from aqmlab_papers import Axis, Curve, Panel, Runs, figure
from aqmlab_papers.anomaly.measures import AFTER, BEFORE, QUEUES, STATIONS, airtime, received, wait
from aqmlab_papers.run.sketch import bars


@figure(
    [
        Panel("a", "Downloads", Axis("Station"), Axis("Airtime (%)", 0, 100)),
        Panel("b", "UDP", Axis("Station"), Axis("Airtime (%)", 0, 100)),
    ],
    caption="The part of the time that transmissions to and from each station take.",
    beyond=True,
)
def airtimes(downloads: Runs, datagrams: Runs) -> Iterator[Curve]:
    """Airtime of each station."""
    for panel, runs in (("a", downloads), ("b", datagrams)):
        for label in QUEUES:
            yield bars(panel, label, STATIONS, [(airtime(runs, label, name) * 100.0).summary for name in STATIONS])


@figure(
    [Panel("", "Downloads", Axis("Station"), Axis("Goodput (Mbit/s)", 0))],
    caption="Points: what the authors measured with queues of stations, without their patch and with it.",
    beyond=True,
)
def goodputs(downloads: Runs) -> Iterator[Curve]:
    """What each station receives."""
    for label in QUEUES:
        yield bars("", label, STATIONS, [received(downloads, label, name).summary for name in STATIONS])
    for label, values in (("FQ-MAC", BEFORE), ("Airtime", AFTER)):
        yield Curve("", label, STATIONS, list(values), style="points")


@figure(
    [Panel("", "A ping beside downloads", Axis("Station"), Axis("Mean round trip (ms)", 1, log=True))],
    caption="The mean round trip of a ping, on a logarithmic axis.",
    beyond=True,
)
def delays(downloads: Runs) -> Iterator[Curve]:
    """How long a ping takes."""
    for label in QUEUES:
        yield bars("", label, ("fast", "slow"), [wait(downloads, label, name).summary for name in ("fast", "slow")])


ITEMS = (airtimes, goodputs, delays)
