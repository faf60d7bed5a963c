"""Claims on JoBS: sections 2.6 and 4.2, in four readings of its K and alpha."""

from collections.abc import Callable, Sequence

import numpy as np
import polars

from aqmlab_papers import Check, Effect, Judgement, PerSeed, Runs, Tolerance, claim, ours, tolerance
from aqmlab_papers.describe.thresholds import DELAY, GOODPUT, LOSS
from aqmlab_papers.survey import measures
from aqmlab_papers.survey.experiments import EVERY
from aqmlab_papers.survey.measures import (
    BIN,
    HOSTS,
    LOST,
    LOST_NOW,
    NODES,
    NONE,
    WAIT,
    between,
    loses_nothing,
    over_time,
)

SENT = "classes.ftp.arrivals"
READING = "In four readings of K = 10 and alpha = 0.9 (see the unstated parameters)."


def _readings(schemes: Runs, readings: Runs | None) -> list[tuple[str, Runs]]:
    """Return the labels of JoBS with the runs that have them: all readings, or JoBS as shipped alone."""
    found = [(schemes.hero, schemes)]
    return found if readings is None else found + [(label, readings) for label in readings.labels]


def _below(
    metric: str, schemes: Runs, readings: Runs | None, tolerance: Tolerance, others: Sequence[str] | None = None
) -> list[Check]:
    """Compare a metric of JoBS in each reading with that of others, by default all, which is to be higher."""
    checks = []
    for label, runs in _readings(schemes, readings):
        own = runs.per_seed(metric, label)
        for other in schemes.others if others is None else others:
            effect = f"{own.name}, {label} over {other}"
            checks.append(Effect(effect).better(own, schemes.per_seed(metric, other), "lower", tolerance))
    return checks


@claim("the JoBS algorithm completely avoids packet losses", "Section 4.2, Fig. 2c", "fig2 schemes")
@tolerance(NONE)
def jobs_loses_nothing(schemes: Runs, readings: Runs | None = None) -> Judgement:
    """JoBS avoids packet losses completely."""
    of = _readings(schemes, readings)
    checks = [
        loses_nothing(f"{name}, {label}", runs.per_seed(metric, label), schemes.per_seed(metric, "DropTail"))
        for metric, name in ((LOST, "loss of TCP packets"), ("loss_ratio", "loss of all packets"))
        for label, runs in of
    ]
    beside = [
        Effect(f"packets dropped in 20 s, {label}").of(runs.per_seed("drops_overflow", label), unit="packets", most=0)
        for label, runs in of
    ]
    beside += schemes.compare(LOST, schemes.hero, better="lower", tolerance=LOSS, name="loss of TCP packets")
    first, then = (
        ", ".join(f"{runs.from_series(label, between(*part, LOST_NOW)):.2g}" for label, runs in of)
        for part in ((0.0, 1.5), (1.5, 20.0))
    )
    return Judgement(
        checks,
        f"{READING} In their order TCP loses {first} % of its packets in the first 1.5 s, in which the flows "
        f"start, and {then} % afterwards. JoBS acts by marks, which a source obeys a round trip later, and UDP never: "
        "what has come by then may still overflow the buffer.",
        beside=beside,
    )


@claim("lowers the queue size", "Section 4.2, Fig. 2b", "fig2 schemes")
@tolerance(DELAY)
def jobs_lowers(schemes: Runs, readings: Runs, *, tolerance: Tolerance) -> Judgement:
    """JoBS lowers the queue: its mean is shorter than without AQM."""
    waits = ", ".join(f"{runs.per_seed(WAIT, label):.1f}" for label, runs in _readings(schemes, readings))
    return Judgement(
        _below(WAIT, schemes, readings, tolerance, ["DropTail"]),
        f"{READING} The mean wait is {waits} ms in their order, and {schemes.per_seed(WAIT, 'DropTail'):.1f} ms with "
        "drop tail: JoBS marks before the buffer is full. The other four schemes stand beside.",
        _below(WAIT, schemes, readings, tolerance, [one for one in schemes.others if one != "DropTail"]),
    )


@claim("at all times", "Section 4.2, Fig. 2b", "fig2")
@tolerance(5, "%", "all but two of 40 intervals, those in which the flows start")
def jobs_always_lowers(schemes: Runs, readings: Runs, *, tolerance: Tolerance) -> Judgement:
    """JoBS's queue is shorter than without AQM at all times."""
    wait = polars.col("ftp.delay").mean()
    others = {label: over_time(schemes, label, wait) for label in schemes.others}
    checks: list[Check] = []
    beside: list[Check] = []
    for label, runs in _readings(schemes, readings):
        own = over_time(runs, label, wait)
        for other, theirs in others.items():
            share = {seed: 100 * float(np.mean(own[seed] < theirs[seed])) for seed in own.keys() & theirs.keys()}
            effect = f"intervals of {BIN:g} s in which {label} waits less than {other}"
            found = Effect(effect).of(PerSeed.of(share, "%"), least=100 - tolerance.value)
            (checks if other == "DropTail" else beside).append(found)
    return Judgement(
        checks,
        "Drop tail's buffer is nearly full in each interval. The queues of the others, beside, swing, and fall below "
        "JoBS's now and then.",
        beside,
    )


