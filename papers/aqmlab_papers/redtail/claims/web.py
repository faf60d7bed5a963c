"""Claims on losses, delays and rates beside web traffic: sections II to IV (Figs. 5 to 8, Table III)."""

from functools import partial

from aqmlab_papers import Check, Effect, Judgement, Runs, Tolerance, claim, tolerance
from aqmlab_papers.describe import thresholds
from aqmlab_papers.redtail import measures as m

SLIGHT = Tolerance(10, "% of it", "more would not be slight: in print it is 3.7 %")


@claim("the mean rate of the aggregate web traffic is around 1.2Mbps", "Section II", "table3")
@tolerance(10, "% of it", "printed are 1.10 to 1.16 Mbit/s in Table III for the same")
def web_rate(web: Runs, *, tolerance: Tolerance) -> Judgement:
    """The mean rate of the web is around 1.2 Mbit/s."""
    checks = [
        Effect(f"throughput of web with {label}").near(web.per_seed(m.of("WEB", m.RATE), label), 1.2, tolerance)
        for label in web.labels
    ]
    return Judgement(
        checks,
        "800 clients with 50 s of thought and files of 10 kB on average ask for 1.28 Mbit/s at most, headers aside.",
    )


@claim("these web connections usually experience a higher packet loss rate", "Section II, Table III", "table3")
@tolerance(thresholds.LOSS)
def web_loses_most(web: Runs, by_size: Runs, *, tolerance: Tolerance) -> Judgement:
    """Web loses more than FTP and CBR with Adaptive RED and with drop-tail, as it comes in bursts."""

    def more(runs: Runs, label: str, owner: str, name: str) -> Check:
        pair = (runs.per_seed(m.of(one, m.LOSS), label) for one in ("WEB", owner))
        return m.versus(f"loss of web over that of {owner}, {name}", pair, "higher", tolerance)

    return Judgement(
        [more(web, label, owner, label) for label in (m.ARED, m.TAIL) for owner in ("FTP", "CBR")],
        "A full buffer takes from those who come in bursts; Adaptive RED drops at random, and more while a burst has "
        "raised the averaged queue. Drawn by size it would spare the small packets that web has many of.",
        [more(by_size, m.ARED, owner, "Adaptive RED by size") for owner in ("FTP", "CBR")],
        need=0.75,
    )


@claim("the drop-tail queue has a similar loss rate (4.2%) as Adaptive RED for web packets", "Section IV", "table3")
@tolerance(1 / 3, "", "a loss that is less by a third, 2.75 after 4.15 %, the text calls reduced")
def tail_as_lossy(web: Runs, *, tolerance: Tolerance) -> Judgement:
    """Web loses about as much with drop-tail as with Adaptive RED."""
    tail, ared = (web.per_seed(m.of("WEB", m.LOSS), label) for label in (m.TAIL, m.ARED))
    most = 1 + tolerance.value
    return Judgement(
        [Effect("loss of web, drop-tail / Adaptive RED").of(tail / ared, least=1 / most, most=most)],
        f"{tail} and {ared}; printed are 4.23 and 4.51 %.",
    )


@claim(
    "RED+Tail provides great improvement in packet loss for web and CBR",
    "Section IV, Fig. 5, Table III",
    "fig5 table3",
    comparative=True,
)
@tolerance(50, "% of it", "great: at least halved; in print it is a quarter to a thirteenth")
def short_loses_less(web: Runs, *, tolerance: Tolerance) -> Judgement:
    """Web and CBR lose far less with RED+Tail: 1.28 instead of 4.51 %, and 0.30 instead of 3.95 %."""
    checks, beside = (
        m.by_owner(web, m.LOSS, "loss", (m.HERO, others), "lower", tolerance) for others in _early_and_tail(web)
    )
    return Judgement(
        checks,
        f"WEB loses {web.per_seed(m.of('WEB', m.LOSS), m.HERO)}, CBR {web.per_seed(m.of('CBR', m.LOSS), m.HERO)}. "
        "Short flows are never dropped early, and while the long queue is near its thresholds the shared buffer has "
        "room for their bursts.",
        beside,
    )


def _early_and_tail(web: Runs) -> tuple[list[str], list[str]]:
    """Return the labels of the others in two lists: those in the paper's comparison, and drop-tail, which is not."""
    return [label for label in web.others if label != m.TAIL], [label for label in web.others if label == m.TAIL]


