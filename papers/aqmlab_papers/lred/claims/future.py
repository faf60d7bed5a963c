"""Claims on the future work that the authors list: marks, traces and noise, priorities, short flows."""

import math
from functools import cache, partial

import numpy as np

from aqmlab_papers import Effect, Judgement, Runs, Tolerance, ours, tolerance
from aqmlab_papers.describe.thresholds import DEVIATION, GOODPUT, TIME
from aqmlab_papers.lred.measures import ARRIVALS, BAND, COUNT, HURST, OFF, OFF_TARGET, Q0, WEIGHTS, rivals
from aqmlab_papers.theory.short_flows import Shorts, equilibrium

_DROPS, _MARKS, _PI_MARKS = "LRED", "LRED, marks", "PI, marks"
_EQUAL = "1 : 1 : 1"
_FLOWS = (COUNT, "{:g} flows")
_MARKS_WHERE = "Section 7 leaves marks instead of drops to the future"
_NOISE_WHERE = "Sections 6.2 and 7 leave traces and fractional Gaussian noise to the future"
_PRIORITIES_WHERE = "Section 7 leaves priorities to the future"


@ours(_MARKS_WHERE, "marks")
@tolerance(BAND)
def marks_target(marks: Runs, *, tolerance: Tolerance) -> Judgement:
    """LRED that marks holds its target."""
    return Judgement(
        [
            Effect(f"mean queue, {count:g} flows").of(
                marks.per_seed("queue_mean", _MARKS, {COUNT: count}),
                least=Q0 - tolerance.value,
                most=Q0 + tolerance.value,
            )
            for count in marks.points(COUNT)
        ],
        "A mark cannot bring a window below one segment, so that N flows send N / R segments a second whatever is "
        "marked: with many flows that is more than the link takes.",
    )


@ours(_MARKS_WHERE, "marks")
@tolerance(0.1, "%", "nothing: a packet in a thousand")
def marks_lossless(marks: Runs, *, tolerance: Tolerance) -> Judgement:
    """LRED that marks loses nothing."""
    checks = [
        Effect(f"loss, {count:g} flows").of(marks.per_seed("loss_ratio", _MARKS, {COUNT: count}), most=tolerance.value)
        for count in marks.points(COUNT)
    ]
    many = {COUNT: marks.points(COUNT)[-1]}
    full, early = (marks.per_seed(metric, _MARKS, many).mean for metric in ("drops_overflow", "drops_early"))
    return Judgement(
        checks,
        f"With {many[COUNT]:g} flows marks cannot hold the queue (claim `marks-target`), and {full:.0f} packets find "
        f"the buffer full. LRED itself drops {early:.0f}: SYNs and segments that are sent again may not be marked.",
    )


@ours(_MARKS_WHERE, "marks")
@tolerance(GOODPUT)
def marks_goodput(marks: Runs, *, tolerance: Tolerance) -> Judgement:
    """LRED has more goodput with marks than with drops."""
    parts = marks.compare("goodput", _MARKS, [_DROPS], better="higher", tolerance=tolerance, each=_FLOWS)
    return Judgement(
        parts,
        "The link is busy either way: with drops part of it is taken by segments that arrive twice. With 100 flows "
        "these are too few to count.",
    )


@ours(_MARKS_WHERE, "marks")
@tolerance(TIME)
def marks_response(marks: Runs, *, tolerance: Tolerance) -> Judgement:
    """LRED responds as fast with marks as with drops."""
    compared = partial(marks.compare, "response_time", _MARKS, tolerance=tolerance, each=_FLOWS, fill=marks.duration)
    return Judgement(
        compared([_DROPS], better="not higher"),
        "The measured ratio counts marks like drops, so that the loop is the same. With 400 flows and more many "
        "windows are one segment, and a mark cannot shrink them; with 100 times scatter too much to decide.",
        compared([_PI_MARKS], better="lower"),
    )


@ours(_MARKS_WHERE, "marks")
@tolerance(0.02, "", "a fiftieth of the range of Jain's index, which is a share")
def marks_fair(marks: Runs, *, tolerance: Tolerance) -> Judgement:
    """Marks make LRED no less fair to the flows."""
    parts = marks.compare("jain", _MARKS, [_DROPS], better="not lower", tolerance=tolerance, each=_FLOWS)
    few = {COUNT: marks.points(COUNT)[0]}
    drops, marked = (marks.per_seed("timeouts", label, few).mean for label in (_DROPS, _MARKS))
    return Judgement(
        parts,
        "A flow's rate is its window over its round trip, so that flows of short round trips get more. With drops they "
        f"wait for time-outs besides, which may even the flows out: with {few[COUNT]:g} flows there are {drops:.0f} "
        f"with drops and {marked:.0f} with marks.",
    )


@ours(_NOISE_WHERE, "noise", comparative=True)
@tolerance(OFF)
def trace_target(trace: Runs, *, tolerance: Tolerance) -> Judgement:
    """Beside a recorded trace LRED's mean queue is nearer to its target than those of PI, PI* and REM."""
    parts = trace.compare(OFF_TARGET, "LRED", rivals(trace), better="lower", tolerance=tolerance, unit="packets")
    beside = trace.compare("queue_mad", "LRED", better="lower", tolerance=DEVIATION)
    return Judgement(
        parts,
        "Sixty conferences of 10 s come and go, so that the load drifts slowly, and every scheme's mean queue stays "
        "near its target. LRED's deviates least, which is beside.",
        beside,
    )


