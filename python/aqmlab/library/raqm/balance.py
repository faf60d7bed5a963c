"""RAQM's equilibrium: the balance of bytes, the corrected target, the period."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache, partial
from typing import TYPE_CHECKING

import numpy as np

from aqmlab.library.raqm.reading import BAND, FLOWS, Q0, TARGET, at, p_k, slope, told
from aqmlab.papers import Axis, Check, Claim, Curve, Evidence, Figure, Judgement, Panel, Table
from aqmlab.results.summary import Summary

if TYPE_CHECKING:
    import polars

    from aqmlab.theory.raqm.balance import Balance

P_FLOOR = 1e-6
"""The floor of p_k, for which the scenarios use the default of `aqmlab show raqm`."""

GROUPS = {"case1": (30.0,), "case2": (210.0,), "case3": (30.0, 110.0, 210.0, 310.0, 410.0)}
"""Round-trip times without the queue (ms), each of equally many flows."""

CARRIED = 2500.0
"""Link capacity (packets/s)."""


@cache
def at_rest(case: str, flows: float) -> Balance:
    """Return the equilibrium of the model of the queue and Padhye's flows in a case."""
    from aqmlab.theory.domain import remarks
    from aqmlab.theory.raqm import balance
    from aqmlab.theory.tcp import padhye

    groups = np.array(GROUPS[case]) / 1e3
    with remarks():  # it warns that the model excludes synchronised flows; so does the table's caption
        return balance.equilibrium(flows / len(groups), groups, CARRIED, q0=Q0, Q=100, rate=partial(padhye, full=True))


def table(evidence: Evidence) -> polars.DataFrame:
    """List queue, loss and utilisation of each case, with those of the model."""
    import polars

    rows = []
    for case in GROUPS:
        runs = evidence[case]
        for flows in runs.points(FLOWS):
            queue, loss, used = (
                runs.mean(name, runs.hero, at(flows)) for name in ("queue_mean", "loss_ratio", "utilisation")
            )
            model = at_rest(case, flows)
            held = Summary.of(list(p_k(runs, at(flows)).values())).mean or 0.0
            lost, busy = loss.mean or 0.0, used.mean or 0.0
            rows.append(
                {
                    "case": f"{case[-1]}, {flows:g} flows",
                    "p_k": held,
                    "regime": "clipped" if held > 0.9 else "idle" if held < 1e-4 else "unclipped",
                    "regime (model)": model.regime,
                    "q": queue.mean,
                    "q ±": queue.ci95,
                    "q (model)": model.q,
                    "l q0": lost * Q0,
                    "l": lost,
                    "l (model)": model.loss,
                    "U": busy,
                    "U (model)": model.U,
                    "U + l": busy + lost,
                }
            )
    return polars.DataFrame(rows, schema_overrides={"q ±": polars.Float64})


def periods(evidence: Evidence) -> polars.DataFrame:
    """List the effects of the measurement period."""
    import polars

    runs = evidence["period"]
    rows = []
    for period in runs.points("aqm.period"):
        where = {"aqm.period": period}
        queue, spread, loss, used = (
            runs.mean(name, runs.hero, where) for name in ("queue_mean", "queue_std", "loss_ratio", "utilisation")
        )
        rows.append(
            {
                "T (s)": period,
                "mean queue": queue.mean,
                "mean queue ±": queue.ci95,
                "standard deviation": spread.mean,
                "standard deviation ±": spread.ci95,
                "l": loss.mean,
                "U": used.mean,
                "U + l": (used.mean or 0.0) + (loss.mean or 0.0),
            }
        )
    return polars.DataFrame(
        rows, schema_overrides={"mean queue ±": polars.Float64, "standard deviation ±": polars.Float64}
    )


