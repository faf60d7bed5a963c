"""Runs until intervals are as narrow as asked.

A first stage has enough runs for a deviation that can be trusted. Each further stage has as many more as the widest
interval asks for, within bounds, and the intervals are looked at between stages only: every look is a chance to stop at
a deviation that is too small by luck, and such an interval covers the true mean too rarely.

# Sources
Chow and Robbins, "On the asymptotic theory of fixed-width sequential confidence intervals for the mean", Annals of
Mathematical Statistics 36(2), 1965; Hall, "Asymptotic theory of triple sampling for sequential estimation of a mean",
Annals of Statistics 9(6), 1981, for stages in place of single runs; Law, Simulation Modeling and Analysis, section
9.4.1, for relative widths.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace

from aqmlab.execute.progress import OnProgress, Progress
from aqmlab.results.comparison import Comparison
from aqmlab.results.precision import Condition, Precision, precisions

Looks = Mapping[str, Sequence[Precision]]


@dataclass(frozen=True, slots=True)
class Rule:
    """The rule of the stages.

    `least` is the amount of the first stage and `most` the greatest one: seeds, or lengths of a long run over that of
    the scenario. A stage multiplies the amount by a factor within `growth`. `within` limits the time, in s.
    """

    asked: Sequence[Condition]
    least: float
    most: float
    growth: tuple[float, float]
    within: float | None = None
    long: bool = False

    def words(self, amount: float) -> str:
        """Write an amount: ``20 seeds``, ``3 times the duration``."""
        if self.long:
            return f"{amount:.3g} times the duration"
        return f"{amount:,.0f} seed{'s' if amount != 1 else ''}"


class OutOfTime(Exception):  # noqa: N818  a signal to the runs
    """Raised in the runs under way when their time is over."""


class NotReached(RuntimeError):  # noqa: N818  the runs are all right; the calling program has no error
    """Raised when a limit is reached before the intervals are as narrow as asked.

    Parameters
    ----------
    message : str
        The intervals that are too wide, and an estimate of the seeds that would do.
    finished : Comparison
        The runs that have finished.
    needed : float or None
        The number of seeds, or for a long run the multiple of the scenario's measured time, that would do; None if
        unknown.
    seconds : float or None
        The time that these would take if the time was too short, otherwise None.
    """

    def __init__(
        self, message: str, finished: Comparison, needed: float | None = None, seconds: float | None = None
    ) -> None:
        self.finished = finished
        self.needed = needed
        self.seconds = seconds
        super().__init__(message)


Stage = Callable[[Mapping[str, float], OnProgress], "tuple[Comparison, BaseException | None]"]
"""A function that extends the results of the labels to amounts, and calls another with its progress.

