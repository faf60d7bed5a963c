"""The law that a user's own discipline declares, for analysis."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from aqmlab.own.running import started
from aqmlab.own.source import declared

Rate = Callable[[float, float, float], float]


def rate(facts: Mapping[str, Any]) -> Rate:
    """Return dp/dt (1/s) as a function of the queue (packets), p and dq/dt, for a scenario in the fluid model's terms.

    `facts` is the engine's description of the scenario for the fluid model.
    """

    def no_draws() -> float:
        raise RuntimeError("the law of a discipline draws no random numbers")

    of = declared(facts["aqm"], facts["source"])
    port = (facts["capacity"] * 8 * facts["packet"], facts["delay"], facts["buffer"], facts["packet"])
    made = started(of, facts["parameters"], port, no_draws)

    def derivative(q: float, p: float, dq: float) -> float:
        return float(made.rate(q, p, dq) if of.law_of_change else made.rate(q, p))

    return derivative


def period(facts: Mapping[str, Any]) -> float:
    """Return the time in s between two updates of the law, 0 if it has no timer."""
    own = declared(facts["aqm"], facts["source"]).period
    return 0.0 if own is None else float(facts["parameters"].get("period", own))
