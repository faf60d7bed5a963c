"""The calibration of a paper: parameters that it does not state, fitted to the numbers that it prints."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from aqmlab.scenario import Settings
from aqmlab_papers.describe.per_seed import PerSeed

if TYPE_CHECKING:
    from aqmlab_papers.run.runs import Runs

SHIPPED = "as shipped"
"""The name of the settings that the paper's scenarios have."""


@dataclass(frozen=True)
class Variant:
    """Other values of parameters that the paper does not state.

    Parameters
    ----------
    name : str
        A short description: ``min RTO 1 s``.
    settings : mapping
        Its changes to every scenario, by dotted path; ``traffic.*.tcp.min_rto`` applies to all flows of a scenario.
    only : mapping
        The settings that replace `settings` in an experiment, by the experiment's name; an experiment with empty
        settings is left out.
    """

    name: str
    settings: Settings
    only: Mapping[str, Settings] = field(default_factory=dict)


@dataclass(frozen=True)
class Printed:
    """A number that the paper prints for runs whose load it states.

    Parameters
    ----------
    name : str
        The name of the number: ``loss, 80 flows of 550 ms``.
    value : float
        The printed number, above 0.
    unit : str
        Its unit.
    where : str
        Its place in the paper.
    experiment : str
        The experiment that measures it.
    read : callable
        Takes the runs of the experiment and returns our `PerSeed` of it, in the same unit.
    """

    name: str
    value: float
    unit: str
    where: str
    experiment: str
    read: Callable[[Runs], PerSeed]


@dataclass(frozen=True, kw_only=True)
class Calibration:
    """The settings that were tried for a paper, and the numbers by which they are compared.

    A setting's distance from the paper is the root mean square of ln(ours / printed) over the printed numbers.

    Parameters
    ----------
    printed : sequence of Printed
        The printed numbers.
    tried : sequence of Variant
        The settings that were tried beside those of the shipped scenarios, which are called ``as shipped``.
    chosen : str
        The name of the chosen settings: ``as shipped`` once the scenarios have them.
    why : str
        The reason for the choice, and what no setting explains.
    """

    printed: Sequence[Printed]
    tried: Sequence[Variant]
    chosen: str = SHIPPED
    why: str
