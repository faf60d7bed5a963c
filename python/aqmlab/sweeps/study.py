"""The study of a sweep: every point with every queue discipline and every seed, and the tasks that these require."""

from __future__ import annotations

import itertools
import re
from array import array
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence, Set
from contextlib import suppress
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

from aqmlab import _core
from aqmlab.execute.cases import seeds_on
from aqmlab.execute.engine import PACKETS, Engine
from aqmlab.execute.replication import require_scenario, spelled_out
from aqmlab.execute.room import known_memory, memory
from aqmlab.execute.task import Task, digest, key_for, sources
from aqmlab.execute.variants import performing, with_discipline
from aqmlab.scenario import Scenario, Settings, parameter_names, worded
from aqmlab.sweeps import keys
from aqmlab.sweeps.keys import Flags, Keys, each
from aqmlab.sweeps.points import DRAWN, Design, Point, Scalar, design
from aqmlab.sweeps.result import Failure
from aqmlab.sweeps.store import series_name

_BARE: Settings = {"record.series": False, "record.cwnd": "auto"}
"""A sweep records no series: they do not affect the metrics, and a run of interest is soon repeated."""

_DEFAULTS: dict[str, Any] = {"vary": [], "aqm": "auto", "seeds": 1, "method": "grid", "samples": 100, "sample_seed": 1}
"""The `[sweep]` of a scenario without one."""

_PLACE = re.compile(r"(?!--)(?P<file>.+):(?P<line>\d+)")
"""The place of a value in a file; the origin of a value from the command line begins with ``--``."""

_BLOCK = 64
"""The number of scenarios that take turns, seed after seed: each scenario is read once."""


@dataclass(frozen=True)
class Study:
    """The runs of a sweep: every point with every discipline and every seed.

    `scenario` has the values that do not vary, and `variants` the scenario with each queue discipline, by label. If
    `series` is true, series are kept too, as the scenario's `[record]` defines them. `engine` performs the runs, for a
    discipline of Linux as `engine_for` has it. `named` has the labels that the caller chose, which name no discipline.
    """

    scenario: Scenario
    variants: Mapping[str, Scenario]
    design: Design
    seeds: list[int]
    series: bool = False
    engine: Engine = PACKETS
    named: tuple[str, ...] = ()

    @property
    def runs(self) -> int:
        """The number of runs."""
        return len(self.design.points) * len(self.variants) * len(self.seeds)

    @cached_property
    def record(self) -> dict[str, object]:
        """The scenario's `[record]`, every default filled in."""
        return dict(self.scenario.resolved["record"])

    def series_name(self, key: bytes) -> str:
        """Return the store's name for the series of the run with this key."""
        return series_name(key, self.record)

    def engine_for(self, label: str) -> Engine:
        """Return the engine as it performs a queue discipline."""
        return performing(label, [self.engine])[self.engine]

    def refusal(self, number: int, place: int) -> str | None:
        """Return the error of a scenario that cannot be done, given its point number and discipline; None if it can."""
        label = list(self.variants)[place]
        try:
            self.bare_at(label, self.design.points[number]).check()
        except (_core.ScenarioError, OSError) as error:
            return str(_as_varied(error, self.design.paths))
        return None

    def scenario_at(self, label: str, point: Point) -> Scenario:
        """Return the scenario of a point with a queue discipline, not yet checked."""
        return self._at(self.variants, label, point)

    def bare_at(self, label: str, point: Point) -> Scenario:
        """Return the scenario of a point as it runs without series."""
        return self._at(self._bare, label, point)

    def recorded_at(self, label: str, point: Point) -> Scenario:
        """Return the scenario of a point as it runs with series."""
        return self._at(self._recorded, label, point)

    def _at(self, variants: Mapping[str, Scenario], label: str, point: Point) -> Scenario:
        core = variants[label]._core
        for place in self._places[label]:
            core = core.with_value(self.design.paths[place], point[place])
        return Scenario(core, variants[label].based_on)

    @cached_property
    def _bare(self) -> Mapping[str, Scenario]:
        return {label: variant.with_(_BARE) for label, variant in self.variants.items()}

    @cached_property
    def _recorded(self) -> Mapping[str, Scenario]:
        return {label: variant.with_({"record.series": True}) for label, variant in self.variants.items()}

    @cached_property
    def _places(self) -> Mapping[str, Sequence[int]]:
        """The places in a point of the values that each discipline has."""
        return {
            label: [place for place, path in enumerate(self.design.paths) if _is_for(path, variant)]
            for label, variant in self.variants.items()
        }


