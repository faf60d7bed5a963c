"""Labels and printed values of the RED+Tail paper, and the quantities read from its runs."""

from collections.abc import Callable, Iterable, Mapping, Sequence

import numpy as np
import polars
from numpy.typing import NDArray

from aqmlab_papers import At, Check, Effect, PerSeed, Printed, Runs, Tolerance
from aqmlab_papers.describe import thresholds
from aqmlab_papers.describe.check import RELATIVE, Better

HERO, ARED, TAIL = "RED+Tail", "Adaptive RED", "DropTail"
DYNAMIC, FIXED = "Dynamic thresholds", "Fixed thresholds"
ONE_DYNAMIC, ONE_FIXED = "One queue, dynamic thresholds", "One queue, fixed thresholds"
CLASSES: Mapping[str, str] = {"FTP": "ftp", "WEB": "web", "CBR": "cbr"}
"""The paper's names of the traffic entries."""
LOSS, DELAY, RATE = "loss_ratio", "queue_delay_mean", "throughput"
COLUMNS: Mapping[str, tuple[str, str]] = {"Loss": (LOSS, "%"), "Delay": (DELAY, "ms"), "Rate": (RATE, "kB/s")}
"""Columns of Tables III and IV, with the metric and our unit; the paper's delays are in s."""

Rows = Mapping[str, tuple[float, float, float]]
TABLE_3: Mapping[str, Rows] = {
    HERO: {"FTP": (2.747, 184, 209.465), "WEB": (1.278, 114, 144.455), "CBR": (0.300, 109, 19.867)},
    ARED: {"FTP": (4.149, 143, 217.531), "WEB": (4.514, 143, 137.124), "CBR": (3.950, 141, 19.140)},
    TAIL: {"FTP": (1.916, 349, 215.243), "WEB": (4.234, 340, 138.983), "CBR": (1.550, 342, 19.601)},
}
TABLE_4: Rows = {"FTP": (0.899, 318, 209.455), "WEB": (2.306, 93, 144.505), "CBR": (0.519, 91, 19.827)}
Q2_KB: Mapping[str, float] = {HERO: 60, DYNAMIC: 80}
"""Printed means of the long queue (kB)."""

RATE_BYTES, LINK = 375e3, 3e6
"""The bottleneck of the web scenario, in bytes/s and bit/s."""
FULL = 1000.0
PAYLOAD = FULL - 40
"""A full packet, and its payload (bytes)."""
BAND = (20.0, 80.0)
"""The thresholds of Table II (packets of 1000 bytes)."""
ALONE_BAND, BESIDE_BAND = (0.01, 0.02), (0.005, 0.01)
"""P_L and P_U of moving thresholds, alone and in RED+Tail."""
OWN_WEIGHT, LONG_WEIGHT, WEIGHTS = "aqm.w_p", "aqm.long.w_p", [0.0001, 0.0005, 0.002]
"""The weight of an arrival in the average drop probability, alone and in RED+Tail; the last value is as shipped."""
N, T, C1_MAX = "aqm.n", "aqm.t", "aqm.c1_max"
CHOSEN = {N: 256, C1_MAX: 0.5}
"""As calibrated: after how many packets a pair is long, and the largest share of the short queue."""
NO_C1_MAX = "The paper does not print C1max: the calibrated one and C, which its analysis has, are judged."
PROPAGATION = 0.064
"""Round trip of FTP without queues (s)."""
LONG, SHORT = "lanes.bottleneck.long.", "lanes.bottleneck.short."
"""Metrics of RED+Tail's queues of long and of short flows, as prefixes of columns of `Runs.frame`."""
SHORT_DELAY = SHORT + DELAY
MAX_TH1, SIZE, COUNT = "aqm.max_th1", "traffic.file.size", "traffic.ftp.count"
FLOWS_ALONE, ALL_TRAFFIC = (20.0, 100.0), (100.0, 500.0)
"""The periods with long flows alone, and with web traffic too (s)."""
SETTLED = 20.0
"""Time at which the first flows have left slow start (s)."""
RULE, PREDICTION, LONG_MEAN, FIRST = HERO, "RED+Tail, prediction", "RED+Tail, long mean", "short queue first"
STEP = 0.1
"""Step of the recorded series (s)."""
INTERVALS = {"100 ms": 0.1, "500 ms": 0.5, "1 s": 1.0}
WEB_BEGIN = 100.0
"""Start of the web traffic (s)."""


def of(owner: str, metric: str) -> str:
    """Return the column of a traffic entry's metric. ``owner`` is ``FTP``, ``WEB`` or ``CBR``, or the entry's name."""
    return f"classes.{CLASSES.get(owner, owner)}.{metric}"


