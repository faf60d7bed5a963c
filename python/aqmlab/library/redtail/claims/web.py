"""Claims on the two queues beside web traffic: sections I to IV (Figs. 1 and 4 to 8, Table III)."""

from __future__ import annotations

from aqmlab.library.redtail.measures import (
    ALL_TRAFFIC,
    ARED,
    BAND,
    C1_MAX,
    CLASSES,
    COLUMNS,
    COUNT,
    DELAY,
    DYNAMIC,
    FIXED,
    FLOWS_ALONE,
    HERO,
    LONG,
    LOSS,
    PROPAGATION,
    RATE,
    SHORT,
    TABLE_3,
    TAIL,
    Rows,
    between,
    of,
    share_in,
    spread_over,
)
from aqmlab.library.redtail.measures import N as AFTER
from aqmlab.papers import Check, Judgement, PerSeed, Runs, Tolerance, claim

Q, Q2, P = "queue.mean", "lane.long.queue.mean", "p.mean"
IN_REGION = Tolerance(
    5, "%", "a queue is in its region if it is there for 95 % of the time (bins of 0.25 s), and leaves it if it is not"
)
DOUBLED = Tolerance(2, "", "at least doubled, what a figure without a scale of its own shows as a change")
ONE_RUN = Tolerance(
    25, "% of it", "one run of unknown length: most of our own numbers vary by 5 to 12 % from seed to seed"
)
TENTH = Tolerance(10, "% of it", "the least printed difference that the text speaks of is 12 %")


def swing(runs: Runs, column: str, label: str, period: tuple[float, float]) -> PerSeed:
    """Return the standard deviation of a series in a period."""
    return runs.from_series(label, spread_over(column, *period))


@claim(
    "With long flows alone Adaptive RED keeps its queue in the desired region.",
    quote="the Adaptive RED works well with those FTP connections before the web traffic comes in",
    where="Section II, Fig. 1",
    tolerance=IN_REGION,
    shown="fig1",
    sensitive=False,
)
def calm_alone(time: Runs, *, tolerance: Tolerance) -> Judgement:
    """Judge Adaptive RED's queue while only long flows send."""
    share = time.from_series(ARED, share_in(Q, BAND, *FLOWS_ALONE), unit="%")
    deviation = swing(time, Q, ARED, FLOWS_ALONE)
    return Judgement(
        [Check.of("time in the region before web traffic comes", share, least=100 - tolerance.value)],
        f"Ten flows in congestion avoidance keep near the middle, by {deviation:.1f} packets (standard deviation).",
    )


@claim(
    "When web and CBR traffic come, its queue leaves the region.",
    quote="the queue length of Adaptive RED deviates dramatically from the desired region",
    where="Section II, Fig. 1",
    tolerance=IN_REGION,
    shown="fig1",
    sensitive=False,
)
def thrown_by_web(time: Runs, *, tolerance: Tolerance) -> Judgement:
    """Judge the effect of web traffic on Adaptive RED's queue."""
    share = time.from_series(ARED, share_in(Q, BAND, *ALL_TRAFFIC), unit="%")
    return Judgement(
        [Check.of("time in the region after web traffic came", share, most=100 - tolerance.value)],
        "Web bursts are faster than the averaged queue; the excursions are short, and most of the time the queue is "
        "in the "
        "region all the same.",
    )


@claim(
    "Its queue varies a lot more then.",
    quote="This over-reaction causes a great queue length variation",
    where="Section II, Fig. 1",
    tolerance=DOUBLED,
    shown="fig1",
    sensitive=False,
)
def great_variation(time: Runs, *, tolerance: Tolerance) -> Judgement:
    """Compare the queue's deviation before and after."""
    before, after = (swing(time, Q, ARED, period) for period in (FLOWS_ALONE, ALL_TRAFFIC))
    return Judgement(
        [
            Check.of(
                "standard deviation of the queue after web traffic came / before", after / before, least=tolerance.value
            )
        ],
        f"From {before:.1f} to {after:.1f} packets.",
    )


