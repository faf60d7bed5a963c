"""What the RED+Tail paper claims of its two queues: sections II to IV and VI-A."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from aqmlab.papers import Check, Claim, Evidence, Judgement, Runs
from aqmlab.scenarios.redtail.readings import (
    ARED,
    BAND,
    DELAY,
    FULL,
    HERO,
    LONG,
    LOSS,
    RATE,
    RATE_BYTES,
    TABLE_3,
    TAIL,
    PerSeed,
    between,
    mean,
    of,
    over_series,
    per_seed,
    together,
)
from aqmlab.theory import redtail

if TYPE_CHECKING:
    import polars

FLOWS_ALONE = (20.0, 100.0)
ALL_TRAFFIC = (100.0, 500.0)
"""When the long flows are alone, and when there is web traffic too, in s."""

DEFAULT_N = 64.0
"""After how many packets a pair is long here, in packets; the paper does not say."""


def queue_over(name: str, start: float, end: float, read: Callable[[polars.Series], float]) -> Callable[..., float]:
    """Read a number from a queue's bins.

    Parameters
    ----------
    name : str
        The queue's column.
    start : float
        From when, in s.
    end : float
        Until when, in s.
    read : callable
        Takes the bins' means, in packets.

    Returns
    -------
    callable
        For `over_series`.
    """

    def told(frame: polars.DataFrame) -> float:
        return read(between(frame, start, end)[name])

    return told


def in_band(queue: polars.Series) -> float:
    """Tell for how much of the time a queue is between the thresholds of Table II, in percent."""
    return 100 * float(queue.is_between(*BAND).mean())  # type: ignore[arg-type]


def spread(queue: polars.Series) -> float:
    """Give the standard deviation of a queue, in packets."""
    return float(queue.std())  # type: ignore[arg-type]


def calm_alone(evidence: Evidence) -> Judgement:
    """Judge Adaptive RED's queue while only long flows send."""
    runs = evidence["time"]
    share = over_series(runs, ARED, queue_over("queue.mean", *FLOWS_ALONE, in_band))
    deviation = over_series(runs, ARED, queue_over("queue.mean", *FLOWS_ALONE, spread))
    checks = [
        # Works well: nearly always where it should be.
        Check.of("time in the band before web traffic comes", share.values(), unit="%", least=95),
    ]
    why = f"Ten flows that avoid congestion keep near the middle of the band: the standard deviation is {mean(deviation):.1f} packets."
    return Judgement(checks, why)


def thrown_by_web(evidence: Evidence) -> Judgement:
    """Judge what web traffic does to Adaptive RED's queue."""
    runs = evidence["time"]
    before = over_series(runs, ARED, queue_over("queue.mean", *FLOWS_ALONE, spread))
    after = over_series(runs, ARED, queue_over("queue.mean", *ALL_TRAFFIC, spread))
    share = over_series(runs, ARED, queue_over("queue.mean", *ALL_TRAFFIC, in_band))
    checks = [
        # Dramatically: at least twice the deviation, and outside for a tenth of the time or more.
        Check.of("standard deviation after web traffic came / before", together(_ratio, after, before), least=2),
        Check.of(
            "time outside the band after web traffic came", [100 - one for one in share.values()], unit="%", least=10
        ),
    ]
    why = (
        f"The standard deviation goes from {mean(before):.1f} to {mean(after):.1f} packets: web bursts are faster than the "
        f"averaged queue. The queue is in the band of 20 to 80 packets for {mean(share):.0f} % of the time all the same."
    )
    return Judgement(checks, why)


def steady_long_queue(evidence: Evidence) -> Judgement:
    """Judge the queue of long flows beside web traffic."""
    runs, web = evidence["time"], evidence["web"]
    q2 = "lane.long.queue.mean"
    share = over_series(runs, HERO, queue_over(q2, *ALL_TRAFFIC, in_band))
    own, ared = per_seed(web, LONG + "queue_std", HERO), per_seed(web, "queue_std", ARED)
    checks = [
        Check.of(
            "mean of the long queue",
            per_seed(web, LONG + "queue_mean", HERO).values(),
            unit="packets",
            least=20,
            most=80,
        ),
        Check.of("time that it is in the band", share.values(), unit="%", least=95),
        Check.of(
            "its standard deviation less that of Adaptive RED's queue",
            together(_less, own, ared),
            unit="packets",
            most=0,
        ),
    ]
    why = (
        f"Its mean is where it should be, but its rate is what short flows leave: it swings by {mean(own):.1f} packets "
        f"(standard deviation), Adaptive RED's single queue by {mean(ared):.1f}."
    )
    return Judgement(checks, why)


