"""Reproduce a paper: runs, verdicts, figures and report; existing results are reused."""

from __future__ import annotations

import hashlib
import json
import time
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

import aqmlab
from aqmlab import plugins
from aqmlab.execute import threads
from aqmlab.execute.progress import Progress
from aqmlab.files import REPORT
from aqmlab.kinds import FINDINGS as KIND
from aqmlab.sealed import unsealed
from aqmlab_papers.describe import library
from aqmlab_papers.describe.paper import Paper
from aqmlab_papers.judge.findings import Watch, assess, undecided
from aqmlab_papers.run.complexity import RECORD
from aqmlab_papers.run.sweep import Effort, Findings, More, run
from aqmlab_papers.show.texts import FINDINGS

if TYPE_CHECKING:
    from aqmlab_papers.show.document import Document


@dataclass(frozen=True)
class Reproduction:
    """The outcome of reproducing a paper.

    ``document`` is the content of ``findings.json``; ``written`` is false after Ctrl-C, when the folder does not have
    it. ``errors`` maps each item that could not be drawn or judged to its error. Times are in seconds: ``running`` is
    the time that the runs took, ``working`` the CPU time of this process for them, and ``drawing`` the time for
    verdicts, figures and report (0 if they existed).
    """

    findings: Findings
    document: Document
    written: bool
    errors: Mapping[str, str] = field(default_factory=dict)
    running: float = 0.0
    working: float = 0.0
    drawing: float = 0.0


def reproduce(
    paper: Paper,
    effort: Effort,
    folder: Path,
    store: Path,
    command: str,
    *,
    sources: Path | None = None,
    jobs: int | None = None,
    cluster: str | None = None,
    watch: Watch | None = None,
) -> Reproduction:
    """Run the missing runs of a paper, then judge, draw and write it unless a report from the same inputs exists.

    Runs that leave a claim undecided are repeated with more seeds, up to those of ``effort``.

    ``sources`` is the folder from which the paper was read: a change in its code redraws everything. ``jobs`` and
    ``cluster`` are as for `aqmlab.sweep`; the report shows ``command``. If the user presses Ctrl-C during the runs,
    nothing is written, and the returned document has the results that the finished runs allow.
    """

    def progress(now: Progress) -> None:
        if watch:
            watch(str(now), now.fraction)

    began, worked = time.monotonic(), time.process_time()
    # Known runs of undecided claims are included at once: a call with nothing to do judges nothing.
    more = known_seeds(folder, effort)
    findings = run(paper, effort, store, jobs, cluster, progress, more)
    if known := _made(folder, _fingerprint(findings, sources)):
        return Reproduction(findings, known, True, {}, time.monotonic() - began, time.process_time() - worked)

    def rerun(more: More) -> Findings:
        return run(paper, effort, store, jobs, cluster, progress, more).after(findings)

    if more and not findings.interrupted:
        findings, more = rerun({}), {}
    for seeds in effort.looks[1:]:
        wanting = {} if findings.interrupted else undecided(findings)
        if not wanting:
            break
        more = {
            **more,
            **{name: {**more.get(name, {}), **dict.fromkeys(cells, seeds)} for name, cells in wanting.items()},
        }
        findings = rerun(more)
    running, working = time.monotonic() - began, time.process_time() - worked
    made_from = _fingerprint(findings, sources)
    if known := _made(folder, made_from):
        return Reproduction(findings, known, True, {}, running, working)
    # Imported late: the drawing code takes longer to import than a call with nothing to do takes to run.
    from aqmlab_papers.show import folder as writing
    from aqmlab_papers.show.document import document

    began = time.monotonic()
    assessment = assess(findings, watch)
    errors = assessment.errors
    if findings.interrupted:
        return Reproduction(findings, document(assessment, {}, command), False, errors, running, working)
    at_once = jobs or threads.cores()
    writing.write(assessment, folder, command, running, at_once, "" if errors else made_from, watch)
    written = unsealed(folder / FINDINGS, KIND, command)
    return Reproduction(findings, written, True, errors, running, working, drawing=time.monotonic() - began)


def _made(folder: Path, made_from: str) -> Document | None:
    """Read the findings of an earlier call, if they have the same fingerprint and all their files exist."""
    try:
        found = unsealed(folder / FINDINGS, KIND, "")
    except (FileNotFoundError, ValueError):
        return None
    files = [REPORT, *(file for item in found["items"] for file in item["files"])]
    same = found.get("made_from") == made_from and all((folder / name).is_file() for name in files)
    return found if same else None


def known_seeds(folder: Path, effort: Effort) -> More:
    """Return the larger numbers of seeds that an earlier call with the same effort needed."""
    try:
        found = unsealed(folder / FINDINGS, KIND, "")
    except (FileNotFoundError, ValueError):
        return {}
    if found.get("effort") != effort.document():
        return {}
    # Findings of an earlier version lack them: it then begins with the first seeds.
    known = {one["name"]: one.get("more", []) for one in found["experiments"]}
    return {
        name: {(cell["aqm"], cell["point"]): cell["seeds"] for cell in more} for name, more in known.items() if more
    }


def _fingerprint(findings: Findings, sources: Path | None) -> str:
    """Hash all inputs of a report: engine, runs, effort, failures, the code of the paper and of aqmlab."""
    runs = {
        f"{setting} {name}": sorted(runs.keys)
        for setting, evidence in findings.evidence.items()
        for name, runs in evidence.items()
    }
    inputs = {
        "engine": findings.effort.engine.version,
        "runs": runs,
        "effort": findings.effort.document(),
        "failures": [str(failure) for failure in findings.failures],
        "code": [hashlib.sha256(file.read_bytes()).hexdigest() for file in _code(sources)],
    }
    return hashlib.sha256(json.dumps(inputs, sort_keys=True).encode()).hexdigest()


def _code(sources: Path | None) -> Iterator[Path]:
    """Yield the files whose content enters a report, except scenarios: the keys of runs depend on them."""
    ours, core = Path(__file__).parent, Path(aqmlab.__file__).parent
    papers = {plugins.folder(package) for package in plugins.entries(library.GROUP).values()}
    yield from sorted(core.rglob("*.py"))
    yield from (file for file in sorted((core / "reports" / "templates").rglob("*")) if file.is_file())
    yield from (file for file in sorted(ours.rglob("*.py")) if not papers & set(file.parents))
    yield RECORD
    if sources:
        yield from sorted(sources.rglob("*.py"))
