"""Figure 9: delivery times of small web files."""

from __future__ import annotations

from collections.abc import Iterator

from aqmlab.library.redtail.measures import of
from aqmlab.papers import Axis, Curve, Evidence, Figure, Panel


def delivery(evidence: Evidence) -> Iterator[Curve]:
    """Draw delivery times of small files over their size, for Fig. 9."""
    metric, path = of("file", "completion_time_mean"), "traffic.file.size"
    runs = evidence["files"]
    for label in runs.labels:
        yield runs.curve("", metric, label, path, x_scale=1e-3)
    alone = evidence["alone"]
    yield alone.curve("", metric, alone.labels[0], path, x_scale=1e-3, style="dashed")


FIGURE_9 = Figure(
    name="fig9",
    title="Delivery time of small web files",
    panels=[Panel("", "", Axis("File size (kB)", 0, 220), Axis("Mean delivery time (s)", 0))],
    curves=delivery,
    needs=["files", "alone"],
    caption="From the first packet of the connection to the last acknowledgement; 128 ms there and back.",
    across=1,
)
