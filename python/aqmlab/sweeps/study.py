"""The study of a sweep: every point with every queue discipline and every seed, and the tasks that these require."""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Iterator, Mapping, Set
from contextlib import suppress
from dataclasses import dataclass, field
from functools import cache, cached_property

from aqmlab import _core
from aqmlab.execute.replication import chosen_seeds, require_scenario, spelled_out
from aqmlab.execute.task import Task, digest, key
from aqmlab.scenario import Scenario, Settings, parameter_names
from aqmlab.sweeps.points import DRAWN, Design, Point, Scalar, design
from aqmlab.sweeps.result import Failure
from aqmlab.sweeps.store import series_name

_BARE: Settings = {"record.series": False, "record.cwnd": "auto"}
"""A sweep records no series: they do not affect the metrics, and a run of interest is soon repeated."""

_BLOCK = 64
"""The number of scenarios that take turns, seed after seed: each scenario is read once."""


@dataclass(frozen=True)
class Study:
    """The runs of a sweep: every point with every discipline and every seed.

    `scenario` has the values that do not vary, and `variants` the scenario with each queue discipline, by label. If
    `series` is true, series are kept too, as the scenario's `[record]` defines them.
    """

    scenario: Scenario
    variants: Mapping[str, Scenario]
    design: Design
    seeds: list[int]
    series: bool = False

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

    def scenario_at(self, label: str, point: Point) -> Scenario:
        """Return the scenario of a point with a queue discipline, not yet checked."""
        core = self.variants[label].core
        for path, value in zip(self.design.paths, point, strict=True):
            if _is_for(path, self.variants[label]):
                core = core.with_value(path, value)
        return Scenario(core)


def study(
    scenario: Scenario,
    vary: Mapping[str, object] | None = None,
    aqms: Iterable[str] | Mapping[str, str | Settings] | None = None,
    seeds: int | Iterable[int] | None = None,
    method: str | None = None,
    samples: int | None = None,
    sample_seed: int | None = None,
    series: bool = False,
) -> Study:
    """Build a study from a scenario's `[sweep]` and the arguments of `sweep`, which take precedence.

    `aqms` may also map labels to disciplines, or to settings of any kind that distinguish them. Raise ScenarioError if
    the scenario is not valid, ValueError if the varying values cannot be parsed.
    """
    require_scenario(scenario)
    scenario.check()  # reports problems of the whole file, not of its [sweep] alone
    said = scenario.study or {"vary": [], "aqm": "auto", "seeds": 1, "method": "grid", "samples": 100, "sample_seed": 1}
    written = {entry["path"]: entry for entry in said["vary"]}
    chosen = {path: entry["value"] for path, entry in written.items()} | dict(vary or {})
    own = {path: f"{entry['origin']}: sweep.vary.{path}" for path, entry in written.items() if path not in (vary or {})}
    method = method or said["method"]
    if method not in DRAWN and (samples, sample_seed) != (None, None):
        raise ValueError(f"samples and sample_seed are for methods {' and '.join(DRAWN)}; the method is {method}")
    points = design(
        chosen,
        method,
        said["samples"] if samples is None else samples,
        said["sample_seed"] if sample_seed is None else sample_seed,
        own,
    )
    base = scenario.base
    labels = aqms if aqms is not None else ([] if said["aqm"] == "auto" else said["aqm"])
    if isinstance(labels, Mapping):
        variants = {
            label: base.with_aqm(told) if isinstance(told, str) else base.with_(told) for label, told in labels.items()
        }
    else:
        variants = {label: base.with_aqm(label) for label in spelled_out(labels)}
    variants = variants or {base.aqm: base}
    for path, value in zip(points.paths, points.points[0], strict=True):
        _refuse_unknown(path, value, own.get(path, f"--vary {path:.200}"), base, variants)
    for variant in variants.values():
        _refuse_same(points, variant)
    return Study(base, variants, points, chosen_seeds(base, said["seeds"] if seeds is None else seeds), series)


def _refuse_unknown(path: str, value: Scalar, where: str, base: Scenario, variants: Mapping[str, Scenario]) -> None:
    """Refuse an unknown path at once, instead of at each of a million points."""
    knowing = [variant for variant in variants.values() if _is_for(path, variant)]
    for variant in knowing or [base]:
        try:
            variant.with_({path: value}).check()
        except _core.ScenarioError as error:
            if any(problem["kind"] == "path" for problem in error.problems):
                refused = _core.ScenarioError("\n".join(f"{where}: {problem['text']}" for problem in error.problems))
                refused.problems, refused.kind, refused.path = error.problems, error.kind, error.path
                raise refused from None
    if not knowing:
        raise ValueError(f"{where}: none of {', '.join(variants)} has {path.removeprefix('aqm.')}")


