"""The runs of a result, a comparison or a sweep, from memory or as they were saved or printed."""

from __future__ import annotations

import os
import shlex
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from aqmlab.files import read_json
from aqmlab.kinds import COMPARISON, RESULT, SWEEP
from aqmlab.results.comparison import Comparison
from aqmlab.results.frames import flat
from aqmlab.results.result import PACKET, Metrics, Result
from aqmlab.runs.folder import head
from aqmlab.runs.swept import Sweep
from aqmlab.sealed import unsealed

_COMMANDS = {"run": "a result of aqmlab run", "compare": "a comparison", "sweep": "a sweep"}


@dataclass(frozen=True)
class Case:
    """The runs of one scenario: the metrics of each, by its seed; the fluid model's single run is not `seeded`.

    `based_on` is that of `Scenario`, empty if it was not saved.
    """

    scenario: Mapping[str, Any]
    version: str
    engine_name: str
    seeded: bool
    runs: Mapping[int, Metrics]
    based_on: str = ""


@dataclass(frozen=True)
class Saved:
    """The results of one call of ``run``, ``compare`` or ``sweep``.

    `name` is where it was read from, `command` that call, and `cases` are by label or, of a sweep, by discipline and
    point; the single case of a run has an empty label.
    """

    name: str
    command: str
    cases: Mapping[str, Case]

    @property
    def kind(self) -> str:
        """The kind of results, for people."""
        return _COMMANDS[self.command]


def of(found: Result | Comparison | Sweep | str | os.PathLike[str]) -> Saved:
    """Return the runs of results, or read them: from a folder of ``--out``, or a document of ``--json``.

    Raise ValueError if a file is damaged or something else.
    """
    if isinstance(found, Sweep):
        return Saved("a sweep", "sweep", _points(found))
    if isinstance(found, Result | Comparison):
        return _of_document("a comparison" if isinstance(found, Comparison) else "a result", found.document())
    return _read(Path(found))


def _read(path: Path) -> Saved:
    name, path = os.fspath(path), head(path)
    try:
        document = read_json(path)
    except ValueError as error:
        raise ValueError(f"{error}; it is cut off, damaged or no document of aqmlab") from None
    kind = COMPARISON if "results" in document else SWEEP if "wanted" in document else RESULT
    if "sha256" in document:
        again = f"repeat the call that wrote it, with --out {shlex.quote(os.fspath(path.parent))}"
        document = unsealed(path, kind, again)
    if document.keys() & {"results", "wanted", "runs"}:  # other documents are not ours
        kind.require_readable(path, document, "repeat the call that printed it")
    if "wanted" in document:
        if path.name != SWEEP.head:
            raise ValueError(f"{name}: printed by a sweep, which has no single runs: give the folder that --out wrote")
        return Saved(name, "sweep", _points(Sweep.load(path.parent)))
    return _of_document(name, document)


def _of_document(name: str, document: Mapping[str, Any]) -> Saved:
    try:
        if "results" in document:
            cases = {label: _case(one) for label, one in document["results"].items()}
            return Saved(name, "compare", cases)
        if "runs" in document:
            return Saved(name, "run", {"": _case(document)})
    except (AttributeError, KeyError, TypeError) as error:
        raise ValueError(f"{name}: from another version of aqmlab, or changed: {error!r}") from None
    keys = ", ".join(list(document)[:5]) or "none"
    raise ValueError(f"{name}: not printed or saved by aqmlab run, compare or sweep: its keys are {keys}")


def _case(document: Mapping[str, Any]) -> Case:
    runs = {run["seed"]: _without_cost(dict(flat(run))) for run in document["runs"]}
    modelled = "not_modelled" in document
    engine = document.get("engine_name", "fluid" if modelled else PACKET)
    based_on = document.get("based_on", "")
    return Case(document["scenario"], document["version"], engine, not modelled, runs, based_on)


def _without_cost(metrics: Metrics) -> Metrics:
    """Leave out what a run cost, which differs in every call."""
    return {name: value for name, value in metrics.items() if not name.startswith("engine.")}


def _points(swept: Sweep) -> dict[str, Case]:
    """Return the case of each discipline and point."""
    runs: dict[str, dict[int, Metrics]] = {}
    metrics = [name for name in swept.metrics if not name.startswith("engine.")]
    paths: Sequence[str] = sorted(swept.parameters)
    for row in swept.frame.iter_rows(named=True):
        label = ", ".join([row["aqm"], *(f"{path} = {_shown(row[path])}" for path in paths)])
        runs.setdefault(label, {})[row["seed"]] = {name: row[name] for name in metrics}
    scenario, seeded = swept.scenario.resolved, not swept.engine_name.startswith("fluid")
    return {label: Case(scenario, swept.version, swept.engine_name, seeded, each) for label, each in runs.items()}


def _shown(value: Any) -> str:
    return f"{value:g}" if isinstance(value, float) else str(value)
