"""Verdicts on claims."""

import math
from collections.abc import Iterator, Sequence
from enum import StrEnum

from aqmlab_papers.describe.check import Check, Outcome


class Verdict(StrEnum):
    """The verdict on a claim."""

    REPRODUCED = "reproduced"
    NEGLIGIBLE = "reproduced, negligible"
    PARTLY = "partly"
    CONTRADICTED = "contradicted"
    UNDECIDED = "undecided"
    NOT_TESTABLE = "not testable"


def verdict(checks: Sequence[Check], need: float = 1.0) -> Verdict:
    """Judge a claim by the parts of its primary check, of which a share of ``need`` in (0, 1] must hold.

    Reproduced if enough parts hold, partly if only some do. If none holds, a claim of a difference is reproduced but
    negligible if no part fails and more of them have the claimed sign than the other; otherwise it is contradicted. An
    open part may yet become any of these: if that could change the verdict, it is undecided. Without ``checks``, the
    parts, the claim is not testable.
    """
    if not checks:
        return Verdict.NOT_TESTABLE
    enough = math.ceil(need * len(checks) - 1e-9)
    outcomes = [check.outcome for check in checks]
    holding, failing = outcomes.count(Outcome.HOLDS), outcomes.count(Outcome.FAILS)
    leaning = sum(check.leans for check in checks if check.outcome == Outcome.NEGLIGIBLE)
    opened = [check for check in checks if check.outcome == Outcome.OPEN]
    differences = sum(check.counts is not None for check in opened)
    possible = {
        _decided(holding + more, failing + fails, leaning + lean, enough)
        for more, fails, lean in _possible(len(opened), differences)
    }
    return possible.pop() if len(possible) == 1 else Verdict.UNDECIDED


def _possible(opened: int, differences: int) -> Iterator[tuple[int, int, int]]:
    """Yield how many open parts may hold, how many may fail, and how far the others may lean, of which all differ."""
    for holds in range(opened + 1):
        for small in range(min(differences, opened - holds) + 1):
            for lean in (-small, 0, small):
                yield holds, opened - holds - small, lean


def _decided(holding: int, failing: int, leaning: int, enough: int) -> Verdict:
    if holding >= enough:
        return Verdict.REPRODUCED
    if holding:
        return Verdict.PARTLY
    return Verdict.NEGLIGIBLE if leaning > 0 and not failing else Verdict.CONTRADICTED
