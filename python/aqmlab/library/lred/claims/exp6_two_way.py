"""Claims of experiment 6 (Figs. 15 and 16): two-way congestion."""

from __future__ import annotations

from functools import partial

import numpy as np
import polars

from aqmlab.library.lred.measures import BUFFER, Q0, Seconds, away, lower, rivals
from aqmlab.papers import Check, Judgement, PerSeed, Runs, Tolerance, claim

_WHERE = "Section 6.3, Experiment 6, "
_WAYS = {"forward": "", "reverse": "bottleneck:reverse."}
_SMALL, _LARGE = {BUFFER: 200.0}, {BUFFER: 400.0}
_NAMED = ("LRED", "PI", "PI*", "REM")
_AXIS = Tolerance(5, "packets", "a fortieth of the figure's axis")
_SECONDS = Tolerance(5, "s", "a twentieth of the figure's axis")


def _peak(runs: Runs, label: str, at: dict[str, float], link: str = "") -> PerSeed:
    return runs.from_series(label, lambda frame: Seconds(frame, link).overshoot(), at, unit="packets")


def _late(runs: Runs, label: str, at: dict[str, float]) -> PerSeed:
    """Return the end of the first time above q0 + 20 packets (s)."""

    def end(frame: polars.DataFrame) -> float:
        high = Seconds(frame).queue > 1.2 * Q0
        first = int(np.argmax(high)) if high.any() else 0
        return float(first + np.argmin(np.append(high[first:], False)))

    return runs.from_series(label, end, at, unit="s")


@claim(
    quote="all the AQM schemes have noticeable overshoots in this case",
    where=_WHERE + "Fig. 15",
    tolerance=Tolerance(20, "packets", "noticeable: a tenth of the figure's axis"),
    shown="fig15",
)
def two_way_overshoot(exp6: Runs, *, tolerance: Tolerance) -> Judgement:
    """With congestion in both directions every scheme overshoots noticeably."""
    checks = [
        Check.of(f"overshoot of {label}, {way}, Q = 200", _peak(exp6, label, _SMALL, link), least=tolerance.value)
        for way, link in _WAYS.items()
        for label in _NAMED
    ]
    return Judgement(checks, "All flows start within a second, at p = 0.")


@claim(
    quote="yet LRED controls the queue length better than others",
    where=_WHERE + "Figs. 15 and 16",
    tolerance=_AXIS,
    shown="fig15 fig16",
)
def two_way_best(exp6: Runs, *, tolerance: Tolerance) -> Judgement:
    """With congestion in both directions LRED controls the queues better than PI, PI* and REM."""
    parts: list[Check] = []
    beside: list[Check] = []
    for buffer in exp6.points(BUFFER):
        for way, link in _WAYS.items():
            read = partial(away, exp6, at={BUFFER: buffer}, begin=0, end=exp6.duration, link=link)
            words = f"|queue - q0|, {way}, Q = {buffer:g}"
            parts += lower(words, read, rivals(exp6), tolerance)
            beside += lower(words, read, ["REM (36)"], tolerance)
    return Judgement(
        parts, "The slower a scheme finds its p, the longer the start's overload fills the buffer.", beside
    )


@claim(
    quote="The forward traffic that consists of persistent TCP flows is influenced more noticeably",
    where=_WHERE + "Fig. 15",
    tolerance=Tolerance(1, "s", "means of 1 s are counted"),
    shown="fig15",
)
def two_way_forward(exp6: Runs, *, tolerance: Tolerance) -> Judgement:
    """The forward direction, of long flows, is influenced more than the reverse one: it overflows for longer."""

    def full(label: str, link: str) -> PerSeed:
        return exp6.from_series(label, lambda frame: float((Seconds(frame, link).queue >= 180).sum()), _SMALL, unit="s")

    parts = [
        Check.better(
            f"seconds with a full buffer of {label}, forward minus reverse, Q = 200",
            full(label, _WAYS["forward"]),
            full(label, _WAYS["reverse"]),
            "higher",
            tolerance,
        )
        for label in _NAMED
    ]
    beside = []
    for label in _NAMED:
        for words, read in (("overshoot", _peak), ("|queue - q0|", lambda *a: away(a[0], a[1], a[2], 0, 100, a[3]))):
            forward, reverse = (read(exp6, label, _SMALL, link) for link in _WAYS.values())
            effect = f"{words} of {label}, forward minus reverse"
            beside.append(Check.better(effect, forward, reverse, "higher", _AXIS))
    losses = [
        exp6.per_seed(f"links.{link}.loss_ratio", "LRED", _SMALL) for link in ("bottleneck", "bottleneck:reverse")
    ]
    return Judgement(
        parts,
        f"With LRED the forward direction loses {losses[0]:.3g} %, the other {losses[1]:.3g} %, with 200 slow starts a "
        "second. The more loss is needed, the later an integrator is there.",
        beside,
    )


