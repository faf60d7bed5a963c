"""The words in which a paper is described: experiments, figures, tables, claims, choices."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from aqmlab.papers.describe.verdict import Check
from aqmlab.scenario import Settings

if TYPE_CHECKING:
    import numpy as np
    import polars
    from numpy.typing import NDArray

    from aqmlab.papers.run.evidence import Evidence

    Numbers = Sequence[float] | NDArray[np.float64]

Aqms = Mapping[str, str | Settings]
"""Queue disciplines by the label that figures give them: ``NAME:KEY=VALUE`` each, or settings of any kind."""

RIVALS: Aqms = {"PIE": "pie", "CoDel": "codel", "DualPI2": "dualpi2"}
"""The later disciplines that each paper's claims are tested against."""


@dataclass(frozen=True, kw_only=True)
class Experiment:
    """Runs of one scenario: what varies, with which queue disciplines.

    Parameters
    ----------
    name : str
        What figures and claims call it: ``exp3``.
    title : str
        What it is, in a line.
    scenario : str
        A shipped scenario: ``lred/exp3``.
    aqms : mapping
        The disciplines by the labels that figures give them.
    settings : mapping
        What is changed in the scenario, by dotted path; ``traffic.*.tcp.min_rto`` is that of all its flows.
    vary : mapping
        The values of each parameter that varies, by dotted path; see `aqmlab.sweep`. What a ``[sweep]`` in the scenario
        says does not count.
    quick : mapping
        With ``--quick``, for the sensitivity table and against later disciplines: fewer values in place of those in
        ``vary``, still enough to judge every claim.
    method : str
        ``grid`` or ``paired``.
    series : bool
        Whether queues over time are kept too.
    rivals : mapping
        Later disciplines in place of `RIVALS`, such as with this experiment's target; empty where they make no sense.
    most_seeds : int or None
        At most so many seeds, where runs are long and a figure wants only one.
    """

    name: str
    title: str
    scenario: str
    aqms: Aqms
    settings: Settings = field(default_factory=dict)
    vary: Mapping[str, Sequence[object] | str] = field(default_factory=dict)
    quick: Mapping[str, Sequence[object] | str] = field(default_factory=dict)
    method: str = "grid"
    series: bool = False
    rivals: Aqms = field(default_factory=lambda: RIVALS)
    most_seeds: int | None = None


@dataclass(frozen=True)
class Axis:
    """An axis of a figure.

    Parameters
    ----------
    label : str
        What it says, with the unit: ``Average queue length (packets)``.
    low : float or None
        Where it begins; by default the data say.
    high : float or None
        Where it ends.
    log : bool
        Whether it is logarithmic.
    """

    label: str
    low: float | None = None
    high: float | None = None
    log: bool = False


@dataclass(frozen=True)
class Panel:
    """A panel of a figure.

    Parameters
    ----------
    letter : str
        The paper's letter, or what tells it from the figure's other panels; empty if there is only one.
    title : str
        What it shows.
    x : Axis
        Its x axis.
    y : Axis
        Its y axis.
    """

    letter: str
    title: str
    x: Axis
    y: Axis


@dataclass(frozen=True, eq=False)
class Curve:
    """A curve, or some dots or bars, in a panel.

    Parameters
    ----------
    panel : str
        The letter of its panel.
    name : str
        What the legend says; curves of one name have one colour in all panels.
    x : sequence of float or str
        Where its points are, in the unit of the axis; texts are categories, for bars.
    y : sequence of float
        Their values, in the unit of the axis; NaN where there is none.
    low : sequence of float or None
        Where the 95 % confidence intervals begin, or another band; none where there is none.
    high : sequence of float or None
        Where they end.
    style : str
        ``line`` (with dots if there are few points), ``dashed`` (theory and bounds), ``points``, ``steps`` or ``bars``.
    run : int or None
        The seed of the one run that it is of; none if it is of all.
    """

    panel: str
    name: str
    x: Sequence[float] | Sequence[str] | NDArray[np.float64]
    y: Numbers
    low: Numbers | None = None
    high: Numbers | None = None
    style: str = "line"
    run: int | None = None


@dataclass(frozen=True, kw_only=True)
class Figure:
    """A figure of the paper, or one beyond it.

    Parameters
    ----------
    name : str
        ``fig7``; what ``--only`` takes, and its files are called.
    title : str
        What it shows, in a line.
    panels : sequence of Panel
        Its panels.
    curves : callable
        Takes the evidence and gives all curves, in the order of the legend.
    needs : sequence of str
        The experiments that it is drawn from.
    caption : str
        What the reader must know to read it: what differs from the printed one.
    across : int
        How many panels are beside each other.
    beyond : bool
        Whether it goes beyond the paper.
    """

    name: str
    title: str
    panels: Sequence[Panel]
    curves: Callable[[Evidence], Iterable[Curve]]
    needs: Sequence[str] = ()
    caption: str = ""
    across: int = 2
    beyond: bool = False


