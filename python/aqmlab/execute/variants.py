"""Queue disciplines as a user names them: one of ours, or as ``kernel:pie limit 1000`` one of Linux in tc's words."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress

from aqmlab import _core
from aqmlab.execute.engine import Engine
from aqmlab.execute.task import by_algorithm
from aqmlab.results.result import KERNEL
from aqmlab.scenario import Scenario, Settings, disciplines


def with_discipline(scenario: Scenario, spec: str) -> Scenario:
    """Return a scenario with another discipline, not yet checked; one of Linux takes the place of tail drop.

    `labelled` has the engine that performs it, given ``spec`` as the label.
    """
    if not spec.startswith(KERNEL):
        return scenario.with_(aqm=spec)
    # That of Linux is at the observed link alone: the reverse direction keeps its own.
    return scenario._with_text("aqm", "droptail") if "dumbbell" in scenario.resolved else scenario.with_(aqm="droptail")


def chosen_variants(base: Scenario, aqms: Iterable[str] | Mapping[str, str | Settings]) -> dict[str, Scenario]:
    """Return a scenario with each discipline, or with the settings of each label; without any, the scenario alone.

    The user's own disciplines are those of the files as they are now, also if they change later.
    """
    given = dict(aqms) if isinstance(aqms, Mapping) else dict.fromkeys(spelled_out(aqms))
    variants = {}
    for label, one in given.items():
        settings = {"aqm": one} if isinstance(one, str) else one
        variants[label] = with_discipline(base, label) if settings is None else base.with_(settings)
    for label, variant in variants.items():
        with suppress(_core.ScenarioError):  # its problems are reported with the points
            variants[label] = Scenario.parse(variant.to_toml()) if variant._core.own_algorithms else variant
    return variants or {base.aqm: base}


def labelled(scenarios: Mapping[str, Scenario], engines: Sequence[Engine]) -> dict[str, tuple[Scenario, Engine]]:
    """Combine each scenario with each engine, by the label of the result: ``lred, fluid`` if engines are several.

    A label ``kernel:WORDS`` is combined with the linux engine only, whose option it becomes. Raise ValueError if there
    is none, or its words are not valid.
    """
    several = len(engines) > 1
    return {
        f"{label}, {engine}" if several else label: (scenario, able)
        for label, scenario in scenarios.items()
        for engine, able in performing(label, engines).items()
    }


def performing(label: str, engines: Sequence[Engine]) -> dict[Engine, Engine]:
    """Return the engines that have the discipline of a label, each with the engine as it performs that discipline."""
    if not label.startswith(KERNEL):
        return {engine: engine for engine in engines}
    if not any(engine.name == "linux" for engine in engines):
        which = "one of the engines must be linux: they are" if len(engines) > 1 else "the engine must be linux: it is"
        raise ValueError(f"{label}: for the kernel's disciplines {which} {', '.join(map(str, engines))}")
    return {engine: _with_qdisc(engine, label) for engine in engines if engine.name == "linux"}


def _with_qdisc(engine: Engine, label: str) -> Engine:
    words = label.removeprefix(KERNEL).strip()
    try:
        chosen = Engine(engine.name, (*engine.options, ("qdisc", words)))
    except ValueError as error:
        raise ValueError(f"{label}: engine {engine}: {error}") from None
    if chosen == engine:
        raise ValueError(f"{label}: {words!r} is no discipline of the kernel")
    return chosen


def spelled_out(aqms: Iterable[str], every: Callable[[], Iterable[str]] = disciplines) -> list[str]:
    """Replace ``all`` by the names of all disciplines; a discipline named in addition to ``all`` is listed once.

    Raise TypeError for a single string, ValueError for a discipline given twice.
    """
    if isinstance(aqms, str):
        raise TypeError(f"aqms = {aqms!r}: must be a list of strings: [{aqms!r}]")
    given = list(aqms)
    if twice := sorted({spec for spec in given if given.count(spec) > 1}):
        raise ValueError(f"{', '.join(twice)} given twice")
    spelled = [name for spec in given for name in (every() if spec == "all" else [spec])]
    return list(dict.fromkeys(spelled))


def repeated(scenarios: Mapping[str, Scenario]) -> tuple[str, str] | None:
    """Return two labels of equal scenarios, whose results would be the same, or None if all valid scenarios differ."""
    seen: dict[tuple[str, str], str] = {}
    for label, scenario in scenarios.items():
        words = " ".join(label.removeprefix(KERNEL).split()) if label.startswith(KERNEL) else ""
        first = seen.setdefault((words, json.dumps(by_algorithm(scenario.resolved), sort_keys=True)), label)
        if first != label:
            return first, label
    return None
