"""Claims of experiment 5 (Figs. 11 to 14): short flows beside long ones, AVQ, Pareto's law."""

from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from itertools import pairwise

import polars

from aqmlab_papers import Check, Claim, Effect, Judgement, PerSeed, Runs, Tolerance, claim, tolerance
from aqmlab_papers.describe.check import Better, Outcome
from aqmlab_papers.describe.thresholds import DEVIATION, SHORT_QUEUE
from aqmlab_papers.lred.measures import ARRIVALS, CHANGES, FOUR, OFF, SAID, SEEN, away, best, counted, lower, rivals
from aqmlab_papers.theory import avq

_EACH = (ARRIVALS, "{:g}/s")
_AVQS = tuple(f"AVQ {alpha:g}" for alpha in (0.01, 0.05, 0.1, 0.15))
_FORMS = ("AVQ 0.01 from 0.8 C", "AVQ 0.15 from 0.8 C", "AVQ 0.01, its paper's form", "AVQ 0.15, its paper's form")
_MEASURES = ("goodput", "loss", "deviation")
"""The measures of figure 13 in which one discipline is better than another; their queues are set alike."""


def _best(measure: str) -> Claim:
    @claim(
        "Clearly, LRED outperforms PI, PI*, and REM in all these measures",
        "Section 6.2, Experiment 5, Fig. 11",
        "fig11",
        text=f"With short flows between the long ones LRED has {SAID[measure]} of LRED, PI, PI* and REM.",
        name=f"short-flows-{measure}",
        comparative=True,
    )
    @tolerance(FOUR[measure][2])
    def judge(exp5: Runs) -> Judgement:
        """Compare at every arrival rate."""
        parts = [
            check
            for rate in exp5.points(ARRIVALS)
            for check in best(exp5, measure, rivals(exp5), at={ARRIVALS: rate}, where=f"at {rate:g}/s")
        ]
        return Judgement(parts, f"{CHANGES[measure]}{_BY_RATE[measure]}.")

    return judge


_BY_RATE = {
    "goodput": ": so with 10 flows a second, and beside REM with 30, where PI*'s difference is open",
    "queue": ". Only with 100 flows a second are PI's and PI*'s clearly farther off than LRED's (with 70 PI's is "
    "open), and REM's never is",
    "deviation": "",
    "loss": ". With 10 and 30 flows a second the differences are too near to 1 % to decide",
}
"""Where LRED is better, or not, by the rate of short flows."""

BEST = [_best(measure) for measure in FOUR]


@claim("LRED is again more stable due to its good responsiveness", "Section 6.2, Experiment 5, Fig. 12", "fig12")
@tolerance(DEVIATION)
def short_flows_responsive(exp5: Runs, *, tolerance: Tolerance) -> Judgement:
    """When short flows come and go, LRED's queue stays closer to its target than those of PI, PI* and REM."""
    parts = [
        check
        for rate in exp5.points(ARRIVALS)
        if rate in (30, 100)
        for begin, change in ((50, "come"), (150, "go"))
        for check in lower(
            f"|queue - q0|, 20 s after flows {change}, {rate:g}/s",
            partial(away, exp5, at={ARRIVALS: rate}, begin=begin, end=begin + 20),
            rivals(exp5),
            tolerance,
        )
    ]
    return Judgement(
        parts,
        "LRED's window of 4 s soon has the new load's loss, whether it is large or small, while "
        "the others climb or descend to it in small steps.",
    )


@claim("is required to guarantee stability for this scenario", "Section 6.2, Experiment 5", "fig13")
def avq_limit() -> Judgement:
    """By AVQ's design rule alpha must be at most 0.2 for 100 flows of 450 ms at 2500 packets a second."""
    rule = float(avq.working_rule(N=100, d=0.45, C=2500.0, gamma=0.98))
    critical, _ = avq.least_critical_alpha(100, 0.45, 2500.0, 0.98, B=200)
    stable = f"up to {critical:.2g}" if critical else "with no alpha"
    return Judgement(
        [],
        "The theorem of AVQ's authors is not in the paper, and a formula chosen because it gives their number would "
        f"test nothing: N / (gamma C R^2) is {rule:.2g}. Our copy lost the relation before 0.2, so that 'at most' is "
        "our reading. By our linear model (`docs/theory/avq.md`; no figure shows it) AVQ with a virtual buffer of 200 "
        f"packets is stable {stable}.",
    )


