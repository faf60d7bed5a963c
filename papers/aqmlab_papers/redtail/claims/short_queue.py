"""Claims on the queue of short flows over max_th1: section VI-A (Fig. 16)."""

import polars

from aqmlab_papers import At, Check, Effect, Judgement, PerSeed, Runs, Tolerance, claim, tolerance
from aqmlab_papers.redtail import measures as m

CHOSEN_MAX_TH1 = 30e3
"""max_th1 in Table II (bytes)."""
_UNSTATED = "The paper does not print C1max: both the calibrated one and C, which its analysis has, are judged."


def web_in_short() -> polars.Expr:
    """Return the mean delay of WEB's packets in the short queue (ms): of all there but CBR's.

    Packets of files that have turned long wait in the other queue.
    """

    def waits(owner: str) -> tuple[polars.Expr, polars.Expr]:
        sent = polars.col(owner + "arrivals") * (1 - polars.col(owner + m.LOSS))
        return sent, sent * polars.col(owner + m.DELAY)

    (every, all_wait), (cbr, cbr_waits) = waits(m.SHORT), waits(m.of("CBR", ""))
    return 1e3 * (all_wait - cbr_waits) / (every - cbr)


def _traffic() -> dict[str, str | polars.Expr]:
    """Return the delays at the short queue, by whose they are."""
    return {"CBR": m.of("CBR", m.DELAY), "WEB": web_in_short(), "the short queue": m.SHORT + m.DELAY}


def _figure_16(maxth1: Runs, equation_1: Runs) -> dict[str, Runs]:
    """Return the runs that may be those of Fig. 16, by the words for their C1max."""
    return {"": maxth1, ", C1max = C": equation_1}


@claim("maxth1/C is a lower bound of the average queuing delay at the drop-tail queue", "Section VI-A", "fig16")
@tolerance(0, "", "a bound")
def bound_below(equation_1: Runs, *, tolerance: Tolerance) -> Judgement:
    """By eq. (1) max_th1/C is a lower bound of the mean delay."""
    checks = [
        Effect(f"delay of {name} / (max_th1/C), the least over max_th1").of(
            PerSeed.least(m.over_bound(equation_1, metric, m.HERO)), least=1 - tolerance.value
        )
        for name, metric in _traffic().items()
    ]
    return Judgement(
        checks,
        "C1 is never more than q1 C/max_th1, so that the mean throughput of the queue is at most its mean length times "
        "C/max_th1; by Little's law, the mean delay, length over throughput, is then max_th1/C or more.",
    )


@claim("The simple lower bound … is seen to provide a good approximation", "Section VI-A, Fig. 16", "fig16")
@tolerance(25, "% of it", "Table III has 36 % for CBR, which the text calls larger than expected")
def bound_near(maxth1: Runs, equation_1: Runs, *, tolerance: Tolerance) -> Judgement:
    """It is a good approximation of CBR's and web's delay."""

    def near(runs: Runs, where: str) -> list[Check]:
        return [
            m.around(f"delay of {name} / (max_th1/C), max_th1 = {size / 1e3:g} kB{where}", ratio, 1, tolerance)
            for name in ("CBR", "WEB")
            for size, ratio in zip(runs.points(m.MAX_TH1), m.over_bound(runs, _traffic()[name], m.HERO), strict=True)
        ]

    return Judgement(
        [*near(maxth1, ""), *near(equation_1, ", C1min = 0, C1max = C")],
        "The paper does not print C1max. What a burst brings beyond it waits, however small max_th1 is; with C1min = 0 "
        "and C1max = C, as in eq. (1), only what is beyond max_th1 does. WEB's are its packets in the short queue, as "
        "in the figure.",
    )


@claim("almost a constant even when maxth1 is decreasing", "Section VI-A, Fig. 16", "fig16")
@tolerance(15, "%", "half of what the text calls a longer delay, 184 ms after 143")
def long_delay_flat(maxth1: Runs, equation_1: Runs, *, tolerance: Tolerance) -> Judgement:
    """The delay of FTP hardly depends on max_th1."""
    checks, found = [], []
    for where, runs in _figure_16(maxth1, equation_1).items():
        delays = [runs.per_seed(m.of("FTP", m.DELAY), m.HERO, {m.MAX_TH1: size}) for size in runs.points(m.MAX_TH1)]
        spread = 100 * ((PerSeed.most(delays) - PerSeed.least(delays)) / PerSeed.average(delays))
        effect = f"delay of FTP, greatest minus least over its mean{where}"
        checks.append(Effect(effect).of(spread, unit="%", most=tolerance.value))
        found.append(f"from {min(one.mean for one in delays):.0f} to {max(one.mean for one in delays):.0f} ms{where}")
    return Judgement(checks, f"{_UNSTATED} It is {'; '.join(found)}.")


@claim("the mean delay at the Adaptive RED queue is around q2/C2", "Section VI-A", "fig16")
@tolerance(20, "% of it", "'around', as for the 110 ms of section IV")
def middle_over_rate(maxth1: Runs, equation_1: Runs, *, tolerance: Tolerance) -> Judgement:
    """It is about the middle of the region over the long queue's rate."""
    middle = sum(m.BAND) / 2
    checks = []
    for where, runs in _figure_16(maxth1, equation_1).items():
        for size in runs.points(m.MAX_TH1):
            delay = runs.per_seed(m.of("FTP", m.DELAY), m.HERO, {m.MAX_TH1: size})
            rate = runs.per_seed(m.LONG + m.RATE, m.HERO, {m.MAX_TH1: size}, unit="kB/s")
            checks.append(
                Effect(f"delay of FTP over q2/C2, max_th1 = {size / 1e3:g} kB{where}").better(
                    delay, (1e3 * middle / rate).called("", "ms"), "equal", tolerance
                )
            )
    return Judgement(checks, f"{_UNSTATED} Little's law, with a queue that Adaptive RED keeps near its middle.")


