"""The scorecard: a cell for each measure of each case and each subject, with its difference and its verdict."""

from __future__ import annotations

import json
import shlex
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING

from aqmlab.execute.engine import PACKETS
from aqmlab.execute.variants import performing
from aqmlab.results.result import KERNEL
from aqmlab.results.summary import Summary
from aqmlab.scenario import Settings, Value
from aqmlab_papers.evaluation.describe.guideline import Case, Guideline
from aqmlab_papers.evaluation.describe.measure import Measure
from aqmlab_papers.evaluation.run import CaseRuns, Effort, Evidence
from aqmlab_papers.evaluation.verdict import Correction, Test, Verdict, adjusted, paired, verdict

if TYPE_CHECKING:
    import polars


@dataclass(frozen=True)
class Cell:
    """A measure of a subject in a case.

    ``own`` and ``other`` summarise its values and those of the reference, ``test`` compares them; None where nothing is
    tested: of the reference itself, and of a case that is only measured. ``p`` is the adjusted one. ``reason`` is
    the reason for a missing verdict.
    """

    guideline: Guideline
    case: Case
    measure: Measure
    label: str
    own: Summary
    other: Summary | None = None
    test: Test | None = None
    p: float | None = None
    reason: str = ""

    @property
    def verdict(self) -> Verdict:
        """The verdict."""
        return verdict(self.test, self.p, self.measure.better) if self.test else Verdict.UNTESTED

    @property
    def beyond(self) -> bool:
        """Whether its mean is more than the RFC's bound."""
        bound = self.measure.bound
        return bound is not None and self.own.mean is not None and self.own.mean > bound


@dataclass(frozen=True)
class Scorecard:
    """All cells, and how errors are bounded."""

    cells: Sequence[Cell]
    correction: Correction

    @property
    def tested(self) -> int:
        """The number of tests, which are the family over which errors are bounded."""
        return sum(cell.p is not None for cell in self.cells)

    @cached_property
    def _found(self) -> Mapping[tuple[str, str, str], list[Cell]]:
        found: dict[tuple[str, str, str], list[Cell]] = {}
        for cell in self.cells:
            found.setdefault((cell.guideline.section, cell.case.name, cell.label), []).append(cell)
        return found

    def of(self, guideline: Guideline, case: Case, label: str) -> list[Cell]:
        """Select the cells of a discipline in a case."""
        return self._found.get((guideline.section, case.name, label), [])

    def counts(self, guideline: Guideline, label: str) -> Counter[Verdict]:
        """Count the verdicts on a discipline in a guideline."""
        cells = (cell for case in guideline.cases for cell in self.of(guideline, case, label))
        return Counter(cell.verdict for cell in cells if cell.test)


def scorecard(evidence: Evidence, correction: Correction = "holm") -> Scorecard:
    """Compare every discipline with its reference in every case, and judge all differences as one family."""
    cells = [cell for one in evidence.guidelines for case in one.cases for cell in _cells(evidence, one, case)]
    ps = adjusted([cell.test.p if cell.test else None for cell in cells], correction)
    return Scorecard([replace(cell, p=p) for cell, p in zip(cells, ps, strict=True)], correction)


def _cells(evidence: Evidence, guideline: Guideline, case: Case) -> Iterator[Cell]:
    own = evidence.cases[guideline.section, case.name]
    reference = evidence.effort.reference
    for one in evidence.effort.subjects:
        label = one.label
        for measure in case.measures:
            values = own.values(measure, label)
            cell = Cell(guideline, case, measure, label, Summary.of(list(values.values())))
            if case.against:
                others = evidence.cases[case.against].values(measure, label)
            else:
                others = own.values(measure, reference)
            if label in own.left_out:
                yield replace(cell, reason=own.left_out[label])
            elif not values:
                yield replace(cell, reason="not run")
            elif not case.judged:
                yield replace(cell, other=Summary.of(list(others.values())) if case.against else None)
            elif label == reference and not case.against:
                yield replace(cell, reason="the reference")
            else:
                test = paired(values, others, measure.least)
                yield replace(cell, other=Summary.of(list(others.values())), test=test, reason=test.reason)


def commands(evidence: Evidence, guideline: Guideline, case: Case, label: str) -> list[str]:
    """Return the commands that repeat the numbers of a discipline in a case: one comparison, or a run of each side."""
    runs, effort = evidence.cases[guideline.section, case.name], evidence.effort
    if label not in runs.settings:
        return []
    if case.against:
        return [_run(runs, label, effort), _run(evidence.cases[case.against], label, effort)]
    if label == effort.reference or not case.judged:
        return [_run(runs, label, effort)]
    if all(runs.settings[each] == {"aqm": each} for each in (label, effort.reference)):
        engine = [] if effort.engine == PACKETS else ["--engines", str(effort.engine)]
        options = ["--aqm", effort.reference, "--aqm", label, *_changes(case.settings)]
        return [_command("compare", case.scenario, [*options, "--seeds", str(effort.seeds), *engine])]
    return [_run(runs, one, effort) for one in (label, effort.reference)]


def _run(runs: CaseRuns, label: str, effort: Effort) -> str:
    engine = [] if effort.engine == PACKETS else ["--engine", str(effort.engine)]
    if label.startswith(KERNEL):
        engine = ["--engine", str(performing(label, [effort.engine])[effort.engine])]
    options = [*_changes(runs.settings[label]), *_changes(runs.case.settings), "--seeds", str(effort.seeds)]
    return _command("run", runs.case.scenario, [*options, *engine])


def _command(name: str, scenario: str, options: Sequence[str]) -> str:
    return shlex.join(["aqmlab", name, scenario, *options])


def _changes(settings: Mapping[str, Value] | Settings) -> list[str]:
    """Return settings as options of the command line."""
    found = []
    for path, value in settings.items():
        # JSON's form of these values is also TOML's.
        written = json.dumps(value, ensure_ascii=False)
        found += ["--aqm", str(value)] if path == "aqm" else ["--set", f"{path}={written}"]
    return found


def frame(card: Scorecard, evidence: Evidence) -> polars.DataFrame:
    """Return the scorecard as a table, a row for each cell."""
    import polars

    rows = []
    bounds = any(cell.measure.bound is not None for cell in card.cells)
    for cell in card.cells:
        difference = cell.test.difference if cell.test else None
        rows.append(
            {
                "section": cell.guideline.section,
                "case": cell.case.name,
                "measure": cell.measure.name,
                "unit": cell.measure.unit,
                "better": cell.measure.better,
                "least": cell.measure.least,
                **({"bound": cell.measure.bound} if bounds else {}),
                evidence.effort.standard.key: cell.label,
                "runs": cell.own.n,
                "mean": cell.own.mean,
                "ci95": cell.own.ci95,
                "reference": cell.other.mean if cell.other else None,
                "difference": difference.mean if difference else None,
                "difference_ci95": difference.ci95 if difference else None,
                "p": cell.test.p if cell.test else None,
                "p_adjusted": cell.p,
                "verdict": str(cell.verdict) if cell.test else "",
                "reason": cell.reason,
                "command": " && ".join(commands(evidence, cell.guideline, cell.case, cell.label)),
            }
        )
    return polars.DataFrame(rows, infer_schema_length=None)
