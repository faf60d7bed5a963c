"""Claims on moving thresholds, alone and in RED+Tail's long queue: section V (Figs. 10 to 14, Table IV)."""

from aqmlab.theory import tcp
from aqmlab_papers import At, Check, Effect, Judgement, PerSeed, Runs, Tolerance, claim, tolerance
from aqmlab_papers.describe.check import Better
from aqmlab_papers.describe.thresholds import DELAY, GOODPUT, LOSS
from aqmlab_papers.redtail import measures as m

BEFORE = (m.SETTLED, 100.0)
MANY = (120.0, 300.0)
"""The periods with 20 and with 40 flows (s)."""
MOST = Tolerance(50, "%", "most of the time, in section V's words")
UNSTATED = "The paper does not state the weight of its average, on which the verdict depends."


@claim(
    "a large dropping probability (0.05) … a much lower average dropping probability (0.014",
    "Section V, Fig. 11",
    "fig11",
)
@tolerance(m.ONE_RUN)
def low_drop_probability(dynamic: Runs, weights: Runs, *, tolerance: Tolerance) -> Judgement:
    """The drop probability is 0.05 with fixed thresholds, and much lower, by half at least, with moving ones: 0.014."""
    fixed = dynamic.from_series(m.FIXED, m.mean_over(m.P, m.SETTLED))
    few, many = (dynamic.from_series(m.FIXED, m.mean_over(m.P, *period)) for period in (BEFORE, MANY))
    checks = [Effect("mean p, fixed thresholds").near(fixed, 0.05, tolerance)]
    for weight, moving in means_of_p(weights).items():
        checks += [
            Effect(f"mean P, moving thresholds, weight {weight:g}").near(moving, 0.014, tolerance),
            Effect(f"mean P of moving thresholds over p of fixed ones, weight {weight:g}").of(moving / fixed, most=0.5),
        ]
    return Judgement(
        checks,
        f"Fixed thresholds have {few:.3f} with 20 flows and {many:.3f} with 40; the paper does not say of which 0.05 "
        f"is. {UNSTATED}",
    )


def means_of_p(weights: Runs) -> dict[float, PerSeed]:
    """Return the mean of moving thresholds' average P by its weight."""
    read = m.mean_over("mean_p.mean", m.SETTLED)
    return {
        weight: weights.from_series(m.DYNAMIC, read, {m.OWN_WEIGHT: weight}) for weight in weights.points(m.OWN_WEIGHT)
    }


@claim(
    "This scheme is able to keep the packet dropping probability within a desired small region",
    "Abstract, Section V, Fig. 11",
    "fig11 weights",
)
@tolerance(MOST)
def keeps_in_band(weights: Runs, *, tolerance: Tolerance) -> Judgement:
    """Moving thresholds keep the average drop probability in (0.01, 0.02) most of the time."""
    read = m.share_in("mean_p.mean", m.ALONE_BAND, m.SETTLED)
    means = means_of_p(weights)
    checks = [
        Effect(f"time that P is in 0.01 to 0.02, weight {weight:g}").of(
            weights.from_series(m.DYNAMIC, read, {m.OWN_WEIGHT: weight}, unit="%"), least=tolerance.value
        )
        for weight in means
    ]
    return Judgement(
        checks,
        f"{UNSTATED} With {min(means):g} P averages 13 s of packets and is {means[min(means)]:.4f}, near the printed "
        f"0.014; with {max(means):g}, as of the averaged queue, it averages 0.7 s, swings as p does and is "
        f"{means[max(means)]:.4f}.",
    )


@claim("the fixed threshold scheme has a small queue length variation", "Section V, Fig. 10", "fig10")
@tolerance(50, "% of it", "small beside the other: less than half")
def fixed_is_steady(dynamic: Runs, *, tolerance: Tolerance) -> Judgement:
    """With fixed thresholds the queue varies little."""
    checks = dynamic.compare("queue_std", m.FIXED, [m.DYNAMIC], better="lower", tolerance=tolerance)
    return Judgement(checks, "Moving thresholds let the queue take up the load; it is long while there are 40 flows.")


