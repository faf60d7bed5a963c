"""Claims of section 6.4 (Fig. 17): the measurement's period and weight, and the gain; steps in the load."""

from functools import partial

import numpy as np
import polars

from aqmlab_papers import Check, Effect, Judgement, PerSeed, Runs, Tolerance, claim, tolerance
from aqmlab_papers.describe.thresholds import TIME
from aqmlab_papers.lred.measures import COMPARABLE, COUNT, JOINS, PERIOD, Q0, WEIGHT, lower, settled


def _time(runs: Runs, path: str, value: float, count: float) -> PerSeed:
    """Return LRED's response time with a period or weight (s)."""
    return runs.per_seed("response_time", "LRED", {path: value, COUNT: count}, fill=runs.duration)


def _spread(runs: Runs, path: str, value: float, count: float) -> PerSeed:
    """Return the standard deviation of the estimate over its mean, in the second half of the run (%)."""

    def spread(frame: polars.DataFrame) -> float:
        late = frame.filter(polars.col("t") >= 100)["loss_ratio.mean"].drop_nulls().to_numpy()
        return float(100 * late.std() / late.mean())

    return runs.from_series("LRED", spread, {path: value, COUNT: count}, unit="%")


def _slower(runs: Runs, path: str, usual: float, values: list[float], tolerance: Tolerance) -> list[Check]:
    name = path.rpartition(".")[2]
    return [
        Effect(f"response time with a {name} of {value:g} over that with {usual:g}, {count:g} flows").better(
            _time(runs, path, value, count), _time(runs, path, usual, count), "higher", tolerance
        )
        for value in values
        for count in runs.points(COUNT)
    ]


@claim(
    "almost independent of p0 ..., but mainly influenced by the measurement period", "Sections 5.2 and 6.4", "period"
)
@tolerance(TIME)
def period_main(period: Runs, *, tolerance: Tolerance) -> Judgement:
    """LRED's response time is set by its measurement period more than by the load: ten times the period adds more to it
    than eight times the flows.
    """
    few, *_, many = period.points(COUNT)
    load = _time(period, PERIOD, 1.0, many) - _time(period, PERIOD, 1.0, few)
    load = load if load.mean > 0 else -load

    def longer(short: float, long: float) -> list[Check]:
        return [
            Effect(
                f"response time with a period of {long:g} s over that with {short:g} s and what {few:g} and {many:g} "
                f"flows differ by, {count:g} flows"
            ).better(
                _time(period, PERIOD, long, count), _time(period, PERIOD, short, count) + load, "higher", tolerance
            )
            for count in (few, many)
        ]

    return Judgement(
        longer(1.0, 10.0),
        f"With a period of 1 s the response times of the two loads differ by {load}; a period of 10 s adds more than "
        f"that with {few:g} flows, but with {many:g} times scatter too much to decide. Shorter periods, beside, say "
        "little: one of 0.1 s measures so inaccurately that the queue is seldom near its target for the 5 s by which "
        "a response is measured.",
        longer(0.1, 1.0),
    )


@claim("if it is too big, the response time can be longer", "Section 6.4", "period")
@tolerance(TIME)
def period_slow(period: Runs, *, tolerance: Tolerance) -> Judgement:
    """A measurement period that is too long can make LRED slow: at some load."""
    longer = [value for value in period.points(PERIOD) if value > 1]
    longest = ", ".join(
        f"{_time(period, PERIOD, longer[-1], count) - _time(period, PERIOD, 1.0, count)} with {count:g} flows"
        for count in period.points(COUNT)
    )
    return Judgement(
        _slower(period, PERIOD, 1.0, longer, tolerance),
        f"As the paper says can and not must, half of the comparisons are asked for: {longer[-1]:g} s instead of 1 s "
        f"add {longest}. L is 0 until the first period has ended, and the losses of slow start stay in the window for "
        "four periods.",
        need=0.5,
    )


@claim("if it is too small, the measurement could be inaccurate", "Section 6.4", "period")
@tolerance(20, "%", "inaccurate: off by a fifth, as for the model of section 4.1")
def period_inaccurate(period: Runs, *, tolerance: Tolerance) -> Judgement:
    """A measurement period that is too short can measure inaccurately: at some load the estimate is off by a fifth."""
    short = min(period.points(PERIOD))

    def spread(value: float) -> list[Check]:
        return [
            Effect(f"spread of the estimate with {value:g} s, in percent of its mean, {count:g} flows").of(
                _spread(period, PERIOD, value, count), least=tolerance.value
            )
            for count in period.points(COUNT)
        ]

    return Judgement(
        spread(short),
        "As the paper says could and not must, half of the two loads are asked for. With a period of 0.1 s the window "
        "has a thousand arrivals, with one of 1 s, beside, ten thousand: the fewer there are, and the fewer of them "
        "are lost, the more the loss ratio scatters by chance.",
        spread(1.0),
        need=0.5,
    )


@claim("should be set to a small value in order to capture the latest packet loss", "Section 6.4", "period")
@tolerance(TIME)
def weight_slow(weight: Runs, *, tolerance: Tolerance) -> Judgement:
    """A large weight of the old estimate makes LRED slow."""
    return Judgement(
        _slower(weight, WEIGHT, 0.1, [max(weight.points(WEIGHT))], tolerance),
        "A weight w of the old estimate makes the new one lag by w / (1 - w) periods: by 9 s with 0.9, and by 0.1 s "
        "with 0.1. With 800 flows that shows; with 100 flows response times scatter as much, and the comparison is "
        "open.",
    )