@claim("is greatly reduced by the drop-tail policy and a shared buffer", "Section III", "causes")
@tolerance(50, "% of it", "greatly, of both together: at least halved; of either alone 1 %")
def causes_apart(causes: Runs, web: Runs, *, tolerance: Tolerance) -> Judgement:
    """Short flows lose far less, the drop-tail policy and the shared buffer together halve their losses at least, and
    each has a part in it.
    """
    compare = partial(causes.compare, m.SHORT + m.LOSS, m.HERO, better="lower", name="loss of the short queue")
    split, early = causes.others_than(m.HERO)
    worse = max(split, early, key=lambda label: causes.per_seed(m.SHORT + m.LOSS, label).mean)
    other = split if worse == early else early
    return Judgement(
        [
            *m.by_owner(web, m.LOSS, "loss", (m.HERO, [m.ARED]), "lower", tolerance),
            *compare([worse], tolerance=tolerance),
            *compare([other], tolerance=thresholds.LOSS),
        ],
        f"The short queue loses {causes.per_seed(m.SHORT + m.LOSS, m.HERO)}. With 80 kB of its own a burst finds less "
        "room. Early drops add some while a burst holds the short queue's average above their 20 kB, as it does with "
        f"the calibrated C1max. No run lacks both the policy and the shared buffer: '{worse}', which loses most of "
        "those that lack one, stands for it. Beside: whether the other cause alone halves the loss too.",
        compare([other], tolerance=tolerance),
    )


@claim("greatly reduces the total packet loss rate at the router", "Section I", "table3", comparative=True)
@tolerance(40, "% of it", "about half, as in the sums of Table III's rows: 2.1 of 4.3 %")
def total_loss(web: Runs, *, tolerance: Tolerance) -> Judgement:
    """RED+Tail greatly reduces the loss of all traffic together."""
    early, _ = _early_and_tail(web)
    checks = web.compare(m.LOSS, m.HERO, early, better="lower", tolerance=tolerance, name="loss of all traffic")
    return Judgement(checks, f"All traffic together loses {web.per_seed(m.LOSS, m.HERO)}.")


@claim("reduced from 4.15% to 2.75%", "Section IV, Table III", "fig5 table3")
@tolerance(m.ONE_RUN)
def long_loses_less(web: Runs, *, tolerance: Tolerance) -> Judgement:
    """FTP loses a third less with RED+Tail than with Adaptive RED: 2.75 instead of 4.15 %."""
    loss = [web.per_seed(m.of("FTP", m.LOSS), label) for label in (m.HERO, m.ARED)]
    window = [
        web.per_seed(m.of("FTP", m.RATE), label) * (web.per_seed(m.of("FTP", m.DELAY), label) / 1e3 + m.PROPAGATION)
        for label in (m.HERO, m.ARED)
    ]
    square = (window[1] / window[0]) * (window[1] / window[0])
    printed = [m.TABLE_3[label]["FTP"][0] for label in (m.HERO, m.ARED)]
    return Judgement(
        [
            Effect("loss of FTP / that with Adaptive RED").near(
                loss[0] / loss[1], round(printed[0] / printed[1], 3), tolerance
            )
        ],
        f"{loss[0]} instead of {loss[1]}. Less bandwidth and a longer round trip make larger windows: by the "
        f"square-root law the ratio would be {square:.2f}, and it is {loss[0] / loss[1]:.2f}. The losses themselves "
        "are among the numbers of Table III.",
    )


@claim("by a longer queuing delay (184ms, see Table III)", "Section IV, Fig. 6, Table III", "fig6 table3")
@tolerance(m.ONE_RUN)
def long_pays(web: Runs, *, tolerance: Tolerance) -> Judgement:
    """It pays with a longer delay, 184 instead of 143 ms."""
    hero, ared = (web.per_seed(m.of("FTP", m.DELAY), label) for label in (m.HERO, m.ARED))
    middle, (_, wait, rate) = sum(m.BAND) / 2, m.TABLE_3[m.HERO]["FTP"]
    return Judgement(
        [
            Effect("delay of FTP over that with Adaptive RED").better(hero, ared, "higher", thresholds.DELAY),
            Effect("delay of FTP with RED+Tail").near(hero, wait, tolerance),
        ],
        f"{hero} instead of {ared}. {middle:.0f} packets at the printed rate of FTP take {1e3 * middle / rate:.0f} ms; "
        f"the printed {wait:g} ms are a queue of {wait * rate / 1e3:.1f} kB, well below the middle that Adaptive RED "
        "aims at.",
    )


@claim(
    "The mean queuing delay of web and CBR packets in the RED+Tail scheme is shortened",
    "Section IV, Fig. 6, Table III",
    "fig6 table3 over-c1max",
    comparative=True,
)
@tolerance(thresholds.DELAY)
def short_waits_less(web: Runs, c1max: Runs | None = None, *, tolerance: Tolerance) -> Judgement:
    """Web and CBR packets wait less with RED+Tail than with Adaptive RED."""
    early, tail = _early_and_tail(web)
    checks, beside = (
        m.by_owner(web, m.DELAY, "delay", (m.HERO, others), "lower", tolerance) for others in (early, tail)
    )
    if c1max is not None:
        checks = [
            m.versus(
                f"delay of {owner} over that of {label}, C1max = {most:g} C",
                (
                    c1max.per_seed(m.of(owner, m.DELAY), m.HERO, {m.C1_MAX: most}),
                    web.per_seed(m.of(owner, m.DELAY), label),
                ),
                "lower",
                tolerance,
            )
            for label in early
            for most in c1max.points(m.C1_MAX)
            for owner in ("WEB", "CBR")
        ]
    return Judgement(
        checks,
        f"WEB waits {web.per_seed(m.of('WEB', m.DELAY), m.HERO)}, CBR {web.per_seed(m.of('CBR', m.DELAY), m.HERO)}: "
        "short flows bring 45 % of the link's rate, and what a burst brings beyond C1max, which the paper does not "
        "print, waits. WEB includes the packets of long files, which wait with FTP.",
        beside,
    )