@dataclass(frozen=True, kw_only=True)
class Table:
    """A table of the paper, or one beyond it.

    Parameters
    ----------
    name : str
        ``table3``; what ``--only`` takes, and its files are called.
    title : str
        What it has, in a line.
    rows : callable
        Takes the evidence and gives the frame: the first column names the rows; a printed column is called
        ``… (paper)`` and stands before ours, and half the 95 % interval of a column after it, called ``… ±``.
    needs : sequence of str
        The experiments that it is made from.
    caption : str
        What the reader must know to read it.
    digits : int
        Significant digits of numbers.
    beyond : bool
        Whether it goes beyond the paper.
    """

    name: str
    title: str
    rows: Callable[[Evidence], polars.DataFrame]
    needs: Sequence[str] = ()
    caption: str = ""
    digits: int = 4
    beyond: bool = False


Item = Figure | Table


@dataclass(frozen=True)
class Judgement:
    """What the data say of a claim.

    Parameters
    ----------
    checks : sequence of Check
        Each a number that the claim says something of. None, if it cannot be tested.
    why : str
        One or two sentences: why it came out so.
    """

    checks: Sequence[Check]
    why: str


@dataclass(frozen=True, kw_only=True)
class Claim:
    """Something that the paper claims.

    Parameters
    ----------
    name : str
        A short name of its own: ``lowest-deviation``.
    text : str
        What it claims, in our words.
    where : str
        Where it does: ``Section 6.1, Fig. 7c``.
    judge : callable
        Takes the evidence and judges.
    needs : sequence of str
        The experiments that it is judged by.
    shown : sequence of str
        The figures and tables that show it.
    sensitive : bool
        Whether it has a row in the sensitivity table: judged again with other values of what the paper does not say.
    comparative : bool
        Whether it says that the paper's discipline is better than others, and is to be judged against later ones too.
    beyond : bool
        Whether it is ours and not the paper's.
    """

    name: str
    text: str
    where: str
    judge: Callable[[Evidence], Judgement]
    needs: Sequence[str] = ()
    shown: Sequence[str] = ()
    sensitive: bool = False
    comparative: bool = False
    beyond: bool = False


@dataclass(frozen=True)
class Choice:
    """A parameter that the paper does not say, or says wrongly, and what we take.

    Parameters
    ----------
    what : str
        The parameter.
    said : str
        What the paper says of it; empty if nothing.
    ours : str
        What we take, with its unit.
    why : str
        Why.
    """

    what: str
    said: str
    ours: str
    why: str


@dataclass(frozen=True)
class Variant:
    """Another value of what the paper does not say, for the sensitivity table.

    Parameters
    ----------
    name : str
        ``min RTO 1 s``.
    settings : mapping
        What it changes in every scenario, by dotted path; ``traffic.*.tcp.min_rto`` is that of all its flows.
    only : mapping
        By an experiment's name the settings there, in place of `settings`; none at all if empty.
    """

    name: str
    settings: Settings
    only: Mapping[str, Settings] = field(default_factory=dict)


@dataclass(frozen=True, kw_only=True)
class Paper:
    """A paper: what it did, what it shows, what it claims.

    Parameters
    ----------
    name : str
        ``lred``: its folder.
    title : str
        The paper's title.
    source : str
        Authors, journal or conference, year.
    about : str
        What it proposes, in two or three sentences of ours.
    hero : str
        The label of the discipline that it proposes or speaks for; empty if there is none.
    experiments : sequence of Experiment
        What is run.
    items : sequence of Figure or Table
        What is drawn, in the paper's order; then what goes beyond.
    claims : sequence of Claim
        What it claims, in the paper's order; then ours.
    choices : sequence of Choice
        What it does not say.
    variants : sequence of Variant
        What of that is varied in the sensitivity table.
    later : str
        What is left to other engines, such as the testbed's own runs; empty if nothing.
    """

    name: str
    title: str
    source: str
    about: str
    hero: str
    experiments: Sequence[Experiment]
    items: Sequence[Item]
    claims: Sequence[Claim]
    choices: Sequence[Choice]
    variants: Sequence[Variant] = ()
    later: str = ""
