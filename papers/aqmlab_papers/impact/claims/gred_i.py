"""Claims on GRED-I: sections V (Figs. 10 and 11) and VI."""

from dataclasses import replace

from aqmlab_papers import At, Check, Effect, Judgement, PerSeed, Runs, Tolerance, claim, tolerance
from aqmlab_papers.describe.check import RELATIVE
from aqmlab_papers.describe.thresholds import DELAY, DEVIATION, GOODPUT
from aqmlab_papers.impact import measures as m
from aqmlab_papers.impact.theory import LOADS, in_model


@claim("In terms of TCP goodput, GRED-I performs best", "Section V, Fig. 10", "fig10 metrics", comparative=True)
@tolerance(GOODPUT)
def gred_i_best_goodput(simulation: Runs, *, tolerance: Tolerance) -> Judgement:
    """GRED-I gives the best TCP goodput."""
    hero, quantity = simulation.hero, m.tcp_goodput(simulation)
    others = simulation.others_than(hero)
    return Judgement(
        m.versus(simulation, m.GREEDY, quantity, hero, others, "higher", tolerance),
        "The link is always busy, so that TCP gets what UDP leaves of it, less what is sent in vain: "
        f"{m.mean_of(simulation, m.in_vain(), simulation.labels)}. GRED-I is ahead of tail drop, and in Exp7 "
        "and Exp8 of GRED (testbed); of RED and of GRED (gentle) it is not. Beside: whether it is as good as any.",
        m.versus(simulation, m.GREEDY, quantity, hero, others, "not lower", tolerance),
    )


@claim("GRED-I increases the TCP goodput ... compared to GRED", "Section V, Fig. 10", "fig10 metrics")
@tolerance(GOODPUT)
def gred_i_over_gred(simulation: Runs, *, tolerance: Tolerance) -> Judgement:
    """GRED-I gives more TCP goodput than GRED."""
    return Judgement(
        m.versus(simulation, m.GREEDY, m.tcp_goodput(simulation), m.HERO, m.GREDS, "higher", tolerance),
        "GRED's queue swings farther than GRED-I's, but that costs goodput only where it runs empty: with GRED "
        "(testbed) in Exp7 and Exp8. Elsewhere the two differ by too little to count. Beside: whether "
        "GRED-I is as good.",
        m.versus(simulation, m.GREEDY, m.tcp_goodput(simulation), m.HERO, m.GREDS, "not lower", tolerance),
    )


@claim("decreases the dropping probability of the UDP flows compared to GRED", "Section V, Fig. 10", "fig10 metrics")
@tolerance(m.SIGNIFICANT)
def gred_i_spares_udp(simulation: Runs, *, tolerance: Tolerance) -> Judgement:
    """UDP loses less with GRED-I than with GRED."""
    return Judgement(
        m.versus(simulation, m.GREEDY, m.UDP_LOSS, m.HERO, m.GREDS, "lower", tolerance),
        "UDP loses like TCP, which must lose more if the queue, and so the round trip, is shorter, and also if the "
        "queue swings, as GRED's does. Mean delays are "
        f"{m.mean_of(simulation, m.DELAY, (m.HERO, *m.GREDS))}; standard deviations are "
        f"{m.mean_of(simulation, m.SWING, (m.HERO, *m.GREDS))}. In Exp6 the losses differ by less than counts.",
    )


@claim("only Tail Drop offers better results for the UDP drop probability", "Section V, Fig. 10; VI", "fig10 metrics")
@tolerance(m.SIGNIFICANT)
def tail_drop_spares_udp(simulation: Runs, *, tolerance: Tolerance) -> Judgement:
    """UDP loses less with tail drop than with GRED-I, and with none other."""
    return Judgement(
        m.versus(simulation, m.GREEDY, m.UDP_LOSS, m.TD, [m.HERO], "lower", tolerance)
        + m.versus(simulation, m.GREEDY, m.UDP_LOSS, m.HERO, [m.RED, *m.GREDS], "not higher", tolerance),
        "Tail drop's queue is the longest, which makes for the longest round trips and so for the least loss. A full "
        "buffer also drops packets of bursts rather than those that come one at a time.",
    )


