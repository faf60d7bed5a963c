"""Claims on GRED-I: sections V (Figs. 10 and 11) and VI."""

from aqmlab_papers import At, Effect, Judgement, PerSeed, Runs, Tolerance, claim, tolerance
from aqmlab_papers.impact import measures as m
from aqmlab_papers.impact.theory import LOADS, in_model

POINTS = Tolerance(10, "%", '"50 %", read off a curve: within ten points')


@claim("In terms of TCP goodput, GRED-I performs best", "Section V, Fig. 10", "fig10 metrics", comparative=True)
@tolerance(m.SAME)
def gred_i_best_goodput(simulation: Runs, *, tolerance: Tolerance) -> Judgement:
    """GRED-I gives the best TCP goodput."""
    hero, quantity = simulation.hero, m.tcp_goodput(simulation)
    others = simulation.others_than(hero)
    return Judgement(
        m.versus(simulation, m.GREEDY, quantity, hero, others, "higher", tolerance),
        "On a link that is never idle TCP gets what UDP loses, minus what is sent in vain. Beside: whether it is as "
        "good as any.",
        m.versus(simulation, m.GREEDY, quantity, hero, others, "not lower", tolerance),
    )


@claim("GRED-I increases the TCP goodput ... compared to GRED", "Section V, Fig. 10", "fig10 metrics")
@tolerance(m.SAME)
def gred_i_over_gred(simulation: Runs, *, tolerance: Tolerance) -> Judgement:
    """GRED-I gives more TCP goodput than GRED."""
    return Judgement(
        m.versus(simulation, m.GREEDY, m.tcp_goodput(simulation), m.HERO, m.GREDS, "higher", tolerance),
        "Only a queue that swings until it is empty costs goodput. Beside: whether GRED-I is as good.",
        m.versus(simulation, m.GREEDY, m.tcp_goodput(simulation), m.HERO, m.GREDS, "not lower", tolerance),
    )


@claim("decreases the dropping probability of the UDP flows compared to GRED", "Section V, Fig. 10", "fig10 metrics")
@tolerance(m.SIGNIFICANT)
def gred_i_spares_udp(simulation: Runs, *, tolerance: Tolerance) -> Judgement:
    """UDP loses less with GRED-I than with GRED."""
    return Judgement(
        m.versus(simulation, m.GREEDY, m.UDP_LOSS, m.HERO, m.GREDS, "lower", tolerance),
        "Loss goes by the length of the round trip, hence of the queue, and a queue that swings makes TCP lose more: "
        f"{m.mean_of(simulation, m.SWING, (m.HERO, *m.GREDS))} of standard deviation.",
    )


@claim("only Tail Drop offers better results for the UDP drop probability", "Section V, Fig. 10; VI", "fig10 metrics")
@tolerance(m.SIGNIFICANT)
def tail_drop_spares_udp(simulation: Runs, *, tolerance: Tolerance) -> Judgement:
    """Tail drop has the lowest UDP loss, and none other has less than GRED-I."""
    return Judgement(
        m.versus(simulation, m.GREEDY, m.UDP_LOSS, m.TD, simulation.labels, "lower", tolerance)
        + m.versus(simulation, m.GREEDY, m.UDP_LOSS, m.HERO, [m.RED, *m.GREDS], "not higher", tolerance),
        "The longest queue makes the longest round trips and so the least loss, and a full buffer hits bursts of TCP "
        "before it hits packets that come singly.",
    )


@claim(
    "The use of the instantaneous queue size reduces the oscillations of the queue size",
    "Section V, Fig. 11 left",
    "fig11 metrics",
    comparative=True,
)
@tolerance(m.TENTH)
def gred_i_steady(simulation: Runs, corners: Runs | None = None, *, tolerance: Tolerance) -> Judgement:
    """To look at the queue itself reduces its oscillation."""
    hero = simulation.hero
    others = [label for label in simulation.labels if label != m.TD]
    checks = m.versus(simulation, m.GREEDY, m.SWING, hero, others, "lower", tolerance)
    if corners is not None:
        for one, other in ((hero, m.SLOPE_ALONE), (m.AVERAGE_GONE, m.RED)):
            checks += m.versus(corners, {"the average alone": None}, m.SWING, one, [other], "lower", tolerance)
    return Judgement(checks, "GRED-I judges every arrival by the queue that it finds: its signal is never late.")


