"""The colours of subjects: one for each of up to eight, otherwise one for each group."""

from collections import Counter

from aqmlab.figures.model import COLOURS, MARKS
from aqmlab_papers.evaluation.run import FEW, Effort


def colours(effort: Effort) -> dict[str, str]:
    """Assign a colour to each subject, by its label."""
    subjects = effort.subjects
    if len(subjects) <= FEW:
        # The reference comes first, and is black.
        return dict(zip([one.label for one in subjects], [COLOURS[-1], *COLOURS[:-1]], strict=False))
    shade = dict(zip(effort.standard.groups, COLOURS, strict=False))
    return {one.label: shade[one.group] for one in subjects}


def outlines(effort: Effort) -> dict[str, str]:
    """Assign a mark to each subject, by its label: another one for each of those that share a colour."""
    subjects = effort.subjects
    if len(subjects) <= FEW:
        return dict.fromkeys((one.label for one in subjects), "circle")
    counts: Counter[str] = Counter()
    found = {}
    for one in subjects:
        found[one.label] = MARKS[counts[one.group] % len(MARKS)]
        counts[one.group] += 1
    return found


def explained(effort: Effort) -> str:
    """Return the meaning of the colours; empty if each subject has its own."""
    if len(effort.subjects) <= FEW:
        return ""
    names = ("blue", "red", "green", "pink", "orange")  # of `COLOURS`, in its order
    return "; ".join(f"{name}: {text}" for name, text in zip(names, effort.standard.groups.values(), strict=False))
