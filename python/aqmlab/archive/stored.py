"""Runs that are in a store: those of a reproduction and of an evaluation."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

from aqmlab.archive.contents import Claimed
from aqmlab.archive.layout import STORE, Record
from aqmlab.archive.scenarios import Scenarios
from aqmlab.execute.engine import Engine
from aqmlab.execute.task import digest, key
from aqmlab.results.result import PACKET, Metrics
from aqmlab.scenario import Scenario
from aqmlab.sweeps.store import Store
from aqmlab.sweeps.study import Plan, Study


def found(folder: Path, store: Path | None) -> Path:
    """Return the folder of the store: the given one, or that where the commands keep it."""
    places = [store] if store else [folder / "store", folder.parent / "store"]
    for place in places:
        if place.is_dir():
            return place
    raise ValueError(f"{' and '.join(map(str, places))}: no store; name the folder of the runs with --store")


def packed(studies: Iterable[tuple[str, Study]], store: Path) -> tuple[list[Record], dict[str, bytes | Path]]:
    """Return a record of every run of named studies, and the files that an archive has for them.

    Raise ValueError if the store lacks a run: then another version of aqmlab made the report, or the store was changed.
    """
    scenarios = Scenarios()
    records: dict[bytes, Record] = {}
    series = set()
    for name, study in studies:
        plan = Plan.of(study)
        paths: dict[tuple[int, str], str] = {}
        for number, label, seed, run in plan.runs():
            point = study.design.points[number]
            if (number, label) not in paths:
                paths[number, label] = scenarios.add(study.scenario_at(label, point))
            if study.series:
                series.add(study.series_name(run))
            where = ", ".join(part for part in (name, label, study.design.label(point)) if part)
            path, engine = paths[number, label], str(study.engine_for(label))
            records.setdefault(run, Record(where, path, seed, engine, run.hex(), STORE))
    try:
        files = {f"{STORE}/{path}": data for path, data in Store(store).extract(records.keys(), series)}
    except (ValueError, FileNotFoundError) as error:
        raise ValueError(
            f"{error}: another version of aqmlab made the report, or the store has changed; repeat the command that "
            "wrote it"
        ) from None
    return list(records.values()), {**scenarios.files, **files}


def runs(folder: Path) -> Iterator[Claimed]:
    """Return the runs in the store of an unpacked archive; only packets can be there."""
    import polars

    for part in sorted((folder / STORE).glob("parts/*.parquet")):
        for run, seed in polars.read_parquet(part, columns=["key", "seed"]).iter_rows():
            yield seed, PACKET, run.hex(), STORE


def is_of(record: Record, scenario: Scenario, version: str) -> bool:
    """Return whether a scenario is that of a run, by its key, if ours is the version of the engine that made it."""
    engine = Engine.parse(record.engine)
    return engine.version != version or key(digest(scenario), record.seed, engine).hex() == record.key


def metrics(folder: Path, records: Sequence[Record]) -> list[Metrics]:
    """Return the metrics of runs in the store of an unpacked archive; raise ValueError if it lacks some."""
    keys = [bytes.fromhex(one.key) for one in records]
    frame = Store(folder / STORE).frame(keys)
    rows = {row["key"]: row for row in frame.iter_rows(named=True)}
    if missing := [one.name for one, key in zip(records, keys, strict=True) if key not in rows]:
        raise ValueError(f"{STORE}: {len(missing)} runs are missing: {missing[0]}")
    return [{name: value for name, value in rows[key].items() if name not in ("key", "seed")} for key in keys]
