"""Claims on the queues and drop probabilities beside web traffic: sections II to IV (Figs. 1 and 4)."""

from collections.abc import Callable
from dataclasses import replace
from functools import partial

import polars

from aqmlab_papers import At, Check, Effect, Judgement, Runs, Tolerance, claim, tolerance
from aqmlab_papers.describe import thresholds
from aqmlab_papers.redtail import measures as m

IN_REGION = Tolerance(
    5, "%", "a queue is in its region if it is there for 95 % of the time (bins of 0.25 s), and leaves it if it is not"
)
DOUBLED = Tolerance(2, "", "great, and rapid: at least doubled")


@claim(
    "the Adaptive RED works well with those FTP connections before the web traffic comes in",
    "Section II, Fig. 1",
    "fig1",
)
@tolerance(IN_REGION)
def calm_alone(time: Runs, *, tolerance: Tolerance) -> Judgement:
    """With long flows alone Adaptive RED keeps its queue in the desired region."""
    share = time.from_series(m.ARED, m.share_in(m.Q, m.BAND, *m.FLOWS_ALONE), unit="%")
    deviation = m.swing(time, m.Q, m.ARED, m.FLOWS_ALONE)
    return Judgement(
        [Effect("time in the region before web traffic comes").of(share, least=100 - tolerance.value)],
        "Ten flows in congestion avoidance keep the queue near the middle of the region: its standard deviation is "
        f"{deviation:.1f} packets.",
    )


@claim("the queue length of Adaptive RED deviates dramatically from the desired region", "Section II, Fig. 1", "fig1")
@tolerance(10, "%", "dramatically: outside for a tenth of the time, twice what a queue may be that is in its region")
def thrown_by_web(time: Runs, *, tolerance: Tolerance) -> Judgement:
    """When web and CBR traffic come, Adaptive RED's queue deviates from the desired region, and dramatically."""
    outside = 100 - time.from_series(m.ARED, m.share_in(m.Q, m.BAND, *m.ALL_TRAFFIC), unit="%")
    return Judgement(
        [
            Effect(f"time outside the region after web traffic came{much}").of(outside, unit="%", least=least)
            for much, least in (("", IN_REGION.value), (", dramatically", tolerance.value))
        ],
        "Bursts of the web are faster than the averaged queue, and throw the queue out of the region. But Adaptive RED "
        f"brings it back soon: it is outside for {outside:.1f} % of the time.",
    )


@claim(
    "This over-reaction causes a great queue length variation and poor performance in packet delay and loss",
    "Section II, Fig. 1",
    "fig1",
)
@tolerance(replace(DOUBLED, reason="great: at least doubled; poor: by 5 % of a delay and 1 % of a loss"))
def great_variation(time: Runs, *, tolerance: Tolerance) -> Judgement:
    """Beside web traffic Adaptive RED's queue varies a lot more, and FTP's packets wait longer and are lost more."""
    swings, delays, losses = (
        [time.from_series(m.ARED, read(*period)) for period in (m.FLOWS_ALONE, m.ALL_TRAFFIC)]
        for read in (partial(m.spread_over, m.Q), partial(m.mean_over, "ftp.delay", scale=1e3), share_lost)
    )
    then = "after web traffic came"
    return Judgement(
        [
            Effect(f"standard deviation of the queue {then} / before").of(swings[1] / swings[0], least=tolerance.value),
            m.versus(f"delay of FTP {then} over that before", reversed(delays), "higher", thresholds.DELAY),
            m.versus(f"loss of FTP {then} over that before", reversed(losses), "higher", thresholds.LOSS),
        ],
        f"The deviation goes from {swings[0]:.2g} to {swings[1]:.2g} packets, FTP's delay from {delays[0]:.0f} to "
        f"{delays[1]:.0f} ms and its loss from {losses[0]:.2g} to {losses[1]:.2g} %. Adaptive RED holds the mean "
        "queue, and with it the delay, at the price of drops.",
    )