@claim("the drop-tail queue has a very small delay variance", "Section VI-A, Fig. 16", "fig16")
@tolerance(50, "% of it", "very small: a deviation of less than half of FTP's")
def short_varies_little(maxth1: Runs, equation_1: Runs, *, tolerance: Tolerance) -> Judgement:
    """Delay varies very little in the short queue: of CBR's packets, and of all."""

    def tail(runs: Runs, owner: str, at: At) -> PerSeed:
        high, middle = (runs.per_seed(f"{owner}queue_delay_{part}", m.HERO, at) for part in ("p95", "p50"))
        return high - middle

    checks = []
    for where, runs in _figure_16(maxth1, equation_1).items():
        for size in runs.points(m.MAX_TH1):
            at, place = {m.MAX_TH1: size}, f"max_th1 = {size / 1e3:g} kB{where}"
            checks += [
                m.versus(f"{effect} over FTP's, {place}", pair, "lower", tolerance)
                for effect, pair in (
                    (
                        "deviation of the delay of CBR",
                        (m.deviation(runs, owner, m.HERO, at) for owner in ("CBR", "FTP")),
                    ),
                    (
                        "95th percentile less median of the delay in the short queue",
                        (tail(runs, owner, at) for owner in (m.SHORT, m.of("FTP", ""))),
                    ),
                )
            ]
    return Judgement(
        checks,
        f"{_UNSTATED} The longer the short queue, the faster it is served, but only up to C1max: beyond it the delay "
        "grows with the burst. CBR's deviation is that of packets at equal distances; of all packets, of which bursts "
        "have most, percentiles are recorded.",
    )


@claim("the delay variance at the Adaptive RED queue is slightly increased", "Section VI-A, Fig. 16", "fig16")
@tolerance(5, "%", "less is no increase; more than half is not slight")
def long_varies_more(maxth1: Runs, equation_1: Runs, *, tolerance: Tolerance) -> Judgement:
    """FTP's varies slightly more with a smaller max_th1."""
    checks, found = [], []
    for where, runs in _figure_16(maxth1, equation_1).items():
        points = runs.points(m.MAX_TH1)
        small, great = (
            m.deviation(runs, "FTP", m.HERO, {m.MAX_TH1: size}).to("ms") for size in (points[0], points[-1])
        )
        checks.append(
            Effect(f"deviation of FTP's delay at the least max_th1 over that at the greatest{where}").of(
                100 * (small / great - 1), unit="%", least=tolerance.value, most=50
            )
        )
        found.append(f"{small} and {great}{where}")
    return Judgement(
        checks, f"{_UNSTATED} {'; '.join(found)}: a small max_th1 lets the short queue take more of the rate at once."
    )


@claim(
    "The delay and loss at the drop-tail queue can be improved by … using a more aggressive bandwidth allocation "
    "policy (smaller maxth1)",
    "Section V; of the delay also section IV",
    "fig16 room",
)
@tolerance(m.BOTH)
def smaller_max_th1(maxth1: Runs, room: Runs) -> Judgement:
    """A max_th1 below that of Table II improves delay and loss of the short flows."""
    buffer = "dumbbell.buffer"
    checks = [
        m.versus(
            f"{name} of the short queue, max_th1 of {runs.points(m.MAX_TH1)[0] / 1e3:g} over 30 kB, {thresholds}",
            (
                runs.per_seed(m.SHORT + metric, label, {**at, m.MAX_TH1: size})
                for size in (runs.points(m.MAX_TH1)[0], CHOSEN_MAX_TH1)
            ),
            "lower",
            m.COUNTS[metric],
        )
        for runs, label, at, thresholds in (
            (room, m.DYNAMIC, {buffer: room.points(buffer)[0]}, "moving thresholds"),
            (maxth1, m.HERO, {}, "fixed thresholds"),
        )
        for metric, name in ((m.DELAY, "delay"), (m.LOSS, "loss"))
    ]
    return Judgement(
        checks, "A short queue that is served sooner leaves room in the shared buffer. Section V has moving thresholds."
    )


@claim(
    "the mean packet delay requirements at both queues can be satisfied by properly designing the values",
    "Section VI-A",
    "targets",
)
@tolerance(0, "", "a requirement is an upper bound of a mean delay")
def delay_targets(targets: Runs, maxth1: Runs, equation_1: Runs, *, tolerance: Tolerance) -> Judgement:
    """Mean delays of 40 to 120 ms in the short queue and of 160 ms in the long one can be had by their thresholds."""

    def least(runs: Runs, lane: str, label: str) -> PerSeed:
        return PerSeed.least(runs.per_seed(lane + m.DELAY, label, {m.MAX_TH1: one}) for one in runs.points(m.MAX_TH1))

    checks = [
        Effect(f"least delay of the short queue over max_th1, C1max = {share}, required: {bound} ms").of(
            least(runs, m.SHORT, m.HERO), most=bound + tolerance.value
        )
        for share, runs in ((f"{m.CHOSEN[m.C1_MAX]:g} C", maxth1), ("C", equation_1))
        for bound in (40, 80, 120)
    ]
    long = PerSeed.least(least(targets, m.LONG, label) for label in targets.labels)
    checks.append(
        Effect("least delay of the long queue over its thresholds, required: 160 ms").of(
            long, most=160 + tolerance.value
        )
    )
    short = least(maxth1, m.SHORT, m.HERO)
    return Judgement(
        checks,
        f"{_UNSTATED} With the fitted one bursts of the web wait for half of the link, and no max_th1 makes the short "
        f"queue's mean less than {short:.0f} ms; with C1max = C it follows max_th1/C.",
    )
