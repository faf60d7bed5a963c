"""Claims on JoBS: sections 2.6 and 4.2, in four readings of its K and alpha."""

from collections.abc import Callable

import numpy as np
import polars

from aqmlab_papers import Check, Effect, Judgement, PerSeed, Runs, Tolerance, claim, ours, tolerance
from aqmlab_papers.survey import measures
from aqmlab_papers.survey.experiments import EVERY
from aqmlab_papers.survey.measures import BIN, HOSTS, LINE_A, LINE_B, LINE_C, LOST, NODES, WAIT, over_time

SENT = "classes.ftp.arrivals"
HUNDREDTH = Tolerance(1, "% of it", "a hundredth, as the width of a line in Fig. 2")
READING = "In four readings of K = 10 and alpha = 0.9 (see the unstated parameters)."


def _readings(schemes: Runs, readings: Runs | None) -> list[tuple[str, Runs]]:
    """Return the labels of JoBS with the runs that have them: all readings, or JoBS as shipped alone."""
    found = [(schemes.hero, schemes)]
    return found if readings is None else found + [(label, readings) for label in readings.labels]


def _below(metric: str, schemes: Runs, readings: Runs | None, tolerance: Tolerance) -> list[Check]:
    """Compare a metric of JoBS in each reading with that of each other discipline, which is to be higher."""
    checks = []
    for label, runs in _readings(schemes, readings):
        own = runs.per_seed(metric, label)
        for other in schemes.others:
            effect = f"{own.name}, {label} minus {other}"
            checks.append(Effect(effect).better(own, schemes.per_seed(metric, other), "lower", tolerance))
    return checks


@claim("the JoBS algorithm completely avoids packet losses", "Section 4.2, Fig. 2c", "fig2 schemes")
@tolerance(LINE_C)
def jobs_loses_nothing(schemes: Runs, readings: Runs | None = None) -> Judgement:
    """JoBS avoids packet losses completely."""
    of = _readings(schemes, readings)
    checks = [
        Effect(f"{name}, {label}").of(runs.per_seed(metric, label), most=LINE_C.value)
        for metric, name in ((LOST, "loss of TCP packets"), ("loss_ratio", "loss of all packets"))
        for label, runs in of
    ]
    beside = [
        Effect(f"packets dropped in 20 s, {label}").of(runs.per_seed("drops_overflow", label), unit="packets", most=0)
        for label, runs in of
    ]
    beside += schemes.compare(LOST, schemes.hero, better="lower", tolerance=LINE_C, name="loss of TCP packets")
    return Judgement(
        checks,
        f"{READING} No flow is projected before two of its flights have told its round trip: slow start goes unseen.",
        beside=beside,
    )


@claim("lowers the queue size", "Section 4.2, Fig. 2b", "fig2 schemes", comparative=True)
@tolerance(LINE_B)
def jobs_shortest(schemes: Runs, readings: Runs | None = None, *, tolerance: Tolerance) -> Judgement:
    """JoBS lowers the queue: it has the shortest on average."""
    waits = ", ".join(f"{runs.per_seed(WAIT, label):.1f}" for label, runs in _readings(schemes, readings))
    return Judgement(
        _below(WAIT, schemes, readings, tolerance),
        f"{READING} It lets the queue grow to wherever a projection fits the buffer: to {waits} ms, in their order.",
    )


@claim("at all times", "Section 4.2, Fig. 2b", "fig2")
@tolerance(5, "%", "all but two of 40 intervals, those in which the flows start")
def jobs_always_shortest(schemes: Runs, readings: Runs, *, tolerance: Tolerance) -> Judgement:
    """JoBS has the shortest queue at all times."""
    wait = polars.col("ftp.delay").mean()
    others = {label: over_time(schemes, label, wait) for label in schemes.others}
    checks = []
    for label, runs in _readings(schemes, readings):
        own = over_time(runs, label, wait)
        for other, theirs in others.items():
            share = {seed: 100 * float(np.mean(own[seed] < theirs[seed])) for seed in own.keys() & theirs.keys()}
            effect = f"intervals of {BIN:g} s in which {label} waits less than {other}"
            checks.append(Effect(effect).of(PerSeed.of(share, "%"), least=100 - tolerance.value))
    return Judgement(checks, "The others' queues swing, and fall below JoBS's now and then.")