def _refuse_same(points: Design, variant: Scenario) -> None:
    """Refuse two names of one parameter: the last would take effect, and points would be labelled wrongly."""
    paths = [path for path in points.paths if _is_for(path, variant)]
    changed: dict[frozenset[str], str] = {}
    for path in paths if len(paths) > 1 else ():
        index = points.paths.index(path)
        own = dict.fromkeys(point[index] for point in points.points)
        documents = [variant.resolved]
        for value in list(own)[:2]:
            with suppress(_core.ScenarioError):
                documents.append(variant.with_({path: value}).resolved)
        told = [frozenset(_leaves(document)) for document in documents]
        places = frozenset(place for one in told for place, _ in one ^ told[0])
        if places and changed.setdefault(places, path) != path:
            raise ValueError(f"{changed[places]} and {path} are one parameter: let only one of them vary")


def _leaves(document: object, place: str = "") -> Iterator[tuple[str, str]]:
    """Yield the place of every value in a document, and the value's repr."""
    if isinstance(document, dict | list):
        for key, inside in document.items() if isinstance(document, dict) else enumerate(document):
            yield from _leaves(inside, f"{place}.{key}")
    else:
        yield place, repr(document)


def _is_for(path: str, variant: Scenario) -> bool:
    """Return whether a varying parameter is one of this discipline, or not of a discipline at all."""
    head, _, rest = path.partition(".")
    return head != "aqm" or rest.partition(".")[0] in _names(variant.aqm)


@cache
def _names(aqm: str) -> frozenset[str]:
    return frozenset(parameter_names(aqm))


@dataclass
class Plan:
    """The runs of a study that can be done, and the failures.

    `digests` has the digest of each scenario by point number and label, `costs` the work of a run by digest, and
    `memory` the bytes that the largest run needs.
    """

    study: Study
    digests: dict[tuple[int, str], str] = field(default_factory=dict)
    costs: dict[str, float] = field(default_factory=dict)
    memory: int = 0
    failures: list[Failure] = field(default_factory=list)

    @classmethod
    def of(cls, study: Study, free: int | None = None) -> Plan:
        """Check every point with every discipline; those that are not valid, or need too much memory, are failures.

        `free` is the free memory in bytes, or None if unknown. If no point can be done, raise the first error.
        """
        plan = cls(study)
        first: Exception | None = None
        for number, point in enumerate(study.design.points):
            for label in study.variants:
                try:
                    scenario = study.scenario_at(label, point).with_(_BARE)
                    name = digest(scenario)
                    if free is not None and scenario.memory > free:
                        need = f"about {scenario.memory / 1e9:.1f} GB of memory needed"
                        raise MemoryError(f"{need}, and {free / 1e9:.1f} GB are free; fewer flows need less")
                    plan.costs[name] = max(scenario.packets, 1.0)
                    plan.memory = max(plan.memory, scenario.memory)
                    plan.digests[number, label] = name
                except (_core.ScenarioError, OSError, MemoryError) as error:
                    first = first or error
                    plan.failures.append(plan.failure(number, label, None, str(error)))
        if first and not plan.digests:
            raise first
        return plan

    def failure(self, number: int, label: str, seed: int | None, error: str) -> Failure:
        """Return the failure of a point; `seed` is None if the point itself is not valid."""
        point = self.study.design.points[number]
        return Failure(label, dict(zip(self.study.design.paths, point, strict=True)), seed, error)

    def runs(self) -> Iterator[tuple[int, str, int, bytes]]:
        """Yield the point number, label, seed and key of every run that can be done."""
        for (number, label), name in self.digests.items():
            for seed in self.study.seeds:
                yield number, label, seed, key(name, seed)

    def missing(self, finished: Set[bytes], recorded: Set[str]) -> dict[bytes, float]:
        """Return the work of each missing run, by key.

        A run is missing if it is not in `finished` or if its series are wanted and not in `recorded`.
        """
        missing = {}
        for number, label, _, own in self.runs():
            if own not in finished or (self.study.series and self.study.series_name(own) not in recorded):
                missing[own] = self.costs[self.digests[number, label]]
        return missing

    def tasks(self, todo: set[bytes]) -> Iterator[Task]:
        """Yield a task for each run in `todo`, and remove its key.

        Scenarios are taken in blocks, and the runs of a block seed after seed.
        """
        recorded: Settings = {"record.series": True} if self.study.series else _BARE
        pairs = iter(self.digests)
        while block := list(itertools.islice(pairs, _BLOCK)):
            texts: dict[tuple[int, str], str] = {}
            for seed, (number, label) in itertools.product(self.study.seeds, block):
                own = key(self.digests[number, label], seed)
                if own not in todo:
                    continue
                todo.remove(own)  # another discipline or point may mean the same run
                point = self.study.design.points[number]
                if (number, label) not in texts:
                    texts[number, label] = self.study.scenario_at(label, point).with_(recorded).to_toml()
                name = ", ".join(part for part in (label, self.study.design.label(point), f"seed {seed}") if part)
                cost = self.costs[self.digests[number, label]]
                yield Task(texts[number, label], seed, own, name, cost, self.study.series)