@claim(
    "The use of the instantaneous queue size reduces the oscillations of the queue size",
    "Section V, Fig. 11 left",
    "fig11 metrics",
    comparative=True,
)
@tolerance(DEVIATION)
def gred_i_steady(simulation: Runs, corners: Runs | None = None, *, tolerance: Tolerance) -> Judgement:
    """To look at the queue itself reduces its oscillation."""
    hero = simulation.hero
    others = [label for label in simulation.labels if label != m.TD]
    checks = m.versus(simulation, m.GREEDY, m.SWING, hero, others, "lower", tolerance)
    if corners is not None:
        for one, other in ((hero, m.SLOPE_ALONE), (m.AVERAGE_GONE, m.RED)):
            checks += m.versus(corners, {"the average alone": None}, m.SWING, one, [other], "lower", tolerance)
    return Judgement(
        checks,
        "GRED-I judges every arrival by the queue that it finds. An average is late (see average-lags), and a control "
        "whose signal is late overshoots.",
    )


@claim(
    "the average delay is 50% shorter with GRED-I than with TD",
    "Section V, Fig. 11 left",
    "fig11 metrics line",
    sensitive=False,
)
@tolerance(5, "%", '"50 %" is read as a number rounded to tens')
def gred_i_half_the_delay(simulation: Runs, line: Runs, *, tolerance: Tolerance) -> Judgement:
    """The mean delay with GRED-I is 50 % shorter than with tail drop."""
    td = simulation.per_seed(**m.DELAY, label=m.TD, at=m.GREEDY["Exp7"])
    by_min_th = {
        low: line.per_seed(**m.DELAY, label=m.HERO, at={"aqm.min_th": low, "aqm.max_th": m.BUFFER})
        for low in line.points("aqm.min_th")
    }
    return Judgement(
        [
            Effect(f"Exp7: delay saved, min_th = {low:g}").near(_part_saved(one, td), 50, tolerance)
            for low, one in by_min_th.items()
        ],
        "Tail drop keeps the buffer full; GRED-I's queue stays where its line drops as much as TCP needs, about a "
        "fifth of the way from min_th to max_th. The verdict depends on min_th, which is lost in our copy: of three "
        "that are tried only the highest meets 50 %. The figure is of 200 sources and 10 % of UDP; beside are other "
        "loads, with a min_th of 30.",
        [
            Effect(f"{name}: delay saved").near(_saved(simulation, m.HERO, m.TD, m.GREEDY[name]), 50, tolerance)
            for name in ("Exp6", "Exp8")
        ],
    )


def _saved(runs: Runs, hero: str, td: str, at: At | None = None) -> PerSeed:
    """Return the share of tail drop's delay that GRED-I saves."""
    return _part_saved(*(runs.per_seed(**m.DELAY, label=label, at=at) for label in (hero, td)))


def _part_saved(one: PerSeed, other: PerSeed) -> PerSeed:
    return ((1 - one / other) * 100).called("delay saved", "%")


@claim(
    "this percentage is very sensitive to the buffer size and can significantly vary with it",
    "Section V, footnote",
    "buffer",
)
@tolerance(50, RELATIVE, '"very sensitive" is read as half as much again, from the smallest buffer to each other')
def sensitive_to_the_buffer(buffer: Runs, *, tolerance: Tolerance) -> Judgement:
    """The share of delay that is saved is very sensitive to the buffer."""
    saved = {size: _saved(buffer, m.of_buffer(m.HERO, size), m.of_buffer(m.TD, size)) for size in m.BUFFERS}
    each = ", ".join(f"{share:.0f} % with {size}" for size, share in saved.items())
    return Judgement(
        [
            Effect(f"share of delay saved, a buffer of {size} over one of {m.BUFFERS[0]} packets").better(
                saved[size], saved[m.BUFFERS[0]], "higher", tolerance
            )
            for size in m.BUFFERS[1:]
        ],
        f"Of tail drop's delay GRED-I saves {each} packets of buffer. min_th stays at 30 packets, which is most of a "
        "small buffer and little of a large one; with lower thresholds, our choice too, the share depends less on the "
        "buffer.",
    )


