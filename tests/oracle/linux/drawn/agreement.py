"""How near to each other both engines' runs of a drawn scenario are."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from aqmlab.execute.progress import OnProgress
from aqmlab.runs.runner import run_all
from aqmlab.runs.study import study
from aqmlab.runs.swept import Sweep
from oracle.linux.check import Tolerance
from oracle.linux.drawn.scenarios import Drawn
from oracle.linux.ours import MANY
from oracle.linux.reference import Metrics, over_seeds
from oracle.reference import Measured
from oracle.verdict import Check

SEEDS = (3, len(MANY))
"""The runs on each engine: of every scenario, and of one in which something differed with fewer."""

ERRORS = 3.0
"""Standard errors of the difference of two means that are chance."""

_RATIO = Tolerance(0.10, 0.0005)
"""Of packets lost or marked."""

TOLERANCES = {
    # 0.75 packets, in packets or as time.
    "queue": Tolerance(0.05),
    "delay_p95": Tolerance(0.075),
    # 0.2 % of the link.
    "goodput": Tolerance(0.03),
    "lost": _RATIO,
    "marked": _RATIO,
    "completed": Tolerance(0.03, 1),
    "completion": Tolerance(0.08),
}
"""Stricter than those of `make engines-agree` and of `make oracle-linux`; `_least` has the amounts that scale."""

_OF_ENTRIES = {
    "goodput": ("goodput", 1e-6),
    "lost": ("path_loss_ratio", 1.0),
    "marked": ("mark_ratio", 1.0),
    "completed": ("completed", 1.0),
    "completion": ("completion_time_mean", 1000.0),
}
"""Metrics of a traffic entry: the result's name for each, and the factor to Mbit/s and ms."""


@dataclass(frozen=True)
class Agreement:
    """The checks of a scenario with a number of seeds, or the errors of its runs."""

    drawn: Drawn
    seeds: int
    checks: Sequence[Check] = ()
    errors: Sequence[str] = ()
    by_chance: int = 0
    """The checks that passed by the standard errors alone."""

    @property
    def failed(self) -> Sequence[Check]:
        return [check for check in self.checks if not check.passed]

    @property
    def differing(self) -> set[str]:
        """The metrics that differ, whichever entry they are of; "error" if runs failed."""
        return {"error"} if self.errors else {check.metric.rpartition(" ")[2] for check in self.failed}


def judged(
    drawn: Mapping[str, Drawn], store: Path, jobs: int | None = None, progress: OnProgress | None = None
) -> dict[str, Agreement]:
    """Compare both engines' runs of scenarios, `jobs` at a time: where something differs, again with more runs.

    If the user stops them, the error is a ``KeyboardInterrupt``; the finished runs are in the store.
    """
    few, many = SEEDS
    found = agreements(drawn, few, store, jobs, progress)
    differing = {name: drawn[name] for name, each in found.items() if each.failed}
    return found | agreements(differing, many, store, jobs, progress)


def agreements(
    drawn: Mapping[str, Drawn],
    seeds: int,
    store: Path,
    jobs: int | None = None,
    progress: OnProgress | None = None,
) -> dict[str, Agreement]:
    """Run scenarios with this number of seeds on both engines, or read their runs from the store, and compare them."""
    studies = [study(each.scenario(), seeds=seeds, engine=engine) for each in drawn.values() for engine in each.engines]
    sweeps = iter(run_all(studies, store, jobs, progress=progress))
    pairs = {name: (next(sweeps), next(sweeps)) for name in drawn}
    if any(sweep.interrupted for pair in pairs.values() for sweep in pair):
        raise KeyboardInterrupt
    return {name: agreement(name, drawn[name], seeds, *pair) for name, pair in pairs.items()}


def agreement(name: str, drawn: Drawn, seeds: int, linux: Sweep, packet: Sweep) -> Agreement:
    """Compare the runs of a scenario on the two engines."""
    failures = [f"{sweep.engine_name}: {each.error}" for sweep in (linux, packet) for each in sweep.failures]
    if failures:
        return Agreement(drawn, seeds, errors=failures)
    theirs, ours = (_over_seeds(list(_measured(sweep, drawn))) for sweep in (linux, packet))
    found = list(_checks(name, drawn, theirs, ours))
    by_chance = sum(check.passed and abs(check.difference) > fixed for check, fixed in found)
    return Agreement(drawn, seeds, [check for check, _ in found], by_chance=by_chance)


def _over_seeds(runs: Sequence[Metrics]) -> dict[str, Measured]:
    """What every run has: in one, no object may be complete, and no time known."""
    known = set.intersection(*map(set, runs))
    return over_seeds([{name: value for name, value in run.items() if name in known} for run in runs])


def _measured(sweep: Sweep, drawn: Drawn) -> Iterator[Metrics]:
    for run in sweep.frame.iter_rows(named=True):
        found = {"queue": run["queue_mean"] or 0.0, "delay_p95": 1000 * (run["queue_delay_p95"] or 0.0)}
        for entry in drawn.names:
            for name, (key, factor) in _OF_ENTRIES.items():
                # Not every kind has each: flows for the whole run complete nothing.
                if (value := run.get(f"classes.{entry}.{key}")) is not None:
                    found[f"{entry} {name}"] = factor * value
        yield found


def _checks(
    name: str, drawn: Drawn, theirs: Mapping[str, Measured], ours: Mapping[str, Measured]
) -> Iterator[tuple[Check, float]]:
    """Yield each check, and its tolerance without the standard errors."""
    for metric, linux in theirs.items():
        if packet := ours.get(metric):
            chance = ERRORS * (linux.error**2 + packet.error**2) ** 0.5
            kind = metric.rpartition(" ")[2]
            fixed = max(TOLERANCES[kind].around(linux), _least(drawn, kind))
            yield Check(name, metric, linux.mean, packet.mean, max(fixed, chance)), fixed


def _least(drawn: Drawn, kind: str) -> float:
    """The part of a tolerance that is an amount, where it depends on the link."""
    return {"queue": 0.75, "delay_p95": 750 * drawn.packet_time, "goodput": 0.002 * drawn.rate}.get(kind, 0.0)
