"""Claims of experiment 1 (Fig. 5): response times over the load."""

from __future__ import annotations

import numpy as np
import polars

from aqmlab.library.lred.measures import FLOWS, ROUND_TRIPS, loads, longest_response, mean_text
from aqmlab.library.lred.theory import FREQUENCY, PI_GAINS, C, response_bound
from aqmlab.papers import Check, Claim, Evidence, Judgement, Runs
from aqmlab.papers.run.seeds import Values, average, difference, ratio
from aqmlab.theory import pi, rem


def _times(runs: Runs, label: str, count: int | None = None) -> Values:
    """Return the response time of each seed (s), at one load or averaged over all."""
    return runs.values(
        "response_time", label, None if count is None else {FLOWS: count}, fill=longest_response(runs, label)
    )


def _slopes(runs: Runs, label: str) -> Values:
    """Return the slope of response time over loss ratio for each seed (s)."""
    time = polars.col("response_time").fill_null(longest_response(runs, label))
    rows = runs.of(label).select("seed", "loss_ratio", time.alias("time"))
    groups = rows.sort("seed").partition_by("seed", maintain_order=True)
    return [float(np.polyfit(group["loss_ratio"], group["time"], 1)[0]) for group in groups]


def _needed(runs: Runs, count: int) -> Values:
    """Return the loss ratio of each seed that holds the queue at its target: LRED's."""
    return runs.values("loss_ratio", runs.hero, {FLOWS: count})


def _ratios(evidence: Evidence, label: str, count: int) -> Values:
    """Return response time divided by the bound, for each seed."""
    runs = evidence["exp1-pistar" if label == "PI*" else "exp1"]
    losses = _needed(evidence["exp1"], count)
    return [
        None if time is None or loss is None else time / response_bound(label, loss, count)
        for time, loss in zip(_times(runs, label, count), losses, strict=True)
    ]


def _high(evidence: Evidence) -> list[int]:
    """Return the loads of 600 flows and more: the upper half of the paper's loads."""
    return [count for count in loads(evidence) if count >= 600]


def _sooner(evidence: Evidence, other: Runs, label: str) -> list[Check]:
    """Check that another discipline's response time is not below LRED's, at all loads and at the high ones."""
    runs = evidence["exp1"]
    checks = []
    for where, counts in (("all loads", loads(evidence)), ("600 flows and more", _high(evidence))):
        gap = average(difference(_times(other, label, count), _times(runs, runs.hero, count)) for count in counts)
        effect = f"response time of {label} minus that of {runs.hero}, {where}"
        checks.append(Check.of(effect, gap, unit="s", least=0))
    return checks


def fastest(evidence: Evidence) -> Judgement:
    """Compare LRED's response times with those of PI and REM, or of later disciplines."""
    runs = evidence["exp1"]
    checks = [check for label in runs.others for check in _sooner(evidence, runs, label)]
    means = ", ".join(f"{label} {mean_text(runs, 'response_time', label)} s" for label in runs.others)
    why = (
        f"On average over the loads at which it settles LRED takes {mean_text(runs, 'response_time', runs.hero)} s "
        f"({means}): its estimate of the loss is right after a few periods of 1 s, whatever the loss, while what "
        "starts at p = 0 and adds to it in small steps has to climb there."
    )
    return Judgement(checks, why)


def as_designed(evidence: Evidence) -> Judgement:
    """Compare LRED's response times with those of PI*, which is designed for each load."""
    designed = evidence["exp1-pistar"]
    checks = _sooner(evidence, designed, "PI*")
    light, *_, heavy = loads(evidence)
    ends = "; ".join(
        f"with {count} flows PI* takes {mean_text(designed, 'response_time', 'PI*', at={FLOWS: count})} s, LRED "
        f"{mean_text(evidence['exp1'], 'response_time', 'LRED', at={FLOWS: count})} s"
        for count in (light, heavy)
    )
    why = (
        f"Where they settle: {ends}. PI*'s gain follows the load for which it is designed: near ns-2's for 100 flows, "
        "tens of times as high for 400 and more, with which an integrator climbs in seconds too. LRED does not know "
        "the load."
    )
    return Judgement(checks, why)


