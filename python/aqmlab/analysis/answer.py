"""The answer of an analysis: whether the loop is stable, how far it is from the boundary, why, and what would help.

The boundary is found in the model itself: flows, round trips or gains are changed, and operating point, plant and law
are computed anew, until stability changes. A longer round trip thus also has larger windows and a smaller drop
probability, which the delay margin leaves out.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from math import ceil, degrees, floor, isfinite, log, pi
from textwrap import fill
from typing import TYPE_CHECKING, Any

import numpy as np

from aqmlab.analysis.law import linearised
from aqmlab.analysis.operating_point import DELAY_TARGETS, OperatingPoint, operating_point
from aqmlab.theory.domain import remarks
from aqmlab.theory.laws import ControlLaw
from aqmlab.theory.loop import Loop

if TYPE_CHECKING:
    from aqmlab.analysis.loop import Judged

PLANT = "queue_pole_unmerged"
"""The plant of the answer: the complete linear part of the fluid model."""

_FARTHEST = 50.0
_FINE, _COARSE, _FINE_UP_TO = 1.08, 1.3, 2.0
_HALVINGS = 10
_WIDTH = 110

_GAINS = {"pi": ("a", "b"), "lred": ("beta",), "rem": ("gamma",), "pie": ("alpha", "beta"), "pi2": ("alpha", "beta")}
"""The parameters to which the gain of each law is proportional."""

_UNITS = {"alpha": " Hz", "beta": " Hz"}
"""The units of those of laws with a target delay; the others' are per packet."""


@dataclass(frozen=True)
class Limit:
    """A boundary of stability: the factor on one quantity, above or below 1, at which stability changes.

    `quantity` is ``round_trip`` (s, mean of the classes, queue included), ``flows``, or ``gain``, whose value is a
    factor itself; `now` and `at` are its values now and at the boundary. `parameters` are the gains there, with units.
    """

    quantity: str
    factor: float
    now: float
    at: float
    parameters: dict[str, str]

    @property
    def distance(self) -> float:
        """How far the boundary is, as a ratio."""
        return abs(log(self.factor))


@dataclass(frozen=True)
class Answer:
    """The answer of an analysis.

    Parameters
    ----------
    stable : bool or None
        Whether the loop is stable; None if the AQM has no law to linearise.
    headline : str
        The answer in one sentence, with the nearest boundary.
    why : str
        Its cause.
    change : str
        Other boundaries of a stable loop; what makes an unstable one stable. Empty if nothing was found.
    limits : tuple of Limit
        The boundaries of stability, the nearest first.
    numbers : dict
        The margins of the loop with `PLANT`; empty without a law.
    """

    stable: bool | None
    headline: str
    why: str
    change: str
    limits: tuple[Limit, ...]
    numbers: dict[str, float | None]

    def lines(self) -> list[str]:
        """Return headline, cause and change as lines of text; long ones are wrapped."""
        return [fill(text, _WIDTH, subsequent_indent="  ") for text in (self.headline, self.why, self.change) if text]

    def document(self) -> dict[str, Any]:
        """Return the answer as a dictionary for JSON."""
        return {
            "stable": self.stable,
            "headline": self.headline,
            "why": self.why,
            "change": self.change,
            "plant": PLANT,
            **self.numbers,
            "limits": [
                {"quantity": one.quantity, "now": one.now, "at": one.at, "parameters": one.parameters}
                for one in self.limits
            ],
        }


