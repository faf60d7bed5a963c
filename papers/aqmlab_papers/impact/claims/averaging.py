"""Claims on the averaging of the queue: sections III-B (Fig. 7) and V, with the link failure."""

from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from itertools import pairwise

from aqmlab_papers import At, Check, Effect, Judgement, PerSeed, Runs, Tolerance, claim, tolerance
from aqmlab_papers.describe.thresholds import DELAY
from aqmlab_papers.impact import measures as m
from aqmlab_papers.impact.claims.loss_runs import BIAS, BURSTY

NOT_ONE = Tolerance(1, "packets", "not any packet")
BIN = Tolerance(0.05, "s", "a bin of the series")
ROUND_TRIP = Tolerance(0.2, "s", "the longest round trip without a queue: a control that is later lets TCP go on")
FINE_BIN = Tolerance(0.02, "s", "a bin of the series")


def weights(averaging: Runs) -> list[float]:
    """Return the weights of Fig. 7."""
    return [w for w in averaging.points("aqm.w_q") if w >= 0.001]


def udp_loss(averaging: Runs) -> dict[float, PerSeed]:
    """Return UDP's loss at the weights of Fig. 7."""
    return {w: averaging.per_seed(**m.UDP_LOSS, label=m.RED, at={"aqm.w_q": w}) for w in weights(averaging)}


def loads(runs: Runs) -> dict[str, At]:
    """Return the points of a link failure, by the share of the link that the clients are to use before."""
    return {
        f"from {count / 500 * 55:.0f} %": {"traffic.web.count": count} for count in runs.points("traffic.web.count")
    }


def lost(
    runs: Runs, label: str, at: At, begin: float = m.FAILS, end: float = m.RETURNS + 5, below: float = 1e9
) -> PerSeed:
    """Count the packets lost around a link failure, until the queue is as before."""
    return runs.from_series(label, partial(m.drops, begin=begin, end=end, below=below), at, unit="packets")


@claim(
    "using the average queue size instead of the instantaneous queue size could be harmful … If the increase due to a "
    "failure of a link is 20%, the carrier does not want to lose any packets",
    "Section III-B",
    "failure",
)
@tolerance(NOT_ONE)
def fifth_costs(fifth: Runs, *, tolerance: Tolerance) -> Judgement:
    """If the load of a half-used link rises by a fifth, averaging costs packets, though the carrier wants no loss."""
    checks = _lose_more(fifth, [m.RED], [m.TD, m.HERO], tolerance)
    beside = [
        Effect(f"{name}: packets lost with {label}").of(lost(fifth, label, at), most=1 - tolerance.value)
        for name, at in loads(fifth).items()
        for label in (m.TD, m.RED, m.HERO)
    ]
    return Judgement(
        checks,
        "A link that is used to 60 % is used to 72 % when its load rises by a fifth: the queue stays short and its "
        "average below min_th, so that RED drops nothing, even in bursts. Beside: how many packets each loses.",
        beside,
    )


def _lose_more(runs: Runs, ones: Sequence[str], others: Sequence[str], tolerance: Tolerance) -> list[Check]:
    """Check that some disciplines lose more packets than others from a failure until 5 s after the link's return."""
    return [
        Effect(f"{name}: packets lost, {one} minus {other}").better(
            lost(runs, one, at), lost(runs, other, at), "higher", tolerance
        )
        for name, at in loads(runs).items()
        for one in ones
        for other in others
    ]