@claim(
    "Adaptive RED then raises and lowers its drop probability rapidly.",
    quote="makes the Adaptive RED increase/decrease its dropping probability rapidly",
    where="Section II",
    tolerance=DOUBLED,
    shown="fig1",
    sensitive=False,
)
def over_reaction(time: Runs, *, tolerance: Tolerance) -> Judgement:
    """Compare the swing of the drop probability before and after."""
    before, after = (swing(time, P, ARED, period) for period in (FLOWS_ALONE, ALL_TRAFFIC))
    return Judgement(
        [Check.of("standard deviation of p after web traffic came / before", after / before, least=tolerance.value)],
        f"From {before:.2g} to {after:.2g}: p follows the averaged queue, which the bursts move.",
    )


@claim(
    "RED+Tail prevents this: the long queue's drop probability swings less than Adaptive RED's.",
    quote="This scheme prevents the over-reaction behavior of RED",
    where="Section IV",
    tolerance=Tolerance(10, "% of it", "less is not prevented"),
    shown="fig4",
    sensitive=False,
)
def prevents_over_reaction(time: Runs, n: Runs, *, tolerance: Tolerance) -> Judgement:
    """Compare the swings of the drop probabilities for every N."""
    ared = swing(time, P, ARED, ALL_TRAFFIC)
    checks = [
        Check.better(
            f"standard deviation of p of RED+Tail over Adaptive RED's, N = {after}",
            n.from_series(HERO, spread_over(P, *ALL_TRAFFIC), {AFTER: after}),
            ared,
            "lower",
            tolerance,
        )
        for after in n.points(AFTER)
    ]
    return Judgement(
        checks,
        "The bursts take the rate from the long queue in place of adding to it, and the fewer web files it has, the "
        "less it "
        "swings.",
    )


@claim(
    "RED+Tail's long queue stays in the region beside web traffic.",
    quote="the virtual queue length q2 is quite stable and stays in the desired region even after",
    where="Section IV, Fig. 4",
    tolerance=IN_REGION,
    shown="fig4",
    sensitive=False,
)
def steady_long_queue(n: Runs, *, tolerance: Tolerance) -> Judgement:
    """Judge the queue of long flows beside web traffic for every N."""
    shares = {
        after: n.from_series(HERO, share_in(Q2, BAND, *ALL_TRAFFIC), {AFTER: after}, unit="%")
        for after in n.points(AFTER)
    }
    return Judgement(
        [
            Check.of(f"time that the long queue is in the region, N = {after}", share, least=100 - tolerance.value)
            for after, share in shares.items()
        ],
        "Its rate is what short flows leave. With a small N the rest of every larger web file comes to it as a burst.",
    )


@claim(
    "It varies less than Adaptive RED's queue.",
    quote="the Adaptive RED queue has a small length variation",
    where="Abstract, Sections I and IV, Figs. 1 and 4",
    tolerance=Tolerance(1, "packets", "what a figure with an axis of 160 packets resolves"),
    shown="fig4 fig1 over-n",
    sensitive=False,
)
def steadier(n: Runs, web: Runs, *, tolerance: Tolerance) -> Judgement:
    """Compare the standard deviations of the queues for every N."""
    ared = web.per_seed("queue_std", ARED)
    checks = [
        Check.better(
            f"standard deviation of the long queue minus that of Adaptive RED's queue, N = {after}",
            n.per_seed(LONG + "queue_std", HERO, {AFTER: after}),
            ared,
            "lower",
            tolerance,
        )
        for after in n.points(AFTER)
    ]
    return Judgement(
        checks, f"Adaptive RED's swings by {ared}. From N = 256 on the web's files hardly reach the long queue."
    )


@claim(
    "The mean rate of the web is around 1.2 Mbit/s.",
    quote="the mean rate of the aggregate web traffic is around 1.2Mbps",
    where="Section II",
    tolerance=Tolerance(10, "% of it", "printed are 1.10 to 1.16 Mbit/s in Table III for the same"),
    shown="table3",
)
def web_rate(web: Runs, *, tolerance: Tolerance) -> Judgement:
    """Judge the demand of the web."""
    checks = [
        Check.near(f"throughput of web with {label}", web.per_seed(of("WEB", RATE), label), 1.2, tolerance)
        for label in web.labels
    ]
    return Judgement(
        checks,
        "800 clients with 50 s of thought and files of 10 kB on average ask for 1.28 Mbit/s at most, headers aside.",
    )


