"""Results as a plain-text table."""

from __future__ import annotations

import textwrap
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Self

from aqmlab.reports.cautions import cautions
from aqmlab.results.cases import discipline, engines
from aqmlab.results.differences import Difference, between_disciplines, between_engines
from aqmlab.results.metrics import METRICS, Metric
from aqmlab.results.result import PACKET
from aqmlab.results.summary import Summary, share
from aqmlab.scenario import Scenario, cables
from aqmlab.text import columns, printable, span, wrapped

if TYPE_CHECKING:
    from aqmlab.results.result import Result, Run

SHOWN = ("queue_delay_mean", "queue_delay_p99", "queue_mean", "queue_mad", "loss_ratio", "link_goodput", "jain")
"""The metrics in the table; all others are in the documents and the report."""

WIDTH = 120
"""The terminal columns that the table may fill before long labels are broken."""

_LISTED = 10
"""The most seeds that are listed one by one even if they are consecutive."""

EACH_FOR_ITSELF = (
    "A star: the 95 % interval excludes 0. Each interval is for itself: of 20 differences of 0, about one has a star."
)
"""How to read many intervals; nothing is corrected for their number."""

ONE_RUN = "give the same run, because nothing in it is random: there is no interval"
"""What follows the name of seeds whose runs are one run."""

_ROUNDING = 1e-12
"""The half width of an interval, as a fraction of the mean, that rounding leaves where all values are the same."""

_SHORTEST = 16
"""The smallest width to which labels are broken."""


@dataclass(frozen=True)
class Column:
    """A column of a table: its heading, the unit of its numbers, and a definition; the last two may be empty."""

    label: str
    unit: str = ""
    definition: str = ""

    @classmethod
    def of(cls, metric: Metric) -> Self:
        """Return the column of a metric, in the unit in which people read it."""
        return cls(metric.label, metric.shown or metric.unit, metric.definition)


@dataclass(frozen=True)
class Table:
    """A table with a label at the start of each row, and a remark below it; `columns` leaves out that of the labels."""

    columns: Sequence[Column]
    labels: Sequence[str]
    rows: Sequence[Sequence[str]]
    remark: str = ""

    def heads(self) -> list[list[str]]:
        """Return the two rows above the others: headings and units."""
        return [["", *(column.label for column in self.columns)], ["", *(column.unit for column in self.columns)]]


def text(results: Mapping[str, Result], baseline: str | None = None) -> str:
    """Lay out the main metrics of at least one result: title, seeds and version, then a line for each label.

    The differences of several engines and of several disciplines follow; see `compared`. `notes` are not included.
    """
    lines = [f"{title(results)} {origin(results)}", "", laid_out(table(results))]
    for heading, differing in compared(results, baseline):
        lines += ["", f"{heading}:", "", laid_out(differing)]
    return "\n".join(lines)


def laid_out(shown: Table) -> str:
    """Lay out a table and its remark as plain text, long labels broken; columns that do not fit follow below."""
    heads, blocks, first = [row[1:] for row in shown.heads()], [], 0
    least = min(_SHORTEST, max(map(len, shown.labels)))
    while first < len(shown.columns):
        last = len(shown.columns)
        while last > first + 1 and least + 2 + _width([row[first:last] for row in [*heads, *shown.rows]]) > WIDTH:
            last -= 1
        blocks.append(_block(shown.labels, [row[first:last] for row in heads], [row[first:last] for row in shown.rows]))
        first = last
    return "\n".join(["\n\n".join(blocks), *textwrap.wrap(shown.remark, WIDTH)])


def _width(rows: Sequence[Sequence[str]]) -> int:
    return max(map(len, columns(list(rows)).splitlines()))


def _block(labels: Sequence[str], heads: Sequence[Sequence[str]], rows: Sequence[Sequence[str]]) -> str:
    """Lay out columns beside their labels."""
    numbers = _width([*heads, *rows])
    body = []
    for label, row in zip(labels, rows, strict=True):
        first, *more = wrapped(label, max(WIDTH - numbers - 4, _SHORTEST))
        body += [[first, *row], *([f"  {line.strip()}", *[""] * len(row)] for line in more)]
    return columns([["", *row] for row in heads] + body)


def title(results: Mapping[str, Result]) -> str:
    """Return the title of the first result's scenario."""
    return printable(next(iter(results.values())).scenario.title) or "untitled"


def origin(results: Mapping[str, Result]) -> str:
    """Describe the origin of at least one result: ``(seeds 7, 8; aqmlab 0.1.0)``."""
    return f"({made(results)})"


def made(results: Mapping[str, Result]) -> str:
    """Name the seeds, the engine if it is the only one and another than expected, and the version."""
    names = engines(results)
    seeded = any(result.seeded for result in results.values())
    # The labels name several; "fluid model" takes the place of seeds.
    named = [f"engine {name}" for name in names if name != PACKET and seeded and len(names) == 1]
    return "; ".join([seeds(results), *named, f"aqmlab {next(iter(results.values())).version}"])


