"""The operating point of a scenario: the equilibrium of flows and queue in the fluid model."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import brentq

from aqmlab.own.law import rate
from aqmlab.text import columns, printable
from aqmlab.theory.domain import caution
from aqmlab.theory.laws import Ramp
from aqmlab.theory.loop import Plant
from aqmlab.theory.tcp import equilibrium_loss, padhye

Array = NDArray[np.float64]

LEAST_WINDOW = 2.0
"""Below this window (packets) time-outs dominate, and the loss is Padhye's instead of the square-root law's."""


DELAY_TARGETS = ("pie", "pi2")
"""The algorithms whose target is a queueing delay."""


@dataclass(frozen=True)
class Flows:
    """The classes of flows that are present, and the link that they share.

    For each class: its traffic entry (`entries`), the number of its flows (`count`), its packet size divided by the
    link's usual one (`size`), its round-trip time without the queue (`propagation`, s), its packets per ACK (`acked`)
    and its least time-out (`min_rto`, s). `capacity` and `load`, the part of it taken by unresponsive traffic,
    are in packets/s.
    """

    entries: tuple[str, ...]
    count: Array
    size: Array
    propagation: Array
    acked: Array
    min_rto: Array
    capacity: float
    load: float

    def square_root(self, q: float) -> float:
        """Return the drop probability at queue `q` (packets) by LRED's (6), for several classes; it may be above 1.

        No remark is made on its validity.
        """
        unit = float(
            np.sum(self.count * self.size * np.sqrt(1.5 / self.acked) / (self.propagation + q / self.capacity))
        )
        return (unit / (self.capacity - self.load)) ** 2

    def padhye(self, q: float) -> float:
        """Return the drop probability at queue `q` (packets) with time-outs; NaN if the flows cannot fill the link."""
        rtt = self.propagation + q / self.capacity
        timer = np.maximum(self.min_rto, rtt)  # a time-out is never shorter than its round trip

        try:
            return equilibrium_loss(
                self.count * self.size,
                rtt,
                self.capacity - self.load,
                lambda p, rtt: padhye(p, rtt, timer, self.acked),
            )
        except ValueError:
            return float("nan")

    def windows(self, q: float) -> Array:
        """Return the window (packets) of each class at queue `q` (packets) by (6)."""
        return np.asarray(np.sqrt(1.5 / self.acked / self.square_root(q)))

    def drop_probability(self, q: float) -> float:
        """Return the drop probability to use at queue `q` (packets): by (6) if windows allow it, otherwise Padhye's.

        If Padhye's is NaN, (6) is used.
        """
        p = self.square_root(q) if self.windows(q).min() >= LEAST_WINDOW else self.padhye(q)
        return p if np.isfinite(p) else self.square_root(q)


@dataclass(frozen=True)
class OperatingPoint:
    """The operating point of flows and queue.

    The plant and the law are linearised at queue `q` (packets) and drop probability `p`. `p_square_root` is the
    probability by LRED's (6), for several classes. `p_padhye` is the one with time-outs, NaN if the flows cannot fill
    the link. `ramp` is RED's drop function if the queue is on it.
    """

    flows: Flows
    q: float
    p: float
    p_square_root: float
    p_padhye: float
    ramp: Ramp | None = None

    @property
    def capacity(self) -> float:
        """The link's capacity (packets/s)."""
        return self.flows.capacity

    @property
    def rtt(self) -> Array:
        """The round-trip time of each class with the queue (s)."""
        return np.asarray(self.flows.propagation + self.q / self.capacity)

    def plant(self, queue_pole: bool, merged: bool) -> Plant:
        """Linearise flows and queue: around (6) or, where time-outs dominate, around Padhye's loss.

        Without `queue_pole` the queue is an integrator. If `merged` is true, w(t-R) is taken to be w(t).
        """
        flows, rtt = self.flows, self.rtt
        p = None if self.p == self.p_square_root else self.p
        number, eta = flows.count * flows.size, 1.5 / flows.acked
        return Plant(number, rtt, flows.capacity, eta, queue_pole, merged, flows.load, p, pace=1 / flows.acked)

    def document(self) -> dict[str, Any]:
        """Return ``operating_point`` and ``classes`` as a dictionary for JSON."""
        flows = self.flows
        windows, rtt = flows.windows(self.q), self.rtt
        rates = flows.count * windows / rtt
        share = flows.count * flows.size * windows / rtt
        return {
            "operating_point": {
                "queue": self.q,
                "capacity": flows.capacity,
                "load": flows.load,
                "flows": float(flows.count.sum()),
                "rtt_mean": float(share.sum() / np.sum(share / rtt)),
                "window_mean": float(np.sum(flows.count * windows) / flows.count.sum()),
                "p_square_root": self.p_square_root,
                "p_padhye": self.p_padhye if np.isfinite(self.p_padhye) else None,
                "p0": self.p,
            },
            "classes": [
                {"entry": entry, "flows": float(n), "rtt": float(r), "window": float(w), "rate": float(x)}
                for entry, n, r, w, x in zip(flows.entries, flows.count, rtt, windows, rates, strict=True)
            ],
        }

    def lines(self) -> list[str]:
        """Lay out the operating point as lines of text."""
        document = self.document()
        point = document["operating_point"]
        padhye = "-" if point["p_padhye"] is None else f"{point['p_padhye']:.4g}"
        taken = f", {point['load']:.4g} of them unresponsive" if point["load"] else ""
        rows = [["Flows", "", "Round trip", "Window", "Rate"], ["", "", "s", "packets", "packets/s"]]
        rows += [
            [
                printable(class_["entry"]),
                f"{class_['flows']:g}",
                f"{class_['rtt']:.4g}",
                f"{class_['window']:.4g}",
                f"{class_['rate']:.4g}",
            ]
            for class_ in document["classes"]
        ]
        return [
            f"Queue {point['queue']:.4g} packets, link {point['capacity']:.5g} packets/s{taken}",
            f"Drop probability {point['p_square_root']:.4g} by the square-root law (6), {padhye} by Padhye's; "
            f"linearised at {point['p0']:.4g}",
            "",
            columns(rows),
        ]


