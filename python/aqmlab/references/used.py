"""The facts of a run that call for references: disciplines, TCPs, traffic, engine, metrics."""

from __future__ import annotations

import functools
import re
import tomllib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from aqmlab.execute.engine import ENGINES, Engine
from aqmlab.references.bibliography import named
from aqmlab.results.metrics import METRICS
from aqmlab.scenario import LISTS, catalogue, described, is_own

NEEDS: Mapping[str, Sequence[frozenset[str]]] = {
    "rpm": (frozenset({"ping"}), frozenset({"ftp", "transfer"})),
    "qoo": (frozenset({"ping"}),),
    "mos": (frozenset({"voip"}),),
}
"""The metrics that are models of their own, and the traffic that they need: one kind of each set."""

_SENTENCE = re.compile(r"(?<=\.)\s+(?=[A-Z])")
_TESTED = re.compile(r'[^";]*\b(tested|compared)\b', re.IGNORECASE)
_PRESETS = "The presets:"
_EXCEPTIONS = re.compile(r"; |\. ")

PARAMETER = "TCP's "
"""The beginning of the uses that are parameters of TCPs."""


@dataclass(frozen=True)
class Run:
    """A run to be cited: its resolved scenario, its engine, and the metrics that have values, or None before a run."""

    resolved: Mapping[str, Any]
    engine: str
    metrics: frozenset[str] | None = None


@dataclass(frozen=True)
class Use:
    """Something that a run uses, for readers, and the keys of the entries that its documentation names."""

    what: str
    keys: Sequence[str]


def uses(runs: Sequence[Run]) -> list[Use]:
    """List what the runs use, each once: disciplines first, then TCPs, traffic, engines, and metrics."""
    kinds = (_disciplines, _tcps, _traffic, _engines, _metrics)
    found = (use for kind in kinds for run in runs for use in kind(run))
    return list({use.what: use for use in found}.values())


@functools.cache
def heads() -> Mapping[str, Mapping[str, Sequence[str]]]:
    """Return the keys that heads outside the catalogue name: by the kind of head, and by name."""
    return tomllib.loads((Path(__file__).parent / "heads.toml").read_text(encoding="utf-8"))


def sources(doc: str) -> str:
    """Return the section on sources of a discipline's documentation; empty if it has none."""
    _, _, after = doc.partition("# Sources\n")
    return re.split(r"^# ", after, maxsplit=1, flags=re.MULTILINE)[0]


@functools.cache
def _listed() -> Mapping[str, Any]:
    listed = catalogue()
    kinds = ("aqms", "variants", "tcps")
    return {kind: {entry["name"]: entry for entry in listed[kind]} for kind in kinds}


def _disciplines(run: Run) -> Iterator[Use]:
    if any(name == "qdisc" for name, _ in Engine.parse(run.engine).options):
        return  # the kernel's discipline takes the place of the scenario's; the engine stands for it
    for table in (run.resolved, *(table for kind in LISTS for table in run.resolved.get(kind, ()))):
        for key in ("aqm", "reverse_aqm"):
            if key in table:
                yield from _discipline(table[key])


def _discipline(table: Mapping[str, Any]) -> Iterator[Use]:
    """Yield the discipline and those inside it, such as CoDel in FQ-CoDel; those in tables of classes too."""
    if isinstance(table.get("name"), str):
        yield Use(f"the queue discipline {table['name']}", _of_discipline(table))
    for value in table.values():
        if isinstance(value, Mapping):
            yield from _discipline(value)


def _of_discipline(table: Mapping[str, Any]) -> list[str]:
    """Return what its sources name without tests and presets, and what those presets name whose values it has."""
    name = table["name"]
    if is_own(name):
        try:
            return named(sources(described(name, table.get("source"))["doc"]))
        except ValueError:
            return []  # its file is gone: the result is cited without it
    variant = _listed()["variants"].get(name, {"of": name, "preset": None})
    entry = _listed()["aqms"][variant["of"]]
    parts = [part for part in _SENTENCE.split(sources(entry["doc"])) if not _TESTED.match(part)]
    parts = [part for part in parts if not part.startswith(_PRESETS)]
    for one in entry["presets"]:
        if one["name"] == variant["preset"] or (one["values"] and _holds(one["values"], table)):
            parts.append(one["summary"])
    return named("\n".join(parts))


