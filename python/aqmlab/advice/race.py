"""Races by paired seeds: who is clearly worse than the best drops out, and the seeds go to those that are close.

After each round every runner is compared with the best, seed by seed. It drops out if Student's test of the differences
finds it worse, at a level that is divided by the number of comparisons and of looks (Bonferroni), so that in one race
of twenty at most a runner is dropped by luck. The race is over if each other runner has dropped out or is as good.

# Sources
Maron and Moore, "The racing algorithm: model selection for lazy learners", Artificial Intelligence Review 11, 1997;
Birattari, Stützle, Paquete and Varrentrapp, "A racing algorithm for configuring metaheuristics", GECCO 2002;
López-Ibáñez et al., "The irace package", Operations Research Perspectives 3, 2016, for the test with a correction.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from aqmlab.results.student import quantile
from aqmlab.results.summary import Summary

LEVEL = 0.05
"""The chance of dropping a runner that is not worse, in the whole race."""

FIRST, EACH, MOST = 3, 2, 41
"""The seeds of the first round, those of each further one, and the most of all."""

FEWEST = 3
"""The seeds without which nothing is decided."""

Scores = Mapping[str, Sequence[float]]
"""The scores of each runner, seed after seed from the first; greater is better. Those that dropped out have fewer."""


@dataclass(frozen=True, slots=True)
class Verdicts:
    """The state of a race: the best, those that drop out now, and those that are as good as the best."""

    best: str
    worse: tuple[str, ...]
    equal: tuple[str, ...]


def looks(most: int) -> int:
    """Return the number of rounds of a race with at most `most` seeds."""
    return 1 + max(0, math.ceil((most - FIRST) / EACH))


def differences(scores: Scores, one: str, other: str) -> list[float]:
    """Return the differences of the seeds that both have."""
    return [a - b for a, b in zip(scores[one], scores[other], strict=False)]


def bound(summary: Summary, comparisons: int) -> float:
    """Return half the width of an interval that holds with `LEVEL` for all comparisons together."""
    if summary.n < FEWEST or summary.std is None:
        return math.inf
    return quantile(1 - 2 * LEVEL / comparisons, summary.n - 1) * summary.std / math.sqrt(summary.n)


def judged(scores: Scores, running: Sequence[str], margin: float, most: int) -> Verdicts:
    """Judge those that are running; `margin` is the difference of scores that does not matter."""
    seeds = max(len(scores[one]) for one in running)
    best = max(running, key=lambda one: math.fsum(scores[one]) / len(scores[one]))
    comparisons = max(1, len(scores) - 1) * looks(most)
    worse, equal = [], []
    for one in running:
        if one == best or seeds < FEWEST:
            continue
        lead = Summary.of(differences(scores, best, one))
        half = bound(lead, comparisons)
        assert lead.mean is not None
        if lead.mean + half < margin:
            equal.append(one)
        elif lead.mean > half:
            worse.append(one)
    return Verdicts(best, tuple(worse), tuple(equal))


class Stopped(Exception):  # noqa: N818  the calling program has no error
    """Raised when a race was stopped.

    Parameters
    ----------
    reason : BaseException
        The cause: `KeyboardInterrupt`, `RunsFailed` or `OutOfTime`.
    finished : object
        The answer from the seeds that all have, or None if there is none yet.
    runs : tuple of int
        The number of finished runs, and that of the first answer.
    """

    def __init__(self, reason: BaseException, finished: Any, runs: tuple[int, int]) -> None:
        self.reason = reason
        self.finished = finished
        self.runs = runs
        super().__init__(f"stopped: {runs[0]} runs finished")
