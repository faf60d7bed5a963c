"""The runs to cite, from a scenario or from the files that other commands wrote."""

from __future__ import annotations

import functools
import os
import shlex
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from aqmlab import _core
from aqmlab.diffs import saved
from aqmlab.files import read_json
from aqmlab.kinds import COMPARISON, EVALUATION, FINDINGS, HEADS, RESULT, SWEEP
from aqmlab.references.bibliography import bibliography
from aqmlab.references.used import Run
from aqmlab.results.comparison import Comparison
from aqmlab.results.result import KERNEL, Result
from aqmlab.runs.swept import Sweep
from aqmlab.scenario import LISTS, Scenario, Settings, cables, is_own, shipped
from aqmlab.sealed import unsealed


@dataclass(frozen=True)
class Cited:
    """Runs, the name under which they were asked for, the version of aqmlab, and the folders of papers.

    `unknown` has papers that are not in the bibliography.
    """

    name: str
    version: str
    papers: Sequence[str]
    runs: Sequence[Run]
    unknown: Sequence[str] = ()


def of_scenarios(name: str, scenarios: Iterable[Scenario], engine: str) -> Cited:
    """Return the runs of scenarios, before they are run."""
    chosen = list(scenarios)
    papers = [paper for one in chosen if (paper := _paper(one))]
    return Cited(name, _core.__version__, papers, [Run(one.resolved, engine) for one in chosen])


def of_results(found: Result | Comparison | Sweep) -> Cited:
    """Return the runs of results."""
    return _of_sweep("a sweep", found) if isinstance(found, Sweep) else _of_saved(saved.of(found))


def heads(path: Path) -> list[str]:
    """Return which of `HEADS` a folder has."""
    return [head for head in HEADS if (path / head).exists()]


def read(path: Path) -> Cited:
    """Read the runs from a folder of ``--out``, or from a document of ``--json``.

    Raise ValueError, which names the file and the remedy, if it is damaged or something else.
    """
    name = os.fspath(path)
    names = heads(path) if path.is_dir() else [path.name]
    if len(names) != 1:
        has = f"has {' and '.join(names)}: name one of them" if names else "has no result"
        raise ValueError(f"{name}: {has}; give a folder with one of {', '.join(HEADS)}, or a file that --json printed")
    file = path / names[0] if path.is_dir() else path
    try:
        if file.name == SWEEP.head:
            return _of_sweep(name, Sweep.load(file.parent))
        document = _document(file)
        for key, reader in {"claims": _of_findings, "guidelines": _of_evaluation}.items():
            if key in document:
                return reader(name, file, document)
        return _of_saved(saved.of(file))
    except (AttributeError, KeyError, TypeError) as error:
        raise ValueError(f"{file}: from another version of aqmlab, or changed: {error!r}") from None


def _document(file: Path) -> dict[str, Any]:
    """Read a document, and check its checksum if it has one."""
    document = read_json(file)
    if "sha256" not in document:
        return document
    kinds = {"claims": FINDINGS, "guidelines": EVALUATION, "results": COMPARISON, "wanted": SWEEP}
    kind = next((kind for key, kind in kinds.items() if key in document), RESULT)
    return unsealed(file, kind, f"repeat the call that wrote it, with --out {shlex.quote(os.fspath(file.parent))}")


def _of_saved(found: saved.Saved) -> Cited:
    runs, papers = [], []
    for case in found.cases.values():
        measured = (
            name.rpartition(".")[2] for run in case.runs.values() for name, value in run.items() if value is not None
        )
        runs.append(Run(case.scenario, case.engine_name, frozenset(measured)))
        papers.append(_paper_of(case.based_on, case.scenario["title"]))
    version = next((case.version for case in found.cases.values()), _core.__version__)
    return Cited(found.name, version, [paper for paper in papers if paper], runs)