@claim(
    "Web loses more than FTP and CBR with Adaptive RED and with drop-tail, as it comes in bursts.",
    quote="these web connections usually experience a higher packet loss rate",
    where="Section II, Table III",
    tolerance=Tolerance(0.1, "%", "a quarter of the least printed difference, 0.37 %"),
    shown="table3",
)
def web_loses_most(web: Runs, *, tolerance: Tolerance) -> Judgement:
    """Compare the losses of web with those of FTP and CBR, for the two older disciplines."""
    lost = {(label, owner): web.per_seed(of(owner, LOSS), label) for label in (ARED, TAIL) for owner in CLASSES}
    checks = [
        Check.better(
            f"loss of web minus that of {owner}, {label}", lost[label, "WEB"], lost[label, owner], "higher", tolerance
        )
        for label in (ARED, TAIL)
        for owner in ("FTP", "CBR")
    ]
    return Judgement(
        checks,
        "A full buffer takes from those who come in bursts; Adaptive RED drops at random, and more while a burst has "
        "raised "
        "the averaged queue. Drawn by size it would spare the small packets that web has many of.",
        need=0.75,
    )


@claim(
    "Web loses about as much with drop-tail as with Adaptive RED.",
    quote="the drop-tail queue has a similar loss rate (4.2%) as Adaptive RED for web packets",
    where="Section IV",
    tolerance=Tolerance(1 / 3, "", "as set before the first run; 6 % apart in print"),
    shown="table3",
)
def tail_as_lossy(web: Runs, *, tolerance: Tolerance) -> Judgement:
    """Compare the web's losses with drop-tail and Adaptive RED."""
    tail, ared = (web.per_seed(of("WEB", LOSS), label) for label in (TAIL, ARED))
    most = 1 + tolerance.value
    return Judgement(
        [Check.of("loss of web, drop-tail / Adaptive RED", tail / ared, least=1 / most, most=most)],
        f"{tail} and {ared}; printed are 4.23 and 4.51 %.",
    )


@claim(
    "Web and CBR lose far less with RED+Tail: 1.28 instead of 4.51 %, and 0.30 instead of 3.95 %.",
    quote="RED+Tail provides great improvement in packet loss for web and CBR",
    where="Section IV, Fig. 5, Table III",
    tolerance=Tolerance(50, "% of it", "great: at least halved; in print it is a quarter to a thirteenth"),
    shown="fig5 table3",
    comparative=True,
)
def short_loses_less(web: Runs, *, tolerance: Tolerance) -> Judgement:
    """Compare the losses of web and CBR."""
    checks = [
        one
        for owner in ("WEB", "CBR")
        for one in web.compare(of(owner, LOSS), HERO, better="lower", tolerance=tolerance, name=f"loss of {owner}")
    ]
    return Judgement(
        checks,
        f"WEB loses {web.per_seed(of('WEB', LOSS), HERO)}, CBR {web.per_seed(of('CBR', LOSS), HERO)}. Short flows are "
        "never "
        "dropped early, and while the long queue is near its thresholds the shared buffer has room for their bursts.",
    )


@claim(
    "RED+Tail greatly reduces the loss of all traffic together.",
    quote="greatly reduces the total packet loss rate at the router",
    where="Sections I and VII",
    tolerance=Tolerance(40, "% of it", "about half, as in the sums of Table III's rows: 2.1 of 4.3 %"),
    shown="table3",
    comparative=True,
)
def total_loss(web: Runs, *, tolerance: Tolerance) -> Judgement:
    """Compare the loss of all traffic with that of Adaptive RED, or of later disciplines."""
    others = [label for label in web.others if label != TAIL]
    checks = web.compare(LOSS, HERO, others, better="lower", tolerance=tolerance, name="loss of all traffic")
    return Judgement(checks, f"All traffic together loses {web.per_seed(LOSS, HERO)}.")


