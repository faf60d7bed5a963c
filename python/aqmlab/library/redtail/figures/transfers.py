"""Figure 2 and Table I: small files over a link that drops at random."""

from __future__ import annotations

from collections.abc import Iterator

import polars

from aqmlab.library.redtail.theory import FILE_SIZES, PACKET_TIME, PD, PRINTED, RTT, delivery, trials_each, tried
from aqmlab.papers import Axis, Curve, Evidence, Figure, Panel, Table
from aqmlab.papers.run.sketch import mean_curve
from aqmlab.results.summary import Summary
from aqmlab.theory.tcp import transfers


def figure_2(evidence: Evidence) -> Iterator[Curve]:
    """Draw the delivery time over the drop probability."""
    runs = evidence["table1"]
    points = runs.points(PD)
    for size in FILE_SIZES:
        yield mean_curve("", f"{size} KB", points, [Summary.of(delivery(runs, size, p)) for p in points])
    means = [mean for mean, _ in PRINTED.values()]
    yield Curve("", "Table I: 30, 90, 150 KB", [p for _, p in PRINTED], means, style="points")


def table_1(evidence: Evidence) -> polars.DataFrame:
    """List delays of small files: printed, from the packet engine, from trials, by formula."""
    runs = evidence["table1"]
    rows = []
    for (size, p), (mean, sd) in PRINTED.items():
        engine = Summary.of(delivery(runs, size, p))
        trials = tried(size, p, trials_each(evidence))
        formula = (
            float(transfers.cardwell(size, p, RTT, Ts=6.0, round_trips=1.0).total)
            if p
            else float(transfers.loss_free(size, RTT, PACKET_TIME))
        )
        rows.append(
            {
                "file, drop probability": f"{size} KB, {p:g}",
                "mean s (paper)": mean,
                "mean s": engine.mean,
                "mean s ±": engine.ci95,
                "trials: mean s": float(trials.mean()),
                "formula: mean s": formula,
                "sd s (paper)": sd,
                "trials: sd s": float(trials.std(ddof=1)),
            }
        )
    return polars.DataFrame(rows)


FIGURE_2 = Figure(
    name="fig2",
    title="Mean delivery delay of a small file over the drop probability",
    panels=[Panel("", "30 to 210 KB, 3 Mbit/s, 128 ms", Axis("Pd", 0, 0.08), Axis("Delivery delay (s)", 0, 20))],
    curves=figure_2,
    needs=["table1"],
    caption="600 transfers of each size a run, by Reno. Half a round trip is added for the request, which the "
    "runs do without. Dots: the means of Table I.",
)

TABLE_1 = Table(
    name="table1",
    title="Delivery delay of small files: mean and standard deviation",
    rows=table_1,
    needs=["table1"],
    digits=3,
    caption="The packet engine's transfers have no request: half a round trip is added, what its loss would cost "
    "is not. Trials: TCP packet by packet, with a request that can be lost. Formula: slow start without loss; else "
    "Cardwell, Savage and Anderson.",
)
