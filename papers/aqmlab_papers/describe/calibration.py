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

    * name: a short description: ``min RTO 1 s``.
    * settings: its changes to every scenario, by dotted path; ``traffic.*.tcp.min_rto`` applies to all flows of a
      scenario, and ``*.delay`` has the part by which each delay that is not drawn may differ from its value.
    * only: the settings that replace `settings` in an experiment, by the experiment's name; an experiment with empty
      settings is left out.
    """

    name: str
    settings: Settings
    only: Mapping[str, Settings] = field(default_factory=dict)


PHASES = Variant("delays moved by up to 3 %", {"*.delay": 0.03})
"""Delays that each run draws anew: a verdict that this changes rests on packets that meet in step."""

LINUX_TCP = Variant(
    "Linux's TCP with Reno",
    {"traffic.*.tcp.preset": "linux", "traffic.*.tcp.flavour": "rack", "traffic.*.tcp.congestion": "reno"},
)
"""The TCP of real hosts with the window law of the simulators: its detection of losses, timers and initial window."""


@dataclass(frozen=True)
class Printed:
    """A number that the paper prints for runs whose load it states.

    * name: the name of the number: ``loss, 80 flows of 550 ms``.
    * value: the printed number, above 0.
    * unit: its unit.
    * where: its place in the paper.
    * experiment: the experiment that measures it.
    * read: takes the runs of the experiment and returns our `PerSeed` of it, in the same unit.
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

    * printed: the printed numbers.
    * tried: the settings that were tried beside those of the shipped scenarios, which are called ``as shipped``.
    * chosen: the name of the chosen settings: ``as shipped`` once the scenarios have them.
    * why: the reason for the choice, and what no setting explains.
    """

    printed: Sequence[Printed]
    tried: Sequence[Variant]
    chosen: str = SHIPPED
    why: str
