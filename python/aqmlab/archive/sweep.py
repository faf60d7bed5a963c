"""Sweeps, which `aqmlab.sweep` saves."""

from __future__ import annotations

import itertools
import json
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import Any

from aqmlab.archive import scenarios, shown
from aqmlab.archive.contents import Claimed, Contents, Facts, Given, Measured, Remade, Watch
from aqmlab.archive.documents import require_own_label, require_same
from aqmlab.archive.layout import RUNS, Record
from aqmlab.archive.layout import records as listed
from aqmlab.execute.engine import Engine
from aqmlab.execute.recordings import files_of
from aqmlab.execute.task import Outcome, Task, digest, key_for, opened
from aqmlab.execute.variants import performing, with_discipline
from aqmlab.files import json_text
from aqmlab.kinds import SWEEP
from aqmlab.results.frames import flat
from aqmlab.results.result import KERNEL
from aqmlab.runs.plan import Study
from aqmlab.runs.points import Design, Scalar
from aqmlab.runs.swept import Sweep
from aqmlab.scenario import Scenario, is_own

_READ = {"file", "rates", "reverse_rates", "extends"}
"""The keys of scenarios whose values name files."""


def facts(folder: Path) -> Facts:
    """See `Kind`."""
    sweep = Sweep.load(folder)
    title = json.loads((folder / SWEEP.head).read_bytes())["scenario"]["title"]  # the scenario would read recordings
    engines = {sweep.engine_name: sweep.version}
    return Facts("a sweep", title, sweep.version, engines, shown.command(folder))


def contents(folder: Path, given: Given) -> Contents:
    """See `Kind`; the folder has everything."""
    sweep = Sweep.load(folder)
    if not sweep.done:
        raise ValueError(f"{folder / SWEEP.head}: the sweep has no finished run")
    engine = Engine.parse(sweep.engine_name)
    sealed = scenarios.Scenarios()
    known: dict[tuple[Any, ...], str] = {}
    records = []
    for row in sweep.frame.iter_rows(named=True):
        label = ", ".join([row["aqm"], *(f"{path} = {row[path]}" for path in sweep.parameters)])
        place = (row["aqm"], *(row[path] for path in sweep.parameters))
        able = performing(row["aqm"], [engine])[engine]
        if place not in known:
            named = key_for(sweep.version if able == engine else able.version)
            variants = _variants(sweep, row["aqm"], sweep.scenario._base)
            found = (
                one for one in _scenarios(sweep, row, variants) if named(digest(one), row["seed"]).hex() == row["key"]
            )
            scenario = next(found, None)
            if scenario is None:
                raise ValueError(
                    f"{folder / SWEEP.head}: {label}: no scenario of this aqmlab, {engine.version}, has the key of "
                    f"this run. The sweep is of {sweep.version}. Its recordings, and the files of disciplines of your "
                    "own, must be where they were and must not have changed"
                )
            known[place] = sealed.add(scenario)
        records.append(Record(label, known[place], row["seed"], str(able), row["key"], SWEEP.head))
    return Contents(facts(folder), records, sealed.files)


def _scenarios(sweep: Sweep, row: Mapping[str, Any], variants: Sequence[Scenario]) -> Iterator[Scenario]:
    """Yield the valid scenarios that a row may stand for, given those that its discipline may."""
    label, paths = row["aqm"], tuple(sweep.parameters)
    for variant in variants:
        for point in itertools.product(*(_written(row[path], sweep.parameters[path]) for path in paths)):
            with suppress(ValueError):  # a quantity that this parameter does not take
                scenario = Study(variant, {label: variant}, Design(paths, [point]), []).scenario_at(label, point)
                scenario.check()
                yield scenario


def _variants(sweep: Sweep, label: str, base: Scenario, spec: str = "") -> list[Scenario]:
    """List the scenarios that the label of a discipline may stand for, without the varying parameters.

    They are that which the sweep has kept for it; otherwise that with the discipline as it is named, and the sweep's
    own if it has it. ``spec`` takes the place of the label, if the discipline's file is elsewhere now.
    """
    if label in sweep.variants:
        return [sweep.variants[label]]
    found = [base] if label == base.aqm else []
    with suppress(ValueError):
        found.append(with_discipline(base, spec or label))
    return found


def _written(value: Scalar, unit: str) -> list[Scalar]:
    """List the forms in which a scenario may have a value of the table."""
    whole = [int(value)] if isinstance(value, float) and value.is_integer() else []
    return [f"{value!r} {unit}", value, *whole] if unit else [value, *whole]


