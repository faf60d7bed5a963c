"""Reproducing a paper: its runs, its verdicts, its figures and report; what is there already is not made again."""

from __future__ import annotations

import hashlib
import json
import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from aqmlab import _core
from aqmlab.files import json_text, read_json, write_text
from aqmlab.papers import writing
from aqmlab.papers.description import Paper
from aqmlab.papers.judging import assess
from aqmlab.papers.running import Effort, Findings, run
from aqmlab.sweeping import Standing

Watch = Callable[[str, float], None]
"""Told what is being done, and which fraction of it is done."""

_MADE = "made.json"
"""The file that is written last: what the report was made from, and which files it has."""


@dataclass(frozen=True)
class Reproduction:
    """What came of a paper.

    Parameters
    ----------
    findings : Findings
        What was run.
    document : mapping
        What ``findings.json`` says.
    files : sequence of str
        What is in the folder; none after Ctrl-C.
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
    document: Mapping[str, Any]
    files: tuple[str, ...]
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
    known = _made(folder)
    if known.get("from") == made_from and all((folder / name).is_file() for name in known["files"]):
        document = read_json(folder / writing.FINDINGS)
        return Reproduction(findings, document, tuple(known["files"]), {}, running, working)
    began = time.monotonic()
    assessment = assess(findings, watch)
    if findings.interrupted:
        return Reproduction(findings, writing.document(assessment), (), assessment.errors, running, working)
    (folder / _MADE).unlink(missing_ok=True)
    files = tuple(writing.write(assessment, folder, command, watch))
    if not assessment.errors:
        write_text(folder / _MADE, json_text({"from": made_from, "files": files}))
    document = read_json(folder / writing.FINDINGS)
    return Reproduction(
        findings, document, files, assessment.errors, running, working, drawing=time.monotonic() - began
    )


def _made(folder: Path) -> dict[str, Any]:
    try:
        return read_json(folder / _MADE)
    except (FileNotFoundError, ValueError):
        return {}


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
    for folder in (package, package / "papers", package / "theory", *([sources] if sources else [])):
        yield from sorted(folder.glob("*.py"))
