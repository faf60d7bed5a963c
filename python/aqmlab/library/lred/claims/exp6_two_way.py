"""Claims of experiment 6 (Figs. 15 and 16): two-way congestion."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from aqmlab.library.lred.measures import Q0, distance, mean_text
from aqmlab.papers import Check, Claim, Evidence, Judgement, Runs
from aqmlab.papers.run.seeds import difference

if TYPE_CHECKING:
    from numpy.typing import NDArray

_DIRECTIONS = {"forward": None, "reverse": "bottleneck:reverse"}


def _two_way_best(evidence: Evidence) -> Judgement:
    """Compare the distance of both queues from their target over the whole run."""
    runs = evidence["exp6"]
    checks = []
    for buffer in runs.points("dumbbell.buffer"):
        for direction, link in _DIRECTIONS.items():
            hero = distance(runs, runs.hero, 0, runs.duration, {"dumbbell.buffer": buffer}, link)
            for other in runs.others:
                theirs = distance(runs, other, 0, runs.duration, {"dumbbell.buffer": buffer}, link)
                checks.append(
                    Check.of(
                        f"|queue - q0|, {direction}, Q = {buffer:g}: {other} minus {runs.hero}",
                        difference(theirs, hero),
                        unit="packets",
                        least=0,
                    )
                )
    return Judgement(
        checks,
        "The slower a scheme finds its drop probability, the longer the start's overload fills the buffer; in 100 s it "
        "weighs more than in the other experiments.",
    )


def _all_overshoot(evidence: Evidence) -> Judgement:
    """Measure the highest 1 s mean of the forward queue above its target."""
    runs = evidence["exp6"]
    checks = []
    for label in runs.labels:
        peaks = _peaks(runs, label, {"dumbbell.buffer": 200.0})
        checks.append(Check.of(f"overshoot of {label}, Q = 200", peaks, unit="packets", least=20))
    return Judgement(checks, "Noticeable is taken as a fifth of the target. All flows start within a second, at p = 0.")


def _forward_more(evidence: Evidence) -> Judgement:
    """Compare the distance of the two queues from their target, with a buffer of 200 packets."""
    runs = evidence["exp6"]
    at = {"dumbbell.buffer": 200.0}
    checks = []
    for label in runs.labels:
        forward, reverse = (distance(runs, label, 0, runs.duration, at, link) for link in _DIRECTIONS.values())
        farther = difference(forward, reverse)
        checks.append(
            Check.of(f"|queue - q0| of {label}, forward minus reverse, Q = 200", farther, unit="packets", least=0)
        )
    return Judgement(
        checks,
        f"The forward direction loses {mean_text(runs, 'links.bottleneck.loss_ratio', 'LRED', at=at)} with LRED, the "
        f"reverse one {mean_text(runs, 'links.bottleneck:reverse.loss_ratio', 'LRED', at=at)}: 200 flows come in there "
        "each second, each with a slow start of its own. The higher the loss ratio that holds the queue, the later an "
        "integrator is there.",
    )


def _slow_with_room(evidence: Evidence) -> Judgement:
    """Compare the start of PI and PI* with LRED's, with a buffer of 400 packets."""
    runs = evidence["exp6"]
    at = {"dumbbell.buffer": 400.0}
    checks = []
    for other in ("PI", "PI*"):
        late = difference(_calm(runs, other, at), _calm(runs, "LRED", at))
        checks.append(
            Check.of(f"end of the first time above q0 + 20 packets, {other} minus LRED", late, unit="s", least=0)
        )
        higher = difference(_peaks(runs, other, at), _peaks(runs, "LRED", at))
        checks.append(Check.of(f"overshoot, {other} minus LRED", higher, unit="packets", least=0))
    return Judgement(
        checks,
        "Forward direction, 1 s means. Every scheme starts at p = 0; with twice the room the flows' slow start fills "
        "more of it before an integrator has found its drop probability.",
    )


def _one_second_means(runs: Runs, label: str, at: dict[str, float], seed: int) -> NDArray[np.float64]:
    return np.asarray(runs.over_time("", label, at=at, bin=1.0, seed=seed).y, dtype=float)


