"""Claims of experiment 1 (Fig. 5) and section 5.2: response times over the load and the buffer."""

import math
from collections.abc import Sequence
from functools import partial
from itertools import pairwise
from typing import Any

import polars

from aqmlab.theory import rem
from aqmlab_papers import At, Check, Effect, Judgement, PerSeed, Runs, Tolerance, claim, ours, tolerance
from aqmlab_papers.describe.thresholds import TIME
from aqmlab_papers.lred.measures import BUFFER, COUNT, MUCH, much_lower, rivals
from aqmlab_papers.lred.theory import FREQUENCY, PI_GAINS, response_bound
from aqmlab_papers.theory import lred

END = 400.0
"""The end of PI's runs (s), which are longer than the others'."""
_WHERE = "Section 6.1, Experiment 1, Fig. 5"
_MORE = Tolerance(TIME.value / 100, "", "of the bound, as times are compared", negligible=True)
_EACH = (COUNT, "{:g} flows")


def whole(runs: Runs, label: str) -> float:
    """Return the duration (s) of a discipline's runs, with which a queue that never settles counts."""
    return END if label == "PI" else runs.duration


def _response(runs: Runs) -> polars.Expr:
    ends = polars.col("aqm").replace_strict({label: whole(runs, label) for label in runs.labels})
    return polars.col("response_time").fill_null(ends).alias("response time")


def _time(runs: Runs, label: str, at: At | None = None) -> PerSeed:
    return runs.per_seed(_response(runs), label, at, unit="s")


def _sooner(runs: Runs, one: str, others: Sequence[str], tolerance: Tolerance, **points: Any) -> list[Check]:
    """Check that a discipline responds sooner than others."""
    return runs.compare(_response(runs), one, others, better="lower", tolerance=tolerance, unit="s", **points)


def _slope(runs: Runs, label: str) -> PerSeed:
    """Return the slope of response time over loss ratio (s per unit of loss)."""
    return runs.slope(_response(runs), "loss_ratio", label, unit="s")


def _over_bound(exp1: Runs, label: str, count: int, runs: Runs | None = None) -> PerSeed:
    """Return response time over its bound, for the loss that holds the queue at its target: LRED's."""
    needed = exp1.per_seed("loss_ratio", "LRED", {COUNT: count}, unit="")
    bound = needed.each(lambda loss: response_bound(label, loss, count), "s")
    return _time(runs or exp1, label, {COUNT: count}) / bound


def _mismatch(exp1: Runs, label: str, count: int, runs: Runs | None = None) -> PerSeed:
    """Return the distance of response time over bound from 1."""
    return abs(_over_bound(exp1, label, count, runs) - 1)


def _high(runs: Runs) -> list[int]:
    """Return the loads of 600 flows and more, the upper half."""
    return [count for count in runs.points(COUNT) if count >= 600]


@claim("the response time of LRED is generally lower than other schemes", _WHERE, "fig5", comparative=True)
@tolerance(TIME)
def fastest(exp1: Runs, exp1_pistar: Runs | None = None, *, tolerance: Tolerance) -> Judgement:
    """LRED's response time is generally shorter than that of PI, PI* and REM."""
    runs = exp1 | exp1_pistar
    parts, beside = (
        _sooner(runs, "LRED", others, tolerance, each=_EACH)
        for others in (rivals(runs), [label for label in ("REM (36)",) if label in runs.labels])
    )
    means = ", ".join(f"{label} {_time(runs, label):.3g} s" for label in runs.labels)
    why = (
        f"Means over the loads: {means}. LRED's estimate is right after a few periods of 1 s, however much is lost, "
        "while PI and REM climb to the new probability in small steps. PI* climbs as they do, but from 300 flows on "
        "its gain, made for the load, is more than thirty times PI's, and there it is the faster one."
    )
    return Judgement(parts, why, beside, need=0.8)


@claim("the gaps between LRED and other schemes under a high loss ratio are pretty significant", _WHERE, "fig5")
@tolerance(MUCH)
def high_gap(exp1: Runs, exp1_pistar: Runs | None = None) -> Judgement:
    """At high loss, from 600 flows on, LRED responds in at most half the time of PI, PI* and REM."""
    runs = exp1 | exp1_pistar

    def mean(label: str) -> PerSeed:
        return PerSeed.average(_time(runs, label, {COUNT: count}) for count in _high(exp1))

    return Judgement(
        much_lower("response time, from 600 flows on", mean, rivals(runs)),
        "While the buffer is full PI's and REM's integrators climb at a constant rate, and so take the longer the "
        f"more loss is needed. PI*'s integral gain is 45 to 190 times PI's at these loads: it takes {mean('PI*'):.3g} "
        f"s, LRED {mean('LRED'):.3g} s.",
    )