def bound(size: float) -> float:
    """Return max_th1 / C in ms."""
    return 8e3 * size / LINK


def between(frame: polars.DataFrame, start: float, end: float = float("inf")) -> polars.DataFrame:
    """Return the bins of a series that begin between two times (s)."""
    return frame.filter((polars.col("t") >= start) & (polars.col("t") < end))


Reading = Callable[["polars.DataFrame"], float]


def mean_over(column: str, start: float, end: float = float("inf"), scale: float = 1.0) -> Reading:
    """Create a reading of a column's mean between two times (s)."""
    return lambda frame: scale * float(between(frame, start, end)[column].mean())  # type: ignore[arg-type]


def spread_over(column: str, start: float, end: float = float("inf")) -> Reading:
    """Create a reading of a column's standard deviation between two times (s)."""
    return lambda frame: float(between(frame, start, end)[column].std())  # type: ignore[arg-type]


def share_in(column: str, band: tuple[float, float], start: float, end: float = float("inf")) -> Reading:
    """Create a reading of the share of time (%) that a column is in a band."""
    return lambda frame: 100 * float(between(frame, start, end)[column].is_between(*band).mean())  # type: ignore[arg-type]


def averaged(frame: polars.DataFrame, arrivals: str, weight: float = WEIGHTS[-1]) -> polars.DataFrame:
    """Add section V's average P, with a weight for each arrival, as a column ``average``: RED+Tail records p alone."""
    found, mean = [], 0.0
    for p, count in frame.select(polars.col(P).fill_null(0.0), arrivals).iter_rows():
        mean += (1 - (1 - weight) ** count) * (p - mean)
        found.append(mean)
    return frame.with_columns(average=polars.Series(found))


Q, Q2, ARRIVALS2, P = "queue.mean", "lane.long.queue.mean", "lane.long.arrivals", "p.mean"
"""Columns of the series: the queue, RED+Tail's long one, the arrivals in that, and the drop probability."""
ONE_RUN = Tolerance(
    25, "% of it", "one run of unknown length: most of our own numbers vary by 5 to 12 % from seed to seed"
)
BOTH = Tolerance(
    thresholds.LOSS.value, RELATIVE, f"of a loss; {thresholds.DELAY.value:g} % of a delay", negligible=True
)
"""Of claims on loss and on delay."""
SLIGHTLY = Tolerance(
    35,
    RELATIVE,
    "'slightly': at most twice what is in print, where delays are slightly shorter by 17 and 18 %",
)
DRAMATIC = Tolerance(1.5, "", "'dramatic': half as much again")
COUNTS: Mapping[str, Tolerance] = {LOSS: thresholds.LOSS, DELAY: thresholds.DELAY}
"""The difference that counts in a metric."""


def swing(runs: Runs, column: str, label: str, period: tuple[float, float]) -> PerSeed:
    """Return the standard deviation of a series in a period."""
    return runs.from_series(label, spread_over(column, *period))


def versus(effect: str, pair: Iterable[PerSeed], better: Better, tolerance: Tolerance) -> Check:
    """Check how the first of two quantities compares with the second."""
    one, other = pair
    return Effect(effect).better(one, other, better, tolerance)


def around(effect: str, values: PerSeed, value: float, tolerance: Tolerance) -> Check:
    """Check that a quantity is a number that is not printed, such as a law's, within a tolerance."""
    least, most = tolerance.around(value)
    return Effect(effect).of(values, least=least, most=most)


def by_owner(
    runs: Runs,
    metric: str,
    name: str,
    pair: tuple[str, Sequence[str]],
    better: Better,
    tolerance: Tolerance,
    *,
    owners: Iterable[str] = ("WEB", "CBR"),
    each: tuple[str, str] | None = None,
) -> list[Check]:
    """Check how a discipline compares with others in a metric of several traffic entries."""
    label, others = pair
    return [
        check
        for owner in owners
        for check in runs.compare(
            of(owner, metric), label, others, better=better, tolerance=tolerance, each=each, name=f"{name} of {owner}"
        )
    ]


def over_n(n: Runs | None, check: Callable[[Runs, At, str], Check]) -> list[Check]:
    """Repeat at other N, if there are runs of them, a check that is judged at the calibrated one."""
    if n is None:
        return []
    return [check(n, {N: after}, f", N = {after}") for after in n.points(N) if after != CHOSEN[N]]


