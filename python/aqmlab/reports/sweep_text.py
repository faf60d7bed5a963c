"""A sweep as a plain-text table."""

from __future__ import annotations

import itertools
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

from aqmlab.reports.parts import LINKS, TRAFFIC
from aqmlab.reports.text import ONE_RUN, SHOWN, Column, Table, interval, signed, varies
from aqmlab.results.metrics import METRICS
from aqmlab.results.result import PACKET
from aqmlab.results.summary import Summary
from aqmlab.text import columns, printable, span

if TYPE_CHECKING:
    from aqmlab.reports.parts import Choice
    from aqmlab.runs.swept import Sweep

MOST_ROWS = 60
"""The largest number of rows printed; the data set has all."""


class Section(NamedTuple):
    """Metrics of a sweep that make a table, and those of them whose differences are shown.

    ``owners`` has the prefix of the columns of each link or traffic entry, by its name; without, the whole run's.
    """

    heading: str
    shown: Sequence[str]
    compared: Sequence[str]
    owners: Mapping[str, str] = {"": ""}


MAIN = Section("", SHOWN, ("queue_mean", "queue_mad", "loss_ratio", "goodput"))
"""The main metrics."""


def text(sweep: Sweep, choice: Choice | None = None) -> str:
    """Lay out the main metrics of a sweep, a line for each point and discipline, and the differences from the first.

    Of a choice there are its links, traffic entries and metrics only.
    """
    parts = [f"{title(sweep)} {origin(sweep)}"]
    sections = (chosen(sweep, choice) if choice else [MAIN]) if sweep.done else []
    if sweep.done and not sections:
        parts.append("No run has a value of what was chosen.")
    for section in sections:
        heading = f"{section.heading}:\n\n" if section.heading else ""
        parts.append(f"{heading}{_printed(means(sweep, section))}")
        if is_paired(sweep):
            parts.append(f"{compared(sweep)}:\n\n{_printed(differences(sweep, section))}")
    return "\n\n".join(parts)


def chosen(sweep: Sweep, choice: Choice) -> list[Section]:
    """Return the sections of chosen links, traffic entries and metrics.

    Of metrics alone there are the values of the whole run, and those of each link and entry that has them.
    """
    import polars

    alone = not choice.links and not choice.classes
    links = sweep.scenario.managed_links if alone else choice.links
    entries = [entry["name"] for entry in sweep.scenario.resolved["traffic"]] if alone else choice.classes
    sections = [
        ("The observed link and all flows", choice.metrics if alone else (), {"": ""}),
        ("Links", choice.metrics or LINKS, {name: f"links.{name}." for name in links}),
        ("Traffic", choice.metrics or TRAFFIC, {name: f"classes.{name}." for name in entries}),
    ]
    counts = sweep.scan().select(polars.col(sweep.metrics).count()).collect().row(0, named=True)
    found = []
    for heading, metrics, prefixes in sections:
        there = {
            name: prefix for name, prefix in prefixes.items() if any(counts.get(prefix + metric) for metric in metrics)
        }
        shown = [metric for metric in metrics if any(counts.get(prefix + metric) for prefix in there.values())]
        found += [Section(heading, shown, shown, there)] if shown else []
    return found


def title(sweep: Sweep) -> str:
    """Return the title of a sweep's scenario."""
    return printable(sweep.scenario.title) or "untitled"


def origin(sweep: Sweep) -> str:
    """Describe the origin of a sweep: ``(3 points, 2 queue disciplines, seeds 1, 2, 12 runs simulated; aqmlab …)``."""
    if not sweep.done:
        return f"(none of {sweep.wanted} runs finished)"
    points = sweep.count(*sweep.parameters)
    parts = [
        f"{points} points" if points > 1 else "1 point",
        f"{len(sweep.aqms)} queue discipline{'s' if len(sweep.aqms) > 1 else ''}",
        f"seed{'s' if len(sweep.seeds) > 1 else ''} {span(sweep.seeds)}",
        f"{sweep.simulated} run{'s' if sweep.simulated > 1 else ''} simulated now"
        if sweep.simulated
        else "nothing to do, all runs were in the store",
    ]
    return f"({', '.join(parts)}; {versions(sweep)})"


def versions(sweep: Sweep) -> str:
    """Name the engine, unless it is the packet engine, and its version."""
    engine = "" if sweep.engine_name == PACKET else f"engine {sweep.engine_name}; "
    return f"{engine}aqmlab {sweep.version}"


