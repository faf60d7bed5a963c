"""The stages of runs until intervals are narrow: more seeds, or a longer run."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from aqmlab import _core
from aqmlab.execute.engine import PACKETS, Engine
from aqmlab.execute.glance import Glance
from aqmlab.execute.progress import OnProgress
from aqmlab.results.batch_means import SHORT
from aqmlab.results.comparison import Comparison
from aqmlab.results.precision import Condition, conditions
from aqmlab.results.result import NoSuchMetric, Result
from aqmlab.runs import long_run
from aqmlab.runs.cases import UNRECORDED, Case, Interrupted, RunFailed, performed
from aqmlab.runs.seeds import MOST_SEEDS, chosen_seeds, seeds_on, whole
from aqmlab.runs.until import Looks, NotReached, Rule, reach
from aqmlab.scenario import Scenario

LEAST, FEWEST, MOST = 20, 10, 1000
"""The runs of the first stage, unless the call sets another number, the least that it may set, and the most of all."""


@dataclass(frozen=True, slots=True)
class Until:
    """The precision that a call asks for, and its limits, all checked."""

    asked: Sequence[Condition]
    least: int
    most: int
    within: float | None
    long_run: bool

    @classmethod
    def of(
        cls,
        until: str | None,
        seeds: int | Iterable[int] | None = None,
        most_seeds: int | None = None,
        within: str | float | None = None,
        long: bool = False,
    ) -> Until | None:
        """Check the arguments of `aqmlab.run`; return None without `until`, raise ValueError if they do not fit."""
        given = {"most_seeds": most_seeds, "within": within, "long_run": long or None}
        if until is None:
            for name, value in given.items():
                if value is not None:
                    raise ValueError(f"{name} = {value!r}: applies only with until: omit it")
            return None
        try:
            asked = conditions(until)
        except ValueError as error:
            raise ValueError(f"until = {until!r}: {error}") from None
        if long:
            long_run.check(asked)
            if seeds is not None:
                raise ValueError(f"seeds = {seeds!r}: a long run has one seed, that of the scenario: omit it")
        if isinstance(seeds, Iterable):
            raise ValueError("seeds: with until it is the least number of runs, not a list of seeds")
        least = 1 if long else LEAST if seeds is None else whole("seeds", seeds)
        if least < FEWEST and not long:
            raise ValueError(f"seeds = {least}: with until it must be at least {FEWEST}, for a deviation to be trusted")
        most = max(MOST, least) if most_seeds is None else whole("most_seeds", most_seeds)
        if not least <= most <= MOST_SEEDS:
            raise ValueError(f"most_seeds = {most}: must be in [{least}, {MOST_SEEDS}]")
        return cls(asked, least, most, None if within is None else seconds(within), long)

    @property
    def rule(self) -> Rule:
        """The rule of the stages; each stage of a long run starts anew, so it should pay."""
        growth = (1.5, 4.0) if self.long_run else (1.25, 2.0)
        return Rule(self.asked, self.least, self.most, growth, self.within, self.long_run)


def seconds(within: str | float) -> float:
    """Convert a limit of time; raise ValueError if it is none."""
    if isinstance(within, str):
        converted = _core.in_base_unit(within)
        found = converted[0] if converted and converted[1] == "s" else 0.0
    else:
        found = float(within)
    if not 0 < found < math.inf:
        raise ValueError(f"within = {within!r}: must be a time above 0, such as '2 min'")
    return found


def reached(
    until: Until,
    combined: Mapping[str, tuple[Scenario, Engine]],
    jobs: int | None = None,
    progress: OnProgress | None = None,
    check: bool = False,
    on_glance: Callable[[Glance], None] | None = None,
    fates: Path | None = None,
    on_look: Callable[[Looks], None] | None = None,
) -> tuple[Comparison, BaseException | None]:
    """Run scenarios, by label, until their intervals are narrow; return the results, and the error that ended them.

    Each label stops for itself. All have the same seeds, so those that all have are pairs. The other arguments are
    those of `performed` and of `reach`.
    """
    if not any(engine.seeded for _, engine in combined.values()):
        raise ValueError(
            f"until: the {next(iter(combined.values()))[1]} engine has one run, without randomness: omit it"
        )
    for one in until.asked:
        group, _, rest = one.name.partition(".")
        for scenario, _ in combined.values():
            names = [entry["name"] for entry in scenario.resolved["traffic"]]
            if group == "classes" and rest.rpartition(".")[0] not in names:
                raise NoSuchMetric(f"{one.name}: there is no such [[traffic]]; known: {', '.join(names)}")
    if until.long_run:
        for _, engine in combined.values():
            if engine != PACKETS:
                raise ValueError(f"long_run = True: the {engine} engine takes no batches: omit one of them")
        stage = _longer(combined, jobs, check)
    else:
        stage = _more(combined, until.most, jobs, check, on_glance, fates)
    return reach(until.rule, list(combined), stage, progress, on_look)


def _more(
    combined: Mapping[str, tuple[Scenario, Engine]],
    most: int,
    jobs: int | None,
    check: bool,
    on_glance: Callable[[Glance], None] | None,
    fates: Path | None,
) -> Callable[[Mapping[str, float], OnProgress], tuple[Comparison, BaseException | None]]:
    """Return the stage that adds seeds."""
    seeds = {label: chosen_seeds(scenario, most) for label, (scenario, _) in combined.items()}
    results: dict[str, Result] = {}

    def stage(wanted: Mapping[str, float], progress: OnProgress) -> tuple[Comparison, BaseException | None]:
        first = not results
        cases = {}
        for label, amount in wanted.items():
            scenario, engine = combined[label]
            if first:
                cases[label] = Case(scenario, engine, seeds_on(engine, scenario, int(amount)))
            else:
                # The series of hundreds of runs would fill the memory.
                more = seeds[label][len(results[label].runs) : int(amount)]
                cases[label] = Case(scenario.with_(UNRECORDED), engine, more)
        before = sum(len(result.runs) for result in results.values())
        finished, stopped = performed(
            cases, jobs, progress, check, on_glance if first else None, fates if first else None
        )
        for label, result in finished.items():
            results[label] = _joined(results[label], result) if label in results else result
        every = Comparison({label: results[label] for label in combined if label in results})
        return every, _with_all(stopped, every, before + sum(len(case.seeds) for case in cases.values()))

    return stage


def _joined(earlier: Result, later: Result) -> Result:
    """Return a result with the runs of both."""
    return replace(earlier, runs=[*earlier.runs, *later.runs], recordings={**earlier.recordings, **later.recordings})


def _with_all(stopped: BaseException | None, every: Comparison, wanted: int) -> BaseException | None:
    """Let the error of a stage carry the runs of all stages."""
    if isinstance(stopped, Interrupted):
        return Interrupted(every, wanted)
    if isinstance(stopped, RunFailed):
        stopped.finished = every
    return stopped


def _longer(
    combined: Mapping[str, tuple[Scenario, Engine]], jobs: int | None, check: bool
) -> Callable[[Mapping[str, float], OnProgress], tuple[Comparison, BaseException | None]]:
    """Return the stage that makes the runs longer; a longer run starts anew and takes the place of the shorter one."""
    results: dict[str, Result] = {}

    def stage(wanted: Mapping[str, float], progress: OnProgress) -> tuple[Comparison, BaseException | None]:
        cases = {}
        for label, lengths in wanted.items():
            scenario, engine = combined[label]
            longer = long_run.lengthened(scenario, lengths)
            try:
                engine.check(longer)
            except _core.ScenarioError as error:
                every = Comparison(results)
                return every, NotReached(f"not reached: {label}: a run long enough is too long: {error}", every)
            cases[label] = Case(longer, engine, [scenario.seed], SHORT)
        finished, stopped = performed(cases, jobs, progress, check)
        results.update(finished)
        every = Comparison({label: results[label] for label in combined if label in results})
        return every, _with_all(stopped, every, len(combined))

    return stage
