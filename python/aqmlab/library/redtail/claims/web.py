"""Claims on the two queues beside web traffic: sections II to IV (Figs. 1 and 4 to 8, Table III)."""

from __future__ import annotations

from collections.abc import Callable
from operator import sub, truediv
from typing import TYPE_CHECKING

from aqmlab.library.redtail.measures import (
    ARED,
    BAND,
    DELAY,
    HERO,
    LONG,
    LOSS,
    RATE,
    SHORT,
    TAIL,
    between,
    of,
    over_series,
    per_seed,
)
from aqmlab.papers import Check, Claim, Evidence, Judgement
from aqmlab.papers.run.seeds import mean, paired

if TYPE_CHECKING:
    import polars

FLOWS_ALONE = (20.0, 100.0)
ALL_TRAFFIC = (100.0, 500.0)
"""The periods with long flows alone, and with web traffic too (s)."""


def queue_over(name: str, start: float, end: float, read: Callable[[polars.Series], float]) -> Callable[..., float]:
    """Create a reading of a queue's bins between two times (s), for `over_series`.

    ``read`` receives the bins' means (packets).
    """

    def reading(frame: polars.DataFrame) -> float:
        return read(between(frame, start, end)[name])

    return reading


def in_band(queue: polars.Series) -> float:
    """Return the share of time that a queue is between the thresholds of Table II (%)."""
    return 100 * float(queue.is_between(*BAND).mean())  # type: ignore[arg-type]


def spread(queue: polars.Series) -> float:
    """Return the standard deviation of a queue (packets)."""
    return float(queue.std())  # type: ignore[arg-type]


def calm_alone(evidence: Evidence) -> Judgement:
    """Judge Adaptive RED's queue while only long flows send."""
    runs = evidence["time"]
    share = over_series(runs, ARED, queue_over("queue.mean", *FLOWS_ALONE, in_band))
    deviation = over_series(runs, ARED, queue_over("queue.mean", *FLOWS_ALONE, spread))
    checks = [
        # "Works well": nearly always in the band.
        Check.of("time in the band before web traffic comes", share.values(), unit="%", least=95),
    ]
    why = (
        "Ten flows that avoid congestion keep near the middle of the band: the standard deviation is "
        f"{mean(deviation):.1f} packets."
    )
    return Judgement(checks, why)


def thrown_by_web(evidence: Evidence) -> Judgement:
    """Judge the effect of web traffic on Adaptive RED's queue."""
    runs = evidence["time"]
    before = over_series(runs, ARED, queue_over("queue.mean", *FLOWS_ALONE, spread))
    after = over_series(runs, ARED, queue_over("queue.mean", *ALL_TRAFFIC, spread))
    share = over_series(runs, ARED, queue_over("queue.mean", *ALL_TRAFFIC, in_band))
    checks = [
        # "Dramatically": at least twice the deviation, and outside for a tenth of the time or more.
        Check.of("standard deviation after web traffic came / before", paired(truediv, after, before), least=2),
        Check.of(
            "time outside the band after web traffic came", [100 - one for one in share.values()], unit="%", least=10
        ),
    ]
    why = (
        f"The standard deviation goes from {mean(before):.1f} to {mean(after):.1f} packets: web bursts are faster than "
        f"the averaged queue. The queue is in the band of 20 to 80 packets for {mean(share):.0f} % of the time all the "
        "same."
    )
    return Judgement(checks, why)


def steady_long_queue(evidence: Evidence) -> Judgement:
    """Judge the queue of long flows beside web traffic."""
    runs, web = evidence["time"], evidence["web"]
    q2 = "lane.long.queue.mean"
    share = over_series(runs, HERO, queue_over(q2, *ALL_TRAFFIC, in_band))
    hero, ared = per_seed(web, LONG + "queue_std", HERO), per_seed(web, "queue_std", ARED)
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
            "its standard deviation minus that of Adaptive RED's queue",
            paired(sub, hero, ared),
            unit="packets",
            most=0,
        ),
    ]
    why = (
        f"Its rate is what short flows leave: it swings by {mean(hero):.1f} packets (standard deviation), Adaptive "
        f"RED's single queue by {mean(ared):.1f}. It is in the band for {mean(share):.0f} % of the time."
    )
    return Judgement(checks, why)


