"""Claims of experiment 4 (Figs. 9 and 10): unresponsive UDP flows from 50 s to 150 s."""

from collections.abc import Callable
from functools import partial
from itertools import chain, pairwise

import polars

from aqmlab_papers import Check, Claim, Effect, Judgement, PerSeed, Runs, Tolerance, claim, tolerance
from aqmlab_papers.describe.thresholds import TIME
from aqmlab_papers.lred.measures import (
    BAND,
    CHANGES,
    FOUR,
    MUCH,
    Q0,
    SAID,
    UDP_RATE,
    Seconds,
    away,
    best,
    density,
    much_lower,
    rivals,
)

_WHERE = "Section 6.2, Experiment 4, Fig. 9"
_WORDS = {"goodput": "all traffic", "queue": "distance from q0", "deviation": "of the queue", "loss": "ratio"}
_NAMES = {
    "goodput": "goodput",
    "queue": "the distance of the mean queue from its target",
    "deviation": "queue deviation",
    "loss": "loss ratio",
}
_PEAK = (
    "The density is UDP's share of all traffic, as the text defines it; by the formula for a flow's rate, not "
    "readable in our copy, UDP may have half of that, which is beside."
)


def _readings(exp4: Runs, exp4_peak: Runs | None) -> list[tuple[Runs, float, str]]:
    """Return the runs by either reading of the density, its ratio to the share on average, and words for it.

    The first is the paper's definition; the other is how its formula for a flow's rate may be read, in which our copy
    lacks signs.
    """
    return [(exp4, 1.0, ""), *([(exp4_peak, 2.0, " while on")] if exp4_peak else [])]


def _best(measure: str) -> Claim:
    @claim(
        "LRED generally outperforms PI, PI*, and REM in all these performance measures",
        _WHERE,
        "fig9",
        text=f"With UDP beside TCP LRED generally has {SAID[measure]} of LRED, PI, PI* and REM.",
        name=f"udp-{measure}",
        comparative=True,
    )
    @tolerance(FOUR[measure][2])
    def judge(exp4: Runs, exp4_peak: Runs | None = None) -> Judgement:
        """Compare at every density; by the other reading of it beside."""
        parts, *others = (
            [
                check
                for rate in runs.points(UDP_RATE)
                for check in best(
                    runs,
                    measure,
                    rivals(runs),
                    at={UDP_RATE: rate},
                    where=f"({_WORDS[measure]}) at {factor * density(rate):g}{words}",
                )
            ]
            for runs, factor, words in _readings(exp4, exp4_peak)
        )
        return Judgement(parts, f"{CHANGES[measure]} {_PEAK}", [*chain(*others)], need=0.8)

    return judge


BEST = [_best(measure) for measure in FOUR]


def _densest(measure: str) -> Claim:
    @claim(
        "especially when the UDP traffic density is high",
        _WHERE,
        "fig9",
        text=f"LRED's lead in {_NAMES[measure]} grows with the density of UDP.",
        name=f"udp-density-{measure}",
    )
    @tolerance(FOUR[measure][2])
    def judge(exp4: Runs, exp4_peak: Runs | None = None, *, tolerance: Tolerance) -> Judgement:
        """Compare LRED at the highest density with what would have the same lead there as at the lowest, or none if it
        is behind at the lowest.
        """
        metric, better, _ = FOUR[measure]
        sign = 1 if better == "higher" else -1
        readings: list[list[Check]] = []
        for runs, factor, words in _readings(exp4, exp4_peak):
            found: list[Check] = []
            first, *_, last = runs.points(UDP_RATE)

            def read(label: str, rate: float, runs: Runs = runs) -> PerSeed:
                unit = "packets" if measure == "queue" else None
                return runs.per_seed(metric, label, {UDP_RATE: rate}, unit=unit)

            for label in rivals(runs):
                lead = read("LRED", first) - read(label, first)
                effect = f"{measure}: lead on {label} at a density of {factor * density(last):g}{words}"
                expected = read(label, last)
                if sign * lead.mean > 0:
                    effect += f" less that at {factor * density(first):g}"
                    expected += lead
                found.append(Effect(effect).better(read("LRED", last), expected, better, tolerance))
            readings.append(found)
        parts, *others = readings
        return Judgement(
            parts,
            "UDP changes the load in proportion to its density, and so the time for which a slow integrator has the "
            f"buffer full or empty. {_GROWS[measure]} {_PEAK}",
            [*chain(*others)],
        )

    return judge


_GROWS = {
    "goodput": "At the lowest density no link is idle, and all have the same goodput.",
    "queue": "REM's mean queue is as near to its target as LRED's, which is empty for some seconds when UDP goes.",
    "deviation": "So the others deviate more and more, whereas LRED's estimate follows in 4 s.",
    "loss": "At the lowest density PI and PI* may lose less than LRED, as their longer queues make longer round trips.",
}

DENSEST = [_densest(measure) for measure in FOUR]