@claim(
    "FTP loses a third less with RED+Tail than with Adaptive RED: 2.75 instead of 4.15 %.",
    quote="reduced from 4.15% to 2.75%",
    where="Section IV, Table III",
    tolerance=TENTH,
    shown="fig5 table3",
)
def long_loses_less(web: Runs, *, tolerance: Tolerance) -> Judgement:
    """Compare the loss of long flows, and explain it by their windows."""
    loss = [web.per_seed(of("FTP", LOSS), label) for label in (HERO, ARED)]
    window = [
        web.per_seed(of("FTP", RATE), label) * (web.per_seed(of("FTP", DELAY), label) / 1e3 + PROPAGATION)
        for label in (HERO, ARED)
    ]
    square = (window[1] / window[0]) * (window[1] / window[0])
    return Judgement(
        [Check.better("loss of FTP over that with Adaptive RED", *loss, "lower", tolerance)],
        f"{loss[0]} instead of {loss[1]}. Less bandwidth and a longer round trip make larger windows: by the "
        "square-root law "
        f"the ratio would be {square:.2f}, and it is {loss[0] / loss[1]:.2f}; a steadier queue adds nothing that can "
        "be seen.",
        [
            Check.near(f"loss of FTP with {label}", one, TABLE_3[label]["FTP"][0], ONE_RUN)
            for label, one in zip((HERO, ARED), loss, strict=True)
        ],
    )


@claim(
    "It pays with a longer delay, 184 instead of 143 ms.",
    quote="by a longer queuing delay (184ms, see Table III)",
    where="Section IV, Fig. 6, Table III",
    tolerance=Tolerance(20, "% of it", "the text's own precision: it calls 80 ms and 110 ms different"),
    shown="fig6 table3",
)
def long_pays(web: Runs, *, tolerance: Tolerance) -> Judgement:
    """Judge the delay of long flows by the printed one."""
    hero, ared = (web.per_seed(of("FTP", DELAY), label) for label in (HERO, ARED))
    middle = sum(BAND) / 2
    return Judgement(
        [Check.near("delay of FTP with RED+Tail", hero, TABLE_3[HERO]["FTP"][1], tolerance)],
        f"{hero} instead of {ared}. {middle:.0f} packets at the rate that the web leaves FTP take "
        f"{middle / 0.2095:.0f} ms; "
        "the printed 184 ms at 209.5 kB/s are a queue of 38.5 kB, well below the middle that Adaptive RED aims at.",
        [Check.better("delay of FTP over that with Adaptive RED", hero, ared, "higher", TENTH)],
    )


@claim(
    "Web and CBR packets wait less with RED+Tail.",
    quote="The mean queuing delay of web and CBR packets in the RED+Tail scheme is shortened",
    where="Section IV, Fig. 6, Table III",
    tolerance=TENTH,
    shown="fig6 table3",
    comparative=True,
)
def short_waits_less(web: Runs, *, tolerance: Tolerance) -> Judgement:
    """Compare the delays of web and CBR."""
    checks = [
        one
        for owner in ("WEB", "CBR")
        for one in web.compare(of(owner, DELAY), HERO, better="lower", tolerance=tolerance, name=f"delay of {owner}")
    ]
    return Judgement(
        checks,
        f"WEB waits {web.per_seed(of('WEB', DELAY), HERO)}, CBR {web.per_seed(of('CBR', DELAY), HERO)}: the short "
        "queue takes "
        "some max_th1/C = 80 ms, however much comes. Web includes the packets of long files, which wait with FTP.",
    )