def short_loses_less(evidence: Evidence) -> Judgement:
    """Compare the losses of web and CBR."""
    runs = evidence["web"]
    checks, texts = [], []
    for owner in ("WEB", "CBR"):
        hero = per_seed(runs, of(owner, LOSS), HERO, scale=100)
        texts.append(f"{owner} loses {mean(hero):.2f} %")
        for other in runs.others:
            theirs = per_seed(runs, of(owner, LOSS), other, scale=100)
            texts.append(f"{mean(theirs):.2f} % with {other}")
            # "Great improvement": at most half. In print it is a quarter to a thirteenth.
            effect = f"loss of {owner}: {HERO} minus half of {other}"
            checks.append(Check.of(effect, paired(lambda a, b: a - b / 2, hero, theirs), unit="%", most=0))
    why = (
        f"{', '.join(texts)}. Short flows are never dropped early, and while the long queue is kept near its "
        "thresholds the shared buffer has room for their bursts."
    )
    return Judgement(checks, why)


def long_pays(evidence: Evidence) -> Judgement:
    """Judge the gains and costs of long flows."""
    runs = evidence["web"]
    loss = [per_seed(runs, of("FTP", LOSS), label, scale=100) for label in (HERO, ARED)]
    delay = [per_seed(runs, of("FTP", DELAY), label, scale=1000) for label in (HERO, ARED)]
    checks = [
        Check.of("loss of FTP minus that with Adaptive RED", paired(sub, *loss), unit="%", most=0),
        Check.of("delay of FTP minus that with Adaptive RED", paired(sub, *delay), unit="ms", least=0),
    ]
    why = (
        f"FTP loses {mean(loss[0]):.2f} % instead of {mean(loss[1]):.2f} % and waits {mean(delay[0]):.0f} ms instead "
        f"of {mean(delay[1]):.0f} ms: a queue of its own at a part of the rate is a longer round trip, so that fewer "
        "losses make the same rate (printed: 2.75 and 4.15 %, 184 and 143 ms)."
    )
    return Judgement(checks, why)


def total_loss(evidence: Evidence) -> Judgement:
    """Compare the loss of all traffic."""
    runs = evidence["web"]
    hero, ared = (per_seed(runs, LOSS, label, scale=100) for label in (HERO, ARED))
    # "Greatly": about half, as in the sums of Table III's rows (2.1 of 4.3 %).
    checks = [
        Check.of(
            "loss of all traffic minus 0.6 of that with Adaptive RED",
            paired(lambda a, b: a - 0.6 * b, hero, ared),
            unit="%",
            most=0,
        )
    ]
    return Judgement(checks, f"All traffic together loses {mean(hero):.2f} % instead of {mean(ared):.2f} %.")


def short_waits_less(evidence: Evidence) -> Judgement:
    """Compare the delays of web and CBR."""
    runs = evidence["web"]
    checks, texts = [], []
    for owner in ("WEB", "CBR"):
        hero = per_seed(runs, of(owner, DELAY), HERO, scale=1000)
        texts.append(f"{owner} waits {mean(hero):.0f} ms")
        for other in runs.others:
            theirs = per_seed(runs, of(owner, DELAY), other, scale=1000)
            texts.append(f"{mean(theirs):.0f} ms with {other}")
            checks.append(
                Check.of(f"delay of {owner} minus that with {other}", paired(sub, hero, theirs), unit="ms", most=0)
            )
    why = (
        f"{', '.join(texts)}. RED+Tail's short queue takes some max_th1/C = 80 ms, however much comes; web includes "
        "the packets of files that were sent to the long queue."
    )
    return Judgement(checks, why)


