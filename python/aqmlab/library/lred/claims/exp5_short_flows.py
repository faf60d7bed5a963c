"""Claims of experiment 5 (Figs. 11 to 14): short flows beside long ones, AVQ, Pareto distributions."""

from __future__ import annotations

from aqmlab.library.lred.experiments import AVQS
from aqmlab.library.lred.measures import ARRIVAL_RATE, distance, mean_text, off_target
from aqmlab.papers import Check, Claim, Evidence, Judgement, Runs
from aqmlab.papers.run.seeds import difference
from aqmlab.theory import avq

_BETTER = {"goodput": 1e-6, "queue_mad": -1.0, "loss_ratio": -100.0}
"""Factors for differences, in Mbit/s, packets and %, signed such that larger means better."""

_SAID = {
    "goodput": ("goodput", "Mbit/s"),
    "queue_mad": ("queue deviation", "packets"),
    "loss_ratio": ("loss ratio", "%"),
}


def advantage(runs: Runs, metric: str, label: str, to: str, at: dict[str, float] | None = None) -> Check:
    """Check that ``label`` is better than ``to``, by the paired difference in Mbit/s, packets or %.

    ``metric`` is ``goodput``, ``queue_mad`` or ``loss_ratio``; without ``at``, the mean over all points.
    """
    name, unit = _SAID[metric]
    gained = "gain in" if _BETTER[metric] > 0 else "reduction of"
    values = runs.differences(metric, label, to, at, scale=_BETTER[metric])
    return Check.of(f"{gained} {name}, {label} over {to}", values, unit=unit, least=0)


def _best_with_short_flows(evidence: Evidence) -> Judgement:
    """Compare goodput, loss, deviation and the distance of the mean queue from its target."""
    runs = evidence["exp5"]
    checks = []
    hero = off_target(runs, runs.hero)
    for other in runs.others:
        effect = f"reduction of |mean queue - q0|, {runs.hero} over {other}"
        checks.append(Check.of(effect, difference(off_target(runs, other), hero), unit="packets", least=0))
        checks += [advantage(runs, metric, runs.hero, other) for metric in _BETTER]
    queues = ", ".join(
        f"{one} {mean_text(runs, 'queue_mean', one)} and {mean_text(runs, 'queue_empty', one, 2)}"
        for one in runs.labels
    )
    return Judgement(
        checks,
        "Means over all arrival rates. Mean queues in packets, and shares of the time in which no packet waits: "
        f"{queues}. An integrator that is late has the buffer full while the short flows are there, and drops too much "
        "for as long after they have gone: that empties the queue and costs goodput.",
    )


def _steady_at_the_step(evidence: Evidence) -> Judgement:
    """Compare the queue's distance from its target after short flows have arrived, and after they have left."""
    runs = evidence["exp5-time"]
    checks = []
    for rate in runs.points(ARRIVAL_RATE):
        at = {ARRIVAL_RATE: rate}
        for begin, change in ((50.0, "come"), (150.0, "go")):
            hero = distance(runs, runs.hero, begin, begin + 20, at)
            for other in runs.others:
                theirs = distance(runs, other, begin, begin + 20, at)
                checks.append(
                    Check.of(
                        f"|queue - q0|, 20 s after flows {change}, lambda = {rate:g}/s: {other} minus {runs.hero}",
                        difference(theirs, hero),
                        unit="packets",
                        least=0,
                    )
                )
    return Judgement(
        checks,
        "LRED measures the new loss ratio within its period of 1 s and window of 4 s, whatever it is; an integrator "
        "has to climb there, the longer the higher.",
    )


