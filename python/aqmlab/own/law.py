"""The law that a user's own discipline declares, for analysis."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from aqmlab.own.running import started
from aqmlab.own.source import declared

Rate = Callable[[float, float], float]


def rate(facts: Mapping[str, Any]) -> Rate:
    """Return dp/dt (1/s) as a function of the queue (packets) and p, for a scenario in the fluid model's terms.

    `facts` is the engine's description of the scenario for the fluid model.
    """

    def no_draws() -> float:
        raise RuntimeError("the law of a discipline draws no random numbers")

    port = (facts["capacity"] * 8 * facts["packet"], facts["delay"], facts["buffer"], facts["packet"])
    made = started(declared(facts["aqm"], facts["source"]), facts["parameters"], port, no_draws)

    def derivative(q: float, p: float) -> float:
        return float(made.rate(q, p))

    return derivative
