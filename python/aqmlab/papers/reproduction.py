"""Reproducing a paper: its runs, its verdicts, its figures and report; what is there already is not made again."""

from __future__ import annotations

import hashlib
import json
import time
from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from aqmlab import _core
from aqmlab.execute import threads
from aqmlab.papers.describe.paper import Paper
from aqmlab.papers.judge.findings import Watch, assess
from aqmlab.papers.run.sweep import Effort, Findings, run
from aqmlab.papers.show.texts import FINDINGS
from aqmlab.sealed import unsealed
from aqmlab.sweeps.runner import Standing

if TYPE_CHECKING:
    from aqmlab.papers.show.document import Document


@dataclass(frozen=True)
class Reproduction:
    """What came of a paper.

    Parameters
    ----------
    findings : Findings
        What was run.
    document : mapping
        What ``findings.json`` says.
    written : bool
        Whether the folder has it: not after Ctrl-C.
    errors : mapping
        What could not be drawn or judged, and the error.
    running : float
        Seconds that the runs took.
    working : float
        Seconds of CPU time that this machine worked at the runs.
    drawing : float
        Seconds that verdicts, figures and report took; 0 if they were there.
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
    """Run what is missing of a paper; judge, draw and write it, unless that was done from the same runs.

    Parameters
    ----------
    paper : Paper
        The paper.
    effort : Effort
        How much to do.
    folder : Path
        Where its report goes.
    store : Path
        Where finished runs are kept.
    command : str
        The command line, for the reader to repeat.
    sources : Path
        The folder that the paper was read from: when its code changes, all is drawn again.
    jobs : int
        As for `aqmlab.sweep`.
    cluster : str
        As for `aqmlab.sweep`.
    watch : callable
        Called now and then.

    Returns
    -------
    Reproduction
        What came of it. If the user pressed Ctrl-C during the runs nothing is written, and what could be judged is in
        the document.
    """

    def progress(standing: Standing) -> None:
        if watch:
            failed = f", {standing.failed} failed" if standing.failed else ""
            watch(f"{standing.done} of {standing.wanted} runs{failed}", standing.fraction)

    began, worked = time.monotonic(), time.process_time()
    findings = run(paper, effort, store, jobs, cluster, progress)
    running, working = time.monotonic() - began, time.process_time() - worked
    made_from = _fingerprint(findings, sources)
    if known := _made(folder, made_from):
        return Reproduction(findings, known, True, {}, running, working)
    # These import all that draws, which takes longer than a call that has nothing to do.
    from aqmlab.papers.show import folder as writing
    from aqmlab.papers.show.document import document

    began = time.monotonic()
    assessment = assess(findings, watch)
    errors = assessment.errors
    if findings.interrupted:
        return Reproduction(findings, document(assessment, {}, command), False, errors, running, working)
    at_once = jobs or threads.cores()
    writing.write(assessment, folder, command, running, at_once, "" if errors else made_from, watch)
    written = unsealed(folder / FINDINGS, command)
    return Reproduction(findings, written, True, errors, running, working, drawing=time.monotonic() - began)


def _made(folder: Path, made_from: str) -> Document | None:
    """Read what was found before, if it was from the same and its files are there."""
    try:
        found = unsealed(folder / FINDINGS, "")
    except (FileNotFoundError, ValueError):
        return None
    files = ["report.html", *(file for item in found["items"] for file in item["files"])]
    same = found.get("made_from") == made_from and all((folder / name).is_file() for name in files)
    return found if same else None


def _fingerprint(findings: Findings, sources: Path | None) -> str:
    """Hash all that a report is made from: runs, effort, the code of the paper and ours."""
    runs = {
        f"{setting} {name}": sorted(runs.frame["key"].to_list())
        for setting, evidence in findings.evidence.items()
        for name, runs in evidence.items()
    }
    effort = asdict(findings.effort) | {"only": sorted(findings.effort.only)}
    told = {
        "engine": _core.engine_version,
        "runs": runs,
        "effort": effort,
        "failures": [str(failure) for failure in findings.failures],
        "code": [hashlib.sha256(file.read_bytes()).hexdigest() for file in _code(sources)],
    }
    return hashlib.sha256(json.dumps(told, sort_keys=True).encode()).hexdigest()


def _code(sources: Path | None) -> Iterator[Path]:
    package = Path(__file__).parents[1]
    yield from (file for file in sorted(package.rglob("*.py")) if not file.is_relative_to(package / "library"))
    if sources:
        yield from sorted(sources.rglob("*.py"))