@claim("its utilization is relatively low in our simulation", "Section 4.2, Fig. 2a", "fig2 schemes", comparative=True)
@tolerance(GOODPUT)
def jobs_utilisation(schemes: Runs, readings: Runs | None = None, *, tolerance: Tolerance) -> Judgement:
    """JoBS's utilisation is relatively low."""
    return Judgement(
        _below("utilisation", schemes, readings, tolerance),
        f"{READING} In three of them the utilisation is above RED's, whose short queue leaves the link idle more "
        "often. Below that of drop tail, REM, BLUE and PI it is wherever the difference counts, by most in the second "
        "reading: with a projection at each arrival JoBS marks long before the buffer is full.",
    )


@claim(
    "the sending rate of the TCP source is reduced, and impending packet losses can be avoided",
    "Section 2.6, eq. (2)",
    "fig1 schemes",
)
@tolerance(LOSS)
def jobs_averts(schemes: Runs, fine: Runs, readings: Runs | None = None, *, tolerance: Tolerance) -> Judgement:
    """JoBS's marks reduce what TCP sends, and avoid losses that the same buffer has without them."""
    plain = {metric: schemes.per_seed(metric, "DropTail") for metric in (SENT, LOST)}
    checks = [
        Effect(f"{name} of TCP packets, {label} over DropTail").better(
            runs.per_seed(metric, label), plain[metric], "lower", tolerance
        )
        for label, runs in _readings(schemes, readings)
        for metric, name in ((SENT, "number"), (LOST, "loss"))
    ]
    labels = [label for label in fine.labels if label.startswith("JoBS")]

    def parts(effect: str, read: Callable[[polars.DataFrame], float | None]) -> list[Check]:
        return [Effect(f"{effect}, {label}").of(fine.from_series(label, read, unit="%"), least=95) for label in labels]

    above = [fine.from_series(label, lambda frame: 100 * float(_projected(frame).mean())) for label in labels]
    return Judgement(
        checks,
        "Without its marks JoBS would be drop tail: they make TCP send less, and less of it is lost. The projection is "
        "a poor alarm, though. It is above the buffer nearly all the time (beside), as the rate of UDP between two "
        "arrivals is nearly all noise.",
        beside=[
            *(
                Effect(f"steps of 2 ms with a projection above the buffer, {label}").of(one, unit="%", most=5)
                for label, one in zip(labels, above, strict=True)
            ),
            *parts("projections above the buffer without a loss in 0.1 s", averted),
            *parts("losses that a projection foresaw", foreseen),
        ],
    )


def foreseen(frame: polars.DataFrame) -> float | None:
    """Return the share of the drops that a projection above the buffer precedes, by 2 to 100 ms (%)."""
    lost, due = frame["drops"].to_numpy().astype(float), _projected(frame)
    before = np.array([due[max(0, i - 50) : i].any() for i in range(due.size)])
    return float(100 * lost[before].sum() / lost.sum()) if lost.sum() else None


def averted(frame: polars.DataFrame) -> float | None:
    """Return the share of the steps with a projection above the buffer that no drop follows within 100 ms (%)."""
    lost, due = frame["drops"].to_numpy() > 0, _projected(frame)
    after = np.array([lost[i : i + 50].any() for i in range(due.size)])
    return float(100 * (due & ~after).sum() / due.sum()) if due.any() else None


def _projected(frame: polars.DataFrame) -> np.ndarray[tuple[int], np.dtype[np.bool_]]:
    return np.asarray(frame["projected.max"].fill_null(0).to_numpy() > measures.BUFFER)


@ours("ours", "load")
@tolerance(NONE)
def jobs_with_fewer_nodes(load: Runs) -> Judgement:
    """With 20 or 40 nodes JoBS loses nothing, has the shortest queue and leaves some of the link, as the paper says, if
    it projects at every arrival.
    """
    nodes = [count for count in load.points(HOSTS) if count < NODES]
    others = [label for label in load.labels if not label.startswith("JoBS")]
    checks = []
    for count in nodes:
        at, form = {HOSTS: count}, f", {count} nodes"
        lost = [load.per_seed(LOST, label, at) for label in (EVERY, "DropTail")]
        checks.append(loses_nothing(f"loss of TCP packets{form}", *lost))
        for metric, by in ((WAIT, DELAY), ("utilisation", GOODPUT)):
            for other in others:
                own, theirs = (load.per_seed(metric, label, at) for label in (EVERY, other))
                checks.append(Effect(f"{own.name}, JoBS over {other}{form}").better(own, theirs, "lower", by))
    plain = [load.per_seed(LOST, "DropTail", {HOSTS: count}) for count in nodes]
    return Judgement(
        checks,
        "This was seen in the runs first. Fewer flows have larger windows, whose flights leave the gaps by which JoBS "
        "measures round trips; with 20 nodes some packets are lost all the same. But drop tail then loses "
        f"{' and '.join(f'{one:.1f} %' for one in plain)} instead of 12 %.",
    )
