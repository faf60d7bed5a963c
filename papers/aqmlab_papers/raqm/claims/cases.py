"""Claims on the queue over time in cases 1 to 4 (Figs. 4, 5, 6 and 8)."""

from collections.abc import Callable, Sequence
from functools import partial

from aqmlab_papers import At, Check, Claim, Effect, Evidence, Judgement, PerSeed, Runs, Tolerance, claim, tolerance
from aqmlab_papers.describe.thresholds import DELAY, DEVIATION, QUEUE, TIME
from aqmlab_papers.raqm import measures
from aqmlab_papers.raqm.measures import (
    ANYWHERE,
    BIN,
    BUFFER,
    CASES,
    EACH,
    FLOWS,
    PACKETS,
    Q0,
    TAIL,
    Read,
    at,
    distance,
    loads,
    overshoot,
    panels,
)

FIFTH = Tolerance(measures.BAND, "packets", "a fifth of the target, as for the response time; the paper gives no band")
SETTLED = Tolerance(
    BIN, "s", "times are known to the 5 s of a mean queue; a queue may be at rest from the start", negligible=True
)
MUCH = Tolerance(50, "% of it", "'much': half")
OVERSHOOT = "length of the first overshoot (means of 5 s above 60 packets)"


def read(runs: Runs, label: str, where: At, part: str, start: float = 0.0) -> PerSeed:
    """Return a part of the overshoot (s)."""
    return runs.from_series(label, overshoot(part, start), where, unit="s")


def height(runs: Runs, label: str, where: At) -> PerSeed:
    """Return the height of the overshoot (packets)."""
    return runs.from_series(label, measures.height, where, unit="packets")


def listed(runs: Runs, values: Callable[[str, At], PerSeed], unit: str) -> str:
    """List the means of a quantity of each discipline at each number of flows, in words."""
    return "; ".join(
        f"with {load} {', '.join(f'{label} {values(label, where).mean:.0f}' for label in runs.labels)} {unit}"
        for load, where in loads(runs)
    )


def seconds(runs: Runs, reader: Read, label: str, where: At) -> PerSeed:
    """Return a time that is read from the series (s)."""
    return runs.from_series(label, reader, where, unit="s")


def responds(runs: Runs, label: str, where: At) -> PerSeed:
    """Return the response time, the whole run if the queue does not settle (s)."""
    return runs.per_seed("response_time", label, where, fill=runs.duration)


def tied(one: PerSeed, other: PerSeed, whole: float) -> bool:
    """Check whether two times have no order in most runs: both are over at once, or last for the ``whole`` (s)."""
    times = [(time, other.values[seed]) for seed, time in one.values.items() if seed in other.values]
    ties = [a is not None and b is not None and (max(a, b) <= BIN or min(a, b) >= whole) for a, b in times]
    return 2 * sum(ties) > len(ties)


def lower(
    runs: Runs,
    effect: str,
    values: Callable[[str, At], PerSeed],
    tolerance: Tolerance,
    hero: str = "",
    others: Sequence[str] = (),
    whole: float | None = None,
) -> list[Check]:
    """Check that a time is lower with RAQM than with others, at each number of flows; a tie is negligible."""
    checks: list[Check] = []
    hero = hero or runs.hero
    for load, where in loads(runs):
        for other in others or runs.others_than(hero):
            one, two = values(hero, where), values(other, where)
            size = SETTLED if tied(one, two, runs.duration if whole is None else whole) else tolerance
            name = f"{effect}, {load}, {hero} {'over' if size.relative else 'minus'} {other}"
            checks.append(Effect(name).better(one, two, "lower", size))
    return checks