@claim(
    "They wait around 110 ms, longer than the estimate of max_th1/C = 80 ms.",
    quote="the mean delay of web and CBR traffic is around 110ms",
    where="Section IV",
    tolerance=Tolerance(20, "% of it", "'around', and far enough from the 80 ms of which it is told apart"),
    shown="fig6 table3 over-c1max",
)
def beyond_the_estimate(web: Runs, c1max: Runs, *, tolerance: Tolerance) -> Judgement:
    """Judge the mean delay of the short queue's traffic, beside it over C1max."""
    beside = [
        Check.near(
            f"delay of the short queue, C1max = {most:g} C",
            c1max.per_seed(SHORT + DELAY, HERO, {C1_MAX: most}),
            110,
            tolerance,
        )
        for most in c1max.points(C1_MAX)
    ]
    return Judgement(
        [
            Check.near(f"delay of {owner}", web.per_seed(of(owner, DELAY), HERO), 110, tolerance)
            for owner in ("WEB", "CBR")
        ],
        "Beyond the queue where C1 stops growing packets wait longer, and the sooner, the lower C1max is; the paper "
        "does not "
        "print it. WEB is above CBR by its long files.",
        beside,
    )


@claim(
    "The link is used to 100 %: with RED+Tail, with Adaptive RED, and with thresholds that move.",
    quote="Both schemes achieve 100% utilization of the link bandwidth",
    where="Sections III to V, Figs. 7, 8 and 10",
    tolerance=Tolerance(0.5, "%", "100 % as rounded in print"),
    shown="fig7 fig8 fig10",
)
def link_full(web: Runs, dynamic: Runs, *, tolerance: Tolerance) -> Judgement:
    """Judge the utilisation, beside web traffic and with moving thresholds."""
    checks = [
        Check.of(f"utilisation with {label}, {where}", runs.per_seed("utilisation", label), least=100 - tolerance.value)
        for runs, where, labels in ((web, "web traffic", (HERO, ARED)), (dynamic, "FTP only", (FIXED, DYNAMIC)))
        for label in labels
    ]
    return Judgement(checks, "Long flows have a packet waiting practically always, whichever queue the others are in.")


@claim(
    "FTP's throughput is slightly smaller with RED+Tail.",
    quote="FTP has a slightly smaller throughput",
    where="Section IV, Figs. 7 and 8, Table III",
    tolerance=Tolerance(0.5, "%", "a seventh of the printed 3.7 %; more than 10 % would not be slight"),
    shown="fig7 fig8 table3",
)
def long_slightly_slower(web: Runs, *, tolerance: Tolerance) -> Judgement:
    """Compare throughputs of FTP."""
    hero, ared = (web.per_seed(of("FTP", RATE), label) for label in (HERO, ARED))
    return Judgement(
        [
            Check.of(
                "FTP's throughput over that with Adaptive RED",
                100 * (hero / ared - 1),
                unit="%",
                least=-10,
                most=-tolerance.value,
            )
        ],
        "What web and CBR lose less of is sent; the link is full, so that FTP has this much less.",
    )


@claim(
    "Web gets what FTP gives up, and its bursts pass faster.",
    quote="the saved bandwidth allows web burst to pass through the bottleneck link faster",
    where="Section IV, Figs. 7 and 8, Table III",
    tolerance=Tolerance(1, "% of it", "a fifth of the printed 5.3 %"),
    shown="fig7 fig8 table3",
)
def bursts_pass(web: Runs, *, tolerance: Tolerance) -> Judgement:
    """Compare throughputs of web, and beside it the time of a file."""
    checks = web.compare(of("WEB", RATE), HERO, [ARED], better="higher", tolerance=tolerance, name="throughput of web")
    beside = web.compare(
        of("WEB", "completion_time_mean"), HERO, [ARED], better="lower", tolerance=TENTH, name="time of a web file"
    )
    return Judgement(checks, "Clients that wait less ask again sooner.", beside)


@claim(
    "Table III's losses and delays.",
    quote="Table III: Loss %, Delay Sec.",
    where="Table III",
    tolerance=ONE_RUN,
    shown="table3",
)
def numbers_of_table_3(web: Runs, *, tolerance: Tolerance) -> Judgement:
    """Compare the losses and delays with the printed ones."""
    checks = printed_numbers(web, TABLE_3, tolerance)
    held = sum(check.least <= check.value <= check.most for check in checks)
    return Judgement(
        checks,
        f"{held} of {len(checks)} are near. RED+Tail's short queue loses less here than in print, drop-tail more of "
        "web and CBR, "
        "and FTP waits longer beside web than the printed rate and delay have room for.",
    )