def share_lost(start: float, end: float) -> Callable[[polars.DataFrame], float]:
    """Create a reading of the share (%) of FTP's packets that is dropped between two times (s)."""

    def reading(frame: polars.DataFrame) -> float:
        found = m.between(frame, start, end)
        return 100 * float(found["ftp.drops"].sum()) / float(found["ftp.arrivals"].sum())

    return reading


def pace(start: float, end: float) -> Callable[[polars.DataFrame], float]:
    """Create a reading of how much p moves, up or down, in a second between two times (s)."""

    def reading(frame: polars.DataFrame) -> float:
        found = m.between(frame, start, end)
        step = float(found["t"][1] - found["t"][0])
        return float(found[m.P].diff().abs().mean()) / step  # type: ignore[arg-type]

    return reading


@claim("makes the Adaptive RED increase/decrease its dropping probability rapidly", "Section II", "fig1")
@tolerance(DOUBLED)
def over_reaction(time: Runs, *, tolerance: Tolerance) -> Judgement:
    """Beside web traffic Adaptive RED raises and lowers its drop probability rapidly."""
    before, after = (time.from_series(m.ARED, pace(*period)) for period in (m.FLOWS_ALONE, m.ALL_TRAFFIC))
    return Judgement(
        [Effect("movement of p in a second after web traffic came / before").of(after / before, least=tolerance.value)],
        f"In a second p moves by {before:.2g} on average before web traffic comes, and by {after:.2g} after it: p "
        "follows the averaged queue, which the bursts move.",
    )


@claim("This scheme prevents the over-reaction behavior of RED", "Section IV", "fig4")
@tolerance(50, "% of it", "an over-reaction is a movement that is doubled; prevented, it is halved")
def prevents_over_reaction(time: Runs, n: Runs | None = None, *, tolerance: Tolerance) -> Judgement:
    """RED+Tail prevents Adaptive RED's over-reaction: the long queue's drop probability moves far less."""
    ared = time.from_series(m.ARED, pace(*m.ALL_TRAFFIC))

    def less(runs: Runs, at: At, where: str) -> Check:
        pair = (runs.from_series(m.HERO, pace(*m.ALL_TRAFFIC), at), ared)
        return m.versus(f"movement of p in a second, RED+Tail over Adaptive RED{where}", pair, "lower", tolerance)

    return Judgement(
        [less(time, {}, "")],
        "The bursts take rate from the long queue, but few of their packets come to it. The fewer packets a "
        "connection has in the short queue at first (N, beside), the more web files reach the long one and move its p.",
        m.over_n(n, less),
    )


@claim(
    "the virtual queue length q2 is quite stable and stays in the desired region even after",
    "Section IV, Fig. 4",
    "fig4",
)
@tolerance(IN_REGION)
def steady_long_queue(time: Runs, n: Runs | None = None, *, tolerance: Tolerance) -> Judgement:
    """RED+Tail's long queue stays in the region beside web traffic."""

    def inside(runs: Runs, at: At, where: str) -> Check:
        share = runs.from_series(m.HERO, m.share_in(m.Q2, m.BAND, *m.ALL_TRAFFIC), at, unit="%")
        return Effect(f"time that the long queue is in the region{where}").of(share, least=100 - tolerance.value)

    return Judgement(
        [inside(time, {}, "")],
        "Bursts of the web change the long queue's rate, but few of their packets come to it. With a smaller N "
        "(beside) the rest of every larger web file comes to it as a burst.",
        m.over_n(n, inside),
    )


