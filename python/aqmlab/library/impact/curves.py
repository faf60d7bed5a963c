"""Curves of the study's figures, and its tables."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from functools import lru_cache
from typing import TYPE_CHECKING

import numpy as np

from aqmlab.library.impact.losses import LONGEST, at_least, counted
from aqmlab.library.impact.measures import (
    APPROXIMATED,
    GENTLE,
    GREDS,
    GREEDY,
    HERO,
    MIXED,
    PACKET_TIME,
    POINTS,
    RED,
    SURGE_BEGIN,
    SURGE_END,
    TD,
    Array,
    Measure,
    delay,
    mean,
    present,
    swing,
    tcp_goodput,
    tcp_loss,
    udp_loss,
)
from aqmlab.papers import At, Check, Curve, Evidence, Runs
from aqmlab.results.summary import Summary
from aqmlab.theory.drops import POLICIES, Policy
from aqmlab.theory.drops.trials import figure

if TYPE_CHECKING:
    import polars

Curves = Callable[[Evidence], Iterator[Curve]]

LOAD = 1.2
"""Offered load of the model: arrivals divided by the link's capacity; missing in print."""
FLOWS = 50
"""Number of flows in the model of a single flow's losses."""
WINDOW = (100.0, 115.0)
"""The 15 s of the queue that are drawn (s)."""
MODELLED = {RED: (6, "RED"), APPROXIMATED: (9, "GRED"), HERO: (11, "GRED-I"), TD: (6, "Tail Drop")}
"""The theory figure that has the curve of a label, and the curve's name in it."""
SPLITS: dict[int, At] = {flows: {"traffic.udp.count": flows} for flows in (1, 2, 4, 10, 40)}
"""Numbers of flows into which 1 Mbit/s of UDP is split, beyond the paper."""

AXIS_END = 1e-9
"""Lower limit of bands on a logarithmic axis."""

MEASURES: dict[str, Measure] = {"left": tcp_goodput, "right": udp_loss}
"""The measures on the axes of the printed charts."""


@lru_cache
def model(number: int, flows: float, quick: bool) -> dict[str, tuple[Array, Array]]:
    """Return the open-loop model's curves of figure 6, 9 or 11: P(run >= n) and its standard error, by policy.

    ``flows`` is the number of flows among which packets are distributed; 1 counts losses of all flows. ``quick``
    simulates a quarter of the arrivals.
    """
    return figure(number, LOAD, longest=LONGEST, flows=flows, arrivals=100_000 if quick else 400_000)


def modelled(label: str, flows: float, quick: bool) -> tuple[Array, Array]:
    """Return P(run >= n) and its standard error by the open-loop model for a discipline, each of shape (`LONGEST`,).

    True gentle RED has no model. ``flows`` and ``quick`` as in `model`.
    """
    number, name = MODELLED[label]
    return model(number, flows, quick)[name]


def in_model(
    effect: str,
    one: str,
    other: str,
    n: int,
    flows: float,
    quick: bool,
    *,
    least: float = -math.inf,
    most: float = math.inf,
) -> Check:
    """Compare the frequency of loss runs of at least ``n`` packets in the open-loop model.

    The value is log10 of the ratio of P(run >= n), claimed to be within ``least`` and ``most``. Its 95 % interval is
    that of the model's simulation; None where the chain computes both. ``flows`` and ``quick`` as in `model`.
    """
    (p, error), (q, other_error) = (
        (float(own[n - 1]) for own in modelled(label, flows, quick)) for label in (one, other)
    )
    half = 1.96 * math.hypot(error / p, other_error / q) / math.log(10)
    value = math.log10(p / q)
    return Check(effect=effect, value=value, ci95=half, unit="orders of magnitude", least=least, most=most)


def bar(panel: str, label: str, runs: Runs, experiment: str, measure: Measure) -> Curve:
    """Return a measure of each experiment as bars, means with 95 % intervals."""
    points = present(runs, POINTS[experiment])
    told = [Summary.of(measure(runs, label, at)) for at in points.values()]
    means = [np.nan if one.mean is None else one.mean for one in told]
    halves = [one.ci95 for one in told]
    if None in halves:
        return Curve(panel, label, list(points), means, style="bars")
    low = [value - (half or 0) for value, half in zip(means, halves, strict=True)]
    high = [value + (half or 0) for value, half in zip(means, halves, strict=True)]
    return Curve(panel, label, list(points), means, low, high, "bars")


