"""Reproductions of papers, which ``aqmlab reproduce`` writes."""

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from aqmlab.archive import scenarios
from aqmlab.archive.contents import Contents, Facts, Given, Remade, Watch
from aqmlab.archive.layout import PAPER, STORE, Record
from aqmlab.kinds import FINDINGS, HEADS
from aqmlab.results.result import PACKET
from aqmlab.runs.plan import Study
from aqmlab.scenario import Scenario
from aqmlab.sealed import unsealed
from aqmlab_papers.archives import documents, stored
from aqmlab_papers.describe import library
from aqmlab_papers.describe.paper import Paper
from aqmlab_papers.judge.findings import assess
from aqmlab_papers.reproduction import known_seeds
from aqmlab_papers.run.sweep import Effort, run, studies
from aqmlab_papers.show import folder as shown

_AGAIN = "repeat aqmlab reproduce"

measured, task, again, runs = stored.measured, stored.task, stored.again, stored.runs
described = documents.reproduction


def _known(folder: Path) -> dict[str, Any]:
    return unsealed(folder / FINDINGS.head, FINDINGS, _AGAIN)


def facts(folder: Path) -> Facts:
    """See `Kind`."""
    known = _known(folder)
    stated = {one["claim"]: one["verdict"] for one in known["claims"]}
    engines = {known["engine_name"]: known["engine"]}
    return Facts("a reproduction", known["title"], known["engine"], engines, known["command"], known["source"], stated)


def contents(folder: Path, given: Given) -> Contents:
    """See `Kind`; a paper of the user's own comes with its folder."""
    known = _known(folder)
    if known["interrupted"]:
        raise ValueError(f"{folder / FINDINGS.head}: the reproduction is not complete: {_AGAIN}")
    effort = _effort(known)
    if str(effort.engine) != PACKET:
        raise ValueError(f"{folder / FINDINGS.head}: made with --engine {effort.engine}, whose runs differ: not sealed")
    name, own = known["paper"], dict[str, bytes | Path]()
    if name in library.names():
        if given.paper:
            raise ValueError(f"{given.paper}: {name} is a paper of aqmlab: omit --paper, or name yours otherwise")
        paper = library.load(name)
    elif given.paper is None:
        raise ValueError(
            f"{folder / FINDINGS.head}: {name}: not one of the papers of aqmlab, {', '.join(library.names())}: "
            "name its folder with --paper"
        )
    else:
        paper = library.load(str(given.paper))
        if paper.name != name:
            raise ValueError(f"{given.paper}: is the paper {paper.name}; the findings are of {name}")
        own = {f"{PAPER}{file.relative_to(given.paper).as_posix()}": file for file in _files(given.paper)}
    records, files = stored.packed(_studies(paper, folder, known), stored.found(folder, given.store))
    return Contents(facts(folder), records, {**files, **own})


def _files(paper: Path) -> Iterator[Path]:
    """Yield the files of a paper's folder, apart from hidden ones, compiled Python, and folders of results in it."""
    for path in sorted(paper.iterdir()):
        if path.name.startswith((".", "__pycache__")) or path.is_symlink():
            continue
        if path.is_file():
            yield path
        elif path.is_dir() and not any((path / name).exists() for name in (*HEADS, "parts")):
            yield from _files(path)


def is_of(folder: Path, record: Record, scenario: Scenario) -> bool:
    """See `Kind`."""
    return scenarios.is_of(record, scenario, _known(folder)["engine"])


def remade(folder: Path, names: Sequence[str], watch: Watch | None) -> Remade:
    """See `Kind`."""
    known = _known(folder)
    name = known["paper"]
    if name not in library.names() and not (folder / PAPER / "paper.py").is_file():
        raise ValueError(f"{FINDINGS.head}: {name}: neither one of the papers of aqmlab nor in the archive")
    paper = library.load(name if name in library.names() else str(folder / PAPER))
    if paper.name != name:
        raise ValueError(f"{PAPER}: is the paper {paper.name}; the findings are of {name}")
    effort = _effort(known)
    if str(effort.engine) != PACKET:
        raise ValueError(f"{FINDINGS.head}: no reproduction that can be sealed")
    stored.require_runs(folder, [study for _, study in _studies(paper, folder, known)], "the claims", known["engine"])
    assessment = assess(run(paper, effort, folder / STORE, more=known_seeds(folder, effort)), watch)
    verdicts = {ruling.claim.name: str(ruling.verdict) for ruling in assessment.rulings}
    return Remade(verdicts, shown.contents(assessment, known, watch))


def _effort(known: Mapping[str, Any]) -> Effort:
    return Effort.of(known["effort"])


def _studies(paper: Paper, folder: Path, known: Mapping[str, Any]) -> Iterator[tuple[str, Study]]:
    """Yield the studies of a reproduction, each with the names of its setting and its experiment."""
    effort = _effort(known)
    for setting, experiment, study in studies(paper, effort, known_seeds(folder, effort)):
        yield experiment if setting.name == "paper" else f"{experiment} ({setting.name})", study
