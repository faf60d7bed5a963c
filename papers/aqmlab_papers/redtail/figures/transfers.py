"""Figure 2 and Table I: small files over a link that drops at random; and ours, what one loss costs."""

from collections.abc import Iterator

import polars

from aqmlab_papers import Axis, Curve, Panel, Runs, figure, table
from aqmlab_papers.redtail.theory import (
    FILE_SIZES,
    PACKET_TIME,
    PD,
    RTT,
    TABLE_1,
    completion,
    delivery,
    deviation,
    lost,
    tried,
)
from aqmlab_papers.run.sketch import cells, mean_curve
from aqmlab_papers.theory import transfers


@figure(
    [Panel("", "30 to 210 KB, 3 Mbit/s, 128 ms", Axis("Pd", 0, 0.08), Axis("Delivery delay (s)", 0, 20))],
    caption="600 transfers of each size a run, by Reno. Half a round trip is added for the request, which the runs do "
    "without. Grey: Table I.",
)
def fig2(table1: Runs) -> Iterator[Curve]:
    """Mean delivery delay of a small file over the drop probability."""
    points = table1.points(PD)
    for size in FILE_SIZES:
        yield mean_curve("", f"{size} KB", points, [delivery(table1, size, p).summary for p in points])
    for size in (30, 90, 150):
        found = {p: mean for (kb, p), (mean, _) in TABLE_1.items() if kb == size}
        yield Curve("", f"{size} KB (paper)", list(found), list(found.values()), style="printed")


@table(
    digits=3,
    caption="Half a round trip is added for the request, what its loss would cost is not. With a request: who receives "
    "opens the connection and asks; SYN, request and ACKs are lost as data are. Trials: TCP packet by packet, without "
    "loss of ACKs. Formula: slow start without loss; else Cardwell, Savage and Anderson.",
)
def table1(table1: Runs, request: Runs) -> polars.DataFrame:
    """Delivery delay of small files: mean and standard deviation."""
    rows = []
    for (size, p), (mean, sd) in TABLE_1.items():
        trials = tried(size, p)[0]
        formula = (
            transfers.cardwell(size, p, RTT, Ts=6.0, round_trips=1.0).total
            if p
            else transfers.loss_free(size, RTT, PACKET_TIME)
        )
        row: dict[str, str | float | None] = {"file, drop probability": f"{size} KB, {p:g}", "mean (s) (paper)": mean}
        row |= cells("mean (s)", delivery(table1, size, p))
        row |= cells("with a request: mean (s)", completion(request, size, p))
        row |= {"trials: mean (s)": float(trials.mean()), "formula: mean (s)": float(formula), "sd (s) (paper)": sd}
        row |= cells("sd (s)", deviation(table1, size, p))
        row |= cells("with a request: sd (s)", deviation(request, size, p))
        rows.append(row | {"trials: sd (s)": float(trials.std(ddof=1))})
    return polars.DataFrame(rows)


@figure(
    [Panel("", "3 Mbit/s, 128 ms", Axis("Lost packet", 0, 90), Axis("Delivery delay (s)", 0, 9))],
    caption="The first waits for the initial time-out of 6 s, the next two and the last three for one of 1 s.",
    across=1,
    beyond=True,
)
def one_loss() -> Iterator[Curve]:
    """Delivery delay of a file of 90 KB that loses one packet."""
    places = list(range(1, 91))
    for flavour in ("Tahoe", "Reno"):
        yield Curve("", flavour, places, [lost({place}, flavour.lower()).duration for place in places])
    free = float(transfers.loss_free(90, RTT, PACKET_TIME))
    yield Curve("", "no loss", [1, 90], [free, free], style="dashed")
