"""Claims on the queue of short flows over max_th1: section VI-A (Fig. 16)."""

import polars

from aqmlab_papers import At, Check, Effect, Judgement, PerSeed, Runs, Tolerance, claim, tolerance
from aqmlab_papers.describe.thresholds import DELAY
from aqmlab_papers.redtail import measures as m

CHOSEN_MAX_TH1 = 30e3
"""max_th1 in Table II (bytes)."""


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


@claim(
    "maxth1/C is a lower bound of the average queuing delay at the drop-tail queue",
    "Section VI-A",
    "fig16",
    arithmetic=True,
)
@tolerance(0, "", "a bound")
def bound_below(equation_1: Runs, *, tolerance: Tolerance) -> Judgement:
    """By eq. (1) max_th1/C is a lower bound of the mean delay."""
    *owners, queue = [
        Effect(f"delay of {name} / (max_th1/C), the least over max_th1").of(
            PerSeed.least(m.over_bound(equation_1, metric, m.HERO)), least=1 - tolerance.value
        )
        for name, metric in _traffic().items()
    ]
    return Judgement(
        [queue],
        "C1 is never more than q1 C/max_th1, so that the queue's mean throughput is at most its mean length times "
        "C/max_th1. By Little's law the mean delay is the length over the throughput, and so max_th1/C or more.",
        owners,
    )


@claim("The simple lower bound … is seen to provide a good approximation", "Section VI-A, Fig. 16", "fig16")
@tolerance(25, "% of it", "Table III has 36 % for CBR, which the text calls larger than expected")
def bound_near(maxth1: Runs, equation_1: Runs, *, tolerance: Tolerance) -> Judgement:
    """max_th1/C is a good approximation of the mean delay of CBR and web."""

    def near(runs: Runs, where: str) -> list[Check]:
        return [
            m.around(f"delay of {name} / (max_th1/C), max_th1 = {size / 1e3:g} kB{where}", ratio, 1, tolerance)
            for name in ("CBR", "WEB")
            for size, ratio in zip(runs.points(m.MAX_TH1), m.over_bound(runs, _traffic()[name], m.HERO), strict=True)
        ]

    return Judgement(
        [*near(maxth1, ""), *near(equation_1, ", C1min = 0, C1max = C")],
        f"{m.NO_C1_MAX} With the calibrated one no part holds, as what a burst brings beyond C1max waits, however "
        "small max_th1 is; with C all do but those at 10 kB, as it waits only if the queue is beyond max_th1. WEB's "
        "packets are those in the short queue, as in the figure.",
    )


@claim("almost a constant even when maxth1 is decreasing", "Section VI-A, Fig. 16", "fig16")
@tolerance(DELAY.value, "%", f"'almost': {DELAY.reason}")
def long_delay_flat(maxth1: Runs, equation_1: Runs, *, tolerance: Tolerance) -> Judgement:
    """The delay of FTP hardly depends on max_th1."""
    checks, found = [], []
    for where, runs in _figure_16(maxth1, equation_1).items():
        delays = [runs.per_seed(m.of("FTP", m.DELAY), m.HERO, {m.MAX_TH1: size}) for size in runs.points(m.MAX_TH1)]
        spread = 100 * ((PerSeed.most(delays) - PerSeed.least(delays)) / PerSeed.average(delays))
        effect = f"delay of FTP, greatest minus least over its mean{where}"
        checks.append(Effect(effect).of(spread, unit="%", most=tolerance.value))
        found.append(f"from {min(one.mean for one in delays):.0f} to {max(one.mean for one in delays):.0f} ms")
    return Judgement(
        checks,
        f"{m.NO_C1_MAX} Over max_th1 FTP's mean delay is {found[0]} with the first, and {found[1]} with the second. It "
        "is the long queue over what short flows leave of the link, and they leave as much whatever max_th1 is.",
    )


@claim("the mean delay at the Adaptive RED queue is around q2/C2", "Section VI-A", "fig16")
@tolerance(20, "% of it", "'around', as for the 110 ms of section IV")
def middle_over_rate(maxth1: Runs, equation_1: Runs, *, tolerance: Tolerance) -> Judgement:
    """The mean delay of FTP is about the middle of the long queue's region over the mean rate of that queue."""
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
    return Judgement(
        checks, f"{m.NO_C1_MAX} It is Little's law for a queue that Adaptive RED keeps near the middle of its region."
    )


