"""Claims on the equilibrium: the balance of bytes, the corrected rate target, the model."""

from __future__ import annotations

from typing import TYPE_CHECKING

from aqmlab.library.raqm.measures import BAND, FLOWS, Q0, TARGET, at, balance, p_k, slope
from aqmlab.library.raqm.theory import GROUPS, at_rest
from aqmlab.papers import Check, Claim, Evidence, Judgement
from aqmlab.papers.run.seeds import rounded
from aqmlab.results.summary import Summary

if TYPE_CHECKING:
    pass

P_FLOOR = 1e-6
"""The floor of p_k, for which the scenarios use the default of `aqmlab show raqm`."""
LEAST, MOST = 0.997, 1.003
"""U + l within .003 of 1: p_k's drift over the 100 s of averaging has a smaller effect."""


def unclipped(evidence: Evidence) -> Judgement:
    """Add utilisation and loss where p_k is within its bounds."""
    runs, first = evidence["case3b"], evidence["case1"]
    few = first.points(FLOWS)[0]
    checks = [
        Check.of(
            "U + l, 100 flows, mean over the targets",
            runs.each(balance(), runs.hero).values(),
            least=LEAST,
            most=MOST,
        ),
        Check.of(
            f"U + l, case 1, {few:g} flows",
            first.each(balance(), first.hero, at(few)).values(),
            least=LEAST,
            most=MOST,
        ),
    ]
    held = Summary.of(list(p_k(first, at(few)).values())).mean
    return Judgement(
        checks,
        f"p_k rests (at {rounded(held)} in case 1) where the arrivals, lost ones "
        "included, have the link's rate; what is lost is not sent, and the link idles for as long.",
    )


def clipped(evidence: Evidence) -> Judgement:
    """Compare the queue with l q0 where p_k is 1."""
    import polars

    checks, means = [], []
    for case in GROUPS:
        runs = evidence[case]
        many = runs.points(FLOWS)[-1]
        ratio = polars.col("queue_mean") / (polars.col("loss_ratio") * Q0)
        checks.append(
            Check.of(
                f"q / (l q0), case {case[-1]}, {many:g} flows",
                runs.each(ratio, runs.hero, at(many)).values(),
                # Arrivals see a queue other than its time average: bursts find it longer, departures let it empty.
                least=0.88,
                most=1.12,
            )
        )
        means.append(f"case {case[-1]} {rounded(Summary.of(list(p_k(runs, at(many)).values())).mean)}")
    return Judgement(
        checks, f"p_k: {', '.join(means)}. At p_k = 1 an arrival is lost with probability q / q0, so that l = q / q0."
    )


def idle(evidence: Evidence) -> Judgement:
    """Judge whether p_k is at its floor where the link is not kept busy."""
    runs = evidence["case2"]
    few = runs.points(FLOWS)[0]
    checks = [
        Check.of(
            f"p_k over its floor, case 2, {few:g} flows",
            [held / P_FLOOR for held in p_k(runs, at(few)).values()],
            most=10,
        ),
        Check.of(f"U + l, case 2, {few:g} flows", runs.each(balance(), runs.hero, at(few)).values(), most=0.997),
    ]
    overflow = runs.mean("drops_overflow", runs.hero, at(few)).mean
    early = runs.mean("drops_early", runs.hero, at(few)).mean
    return Judgement(
        checks,
        "The flows halve together after an overflow and never send the link's rate on average, so that (3) lowers p_k "
        f"as far as it may: {rounded(overflow)} packets were lost to overflow and {rounded(early)} to RAQM.",
    )


def corrected(evidence: Evidence) -> Judgement:
    """Judge whether the corrected rate fills the link, and whether the queue then follows the target."""
    runs = evidence["corrected"]
    label = runs.labels[0]
    checks = [
        Check.of("utilisation, mean over the targets", runs.values("utilisation", label), least=0.995),
        Check.of("packets of queue for each packet of target", slope(runs, label), least=1 - BAND, most=1 + BAND),
    ]
    queues = ", ".join(
        f"{rounded(runs.mean('queue_mean', label, {TARGET: q0}).mean)} at {q0:g}" for q0 in runs.points(TARGET)
    )
    return Judgement(
        checks,
        "A full link then has U = 1 with any loss, but any queue that neither empties nor overflows is in balance, p_k "
        "being l q0 / q. The measured l is that of early drops, so that p_k climbs from the full buffer of the start "
        f"until none overflow, and the queue stays where it then is ({queues}).",
    )


def modelled(evidence: Evidence) -> Judgement:
    """Compare loss and utilisation at many flows with those of the model."""
    checks = []
    for case in GROUPS:
        runs = evidence[case]
        many = runs.points(FLOWS)[-1]
        model = at_rest(case, many)
        found = runs.values("loss_ratio", runs.hero, at(many))
        checks += [
            Check.of(
                f"l over the model's, case {case[-1]}, {many:g} flows",
                [None if one is None else one / model.loss for one in found],
                least=1 - BAND,
                most=1 + BAND,
            ),
            Check.of(
                f"U minus the model's, case {case[-1]}, {many:g} flows",
                [None if one is None else one - model.U for one in runs.values("utilisation", runs.hero, at(many))],
                least=-0.05,
                most=0.05,
            ),
        ]
    return Judgement(
        checks,
        "The model closes the balance with Padhye's rate of a flow at the loss and the round trip, and a queue of "
        "Poisson arrivals; it knows neither synchronised flows nor bursts.",
    )


BEYOND = [
    Claim(
        name="balance-unclipped",
        text="With r0 = C and p_k within its bounds the link idles for as long as drops would have taken: U + l = 1.",
        where="(2), (3)",
        judge=unclipped,
        needs=["case3b", "case1"],
        shown=["regulation", "balance"],
        beyond=True,
    ),
    Claim(
        name="balance-clipped",
        text="With more flows p_k is 1, and the queue rests at l q0.",
        where="(12)",
        judge=clipped,
        needs=[*GROUPS],
        shown=["balance", "start"],
        beyond=True,
    ),
    Claim(
        name="idle",
        text="With long round trips and few flows p_k falls to its floor: RAQM is a drop-tail queue.",
        where="(3)",
        judge=idle,
        needs=["case2"],
        shown=["balance", "start"],
        beyond=True,
    ),
    Claim(
        name="corrected-target",
        text="With r0 = C / (1 - l) the link is full, and the queue follows its target.",
        where="(3), (12)",
        judge=corrected,
        needs=["corrected"],
        shown=["regulation"],
        beyond=True,
    ),
    Claim(
        name="model",
        text="Padhye's flows and a queue of Poisson arrivals tell loss and utilisation of 400 flows.",
        where="docs/theory/raqm.md",
        judge=modelled,
        needs=[*GROUPS],
        shown=["balance"],
        beyond=True,
    ),
]