def beyond_the_estimate(evidence: Evidence) -> Judgement:
    """Judge the mean delay of the short queue's traffic."""
    runs = evidence["web"]
    checks, texts = [], []
    for owner in ("WEB", "CBR"):
        hero = per_seed(runs, of(owner, DELAY), HERO, scale=1000)
        texts.append(f"{owner} {mean(hero):.0f} ms")
        checks.append(Check.of(f"delay of {owner}", hero.values(), unit="ms", least=80))
        # "Around 110 ms": within 20 %.
        checks.append(Check.of(f"delay of {owner} against around 110 ms", hero.values(), unit="ms", least=88, most=132))
    most = per_seed(runs, SHORT + "queue_delay_p95", HERO, scale=1000)
    why = (
        f"{' and '.join(texts)}. CBR sees only the short queue, 95 % of whose packets wait less than {mean(most):.0f} "
        "ms. Beyond the queue where C1 stops growing it waits longer, and the sooner, the lower that bound is, ours of "
        "0.9 C; the paper prints none: see C1 at most C/2 among the sensitivities. Web includes packets of long files, "
        "which wait in the long queue."
    )
    return Judgement(checks, why)


def link_full(evidence: Evidence) -> Judgement:
    """Judge the utilisation, beside web traffic and with moving thresholds."""
    checks = [
        # 100 % when rounded as in the paper.
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
        hero, ared = (per_seed(runs, of(owner, RATE), label) for label in (HERO, ARED))
        return paired(lambda a, b: 100 * (a / b - 1), hero, ared)

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
    # Similar: within a third, as set before the first run; 6 % apart in print.
    checks = [Check.of("loss of web, drop-tail / Adaptive RED", paired(truediv, tail, ared), least=0.75, most=4 / 3)]
    why = (
        f"{mean(tail):.2f} and {mean(ared):.2f} %; printed are 4.23 and 4.51 %. A full buffer takes from bursts, "
        "whatever their packets' size; Adaptive RED draws by the size, and spares SYNs, FINs and the ends of files."
    )
    return Judgement(checks, why)


def web_loses_most(evidence: Evidence) -> Judgement:
    """Compare the losses of web with those of FTP and CBR, for the two older disciplines."""
    runs = evidence["web"]
    checks, texts = [], []
    for label in (ARED, TAIL):
        web, ftp, cbr = (per_seed(runs, of(owner, LOSS), label, scale=100) for owner in ("WEB", "FTP", "CBR"))
        texts.append(f"{label} {mean(web):.2f} % of web, {mean(ftp):.2f} of FTP, {mean(cbr):.2f} of CBR")
        checks += [
            Check.of(f"loss of web minus that of {owner}, {label}", paired(sub, web, other), unit="%", least=0)
            for owner, other in (("FTP", ftp), ("CBR", cbr))
        ]
    why = (
        f"{'; '.join(texts)}. A full buffer takes from those who come in bursts. Adaptive RED draws by the size of a "
        "packet (as ns-2 does with thresholds in bytes), so that SYNs, FINs and the ends of files, which web has many "
        "of, are spared."
    )
    return Judgement(checks, why)


def web_rate(evidence: Evidence) -> Judgement:
    """Judge the demand of the web."""
    runs = evidence["web"]
    rates = {label: per_seed(runs, of("WEB", RATE), label, scale=1e-6) for label in runs.labels}
    checks = [
        # Around: within a tenth. In print, 1.10 to 1.16 Mbit/s are sent.
        Check.of(f"throughput of web with {label}", rate.values(), unit="Mbit/s", least=1.08, most=1.32)
        for label, rate in rates.items()
    ]
    why = (
        "800 clients with 50 s of thought and files of 10 kB on average ask for 1.28 Mbit/s at most; the longer a file "
        "takes, the rarer they ask. Headers and what is sent again come on top."
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
        name="web-rate",
        text="The mean rate of the web is around 1.2 Mbit/s.",
        where="Section II",
        judge=web_rate,
        needs=WEB_NEEDS,
        shown=["table3"],
    ),
    Claim(
        name="web-loses-most",
        text="Web loses more than FTP and CBR with Adaptive RED and with drop-tail, as it comes in bursts.",
        where="Section II, Table III",
        judge=web_loses_most,
        needs=WEB_NEEDS,
        shown=["table3"],
    ),
    Claim(
        name="steady-long-queue",
        text="RED+Tail's long queue stays in the band beside web traffic, and varies less than Adaptive RED's queue.",
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
)
