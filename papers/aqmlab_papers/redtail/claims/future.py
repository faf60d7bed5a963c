"""Claims on the future work that the authors list: bandwidth by prediction, the best one, and several RED queues."""

from collections.abc import Callable, Iterable, Mapping
from functools import partial
from itertools import compress

import numpy as np
from numpy.typing import NDArray

from aqmlab_papers import At, Check, Effect, Judgement, PerSeed, Runs, Tolerance, claim, ours, tolerance
from aqmlab_papers.describe import thresholds
from aqmlab_papers.describe.check import Better
from aqmlab_papers.redtail import measures as m

_STEADY = 110.0
"""Start of the judgement of predictions (s), which excludes the beginning of the web."""
_WHERE = "Section VII leaves allocation by prediction to the future"
_SCHEDULED = "Sections V and VII hope for fairness among several queues, and do not say what serves them"
FTP_KEEPS = 90.0
"""The least share (%) of its rate with Adaptive RED that an allocation leaves FTP: 'slightly' slower in section IV."""
_EACH = (m.MAX_TH1, "max_th1 = {:g} B")


def hurst(counts: NDArray[np.float64], step: float) -> float:
    """Estimate the Hurst parameter H: the variance of means over 0.2 to 25 s falls as the power 2 H - 2 of the time."""
    times, variances = [], []
    for group in np.unique(np.rint(np.geomspace(0.2, 25, 12) / step).astype(int)):
        whole = len(counts) // group * group
        times.append(group * step)
        variances.append(counts[:whole].reshape(-1, group).mean(axis=1).var())
    return 1 + float(np.polyfit(np.log(times), np.log(variances), 1)[0]) / 2


@claim("web traffic is strongly correlated and has a long range dependency property", "Section VII", "forecast")
@tolerance(
    0.1,
    "",
    "independent counts have 0.5, and the estimate from 200 s is accurate to about a tenth; strong is a "
    "correlation of 0.5 or more, as usual",
)
def long_range(forecast: Runs, *, tolerance: Tolerance) -> Judgement:
    """Web traffic is strongly correlated from one interval to the next, and has long-range dependence."""

    def arrivals(label: str, column: str, read: Callable[[NDArray[np.float64]], float]) -> PerSeed:
        return forecast.from_series(
            label, lambda frame: read(m.between(frame, _STEADY)[column].to_numpy().astype(float))
        )

    def dependence(whose: str, column: str) -> Check:
        found = arrivals(forecast.labels[0], column, lambda counts: hurst(counts, m.STEP))
        return Effect(f"Hurst parameter of {whose} arrivals, from 0.2 to 25 s").of(found, least=0.5 + tolerance.value)

    correlations = [
        Effect(f"correlation of the web's arrivals with those before, intervals of {label}").of(
            arrivals(label, "web.arrivals", partial(serial_correlation, group=round(interval / m.STEP))), least=0.5
        )
        for label, interval in m.INTERVALS.items()
    ]
    return Judgement(
        [dependence("the web's", "web.arrivals"), *correlations],
        "The sentence is on the web, and what is judged is the paper's model of it, whose files have sizes of no "
        "finite variance: they make the long range. The correlation from one interval to the next is "
        f"{min(one.value for one in correlations):.2f} to {max(one.value for one in correlations):.2f}; the "
        "intervals, and 0.5 as the least that is strong, are our choice. Beside is the short queue, to which only the "
        "first packets of each pair come.",
        [dependence("the short queue's", "lane.short.arrivals")],
    )


