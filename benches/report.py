"""The bench's results as Markdown and as JSON."""

from __future__ import annotations

import json
import textwrap
from collections.abc import Iterator
from typing import Any

from benches.bench import Bench
from benches.measure import Sample, Timed
from benches.ns2 import Ns2
from benches.rivals import Pair
from benches.suite import Table

MANY_FLOWS = 10_000
"""The number of flows from which memory per flow is meaningful."""


def loop(sample: Sample) -> float:
    """Return the seconds of the run itself."""
    return sample.loop


def whole(sample: Sample) -> float:
    """Return the seconds with set-up and results, without Python's start."""
    return sample.whole


def process(sample: Sample) -> float:
    """Return the seconds of the process."""
    return sample.process


def markdown(bench: Bench) -> str:
    """Return all results as Markdown that is also readable as text, with explanations of the tables."""
    machine = bench.machine
    version = f"aqmlab {machine['aqmlab']}" + (f" ({machine['commit']})" if machine["commit"] else "")
    head = f"{version}, {machine['cpu']}, {machine['cores']} cores, {machine['system']}, {machine['date'][:10]}"
    parts = [f"# Bench\n\n{head}"]
    if bench.quick:
        parts.append(
            "QUICK: little time is simulated, twice, so set-up weighs more. For numbers to keep run `make bench`."
        )
    parts += ["\n".join(map(wrapped, note.splitlines())) for note in bench.notes]
    tables = [_table(bench, table) for table in bench.tables if any(bench.finished(table))]
    if tables:
        parts += [*tables, _explained(bench)]
    for rival in dict.fromkeys(pair.rival for pair in bench.pairs):
        of_it = [pair for pair in bench.pairs if pair.rival == rival and pair.theirs]
        if of_it:
            parts.append(_beside(rival.name, of_it))
    if any(pair.theirs for pair in bench.pairs):
        parts.append(_compared(bench))
    return "\n\n".join(parts) + "\n"


def _table(bench: Bench, table: Table) -> str:
    base = bench.timed.get((table.name, table.base)) if table.base else None
    head = [
        "",
        "packets/CPU s",
        "ns/packet",
        "least",
        "events/packet",
        "ns/event",
        "lost",
        "set-up ms",
        "MiB",
        "estimate",
    ]
    if base:
        head.insert(4, f"to {table.base.partition(',')[0]}")
    if table.flows:
        head.append("B/flow")
    rows = []
    for place, timed in bench.finished(table):
        ns, lost = timed.ns(loop), timed.samples[0].lost
        cells = [
            table.rows[place].name,
            f"{1e9 / ns:,.0f}".replace(",", " "),
            f"{ns:.0f}",
            f"{timed.ns(loop, min):.0f}",
            f"{timed.events_per_packet:.2f}",
            f"{ns / timed.events_per_packet:.1f}",
            "-" if lost is None else f"{lost:.1%}",
            f"{timed.median(lambda sample: sample.set_up) * 1e3:.1f}",
            f"{_mebibytes(timed):.1f}",
            f"{timed.samples[0].estimate / 2**20:.0f}",
        ]
        if base:
            cells.insert(4, f"{ns / base.ns(loop):.2f}")
        if table.flows:
            flows = table.flows[place]
            cells.append(f"{_mebibytes(timed) * 2**20 / flows:.0f}" if flows >= MANY_FLOWS else "")
        rows.append(cells)
    return f"## {table.title}\n\n{grid(head, rows)}"


def wrapped(text: str) -> str:
    """Wrap a paragraph to lines."""
    return textwrap.fill(text, 120, break_on_hyphens=False)


def _explained(bench: Bench) -> str:
    return wrapped(
        f"CPU seconds of the engine (`engine.cpu_seconds`: user and system, set-up and run), {_medians(bench)}; "
        "*least* is of the shortest run. Packets are those that the bottleneck sent; summary statistics are always on, "
        "series where it is said and in the shipped scenarios. *Set-up* is from the scenario's file to the first "
        "event. *MiB* is what the process grew by, at its peak; *estimate* is what aqmlab says before the run, which "
        "supposes that every buffer fills."
    )