@claim(
    "the number of consecutive losses is still higher with GRED-I, than with TD",
    "Section V, Fig. 11 right",
    "fig11 runs",
)
@tolerance(m.MORE_OFTEN)
def gred_i_runs(corners: Runs, *, tolerance: Tolerance) -> Judgement:
    """GRED-I still makes more consecutive losses than tail drop."""

    def compared(n: int) -> list[Check]:
        effect = f"P(> {n - 1} in a row) of all packets, GRED-I over tail drop"
        return [
            *m.in_a_row(corners, m.HERO, [m.TD], "higher", tolerance, n=n),
            *(in_model(effect, m.HERO, m.TD, n, 1, "higher", tolerance, load=load) for load in LOADS),
        ]

    return Judgement(
        compared(m.SIX),
        "GRED-I draws each drop anew, so that a loss is followed by another no more often than any packet is lost. At "
        "a full buffer the next arrival is lost too unless a packet has left before. Beside: more than one in a row. "
        "The model's load is lost in our copy: four are tried.",
        compared(m.TWO) + m.in_a_row(corners, m.HERO, [m.TD], "higher", tolerance, n=m.TWO, owner="udp"),
    )


@claim(
    "we can see a dramatic improvement compared to the results of GRED", "Section V, Fig. 11 right", "fig9 fig11 runs"
)
@tolerance(0.5, "orders of magnitude", 'half an order, a factor of three: less is not "dramatic" on such an axis')
def gred_i_fewer_than_gred(corners: Runs, *, tolerance: Tolerance) -> Judgement:
    """GRED-I makes far fewer consecutive losses than GRED."""

    return Judgement(
        m.in_a_row(corners, m.HERO, m.GREDS, "lower", tolerance),
        "GRED's average swings, and while it is high more packets are dropped in a row. But neither has an edge, so "
        "that with both long runs come by chance. Beside: more than one in a row, and the model, whose load is lost in "
        "our copy.",
        m.in_a_row(corners, m.HERO, m.GREDS, "lower", tolerance, n=m.TWO)
        + [
            in_model(f"P(> 5 in a row), GRED-I over {label}", m.HERO, label, m.SIX, 1, "lower", tolerance, load=load)
            for load in LOADS
            for label in m.GREDS
        ],
    )


@claim("The gain from GRED-I is small", "Section VI", "fig10 metrics")
@tolerance(m.SAME)
def small_gain(simulation: Runs, *, tolerance: Tolerance) -> Judgement:
    """What TCP gains from GRED-I is small."""
    jain: m.Quantity = {"metric": "classes.tcp.jain", "unit": "", "name": "Jain's index"}
    return Judgement(
        m.versus(simulation, m.GREEDY, m.tcp_goodput(simulation), m.HERO, [m.TD], "not higher", tolerance),
        "The link is full with both, so that there is little to gain; the shorter delay is not counted, as the paper "
        "calls the gain small beside its own 50 %. What it did not measure is how evenly the link is shared: in Exp7 "
        f"Jain's index of the TCP flows is {m.mean_of(simulation, jain, (m.HERO, m.TD), m.GREEDY['Exp7'])}.",
    )


@claim(
    "gentle RED with the instantaneous queue size is the system that exhibited the best performance",
    "Section VI",
    "fig10 fig11 metrics",
    comparative=True,
)
@tolerance(replace(DEVIATION, reason=f"{DEVIATION.reason}; of goodput 0.3 %, of UDP's loss 5 %, of runs a tenth"))
def recommended(simulation: Runs, corners: Runs | None = None, *, tolerance: Tolerance) -> Judgement:
    """If not tail drop, GRED-I is the discipline with the best performance."""
    hero = simulation.hero
    others = [label for label in simulation.others_than(hero) if label != m.TD]
    whole = {"": None}
    return Judgement(
        m.versus(simulation, whole, m.tcp_goodput(simulation), hero, others, "not lower", GOODPUT)
        + m.versus(simulation, whole, m.UDP_LOSS, hero, others, "not higher", m.SIGNIFICANT)
        + m.versus(simulation, whole, m.SWING, hero, others, "not higher", tolerance)
        # With ns-2's spacing no two drops of a line come in a row; later disciplines have no runs without it.
        + (m.in_a_row(corners, hero, others, "not higher", m.MORE_OFTEN) if corners else []),
        "GRED-I's signal is never late, so that its queue is the steadiest and its drops the most evenly spread; but "
        "RED sends less in vain. Beside is the delay, which the paper compares with tail drop's alone: it depends on "
        "the thresholds.",
        m.versus(simulation, whole, m.DELAY, hero, others, "not higher", DELAY),
    )
