"""Figures 4, 5, 7, 8 and 10: goodput of TCP and loss of UDP."""

from collections.abc import Iterator, Mapping, Sequence

from aqmlab_papers import At, Axis, Curve, Panel, PerSeed, Runs, figure
from aqmlab_papers.impact import measures as m
from aqmlab_papers.run.sketch import bars, mean_curve

GOODPUT = "TCP goodput (Mbit/s)"
UDP = "UDP loss probability (%)"
EXPERIMENT = Axis("Experiment")
WEIGHT = Axis("Averaging w", 0.001, 1, log=True)
BARS_AND_MARKS = "Bars: goodput, left axis. Circles on them: UDP loss of the same discipline, right axis."


def two(x: Axis, goodput: tuple[float, float], loss: tuple[float, float]) -> list[Panel]:
    """Return the panel of goodput, at the left axis, and loss, at the right."""
    return [Panel("", "", x, Axis(GOODPUT, *goodput), right=("right", Axis(UDP, *loss)))]


def _bars_and_marks(runs: Runs, points: Mapping[str, At], labels: Sequence[str]) -> Iterator[Curve]:
    for panel, quantity, style in (("", m.tcp_goodput(runs), "bars"), ("right", m.UDP_LOSS, "points")):
        for label in labels:
            found = [runs.per_seed(**quantity, label=label, at=at).summary for at in points.values()]
            yield mean_curve(panel, label, list(points), found, style=style)


def _printed(panel: str, name: str, found: Sequence[PerSeed], by: Sequence[float]) -> Curve:
    """Draw what the text states relative to a discipline: the least, the middle and the most as factors of ours."""
    low, middle, high = ([one.mean * factor for one in found] for factor in (by[0], sum(by) / len(by), by[-1]))
    banded = len(by) > 1
    return Curve(
        panel, f"{name} (paper)", list(m.MIXED), middle, low if banded else None, high if banded else None, "printed"
    )


@figure(
    [Panel("", "Goodput", EXPERIMENT, Axis("Throughput (Mbit/s)", 9.0, 9.6))],
    caption="The printed axis begins at 9.15. Most that there can be is 9.6: 40 of 1000 bytes are headers.",
    across=1,
)
def fig4(tcp: Runs) -> Iterator[Curve]:
    """Aggregate goodput with RED and tail drop, experiments 1 to 5."""
    for label in (m.TD, m.RED):
        found = [tcp.per_seed(**m.tcp_goodput(tcp), label=label, at=at).summary for at in m.TCP_ONLY.values()]
        yield bars("", label, list(m.TCP_ONLY), found)


@figure(
    two(EXPERIMENT, (7, 9), (15, 45)),
    caption=f"{BARS_AND_MARKS} The printed axes begin at 7 Mbit/s and 29 % and end at 8.4 Mbit/s and 38 %: a loss "
    "below 29 % would be off them. Grey: 5 to 12 % more than our tail drop, as the text has it of RED.",
    across=1,
)
def fig5(mixed: Runs) -> Iterator[Curve]:
    """TCP goodput and UDP loss with RED and tail drop, experiments 6 to 8."""
    yield from _bars_and_marks(mixed, m.MIXED, (m.RED, m.TD))
    loss = [mixed.per_seed(**m.UDP_LOSS, label=m.TD, at=at) for at in m.MIXED.values()]
    yield _printed("right", "5 to 12 % above our Tail Drop", loss, (1.05, 1.12))


@figure(two(WEIGHT, (8, 9), (0, 20)), caption="The printed axes have no numbers.", across=1)
def fig7(averaging: Runs) -> Iterator[Curve]:
    """Impact of the averaging parameter on TCP goodput and UDP loss."""
    weights = [w for w in averaging.points("aqm.w_q") if w >= WEIGHT.low]
    for panel, quantity, name in (("", m.tcp_goodput(averaging), "goodput"), ("right", m.UDP_LOSS, "UDP loss")):
        found = [averaging.per_seed(**quantity, label=m.RED, at={"aqm.w_q": w}).summary for w in weights]
        yield mean_curve(panel, f"{name} with RED", weights, found)


@figure(
    two(EXPERIMENT, (7, 9), (15, 45)),
    caption=f"{BARS_AND_MARKS} Printed is the testbed's GRED: sharp RED from 0 at 30 packets to 1 at 130. Beside it "
    "true gentle RED. Grey: 3 and 10 % below our RED, as the text has it of GRED.",
    across=1,
)
def fig8(mixed: Runs) -> Iterator[Curve]:
    """TCP goodput and UDP loss with tail drop, RED and gentle RED, experiments 6 to 8."""
    yield from _bars_and_marks(mixed, m.MIXED, (m.TD, m.RED, *m.GREDS))
    of_red = (
        ("", m.tcp_goodput(mixed), "goodput 3 % below our RED's", 1 / 1.03),
        ("right", m.UDP_LOSS, "UDP loss 10 % below our RED's", 0.9),
    )
    for panel, quantity, name, factor in of_red:
        red = [mixed.per_seed(**quantity, label=m.RED, at=at) for at in m.MIXED.values()]
        yield _printed(panel, name, red, (factor,))


@figure(
    two(EXPERIMENT, (8, 9.4), (0, 30)),
    caption=f"{BARS_AND_MARKS} The paper does not state which GRED it simulated: both are here.",
    across=1,
)
def fig10(simulation: Runs) -> Iterator[Curve]:
    """TCP goodput and UDP loss with tail drop, RED, GRED and GRED-I, simulation."""
    return _bars_and_marks(simulation, m.GREEDY, (m.TD, m.RED, *m.GREDS, m.HERO))