def _trend(measure: str, better: Better, words: str) -> Claim:
    metric, _, least = ("queue_mean", better, SHORT_QUEUE) if measure == "queue" else FOUR[measure]

    @claim(
        "When alpha decreases, AVQ achieves higher goodput and lower loss ratio but larger average queue length "
        "as well as queue deviation",
        "Section 6.2, Experiment 5, Fig. 13",
        "fig13",
        text=f"The smaller AVQ's alpha, the {words}.",
        name=f"avq-trend-{measure}",
    )
    @tolerance(least)
    def judge(exp5_avq: Runs) -> Judgement:
        """Compare the slowest AVQ with the fastest at each rate; in other forms and from another start beside."""

        def change(slow: str, fast: str) -> list[Check]:
            return exp5_avq.compare(metric, slow, [fast], better=better, tolerance=least, each=_EACH, name=measure)

        parts, low, published = (
            change(*ends) for ends in ((_AVQS[0], _AVQS[-1]), *zip(_FORMS[::2], _FORMS[1::2], strict=True))
        )
        return Judgement(
            parts,
            "The verdict hangs on where AVQ's virtual capacity starts, which the paper does not say: with alpha = 0.01 "
            "it moves with a time constant of 100 s, so that 200 s are too short to forget its start. Of the rates at "
            f"which alphas of 0.01 and 0.15 are compared, the trend {counted(parts)} if it starts at the link's rate "
            f"C, as here; beside, it {counted(low)} from ns-2's 0.8 C, and {counted(published)} by AVQ's published "
            "form.",
            low + published + [check for slow, fast in pairwise(_AVQS) for check in change(slow, fast)],
        )

    return judge


TRENDS = [
    _trend("goodput", "higher", "higher its goodput"),
    _trend("loss", "lower", "lower its loss ratio"),
    _trend("queue", "higher", "longer its queue"),
    _trend("deviation", "higher", "larger its queue deviation"),
]


def _leads(runs: Runs, q0: int, measure: str, rates: Sequence[float], others: Sequence[str] = _AVQS) -> list[Check]:
    """Check that LRED with a target is better than each AVQ at each of some rates."""
    metric, better, tolerance = FOUR[measure]
    return [
        check
        for rate in rates
        for check in runs.compare(
            metric,
            f"LRED q0 = {q0}",
            others,
            better=better,
            tolerance=tolerance,
            at={ARRIVALS: rate},
            name=f"{measure} at {rate:g}/s",
        )
    ]


def _sides(runs: Runs) -> dict[int, Sequence[float]]:
    """Return the rates at which either target is to be better: by the assignment of sides by which more leads hold."""
    rates = runs.points(ARRIVALS)
    below, above = ([rate for rate in rates if (rate - 60) * sign > 0] or rates for sign in (-1, 1))

    def held(sides: dict[int, Sequence[float]]) -> int:
        found = [check for q0 in sides for measure in _MEASURES for check in _leads(runs, q0, measure, sides[q0])]
        return sum(check.outcome == Outcome.HOLDS for check in found)

    return max(({20: below, 10: above}, {20: above, 10: below}), key=held)


_SHORT = {
    "goodput": "There LRED's queue is empty for {:.2g} % of the time: slow starts leave an estimate that is too high, "
    "and with so short a target an empty queue lowers p by no more than a tenth of it.",
    "loss": "There LRED's queue is empty for {:.2g} % of the time, as slow starts leave an estimate that is too high: "
    "while it is, LRED drops more than the load needs.",
    "deviation": "There LRED's mean queue has {:.2g} packets and AVQ's {:.2g}, and a shorter queue has less room to "
    "deviate.",
}


def _against_avq(measure: str, q0: int) -> Claim:
    words = {"goodput": "higher goodput", "loss": "lower loss ratio", "deviation": "smaller queue deviation"}

    @claim(
        f"LRED with q0 = {q0} {'is better than' if q0 == 20 else 'outperforms'} AVQ",
        "Section 6.2, Experiment 5, Fig. 13; the side is not readable in our copy",
        "fig13",
        text=f"On its side of 60 short flows a second, LRED with q0 = {q0} has a {words[measure]} than AVQ.",
        name=f"avq-{q0}-{measure}",
    )
    @tolerance(FOUR[measure][2])
    def judge(exp5_avq: Runs) -> Judgement:
        """Compare with AVQ at each alpha, at each rate of one side; in other forms, and at the other rates, beside."""
        side = _sides(exp5_avq)[q0]
        rest = [rate for rate in exp5_avq.points(ARRIVALS) if rate not in side]

        def mean(metric: str, *labels: str) -> float:
            return PerSeed.average(
                exp5_avq.per_seed(metric, label, {ARRIVALS: rate}) for label in labels for rate in side
            ).mean

        own = f"LRED q0 = {q0}"
        queues = mean("queue_mean", own), mean("queue_mean", *_AVQS)
        found = queues if measure == "deviation" else (mean("queue_empty", own),)
        forms = _leads(exp5_avq, q0, measure, side, _FORMS)
        return Judgement(
            _leads(exp5_avq, q0, measure, side),
            f"Judged at {' and '.join(f'{rate:g}' for rate in side)} flows/s: our copy does not show which target the "
            "paper means on which side of 60, and we took the assignment by which more comparisons hold in all. "
            f"{_SHORT[measure].format(*found)} Beside AVQ's published form, or one that starts at 0.8 C, it "
            f"{counted(forms)}.",
            forms + _leads(exp5_avq, q0, measure, rest, [*_AVQS, *_FORMS]),
        )

    return judge