def operating_point(facts: dict[str, Any], at: float) -> OperatingPoint:
    """Find the operating point of a scenario with the flows and load at time `at` (s).

    `facts` is the engine's description of the scenario for the fluid model. Raise ValueError if no long-lived TCP flow
    is present at that time, or unresponsive traffic fills the link.
    """
    flows = _flows(facts, at)
    q, ramp = _queue(facts, flows)
    p, with_time_outs = flows.square_root(q), flows.padhye(q)
    chosen = flows.drop_probability(q)
    if chosen != p:
        least = f"windows of {flows.windows(q).min():.3g} packets: below {LEAST_WINDOW:g}, time-outs dominate"
        caution(
            f"{least}; (6) leaves them out and gives p0 = {p:.3g}; plant and law are linearised at Padhye's loss "
            f"{chosen:.3g}, the plant by rule of thumb"
        )
    if np.isnan(with_time_outs):
        caution("by Padhye's model, with time-outs, these flows cannot fill the link: the queue stays below its target")
    for class_ in facts["classes"]:
        most, w = class_["max_window"], float(flows.windows(q).max())
        if class_["entry"] in flows.entries and w > most:
            caution(
                f"{class_['entry']}: a window of {w:.3g} packets is above max_window, {most:g}; the model has no limit"
            )
            break
    return OperatingPoint(flows, q, chosen, p, with_time_outs, ramp)


def _flows(facts: dict[str, Any], at: float) -> Flows:
    """Select the flows present at time `at`."""
    present = [
        class_ for class_ in facts["classes"] if _is_active(class_["start"], class_["stop"], at) and class_["flows"] > 0
    ]
    entries = {class_["entry"] for class_ in facts["classes"]}
    if not present:
        reason = f"none of {', '.join(sorted(entries))} is active at {at:g} s" if entries else "the scenario has none"
        raise ValueError(f"no long-lived TCP flow to analyse: {reason}")
    if absent := sorted(entries - {class_["entry"] for class_ in present}):
        caution(f"{', '.join(absent)}: not active at {at:g} s, left out")
    if facts["short"]:
        names = ", ".join(dict.fromkeys(short["entry"] for short in facts["short"]))
        caution(f"{names}: flows that come and go, left out")
    if any(np.any(class_.get("lost") or 0) for class_ in present):
        caution("random losses on other links: left out; they add to the AQM's")
    usual, capacity = facts["packet"], facts["capacity"]
    if facts["aqm"] == "avq":
        capacity *= facts["parameters"]["gamma"]
    load = sum(source["rate"] / (8 * usual) for source in facts["load"] if source["from"] <= at < source["to"])
    if load >= capacity:
        raise ValueError(
            f"unresponsive traffic, {load:.4g} packets/s, fills the link of {capacity:.4g}: no capacity is left for TCP"
        )
    return Flows(
        entries=tuple(class_["entry"] for class_ in present),
        count=_each(present, "flows"),
        size=_each(present, "packet") / usual,
        propagation=_each(present, "rtt"),
        acked=_each(present, "acked"),
        min_rto=_each(present, "min_rto"),
        capacity=capacity,
        load=load,
    )


