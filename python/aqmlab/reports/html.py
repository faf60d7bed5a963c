"""The report: one self-contained HTML file, readable without a network."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from markupsafe import Markup

from aqmlab.figures import engines, tradeoff
from aqmlab.figures.model import Figure
from aqmlab.figures.runs import (
    MANY,
    distribution,
    explained,
    main_metrics,
    over_time,
    recorded,
    with_quantity,
)
from aqmlab.files import write_text
from aqmlab.reports import parts
from aqmlab.reports.figure import embedded
from aqmlab.reports.template import rendered
from aqmlab.reports.text import EACH_FOR_ITSELF, Table, compared, interval, made, notes
from aqmlab.results.distribution import panels
from aqmlab.results.metrics import DISTRIBUTIONS, METRICS

if TYPE_CHECKING:
    from aqmlab.results.result import Result


def save(results: Mapping[str, Result], file: Path, command: str, baseline: str | None = None) -> None:
    """Write the report of results by label to ``file``; the rest is as for `text`."""
    write_text(file, text(results, command, baseline))


def text(results: Mapping[str, Result], command: str, baseline: str | None = None) -> str:
    """Return the report of results by label.

    ``command`` is the command line to repeat them, ``baseline`` the discipline that the others are compared with, by
    default the first.
    """
    first = next(iter(results.values()))
    scenario = first.scenario
    return rendered(
        "run.html",
        title=scenario.title,
        made=_capitalised(made(results)),
        command=command,
        has_figures=True,
        figures=_figures(results),
        window=f"[{scenario.warmup:g} s, {scenario.duration:g} s]",
        replicated=any(len(result.seeds) > 1 for result in results.values()),
        metrics=_metrics(results),
        many=len(results) > MANY,
        differences=[(heading, _lines(table)) for heading, table in compared(results, baseline)],
        each_for_itself=EACH_FOR_ITSELF,
        parts=[(heading, _lines(table)) for heading, table in _parts(results)],
        notes=[*notes(results), *_costs(results)],
        scenarios={label: result.scenario.to_toml() for label, result in results.items()},
    )


def _figures(results: Mapping[str, Result]) -> list[tuple[str, str, Markup]]:
    """Draw all figures, each with its heading and its description; some have none."""
    many = len(results) > MANY
    found = []
    timed = recorded(results)
    beside = engines.several(timed)
    if beside:
        for heading, grid in (("Queue", engines.queues(timed)), ("Losses", engines.losses(timed))):
            drawn = Figure(title="", rows=[[grid]], legend=True)
            found.append((heading, f"{_capitalised(engines.EXPLAINED)}.", embedded(drawn, heading.lower())))
    elif timed:
        explanation = f"{explained(timed)}."
        queue = embedded(over_time(results, "queue", engines.QUEUE), "queue")
        found.append(("Queue", _capitalised(explanation), queue))
    if not beside and with_quantity(results, "p"):
        probability = over_time(results, "p", "Probability")
        found.append(("Drop probability", "", embedded(probability, "probability")))
    order = ", sorted by the mean queue" if many and not engines.several(results) else ""
    found.append((f"Main metrics{order}", "", embedded(main_metrics(results, across=2), "bars")))
    if len(results) > 1 and tradeoff.is_drawn(results):
        grid = tradeoff.tradeoff(results).grids[0]
        found.append(("Goodput and delay", f"{_capitalised(tradeoff.explained(results))}.", embedded(grid, "tradeoff")))
    for name, metric in DISTRIBUTIONS.items():
        if panels(results, name):
            found.append((metric.label, metric.definition, embedded(distribution(results, name), name)))
    return found


def _metrics(results: Mapping[str, Result]) -> list[list[tuple[str, str]]]:
    """List all metrics, one a line, or with many results one result a line; a cell has a text and a definition."""
    first = next(iter(results.values()))
    unequal = len({tuple(result.seeds) for result in results.values() if result.seeded}) > 1
    lines = [[("", ""), *((label, "") for label in results)]]
    if unequal:
        counts = (str(len(result.seeds)) if result.seeded else "-" for result in results.values())
        lines.append([("Seeds", "Number of runs behind each value."), *((count, "") for count in counts)])
    for metric in (METRICS[name] for name in METRICS if name in first.metrics):
        texts = (interval(metric, result[metric.name], len(result.runs)) for result in results.values())
        lines.append([(metric.axis, metric.definition), *((text, "") for text in texts)])
    return [list(line) for line in zip(*lines, strict=True)] if len(results) > MANY else lines


def _costs(results: Mapping[str, Result]) -> list[str]:
    """Return the cost of each result, a sentence each."""
    costs = {
        label: [result.engine[name] or 0.0 for name in ("cpu_seconds", "packets")] for label, result in results.items()
    }
    return [
        f"{label}: {seconds:.3g} s of CPU for {packets:.0f} packets at the observed link, "
        f"{seconds / max(packets, 1.0) * 1e6:.3g} us each."
        for label, (seconds, packets) in costs.items()
    ]


def _parts(results: Mapping[str, Result]) -> list[tuple[str, Table]]:
    """Return headings and tables of all links, all traffic entries, and latency under load."""
    under_load = parts.latency(results)
    return [
        ("Links", parts.links(results)),
        ("Traffic", parts.traffic(results)),
        *([("Latency under load", under_load)] if under_load else []),
    ]


def _lines(shown: Table) -> list[list[tuple[str, str]]]:
    """Return the lines of a table for the report: its head, and a line for each label."""
    heads = [(f"{one.label} ({one.unit})" if one.unit else one.label, one.definition) for one in shown.columns]
    rows = ([label, *row] for label, row in zip(shown.labels, shown.rows, strict=True))
    return [[("", ""), *heads], *([(cell, "") for cell in row] for row in rows)]


def _capitalised(text: str) -> str:
    return text[:1].upper() + text[1:]
