"""Verdicts on claims."""

import math
from collections.abc import Sequence
from enum import StrEnum

from aqmlab_papers.describe.check import Check, Outcome


class Verdict(StrEnum):
    """The verdict on a claim."""

    REPRODUCED = "reproduced"
    PARTLY = "partly"
    CONTRADICTED = "contradicted"
    UNDECIDED = "undecided"
    NOT_TESTABLE = "not testable"


def verdict(checks: Sequence[Check], need: float = 1.0) -> Verdict:
    """Judge a claim by the parts of its primary check, of which a share of ``need`` in (0, 1] must hold.

    Reproduced if enough parts hold, contradicted if none holds, otherwise partly. An open part may yet hold or fail: if
    that could change the verdict, it is undecided. Without ``checks``, the parts, the claim is not testable.
    """
    if not checks:
        return Verdict.NOT_TESTABLE
    outcomes = [check.outcome for check in checks]
    holding, opened = outcomes.count(Outcome.HOLDS), outcomes.count(Outcome.OPEN)
    enough = math.ceil(need * len(checks) - 1e-9)
    possible = {_decided(count, enough) for count in range(holding, holding + opened + 1)}
    return possible.pop() if len(possible) == 1 else Verdict.UNDECIDED


def _decided(holding: int, enough: int) -> Verdict:
    if holding >= enough:
        return Verdict.REPRODUCED
    return Verdict.PARTLY if holding else Verdict.CONTRADICTED
