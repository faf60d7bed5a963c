"""Claims of experiment 6 (Figs. 15 and 16): two-way congestion."""

from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial

import numpy as np
import polars

from aqmlab_papers import Check, Effect, Judgement, PerSeed, Runs, Tolerance, claim, tolerance
from aqmlab_papers.describe.check import Better
from aqmlab_papers.describe.thresholds import DEVIATION, GOODPUT, TIME
from aqmlab_papers.lred.measures import BAND, BUFFER, OFF, Q0, SEEN, Seconds, away, lower, rivals
from aqmlab_papers.lred.theory import REM_ALPHA, REM_PERIOD, C

_WHERE = "Section 6.3, Experiment 6, "
_WAYS = {"forward": "", "reverse": "bottleneck:reverse."}
_SMALL, _LARGE = {BUFFER: 200.0}, {BUFFER: 400.0}
_NAMED = ("LRED", "PI", "PI*", "REM")


def _peak(runs: Runs, label: str, at: dict[str, float], link: str = "", begin: float = 0.0) -> PerSeed:
    """Return the highest mean of 1 s above q0 in 20 s, by default the first: later ones are of a queue about q0."""
    read = partial(Seconds.overshoot, begin=begin, end=begin + 20)
    return runs.from_series(label, lambda frame: read(Seconds(frame, link)), at, unit="packets")


def _late(runs: Runs, label: str, at: dict[str, float], link: str = "") -> PerSeed:
    """Return the end (s) of the first time above q0 + 20 packets, since REM, whose queue rests lower, never settles."""

    def end(frame: polars.DataFrame) -> float:
        high = Seconds(frame, link).queue > 1.2 * Q0
        first = int(np.argmax(high)) if high.any() else 0
        return float(first + np.argmin(np.append(high[first:], False)))

    return runs.from_series(label, end, at, unit="s")


def _near(runs: Runs, label: str, at: dict[str, float], link: str = "") -> PerSeed:
    """Return the time (s) from which the queue stays within 40 % of its target for 5 s."""
    return runs.from_series(label, lambda frame: Seconds(frame, link).settled(0, runs.duration, 0.4), at, unit="s")


_LATE = "end of the first time above q0 + 20 packets"


def _compared(
    runs: Runs,
    labels: Sequence[str],
    others: Sequence[str],
    words: str,
    read: Callable[[Runs, str, dict[str, float], str], PerSeed],
    better: Better,
    tolerance: Tolerance,
) -> list[Check]:
    """Compare disciplines with others in both directions, with the larger buffer."""
    return [
        Effect(f"{words}, {label} {'over' if tolerance.relative else 'minus'} {other}, {way}, Q = 400").better(
            read(runs, label, _LARGE, link), read(runs, other, _LARGE, link), better, tolerance
        )
        for way, link in _WAYS.items()
        for label in labels
        for other in others
    ]


@claim("all the AQM schemes have noticeable overshoots in this case", _WHERE + "Fig. 15", "fig15")
@tolerance(replace(SEEN, reason=f"noticeable: {SEEN.reason}"))
def two_way_overshoot(exp6: Runs, exp6_one_way: Runs, *, tolerance: Tolerance) -> Judgement:
    """With congestion in both directions every scheme overshoots noticeably: by more than a queue at its target swings.
    With traffic in one direction beside.
    """

    def swing(runs: Runs, at: dict[str, float], link: str) -> PerSeed:
        return PerSeed.average(_peak(runs, "LRED", at, link, begin) for begin in (20, 40, 60, 80))

    def checks(runs: Runs, way: str, at: dict[str, float], link: str = "") -> list[Check]:
        return [
            Effect(f"highest second of the first 20 s, {label} less LRED later, {way}, Q = 200").of(
                _peak(runs, label, at, link) - swing(runs, at, link), least=tolerance.value
            )
            for label in _NAMED
        ]

    usual = " and ".join(f"{swing(exp6, _SMALL, link).mean:.0f} packets {way}" for way, link in _WAYS.items())
    return Judgement(
        [check for way, link in _WAYS.items() for check in checks(exp6, way, _SMALL, link)],
        f"From 20 s on LRED's queue is at its target, and its highest second of 20 is still {usual} above it: an "
        "overshoot is what the first 20 s have beyond that. LRED's first 20 s hardly have more, whereas the other "
        "three fill the buffer until their p is high enough. The second direction is not the cause: with the forward "
        "traffic alone, beside, the same three overshoot.",
        checks(exp6_one_way, "one direction", {}),
    )


