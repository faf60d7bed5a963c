"""Claims on the queue with tail drop and RED: sections II and III-A.3 (Fig. 6, left), and III-C."""

from collections.abc import Mapping

import polars

from aqmlab_papers import At, Check, Effect, Judgement, Runs, Tolerance, claim, tolerance
from aqmlab_papers.describe.thresholds import DELAY, DEVIATION
from aqmlab_papers.impact import measures as m

JITTER: m.Quantity = {"metric": "classes.udp.jitter", "unit": "ms", "name": "jitter of UDP"}
WINDOW = 15
"""Length of the window that Fig. 6 shows (s)."""
STAYS = 90
"""Share of the time (%) for which a queue that stays at a level has to be near it: all but a tenth, as near is."""


@claim(
    "since RED spreads out packet drops, it will help break the synchronization pattern",
    "Section II-A, as a claim of RED's designers",
    "metrics equal",
)
@tolerance(DEVIATION)
def red_breaks_synchronisation(simulation: Runs, equal: Runs, *, tolerance: Tolerance) -> Judgement:
    """RED spreads its drops out and so helps to break synchronisation."""
    return Judgement(
        m.versus(simulation, m.GREEDY, m.HIT, m.RED, [m.TD], "lower", tolerance),
        "A full buffer drops several packets of one flow's burst and none of many others; drops that are spread out "
        "hit more flows in the same time. Nor is there much to break: a loss event of 0.3 s hits "
        f"{m.mean_of(simulation, m.HIT, (m.TD, m.RED), m.GREEDY['Exp7'])} of 200 flows. Beside: round trips that "
        "hardly differ.",
        m.versus(equal, {"round trips of 165 to 175 ms": None}, m.HIT, m.RED, [m.TD], "lower", tolerance),
    )


@claim(
    "simulations with too small differences in the RTT tend to generate synchronization effects",
    "Section II-C",
    "equal",
)
@tolerance(m.HALF)
def equal_round_trips(simulation: Runs, equal: Runs) -> Judgement:
    """Round trips that differ too little synchronise flows in simulation."""
    near, apart = (
        {label: runs.per_seed(**m.HIT, label=label, at=at) for label in equal.labels}
        for runs, at in ((equal, None), (simulation, m.GREEDY["Exp7"]))
    )
    place = "165 to 175 ms"
    return Judgement(
        [Effect(f"{m.HIT['name']}, {label}: {place}").of(share, least=m.HALF.value) for label, share in near.items()],
        "Though round trips hardly differ, most flows lose at different times: a loss event of 0.3 s hits "
        f"{m.extremes(near.values())} % of them. Where the queue swings far, as with GRED, these are more than with "
        "the round trips of the paper, but not most; how many more is beside.",
        [
            Effect(f"{m.HIT['name']}, {label}: {place} over 120 to 220 ms").better(
                near[label], apart[label], "higher", DEVIATION
            )
            for label in equal.labels
        ],
    )


@claim(
    "the buffer occupancy quickly increases and then remains close to its maximum value",
    "Section III-A.3, Fig. 6 left",
    "fig6",
)
@tolerance(m.CLOSE)
def tail_drop_full(queue: Runs, *, tolerance: Tolerance) -> Judgement:
    """Tail drop's buffer fills quickly and stays close to full."""
    near = m.BUFFER * tolerance.around(1)[0]

    def filled(frame: polars.DataFrame) -> float:
        found = frame.filter(frame["queue.mean"] >= near)["t"]
        return queue.duration if found.is_empty() else float(found[0])

    def remains(frame: polars.DataFrame) -> float:
        after = frame.filter(frame["t"] >= filled(frame))["queue.mean"]
        return 100 * float((after >= near).sum()) / max(len(after), 1)

    return Judgement(
        [
            Effect(f"time until {near:g} packets wait").of(queue.from_series(m.TD, filled, unit="s"), most=WINDOW / 10),
            Effect(f"time from then on in which {near:g} and more wait").of(
                queue.from_series(m.TD, remains, unit="%"), least=STAYS
            ),
        ],
        "200 greedy flows keep a buffer full: the room that one flow leaves is taken by others at once. We read "
        f'"quickly" as within a tenth of the {WINDOW} s that the figure shows, and "remains" as {STAYS} % of the time.',
        [Effect("mean queue over the buffer").of(m.queue_over(queue, m.BUFFER, m.TD), least=tolerance.around(1)[0])],
    )


@claim("we do not observe system-wide synchronization patterns", "Section III-A.3", "fig6 metrics")
@tolerance(m.HALF)
def tail_drop_not_synchronised(simulation: Runs) -> Judgement:
    """With tail drop 200 flows of different round trips are not synchronised."""
    return Judgement(
        [
            Effect(f"{m.HIT['name']}, tail drop").of(
                simulation.per_seed(**m.HIT, label=m.TD, at=m.GREEDY["Exp7"]), most=m.HALF.value
            )
        ],
        "In a loss event of 0.3 s, a round trip with its queue, most of the flows that are synchronised would lose a "
        "packet. A full buffer drops several packets of one flow's burst and none of many others.",
    )