@claim("but a higher packet delay", "Section V, Fig. 10", "fig10")
@tolerance(DELAY)
def costs_delay(dynamic: Runs, *, tolerance: Tolerance) -> Judgement:
    """Moving thresholds cost a higher delay."""
    return Judgement(
        dynamic.compare(m.DELAY, m.DYNAMIC, [m.FIXED], better="higher", tolerance=tolerance),
        "At the same rate a lower loss needs larger windows, and they wait in the queue.",
    )


@claim("each FTP connection has the same throughput", "Section V", "fig10")
@tolerance(0.02, "", "Jain's index of 0.98 is rates that differ by 14 %, the randomness of equal flows")
def equal_shares(dynamic: Runs, *, tolerance: Tolerance) -> Judgement:
    """Each FTP connection has the same throughput, as the others and with either scheme."""
    flows = {"ftp": "that stay", "more": "that come and leave"}
    checks = [
        Effect(f"Jain's index of the 20 flows {whose}, {label.lower()}").of(
            dynamic.per_seed(m.of(entry, "jain"), label), least=1 - tolerance.value
        )
        for entry, whose in flows.items()
        for label in (m.FIXED, m.DYNAMIC)
    ]
    same = Tolerance(2, "% of it", "as beside web traffic")
    for entry, whose in flows.items():
        name = f"throughput of the flows {whose}"
        checks += dynamic.compare(m.of(entry, m.RATE), m.DYNAMIC, [m.FIXED], better="equal", tolerance=same, name=name)
    return Judgement(
        checks,
        "Equal flows have one round-trip time and see one drop probability, and a link that is full with both schemes "
        "gives them the same.",
    )


@claim(
    "with a much lower packet loss rate, the dynamic threshold scheme achieves a higher goodput",
    "Section V; section I has 'high goodput (low packet dropping rate)'",
    "fig10 goodput",
)
@tolerance(GOODPUT)
def higher_goodput(dynamic: Runs, *, tolerance: Tolerance) -> Judgement:
    """Moving thresholds make a higher goodput: more of the packets sent arrive, and receivers get more."""
    sent = [100 - dynamic.per_seed(m.LOSS, label) for label in (m.DYNAMIC, m.FIXED)]
    goodput = [dynamic.per_seed("goodput", label) for label in (m.DYNAMIC, m.FIXED)]
    return Judgement(
        [
            m.versus("delivered over sent, with moving thresholds over fixed", sent, "higher", tolerance),
            m.versus("goodput of the link with moving thresholds over fixed", goodput, "higher", tolerance),
        ],
        "Section I's bracket takes goodput for a low dropping rate, which the first part measures. Receivers hardly "
        "get more: a packet dropped in front of a full link takes none of its time.",
    )


@claim("This high dropping probability causes frequent retransmissions", "Section V", "goodput")
@tolerance(50, "% of it", "frequent: half as many again")
def frequent_retransmissions(dynamic: Runs, *, tolerance: Tolerance) -> Judgement:
    """The high drop probability of fixed thresholds causes frequent retransmissions."""
    return Judgement(
        dynamic.compare("retransmits", m.FIXED, [m.DYNAMIC], better="higher", tolerance=tolerance),
        "What is dropped is sent again. That it makes a low goodput is judged by higher-goodput.",
    )


@claim(
    "the floating thresholds do not change the current slope of dropping probability function dramatically",
    "Section V",
    "slope",
)
@tolerance(1.5, "", "dramatic: half as much again, as of the queue when web traffic comes")
def slope_stays(dynamic: Runs, *, tolerance: Tolerance) -> Judgement:
    """With `PU` below Pmax the slope of the drop probability hardly changes."""
    moving, fixed = (
        dynamic.from_series(label, m.mean_over("max_p.mean", *MANY))
        / dynamic.from_series(label, m.mean_over("max_p.mean", *BEFORE))
        for label in (m.DYNAMIC, m.FIXED)
    )
    least = dynamic.from_series(m.DYNAMIC, lambda frame: float(m.between(frame, m.SETTLED)["max_p.min"].min()))  # type: ignore[arg-type]
    return Judgement(
        [
            Effect("Pmax with 40 flows over that with 20, moving thresholds").of(
                moving, least=1 / tolerance.value, most=tolerance.value
            )
        ],
        f"Pmax is never below {least:.3f}, and so above PU. The thresholds take up the load in place of Pmax, which "
        f"fixed thresholds must raise {fixed:.1f}-fold.",
    )


