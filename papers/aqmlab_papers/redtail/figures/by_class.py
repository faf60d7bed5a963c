"""Panels, curves and tables that several figures share."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import product

import polars

from aqmlab_papers import Axis, Curve, Figure, Panel, Runs, Table
from aqmlab_papers.redtail.measures import BAND, CLASSES, COLUMNS, Rows, of
from aqmlab_papers.run.sketch import cells

TIME = Axis("Time (s)", 0, 500)
BIN = 2.0
"""Averaging time of counts, delays and rates in figures (s)."""
LETTERS = dict(zip(CLASSES, "abc", strict=True))
START = "At the start slow start overshoots, and FTP loses more than the axis has."
AT_FIRST = "At the start the first 256 packets of each FTP are in the short queue."
PACKETS = Axis("Queue length (packets of 1000 B)", 0, 160)
ONE_SEED = "One run. The paper's curves are of another random sequence: what counts is their level and swing."

Drawing = Callable[[Runs], Iterator[Curve]]


def class_panels(*y: Axis) -> list[Panel]:
    """Return a panel each for FTP, WEB and CBR over time."""
    return [Panel(letter, name, TIME, axis) for (name, letter), axis in zip(LETTERS.items(), y, strict=True)]


def level_lines(panel: str, levels: Mapping[str, float], end: float) -> Iterator[Curve]:
    """Draw horizontal lines, such as thresholds."""
    for name, value in levels.items():
        yield Curve(panel, name, [0.0, end], [value, value], style="dashed")


def threshold_lines(panel: str, end: float = 500.0) -> Iterator[Curve]:
    """Draw the thresholds of Table II."""
    return level_lines(panel, dict(zip(("min_th", "max_th"), BAND, strict=True)), end)


def by_class(quantity: str, labels: Sequence[str], per_bin: bool = False) -> Drawing:
    """Return curves of a quantity of FTP, WEB and CBR over time: one panel each, one curve per discipline.

    ``quantity`` is ``delay``, ``drops``, …, of an entry's series; ``per_bin`` converts counts per bin to counts per
    second.
    """

    def curves(time: Runs) -> Iterator[Curve]:
        for name, entry in CLASSES.items():
            for label in labels:
                t = time.series(label)["t"]
                factor = 1 / float(t[1] - t[0]) if per_bin else 1.0
                yield time.over_time(LETTERS[name], label, quantity=f"{entry}.{quantity}", bin=BIN, scale=factor)

    return curves


def losses_figure(name: str, title: str, labels: Sequence[str]) -> Figure:
    """Return the figure of each entry's losses over time."""
    return Figure(
        name=name,
        title=title,
        panels=class_panels(*(Axis("Losses (packets/s)", 0, high) for high in (20, 30, 5))),
        curves=by_class("drops", labels, per_bin=True),
        caption=f"Means over {BIN:.0f} s. {START} {ONE_SEED}",
        across=3,
    )


def delays_figure(name: str, title: str, labels: Sequence[str], highest: float) -> Figure:
    """Return the figure of each entry's delays over time; the axis ends at ``highest`` (s)."""
    return Figure(
        name=name,
        title=title,
        panels=class_panels(*[Axis("Queueing delay (s)", 0, highest)] * 3),
        curves=by_class("delay", labels),
        caption=f"Means over {BIN:.0f} s of the time in the router. {ONE_SEED}",
        across=3,
    )


def class_rows(runs: Runs, printed: Mapping[str, Rows] | None = None) -> polars.DataFrame:
    """List losses, delays and rates of the classes, for all disciplines or for those that are printed."""
    found = []
    for label in printed or runs.labels:
        for name in CLASSES:
            row: dict[str, str | float | None] = {"Policy": f"{label}: {name}"}
            for place, (column, (metric, unit)) in enumerate(COLUMNS.items()):
                if printed:
                    row[f"{column} ({unit}) (paper)"] = printed[label][name][place]
                row |= cells(f"{column} ({unit})", runs.per_seed(of(name, metric), label, unit=unit))
            found.append(row)
    return polars.DataFrame(found, infer_schema_length=None)


def listed(
    name: str,
    title: str,
    experiment: str,
    metrics: Mapping[str, str],
    vary: Mapping[str, str] | None = None,
    caption: str = "",
) -> Table:
    """Return a table of metrics for each discipline and point; ``vary`` has a text for the values of each parameter."""
    paths = vary or {}

    def rows(runs: Runs) -> polars.DataFrame:
        found = []
        for label in runs.labels:
            for values in product(*map(runs.points, paths)):
                at = dict(zip(paths, values, strict=True))
                texts = [text.format(value) for text, value in zip(paths.values(), values, strict=True)]
                row: dict[str, str | float | None] = {"": ", ".join([label, *texts])}
                for head, metric in metrics.items():
                    one = runs.per_seed(metric, label, at)
                    row |= cells(f"{head} ({one.unit})" if one.unit else head, one)
                found.append(row)
        return polars.DataFrame(found, infer_schema_length=None)

    return Table(name=name, title=title, rows=rows, needs=[experiment], caption=caption, beyond=True)
