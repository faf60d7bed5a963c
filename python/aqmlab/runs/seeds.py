"""The seeds of runs."""

from __future__ import annotations

import operator
from collections.abc import Iterable

from aqmlab.execute.engine import Engine
from aqmlab.scenario import Scenario

MOST_SEEDS = 100_000
"""The most replications of a scenario in one call."""


def whole(name: str, value: object) -> int:
    """Convert a whole number of any type, NumPy's included; raise TypeError for anything else."""
    if isinstance(value, bool) or not hasattr(value, "__index__"):
        raise TypeError(f"{name} = {value!r}: must be a whole number")
    return operator.index(value)


def chosen_seeds(scenario: Scenario, seeds: int | Iterable[int] | None) -> list[int]:
    """Return the seeds to run, all different; `seeds` is as for `run`, and a number counts from the scenario's seed."""
    if seeds is None:
        return [scenario.seed]
    if not isinstance(seeds, Iterable):
        count = whole("seeds", seeds)
        if not 1 <= count <= MOST_SEEDS:
            raise ValueError(f"seeds = {count}: must be in [1, {MOST_SEEDS}]")
        chosen = list(range(scenario.seed, scenario.seed + count))
    else:
        chosen = [whole("seeds", seed) for seed in seeds]
        if not 1 <= len(chosen) <= MOST_SEEDS:
            raise ValueError(f"seeds: {len(chosen)} given; their number must be in [1, {MOST_SEEDS}]")
        if len(set(chosen)) < len(chosen):
            raise ValueError(f"seeds = {chosen}: must all be different")
    for extreme in (min(chosen), max(chosen)):
        scenario._core.with_value("seed", extreme).check()  # the schema defines the valid seeds
    return chosen


def seeds_on(engine: Engine, scenario: Scenario, seeds: int | Iterable[int] | None) -> list[int]:
    """Return the seeds of an engine's runs: those of `chosen_seeds`, or one if its runs do not depend on them."""
    chosen = chosen_seeds(scenario, seeds)
    return chosen if engine.seeded else [scenario.seed]
