"""Claims of experiment 4 (Figs. 9 and 10): unresponsive UDP flows from 50 s to 150 s."""

from __future__ import annotations

from functools import partial

from aqmlab.library.lred.measures import FOUR, SAID, UDP_RATE, Seconds, away, best, density, lower, rivals
from aqmlab.papers import Check, Claim, Judgement, PerSeed, Runs, Tolerance, claim

_WHERE = "Section 6.2, Experiment 4, Fig. 9"
_WORDS = {"goodput": "all traffic", "queue": "distance from q0", "deviation": "of the queue", "loss": "ratio"}


def _best(measure: str) -> Claim:
    @claim(
        text=f"With UDP beside TCP LRED generally has {SAID[measure]} of LRED, PI, PI* and REM.",
        name=f"udp-{measure}",
        quote="LRED generally outperforms PI, PI*, and REM in all these performance measures",
        where=_WHERE,
        tolerance=FOUR[measure][2],
        shown="fig9",
        comparative=True,
    )
    def judge(exp4: Runs, exp4_peak: Runs | None = None) -> Judgement:
        """Compare at every density; with the other reading of the density beside."""
        parts = [
            check
            for rate in exp4.points(UDP_RATE)
            for check in best(
                exp4, measure, rivals(exp4), at={UDP_RATE: rate}, where=f"({_WORDS[measure]}) at {density(rate):g}"
            )
        ]
        beside = best(exp4_peak, measure, rivals(exp4_peak)) if exp4_peak else []
        values = ", ".join(f"{label} {exp4.per_seed(FOUR[measure][0], label):.3g}" for label in exp4.labels)
        return Judgement(
            parts,
            f"Means over the densities: {values}. UDP comes and goes in a second: LRED's estimate follows in 4 s, an "
            "integrator with its response time, and a queue that is full meanwhile loses less.",
            beside,
            need=0.8,
        )

    return judge


BEST = [_best(measure) for measure in FOUR]


def _densest(measure: str) -> Claim:
    @claim(
        text=f"LRED's lead grows with the density of UDP: {SAID[measure]}.",
        name=f"udp-density-{measure}",
        quote="especially when the UDP traffic density is high",
        where=_WHERE,
        tolerance=FOUR[measure][2],
        shown="fig9",
    )
    def judge(exp4: Runs, exp4_peak: Runs | None = None, *, tolerance: Tolerance) -> Judgement:
        """Compare LRED's lead at the lowest and the highest density."""
        metric, better, _ = FOUR[measure]

        def gains(runs: Runs) -> list[Check]:
            first, *_, last = runs.points(UDP_RATE)
            found = []
            for label in rivals(runs):
                leads = [
                    (runs.per_seed(metric, "LRED", {UDP_RATE: rate}) - runs.per_seed(metric, label, {UDP_RATE: rate}))
                    * (1 if better == "higher" else -1)
                    for rate in (last, first)
                ]
                effect = f"lead on {label} at a density of {density(last):g} minus at {density(first):g}"
                found.append(Check.of(effect, leads[0] - leads[1], unit=tolerance.unit, least=tolerance.value))
            return found

        return Judgement(
            gains(exp4),
            "The load's step is in proportion to the density, and so is the time in which an integrator has the buffer "
            "full or empty.",
            gains(exp4_peak) if exp4_peak else [],
        )

    return judge


DENSEST = [_densest(measure) for measure in FOUR]


def _rem(measure: str) -> Claim:
    @claim(
        text=f"Beside UDP REM performs better than PI: {SAID[measure]} of the two.",
        name=f"rem-over-pi-{measure}",
        quote="REM achieves better performance than PI in this experiment",
        where=_WHERE,
        tolerance=FOUR[measure][2],
        shown="fig9",
    )
    def judge(exp4: Runs) -> Judgement:
        """Compare REM with PI, averaged over the densities."""
        return Judgement(
            best(exp4, measure, ["PI"], subject="REM"),
            "REM's probability climbs five times as fast as PI's: 200 s and 980 s per unit.",
        )

    return judge


def _drawn(exp4: Runs) -> list[float]:
    """Return UDP's rates at the densities of figure 10."""
    return [rate for rate in exp4.points(UDP_RATE) if density(rate) in (0.5, 0.9)]


REM_OVER_PI = [_rem(measure) for measure in FOUR]


@claim(
    quote="the buffers of PI, PI* and REM are overflowed (or empty) for a long time",
    where="Section 6.2, Experiment 4, Fig. 10",
    tolerance=Tolerance(10, "s", "a twentieth of the figure's axis"),
    shown="fig10",
)
def udp_stuck(exp4: Runs, *, tolerance: Tolerance) -> Judgement:
    """When UDP comes or goes, the buffer is full or empty for long with PI, PI* and REM, and not with LRED."""

    def stuck(label: str, rate: float) -> PerSeed:
        return exp4.from_series(label, lambda frame: Seconds(frame).stuck(begin=50), {UDP_RATE: rate}, unit="s")

    parts = [
        Check.better(
            f"seconds with a full or empty buffer, {label} minus LRED, density {density(rate):g}",
            stuck(label, rate),
            stuck("LRED", rate),
            "higher",
            tolerance,
        )
        for rate in _drawn(exp4)
        for label in ("PI", "PI*", "REM")
    ]
    # Two response times to a load step: the estimate takes 4 s to forget the previous load.
    beside = [
        Check.of(f"seconds with a full or empty buffer, LRED, density {density(rate):g}", stuck("LRED", rate), most=8)
        for rate in _drawn(exp4)
    ]
    return Judgement(
        parts, "With the buffer full or empty PI's p moves by 0.001 a second, REM's by 0.005; LRED measures it.", beside
    )


@claim(
    quote="much smaller under- or over-shoots than PI, PI* and REM",
    where="Section 6.2, Experiment 4, Fig. 10",
    tolerance=Tolerance(20, "packets", "much smaller: a tenth of the figure's axis"),
    shown="fig10",
)
def udp_overshoot(exp4: Runs, *, tolerance: Tolerance) -> Judgement:
    """As UDP's density grows, LRED's queue leaves its target far less than those of PI, PI* and REM."""

    def shot(label: str, rate: float) -> PerSeed:
        steps = (away(exp4, label, {UDP_RATE: rate}, begin, begin + 20) for begin in (50, 150))
        return PerSeed.average(steps)

    parts = [
        check
        for rate in _drawn(exp4)
        for check in lower(
            f"|queue - q0| in the 20 s after a step, density {density(rate):g}",
            partial(shot, rate=rate),
            ("PI", "PI*", "REM"),
            tolerance,
        )
    ]
    return Judgement(parts, "Means of 1 s. The buffer ends 100 packets from the target on either side.")