def _is_active(start: float | list[float], stop: float | None, at: float) -> bool:
    """Return whether all flows of a class have started and none has stopped."""
    return bool(np.max(start) <= at) and (stop is None or at < stop)


def _each(classes: list[dict[str, Any]], key: str) -> Array:
    return np.asarray([class_[key] for class_ in classes], dtype=float)


def _queue(facts: dict[str, Any], flows: Flows) -> tuple[float, Ramp | None]:
    """Find the queue at which the AQM's drop probability equals the flows'."""
    name, parameters = facts["aqm"], facts["parameters"]
    full = facts["buffer"]
    if name in ("red", "ared"):
        return _on_ramp(name, parameters, flows, full)
    if facts["source"]:
        return _at_rest(facts, flows, full), None
    target = parameters["target"] * flows.capacity if name in DELAY_TARGETS else facts["target"]
    if target is not None:
        if target >= full:
            caution(
                f"{name}: its target, {target:.4g} packets, is not below the buffer's {full:.4g}: the queue "
                "overflows before reaching it; point and loop are those of a longer buffer"
            )
        if name in DELAY_TARGETS and target < 2:
            caution(f"{name}: its target is {target:.3g} packets, but two may always wait: the queue stays above it")
        return float(target), None
    if name == "avq":
        caution("avq: the real queue is short; the operating point is that of an empty queue, at gamma of the capacity")
        return 0.0, None
    if name == "droptail":
        return float(full), None
    caution(f"{name} has no target queue: half of the buffer is assumed")
    return full / 2, None


def _at_rest(facts: dict[str, Any], flows: Flows, full: float) -> float:
    """Find the queue at which the law of a user's own discipline keeps the drop probability that the flows need."""
    f = rate(facts)

    def moves(q: float) -> float:
        return f(q, min(flows.drop_probability(q), 1.0), 0.0)

    low = 1e-6 * full
    if moves(low) < 0 < moves(full):
        return float(brentq(moves, low, full, xtol=1e-9))
    where = "a full buffer" if moves(full) <= 0 else "an empty queue"
    caution(f"the law of p has no equilibrium with these flows below the buffer; {where} is assumed")
    return full if moves(full) <= 0 else 0.0


def _on_ramp(name: str, parameters: dict[str, Any], flows: Flows, full: float) -> tuple[float, Ramp | None]:
    """Find the queue at which RED's ramp and the flows agree; adaptive RED moves its ramp to make that half-way up."""
    ramp = Ramp(
        parameters["min_th"], parameters["max_th"], parameters["max_p"], parameters["gentle"], parameters["spacing"]
    )
    if name == "ared":
        ramp = _adapted(ramp, parameters, flows)
    top = min(2 * ramp.max_th if ramp.gentle else ramp.max_th, full)
    for loss, least in ((flows.square_root, LEAST_WINDOW), (flows.padhye, 0.0)):
        q = _meeting(loss, ramp, top)
        if q is not None and flows.windows(q).min() >= least:
            return q, ramp
    if top < full:
        caution(f"{name}: at {top:.4g} packets p jumps from less than the flows need to 1: the queue swings around it")
    else:
        caution(
            f"{name}: up to the buffer, {full:.4g} packets, it drops less than the flows need; the buffer is the limit"
        )
    return top, None


def _meeting(loss: Callable[[float], float], ramp: Ramp, top: float) -> float | None:
    """Find the queue at which a falling loss equals the ramp's rising drop ratio; None if there is none."""

    def excess(q: float) -> float:
        return loss(q) - ramp.ratio(q)

    low, high = ramp.min_th, top * (1 - 1e-9)
    if not (low < high and excess(low) > 0 > excess(high)):
        return None
    return float(brentq(excess, low, high, xtol=1e-10))


def _adapted(ramp: Ramp, parameters: dict[str, Any], flows: Flows) -> Ramp:
    """Set max_p to put the queue half-way between the thresholds, as far as its bounds allow."""
    wanted = flows.drop_probability((ramp.min_th + ramp.max_th) / 2)
    called_for = ramp.base(wanted)
    max_p = float(np.clip(2 * called_for, parameters["bottom"], parameters["top"]))
    if max_p != 2 * called_for:
        caution(f"ared: max_p would have to be {2 * called_for:.3g}, but its bound is {max_p:g}")
    return Ramp(ramp.min_th, ramp.max_th, max_p, ramp.gentle, ramp.spacing)
