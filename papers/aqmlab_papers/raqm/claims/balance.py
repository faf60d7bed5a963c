"""Claims of ours on the equilibrium: the balance of bytes in its three states."""

import polars

from aqmlab_papers import Effect, Judgement, PerSeed, Runs, Tolerance, ours, tolerance
from aqmlab_papers.raqm.measures import FLOWS, Q0, TARGET, at, balance, mean_of, panels

DRIFT = Tolerance(0.003, "", "p_k's drift over the 100 s of averaging has a smaller effect")


def held(runs: Runs, flows: float) -> PerSeed:
    """Return the mean of p_k in the second half of a run."""
    return runs.from_series(runs.hero, mean_of("p_1.mean", runs.duration / 2, runs.duration), at(flows))


@ours("(2), (3)", "regulation balance")
@tolerance(DRIFT)
def balance_unclipped(case3b: Runs, case1: Runs, *, tolerance: Tolerance) -> Judgement:
    """With r0 = C and p_k within its bounds the link idles for as long as drops would have taken: U + l = 1."""
    few = case1.points(FLOWS)[0]
    return Judgement(
        [
            Effect(f"U + l, {name}").near(runs.per_seed(balance(), runs.hero, where), 1, tolerance)
            for name, runs, where in (
                *((f"100 flows, q0 = {q0:g}", case3b, {TARGET: q0}) for q0 in case3b.points(TARGET)),
                ("case 1, 40 flows", case1, at(few)),
            )
        ],
        f"p_k rests, in case 1 at {held(case1, few):.3g}, where the arrivals, lost ones included, come at the link's "
        "rate. The longer the target, the lower p_k / q0 starts, and the later it comes to rest: from q0 = 50 on some "
        "runs are not there yet, and U + l is up to .004 too high.",
    )


@ours("(12)", "balance start")
@tolerance(10, "% of it", "a tenth: arrivals see a queue other than its time average, bursts a longer one")
def balance_clipped(case1: Runs, case2: Runs, case3: Runs, *, tolerance: Tolerance) -> Judgement:
    """With more flows p_k is 1, and the queue rests at l q0."""
    ratio = polars.col("queue_mean") / (polars.col("loss_ratio") * Q0)
    checks = [
        Effect(f"q / (l q0), {name}").near(runs.per_seed(ratio, runs.hero, where), 1, tolerance)
        for name, runs, where in panels(case1, case2, case3)
        if where == at(400)
    ]
    return Judgement(checks, "p_k is 1 there (table `balance`): an arrival is lost with probability q / q0.")


@ours("(3)", "balance start readings")
@tolerance(0.1, "", "next to nothing: a tenth of all drops")
def idle(case2: Runs, case2_taildrop: Runs, *, tolerance: Tolerance) -> Judgement:
    """With long round trips and few flows RAQM leaves the drops to the full buffer: it drops next to nothing itself."""
    few = at(case2.points(FLOWS)[0])
    early = polars.col("drops_early") / (polars.col("drops_early") + polars.col("drops_overflow"))
    queue, other = (
        runs.per_seed("queue_mean", label, few)
        for runs, label in ((case2, case2.hero), (case2_taildrop, case2_taildrop.labels[0]))
    )
    return Judgement(
        [
            Effect("part of the drops that are RAQM's, case 2, 40 flows").of(
                case2.per_seed(early, case2.hero, few), most=tolerance.value
            )
        ],
        "The flows halve together after an overflow and hardly send the link's rate on average, so that (3) leaves p_k "
        f"where it is or lowers it: p_k = {held(case2, 40):.2g}. Mean queue {queue}, of tail drop {other}.",
    )
