"""The plan of a sweep: which runs a study has, which of them can be done, and at what cost.

Plans are kept in a store, because to check a million scenarios takes minutes, and to read what came of it a second.

A plan is read only for the same study by the same version of aqmlab and of its engine. It is not kept if a scenario
consists of other files, too, which may change.
"""

from __future__ import annotations

import hashlib
import io
import itertools
import json
import re
import sys
from array import array
from collections.abc import Callable, Iterator, Mapping, Sequence, Set
from contextlib import suppress
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

from aqmlab import _core
from aqmlab.execute.engine import PACKETS, Engine
from aqmlab.execute.task import FORMAT, Task, digest, key_for, sources
from aqmlab.execute.variants import performing
from aqmlab.files import read_whole, remove_stale, write_whole
from aqmlab.runs import key_arrays as keys
from aqmlab.runs.cases import UNRECORDED
from aqmlab.runs.key_arrays import Flags, Keys, each
from aqmlab.runs.memory import known_memory, memory
from aqmlab.runs.points import Design, Point
from aqmlab.runs.store import series_name
from aqmlab.runs.swept import Failure
from aqmlab.scenario import Scenario, is_for, worded
from aqmlab.sealed import checksum

if TYPE_CHECKING:
    import polars

_BLOCK = 64
"""The number of scenarios that take turns, seed after seed: each scenario is read once."""

LARGE = 2000
"""The fewest scenarios of a study whose plan is kept."""

MOST = 10
"""The most plans that are kept in a store; those written longest ago are removed."""

_SAMPLE = 20
"""The number of scenarios whose digests are checked when a plan is read."""

_FORM = 1
"""The version of this form of a plan."""

_CODE = ("execute.engine", "execute.task", "execute.variants", "runs.memory", "runs.plan", "scenario")
"""The modules whose code determines a plan."""

_FILE = re.compile(r"(?P<study>[0-9a-f]{64})-(?P<hash>[0-9a-f]{64})\.arrow")


