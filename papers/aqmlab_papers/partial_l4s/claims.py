"""The claims: the heat maps by queue, and what a switch to Prague brings."""

import math

from aqmlab_papers import Check, Claim, Effect, Evidence, Judgement, Runs, Tolerance, claim, ours, tolerance
from aqmlab_papers.l4s_tests.measures import SHARE
from aqmlab_papers.partial_l4s.experiments import ALL
from aqmlab_papers.partial_l4s.measures import (
    DEFAULT,
    JITTERED,
    PUBLISHED,
    SAME,
    SENDERS,
    WAIT,
    at,
    middle,
    repeated,
    share,
)


def _cells(evidence: Evidence, first: str, *queues: str) -> list[Check]:
    """Check that our shares are the published ones of the cells of a first flow."""
    return [
        Effect(one.name).near(share(evidence, one), one.share, SAME)
        for queue in queues or (None,)
        for one in repeated(evidence, first, queue)
    ]


def _queue(name: str, queues: tuple[str, ...], text: str, why: str) -> Claim:
    """Return the claim that Prague's shares behind some queues are those of the heat maps."""

    def judged(evidence: Evidence) -> Judgement:
        return Judgement(_cells(evidence, "prague", *queues), why)

    return claim(
        "Prague throughput (Mbps) when sharing 100Mbps bottleneck",
        f"heat maps, {', '.join(queues)}",
        "shares",
        text=text,
        name=name,
        runs=["dualpi2" if queues == ("DualPI2",) else "buffers"],
    )(tolerance(SAME)(judged))


QUEUES = [
    _queue(
        "fifo",
        ("FIFO",),
        "Behind a FIFO Prague's share is as in the heat maps.",
        "Nothing but a full buffer speaks to the flows. BBR does not answer its losses: in a small one Prague gets "
        "less than a tenth. BBR's window is two bandwidth-delay products, and what a larger buffer holds is Prague's.",
    ),
    _queue(
        "fifo-ecn",
        ("FIFO+ECN",),
        "In one queue that marks what has waited for 5 ms Prague's share is as in the heat maps.",
        "Prague lowers its window by half of the marked part, CUBIC by 30 % for one mark: if it hears marks, it loses. "
        "A flow that does not hear them keeps more than 5 ms in the queue, and marks bring Prague to its least rate. A "
        "buffer of 0.5 BDP is 5 ms: it is full before it marks.",
    ),
    _queue(
        "drops",
        ("CoDel (drops)", "PIE (drops)"),
        "Behind CoDel and PIE that only drop Prague's share is as in the heat maps.",
        "To a loss Prague answers by a half and CUBIC by 30 %, so that CUBIC gets more; BBR does not answer at all.",
    ),
    _queue(
        "codel",
        ("CoDel",),
        "Behind CoDel that marks Prague's share is as in the heat maps.",
        "CoDel marks as often as suits a flow that halves its window; Prague lowers its by a few percent, and CUBIC "
        "pays. A buffer of 1 BDP is only twice the target: it may overflow oftener on the testbed than here, and each "
        "loss costs Prague half of its window. Beside BBR the reason is that behind DualPI2.",
    ),
    _queue(
        "fq",
        ("FQ",),
        "Behind fair queues that mark after 5 ms Prague's share is as in the heat maps.",
        "Each flow has its half, unless one fills the buffer, which they share: then an arrival is dropped, whoever "
        "sent it. BBR keeps a buffer of up to 1 BDP full, and Prague loses as behind a FIFO.",
    ),
    _queue(
        "fq-codel",
        ("FQ-CoDel",),
        "Behind FQ-CoDel Prague's share is as in the heat maps.",
        "Each flow has its half: a full buffer drops from the longest queue, that of the flow that fills it.",
    ),
    _queue(
        "dualpi2",
        ("DualPI2",),
        "Behind DualPI2 Prague's share is as in the heat maps.",
        "Beside CUBIC rates are about equal: the coupling makes windows equal, and Prague counts 25 ms as its round "
        "trip. BBR hardly answers drops: what it leaves to Prague depends on how far it overrates the link, which is "
        "less if hosts send regularly, as they do here (claim `noise`). Why BBRv3 leaves more here is open.",
    ),
]