def _of_sweep(name: str, found: Sweep) -> Cited:
    # A varied value that is a word may be the name of a discipline or of a TCP; a number refers to no source.
    varied = [found.scenario]
    for path in found.parameters:
        values = found.frame[path].unique(maintain_order=True).to_list()
        varied += [found.scenario._with_text(path, value) for value in values if isinstance(value, str)]
    columns = (name for name in found.metrics if found.frame[name].null_count() < found.done)
    measured = frozenset(name.rpartition(".")[2] for name in columns)
    papers = [paper] if (paper := _paper(found.scenario)) else []
    runs = [Run(one.resolved, found.engine_name, measured) for one in varied[1:] or varied]
    runs += _of_labels(found.aqms, found.scenario, found.engine_name)
    return Cited(name, found.version, papers, runs)


def _of_findings(name: str, file: Path, document: Mapping[str, Any]) -> Cited:
    runs = []
    for experiment in document["experiments"]:
        resolved = Scenario.parse(experiment["toml"], f"{file}: experiment {experiment['name']}").resolved
        runs += [Run(_with_observed(resolved, aqm), document["engine_name"]) for aqm in experiment["aqms"].values()]
    paper = document["paper"]
    if any(entry.paper == paper for entry in bibliography().values()):
        return Cited(name, document["version"], [paper], runs)
    return Cited(name, document["version"], [], runs, [f"the paper {document['title']} ({document['source']})"])


def _of_evaluation(name: str, file: Path, document: Mapping[str, Any]) -> Cited:
    cases = [case for guideline in document["guidelines"] for case in guideline["cases"]]
    # The files have the settings of the case; a printed document has no files.
    files = [(file.parent / case["file"], case["scenario"]) for case in cases]
    scenarios = [Scenario.load(own if own.is_file() else shipped) for own, shipped in files]
    engine = document["engine_name"]
    rfc = document.get("rfc", "7928")  # that of earlier versions, which compares disciplines
    if rfc == "7928":
        runs = [run for one in scenarios for run in _of_labels(document["labels"], one, engine)]
    else:
        senders: list[Settings] = [{"dumbbell": {}, "traffic": [{"tcp": label}]} for label in document["labels"]]
        runs = [Run(one.resolved, engine) for one in [*scenarios, *map(Scenario.from_dict, senders)]]
    return Cited(name, document["version"], [f"rfc{rfc}"], runs)


def _of_labels(labels: Iterable[str], scenario: Scenario, engine: str) -> Iterator[Run]:
    """Yield a run for each discipline, of which the kernel's and the user's own are not in the catalogue."""
    for label in labels:
        if is_own(label):
            yield Run({"aqm": {"name": label}}, engine)  # its file may be gone
        elif not label.startswith(KERNEL):
            yield Run(scenario.with_(aqm=label).resolved, engine)


def _with_observed(resolved: Mapping[str, Any], aqm: Mapping[str, Any]) -> dict[str, Any]:
    """Return a resolved scenario with another discipline at the observed link."""
    observed = cables(resolved).get(resolved["observe"].removesuffix(":reverse"))
    if observed is None:
        return {**resolved, "aqm": aqm}
    kinds = {kind: resolved[kind] for kind in LISTS if kind in resolved}
    changed = {kind: [{**one, "aqm": aqm} if one is observed else one for one in of] for kind, of in kinds.items()}
    return {**resolved, **changed}


def _paper(scenario: Scenario) -> str:
    """Return the folder of the paper whose scenario this is, or on whose scenario it is based; otherwise empty."""
    return _paper_of(scenario.based_on, scenario.title)


def _paper_of(based_on: str, title: str) -> str:
    """Return the folder of the paper of a shipped scenario, or of the one that has the title: a copy has it too."""
    folder = based_on.partition("/")[0]
    return folder if folder in _papers() else "" if based_on else _titles().get(title, "")


@functools.cache
def _papers() -> frozenset[str]:
    """Return the folders of the papers."""
    return frozenset(entry.paper for entry in bibliography().values() if entry.paper)


@functools.cache
def _titles() -> Mapping[str, str]:
    """Return the folder of a paper by the title of each of its scenarios."""
    own = {name: folder for name in shipped() if (folder := name.partition("/")[0]) in _papers()}
    return {Scenario.load(shipped()[name]).title: folder for name, folder in own.items()}
