"""The control law of a scenario's AQM, linearised at an operating point."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from aqmlab.analysis.operating_point import OperatingPoint
from aqmlab.own.law import period, rate
from aqmlab.theory import pi2, pie
from aqmlab.theory.domain import caution
from aqmlab.theory.laws import WITHOUT, ControlLaw, lred, pi, raqm, red, rem


def linearised(facts: dict[str, Any], point: OperatingPoint) -> ControlLaw | None:
    """Linearise the AQM's law; if there is none, add a remark with the reason and return None.

    `facts` is the engine's description of the scenario for the fluid model.
    """
    name, p = facts["aqm"], point.p
    if facts["source"] and p < 1:
        return _own(facts, point)
    if name in _LAWS and p < 1:
        return _LAWS[name](facts, point)
    caution(f"{name}: {WITHOUT.get(name) or f'no law at a drop probability of {p:.3g}'}; no loop is analysed")
    return None


def _lred(facts: dict[str, Any], point: OperatingPoint) -> ControlLaw:
    parameters = facts["parameters"]
    return lred(parameters["beta"], point.p, exponent=parameters["exponent"])


def _pi(facts: dict[str, Any], _: OperatingPoint) -> ControlLaw:
    parameters = facts["parameters"]
    return pi(parameters["a"], parameters["b"], parameters["frequency"])


def _raqm(facts: dict[str, Any], point: OperatingPoint) -> ControlLaw | None:
    parameters = facts["parameters"]
    if parameters["fed"] == "mean":
        caution("RAQM: there is no linear law for fed = mean; no loop is analysed")
        return None
    m = parameters["m"] if parameters["alpha"] == "static" else 4 * parameters["eps"]
    q0 = point.q if parameters["mode"] == "queue-dependent" else None
    if m == 0 and q0 is None:
        caution("RAQM: p is constant at a gain of 0; no loop is analysed")
        return None
    return raqm(point.p, point.capacity, m, parameters["period"], parameters["f"], q0)


def _rem(facts: dict[str, Any], point: OperatingPoint) -> ControlLaw:
    parameters = facts["parameters"]
    if parameters["form"] == "ns2":
        caution("REM's rate form counts dropped packets: it settles below its target, and its loop differs a little")
    return rem(parameters["gamma"], parameters["alpha"], parameters["phi"], parameters["interval"], point.p)


def _red(facts: dict[str, Any], point: OperatingPoint) -> ControlLaw | None:
    if point.ramp is None:
        caution("RED: the queue is not on its ramp, so there is no slope to linearise; no loop is analysed")
        return None
    return red(point.ramp, point.q, facts["parameters"]["w_q"], point.capacity / (1 - point.p))


def _pie(facts: dict[str, Any], point: OperatingPoint) -> ControlLaw:
    parameters = facts["parameters"]
    docsis = parameters["form"] == "docsis"
    share = facts["packet"] / parameters["mean_packet"] if parameters["by_size"] or docsis else 1.0
    if parameters["form"] == "linux":
        share = min(share, 1.0)
    return pie.law(
        parameters["alpha"],
        parameters["beta"],
        parameters["t_update"],
        point.capacity,
        point.p,
        lag=parameters["target"] if parameters["delay"] == "timestamps" else 0.0,
        docsis=docsis,
        share=share,
    )


def _pi2(facts: dict[str, Any], point: OperatingPoint) -> ControlLaw | None:
    parameters = facts["parameters"]
    if point.p >= parameters["max_p"]:
        caution(
            f"pi2: the flows need a drop probability of {point.p:.3g}, but max_p is {parameters['max_p']:g}: the queue "
            "stays above its target; no loop is analysed"
        )
        return None
    alpha, beta, period = parameters["alpha"], parameters["beta"], parameters["t_update"]
    return pi2.law(alpha, beta, period, point.capacity, point.p, lag=parameters["target"])


def _own(facts: dict[str, Any], point: OperatingPoint) -> ControlLaw:
    """Linearise the law dp/dt = f(q, p, dq/dt) that a user's own discipline declares, as its timer applies it.

    Every T, p changes by T f, with dq/dt the change of the queue since the last update over T. Between, p is held.
    """
    f, q, p, interval = rate(facts), point.q, point.p, period(facts)
    step, dp = max(1e-4 * q, 1e-6), max(1e-4 * p, 1e-9)
    a = (f(q + step, p, 0.0) - f(q - step, p, 0.0)) / (2 * step)
    b = (f(q, p + dp, 0.0) - f(q, p - dp, 0.0)) / (2 * dp)
    d = (f(q, p, step) - f(q, p, -step)) / (2 * step)
    if a <= 0:
        caution(f"the law has a slope of {a:.3g} over the queue: a longer queue does not raise p")
    derivatives = "a, b and d the derivatives of dp/dt by q, p and dq/dt"
    values = {"a": a, "b": b, "d": d}
    left_out = ("p clipped to [0, 1]",)
    if interval == 0:
        formula = f"(a + d s) / (s - b), with {derivatives}"
        return ControlLaw(formula, values, lambda s: (a + d * s) / (s - b), left_out, rational=((d, a), (1.0, -b)))

    def sampled(s: Any) -> Any:
        change = -np.expm1(-s * interval)
        return (a * interval + d * change) / (change - b * interval * (1 - change)) * change / (s * interval)

    formula = f"(a T + d (1 - z)) / (1 - (1 + b T) z) (1 - z) / (s T), with z = e^(-sT) and {derivatives}"
    return ControlLaw(formula, {**values, "T": interval}, sampled, left_out, delay=interval)


_LAWS: dict[str, Callable[[dict[str, Any], OperatingPoint], ControlLaw | None]] = {
    "lred": _lred,
    "pi": _pi,
    "rem": _rem,
    "red": _red,
    "ared": _red,
    "raqm": _raqm,
    "pie": _pie,
    "pi2": _pi2,
}