def _ratio(one: float, other: float) -> float:
    return one / other


def _less(one: float, other: float) -> float:
    return one - other


def _half(one: float, other: float) -> float:
    return one - other / 2


def short_loses_less(evidence: Evidence) -> Judgement:
    """Compare what web and CBR lose."""
    runs = evidence["web"]
    checks, told = [], []
    for owner in ("WEB", "CBR"):
        own = per_seed(runs, of(owner, LOSS), HERO, scale=100)
        told.append(f"{owner} loses {mean(own):.2f} %")
        for other in runs.others:
            theirs = per_seed(runs, of(owner, LOSS), other, scale=100)
            told.append(f"{mean(theirs):.2f} % with {other}")
            # "Great improvement": at most half. In print it is a quarter to a thirteenth.
            effect = f"loss of {owner}: {HERO} less half of {other}"
            checks.append(Check.of(effect, together(_half, own, theirs), unit="%", most=0))
    why = (
        f"{', '.join(told)}. Short flows are never dropped early, and while the long queue is kept near its thresholds "
        "the shared buffer has room for their bursts."
    )
    return Judgement(checks, why)


def long_pays(evidence: Evidence) -> Judgement:
    """Judge what long flows gain and pay."""
    runs = evidence["web"]
    loss = [per_seed(runs, of("FTP", LOSS), label, scale=100) for label in (HERO, ARED)]
    delay = [per_seed(runs, of("FTP", DELAY), label, scale=1000) for label in (HERO, ARED)]
    checks = [
        Check.of("loss of FTP less that with Adaptive RED", together(_less, *loss), unit="%", most=0),
        Check.of("delay of FTP less that with Adaptive RED", together(_less, *delay), unit="ms", least=0),
    ]
    why = (
        f"FTP loses {mean(loss[0]):.2f} % instead of {mean(loss[1]):.2f} % and waits {mean(delay[0]):.0f} ms instead of "
        f"{mean(delay[1]):.0f} ms: a queue of its own at a part of the rate is a longer round trip, so that fewer losses "
        "make the same rate (printed: 2.75 and 4.15 %, 184 and 143 ms)."
    )
    return Judgement(checks, why)


def total_loss(evidence: Evidence) -> Judgement:
    """Compare what all traffic loses."""
    runs = evidence["web"]
    own, ared = (per_seed(runs, LOSS, label, scale=100) for label in (HERO, ARED))
    # "Greatly": about half, as the sums of Table III's rows have it (2.1 of 4.3 %).
    checks = [
        Check.of(
            "loss of all traffic less 0.6 of that with Adaptive RED",
            together(lambda a, b: a - 0.6 * b, own, ared),
            unit="%",
            most=0,
        )
    ]
    return Judgement(checks, f"All traffic together loses {mean(own):.2f} % instead of {mean(ared):.2f} %.")


def short_waits_less(evidence: Evidence) -> Judgement:
    """Compare how long web and CBR wait."""
    runs = evidence["web"]
    checks, told = [], []
    for owner in ("WEB", "CBR"):
        own = per_seed(runs, of(owner, DELAY), HERO, scale=1000)
        told.append(f"{owner} waits {mean(own):.0f} ms")
        for other in runs.others:
            theirs = per_seed(runs, of(owner, DELAY), other, scale=1000)
            told.append(f"{mean(theirs):.0f} ms with {other}")
            checks.append(
                Check.of(f"delay of {owner} less that with {other}", together(_less, own, theirs), unit="ms", most=0)
            )
    why = f"{', '.join(told)}. RED+Tail cannot wait less than max_th1/C = 80 ms; web includes the packets of files that were sent to the long queue."
    return Judgement(checks, why)


