"""LRED, experiment 6 and the summary's claims: two-way congestion, the measurement, the virtual drop-tail."""

from collections.abc import Iterator
from typing import TYPE_CHECKING

import numpy as np

from aqmlab.library.lred.beside import told
from aqmlab.library.lred.short import Q0, distance
from aqmlab.papers import Axis, Check, Claim, Curve, Evidence, Experiment, Figure, Judgement, Panel, Runs

if TYPE_CHECKING:
    import polars
    from numpy.typing import NDArray

_LABELS = ("LRED", "PI", "PI*", "REM")

EXPERIMENTS = [
    Experiment(
        name="exp6",
        title="Experiment 6: congestion both ways",
        scenario="lred/exp6",
        aqms={
            label: {"aqm": spec, "reverse_aqm": spec}
            for label, spec in {
                "LRED": "lred",
                "PI": "pi:q_ref=100",
                "PI*": "pistar:q_ref=100,design={n=200, rtt='600 ms'}",
                "REM": "rem:b_star=100",
            }.items()
        },
        vary={"dumbbell.buffer": ["200 packets", "400 packets"]},
        series=True,
        most_seeds=3,  # a run has two congested links and costs twice as much
        rivals={},
    ),
    Experiment(
        name="beta10",
        title="LRED with beta = 10, a virtual drop-tail buffer",
        scenario="lred/exp1",
        settings={"duration": "60 s", "record.step": "1 ms"},
        aqms={"LRED": "lred:beta=10"},
        series=True,
        most_seeds=3,
        rivals={},
    ),
    Experiment(
        name="measurement",
        title="LRED's measurement: its period and its weight, with short flows that come and go",
        scenario="lred/exp5",
        settings={"traffic.short.arrival_rate": "100 /s"},
        aqms={
            "m_t = 0.1 s": "lred:period=100 ms",
            "m_t = 1 s": "lred",
            "m_t = 5 s": "lred:period=5 s",
            "m_w = 0.9": "lred:weight=0.9",
        },
        rivals={},
    ),
]


def _two_way(evidence: Evidence, buffer: str) -> Iterator[Curve]:
    runs = evidence["exp6"]
    for label in runs.labels:
        at = {"dumbbell.buffer": float(buffer)}
        yield runs.over_time(f"a, {label}", label, at=at, link="bottleneck:reverse")
        yield runs.over_time(f"b, {label}", label, at=at)


def _two_way_figure(name: str, buffer: str) -> Figure:
    time, queue = Axis("Time (s)", 0, 100), Axis("Queue length (packets)", 0, float(buffer))
    return Figure(
        name=name,
        title=f"Experiment 6: queue lengths with congestion both ways, q0 = 100, Q = {buffer}",
        panels=[
            Panel(f"{letter}, {label}", told, time, queue)
            for label in _LABELS
            for letter, told in (("a", "reverse direction, short flows"), ("b", "forward direction, long flows"))
        ],
        curves=lambda evidence: _two_way(evidence, buffer),
        needs=["exp6"],
        caption="Averages over 50 ms of the first seed.",
    )


def _virtual_drop_tail(evidence: Evidence) -> Iterator[Curve]:
    runs = evidence["beta10"]
    yield runs.over_time("a", "LRED", name="queue", bin=0.02)
    frame = runs.series("LRED").filter(_between(40.0, 40.2))
    for name, quantity in (("highest p", "max"), ("lowest p", "min")):
        p = frame[f"bottleneck.p.{quantity}"].to_numpy()
        yield Curve("b", name, frame["t"].to_numpy(), p, style="points")


def _between(begin: float, end: float) -> "polars.Expr":
    import polars

    return (polars.col("t") >= begin) & (polars.col("t") < end)


FIGURES = [
    _two_way_figure("fig15", "200"),
    _two_way_figure("fig16", "400"),
    Figure(
        name="fig17",
        title="LRED with beta = 10: a virtual drop-tail buffer of q0",
        panels=[
            Panel("a", "Queue length", Axis("Time (s)", 0, 60), Axis("Queue length (packets)", 0, 120)),
            Panel("b", "Drop probability, 200 ms of it", Axis("Time (s)", 40, 40.2), Axis("Drop probability", 0, 1)),
        ],
        curves=_virtual_drop_tail,
        needs=["beta10"],
        caption="Experiment 1 with 400 flows: the paper does not say with which. In (b) the highest and "
        "the lowest p of each millisecond, in which some three packets arrive. 60 s of a run.",
    ),
]

_DIRECTIONS = {"forward": None, "reverse": "bottleneck:reverse"}