def _peaks(runs: Runs, label: str, at: dict[str, float]) -> list[float]:
    """Return the highest 1 s mean minus q0, for each seed."""
    return [float(np.nanmax(_one_second_means(runs, label, at, seed))) - Q0 for seed in runs.study.seeds]


def _calm(runs: Runs, label: str, at: dict[str, float]) -> list[float]:
    """Return the first second back within 20 packets above q0, after the first above that band, for each seed."""
    found = []
    for seed in runs.study.seeds:
        means = _one_second_means(runs, label, at, seed)
        over = means > Q0 + 20
        back = np.flatnonzero(~over & (np.cumsum(over) > 0))
        found.append(float(back[0]) if back.size else runs.duration)
    return found


def _rem_below(evidence: Evidence) -> Judgement:
    """Judge when REM's forward queue reaches its target, how often it is below it, and its goodput."""
    runs = evidence["exp6"]
    at = {"dumbbell.buffer": 400.0}
    checks = []
    for other in ("PI", "PI*"):
        sooner = difference(_calm(runs, other, at), _calm(runs, "REM", at))
        effect = f"end of the first time above q0 + 20 packets, {other} minus REM"
        checks.append(Check.of(effect, sooner, unit="s", least=0))
    below: dict[str, list[float]] = {"REM": [], "LRED": []}
    for label, shares in below.items():
        for seed in runs.study.seeds:
            means = _one_second_means(runs, label, at, seed)[20:]
            shares.append(100 * float((means < Q0).mean()))
    more = difference(below["REM"], below["LRED"])
    goodput = runs.differences("classes.long.goodput", "LRED", "REM", at, scale=1e-6)
    checks += [
        Check.of("share of seconds with the queue below q0, from 20 s on, REM minus LRED", more, unit="%", least=0),
        Check.of("goodput of the long flows, LRED minus REM", goodput, unit="Mbit/s", least=0),
    ]
    return Judgement(
        checks,
        f"From 20 s on REM's queue is below 100 packets in {np.mean(below['REM']):.0f} % of all seconds, LRED's in "
        f"{np.mean(below['LRED']):.0f} %; it is empty for {mean_text(runs, 'queue_empty', 'REM', 2, at=at)} of the "
        f"time, LRED's for {mean_text(runs, 'queue_empty', 'LRED', 2, at=at)}. ns-2's REM counts offered packets, of "
        "which it drops some, so that its queue sits 10 c l / (1 - l) below the target. Ours has the published law, "
        "with the queue itself: what it has below the target are swings, as much above it as below.",
    )


CLAIMS = (
    Claim(
        name="two-way-overshoot",
        text="With congestion both ways every scheme overshoots noticeably.",
        where="Section 6.3, experiment 6, Fig. 15",
        judge=_all_overshoot,
        needs=["exp6"],
        shown=["fig15"],
    ),
    Claim(
        name="two-way-best",
        text="With congestion both ways LRED controls the queues better than PI, PI* and REM.",
        where="Section 6.3, experiment 6, Figs. 15 and 16",
        judge=_two_way_best,
        needs=["exp6"],
        shown=["fig15", "fig16"],
    ),
    Claim(
        name="two-way-forward",
        text="The forward direction, of long flows, suffers more than the reverse one, of short flows.",
        where="Section 6.3, experiment 6, Fig. 15",
        judge=_forward_more,
        needs=["exp6"],
        shown=["fig15"],
    ),
    Claim(
        name="two-way-slow",
        text="With a buffer of 400 packets PI and PI* respond more slowly and overshoot more.",
        where="Section 6.3, experiment 6, Fig. 16",
        judge=_slow_with_room,
        needs=["exp6"],
        shown=["fig16"],
    ),
    Claim(
        name="two-way-rem-below",
        text="With a buffer of 400 packets REM responds sooner than PI and PI*, but its queue is often below its "
        "target, which costs goodput.",
        where="Section 6.3, experiment 6, Fig. 16",
        judge=_rem_below,
        needs=["exp6"],
        shown=["fig16"],
    ),
)