@claim(
    "the L4S congestion control, TCP Prague, has less favorable throughput or fairness properties than TCP Cubic or "
    "BBR in some coexistence scenarios",
    "Abstract",
    "switch",
    runs=["buffers", "dualpi2", "instead"],
)
@tolerance(SAME)
def less_favourable(evidence: Evidence, *, tolerance: Tolerance) -> Judgement:
    """Where one flow has less than a tenth at 2 BDP, shares are more even with CUBIC in Prague's place."""
    parts = []
    for one in PUBLISHED:
        if one.first == "prague" and one.bdp in (0, 2) and not 0.1 <= one.share <= 0.9:
            prague, cubic = (
                middle(evidence, (SHARE - 0.5).abs(), first, one.second, one.queue) for first in ("prague", "cubic")
            )
            parts.append(Effect(f"distance from equal shares, {one.name}").better(prague, cubic, "higher", tolerance))
    return Judgement(
        parts,
        "CUBIC without ECN, Linux's default, hears losses alone, as the other flow does if that has no ECN either. "
        "Then both share one queue about evenly, unless the other is BBR, which hardly answers losses. Beside CUBIC "
        "with ECN in a queue that marks by a step CUBIC without ECN takes all, as it hears no mark.",
    )


@claim("Prague queuing delay (ms)", "latency heat maps, 2 BDP", "switch", runs=["buffers", "dualpi2"])
@tolerance(1, "ms", "DualPI2's step for Prague's queue")
def delay(evidence: Evidence, *, tolerance: Tolerance) -> Judgement:
    """Prague waits for less than a millisecond behind DualPI2, and for longer behind every other queue."""
    parts = []
    for queue in ALL:
        for second in SENDERS:
            wait = middle(evidence, WAIT, "prague", second, queue, "ms")
            least, most = (-math.inf, tolerance.value) if queue == "DualPI2" else (tolerance.value, math.inf)
            parts.append(Effect(f"mean wait, beside {second}, {queue}").of(wait, least=least, most=most))
    return Judgement(
        parts,
        "Only DualPI2 marks Prague for its own queue's delay. FQ and FQ-CoDel mark it too, but for 5 ms, as everyone.",
    )


@claim("CUBIC - ECN - Fallback", "throughput heat map beside CUBIC", runs=["fallback", "dualpi2"])
@tolerance(SAME)
def fallback(evidence: Evidence) -> Judgement:
    """With its fallback Prague's share beside CUBIC with ECN is as in the heat map."""
    return Judgement(
        _cells(evidence, "fallback"),
        "Where one queue marks both, the fallback makes Prague answer about as CUBIC does. On the testbed it does so "
        "behind DualPI2 too. Hagen, who repeated this in 2025, found why: two constants of the detection had the scale "
        "of an older alpha, so that every queue passed for a classic one. Here they have the intended scale.",
    )


@ours("Hagen's repetition, data/reproduce.csv", runs=["fallback", "dualpi2"])
@tolerance(SAME)
def repaired(evidence: Evidence) -> Judgement:
    """With the detection as Hagen repaired it, Prague's share beside CUBIC with ECN is as he measured it."""
    return Judgement(
        _cells(evidence, "repaired"),
        "Behind DualPI2 the round trip hardly varies, and Prague stays scalable. His FIFO, where nothing is marked and "
        "the fallback plays no part, leaves Prague more than ours and the first laboratory's do.",
    )


@ours("DualPI2, beside BBR", runs=["noise", "dualpi2"])
@tolerance(Tolerance(SAME.value, SAME.unit, SAME.reason, negligible=True))
def noise(noise: Runs, dualpi2: Runs, *, tolerance: Tolerance) -> Judgement:
    """Behind DualPI2 BBR leaves less to Prague if its host sends irregularly."""
    where = at("prague", "bbr", DEFAULT)
    steady = dualpi2.per_seed(SHARE, "DualPI2", where)
    parts = [
        Effect(f"Prague's share, jitter up to {text}").better(
            noise.per_seed(SHARE, "DualPI2", {**where, "traffic.second.send_jitter": seconds}),
            steady,
            "lower",
            tolerance,
        )
        for text, seconds in JITTERED.items()
    ]
    return Judgement(
        parts,
        "BBR takes the largest rate of ten round trips for that of the link. Segments that leave together arrive "
        "together, and look like a faster link; BBR sends at that rate, DualPI2 marks more, and only Prague answers.",
    )


@ours("Prague's version", "switch", runs=["buffers", "dualpi2", "instead"])
@tolerance(SAME)
def older(evidence: Evidence, *, tolerance: Tolerance) -> Judgement:
    """At 2 BDP Prague's share is the same if, as once, its virtual round trip counts after 500 others only."""
    parts = []
    for queue in ALL:
        for second in SENDERS:
            late, prague = (middle(evidence, SHARE, first, second, queue) for first in ("older", "prague"))
            parts.append(Effect(f"share, beside {second}, {queue}").better(late, prague, "equal", tolerance))
    return Judgement(parts, "500 round trips of 10 to 25 ms are 5 to 12 s of the minute, in which Prague grows faster.")


CLAIMS = [*QUEUES, less_favourable, delay, fallback, repaired, noise, older]