def study(
    scenario: Scenario,
    vary: Mapping[str, object] | None = None,
    aqms: Iterable[str] | Mapping[str, str | Settings] | None = None,
    seeds: int | Iterable[int] | None = None,
    method: str | None = None,
    samples: int | None = None,
    sample_seed: int | None = None,
    series: bool = False,
    engine: Engine = PACKETS,
) -> Study:
    """Build a study from a scenario's `[sweep]` and the arguments of `sweep`, which take precedence.

    `aqms` may also map labels to disciplines, or to settings of any kind that distinguish them. Raise ScenarioError if
    the scenario is not valid, ValueError if the varying values cannot be parsed.
    """
    require_scenario(scenario)
    scenario.check()  # reports problems of the whole file, not of its [sweep] alone
    table = scenario._study or _DEFAULTS
    written = {entry["path"]: entry for entry in table["vary"]}
    chosen = {path: entry["value"] for path, entry in written.items()} | dict(vary or {})
    origins = {path: entry["origin"] for path, entry in written.items() if path not in (vary or {})}
    method = method or table["method"]
    if method not in DRAWN and (samples, sample_seed) != (None, None):
        raise ValueError(f"samples and sample_seed are for methods {' and '.join(DRAWN)}; the method is {method}")
    points = design(
        chosen,
        method,
        table["samples"] if samples is None else samples,
        table["sample_seed"] if sample_seed is None else sample_seed,
        {path: f"{origin}: sweep.vary.{path}" for path, origin in origins.items()},
    )
    base = scenario._base
    labels = aqms if aqms is not None else ([] if table["aqm"] == "auto" else table["aqm"])
    if isinstance(labels, Mapping):
        variants = {
            label: base.with_(aqm=aqm) if isinstance(aqm, str) else base.with_(aqm) for label, aqm in labels.items()
        }
    else:
        variants = {label: with_discipline(base, label) for label in spelled_out(labels)}
    variants = {label: _pinned(variant) for label, variant in (variants or {base.aqm: base}).items()}
    for label in variants:
        performing(label, [engine])  # raises an error if it lacks the discipline
    points = points.with_units(lambda path: _unit(path, base, variants))
    for path, value in zip(points.paths, points.points[0], strict=True):
        _require_known(path, value, origins.get(path), base, variants)
    for variant in variants.values():
        _require_different(points, variant)
    chosen_seeds = seeds_on(engine, base, table["seeds"] if seeds is None else seeds)
    named = tuple(labels) if isinstance(labels, Mapping) else ()
    return Study(base, variants, points, chosen_seeds, series, engine, named)


def _require_known(
    path: str, value: Scalar, origin: str | None, base: Scenario, variants: Mapping[str, Scenario]
) -> None:
    """Raise ScenarioError for an unknown path at once, instead of at each of a million points.

    `origin` is the place in a file where the path was written; None if an argument has it.
    """
    where = f"{origin}: sweep.vary.{path}" if origin else f"--vary {path:.200}"
    place = _PLACE.fullmatch(origin or "")
    file, line = (place["file"], int(place["line"])) if place else (None, None)
    knowing = [variant for variant in variants.values() if _is_for(path, variant)]
    for variant in knowing or [base]:
        try:
            variant.with_({path: value}).check()
        except _core.ScenarioError as error:
            unknown = [problem for problem in error.problems if problem["kind"] == "path"]
            if unknown:
                located = _core.ScenarioError("\n".join(f"{where}: {problem['text']}" for problem in unknown))
                located.problems = tuple({**problem, "file": file, "line": line} for problem in unknown)
                located.kind, located.path, located.file, located.line = "path", unknown[0]["path"], file, line
                raise located from None
    if not knowing:
        raise ValueError(f"{where}: none of {', '.join(variants)} has {path.removeprefix('aqm.')}")


def _unit(path: str, base: Scenario, variants: Mapping[str, Scenario]) -> str:
    """Return the base unit of the quantity at a path, if all disciplines that have it agree; otherwise it is empty."""
    knowing = [variant for variant in variants.values() if _is_for(path, variant)]
    units = {scenario._core.base_unit(path) or "" for scenario in knowing or [base]}
    return units.pop() if len(units) == 1 else ""


def _as_varied(error: Exception, paths: Sequence[str]) -> Exception:
    """Return an error that names values of varying parameters by the option that varies them, not as set."""
    if not isinstance(error, _core.ScenarioError):
        return error
    varying = "|".join(map(re.escape, paths))
    return worded(error, re.sub(rf"^--set (?=({varying})=)", "--vary ", str(error), flags=re.MULTILINE))


def _pinned(variant: Scenario) -> Scenario:
    """Return a scenario whose own disciplines are those of the files as they are now, also if they change later."""
    with suppress(_core.ScenarioError):
        return Scenario.parse(variant.to_toml()) if variant._core.own_algorithms else variant
    return variant  # its problems are reported with the points