@claim("the drop-tail queue has a very small delay variance", "Section VI-A, Fig. 16", "fig16")
@tolerance(50, "% of it", "very small: less than half of FTP's deviation, which is a quarter of its variance")
def short_varies_little(maxth1: Runs, equation_1: Runs, *, tolerance: Tolerance) -> Judgement:
    """The delay in the short queue varies very little, compared with that of FTP."""

    def tail(runs: Runs, owner: str, at: At) -> PerSeed:
        high, middle = (runs.per_seed(f"{owner}queue_delay_{part}", m.HERO, at) for part in ("p95", "p50"))
        return high - middle

    checks, beside = [], []
    for where, runs in _figure_16(maxth1, equation_1).items():
        for size in runs.points(m.MAX_TH1):
            at, place = {m.MAX_TH1: size}, f"max_th1 = {size / 1e3:g} kB{where}"
            deviations = (m.deviation(runs, owner, m.HERO, at) for owner in ("CBR", "FTP"))
            checks.append(
                m.versus(f"deviation of the delay of CBR over FTP's, {place}", deviations, "lower", tolerance)
            )
            effect = f"95th percentile less median of the delay in the short queue over FTP's, {place}"
            tails = (tail(runs, owner, at) for owner in (m.SHORT, m.of("FTP", "")))
            beside.append(m.versus(effect, tails, "lower", tolerance))
    return Judgement(
        checks,
        f"{m.NO_C1_MAX} With C all parts hold and with the calibrated one, whose mean delays are above the printed "
        "ones too, none: the longer the short queue, the faster it is served, but only up to C1max. The packets of "
        "CBR show it, as they all have one path; of all packets of the queue only percentiles are recorded (beside).",
        beside,
    )


@claim("the delay variance at the Adaptive RED queue is slightly increased", "Section VI-A, Fig. 16", "fig16")
@tolerance(m.SLIGHTLY)
def long_varies_more(maxth1: Runs, equation_1: Runs, *, tolerance: Tolerance) -> Judgement:
    """The variance of FTP's delay is slightly larger with a smaller max_th1."""
    checks, found = [], []
    for where, runs in _figure_16(maxth1, equation_1).items():
        points = runs.points(m.MAX_TH1)
        small, great = (
            m.deviation(runs, "FTP", m.HERO, {m.MAX_TH1: size}).to("ms") for size in (points[0], points[-1])
        )
        effect = f"variance of FTP's delay at the least max_th1 over that at the greatest{where}"
        checks.append(Effect(effect).excess(small * small, great * great, least=DELAY.value))
        checks.append(Effect(f"{effect}, slightly").excess(small * small, great * great, most=tolerance.value))
        found.append(f"{small:.0f} instead of {great:.0f} ms")
    return Judgement(
        checks,
        f"{m.NO_C1_MAX} It decides how much the variance grows: the standard deviation is {found[0]} with the first, "
        f"and with the second {found[1]}, which is no slight increase. The "
        "smaller max_th1, the more of the rate the short queue takes at once, but "
        "no more than C1max.",
    )


@claim(
    "The delay and loss at the drop-tail queue can be improved by … using a more aggressive bandwidth allocation "
    "policy (smaller maxth1)",
    "Section V; of the delay also section IV",
    "fig16 room",
)
@tolerance(m.BOTH)
def smaller_max_th1(maxth1: Runs, room: Runs) -> Judgement:
    """With moving thresholds a max_th1 below that of Table II improves the short queue's delay and its loss."""
    buffer = "dumbbell.buffer"
    delay, loss, *fixed = [
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
        [delay, loss],
        "A short queue that is served sooner is shorter, and leaves room in the shared buffer. Whether the loss falls "
        "by 1 % or more is open, as what comes faster than C1max fills the buffer whatever max_th1 is. The sentence "
        "stands in section V, on moving thresholds; fixed ones are beside.",
        fixed,
    )


@claim(
    "the mean packet delay requirements at both queues can be satisfied by properly designing the values",
    "Section VI-A",
    "targets",
)
@tolerance(0, "", "a requirement is an upper bound of a mean delay; the paper's only numbers are taken for two")
def delay_targets(targets: Runs, maxth1: Runs, equation_1: Runs, *, tolerance: Tolerance) -> Judgement:
    """Mean delays of 80 ms in the short queue and of 184 ms in the long one can be had by choice of the thresholds."""

    def least(runs: Runs, lane: str, label: str) -> PerSeed:
        return PerSeed.least(runs.per_seed(lane + m.DELAY, label, {m.MAX_TH1: one}) for one in runs.points(m.MAX_TH1))

    def short(bound: float) -> list[Check]:
        return [
            Effect(f"least delay of the short queue over max_th1{where}, required: {bound:g} ms").of(
                least(runs, m.SHORT, m.HERO), most=bound + tolerance.value
            )
            for where, runs in _figure_16(maxth1, equation_1).items()
        ]

    required = m.TABLE_3[m.HERO]["FTP"][1]
    long = Effect(f"least delay of the long queue over its thresholds, required: {required} ms").of(
        PerSeed.least(least(targets, m.LONG, label) for label in targets.labels), most=required + tolerance.value
    )
    return Judgement(
        [*short(m.bound(CHOSEN_MAX_TH1)), long],
        f"{m.NO_C1_MAX} With the calibrated one bursts of the web wait for half of the link, so that no max_th1 makes "
        f"the short queue's mean less than {least(maxth1, m.SHORT, m.HERO):.0f} ms; with C it follows max_th1/C. "
        "Required are the 80 ms that section IV gives as an example and FTP's 184 ms of Table III; others are beside.",
        [*short(40), *short(120)],
    )