@claim(
    "the operational link will suddenly double its load, and it will take some time to the averaging to reflect "
    "this change",
    "Section III-B",
    "failure",
)
@tolerance(ROUND_TRIP)
def average_late(double: Runs, *, tolerance: Tolerance) -> Judgement:
    """When the load doubles, it takes the average a round trip and more to reflect this."""
    threshold = m.exactly(double, m.RED, "min_th")
    read = partial(m.lateness, threshold=threshold)
    late = {name: double.from_series(m.RED, read, at, unit="s") for name, at in loads(double).items()}
    never = {
        name: sum(double.from_series(m.RED, partial(m.misses, threshold=threshold), at).known)
        for name, at in loads(double).items()
    }
    missed = ", ".join(f"{count:.0f} of {len(late[name].known)} ({name})" for name, count in never.items())
    return Judgement(
        [
            Effect(f"{name}: time from when {threshold:g} packets wait until RED's average is {threshold:g}").of(
                one, least=tolerance.value
            )
            for name, one in late.items()
        ],
        "RED's average needs 500 arrivals to follow a step of the queue by two thirds, 0.8 s of the 5 Mbit/s that the "
        f"link then has. In {missed} runs it does not reach {threshold:g} packets at all, and the time is that until "
        "the link's return.",
    )


@claim("GRED-I offers a better and faster reaction to congestion", "Section VI", "failure")
@tolerance(BIN)
def reacts_faster(double: Runs, *, tolerance: Tolerance) -> Judgement:
    """GRED-I reacts faster and better to congestion than what relies on the average."""
    averaged = (m.RED, *m.GREDS)
    faster = [
        Effect(f"{name}: time from the failure to the first drop, {m.HERO} minus {other}").better(
            double.from_series(m.HERO, m.first_drop, at, unit="s"),
            double.from_series(other, m.first_drop, at, unit="s"),
            "lower",
            tolerance,
        )
        for other in averaged
        for name, at in loads(double).items()
    ]
    return Judgement(
        faster + _lose_more(double, averaged, [m.HERO], NOT_ONE),
        "GRED-I looks at the queue itself, so that it drops first. A reaction is read as better if fewer packets are "
        "lost, as the carrier of Section III-B wants: who begins to drop early loses no fewer when the overload lasts "
        "for seconds, and RED's average spares what comes before it has risen.",
    )


@claim(
    "none of the AQM mechanisms (except Tail Drop) is smart enough to solve efficiently the carrier's problem "
    "with regards to link failure",
    "Section VI",
    "failure",
)
@tolerance(NOT_ONE)
def only_tail_drop_copes(fifth: Runs, double: Runs, *, tolerance: Tolerance) -> Judgement:
    """No discipline but tail drop copes with a link failure, be it of a fifth more load or of twice the load."""
    none = [
        Effect(f"a fifth, {name}: packets lost with {m.TD}").of(lost(fifth, m.TD, at), most=1 - tolerance.value)
        for name, at in loads(fifth).items()
    ]
    more = [
        replace(check, effect=f"{rise}, {check.effect}")
        for rise, runs in (("a fifth", fifth), ("twice", double))
        for check in _lose_more(runs, runs.others_than(m.TD), [m.TD], tolerance)
    ]
    return Judgement(
        none + more,
        "At twice the load the buffer can store much of what comes in excess, and tail drop uses all of it, while the "
        "others drop packets before it is full. A fifth more load hardly makes a queue, so that they cope as well. "
        "Beside: what is lost before the load doubles.",
        [
            Effect(f"{name}: packets lost in 50 s before, {label}").of(
                lost(double, label, at, 50, m.FAILS), most=tolerance.value
            )
            for name, at in loads(double).items()
            for label in double.labels
        ],
    )