@claim(
    quote="both PI and PI* still show slower response",
    where=_WHERE + "Fig. 16",
    tolerance=_SECONDS,
    shown="fig16",
)
def two_way_slow(exp6: Runs, *, tolerance: Tolerance) -> Judgement:
    """With a buffer of 400 packets PI and PI* respond more slowly than LRED."""
    late = {label: _late(exp6, label, _LARGE) for label in ("LRED", "PI", "PI*")}
    effect = "end of the first time above q0 + 20 packets, {} minus LRED"
    return Judgement(
        [Check.better(effect.format(one), late[one], late["LRED"], "higher", tolerance) for one in ("PI", "PI*")],
        "Forward. All climb from p = 0, PI with 0.003 a second while 400 packets wait.",
    )


@claim(
    quote="and bigger overshoot",
    where=_WHERE + "Fig. 16",
    tolerance=_AXIS,
    shown="fig16",
)
def two_way_bigger(exp6: Runs, *, tolerance: Tolerance) -> Judgement:
    """With a buffer of 400 packets PI and PI* overshoot more than LRED."""
    peaks = {label: _peak(exp6, label, _LARGE) for label in ("LRED", "PI", "PI*")}
    return Judgement(
        [
            Check.better(f"overshoot of {one} minus that of LRED", peaks[one], peaks["LRED"], "higher", tolerance)
            for one in ("PI", "PI*")
        ],
        "LRED has L = 0 until the first period ends, and overflows too.",
    )


@claim(
    quote="Although REM responds more quickly",
    where=_WHERE + "Fig. 16",
    tolerance=_SECONDS,
    shown="fig16",
)
def two_way_rem(exp6: Runs, *, tolerance: Tolerance) -> Judgement:
    """With a buffer of 400 packets REM responds sooner than PI and PI*."""

    def sooner(label: str) -> list[Check]:
        mine = _late(exp6, label, _LARGE)
        effect = f"end of the first time above q0 + 20 packets, {label} minus "
        return [Check.better(effect + one, mine, _late(exp6, one, _LARGE), "lower", tolerance) for one in ("PI", "PI*")]

    return Judgement(sooner("REM"), "REM climbs five times as fast as PI.", sooner("REM (36)"))


@claim(
    quote="its queue length is often below the expected value (100)",
    where=_WHERE + "Fig. 16",
    tolerance=Tolerance(60, "%", "often: more than the half that any queue about its target has"),
    shown="fig16",
)
def two_way_rem_below(exp6: Runs, *, tolerance: Tolerance) -> Judgement:
    """With a buffer of 400 packets REM's queue is often below its target."""

    def below(frame: polars.DataFrame) -> float:
        return float(100 * (Seconds(frame).during(20, 100) < Q0).mean())

    shares = {label: exp6.from_series(label, below, _LARGE, unit="%") for label in ("REM", "REM (36)", "LRED")}
    parts = [
        Check.of(f"seconds in which the queue of {one} is below q0", share, least=tolerance.value)
        for one, share in shares.items()
    ]
    return Judgement(
        parts[:1],
        "ns-2's REM counts the packets that it drops, and rests (c / alpha) l / (1 - l) below its target, (36) at it.",
        parts[1:],
    )


@claim(
    quote="leading to lower goodput",
    where=_WHERE + "Fig. 16",
    tolerance=Tolerance(0.05, "Mbit/s", "0.5 % of the link"),
    shown="fig16",
)
def two_way_rem_goodput(exp6: Runs, *, tolerance: Tolerance) -> Judgement:
    """That costs REM goodput."""
    parts, beside = (
        exp6.compare("classes.long.goodput", label, ["LRED"], better="lower", tolerance=tolerance, at=_LARGE)
        for label in ("REM", "REM (36)")
    )
    empty = exp6.per_seed("queue_empty", "REM", _LARGE)
    return Judgement(parts, f"REM's queue is empty for {empty:.2g} % of the time.", beside)