def printed_numbers(
    runs: Runs, tables: Mapping[str, Rows], tolerance: Tolerance, at: At | None = None, where: str = ""
) -> list[Check]:
    """Check the losses and delays of a table of printed values."""
    return [
        Effect(f"{column.lower()} of {owner}, {label}{where}").near(
            runs.per_seed(of(owner, metric), label, at), rows[owner][place], tolerance
        )
        for label, rows in tables.items()
        for owner in CLASSES
        for place, (column, (metric, _)) in enumerate(COLUMNS.items())
        if column != "Rate"
    ]


def farthest(runs: Runs, tables: Mapping[str, Rows], tolerance: Tolerance, key: str, form: str) -> Check:
    """Check the printed number from which a fitted parameter departs most, at the value that departs least.

    A number to which a parameter is fitted is no test where it comes near. That no value meets all together is.
    """
    nearest = [
        max(printed_numbers(runs, tables, tolerance, {key: one}, f", {form.format(one)}"), key=_departure)
        for one in runs.points(key)
    ]
    return min(nearest, key=_departure)


def _departure(check: Check) -> float:
    printed = (check.least + check.most) / 2
    return abs(check.value / printed - 1)


def forecast_rates(runs: Runs, label: str, seed: int, begin: float) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return predicted and actual rates of each interval from `begin` on (bit/s)."""
    frame = runs.series(label, seed=seed)
    frame = frame.filter(frame["t"] > begin - STEP / 2)
    group = round(INTERVALS[label] / STEP)
    whole = len(frame) // group * group
    predicted, last = (
        frame[f"bottleneck.{name}.mean"].to_numpy()[:whole].reshape(-1, group).mean(axis=1) for name in ("demand", "r")
    )
    # The arrivals of an interval are available in the next one.
    return predicted[:-1], last[1:]


def over_bound(runs: Runs, metric: str | polars.Expr, label: str) -> list[PerSeed]:
    """Return a delay in ms over max_th1 / C at each value of max_th1."""
    return [
        (runs.per_seed(metric, label, {MAX_TH1: size}) / bound(size)).called("delay over max_th1 / C", "")
        for size in runs.points(MAX_TH1)
    ]


def deviation(runs: Runs, owner: str, label: str, at: At | None = None, kind: str = "delay") -> PerSeed:
    """Return the standard deviation of a traffic entry's one-way delays or completion times (s)."""
    entry = CLASSES.get(owner, owner)
    percentiles = runs.distribution(kind, label, entry, at)
    means = runs.per_seed(of(entry, f"{kind}_mean"), label, at, unit="s").values
    found = {
        seed: spread_of(one, mean) for one, (seed, mean) in zip(percentiles, means.items(), strict=False)
    }  # of the first seeds
    return PerSeed.of(found, "s", f"deviation of the {kind.replace('_', ' ')} of {owner}")


def spread_of(percentiles: Sequence[float], mean: float | None) -> float | None:
    """Return the standard deviation of values by their percentiles 0 to 100 and their mean; None without values.

    Between percentiles values are taken as uniform, beyond the 99th as exponential, with the mean that remains.
    """
    if not percentiles or mean is None:
        return None
    q = np.asarray(percentiles[:100])
    low, high = q[:-1], q[1:]
    excess = max(0.0, 100 * mean - float((low + high).sum()) / 2 - float(q[-1]))
    square = float((low * low + low * high + high * high).sum()) / 3
    square += float(q[-1]) ** 2 + 2 * float(q[-1]) * excess + 2 * excess**2
    return float(np.sqrt(max(0.0, square / 100 - mean**2)))


def printed() -> list[Printed]:
    """Return all numbers of Tables III and IV and the printed lengths of the long queue, for the calibration."""
    tables = [(label, "web", "Table III", rows, label) for label, rows in TABLE_3.items()]
    tables.append((DYNAMIC, "dynamic-web", "Table IV", TABLE_4, "RED+Tail, moving thresholds"))
    return [
        *(
            Printed(
                f"{column.lower()} of {owner}, {name}",
                rows[owner][place],
                unit,
                where,
                runs,
                _reader(of(owner, metric), label, unit),
            )
            for label, runs, where, rows, name in tables
            for owner in CLASSES
            for place, (column, (metric, unit)) in enumerate(COLUMNS.items())
        ),
        *(
            Printed(
                f"mean of the long queue, {label}",
                length,
                "packets",
                "Section V",
                "dynamic-web",
                _reader(LONG + "queue_mean", label),
            )
            for label, length in Q2_KB.items()
        ),
    ]


def _reader(metric: str, label: str, unit: str | None = None) -> Callable[[Runs], PerSeed]:
    return lambda runs: runs.per_seed(metric, label, unit=unit)
