"""The figures: CUBIC's share, round trips, how rates vary, and a probe's losses."""

from collections.abc import Callable, Iterator
from itertools import product

from aqmlab_papers import Axis, Curve, Panel, PerSeed, Runs, figure
from aqmlab_papers.run.sketch import bars
from aqmlab_papers.wifi_bbr.measures import DELAYS, MANAGED, mismatch, own_wait, paces, share, variation, wait

TRIPS = Axis("Round trip without the air")
Measure = Callable[[Runs, str, str], PerSeed]


def _bars(panel: str, runs: Runs, measure: Measure, scale: float = 1.0) -> Iterator[Curve]:
    """Draw a quantity of each queue by round trip."""
    for label in runs.labels:
        yield bars(panel, label, list(DELAYS), [measure(runs, label, trip).summary for trip in DELAYS], scale)


@figure(
    [
        Panel("a", "One way", TRIPS, Axis("CUBIC's share (%)", 0, 100)),
        Panel("b", "Both directions", TRIPS, Axis("CUBIC's share (%)", 0, 100)),
    ],
    caption="CUBIC's part of what it and BBRv3 receive.",
    beyond=True,
)
def shares(one_way: Runs, both_ways: Runs) -> Iterator[Curve]:
    """CUBIC's share."""
    yield from _bars("a", one_way, share, 100)
    yield from _bars("b", both_ways, share, 100)


@figure(
    [
        Panel("a", "BBR, one way", TRIPS, Axis("Mean round trip (ms)", 0)),
        Panel("b", "BBR, both directions", TRIPS, Axis("Mean round trip (ms)", 0)),
        Panel("c", "A ping, one way", TRIPS, Axis("Mean round trip (ms)", 0)),
        Panel("d", "A ping, both directions", TRIPS, Axis("Mean round trip (ms)", 0)),
    ],
    caption="Mean round trips of BBR's packets and of a ping.",
    beyond=True,
)
def delays(one_way: Runs, both_ways: Runs) -> Iterator[Curve]:
    """Round trips of BBR and of a ping."""
    for panel, runs, measure in (
        ("a", one_way, own_wait),
        ("b", both_ways, own_wait),
        ("c", one_way, wait),
        ("d", both_ways, wait),
    ):
        yield from _bars(panel, runs, measure)


@figure(
    [
        Panel("a", "Sent", TRIPS, Axis("Standard deviation / mean", 0)),
        Panel("b", "Sent and delivered", TRIPS, Axis("Mean difference / mean", 0)),
    ],
    caption="BBR's rates over 0.1 s, one way: how that at which it sends varies, and how it differs from what the "
    "access point delivers.",
    beyond=True,
)
def rates(one_way: Runs) -> Iterator[Curve]:
    """How BBR's rates vary."""
    yield from _bars("a", one_way, variation)
    yield from _bars("b", one_way, mismatch)


PROBED = {letter: (label, trip) for letter, (label, trip) in zip("abcd", product(MANAGED, DELAYS), strict=True)}


@figure(
    [
        Panel(
            letter,
            f"{label}, {trip}",
            Axis("Time (s)", 5, 35),
            Axis("BBR's pace (Mbit/s)", 0, 450),
            (f"{letter}'", Axis("Losses in 0.1 s", 0, 20)),
        )
        for letter, (label, trip) in PROBED.items()
    ],
    caption="One run, one way: BBR's pace, the highest rate of 10 ms in each 0.1 s, and the packets lost "
    "where any are.",
    beyond=True,
)
def bursts(one_way: Runs) -> Iterator[Curve]:
    """BBR's pace and losses over time."""
    for letter, (label, trip) in PROBED.items():
        yield from paces(letter, one_way, label, trip)


@figure(
    [Panel("", "A ping beside an upload", TRIPS, Axis("Mean round trip (ms)", 0))],
    caption="The mean round trip of a ping beside an upload to a wired server, by the access point's queue and the "
    "station's, which is mac80211's in the first three.",
    beyond=True,
)
def upload(upload: Runs) -> Iterator[Curve]:
    """A ping beside an upload."""
    yield from _bars("", upload, wait)


ITEMS = (shares, delays, rates, bursts, upload)