@claim("RED will continue dropping packets even after the congestion", "Section III-B; V", "failure")
@tolerance(NOT_ONE)
def drops_after_the_peak(double: Runs, *, tolerance: Tolerance) -> Judgement:
    """After a peak RED goes on dropping though the queue is short again."""
    effect = f"packets lost in 2 s from bins with fewer than {m.MIN_TH} waiting"
    checks, every, hero = [], [], []
    for name, at in loads(double).items():
        after = lost(double, m.RED, at, m.RETURNS, m.RETURNS + 2, m.MIN_TH)
        peak = double.from_series(m.RED, m.average_after, at).values
        high = {seed: value for seed, value in after.values.items() if (peak[seed] or 0) >= m.MIN_TH}
        where = f"in the {len(high)} of {len(after.values)} runs whose average is above {m.MIN_TH} then"
        checks.append(Effect(f"{name}: {effect}, RED, {where}").of(replace(after, values=high), least=tolerance.value))
        every.append(Effect(f"{name}: {effect}, RED, all runs").of(after, least=tolerance.value))
        of_hero = lost(double, m.HERO, at, m.RETURNS, m.RETURNS + 2, m.MIN_TH)
        hero.append(Effect(f"{name}: {effect}, {m.HERO}").of(of_hero, most=0.0))
    return Judgement(
        checks,
        "The sentence is of an average that stays high after the peak, so that the runs are judged in which it is "
        "above min_th when the link returns; a half-used link whose load doubles is hardly overloaded, and has few of "
        "these. The average takes some tenths of a second to come down, and RED drops until then; GRED-I, beside, "
        "drops nothing while the queue is below min_th.",
        every + hero,
    )


@claim(
    "then the averaging procedure will not filter out transient congestion ... That is when RED behaves like a "
    "Tail Drop router",
    "Section III-B",
    "short",
)
@tolerance(replace(DELAY, reason=f"{DELAY.reason}; of goodput 3 %, of the queue's deviation {m.SEEN.value:g} packets"))
def like_tail_drop(short: Runs, *, tolerance: Tolerance) -> Judgement:
    """With w = 1 RED is like tail drop."""
    return Judgement(
        [
            check
            for quantity, same in (
                (m.tcp_goodput(short), m.SAME),
                (m.DELAY, tolerance),
                (m.UDP_LOSS, m.SIGNIFICANT),
                (m.SWING, m.SEEN),
            )
            for check in m.versus(short, {"": None}, quantity, m.AVERAGE_GONE, [m.SHORT], "equal", same)
        ],
        f"The sources must lose {short.per_seed(**m.LOSS, label=m.AVERAGE_GONE)}, more than RED drops below max_th, so "
        "that the queue stays at max_th. Without an average RED drops all there, like a full buffer. The spacing of "
        "drops is our choice: with that of 1993 RED drops more below max_th, and its queue is shorter.",
    )


@claim(
    "When [w] is set too low, then RED responds too slowly to changes in the actual queue size and packets are "
    "dropped due to a buffer overflow",
    "Section III-B",
    "fig7",
)
@tolerance(NOT_ONE)
def small_w_overflows(averaging: Runs, *, tolerance: Tolerance) -> Judgement:
    """If w is very small, packets are lost by overflow."""
    small, next_one = (
        averaging.per_seed("drops_overflow", m.RED, {"aqm.w_q": w}) for w in averaging.points("aqm.w_q")[:2]
    )
    return Judgement(
        [
            Effect("packets lost at a full buffer, w = 0.0001 minus w = 0.001").better(
                small, next_one, "higher", tolerance
            )
        ],
        "An average over 10,000 packets is so late that the queue swings from empty to full. With 0.001, the smallest "
        f"weight of Fig. 7, {next_one:.0f} packets overflow. With lower thresholds, or drops that are spaced as in "
        "1993, the queue has more room above its average, and none overflows.",
    )


@claim("the TCP goodput is not very sensitive to the value of [w]", "Section III-B, Fig. 7", "fig7")
@tolerance(m.SAME)
def goodput_whatever_w(averaging: Runs, *, tolerance: Tolerance) -> Judgement:
    """TCP's goodput hardly depends on RED's averaging weight."""
    each = [averaging.per_seed(**m.tcp_goodput(averaging), label=m.RED, at={"aqm.w_q": w}) for w in weights(averaging)]
    span = Effect("excess of the largest TCP goodput over the smallest").better(
        PerSeed.most(each), PerSeed.least(each), "not higher", tolerance
    )
    return Judgement([span], "Whatever the weight, the queue is never empty for long, so that the link is always busy.")