@claim("allows us to consider the trade-off between packet loss and queuing delay", "Section V", "trade-off")
@tolerance(m.BOTH)
def trade_off(bands: Runs) -> Judgement:
    """The band of P trades loss for delay."""
    low, middle, high = ({"aqm.p_l": value} for value in bands.points("aqm.p_l"))
    measures: tuple[tuple[str, str, Better], ...] = ((m.LOSS, "loss", "lower"), (m.DELAY, "delay", "higher"))
    checks = [
        m.versus(
            f"{name} with a band of half the P, {text}",
            (bands.per_seed(metric, m.DYNAMIC, at) for at in pair),
            better,
            m.COUNTS[metric],
        )
        for metric, name, better in measures
        for text, pair in (("(0.005, 0.01)", (low, middle)), ("(0.01, 0.02)", (middle, high)))
    ]
    return Judgement(
        checks, "By the square-root law half the loss makes windows 1.4 times as large, and the queue holds the rest."
    )


@claim(
    "connections with shorter link propagation delays and higher throughputs can be suppressed by raising the "
    "queue length thresholds",
    "Sections V and VII",
    "mixed",
)
@tolerance(GOODPUT)
def fairer(mixed: Runs, *, tolerance: Tolerance) -> Judgement:
    """Raised thresholds hold back flows of short round trips, so that throughputs are fairer."""
    ratio = [
        mixed.per_seed(m.of("near", m.RATE), label) / mixed.per_seed(m.of("far", m.RATE), label)
        for label in (m.DYNAMIC, m.FIXED)
    ]
    return Judgement(
        [
            m.versus(
                "ratio of the rates, near over far, with raised thresholds over fixed ones", ratio, "lower", tolerance
            )
        ],
        f"{ratio[0]:.2f} instead of {ratio[1]:.2f}: a flow's rate goes as one over its round trip, and waiting in a "
        "long queue is most of every flow's round trip. The flows of one queue are judged.",
    )


@claim(
    "The dropping probability stays in the desired region most of the time as expected", "Section V, Fig. 12", "fig12"
)
@tolerance(MOST)
def stays_in_band(n: Runs, weights_web: Runs, *, tolerance: Tolerance) -> Judgement:
    """In RED+Tail moving thresholds keep the average drop probability in (0.005, 0.010) most of the time."""

    def inside(runs: Runs, at: At, weight: float) -> Check:
        share = m.share_in("average", m.BESIDE_BAND, m.SETTLED)
        found = runs.from_series(m.DYNAMIC, lambda frame: share(m.averaged(frame, m.ARRIVALS2, weight)), at, unit="%")
        after = f"N = {at.get(m.N, m.CHOSEN[m.N])}, weight {weight:g}"
        return Effect(f"time that P is in 0.005 to 0.01, {after}").of(found, least=tolerance.value)

    return Judgement(
        [inside(n, {m.N: after}, m.WEIGHTS[-1]) for after in n.points(m.N)]
        + [inside(weights_web, {m.LONG_WEIGHT: one}, one) for one in weights_web.points(m.LONG_WEIGHT)],
        f"{UNSTATED} The less each arrival weighs, the less P follows the swings of p that bursts of the web make. P "
        "is computed from the recorded p and arrivals of the long queue, as the engine averages it.",
    )