def require_unset(wanted: Study) -> None:
    """Raise ValueError for a parameter that varies although a setting or the text of a discipline sets it.

    That would have no effect, and a label would be wrong.
    """
    for variant in wanted.variants.values():
        for path in wanted.design.paths:
            if _is_for(path, variant) and (earlier := variant._core.replaced(path)):
                one = f"for one value at all points, vary it over that one: --vary {path}=VALUE"
                raise ValueError(f"{path} varies, but {earlier} sets it: omit one of them; {one}")


def _require_different(points: Design, variant: Scenario) -> None:
    """Raise ValueError for two names of one parameter: the last would take effect, and labels would be wrong."""
    paths = [path for path in points.paths if _is_for(path, variant)]
    bare = Scenario.parse(variant.to_toml())._core if len(paths) > 1 else variant._core
    for place, path in enumerate(paths):
        for other in paths[:place]:
            if any(core.replaced(path) for core in _with_values(bare, points, other)):
                order = f", or put {path} before {other}" if other.startswith(f"{path}.") else ""
                raise ValueError(f"{other} and {path} are one parameter: let only one of them vary{order}")


def _with_values(core: _core.Scenario, points: Design, path: str) -> Iterator[_core.Scenario]:
    """Yield a scenario with the first value of a varying parameter, and with those that set several parameters."""
    index = points.paths.index(path)
    values = dict.fromkeys(point[index] for point in points.points)
    for place, value in enumerate(values):
        if place == 0 or (isinstance(value, str) and "=" in value):
            with suppress(_core.ScenarioError):
                yield core.with_value(path, value)


def _is_for(path: str, variant: Scenario) -> bool:
    """Return whether a varying parameter is one of this discipline, or not of a discipline at all."""
    head, _, rest = path.partition(".")
    return head != "aqm" or rest.partition(".")[0] in parameter_names(variant)