def find(
    facts: dict[str, Any], at: float, point: OperatingPoint, law: ControlLaw | None, loops: dict[str, Judged]
) -> Answer:
    """Answer from an analysis at the time `at` (s), with the engine's `facts` of the scenario for the fluid model.

    `law` is that at the operating point, or None, and `loops` has the loop with each plant by its name, none without a
    law.
    """
    name = facts["aqm"].rpartition(":")[2]  # of a user's own discipline, the class
    if law is None:
        why = "It has no control law that could be linearised here; the warnings have the reason."
        return Answer(None, f"No answer from linear theory for {name}.", why, "Try `aqmlab fluid`.", (), {})
    judged = loops[PLANT]
    margins = judged.margins
    with remarks():  # those of the scenario itself are made elsewhere
        limits = sorted(_limits(facts, at, point, margins.stable), key=lambda one: one.distance)
    numbers = {
        key: value if isfinite(value) else None
        for key, value in (
            ("phase_margin_deg", margins.phase_margin_deg),
            ("gain_margin", margins.gain_margin),
            ("delay_margin", margins.delay_margin),
        )
    }
    doubt = "" if point.p == point.p_square_root and point.q < facts["buffer"] else " The warnings limit this answer."
    headline = _stable(limits, judged) if margins.stable else _unstable(name, judged)
    return Answer(
        stable=margins.stable,
        headline=headline + doubt,
        why=_why(name, point, law, judged),
        change=_change(limits, stable=margins.stable),
        limits=tuple(limits),
        numbers=numbers,
    )


def _limits(facts: dict[str, Any], at: float, point: OperatingPoint, stable: bool) -> Iterator[Limit]:
    """Find where stability changes: of each quantity the nearest boundary in each direction."""
    total = float(point.flows.count.sum())
    rtt = point.document()["operating_point"]["rtt_mean"]
    gains = _GAINS.get(facts["aqm"], ())
    directions = [("round_trip", 1), ("round_trip", -1), ("flows", 1), ("flows", -1)]
    if gains:
        directions.append(("gain", 1 if stable else -1))
    for quantity, direction in directions:
        farthest = _FARTHEST if quantity != "flows" or direction > 0 else max(total, 1.0)

        def state(factor: float, quantity: str = quantity) -> tuple[bool | None, OperatingPoint | None]:
            return _stability(_changed(facts, quantity, factor, gains), at)

        factor = boundary(lambda factor: state(factor)[0], stable, direction, farthest)
        if factor is None:
            continue
        found = state(factor)[1]
        assert found is not None
        now, there = {
            "round_trip": (rtt, found.document()["operating_point"]["rtt_mean"]),
            "flows": (total, total * factor),
            "gain": (1.0, factor),
        }[quantity]
        units = _UNITS if facts["aqm"] in DELAY_TARGETS else {}
        own = {name: f"{facts['parameters'][name] * factor:.4g}{units.get(name, '')}" for name in gains}
        yield Limit(quantity, factor, now, there, own if quantity == "gain" else {})


def _changed(facts: dict[str, Any], quantity: str, factor: float, gains: tuple[str, ...]) -> dict[str, Any]:
    """Return the facts with a quantity multiplied: the propagation of all classes, their flows, or the gains."""
    if quantity == "gain":
        scaled = {name: facts["parameters"][name] * factor for name in gains}
        return {**facts, "parameters": {**facts["parameters"], **scaled}}
    key = {"round_trip": "rtt", "flows": "flows"}[quantity]
    return {**facts, "classes": [{**class_, key: class_[key] * factor} for class_ in facts["classes"]]}


def _stability(facts: dict[str, Any], at: float) -> tuple[bool | None, OperatingPoint | None]:
    """Return whether a loop is stable, None if there is none, and its operating point."""
    try:
        point = operating_point(facts, at)
        law = linearised(facts, point)
    except ValueError:
        return None, None
    if law is None:
        return None, point
    return Loop(point.plant(queue_pole=True, merged=False), law).margins().stable, point


def boundary(state: Callable[[float], bool | None], stable: bool, direction: int, farthest: float) -> float | None:
    """Find the factor nearest to 1 in a direction at which stability changes.

    Returns the stable side of the boundary; None if nothing changes up to the farthest factor, or the model ends.
    """
    near, step = 1.0, _FINE
    while near < farthest:
        far = min(near * step, farthest)
        found = state(far**direction)
        if found is None:
            return None
        if found != stable:
            break
        near, step = far, _FINE if far < _FINE_UP_TO else _COARSE
    else:
        return None
    for _ in range(_HALVINGS):
        middle = (near * far) ** 0.5
        if state(middle**direction) == stable:
            near = middle
        else:
            far = middle
    return (near if stable else far) ** direction