def table(results: Mapping[str, Result]) -> Table:
    """Return the main metrics of at least one result as a table, with a row for each."""
    metrics = [METRICS[name] for name in SHOWN]
    unequal = len({tuple(result.seeds) for result in results.values() if result.seeded}) > 1
    values = zip(*(_intervals(metric, results) for metric in metrics), strict=True)
    rows = [
        [
            *([str(len(result.seeds)) if result.seeded else "-"] if unequal else []),
            "-" if result.scenario.target is None else f"{result.scenario.target:g}",
            *cells,
        ]
        for result, cells in zip(results.values(), values, strict=True)
    ]
    heads = [*([Column("Seeds")] if unequal else []), Column("Target", "packets"), *map(Column.of, metrics)]
    return Table(heads, list(results), rows)


def compared(results: Mapping[str, Result], baseline: str | None = None) -> list[tuple[str, Table]]:
    """Return a heading and a table of the differences between engines, and of those between disciplines.

    The disciplines are compared with ``baseline``, by default the first. Without several there is no table.
    """
    both = (
        (_from_an_engine, between_engines(results)),
        (_from_a_discipline, between_disciplines(results, baseline)),
    )
    return [(heading(results, found), differing(found)) for heading, found in both if found]


def differing(found: Sequence[Difference]) -> Table:
    """Return differences in the main metrics as a table, with a row for each."""
    cells = [
        aligned([signed(METRICS[name], one.metrics[name].mean, one.metrics[name].ci95) for one in found])
        for name in SHOWN
    ]
    rows = list(zip(*cells, strict=True))
    bounded = any(one.metrics[name].ci95 is not None for one in found for name in SHOWN)
    heads = [Column.of(METRICS[name]) for name in SHOWN]
    return Table(heads, [one.label for one in found], rows, EACH_FOR_ITSELF if bounded else "")


def _from_a_discipline(results: Mapping[str, Result], found: Sequence[Difference]) -> str:
    """Name the discipline of reference and, if there are several runs, how they are paired."""
    to = printable(discipline(found[0].to, results[found[0].to]))
    where = " on the same engine" if len(engines(results)) > 1 else ""
    paired = any(len(results[one.label].runs) > 1 for one in found)
    return f"Differences from {to}{where}{', seed by seed' if paired else ''}"


def _from_an_engine(results: Mapping[str, Result], found: Sequence[Difference]) -> str:
    """Name the engine of reference and, if there are several runs, how they are paired."""
    pairs = [(results[one.label], results[one.to]) for one in found]
    to = ", ".join(engines({one.to: results[one.to] for one in found}))
    if all(len(result.runs) == 1 for pair in pairs for result in pair):
        return f"Differences from {to}"
    paired = {one.seeded and other.seeded for one, other in pairs}
    if True not in paired:
        return f"Differences from the mean of {to}"
    return f"Differences from {to}, seed by seed{'; of the fluid model from the mean' if False in paired else ''}"


def signed(metric: Metric, difference: float | None, half: float | None) -> str:
    """Format a difference in the metric's unit for readers, ``+1.2 ± 0.4 *``; the star: its interval excludes 0.

    There is no interval where all seeds have the same difference, and no star at a difference that rounds to 0.
    """
    if difference is None:
        return "-"
    text = f"{difference * metric.scale:+.{metric.digits}f}"
    if half is None or not varies(difference, half):
        return text
    starred = abs(difference) > half and float(text) != 0
    return f"{text} ± {metric.text(half)} {'*' if starred else ' '}"


def varies(value: float, half: float | None) -> bool:
    """Return whether the seeds differ in more than the rounding of their mean."""
    return half is not None and half > _ROUNDING * abs(value)


def _intervals(metric: Metric, results: Mapping[str, Result]) -> list[str]:
    """Format a column of intervals with its ± signs aligned."""
    cells = [interval(metric, result[metric.name], len(result.runs)) for result in results.values()]
    return aligned(cells)


def aligned(cells: Sequence[str]) -> list[str]:
    """Align the ± signs of a column that is flush right."""
    spreads = [cell.partition(" ± ")[2] for cell in cells]
    width = max(map(len, spreads))
    padded = zip(cells, spreads, strict=True)
    return [cell.removesuffix(spread) + spread.rjust(width) if spread else cell for cell, spread in padded]


def seeds(results: Mapping[str, Result]) -> str:
    """Describe the seeds of at least one result: ``seeds 7, 8``, and whether some results lack some of them.

    It is ``fluid model`` if no result is of a simulation.
    """
    drawn = [result.seeds for result in results.values() if result.seeded]
    if not drawn:
        return "fluid model"
    every = list(dict.fromkeys(seed for seeds in drawn for seed in seeds))
    lacking = any(len(seeds) < len(every) for seeds in drawn)
    listed = ", ".join(map(str, every)) if len(every) <= _LISTED else span(tuple(every))
    named = f"seed{'s' if len(every) > 1 else ''} {listed}"
    return f"{named}, not all in every row" if lacking else named