def _beside(name: str, pairs: list[Pair]) -> str:
    head = [
        "",
        "simulated",
        "aqmlab",
        name,
        "ratio",
        "of the least",
        "with Python",
        "of the loops",
        "MiB",
        f"{name} MiB",
    ]
    rows = [
        [
            pair.row.name,
            str(pair.row.settings["duration"]),
            f"{1e9 / pair.ours.ns(whole):,.0f}".replace(",", " "),
            f"{1e9 / pair.theirs.ns(whole):,.0f}".replace(",", " "),
            f"**{pair.ratio(whole, whole):.1f}**",
            f"{pair.ratio(whole, whole, min):.1f}",
            f"{pair.ratio(process, process):.1f}",
            f"{pair.ratio(loop, loop):.1f}",
            f"{_mebibytes(pair.ours):.1f}",
            f"{_mebibytes(pair.theirs):.0f}",
        ]
        for pair in pairs
    ]
    return f"## Beside {name}: experiment 1, packets per CPU second\n\n{grid(head, rows)}"


def _compared(bench: Bench) -> str:
    ns2 = any(isinstance(pair.rival, Ns2) for pair in bench.pairs)
    more = " ns-2's set-up grows with the square of the flows." if ns2 else ""
    return wrapped(
        "The same scenario and simulated time, one after the other in turn, each with its own NewReno; nothing is "
        "traced by the others, aqmlab keeps its summary statistics. Packets that the bottleneck sent over CPU seconds "
        "(user and system): of aqmlab the engine's whole run from the scenario's file to the results, without the "
        f"start of Python; of the others the whole process. *Ratio* is of {_medians(bench)}; *of the least*, of the "
        "shortest runs; *with Python*, of the whole process of `aqmlab run … --json`; *of the loops*, of the event "
        f"loops alone (`engine.cpu_seconds`, `$ns run`, `Simulator::Run`).{more}"
    )


def _medians(bench: Bench) -> str:
    counts = {len(timed.samples) for timed in bench.timed.values()} | {len(pair.theirs.samples) for pair in bench.pairs}
    ran = sorted(counts - {0})
    if ran == [1]:
        return "one run"
    return f"medians of {ran[0]} runs" if len(ran) == 1 else f"medians of {ran[0]} to {ran[-1]} runs"


def _mebibytes(timed: Timed) -> float:
    return timed.median(lambda sample: sample.memory) / 2**20


def grid(head: list[str], rows: list[list[str]]) -> str:
    """Return a Markdown table that is also readable on a terminal.

    The first column is left-aligned, the others right-aligned.
    """
    widths = [max(map(len, column)) for column in zip(head, *rows, strict=True)]

    def line(cells: list[str]) -> str:
        first, *others = zip(cells, widths, strict=True)
        return f"| {' | '.join([first[0].ljust(first[1]), *(cell.rjust(width) for cell, width in others)])} |"

    rule = ["-" * widths[0], *("-" * (width - 1) + ":" for width in widths[1:])]
    return "\n".join(map(line, [head, rule, *rows]))


def document(bench: Bench) -> dict[str, Any]:
    """Return all results with every sample, for JSON.

    Its keys are ``machine``, ``quick``, ``notes``, ``tables`` by name, and ``rivals``.
    """
    return {
        "machine": bench.machine,
        "quick": bench.quick,
        "notes": bench.notes,
        "tables": {table.name: list(_rows(bench, table)) for table in bench.tables},
        "rivals": [_pair(pair) for pair in bench.pairs if pair.theirs],
    }


def _rows(bench: Bench, table: Table) -> Iterator[dict[str, Any]]:
    for place, timed in bench.finished(table):
        row = table.rows[place]
        yield {
            "name": row.name,
            "scenario": row.scenario,
            "aqm": row.aqm or None,
            "settings": dict(row.settings),
            **({"flows": table.flows[place]} if table.flows else {}),
            "ns_per_packet": timed.ns(loop),
            "ns_per_packet_least": timed.ns(loop, min),
            "events_per_packet": timed.events_per_packet,
            "samples": timed.document(),
        }


def _pair(pair: Pair) -> dict[str, Any]:
    row = pair.row
    return {
        "name": row.name,
        "rival": pair.rival.name,
        "arguments": list(pair.arguments),
        "scenario": row.scenario,
        "aqm": row.aqm or None,
        "settings": dict(row.settings),
        "flows": pair.flows or None,
        "ratio": pair.ratio(whole, whole),
        "ratio_of_least": pair.ratio(whole, whole, min),
        "ratio_with_python": pair.ratio(process, process),
        "ratio_of_loops": pair.ratio(loop, loop),
        "ours": pair.ours.document(),
        "theirs": pair.theirs.document(),
    }


def as_json(bench: Bench) -> str:
    """Return the document as JSON."""
    return json.dumps(document(bench), indent=1, ensure_ascii=False) + "\n"
