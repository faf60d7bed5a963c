"""Reproductions of papers, which ``aqmlab reproduce`` writes."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from aqmlab import kinds
from aqmlab.archive import stored
from aqmlab.archive.contents import Claimed, Contents
from aqmlab.archive.layout import STORE, Record
from aqmlab.papers.describe import library
from aqmlab.papers.describe.paper import Paper
from aqmlab.papers.judge.findings import assess
from aqmlab.papers.reproduction import known_seeds
from aqmlab.papers.run.sweep import Effort, run, studies
from aqmlab.papers.show.texts import FINDINGS
from aqmlab.results.result import Metrics
from aqmlab.scenario import Scenario
from aqmlab.sealed import unsealed
from aqmlab.sweeps.store import Store
from aqmlab.sweeps.study import Plan, Study

_AGAIN = "repeat aqmlab reproduce"


def contents(folder: Path, store: Path | None) -> Contents:
    """See `Kind`."""
    known = unsealed(folder / FINDINGS, kinds.FINDINGS, _AGAIN)
    if known["interrupted"]:
        raise ValueError(f"{folder / FINDINGS}: the reproduction is not complete: {_AGAIN}")
    records, files = stored.packed(_studies(folder, known), stored.found(folder, store))
    return Contents(
        "a reproduction",
        known["title"],
        known["engine"],
        records,
        files,
        known["command"],
        known["source"],
        _stated(known),
    )


def metrics(folder: Path, records: Sequence[Record]) -> list[Metrics]:
    """See `Kind`."""
    return stored.metrics(folder, records)


def runs(folder: Path) -> Iterable[Claimed]:
    """See `Kind`."""
    return stored.runs(folder)


def is_of(folder: Path, record: Record, scenario: Scenario) -> bool:
    """See `Kind`."""
    return stored.is_of(record, scenario, unsealed(folder / FINDINGS, kinds.FINDINGS, _AGAIN)["engine"])


def verdicts(folder: Path) -> tuple[Mapping[str, str], Mapping[str, str]]:
    """See `Kind`."""
    known = unsealed(folder / FINDINGS, kinds.FINDINGS, _AGAIN)
    effort, paper = _effort(known), _paper(known)
    more = known_seeds(folder, effort)
    store = folder / STORE
    keys = {key for _, study in _studies(folder, known) for _, _, _, key in Plan.of(study).runs()}
    if missing := keys - Store(store).finished(keys):
        raise ValueError(f"{STORE}: {len(missing)} of {len(keys)} runs of the claims are missing")
    assessment = assess(run(paper, effort, store, more=more))
    return _stated(known), {ruling.claim.name: str(ruling.verdict) for ruling in assessment.rulings}


def _stated(known: Mapping[str, Any]) -> dict[str, str]:
    return {one["claim"]: one["verdict"] for one in known["claims"]}


def _effort(known: Mapping[str, Any]) -> Effort:
    return Effort.of(known["effort"])


def _paper(known: Mapping[str, Any]) -> Paper:
    if known["paper"] not in library.names():
        raise ValueError(f"{FINDINGS}: {known['paper']}: not one of the papers of aqmlab, {', '.join(library.names())}")
    paper, effort = library.load(known["paper"]), _effort(known)
    if str(effort.engine) == "packet":
        return paper
    raise ValueError(f"{FINDINGS}: made with --engine {effort.engine}, whose runs differ from each other: not sealed")


def _studies(folder: Path, known: Mapping[str, Any]) -> Iterator[tuple[str, Study]]:
    """Yield the studies of a reproduction, each with the names of its setting and its experiment."""
    effort = _effort(known)
    for setting, experiment, study in studies(_paper(known), effort, known_seeds(folder, effort)):
        yield experiment if setting.name == "paper" else f"{experiment} ({setting.name})", study
