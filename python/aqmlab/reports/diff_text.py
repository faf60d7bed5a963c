"""The differences between two results as plain text."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

from aqmlab.diffs.diff import ABSENT, Change, Diff, Setting
from aqmlab.diffs.saved import Saved
from aqmlab.reports.sweep_text import MOST_ROWS
from aqmlab.reports.text import EACH_FOR_ITSELF, SHOWN, Column, Table, aligned, laid_out, signed
from aqmlab.results.metrics import METRICS
from aqmlab.results.summary import Summary
from aqmlab.text import columns, printable, span


def text(diff: Diff) -> str:
    """Lay out what A and B are, the settings that differ, and the differences of the metrics."""
    parts = [f"A: {_origin(diff.first)}\nB: {_origin(diff.second)}"]
    if differing := [*diff.origins, *diff.settings]:
        parts.append(f"Settings that differ:\n\n{_settings(differing)}")
    else:
        parts.append("No setting differs.")
    for where, labels in zip("AB", diff.missing, strict=True):
        if labels:
            more = f"; … {len(labels) - MOST_ROWS} more" if len(labels) > MOST_ROWS else ""
            parts.append(f"Only in {where}: {printable('; '.join(labels[:MOST_ROWS]))}{more}")
    table = _of_one(diff.metrics[""]) if "" in diff.metrics else _of_several(diff)
    parts.append(f"{_heading(diff)}:\n\n{laid_out(table)}" if table.rows else "All metrics of all runs are equal.")
    return "\n\n".join(parts)


def _heading(diff: Diff) -> str:
    """Name the direction of the differences and, if they have intervals, how the runs are paired."""
    if not any(change.ci95 is not None for changes in diff.metrics.values() for change in changes.values()):
        return "B - A"
    if diff.paired:
        return "B - A, seed by seed"
    seeded = all(case.seeded for saved in (diff.first, diff.second) for case in saved.cases.values())
    return "B - A, not paired: the seeds differ" if seeded else "B - A, of the fluid model from the mean"


def _origin(saved: Saved) -> str:
    first = next(iter(saved.cases.values()))
    title = printable(str(first.scenario.get("title", ""))) or "untitled"
    seeds = tuple(dict.fromkeys(seed for case in saved.cases.values() for seed in case.runs))
    drawn = f"seed{'s' if len(seeds) > 1 else ''} {span(seeds)}" if first.seeded else "fluid model"
    return f"{printable(saved.name)} ({title}; {drawn}; aqmlab {first.version})"


def _settings(settings: Iterable[Setting]) -> str:
    rows = [["", "A", "B"]]
    for one in settings:
        label = f"{one.path} of {'; '.join(one.labels)}" if one.labels else one.path
        rows.append([printable(label), _shown(one.first), _shown(one.second)])
    return columns(rows)


def _shown(value: object) -> str:
    if value is ABSENT:
        return "-"
    return printable(f"{value:g}" if isinstance(value, float) else str(value))


def _of_one(changes: Mapping[str, Change]) -> Table:
    """Return a row for each metric that differs in some run."""
    found = {name: change for name, change in changes.items() if name in METRICS and not _equal(change)}
    named = [METRICS[name] for name in METRICS if name in found]
    equal = sum(name in METRICS for name in changes) - len(found)
    rows = [
        (metric.text(found[metric.name].first.mean), metric.text(found[metric.name].second.mean)) for metric in named
    ]
    cells = aligned([signed(one, found[one.name].difference, found[one.name].ci95) for one in named]) if named else []
    remark = " ".join(_remarks(found.values(), f"{equal} more metrics are equal." if equal else ""))
    whole = [[*row, cell] for row, cell in zip(rows, cells, strict=True)]
    return Table([Column("A"), Column("B"), Column("B - A")], [metric.axis for metric in named], whole, remark)


def _of_several(diff: Diff) -> Table:
    """Return a row for each label, with the main metrics."""
    labels = list(diff.metrics)[:MOST_ROWS]
    metrics = [METRICS[name] for name in SHOWN if any(name in diff.metrics[label] for label in labels)]
    empty = Summary.of([])
    none = Change(empty, empty, None, None)
    found = [[diff.metrics[label].get(metric.name, none) for label in labels] for metric in metrics]
    cells = [
        aligned([signed(metric, one.difference, one.ci95) for one in each])
        for metric, each in zip(metrics, found, strict=True)
    ]
    left_out = len(diff.metrics) - len(labels)
    more = f"… {left_out} more rows: --json has all." if left_out else ""
    remark = " ".join(_remarks([one for each in found for one in each], more))
    return Table([Column.of(one) for one in metrics], labels, list(zip(*cells, strict=True)), remark)


def _remarks(changes: Iterable[Change], more: str) -> Iterator[str]:
    if any(change.ci95 is not None for change in changes):
        yield EACH_FOR_ITSELF
    if more:
        yield more


def _equal(change: Change) -> bool:
    """Return whether a metric is the same in both: all differences are 0."""
    return (change.difference == 0.0 and not change.ci95) or change.first.n == change.second.n == 0
