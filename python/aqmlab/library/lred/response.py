"""Figure 2 and experiment 1 of the LRED paper: the loss ratio's estimate, and response times over the load."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np
import polars

from aqmlab.library.lred.beside import Values, averaged, less, told
from aqmlab.library.lred.theory import FREQUENCY, C
from aqmlab.papers import (
    Axis,
    Check,
    Claim,
    Curve,
    Evidence,
    Experiment,
    Figure,
    Judgement,
    Panel,
    Runs,
)
from aqmlab.theory import lred, pi, rem

RIVALS = {"PIE": "pie:target=40 ms", "CoDel": "codel:target=40 ms", "DualPI2": "dualpi2:target=40 ms"}
"""Later disciplines, whose target is the delay of 100 packets of 0.4 ms."""

FLOWS = "traffic.long.count"
ROUND_TRIPS = {n: 0.45 if n <= 500 else n / 1000 - 0.1 for n in range(100, 1001, 100)}
"""R+ (s) for which the paper designs PI*, by the number of flows."""

PI_GAINS = 1.822e-5, 1.816e-5
SETTLED = 20.0  # s: the estimate of figure 2 is judged from here on, like all metrics


def _designs(counts: Sequence[int]) -> dict[str, Sequence[object]]:
    """Return PI*'s design for each load."""
    trips = [f"{ROUND_TRIPS[count] * 1000:.0f} ms" for count in counts]
    return {FLOWS: counts, "aqm.design.n": counts, "aqm.design.rtt": trips}


EXPERIMENTS = (
    Experiment(
        name="fig2",
        title="Figure 2: LRED's estimate and drop probability, at a load that loses 12 %",
        scenario="lred/exp1",
        aqms={"LRED": "lred"},
        settings={FLOWS: 200, "record.step": "20 ms"},
        series=True,
        rivals={},
        most_seeds=3,
    ),
    Experiment(
        name="exp1",
        title="Experiment 1: response times, 100 to 1000 flows",
        scenario="lred/exp1",
        # PI needs more than the paper's 200 s from 400 flows on.
        aqms={"LRED": "lred", "PI": {"aqm": "pi:q0=100", "duration": "400 s"}, "REM": "rem:q0=100"},
        settings={"response.target": 100},
        vary={FLOWS: list(ROUND_TRIPS)},
        quick={FLOWS: [100, 800]},
        rivals=RIVALS,
    ),
    Experiment(
        name="exp1-pistar",
        title="Experiment 1: PI*, designed for each load",
        scenario="lred/exp1",
        aqms={"PI*": "pistar:design={n=100, rtt='450 ms'}"},
        settings={"response.target": 100},
        vary=_designs(list(ROUND_TRIPS)),
        quick=_designs([100, 800]),
        method="paired",
        rivals={},
    ),
)


def _longest(runs: Runs, label: str) -> float:
    """Return the value of a queue that never settles: the run's length (s)."""
    return runs.study.variants[label].duration


def _times(runs: Runs, label: str, count: int | None = None) -> Values:
    """Return the response time of each seed (s), at one load or averaged over all."""
    return runs.values("response_time", label, None if count is None else {FLOWS: count}, fill=_longest(runs, label))


def _slopes(runs: Runs, label: str) -> Values:
    """Return the slope of response time over loss ratio for each seed (s)."""
    time = polars.col("response_time").fill_null(_longest(runs, label))
    rows = runs.of(label).select("seed", "loss_ratio", time.alias("time"))
    groups = rows.sort("seed").partition_by("seed", maintain_order=True)
    return [float(np.polyfit(group["loss_ratio"], group["time"], 1)[0]) for group in groups]


def _needed(runs: Runs, count: int) -> Values:
    """Return the loss ratio of each seed that holds the queue at its target: LRED's."""
    return runs.values("loss_ratio", runs.hero, {FLOWS: count})


def _bound(label: str, loss: float, count: int) -> float:
    """Return the paper's lower bound of a response time (s)."""
    if label == "REM":
        return float(rem.response_bound(loss))
    a, b = PI_GAINS if label == "PI" else pi.tustin(*pi.rule(count, ROUND_TRIPS[count], C), FREQUENCY)
    return float(pi.response_bound(loss, a, b, FREQUENCY))


def _ratios(evidence: Evidence, label: str, count: int) -> Values:
    """Return response time divided by the bound, for each seed."""
    runs = evidence["exp1-pistar" if label == "PI*" else "exp1"]
    losses = _needed(evidence["exp1"], count)
    return [
        None if time is None or loss is None else time / _bound(label, loss, count)
        for time, loss in zip(_times(runs, label, count), losses, strict=True)
    ]


def _loads(evidence: Evidence) -> list[int]:
    return evidence["exp1"].points(FLOWS)


def _high(evidence: Evidence) -> list[int]:
    """Return the loads of 600 flows and more: the upper half of the paper's loads."""
    return [count for count in _loads(evidence) if count >= 600]


