"""Results and comparisons, which `aqmlab.run` and `aqmlab.compare` save."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path, PurePosixPath

from aqmlab.archive.contents import Contents
from aqmlab.archive.layout import Record
from aqmlab.archive.scenarios import Scenarios
from aqmlab.execute.engine import Engine
from aqmlab.results.comparison import Comparison, folders
from aqmlab.results.frames import flat
from aqmlab.results.result import Metrics, Result


def contents(folder: Path, store: Path | None) -> Contents:
    """See `Kind`; the folder has everything, a store is not needed."""
    alone = (folder / "result.json").is_file()
    found: Mapping[str, Result] = {"": Result.load(folder)} if alone else Comparison.load(folder)
    places = [""] if alone else [f"{name}/" for name in folders(found)]
    scenarios = Scenarios()
    records = []
    for place, (label, result) in zip(places, found.items(), strict=True):
        path = scenarios.add(result.scenario)
        records += [Record(label, path, seed, result.engine_name, "", f"{place}result.json") for seed in result.seeds]
    first = next(iter(found.values()))
    version = Engine.parse(first.engine_name).version
    kind = "a result" if alone else "a comparison"
    return Contents(kind, str(first.scenario.title), version, records, scenarios.files)


def metrics(folder: Path, records: Sequence[Record]) -> list[Metrics]:
    """See `Kind`."""
    results = {path: Result.load(folder / PurePosixPath(path).parent) for path in {one.result for one in records}}
    runs = {(path, run.seed): run for path, result in results.items() for run in result.runs}
    return [dict(flat(runs[one.result, one.seed].document())) for one in records]


def verdicts(folder: Path) -> None:
    """See `Kind`: there are none."""
