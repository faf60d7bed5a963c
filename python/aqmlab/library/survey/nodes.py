"""The number of the survey's edge nodes: drop tail's loss over their number, and which number makes it 12 %."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import polars
from scipy.optimize import brentq

from aqmlab.library.survey import measures, theory
from aqmlab.papers import Check, Curve, Evidence, Experiment, Judgement, Runs
from aqmlab.results.summary import Summary

HOSTS = "dumbbell.hosts"
TCP, ALL, BYTES = "TCP packets", "all packets", "bytes"
READINGS = {TCP: measures.LOST, ALL: measures.LOST_OF_ALL, BYTES: measures.LOST_BYTES}
"""Readings of the loss rate: the packets or bytes it counts."""
PANELS = {"calibration": "a", "calibration-fast": "b", "calibration-packets": "c"}
"""The panel of each experiment."""
MIN_RTO = {"calibration": 1.0, "calibration-fast": 0.2, "calibration-packets": 1.0}
"""The least time-out of each experiment (s)."""
COUNTS = [10, 20, 30, 40, 50, 60, 70, 80, 100, 120, 140, 160]


def counts(nodes: list[int]) -> dict[str, list[int]]:
    """Return the settings that vary with the number of edge nodes: nodes, and flows in proportion.

    They are for the method ``paired``.
    """
    return {HOSTS: nodes, "traffic.ftp.count": [3 * count for count in nodes], "traffic.udp.count": nodes}


def _experiment(name: str, title: str, settings: dict[str, str]) -> Experiment:
    return Experiment(
        name=name,
        title=title,
        scenario="survey/core",
        aqms={"DropTail": "droptail"},
        settings=settings,
        vary=counts(COUNTS),
        quick=counts([40, 70, 100]),
        method="paired",
        rivals={},
    )


EXPERIMENTS = (
    _experiment("calibration", "Drop tail over the number of edge nodes", {}),
    _experiment("calibration-fast", "The same, time-outs of 0.2 s", {"traffic.*.tcp.min_rto": "200 ms"}),
    _experiment("calibration-packets", "The same, a buffer of 100 packets", {"dumbbell.buffer": "100 packets"}),
)


def losses(runs: Runs, value: polars.Expr) -> dict[int, list[float]]:
    """Return drop tail's loss of every seed by the number of nodes, ascending."""
    return {count: list(runs.each(value, "DropTail", {HOSTS: count}).values()) for count in runs.points(HOSTS)}


def reached(runs: Runs, value: polars.Expr) -> list[float | None]:
    """Return for each seed the number of nodes at which drop tail loses 12 %, by linear interpolation.

    It is None where 12 % is not reached, or is exceeded at the first number.
    """
    points = [float(point) for point in runs.points(HOSTS)]
    by_seed = [runs.each(value, "DropTail", {HOSTS: point}) for point in points]
    found: list[float | None] = []
    for seed in sorted(set.intersection(*(set(one) for one in by_seed))):
        y = [one[seed] for one in by_seed]
        above = [index for index in range(1, len(y)) if y[index - 1] < measures.LOSS <= y[index]]
        if not above:
            found.append(None)
            continue
        pair = slice(above[0] - 1, above[0] + 1)
        found.append(float(np.interp(measures.LOSS, y[pair], points[pair])))
    return found


def curves(evidence: Evidence) -> Iterator[Curve]:
    """Draw the losses over the number of nodes, and Padhye's prediction."""
    for experiment, panel in PANELS.items():
        runs = evidence[experiment]
        for reading, value in READINGS.items():
            told = losses(runs, value)
            yield measures.banded(panel, reading, list(told), list(told.values()))
        points = [float(point) for point in runs.points(HOSTS)]
        # In a buffer of packets, UDP's losses and waits equal TCP's, which Padhye's flows do not model.
        if experiment != "calibration-packets":
            valid = [point for point in points if point <= 100]  # above, losses are too high for the formula
            model = [theory.predicted_loss(point, MIN_RTO[experiment]) for point in valid]
            yield Curve(panel, "Padhye, TCP packets", valid, model, style="dashed")
        yield Curve(panel, "12 %", [points[0], points[-1]], [measures.LOSS] * 2, style="dashed")


