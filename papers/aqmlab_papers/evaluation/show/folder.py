"""The folder of an evaluation: report, figures, scenarios, the scorecard as CSV, and its content as JSON."""

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path

from aqmlab.figures import matplotlib
from aqmlab.files import remaking, replacing
from aqmlab.kinds import EVALUATION
from aqmlab.reports.figure import embedded
from aqmlab.reports.template import rendered
from aqmlab.scenario import portable
from aqmlab.sealed import sealed, unsealed
from aqmlab_papers.evaluation.describe.standard import Standard
from aqmlab_papers.evaluation.run import Evidence
from aqmlab_papers.evaluation.scorecard import Scorecard, frame
from aqmlab_papers.evaluation.show.document import Document, document, scenario_file
from aqmlab_papers.evaluation.show.figures import Drawn, drawn
from aqmlab_papers.evaluation.show.files import DOCUMENT, REPORT, TABLE

Watch = Callable[[str, float], None]


def write(
    evidence: Evidence, card: Scorecard, folder: Path, command: str, seconds: float, watch: Watch | None = None
) -> Document:
    """Write everything, and return the content; `evaluation.json` is written last.

    ``seconds`` is the time that the runs took. ``watch`` is called with the current step and the fraction of the work
    that is done.
    """
    with remaking(folder / DOCUMENT):
        for name, data in contents(evidence, card, command, seconds, watch):
            with replacing(folder / name) as temporary:
                temporary.write_bytes(data)
    return unsealed(folder / DOCUMENT, EVALUATION, command)


def contents(
    evidence: Evidence,
    card: Scorecard,
    command: str,
    seconds: float,
    watch: Watch | None = None,
    simulated: int | None = None,
) -> Iterator[tuple[str, bytes]]:
    """Yield the name and content of each file, as `write` writes them.

    ``simulated`` is the number of runs that were not in the store, if it is not that of the evidence.
    """
    figures: dict[str, Sequence[Drawn]] = {}
    count = len(evidence.guidelines)
    for number, one in enumerate(evidence.guidelines):
        if watch:
            watch(f"drawing {one.section}", number / count)
        figures[one.section] = drawn(one, evidence) if one.kind == "runs" else []
        for each in figures[one.section]:
            images = matplotlib.images(each.figure)
            yield from ((f"{each.name}.{form}", data) for form, data in images.items())
    found = document(evidence, card, figures, command, seconds)
    if simulated is not None:
        found["simulated"] = simulated
    yield from ((name, text.encode()) for name, text in _scenarios(evidence, found).items())
    yield TABLE, frame(card, evidence).write_csv().encode()
    yield REPORT, report(found, figures, evidence.effort.standard).encode()
    yield DOCUMENT, sealed(found)


def _scenarios(evidence: Evidence, found: Document) -> dict[str, str]:
    """Return the scenario of each case, with the settings of the case and without those of a subject.

    The recordings that its link follows are beside it.
    """
    texts = {}
    for guideline in found["guidelines"]:
        for case in guideline["cases"]:
            scenario = evidence.cases[guideline["section"], case["name"]].scenario
            text = portable(scenario)[0]
            for key in ("rates", "reverse_rates"):
                followed = scenario.resolved.get("dumbbell", {}).get(key, "auto")
                if followed != "auto":
                    file = Path(followed["file"])
                    text = text.replace(json.dumps(str(file), ensure_ascii=False), f'"{file.name}"')
                    texts[f"scenarios/{file.name}"] = file.read_text(encoding="utf-8")
            texts[scenario_file(case["anchor"])] = text
    return texts


def report(found: Document, figures: Mapping[str, Sequence[Drawn]], standard: Standard) -> str:
    """Return the report as HTML."""
    seeds = f"{found['seeds']} seed{'s' if found['seeds'] > 1 else ''}"
    return rendered(
        "evaluation.html",
        title=f"Evaluation by {standard.name}",
        made=f"{len(found['labels'])} {standard.nouns}, {seeds}, {found['done']} runs on the "
        f"{found['engine_name']} engine; aqmlab {found['version']}",
        command=found["command"],
        has_figures=True,
        evaluation=found,
        standard=standard,
        failures=found["failures"],
        figures={each.name: embedded(each.figure, each.name) for own in figures.values() for each in own},
    )