@claim(
    "the average queue tends toward [max_th] and eventually exceeds it, and the cycle resumes",
    "Section III-A.3, Fig. 6 left",
    "fig6",
)
@tolerance(60 / WINDOW, "per minute", f"once in the {WINDOW} s that the figure shows")
def red_cycle(queue: Runs, *, tolerance: Tolerance) -> Judgement:
    """RED's average reaches max_th, all is dropped, traffic picks up, and the cycle resumes."""
    edge = m.max_th(queue, m.RED)
    rises = queue.from_series(m.RED, lambda frame: m.crossings(frame, edge), unit="per minute")
    above = queue.from_series(
        m.RED, lambda frame: 100 * float(frame["avg.max"].ge(edge).cast(float).sum()) / len(frame), unit="%"
    )
    return Judgement(
        [Effect("times that RED's average rises to max_th").of(rises, least=tolerance.value)],
        "TCP must lose more than RED's line drops below max_th, so that the average is pushed over it; there RED drops "
        f"all until it has fallen. It rises to max_th {rises:.0f} times a minute and is there in {above:.2g} % of the "
        "intervals of 20 ms.",
    )


@claim(
    "the average queue size stays close to [max_th]",
    "Section III-A.3, Fig. 6 left; of any high load in III-A.4",
    "fig6 metrics",
)
@tolerance(m.CLOSE)
def red_at_max_th(queue: Runs, simulation: Runs, mixed: Runs | None = None, *, tolerance: Tolerance) -> Judgement:
    """RED's average queue stays close to max_th."""
    threshold = m.exactly(simulation, m.RED, "max_th")
    least, most = tolerance.around(1)

    def near(frame: polars.DataFrame) -> float:
        average = frame.filter(frame["t"] >= 20)["avg.mean"] / threshold
        return 100 * float(average.is_between(least, most).sum()) / len(average)

    stays = Effect("time in which RED's average is within a tenth of max_th").of(
        queue.from_series(m.RED, near, unit="%"), least=STAYS
    )

    def high_loads(runs: Runs, points: Mapping[str, At], whose: str) -> list[Check]:
        return [
            Effect(f"{name} {whose}: mean queue of RED over max_th").of(
                m.queue_over(runs, threshold, m.RED, at), least=least, most=most
            )
            for name, at in points.items()
        ]

    return Judgement(
        [stays, *high_loads(simulation, m.GREEDY, "simulated")],
        "The sources must lose more than RED's line drops below max_th, which with ns-2's spacing is 7 %. So the "
        "average is pushed up to max_th, around which it oscillates. The spacing is our choice and decides: with that "
        f'of 1993, which drops up to 18 %, the queue rests lower ("stays" is read as {STAYS} % of the time; the copy '
        "of the testbed, which has that spacing, is beside).",
        high_loads(mixed, m.MIXED, "on the testbed") if mixed else [],
    )


@claim(
    "the RED router behaves essentially like a Tail Drop router with buffer size [max_th]", "Section III-A.3", "short"
)
@tolerance(DELAY)
def red_as_short_tail_drop(short: Runs, *, tolerance: Tolerance) -> Judgement:
    """RED's queue behaves like that of tail drop with a buffer of max_th packets."""
    beside = ((m.tcp_goodput(short), m.SAME), (m.UDP_LOSS, m.SIGNIFICANT))
    return Judgement(
        m.versus(short, {"": None}, m.DELAY, m.RED, [m.SHORT], "equal", tolerance),
        "With ns-2's spacing of drops, our choice, both keep the queue near max_th; with that of 1993 RED's is shorter "
        "(see the sensitivity table). The section is on the queue, whose variation its next sentence excepts; beside "
        "are TCP's goodput and UDP's loss, as only a full buffer spares packets that come one at a time.",
        [
            check
            for quantity, same in beside
            for check in m.versus(short, {"": None}, quantity, m.RED, [m.SHORT], "equal", same)
        ],
    )


@claim(
    "the instantaneous queue size varies heavily with time, more than a Tail Drop queue would do",
    "Section III-A.3, Fig. 6 left; III-C",
    "fig6 metrics",
)
@tolerance(m.HEAVY)
def red_oscillates(simulation: Runs, *, tolerance: Tolerance) -> Judgement:
    """The queue varies heavily with RED, more than with tail drop."""
    return Judgement(
        m.versus(simulation, m.GREEDY, m.SWING, m.RED, [m.TD], "higher", tolerance),
        "Tail drop's queue stays at a full buffer, above which it cannot rise. RED's has room on both sides of max_th, "
        "and overshoots since its average is late: standard deviations are "
        f"{m.mean_of(simulation, m.SWING, (m.TD, m.RED), m.GREEDY['Exp7'])} in Exp7.",
    )


@claim(
    "we suspect the sharp dropping function and the averaging function to interact in order to produce the delay "
    "oscillation",
    "Section III-A.3",
    "short corners",
)
@tolerance(DEVIATION)
def edge_and_average(short: Runs, corners: Runs, *, tolerance: Tolerance) -> Judgement:
    """Edge and averaging together make the queue oscillate."""
    simulated, independent = (
        m.versus(runs, {place: None}, m.SWING, m.RED, [m.AVERAGE_GONE, m.SLOPE_ALONE], "higher", tolerance)
        for runs, place in ((short, ""), (corners, "400 sources, independent drops"))
    )
    return Judgement(
        simulated,
        "The average lags behind the queue, which makes it swing. The edge keeps the swing from going further up; with "
        "a slope in its place the queue swings more.",
        independent,
    )


@claim(
    "adds heavy variations to the actual queue size and consequently add jitter in the data path",
    "Section III-C; II-A",
    "metrics",
)
@tolerance(DEVIATION)
def red_jitters(simulation: Runs, *, tolerance: Tolerance) -> Judgement:
    """RED's variations of the queue add jitter to the data path."""
    return Judgement(
        m.versus(simulation, m.GREEDY, JITTER, m.RED, [m.TD], "higher", tolerance),
        "Jitter is by how much the delays of two successive packets of a UDP flow differ, which are 80 ms apart here. "
        "In that time RED's queue moves, while a full buffer stays full. That the variations are heavy is judged by "
        "`red-oscillates`.",
    )