def regulated(runs: Runs, taildrop: Runs, *, tolerance: Tolerance) -> Judgement:
    """Compare the mean queue with the target in both halves of the last 100 s, and its deviation with the buffer's."""
    checks: list[Check] = []
    beside: list[Check] = []
    means, full = [], ""
    for load, where in loads(runs):
        halves = [
            runs.from_series(runs.hero, measures.mean_of("queue.mean", start, start + 50), where, unit="packets")
            for start in (100, 150)
        ]
        spread = runs.per_seed("queue_std", runs.hero, where)
        off = PerSeed.most(
            [*(abs(half - Q0) for half in halves), spread.each(lambda one: one if one > ANYWHERE else 0)]
        )
        plain = abs(taildrop.per_seed("queue_mean", TAIL, where) - Q0)
        checks.append(
            Effect(f"distance of the mean queue from q0, or its deviation above {ANYWHERE:.0f}, {load}").of(
                off, most=tolerance.value
            )
        )
        beside.append(
            Effect(f"distance of the mean queue from q0 with tail drop, {load}").of(plain, least=tolerance.value)
        )
        means.append(f"{PerSeed.average(halves).mean:.1f} packets with {load}")
        if spread.mean > ANYWHERE:
            full += (
                f" With {load} it swings from the empty to the full buffer, as tail drop's does, whose mean is beside."
            )
    return Judgement(
        checks,
        "The law (3) brings the rate of arrivals to the link's rate, and the queue stays wherever that happens: in the "
        f"last 100 s it has {' and '.join(means)} on average. Its mean has to be near the target in both halves of "
        f"these 100 s, and its deviation below the {ANYWHERE:.0f} packets of a queue that is anywhere in the buffer; "
        f"otherwise the deviation counts as the distance.{full}",
        beside,
    )


def faster(runs: Runs, *, tolerance: Tolerance) -> Judgement:
    """Compare the times to the target; a queue that never settles counts as the whole run."""
    return Judgement(
        lower(runs, "response time", partial(responds, runs), tolerance),
        "A queue that rests off the target never settles, and counts with the whole run, so that the means are "
        f"{listed(runs, partial(responds, runs), 's')}. A queue that swings widely settles by chance, when four means "
        "of 5 s happen to be near. Two queues that never settle, or that both settle at once, are a tie, which counts "
        "neither way.",
    )


def shorter(runs: Runs, *, tolerance: Tolerance) -> Judgement:
    """Compare the first overshoots; the time above the band in all is beside."""
    first = partial(read, runs, part="first")
    return Judgement(
        lower(runs, OVERSHOOT, first, tolerance),
        "p_k starts far too low, and while arrivals exceed the link by the part l / (1 - l), ln p_k grows by 4 eps "
        "times that a second: fast where many flows lose much, slowly where few lose little. The means are "
        f"{listed(runs, first, 's')}; where a queue swings about the band they scatter. Two overshoots of 5 s at "
        "most are a tie, which counts neither way.",
        lower(runs, "all time above 60 packets (means of 5 s)", partial(read, runs, part="total"), tolerance),
    )


def steadier(runs: Runs, *, tolerance: Tolerance) -> Judgement:
    """Compare the distance from the target over time; the deviation from the queue's own mean is beside."""
    name = "root mean square distance from q0"
    return Judgement(
        runs.compare(distance(), runs.hero, better="lower", tolerance=tolerance, each=EACH, unit="packets", name=name),
        "The paper calls a queue stable that is held at its target, so that its distance from the target over time is "
        f"judged: {listed(runs, partial(runs.per_seed, distance()), 'packets')}. A queue at the full buffer is as far "
        "from the target as an empty one. The deviation from the queue's own mean stands beside: a "
        "queue that is next to empty has little room to vary.",
        runs.compare("queue_std", runs.hero, better="lower", tolerance=tolerance, each=EACH),
    )


def sooner(runs: Runs, *, tolerance: Tolerance) -> Judgement:
    """Compare the times after which the queue stays near its own last mean, wherever that is."""
    return Judgement(
        lower(runs, "time to rest", partial(seconds, runs, measures.comes_to_rest), tolerance),
        "ln p_k grows with the losses until p_k is 1: fast with many flows, wherever the queue then is. A queue that "
        "stays at the full buffer, as PI's with many flows, is at rest from the start.",
    )


PANELS = [f"{case}{suffix}" for suffix in ("", "-taildrop") for case in CASES]


def beside_tail_drop(evidence: Evidence, metric: str, tolerance: Tolerance) -> list[Check]:
    """Check that a metric is higher with tail drop than with each discipline, in the panels of figures 4 to 6."""
    return [
        check
        for case in CASES
        for check in (evidence[case] | evidence[f"{case}-taildrop"]).compare(
            metric, TAIL, better="higher", tolerance=tolerance, each=(FLOWS, f"{case}, {{:g}} flows")
        )
    ]


