"""Sweeps, which `aqmlab.sweep` saves."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

from aqmlab.archive import stored
from aqmlab.archive.contents import Claimed, Contents
from aqmlab.archive.layout import Record
from aqmlab.archive.scenarios import Scenarios
from aqmlab.execute.engine import Engine
from aqmlab.execute.task import digest, key
from aqmlab.execute.variants import performing, with_discipline
from aqmlab.results.result import Metrics
from aqmlab.scenario import Scenario
from aqmlab.sweeps.points import Design, Scalar
from aqmlab.sweeps.result import Sweep
from aqmlab.sweeps.study import Study

HEAD = "sweep.json"


def contents(folder: Path, store: Path | None) -> Contents:
    """See `Kind`; the folder has everything, a store is not needed."""
    sweep = Sweep.load(folder)
    if not sweep.done:
        raise ValueError(f"{folder / HEAD}: the sweep has no finished run")
    engine = Engine.parse(sweep.engine_name)
    scenarios = Scenarios()
    known: dict[tuple[Any, ...], tuple[str, str]] = {}
    records = []
    for row in sweep.frame.iter_rows(named=True):
        label = ", ".join([row["aqm"], *(f"{path} = {row[path]}" for path in sweep.parameters)])
        place = (row["aqm"], *(row[path] for path in sweep.parameters))
        own = performing(row["aqm"], [engine])[engine]
        if place not in known:
            scenario = _scenario(sweep, row, own)
            if scenario is None:
                raise ValueError(
                    f"{folder / HEAD}: {label}: no scenario of this aqmlab, {engine.version}, has the key of this run. "
                    f"The sweep is of {sweep.version}. Its disciplines must be named as for --aqm, with their files "
                    "where they were, and its recordings must not have changed"
                )
            known[place] = digest(scenario), scenarios.add(scenario)
        records.append(Record(label, known[place][1], row["seed"], str(own), row["key"], HEAD))
    return Contents("a sweep", str(sweep.scenario.title), sweep.version, records, scenarios.files)


def _scenario(sweep: Sweep, row: Mapping[str, Any], engine: Engine) -> Scenario | None:
    """Return the scenario of a row: that which has the row's key."""
    base, label = sweep.scenario.base, row["aqm"]
    paths = tuple(sweep.parameters)
    for variant in _variants(base, label):
        for point in itertools.product(*(_written(row[path], sweep.parameters[path]) for path in paths)):
            with suppress(ValueError):  # a quantity that this parameter does not take
                scenario = Study(base, {label: variant}, Design(paths, [point]), []).scenario_at(label, point)
                if key(digest(scenario), row["seed"], engine).hex() == row["key"]:
                    return scenario
    return None


def _variants(base: Scenario, label: str) -> Iterator[Scenario]:
    """Yield the scenarios that a discipline's label may stand for: with its own parameters, or as it is named."""
    if label == base.aqm:
        yield base
    with suppress(ValueError):
        yield with_discipline(base, label)


def _written(value: Scalar, unit: str) -> list[Scalar]:
    """List the forms in which a scenario may have a value of the table."""
    whole = [int(value)] if isinstance(value, float) and value.is_integer() else []
    return [f"{value!r} {unit}", value, *whole] if unit else [value, *whole]


def metrics(folder: Path, records: Sequence[Record]) -> list[Metrics]:
    """See `Kind`."""
    sweep = Sweep.load(folder)
    rows = {row["key"]: row for row in sweep.frame.select("key", *sweep.metrics).iter_rows(named=True)}
    found = [rows.get(one.key) for one in records]
    if None in found:
        raise ValueError(f"{HEAD}: no run has the key {records[found.index(None)].key}")
    return [{name: value for name, value in row.items() if name != "key"} for row in found if row]


def runs(folder: Path) -> Iterator[Claimed]:
    """See `Kind`."""
    sweep = Sweep.load(folder)
    engine = Engine.parse(sweep.engine_name)
    for aqm, seed, run in sweep.frame.select("aqm", "seed", "key").iter_rows():
        yield seed, str(performing(aqm, [engine])[engine]), run, HEAD


def is_of(folder: Path, record: Record, scenario: Scenario) -> bool:
    """See `Kind`."""
    return stored.is_of(record, scenario, Sweep.load(folder).version)


def verdicts(folder: Path) -> None:
    """See `Kind`: there are none."""