def _avq_trade(evidence: Evidence) -> Judgement:
    """Compare the slowest AVQ, from either initial capacity, with the fastest."""
    runs = evidence["exp5-avq"]
    slow, fast, full = AVQS
    checks = []
    for one in (slow, full):
        checks += [advantage(runs, "goodput", one, fast), advantage(runs, "loss_ratio", one, fast)]
        checks += [
            Check.of(f"{words}, {one} minus {fast}", runs.differences(metric, one, fast), unit="packets", least=0)
            for metric, words in (("queue_mean", "mean queue"), ("queue_mad", "queue deviation"))
        ]
    means = ", ".join(
        f"{mean_text(runs, 'goodput', one, scale=1e-6)} Mbit/s and {mean_text(runs, 'queue_mean', one, 2)} packets "
        f"with {one}"
        for one in AVQS
    )
    return Judgement(
        checks,
        "The time constant of the virtual capacity is 1 / alpha, 100 s for 0.01: in a run of 200 s such an AVQ shows "
        "where it started. From ns-2's 0.8 C it leaves the link idle for want of capacity, from C it uses more than "
        f"gamma C. There are {means}. The paper does not state the start, but describes the one from C.",
    )


def _against_avq(evidence: Evidence, label: str, few: bool) -> Judgement:
    """Compare LRED with AVQ at each alpha, on one side of 60 short flows per second."""
    runs = evidence["exp5-avq"]
    sides = {True: [rate for rate in runs.points(ARRIVAL_RATE) if rate <= 60]}
    sides[False] = [rate for rate in runs.points(ARRIVAL_RATE) if rate > 60]

    def worst(metric: str, other: str, side: bool) -> Check:
        return min(
            (advantage(runs, metric, label, other, {ARRIVAL_RATE: rate}) for rate in sides[side]),
            key=lambda check: check.value,
        )

    checks = [worst(metric, other, few) for other in AVQS for metric in ("goodput", "loss_ratio")]
    reverse = min(worst("goodput", other, not few).value for other in AVQS)
    queues = ", ".join(f"{one} {mean_text(runs, 'queue_mean', one, 2)}" for one in runs.labels)
    q0 = float(label.rsplit(" ", 1)[1])
    # While the queue is empty, the square root of L falls by beta q0 / 2T per second, T = 2.6 s.
    fall = (0.2**0.5 - 0.1**0.5) * 2 * 2.6 / (0.001 * q0)
    return Judgement(
        checks,
        "The least advantage over the arrival rates on this side; on the other the least gain in goodput is "
        f"{reverse:.2g} Mbit/s. Mean queues (packets): {queues}. AVQ leaves 2 % of the link unused by design; with "
        f"{label} no packet waits for {mean_text(runs, 'queue_empty', label, 2)} of the time: a burst, first of all "
        "the flows' slow starts, leaves an estimate that is too high, and while the queue is empty p is only beta "
        f"sqrt(L) q0 below it, so that with q0 = {q0:g} it takes {fall:.0f} s at least from 0.2 to 0.1, with 100 some "
        "7 s.",
    )


def _avq_limit(evidence: Evidence) -> Judgement:
    """Compute the largest alpha that is stable in the linear model of AVQ."""
    limit = float(avq.working_rule(N=100, d=0.45, C=2500.0, gamma=0.98))
    critical, _ = avq.least_critical_alpha(100, 0.45, 2500.0, 0.98, B=200)
    return Judgement(
        [
            Check.exact("N / (gamma C R^2), TCP's own pole", limit, unit="1/s", least=0.19, most=0.21),
            Check.exact("least alpha at the limit of stability, virtual buffer 200", critical, unit="1/s", least=0.2),
        ],
        "The number is TCP's pole: up to it the zero of the adaptation takes no more phase than the pole does. It "
        "guarantees nothing: with a virtual buffer as long as the real one the linear model of 100 flows is unstable "
        "for every alpha. The theorem that the paper quotes was not at hand.",
    )


