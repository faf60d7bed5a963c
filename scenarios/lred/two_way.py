"""LRED, experiment 6 and what its summary says: congestion both ways, the measurement, the virtual drop-tail."""

from collections.abc import Iterator
from typing import TYPE_CHECKING

import numpy as np

from aqmlab.papers import Axis, Check, Claim, Curve, Evidence, Experiment, Figure, Judgement, Panel
from aqmlab.scenarios.lred.short import Q0, distance

if TYPE_CHECKING:
    import polars

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
    ),
    Experiment(
        name="beta10",
        title="LRED with beta = 10, a virtual drop-tail buffer",
        scenario="lred/exp1",
        settings={"duration": "60 s", "record.step": "1 ms"},
        aqms={"LRED": "lred:beta=10"},
        series=True,
        most_seeds=1,
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
    p = frame["bottleneck.p.mean"].to_numpy()
    yield Curve("b", "p", frame["t"].to_numpy(), p, style="points")


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
        caption="Experiment 1 with 400 flows: the paper does not say with which. (b) has means over 1 ms, some three "
        "arrivals each.",
    ),
]

_DIRECTIONS = {"forward": None, "reverse": "bottleneck:reverse"}


def _two_way_best(evidence: Evidence) -> Judgement:
    """Compare how far both queues are from their target over the whole run."""
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
        peaks = []
        for seed in runs.study.seeds:
            curve = runs.over_time("", label, at={"dumbbell.buffer": 200.0}, bin=1.0, seed=seed)
            peaks.append(float(np.nanmax(np.asarray(curve.y))) - Q0)
        checks.append(Check.of(f"overshoot of {label}, Q = 200", peaks, unit="packets", least=20))
    return Judgement(checks, "Noticeable is taken as a fifth of the target. All flows start within a second, at p = 0.")


def _slow_with_room(evidence: Evidence) -> Judgement:
    """Compare overshoots and settling of PI and PI* with LRED's, with 400 packets of room."""
    runs = evidence["exp6"]
    at = {"dumbbell.buffer": 400.0}
    checks = []
    for other in ("PI", "PI*"):
        late = runs.differences("response_time", other, "LRED", at, fill=runs.duration)
        checks.append(Check.of(f"response time, {other} less LRED", late, unit="s", least=0))
        over = []
        for seed in runs.study.seeds:
            peaks = [
                np.nanmax(np.asarray(runs.over_time("", one, at=at, bin=1.0, seed=seed).y)) for one in (other, "LRED")
            ]
            over.append(float(peaks[0] - peaks[1]))
        checks.append(Check.of(f"overshoot, {other} less LRED", over, unit="packets", least=0))
    return Judgement(
        checks,
        f"Forward direction. A run whose queue never settles counts as {runs.duration:g} s. Every scheme starts at "
        "p = 0, so the first overshoot is the flows' slow start, the same for all while the buffer holds it.",
    )


def _rem_below(evidence: Evidence) -> Judgement:
    """Measure how often REM's forward queue is below its target, and its goodput."""
    runs = evidence["exp6"]
    at = {"dumbbell.buffer": 400.0}
    below = []
    for seed in runs.study.seeds:
        curve = runs.over_time("", "REM", at=at, bin=1.0, seed=seed)
        y = np.asarray(curve.y)[np.asarray(curve.x) > 20]
        below.append(100 * float((y < Q0).mean()))
    return Judgement(
        [
            Check.of("share of seconds with REM's queue below 100, from 20 s on", below, unit="%", least=50),
            Check.of(
                "goodput, LRED less REM",
                runs.differences("goodput", "LRED", "REM", at, scale=1e-6),
                unit="Mbit/s",
                least=0,
            ),
        ],
        "ns-2's REM counts offered packets, of which it drops some: its queue then sits 10 c l / (1 - l) below the "
        "target. Ours has the published law, with the queue itself, which has no such bias.",
    )


def _virtual(evidence: Evidence) -> Judgement:
    """Measure how often p is 0 or 1, and the longest queue."""
    runs = evidence["beta10"]
    frame = runs.series("LRED").filter(_between(20.0, 60.0))
    p = frame["bottleneck.p.mean"].drop_nulls().to_numpy()
    extreme = 100 * float(((p < 0.01) | (p > 0.99)).mean())
    return Judgement(
        [
            Check.exact("share of milliseconds with p below .01 or above .99", extreme, unit="%", least=90),
            Check.exact(
                "longest queue from 20 s on",
                float(frame["bottleneck.queue.max"].to_numpy().max()),
                unit="packets",
                most=Q0 + 1,
            ),
        ],
        "With L of some .1, p leaves [0, 1] one packet away from q0.",
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
        name="two-way-slow",
        text="With a buffer of 400 packets PI and PI* respond more slowly and overshoot more.",
        where="Section 6.3, experiment 6, Fig. 16",
        judge=_slow_with_room,
        needs=["exp6"],
        shown=["fig16"],
    ),
    Claim(
        name="two-way-rem-below",
        text="With a buffer of 400 packets REM's queue is often below its target, which costs goodput.",
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
