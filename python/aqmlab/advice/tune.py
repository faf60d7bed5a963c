"""The search for the parameters of one discipline: Sobol points and successive halving with paired seeds.

All points run with a few seeds. The better half goes on with twice as many, and so on until four are left. The present
parameters run with every seed, so that each point is compared with them seed by seed. The best of many is so by luck
too: in the end it and the present parameters run again, with as many fresh seeds, which give the values of the answer.

A point within the constraints is better than one beyond them; of two beyond, the one that is less so. Within them a
point is better the fewer others dominate it, which with one objective is the order of that objective. Constraints count
by their means while points are left out, and by their whole intervals in the end. The front is that of the differences
from the present parameters on the seeds that a point has.

# Sources
Jamieson and Talwalkar, "Non-stochastic best arm identification and hyperparameter optimization", AISTATS 2016; Deb,
Pratap, Agarwal and Meyarivan, "A fast and elitist multiobjective genetic algorithm: NSGA-II", IEEE Transactions on
Evolutionary Computation 6(2), 2002, for the order under constraints. The space has a few parameters and a run takes a
fraction of a second, so a design that fills the space finds what a model of the surface would, and does not depend on
the order in which runs end.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from aqmlab import _core
from aqmlab.advice.goals import Goal
from aqmlab.advice.race import Stopped
from aqmlab.advice.runs import Course, Runs
from aqmlab.advice.space import Parameter, Point, at, points, spec
from aqmlab.advice.tuned import Trial, Tuned
from aqmlab.results.result import NoSuchMetric
from aqmlab.runs.until import OutOfTime
from aqmlab.scenario import Scenario

FIRST = 2
"""The seeds of all points."""

LEFT = 4
"""The points of the last stage."""

POINTS = 32
"""The points, unless the call sets another number."""


@dataclass(frozen=True)
class Search:
    """A search: the scenario with the discipline, its parameters, its goals, and the number of points."""

    scenario: Scenario
    parameters: Sequence[Parameter]
    constraints: Sequence[Goal]
    objectives: Sequence[Goal]
    count: int = POINTS

    @property
    def goals(self) -> list[Goal]:
        """All goals, objectives first."""
        return [*self.objectives, *self.constraints]

    def better(self, means: Mapping[str, Mapping[str, float | None]]) -> list[str]:
        """Order labels by the means of their metrics, the best first; equals keep their order."""

        def excess(label: str) -> float:
            return math.fsum(one.excess(means[label][one.name]) for one in self.constraints)

        def place(label: str) -> tuple[float, int]:
            beyond = excess(label)
            if beyond:
                return beyond, 0
            return 0.0, sum(self.dominates(means[other], means[label]) for other in means if not excess(other))

        return sorted(means, key=place)

    def dominates(self, one: Mapping[str, float | None], other: Mapping[str, float | None]) -> bool:
        """Return whether one is no worse in any objective, and better in one of them."""
        signs = [_advantage(goal, one[goal.name], other[goal.name]) for goal in self.objectives]
        return min(signs) >= 0 and max(signs) > 0


def _advantage(goal: Goal, one: float | None, other: float | None) -> float:
    mine, theirs = (-math.inf if value is None else value if goal.more else -value for value in (one, other))
    return 0.0 if mine == theirs else math.copysign(1.0, mine - theirs)


def tune(
    search: Search,
    store: Path,
    within: float,
    jobs: int | None = None,
    progress: Callable[[str, float], None] | None = None,
) -> Tuned:
    """Search for at most `within` seconds; the other arguments are those of `aqmlab.advice.advise.advise`.

    Raise `Stopped` after Ctrl-C, if a run aborts, and if the time is over before the first stage.
    """
    courses, where, invalid = _courses(search)
    running = list(courses)
    seeds, state = FIRST, ""
    runs = Runs(store, jobs, within, (lambda passed: progress(state, passed)) if progress else None)
    found: dict[str, list[dict[str, float | None]]] = {}

    def perform(labels: Sequence[str], first: int) -> BaseException | dict[str, list[dict[str, float | None]]]:
        """Run labels with as many seeds as there are now, from `first` on; return their metrics or what stopped it."""
        numbers = range(first, first + seeds)
        stopped = runs.perform((courses[label], seed) for seed in numbers for label in labels)
        if stopped:
            return stopped
        return {label: [_metrics(search, runs.rows[courses[label].key(seed)]) for seed in numbers] for label in labels}

    def answer(ended: str, fresh: Mapping[str, Sequence[Mapping[str, float | None]]] | None = None) -> Tuned:
        return _tuned(search, where, found, fresh or {}, invalid, ended)

    while True:
        state = f"{len(running)} points, {seeds} seeds"
        done = perform(list(dict.fromkeys(["", *running])), search.scenario.seed)
        if not isinstance(done, BaseException):
            found |= done
            for goal in search.goals:
                if all(run[goal.name] is None for own in found.values() for run in own):
                    raise NoSuchMetric(f"{goal.written}: no run has a value of {goal.name}")
            if len(running) <= LEFT:
                state = f"the best, {seeds} fresh seeds"
                labels = list(dict.fromkeys([answer("").best.label, ""]))
                done = perform(labels, search.scenario.seed + seeds)
                if not isinstance(done, BaseException):
                    return answer("", done)
        if isinstance(done, BaseException):
            if not found or not isinstance(done, OutOfTime):
                raise Stopped(done, answer("early") if found else None, (len(runs.rows), FIRST * len(courses)))
            return answer(f"after {within:g} s")
        order = search.better({label: _means(found[label]) for label in running})
        running = order[: max(LEFT, len(order) // 2)]
        seeds *= 2


def _courses(search: Search) -> tuple[dict[str, Course], dict[str, Point | None], int]:
    """Return a course for each valid point, with its label, its values, and the number of those that are not valid."""
    courses = {"": Course.of("present parameters", search.scenario)}
    where: dict[str, Point | None] = {"": None}
    invalid = 0
    for point in points(search.parameters, search.count):
        label = spec(search.parameters, point)
        try:
            courses[label] = Course.of(label, at(search.scenario, search.parameters, point))
        except _core.ScenarioError:
            invalid += 1
        else:
            where[label] = point
    if len(courses) == 1:
        raise ValueError("no point is valid: choose other ranges")
    return courses, where, invalid


def _metrics(search: Search, row: Mapping[str, float | None]) -> dict[str, float | None]:
    """Return the metrics of the goals in a run."""
    for goal in search.goals:
        if goal.name not in row:
            owner, _, metric = goal.name.rpartition(".")
            having = [name.removeprefix("classes.") for name in row if name.endswith(f".{metric}")]
            known = f"there are {', '.join(having)}" if having else "nothing here has one"
            raise NoSuchMetric(f"{goal.written}: {owner or 'the observed link'} has none; {known}")
    return {goal.name: row[goal.name] for goal in search.goals}


def _means(runs: Sequence[Mapping[str, float | None]]) -> dict[str, float | None]:
    found: dict[str, float | None] = {}
    for name in runs[0]:
        values = [value for run in runs if (value := run[name]) is not None]
        found[name] = math.fsum(values) / len(values) if values else None
    return found


def _tuned(
    search: Search,
    where: Mapping[str, Point | None],
    found: Mapping[str, Sequence[Mapping[str, float | None]]],
    fresh: Mapping[str, Sequence[Mapping[str, float | None]]],
    invalid: int,
    ended: str,
) -> Tuned:
    """Assemble the answer: the trials with the most seeds by rank, first those that are certain to be within limits."""
    trials = {label: Trial(label, where[label], runs) for label, runs in found.items()}
    most = max(len(one.runs) for label, one in trials.items() if label)
    last = {label: one for label, one in trials.items() if len(one.runs) >= most}
    certain = {
        label: all(goal.certain(one.summary(goal)) for goal in search.constraints) for label, one in last.items()
    }
    order = sorted(search.better({label: _means(found[label]) for label in last}), key=lambda label: not certain[label])
    return Tuned(
        search.scenario,
        tuple(search.parameters),
        tuple(search.constraints),
        tuple(search.objectives),
        [trials[label] for label in order],
        list(trials.values()),
        _front(search, trials),
        {label: Trial(label, where[label], runs) for label, runs in fresh.items()},
        invalid,
        ended,
    )


def _front(search: Search, trials: Mapping[str, Trial]) -> list[str]:
    """Return the labels on the Pareto front of the first two goals, a limit being a wish for less or for more."""
    axes = Search(search.scenario, search.parameters, (), search.goals[:2])
    lead = {
        label: {goal.name: one.difference(trials[""], goal).mean for goal in axes.objectives}
        for label, one in trials.items()
    }
    front = [one for one in lead if not any(axes.dominates(lead[other], lead[one]) for other in lead)]
    first = search.goals[0].name
    return sorted(front, key=lambda label: (lead[label][first] is None, lead[label][first] or 0.0))