def beyond_the_estimate(evidence: Evidence) -> Judgement:
    """Judge the mean delay of the short queue's traffic."""
    runs = evidence["web"]
    checks, told = [], []
    for owner in ("WEB", "CBR"):
        own = per_seed(runs, of(owner, DELAY), HERO, scale=1000)
        told.append(f"{owner} {mean(own):.0f} ms")
        checks.append(Check.of(f"delay of {owner}", own.values(), unit="ms", least=80))
        # "Around 110 ms": within 20 %.
        checks.append(Check.of(f"delay of {owner} against around 110 ms", own.values(), unit="ms", least=88, most=132))
    why = (
        f"{' and '.join(told)}. CBR sees only the short queue, which is rarely beyond max_th1, where C1 stops growing; with "
        "C1 at most half of C it would wait 105 ms (see the sensitivity table), so that the printed 109 ms suggest a lower "
        "bound of C1, which the paper does not print, than our 0.9 C."
    )
    return Judgement(checks, why)


def link_full(evidence: Evidence) -> Judgement:
    """Judge the utilisation, beside web traffic and with moving thresholds."""
    checks = [
        # 100 % as the paper rounds it.
        Check.of(
            f"utilisation with {label}, {where}",
            per_seed(evidence[name], "utilisation", label, scale=100).values(),
            unit="%",
            least=99.5,
        )
        for name, where in (("web", "web traffic"), ("dynamic", "FTP only"))
        for label in evidence[name].labels
        if label != TAIL
    ]
    return Judgement(checks, "Long flows have a packet waiting practically always, whichever queue the others are in.")


def rates_move(evidence: Evidence) -> Judgement:
    """Compare throughputs of RED+Tail and Adaptive RED."""
    runs = evidence["web"]

    def gain(owner: str) -> list[float]:
        own, ared = (per_seed(runs, of(owner, RATE), label) for label in (HERO, ARED))
        return together(lambda a, b: 100 * (a / b - 1), own, ared)

    checks = [
        # Slightly: less than 10 %; 3.7 % in print.
        Check.of("throughput of FTP, change from Adaptive RED", gain("FTP"), unit="%", least=-10, most=0),
        Check.of("throughput of web, change from Adaptive RED", gain("WEB"), unit="%", least=0),
        Check.of("throughput of CBR, change from Adaptive RED", gain("CBR"), unit="%", least=0),
    ]
    return Judgement(checks, "What web and CBR lose less of is sent; the link is full, so that FTP has this much less.")


def tail_as_lossy(evidence: Evidence) -> Judgement:
    """Compare the web's losses with drop-tail and Adaptive RED."""
    runs = evidence["web"]
    tail, ared = (per_seed(runs, of("WEB", LOSS), label, scale=100) for label in (TAIL, ARED))
    # Similar: within a third; 6 % apart in print.
    checks = [Check.of("loss of web, drop-tail / Adaptive RED", together(_ratio, tail, ared), least=0.75, most=4 / 3)]
    cbr = mean(per_seed(runs, of("CBR", LOSS), TAIL, scale=100))
    why = (
        f"{mean(tail):.2f} and {mean(ared):.2f} %. A full buffer takes from those who come in bursts: with drop-tail web "
        f"loses more than CBR ({cbr:.2f} %), with Adaptive RED as much as all."
    )
    return Judgement(checks, why)


def _times(evidence: Evidence, label: str) -> dict[float, PerSeed]:
    runs = evidence["files"]
    path = "traffic.file.size"
    return {size: per_seed(runs, of("file", "completion_time_mean"), label, {path: size}) for size in runs.points(path)}


def _alone(evidence: Evidence) -> dict[float, PerSeed]:
    runs, path = evidence["alone"], "traffic.file.size"
    return {
        size: per_seed(runs, of("file", "completion_time_mean"), "No other traffic", {path: size})
        for size in runs.points(path)
    }


def _factor(slow: dict[float, PerSeed], fast: dict[float, PerSeed]) -> list[float]:
    """Give of each seed the mean over the sizes of how many times longer it takes."""
    ratios = [together(_ratio, slow[size], fast[size]) for size in fast if size in slow]
    return [sum(own) / len(own) for own in zip(*ratios, strict=False)]


def files_as_alone(evidence: Evidence) -> Judgement:
    """Compare small files with RED+Tail to small files alone."""
    ours, alone = _times(evidence, HERO), _alone(evidence)
    first = min(ours)
    # Almost equal: at most a fifth longer.
    checks = [Check.of("delivery time with RED+Tail / alone, mean over sizes", _factor(ours, alone), most=1.2)]
    rtt, wait = 0.128, TABLE_3[HERO]["WEB"][1]
    why = (
        f"It cannot be: with the delay that Table III prints a round trip is {1000 * (rtt + wait):.0f} ms instead of 128, and "
        f"slow start takes so many of them. {first / 1000:.0f} kB without a loss take {mean(ours[first]):.2f} s instead of "
        f"{mean(alone[first]):.2f} s; files above {DEFAULT_N:.0f} packets also go through the long queue."
    )
    return Judgement(checks, why)


