"""Figures over time: the concept of JoBS, Figure 2, learned probabilities, a change of load."""

from collections.abc import Collection, Iterator

import numpy as np
import polars
from numpy.typing import NDArray

from aqmlab.results.summary import Summary
from aqmlab_papers import Axis, Curve, Panel, Runs, figure
from aqmlab_papers.run.sketch import mean_curve
from aqmlab_papers.survey import measures
from aqmlab_papers.survey.experiments import EVERY
from aqmlab_papers.survey.measures import BIN, over_time

TIME = Axis("Simulation time (s)", 0, 20)
LOSS = Axis("Loss rate", 0, 0.6)


def _means(panel: str, name: str, runs: Collection[NDArray[np.float64]]) -> Curve:
    """Draw the means over runs in each interval of `BIN` s, of which some runs may lack the last."""
    times = [BIN * (index + 0.5) for index in range(min(map(len, runs)))]
    return mean_curve(panel, name, times, map(Summary.of, zip(*runs, strict=False)))


CLOCK = Axis("Time from t (ms)", -100, 200)


@figure(
    [
        Panel("a", "Arrivals, transmissions, projection", CLOCK, Axis("Traffic since the left edge (kB)", 0)),
        Panel("b", "Flows that a projection chooses for marks", CLOCK, Axis("Flows", 0)),
    ],
    caption="Around t, the time of the smallest projection between 3 and 8 s. Projected arrivals: Rout and the largest "
    "backlog projected for the next round trip. Where they are above the buffer's limit, flows are chosen for marks "
    "until they fit or none is left. Arrivals themselves stay below the limit. The printed figure is a sketch without "
    "numbers.",
)
def fig1(fine: Runs) -> Iterator[Curve]:
    """The concept of JoBS, in a run."""
    frame = fine.series("JoBS")
    frame = frame.rename({name: name.removeprefix("bottleneck.") for name in frame.columns})
    t = frame["t"].to_numpy()
    sent = np.cumsum(sum(frame[f"{name}.throughput"].to_numpy() for name in ("ftp", "udp"))) * (t[1] - t[0]) / 8e3
    wait = frame["ftp.delay"].to_numpy()
    known = ~np.isnan(wait)
    entered = np.interp(t, (t - wait)[known], sent[known])  # what leaves now came a wait ago
    projected, fitted = (frame[f"{name}.mean"].to_numpy() / 1e3 for name in ("projected", "remaining"))
    now = int(np.argmin(np.where((t > 3) & (t < 8), projected, np.inf)))
    shown = slice(now - 50, now + 100)
    clock, base = 1e3 * (t[shown] - t[now]), sent[shown][0]
    lines = {
        "Arrivals, Rin": (entered, "line"),
        "Transmissions, Rout": (sent, "line"),
        "Rout + buffer": (sent + measures.BUFFER / 1e3, "dashed"),
        "Projected arrivals": (sent + projected, "dashed"),
        "Projected arrivals, after marks": (sent + fitted, "dashed"),
    }
    for name, (values, style) in lines.items():
        yield Curve("a", name, clock, values[shown] - base, style=style, run=fine.study.seeds[0])
    yield Curve("b", "Flows chosen for marks", clock, frame["due.max"].to_numpy()[shown], run=fine.study.seeds[0])


@figure(
    [
        Panel("a", "Link utilisation", TIME, Axis("Link utilisation", 0, 1.2)),
        Panel("b", "Average delay, core queue", TIME, Axis("Average delay (ms)", 0, 80)),
        Panel("c", "Loss rate, TCP's packets", TIME, LOSS),
        Panel("b, end to end", "Average delay", TIME, Axis("Average delay (ms)", 0, 80)),
        Panel("c, all", "Loss rate, all packets", TIME, LOSS),
    ],
    across=3,
    caption="Means of 0.5 s. The paper says that it monitors the delay at the core router, where 100 000 bytes "
    "take 17.8 ms at most; its axis to 80 ms suits the path from sender to receiver. Losses are drawn as TCP "
    "suffers them, for which the 12 % of drop tail hold, and of all packets.",
)
def fig2(schemes: Runs, readings: Runs) -> Iterator[Curve]:
    """Link utilisation, average delay and loss rate at the core router."""
    sent = sum((polars.col(f"{name}.throughput").mean() for name in ("ftp", "udp")), polars.lit(0.0))
    panels = {
        "a": sent / measures.RATE,
        "b": 1e3 * polars.col("ftp.delay").mean(),
        "c": polars.col("ftp.drops").sum() / polars.col("ftp.arrivals").sum(),
        "c, all": polars.col("drops").sum() / polars.col("arrivals").sum(),
    }
    beyond = 1e3 * (polars.col("classes.ftp.delay_mean") - polars.col("classes.ftp.queue_delay_mean"))
    for runs, labels in ((schemes, schemes.labels), (readings, (EVERY,))):
        for label in labels:
            for panel, value in panels.items():
                columns = over_time(runs, label, value)
                yield _means(panel, label, columns.values())
                if panel == "b":
                    way = runs.per_seed(beyond, label).values
                    yield _means("b, end to end", label, [one + (way[seed] or 0.0) for seed, one in columns.items()])

    yield Curve("c", "drop tail's 12 % (paper)", [0, 20], [0.12, 0.12], style="printed")


@figure(
    [
        Panel("a", "Probability of a signal", TIME, Axis("Probability", 0, 0.5)),
        Panel("b", "REM's backlog", TIME, Axis("Backlog (kB)", 0, 100)),
    ],
    caption="Means of 0.5 s. REM's price rises and falls with its probability.",
    beyond=True,
)
def learning(configuration: Runs) -> Iterator[Curve]:
    """The probabilities that they learn."""
    p = polars.col("p.mean").mean()
    for label in ("BLUE", "PI", "REM", "REM, in bytes", "REM, by the queue"):
        yield _means("a", label, over_time(configuration, label, p).values())
        if label.startswith("REM"):
            yield _means("b", label, over_time(configuration, label, measures.BACKLOG_NOW).values())


AROUND = Axis("Time from the change (ms)", -100, 400)


@figure(
    [Panel(length, "", AROUND, Axis("Probability of a signal", 0, 1)) for length in ("0.05 s", "0.2 s")],
    caption="With its average (W_q = 0.002), and if it reads the queue itself (W_q = 1).",
    beyond=True,
)
def change(change: Runs) -> Iterator[Curve]:
    """RED when 20 more sources send for a short time."""
    for panel, end in (("0.05 s", 10.05), ("0.2 s", 10.2)):
        for label in change.labels:
            at = {"traffic.more.stop": end}
            columns = []
            for seed in sorted(change.of(label, at)["seed"].to_list()):
                frame = change.series(label, at, seed).filter(polars.col("t").is_between(9.9 - 1e-9, 10.4))
                columns.append(frame["bottleneck.p.mean"].to_list())
            times = [1e3 * (one - 10) + 5 for one in frame["t"].to_list()]
            yield mean_curve(panel, label, times, map(Summary.of, zip(*columns, strict=True)))