def _two_way_best(evidence: Evidence) -> Judgement:
    """Compare the distance of both queues from their target over the whole run."""
    runs = evidence["exp6"]
    checks = []
    for buffer in runs.points("dumbbell.buffer"):
        for direction, link in _DIRECTIONS.items():
            own = distance(runs, runs.hero, 0, runs.duration, {"dumbbell.buffer": buffer}, link)
            for other in runs.others:
                theirs = distance(runs, other, 0, runs.duration, {"dumbbell.buffer": buffer}, link)
                checks.append(
                    Check.of(
                        f"|queue - q0|, {direction}, Q = {buffer:g}: {other} less {runs.hero}",
                        [other - mine for other, mine in zip(theirs, own, strict=True)],
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
        farther = [one - other for one, other in zip(forward, reverse, strict=True)]
        checks.append(
            Check.of(f"|queue - q0| of {label}, forward less reverse, Q = 200", farther, unit="packets", least=0)
        )
    return Judgement(
        checks,
        f"The forward direction loses {told(runs, 'links.bottleneck.loss_ratio', 'LRED', at=at)} with LRED, the "
        f"reverse one {told(runs, 'links.bottleneck:reverse.loss_ratio', 'LRED', at=at)}: 200 flows come in there each "
        "second, each with a slow start of its own. The higher the loss ratio that holds the queue, the later an "
        "integrator is there.",
    )


def _slow_with_room(evidence: Evidence) -> Judgement:
    """Compare the start of PI and PI* with LRED's, with a buffer of 400 packets."""
    runs = evidence["exp6"]
    at = {"dumbbell.buffer": 400.0}
    checks = []
    for other in ("PI", "PI*"):
        late = [a - b for a, b in zip(_calm(runs, other, at), _calm(runs, "LRED", at), strict=True)]
        checks.append(
            Check.of(f"end of the first time above q0 + 20 packets, {other} less LRED", late, unit="s", least=0)
        )
        higher = [a - b for a, b in zip(_peaks(runs, other, at), _peaks(runs, "LRED", at), strict=True)]
        checks.append(Check.of(f"overshoot, {other} less LRED", higher, unit="packets", least=0))
    return Judgement(
        checks,
        "Forward direction, 1 s means. Every scheme starts at p = 0; with twice the room the flows' slow start fills "
        "more of it before an integrator has found its drop probability.",
    )


def _one_second_means(runs: Runs, label: str, at: dict[str, float], seed: int) -> "NDArray[np.float64]":
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
        sooner = [theirs - own for theirs, own in zip(_calm(runs, other, at), _calm(runs, "REM", at), strict=True)]
        effect = f"end of the first time above q0 + 20 packets, {other} less REM"
        checks.append(Check.of(effect, sooner, unit="s", least=0))
    below: dict[str, list[float]] = {"REM": [], "LRED": []}
    for label, shares in below.items():
        for seed in runs.study.seeds:
            means = _one_second_means(runs, label, at, seed)[20:]
            shares.append(100 * float((means < Q0).mean()))
    more = [rem - own for rem, own in zip(below["REM"], below["LRED"], strict=True)]
    goodput = runs.differences("classes.long.goodput", "LRED", "REM", at, scale=1e-6)
    checks += [
        Check.of("share of seconds with the queue below q0, from 20 s on, REM less LRED", more, unit="%", least=0),
        Check.of("goodput of the long flows, LRED less REM", goodput, unit="Mbit/s", least=0),
    ]
    return Judgement(
        checks,
        f"From 20 s on REM's queue is below 100 packets in {np.mean(below['REM']):.0f} % of all seconds, LRED's in "
        f"{np.mean(below['LRED']):.0f} %; it is empty for {told(runs, 'queue_empty', 'REM', 2, at=at)} of the time, "
        f"LRED's for {told(runs, 'queue_empty', 'LRED', 2, at=at)}. ns-2's REM counts offered packets, of which it "
        "drops some, so that its queue sits 10 c l / (1 - l) below the target. Ours has the published law, with the "
        "queue itself: what it has below the target are swings, as much above it as below.",
    )


def _virtual(evidence: Evidence) -> Judgement:
    """Measure how often p is 0 or 1, and the longest queue."""
    runs = evidence["beta10"]
    share, longest, steep = [], [], []
    for seed in runs.study.seeds:
        frame = runs.series("LRED", seed=seed).filter(_between(20.0, 60.0))
        p = np.concatenate([frame[f"bottleneck.p.{name}"].drop_nulls().to_numpy() for name in ("min", "max")])
        share.append(100 * float(((p <= 0) | (p >= 1)).mean()))
        longest.append(float(frame["bottleneck.queue.max"].to_numpy().max()))
        steep.append(10 * float(frame["bottleneck.loss_ratio.min"].drop_nulls().to_numpy().min()) ** 0.5)
    return Judgement(
        [
            # Nearly always: nine times of ten.
            Check.of("milliseconds whose lowest or highest p is 0 or 1", share, unit="%", least=90),
            Check.of("longest queue", longest, unit="packets", most=Q0 + 1),
        ],
        f"From 20 s on. beta sqrt(L) is {min(steep):.2g} at least, so that one packet beside q0 takes p beyond 0 or 1. "
        "An arrival that finds q0 packets is dropped with L only: the queue may have one more, and a queue that is "
        "held at its end is found there often.",
    )


def _measured_well(evidence: Evidence) -> Judgement:
    """Compare the paper's measurement with shorter and longer ones."""
    runs = evidence["measurement"]
    usual = "m_t = 1 s"
    checks = [
        Check.of(
            f"queue deviation, {label} less {usual}, m_w = 0.1",
            runs.differences("queue_mad", label, usual),
            unit="packets",
            least=0,
        )
        for label in runs.labels
        if label != usual
    ]
    return Judgement(
        checks,
        "A short period follows the loss of single bursts, a long one is late when the load changes; both show in the "
        "queue's deviation.",
    )


CLAIMS = [
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
    Claim(
        name="measurement",
        text="A measurement period of 1 s and a weight of .1 are reasonable: a shorter period is inaccurate, a longer "
        "one slow, a small weight captures the latest loss.",
        where="Section 6.4",
        judge=_measured_well,
        needs=["measurement"],
    ),
    Claim(
        name="virtual-drop-tail",
        text="With beta = 10, p is nearly always 0 or 1, and the queue stays below q0 as in a buffer of that length.",
        where="Section 6.4, Fig. 17",
        judge=_virtual,
        needs=["beta10"],
        shown=["fig17"],
    ),
]
