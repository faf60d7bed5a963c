"""The cases of `make coverage`: what is estimated, its true value, and one trial of the rule."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cache

import numpy as np

import aqmlab
from aqmlab import Comparison, Result, Run, Scenario, Summary
from aqmlab.results.batch_means import SHORT, estimate
from aqmlab.runs.stages import Until
from aqmlab.runs.until import NotReached, reach

LINK = """
duration = "{duration} s"
warmup = "{warmup} s"
[dumbbell]
rate = "8 Mbit/s"
buffer = "100000 packets"
access_rate = "1 Gbit/s"
[record]
series = false
"""
POISSON = f"""{LINK}
[[traffic]]
name = "datagrams"
kind = "poisson"
packet_size = "1000 B"
rate = "{{load}} Mbit/s"
"""
"""An M/D/1 queue: a datagram takes 1 ms."""
TCP = f"""{LINK.replace("100000", "60")}
[aqm]
name = "red"
[[traffic]]
name = "long"
count = 5
start = "uniform(0 s, 1 s)"
tcp = "rfc5681"
[[traffic]]
name = "noise"
kind = "poisson"
packet_size = "1000 B"
rate = "1 Mbit/s"
"""


@dataclass(frozen=True)
class Trial:
    """The interval of one trial, and the seeds, or times the duration, that it took."""

    summary: Summary
    amount: float

    def contains(self, truth: float) -> bool:
        """Return whether the interval contains the true value."""
        assert self.summary.mean is not None
        assert self.summary.ci95 is not None
        return abs(self.summary.mean - truth) <= self.summary.ci95


@dataclass(frozen=True)
class Case:
    """A case; `trial` is given its number, of which no two share a random number, and `truth` the true value."""

    name: str
    metric: str
    until: str
    by: str
    trial: Callable[[int], Trial]
    truth: Callable[[], float]


def md1(load: float) -> float:
    """The mean wait of M/D/1 with a service of 1 ms, in s (Pollaczek and Khinchine)."""
    return load / (2 * (1 - load)) * 1e-3


def mm1(load: float) -> float:
    """The mean wait of M/M/1 with a mean service of 1 ms, in s."""
    return load / (1 - load) * 1e-3


def waits(load: float, customers: int, rng: np.random.Generator) -> np.ndarray:
    """Draw the waits of successive customers of an M/M/1 queue in its steady state, by Lindley's recursion."""
    first = rng.exponential(1e-3 / (1 - load)) if rng.random() < load else 0.0
    steps = rng.exponential(1e-3, customers - 1) - rng.exponential(1e-3 / load, customers - 1)
    walk = np.concatenate([[first], first + np.cumsum(steps)])
    # The wait is the walk's height above its lowest point so far, where that is below 0.
    return walk - np.minimum(np.minimum.accumulate(walk), 0.0)


def _of_waits(scenario: Scenario, means: Sequence[float]) -> Result:
    """Return a result whose runs have these mean waits, and no other metric."""
    runs = [
        Run(i, {"queue_delay_mean": mean}, {}, {}, lanes={}, distributions={}, engine={})
        for i, mean in enumerate(means)
    ]
    return Result(scenario, runs, {}, "")


def queue_by_seeds(until: str, load: float, customers: int) -> Callable[[int], Trial]:
    """Return the trial of the rule for seeds, on runs of an M/M/1 queue in Python."""

    def trial(number: int) -> Trial:
        rng = np.random.default_rng([1, number])
        means: list[float] = []

        def stage(wanted: object, progress: object) -> tuple[Comparison, None]:
            assert isinstance(wanted, dict)
            means.extend(float(waits(load, customers, rng).mean()) for _ in range(int(wanted["x"]) - len(means)))
            return Comparison({"x": _of_waits(scenario(), means)}), None

        asked = Until.of(until, most_seeds=100_000)
        assert asked
        results, error = reach(asked.rule, ["x"], stage)
        assert error is None, error
        return Trial(results["x"]["queue_delay_mean"], len(means))

    return trial


def queue_in_one_run(until: str, load: float, customers: int) -> Callable[[int], Trial]:
    """Return the trial of the rule for a long run, on an M/M/1 queue in Python."""

    def trial(number: int) -> Trial:
        made = 0.0

        def stage(wanted: object, progress: object) -> tuple[Comparison, None]:
            nonlocal made
            assert isinstance(wanted, dict)
            made = wanted["x"]
            rng = np.random.default_rng([2, number])
            each = math.ceil(customers * made / SHORT)
            drawn = waits(load, each * SHORT, rng).reshape(SHORT, each)
            found = estimate(list(drawn.sum(axis=1)), [each] * SHORT)
            mean = float(drawn.mean())
            result = _of_waits(scenario(), [mean])
            batches = {"queue_delay_mean": found or Summary(mean, None, None, SHORT)}
            return Comparison({"x": replace(result, batches=batches)}), None

        asked = Until.of(until, most_seeds=100_000, long=True)
        assert asked
        results, error = reach(asked.rule, ["x"], stage)
        assert error is None, error
        return Trial(results["x"]["queue_delay_mean"], made)

    return trial


