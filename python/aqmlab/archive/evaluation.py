"""Evaluations by RFC 7928, which ``aqmlab evaluate`` writes."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from aqmlab.archive import stored
from aqmlab.archive.contents import Claimed, Contents
from aqmlab.archive.layout import STORE, Record
from aqmlab.evaluation.guidelines import GUIDELINES
from aqmlab.evaluation.run import Effort, run, studies
from aqmlab.evaluation.scorecard import scorecard
from aqmlab.evaluation.show.document import document
from aqmlab.execute.engine import Engine
from aqmlab.kinds import EVALUATION
from aqmlab.results.result import Metrics
from aqmlab.scenario import Scenario, is_own
from aqmlab.sealed import unsealed
from aqmlab.sweeps.store import Store
from aqmlab.sweeps.study import Plan

HEAD = "evaluation.json"
_AGAIN = "repeat aqmlab evaluate"


def contents(folder: Path, store: Path | None) -> Contents:
    """See `Kind`."""
    known = unsealed(folder / HEAD, EVALUATION, _AGAIN)
    effort = _effort(known)
    if str(effort.engine) != "packet":
        raise ValueError(f"{folder / HEAD}: made with --engine {effort.engine}, whose runs differ: not sealed")
    if own := [label for label in known["labels"] if is_own(label)]:
        raise ValueError(
            f"{folder / HEAD}: {own[0]}: a discipline of your own, whose file an evaluation does not keep: "
            "seal results of aqmlab compare, which keep it"
        )
    records, files = stored.packed(studies(GUIDELINES, effort), stored.found(folder, store))
    title = f"Evaluation by RFC 7928: {', '.join(known['labels'])}"
    return Contents(
        "an evaluation", title, known["version"], records, files, known["command"], "RFC 7928", _verdicts(known)
    )


def metrics(folder: Path, records: Sequence[Record]) -> list[Metrics]:
    """See `Kind`."""
    return stored.metrics(folder, records)


def runs(folder: Path) -> Iterable[Claimed]:
    """See `Kind`."""
    return stored.runs(folder)


def is_of(folder: Path, record: Record, scenario: Scenario) -> bool:
    """See `Kind`."""
    return stored.is_of(record, scenario, unsealed(folder / HEAD, EVALUATION, _AGAIN)["version"])


def verdicts(folder: Path) -> tuple[Mapping[str, str], Mapping[str, str]]:
    """See `Kind`."""
    known = unsealed(folder / HEAD, EVALUATION, _AGAIN)
    if any(map(is_own, known["labels"])):
        raise ValueError(f"{HEAD}: has a discipline of its author's: not judged")
    effort, store = _effort(known), folder / STORE
    keys = {key for _, study in studies(GUIDELINES, effort) for _, _, _, key in Plan.of(study).runs()}
    if missing := keys - Store(store).finished(keys):
        raise ValueError(f"{STORE}: {len(missing)} of {len(keys)} runs of the scorecard are missing")
    evidence = run(GUIDELINES, effort, store)
    judged = document(evidence, scorecard(evidence, known["correction"]), {}, known["command"], known["seconds"])
    return _verdicts(known), _verdicts(judged)


def _effort(known: Mapping[str, Any]) -> Effort:
    labels, engine = known["labels"], Engine.parse(known["engine_name"])
    return Effort(labels, known["reference"], known["seeds"], known["sections"], engine)


def _verdicts(known: Mapping[str, Any]) -> dict[str, str]:
    """Return the text of each tested cell of the scorecard, with its verdict."""
    found = {}
    for guideline in known["guidelines"]:
        for case in guideline["cases"]:
            for row in case["rows"]:
                for measure, cell in zip(case["measures"], row["cells"], strict=True):
                    place = f"{case['anchor']}, {row['label']}, {measure['name']}"
                    if cell["verdict"]:
                        found[place] = f"{cell['verdict']} ({cell['text']})"
    return found