@claim(
    "yet LRED controls the queue length better than others ... LRED still regulates queue length around the "
    "expected value (100) and achieves better control effect than other schemes",
    _WHERE + "Figs. 15 and 16",
    "fig15 fig16",
)
@tolerance(replace(DEVIATION, reason=f"{DEVIATION.reason}; about the target: within {BAND.value:g} packets"))
def two_way_best(exp6: Runs, *, tolerance: Tolerance) -> Judgement:
    """With congestion in both directions LRED controls the queues better than PI, PI* and REM, and with a buffer of 400
    packets it keeps them about the target.
    """
    parts = [
        Effect(f"mean queue of LRED, {way}, Q = 400").of(
            exp6.per_seed(f"links.{link.removesuffix('.') or 'bottleneck'}.queue_mean", "LRED", _LARGE),
            least=Q0 - BAND.value,
            most=Q0 + BAND.value,
        )
        for way, link in _WAYS.items()
    ]
    beside: list[Check] = []
    for buffer in exp6.points(BUFFER):
        for way, link in _WAYS.items():
            read = partial(away, exp6, at={BUFFER: buffer}, begin=0, end=exp6.duration, link=link)
            words = f"|queue - q0|, {way}, Q = {buffer:g}"
            parts += lower(words, read, rivals(exp6), tolerance)
            beside += lower(words, read, ["REM (36)"], tolerance)
    return Judgement(
        parts,
        "At the start slow starts overload the link, and the buffer is full until a scheme's p is high enough: LRED's "
        "is after a period or two of 1 s, even higher than the load needs. Distances are means of the whole run, the "
        "start included.",
        beside,
    )


@claim(
    "The forward traffic that consists of persistent TCP flows is influenced more noticeably",
    _WHERE + "Fig. 15",
    "fig15",
)
@tolerance(replace(DEVIATION, reason=f"{DEVIATION.reason}; of overshoots {OFF.value:g} packets"))
def two_way_forward(exp6: Runs, *, tolerance: Tolerance) -> Judgement:
    """The forward direction, of long flows, is influenced more noticeably than the reverse one: its queue is farther
    from the target, and overshoots more.
    """

    def more(words: str, read: Callable[[str, str], PerSeed], by: Tolerance) -> list[Check]:
        over = "over" if by.relative else "minus"
        return [
            Effect(f"{words} of {label}, forward {over} reverse, Q = 200").better(
                read(label, _WAYS["forward"]), read(label, _WAYS["reverse"]), "higher", by
            )
            for label in _NAMED
        ]

    parts = more("|queue - q0|", lambda label, link: away(exp6, label, _SMALL, 0, exp6.duration, link), tolerance)
    parts += more("overshoot", lambda label, link: _peak(exp6, label, _SMALL, link), OFF)
    losses = [
        exp6.per_seed(f"links.{link}.loss_ratio", "LRED", _SMALL) for link in ("bottleneck", "bottleneck:reverse")
    ]
    return Judgement(
        parts,
        f"With LRED the forward direction loses {losses[0]:.3g} %, the reverse one, which has 200 slow starts a "
        f"second, {losses[1]:.3g} %: the higher the loss, the longer PI's and REM's integrators take to reach it, so "
        "that for them the reverse direction is the harder one, in both measures. Only LRED's forward queue is farther "
        "from its target over the whole run, as its correction is the weaker the less is lost; its highest second of "
        "the first 20 s is larger in the reverse direction as well.",
    )


@claim("both PI and PI* still show slower response", _WHERE + "Fig. 16", "fig16")
@tolerance(TIME)
def two_way_slow(exp6: Runs, *, tolerance: Tolerance) -> Judgement:
    """With a buffer of 400 packets PI and PI* respond more slowly than LRED, in both directions."""
    ends = ", ".join(
        f"{label}'s after {_late(exp6, label, _LARGE).mean:.2g} s and "
        f"{_late(exp6, label, _LARGE, _WAYS['reverse']).mean:.2g} s"
        for label in ("LRED", "PI", "PI*")
    )
    words = "response time to within 40 % of the target"
    return Judgement(
        _compared(exp6, ("PI", "PI*"), ("LRED",), _LATE, _late, "higher", tolerance),
        f"A response is here, as in figure 16, the end of the first time above q0 + 20 packets: {ends}, forward and "
        "reverse. All start from p = 0; while 400 packets wait PI adds 0.003 a second, whereas LRED's p soon has the "
        "losses of the start in it, and is then more than the load needs. Forward it takes long to come down, so that "
        "by the time until the queue stays within 40 % of its target, beside, it is open there which one is sooner.",
        _compared(exp6, ("PI", "PI*"), ("LRED",), words, _near, "higher", tolerance),
    )