def is_paired(sweep: Sweep) -> bool:
    """Return whether the sweep has differences with confidence intervals."""
    return sweep.done > 0 and len(sweep.aqms) > 1 and len(sweep.seeds) > 1


def compared(sweep: Sweep) -> str:
    """Return the heading of the differences."""
    return f"Differences from {printable(sweep.aqms[0])}, seed by seed"


def means(sweep: Sweep, section: Section = MAIN) -> Table:
    """Return the means of metrics as a table, with a row for each point, discipline and owner."""
    rows = []
    names = [prefix + name for prefix in section.owners.values() for name in section.shown]
    found = sweep.means([name for name in names if name in sweep.metrics], MOST_ROWS).rows(named=True)
    for row, (owner, prefix) in itertools.product(found, section.owners.items()):
        cells = (
            interval(METRICS[name], summary_of(row, prefix + name), row["runs"]) if prefix + name in row else "-"
            for name in section.shown
        )
        rows.append([*place(sweep, row, owner), *cells])
    note = one_run(found) if section is MAIN else ""
    return _table(sweep, section, section.shown, rows, note)


def one_run(rows: Sequence[Mapping[str, Any]]) -> str:
    """Return in how many of these rows of a sweep's summary all seeds have the same run; empty if in none."""
    replicated = [row for row in rows if row["runs"] > 1]
    same = sum(
        not any(row[name] is not None and varies(row[name], row[f"{name}_ci95"]) for name in SHOWN)
        for row in replicated
    )
    if not same:
        return ""
    return f"{'All seeds' if same == len(rows) else f'In {same} of {len(rows)} rows all seeds'} {ONE_RUN}."


def differences(sweep: Sweep, section: Section = MAIN) -> Table:
    """Return the differences from the first discipline, with a row for each point, other discipline and owner."""
    rows = []
    columns = {
        (owner, name): sweep.differences(prefix + name, sweep.aqms[0]).head(MOST_ROWS).rows(named=True)
        for owner, prefix in section.owners.items()
        for name in section.compared
        if prefix + name in sweep.metrics
    }
    for number, first in enumerate(next(iter(columns.values()))):
        for owner in section.owners:
            cells = (
                signed(METRICS[name], row["difference"], row["ci95"])
                if (row := columns[owner, name][number] if (owner, name) in columns else None)
                else "-"
                for name in section.compared
            )
            rows.append([*place(sweep, first, owner), *cells])
    return _table(sweep, section, section.compared, rows, others=len(sweep.aqms) - 1)


def _table(
    sweep: Sweep,
    section: Section,
    metrics: Sequence[str],
    rows: Sequence[Sequence[str]],
    note: str = "",
    others: int | None = None,
) -> Table:
    """Return a table of these rows, of all that there are; with `others`, of each point that many."""
    heads = [Column(path, unit) for path, (unit, _) in sweep.shown.items()]
    heads += [Column.of(METRICS[name]) for name in metrics]
    count = sweep.count(*sweep.parameters) * others if others is not None else sweep.count("aqm", *sweep.parameters)
    more = count * len(section.owners) - len(rows)
    remark = f"… {more} more rows: in results/*.parquet, as Sweep.scan()" if more else ""
    remark = " ".join(filter(None, [note, remark]))
    return Table(heads, [row[0] for row in rows], [row[1:] for row in rows], remark)


def _printed(table: Table) -> str:
    rows = [[label, *row] for label, row in zip(table.labels, table.rows, strict=True)]
    return "\n".join([columns(table.heads() + rows), *filter(None, [table.remark])])


def place(sweep: Sweep, row: Mapping[str, Any], owner: str = "") -> list[str]:
    """Return the cells that identify a row: the discipline and the owner, and the value of each parameter."""
    return [
        printable(", ".join(filter(None, [row["aqm"], owner]))),
        *(value(sweep, path, row[path]) for path in sweep.parameters),
    ]


def value(sweep: Sweep, path: str, found: Any) -> str:
    """Write a value of a varying parameter, in the unit that `Sweep.shown` has."""
    return f"{found * sweep.shown[path][1]:.6g}" if isinstance(found, int | float) else printable(str(found))


def summary_of(row: Mapping[str, Any], name: str) -> Summary:
    """Return the mean and the interval of a metric from a row of a sweep's summary."""
    mean = row[name]
    return Summary(mean, None, row[f"{name}_ci95"], 0 if mean is None else row["runs"])