@claim("are reasonable choices in most scenarios", "Section 6.4", "period")
@tolerance(COMPARABLE)
def reasonable(period: Runs, weight: Runs, *, tolerance: Tolerance) -> Judgement:
    """A period of 1 s and a weight of 0.1 are reasonable: hardly another choice halves the response time or the queue's
    deviation.
    """

    def deviates(runs: Runs, path: str, value: float, count: float) -> PerSeed:
        return runs.per_seed("queue_mad", "LRED", {path: value, COUNT: count})

    def worse(runs: Runs, path: str, usual: float, value: float, count: float) -> Check:
        both = (
            Effect(
                f"{words} with a {path.rpartition('.')[2]} of {usual:g} over that with {value:g}, {count:g} flows"
            ).excess(read(runs, path, usual, count), read(runs, path, value, count), most=tolerance.value)
            for words, read in (("response time", _time), ("queue deviation", deviates))
        )
        return max(both, key=lambda check: check.value)

    return Judgement(
        [
            worse(runs, path, usual, value, count)
            for runs, path, usual in ((period, PERIOD, 1.0), (weight, WEIGHT, 0.1))
            for value in runs.points(path)
            if value != usual
            for count in runs.points(COUNT)
        ],
        "Reasonable is a choice unless another halves the response time or the deviation: of the two that is judged "
        "which speaks more for the other choice. Most scenarios are eight tenths of the comparisons, at two loads.",
        need=0.8,
    )


@claim(
    "when the network is highly dynamic, LRED can quickly converge to a new stable state",
    "Abstract; sections 5.2 and 6.4",
    "steps",
)
@tolerance(TIME)
def new_state(steps: Runs, *, tolerance: Tolerance) -> Judgement:
    """When long flows join or leave, LRED is at its new steady state quickly: sooner than PI and REM."""
    parts: list[Check] = []
    beside: list[Check] = []
    times = []
    for count in steps.points(JOINS):
        for begin, end, change in ((70, 140, "join"), (140, 200, "leave")):
            read = partial(settled, steps, at={JOINS: count}, begin=begin, end=end)
            words = f"response time when {count:g} flows {change}"
            times.append(read("LRED").mean)
            parts += lower(words, read, ["PI", "REM"], tolerance)
            beside += lower(words, read, ["PI*", "REM (36)"], tolerance)
    return Judgement(
        parts,
        "The paper has no number for quickly: it is judged by PI and REM, which the same section calls slow. On "
        f"average LRED takes {min(times):.2g} to {max(times):.2g} s. It takes longest when many flows leave: while "
        "the queue is empty p is only beta sqrt(L) q0 below L, so that L falls over several windows.",
        beside,
    )


@claim("the packet drop probability almost equals 1 or 0", "Section 6.4, Fig. 17", "fig17")
@tolerance(0.05, "", "almost: a probability within a twentieth of 0 or 1, on average")
def switching(beta10_fine: Runs, *, tolerance: Tolerance) -> Judgement:
    """With beta = 10, p is almost 0 or 1."""

    def lone(frame: polars.DataFrame) -> polars.Series:
        # A bin begins with the p of the arrival before: the next one has that of this arrival alone.
        arrivals = polars.col("arrivals")
        return frame.with_columns(p=polars.col("p.min").shift(-1)).filter(
            (polars.col("t") >= 20) & (arrivals == 1) & (arrivals.shift(-1) == 0)
        )["p"]

    def distance(frame: polars.DataFrame) -> float:
        p = lone(frame).to_numpy()
        return float(np.minimum(p, 1 - p).mean())

    def part(frame: polars.DataFrame) -> float:
        return 100 * len(lone(frame)) / float(frame.filter(polars.col("t") >= 20)["arrivals"].sum())

    alone = beta10_fine.from_series("LRED", part).mean
    exact = beta10_fine.from_series("LRED", lambda frame: 100 * float(lone(frame).is_in([0.0, 1.0]).mean()), unit="%")  # type: ignore[arg-type]
    return Judgement(
        [
            Effect("distance of p from the nearer of 0 and 1, on average over arrivals alone in their 100 us").of(
                beta10_fine.from_series("LRED", distance), most=tolerance.value
            )
        ],
        f"From 20 s on p is exactly 0 or 1 for {exact:.3g} % of the arrivals judged; it is L for one that finds "
        "exactly q0 packets, and a queue that ends there has them often. Judged are the arrivals that are alone in "
        f"their 100 us, {alone:.2g} % of all, since p is recorded by such steps. For that the run has 30 s and not the "
        "paper's 200 s; its load, 400 flows, is ours.",
    )


@claim(
    "LRED behaves like a virtual Tail-Drop with a virtual buffer size of q0 ... and the queue length stays below 100",
    "Section 6.4, Fig. 17",
    "fig17",
)
@tolerance(1, "packets", "the packet that an arrival at q0 may add; like a drop-tail buffer: within a tenth")
def virtual_drop_tail(beta10: Runs, *, tolerance: Tolerance) -> Judgement:
    """With beta = 10 the queue stays below its target after the start, as in a drop-tail buffer that ends there."""

    def longest(frame: polars.DataFrame) -> float:
        return float(frame.filter(polars.col("t") >= 20)["queue.max"].to_numpy().max())

    alike = Tolerance(10, "% of it", "like: within a tenth")
    found = beta10.from_series("LRED", longest, unit="packets")
    parts = [Effect("longest queue from 20 s on").of(found, most=Q0 + tolerance.value)]
    for metric in ("queue_mean", "loss_ratio", "goodput"):
        parts += beta10.compare(metric, "LRED", ["drop-tail"], better="equal", tolerance=alike)
    return Judgement(
        parts,
        "Above the target every arrival is dropped, as in a drop-tail buffer of 100 packets; an arrival that finds "
        "exactly q0 is dropped with probability L. The start is left out, as p is 0 until the first period has ended.",
    )