def printed_numbers(runs: Runs, tables: dict[str, Rows] | object, tolerance: Tolerance) -> list[Check]:
    """Check the losses and delays of a table of printed values."""
    return [
        Check.near(
            f"{column.lower()} of {owner}, {label}",
            runs.per_seed(of(owner, metric), label),
            rows[owner][place],
            tolerance,
        )
        for label, rows in dict(tables).items()  # type: ignore[call-overload]
        for owner in CLASSES
        for place, (column, (metric, _)) in enumerate(COLUMNS.items())
        if column != "Rate"
    ]


@claim(
    "A small rate slows FTP without shrinking its windows.",
    quote="make FTP senders reduce flow rates automatically with- out shrinking their congestion window sizes",
    where="Section III",
    tolerance=Tolerance(10, "%", "a window halved by a loss in a tenth of the flows would be 5 %"),
    shown="fig8",
    sensitive=False,
)
def windows_hold(time: Runs, *, tolerance: Tolerance) -> Judgement:
    """Compare what FTP has outstanding while bursts leave it less than half of its rate with its mean."""

    def outstanding(frame: object, low: bool) -> float:
        import polars

        found = between(frame, *ALL_TRAFFIC)  # type: ignore[arg-type]
        found = found.group_by((polars.col("t") * 2).floor()).agg(
            polars.col(Q2).mean(), polars.col("ftp.throughput").mean()
        )
        rate = found["ftp.throughput"] / 8e3
        window = found[Q2] + rate * PROPAGATION
        return float(window.filter(rate < rate.mean() / 2).mean() if low else window.mean())  # type: ignore[operator, arg-type]

    squeezed, mean = (time.from_series(HERO, lambda frame, low=low: outstanding(frame, low)) for low in (True, False))
    return Judgement(
        [
            Check.of(
                "FTP's packets outstanding in the half seconds with less than half its rate, from its mean",
                100 * (squeezed / mean - 1),
                unit="%",
                least=-tolerance.value,
            )
        ],
        "Packets on the wire move to the queue. The rate is back when the burst has passed, with the same windows.",
    )


@claim(
    "C1max below C spares FTP time-outs.",
    quote="C1max preserves the minimum available bandwidth … to prevent FTP connections from timeout",
    where="Section III",
    tolerance=TENTH,
    shown="over-c1max",
)
def spares_timeouts(c1max: Runs, *, tolerance: Tolerance) -> Judgement:
    """Compare the time-outs of FTP with C1max = C and with less."""
    whole = c1max.per_seed(of("FTP", "timeouts"), HERO, {C1_MAX: 1.0})
    checks = [
        Check.better(
            f"time-outs of FTP over those with C1max = C, C1max = {most:g} C",
            c1max.per_seed(of("FTP", "timeouts"), HERO, {C1_MAX: most}),
            whole,
            "lower",
            tolerance,
        )
        for most in c1max.points(C1_MAX)
        if most < 1
    ]
    return Judgement(
        checks, f"With C1max = C they have {whole}: bursts are short, and the retransmission timer is long."
    )


@claim(
    "A full drop-tail buffer makes the flows back off together; Adaptive RED does not.",
    quote="all connections sense packet loss and slow down the transfer rate simultaneously",
    where="Section I",
    tolerance=Tolerance(10, "%", "one flow of ten more in a loss event"),
    shown="synchronisation",
)
def synchronised(ftp_alone: Runs, *, tolerance: Tolerance) -> Judgement:
    """Compare the share of the flows that lose packets in a loss event."""
    checks = ftp_alone.compare(
        "loss_synchronisation",
        TAIL,
        [f"{ARED}, max_p 0.1"],
        better="higher",
        tolerance=tolerance,
        each=(COUNT, "{:g} flows"),
    )
    return Judgement(
        checks, "A loss event is 100 ms. A full buffer drops until the round trip is over in which flows notice."
    )


