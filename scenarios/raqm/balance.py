"""Where RAQM comes to rest and how it gets there: the balance of bytes, the corrected target, the start."""

from __future__ import annotations

import math
from collections.abc import Iterator
from functools import cache, partial
from typing import TYPE_CHECKING

import numpy as np

from aqmlab.papers import At, Axis, Check, Claim, Curve, Evidence, Figure, Judgement, Panel, Runs, Table
from aqmlab.scenarios.raqm.reading import BAND, FLOWS, Q0, TARGET, at, by_seed, less, slope, told

if TYPE_CHECKING:
    import polars

    from aqmlab.theory.raqm_balance import Balance

EPS, P_FLOOR, PERIOD = 0.9, 1e-6, 1.0
"""What the scenarios leave as `aqmlab show raqm` has it: the gain, the floor of p_k, T (s)."""

GROUPS = {"case1": (30.0,), "case2": (210.0,), "case3": (30.0, 110.0, 210.0, 310.0, 410.0)}
"""Round-trip times without the queue (ms), of equally many flows each."""

CARRIED = 2500.0
"""What the link carries (packets/s)."""


@cache
def at_rest(case: str, flows: float) -> Balance:
    """Give where the model of the queue and Padhye's flows rest.

    Parameters
    ----------
    case : str
        Of which case.
    flows : float
        How many flows.

    Returns
    -------
    Balance
        Regime, p_k, queue, utilisation and loss.
    """
    from aqmlab.theory import raqm_balance
    from aqmlab.theory.domain import remarks
    from aqmlab.theory.tcp import padhye

    groups = np.array(GROUPS[case]) / 1e3
    with remarks():  # it says that synchronised flows are beyond it; the table's caption says so too
        return raqm_balance.equilibrium(
            flows / len(groups), groups, CARRIED, q0=Q0, Q=100, rate=partial(padhye, full=True)
        )


def p_k(runs: Runs, where: At, start: float, seed: int | None = None) -> float:
    """Give the mean of p_k from a time on.

    Parameters
    ----------
    runs : Runs
        The runs, with series.
    where : mapping
        At which point.
    start : float
        From when on (s).
    seed : int
        Of which seed; by default of the first.

    Returns
    -------
    float
        The mean.
    """
    curve = runs.over_time("", runs.hero, quantity="p_1.mean", at=where, seed=seed)
    late = np.asarray(curve.x) >= start
    return float(np.mean(np.asarray(curve.y)[late]))


def starts(runs: Runs, where: At) -> dict[int, tuple[float, float]]:
    """Give how long p_k takes to half of where it rests, and how long the losses let it take.

    Parameters
    ----------
    runs : Runs
        The runs, with series.
    where : mapping
        At which point.

    Returns
    -------
    dict
        By seed the seconds that it took, and the periods by (3): the logarithm by which p_k grew, over its mean
        step eps c(x) (x - 1) at the rate x = 1 / (1 - l) of a link that is kept busy, with the loss ratio l until then.
        Without seeds where p_k rests no higher than it starts.
    """
    from aqmlab.theory import raqm_map

    found = {}
    settling = 2.0  # the flows' slow starts
    for seed in runs.of(runs.hero, where)["seed"].to_list():
        frame = runs.series(runs.hero, where, seed)
        times = frame["t"].to_numpy()
        p = frame["bottleneck.p_1.mean"].to_numpy()
        half = float(np.mean(p[times >= runs.duration - 50])) / 2
        first = int(np.argmax(times >= settling))
        if half <= 10 * p[first]:
            continue
        end = first + int(np.argmax(p[first:] >= half))
        arrivals, drops = (
            float(frame[f"bottleneck.{name}"].to_numpy()[first:end].sum()) for name in ("arrivals", "drops")
        )
        if not drops:
            continue
        x = 1 / (1 - drops / arrivals)
        step = eps_of(runs, where) * float(raqm_map.c(x)) * (x - 1)
        found[seed] = float(times[end]) - settling, PERIOD * math.log(half / float(p[first])) / step
    return found