@claim(
    "the Adaptive RED queue has a small length variation",
    "Abstract, Sections I and IV, Figs. 1 and 4",
    "fig4 fig1 over-n",
)
@tolerance(thresholds.DEVIATION)
def steadier(web: Runs, n: Runs | None = None, *, tolerance: Tolerance) -> Judgement:
    """RED+Tail's long queue varies less than the one queue of Adaptive RED."""
    ared = web.per_seed("queue_std", m.ARED)

    def less(runs: Runs, at: At, where: str) -> Check:
        return Effect(f"standard deviation of the long queue over that of Adaptive RED's queue{where}").better(
            runs.per_seed(m.LONG + "queue_std", m.HERO, at), ared, "lower", tolerance
        )

    return Judgement(
        [less(web, {}, "")],
        f"The standard deviation of Adaptive RED's queue is {ared}, that of the long queue "
        f"{web.per_seed(m.LONG + 'queue_std', m.HERO)}. The larger N (beside), the fewer packets of web files reach "
        "the long queue.",
        m.over_n(n, less),
    )


@claim(
    "make FTP senders reduce flow rates automatically without shrinking their congestion window sizes",
    "Section III",
    "fig8",
)
@tolerance(
    10, "%", "the least printed difference that the text speaks of is 12 %; a window halved in a fifth of the flows"
)
def windows_hold(time: Runs, *, tolerance: Tolerance) -> Judgement:
    """Where short flows take its rate, FTP sends less without shrinking its windows."""
    sent, windows = (
        time.from_series(m.HERO, while_squeezed(value), unit="%")
        for value in (polars.col("ftp.arrivals"), outstanding())
    )
    then = "in the half seconds that leave FTP the least of the link, from the mean"
    return Judgement(
        [
            Effect(f"packets that FTP sends {then}").of(sent, most=-tolerance.value),
            Effect(f"packets that FTP has outstanding {then}").of(windows, least=-tolerance.value),
        ],
        "A smaller rate moves packets from the wire to the queue, and the windows hold both. When the burst has "
        "passed, the rate is back with the same windows.",
    )


def outstanding() -> polars.Expr:
    """Return FTP's packets in the queue, by Little's law, and on the wire; the long queue has the web's too."""
    return (polars.col("ftp.delay") + m.PROPAGATION) * polars.col("ftp.throughput") / (8 * m.FULL)


def while_squeezed(value: polars.Expr) -> Callable[[polars.DataFrame], float]:
    """Create a reading of the change (%) of a value from its mean, where the short queue has its greatest rate."""

    def reading(frame: polars.DataFrame) -> float:
        halves = m.between(frame, *m.ALL_TRAFFIC).group_by((polars.col("t") * 2).floor(), maintain_order=True)
        found = halves.agg(value.mean().alias("value"), polars.col("c1.mean").mean().alias("c1"))
        least = found.filter(polars.col("c1") >= 0.95 * polars.col("c1").max())
        return 100 * (float(least["value"].mean()) / float(found["value"].mean()) - 1)  # type: ignore[arg-type]

    return reading


@claim(
    "C1max preserves the minimum available bandwidth … to prevent FTP connections from timeout",
    "Section III",
    "over-c1max",
)
@tolerance(10, "% of it", "some hundred time-outs vary by as much from seed to seed")
def spares_timeouts(c1max: Runs, *, tolerance: Tolerance) -> Judgement:
    """C1max below C spares FTP time-outs."""
    count = {most: c1max.per_seed(m.of("FTP", "timeouts"), m.HERO, {m.C1_MAX: most}) for most in c1max.points(m.C1_MAX)}
    whole, chosen = count.pop(1.0), count[m.CHOSEN[m.C1_MAX]]
    first, *more = [
        Effect(f"time-outs of FTP over those with C1max = C, C1max = {most:g} C").better(
            count[most], whole, "lower", tolerance
        )
        for most in sorted(count, key=lambda most: most != m.CHOSEN[m.C1_MAX])
    ]
    return Judgement(
        [first],
        f"FTP has {chosen:.0f} time-outs with the calibrated C1max and {whole:.0f} with C1max = C, where a burst may "
        "stop the long queue altogether. Other values of C1max are beside.",
        more,
    )
