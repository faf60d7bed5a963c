"""Claims of experiment 4 (Figs. 9 and 10): unresponsive UDP flows from 50 s to 150 s."""

from collections.abc import Callable, Sequence
from dataclasses import replace
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
    counted,
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


def _peak(beside: Sequence[Check]) -> str:
    """Return by which density UDP is judged, and what the other reading of it, beside, comes to, in words."""
    other = f": with that the claim {counted(beside)}" if beside else ""
    return (
        "The density is UDP's share of all traffic, as the text defines it; by the formula for a flow's rate, not "
        f"readable in our copy, UDP may have half of that, beside{other}."
    )


def _readings(exp4: Runs, exp4_peak: Runs | None) -> list[tuple[Runs, float, str]]:
    """Return the runs by either reading of the density, its ratio to the share on average, and words for it.

    The first is the paper's definition; the other is how its formula for a flow's rate may be read, in which our copy
    lacks signs.
    """
    return [(exp4, 1.0, ""), *([(exp4_peak, 2.0, " (other reading)")] if exp4_peak else [])]


def _best(measure: str) -> Claim:
    @claim(
        "LRED generally outperforms PI, PI*, and REM in all these performance measures",
        _WHERE,
        "fig9 fig9-peak",
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
        beside = [*chain(*others)]
        return Judgement(parts, f"{CHANGES[measure]}{_BY_DENSITY[measure]}. {_peak(beside)}", beside, need=0.8)

    return judge


_BY_DENSITY = {
    "goodput": ": so with densities of 0.1 and 0.3, and with 0.5 REM's difference is open",
    "queue": ". Only at 0.9 do means differ clearly: LRED's is nearer than PI's and PI*'s, and farther than REM's",
    "deviation": "",
    "loss": ". So PI and PI* lose more than LRED from a density of 0.7 on, and hardly at lower ones; REM's loss is too "
    "near LRED's to tell them apart",
}
"""Where LRED is better, or not, by the density of UDP."""

BEST = [_best(measure) for measure in FOUR]


def _densest(measure: str) -> Claim:
    @claim(
        "especially when the UDP traffic density is high",
        _WHERE,
        "fig9 fig9-peak",
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
            f"buffer full or empty. {_GROWS[measure]} {_peak([*chain(*others)])}",
            [*chain(*others)],
        )

    return judge


_GROWS = {
    "goodput": "At the lowest density no link is idle, and all have the same goodput.",
    "queue": "But at the highest one REM's mean queue is nearer to its target than LRED's, which is empty for some "
    "seconds when UDP goes.",
    "deviation": "So the others deviate more and more, LRED less so.",
    "loss": "At the lowest density PI and PI* may lose less than LRED, as their longer queues make longer round trips; "
    "LRED's lead on REM grows by less than the seeds scatter, and is open.",
}

DENSEST = [_densest(measure) for measure in FOUR]


def _rem(measure: str) -> Claim:
    @claim(
        "REM achieves better performance than PI in this experiment",
        _WHERE,
        "fig9 fig9-peak",
        text=f"Beside UDP REM generally performs better than PI in {_NAMES[measure]}.",
        name=f"rem-over-pi-{measure}",
    )
    @tolerance(FOUR[measure][2])
    def judge(exp4: Runs, exp4_peak: Runs | None = None) -> Judgement:
        """Compare REM with PI at each density; averaged over them, and by the other reading of it, beside."""
        compared = partial(best, measure=measure, others=["PI"], subject="REM")
        means: list[Check] = []
        each: list[list[Check]] = []
        for runs, factor, words in _readings(exp4, exp4_peak):
            means += compared(runs, where=f"({_WORDS[measure]}), all densities{words},")
            each.append(
                [
                    check
                    for rate in runs.points(UDP_RATE)
                    for check in compared(runs, at={UDP_RATE: rate}, where=f"at {factor * density(rate):g}{words}")
                ]
            )
        parts, *others = each
        beside = [*chain(*others)]
        return Judgement(
            parts,
            "As for LRED, eight tenths of the densities are asked for; the average over them is beside. REM's "
            "probability climbs five times as fast as PI's, which matters where UDP changes the load much: "
            f"{_REM[measure]}. {_peak(beside)}",
            [*means, *beside],
            need=0.8,
        )

    return judge


_REM = {
    "goodput": "from 0.5 on, as before the link is never idle",
    "queue": "from 0.7 on",
    "deviation": "from 0.3 on",
    "loss": "from 0.7 on, while at lower densities PI's longer queue loses less",
}
"""From which density on REM is better than PI."""


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
@tolerance(replace(MUCH, reason=f"{MUCH.reason}; the longer: by {TIME.value:g} %"))
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
    times = [f"{stuck('LRED', rate).mean:.2g} s with a density of {density(rate):g}" for rate in rates]
    return Judgement(
        parts,
        "While the buffer is full or empty PI's p moves by 0.001 a second and REM's by 0.005, whereas LRED's estimate "
        f"follows what is lost: LRED is there for {' and '.join(times)}. The latter is more than the 8 s of two "
        "windows, since, while the queue is empty, p is only beta sqrt(L) q0 below L, so that L falls over several.",
        [Effect(f"{effect}LRED, density {density(rate):g}").of(stuck("LRED", rate), most=8) for rate in rates],
    )


@claim(
    "LRED can still regulate the queue length to the expected value with much smaller under- or over-shoots than "
    "PI, PI* and REM",
    "Section 6.2, Experiment 4, Fig. 10",
    "fig10",
)
@tolerance(replace(MUCH, reason=f"{MUCH.reason}; the queue about its target: within {BAND.value:g} packets"))
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

    def late(rate: float, begin: float, end: float) -> PerSeed:
        def mean(frame: polars.DataFrame) -> float:
            return float(Seconds(frame).during(begin, end).mean())

        return exp4.from_series("LRED", mean, {UDP_RATE: rate}, unit="packets")

    held = [
        Effect(f"mean queue of LRED from {begin} s to {end} s, density {density(rate):g}").of(
            late(rate, begin, end), least=Q0 - BAND.value, most=Q0 + BAND.value
        )
        for rate in _drawn(exp4)
        for begin, end in ((70, 150), (170, 200))
    ]
    return Judgement(
        [
            *held,
            *compared("overshoot in the 20 s after UDP comes", over),
            *compared("undershoot in the 20 s after it goes", under),
        ],
        "LRED's queue is back at its target 20 s after either step, which is the part that holds. Over- and "
        "undershoots are the highest and the lowest mean of 1 s: UDP comes and goes faster than any scheme can follow, "
        "so that every queue comes near the ends of the buffer, 100 packets from the target on either side. LRED's is "
        "only there for a shorter time, as the mean distance from the target in these 20 s, beside, shows.",
        compared("mean |queue - q0| in the 20 s after either step", off),
    )
