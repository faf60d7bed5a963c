"""Drop tail's loss over the number of edge nodes."""

from __future__ import annotations

from collections.abc import Iterator

import polars

from aqmlab.library.survey import measures, theory
from aqmlab.library.survey.measures import HOSTS, MIN_RTO, PANELS, READINGS, losses, reached
from aqmlab.library.survey.theory import predicted_nodes
from aqmlab.papers import Axis, Curve, Evidence, Figure, Panel, Table
from aqmlab.papers.run.sketch import mean_curve
from aqmlab.results.summary import Summary

EDGES = Axis("Edge nodes", 0, 160)


def loss_over_nodes(evidence: Evidence) -> Iterator[Curve]:
    """Draw the losses over the number of nodes, and Padhye's prediction."""
    for experiment, panel in PANELS.items():
        runs = evidence[experiment]
        for reading, value in READINGS.items():
            by_count = losses(runs, value)
            yield mean_curve(panel, reading, list(by_count), map(Summary.of, by_count.values()))
        points = [float(point) for point in runs.points(HOSTS)]
        # In a buffer of packets, UDP's losses and waits equal TCP's, which Padhye's flows do not model.
        if experiment != "calibration-packets":
            valid = [point for point in points if point <= 100]  # above, losses are too high for the formula
            model = [theory.predicted_loss(point, MIN_RTO[experiment]) for point in valid]
            yield Curve(panel, "Padhye, TCP packets", valid, model, style="dashed")
        yield Curve(panel, "12 %", [points[0], points[-1]], [measures.LOSS] * 2, style="dashed")


def nodes_table(evidence: Evidence) -> polars.DataFrame:
    """List for each reading of the loss the number of nodes that makes it 12 %, or how near it comes."""
    rows = []
    titles = ("buffer in bytes, time-out 1 s", "buffer in bytes, time-out 0.2 s", "buffer in packets, time-out 1 s")
    for (experiment, _), title in zip(PANELS.items(), titles, strict=True):
        runs = evidence[experiment]
        for reading, value in READINGS.items():
            by_count = losses(runs, value)
            greatest = max(Summary.of(column).mean or 0.0 for column in by_count.values())
            at = Summary.of(reached(runs, value))
            rows.append(
                {"drop tail": f"{title}: {reading}", "nodes for 12 %": at.mean, "greatest loss %": 100 * greatest}
            )
        if experiment != "calibration-packets":
            rows.append({"drop tail": f"{title}: Padhye", "nodes for 12 %": predicted_nodes(MIN_RTO[experiment])})
    return polars.DataFrame(rows)


CALIBRATION = Figure(
    name="calibration",
    title="The loss of drop tail over the number of edge nodes",
    needs=list(PANELS),
    panels=[
        Panel("a", "Buffer of 100 000 bytes, time-out 1 s", EDGES, Axis("Loss of drop tail", 0, 0.4)),
        Panel("b", "The same, time-out 0.2 s", EDGES, Axis("Loss of drop tail", 0, 0.4)),
        Panel("c", "Buffer of 100 packets, time-out 1 s", EDGES, Axis("Loss of drop tail", 0, 0.4)),
    ],
    curves=loss_over_nodes,
    across=3,
    caption="What is a loss of 12 %? Of TCP's packets, some 70 nodes make it. Of all packets, no number does "
    "unless the buffer counts packets. Dashed: Padhye's model of TCP with what UDP leaves of the link.",
    beyond=True,
)

NODES_TABLE = Table(
    name="nodes",
    title="Edge nodes at which drop tail loses 12 %",
    rows=nodes_table,
    needs=list(PANELS),
    beyond=True,
    digits=3,
    caption="Between the numbers that were run on straight lines; empty where no number reaches 12 %.",
)
