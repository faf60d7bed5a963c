"""Figures of queues over time: figures 6, 8, 10, 12, 14 to 17, and steps of the load."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

import polars

from aqmlab_papers import At, Axis, Curve, Evidence, Figure, Panel, Runs, figure
from aqmlab_papers.lred.measures import ARRIVALS, BUFFER, JOINS, Q0, TARGET, UDP_RATE

LABELS = ("LRED", "PI", "PI*", "REM")
_TIME, _SHORT, _QUEUE = Axis("Time (s)", 0, 200), Axis("Time (s)", 0, 100), Axis("Queue length (packets)", 0, 200)


@dataclass(frozen=True)
class Column:
    """A column of panels, of an experiment at a point, with a line at the target of its queues.

    ``besides`` maps a panel's label to another drawn in it.
    """

    letter: str
    title: str
    experiment: str
    at: At = field(default_factory=dict)
    besides: Mapping[str, str] = field(default_factory=dict)
    link: str | None = None

    def panel(self, label: str) -> str:
        """Return the letter of the panel of a discipline."""
        return f"{self.letter}, {label}" if self.letter else label

    def is_among(self, runs: Runs) -> bool:
        """Whether there are runs at its point."""
        return all(value in runs.points(path) for path, value in self.at.items())


def _queues(
    name: str,
    title: str,
    columns: Sequence[Column],
    caption: str = "",
    *,
    time: Axis = _TIME,
    queue: Axis = _QUEUE,
    beyond: bool = False,
) -> Figure:
    """Return a figure with a row for each discipline and a column for each point, as the paper's (a) and (b)."""

    def curves(evidence: Evidence) -> Iterator[Curve]:
        # With the fewest points a column may have no runs.
        present = [one for one in columns if not evidence.quick or one.is_among(evidence[one.experiment])]
        for label in LABELS:
            for column in present:
                shown = [label, *(one for one in (column.besides.get(label),) if one)]
                runs, panel = evidence[column.experiment], column.panel(label)
                yield from (runs.over_time(panel, one, at=column.at, bin=0.1, link=column.link) for one in shown)
                target = float(column.at.get(TARGET, Q0))
                yield Curve(panel, "target", [0.0, runs.duration], [target, target], style="printed")

    return Figure(
        name=name,
        title=title,
        panels=[Panel(one.panel(label), one.title, time, queue) for label in LABELS for one in columns],
        curves=curves,
        needs=sorted({column.experiment for column in columns}),
        caption=f"Averages over 100 ms of the first seed.{caption and f' {caption}'}",
        across=len(columns),
        beyond=beyond,
    )


_FORMS = {"REM": "REM (36)"}
_LIGHT = Column("a", "light, 80 flows of 550 ms", "exp2-light", besides=_FORMS)


def figure_6a() -> Figure:
    """Return the light load's half of figure 6, for runs of it alone."""
    return _queues("fig6a", "Experiment 2: queue length under the light load", [_LIGHT])


FIGURE_6 = _queues(
    "fig6",
    "Experiment 2: queue length under two extreme loads",
    [
        _LIGHT,
        Column("b", "heavy, 800 flows of 70 ms", "exp2-heavy", besides={**_FORMS, "PI*": "PI* (0.7 s)"}),
    ],
    "In (b) PI* is as the paper designs it, outside the rule, and beside it with 0.7 s, within it.",
)
FIGURE_8 = _queues(
    "fig8",
    "Experiment 3: queue length over time",
    [Column(letter, f"q0 = {q0}", "exp3-time", {TARGET: q0}) for letter, q0 in (("a", 20), ("b", 160))],
)
FIGURE_10 = _queues(
    "fig10",
    "Experiment 4: queue length over time",
    [
        Column(letter, f"UDP density {density:g}", "exp4", {UDP_RATE: density * 200e3})
        for letter, density in (("a", 0.5), ("b", 0.9))
    ],
)
FIGURE_12 = _queues(
    "fig12",
    "Experiment 5: queue lengths, 30 and 100 short flows a second",
    [Column(letter, f"{rate}/s", "exp5", {ARRIVALS: float(rate)}) for letter, rate in (("a", 30), ("b", 100))],
)
FIGURE_14 = _queues(
    "fig14",
    "Experiment 5: queue lengths where short flows follow Pareto's law, 100 a second",
    [Column("", "", "exp5-pareto", {"traffic.short.interarrival": "pareto(10 ms, 1.5)"})],
    "Shape 1.5, which the paper does not state; the claims have 1.2 and 1.9 too.",
)


def _two_way(name: str, buffer: float) -> Figure:
    ways = (("a", "reverse, short flows", "bottleneck:reverse"), ("b", "forward, long flows", None))
    return _queues(
        name,
        f"Experiment 6: queue lengths with congestion both ways, q0 = 100, Q = {buffer:g}",
        [Column(letter, title, "exp6", {BUFFER: buffer}, _FORMS, link) for letter, title, link in ways],
        time=_SHORT,
        queue=Axis("Queue length (packets)", 0, buffer),
    )


FIGURE_15, FIGURE_16 = _two_way("fig15", 200.0), _two_way("fig16", 400.0)


@figure(
    [
        Panel("a", "Queue length", _TIME, Axis("Queue length (packets)", 0, 120)),
        Panel("b", "Drop probability, 200 ms of it", Axis("Time (s)", 25, 25.2), Axis("Drop probability", 0, 1)),
    ],
    caption="Experiment 1 with 400 flows: the paper does not state the number. In (b) the highest and the lowest p of "
    "each 100 us.",
)
def fig17(beta10: Runs, beta10_fine: Runs) -> Iterator[Curve]:
    """LRED with beta = 10, and a drop-tail buffer of q0."""
    for label in beta10.labels:
        yield beta10.over_time("a", label, bin=0.1)
    frame = beta10_fine.series("LRED").filter(polars.col("t").is_between(25, 25.2))
    for name, quantity in (("highest p", "max"), ("lowest p", "min")):
        yield Curve("b", name, frame["t"].to_numpy(), frame[f"bottleneck.p.{quantity}"].to_numpy(), style="points")


STEPS = _queues(
    "steps",
    "Long flows that join a hundred at 70 s and leave at 140 s",
    [Column("", "300 flows", "steps", {JOINS: 300}, _FORMS)],
    beyond=True,
)