def runs(folder: Path) -> Iterator[Claimed]:
    """See `Kind`."""
    sweep = Sweep.load(folder)
    _require_plain(sweep)
    sweep = _unpacked(folder, sweep)
    saved = json.loads((folder / SWEEP.head).read_bytes())
    require_same(SWEEP.head, saved, json.loads(json_text(sweep.document())))
    if not sweep.interrupted and sweep.wanted != sweep.done + sweep.failed:
        raise ValueError(
            f"{SWEEP.head}: wanted = {sweep.wanted}: it has {sweep.done} runs, and {sweep.failed} that failed"
        )
    engine = Engine.parse(sweep.engine_name)
    for aqm, seed, run in sweep.frame.select("aqm", "seed", "key").iter_rows():
        yield seed, str(performing(aqm, [engine])[engine]), run, SWEEP.head


def _require_plain(sweep: Sweep) -> None:
    """Refuse a sweep with a run twice or missing, a variant of another discipline, or a value that names a file."""
    points = sweep.frame.select("aqm", *sweep.parameters, "seed")
    if len(set(sweep.seeds)) < len(sweep.seeds) or points.is_duplicated().any():
        raise ValueError(f"{SWEEP.head}: a run is there twice")
    if strange := set(points["seed"]).difference(sweep.seeds):
        raise ValueError(f"{SWEEP.head}: a run of seed {min(strange)}, which is none of its seeds")
    counts = points.group_by("aqm", *sweep.parameters).len()["len"]
    if not (sweep.interrupted or sweep.failed) and (counts != len(sweep.seeds)).any():
        raise ValueError(f"{SWEEP.head}: a point lacks some of its {len(sweep.seeds)} seeds")
    for path in sweep.parameters:
        for value in map(str, points[path].unique()):
            if is_own(value) or _READ & set(path.split(".")):
                raise ValueError(f"{SWEEP.head}: {path} = {value!r}: a sweep over files is not repeated")
    for label, variant in sweep.variants.items():
        if not label.startswith(KERNEL):  # by which their engine is chosen, not their scenario
            require_own_label(SWEEP.head, label, variant.aqm)


def _unpacked(folder: Path, sweep: Sweep) -> Sweep:
    """Return the sweep of an unpacked archive with the recordings that the archive has."""
    first = Scenario.load(folder / listed((folder / RUNS).read_bytes())[0].scenario)
    here = files_of(first.to_toml())
    variants = {label: one.with_(here) for label, one in sweep.variants.items()}
    return replace(sweep, scenario=sweep.scenario.with_(here), variants=variants)


def is_of(folder: Path, record: Record, scenario: Scenario) -> bool:
    """See `Kind`: by the key of the run, and by its row, which has the discipline and the point."""
    import polars

    sweep = Sweep.load(folder)
    (row,) = sweep.frame.filter(polars.col("key") == record.key, polars.col("seed") == record.seed).to_dicts()[:1]
    # Recordings and programs are those of the archive, never those at the paths that the sweep has.
    here = files_of(scenario.to_toml())
    base = sweep.scenario._base.with_(here)
    spec = row["aqm"]
    if is_own(spec) and spec not in sweep.variants:
        programs = [name for name, _ in scenario._core.own_algorithms]
        if not programs:
            return False
        spec = scenarios.moved(spec, scenarios.file_of(programs[0]))
    variants = [one.with_(here) for one in _variants(sweep, row["aqm"], base, spec)]
    wanted = digest(scenario)
    is_row = any(digest(one) == wanted for one in _scenarios(sweep, row, variants))
    return is_row and scenarios.is_of(record, scenario, sweep.version)


def measured(folder: Path, records: Sequence[Record]) -> list[Measured]:
    """See `Kind`."""
    sweep = Sweep.load(folder)
    rows = {row["key"]: row for row in sweep.frame.select("key", *sweep.metrics).iter_rows(named=True)}
    if missing := [one.key for one in records if one.key not in rows]:
        raise ValueError(f"{SWEEP.head}: no run has the key {missing[0]}")
    return [{name: value for name, value in rows[one.key].items() if name != "key"} for one in records]


def task(folder: Path, record: Record, scenario: Scenario, engine: Engine) -> Task:
    """See `Kind`; a sweep records no series."""
    bare = scenarios.bare(scenario)
    return Task(bare._core, record.seed, b"", "", engine.work(bare), engine=engine)


def again(task: Task, scenario: Scenario, outcome: Outcome) -> Measured:
    """See `Kind`."""
    return dict(flat(opened(outcome.payload, 0)[1]))


def remade(folder: Path, names: Sequence[str], watch: Watch | None) -> Remade:
    """See `Kind`: there are no verdicts."""
    sweep = _unpacked(folder, Sweep.load(folder))
    return Remade(None, shown.files(folder, sweep, names, [sweep.scenario, *sweep.variants.values()]))
