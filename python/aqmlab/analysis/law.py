"""The control law of a scenario's AQM, linearised at an operating point."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from aqmlab.analysis.operating_point import OperatingPoint
from aqmlab.own.law import rate
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
    """Linearise the law dp/dt = f(q, p) that a user's own discipline declares."""
    f, q, p = rate(facts), point.q, point.p
    dq, dp = max(1e-4 * q, 1e-6), max(1e-4 * p, 1e-9)
    a = (f(q + dq, p) - f(q - dq, p)) / (2 * dq)
    b = (f(q, p + dp) - f(q, p - dp)) / (2 * dp)
    if a <= 0:
        caution(f"the law has a slope of {a:.3g} over the queue: a longer queue does not raise p")
    left_out = ("p clipped to [0, 1]", "the time between two updates of p")
    formula = "a / (s - b), with a and b the derivatives of dp/dt by q and p"
    return ControlLaw(formula, {"a": a, "b": b}, lambda s: a / (s - b), left_out, rational=((a,), (1.0, -b)))


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
