"""The claims: the rows of the tables by discipline, and three of the key findings."""

from collections.abc import Iterator

from aqmlab_papers import Claim, Effect, Evidence, Judgement, Runs, Tolerance, claim, tolerance
from aqmlab_papers.l4s_tests.experiments import BESIDE, ROUND_TRIPS, SHARED
from aqmlab_papers.l4s_tests.measures import FIRST, SAME, SECOND, Pair, at, has, ours, repeated, share

DOMINATE = Tolerance(10, "times", "'dominate': by an order of magnitude")
ADVANTAGE = Tolerance(10, "% of it", "a tenth: goodputs of single runs tell less apart", negligible=True)
UNFAIRER = Tolerance(SAME.value, SAME.unit, SAME.reason, negligible=True)


def _rows(name: str, text: str, scenario: int, qdiscs: tuple[str, ...], why: str) -> Claim:
    """Return the claim that our shares are those of the rows of some disciplines."""

    def judged(evidence: Evidence) -> Judgement:
        found = repeated(evidence, *qdiscs)
        return Judgement([Effect(row.name).near(ours(evidence, row), round(row.share, 3), SAME) for row in found], why)

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
        "Behind DualPI2 two flows share the link as in the table.",
        1,
        ("dualpi2",),
        "",
    ),
    _rows(
        "pfifo",
        "Behind a FIFO of 250 ms two flows share the link as in the table.",
        1,
        ("pfifo(200)", "pfifo(1000)"),
        "",
    ),
    _rows(
        "fq-codel",
        "Behind FQ-CoDel two flows share the link as in the table.",
        1,
        ("fq_codel",),
        "",
    ),
    _rows(
        "codel-af",
        "Behind CodelAF two flows share the link as in the table, by FQ-CoDel in its place.",
        1,
        ("cnq_codel_af",),
        "",
    ),
    _rows(
        "shared-queues",
        "In a queue that marks by RFC 3168 Prague and another flow share the link as in the table.",
        6,
        tuple(SHARED),
        "",
    ),
]


def _both(runs: tuple[Runs, Runs], pairs: list[Pair]) -> Iterator[tuple[Runs, Pair, str]]:
    """Yield the pairs that the runs have, at 10 and at 50 Mbit/s."""
    for rate, one in zip((10, 50), runs, strict=True):
        for pair in pairs:
            if has(one, pair):
                yield one, pair, f"{pair[1]} and {pair[3]} ms at {rate} Mbit/s"


@claim(
    "L4S flows dominate non-L4S flows, whether ECN enabled or not, when they occupy a shared RFC3168 signaling queue",
    "Key Finding 1",
    "shares",
)
@tolerance(DOMINATE)
def dominates(rfc3168: Runs, *, tolerance: Tolerance) -> Judgement:
    """In a shared queue that marks by RFC 3168, Prague gets ten times as much as CUBIC or Reno, with ECN or without."""
    parts = [
        Effect(f"Prague's share beside {other}, {label}").of(
            share(rfc3168, label, ("prague", 20, other, 20)), least=tolerance.value / (1 + tolerance.value)
        )
        for label in rfc3168.labels
        for other in BESIDE
    ]
    return Judgement(parts, "")


@claim(
    "DualPI2 consistently gives TCP Prague flows a throughput advantage over conventional CUBIC flows, where both flows "
    "run over the same path RTT",
    "Network Bias, Key Finding 3",
    "shares",
)
@tolerance(ADVANTAGE)
def bias(fairness_10: Runs, fairness_50: Runs, *, tolerance: Tolerance) -> Judgement:
    """Behind DualPI2 Prague gets more than CUBIC with the same round trip."""
    pairs: list[Pair] = [("prague", one, "cubic", other) for one, other in ROUND_TRIPS if one == other]
    parts = [
        Effect(f"goodput of Prague over that of CUBIC, {where}").better(
            *(runs.per_seed(flow, "dualpi2", at(pair)) for flow in (FIRST, SECOND)), "higher", tolerance
        )
        for runs, pair, where in _both((fairness_10, fairness_50), pairs)
    ]
    return Judgement(parts, "")


@claim(
    "TCP Prague and DualPI2 exhibit a greater level of RTT unfairness than the presently used CUBIC and pfifo",
    "Key Finding 4",
    "shares",
)
@tolerance(UNFAIRER)
def rtt_unfairness(fairness_10: Runs, fairness_50: Runs, *, tolerance: Tolerance) -> Judgement:
    """Of two Prague flows behind DualPI2, that with the longer round trip gets less than of two CUBIC flows behind a
    FIFO.
    """
    pairs: list[Pair] = [("prague", one, "prague", other) for one, other in ROUND_TRIPS if one != other]
    parts = [
        Effect(f"share of the longer round trip, {where}").better(
            share(runs, "dualpi2", pair), share(runs, "pfifo", ("cubic", pair[1], "cubic", pair[3])), "lower", tolerance
        )
        for runs, pair, where in _both((fairness_10, fairness_50), pairs)
    ]
    return Judgement(parts, "")


CLAIMS = [*ROWS, dominates, bias, rtt_unfairness]