@claim("This passive behavior results in long queuing delay", "Section 1", "readings", runs=PANELS)
@tolerance(0.5, "", "'long': more than half of what the buffer allows")
def taildrop_delay(evidence: Evidence, *, tolerance: Tolerance) -> Judgement:
    """Tail drop has a long queueing delay."""
    longest = 1e3 * BUFFER / PACKETS
    every = panels(*(evidence[f"{case}-taildrop"] for case in CASES))
    return Judgement(
        [
            Effect(f"mean delay over that of a full buffer, {name}").of(
                runs.per_seed("queue_delay_mean", TAIL, where) / longest, unit="", least=tolerance.value
            )
            for name, runs, where in every
        ],
        f"Only overflows hold the flows back, so that the buffer, which takes {longest:.0f} ms to empty, is mostly "
        "more than half full. The delays with RAQM, PI and REM stand beside.",
        beside_tail_drop(evidence, "queue_delay_mean", DELAY),
    )


@claim(
    "is often the cause of the correlation among packet drops, resulting in … TCP synchronization",
    "Section 1",
    runs=PANELS,
)
@tolerance(1, "%", "a hundredth of the flows")
def taildrop_correlates(evidence: Evidence, *, tolerance: Tolerance) -> Judgement:
    """Tail drop's losses are often correlated: more flows lose in the same event than with RAQM, PI or REM."""
    checks = beside_tail_drop(evidence, "loss_synchronisation", tolerance)
    return Judgement(
        checks,
        "A full buffer takes packets of many flows in the same round trip. That does not show where RAQM leaves the "
        "drops to the full buffer, as with 40 flows of case 2, nor with 400 flows of long round trips, which lose in "
        "most round trips whatever drops their packets. 'Often' is read as half of the comparisons or more.",
        need=0.5,
    )


ABSTRACT = "better stability and faster response as it can quickly regulate the queue length to the expected value"


def _of_case(
    number: int, name: str, held: str, fast: str, short: str, steady: str, speed: Tolerance = MUCH
) -> list[Claim]:
    """List the claims of a case, by the clauses that they quote, and by how much its response is to be faster."""
    case, place = f"case{number}", f"Section 3.{number}, Fig. {number + 3}"
    own, regulating = [case], [case, f"{case}-taildrop"]
    return [
        claim(
            quote,
            f"Abstract; {place}" if quote and quote in ABSTRACT else place,
            f"fig{number + 3} {beside}",
            text=f"In case {name} RAQM{text}.",
            name=f"{case}-{kind}",
            runs=regulating if kind == "regulation" else own,
            comparative=kind in ("response", "stability"),
        )(tolerance(size)(judge))
        for kind, text, quote, size, beside, judge in (
            ("regulation", " holds the queue around q0 = 50, with 40 and 400 flows", held, FIFTH, "balance", regulated),
            ("response", " brings the queue to q0 faster than PI and REM", fast, speed, "readings", faster),
            ("overshoot", "'s overshoot is much shorter than PI's and REM's", short, MUCH, "start", shorter),
            ("stability", "'s queue is steadier about q0 than PI's and REM's", steady, DEVIATION, "", steadier),
            ("rest", "'s queue comes to rest, wherever, sooner than PI's and REM's", "", SETTLED, "", sooner),
        )
    ]


CASE_1 = _of_case(
    1,
    "1 (short round trips)",
    "RAQM can quickly and effectively regulate the queue length around the expected value q0",
    ABSTRACT.removeprefix("better stability and "),
    "effectively regulated around q0 with much shorter overshoot",
    ABSTRACT,
    TIME,
)


@claim(
    "slow response and big overshoot, especially when the number of TCP flows is large", "Section 3.1, Fig. 4", "fig4"
)
@tolerance(TIME)
def worse_with_many(case1: Runs, *, tolerance: Tolerance) -> Judgement:
    """PI and REM respond slowly and overshoot, above all with 400 flows."""
    few, many = at(case1.points(FLOWS)[0]), at(case1.points(FLOWS)[-1])

    def grows(effect: str, values: Callable[[str, At], PerSeed], size: Tolerance) -> list[Check]:
        return [
            Effect(f"{effect} of {other}, 400 flows over 40").better(
                values(other, many), values(other, few), "higher", size
            )
            for other in case1.others
        ]

    return Judgement(
        [
            *grows("response time", partial(responds, case1), tolerance),
            *grows(OVERSHOOT, partial(read, case1, part="first"), tolerance),
        ],
        "In each period p of PI and REM climbs by a fixed step for each packet above the target, and more flows need "
        "more p. Until it is there, the queue is above the target. 'Slow' has no number, so that the growth is judged; "
        "'big' is read as long, as the paper goes on with 'shorter', and the height, which the buffer bounds at 50 "
        "packets, stands beside.",
        grows("height of the overshoot (means of 0.5 s)", partial(height, case1), QUEUE),
    )