@claim("it is nearly independent of the packet loss ratio", "Sections 5.2, 6.1 and 6.4, Fig. 5", "fig5")
@tolerance(50, "s", "a quarter of the slope of REM's bound, the smaller of the two: 200 s a unit of loss")
def flat(exp1: Runs, *, tolerance: Tolerance) -> Judgement:
    """LRED's response time is nearly independent of the loss ratio."""
    light, *_, heavy = ({COUNT: count} for count in exp1.points(COUNT))
    times = {count: _time(exp1, "LRED", {COUNT: count}) for count in exp1.points(COUNT)}
    ends = [_time(exp1, "LRED", at) for at in (light, heavy)]
    shortest = min(times, key=lambda count: times[count].mean)
    slope = _slope(exp1, "LRED")
    part = (ends[1] - ends[0]) / (_time(exp1, "PI", heavy) - _time(exp1, "PI", light))
    return Judgement(
        [
            Effect("slope of LRED's response time over the loss ratio, per unit").of(
                slope, least=-tolerance.value, most=tolerance.value
            )
        ],
        f"LRED's times fall from {ends[0].mean:.3g} s at the lightest load to {times[shortest].mean:.3g} s with "
        f"{shortest:g} flows and rise to {ends[1].mean:.3g} s at the heaviest, where flows wait for time-outs. The "
        f"line through all loads has {slope} a unit of loss, too near to decide to the 50 s that count, a quarter of "
        "the slope of REM's bound. Beside PI's change, with which it is compared beside, LRED's is small.",
        beside=[
            Effect("change from the lightest load to the heaviest, LRED's over PI's").of(part, least=-0.1, most=0.1)
        ],
    )


@claim(
    "the response times of PI or REM increase, for both simulated and analytical results",
    "Sections 5.2, 6.1 and 6.4, Fig. 5",
    "fig5",
)
@tolerance(50, "%", "half of the bounds' slopes: 980 s a unit of loss for PI, 200 s for REM")
def growing(exp1: Runs, *, tolerance: Tolerance) -> Judgement:
    """The response times of PI and REM grow with the loss ratio."""
    slopes = {"PI": 1 / ((PI_GAINS[0] - PI_GAINS[1]) * 100 * FREQUENCY), "REM": float(rem.response_bound(0.5)) * 2}
    slopes["REM (36)"] = slopes["REM"]
    parts = [
        Effect(f"slope of {label}'s response time over that of its bound").of(
            _slope(exp1, label) * (100 / slope), unit="%", least=tolerance.value
        )
        for label, slope in slopes.items()
    ]
    return Judgement(
        parts[:2], "While the buffer is full p climbs at a constant rate: the more is needed, the longer.", parts[2:]
    )


@claim("The lower bound of the response time", "Section 5.2, (34), (40)", "fig5")
def bounds_hold(exp1: Runs) -> Judgement:
    """(34) and (40) are lower bounds of the response times of PI and REM, in every run."""
    parts, beside = (
        [
            Effect(f"{label}'s response time over its bound, {count} flows, the least of {len(known)} runs").exact(
                min(known, default=math.nan), least=1
            )
            for label in labels
            for count in exp1.points(COUNT)
            for known in (_over_bound(exp1, label, count).known,)
        ]
        for labels in (("PI", "REM (36)"), ("REM",))
    )
    return Judgement(
        parts,
        "The bounds are for the loss with which LRED holds the queue. They assume a full buffer, the fastest climb "
        "that PI and REM can have. (40) follows from (36), and so is judged for the REM of (36); ns-2's is beside it.",
        beside,
    )


@claim("mismatches ... for PI and REM are relatively small, especially with high loss ratios", _WHERE, "fig5")
@tolerance(0.5, "", "the paper has no number for relatively small: within half of the bound")
def bounds_close(exp1: Runs, *, tolerance: Tolerance) -> Judgement:
    """Simulated response times of PI and REM are close to their bounds, above all at high loss."""
    high = _high(exp1)
    low = [count for count in exp1.points(COUNT) if count not in high]

    def close(label: str) -> list[Check]:
        return [
            Effect(f"{label}'s response time over its bound, less 1, {count} flows").of(
                _over_bound(exp1, label, count) - 1, least=-tolerance.value, most=tolerance.value
            )
            for count in exp1.points(COUNT)
        ]

    def closer(label: str) -> Check:
        few, many = (PerSeed.average(_mismatch(exp1, label, count) for count in counts) for counts in (low, high))
        effect = f"{label}'s response time over its bound: distance from 1, from 600 flows on minus below"
        return Effect(effect).better(many, few, "lower", _MORE)

    parts, beside = (
        [check for label in labels for check in (*close(label), closer(label))]
        for labels in (("PI", "REM"), ("REM (36)",))
    )
    return Judgement(
        parts,
        "The bounds count only the climb while the buffer is full; in the simulation the queue must then fall to its "
        "target and stay near it. That takes long in comparison where the climb is short: with REM, whose bound is a "
        "fifth of PI's, no load is within half of the bound, and with PI some loads from 400 flows on are, while "
        "others are too near to half. Both are closer at high loss; (40) is for the REM of (36), which is beside.",
        beside,
    )