def goodput_and_loss(experiment: str, labels: Sequence[str], loss: bool = True) -> Curves:
    """Return the curves of TCP goodput in each experiment, with UDP's loss if ``loss``.

    ``experiment`` is ``tcp``, ``mixed`` or ``simulation``. Panels are ``left`` and ``right``, or one alone.
    """

    def curves(evidence: Evidence) -> Iterator[Curve]:
        runs = evidence[experiment]
        for panel, measure in MEASURES.items() if loss else (("", tcp_goodput),):
            for label in labels:
                yield bar(panel, label, runs, experiment, measure)

    return curves


def averaging(evidence: Evidence) -> Iterator[Curve]:
    """Draw goodput and loss over the averaging weight."""
    runs = evidence["averaging"]
    weights = runs.points("aqm.w_q")
    for panel, measure in MEASURES.items():
        told = [Summary.of(measure(runs, RED, {"aqm.w_q": w})) for w in weights]
        means = [np.nan if one.mean is None else one.mean for one in told]
        halves = [one.ci95 or 0.0 for one in told]
        banded = all(one.ci95 is not None for one in told)
        low = [value - half for value, half in zip(means, halves, strict=True)] if banded else None
        high = [value + half for value, half in zip(means, halves, strict=True)] if banded else None
        yield Curve(panel, RED, weights, means, low, high)


def delays(evidence: Evidence, labels: Sequence[str]) -> Iterator[Curve]:
    """Draw the queueing delay over 15 s."""
    for label in labels:
        whole = evidence["queue"].over_time("left", label, scale=PACKET_TIME)
        t, wait = np.asarray(whole.x, dtype=float), np.asarray(whole.y)
        shown = (t >= WINDOW[0]) & (t < WINDOW[1])
        yield Curve("left", label, t[shown], wait[shown])


def _lengths(panel: str, label: str, probability: Array, style: str, error: Array | None = None) -> Curve:
    """Draw P(run >= n), with its standard error if it has one."""
    n = np.arange(1.0, LONGEST + 1)
    probability = np.where(probability > 0, probability, np.nan)
    if error is None or not error.any():
        return Curve(panel, label, n, probability, style=style)
    low, high = np.maximum(probability - 1.96 * error, AXIS_END), probability + 1.96 * error
    return Curve(panel, label, n, probability, low, high, style)


def _counts(panel: str, label: str, counts: Array) -> Curve:
    """Draw P(run >= n) of counted runs, with the standard error of Poisson counts."""
    probability = at_least(counts)
    return _lengths(panel, label, probability, "line", np.sqrt(probability / counts.sum()))


def runs_of_a_flow(evidence: Evidence) -> Iterator[Curve]:
    """Draw figure 6: the queue, and the loss runs of a UDP flow at 400 sources, with the model's."""
    yield from delays(evidence, (TD, RED))
    for label in (RED, TD):
        yield _counts("right", label, counted(evidence["mixed"], label, MIXED["Exp6"]))
    for label in (RED, TD):
        yield _lengths("right", f"{label}, model", *_styled(label, FLOWS, evidence.quick))


def _styled(label: str, flows: float, quick: bool) -> tuple[Array, str, Array]:
    probability, error = modelled(label, flows, quick)
    return probability, "dashed", error


def runs_of_all(shown: Sequence[str]) -> Curves:
    """Return the curves of figure 9 or 11 for tail drop and the disciplines ``shown``.

    Panels ``left`` and ``right`` are the queue and the loss runs over all flows, with the model's.
    """

    def curves(evidence: Evidence) -> Iterator[Curve]:
        yield from delays(evidence, (*shown, TD))
        for label in (*shown, TD):
            counts = counted(evidence["simulation"], label, GREEDY["Exp6"], "bottleneck")
            yield _counts("right", label, counts)
        for label in (*shown, TD):
            if label in MODELLED:
                yield _lengths("right", f"{label}, model", *_styled(label, 1, evidence.quick))

    return curves


def split(evidence: Evidence) -> Iterator[Curve]:
    """Draw how often a UDP flow loses more than 5 packets in a row, over the number of UDP flows."""
    runs = evidence["split"]
    for label in runs.labels:
        points = present_splits(runs)
        counts = [counted(runs, label, at) for at in points.values()]
        told = np.array([at_least(own)[5] for own in counts])
        half = 1.96 * np.sqrt(told / [own.sum() for own in counts])
        yield Curve("", label, [float(flows) for flows in points], told, np.maximum(told - half, AXIS_END), told + half)