def files_against_the_old(evidence: Evidence) -> Judgement:
    """Compare delivery times with Adaptive RED and drop-tail."""
    ours, ared, tail = (_times(evidence, label) for label in (HERO, ARED, TAIL))
    checks = [
        # "Three times", "about 2.5 times": within a third.
        Check.of("delivery time with Adaptive RED / RED+Tail, mean over sizes", _factor(ared, ours), least=2, most=4),
        Check.of(
            "delivery time with drop-tail / Adaptive RED, mean over sizes",
            _factor(tail, ared),
            least=5 / 3,
            most=10 / 3,
        ),
    ]
    why = (
        "A packet lost early in a transfer is a time-out, or a small window; drop-tail has as many of them and a queue of "
        "more than twice the length."
    )
    return Judgement(checks, why)


def files_sooner(evidence: Evidence) -> Judgement:
    """Compare small files with RED+Tail and with the others."""
    runs = evidence["files"]
    ours = _times(evidence, HERO)
    checks = [
        Check.of(
            f"delivery time with {other} / RED+Tail, mean over sizes", _factor(_times(evidence, other), ours), least=1
        )
        for other in runs.others
    ]
    why = (
        "RED+Tail spares files of up to 64 packets all early drops, at the price of some 80 ms a round trip; a later "
        "discipline is sooner where a shorter queue makes up for its losses."
    )
    return Judgement(checks, why)


def false_alarms(evidence: Evidence) -> Judgement:
    """Judge how many web connections go to the long queue."""
    runs = evidence["web"]
    payload = DEFAULT_N * (FULL - 40)
    share = together(
        lambda lane, ftp, web: 100 * (lane - ftp) / web,
        per_seed(runs, LONG + "arrivals", HERO),
        per_seed(runs, of("FTP", "arrivals"), HERO),
        per_seed(runs, of("WEB", "arrivals"), HERO),
    )
    shown = sum(share) / len(share)
    checks = [Check.exact("files of more than 64 packets", 100 * float(redtail.longer_than(payload)), unit="%", most=2)]
    why = (
        "Exact for the paper's Pareto law, and from 47 packets on; the paper does not print its threshold. But these few "
        f"files are long: {shown:.0f} % of the web's packets go to the long queue."
    )
    return Judgement(checks, why)


def much_of_web_is_long(evidence: Evidence) -> Judgement:
    """Judge how many of the web's packets go to the long queue."""
    runs = evidence["web"]
    share = together(
        lambda lane, ftp, web: 100 * (lane - ftp) / web,
        per_seed(runs, LONG + "arrivals", HERO),
        per_seed(runs, of("FTP", "arrivals"), HERO),
        per_seed(runs, of("WEB", "arrivals"), HERO),
    )
    checks = [Check.of("packets of web that come to the long queue", share, unit="%", least=10)]
    why = (
        "Pareto's law with shape 1.3 has 28 % of its bytes beyond 64 packets of a file. So the web's losses in Table III "
        "are early drops of the long queue too, where the paper speaks of an overflow of the buffer only."
    )
    return Judgement(checks, why)


def bound(evidence: Evidence) -> Judgement:
    """Compare the delays of the short queue's traffic with max_th1 / C."""
    runs, path = evidence["maxth1"], "aqm.max_th1"
    checks, told = [], []
    for owner in ("CBR", "WEB"):
        ratios = []
        for size in runs.points(path):
            least = float(redtail.delay_bound(size, RATE_BYTES))
            ratios.append(per_seed(runs, of(owner, DELAY), HERO, {path: size}, 1 / least))
        told.append(f"{owner} from {min(map(mean, ratios)):.2f} to {max(map(mean, ratios)):.2f}")
        lowest = together(min, *ratios)
        average = together(lambda *own: sum(own) / len(own), *ratios)
        checks += [
            Check.of(f"delay of {owner} / (max_th1/C), the least over max_th1", lowest, least=1),
            # A good approximation, slightly above: a quarter. Table III has 1.36 at 30 kB.
            Check.of(f"delay of {owner} / (max_th1/C), mean over max_th1", average, most=1.25),
        ]
    why = (
        f"Delay over bound: {', '.join(told)}. With C1 = C q1/max_th1 a queue of any length takes max_th1/C to empty; web adds "
        "the packets that wait in the long queue, which weigh most where the bound is small."
    )
    return Judgement(checks, why)