def _holds(values: Mapping[str, Any], table: Mapping[str, Any]) -> bool:
    """Return whether a table has these values, some of which may be tables of their own."""
    return all(
        _holds(value, table[key])
        if isinstance(value, Mapping) and isinstance(table.get(key), Mapping)
        else table.get(key) == value
        for key, value in values.items()
    )


def _tcps(run: Run) -> Iterator[Use]:
    for entry in run.resolved.get("traffic", ()):
        if tcp := entry.get("tcp"):
            yield from _tcp(tcp)


def _tcp(tcp: Mapping[str, Any]) -> Iterator[Use]:
    """Yield the preset that is nearest to a TCP, its parts, and the parameters that are switched on or quantities.

    A resolved scenario does not name the preset, and most scenarios change some values of it.
    """
    presets = _listed()["tcps"]
    parameters = {one["name"]: one for preset in presets.values() for one in preset["parameters"]}
    away = {name: _distance(preset["parameters"], tcp) for name, preset in presets.items()}
    nearest = min(away, key=away.__getitem__)
    exact = "the preset" if away[nearest] == 0 else "most like the preset"
    yield Use(f"TCP, {exact} {nearest}", _of_preset(nearest))
    flavour, congestion = tcp["flavour"], tcp["congestion"]
    recovery = [*named(presets[flavour]["summary"]), *heads()["flavour"].get(flavour, ())]
    yield Use(f"TCP of the flavour {flavour}", recovery)
    if isinstance(congestion, Mapping):
        yield Use(f"the congestion control {congestion['name']}", _of_discipline(congestion))
    else:
        yield Use(f"the congestion control {congestion}", heads()["congestion"][congestion])
    for name, value in tcp.items():
        one = parameters[name]
        # A word selects one of several rules, of which the documentation names all.
        if value is not False and not one["allowed"].startswith("one of"):
            yield Use(f"{PARAMETER}{name}", named(_EXCEPTIONS.split(one["doc"])[0]))


def _distance(parameters: Sequence[Mapping[str, Any]], tcp: Mapping[str, Any]) -> int:
    """Count the common parameters in which a preset and a TCP differ."""
    return sum(one["default"] != tcp[one["name"]] for one in parameters if one["name"] in tcp)


def _of_preset(name: str) -> list[str]:
    """Return the keys that the summary of a preset names, also through the presets on which it is based."""
    presets = _listed()["tcps"]
    seen = [name]
    for one in seen:
        words = re.findall(r"[\w.-]*\w", presets[one]["summary"])
        seen += [word for word in dict.fromkeys(words) if word in presets and word not in seen]
    return list(dict.fromkeys(key for one in seen for key in named(presets[one]["summary"])))


def _traffic(run: Run) -> Iterator[Use]:
    for kind in _kinds(run):
        if keys := heads()["traffic"].get(kind):
            yield Use(f"traffic of the kind {kind}", keys)


def _kinds(run: Run) -> list[str]:
    return [entry["kind"] for entry in run.resolved.get("traffic", ())]


def _engines(run: Run) -> Iterator[Use]:
    name = Engine.parse(run.engine).name
    keys = [*named(ENGINES[name].summary), *heads()["engine"].get(name, ())]
    if keys:
        yield Use(f"the {name} engine", keys)


def _metrics(run: Run) -> Iterator[Use]:
    kinds = set(_kinds(run))
    for name, needs in NEEDS.items():
        measured = name in run.metrics if run.metrics is not None else all(kinds & need for need in needs)
        if measured:
            yield Use(f"the metric {name}", named(METRICS[name].definition))