@claim(
    "RED's queue depends on its setting; Adaptive RED's does not.",
    quote="the performance of RED is very sensitive to parameter settings",
    where="Section I (cited)",
    tolerance=Tolerance(5, "packets", "a twelfth of the region"),
    shown="synchronisation",
)
def red_is_sensitive(ftp_alone: Runs, *, tolerance: Tolerance) -> Judgement:
    """Compare the ranges of the mean queue over max_p."""

    def span(name: str, count: int) -> PerSeed:
        queues = [
            ftp_alone.per_seed("queue_mean", label, {COUNT: count})
            for label in ftp_alone.labels
            if label.startswith(name + ",")
        ]
        return PerSeed.most(queues) - PerSeed.least(queues)

    checks = [
        Check.better(
            f"range of RED's mean queue over max_p of 0.02 to 0.5 minus Adaptive RED's, {count} flows",
            span("RED", count),
            span(ARED, count),
            "higher",
            tolerance,
        )
        for count in ftp_alone.points(COUNT)
    ]
    return Judgement(
        checks, "A fixed max_p fixes the queue at which the flows' loss is what they need; Adaptive RED moves it."
    )


@claim(
    "A faster flow has more packets dropped.",
    quote="A TCP connection with a higher flow rate has a better chance to get packets dropped",
    where="Section I",
    tolerance=Tolerance(50, "% of it", "the faster flows are more than twice as fast"),
    shown="mixed",
)
def faster_loses_more(mixed: Runs, *, tolerance: Tolerance) -> Judgement:
    """Compare the drops of flows of short and of long round trips."""
    import polars

    def drops(name: str) -> PerSeed:
        return mixed.per_seed(
            polars.col(of(name, "arrivals")) * polars.col(of(name, LOSS)), FIXED, unit="packets", name="drops"
        )

    near, far = drops("near"), drops("far")
    return Judgement(
        [Check.better("drops of flows of 16 ms over those of 240 ms, Adaptive RED", near, far, "higher", tolerance)],
        f"{near:.0f} and {far:.0f} packets: RED drops a share that is the same for all, so a faster flow is hit more "
        "often.",
    )


@claim(
    "Drops in slow start do not relieve the link: losses hardly slow the web down, but FTP.",
    quote="Dropping web packets in this phase is not an effective way to control the traffic rate",
    where="Sections I and II",
    tolerance=Tolerance(10, "%", "FTP's rate halves by its square-root law"),
    shown="table3",
    sensitive=False,
)
def drops_do_not_relieve(random_loss: Runs, *, tolerance: Tolerance) -> Judgement:
    """Compare the rates of web, and beside it of FTP, at a loss of 1 and of 4 %."""

    def change(owner: str) -> PerSeed:
        light, heavy = (
            random_loss.per_seed(of(owner, RATE), random_loss.labels[0], {"dumbbell.loss": loss})
            for loss in (0.01, 0.04)
        )
        return (100 * (heavy / light - 1)).called("change", "%")

    return Judgement(
        [Check.of("throughput of web with 4 % of losses over that with 1 %", change("WEB"), least=-tolerance.value)],
        "Over a link of 1 Gbit/s, whose losses alone limit the rates. What is lost of a file is sent again; readers "
        "only come "
        "back a little later.",
        [Check.of("throughput of FTP with 4 % of losses over that with 1 %", change("FTP"), most=-tolerance.value)],
    )


@claim(
    "The short queue's small variation of delay is good for voice and video.",
    quote="small delay jitter is very important for the connection quality",
    where="Section VI-A",
    tolerance=Tolerance(0.5, "ms", "a sixth of the time of a packet"),
    shown="voice",
    comparative=True,
)
def voice_and_video(voice: Runs, *, tolerance: Tolerance) -> Judgement:
    """Compare the jitter of voice and of video."""
    checks = [
        one
        for owner in ("voice", "video")
        for one in voice.compare(
            of(owner, "jitter"), HERO, better="lower", tolerance=tolerance, name=f"jitter of {owner}"
        )
    ]
    return Judgement(checks, "Jitter is the difference of the delays of consecutive packets.")