@claim("its utilization is relatively low in our simulation", "Section 4.2, Fig. 2a", "fig2 schemes", comparative=True)
@tolerance(LINE_A)
def jobs_utilisation(schemes: Runs, readings: Runs | None = None, *, tolerance: Tolerance) -> Judgement:
    """JoBS's utilisation is relatively low."""
    return Judgement(
        _below("utilisation", schemes, readings, tolerance),
        f"{READING} The link idles at times if JoBS marks before the buffer has filled; many flows keep it busy "
        "otherwise, as the figure over the nodes has it.",
    )


@claim(
    "the sending rate of the TCP source is reduced, and impending packet losses can be avoided",
    "Section 2.6, eq. (2)",
    "fig1 schemes",
)
@tolerance(LINE_C)
def jobs_averts(schemes: Runs, fine: Runs, readings: Runs | None = None, *, tolerance: Tolerance) -> Judgement:
    """JoBS's marks reduce what TCP sends, and avoid losses that the same buffer has without them."""
    plain = {metric: schemes.per_seed(metric, "DropTail") for metric in (SENT, LOST)}
    checks = [
        Effect(f"{name} of TCP packets, {label} {joint} DropTail").better(
            runs.per_seed(metric, label), plain[metric], "lower", by
        )
        for label, runs in _readings(schemes, readings)
        for metric, name, joint, by in ((SENT, "number", "over", HUNDREDTH), (LOST, "loss", "minus", tolerance))
    ]
    labels = [label for label in fine.labels if label.startswith("JoBS")]

    def parts(effect: str, read: Callable[[polars.DataFrame], float | None]) -> list[Check]:
        return [Effect(f"{effect}, {label}").of(fine.from_series(label, read, unit="%"), least=95) for label in labels]

    above = [fine.from_series(label, lambda frame: 100 * float(_projected(frame).mean())) for label in labels]
    return Judgement(
        checks,
        "A buffer that marks nobody is drop tail's. A mark takes a round trip to be obeyed. The projection is no "
        f"alarm, though: before marks it is above the buffer in {' and '.join(f'{one:.0f} %' for one in above)} of the "
        f"steps of 2 ms ({' and '.join(labels)}), as the rate of UDP since the arrival before is nearly all noise.",
        beside=[
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
@tolerance(LINE_C)
def jobs_with_fewer_nodes(load: Runs) -> Judgement:
    """With 20 or 40 nodes JoBS loses nothing, has the shortest queue and leaves some of the link, as the paper says, if
    it projects at every arrival.
    """
    nodes = [count for count in load.points(HOSTS) if count < NODES]
    others = [label for label in load.labels if not label.startswith("JoBS")]
    checks = []
    for count in nodes:
        at, form = {HOSTS: count}, f", {count} nodes"
        checks.append(Effect(f"loss of TCP packets{form}").of(load.per_seed(LOST, EVERY, at), most=LINE_C.value))
        for metric, by in ((WAIT, LINE_B), ("utilisation", LINE_A)):
            for other in others:
                own, theirs = (load.per_seed(metric, label, at) for label in (EVERY, other))
                checks.append(Effect(f"{own.name}, JoBS minus {other}{form}").better(own, theirs, "lower", by))
    lost = [load.per_seed(LOST, "DropTail", {HOSTS: count}) for count in nodes]
    return Judgement(
        checks,
        "Seen in the runs first. Larger windows leave gaps between flights, by which JoBS measures round trips. But "
        f"drop tail then loses {' and '.join(f'{one:.1f} %' for one in lost)} instead of 12 %.",
    )