@dataclass(frozen=True)
class Study:
    """The runs of a sweep: every point with every discipline and every seed.

    `scenario` has the values that do not vary, and `variants` the scenario with each queue discipline, by label. If
    `series` is true, series are kept too, as the scenario's `[record]` defines them. `engine` performs the runs, for a
    discipline of Linux as `engines` has it. `named` has the labels that the caller chose, which name no discipline.
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

    @cached_property
    def engines(self) -> Mapping[str, Engine]:
        """The engine as it performs each queue discipline, by label."""
        return {label: performing(label, [self.engine])[self.engine] for label in self.variants}

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
        return {label: variant.with_(UNRECORDED) for label, variant in self.variants.items()}

    @cached_property
    def _recorded(self) -> Mapping[str, Scenario]:
        return {label: variant.with_({"record.series": True}) for label, variant in self.variants.items()}

    @cached_property
    def paths(self) -> Mapping[str, Sequence[str]]:
        """The varying parameters that each discipline has, by its label."""
        return {label: [self.design.paths[place] for place in places] for label, places in self._places.items()}

    @cached_property
    def _places(self) -> Mapping[str, Sequence[int]]:
        """The places in a point of the values that each discipline has."""
        return {
            label: [place for place, path in enumerate(self.design.paths) if is_for(path, variant)]
            for label, variant in self.variants.items()
        }


def _as_varied(error: Exception, paths: Sequence[str]) -> Exception:
    """Return an error that names values of varying parameters by the option that varies them, not as set."""
    if not isinstance(error, _core.ScenarioError):
        return error
    varying = "|".join(map(re.escape, paths))
    return worded(error, re.sub(rf"^--set (?=({varying})=)", "--vary ", str(error), flags=re.MULTILINE))


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
        engines = [study.engines[label] for label in study.variants]
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

    def each_digest(self) -> Iterator[bytes]:
        """Yield the digest of every scenario that can be done."""
        return (bytes(self.digests[at : at + keys.SIZE]) for at in range(0, len(self.digests), keys.SIZE))

    @property
    def scenarios(self) -> Iterator[tuple[int, str, str]]:
        """The point number, label and digest of every scenario that can be done."""
        labels = list(self.study.variants)
        digests = (name.hex() for name in self.each_digest())
        return zip(self.numbers, (labels[place] for place in self.labels), digests, strict=True)

    @cached_property
    def keys(self) -> Keys:
        """The keys of all runs that can be done: the scenarios in their order, each with all seeds."""
        named = {label: key_for(self.study.engines[label].version) for label in self.study.variants}
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
        engines = [self.study.engines[label] for label in labels]
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


def keep(plan: Plan, store: Path) -> None:
    """Keep a large plan in the folder of a store, if possible."""
    if not _is_kept(plan.study) or plan.reads_files:
        return
    folder, buffer = store / "plans", io.BytesIO()
    _framed(plan).write_ipc(buffer)
    data = buffer.getvalue()
    with suppress(OSError):  # a full or read-only disk: the scenarios are checked again
        write_whole(folder / f"{_name(plan.study)}-{checksum(data)}.arrow", data)
        kept = sorted(
            filter(lambda path: _FILE.fullmatch(path.name), folder.iterdir()), key=lambda p: p.stat().st_mtime
        )
        for path in kept[:-MOST]:
            path.unlink(missing_ok=True)
        remove_stale(folder)


def kept(study: Study, store: Path) -> Plan | None:
    """Return the plan of a study that the folder of a store has; None if there is none, or none that still holds."""
    import polars

    if not _is_kept(study):
        return None
    for path in (store / "plans").glob(f"{_name(study)}-*.arrow"):
        found = _FILE.fullmatch(path.name)
        with suppress(OSError, polars.exceptions.PolarsError):
            data = read_whole(path)
            if found and checksum(data) == found["hash"]:
                plan = _plan(study, polars.read_ipc(io.BytesIO(data)))
                if _holds(plan):
                    return plan
    return None


def _holds(plan: Plan) -> bool:
    """Check the refused scenarios again, because a missing file may be there now, and the digests of some others.

    The errors that are found now replace those that were kept: they name the present lines and files.
    """
    for index, (number, place, _) in enumerate(plan.refused):
        error = plan.study.refusal(number, place)
        if error is None:
            return False
        plan.refused[index] = (number, place, error)
    labels = list(plan.study.variants)
    digests = list(plan.each_digest())
    for place in range(0, len(digests), max(1, len(digests) // _SAMPLE)):
        label, point = labels[plan.labels[place]], plan.study.design.points[plan.numbers[place]]
        scenario = plan.study.bare_at(label, point)
        if bytes.fromhex(digest(scenario)) != digests[place]:
            return False
    return True


def _is_kept(study: Study) -> bool:
    """Return whether the plan of a study is worth keeping, and depends on nothing but the study."""
    large = len(study.design.points) * len(study.variants) >= LARGE
    return large and all(study.engines[label] == PACKETS for label in study.variants)


def _name(study: Study) -> str:
    """Hash all that determines the plan of a study."""
    code = hashlib.sha256(
        b"".join(Path(str(sys.modules[f"aqmlab.{name}"].__file__)).read_bytes() for name in _CODE)
    ).hexdigest()
    versions = [_FORM, FORMAT, _core.__version__, _core.engine_version, code]
    variants = {label: variant.to_toml() for label, variant in study.variants.items()}
    name = hashlib.sha256(json.dumps([versions, variants, study.design.paths]).encode())
    for point in study.design.points:
        name.update(repr(point).encode())
    return name.hexdigest()


def _framed(plan: Plan) -> polars.DataFrame:
    """Lay out a plan: a row for each scenario, with its digest, cost and memory, or its error."""
    import polars

    done = polars.DataFrame(
        [
            polars.Series("number", plan.numbers, polars.Int64),
            polars.Series("label", plan.labels, polars.Int64),
            polars.Series("digest", list(plan.each_digest()), polars.Binary),
            polars.Series("cost", plan.costs, polars.Float64),
            polars.Series("memory", plan.memories, polars.Int64),
        ]
    )
    refused = polars.DataFrame(
        plan.refused, {"number": polars.Int64, "label": polars.Int64, "error": polars.String}, orient="row"
    )
    return polars.concat([done, refused], how="diagonal")


def _plan(study: Study, frame: polars.DataFrame) -> Plan:
    """Read what `_framed` returned."""
    import polars

    done = frame.filter(polars.col("digest").is_not_null())
    plan = Plan(study, refused=frame.filter(polars.col("digest").is_null()).select("number", "label", "error").rows())
    for name, column in (
        ("number", plan.numbers),
        ("label", plan.labels),
        ("cost", plan.costs),
        ("memory", plan.memories),
    ):
        column.frombytes(done[name].to_numpy().tobytes())
    plan.digests += b"".join(done["digest"])
    return plan