def regulation(evidence: Evidence) -> Iterator[Curve]:
    """Draw the mean queue, and the balance, over the target."""
    for name in ("case3b", "corrected"):
        runs = evidence[name]
        for label in runs.labels:
            yield runs.curve("a", "queue_mean", label, TARGET)
    yield Curve("a", "q = q0", [20.0, 90.0], [20.0, 90.0], style="dashed")
    for name in ("case3b", "corrected"):
        runs = evidence[name]
        for label in runs.labels:
            points = [
                (q0, np.mean(list(runs.each(_balance(), label, {TARGET: q0}).values()))) for q0 in runs.points(TARGET)
            ]
            yield Curve("b", label, [q0 for q0, _ in points], [float(one) for _, one in points])
    yield Curve("b", "U + l = 1", [20.0, 90.0], [1.0, 1.0], style="dashed")


def _balance() -> polars.Expr:
    import polars

    return polars.col("utilisation") + polars.col("loss_ratio")


def unclipped(evidence: Evidence) -> Judgement:
    """Add utilisation and loss where p_k is within its bounds."""
    runs, first = evidence["case3b"], evidence["case1"]
    few = first.points(FLOWS)[0]
    checks = [
        Check.of(
            "U + l, 100 flows, mean over the targets",
            runs.each(_balance(), runs.hero).values(),
            least=LEAST,
            most=MOST,
        ),
        Check.of(
            f"U + l, case 1, {few:g} flows",
            first.each(_balance(), first.hero, at(few)).values(),
            least=LEAST,
            most=MOST,
        ),
    ]
    held = Summary.of(list(p_k(first, at(few)).values())).mean
    return Judgement(
        checks,
        f"p_k rests (at {told(held)} in case 1) where the arrivals, lost ones "
        "included, have the link's rate; what is lost is not sent, and the link idles for as long.",
    )


LEAST, MOST = 0.997, 1.003
"""U + l within .003 of 1: p_k's drift over the 100 s of averaging has a smaller effect."""


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
        means.append(f"case {case[-1]} {told(Summary.of(list(p_k(runs, at(many)).values())).mean)}")
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
        Check.of(f"U + l, case 2, {few:g} flows", runs.each(_balance(), runs.hero, at(few)).values(), most=0.997),
    ]
    overflow = runs.mean("drops_overflow", runs.hero, at(few)).mean
    early = runs.mean("drops_early", runs.hero, at(few)).mean
    return Judgement(
        checks,
        "The flows halve together after an overflow and never send the link's rate in the mean, so that (3) lowers p_k "
        f"as far as it may: {told(overflow)} packets were lost to overflow and {told(early)} to RAQM.",
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
        f"{told(runs.mean('queue_mean', label, {TARGET: q0}).mean)} at {q0:g}" for q0 in runs.points(TARGET)
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
                f"U less the model's, case {case[-1]}, {many:g} flows",
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


REGULATION = Figure(
    name="regulation",
    title="What the target does, with the literal and the corrected rate",
    panels=[
        Panel(
            "a", "Mean queue", Axis("Target queue length q0 (packets)", 20, 90), Axis("Mean queue (packets)", 0, 100)
        ),
        Panel("b", "Balance of bytes", Axis("Target queue length q0 (packets)", 20, 90), Axis("U + l", 0.95, 1.1)),
    ],
    curves=regulation,
    needs=["case3b", "corrected"],
    caption="Case 3 with 100 flows. The corrected rate is r0 = C / (1 - l) with the measured l of early drops.",
    beyond=True,
)

BALANCE = Table(
    name="balance",
    title="Where RAQM rests",
    rows=table,
    needs=[*GROUPS],
    caption="The last 100 s. U + l = 1 in the unclipped regime, q = l q0 in the clipped one; in the idle one the flows "
    "halve together, which the model does not know, and RAQM drops next to nothing.",
    digits=3,
    beyond=True,
)

PERIODS = Table(
    name="periods",
    title="The period of measurement",
    rows=periods,
    needs=["period"],
    caption="Case 3 with 100 flows, the last 100 s; the queue in packets.",
    digits=3,
    beyond=True,
)

CLAIMS = [
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
