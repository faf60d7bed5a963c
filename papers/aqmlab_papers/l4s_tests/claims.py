"""The claims: the rows of the tables by discipline, and three of the key findings."""

from collections.abc import Iterable, Iterator

from aqmlab_papers import Claim, Effect, Evidence, Judgement, Runs, Tolerance, claim, ours, tolerance
from aqmlab_papers.describe.check import RELATIVE
from aqmlab_papers.l4s_tests.experiments import BESIDE, EQUAL, RATE, RATES, SHARED, UNEQUAL
from aqmlab_papers.l4s_tests.measures import FIRST, SAME, SECOND, SHARE, Trips, at, has, pair, repeated, share, shared

UNFAIRER = Tolerance(SAME.value, SAME.unit, SAME.reason, negligible=True)


def _rows(name: str, text: str, scenario: int, qdiscs: tuple[str, ...], why: str) -> Claim:
    """Return the claim that our shares are those of the rows of some disciplines."""

    def judged(evidence: Evidence) -> Judgement:
        return Judgement(
            [
                Effect(row.name).near(shared(evidence, row), round(row.share, 3), SAME)
                for row in repeated(evidence, *qdiscs)
            ],
            why,
        )

    return claim(
        "Delivery rate (throughput) at steady state",
        f"Scenario {scenario} Fairness Table, {name}",
        "shares rows",
        text=text,
        name=name,
        runs=["rfc3168"] if scenario == 6 else ["fairness-10", "fairness-50"],
    )(tolerance(SAME)(judged))


ROWS = [
    _rows(
        "dualpi2",
        "Behind DualPI2 two flows of CUBIC or Prague share the link as in the table.",
        1,
        ("dualpi2",),
        "The coupling makes windows equal, not rates: a flow's share falls with its round trip, of which the wait is a "
        "part, 15 ms for CUBIC and 1 ms for Prague. Prague of that year does not make up for a short one.",
    ),
    _rows(
        "pfifo",
        "Behind a FIFO of 250 ms two flows of CUBIC or Prague share the link as in the table.",
        1,
        ("pfifo(200)", "pfifo(1000)"),
        "Nothing but a full buffer speaks to the flows, and which of two loses a packet hangs on when they send. If "
        "both lose each time, Prague, which without marks grows by a segment in 250 ms, has 0.15 of 10 Mbit/s and "
        "0.05 of 50 beside CUBIC. Here it has about that, in the table mostly more: there it escapes some of the "
        "losses. Our flows send segments one by one; bursts, which would make CUBIC lose more often, are not "
        "modelled.",
    ),
    _rows(
        "fq-codel",
        "Behind FQ-CoDel two flows of CUBIC or Prague share the link as in the table.",
        1,
        ("fq_codel",),
        "Each flow has a queue and half of the link; only a CUBIC flow of a long round trip leaves a part of it, as "
        "its window after a mark is too small for its round trip, and the other takes it.",
    ),
    _rows(
        "codel-af",
        "Behind CodelAF two flows of CUBIC or Prague share the link as in the table, by FQ-CoDel in its place.",
        1,
        ("cnq_codel_af",),
        "There is no CodelAF here. This tests the README's sentence that FQ-CoDel has very similar results.",
    ),
    _rows(
        "shared-queues",
        "In a queue that marks by RFC 3168 Prague and CUBIC or Reno share the link as in the table.",
        6,
        tuple(SHARED),
        "The queue signals as often as suits a flow that halves its window. Prague lowers it by half of the marked "
        "part, which is a few percent: it keeps the queue, and the other flow pays.",
    ),
]


def _places(runs: Iterable[Runs], trips: Trips) -> Iterator[tuple[int, Runs, tuple[int, int], str]]:
    """Yield the rates and the round trips that the runs have of Prague, with the text of each."""
    for rate, one in zip(RATES, runs, strict=False):
        for trip in trips:
            if any(has(one, pair(trip, "prague", other)) for other in ("prague", "cubic")):
                yield rate, one, trip, f"{trip[0]} and {trip[1]} ms at {rate} Mbit/s"


@claim(
    "L4S flows dominate non-L4S flows, whether ECN enabled or not, when they occupy a shared RFC3168 signaling queue",
    "Key Finding 1",
    "shares",
)
@tolerance(10, "times", "'dominate': by an order of magnitude")
def dominates(rfc3168: Runs, *, tolerance: Tolerance) -> Judgement:
    """In a shared queue that marks by RFC 3168, Prague gets ten times as much as CUBIC or Reno, with ECN or without."""
    parts = [
        Effect(f"Prague's share beside {other}, {label}").of(
            share(rfc3168, label, pair((20, 20), "prague", other)), least=tolerance.value / (1 + tolerance.value)
        )
        for label in rfc3168.labels
        for other in BESIDE
    ]
    return Judgement(
        parts,
        "Prague answers a mark by a few percent, the others by a third or a half. A flow without ECN loses a packet "
        "where another has a mark.",
    )