def flat(evidence: Evidence) -> Judgement:
    """Judge the trend of LRED's response times over the loss ratio, and their range."""
    runs = evidence["exp1"]
    light, *_, heavy = loads(evidence)
    hero, other = (difference(_times(runs, label, heavy), _times(runs, label, light)) for label in (runs.hero, "PI"))
    part = ratio(hero, other)
    checks = [
        # A tenth of the slope of REM's bound, the smaller of the two: 200 s per unit of loss.
        Check.of(
            "slope of LRED's response time over the loss ratio",
            _slopes(runs, runs.hero),
            unit="s a unit",
            least=-20,
            most=20,
        ),
        Check.of("change from the lightest load to the heaviest, LRED's over PI's", part, least=-0.1, most=0.1),
    ]
    why = (
        "The slope of PI's bound is 980 s per unit of loss, of REM's 200 s. LRED takes "
        f"{mean_text(runs, 'response_time', runs.hero, at={FLOWS: light})} s at the lightest load, where the estimate "
        "that slow start leaves is too high and falls slowly while the queue is empty, and "
        f"{mean_text(runs, 'response_time', runs.hero, at={FLOWS: heavy})} s at the heaviest, where time-outs and "
        "chance decide, as five seconds in a row have to be within the band."
    )
    return Judgement(checks, why)


def growing(evidence: Evidence) -> Judgement:
    """Judge the trends of PI's and REM's response times."""
    runs = evidence["exp1"]
    slopes = {"PI": 1 / ((PI_GAINS[0] - PI_GAINS[1]) * 100 * FREQUENCY), "REM": float(rem.response_bound(0.5)) * 2}
    checks = [
        Check.of(
            f"slope of {label}'s response time over the loss ratio",
            _slopes(runs, label),
            unit="s a unit",
            least=slope / 2,
        )
        for label, slope in slopes.items()
    ]
    why = (
        "With the buffer full, p climbs at a constant rate, so that it takes p0 / (gain x 100 packets x frequency): "
        "980 s per unit of p0 for PI, 200 s for REM. The claim is taken to hold from half these slopes on."
    )
    return Judgement(checks, why)


def bounds_hold(evidence: Evidence) -> Judgement:
    """Search for response times below their bounds."""
    checks = []
    for label in ("PI", "REM"):
        ratios = [_ratios(evidence, label, count) for count in loads(evidence)]
        least = [min((one for one in seed if one is not None), default=None) for seed in zip(*ratios, strict=True)]
        checks.append(
            Check.of(f"response time of {label} over its bound, at the load where it is least", least, least=1)
        )
    why = (
        "The bounds are worked out for the loss ratio that holds the queue at its target, as measured with LRED. They "
        "take the buffer to be full until p is there; any other queue drives PI and REM more slowly."
    )
    return Judgement(checks, why)


def bounds_close(evidence: Evidence) -> Judgement:
    """Compare simulated response times of PI and REM with their bounds at high loss."""
    high, low = _high(evidence), loads(evidence)[0]
    checks = []
    for label in ("PI", "REM"):
        above = average([_ratios(evidence, label, count) for count in high])
        below = _ratios(evidence, label, low)
        # Half more: still close in a figure whose times differ tenfold.
        checks.append(Check.of(f"response time of {label} over its bound, 600 flows and more", above, most=1.5))
        checks.append(Check.of(f"the same of {label} with {low} flows, minus that", difference(below, above), least=0))
    why = (
        "What takes longer than the bound is the last part, in which the buffer is no longer full, and the wait for "
        "five seconds near the target: a constant that weighs less the longer the climb is. REM's price has to climb "
        "by -ln(1 - p0), not p0, which alone is an eighth more at a loss of 0.22."
    )
    return Judgement(checks, why)