@claim(
    "the average delay is 50% shorter with GRED-I than with TD",
    "Section V, Fig. 11 left",
    "fig11 metrics line",
    sensitive=False,
)
@tolerance(POINTS)
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
        "Tail drop holds a full buffer; GRED-I the queue at which its line gives the loss that TCP needs, a fifth of "
        "the way up from its min_th or so, which is lost in our copy. The figure is of 200 sources and 10 % of UDP; "
        "the other loads are beside, with a min_th of 30.",
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
@tolerance(POINTS)
def sensitive_to_the_buffer(buffer: Runs, *, tolerance: Tolerance) -> Judgement:
    """The share of delay that is saved is very sensitive to the buffer."""
    saved = {size: _saved(buffer, m.of_buffer(m.HERO, size), m.of_buffer(m.TD, size)) for size in m.BUFFERS}
    checks = [
        Effect(f"share saved at 200 packets minus at {size}, in size").of(
            abs(saved[200] - saved[size]), least=tolerance.value
        )
        for size in m.BUFFERS
        if size != 200
    ]
    each = ", ".join(f"{share:.0f} % at {size}" for size, share in saved.items())
    return Judgement(
        checks,
        f"Saved is {each}. min_th stays at 30 packets, which are most of a small buffer and little of a large one.",
    )


@claim(
    "the number of consecutive losses is still higher with GRED-I, than with TD",
    "Section V, Fig. 11 right",
    "fig11 runs",
)
@tolerance(0.1, "orders of magnitude", '"slightly": by a quarter, a line\'s width')
def gred_i_runs(corners: Runs, *, tolerance: Tolerance) -> Judgement:
    """GRED-I still makes more consecutive losses than tail drop."""
    checks = [check for n in m.LENGTHS for check in m.in_a_row(corners, m.HERO, [m.TD], "higher", tolerance, n=n)]
    checks += [
        in_model(
            f"P(> {n - 1} in a row) of all packets, open-loop model, load {load}: GRED-I over tail drop",
            m.HERO,
            m.TD,
            n,
            1,
            load=load,
            least=tolerance.value,
        )
        for load in LOADS
        for n in m.LENGTHS
    ]
    return Judgement(
        checks,
        "Drawn by chance, a loss is followed by another as often as any packet is lost. At a full buffer the next "
        "arrival is lost if it comes before a packet has left, which with bursts is often. The model's load is lost.",
        m.in_a_row(corners, m.HERO, [m.TD], "higher", tolerance, n=2, owner="udp"),
    )


@claim(
    "we can see a dramatic improvement compared to the results of GRED", "Section V, Fig. 11 right", "fig9 fig11 runs"
)
@tolerance(m.BY_LENGTH)
def gred_i_fewer_than_gred(corners: Runs) -> Judgement:
    """GRED-I makes far fewer consecutive losses than GRED."""
    return Judgement(
        m.of_any_length(corners, m.HERO, m.GREDS, "lower")
        + [
            in_model(
                f"P(> {n - 1} in a row), open-loop model, load {load}: GRED-I over {label}",
                m.HERO,
                label,
                n,
                1,
                load=load,
                most=-bound.value,
            )
            for load in LOADS
            for label in m.GREDS
            for n, bound in m.LENGTHS.items()
        ],
        "GRED's average swings above what TCP needs and drops much there; how much more that makes goes by its line. "
        "Two in a row come by chance with both. With the spacing of ns-2 neither ever drops two in a row. The model's "
        "load is lost.",
    )


@claim("The gain from GRED-I is small", "Section VI", "fig10 metrics")
@tolerance(m.SAME)
def small_gain(simulation: Runs, *, tolerance: Tolerance) -> Judgement:
    """What TCP gains from GRED-I is small."""
    jain: m.Quantity = {"metric": "classes.tcp.jain", "unit": "", "name": "Jain's index"}
    return Judgement(
        m.versus(simulation, m.GREEDY, m.tcp_goodput(simulation), m.HERO, [m.TD], "not higher", tolerance),
        "The link is full with both. What the paper did not measure is who gets it: Jain's index of the TCP flows is "
        f"{m.mean_of(simulation, jain, (m.HERO, m.TD))}.",
    )


@claim(
    "gentle RED with the instantaneous queue size is the system that exhibited the best performance",
    "Section VI",
    "fig10 fig11 metrics",
    comparative=True,
)
@tolerance(m.SIGNIFICANT)
def recommended(simulation: Runs, corners: Runs | None = None, *, tolerance: Tolerance) -> Judgement:
    """If not tail drop, GRED-I is the discipline with the best performance."""
    hero = simulation.hero
    others = [label for label in simulation.others_than(hero) if label != m.TD]
    return Judgement(
        m.versus(simulation, {"": None}, m.tcp_goodput(simulation), hero, others, "not lower", m.SAME)
        + [
            check
            for one in (m.UDP_LOSS, m.DELAY, m.SWING)
            for check in m.versus(simulation, {"": None}, one, hero, others, "not higher", tolerance)
        ]
        # With ns-2's spacing no two drops of a line come in a row; later disciplines have no runs without it.
        + (m.of_any_length(corners, hero, others, "not higher") if corners else []),
        "Delay goes by the length of queue that a discipline holds, which is its parameters' doing: "
        f"{m.mean_of(simulation, m.DELAY, (hero, *others))}.",
    )