@dataclass
class Plan:
    """The runs of a study that can be done, and the scenarios that cannot.

    There may be a million scenarios: one for each point and discipline. `numbers` has the point number of each scenario
    that can be done, `labels` the place of its discipline in `Study.variants`, `digests` its digest as bytes, `costs`
    the work of a run (see `Engine.work`), and `memories` the bytes that a run is known to need. `refused` has the point
    number, the place of the discipline, and the error of each of the others. `reads_files` is whether a scenario
    consists of other files, too: recordings, or the user's own disciplines.
    """

    study: Study
    numbers: array[int] = field(default_factory=lambda: array("q"))
    labels: array[int] = field(default_factory=lambda: array("q"))
    digests: bytearray = field(default_factory=bytearray)
    costs: array[float] = field(default_factory=lambda: array("d"))
    memories: array[int] = field(default_factory=lambda: array("q"))
    refused: list[tuple[int, int, str]] = field(default_factory=list)
    reads_files: bool = False

    @classmethod
    def of(cls, study: Study, watch: Callable[[int], None] = lambda _: None) -> Plan:
        """Check every point with every discipline; those that are not valid are refused.

        `watch` is called with the number of scenarios that have been checked. If no point can be done, raise the first
        error.
        """
        plan = cls(study)
        simulates = study.engine == PACKETS
        first: Exception | None = None
        engines = [study.engine_for(label) for label in study.variants]
        for number, point in enumerate(study.design.points):
            for place, (label, engine) in enumerate(zip(study.variants, engines, strict=True)):
                try:
                    scenario = study.bare_at(label, point)
                    name = bytes.fromhex(digest(scenario))
                    if not simulates:
                        engine.check(scenario)
                    need, cost = known_memory(study.engine, scenario), engine.work(scenario)
                    plan.reads_files |= scenario._core.reads_files
                    plan.memories.append(need)
                    plan.costs.append(cost)
                    plan.digests += name
                    plan.numbers.append(number)
                    plan.labels.append(place)
                except (_core.ScenarioError, OSError) as error:
                    named = _as_varied(error, study.design.paths)
                    first = first or named
                    plan.refused.append((number, place, str(named)))
            watch((number + 1) * len(engines))
        if first and not plan.digests:
            raise first
        return plan

    def within(self, free: int | None) -> Plan:
        """Return the plan with those scenarios refused that are known to need more than the free bytes of memory.

        `free` is None if these are unknown. Raise MemoryError if all of them do.
        """
        if free is None or self.memory <= free:
            return self
        plan = Plan(self.study, refused=list(self.refused), reads_files=self.reads_files)
        for place, need in enumerate(self.memories):
            if need > free:
                needed = f"about {need / 1e9:.1f} GB of memory needed"
                error = f"{needed}, {free / 1e9:.1f} GB are free: lower the count of its flows"
                plan.refused.append((self.numbers[place], self.labels[place], error))
                continue
            plan.numbers.append(self.numbers[place])
            plan.labels.append(self.labels[place])
            plan.digests += self.digests[place * keys.SIZE : (place + 1) * keys.SIZE]
            plan.costs.append(self.costs[place])
            plan.memories.append(need)
        if not plan.digests:
            raise MemoryError(plan.refused[-1][2])
        plan.refused.sort()
        return plan

    @property
    def memory(self) -> int:
        """The bytes that the largest run is known to need."""
        return max(self.memories, default=0)

    @property
    def estimate(self) -> int:
        """The bytes that the run of the most work needs, or more: a trial of each run would take too long."""
        if not self.costs:
            return 0
        place = self.costs.index(max(self.costs))
        label = list(self.study.variants)[self.labels[place]]
        scenario = self.study.bare_at(label, self.study.design.points[self.numbers[place]])
        return max(self.memory, memory(self.study.engine, scenario))

    @property
    def failures(self) -> list[Failure]:
        """A failure for each scenario that is refused."""
        labels = list(self.study.variants)
        return [self.failure(number, labels[place], None, error) for number, place, error in self.refused]

    def failure(self, number: int, label: str, seed: int | None, error: str) -> Failure:
        """Return the failure of a point; `seed` is None if the point itself is not valid."""
        point = self.study.design.points[number]
        return Failure(label, dict(zip(self.study.design.paths, point, strict=True)), seed, error)

    @property
    def scenarios(self) -> Iterator[tuple[int, str, str]]:
        """The point number, label and digest of every scenario that can be done."""
        labels = list(self.study.variants)
        digests = (name.hex() for name in each(keys.array(self.digests)))
        return zip(self.numbers, (labels[place] for place in self.labels), digests, strict=True)

    @cached_property
    def keys(self) -> Keys:
        """The keys of all runs that can be done: the scenarios in their order, each with all seeds."""
        named = {label: key_for(self.study.engine_for(label).version) for label in self.study.variants}
        runs = ((label, name, seed) for _, label, name in self.scenarios for seed in self.study.seeds)
        return keys.array(b"".join(named[label](name, seed) for label, name, seed in runs))

    def runs(self) -> Iterator[tuple[int, str, int, bytes]]:
        """Yield the point number, label, seed and key of every run that can be done."""
        places = ((number, label, seed) for number, label, _ in self.scenarios for seed in self.study.seeds)
        return ((*place, run) for place, run in zip(places, each(self.keys), strict=True))

    def missing(self, finished: Set[bytes], recorded: Set[str]) -> dict[tuple[bytes, str], float]:
        """Return the work of each missing run, by key and the name of its series, which is empty without.

        A run is missing if it is not in `finished` or if its series are wanted and not in `recorded`.
        """
        costs = (cost for cost in self.costs for _ in self.study.seeds)
        runs = (
            ((run, self.study.series_name(run) if self.study.series else ""), cost)
            for run, cost in zip(each(self.keys), costs, strict=True)
        )
        return {
            (run, name): cost for (run, name), cost in runs if run not in finished or (name and name not in recorded)
        }

    def tasks(self, todo: Flags, here: bool = False) -> Iterator[Task]:
        """Yield a task for each run that is true in `todo`, which is in the order of `keys`.

        Scenarios are taken in blocks, and the runs of a block seed after seed. If `here` is true, the tasks stay in
        this process, and their scenarios are parsed once, unless their files may change before they run.
        """
        parsed = here and not self.reads_files
        at = self.study.recorded_at if self.study.series else self.study.bare_at
        seeds, labels = self.study.seeds, list(self.study.variants)
        engines = [self.study.engine_for(label) for label in labels]
        runs = self.keys.reshape(-1, len(seeds))
        for start in range(0, len(runs), _BLOCK):
            block = range(start, min(start + _BLOCK, len(runs)))
            if not todo[start * len(seeds) : block.stop * len(seeds)].any():
                continue
            texts: dict[int, tuple[str | _core.Scenario, tuple[str, ...]]] = {}
            for column, place in itertools.product(range(len(seeds)), block):
                if not todo[place * len(seeds) + column]:
                    continue
                label, point = labels[self.labels[place]], self.study.design.points[self.numbers[place]]
                if place not in texts:
                    scenario = at(label, point)
                    texts[place] = (scenario._core, ()) if parsed else (scenario.to_toml(), sources(scenario))
                text, own = texts[place]
                seed = seeds[column]
                name = ", ".join(part for part in (label, self.study.design.label(point), f"seed {seed}") if part)
                run = runs[place, column : column + 1].tobytes()
                engine, cost = engines[self.labels[place]], self.costs[place]
                series = self.study.series_name(run) if self.study.series else ""
                yield Task(text, seed, run, name, cost, series, engine=engine, sources=own)