def long_delay_flat(evidence: Evidence) -> Judgement:
    """Judge the delay of FTP over max_th1."""
    runs, path = evidence["maxth1"], "aqm.max_th1"
    delays = [per_seed(runs, of("FTP", DELAY), HERO, {path: size}, 1000) for size in runs.points(path)]
    relative = together(lambda *own: 100 * (max(own) - min(own)) / (sum(own) / len(own)), *delays)
    predicted = [
        (BAND[0] + BAND[1]) / 2 * FULL / (mean(per_seed(runs, of("FTP", RATE), HERO, {path: size})) / 8)
        for size in runs.points(path)
    ]
    against = together(
        lambda *own: sum(one / 1000 / q for one, q in zip(own, predicted, strict=True)) / len(own), *delays
    )
    checks = [
        # Almost a constant: within 15 % over a factor of eight.
        Check.of("delay of FTP, greatest less least over its mean", relative, unit="%", most=15),
        Check.of("delay of FTP / (50 kB / its rate), mean over max_th1", against, least=0.8, most=1.2),
    ]
    why = (
        f"From {min(map(mean, delays)):.0f} to {max(map(mean, delays)):.0f} ms. The long queue also has web packets, so "
        "that its rate is more than that of FTP alone."
    )
    return Judgement(checks, why)


def short_varies_little(evidence: Evidence) -> Judgement:
    """Compare how much the delays spread."""
    runs, path = evidence["maxth1"], "aqm.max_th1"
    points = runs.points(path)

    def width(owner: str, size: float) -> PerSeed:
        high, middle = (per_seed(runs, of(owner, f"queue_delay_{q}"), HERO, {path: size}, 1000) for q in ("p95", "p50"))
        return {seed: high[seed] - middle[seed] for seed in high}

    cbr, ftp = ([width(owner, size) for size in points] for owner in ("CBR", "FTP"))
    ratios = together(
        lambda *own: sum(a / b for a, b in zip(own[: len(points)], own[len(points) :], strict=True)) / len(points),
        *cbr,
        *ftp,
    )
    checks = [
        # Very small: a quarter of the long queue's.
        Check.of("spread (95th percentile less median) of CBR / of FTP, mean over max_th1", ratios, most=0.25),
        Check.of(
            "spread of FTP at the least max_th1 less at the greatest",
            together(_less, ftp[0], ftp[-1]),
            unit="ms",
            least=0,
        ),
    ]
    why = (
        f"CBR's delay spreads by {mean(cbr[0]):.0f} to {mean(cbr[-1]):.0f} ms, that of FTP by {mean(ftp[0]):.0f} to "
        f"{mean(ftp[-1]):.0f} ms: the long queue's rate is what the short one leaves, and a small max_th1 lets it take more at once."
    )
    return Judgement(checks, why)


WEB_NEEDS = ("web",)

