"""The answer of `aqmlab tune` as plain text."""

from __future__ import annotations

import re
import textwrap
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from aqmlab import _core
from aqmlab.reports.advice_text import SOONER
from aqmlab.reports.text import WIDTH, Column, Table, aligned, interval, laid_out, signed
from aqmlab.text import printable

if TYPE_CHECKING:
    from aqmlab.advice.goals import Goal
    from aqmlab.advice.tuned import Trial, Tuned

PRESENT = "present parameters"

_BEST = 8
"""The most trials of the last stage that are listed; it has four unless the search ended early."""

_MOST = 12
"""The most points of the front that are listed; of more, these are spread evenly over it."""


def text(tuned: Tuned) -> str:
    """Lay out the answer: what to set, the trials of the last stage, the front, and the text to paste."""
    seeds, first = len(tuned.best.runs), tuned.scenario.seed
    named = printable(tuned.scenario.title) or "untitled"
    lines = [
        *textwrap.wrap(answer(tuned), WIDTH),
        "",
        f"{named}: {tuned.scenario.aqm} (seeds {first} to {first + seeds - 1}; aqmlab {_core.__version__})",
        "",
        laid_out(ranking(tuned)),
    ]
    if len(tuned.goals) > 1:
        shown = _spread([one for label in tuned.front for one in tuned.trials if one.label == label])
        lines += ["", "Pareto front of the first two goals, over all points:", "", laid_out(table(tuned, shown))]
    lines += ["", *remarks(tuned), "", *pasted(tuned)]
    return "\n".join(lines)


def answer(tuned: Tuned) -> str:
    """Return what to set, what it gives, and whether the limits hold, in a sentence or two."""
    best = tuned.best
    changes = "; ".join(_change(tuned, one) for one in tuned.objectives)
    if not tuned.met:
        asked = " and ".join(one.written for one in tuned.constraints)
        return f"Nothing that was tried has {asked}. The closest is {_label(best)}: {_limits(tuned)}; {changes}."
    limits = f" {_limits(tuned)}." if tuned.constraints else ""
    if not best.label:
        return f"Keep the present parameters: nothing that was tried is better. {changes}.{limits}"
    return f"Set {best.label}: {changes}.{limits}"


def _change(tuned: Tuned, goal: Goal) -> str:
    """Return an objective's value and, for other than the present parameters, its difference from them."""
    best = tuned.confirmed
    value = f"{_named(goal)} {interval(goal.metric, best.summary(goal), len(best.runs))} {_unit(goal)}".rstrip()
    if not best.label:
        return value
    found = tuned.change(goal)
    if found.mean is None:
        return value
    certain = found.ci95 is not None and abs(found.mean) > found.ci95
    change = signed(goal.metric, found.mean, found.ci95).rstrip(" *")
    return f"{value} ({change} from the present{'' if certain else ', which may be chance'})"


def _limits(tuned: Tuned) -> str:
    parts = []
    for goal in tuned.constraints:
        found = tuned.confirmed.summary(goal)
        value = f"{_named(goal)} is {interval(goal.metric, found, len(tuned.confirmed.runs))} {_unit(goal)}".rstrip()
        if goal.excess(found.mean):
            parts.append(f"{value}: {goal.written} fails on fresh seeds" if tuned.met else value)
        else:
            sure = "holds" if tuned.holds(goal) else "holds on average only" if tuned.fresh else "is not confirmed"
            parts.append(f"{value}: {goal.written} {sure}")
    return "; ".join(parts)


def ranking(tuned: Tuned) -> Table:
    """Return the trials of the last stage by rank, the present parameters among or below them."""
    shown = list(tuned.ranked[:_BEST])
    if tuned.present not in shown:
        shown.append(tuned.present)
    return table(tuned, shown)


def table(tuned: Tuned, shown: Sequence[Trial]) -> Table:
    """Return trials as a table, with the value of each goal and the differences from the present parameters."""
    heads, cells = [Column("Seeds")], [[str(len(one.runs)) for one in shown]]
    for goal in tuned.goals:
        heads += [Column(_named(goal), _unit(goal)), Column("change", _unit(goal))]
        cells.append(aligned([interval(goal.metric, one.summary(goal), len(one.runs)) for one in shown]))
        changes = [one.difference(tuned.present, goal) for one in shown]
        cells.append(
            aligned(
                [
                    signed(goal.metric, found.mean, found.ci95) if one.label else "-"
                    for one, found in zip(shown, changes, strict=True)
                ]
            )
        )
    return Table(heads, [_label(one) for one in shown], list(zip(*cells, strict=True)))


def remarks(tuned: Tuned) -> Iterator[str]:
    """Yield what a reader of the tables needs to know."""
    yield "± and changes: 95 % intervals, by seed; each is for itself. A star: the interval excludes 0."
    if tuned.fresh:
        first = tuned.scenario.seed + len(tuned.best.runs)
        yield f"The first sentences have the values of fresh seeds, {first} to {first + len(tuned.confirmed.runs) - 1}."
    ranges = [f"{one.name} from {one.text(one.low)} to {one.text(one.high)}" for one in tuned.parameters]
    yield f"{len(tuned.trials) - 1} points: {', '.join(ranges)}."
    if tuned.invalid:
        yield f"{tuned.invalid} further points are invalid."
    if tuned.ended:
        yield f"The search ended {tuned.ended}{SOONER if tuned.ended.endswith(' s') else ''}."


def pasted(tuned: Tuned) -> Iterator[str]:
    """Yield the lines to paste."""
    if tuned.best.label:
        yield f"In a scenario, or the whole of it with --out ({tuned.scenario.aqm}):"
        yield ""
        yield from (f"    {line}".rstrip() for line in discipline(tuned).splitlines())
        yield ""
    if tuned.words:
        yield f"For tc: {tuned.words}"
    elif tuned.kernel:
        yield f"tc has no words for this form of {tuned.scenario.aqm}; for Linux's, tune --aqm {tuned.kernel}."
    else:
        yield f"Linux has no {tuned.scenario.aqm}, so there are no words for tc."


def discipline(tuned: Tuned) -> str:
    """Return the tables of the tuned discipline as they are in its scenario, with those inside it."""
    tables = re.split(r"\n(?=\[)", tuned.tuned.to_toml())
    return "\n".join(one for one in tables if re.match(r"\[aqm[\].]", one)).rstrip()


def _spread(front: Sequence[Trial]) -> Sequence[Trial]:
    """Return at most `_MOST` trials of a front, evenly spread."""
    if len(front) <= _MOST:
        return front
    return [front[round(place * (len(front) - 1) / (_MOST - 1))] for place in range(_MOST)]


def _label(one: Trial) -> str:
    return one.label or PRESENT


def _named(goal: Goal) -> str:
    owner = goal.name.rpartition(".")[0].removeprefix("classes.")
    return f"{owner}: {goal.metric.label}" if owner else goal.metric.label


def _unit(goal: Goal) -> str:
    return goal.metric.shown or goal.metric.unit
