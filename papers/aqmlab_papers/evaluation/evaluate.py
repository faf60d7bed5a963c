"""Evaluate queue disciplines or senders by an RFC: runs, verdicts, figures and report; finished runs are reused."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from aqmlab.execute.progress import Progress
from aqmlab_papers.evaluation.describe.standard import Standard
from aqmlab_papers.evaluation.run import Effort, Evidence, run
from aqmlab_papers.evaluation.scorecard import scorecard
from aqmlab_papers.evaluation.verdict import Correction

if TYPE_CHECKING:
    from aqmlab_papers.evaluation.show.document import Document


@dataclass(frozen=True)
class Evaluation:
    """The outcome: the runs, the content of the report (None after Ctrl-C), and the time of both in seconds."""

    evidence: Evidence
    document: Document | None
    running: float
    drawing: float = 0.0


def require_sections(standard: Standard, sections: list[str]) -> None:
    """Raise `ValueError` for a section that has no guideline."""
    for section in sections:
        if not any(one.selected([section]) for one in standard.guidelines):
            known = ", ".join(one.section for one in standard.guidelines)
            raise ValueError(f"{section}: must be one of {known}, or the beginning of some, as 5")


def evaluate(
    effort: Effort,
    folder: Path,
    store: Path,
    command: str,
    *,
    correction: Correction = "holm",
    jobs: int | None = None,
    cluster: str | None = None,
    watch: Callable[[str, float], None] | None = None,
) -> Evaluation:
    """Perform the missing runs, then judge, draw and write all.

    ``jobs`` and ``cluster`` are as for `aqmlab.sweep`; the report shows ``command``. If the user presses Ctrl-C during
    the runs, nothing is written, and the finished ones stay in the store.
    """

    def progress(now: Progress) -> None:
        if watch:
            watch(str(now), now.fraction)

    began = time.monotonic()
    evidence = run(effort.standard.guidelines, effort, store, jobs, cluster, progress)
    running = time.monotonic() - began
    if evidence.interrupted:
        return Evaluation(evidence, None, running)
    # Imported late: the drawing code takes longer to import than a refusal of options.
    from aqmlab_papers.evaluation.show import folder as writing

    began = time.monotonic()
    found = writing.write(evidence, scorecard(evidence, correction), folder, command, running, watch)
    return Evaluation(evidence, found, running, time.monotonic() - began)