It returns the results so far, of earlier stages too, and the error that stopped it, if one did."""


def reach(
    rule: Rule,
    labels: Sequence[str],
    stage: Stage,
    progress: OnProgress | None = None,
    on_look: Callable[[Looks], None] | None = None,
) -> tuple[Comparison, BaseException | None]:
    """Perform stages until the conditions hold for every label; return the results, and the error that ended them.

    The error is that of the stage, or `NotReached`. `on_look` is called with the intervals after each stage.
    """
    work = _Work(rule, dict.fromkeys(labels, 0.0), progress)
    wanted = dict.fromkeys(labels, rule.least)
    while True:
        results, stopped = stage(wanted, work.watch(wanted))
        if isinstance(stopped, OutOfTime):
            return results, _not_reached(rule, results, work, over=True)
        if stopped:
            return results, stopped
        work.done |= wanted
        looks = {label: precisions(rule.asked, result) for label, result in results.items() if result.seeded}
        if on_look:
            on_look(looks)
        if valueless := next((f"{label}: {one}" for label, look in looks.items() for one in look if _never(one)), None):
            return results, NotReached(f"not reached: {valueless}", results)
        wide = {label: look for label, look in looks.items() if not all(one.holds for one in look)}
        if not wide:
            work.finish()
            return results, None
        for label, look in wide.items():
            least = work.done[label] * max(one.least_excess for one in look if not one.holds)
            if work.done[label] >= rule.most or least > rule.most:
                return results, _not_reached(rule, results, work)
        wanted = {label: _next(rule, work.done[label], look) for label, look in wide.items()}
        work.expect(wide)


def _never(one: Precision) -> bool:
    """Whether no run has a value, after all runs of a first stage."""
    return one.summary.mean is None


def _next(rule: Rule, done: float, look: Sequence[Precision]) -> float:
    """Return the amount of the next stage."""
    least, most = rule.growth
    # An interval that is not there tells nothing of the amount that it needs.
    factor = max(one.excess if math.isfinite(one.excess) else 2.0 for one in look if not one.holds)
    amount = min(done * min(max(factor, least), most), rule.most)
    return amount if rule.long else float(math.ceil(amount))


def _not_reached(rule: Rule, results: Comparison, work: _Work, over: bool = False) -> NotReached:
    """Return the intervals that are too wide, and the remedy; `over` is whether the time was, in place of the seeds."""
    limit = f"in {rule.within:g} s" if over else f"with at most {rule.words(rule.most)}"
    made = {label: work.done[label] if rule.long else float(len(result.runs)) for label, result in results.items()}
    parts, needed, factor = [], 0.0, 1.0
    for label, result in results.items():
        for one in precisions(rule.asked, result) if result.seeded else ():
            if not one.holds:
                parts.append(f"{label}: {one}" if len(results) > 1 else str(one))
                needed, factor = max(needed, made[label] * one.excess), max(factor, one.excess)
    if not results:
        return NotReached(f"not reached {limit}: no run has finished", results)
    after = rule.words(max(made.values()))
    if not math.isfinite(needed):
        cure = "a mean of 0 has no width in %"
        if rule.long:
            cure = f"{cure}, and batches that are correlated have no interval: is the warm-up too short?"
        return NotReached(f"not reached {limit}, after {after}: {'; '.join(parts)}: {cure}", results)
    needed = _rounded(needed)
    would = f"about {rule.words(needed)} would do"
    seconds = None
    if over:
        seconds = _rounded(work.took * factor)
        would = f"{would}, in {seconds:,.0f} s"
    shown = "; ".join(parts) or "the last stage was under way"
    return NotReached(f"not reached {limit}, after {after}: {shown}; {would}", results, needed, seconds)


def _rounded(amount: float) -> float:
    """Round up to two digits, with a tenth to spare."""
    spared = amount * 1.1
    step = 10.0 ** (math.floor(math.log10(max(spared, 1.0))) - 1)
    return math.ceil(spared / step) * step


class _Work:
    """The share of the work that is done, and the time that it took."""

    def __init__(self, rule: Rule, done: dict[str, float], progress: OnProgress | None) -> None:
        self.done = done
        self._rule, self._progress = rule, progress
        self._began = time.monotonic()
        self._expected = dict.fromkeys(done, 2 * rule.least)
        self._last = Progress(0.0, 0, 0)

    @property
    def took(self) -> float:
        """The seconds since the beginning."""
        return time.monotonic() - self._began

    def expect(self, wide: Looks) -> None:
        """Estimate the amounts of the end."""
        self._expected = dict(self.done)
        for label, look in wide.items():
            factor = max(one.excess for one in look if not one.holds)
            self._expected[label] = min(self.done[label] * max(factor, self._rule.growth[0]), self._rule.most)

    def watch(self, wanted: Mapping[str, float]) -> OnProgress:
        """Return the function that a stage calls with its fraction done: it ends the stage when its time is over."""
        before = sum(self.done.values())
        more = sum(amount - self.done[label] for label, amount in wanted.items())
        total = max(sum(self._expected.values()), before + more)
        earlier = self._last

        def watch(stage: Progress) -> None:
            if self._rule.within is not None and self.took > self._rule.within:
                raise OutOfTime
            reached = max(self._last.fraction, min((before + more * stage.fraction) / total, 1.0))
            self._report(Progress(reached, earlier.done + stage.done, earlier.wanted + stage.wanted, stage.failed))

        return watch

    def finish(self) -> None:
        """Report that nothing is left to do."""
        self._report(replace(self._last, fraction=1.0))

    def _report(self, progress: Progress) -> None:
        self._last = progress
        if self._progress:
            self._progress(progress)
