"""The parts of results as plain-text tables: links, traffic entries, latency under load, flows."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from aqmlab.reports.text import Column, Table, aligned, interval, laid_out, notes, origin, text, title
from aqmlab.results.metrics import METRICS
from aqmlab.text import columns, printable

if TYPE_CHECKING:
    from aqmlab.results.result import Result
    from aqmlab.results.summary import Summary

    Owners = Callable[[Result], Mapping[str, Mapping[str, Summary]]]

LINKS = (
    "queue_delay_mean",
    "queue_delay_p99",
    "queue_mean",
    "loss_ratio",
    "mark_ratio",
    "utilisation",
    "link_goodput",
    "aggregate_mean",
    "collisions",
    "harq_rounds_mean",
    "in_order_wait_mean",
    "channel_share",
    "grants_unused",
)
"""The metrics of each link; one that no link has is left out."""

TRAFFIC = (
    "goodput",
    "path_loss_ratio",
    "rtt_idle",
    "rtt_mean",
    "rtt_p95",
    "delay_p95",
    "jain",
    "rtt_bias",
    "completion_time_mean",
    "completion_time_p95",
    "session_time_mean",
    "session_time_p95",
    "mos",
    "video_bitrate",
    "stall_ratio",
)
"""The metrics of each traffic entry; one that no entry has is left out, and fairness where all have one flow."""

UNDER_LOAD = ("rtt_idle", "rtt_mean", "rtt_p95", "delay_idle", "delay_mean", "rpm", "qoo", "mos", "session_time_p95")
"""The metrics of latency under load: of pings, of all flows, of calls and pages."""

WHO_GOT_WHAT = ("goodput", "path_loss_ratio", "rtt_mean")
"""The metrics of each traffic entry beside results whose entries got unequal shares."""

_UNEQUAL = 2.0
"""The ratio of the goodputs of two entries, per flow, from which results show who got what."""

_MOST_ROWS = 10
"""The most flows of a traffic entry that the terminal lists."""


@dataclass(frozen=True)
class Choice:
    """The links, traffic entries and metrics that a user has chosen; none of a kind is no choice."""

    links: Sequence[str] = ()
    classes: Sequence[str] = ()
    metrics: Sequence[str] = ()

    def __bool__(self) -> bool:
        return bool(self.links or self.classes or self.metrics)


def whole(
    results: Mapping[str, Result], baseline: str | None = None, choice: Choice | None = None, flows: bool = False
) -> str:
    """Lay out results with their parts and with remarks: of a choice only its tables; of one result all parts."""
    parts = chosen(results, choice) if choice else described(results)
    headings = [f"{title(results)} {origin(results)}" if choice else text(results, baseline)]
    blocks = [*headings, *(f"{heading}:\n\n{laid_out(table)}" for heading, table in parts)]
    if flows:
        blocks += [listed(result, label if len(results) > 1 else "") for label, result in results.items()]
    remarks = "\n".join(notes(results))
    return "\n\n".join([*blocks, *([remarks] if remarks else [])])


def described(results: Mapping[str, Result]) -> list[tuple[str, Table]]:
    """Return headings and tables of the links and the traffic of a single result, and of latency under load of any.

    Of several results there is the traffic if its entries got unequal shares.
    """
    found = []
    if len(results) == 1:
        (result,) = results.values()
        if len(result.owned("links")) > 1:
            found.append(("Links", links(results)))
        found.append(("Traffic", traffic(results)))
        if result.metrics.get("qoo") is None:  # without a ping, it would repeat what the traffic has
            return found
    elif any(map(_is_unequal, results.values())):
        heading = f"Traffic (goodputs per flow of different entries differ by a factor of {_UNEQUAL:g} or more)"
        found.append((heading, traffic(results, metrics=WHO_GOT_WHAT)))
    return [*found, *([("Latency under load", under_load)] if (under_load := latency(results)) else [])]


def _is_unequal(result: Result) -> bool:
    """Return whether flows of different entries, there for the whole window, have unequal goodputs one way."""
    shares = []
    competing = set(result.scenario._core.competing)
    for entry in result.scenario.resolved["traffic"]:
        summary = result.owned("classes")[entry["name"]]
        flows = summary["flows"].mean
        # Jain's index of an entry is none where no flow is there for the whole window.
        if entry["name"] in competing and summary["jain"].n and flows:
            shares.append((entry["from"], entry["to"], (summary["goodput"].mean or 0.0) / flows))
    return any(
        max(one, other) >= _UNEQUAL * min(one, other) and (start, end) != (other_end, other_start)
        for (start, end, one), (other_start, other_end, other) in itertools.combinations(shares, 2)
    )


def chosen(results: Mapping[str, Result], choice: Choice) -> list[tuple[str, Table]]:
    """Return headings and tables of chosen links, traffic entries and metrics.

    Of metrics alone there are the values of the whole run, and those of each link and entry that has them.
    """
    alone = not choice.links and not choice.classes
    found = [
        ("The observed link and all flows", _of_runs(results, choice.metrics), alone),
        ("Links", links(results, choice.links, choice.metrics), alone or choice.links),
        ("Traffic", traffic(results, choice.classes, choice.metrics), alone or choice.classes),
    ]
    return [(heading, table) for heading, table, wanted in found if wanted and table.columns]


def links(results: Mapping[str, Result], names: Sequence[str] = (), metrics: Sequence[str] = ()) -> Table:
    """Return the links with a queue discipline as a table, those with these names, with these metrics; none is all."""
    return _of_owners(results, "links", names, metrics or LINKS)


def traffic(results: Mapping[str, Result], names: Sequence[str] = (), metrics: Sequence[str] = ()) -> Table:
    """Return the traffic entries as a table, those with these names, with these metrics; none is all."""
    counts = [one["flows"].mean or 0 for result in results.values() for one in result.owned("classes").values()]
    shown = TRAFFIC if max(counts) > 1 else [name for name in TRAFFIC if name != "jain"]
    return _of_owners(results, "classes", names, metrics or shown)


def _of_owners(results: Mapping[str, Result], scope: str, names: Sequence[str], metrics: Sequence[str]) -> Table:
    """Return a table with a row for each owner of metrics in each result; a metric that none has is left out."""
    rows = {
        f"{label}, {owner}" if len(results) > 1 else owner: (summary, len(result.runs))
        for label, result in results.items()
        for owner, summary in result.owned(scope).items()
        if not names or owner in names
    }
    return _table(rows, metrics)


def _of_runs(results: Mapping[str, Result], metrics: Sequence[str]) -> Table:
    return _table({label: (result.summaries, len(result.runs)) for label, result in results.items()}, metrics)


def _table(rows: Mapping[str, tuple[Mapping[str, Summary], int]], metrics: Sequence[str]) -> Table:
    """Return a table of summaries by label, each with its number of runs; a metric without values is left out."""
    shown = [METRICS[name] for name in metrics if any(name in of and of[name].n for of, _ in rows.values())]
    cells = [
        aligned([interval(one, of[one.name], runs) if one.name in of else "-" for of, runs in rows.values()])
        for one in shown
    ]
    return Table([Column.of(one) for one in shown], list(rows), list(zip(*cells, strict=True)) if cells else [])


def latency(results: Mapping[str, Result]) -> Table | None:
    """Return how users see each result as a table: round trips of pings idle and loaded, calls and pages.

    None if the results have none of that.
    """
    seen = {
        label: {
            **{name: result[name] for name in ("rpm", "qoo") if name in result.metrics},
            **{name: worst for name in ("mos", "session_time_p95") if (worst := _worst(result, name))},
            **_slowest_ping(result),
        }
        for label, result in results.items()
    }
    rows = {label: (found, len(results[label].runs)) for label, found in seen.items()}
    table = _table(rows, UNDER_LOAD)
    return table if table.columns else None


def _worst(result: Result, metric: str) -> Summary | None:
    """Return a metric of the traffic entry in which it is worst; None if none has it."""
    found = [summary[metric] for summary in result.owned("classes").values() if metric in summary and summary[metric].n]
    worst = min if METRICS[metric].better == "more" else max
    return worst(found, key=lambda one: one.mean or 0.0) if found else None


def _slowest_ping(result: Result) -> Mapping[str, Summary]:
    """Return the round trips and delays of the ping with the longest mean round trip."""
    kinds = {entry["name"]: entry["kind"] for entry in result.scenario.resolved["traffic"]}
    pings = [
        summary for name, summary in result.owned("classes").items() if kinds[name] == "ping" and "rtt_mean" in summary
    ]
    slowest = max(pings, key=lambda one: one["rtt_mean"].mean or 0.0, default={})
    return {name: slowest[name] for name in UNDER_LOAD if name in slowest and name.startswith(("rtt", "delay"))}


def listed(result: Result, label: str = "") -> str:
    """Lay out the recorded flows and transfers of the first run, of each traffic entry the first ones."""
    whole = result.flows.filter(result.flows["seed"] == result.seeds[0])
    frame = whole.group_by("class", maintain_order=True).head(_MOST_ROWS)
    heads = [
        ["Traffic", "Flow", "Path", "Start", "End", "Goodput", "RTT min", "mean", "p95", "max", "Lost", "Marks"],
        ["", "", "", "s", "s", "Mbit/s", "ms", "ms", "ms", "ms", "", ""],
    ]
    heads[0] += ["Retr.", "RTO", "Completion"]
    heads[1] += ["", "", "s"]
    rows = [
        [
            printable(row["class"]),
            f"{row['flow']}",
            printable(f"{row['from']} > {row['to']}"),
            _shown(row["start"], 1, 3),
            _shown(row["end"], 1, 3),
            _shown(row["goodput"], 1e-6, 3),
            *(_shown(row[name], 1e3, 1) for name in ("rtt_min", "rtt_mean", "rtt_p95", "rtt_max")),
            *(_shown(row[name], 1, 0) for name in ("losses", "marks", "retransmits", "timeouts")),
            _shown(row["completion_time"], 1, 3),
        ]
        for row in frame.iter_rows(named=True)
    ]
    of = f" of {printable(label)}" if label else ""
    first = f", seed {result.seeds[0]}" if len(result.seeds) > 1 else ""
    left = [
        f"{count - _MOST_ROWS} of {printable(name)}"
        for name, count in whole.group_by("class", maintain_order=True).len().iter_rows()
        if count > _MOST_ROWS
    ]
    rest = f"\nNot listed: {', '.join(left)}; --out DIR writes all to flows-{result.seeds[0]}.parquet." if left else ""
    return f"Flows and transfers{of}{first}:\n\n{columns([*heads, *rows])}{rest}"


def _shown(value: float | None, scale: float, digits: int) -> str:
    return "-" if value is None else f"{value * scale:.{digits}f}"