def present_splits(runs: Runs) -> dict[int, At]:
    """Return the splits of UDP that were run: the point by number of flows."""
    known = set(runs.points("traffic.udp.count"))
    return {flows: at for flows, at in SPLITS.items() if flows in known}


def surge(evidence: Evidence) -> Iterator[Curve]:
    """Draw queue and drops around a surge of UDP."""
    runs = evidence["surge"]
    for panel, quantity in (("left", "queue.mean"), ("right", "drops")):
        for label in runs.labels:
            whole = runs.over_time(panel, label, quantity=quantity)
            t, told = np.asarray(whole.x, dtype=float), np.asarray(whole.y)
            shown = (t >= SURGE_BEGIN - 2) & (t < SURGE_END + 4)
            yield Curve(panel, label, t[shown], told[shown])


def functions(evidence: Evidence) -> Iterator[Curve]:
    """Draw figure 1: the evolution of RED's drop function."""
    del evidence
    average = np.linspace(0, 200, 401)
    shapes = {
        "1993: max_p 0.02": Policy(30, 90, 0.02),
        "1997: max_p 0.1": Policy(30, 90, 0.1),
        "2000: gentle": Policy(30, 90, 0.1, gentle=True),
    }
    for name, policy in shapes.items():
        yield Curve("", name, average, policy.drop(average))


def design_space(evidence: Evidence) -> polars.DataFrame:
    """Classify the disciplines by the queue they use (instant or average) and by jumps in their drop function."""
    import polars

    del evidence
    printed = {
        TD: ("instantaneous", "sharp"),
        RED: ("average", "sharp"),
        APPROXIMATED: ("average", "smooth"),
        GENTLE: ("average", "smooth"),
        HERO: ("instantaneous", "smooth"),
    }
    names = {label: name for label, (_, name) in MODELLED.items()} | {GENTLE: "gentle RED"}
    rows = []
    for label, (queue, function) in printed.items():
        policy = POLICIES[names[label]]
        # An edge: one more packet changes the probability by more than a tenth.
        jump = float(np.max(np.diff(policy.drop(np.arange(0.0, 202)))))
        rows.append(
            {
                "mechanism": label,
                "queue size (paper)": queue,
                "queue size": "average" if policy.w < 1 else "instantaneous",
                "dropping function (paper)": function,
                "dropping function": "sharp" if jump > 0.1 else "smooth",
                "weight w": policy.w,
                "largest step of p by one packet": jump,
            }
        )
    return polars.DataFrame(rows)


def run_lengths(evidence: Evidence) -> polars.DataFrame:
    """List the frequency of loss runs, of a UDP flow and of all flows, simulated and by the model."""
    import polars

    rows = []

    def row(name: str, own: Array, every: Array) -> None:
        lengths = (2, 6, 15)
        told = {f"flow, >= {n}": float(np.nan_to_num(own[n - 1])) for n in lengths}
        told |= {f"all, >= {n}": float(np.nan_to_num(every[n - 1])) for n in lengths}
        rows.append({"runs of losses": name} | told)

    for experiment, title, points in (("mixed", "testbed's traffic, Exp6", MIXED), ("simulation", "Exp6", GREEDY)):
        runs = evidence[experiment]
        for label in runs.labels:
            own, every = (counted(runs, label, points["Exp6"], owner) for owner in ("udp", "bottleneck"))
            row(f"{label}, {title}", at_least(own), at_least(every))
    for label in (RED, TD, APPROXIMATED, HERO):
        row(f"{label}, model", *(modelled(label, flows, evidence.quick)[0] for flows in (FLOWS, 1)))
    return polars.DataFrame(rows)


def metrics(evidence: Evidence) -> polars.DataFrame:
    """List goodput, loss, delay and oscillation of each discipline in simulation with 200 sources."""
    import polars

    runs = evidence["simulation"]
    at = GREEDY["Exp7"]
    columns: dict[str, Measure] = {
        "TCP goodput (Mbit/s)": tcp_goodput,
        "UDP loss (%)": udp_loss,
        "TCP loss (%)": tcp_loss,
        "delay (ms)": delay,
        "queue, s.d. (packets)": swing,
        "fairness of TCP": lambda runs, label, at: runs.values("classes.tcp.jain", label, at),
    }
    rows: list[dict[str, str | float | None]] = []
    for label in (TD, RED, *GREDS, HERO):
        told: dict[str, str | float | None] = {"discipline": label}
        for name, measure in columns.items():
            values = measure(runs, label, at)
            told |= {name: mean(values), f"{name} ±": Summary.of(values).ci95}
        rows.append(told)
    return polars.DataFrame(rows)
