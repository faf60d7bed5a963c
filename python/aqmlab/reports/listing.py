"""Plain-text pages on queue disciplines, TCPs, traffic and scenarios, generated from the catalogue."""

from __future__ import annotations

import difflib
import itertools
import json
import re
import textwrap
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from aqmlab import plugins
from aqmlab.execute.engine import ENGINES
from aqmlab.scenario import Scenario, catalogue, described, is_own, shipped

_HEADINGS = {
    "aqms": "Queue disciplines (--aqm NAME, or `[aqm] name`)",
    "tcps": "TCPs (`tcp = NAME`)",
    "traffic": "Kinds of traffic (`kind = NAME`)",
    "scenarios": "Scenarios",
    "engines": "Engines (--engine NAME, or NAME:KEY=VALUE,…)",
}

_GROUPS = {
    "length": "Steer the length of the queue to a target (q0)",
    "delay": "Steer the delay of packets to a target",
    "chance": "Drop at random, without a target",
    "rule": "Drop by rule, without a target",
    "several": "Keep flows or classes in queues of their own",
}

_WIDTH = 100
"""The largest number of characters in a line of an explanation."""


def overview(kinds: Iterable[str]) -> str:
    """List the entries of each kind, one per line, with headings.

    The kinds are ``aqms``, ``tcps``, ``traffic``, ``scenarios`` and ``engines``.
    """
    listed = catalogue()
    return "\n\n".join(f"{_HEADINGS[kind]}\n{_list(kind, listed)}" for kind in kinds)


def grouped(listed: Mapping[str, Any]) -> dict[str, list[tuple[str, str]]]:
    """Group the queue disciplines of the catalogue by the title of their group: name and summary of each.

    Variants follow the discipline on which they are based.
    """
    groups: dict[str, list[tuple[str, str]]] = {title: [] for title in _GROUPS.values()}
    for entry in listed["aqms"]:
        kind = entry["steers"] or ("chance" if entry["random"] else "rule")
        group = groups[_GROUPS[kind if entry["one_queue"] else "several"]]
        group.append((entry["name"], entry["summary"]))
        group += [(one["name"], _variant(one)) for one in listed["variants"] if one["of"] == entry["name"]]
    return {title: group for title, group in groups.items() if group}


def page(name: str) -> str:
    """Describe a queue discipline, also one of the user's own, a TCP (``tcp:NAME``), traffic, or a scenario, by name.

    The page has its parameters and signals; for a scenario it is the whole file. Raises `KeyError` for an unknown name,
    with a suggestion.
    """
    if is_own(name):
        try:
            return _aqm_page(described(name))
        except ValueError as error:
            raise KeyError(str(error)) from None
    listed = catalogue()
    aqms = {entry["name"]: entry for entry in listed["aqms"]}
    variants = {entry["name"]: entry for entry in listed["variants"]}
    known = {
        **{entry["name"]: entry for entry in listed["traffic"]},
        **{f"tcp:{entry['name']}": entry for entry in listed["tcps"]},
    }
    if name in known:
        return _entry_page(known[name])
    if name in aqms:
        return _aqm_page(aqms[name])
    if name in variants:
        one = variants[name]
        values = f"\n{textwrap.indent(settings(one['values']), '  ')}" if one["values"] else ""
        return f"{name}: {_variant(one)}{values}\n\n{_aqm_page(aqms[one['of']])}"
    scenarios = shipped()
    if name in scenarios:
        return _scenario_page(scenarios[name])
    near = difflib.get_close_matches(name, [*aqms, *variants, *known, *scenarios], n=1)
    hint = f"; is {near[0]} meant?" if near else "; `aqmlab list` lists what there is"
    if not plugins.entries("aqmlab.scenarios"):
        hint += "; " + plugins.missing("papers", "a paper's scenario")
    raise KeyError(f"there is no {name}{hint}")


def written(value: Any) -> str:
    """Write a parameter's value from the catalogue as in ``--aqm``; a nested algorithm as ``name:key=value``."""
    if isinstance(value, dict):
        if value and all(isinstance(one, dict) for one in value.values()):
            return f"{{{', '.join(f'{name} = {_inline(table)}' for name, table in value.items())}}}"
        rest = ",".join(f"{key}={written(one)}" for key, one in value.items() if key != "name")
        return ":".join(part for part in (value.get("name", ""), rest) if part)
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)


def _inline(table: Mapping[str, Any]) -> str:
    """Write one of several tables by name as TOML does."""
    return f"{{{', '.join(f'{key} = {json.dumps(one, ensure_ascii=False)}' for key, one in table.items())}}}"


def with_each(parameters: Sequence[Mapping[str, Any]]) -> list[Mapping[str, Any]]:
    """Add the parameters of tables by name after their parameter, as ``classes.NAME.limit``."""
    inside = [
        [one, *({**each, "name": f"{one['name']}.NAME.{each['name']}"} for each in one["each"])] for one in parameters
    ]
    return list(itertools.chain.from_iterable(inside))


def settings(values: Mapping[str, Any], width: int | None = _WIDTH) -> str:
    """Write the values of parameters: ``gentle = false, max_th = 15.0``.

    Lines have at most ``width`` characters, unless a pair is longer; without a width there is a single line.
    """
    pairs = [f"{name} = {written(value)}" for name, value in values.items()]
    if width is None:
        return ", ".join(pairs)
    # Keep each name and its value in one line.
    whole = ", ".join(pair.replace(" ", "\0") for pair in pairs)
    return textwrap.fill(whole, width, break_long_words=False, break_on_hyphens=False).replace("\0", " ")


