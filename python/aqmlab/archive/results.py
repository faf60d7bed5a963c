"""Results and comparisons, which `aqmlab.run` and `aqmlab.compare` save."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from pathlib import Path, PurePosixPath
from typing import Any

from aqmlab.archive.contents import Claimed, Contents
from aqmlab.archive.layout import Record
from aqmlab.archive.scenarios import Scenarios
from aqmlab.files import json_text
from aqmlab.results.comparison import Comparison, folders
from aqmlab.results.frames import flat
from aqmlab.results.result import Metrics, Result
from aqmlab.scenario import Scenario, is_own


def contents(folder: Path, store: Path | None) -> Contents:
    """See `Kind`; the folder has everything, a store is not needed."""
    found = _found(folder)
    scenarios = Scenarios()
    records = []
    for place, label, result in found:
        path = scenarios.add(result.scenario)
        records += [Record(label, path, seed, result.engine_name, "", f"{place}result.json") for seed in result.seeds]
    _, _, first = found[0]
    kind = "a comparison" if records[0].label else "a result"
    return Contents(kind, str(first.scenario.title), first.version, records, scenarios.files)


def _found(folder: Path) -> list[tuple[str, str, Result]]:
    """Return the results, each with the folder that has it and its label."""
    if (folder / "result.json").is_file():
        return [("", "", Result.load(folder))]
    found = Comparison.load(folder)
    return [(f"{name}/", label, result) for name, (label, result) in zip(folders(found), found.items(), strict=True)]


def metrics(folder: Path, records: Sequence[Record]) -> list[Metrics]:
    """See `Kind`."""
    results = {path: Result.load(folder / PurePosixPath(path).parent) for path in {one.result for one in records}}
    runs = {(path, run.seed): run for path, result in results.items() for run in result.runs}
    return [dict(flat(runs[one.result, one.seed].document())) for one in records]


def runs(folder: Path) -> Iterator[Claimed]:
    """See `Kind`."""
    for place, _, result in _found(folder):
        file = f"{place}result.json"
        saved = json.loads((folder / file).read_bytes())
        # Its `document` would read the recordings, which may be on another machine.
        parts = {name: getattr(result, name) for name in ("metrics", "classes", "links", "lanes", "distributions")}
        parts["summary"] = {name: summary.document() for name, summary in result.summary.items()}
        for part, now in json.loads(json_text(parts)).items():
            if saved[part] != now:
                raise ValueError(f"{file}: {part}: not the means of its runs")
        yield from ((seed, result.engine_name, "", file) for seed in result.seeds)


def is_of(folder: Path, record: Record, scenario: Scenario) -> bool:
    """See `Kind`."""
    saved = json.loads((folder / record.result).read_bytes())
    return bool(_placeless(scenario.resolved) == _placeless(saved["scenario"]))


def _placeless(value: Any) -> Any:
    """Return a scenario without the paths of the files that it reads: the archive has copies in other places."""
    if isinstance(value, dict):
        return {name: _placeless(inside) for name, inside in value.items() if name != "file"}
    if isinstance(value, list):
        return [_placeless(inside) for inside in value]
    return value.rpartition(":")[2] if isinstance(value, str) and is_own(value) else value


def verdicts(folder: Path) -> None:
    """See `Kind`: there are none."""