def figure2(evidence: Evidence) -> Iterator[Curve]:
    """Draw p, its estimate and the loss ratio that the load needs, over a whole run and over three seconds."""
    runs = evidence["fig2"]
    needed = runs.mean("loss_ratio", "LRED", {"seed": runs.study.seeds[0]}).mean or 0.0
    for panel, low, high, bin in (("a", 0.0, 200.0, 0.2), ("b", 40.0, 43.0, 0.0)):
        for name, quantity in (("p", "p.mean"), ("l(k), estimated", "loss_ratio.mean")):
            curve = runs.over_time(panel, "LRED", quantity=quantity, bin=bin, name=name)
            x, y = np.asarray(curve.x, dtype=float), np.asarray(curve.y, dtype=float)
            shown = (x >= low) & (x <= high)
            yield Curve(panel, name, x[shown], y[shown])
        yield Curve(panel, "p0, measured", [low, high], [needed, needed], style="dashed")


def figure5(evidence: Evidence) -> Iterator[Curve]:
    """Draw response times over measured loss ratios, and the bounds."""
    runs, designed = evidence["exp1"], evidence["exp1-pistar"]
    for label in ("LRED", "PI", "PI*", "REM"):
        own = designed if label == "PI*" else runs
        yield own.curve("", "response_time", label, "loss_ratio", fill=_longest(own, label), style="points")
    losses = np.linspace(0.03, 0.27, 25)
    yield Curve("", "PI, bound (34)", losses, pi.response_bound(losses, *PI_GAINS, FREQUENCY), style="dashed")
    yield Curve("", "REM, bound (40)", losses, rem.response_bound(losses), style="dashed")
    places = [designed.mean("loss_ratio", "PI*", {FLOWS: count}).mean or float("nan") for count in _loads(evidence)]
    bounds = [_bound("PI*", loss, count) for loss, count in zip(places, _loads(evidence), strict=True)]
    yield Curve("", "PI*, bound (34)", places, bounds, style="dashed")
    yield Curve(
        "", "LRED, after a bad start (ours)", losses, [lred.cold_start(loss) for loss in losses], style="dashed"
    )


def settles(evidence: Evidence) -> Judgement:
    """Judge the estimate and the probability from 20 s on."""
    runs = evidence["fig2"]
    bias: Values = []
    spread: Values = []
    swing: Values = []
    for seed in runs.study.seeds:
        frame = runs.series("LRED", seed=seed).filter(polars.col("t") >= SETTLED)
        link = runs.study.scenario.resolved["observe"]
        estimate, p = (frame[f"{link}.{name}.mean"].drop_nulls().to_numpy() for name in ("loss_ratio", "p"))
        bias.append(float(p.mean() / estimate.mean() - 1))
        spread.append(float(estimate.std() / estimate.mean()))
        swing.append(float(p.std() / estimate.std()))
    checks = [
        # A tenth is the precision with which the paper reads its figure, 0.12.
        Check.of("mean of p over that of the estimate, less 1", bias, least=-0.1, most=0.1),
        Check.of("standard deviation of the estimate over its mean", spread, most=0.1),
        Check.of("standard deviation of p over that of the estimate", swing, least=1),
    ]
    why = (
        f"The load loses {told(runs, 'loss_ratio', 'LRED')}. The estimate is a mean over some 4 s, or ten thousand "
        "packets; p follows the queue of the moment, 0.001 sqrt(L) a packet."
    )
    return Judgement(checks, why)


def _sooner(evidence: Evidence, other: Runs, label: str) -> list[Check]:
    """Check that another discipline's response time is not below LRED's, at all loads and at the high ones."""
    runs = evidence["exp1"]
    checks = []
    for where, counts in (("all loads", _loads(evidence)), ("600 flows and more", _high(evidence))):
        gap = averaged(less(_times(other, label, count), _times(runs, runs.hero, count)) for count in counts)
        effect = f"response time of {label} less that of {runs.hero}, {where}"
        checks.append(Check.of(effect, gap, unit="s", least=0))
    return checks


def fastest(evidence: Evidence) -> Judgement:
    """Compare LRED's response times with those of PI and REM, or of later disciplines."""
    runs = evidence["exp1"]
    checks = [check for label in runs.others for check in _sooner(evidence, runs, label)]
    means = ", ".join(f"{label} {told(runs, 'response_time', label)} s" for label in runs.others)
    why = (
        f"In the mean over the loads at which it settles LRED takes {told(runs, 'response_time', runs.hero)} s "
        f"({means}): its estimate of the loss is right after a few periods of 1 s, whatever the loss, while what "
        "starts at p = 0 and adds to it in small steps has to climb there."
    )
    return Judgement(checks, why)


def as_designed(evidence: Evidence) -> Judgement:
    """Compare LRED's response times with those of PI*, which is designed for each load."""
    designed = evidence["exp1-pistar"]
    checks = _sooner(evidence, designed, "PI*")
    light, *_, heavy = _loads(evidence)
    ends = "; ".join(
        f"with {count} flows PI* takes {told(designed, 'response_time', 'PI*', at={FLOWS: count})} s, LRED "
        f"{told(evidence['exp1'], 'response_time', 'LRED', at={FLOWS: count})} s"
        for count in (light, heavy)
    )
    why = (
        f"Where they settle: {ends}. PI*'s gain follows the load that it is told: near ns-2's for 100 flows, tens of "
        "times as high for 400 and more, with which an integrator climbs in seconds too. LRED is told nothing."
    )
    return Judgement(checks, why)