CASE_2 = _of_case(
    2,
    "2 (long round trips)",
    ABSTRACT,
    "still obtains … much faster response than PI and REM",
    "",
    "RAQM still obtains better stability … than PI and REM",
)


@claim(
    "REM is nearly out of control in this case when the number of TCP flows is equal to 40",
    "Section 3.2, Fig. 5a",
    "fig5 rem-forms",
)
@tolerance(ANYWHERE, "packets", "the deviation of a queue that is uniformly anywhere in the buffer")
def rem_out_of_control(case2: Runs, *, tolerance: Tolerance) -> Judgement:
    """With long round trips and 40 flows REM is nearly out of control."""
    few, anywhere = at(case2.points(FLOWS)[0]), tolerance.value
    own, *others = (
        Effect(f"standard deviation of {label}'s queue, 40 flows").of(
            case2.per_seed("queue_std", label, few), least=anywhere
        )
        for label in ("REM", "RAQM", "PI")
    )
    return Judgement(
        [own],
        f"A queue that is anywhere in the buffer with equal probability has a deviation of {anywhere:.0f} packets: one "
        "with more is nearly out of control. REM is ns-2's, whose price counts every packet that arrives, late by a "
        "round trip; table `rem-forms` has others. RAQM's deviation, beside, is little smaller.",
        others,
    )


CASE_3 = _of_case(
    3,
    "3 (diverse round trips)",
    "it is capable to quickly regulate the queue length around q0",
    "RAQM still achieves … much faster response than PI and REM",
    "regulate the queue length around q0 with much shorter overshoot",
    "RAQM still achieves better stability … than PI and REM",
)


@claim(
    "can quickly regulate the queue length to the expected value with small overshoot",
    "Abstract",
    "fig4 fig5 fig6 fig8",
)
@tolerance(25, "packets", "half of the room above the target; the full buffer, as tail drop's, is 50")
def small_overshoot(case1: Runs, case2: Runs, case3: Runs, case4: Runs, *, tolerance: Tolerance) -> Judgement:
    """RAQM's overshoot is small in all four cases."""
    hybrid = [(f"case4, {load}", case4, where) for load, where in loads(case4)]
    checks = [
        Effect(f"height of RAQM's overshoot (means of 0.5 s), {name}").of(
            height(runs, runs.hero, where), most=tolerance.value
        )
        for name, runs, where in (*panels(case1, case2, case3), *hybrid)
    ]
    return Judgement(
        checks,
        "The height is that of the plotted queue, in means of half a second. p_k starts at .0002, and grows only while "
        "arrivals exceed the link. The queue grows as well until p_k is high enough, up to the full buffer.",
    )


CASE_4_STABILITY = claim(
    "RAQM still obtains better stability … under hybrid traffics",
    "Section 3.4, Fig. 8",
    "fig8",
    text="With short flows and UDP RAQM's queue is steadier about q0 than PI's and REM's.",
    name="case4-stability",
    runs="case4",
    comparative=True,
)(tolerance(DEVIATION)(steadier))


@claim("faster response than PI and REM under hybrid traffics", "Section 3.4, Fig. 8", "fig8", comparative=True)
@tolerance(TIME)
def case4_response(case4: Runs, *, tolerance: Tolerance) -> Judgement:
    """With short flows and UDP RAQM responds faster than PI and REM."""
    settled, away, high = (
        lower(case4, effect, partial(seconds, case4, reader), tolerance, whole=100.0)
        for effect, reader in (
            ("response time after 50 s", measures.settles(50.0, 150.0)),
            ("time off the target from 50 to 150 s", measures.off_target(50.0, 150.0)),
            ("first overshoot after 50 s (means of 5 s)", overshoot("first", 50.0)),
        )
    )
    return Judgement(
        settled,
        "The response time is that of the other cases, counted from 50 s on, and 100 s if the queue does not settle by "
        f"150 s. The means are {listed(case4, partial(seconds, case4, measures.settles(50.0, 150.0)), 's')}. Two "
        "that never settle, or that both settle at once, are a tie, which counts "
        "neither way.",
        [*away, *high],
    )