def _rem(measure: str) -> Claim:
    @claim(
        "REM achieves better performance than PI in this experiment",
        _WHERE,
        "fig9",
        text=f"Beside UDP REM performs better than PI in {_NAMES[measure]}.",
        name=f"rem-over-pi-{measure}",
    )
    @tolerance(FOUR[measure][2])
    def judge(exp4: Runs, exp4_peak: Runs | None = None) -> Judgement:
        """Compare REM with PI, averaged over the densities; at each density, and by the other reading of it, beside."""
        compared = partial(best, measure=measure, others=["PI"], subject="REM")
        means: list[Check] = []
        beside: list[Check] = []
        for runs, factor, words in _readings(exp4, exp4_peak):
            means += compared(runs, where=f"({_WORDS[measure]}), all densities{words},")
            for rate in runs.points(UDP_RATE):
                beside += compared(runs, at={UDP_RATE: rate}, where=f"at {factor * density(rate):g}{words}")
        return Judgement(
            means[:1],
            "REM's probability climbs five times as fast as PI's, which matters where UDP changes the load most, at "
            f"the highest density. {_PEAK}",
            means[1:] + beside,
        )

    return judge


def _drawn(exp4: Runs) -> list[float]:
    """Return UDP's rates at the densities of figure 10."""
    return [rate for rate in exp4.points(UDP_RATE) if density(rate) in (0.5, 0.9)]


REM_OVER_PI = [_rem(measure) for measure in FOUR]


@claim(
    "the buffers of PI, PI* and REM are overflowed (or empty) for a long time ... especially if r is large, "
    "i.e., 0.9 ... On the contrary, there is only a short-term increase (or decrease)",
    "Section 6.2, Experiment 4, Fig. 10",
    "fig10",
)
@tolerance(MUCH)
def udp_stuck(exp4: Runs) -> Judgement:
    """When UDP comes or goes, the buffer is full or empty for long with PI, PI* and REM, the longer the more UDP there
    is, and with LRED for a short time in comparison: for at most half as long.
    """

    def stuck(label: str, rate: float) -> PerSeed:
        return exp4.from_series(label, lambda frame: Seconds(frame).stuck(begin=50), {UDP_RATE: rate}, unit="s")

    effect = "seconds in the first or last tenth of the buffer from 50 s on, "
    slow, rates = ("PI", "PI*", "REM"), _drawn(exp4)
    parts = [
        check
        for rate in rates
        for check in much_lower(f"{effect}density {density(rate):g}", partial(stuck, rate=rate), slow)
    ]
    parts += [
        Effect(f"{effect}{label}, density {density(less):g} over {density(more):g}").better(
            stuck(label, less), stuck(label, more), "lower", TIME
        )
        for less, more in pairwise(rates)
        for label in slow
    ]
    return Judgement(
        parts,
        "While the buffer is full or empty PI's p moves by 0.001 a second and REM's by 0.005, whereas LRED's estimate "
        "forgets the previous load in 4 s. Beside is whether LRED's two changes take 8 s together, as this suggests.",
        [Effect(f"{effect}LRED, density {density(rate):g}").of(stuck("LRED", rate), most=8) for rate in rates],
    )


@claim(
    "LRED can still regulate the queue length to the expected value with much smaller under- or over-shoots than "
    "PI, PI* and REM",
    "Section 6.2, Experiment 4, Fig. 10",
    "fig10",
)
@tolerance(MUCH)
def udp_overshoot(exp4: Runs) -> Judgement:
    """As UDP's density grows, LRED keeps its queue about the target, and over- and undershoots far less than PI, PI*
    and REM.
    """

    def over(rate: float, label: str) -> PerSeed:
        return exp4.from_series(label, lambda frame: Seconds(frame).overshoot(50, 70), {UDP_RATE: rate}, unit="packets")

    def under(rate: float, label: str) -> PerSeed:
        def depth(frame: polars.DataFrame) -> float:
            return float(Q0 - Seconds(frame).during(150, 170).min())

        return exp4.from_series(label, depth, {UDP_RATE: rate}, unit="packets")

    def off(rate: float, label: str) -> PerSeed:
        steps = (away(exp4, label, {UDP_RATE: rate}, begin, begin + 20) for begin in (50, 150))
        return PerSeed.average(steps)

    def compared(words: str, read: Callable[[float, str], PerSeed]) -> list[Check]:
        return [
            check
            for rate in _drawn(exp4)
            for check in much_lower(f"{words}, density {density(rate):g}", partial(read, rate), ("PI", "PI*", "REM"))
        ]

    held = [
        Effect(f"mean queue of LRED, density {density(rate):g}").of(
            exp4.per_seed("queue_mean", "LRED", {UDP_RATE: rate}), least=Q0 - BAND.value, most=Q0 + BAND.value
        )
        for rate in _drawn(exp4)
    ]
    return Judgement(
        [
            *held,
            *compared("overshoot in the 20 s after UDP comes", over),
            *compared("undershoot in the 20 s after it goes", under),
        ],
        "Over- and undershoots are the highest and the lowest mean of 1 s. UDP comes and goes faster than any scheme "
        "can follow, so that with much of it every queue reaches the ends of the buffer, 100 packets from the target "
        "on either side: LRED's is only there for a shorter time.",
        compared("mean |queue - q0| in the 20 s after either step", off),
    )
