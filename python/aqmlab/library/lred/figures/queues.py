"""Figures of queues over time: a row for each discipline, a column for each point, as the paper's (a) and (b)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from aqmlab.papers import At, Axis, Curve, Evidence, Figure, Panel

LABELS = ("LRED", "PI", "PI*", "REM")


@dataclass(frozen=True)
class Column:
    """A column of panels.

    ``experiment`` must keep series; ``besides`` maps the label of a panel to a further discipline drawn in it.
    """

    letter: str
    title: str
    experiment: str
    at: At = field(default_factory=dict)
    besides: Mapping[str, str] = field(default_factory=dict)


def queues_over_time(name: str, title: str, columns: Sequence[Column], caption: str = "") -> Figure:
    """Return a figure of queues over time with the given columns."""

    def curves(evidence: Evidence) -> Iterator[Curve]:
        for label in LABELS:
            for column in columns:
                runs = evidence[column.experiment]
                shown = (label, column.besides[label]) if label in column.besides else (label,)
                yield from (runs.over_time(f"{column.letter}, {label}", one, at=column.at) for one in shown)

    time, queue = Axis("Time (s)", 0, 200), Axis("Queue length (packets)", 0, 200)
    return Figure(
        name=name,
        title=title,
        panels=[
            Panel(f"{column.letter}, {label}", column.title, time, queue) for label in LABELS for column in columns
        ],
        curves=curves,
        needs=sorted({column.experiment for column in columns}),
        caption=f"Averages over 100 ms of the first seed.{caption and f' {caption}'}",
        across=len(columns),
    )
