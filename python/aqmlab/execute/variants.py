"""Queue disciplines as a user names them: one of ours, or as ``kernel:pie limit 1000`` one of Linux in tc's words."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from aqmlab.execute.engine import Engine
from aqmlab.results.result import KERNEL
from aqmlab.scenario import Scenario


def with_discipline(scenario: Scenario, spec: str) -> Scenario:
    """Return a scenario with another discipline, not yet checked; one of Linux takes the place of tail drop.

    `labelled` has the engine that performs it, given ``spec`` as the label.
    """
    if not spec.startswith(KERNEL):
        return scenario.with_(aqm=spec)
    # That of Linux is at the observed link alone: the reverse direction keeps its own.
    return scenario._with_text("aqm", "droptail") if "dumbbell" in scenario.resolved else scenario.with_(aqm="droptail")


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
