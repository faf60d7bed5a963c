"""Pages of plain text about what there is: made from the catalogue, nothing is written twice."""

from __future__ import annotations

import difflib
import json
import textwrap
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from aqmlab.scenario import Scenario, catalogue, shipped

_HEADINGS = {
    "aqms": "Queue disciplines (--aqm NAME, or `[aqm] name`)",
    "tcps": "TCPs (`tcp = NAME`)",
    "traffic": "Kinds of traffic (`kind = NAME`)",
    "scenarios": "Scenarios",
}


def overview(kinds: Iterable[str]) -> str:
    """List what there is, one line each.

    Parameters
    ----------
    kinds : iterable of str
        Of ``aqms``, ``tcps``, ``traffic`` and ``scenarios``.

    Returns
    -------
    str
        The lists, each with a heading.
    """
    listed = catalogue()
    return "\n\n".join(f"{_HEADINGS[kind]}\n" + _indented(_two_columns(_entries(kind, listed))) for kind in kinds)


def page(name: str) -> str:
    """Explain one entry.

    Parameters
    ----------
    name : str
        A queue discipline, ``tcp:`` and a TCP, a kind of traffic, or a scenario.

    Returns
    -------
    str
        What it is, its parameters, its signals; of a scenario, the file.

    Raises
    ------
    KeyError
        If there is no such thing; the message suggests what may be meant.
    """
    listed = catalogue()
    known = {
        **{entry["name"]: entry for entry in listed["traffic"]},
        **{entry["name"]: entry for entry in listed["aqms"]},
        **{f"tcp:{entry['name']}": entry for entry in listed["tcps"]},
    }
    if name in known:
        return _entry_page(known[name])
    scenarios = shipped()
    if name in scenarios:
        return scenarios[name].read_text(encoding="utf-8").rstrip()
    near = difflib.get_close_matches(name, [*known, *scenarios], n=1)
    hint = f"; is {near[0]} meant?" if near else "; `aqmlab list` lists what there is"
    raise KeyError(f"there is no {name}{hint}")


def parameter_names(aqm: str) -> set[str]:
    """Give the names of the parameters of a queue discipline, aliases included.

    Parameters
    ----------
    aqm : str
        Its name.

    Returns
    -------
    set of str
        The names.
    """
    parameters = next(entry["parameters"] for entry in catalogue()["aqms"] if entry["name"] == aqm)
    return {"preset"} | {name for p in parameters for name in (p["name"], *p["aliases"])}


def _entries(kind: str, listed: Mapping[str, Any]) -> list[tuple[str, str]]:
    if kind == "scenarios":
        return [(name, Scenario.load(file).title) for name, file in shipped().items()]
    return [(entry["name"], entry["summary"]) for entry in listed[kind]]


def _entry_page(entry: Mapping[str, Any]) -> str:
    parts = [entry["doc"].strip() if "doc" in entry else f"{entry['name']}: {entry['summary']}"]
    if presets := entry.get("presets"):
        parts.append("Presets\n" + _indented(_two_columns([(p["name"], p["summary"]) for p in presets])))
    if parameters := entry.get("parameters"):
        parts.append("Parameters\n" + _indented("\n".join(map(_parameter, parameters))))
    if signals := entry.get("signals"):
        rows = [(s["name"], f"{s['doc']}{_unit(s['unit'])}") for s in signals]
        parts.append("Signals, in the series\n" + _indented(_two_columns(rows)))
    return "\n\n".join(parts)


def _parameter(parameter: Mapping[str, Any]) -> str:
    aliases = f" (also {', '.join(parameter['aliases'])})" if parameter["aliases"] else ""
    default = parameter["default"]
    written = default if isinstance(default, str) else json.dumps(default)
    facts = f"{parameter['name']} = {written}{aliases}: {parameter['allowed']}"
    return facts + "\n" + _indented(textwrap.fill(parameter["doc"], 100))


def _unit(unit: str) -> str:
    return f" [{unit}]" if unit else ""


def _two_columns(rows: Sequence[tuple[str, str]]) -> str:
    width = max((len(name) for name, _ in rows), default=0)
    return "\n".join(f"{name.ljust(width)}  {text}".rstrip() for name, text in rows)


def _indented(text: str) -> str:
    return textwrap.indent(text, "  ")
