"""Races by paired seeds: who is clearly worse than the best drops out, and the seeds go to those that are close.

After each round every runner is compared with the best, seed by seed. It drops out if Student's test of the differences
finds it worse. The race is over if each other runner has dropped out or is as good.

The best is chosen by the same scores, so the level is divided by the number of all ordered pairs of runners, not of the
comparisons made; round i has the part 1 / (i (i + 1)) of it, which adds up to 1 however many there are (Bonferroni). In
at least 95 % of races the true mean difference of every pair is thus above the lower end of its interval, in every
round, if differences are normally distributed: no runner drops out unless the best of that round is better, none counts
as good that is worse by the margin, and a lead is at least what `bound` leaves of it.

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
"""The chance that a race says anything wrong."""

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


def differences(scores: Scores, one: str, other: str) -> list[float]:
    """Return the differences of the seeds that both have."""
    return [a - b for a, b in zip(scores[one], scores[other], strict=False)]


def bound(summary: Summary, runners: int) -> float:
    """Return what a mean difference may exceed the true one by, with `LEVEL` for all pairs and rounds together."""
    if summary.n < FEWEST or summary.std is None:
        return math.inf
    look = summary.n // EACH
    level = LEVEL / (max(2, runners) * max(1, runners - 1)) / (look * (look + 1))
    return quantile(1 - 2 * level, summary.n - 1) * summary.std / math.sqrt(summary.n)


def judged(scores: Scores, running: Sequence[str], margin: float) -> Verdicts:
    """Judge those that are running; `margin` is the difference of scores that does not matter."""
    best = max(running, key=lambda one: math.fsum(scores[one]) / len(scores[one]))
    worse, equal = [], []
    for one in running:
        lead = Summary.of(differences(scores, best, one))
        if one == best or lead.n < FEWEST:
            continue
        half = bound(lead, len(scores))
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
