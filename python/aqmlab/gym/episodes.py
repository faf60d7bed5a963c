"""The scenarios and the seeds of episodes, and the engine that plays them."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from typing import Any, Literal, TypeAlias

import numpy as np

from aqmlab.runs.points import design
from aqmlab.scenario import Scenario, Settings

Agent = Literal["drops", "marks"]
Source: TypeAlias = str | os.PathLike[str] | Scenario

MOST_SEED = 9_000_000_000_000_000
"""The greatest seed of a run."""


class Episodes:
    """How episodes are made: their scenarios, their control interval in seconds, and who decides on packets.

    The parameters are those of `AqmEnv`. Raise ValueError, of which ScenarioError is a kind, if one is wrong.
    """

    def __init__(
        self,
        scenario: Source | Sequence[Source],
        interval: float,
        mark: bool,
        settings: Settings | None,
        vary: Mapping[str, object] | None,
        aqm: str | None,
    ) -> None:
        sources = [scenario] if isinstance(scenario, str | os.PathLike | Scenario) else list(scenario)
        if not sources:
            raise ValueError("scenario = []: must have at least one scenario")
        self.interval = float(interval)
        self.agent: Agent | None = None if aqm else "marks" if mark else "drops"
        self._settings, self._vary, self._aqm = settings, vary or {}, aqm
        self._scenarios = [self.prepared(source) for source in sources]
        for prepared in self._scenarios:
            self._varied(prepared, 0)  # a wrong path is refused at once

    def prepared(self, source: Source) -> Scenario:
        """Return a scenario with the settings and the discipline of all, checked."""
        scenario = source if isinstance(source, Scenario) else Scenario.load(source)
        if self._settings:
            scenario = scenario.with_(self._settings)
        return self._checked(scenario.with_(aqm=self._aqm) if self._aqm else scenario)

    def _checked(self, scenario: Scenario) -> Scenario:
        scenario.check()
        if not 1e-9 <= self.interval <= scenario.duration:
            raise ValueError(
                f"interval = {self.interval:g}: must be above 0 and at most the duration of the scenario, "
                f"{scenario.duration:g} s"
            )
        return scenario

    def _varied(self, scenario: Scenario, seed: int) -> Scenario:
        """Return a scenario with the values that this seed draws."""
        if not self._vary:
            return scenario
        drawn = design(self._vary, "random", 1, seed)
        return self._checked(scenario.with_(dict(zip(drawn.paths, drawn.points[0], strict=True))))

    def drawn(self, random: np.random.Generator) -> Scenario:
        """Draw a scenario, and the values that vary."""
        which, seed = (int(random.integers(high)) for high in (len(self._scenarios), 2**31))
        return self._varied(self._scenarios[which], seed)

    def seed(self, seed: int | None, random: np.random.Generator) -> int:
        """Return the seed of a run: the one of the reset, or one that is drawn."""
        if seed is None:
            return int(random.integers(2**31))
        if seed > MOST_SEED:
            raise ValueError(f"seed = {seed}: must be at most {MOST_SEED}")
        return int(seed)


def named(options: Mapping[str, Any] | None, name: str) -> Any:
    """Return the option of a reset with this name, or None; raise ValueError if there is another option."""
    unknown = sorted(set(options or {}) - {name})
    if unknown:
        raise ValueError(f"options has {', '.join(unknown)}: must have only {name}")
    return (options or {}).get(name)