@claim("the mean delay of web and CBR traffic is around 110ms", "Section IV", "fig6 table3 over-c1max")
@tolerance(20, "% of it", "'around', and far enough from the 80 ms of which it is told apart")
def beyond_the_estimate(web: Runs, c1max: Runs, *, tolerance: Tolerance) -> Judgement:
    """They wait around 110 ms, longer than the estimate of max_th1/C = 80 ms."""
    return Judgement(
        [
            Effect(f"delay of {owner}, C1max = {most:g} C").near(
                c1max.per_seed(m.of(owner, m.DELAY), m.HERO, {m.C1_MAX: most}), 110, tolerance
            )
            for most in c1max.points(m.C1_MAX)
            for owner in ("WEB", "CBR")
        ],
        "The paper does not print C1max, on which the delay hangs: beyond the queue where C1 stops growing packets "
        "wait longer, and the sooner, the lower C1max is. WEB is above CBR by its long files. Beside is the calibrated "
        "C1max, chosen by losses as well.",
        [
            Effect(f"delay of {owner}").near(web.per_seed(m.of(owner, m.DELAY), m.HERO), 110, tolerance)
            for owner in ("WEB", "CBR")
        ],
    )


@claim(
    "Both schemes achieve 100% utilization of the link bandwidth",
    "Sections III to V, Figs. 7, 8 and 10",
    "fig7 fig8 fig10",
)
@tolerance(0.5, "%", "100 % as rounded in print")
def link_full(web: Runs, dynamic: Runs, *, tolerance: Tolerance) -> Judgement:
    """The link is used to 100 %: with RED+Tail, with Adaptive RED, and with thresholds that move."""
    checks = [
        Effect(f"utilisation with {label}, {where}").of(
            runs.per_seed("utilisation", label), least=100 - tolerance.value
        )
        for runs, where, labels in ((web, "web traffic", (m.HERO, m.ARED)), (dynamic, "FTP only", (m.FIXED, m.DYNAMIC)))
        for label in labels
    ]
    return Judgement(checks, "Long flows have a packet waiting practically always, whichever queue the others are in.")


@claim("FTP has a slightly smaller throughput", "Section IV, Figs. 7 and 8, Table III", "fig7 fig8 table3")
@tolerance(thresholds.GOODPUT)
def long_slightly_slower(web: Runs, *, tolerance: Tolerance) -> Judgement:
    """FTP's throughput is slightly smaller with RED+Tail."""
    hero, ared = (web.per_seed(m.of("FTP", m.RATE), label) for label in (m.HERO, m.ARED))
    return Judgement(
        [
            m.versus("FTP's throughput over that with Adaptive RED", (hero, ared), "lower", tolerance),
            m.versus(
                "FTP's throughput over that with Adaptive RED, by a tenth at most", (hero, ared), "not lower", SLIGHT
            ),
        ],
        "What web and CBR lose less of is sent; the link is full, so that FTP has this much less.",
    )


@claim(
    "the saved bandwidth allows web burst to pass through the bottleneck link faster",
    "Section IV, Figs. 7 and 8, Table III",
    "fig7 fig8 table3",
)
@tolerance(thresholds.GOODPUT)
def bursts_pass(web: Runs, *, tolerance: Tolerance) -> Judgement:
    """Web gets what FTP gives up, and its bursts pass faster."""
    checks = web.compare(
        m.of("WEB", m.RATE), m.HERO, [m.ARED], better="higher", tolerance=tolerance, name="throughput of web"
    )
    checks += web.compare(
        m.of("WEB", "completion_time_mean"),
        m.HERO,
        [m.ARED],
        better="lower",
        tolerance=thresholds.TIME,
        name="time of a web file",
    )
    return Judgement(checks, "Clients that wait less ask again sooner.")


@claim("Table III: Loss %, Delay Sec.", "Table III", "table3")
@tolerance(m.ONE_RUN)
def numbers_of_table_3(web: Runs, *, tolerance: Tolerance) -> Judgement:
    """The losses and delays of Table III."""
    checks = m.printed_numbers(web, m.TABLE_3, tolerance)
    return Judgement(
        checks,
        f"{m.beyond_bounds(checks)} N and C1max are fitted to RED+Tail's numbers here and in Table IV, so that of "
        "these the near ones say little. The rates are left to claims of their own: they add up to a full link and "
        "would all be near.",
    )