def _pareto_alike(evidence: Evidence) -> Judgement:
    """Compare Pareto distributions with exponential gaps and uniform lifetimes of the same means."""
    poisson, pareto = evidence["exp5"], evidence["exp5-pareto"]
    checks = []
    at = {ARRIVAL_RATE: 100.0}
    for label in pareto.labels:
        for metric, (words, _) in _SAID.items():
            first = poisson.values(metric, label, at)
            second = pareto.values(metric, label)
            change = [100 * (b / a - 1) for a, b in zip(first, second, strict=False) if a and b is not None]
            checks.append(Check.of(f"change of {words} with {label}", change, unit="%", least=-10, most=10))
    return Judgement(
        checks,
        "Insignificant is taken as within 10 %. Lifetimes of shape 1.5 have no variance, so a run of 100 s has more or "
        "less traffic by chance: seeds differ more than with Poisson.",
    )


def _best_with_pareto(evidence: Evidence) -> Judgement:
    """Compare deviations and the queue after the step, with Pareto distributions."""
    runs = evidence["exp5-pareto"]
    checks = [advantage(runs, "queue_mad", runs.hero, other) for other in runs.others]
    hero = distance(runs, runs.hero, 50, 70, {})
    for other in runs.others:
        gained = difference(distance(runs, other, 50, 70, {}), hero)
        checks.append(
            Check.of(
                f"|queue - q0| in the 20 s after the flows come: {other} minus LRED", gained, unit="packets", least=0
            )
        )
    return Judgement(
        checks, "The response is that of Fig. 12; the law of the arrivals does not enter LRED's measurement."
    )


CLAIMS = [
    Claim(
        name="short-flows-best",
        text="With short flows between the long ones, LRED outperforms PI, PI* and REM in goodput, queue, deviation "
        "and loss.",
        where="Section 6.2, experiment 5, Fig. 11",
        judge=_best_with_short_flows,
        needs=["exp5"],
        shown=["fig11"],
        sensitive=True,
        comparative=True,
    ),
    Claim(
        name="short-flows-responsive",
        text="When short flows come and go, LRED's queue stays closer to its target than those of PI, PI* and REM.",
        where="Section 6.2, experiment 5, Fig. 12",
        judge=_steady_at_the_step,
        needs=["exp5-time"],
        shown=["fig12"],
    ),
    Claim(
        name="avq-limit",
        text="By AVQ's design rule alpha must be at most .2 for 100 flows of 450 ms at 2500 packets a second.",
        where="Section 6.2, experiment 5",
        judge=_avq_limit,
        shown=["fig13"],
    ),
    Claim(
        name="avq-trade",
        text="The smaller AVQ's alpha, the higher its goodput and the lower its loss, the longer its queue and the "
        "larger its deviation.",
        where="Section 6.2, experiment 5, Fig. 13",
        judge=_avq_trade,
        needs=["exp5-avq"],
        shown=["fig13"],
        sensitive=True,
    ),
    Claim(
        name="avq-few",
        text="Up to 60 short flows a second, LRED with q0 = 20 is better than AVQ.",
        where="Section 6.2, experiment 5, Fig. 13; the relation signs are lost in print",
        judge=lambda evidence: _against_avq(evidence, "LRED q0 = 20", True),
        needs=["exp5-avq"],
        shown=["fig13"],
        sensitive=True,
    ),
    Claim(
        name="avq-many",
        text="Above 60 short flows a second, LRED with q0 = 10 is better than AVQ.",
        where="Section 6.2, experiment 5, Fig. 13; the relation signs are lost in print",
        judge=lambda evidence: _against_avq(evidence, "LRED q0 = 10", False),
        needs=["exp5-avq"],
        shown=["fig13"],
        sensitive=True,
    ),
    Claim(
        name="pareto-alike",
        text="Pareto arrivals and lifetimes make no significant difference from Poisson arrivals.",
        where="Section 6.2, experiment 5, Fig. 14",
        judge=_pareto_alike,
        needs=["exp5", "exp5-pareto"],
        shown=["fig14"],
    ),
    Claim(
        name="pareto-best",
        text="With Pareto's law too LRED responds faster and holds its queue better.",
        where="Section 6.2, experiment 5, Fig. 14",
        judge=_best_with_pareto,
        needs=["exp5-pareto"],
        shown=["fig14"],
    ),
]
