"""Experiments that another engine than the simulator repeats, such as those that a paper did on real machines."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from aqmlab.scenario import Settings

if TYPE_CHECKING:
    from aqmlab_papers.describe.paper import Choice, Item, Paper


@dataclass(frozen=True, kw_only=True)
class Measurement:
    """How an engine repeats experiments of a paper, which measured or simulated them.

    * engine: the name of the engine: ``linux``.
    * experiments: the names of these experiments, each with whether it is done only on request: with ``--full``, or
      where a figure of ``--only`` needs it.
    * settings: changes to the scenarios, by dotted path as in `Experiment.settings`, over which they take precedence.
    * items: the figures and tables of these experiments.
    * only: further changes to single experiments, by their names.
    * full: further changes for ``--full``, such as the paper's own length of runs.
    * quick: further changes for ``--quick``.
    * seeds: the number of seeds; ``full_seeds`` is that of ``--full``.
    * full_seeds: the paper's own number of repetitions.
    * printed: what the paper prints of a claim, in numbers and units, by the name of the claim.
    * choices: what differs from the simulated copy. A choice replaces that of the paper on the same parameter.
    * why: the figures that are repeated, and the means, in a few sentences for the report.
    """

    engine: str
    experiments: Mapping[str, bool]
    settings: Settings
    items: Sequence[Item]
    only: Mapping[str, Settings] = field(default_factory=dict)
    full: Settings = field(default_factory=dict)
    quick: Settings = field(default_factory=dict)
    seeds: int = 3
    full_seeds: int = 10
    printed: Mapping[str, str] = field(default_factory=dict)
    choices: Sequence[Choice] = ()
    why: str = ""

    def paper(self, paper: Paper, *, full: bool, quick: bool, only: Iterable[str]) -> Paper:
        """Return a ``paper``, simulated, with the experiments that are to be done on the engine.

        ``full`` does all of them, with the paper's length of runs; ``quick`` makes runs short; ``only`` names the
        figures and tables to make, all if empty.
        """
        only = set(only)
        read = {name for item in self.items if item.name in only for name in item.needs}
        done = {name for name, rare in self.experiments.items() if full or not rare or name in read}
        changed = {**self.settings, **(self.full if full else self.quick if quick else {})}
        replaced = {choice.parameter for choice in self.choices}
        return replace(
            paper,
            experiments=[
                replace(one, settings={**one.settings, **changed, **self.only.get(one.name, {})})
                for one in paper.experiments
                if one.name in done
            ],
            items=self.items,
            choices=[*self.choices, *(one for one in paper.choices if one.parameter not in replaced)],
            variants=(),
            calibration=None,
            simulated=paper,
        )