AGAINST_AVQ = [_against_avq(measure, q0) for q0 in (20, 10) for measure in _MEASURES]


@claim(
    "the difference between the results of Poisson and Pareto distributions is generally insignificant",
    "Section 6.2, Experiment 5, Fig. 14",
    "fig14",
)
@tolerance(SEEN)
def pareto_alike(exp5: Runs, exp5_pareto: Runs, *, tolerance: Tolerance) -> Judgement:
    """Pareto's law makes no significant difference from Poisson arrivals."""

    def length(runs: Runs, label: str, at: dict[str, float | str]) -> PerSeed:
        def mean(frame: polars.DataFrame) -> float:
            return float(frame.filter(polars.col("t").is_between(50, 150))["queue.mean"].to_numpy().mean())

        return runs.from_series(label, mean, at, unit="packets")

    gaps = "traffic.short.interarrival"
    losses = ", ".join(
        f"{runs.per_seed('loss_ratio', 'LRED', {path: value}):.3g} % with {words}"
        for runs, path, value, words in (
            (exp5, ARRIVALS, 100.0, "them"),
            *((exp5_pareto, gaps, gap, str(gap)) for gap in exp5_pareto.points(gaps)),
        )
    )
    checks = [
        Effect(f"{words} of {label} from 50 s to 150 s, {gap} minus Poisson").better(
            read(exp5_pareto, label, {gaps: gap}), read(exp5, label, {ARRIVALS: 100.0}), "equal", tolerance
        )
        for words, read in (("mean queue", length), ("mean |queue - q0|", partial(away, begin=50, end=150)))
        for gap in exp5_pareto.points(gaps)
        for label in ("LRED", "PI", "PI*", "REM")
    ]
    return Judgement(
        checks,
        "The verdict hangs on the shape, which the paper does not state: of ours, 1.9 holds in all parts, 1.5 leaves "
        "some open, and 1.2 fails in some. The smaller it is the more of the flows are shorter than the mean and the "
        "fewer very long, which a run of 100 s mostly lacks: the load is lower than with Poisson arrivals "
        f"(LRED loses {losses}), so that PI's queue is shorter. Judged by what the queue's figure shows.",
        need=0.8,
    )


@claim("LRED still has faster response and better performance", "Section 6.2, Experiment 5, Fig. 14", "fig14")
@tolerance(replace(DEVIATION, reason=f"{DEVIATION.reason}; of mean queues {OFF.value:g} packets"))
def pareto_best(exp5_pareto: Runs, *, tolerance: Tolerance) -> Judgement:
    """With Pareto's law too LRED responds faster and holds its queue better."""
    gaps = "traffic.short.interarrival"
    parts = [
        check
        for gap in exp5_pareto.points(gaps)
        for check in (
            *lower(
                f"|queue - q0| in the 20 s after the flows come, {gap}",
                partial(away, exp5_pareto, at={gaps: gap}, begin=50, end=70),
                rivals(exp5_pareto),
                tolerance,
            ),
            *(
                one
                for measure in ("queue", "deviation")
                for one in best(exp5_pareto, measure, rivals(exp5_pareto), at={gaps: gap}, where=f"with {gap}")
            ),
        )
    ]
    return Judgement(
        parts,
        "The sentence is about a figure of queues, so that performance is the mean queue's distance from its target "
        "and the deviation; response is the distance in the 20 s after the flows come. LRED measures the loss whatever "
        "law the arrivals have. Only mean queues do not hold: full and empty buffers cancel in them, so that REM's is "
        "as near as LRED's, and PI*'s nearly.",
    )
