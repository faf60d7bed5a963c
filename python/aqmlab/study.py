"""What a sweep is to do: every point with every queue discipline and every seed, and the tasks that this takes."""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Iterator, Mapping, Set
from contextlib import suppress
from dataclasses import dataclass, field
from functools import cache, cached_property

from aqmlab import _core
from aqmlab.design import DRAWN, Design, Point, Scalar, design
from aqmlab.listing import parameter_names
from aqmlab.replication import chosen_seeds, refuse_no_scenario, spelled_out
from aqmlab.scenario import Scenario, Settings
from aqmlab.store import series_name
from aqmlab.sweeps import Failure
from aqmlab.task import Task, digest, key

_BARE: Settings = {"record.series": False, "record.cwnd": "auto"}
"""A sweep records no series: the metrics are the same without, and a run of interest is soon repeated."""

_BLOCK = 64
"""How many scenarios take turns: their seeds are done one after the other, each scenario is read once."""


@dataclass(frozen=True)
class Study:
    """What to run: every point with every discipline and every seed.

    Parameters
    ----------
    scenario : Scenario
        What to simulate, but for what varies.
    variants : mapping
        The scenario with each queue discipline, by its label.
    design : Design
        The points.
    seeds : list of int
        The seeds of each point.
    series : bool
        Whether series are kept too, as the scenario's `[record]` says.
    """

    scenario: Scenario
    variants: Mapping[str, Scenario]
    design: Design
    seeds: list[int]
    series: bool = False

    @property
    def runs(self) -> int:
        """How many runs there shall be."""
        return len(self.design.points) * len(self.variants) * len(self.seeds)

    @cached_property
    def record(self) -> dict[str, object]:
        """What the scenario's `[record]` says, every default filled in."""
        return dict(self.scenario.resolved["record"])

    def series_name(self, key: bytes) -> str:
        """Name the series of a run in the store.

        Parameters
        ----------
        key : bytes
            Of the run.

        Returns
        -------
        str
            Its name.
        """
        return series_name(key, self.record)

    def scenario_at(self, label: str, point: Point) -> Scenario:
        """Give the scenario of a point.

        Parameters
        ----------
        label : str
            Of the queue discipline.
        point : tuple
            The values of what varies.

        Returns
        -------
        Scenario
            The scenario, not yet checked.
        """
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
    """Read what to run.

    Parameters
    ----------
    scenario : Scenario
        What to simulate.
    vary : mapping
        As for `sweep`.
    aqms : iterable of str, or mapping
        As for `sweep`; or by their labels the disciplines, or settings of any kind that set them apart.
    seeds : int or iterable of int
        As for `sweep`.
    method : str
        As for `sweep`.
    samples : int
        As for `sweep`.
    sample_seed : int
        As for `sweep`.
    series : bool
        Whether series are kept too.

    Returns
    -------
    Study
        What to run.

    Raises
    ------
    ScenarioError
        If the scenario is not valid.
    ValueError
        If what varies cannot be read.
    """
    refuse_no_scenario(scenario)
    scenario.check()  # which tells of the whole file, and not of its [sweep] alone
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
    """Refuse a path that is nowhere, at once: else it would be found at each of a million points."""
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
    """Refuse two names of one parameter: the last would count, and points would be called what they are not."""
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
    """Give every value in a document, with its place."""
    if isinstance(document, dict | list):
        for key, inside in document.items() if isinstance(document, dict) else enumerate(document):
            yield from _leaves(inside, f"{place}.{key}")
    else:
        yield place, repr(document)


def _is_for(path: str, variant: Scenario) -> bool:
    """Tell whether a parameter that varies is one of this discipline, or none of a discipline."""
    head, _, rest = path.partition(".")
    return head != "aqm" or rest.partition(".")[0] in _names(variant.aqm)


@cache
def _names(aqm: str) -> frozenset[str]:
    return frozenset(parameter_names(aqm))


@dataclass
class Plan:
    """What is to be done, and what cannot be.

    Parameters
    ----------
    study : Study
        What to run.
    digests : dict
        Of the scenario of each point with each discipline, by the point's number and the label.
    costs : dict
        How much work a run is, by the digest.
    memory : int
        How many bytes the largest run needs.
    failures : list of Failure
        What cannot be done.
    """

    study: Study
    digests: dict[tuple[int, str], str] = field(default_factory=dict)
    costs: dict[str, float] = field(default_factory=dict)
    memory: int = 0
    failures: list[Failure] = field(default_factory=list)

    @classmethod
    def of(cls, study: Study, free: int | None = None) -> Plan:
        """Look at every point with every discipline; refuse those that need more than the memory that is free.

        Parameters
        ----------
        study : Study
            What to run.
        free : int
            How many bytes of memory are free; by default nobody knows.

        Returns
        -------
        Plan
            What can be done, and what cannot.
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
        """Say which point failed, and why.

        Parameters
        ----------
        number : int
            Of the point.
        label : str
            Of the discipline.
        seed : int or None
            Of the run; none if the point as such is not valid.
        error : str
            Why.

        Returns
        -------
        Failure
            The failure.
        """
        point = self.study.design.points[number]
        return Failure(label, dict(zip(self.study.design.paths, point, strict=True)), seed, error)

    def runs(self) -> Iterator[tuple[int, str, int, bytes]]:
        """Give every run that can be done.

        Yields
        ------
        tuple
            Number of the point, label, seed, key.
        """
        for (number, label), name in self.digests.items():
            for seed in self.study.seeds:
                yield number, label, seed, key(name, seed)

    def missing(self, finished: Set[bytes], recorded: Set[str]) -> dict[bytes, float]:
        """Tell which runs are not there.

        Parameters
        ----------
        finished : set of bytes
            The keys of those that are.
        recorded : set of str
            The names of the series that are there.

        Returns
        -------
        dict
            How much work each is, by its key.
        """
        missing = {}
        for number, label, _, own in self.runs():
            if own not in finished or (self.study.series and self.study.series_name(own) not in recorded):
                missing[own] = self.costs[self.digests[number, label]]
        return missing

    def tasks(self, todo: set[bytes]) -> Iterator[Task]:
        """Give each run that is to be done once; of some scenarios at a time seed after seed.

        Parameters
        ----------
        todo : set of bytes
            The keys of the runs; each is taken out when its task is given.

        Yields
        ------
        Task
            What to do.
        """
        recorded: Settings = {"record.series": True} if self.study.series else _BARE
        pairs = iter(self.digests)
        while block := list(itertools.islice(pairs, _BLOCK)):
            texts: dict[tuple[int, str], str] = {}
            for seed, (number, label) in itertools.product(self.study.seeds, block):
                own = key(self.digests[number, label], seed)
                if own not in todo:
                    continue
                todo.remove(own)  # another discipline or point may mean the same
                point = self.study.design.points[number]
                if (number, label) not in texts:
                    texts[number, label] = self.study.scenario_at(label, point).with_(recorded).to_toml()
                name = ", ".join(part for part in (label, self.study.design.label(point), f"seed {seed}") if part)
                cost = self.costs[self.digests[number, label]]
                yield Task(texts[number, label], seed, own, name, cost, self.study.series)