@ours(_NOISE_WHERE, "noise", comparative=True)
@tolerance(OFF)
def fgn_target(fgn: Runs, *, tolerance: Tolerance) -> Judgement:
    """Beside fractional Gaussian noise LRED's mean queue is nearer to its target than those of PI, PI* and REM."""
    each = (HURST, "H = {:g}")
    return Judgement(
        fgn.compare(OFF_TARGET, "LRED", rivals(fgn), better="lower", tolerance=tolerance, each=each, unit="packets"),
        "PI and PI* have not settled when the averages begin, at 20 s, and so are off target, whatever the noise. REM "
        "soon has, and its mean queue is as near to its target as LRED's, or nearer.",
    )


@ours(_NOISE_WHERE, "noise", comparative=True)
@tolerance(DEVIATION)
def fgn_steadiest(fgn: Runs, *, tolerance: Tolerance) -> Judgement:
    """Beside fractional Gaussian noise LRED's queue deviates least."""
    return Judgement(
        fgn.compare("queue_mad", "LRED", rivals(fgn), better="lower", tolerance=tolerance, each=(HURST, "H = {:g}")),
        "LRED's p follows the queue at once, by the more the more is lost; PI and REM move p by small steps.",
    )


@ours(_PRIORITIES_WHERE, "priorities")
@tolerance(10, "% of it", "a tenth")
def priorities_proportional(priorities: Runs, *, tolerance: Tolerance) -> Judgement:
    """With weights each class of LRED loses in proportion to its own."""
    checks = []
    for label in priorities.labels:
        weights = WEIGHTS[label]
        first, *others = (
            priorities.per_seed(f"classes.{one}.loss_ratio", label) for one in ("first", "second", "third")
        )
        for name, loss, weight in zip(("second", "third"), others, weights[1:], strict=True):
            effect = f"loss of the {name} class over that of the first, weights {label}"
            least, most = tolerance.around(weight)
            if label != _EQUAL:
                checks.append(Effect(effect).of(loss / first, least=least, most=most))
    return Judgement(
        checks, "A class of weight w is dropped with w times the p, unless that is above 1 or the buffer is full."
    )


@ours(_PRIORITIES_WHERE, "priorities")
@tolerance(10, "% of it", "a tenth")
def priorities_neutral(priorities: Runs, *, tolerance: Tolerance) -> Judgement:
    """Weights leave the loss ratio of all classes together as it is."""

    def steepness(label: str) -> float:
        arrivals, losses = (
            priorities.per_seed(f"classes.first.{metric}", label, unit=unit).mean
            / priorities.per_seed(f"classes.third.{metric}", label, unit=unit).mean
            for metric, unit in (("arrivals", None), ("loss_ratio", None))
        )
        return -math.log(arrivals) / math.log(losses)

    labels = [label for label in priorities.labels if label != _EQUAL]
    parts = [
        Effect(f"loss of all, weights {label} over {_EQUAL}").better(
            priorities.per_seed("loss_ratio", label), priorities.per_seed("loss_ratio", _EQUAL), "equal", tolerance
        )
        for label in labels
    ]
    found = ", ".join(f"{steepness(label):.2g} with {label}" for label in labels)
    beside = [
        Effect(f"mean queue, weights {label}").of(
            priorities.per_seed("queue_mean", label), least=Q0 - BAND.value, most=Q0 + BAND.value
        )
        for label in labels
    ]
    return Judgement(
        parts,
        "If rates fall as p^-a, weights raise the loss of all for a < 1 and lower it for a > 1. Between the first "
        f"and the third class a is {found}, as time-outs make rates fall steeply where much is lost.",
        beside,
    )


@ours("Section 7 leaves a model with short flows to the future", "model")
@tolerance(10, "% of it", "a tenth")
def short_flows_model(short_model: Runs, *, tolerance: Tolerance) -> Judgement:
    """The model of short flows finds the loss of experiment 5's load with the TCP that it models."""
    checks = []
    for rate in short_model.points(ARRIVALS):
        measured = short_model.per_seed("loss_ratio", "LRED", {ARRIVALS: rate})
        model = measured * 0 + 100 * modelled_loss(rate)
        checks.append(
            Effect(f"loss of the model over the measured, {rate:g}/s").better(model, measured, "equal", tolerance)
        )
    return Judgement(
        checks,
        "No constant of the model was tuned. What a short flow sends depends mostly on lost SYNs and on time-outs, "
        "which the model has.",
    )


@cache
def modelled_loss(rate: float) -> float:
    """Return the loss ratio of the model of short flows beside a hundred long ones."""
    trips = np.array([30, 110, 210, 310, 410]) / 1e3 + 0.0005
    return float(equilibrium(Shorts(lam=rate, lifetime=(1, 2)), 20, trips, 2500.0, q0=Q0).p)