@claim("the UDP loss probability is decreasing when [w] is getting larger", "Section III-B, Fig. 7", "fig7")
@tolerance(m.SIGNIFICANT)
def udp_loss_falls_with_w(averaging: Runs, *, tolerance: Tolerance) -> Judgement:
    """UDP loses the less the larger RED's averaging weight."""
    loss = udp_loss(averaging)
    checks = [
        Effect(f"UDP loss, w = {two:g} over w = {one:g}").better(loss[two], loss[one], "lower", tolerance)
        for one, two in pairwise(loss)
    ]
    return Judgement(
        checks,
        "With 0.001 and with 0.01 a burst hardly moves the average, and RED drops any packet with the same "
        "probability. With larger weights RED is more and more like a buffer that ends at max_th, and a full buffer "
        "spares packets that come one at a time. That these steps count rests on ns-2's spacing of drops, our choice: "
        "with that of 1993 and with independent drops they are smaller (see the sensitivity table).",
    )


@claim(
    "The best UDP performance is realized when the instantaneous queue size is used", "Section III-B, Fig. 7", "fig7"
)
@tolerance(m.SIGNIFICANT)
def best_without_average(averaging: Runs, *, tolerance: Tolerance) -> Judgement:
    """UDP fares best if the queue is not averaged."""
    loss = udp_loss(averaging)
    checks = [
        Effect(f"UDP loss, w = 1 over w = {w:g}").better(loss[1.0], loss[w], "lower", tolerance) for w in loss if w < 1
    ]
    return Judgement(
        checks,
        "Without an average RED is like a full buffer, which spares packets that come one at a time. By how much rests "
        "on ns-2's spacing of drops, our choice: with that of 1993 hardly any difference is left.",
    )


@claim("Averaging helps to avoid the bias against bursty flows", "Section V", "bursts")
@tolerance(BIAS)
def averaging_spares_bursts(bursts: Runs, *, tolerance: Tolerance) -> Judgement:
    """Averaging helps to avoid a bias against bursts: with it there is less, and none is left."""
    bias = {
        label: bursts.per_seed(**BURSTY, label=label) / bursts.per_seed(**m.UDP_LOSS, label=label)
        for label in bursts.labels
    }
    effect = "loss of bursty over smooth UDP, RED with w = 0.002 over w = 1"
    each = ", ".join(f"{ratio:.2g} ({label})" for label, ratio in bias.items())
    least, most = tolerance.around(1)
    return Judgement(
        [
            Effect(effect).better(bias[m.RED], bias[m.AVERAGE_GONE], "lower", tolerance),
            Effect("loss of bursty over smooth UDP, RED: none left").of(bias[m.RED], least=least, most=most),
        ],
        "A burst hardly moves the average, so that its packets are dropped no more often than others. Loss of bursty "
        f"over that of smooth UDP: {each}. Without an average a slope, as GRED-I has, avoids most of the bias too.",
    )


@claim("the average queue size does not reflect the real state of the queue", "Section V", "fig6")
@tolerance(0.71, "", "a correlation that explains half of the variance")
def average_lags(queue: Runs, *, tolerance: Tolerance) -> Judgement:
    """The average does not reflect the real state of the queue."""
    averaged = (m.RED, m.APPROXIMATED, m.GENTLE)
    return Judgement(
        [
            Effect(f"correlation of the average with the queue, {label}").of(
                queue.from_series(label, m.likeness), most=tolerance.value
            )
            for label in averaged
        ],
        "The average lags behind the queue by about a round trip or less, which has 0.12 to 0.22 s plus the queueing "
        "delay. Beside are the lag at which both agree best and how well they do then: what still lacks is what the "
        "average smooths away.",
        [
            *(
                Effect(f"lag of the average, {label}").of(
                    queue.from_series(label, m.lag, unit="s"), least=FINE_BIN.value
                )
                for label in averaged
            ),
            *(
                Effect(f"correlation at that lag, {label}").of(
                    queue.from_series(label, lambda frame: max(m.likenesses(frame))), least=tolerance.value
                )
                for label in averaged
            ),
        ],
    )