def _stable(limits: list[Limit], judged: Judged) -> str:
    margins = judged.margins
    text = ", ".join(
        [
            f"phase margin {margins.phase_margin_deg:.3g} deg" if isfinite(margins.phase_margin_deg) else "",
            f"gain margin {margins.gain_margin:.3g}" if isfinite(margins.gain_margin) else "",
        ]
    ).strip(", ")
    nearest = next((one for one in limits if one.quantity != "gain"), None)
    if nearest is None:
        return f"Stable: no round trip or number of flows within a factor of {_FARTHEST:g} is too much ({text})."
    return f"Stable: {_until(nearest)} before the queue oscillates ({text})."


def _until(limit: Limit) -> str:
    """State how far a quantity may move."""
    if limit.quantity == "round_trip":
        more = 1e3 * (limit.at - limit.now)
        moves = f"grow by {more:.3g} ms" if more > 0 else f"shrink by {-more:.3g} ms"
        return f"the round trip of {1e3 * limit.now:.3g} ms may {moves} (to {1e3 * limit.at:.3g} ms)"
    if limit.quantity == "flows":
        grows = limit.factor > 1
        whole = floor(limit.at) if grows else ceil(limit.at)
        return f"the {limit.now:g} flows may {'grow' if grows else 'fall'} to {whole:d}"
    gains = " and ".join(f"{name} to {value}" for name, value in limit.parameters.items())
    return f"{gains.replace(' to ', ' may grow to ', 1)} ({limit.factor:.3g} times)"


def _unstable(name: str, judged: Judged) -> str:
    margins = judged.margins
    period = f" with a period of about {2 * pi / margins.phase_crossover:.3g} s" if margins.phase_crossover > 0 else ""
    cause = (
        f"the gain of {name} is {1 / margins.gain_margin:.3g} times too high"
        if margins.gain_margin
        else "no gain is stable"
    )
    return f"NOT STABLE: the queue oscillates{period}; {cause} for these flows and round trips."


def _why(name: str, point: OperatingPoint, law: ControlLaw, judged: Judged) -> str:
    """Explain the margin by the loop's gain and lag at the frequency at which it would oscillate, or does."""
    document = point.document()["operating_point"]
    load = (
        f"{document['flows']:g} flows with windows of {document['window_mean']:.3g} packets and a round trip of "
        f"{1e3 * document['rtt_mean']:.3g} ms"
    )
    w = judged.margins.phase_crossover
    if not isfinite(w):
        return f"Why: the loop of {load} never lags by 180 degrees."
    s = complex(0.0, w)
    trip = degrees(w * document["rtt_mean"])
    own = -degrees(float(np.angle(complex(law(s)))))
    parts = f"round trip {trip:.0f}, flows and queue {180 - trip - own:.0f}, {name} {round(own):d}"
    table = (
        f" PIE's table multiplies its gains by {law.values['slope']:.3g} at this drop probability."
        if name == "pie"
        else ""
    )
    return (
        f"Why: the loop of {load} lags by 180 degrees at {w:.3g} rad/s ({parts}). Its gain there is "
        f"{1 / judged.margins.gain_margin:.3g}; it must be below 1.{table}"
    )


def _change(limits: list[Limit], stable: bool) -> str:
    if stable:
        nearest = next((one for one in limits if one.quantity != "gain"), None)
        others = [_until(one) for one in limits if one is not nearest]
        return f"Also: {'; '.join(others)}." if others else ""
    options = [_remedy(one) for one in limits]
    return f"Stable with: {'; or '.join(options)}." if options else ""


def _remedy(limit: Limit) -> str:
    if limit.quantity == "gain":
        return " and ".join(f"{name} = {value}" for name, value in limit.parameters.items()) + (
            " or less (half of that leaves a gain margin of 2)"
        )
    bound = "at least" if limit.factor > 1 else "at most"
    if limit.quantity == "flows":
        # Here the stable side is beyond the boundary.
        whole = ceil(limit.at) if limit.factor > 1 else floor(limit.at)
        return f"{bound} {whole:d} flows instead of {limit.now:g}"
    return f"a round trip of {bound} {1e3 * limit.at:.3g} ms instead of {1e3 * limit.now:.3g} ms"