@claim("and bigger overshoot", _WHERE + "Fig. 16", "fig16")
@tolerance(OFF)
def two_way_bigger(exp6: Runs, *, tolerance: Tolerance) -> Judgement:
    """With a buffer of 400 packets PI and PI* overshoot more than LRED, in both directions."""
    return Judgement(
        _compared(exp6, ("PI", "PI*"), ("LRED",), "overshoot", _peak, "higher", tolerance),
        "LRED's p is 0 only until its first period of 1 s ends, so that its queue does not reach the end of a buffer "
        "of 400 packets. PI's and PI*'s p climb for longer than the buffer takes to fill.",
    )


@claim("Although REM responds more quickly", _WHERE + "Fig. 16", "fig16")
@tolerance(TIME)
def two_way_rem(exp6: Runs, *, tolerance: Tolerance) -> Judgement:
    """With a buffer of 400 packets REM responds sooner than PI and PI*, in both directions."""
    parts, beside = (
        _compared(exp6, (label,), ("PI", "PI*"), _LATE, _late, "lower", tolerance) for label in ("REM", "REM (36)")
    )
    return Judgement(
        parts,
        "With the buffer full REM's p climbs five times as fast as PI's. A response is measured by the end of the "
        "first time above q0 + 20 packets, as REM's queue, which rests below q0, may never settle about it.",
        beside,
    )


@claim("its queue length is often below the expected value (100)", _WHERE + "Fig. 16", "fig16")
@tolerance(60, "%", "often: more than the half that any queue about its target has")
def two_way_rem_below(exp6: Runs, *, tolerance: Tolerance) -> Judgement:
    """With a buffer of 400 packets the queue of REM, in ns-2's form, is often below its target, in both directions."""

    def below(label: str) -> list[Check]:
        return [
            Effect(f"seconds in which the queue of {label} is below q0, {way}").of(
                exp6.from_series(label, partial(share, link=link), _LARGE, unit="%"), least=tolerance.value
            )
            for way, link in _WAYS.items()
        ]

    def share(frame: polars.DataFrame, link: str) -> float:
        return float(100 * (Seconds(frame, link).during(20, 100) < Q0).mean())

    def mean(frame: polars.DataFrame, link: str) -> float:
        return float(Seconds(frame, link).during(20, 100).mean())

    def arrivals(frame: polars.DataFrame, link: str) -> float:
        late = frame.filter(polars.col("t") >= 20)[f"{link}arrivals"]
        return float(late.sum()) / (exp6.duration - 20) * REM_PERIOD

    def read(of: Callable[..., float], link: str) -> PerSeed:
        return exp6.from_series("REM", partial(of, link=link), _LARGE, unit="packets")

    sent = C * REM_PERIOD
    excess = {way: (read(arrivals, link) - sent) / REM_ALPHA for way, link in _WAYS.items()}
    counted = " and ".join(f"{read(arrivals, link).mean:.2g} {way}" for way, link in _WAYS.items())
    rests = " and ".join(f"{one.mean:.0f}" for one in excess.values())
    printed = below("REM (36)")
    shares = " and ".join(f"{check.value:.3g} %" for check in printed)
    return Judgement(
        below("REM"),
        f"The verdict depends on REM's form: by the printed (36), beside, its queue is below q0 for {shares} of the "
        "time. ns-2's REM, with which the paper's simulations ran, counts packets: with the other direction's ACKs and "
        f"its own drops {counted} arrive in 2 ms, where c = {sent:g} of the link's can leave, and its price is at rest "
        f"only where the queue is the excess over c, divided by alpha = {REM_ALPHA:g}, below q0. That is {rests} "
        "packets, from which the mean queue, beside, hardly differs.",
        [
            *printed,
            *below("LRED"),
            *(
                Effect(f"mean queue of REM, {way}, less that at which its price rests").of(
                    read(mean, link) - (Q0 - excess[way]), least=-SEEN.value, most=SEEN.value
                )
                for way, link in _WAYS.items()
            ),
        ],
    )


@claim("leading to lower goodput", _WHERE + "Fig. 16", "fig16")
@tolerance(GOODPUT)
def two_way_rem_goodput(exp6: Runs, *, tolerance: Tolerance) -> Judgement:
    """With a buffer of 400 packets REM's low queue costs it goodput: it has less than LRED, in both directions."""
    parts, beside = (
        [
            check
            for kind in ("long", "back")
            for check in exp6.compare(
                f"classes.{kind}.goodput", label, ["LRED"], better="lower", tolerance=tolerance, at=_LARGE
            )
        ]
        for label in ("REM", "REM (36)")
    )
    empty = exp6.per_seed("queue_empty", "REM", _LARGE)
    return Judgement(
        parts,
        f"Goodput is lost while the link is idle: forward REM's queue is empty for {empty:.2g} % of the time. By (36), "
        "beside, it loses less, and still more than LRED.",
        beside,
    )