@claim(
    "DualPI2 consistently gives TCP Prague flows a throughput advantage over conventional CUBIC flows, where both "
    "flows run over the same path RTT",
    "Network Bias, Key Finding 3",
    "shares",
)
@tolerance(10, RELATIVE, "goodputs of single runs tell no less than a tenth apart")
def bias(fairness_10: Runs, fairness_50: Runs, *, tolerance: Tolerance) -> Judgement:
    """Behind DualPI2 Prague gets more than CUBIC with the same round trip."""
    parts = [
        Effect(f"goodput of Prague over that of CUBIC, {where}").better(
            runs.per_seed(FIRST, "dualpi2", at(pair(trip, "prague", "cubic"))),
            runs.per_seed(SECOND, "dualpi2", at(pair(trip, "prague", "cubic"))),
            "higher",
            tolerance,
        )
        for _, runs, trip, where in _places((fairness_10, fairness_50), EQUAL)
    ]
    return Judgement(
        parts,
        "Equal windows are unequal rates: a packet of CUBIC waits for the target of 15 ms, one of Prague for 1 ms at "
        "most. That alone would be 127, 67 and 17 % at 10, 20 and 80 ms. At 80 ms Prague's window is larger, too: a "
        "mark drains the queue of a single CUBIC flow, and until it has filled again Prague grows unmarked. With ten "
        "flows of each on ten times the link windows are nearly equal.",
    )


@claim(
    "TCP Prague and DualPI2 exhibit a greater level of RTT unfairness than the presently used CUBIC and pfifo",
    "Key Finding 4",
    "shares",
)
@tolerance(UNFAIRER)
def rtt_unfairness(fairness_10: Runs, fairness_50: Runs, *, tolerance: Tolerance) -> Judgement:
    """Of two flows that with the longer round trip gets less as Prague behind DualPI2 than as CUBIC behind a FIFO."""
    parts = [
        Effect(f"share of the longer round trip, {where}").better(
            share(runs, "dualpi2", pair(trip, "prague", "prague")),
            share(runs, "pfifo", pair(trip, "cubic", "cubic")),
            "lower",
            tolerance,
        )
        for _, runs, trip, where in _places((fairness_10, fairness_50), UNEQUAL)
    ]
    return Judgement(
        parts,
        "Full, the FIFO adds 250 ms to each round trip, which makes them alike. DualPI2 adds 1 ms to Prague's: "
        "windows are equal, and rates as unequal as the round trips.",
    )


@ours("Key Finding 4, with Prague as it is now")
@tolerance(UNFAIRER)
def prague_now(now: Runs, fairness_10: Runs, fairness_50: Runs, *, tolerance: Tolerance) -> Judgement:
    """With the virtual round trip of 25 ms that Prague has since got, that with the longer round trip gets more."""
    parts = [
        Effect(f"share of the longer round trip, {where}").better(
            now.per_seed(SHARE, "dualpi2", {**at(pair(trip, "prague-now", "prague-now")), RATE: 1e6 * rate}),
            share(runs, "dualpi2", pair(trip, "prague", "prague")),
            "higher",
            tolerance,
        )
        for rate, runs, trip, where in _places((fairness_10, fairness_50), UNEQUAL)
    ]
    return Judgement(
        parts,
        "Flows of less than 25 ms grow as one of 25 ms does. Beyond that nothing changes: a flow of 160 ms has 25/160 "
        "of the rate of one of 10 ms, not 10/160.",
    )


@ours("DualPI2 at 10 Mbit/s")
@tolerance(SAME)
def least_queue(step: Runs, fairness_10: Runs, *, tolerance: Tolerance) -> Judgement:
    """At 10 Mbit/s Prague's share beside CUBIC hangs on a detail of DualPI2: that the step spares a queue of two."""
    parts = [
        Effect(f"share of Prague without a least queue, {where}").better(
            share(step, "dualpi2", one), share(runs, "dualpi2", one), "lower", tolerance
        )
        for _, runs, trip, where in _places((fairness_10,), EQUAL)
        for one in [pair(trip, "prague", "cubic")]
    ]
    return Judgement(
        parts,
        "A packet of 1514 bytes takes 1.2 ms: without the rule each one is marked that finds another. Linux 7.2 has "
        "the rule as `min_qlen_step`, by default 0.",
    )


CLAIMS = [*ROWS, dominates, bias, rtt_unfairness, prague_now, least_queue]
