"""A guideline of RFC 7928: its cases, each a scenario with settings, with their measures and figures."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal

from aqmlab.scenario import Value
from aqmlab_papers.evaluation.describe.discipline import PLAIN, Placement
from aqmlab_papers.evaluation.describe.measure import Measure

Kind = Literal["runs", "sensitivity", "cost", "operator"]


@dataclass(frozen=True)
class Plot:
    """A panel of the trade-off of section 2.7: goodput over delay."""

    title: str
    delay: Measure
    goodput: Measure


@dataclass(frozen=True)
class Line:
    """A panel with a measure of each case over the number `Case.x`."""

    measure: Measure
    log: bool = False


@dataclass(frozen=True)
class Case:
    """A scenario with settings.

    Parameters
    ----------
    name : str
        Its name, unique in the guideline, for headings and files: ``case II``. Empty if the guideline has one case.
    scenario : str
        The shipped scenario.
    measures : sequence of Measure
        The measures; they are tested if the case is `judged`.
    plots : sequence of Plot
        Its panels of goodput over delay.
    settings : mapping
        Changes of the scenario, by dotted path.
    placement : Placement
        How a discipline enters it.
    against : tuple of str
        The section and the name of the case in which the same discipline is the reference; by default the reference is
        another discipline in the same case.
    x : float
        Its place on the axis of the guideline's `lines`.
    series : bool
        Whether time series are needed.
    judged : bool
        Whether differences are tested.
    distribution : str
        The traffic entry whose delays are drawn as a distribution; empty for none.
    over_time : tuple of float
        The time, from and to in s, in which throughput and wait are drawn; None for not at all.
    """

    name: str
    scenario: str
    measures: Sequence[Measure]
    plots: Sequence[Plot] = ()
    settings: Mapping[str, Value] = field(default_factory=dict)
    placement: Placement = PLAIN
    against: tuple[str, str] | None = None
    x: float | None = None
    series: bool = False
    judged: bool = True
    distribution: str = ""
    over_time: tuple[float, float] | None = None


@dataclass(frozen=True)
class Guideline:
    """A section of RFC 7928 that recommends runs or a discussion.

    Parameters
    ----------
    section : str
        Its number.
    title : str
        Its subject.
    requirement : str
        Its weight by the RFC's section 13, or by the section itself.
    about : str
        The traffic and the measures, in a sentence or two.
    cases : sequence of Case
        The cases; none if nothing is run.
    lines : sequence of Line
        The panels over `Case.x`.
    x_axis : str
        The label of that axis.
    departures : sequence of str
        How it departs from the RFC, and why.
    kind : str
        ``runs``; or ``cost`` or ``operator``, for the sections that are tables.
    """

    section: str
    title: str
    requirement: str
    about: str
    cases: Sequence[Case] = ()
    lines: Sequence[Line] = ()
    x_axis: str = ""
    departures: Sequence[str] = ()
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
        """Return whether it is one of some sections, or part of one.

        Parameters
        ----------
        sections : sequence of str
            Numbers of sections: ``5`` has ``5.2`` too. All if empty.

        Returns
        -------
        bool
            Whether it is.
        """
        return not sections or any(self.section == one or self.section.startswith(f"{one}.") for one in sections)