def table(evidence: Evidence) -> polars.DataFrame:
    """List for each reading of the loss the number of nodes that makes it 12 %, or how near it comes."""
    rows = []
    titles = ("buffer in bytes, time-out 1 s", "buffer in bytes, time-out 0.2 s", "buffer in packets, time-out 1 s")
    for (experiment, _), title in zip(PANELS.items(), titles, strict=True):
        runs = evidence[experiment]
        for reading, value in READINGS.items():
            told = losses(runs, value)
            greatest = max(Summary.of(column).mean or 0.0 for column in told.values())
            at = Summary.of(reached(runs, value))
            rows.append(
                {"drop tail": f"{title}: {reading}", "nodes for 12 %": at.mean, "greatest loss %": 100 * greatest}
            )
        if experiment != "calibration-packets":
            rows.append({"drop tail": f"{title}: Padhye", "nodes for 12 %": predicted(MIN_RTO[experiment])})
    return polars.DataFrame(rows)


def predicted(min_rto: float) -> float:
    """Return the number of nodes at which Padhye's flows lose 12 %. ``min_rto`` is the least time-out (s)."""
    return float(brentq(lambda count: theory.predicted_loss(count, min_rto) - measures.LOSS, 5, 115, xtol=0.01))


def of_the_order(evidence: Evidence) -> Judgement:
    """Check the 12 % in every reading: TCP's packets at the frozen count, all packets and bytes at any count."""
    runs = evidence["calibration"]
    low, high = measures.LOSS / 2, 2 * measures.LOSS  # "of the order of": within a factor of two
    tcp = losses(runs, measures.LOST)[measures.NODES]
    checks = [Check.of(f"loss of TCP packets at {measures.NODES} nodes", tcp, least=low, most=high)]
    for reading in (ALL, BYTES):
        told = losses(runs, READINGS[reading])
        count = max(told, key=lambda one: Summary.of(told[one]).mean or 0.0)
        checks.append(Check.of(f"greatest loss of {reading}, at {count} nodes", told[count], least=low, most=high))
    share = checks[1].value
    return Judgement(
        checks,
        "The number of nodes was chosen for TCP's 12 %, so the first check tells only that some number gives it. "
        f"Counted in all packets the loss is at most {100 * share:.1f} % at any number of nodes: where a buffer of "
        "bytes has no room for 1000 it mostly has room for a UDP packet of 100, and these are the majority.",
    )


def frozen(evidence: Evidence) -> Judgement:
    """Check that the calibration yields the scenario's number of nodes."""
    found = reached(evidence["calibration"], measures.LOST)
    fast = Summary.of(reached(evidence["calibration-fast"], measures.LOST)).mean
    # The calibration's numbers of nodes are ten apart there.
    check = Check.of(
        "nodes at which TCP loses 12 %, time-out 1 s",
        found,
        unit="nodes",
        least=measures.NODES - 5,
        most=measures.NODES + 5,
    )
    other = "and with one of 0.2 s no number between" if fast is None else f"and with one of 0.2 s {fast:.0f} do"
    return Judgement(
        [check],
        f"With a least time-out of 1 s, {check.value:.0f} nodes make drop tail lose 12 % of TCP's packets, {other}. "
        f"The scenario has {measures.NODES}.",
    )


def as_padhye(evidence: Evidence) -> Judgement:
    """Compare drop tail's loss with Padhye's prediction, over the number of nodes."""
    runs = evidence["calibration"].mean("classes.ftp.loss_run_mean", "DropTail", {HOSTS: measures.NODES}).mean or 1.0
    checks = []
    for experiment in ("calibration", "calibration-fast"):
        told = losses(evidence[experiment], measures.LOST)
        # From 40 nodes on: below, a few seconds of slow start cause a large part of the loss.
        of = [
            [loss / theory.predicted_loss(count, MIN_RTO[experiment]) for loss in column]
            for count, column in told.items()
            if count >= 40
        ]
        effect = f"loss over Padhye's, mean over the nodes, time-out {MIN_RTO[experiment]:g} s"
        means = [sum(column) / len(column) for column in zip(*of, strict=True)]
        checks.append(Check.of(effect, means, least=0.8, most=1.25))
    return Judgement(
        checks,
        "Padhye's full model, three flows a node, the mean round trip with a full buffer, and the capacity that UDP "
        f"leaves: {theory.predicted_loss(measures.NODES, 1.0):.3f} at {measures.NODES} nodes and 1 s, "
        f"{theory.predicted_loss(measures.NODES, 0.2):.3f} at 0.2 s; 12 % are at {predicted(1.0):.0f} and "
        f"{predicted(0.2):.0f} nodes. It counts the first loss of a round: of a flow drop tail takes {runs:.1f} "
        "packets in a row.",
    )
