"""The folder of an evaluation: report, figures, scenarios, the scorecard as CSV, and its content as JSON."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

from aqmlab.evaluation.run import Evidence
from aqmlab.evaluation.scorecard import Scorecard, frame
from aqmlab.evaluation.show.document import Document, document, scenario_file
from aqmlab.evaluation.show.figures import Drawn, drawn
from aqmlab.evaluation.show.files import DOCUMENT, REPORT, TABLE
from aqmlab.figures import matplotlib
from aqmlab.files import DEFAULT_FORMATS, write_text
from aqmlab.reports.figure import embedded
from aqmlab.reports.template import rendered
from aqmlab.scenario import portable
from aqmlab.sealed import sealed

Watch = Callable[[str, float], None]


def write(
    evidence: Evidence, card: Scorecard, folder: Path, command: str, seconds: float, watch: Watch | None = None
) -> Document:
    """Write everything, and return the content; `evaluation.json` is written last.

    ``seconds`` is the time that the runs took. ``watch`` is called with the current step and the fraction of the work
    that is done.
    """
    folder.mkdir(parents=True, exist_ok=True)
    (folder / DOCUMENT).unlink(missing_ok=True)  # absent while files are from different runs
    figures: dict[str, Sequence[Drawn]] = {}
    count = len(evidence.guidelines)
    for number, one in enumerate(evidence.guidelines):
        if watch:
            watch(f"drawing {one.section}", number / count)
        figures[one.section] = drawn(one, evidence) if one.kind == "runs" else []
        for each in figures[one.section]:
            matplotlib.save(each.figure, folder, DEFAULT_FORMATS, each.name)
    found = document(evidence, card, figures, command, seconds)
    for name, text in _scenarios(evidence, found).items():
        write_text(folder / name, text)
    write_text(folder / TABLE, frame(card, evidence).write_csv())
    write_text(folder / REPORT, report(found, figures))
    (folder / DOCUMENT).write_bytes(sealed(found))
    return found


def _scenarios(evidence: Evidence, found: Document) -> dict[str, str]:
    """Return the scenario of each case, with the settings of the case and without those of a discipline."""
    texts = {}
    for guideline in found["guidelines"]:
        for case in guideline["cases"]:
            scenario = evidence.cases[guideline["section"], case["name"]].scenario
            texts[scenario_file(case["anchor"])] = portable(scenario)[0]
    return texts


def report(found: Document, figures: Mapping[str, Sequence[Drawn]]) -> str:
    """Return the report as HTML."""
    seeds = f"{found['seeds']} seed{'s' if found['seeds'] > 1 else ''}"
    return rendered(
        "evaluation.html",
        title="Evaluation by RFC 7928",
        made=f"{len(found['labels'])} disciplines, {seeds}, {found['done']} runs on the {found['engine_name']} engine; "
        f"aqmlab {found['version']}",
        command=found["command"],
        has_figures=True,
        evaluation=found,
        failures=found["failures"],
        figures={each.name: embedded(each.figure, each.name) for own in figures.values() for each in own},
    )
