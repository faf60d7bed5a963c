"""Claims on the queue with tail drop and RED: sections II and III-A.3 (Fig. 6, left), and III-C."""

import polars

from aqmlab_papers import Effect, Judgement, Runs, Tolerance, claim, tolerance
from aqmlab_papers.impact import measures as m

JITTER: m.Quantity = {"metric": "classes.udp.jitter", "unit": "ms", "name": "jitter of UDP"}
WINDOW = 15
"""Length of the window that Fig. 6 shows (s)."""
STAYS = 95
"""Share of the time (%) for which a queue that stays at a level has to be near it."""


@claim(
    "since RED spreads out packet drops, it will help break the synchronization pattern",
    "Section II-A, as a claim of RED's designers",
    "metrics equal",
)
@tolerance(m.SIGNIFICANT)
def red_breaks_synchronisation(simulation: Runs, equal: Runs, *, tolerance: Tolerance) -> Judgement:
    """RED spreads its drops out and so helps to break synchronisation."""
    return Judgement(
        m.versus(simulation, m.GREEDY, m.HIT, m.RED, [m.TD], "lower", tolerance)
        + m.versus(equal, {"round trips of 165 to 175 ms": None}, m.HIT, m.RED, [m.TD], "lower", tolerance),
        "A full buffer drops several packets of one flow's burst and none of many others; drops that are spread out "
        "hit more flows in the same time.",
    )


@claim(
    "simulations with too small differences in the RTT tend to generate synchronization effects",
    "Section II-C",
    "equal",
)
@tolerance(m.SIGNIFICANT)
def equal_round_trips(simulation: Runs, equal: Runs, *, tolerance: Tolerance) -> Judgement:
    """Round trips that differ too little synchronise flows in simulation."""
    pairs = {
        label: [
            runs.per_seed(**m.HIT, label=label, at=at) for runs, at in ((equal, None), (simulation, m.GREEDY["Exp7"]))
        ]
        for label in equal.labels
    }
    checks = [
        Effect(f"{m.HIT['name']}, {label}: 165 to 175 ms over 120 to 220 ms").better(near, apart, "higher", tolerance)
        for label, (near, apart) in pairs.items()
    ]
    return Judgement(
        checks,
        "Round trips alike help a queue that swings already to swing in step. Standard deviations with them: "
        f"{m.mean_of(equal, m.SWING, equal.labels)}.",
    )


@claim(
    "the buffer occupancy quickly increases and then remains close to its maximum value",
    "Section III-A.3, Fig. 6 left",
    "fig6",
)
@tolerance(m.TENTH)
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
            Effect(f"time until {near:g} packets wait").of(queue.from_series(m.TD, filled, unit="s"), most=WINDOW),
            Effect(f"time from then on in which {near:g} and more wait").of(
                queue.from_series(m.TD, remains, unit="%"), least=STAYS
            ),
        ],
        "200 greedy flows fill such a buffer: what one takes back others use at once. Quickly is within the "
        f"{WINDOW} s that the figure shows, and it remains full if it is for {STAYS} % of the time.",
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
        "An event is 0.3 s, a round trip with its queue. A full buffer drops several packets of one flow's burst and "
        "none of many others.",
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
        f"It rises there {rises:.0f} times a minute, and touches it in {above:.2g} % of the bins of 20 ms: a few dozen "
        "drops in a row are enough to turn it.",
    )


@claim(
    "the average queue size stays close to [max_th]",
    "Section III-A.3, Fig. 6 left; of any high load in III-A.4",
    "fig6 metrics",
)
@tolerance(m.TENTH)
def red_at_max_th(queue: Runs, simulation: Runs, *, tolerance: Tolerance) -> Judgement:
    """RED's average queue stays close to max_th."""
    threshold = m.exactly(simulation, m.RED, "max_th")
    least, most = tolerance.around(1)

    def near(frame: polars.DataFrame) -> float:
        average = frame.filter(frame["t"] >= 20)["avg.mean"] / threshold
        return 100 * float(average.is_between(least, most).sum()) / len(average)

    return Judgement(
        [
            Effect("time in which RED's average is within a tenth of max_th").of(
                queue.from_series(m.RED, near, unit="%"), least=STAYS
            ),
            *(
                Effect(f"{name}: mean queue of RED over max_th").of(
                    m.queue_over(simulation, threshold, m.RED, at), least=least, most=most
                )
                for name, at in m.GREEDY.items()
            ),
        ],
        "The sources must lose more than the line gives below max_th, which with ns-2's spacing is 7 %; so the average "
        "is pushed against the edge. The spacing of 1993 gives 18 %. It stays there if it is for "
        f"{STAYS} % of the time, as tail drop's buffer stays full.",
    )


@claim(
    "the RED router behaves essentially like a Tail Drop router with buffer size [max_th]", "Section III-A.3", "short"
)
@tolerance(10, "% of it", "a tenth, which shows on a printed curve; of goodput 3 %, of loss 5 %")
def red_as_short_tail_drop(short: Runs, *, tolerance: Tolerance) -> Judgement:
    """RED behaves like tail drop with a buffer of max_th packets."""
    return Judgement(
        [
            check
            for quantity, same in ((m.tcp_goodput(short), m.SAME), (m.DELAY, tolerance), (m.UDP_LOSS, m.SIGNIFICANT))
            for check in m.versus(short, {"": None}, quantity, m.RED, [m.SHORT], "equal", same)
        ],
        "Goodput and delay are those of a full link and of the same queue. A full buffer spares packets that come "
        "singly, which RED does not.",
    )


@claim(
    "the instantaneous queue size varies heavily with time, more than a Tail Drop queue would do",
    "Section III-A.3, Fig. 6 left; III-C",
    "fig6 metrics",
)
@tolerance(m.TENTH)
def red_oscillates(simulation: Runs, *, tolerance: Tolerance) -> Judgement:
    """The queue varies more with RED than with tail drop."""
    return Judgement(
        m.versus(simulation, m.GREEDY, m.SWING, m.RED, [m.TD], "higher", tolerance),
        "A full buffer cuts off what tail drop's queue could vary; RED's has room on both sides.",
    )


@claim(
    "we suspect the sharp dropping function and the averaging function to interact in order to produce the delay "
    "oscillation",
    "Section III-A.3",
    "short corners",
)
@tolerance(m.TENTH)
def edge_and_average(short: Runs, corners: Runs, *, tolerance: Tolerance) -> Judgement:
    """Edge and averaging together make the queue oscillate."""
    simulated, independent = (
        m.versus(runs, {place: None}, m.SWING, m.RED, [m.AVERAGE_GONE, m.SLOPE_ALONE], "higher", tolerance)
        for runs, place in ((short, ""), (corners, "400 sources, independent drops"))
    )
    return Judgement(
        simulated,
        "The average makes the queue swing, by its lag; the edge bounds the swing from above, which a slope does not.",
        independent,
    )


@claim(
    "adds heavy variations to the actual queue size and consequently add jitter in the data path",
    "Section III-C; II-A",
    "metrics",
)
@tolerance(m.TENTH)
def red_jitters(simulation: Runs, *, tolerance: Tolerance) -> Judgement:
    """RED adds jitter to the data path."""
    return Judgement(
        m.versus(simulation, m.GREEDY, JITTER, m.RED, [m.TD], "higher", tolerance),
        "A UDP flow's packets are 80 ms apart, in which RED's queue moves and a full one cannot.",
    )