def sections(doc: str) -> tuple[str, list[tuple[str, str]]]:
    """Split the Markdown documentation of a queue discipline into its head, and the title and text of each section."""
    head, *rest = re.split(r"^# (.+)\n", doc.strip(), flags=re.MULTILINE)
    return head.strip(), [(title, text.strip()) for title, text in zip(rest[::2], rest[1::2], strict=True)]


def _list(kind: str, listed: Mapping[str, Any]) -> str:
    if kind == "engines":
        return _engines()
    if kind != "aqms":
        return _indented(_two_columns(_entries(kind, listed)))
    groups = grouped(listed)
    width = max(len(name) for group in groups.values() for name, _ in group)
    return "\n".join(f"\n{title}:\n{_indented(_two_columns(group, width))}" for title, group in groups.items())


def _entries(kind: str, listed: Mapping[str, Any]) -> list[tuple[str, str]]:
    if kind == "scenarios":
        return [(name, Scenario.load(file).title) for name, file in shipped().items()]
    return [(entry["name"], entry["summary"]) for entry in listed[kind]]


def _engines() -> str:
    """List the engines, each followed by its options."""
    heads = _two_columns([(name, kind.summary) for name, kind in ENGINES.items()]).splitlines()
    lines = []
    for head, kind in zip(heads, ENGINES.values(), strict=True):
        lines.append(head)
        for one in kind.options:
            lines += [f"  {one.name} = {one.default}  {one.allowed}", textwrap.indent(_filled(one.doc), "  ")]
    return _indented("\n".join(lines))


def _variant(entry: Mapping[str, Any]) -> str:
    return f"{entry['of']}:preset={entry['preset']}, {entry['summary']}."


def _scenario_page(file: Path) -> str:
    """Return the text of a scenario; of one that extends another, its head and the whole."""
    text = file.read_text(encoding="utf-8")
    scenario = Scenario.load(file)
    if scenario._extension is None:
        return text.rstrip()
    head = "".join(itertools.takewhile(lambda line: line.startswith("#"), text.splitlines(keepends=True)))
    return f"{head}{scenario.to_toml()}".rstrip()


def _aqm_page(entry: Mapping[str, Any]) -> str:
    head, more = sections(entry["doc"])
    name = entry["name"]
    parts = [_plain(head)]
    if entry["parameters"]:
        parts.append(f"Parameters (--aqm {name}:KEY=VALUE,KEY=VALUE)\n{_parameters(entry['parameters'])}")
    if presets := entry["presets"]:
        parts.append(f"Presets (--aqm {name}:preset=NAME)\n{_presets(presets)}")
    if signals := entry["signals"]:
        rows = [(s["name"], f"{s['doc']}{_unit(s['unit'])}") for s in signals]
        parts.append("Signals, in the series\n" + _indented(_two_columns(rows)))
    parts += [f"{title}\n{_indented(_plain(text))}" for title, text in more]
    return "\n\n".join(parts)


def _entry_page(entry: Mapping[str, Any]) -> str:
    parts = [f"{entry['name']}: {entry['summary']}"]
    if notes := entry.get("notes"):
        parts.append(textwrap.fill(notes, 100, break_on_hyphens=False))
    if parameters := entry["parameters"]:
        parts.append(f"Parameters\n{_parameters(parameters)}")
    return "\n\n".join(parts)


def _plain(markdown: str) -> str:
    """Replace the fences of code blocks by indentation."""
    blocks = re.split(r"^```.*\n", markdown, flags=re.MULTILINE)
    return "".join(textwrap.indent(text, "    ") if i % 2 else text for i, text in enumerate(blocks)).rstrip("`\n ")


def _parameters(parameters: Sequence[Mapping[str, Any]]) -> str:
    parameters = with_each(parameters)
    values = [f"{one['name']} = {written(one['default'])}" for one in parameters]
    width = max(map(len, values))
    lines = []
    for one, value in zip(parameters, values, strict=True):
        lines += [f"{value.ljust(width)}  {one['allowed']}", _filled(one["doc"])]
        if one["aliases"]:
            lines.append(_filled(f"Also: {', '.join(one['aliases'])}."))
    return _indented("\n".join(lines))


def _presets(presets: Sequence[Mapping[str, Any]]) -> str:
    rows = _two_columns([(one["name"], one["summary"]) for one in presets]).splitlines()
    values = (textwrap.indent(settings(one["values"]) or "the defaults", "    ") for one in presets)
    return _indented("\n".join(line for pair in zip(rows, values, strict=True) for line in pair))


def _filled(text: str) -> str:
    return textwrap.fill(text, _WIDTH, initial_indent="    ", subsequent_indent="    ", break_on_hyphens=False)


def _unit(unit: str) -> str:
    return f" [{unit}]" if unit else ""


def _two_columns(rows: Sequence[tuple[str, str]], width: int = 0) -> str:
    width = max(width, *(len(name) for name, _ in rows), 0)
    return "\n".join(f"{name.ljust(width)}  {text}".rstrip() for name, text in rows)


def _indented(text: str) -> str:
    return textwrap.indent(text, "  ")