@claim(
    "without increasing the queue length q2(t) and the dropping probability dramatically", "Section V, Fig. 12", "fig12"
)
@tolerance(1.5, "", "dramatic: half as much again")
def calm_step(time: Runs, *, tolerance: Tolerance) -> Judgement:
    """When web traffic comes, neither the long queue nor its drop probability rises dramatically."""
    checks, texts = [], []
    for column, name in ((m.Q2, "mean of the long queue"), (m.P, "mean p")):
        before, after = (
            time.from_series(m.DYNAMIC, m.mean_over(column, *period)) for period in (BEFORE, m.ALL_TRAFFIC)
        )
        checks.append(Effect(f"{name} after web traffic came / before").of(after / before, most=tolerance.value))
        texts.append(f"{name} {before:.3g} to {after:.3g}")
    return Judgement(
        checks, f"{', '.join(texts)}. The rate that is left is smaller, and the same queue a longer round trip."
    )


@claim("The packet loss rate of FTP connection is reduced from 2.747%", "Section V, Table IV, Fig. 13", "table4 fig13")
@tolerance(50, "% of it", "a third in print, by either of the numbers that it has; at most half")
def far_less_lost(dynamic_web: Runs, *, tolerance: Tolerance) -> Judgement:
    """FTP then loses far less: in print 0.9 instead of 2.7 %."""
    rate, wait = m.TABLE_4["FTP"][2] / 10, m.TABLE_4["FTP"][1] / 1e3 + 0.064
    return Judgement(
        dynamic_web.compare(
            m.of("FTP", m.LOSS), m.DYNAMIC, [m.HERO], better="lower", tolerance=tolerance, name="loss of FTP"
        ),
        "N and C1max are fitted to both losses among others, which says little for the part itself. FTP loses "
        f"{dynamic_web.per_seed(m.of('FTP', m.LOSS), m.DYNAMIC)}; at the rate and delay of Table IV ten flows would "
        f"lose {100 * float(tcp.loss(rate, wait)):.1f} % by Padhye's law, not the printed 0.9.",
    )


@claim("at the cost of packet delay (increased from 0.184s to 0.318s)", "Section V, Table IV, Fig. 14", "table4 fig14")
@tolerance(m.ONE_RUN)
def at_its_cost(dynamic_web: Runs, *, tolerance: Tolerance) -> Judgement:
    """It costs delay: FTP waits 0.318 instead of 0.184 s."""
    delay, rate = (dynamic_web.per_seed(m.of("FTP", metric), m.DYNAMIC) for metric in (m.DELAY, m.RATE))
    queue = dynamic_web.per_seed(m.LONG + "queue_mean", m.DYNAMIC)
    windows = rate.to("kB/s") * (delay / 1e3 + m.PROPAGATION) / 10
    return Judgement(
        [
            *dynamic_web.compare(
                m.of("FTP", m.DELAY), m.DYNAMIC, [m.HERO], better="higher", tolerance=DELAY, name="delay of FTP"
            ),
            Effect("delay of FTP with moving thresholds").near(delay, m.TABLE_4["FTP"][1], tolerance),
        ],
        f"With so few losses a flow has {windows:.0f} packets on its way, of which most wait: {queue:.0f} packets of "
        f"queue, which at FTP's rate take {delay}. No setting of the calibration has the printed delay, nor has one "
        "that counts the 100 s without web.",
    )


@claim("about 80KBytes instead of 60KBytes in the fixed threshold scheme", "Section V", "fig12 fig4")
@tolerance(10, "packets", "'about': half of the difference of the two, so that they can be told apart")
def queue_lengths(dynamic_web: Runs, *, tolerance: Tolerance) -> Judgement:
    """The long queue's mean is about 80 kB with moving thresholds and 60 kB with fixed ones."""
    return Judgement(
        [
            Effect(f"mean of the long queue, {name}").near(
                dynamic_web.per_seed(m.LONG + "queue_mean", label), value, tolerance
            )
            for (label, value), name in zip(m.Q2_KB.items(), ("fixed thresholds", "moving thresholds"), strict=True)
        ],
        "Adaptive RED aims at the middle, 50 packets, as section VI says itself. By Little's law Tables III and IV "
        "have 38.5 and 66.6 kB.",
    )