@claim("PI* however has a big mismatch between its simulated and analytical results", _WHERE, "fig5")
@tolerance(0.5, "", "what counts as small for PI and REM")
def pistar_gap(exp1: Runs, exp1_pistar: Runs, *, tolerance: Tolerance) -> Judgement:
    """PI*'s response times are far from its bound."""
    parts, beside = [], []
    for count in exp1.points(COUNT):
        effect = f"PI*'s response time over its bound, {count} flows: distance from 1"
        own = _mismatch(exp1, "PI*", count, exp1_pistar)
        parts.append(Effect(effect).of(own, least=tolerance.value))
        beside += [
            Effect(f"{effect}, minus that of {label}").better(own, _mismatch(exp1, label, count), "higher", _MORE)
            for label in ("PI", "REM")
        ]
    bounds = [
        exp1.per_seed("loss_ratio", "LRED", {COUNT: count}, unit="").each(partial(response_bound, "PI*", count=count))
        for count in exp1.points(COUNT)
    ]
    shortest = min(bound.mean for bound in bounds)
    return Judgement(
        parts,
        f"With 100 flows PI*'s gain, and so its bound, {bounds[0].mean:.3g} s, is about PI's, and its mismatch too. "
        f"With more flows the bound falls to as little as {shortest:.2g} s, as the gain is large, and then the time in "
        "which the queue comes back and settles counts for more than the climb; part of it is ours, as flows start "
        "within 1 s and times are told by the second. Compared with PI's mismatch, beside, PI*'s is the larger one at "
        "most loads; compared with REM's, which is large too, at hardly any.",
        beside,
    )


@claim("it has faster response than PI using the default parameters", _WHERE, "fig5")
@tolerance(TIME)
def pistar_faster(exp1: Runs, exp1_pistar: Runs, *, tolerance: Tolerance) -> Judgement:
    """PI* responds faster than PI, from 200 flows on."""
    runs = exp1 | exp1_pistar
    parts, beside = (
        [
            check
            for count in exp1.points(COUNT)
            if (count > 100) is larger
            for check in _sooner(
                runs, "PI*", ["PI"], tolerance, at={COUNT: count}, name=f"response time, {count} flows,"
            )
        ]
        for larger in (True, False)
    )
    return Judgement(
        parts,
        "From 200 flows on PI*'s integral gain is 9 to 190 times PI's. For 100 flows it is 1.1 times as large, so that "
        "nothing can differ: that load is beside.",
        beside,
    )


@claim(
    "When buffer size Q is small, the responsiveness of PI and REM becomes worse as well",
    "Section 5.2, (34), (40)",
    "buffer-response",
)
@tolerance(TIME)
def smaller_buffer(small_buffers: Runs, *, tolerance: Tolerance) -> Judgement:
    """A smaller buffer makes PI and REM slower."""
    sizes = small_buffers.points(BUFFER)

    def parts(*labels: str) -> list[Check]:
        return [
            Effect(f"response time of {label}, Q = {less:g} minus {more:g} packets").better(
                _time(small_buffers, label, {BUFFER: less}),
                _time(small_buffers, label, {BUFFER: more}),
                "higher",
                tolerance,
            )
            for label in labels
            for less, more in pairwise(sizes)
        ]

    return Judgement(
        parts("PI", "REM (36)"),
        "PI, which is slower at each step, and the REM of (36) climb in proportion to Q - q0, the error with a full "
        "buffer; the times of REM scatter too much between seeds to decide. ns-2's REM, beside, counts the arrivals, "
        "which a small buffer does not limit. Buffers of less than 150 packets are left out: a full one of 120 would "
        "count as settled.",
        parts("REM", "LRED"),
    )


@ours("Section 7 leaves LRED's response time in numbers to the future", "fig5")
@tolerance(5, "s", "the time for which a queue has to stay near its target")
def response_law(exp1: Runs, *, tolerance: Tolerance) -> Judgement:
    """LRED's response time is no longer than its recursion predicts from a start that loses half of all packets."""
    checks = []
    for count in exp1.points(COUNT):
        loss = exp1.per_seed("loss_ratio", "LRED", {COUNT: count}, unit="").mean
        effect = f"response time less the prediction, {count} flows"
        checks.append(
            Effect(effect).of(_time(exp1, "LRED", {COUNT: count}) - lred.cold_start(loss), most=tolerance.value)
        )
    return Judgement(
        checks,
        "At the heaviest loads LRED takes about as long as predicted, or longer, too near the 5 s to decide. "
        "The recursion leaves out time-outs: after an overload flows wait for timers that have doubled.",
    )