def notes(results: Mapping[str, Result]) -> list[str]:
    """List remarks that a reader of the metrics needs, one sentence each; in most cases there are none."""
    first = next(iter(results.values()))
    remarks = []
    for label, result in results.items():
        if result.elsewhere:
            queue = f"{printable(label)}: the queue" if len(results) > 1 else "The queue"
            remarks.append(f"{queue} under study never filled: {bottleneck(result)}")
    same = [printable(label) for label, result in results.items() if _is_one_run(result)]
    if same:
        whose = "All seeds" if len(same) == len(results) else f"All seeds of {', '.join(same)}"
        remarks.append(f"{whose} {ONE_RUN}.")
    if len(links := first.owned("links")) > 1:
        remarks.append(f"The queue is that of link {first.link}; {', '.join(links)} have a queue discipline.")
    for label, result in results.items():
        lost = result.metrics["drops_elsewhere"]
        if lost:
            whose = f"{printable(label)}: " if len(results) > 1 else ""
            a_run = " a run" if len(result.runs) > 1 else ""
            remarks.append(f"{whose}{lost:g} packets{a_run} were lost in buffers without a queue discipline.")
    for label, result in results.items():
        whose = f"{printable(label)}: " if len(results) > 1 else ""
        remarks += [f"{whose}{cut}" for run in result.runs for cut in _cut(run)]
    remarks += cautions(result.scenario for result in results.values())
    models = {label: result.not_modelled for label, result in results.items() if result.not_modelled is not None}
    for part in dict.fromkeys(part for parts in models.values() for part in parts):
        of = [printable(label) for label, parts in models.items() if part in parts]
        whose = "Not" if len(of) == len(models) else f"{'; '.join(of)}: not"
        remarks.append(f"{whose} modelled: {printable(part)}.")
    return remarks


def _cut(run: Run) -> Iterator[str]:
    """Yield a remark on each output of a program of which only the beginning is kept."""
    for one in run.programs:
        for stream in ("stdout", "stderr"):
            size = one[f"{stream}_bytes"]
            if size > one["kept"]:
                who = f"{one['key']} {one['number']} of {printable(one['entry'])}"
                cut = f"only the first {one['kept']} of {size} bytes are kept"
                yield f"Seed {run.seed}: {cut} of the {stream} of {who}."


def _is_one_run(result: Result) -> bool:
    """Return whether several seeds have given the same run."""
    first, *others = (run.metrics for run in result.runs)
    return bool(others) and all(other == first for other in others)


_ACCESS_RATE = "dumbbell.access_rate"
"""The path of the rate of a dumbbell's links to its hosts."""


def rate_key(scenario: Scenario, link: str) -> str:
    """Return the dotted path of a link's rate in the scenario, as ``dumbbell.access_rate`` for ``sender1``."""
    cable = link.removesuffix(":reverse")
    way = "rate" if cable == link else "reverse_rate"
    if table := cables(scenario.resolved).get(cable):
        if "users" in table:
            quality = "cqi" if cable == link else "reverse_cqi"
            key = f"{way}s"
            return f"cell.{table['name']}.{quality if table[key] == 'auto' else key}"
        if "modems" in table:
            return f"cable.{table['name']}.{way}"
        return f"wifi.{table['name']}.mcs" if "mcs" in table else f"link.{cable}.{way}"
    return f"dumbbell.{way}" if cable == "bottleneck" else _ACCESS_RATE


def bottleneck(result: Result) -> str:
    """Name the links that were the bottleneck in place of the observed one, and what to set."""
    (link, used), *others = sorted(result.elsewhere.items(), key=lambda one: -one[1])
    key = rate_key(result.scenario, link)
    access = key == _ACCESS_RATE
    kind, remedy = ("access link", "") if access else ("link", f', or study that link: observe = "{link}"')
    more = f" (in other runs {', '.join(name for name, _ in others)})" if others else ""
    return f"the bottleneck is {kind} {printable(link)}{more}, in use for {used:.1%} of the time. Raise {key}{remedy}."


def interval(metric: Metric, summary: Summary, runs: int) -> str:
    """Format a metric's mean and its confidence interval in the metric's unit for readers: ``98.2 ± 1.1``.

    There is no interval where all runs have the same value. If only three of four runs have one, ``(3 of 4)`` follows.
    """
    mean = metric.text(summary.mean)
    differs = summary.mean is not None and varies(summary.mean, summary.ci95)
    spread = f" ± {metric.text(summary.ci95)}" if differs else ""
    return mean + spread + share(summary, runs)