def flat(evidence: Evidence) -> Judgement:
    """Judge the trend of LRED's response times over the loss ratio, and their range."""
    runs = evidence["exp1"]
    light, *_, heavy = _loads(evidence)
    own, other = (less(_times(runs, label, heavy), _times(runs, label, light)) for label in (runs.hero, "PI"))
    part = [None if one is None or not two else one / two for one, two in zip(own, other, strict=True)]
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
        f"{told(runs, 'response_time', runs.hero, at={FLOWS: light})} s at the lightest load, where the estimate that "
        "slow start leaves is too high and falls slowly while the queue is empty, and "
        f"{told(runs, 'response_time', runs.hero, at={FLOWS: heavy})} s at the heaviest, where time-outs and chance "
        "decide, as five seconds in a row have to be within the band."
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
        ratios = [_ratios(evidence, label, count) for count in _loads(evidence)]
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
    high, low = _high(evidence), _loads(evidence)[0]
    checks = []
    for label in ("PI", "REM"):
        above = averaged([_ratios(evidence, label, count) for count in high])
        below = _ratios(evidence, label, low)
        # Half more: still close in a figure whose times differ tenfold.
        checks.append(Check.of(f"response time of {label} over its bound, 600 flows and more", above, most=1.5))
        checks.append(Check.of(f"the same of {label} with {low} flows, less that", less(below, above), least=0))
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
    faster = averaged(less(_times(runs, "PI", count), _times(designed, "PI*", count)) for count in _loads(evidence))
    own, *others = (averaged(_ratios(evidence, label, count) for count in high) for label in ("PI*", "PI", "REM"))
    checks = [Check.of("response time of PI less that of PI*", faster, unit="s", least=0)]
    checks += [
        Check.of(f"response time over its bound, 600 flows and more: PI* less {label}", less(own, other), least=0)
        for label, other in zip(("PI", "REM"), others, strict=True)
    ]
    gains = {count: pi.tustin(*pi.rule(count, ROUND_TRIPS[count], C), FREQUENCY)[0] for count in _loads(evidence)}
    most = max(gains, key=gains.__getitem__)
    times = np.mean([ratio for ratio in own if ratio is not None])
    why = (
        f"At 600 flows and more PI* takes {times:.2g} times its bound. Designed for the load, its gain is up to "
        f"{gains[most] / PI_GAINS[0]:.0f} times ns-2's (at {most} flows): the queue leaves the full buffer before p is "
        "at p0, and what is left is the damped approach, of which a bound by a full buffer says nothing. At 100 flows "
        "its p climbs hardly faster than PI's."
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
        for count in _loads(evidence)
    ]
    why = (
        "dL/dt = (p - L)/T = beta sqrt(L) (q - q0)/T with T = 2.6 s: only q = q0 is at rest. A proportional "
        "controller without it would need the queue to differ by hundreds of packets between these loads."
    )
    return Judgement(checks, why)


def complexity(_: Evidence) -> Judgement:
    """Leave the cost in a router unjudged: it requires a router."""
    return Judgement(
        [],
        "What an algorithm costs a router is not in a simulation. LRED draws one number and takes one root an arrival.",
    )


TIME = Axis("Time (s)", 0, 200)
PROBABILITY = Axis("Probability", 0, 0.5)

FIGURES = (
    Figure(
        name="fig2",
        title="LRED's drop probability and its estimate of the loss ratio",
        needs=["fig2"],
        panels=[
            Panel("a", "0 to 200 s", TIME, PROBABILITY),
            Panel("b", "40 to 43 s", Axis("Time (s)", 40, 43), Axis("Probability", 0.05, 0.2)),
        ],
        curves=figure2,
        caption="200 flows, which lose 12 % as in the paper's example; the paper does not say how many it has. In "
        "(a) p is averaged over 0.2 s, in (b) over 20 ms.",
    ),
    Figure(
        name="fig5",
        title="Experiment 1: response time over the loss ratio",
        needs=["exp1", "exp1-pistar"],
        panels=[Panel("", "Response time", Axis("Packet loss ratio", 0, 0.3), Axis("Response time (s)", 0, 400))],
        curves=figure5,
        caption="A point for 100, 200, ... 1000 flows. A queue that never settled stands at the end of its run, 200 "
        "s, of PI 400 s. The paper has no bound for LRED; ours is the time that its estimate takes to come back from "
        "a start that loses half of all packets, chance left out.",
    ),
)

CLAIMS = (
    Claim(
        name="estimate-settles",
        text="In a steady state the estimated loss ratio is close to constant, and the drop probability fluctuates "
        "around it.",
        where="Section 3, Fig. 2",
        judge=settles,
        needs=["fig2"],
        shown=["fig2"],
    ),
    Claim(
        name="complexity",
        text="LRED's complexity is comparable to that of PI, REM and AVQ.",
        where="Abstract",
        judge=complexity,
    ),
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
