"""A guideline of an RFC: its cases, each a scenario with settings, with their measures and figures."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal, Self

from aqmlab.scenario import Value
from aqmlab_papers.evaluation.describe.discipline import PLAIN
from aqmlab_papers.evaluation.describe.measure import Measure, goodput, waiting
from aqmlab_papers.evaluation.describe.subject import Placement

Kind = Literal["runs", "sensitivity", "cost", "operator"]


@dataclass(frozen=True)
class Plot:
    """A panel of the trade-off of section 2.7: goodput over delay."""

    title: str
    delay: Measure
    goodput: Measure

    @classmethod
    def of(cls, title: str, entry: str) -> Self:
        """Return the panel of a traffic entry."""
        return cls(title, waiting(entry), goodput(entry))


@dataclass(frozen=True)
class Line:
    """A panel with a measure of each case over the number `Case.x`."""

    measure: Measure
    log: bool = False


@dataclass(frozen=True)
class Case:
    """A shipped scenario with settings.

    ``name`` is unique in the guideline, for headings and files: ``case II``; empty if the guideline has one case. The
    ``measures`` are tested if the case is ``judged``; ``plots`` are its panels of goodput over delay. ``settings``
    change the scenario, by dotted path, and ``placement`` puts a subject into it. The reference is another
    subject in the same case, or the same subject in the case ``against``: its section and name. ``x`` is its
    place on the axis of the guideline's ``lines``. Time series are kept if ``series`` says so, or for the traffic entry
    whose ``distribution`` of delays is drawn; ``over_time`` is the time, from and to in s, in which throughput and wait
    are drawn.
    """

    name: str
    scenario: str
    measures: Sequence[Measure]
    plots: Sequence[Plot] = ()
    settings: Mapping[str, Value] = field(default_factory=dict)
    placement: Placement[Any] = PLAIN
    against: tuple[str, str] | None = None
    x: float | None = None
    series: bool = False
    judged: bool = True
    distribution: str = ""
    over_time: tuple[float, float] | None = None


@dataclass(frozen=True)
class Guideline:
    """A section of an RFC that recommends runs or a discussion.

    ``requirement`` is its weight by RFC 7928's section 13, or by the section itself; ``about`` has the traffic and the
    measures, in a sentence or two. ``lines`` are the panels over `Case.x`, whose axis is ``x_axis``. ``departures`` say
    how it departs from the RFC, and why; ``open`` what the section asks for that is not done, and why. The sections
    that are tables have another ``kind`` than ``runs``.
    """

    section: str
    title: str
    requirement: str
    about: str
    cases: Sequence[Case] = ()
    lines: Sequence[Line] = ()
    x_axis: str = ""
    departures: Sequence[str] = ()
    open: Sequence[str] = ()
    kind: Kind = "runs"

    @property
    def name(self) -> str:
        """Its name in files and anchors: ``section-5.2``."""
        return f"section-{self.section}"

    @property
    def heading(self) -> str:
        """Its number and subject."""
        return f"{self.section} {self.title}"

    def selected(self, sections: Sequence[str]) -> bool:
        """Return whether it is one of some sections, or part of one: ``5`` has ``5.2`` too. None selects all."""
        return not sections or any(self.section == one or self.section.startswith(f"{one}.") for one in sections)