def pistar(evidence: Evidence) -> Judgement:
    """Compare PI* with PI, and its distance from its bound with theirs."""
    runs, designed = evidence["exp1"], evidence["exp1-pistar"]
    high = _high(evidence)
    faster = average(difference(_times(runs, "PI", count), _times(designed, "PI*", count)) for count in loads(evidence))
    designed_ratios, *others = (
        average(_ratios(evidence, label, count) for count in high) for label in ("PI*", "PI", "REM")
    )
    checks = [Check.of("response time of PI minus that of PI*", faster, unit="s", least=0)]
    checks += [
        Check.of(
            f"response time over its bound, 600 flows and more: PI* minus {label}",
            difference(designed_ratios, other),
            least=0,
        )
        for label, other in zip(("PI", "REM"), others, strict=True)
    ]
    gains = {count: pi.tustin(*pi.rule(count, ROUND_TRIPS[count], C), FREQUENCY)[0] for count in loads(evidence)}
    most = max(gains, key=gains.__getitem__)
    times = np.mean([value for value in designed_ratios if value is not None])
    why = (
        f"At 600 flows and more PI* takes {times:.2g} times its bound. Designed for the load, its gain is up to "
        f"{gains[most] / PI_GAINS[0]:.0f} times ns-2's (at {most} flows): the queue leaves the full buffer before p is "
        "at p0, and what is left is the damped approach, to which a bound by a full buffer does not apply. At 100 "
        "flows its p climbs hardly faster than PI's."
    )
    return Judgement(checks, why)


def integral(evidence: Evidence) -> Judgement:
    """Compare LRED's mean queues at all loads with the target."""
    runs = evidence["exp1"]
    checks = [
        Check.of(
            f"mean queue with {count} flows",
            runs.values("queue_mean", "LRED", {FLOWS: count}),
            unit="packets",
            least=95,
            most=105,
        )
        for count in loads(evidence)
    ]
    why = (
        "dL/dt = (p - L)/T = beta sqrt(L) (q - q0)/T with T = 2.6 s: only q = q0 is at rest. A proportional "
        "controller without it would need the queue to differ by hundreds of packets between these loads."
    )
    return Judgement(checks, why)


CLAIMS = (
    Claim(
        name="fastest",
        text="LRED's response time is generally shorter than that of PI and REM.",
        where="Section 6.1, Experiment 1, Fig. 5",
        judge=fastest,
        needs=["exp1"],
        shown=["fig5"],
        sensitive=True,
        comparative=True,
    ),
    Claim(
        name="faster-than-pistar",
        text="LRED's response time is generally shorter than that of PI* too, which is designed for each load.",
        where="Section 6.1, Experiment 1, Fig. 5",
        judge=as_designed,
        needs=["exp1", "exp1-pistar"],
        shown=["fig5"],
    ),
    Claim(
        name="flat",
        text="LRED's response time is nearly independent of the loss ratio.",
        where="Sections 5.2, 6.1 and 6.4, Fig. 5",
        judge=flat,
        needs=["exp1"],
        shown=["fig5"],
        sensitive=True,
    ),
    Claim(
        name="growing",
        text="The response times of PI and REM grow with the loss ratio, as their bounds do.",
        where="Sections 5.2 and 6.1, Fig. 5",
        judge=growing,
        needs=["exp1"],
        shown=["fig5"],
        sensitive=True,
    ),
    Claim(
        name="bounds-hold",
        text="(34) and (40) are lower bounds of the response times of PI and REM.",
        where="Section 5.2, (34), (40)",
        judge=bounds_hold,
        needs=["exp1"],
        shown=["fig5"],
    ),
    Claim(
        name="bounds-close",
        text="Simulated response times of PI and REM are close to their bounds, the more so at high loss.",
        where="Section 6.1, Experiment 1, Fig. 5",
        judge=bounds_close,
        needs=["exp1"],
        shown=["fig5"],
    ),
    Claim(
        name="pistar-gap",
        text="PI* responds faster than PI, and is farther from its bound than PI and REM are from theirs.",
        where="Section 6.1, Experiment 1, Fig. 5",
        judge=pistar,
        needs=["exp1", "exp1-pistar"],
        shown=["fig5"],
    ),
)

BEYOND = (
    Claim(
        name="integral",
        text="LRED is not a proportional controller but, slower than 2.6 s, an integrating one: at rest the queue is "
        "at its target whatever the load.",
        where="Section 3",
        judge=integral,
        needs=["exp1"],
        shown=["fig5"],
        beyond=True,
    ),
)
