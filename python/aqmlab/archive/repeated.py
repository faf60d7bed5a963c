"""The runs of an archive that are done again, and what differs from those in the archive."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from aqmlab.archive.contents import Kind, Measured, Watch
from aqmlab.archive.layout import Record
from aqmlab.execute import threads
from aqmlab.execute.engine import Engine, EngineUnavailable
from aqmlab.execute.limits import free_memory
from aqmlab.execute.task import Outcome, Task
from aqmlab.runs.memory import known_memory
from aqmlab.scenario import Scenario

_SAME_EVERYWHERE = ("packet", "fluid")
"""The engines whose runs are the same on every machine."""

_COST = ("engine.cpu_seconds",)
"""What differs each time that a run is done."""

_SHOWN = 3
"""The most differences of a run that are shown."""


@dataclass(frozen=True)
class Repeated:
    """A run that was repeated: what differs, with the archive's value and that of now; and its error."""

    record: Record
    differences: Mapping[str, tuple[Any, Any]] = field(default_factory=dict)
    error: str = ""

    @property
    def is_same(self) -> bool:
        """Whether the run is the same, bit for bit."""
        return not self.differences and not self.error

    def __str__(self) -> str:
        if self.error:
            return f"{self.record.name}: failed: {self.error}"
        if not self.differences:
            return f"{self.record.name}: bit-identical"
        shown = [f"{name} {_shown(was)} was sealed, {_shown(now)} now" for name, (was, now) in self.differences.items()]
        more = f"; {len(shown) - _SHOWN} more" if len(shown) > _SHOWN else ""
        return f"{self.record.name}: {len(shown)} metrics differ: {'; '.join(shown[:_SHOWN])}{more}"


def _shown(value: Any) -> str:
    if value is None:
        return "none"
    return repr(value) if isinstance(value, int | float) else f"{value!r:.40}"


def version_of(engine: str) -> str | None:
    """Return the version that an engine has here; None if this machine lacks what it needs.

    A kernel at a path that an archive has is neither read nor run.
    """
    try:
        found = Engine.parse(engine)
        return None if "kernel" in dict(found.options) else found.version
    except (EngineUnavailable, ValueError):
        return None


def is_repeatable(record: Record, engines: Mapping[str, str]) -> bool:
    """Return whether a run would be the same here, given the versions of the engines that made the archive.

    Those of the linux engine with a virtual clock are, with the same kernel and programs.
    """
    engine = Engine.parse(record.engine)
    if engine.name in _SAME_EVERYWHERE:
        return True
    # The version of an engine with a discipline of the kernel's follows from that without.
    plain = Engine(engine.name, tuple(option for option in engine.options if option[0] != "qdisc"))
    made = {name: engines[name] for name in (str(engine), str(plain)) if name in engines}
    return engine.has_guest and any(version_of(name) == version for name, version in made.items())


def repeat(
    kind: Kind,
    folder: Path,
    chosen: Sequence[Record],
    archived: Sequence[Measured],
    jobs: int,
    watch: Watch | None,
) -> list[Repeated]:
    """Do runs of an unpacked archive again, and compare what they measure with what the archive has."""
    found: dict[int, Repeated] = {}
    scenarios: dict[int, Scenario] = {}
    free = free_memory()

    def tasks() -> Iterator[Task]:
        for place, record in enumerate(chosen):
            engine = Engine.parse(record.engine)
            try:
                scenario = Scenario.load(folder / record.scenario)
                if not kind.is_of(folder, record, scenario):
                    raise ValueError(f"{record.scenario}: not the scenario of this run")
                if (need := known_memory(engine, scenario) * jobs) > free:
                    raise ValueError(
                        f"about {need / 1e9:.1f} GB of memory needed for {jobs} runs at a time, {free / 1e9:.1f} GB "
                        "are free: give fewer --jobs"
                    )
                scenarios[place] = scenario
                yield replace(kind.task(folder, record, scenario, engine), label=str(place))
            except (ValueError, OSError) as error:
                found[place] = Repeated(record, error=str(error))

    def on_done(task: Task, outcome: Outcome) -> None:
        place = int(task.label)
        record, scenario = chosen[place], scenarios.pop(place)
        if outcome.error:
            found[place] = Repeated(record, error=outcome.error)
            return
        found[place] = Repeated(record, _differences(archived[place], kind.again(task, scenario, outcome)))

    def look(under_way: float) -> None:
        if watch:
            watch(f"repeating {len(chosen)} runs", len(found) / max(1, len(chosen)))

    threads.executor(max(1, jobs))(tasks(), on_done, look)
    return [found[place] for place in range(len(chosen))]


def _differences(archived: Measured, now: Measured) -> dict[str, tuple[Any, Any]]:
    """Return what differs; a metric that a table has of other runs alone is none."""
    names = [name for name in dict.fromkeys([*archived, *now]) if name not in _COST]
    pairs = {name: (archived.get(name), now.get(name)) for name in names}
    return {name: pair for name, pair in pairs.items() if pair[0] != pair[1]}
