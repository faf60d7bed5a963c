"""Claims of ours on what the target does, and on what would make the paper's claims true."""

from functools import partial

import polars

from aqmlab_papers import Check, Effect, Evidence, Judgement, Runs, Tolerance, ours, tolerance
from aqmlab_papers.describe.thresholds import TIME
from aqmlab_papers.raqm.claims.cases import FIFTH, lower, responds
from aqmlab_papers.raqm.measures import BOTH, CASES, FED, Q0, STILL, UNSHED, loads, panels, slope

PART = Tolerance(20, "% of it", "as for the response time")


def queues(label: str, tolerance: Tolerance, *runs: Runs) -> list[Check]:
    """Compare the mean queue of a reading with the target in the panels of figures 4 to 6."""
    return [
        Effect(f"mean queue, {label}, {name}").near(one.per_seed("queue_mean", label, where), Q0, tolerance)
        for name, one, where in panels(*runs)
    ]


@ours("(3), (12)", "regulation")
def target_cancels(invariance: Runs) -> Judgement:
    """q0 is no set-point of (3) and (12): with p_0 in proportion, two targets have the same run, packet for packet."""
    one, two = (invariance.of(label).sort("seed") for label in invariance.labels)
    known = [name for name in one.columns if name not in ("aqm", "key", "response_time")]
    different = [name for name in known if not one[name].equals(two[name])]
    queue = invariance.per_seed("queue_mean", invariance.labels[0])
    return Judgement(
        [Effect("metrics of a run that differ").exact(float(len(different)), most=0)],
        f"Put P_k = p_k / q0: then p = P_k q and P_k = P_(k-1) e^(alpha (r_k - r0)), without q0. Mean queue {queue} in "
        f"both, {len(known)} columns compared. The target counts where p_k is clipped at 1, and there as q = l q0.",
    )


@ours("(1), (3), (12)", "regulation readings")
@tolerance(PART)
def unshed(case3b_readings: Runs, *, tolerance: Tolerance) -> Judgement:
    """With r of packets that are not dropped early, the other reading of 'input rate', the link is full and the queue
    at its target.
    """
    used = case3b_readings.per_seed("utilisation", UNSHED)
    return Judgement(
        [
            Effect("utilisation, mean over the targets").of(used, least=99.5),
            Effect("packets of queue for each packet of target").near(slope(case3b_readings, UNSHED), 1.0, tolerance),
        ],
        "A full link then has r = C with any loss, and p_k is neutral: it climbs from the full buffer of the start "
        "until nothing overflows, and the queue stays where it then is, off the target. It is also `r0 = corrected`.",
    )


@ours("Figs. 4 to 6", "saved readings")
@tolerance(FIFTH)
def saved_regulates(
    case1_readings: Runs, case2_readings: Runs, case3_readings: Runs, *, tolerance: Tolerance
) -> Judgement:
    """What would make it true: fed back, with r of packets that are not dropped early, RAQM holds q0 in every panel."""
    return Judgement(
        queues(BOTH, tolerance, case1_readings, case2_readings, case3_readings),
        "p_(k-1) of (3) is then what was applied, so that ln(q / q0) is added to ln p_k every period: an integrator of "
        "the queue's logarithm. It contradicts Figure 1 twice, whose line 1 counts before the drop and whose line 3 "
        "writes p and not dropPb; nothing in the text proves what was simulated.",
    )


@ours("Section 3.4, Fig. 8", "saved")
@tolerance(FIFTH)
def saved_hybrid(case4_readings: Runs, *, tolerance: Tolerance) -> Judgement:
    """In that reading RAQM holds q0 among short flows and UDP too."""
    checks = [
        Effect(f"mean queue, {load}").near(case4_readings.per_seed("queue_mean", BOTH, where), Q0, tolerance)
        for load, where in loads(case4_readings)
    ]
    return Judgement(
        checks, "Flows that come and go change the p that is needed, and an integrator moves p until the queue is q0."
    )


@ours("Figs. 4 to 6", "saved readings", runs=[f"{case}{suffix}" for suffix in ("", "-readings") for case in CASES])
@tolerance(TIME)
def saved_responds(evidence: Evidence, *, tolerance: Tolerance) -> Judgement:
    """In that reading RAQM responds faster than PI and REM, as the paper says."""
    checks: list[Check] = []
    for case in CASES:
        runs = evidence[case] | evidence[f"{case}-readings"]
        checks += lower(runs, f"response time, {case}", partial(responds, runs), tolerance, BOTH, ("PI", "REM"))
    return Judgement(
        checks,
        "The p of PI and REM climbs by steps in proportion to the queue's excess over the target, and this one's by "
        "its logarithm, which is faster. With 40 flows in cases 2 and 3 all queues swing, and some parts are open. "
        "Two queues that both settle at once, or never, are a tie, which counts neither way.",
    )


@ours("(3), (12)", "saved readings")
@tolerance(FIFTH)
def saved_without_the_rate(
    case1_readings: Runs, case2_readings: Runs, case3_readings: Runs, *, tolerance: Tolerance
) -> Judgement:
    """What saves it is the queue's feedback and not RAQM's law: with alpha = 0 it does the same."""
    return Judgement(
        queues(STILL, tolerance, case1_readings, case2_readings, case3_readings),
        "With alpha = 0 the exponential is 1, and p_k the mean of p_(k-1) q / q0: the rate is not measured at all.",
    )


@ours("(3), (11), (12)", "readings")
@tolerance(PART)
def fed_alone(case1_readings: Runs, case2_readings: Runs, case3_readings: Runs, *, tolerance: Tolerance) -> Judgement:
    """Fed back alone, with all arrivals counted as in Figure 1, the queue rests at q0 (1 - 2 l)^(2 eps)."""
    ratio = polars.col("queue_mean") / (Q0 * (1 - 2 * polars.col("loss_ratio")) ** (2 * 0.9))
    checks = [
        Effect(f"queue over that predicted, {name}").near(runs.per_seed(ratio, FED, where), 1, tolerance)
        for name, runs, where in panels(case1_readings, case2_readings, case3_readings)
    ]
    return Judgement(
        checks,
        "On a busy link r is r0 / (1 - l), as losses count as arrivals, and p_k rests where q / q0 is "
        "e^-(alpha (r - r0)).",
    )