def serial_correlation(counts: NDArray[np.float64], group: int) -> float:
    """Return the correlation of the counts of an interval of ``group`` bins with those of the one before."""
    sums = counts[: len(counts) // group * group].reshape(-1, group).sum(axis=1)
    return float(np.corrcoef(sums[:-1], sums[1:])[0, 1])


def foreseen(came: NDArray[np.float64]) -> float:
    """Return the squared error that a regression on the last interval saves (%), compared with the mean.

    Both are of the first half of the intervals, and tested on the second.
    """
    half = len(came) // 2
    slope, level = np.polyfit(came[: half - 1], came[1:half], 1)
    errors = [came[half:] - guess for guess in (slope * came[half - 1 : -1] + level, came[:half].mean())]
    return 100 * (1 - float((errors[0] ** 2).mean() / (errors[1] ** 2).mean()))


@claim("the future bandwidth demand of the web traffic is predictable", "Section VII", "forecast")
@tolerance(10, "%", "a tenth of the squared error, a twentieth of the error")
def predictable(forecast: Runs, *, tolerance: Tolerance) -> Judgement:
    """What the web wants can be predicted from its recent past."""

    def saved(label: str, read: Callable[[NDArray[np.float64], NDArray[np.float64]], float]) -> PerSeed:
        rates = {seed: m.forecast_rates(forecast, label, seed, _STEADY) for seed in forecast.study.seeds}
        return PerSeed.of({seed: read(*pair) for seed, pair in rates.items()}, "%")

    def by_holt(predicted: NDArray[np.float64], came: NDArray[np.float64]) -> float:
        return 100 * (1 - float(((predicted - came)[1:] ** 2).mean()) / float(came[1:].var()))

    checks, beside = (
        [
            Effect(f"squared error that {name} saves to the mean, intervals of {label}").of(
                saved(label, read), least=tolerance.value
            )
            for label in forecast.labels
        ]
        for name, read in (
            ("a regression on the last interval", lambda _, came: foreseen(came)),
            ("Holt's smoothing", by_holt),
        )
    )
    return Judgement(
        checks,
        "The paper names no predictor, and the simplest that uses the correlation is a regression on the last "
        "interval, from the first half of the run. With intervals of 100 ms it saves less than a tenth, and with "
        "longer ones about a tenth. Beside is the predictor of `prediction`, whose trend takes a burst for a rise.",
        beside,
    )


@ours(_WHERE, "prediction")
@tolerance(thresholds.DELAY)
def prediction_delay(prediction: Runs, *, tolerance: Tolerance) -> Judgement:
    """Allocation by prediction shortens the delay of short flows."""
    checks, beside = (
        prediction.compare(metric, m.PREDICTION, [m.RULE], better="lower", tolerance=tolerance, each=_EACH)
        for metric in (m.SHORT_DELAY, m.of("WEB", m.DELAY))
    )
    waits = ", ".join(
        f"{prediction.per_seed(m.SHORT_DELAY, label, {m.MAX_TH1: 30e3}).mean:.0f}" for label in prediction.labels
    )
    return Judgement(
        checks,
        f"With the paper's max_th1 of 30 kB the mean delays are {waits} ms: with a rate by the queue's length, by a "
        "prediction, by a mean of the last 10 s in its place, and if the short queue is always served first. The rate "
        "that is predicted is served without a queue that would have to ask for it.",
        beside,
    )


@ours(_WHERE, "prediction")
@tolerance(50, "%", "the effect is the prediction's if a mean has at most half of it")
def prediction_mean(prediction: Runs, *, tolerance: Tolerance) -> Judgement:
    """It is the prediction that helps: a mere mean of the last 10 s helps less, by half or more."""
    checks = []
    for size in prediction.points(m.MAX_TH1):
        rule, ours, averaged = (
            prediction.per_seed(m.SHORT_DELAY, label, {m.MAX_TH1: size})
            for label in (m.RULE, m.PREDICTION, m.LONG_MEAN)
        )
        share = 100 * (1 + (rule - averaged).excess(rule - ours, tolerance.value / 100 - 1))
        checks.append(
            Effect(f"share of the reduction that the long mean has as well, max_th1 = {size / 1e3:g} kB").of(
                share, unit="%", most=tolerance.value
            )
        )
    return Judgement(
        checks,
        "Both serve the mean rate without a queue that would have to ask for it. A burst raises C1 by the queue's "
        "length before an interval of 100 ms has counted it, so that its prediction comes too late to help.",
    )


@ours(_WHERE, "prediction")
@tolerance(20, "% of it", "'is'; far below is less than half")
def prediction_bound(prediction: Runs, *, tolerance: Tolerance) -> Judgement:
    """The short queue's delay is max_th1 / C by the present rule, and far below with a prediction."""
    checks = []
    for size in prediction.points(m.MAX_TH1):
        rule, ours = (
            prediction.per_seed(m.SHORT_DELAY, label, {m.MAX_TH1: size}) / m.bound(size)
            for label in (m.RULE, m.PREDICTION)
        )
        place = f"short queue's delay over max_th1 / C = {m.bound(size):.0f} ms"
        checks += [
            m.around(f"{place}, {m.RULE}", rule.called("", ""), 1, tolerance),
            Effect(f"{place}, {m.PREDICTION}").of(ours, unit="", most=0.5),
        ]
    return Judgement(
        checks,
        "By the present rule a steady rate r has C1 = r at q1 = r max_th1 / C, and so a delay of max_th1 / C, whatever "
        "r is. By either rule a packet also waits for the one in transmission, 2.7 ms, and a burst beyond C1max for "
        "its turn.",
    )


@ours(_WHERE, "prediction")
@tolerance(thresholds.TIME)
def prediction_files(prediction: Runs, *, tolerance: Tolerance) -> Judgement:
    """Allocation by prediction delivers web files sooner."""
    checks = prediction.compare(
        m.of("WEB", "completion_time_mean"), m.PREDICTION, [m.RULE], better="lower", tolerance=tolerance, each=_EACH
    )
    return Judgement(
        checks, "A small file takes a handful of round trips, each with the delay of the short queue in it."
    )


@ours(_WHERE, "prediction")
@tolerance(5, "% of it", "little: a twentieth")
def prediction_cost(prediction: Runs, *, tolerance: Tolerance) -> Judgement:
    """Long flows pay little for it."""
    costs: tuple[tuple[str, Better], ...] = ((m.DELAY, "not higher"), (m.RATE, "not lower"))
    checks = [
        one
        for metric, better in costs
        for one in prediction.compare(
            m.of("FTP", metric), m.PREDICTION, [m.RULE], better=better, tolerance=tolerance, each=_EACH
        )
    ]
    return Judgement(
        checks,
        "Whatever comes in the short queue is sent sooner or later, and takes as much from the long flows by either "
        "rule.",
    )


@ours(_WHERE, "prediction")
@tolerance(0.2, "%", "less than 4.2 and 4.5 % differ by, losses of the web that section IV calls similar")
def prediction_loss(prediction: Runs, *, tolerance: Tolerance) -> Judgement:
    """Allocation by prediction loses no more of the web."""
    checks = prediction.compare(
        m.of("WEB", m.LOSS), m.PREDICTION, [m.RULE], better="not higher", tolerance=tolerance, each=_EACH
    )
    return Judgement(
        checks, "The short queue loses only what the shared buffer has no room for; the rest is drops of long files."
    )


@ours(_SCHEDULED, "queues")
@tolerance(thresholds.GOODPUT)
def between_queues(queues: Runs, *, tolerance: Tolerance) -> Judgement:
    """Among queues under deficit round robin, moving thresholds make throughputs no fairer than fixed ones."""

    def ratio(moving: str, fixed: str, better: Better) -> Check:
        pair = (
            queues.per_seed(m.of("near", m.RATE), one) / queues.per_seed(m.of("far", m.RATE), one)
            for one in (moving, fixed)
        )
        where = "one queue" if moving == m.ONE_DYNAMIC else "two queues"
        return m.versus(
            f"rate of the near over that of the far flows, moving over fixed thresholds, {where}",
            pair,
            better,
            tolerance,
        )

    return Judgement(
        [ratio(m.DYNAMIC, m.FIXED, "equal")],
        "The scheduler gives each queue that is never empty the same rate, whatever its thresholds are. In one queue, "
        "beside, they matter.",
        [ratio(m.ONE_DYNAMIC, m.ONE_FIXED, "lower")],
    )


@ours(_SCHEDULED, "queues")
@tolerance(thresholds.DELAY)
def held_by_thresholds(queues: Runs, *, tolerance: Tolerance) -> Judgement:
    """Moving thresholds hold back flows of short round trips by a longer queue, until round trips are alike."""

    def pair(metric: str, label: str = m.DYNAMIC) -> list[PerSeed]:
        return [queues.per_seed(m.of(entry, metric), label) for entry in ("near", "far")]

    def alike(label: str) -> Check:
        return m.versus(
            f"round trip of the near over that of the far flows, {label.lower()}",
            pair("rtt_mean", label),
            "equal",
            thresholds.TIME,
        )

    return Judgement(
        [
            m.versus(
                "delay of the near over that of the far flows, dynamic thresholds", pair(m.DELAY), "higher", tolerance
            ),
            alike(m.DYNAMIC),
        ],
        "By the square-root law flows of the same rate and loss have the same round trip: what the path lacks, the "
        "queue adds. Beside are fixed thresholds, with which the loss differs instead.",
        [alike(m.FIXED)],
    )


@ours(_SCHEDULED, "queues")
@tolerance(thresholds.DEVIATION)
def fairer_within_a_queue(queues: Runs, *, tolerance: Tolerance) -> Judgement:
    """In the queue whose thresholds rise, that of short round trips, rates depend less on round trips."""

    def slope(entry: str) -> Check:
        pair = (-queues.per_seed(m.of(entry, "rtt_bias"), label) for label in (m.DYNAMIC, m.FIXED))
        what = f"slope of the {entry} flows' rates over round trips, in logarithms, moving over fixed thresholds"
        return m.versus(what, pair, "lower", tolerance)

    return Judgement(
        [slope("near")],
        "The longer a queue, the more alike are its flows' round trips. The queue of the far flows, beside, hardly "
        "grows, as their loss is in the band anyway.",
        [slope("far")],
    )


def cost(optimum: Runs, at: At) -> PerSeed:
    """Return the cost of an allocation: the mean completion time of the web's files."""
    return optimum.per_seed(m.of("WEB", "completion_time_mean"), m.HERO, at)


def kept(optimum: Runs, web: Runs, at: At) -> PerSeed:
    """Return the share of its rate with Adaptive RED that an allocation leaves FTP."""
    rate = m.of("FTP", m.RATE)
    return (optimum.per_seed(rate, m.HERO, at) / web.per_seed(rate, m.ARED)).to("%")


@ours("Section VII leaves an optimal allocation to the future, and names no cost", "optimum")
@tolerance(thresholds.TIME)
def far_from_optimal(optimum: Runs, web: Runs, *, tolerance: Tolerance) -> Judgement:
    """As calibrated, RED+Tail delivers web files later than with the best N and C1max that leave FTP its rate."""
    grid = [{m.N: n, m.C1_MAX: most} for n in optimum.points(m.N) for most in optimum.points(m.C1_MAX)]
    lapses = [optimum.per_seed(m.of("FTP", "timeouts"), m.HERO, at).mean for at in grid]
    shares = [kept(optimum, web, at).mean for at in grid]

    def best(allowed: Iterable[bool]) -> dict[str, float]:
        return min(compress(grid, allowed), key=lambda at: cost(optimum, at).mean)

    def named(at: Mapping[str, float]) -> str:
        return f"N = {at[m.N]:g} and C1max = {at[m.C1_MAX]:g} C with {cost(optimum, at)}"

    free, spared = best(share >= FTP_KEEPS for share in shares), best(count <= 1.1 * min(lapses) for count in lapses)
    enough = [share for share, at in zip(shares, grid, strict=True) if at[m.C1_MAX] >= m.CHOSEN[m.C1_MAX]]
    checks = [
        m.versus(
            f"completion time as calibrated over that at the optimum, {what}",
            (cost(optimum, m.CHOSEN), cost(optimum, at)),
            "higher",
            tolerance,
        )
        for what, at in ((f"FTP with {FTP_KEEPS:g} % of its rate", free), ("FTP with the fewest time-outs", spared))
    ]
    return Judgement(
        checks[:1],
        f"The cost is the mean completion time, and the best is {named(free)}. FTP keeps {min(enough):.0f} % of its "
        f"rate and more from C1max = {m.CHOSEN[m.C1_MAX]:g} C on, so that its rate decides nothing. With FTP's "
        "time-outs, against which the paper has C1max, at most a tenth above the fewest, the best is "
        f"{named(spared)} (beside).",
        checks[1:],
    )
