"""Results, sweeps and scenarios as HTML for notebooks: the tables that their `repr` prints."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any

from aqmlab import _core
from aqmlab.reports import parts, sweep_text, text
from aqmlab.reports.template import rendered
from aqmlab.scenario import cables
from aqmlab.text import printable

if TYPE_CHECKING:
    from aqmlab.results.result import Result
    from aqmlab.runs.swept import Sweep
    from aqmlab.scenario import Scenario


def results(shown: Mapping[str, Result], baseline: str | None = None) -> str:
    """Return the tables of `parts.whole` as HTML."""
    return rendered(
        "notebook/tables.html",
        title=text.title(shown),
        origin=text.origin(shown),
        tables=[("", text.table(shown)), *text.compared(shown, baseline), *parts.described(shown)],
        notes=text.notes(shown),
    )


def sweep(shown: Sweep) -> str:
    """Return the main metrics of a sweep as HTML, and the differences from its first discipline."""
    tables = [("", sweep_text.means(shown))] if shown.done else []
    if sweep_text.is_paired(shown):
        tables.append((sweep_text.compared(shown), sweep_text.differences(shown)))
    return rendered(
        "notebook/tables.html",
        title=sweep_text.title(shown),
        origin=sweep_text.origin(shown),
        tables=tables,
        notes=[],
    )


def scenario(shown: Scenario) -> str:
    """Return the network, the traffic and the discipline of a scenario as HTML, or the problems of one with problems.

    The TOML can be unfolded.
    """
    try:
        title, facts, problems = shown.title, list(_facts(shown)), ""
    except _core.ScenarioError as error:
        title, facts, problems = "Scenario with problems", [], str(error)
    return rendered(
        "notebook/scenario.html",
        title=printable(title) or "untitled",
        facts=facts,
        problems=problems,
        toml=shown.to_toml(),
    )


def _facts(shown: Scenario) -> Iterator[tuple[str, str, str]]:
    """Yield rows of a table: a name, its value, and details, which may be empty."""
    resolved = shown.resolved
    observed = resolved["observe"]
    links = cables(resolved)
    link = links.get(observed) or resolved.get("dumbbell", {})
    size = [f"{key} {_value(link[key])}" for key in ("rate", "delay", "buffer") if key in link]
    yield "Link", f"{observed}: {', '.join(size)}", ""
    if others := [name for name in links if name != observed]:
        yield "Other links", ", ".join(others), ""
    for entry in resolved["traffic"]:
        yield "Traffic", f"{entry['name']}: {entry['kind']}, count {entry['count']}", _details(entry)
    target = "" if shown.target is None else f", target {shown.target:g} packets"
    discipline = link.get("aqm") or resolved.get("aqm", {})
    yield "Queue discipline", f"{shown.aqm}{target}", _details(discipline)
    yield "Duration", f"{shown.duration:g} s, with a warm-up of {shown.warmup:g} s", ""
    yield "Seed", str(shown.seed), ""


def _details(table: Mapping[str, Any]) -> str:
    """List the values of a table that has no automatic ones: ``q0 = 100, beta = 0.001``."""
    plain = {key: value for key, value in table.items() if not isinstance(value, dict) and value != "auto"}
    return ", ".join(f"{key} = {_value(value)}" for key, value in plain.items() if key not in ("name", "kind", "count"))


def _value(value: object) -> str:
    if isinstance(value, list):
        return f"[{', '.join(map(_value, value))}]"
    if isinstance(value, bool):
        return str(value).lower()
    return f"{value:g}" if isinstance(value, float) else str(value)
