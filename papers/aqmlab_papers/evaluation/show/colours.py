"""The colours of disciplines: one for each of up to eight, otherwise one for each group of the catalogue."""

from collections import Counter
from collections.abc import Sequence
from typing import Any

from aqmlab.figures.model import COLOURS, MARKS
from aqmlab_papers.evaluation.describe.discipline import Discipline
from aqmlab_papers.evaluation.run import FEW

GROUPS = {
    "length": "a target length",
    "delay": "a target delay",
    "chance": "drops at random",
    "rule": "drops by rule",
    "several": "several queues",
}
"""The groups of the catalogue."""


def group(one: Discipline) -> str:
    """Return the group of a discipline."""
    if one.foreign:
        return "rule"
    entry: Any = one.entry
    if not entry["one_queue"]:
        return "several"
    return str(entry["steers"] or ("chance" if entry["random"] else "rule"))


def colours(disciplines: Sequence[Discipline]) -> dict[str, str]:
    """Assign a colour to each discipline, by its label."""
    if len(disciplines) <= FEW:
        # The reference comes first, and is black.
        return dict(zip([one.label for one in disciplines], [COLOURS[-1], *COLOURS[:-1]], strict=False))
    shade = dict(zip(GROUPS, COLOURS, strict=False))
    return {one.label: shade[group(one)] for one in disciplines}


def outlines(disciplines: Sequence[Discipline]) -> dict[str, str]:
    """Assign a mark to each discipline, by its label: another one for each of those that share a colour."""
    if len(disciplines) <= FEW:
        return dict.fromkeys((one.label for one in disciplines), "circle")
    counts: Counter[str] = Counter()
    found = {}
    for one in disciplines:
        place = counts[group(one)]
        found[one.label] = MARKS[place % len(MARKS)]
        counts[group(one)] += 1
    return found


def explained(disciplines: Sequence[Discipline]) -> str:
    """Return the meaning of the colours; empty if each discipline has its own."""
    if len(disciplines) <= FEW:
        return ""
    names = ("blue", "red", "green", "pink", "orange")  # of `COLOURS`, in its order
    return "; ".join(f"{name}: {text}" for name, text in zip(names, GROUPS.values(), strict=True))