def eps_of(runs: Runs, where: At) -> float:
    """Give the gain at a point: where it varies that of the point, else the default.

    Parameters
    ----------
    runs : Runs
        The runs.
    where : mapping
        The point.

    Returns
    -------
    float
        eps.
    """
    return float(where.get("aqm.eps", EPS)) if "aqm.eps" in runs.frame.columns else EPS


def table(evidence: Evidence) -> polars.DataFrame:
    """Set queue, loss and utilisation of each case beside where the model has them."""
    import polars

    rows = []
    for case in GROUPS:
        runs = evidence[case]
        for flows in runs.points(FLOWS):
            queue, loss, used = (
                runs.mean(name, runs.hero, at(flows)) for name in ("queue_mean", "loss_ratio", "utilisation")
            )
            model = at_rest(case, flows)
            held = p_k(runs, at(flows), runs.duration / 2)
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
    """Give what the period of measurement changes."""
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
                (q0, np.mean(list(by_seed(runs, label, _balance(), {TARGET: q0}).values())))
                for q0 in runs.points(TARGET)
            ]
            yield Curve("b", label, [q0 for q0, _ in points], [float(one) for _, one in points])
    yield Curve("b", "U + l = 1", [20.0, 90.0], [1.0, 1.0], style="dashed")


def _balance() -> polars.Expr:
    import polars

    return polars.col("utilisation") + polars.col("loss_ratio")


def start(evidence: Evidence) -> Iterator[Curve]:
    """Draw how p_k grows from its start."""
    for case in GROUPS:
        runs = evidence[case]
        for flows in runs.points(FLOWS):
            name = f"case {case[-1]}, {flows:g} flows"
            yield runs.over_time("a", runs.hero, quantity="p_1.mean", at=at(flows), bin=1.0, name=name)
    runs = evidence["gain"]
    for eps in runs.points("aqm.eps"):
        where = {"aqm.eps": eps}
        yield runs.over_time("b", runs.hero, quantity="p_1.mean", at=where, bin=1.0, name=f"eps = {eps:g}")


def unclipped(evidence: Evidence) -> Judgement:
    """Add utilisation and loss where p_k is within its bounds."""
    runs, first = evidence["case3b"], evidence["case1"]
    few = first.points(FLOWS)[0]
    checks = [
        Check.of(
            "U + l, 100 flows, mean over the targets",
            by_seed(runs, runs.hero, _balance()).values(),
            least=LEAST,
            most=MOST,
        ),
        Check.of(
            f"U + l, case 1, {few:g} flows",
            by_seed(first, first.hero, _balance(), at(few)).values(),
            least=LEAST,
            most=MOST,
        ),
    ]
    return Judgement(
        checks,
        f"p_k rests (at {told(p_k(first, at(few), first.duration / 2))} in case 1) where the arrivals, lost ones "
        "included, have the link's rate; what is lost is not sent, and the link idles for as long.",
    )


LEAST, MOST = 0.997, 1.003
"""U + l within .003 of 1: p_k's drift over the 100 s that are averaged makes less."""


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
                by_seed(runs, runs.hero, ratio, at(many)).values(),
                # Arrivals find a queue other than its mean over time: bursts find it longer, departures let it empty.
                least=0.88,
                most=1.12,
            )
        )
        means.append(f"case {case[-1]} {told(p_k(runs, at(many), runs.duration / 2))}")
    return Judgement(
        checks, f"p_k: {', '.join(means)}. At p_k = 1 an arrival is lost with probability q / q0, so that l = q / q0."
    )


def idle(evidence: Evidence) -> Judgement:
    """See whether p_k lies at its floor where the link is not kept busy."""
    runs = evidence["case2"]
    few = runs.points(FLOWS)[0]
    checks = [
        Check.of(
            f"p_k over its floor, case 2, {few:g} flows",
            [p_k(runs, at(few), runs.duration / 2, seed) / P_FLOOR for seed in runs.of(runs.hero, at(few))["seed"]],
            most=10,
        ),
        Check.of(f"U + l, case 2, {few:g} flows", by_seed(runs, runs.hero, _balance(), at(few)).values(), most=0.997),
    ]
    overflow = runs.mean("drops_overflow", runs.hero, at(few)).mean
    early = runs.mean("drops_early", runs.hero, at(few)).mean
    return Judgement(
        checks,
        "The flows halve together after an overflow and never send the link's rate in the mean, so that (3) lowers p_k "
        f"as far as it may: {told(overflow)} packets were lost to overflow and {told(early)} to RAQM.",
    )


