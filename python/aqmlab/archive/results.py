"""Results and comparisons, which `aqmlab.run` and `aqmlab.compare` save."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path, PurePosixPath
from typing import Any

from aqmlab.archive import shown
from aqmlab.archive.contents import Claimed, Contents, Facts, Given, Measured, Remade, Watch, table_digest
from aqmlab.archive.documents import is_same, require_own_label, require_same
from aqmlab.archive.layout import RUNS, Record
from aqmlab.archive.layout import records as listed
from aqmlab.archive.scenarios import Scenarios
from aqmlab.execute.engine import Engine
from aqmlab.execute.recordings import files_of
from aqmlab.execute.task import Outcome, Task, opened
from aqmlab.files import json_text
from aqmlab.kinds import COMPARISON, RESULT
from aqmlab.results import batch_means
from aqmlab.results.comparison import Comparison, folders
from aqmlab.results.result import Result, Run
from aqmlab.runs import long_run
from aqmlab.scenario import Scenario


def facts(folder: Path) -> Facts:
    """See `Kind`."""
    found = _found(folder)
    place, label, first = found[0]
    title = _saved(folder, f"{place}{RESULT.head}")["scenario"]["title"]  # the scenario itself would read recordings
    engines = {one.engine_name: one.engine_version for _, _, one in found if one.engine_version}
    kind = "a comparison" if label else "a result"
    return Facts(kind, title, first.version, engines, shown.command(folder))


def contents(folder: Path, given: Given) -> Contents:
    """See `Kind`; the folder has everything."""
    scenarios = Scenarios()
    records = []
    for place, label, result in _found(folder):
        path, engine = scenarios.add(result.scenario), result.engine_name
        records += [Record(label, path, seed, engine, "", f"{place}{RESULT.head}") for seed in result.seeds]
    return Contents(facts(folder), records, scenarios.files)


def _found(folder: Path) -> list[tuple[str, str, Result]]:
    """Return the results, each with the folder that has it and its label."""
    if (folder / RESULT.head).is_file():
        return [("", "", Result.load(folder))]
    found = Comparison.load(folder)
    return [(f"{name}/", label, result) for name, (label, result) in zip(folders(found), found.items(), strict=True)]


def runs(folder: Path) -> Iterator[Claimed]:
    """See `Kind`."""
    results = {}
    for file, label, result in _unpacked(folder):
        _require_same(folder, file, result.document())
        require_own_label(file, label, result.discipline)
        results[label] = result
        yield from ((seed, result.engine_name, "", file) for seed in result.seeds)
    if "" not in results:
        now = Comparison(results, Comparison.load(folder).baseline).document()
        _require_same(folder, COMPARISON.head, now)


def _unpacked(folder: Path) -> Iterator[tuple[str, str, Result]]:
    """Yield the results of an unpacked archive, each with its file and its label.

    Their scenarios are those that the archive has of their runs: the files beside the results may name recordings that
    are on another machine alone.
    """
    scenarios = {one.result: one.scenario for one in listed((folder / RUNS).read_bytes())}
    for place, label, saved in _found(folder):
        file = f"{place}{RESULT.head}"
        if file not in scenarios:
            raise ValueError(f"{RUNS}: no run of {file}")
        sealed = Scenario(Scenario.load(folder / scenarios[file])._core, saved.scenario.based_on)
        here, there = files_of(sealed.to_toml()), files_of(saved.scenario.to_toml())
        if here.keys() != there.keys() or not is_same(saved.scenario.with_(here).resolved, sealed.resolved):
            raise ValueError(f"{place}scenario.toml: not the scenario of its runs, {scenarios[file]}")
        yield file, label, replace(saved, scenario=sealed)


def _require_same(folder: Path, file: str, now: Mapping[str, Any]) -> None:
    require_same(file, _saved(folder, file), json.loads(json_text(now)))


def _saved(folder: Path, file: str) -> dict[str, Any]:
    document: dict[str, Any] = json.loads((folder / file).read_bytes())
    return document


def is_of(folder: Path, record: Record, scenario: Scenario) -> bool:
    """See `Kind`."""
    return is_same(_saved(folder, record.result)["scenario"], scenario.resolved)


def measured(folder: Path, records: Sequence[Record]) -> list[Measured]:
    """See `Kind`."""
    results = {path: Result.load(folder / PurePosixPath(path).parent) for path in {one.result for one in records}}
    return [_measured(_alone(results[one.result], one.seed)) for one in records]


def _alone(result: Result, seed: int) -> Result:
    """Return the part of a result that one run made."""
    return replace(result, runs=[run for run in result.runs if run.seed == seed])


def _measured(result: Result) -> Measured:
    """Return all that the single run of a result measured."""
    (run,) = result.runs
    recording = result.recordings[run.seed]
    document: dict[str, Any] = json.loads(json_text(run.document()))
    found = dict(_named("", document))
    if result.not_modelled is not None:
        found["not_modelled"] = list(result.not_modelled)
    found |= {f"batches.{name}": summary.document() for name, summary in result.batches.items()}
    if recording.queue is not None:
        found["series"] = table_digest(recording.queue_frame)
    if recording.cwnd is not None:
        found["cwnd"] = table_digest(recording.cwnd_frame)
    if recording.flows is not None:
        found["flows"] = table_digest(result.flows)
    return found


def _named(place: str, value: Mapping[str, Any]) -> Iterator[tuple[str, Any]]:
    """Yield each number, text and list of a run's document with its name, that of a metric as in frames."""
    for name, inside in value.items():
        path = "" if not place and name == "metrics" else f"{place}{name}."
        if isinstance(inside, dict):
            yield from _named(path, inside)
        else:
            yield f"{place}{name}", inside


def task(folder: Path, record: Record, scenario: Scenario, engine: Engine) -> Task:
    """See `Kind`; the series are recorded again."""
    saved = Result.load(folder / PurePosixPath(record.result).parent)
    work = engine.work(scenario)
    batches = batch_means.SHORT if saved.batches else 0
    return Task(scenario._core, record.seed, b"", "", work, recording=True, engine=engine, batches=batches)


def again(task: Task, scenario: Scenario, outcome: Outcome) -> Measured:
    """See `Kind`."""
    assert outcome.recording
    run = Run(**opened(outcome.payload, 0)[1])
    batches = long_run.intervals(run.metrics, outcome.batches) if task.batches else {}
    recordings = {run.seed: outcome.recording}
    return _measured(Result(scenario, [run], recordings, "", outcome.not_modelled, str(task.engine), batches))


def remade(folder: Path, names: Sequence[str], watch: Watch | None) -> Remade:
    """See `Kind`: there are no verdicts. Reports have the paths of the files that scenarios read."""
    results = {label or result.discipline: result for _, label, result in _unpacked(folder)}
    baseline = Comparison.load(folder).baseline if (folder / COMPARISON.head).is_file() else None
    scenarios = [result.scenario for result in results.values()]
    return Remade(None, shown.files(folder, Comparison(results, baseline), names, scenarios))