@claim(
    "experience a higher loss rate from 1.278% to 2.306% and from 0.300% to 0.519%",
    "Section V, Table IV",
    "table4 fig13",
)
@tolerance(LOSS)
def short_loses_more(dynamic_web: Runs, *, tolerance: Tolerance) -> Judgement:
    """Web and CBR lose more with moving thresholds: 2.3 instead of 1.3 %, 0.52 instead of 0.30 %."""
    checks = m.by_owner(dynamic_web, m.LOSS, "loss", (m.DYNAMIC, [m.HERO]), "higher", tolerance)
    return Judgement(checks, "A longer long queue leaves less of the shared buffer for bursts.")


@claim("the average delays of web and UDP packets are slightly shorter", "Section V, Table IV", "table4 fig14 over-n")
@tolerance(DELAY)
def short_waits_slightly_less(n: Runs, *, tolerance: Tolerance) -> Judgement:
    """Web and CBR wait slightly less with moving thresholds: 93 and 91 ms."""
    checks = m.by_owner(n, m.DELAY, "delay", (m.DYNAMIC, [m.HERO]), "lower", tolerance, each=(m.N, "N = {:g}"))
    return Judgement(
        checks,
        "The short queue is cut off where the buffer is full. WEB's mean has the packets of its long files, too, which "
        "wait in the longer long queue, and are the fewer the larger N. Beside: the short queue alone.",
        n.compare(
            m.SHORT + m.DELAY,
            m.DYNAMIC,
            [m.HERO],
            better="lower",
            tolerance=tolerance,
            each=(m.N, "N = {:g}"),
            name="delay of the short queue",
        ),
    )


@claim(
    "the throughputs for the fixed threshold scheme and the dynamic threshold scheme are almost the same",
    "Section V, Tables III and IV",
    "table4",
)
@tolerance(2, "% of it", "almost; within 0.2 % in print")
def same_rates(dynamic_web: Runs, *, tolerance: Tolerance) -> Judgement:
    """Throughputs are almost the same with both."""
    checks = m.by_owner(dynamic_web, m.RATE, "throughput", (m.DYNAMIC, [m.HERO]), "equal", tolerance, owners=m.CLASSES)
    return Judgement(
        checks, "Web and CBR bring what they bring, whatever little they lose, and FTP has the rest of a full link."
    )


@claim(
    "can be improved by increasing the buffer size and using a more aggressive bandwidth allocation policy",
    "Section V",
    "room fig16",
)
@tolerance(m.BOTH)
def more_room(room: Runs) -> Judgement:
    """A larger buffer and a smaller max_th1 improve delay and loss of the short queue."""
    buffers, sizes = room.points("dumbbell.buffer"), room.points(m.MAX_TH1)

    def gain(means: str, buffer: float, size: float) -> list[Check]:
        ends = [{"dumbbell.buffer": buffer, m.MAX_TH1: size}, {"dumbbell.buffer": buffers[0], m.MAX_TH1: sizes[-1]}]
        return [
            m.versus(
                f"{name} of the short queue, {means}",
                (room.per_seed(m.SHORT + metric, m.DYNAMIC, at) for at in ends),
                "lower",
                m.COUNTS[metric],
            )
            for metric, name in ((m.DELAY, "delay"), (m.LOSS, "loss"))
        ]

    return Judgement(
        gain("both means over neither", buffers[-1], sizes[0]),
        "The buffer serves the loss and lets bursts wait longer; max_th1 serves the delay while C1 is below C1max.",
        gain("a buffer of 240 kB over 160 kB", buffers[-1], sizes[-1])
        + gain("max_th1 of 15 kB over 30 kB", buffers[0], sizes[0]),
    )


@claim("Table IV: Loss %, Delay Sec.", "Table IV", "table4")
@tolerance(m.ONE_RUN)
def numbers_of_table_4(dynamic_web: Runs, *, tolerance: Tolerance) -> Judgement:
    """Table IV's losses and delays."""
    found = m.printed_numbers(dynamic_web, {m.DYNAMIC: m.TABLE_4}, tolerance)
    return Judgement(
        [],
        "N and C1max, which are not stated, are fitted to these numbers among others: neither those that are near nor "
        f"those that another setting would meet are a verdict. {m.beyond_bounds(found)}",
        found,
    )