def corrected(evidence: Evidence) -> Judgement:
    """See whether the corrected rate fills the link, and whether the queue then follows the target."""
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
        f"being l q0 / q: the queue stays where it happens to be ({queues}).",
    )


def modelled(evidence: Evidence) -> Judgement:
    """Compare loss and utilisation at many flows with the model's."""
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


def started(evidence: Evidence) -> Judgement:
    """Compare how long p_k takes with what the losses let it take."""
    checks, means = [], []
    for case in ("case1", "case3"):
        runs = evidence[case]
        for flows in runs.points(FLOWS):
            found = starts(runs, at(flows))
            if not found:
                means.append(f"case {case[-1]} with {flows:g} flows: p_k does not rise")
                continue
            checks.append(
                Check.of(
                    f"time of p_k to half its rest over that by the losses, case {case[-1]}, {flows:g} flows",
                    [taken / expected for taken, expected in found.values()],
                    least=1 - BAND,
                    most=1 + BAND,
                )
            )
            means.append(
                f"case {case[-1]} with {flows:g} flows: {told(sum(one for one, _ in found.values()) / len(found))} s"
            )
    return Judgement(
        checks,
        "Until p_k counts, losses are the buffer's overflows, and a busy link's arrivals exceed it by l / (1 - l): "
        f"ln p_k grows by 4 eps l / (1 - l) a period, less where the link idles in between. {'; '.join(means)}.",
    )


def gain(evidence: Evidence) -> Judgement:
    """Compare starts and steadiness by the gain."""
    import polars

    runs = evidence["gain"]
    parts = runs.points("aqm.eps")
    half, near = {"aqm.eps": 0.5}, {"aqm.eps": 0.9}
    taken = {eps: {seed: one for seed, (one, _) in starts(runs, {"aqm.eps": eps}).items()} for eps in parts}
    spread = polars.col("queue_std")
    ratios = [taken[0.5][seed] / taken[0.9][seed] for seed in sorted(taken[0.5].keys() & taken[0.9].keys())]
    checks = [
        # As 1 / eps: 1.8 times, within a fifth.
        Check.of("time of p_k with eps = .5 over that with .9", ratios, least=1.8 * (1 - BAND), most=1.8 * (1 + BAND)),
        Check.of(
            "standard deviation of the queue with eps = .9 less that with .5",
            less(by_seed(runs, runs.hero, spread, near), by_seed(runs, runs.hero, spread, half)),
            unit="packets",
            most=1.0,
        ),
    ]
    means = ", ".join(
        f"eps = {eps:g} {told(sum(one.values()) / len(one)) if one else '-'} s" for eps, one in taken.items()
    )
    return Judgement(
        checks,
        f"{means}. The start is not the loop of the analysis: the buffer, not p_k, makes the losses, and p_k grows at "
        "a rate in proportion to the gain. So a big gain pays there, not near r0.",
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

START = Figure(
    name="start",
    title="How p_k comes to its place",
    panels=[
        Panel("a", "The cases", Axis("Time (s)", 0, 200), Axis("p_k", 1e-6, 1, log=True)),
        Panel("b", "Case 1, 40 flows, by the gain", Axis("Time (s)", 0, 200), Axis("p_k", 1e-6, 1, log=True)),
    ],
    curves=start,
    needs=[*GROUPS, "gain"],
    caption="The first seed; p_k starts at 0.0002 and has a floor at 1e-6.",
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
    Claim(
        name="start",
        text="RAQM's start takes as long as the overflows' loss ratio lets p_k grow.",
        where="(3)",
        judge=started,
        needs=["case1", "case3"],
        shown=["start"],
        beyond=True,
    ),
    Claim(
        name="gain",
        text="A bigger gain makes the start shorter in proportion, and the queue no less steady.",
        where="(3), Theorem 2",
        judge=gain,
        needs=["gain"],
        shown=["start"],
        beyond=True,
    ),
]