@cache
def scenario() -> Scenario:
    """A scenario for results that no engine has made."""
    return Scenario.load("quickstart")


LOAD = 0.7
"""The load of the queues; that of `POISSON` is 5.6 of 8 Mbit/s."""

FAR = 1_000_000
"""The distance between the seeds of trials."""


def simulated(
    text: str, metric: str, until: str, long_run: bool = False, warmup: str | None = None
) -> Callable[[int], Trial]:
    """Return the trial of `aqmlab.run` on a scenario."""

    def trial(number: int) -> Trial:
        one = Scenario.parse(text).with_(seed=FAR * (number + 1))
        try:
            result = aqmlab.run(one, until=until, long_run=long_run, most_seeds=20_000, warmup=warmup, jobs=1)
        except NotReached as error:
            raise AssertionError(f"trial {number}: {error}") from error
        measured = result.scenario.duration - result.scenario.warmup
        return Trial(result[metric], measured / (one.duration - one.warmup) if long_run else len(result.runs))

    return trial


def reference(text: str, metric: str, runs: int = 10_000) -> Callable[[], float]:
    """Return a function that estimates the true value from very many seeds, which no trial has."""

    def truth() -> float:
        bare = Scenario.parse(text).with_(seed=1)
        mean = aqmlab.run(bare, seeds=runs).metrics[metric]
        assert mean is not None
        return mean

    return truth


def cases() -> list[Case]:
    """Return the cases; widths are such that some dozens of runs are needed, where it matters most when to stop."""
    wait, goodput, queue = "queue_delay_mean", "goodput", "queue_mean"
    short, long, empty = (
        POISSON.format(duration=duration, warmup=warmup, load=5.6) for duration, warmup in ((4, 1), (9, 1), (9, 0))
    )
    recorded = empty.replace("series = false", "series = true")
    tcp = TCP.format(duration=12, warmup=4)

    def mm1_by_seeds(until: str) -> Case:
        return Case(f"M/M/1, load {LOAD}", wait, until, "seeds", queue_by_seeds(until, LOAD, 20_000), lambda: mm1(LOAD))

    def mm1_in_one_run(until: str) -> Case:
        trial = queue_in_one_run(until, LOAD, 50_000)
        return Case(f"M/M/1, load {LOAD}", wait, until, "one run", trial, lambda: mm1(LOAD))

    def by_engine(name: str, text: str, until: str, truth: Callable[[], float], auto: bool = False) -> Case:
        metric = until.partition(" ")[0]
        trial = simulated(text, metric, until, warmup="auto" if auto else None)
        return Case(name, metric, until, "seeds", trial, truth)

    def in_one_run(name: str, text: str, until: str, truth: Callable[[], float]) -> Case:
        metric = until.partition(" ")[0]
        return Case(name, metric, until, "one run", simulated(text, metric, until, long_run=True), truth)

    md1_name, tcp_name = f"M/D/1, load {LOAD}", "5 TCP flows and noise, RED"
    return [
        mm1_by_seeds(f"{wait} ±2.5 %"),
        mm1_by_seeds(f"{wait} ±0.05 ms"),
        mm1_in_one_run(f"{wait} ±3 %"),
        by_engine(md1_name, long, f"{wait} ±3 %", lambda: md1(LOAD)),
        by_engine(md1_name, long, f"{wait} ±0.04 ms", lambda: md1(LOAD)),
        by_engine(f"{md1_name}, warm-up auto", recorded, f"{wait} ±3 %", lambda: md1(LOAD), auto=True),
        in_one_run(md1_name, short, f"{wait} ±3 %", lambda: md1(LOAD)),
        by_engine(tcp_name, tcp, f"{goodput} ±0.6 %", reference(tcp, goodput)),
        by_engine(tcp_name, tcp, f"{queue} ±1.5 %", reference(tcp, queue)),
        in_one_run(tcp_name, tcp, f"{goodput} ±0.3 %", reference(TCP.format(duration=104, warmup=4), goodput, 1000)),
    ]


def trial(case: int, number: int) -> Trial:
    """Make the trial of a number of the case at a place in the list, in any process."""
    return cases()[case].trial(number)