CLAIMS = (
    Claim(
        name="calm-alone",
        text="With long flows alone Adaptive RED keeps its queue in the desired band.",
        where="Section II, Fig. 1",
        judge=calm_alone,
        needs=["time"],
        shown=["fig1"],
    ),
    Claim(
        name="thrown-by-web",
        text="When web and CBR traffic come, its queue leaves the band dramatically.",
        where="Section II, Fig. 1",
        judge=thrown_by_web,
        needs=["time"],
        shown=["fig1"],
    ),
    Claim(
        name="false-alarms",
        text="Fewer than 2 % of the short connections are taken for long ones.",
        where="Section III",
        judge=false_alarms,
        needs=WEB_NEEDS,
        shown=["table3"],
    ),
    Claim(
        name="steady-long-queue",
        text="With RED+Tail the queue of long flows stays in the band beside web traffic, and varies less than Adaptive RED's.",
        where="Section IV, Fig. 4",
        judge=steady_long_queue,
        needs=["time", "web"],
        shown=["fig4", "fig1"],
    ),
    Claim(
        name="short-loses-less",
        text="Web and CBR lose far less with RED+Tail: 1.28 instead of 4.51 %, and 0.30 instead of 3.95 %.",
        where="Section IV, Fig. 5, Table III",
        judge=short_loses_less,
        needs=WEB_NEEDS,
        shown=["fig5", "table3"],
        sensitive=True,
        comparative=True,
    ),
    Claim(
        name="total-loss",
        text="RED+Tail greatly reduces the loss of all traffic together.",
        where="Section I, Section VII",
        judge=total_loss,
        needs=WEB_NEEDS,
        shown=["table3"],
    ),
    Claim(
        name="long-pays",
        text="FTP loses less too (2.75 instead of 4.15 %), and pays with a longer delay.",
        where="Section IV, Table III",
        judge=long_pays,
        needs=WEB_NEEDS,
        shown=["fig6", "table3"],
        sensitive=True,
    ),
    Claim(
        name="short-waits-less",
        text="Web and CBR packets wait less with RED+Tail.",
        where="Section IV, Fig. 6, Table III",
        judge=short_waits_less,
        needs=WEB_NEEDS,
        shown=["fig6", "table3"],
        sensitive=True,
        comparative=True,
    ),
    Claim(
        name="beyond-the-estimate",
        text="They wait longer than max_th1/C = 80 ms: around 110 ms.",
        where="Section IV",
        judge=beyond_the_estimate,
        needs=WEB_NEEDS,
        shown=["fig6", "table3"],
        sensitive=True,
    ),
    Claim(
        name="link-full",
        text="The link is used to 100 %: with RED+Tail, with Adaptive RED, and with thresholds that move.",
        where="Sections III to V, Figs. 7, 8 and 10",
        judge=link_full,
        needs=["web", "dynamic"],
        shown=["fig7", "fig8", "fig10"],
    ),
    Claim(
        name="rates-move",
        text="FTP's throughput is slightly smaller with RED+Tail, that of web and CBR is not.",
        where="Section IV, Figs. 7 and 8, Table III",
        judge=rates_move,
        needs=WEB_NEEDS,
        shown=["fig7", "fig8", "table3"],
    ),
    Claim(
        name="tail-as-lossy",
        text="Web loses about as much with drop-tail as with Adaptive RED.",
        where="Section IV",
        judge=tail_as_lossy,
        needs=WEB_NEEDS,
        shown=["table3"],
    ),
    Claim(
        name="files-as-alone",
        text="Small files take almost as long with RED+Tail as on a link without loss.",
        where="Section IV, Fig. 9",
        judge=files_as_alone,
        needs=["files", "alone"],
        shown=["fig9"],
    ),
    Claim(
        name="files-against-the-old",
        text="They take three times longer with Adaptive RED, and about 2.5 times longer still with drop-tail.",
        where="Section IV, Fig. 9",
        judge=files_against_the_old,
        needs=["files"],
        shown=["fig9"],
    ),
    Claim(
        name="files-sooner",
        text="Small files are delivered sooner with RED+Tail than with the others.",
        where="Abstract, Section IV, Fig. 9",
        judge=files_sooner,
        needs=["files"],
        shown=["fig9"],
        sensitive=True,
        comparative=True,
    ),
    Claim(
        name="bound",
        text="max_th1/C is a lower bound of the mean delay in the short queue, and close to it.",
        where="Section VI-A, Fig. 16",
        judge=bound,
        needs=["maxth1"],
        shown=["fig16"],
    ),
    Claim(
        name="long-delay-flat",
        text="The delay of FTP hardly depends on max_th1, and is about the middle of the band over its rate.",
        where="Section VI-A, Fig. 16",
        judge=long_delay_flat,
        needs=["maxth1"],
        shown=["fig16"],
    ),
    Claim(
        name="short-varies-little",
        text="Delay varies very little in the short queue, and in the long one slightly more with a smaller max_th1.",
        where="Section VI-A, Fig. 16",
        judge=short_varies_little,
        needs=["maxth1"],
        shown=["fig16"],
    ),
    Claim(
        name="much-of-web-is-long",
        text="A good part of the web's packets go through the queue of long flows.",
        where="ours",
        judge=much_of_web_is_long,
        needs=WEB_NEEDS,
        shown=["table3"],
        beyond=True,
    ),
)
