"""Runs that are in a store: those of a reproduction and of an evaluation."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Sequence
from io import BytesIO
from pathlib import Path

from aqmlab.archive.contents import Claimed, Measured, OtherVersion, table_digest
from aqmlab.archive.layout import STORE, Record
from aqmlab.archive.scenarios import Scenarios, bare
from aqmlab.execute.engine import PACKETS, Engine
from aqmlab.execute.task import Outcome, Task, opened
from aqmlab.results.frames import flat
from aqmlab.results.result import PACKET
from aqmlab.runs.plan import Plan, Study
from aqmlab.runs.store import Store, series_name
from aqmlab.scenario import Scenario


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
    # Studies with series first: the scenario of a run that several share then has the [record] of its series.
    for name, study in sorted(studies, key=lambda one: not one[1].series):
        plan = Plan.of(study)
        paths: dict[tuple[int, str], str] = {}
        for number, label, seed, run in plan.runs():
            point = study.design.points[number]
            if (number, label) not in paths:
                paths[number, label] = scenarios.add(study.scenario_at(label, point))
            if study.series:
                series.add(study.series_name(run))
            where = ", ".join(part for part in (name, label, study.design.label(point)) if part)
            path, engine = paths[number, label], str(study.engines[label])
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


def require_runs(folder: Path, studies: Iterable[Study], what: str, version: str) -> None:
    """Raise ValueError if the store of an unpacked archive lacks a run of these studies, which are those of ``what``.

    Nothing is simulated for a run that is missing. Raise `OtherVersion` if ``version``, that of the engine that made
    them, is not ours.
    """
    if version != PACKETS.version:
        raise OtherVersion(f"the keys of runs are those of aqmlab {version}: judge with that version")
    plans = [Plan.of(study) for study in studies]
    keys = {key for plan in plans for _, _, _, key in plan.runs()}
    store = Store(folder / STORE)
    if missing := keys - store.finished(keys):
        raise ValueError(f"{STORE}: {len(missing)} of {len(keys)} runs of {what} are missing")
    there = store.recorded()
    names = {plan.study.series_name(key) for plan in plans if plan.study.series for _, _, _, key in plan.runs()}
    if lost := names - there:
        raise ValueError(f"{STORE}: {len(lost)} of {len(names)} series of {what} are missing")


def measured(folder: Path, records: Sequence[Record]) -> list[Measured]:
    """Return what the store of an unpacked archive has of each run; raise ValueError if it lacks some."""
    import polars

    store = Store(folder / STORE)
    keys = [bytes.fromhex(one.key) for one in records]
    rows = {row["key"]: row for row in store.frame(keys).iter_rows(named=True)}
    if missing := [one.name for one, key in zip(records, keys, strict=True) if key not in rows]:
        raise ValueError(f"{STORE}: {len(missing)} runs are missing: {missing[0]}")
    distributions = store.distributions(keys)
    there = store.recorded()
    found: list[Measured] = []
    for record, run in zip(records, keys, strict=True):
        row = {name: value for name, value in rows[run].items() if name not in ("key", "seed")}
        name = _series(folder, record, Scenario.load(folder / record.scenario))
        series = {"series": table_digest(polars.DataFrame(store.series(name)))} if name in there else {}
        found.append({**row, "distributions": distributions[run], **series})
    return found


def _series(folder: Path, record: Record, scenario: Scenario) -> str:
    """Return the name in the store of the series of a run."""
    return series_name(bytes.fromhex(record.key), scenario.resolved["record"])


def task(folder: Path, record: Record, scenario: Scenario, engine: Engine) -> Task:
    """Return the task that measures a run again, with its series if the archive has them."""
    series = _series(folder, record, scenario)
    if series not in Store(folder / STORE).recorded():
        series = ""
    wanted = bare(scenario).with_({"record.series": True}) if series else bare(scenario)
    return Task(wanted._core, record.seed, b"", "", engine.work(wanted), series, engine=engine)


def again(task: Task, scenario: Scenario, outcome: Outcome) -> Measured:
    """See `Kind`."""
    import polars

    document = opened(outcome.payload, 0)[1]
    found = {**dict(flat(document)), "distributions": json.loads(json.dumps(document["distributions"]))}
    if task.series:
        found["series"] = table_digest(polars.read_parquet(BytesIO(outcome.series)))
    return found
