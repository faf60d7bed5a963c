"""Evaluations by an RFC, which ``aqmlab evaluate`` writes."""

import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from aqmlab.archive import scenarios
from aqmlab.archive.contents import Contents, Facts, Given, Remade, Watch
from aqmlab.archive.layout import OWN, STORE, Record
from aqmlab.execute.engine import Engine
from aqmlab.kinds import EVALUATION
from aqmlab.results.result import PACKET
from aqmlab.scenario import Scenario, is_own
from aqmlab.sealed import unsealed
from aqmlab_papers.archives import documents, stored
from aqmlab_papers.evaluation.run import Effort, run, studies
from aqmlab_papers.evaluation.scorecard import scorecard
from aqmlab_papers.evaluation.show import folder as shown
from aqmlab_papers.evaluation.show.document import document
from aqmlab_papers.evaluation.standards import standard_of

_AGAIN = "repeat aqmlab evaluate"

measured, task, again, runs = stored.measured, stored.task, stored.again, stored.runs
described = documents.evaluation


def _known(folder: Path) -> dict[str, Any]:
    return unsealed(folder / EVALUATION.head, EVALUATION, _AGAIN)


def facts(folder: Path) -> Facts:
    """See `Kind`."""
    known = _known(folder)
    by = standard_of(known).name
    title = f"Evaluation by {by}: {', '.join(known['labels'])}"
    engines = {known["engine_name"]: known["version"]}
    return Facts("an evaluation", title, known["version"], engines, known["command"], by, _verdicts(known))


def contents(folder: Path, given: Given) -> Contents:
    """See `Kind`; the files of disciplines of the user's own must be where they were."""
    known = _known(folder)
    effort = _effort(known)
    if str(effort.engine) != PACKET:
        raise ValueError(
            f"{folder / EVALUATION.head}: made with --engine {effort.engine}, whose runs differ: not sealed"
        )
    records, files = stored.packed(studies(effort.standard.guidelines, effort), stored.found(folder, given.store))
    programs = {place: Path(scenarios.file_of(label)) for label, place in _programs(known).items()}
    return Contents(facts(folder), records, {**files, **programs})


def _programs(known: Mapping[str, Any]) -> dict[str, str]:
    """Return the place in an archive of the file of each discipline of the user's own, by label."""
    programs = ((number, label) for number, label in enumerate(known["labels"]) if is_own(label))
    return {label: f"{OWN}{number}-{Path(scenarios.file_of(label)).name}" for number, label in programs}


def is_of(folder: Path, record: Record, scenario: Scenario) -> bool:
    """See `Kind`."""
    return scenarios.is_of(record, scenario, _known(folder)["version"])


def remade(folder: Path, names: Sequence[str], watch: Watch | None) -> Remade:
    """See `Kind`. With a discipline of its author's no file is made again: its path is in all of them."""
    known = _known(folder)
    if known["engine_name"] != PACKET or known["reference"] not in known["labels"]:
        raise ValueError(f"{EVALUATION.head}: no evaluation that can be sealed")
    moved = {label: scenarios.moved(label, os.fspath(folder / place)) for label, place in _programs(known).items()}
    effort, store = _effort(known, moved), folder / STORE
    guidelines = effort.standard.guidelines
    stored.require_runs(folder, [study for _, study in studies(guidelines, effort)], "the scorecard", known["version"])
    evidence = run(guidelines, effort, store)
    card = scorecard(evidence, known["correction"])
    judged = document(evidence, card, {}, known["command"], known["seconds"])
    now = _verdicts(judged, {there: label for label, there in moved.items()})
    files = shown.contents(evidence, card, known["command"], known["seconds"], watch, known["simulated"])
    return Remade(now, () if moved else files)


def _effort(known: Mapping[str, Any], moved: Mapping[str, str] | None = None) -> Effort:
    """Return the effort, with disciplines of the user's own in other places."""
    reference, *labels = ((moved or {}).get(label, label) for label in [known["reference"], *known["labels"]])
    engine = Engine.parse(known["engine_name"])
    return Effort(labels, reference, known["seeds"], known["sections"], engine, standard_of(known))


def _verdicts(known: Mapping[str, Any], names: Mapping[str, str] | None = None) -> dict[str, str]:
    """Return the text of each tested cell of the scorecard, with its verdict; ``names`` has labels to be replaced."""
    found = {}
    for guideline in known["guidelines"]:
        for case in guideline["cases"]:
            for row in case["rows"]:
                label = (names or {}).get(row["label"], row["label"])
                for measure, cell in zip(case["measures"], row["cells"], strict=True):
                    place = f"{case['anchor']}, {label}, {measure['name']}"
                    if cell["verdict"]:
                        found[place] = f"{cell['verdict']} ({cell['text']})"
    return found
