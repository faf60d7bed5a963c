"""The answer of `aqmlab tune`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from aqmlab import _core
from aqmlab.advice import kernel
from aqmlab.advice.goals import Goal
from aqmlab.advice.space import Parameter, Point, at
from aqmlab.files import write_text
from aqmlab.presenters import presented
from aqmlab.results.summary import Summary
from aqmlab.scenario import Scenario

SCENARIO = "tuned.toml"
"""The file of the scenario with the best parameters."""


@dataclass(frozen=True)
class Trial:
    """A point, and the metrics of the goals in each of its runs; the present parameters have an empty label."""

    label: str
    point: Point | None
    runs: Sequence[Mapping[str, float | None]]

    def summary(self, goal: Goal) -> Summary:
        """Return the statistics of a goal's metric."""
        return Summary.of([run[goal.name] for run in self.runs])

    def difference(self, other: Trial, goal: Goal) -> Summary:
        """Return the statistics of the differences from another trial, seed by seed."""
        pairs = [(one[goal.name], two[goal.name]) for one, two in zip(self.runs, other.runs, strict=False)]
        return Summary.of([None if a is None or b is None else a - b for a, b in pairs])


@dataclass(frozen=True)
class Tuned:
    """The parameters that were found.

    `ranked` are the trials of the last stage, the best first, and the present parameters; `trials` are all trials, and
    `front` has the labels on the Pareto front of the first two goals. `fresh` has the best and the present parameters
    on seeds that the search had not; it is empty if the search ended early. `invalid` is the number of points that no
    scenario can have, `ended` when the search ended if that was early, or empty.
    """

    scenario: Scenario
    parameters: Sequence[Parameter]
    constraints: Sequence[Goal]
    objectives: Sequence[Goal]
    ranked: Sequence[Trial]
    trials: Sequence[Trial]
    front: Sequence[str]
    fresh: Mapping[str, Trial]
    invalid: int
    ended: str

    @property
    def goals(self) -> list[Goal]:
        """All goals, objectives first."""
        return [*self.objectives, *self.constraints]

    @property
    def present(self) -> Trial:
        """The present parameters."""
        return next(one for one in self.trials if not one.label)

    @property
    def best(self) -> Trial:
        """The best trial; it may be that of the present parameters."""
        return self.ranked[0]

    @property
    def confirmed(self) -> Trial:
        """The best on fresh seeds, or on those of the search if there are no fresh ones."""
        return self.fresh.get(self.best.label, self.best)

    @property
    def met(self) -> bool:
        """Whether the best is within all constraints, by its means in the search."""
        return all(one.excess(self.best.summary(one).mean) == 0 for one in self.constraints)

    def holds(self, goal: Goal) -> bool:
        """Return whether fresh seeds show with certainty that the best is within a constraint."""
        return bool(self.fresh) and goal.certain(self.confirmed.summary(goal))

    def change(self, goal: Goal) -> Summary:
        """Return the differences of the best from the present parameters, on the seeds of `confirmed`."""
        return self.confirmed.difference(self.fresh.get("", self.present), goal)

    @property
    def tuned(self) -> Scenario:
        """The scenario with the best parameters."""
        point = self.best.point
        return self.scenario if point is None else at(self.scenario, self.parameters, point)

    @property
    def kernel(self) -> str | None:
        """Our name of the form of the discipline that Linux has, or None if it has none."""
        name = kernel.kind_of(self.scenario.resolved["aqm"], self.scenario.buffer)
        return None if name is None else kernel.KINDS[name].base

    @property
    def words(self) -> str | None:
        """The discipline in tc's words, or None if it is none of Linux's, or has a form that tc has no word for."""
        table, buffer = self.tuned.resolved["aqm"], self.tuned.buffer
        name = kernel.kind_of(table, buffer)
        if name is None or kernel.departures(name, table, self.scenario):
            return None
        if name == "red" and table["bandwidth"] == "auto":
            # tc would take 10 Mbit/s.
            table = {**table, "bandwidth": self.tuned.resolved["dumbbell"]["rate"]}
        return kernel.words(name, table, buffer)

    def document(self) -> dict[str, Any]:
        """Return the answer as a dictionary for JSON."""

        def trial(one: Trial) -> dict[str, Any]:
            values = zip(self.parameters, one.point, strict=True) if one.point else ()
            return {
                "parameters": {parameter.name: value for parameter, value in values},
                "seeds": len(one.runs),
                **{goal.name: one.summary(goal).document() for goal in self.goals},
            }

        return {
            "version": _core.__version__,
            "aqm": self.scenario.aqm,
            "objectives": [one.written for one in self.objectives],
            "constraints": [one.written for one in self.constraints],
            "best": trial(self.best),
            "met": self.met,
            "fresh": {label or "present": trial(one) for label, one in self.fresh.items()},
            "holds": {one.written: self.holds(one) for one in self.constraints},
            "present": trial(self.present),
            "differences": {one.name: self.change(one).document() for one in self.goals},
            "words": self.words,
            "front": list(self.front),
            "trials": {one.label: trial(one) for one in self.trials},
            "invalid": self.invalid,
            "ended": self.ended,
        }

    def save(self, folder: Path) -> list[str]:
        """Write the scenario with the best parameters; return the names of the files."""
        write_text(folder / SCENARIO, self.tuned.to_toml())
        return [SCENARIO]

    def __repr__(self) -> str:
        return str(presented("tuned.text", self))
