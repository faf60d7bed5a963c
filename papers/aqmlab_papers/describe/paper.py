"""The vocabulary in which a paper is described: experiments, figures, tables, claims, choices."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import KW_ONLY, dataclass, field, replace
from types import ModuleType
from typing import TYPE_CHECKING

from aqmlab.figures.model import Axis as Axis
from aqmlab.results.summary import Summary
from aqmlab.scenario import Settings
from aqmlab_papers.describe.calibration import Calibration, Variant
from aqmlab_papers.describe.claim import Claim
from aqmlab_papers.describe.measurement import Measurement
from aqmlab_papers.describe.reader import reader

if TYPE_CHECKING:
    import numpy as np
    import polars
    from numpy.typing import NDArray

    Numbers = Sequence[float] | NDArray[np.float64]

Aqms = Mapping[str, str | Settings]
"""Queue disciplines by their labels in the figures: each is ``NAME:KEY=VALUE``, or a mapping of settings."""

RIVALS: Aqms = {"PIE": "pie", "CoDel": "codel", "DualPI2": "dualpi2"}
"""The later disciplines against which each paper's claims are tested."""


@dataclass(frozen=True)
class Experiment:
    """The runs of one scenario: which parameters vary, and which queue disciplines are compared.

    * name: the name that figures and claims use: ``exp3``.
    * title: a one-line description.
    * aqms: the disciplines by their labels in the figures.
    * vary: the values of each parameter that varies, by dotted path; see `aqmlab.sweep`. A ``[sweep]`` in the scenario
      is ignored.
    * quick: fewer values that replace those in ``vary`` with ``--quick``, for the sensitivity table and against later
      disciplines; still enough to judge every claim.
    * scenario: the name of a scenario, shipped or in the paper's folder: ``lred/exp3``.
    * settings: changes to the scenario, by dotted path; ``traffic.*.tcp.min_rto`` applies to all its flows.
    * method: ``grid`` or ``paired``.
    * series: whether time series of the queues are kept too; of a scenario with `record.flows`, its flows in place of
      them.
    * rivals: later disciplines in place of `RIVALS`, for example with this experiment's target; empty where none makes
      sense.
    * most_seeds: the largest number of seeds, where runs are long and a figure needs only one.
    * varied: whether the sensitivity table has it too; false where runs are long and serve one or two claims.
    """

    name: str
    title: str
    aqms: Aqms
    vary: Mapping[str, Sequence[object] | str] = field(default_factory=dict)
    quick: Mapping[str, Sequence[object] | str] = field(default_factory=dict)
    _: KW_ONLY
    scenario: str
    settings: Settings = field(default_factory=dict)
    method: str = "grid"
    series: bool = False
    rivals: Aqms = field(default_factory=lambda: RIVALS)
    most_seeds: int | None = None
    varied: bool = True


@dataclass(frozen=True)
class Panel:
    """A panel of a figure.

    * letter: the paper's letter, or another text that distinguishes the panel within its figure; empty for a single
      panel.
    * title: its title.
    * x: its x axis.
    * y: its y axis.
    * right: a second y axis, at the right, and the letter of the curves that are read off it.
    """

    letter: str
    title: str
    x: Axis
    y: Axis
    right: tuple[str, Axis] | None = None

    @property
    def letters(self) -> list[str]:
        """The letters of its curves: its own, and that of its right axis."""
        return [self.letter, *(self.right or ())[:1]]


@dataclass(frozen=True, eq=False)
class Curve:
    """A curve, or a set of dots or bars, in a panel.

    * panel: the letter of its panel, or that of the panel's right axis.
    * name: its entry in the legend; curves of the same name have the same colour in all panels; points on bars are
      black.
    * x: the x coordinates of its points, in the unit of the axis; strings are categories, for bars.
    * y: the values of its points, in the unit of the axis; NaN where there is none.
    * low: the lower ends of the 95 % confidence intervals or of another band; None without them.
    * high: the upper ends.
    * style: ``line`` (with dots if there are few points), ``dashed`` (theory and bounds), ``printed`` (values printed
      in the paper), ``points``, ``steps`` or ``bars``. Points with the name of bars stand on these, hollow and black.
      A curve that is dashed at the left axis is dotted at the right.
    * run: the seed of the single run that it shows; None if it shows all runs.
    """

    panel: str
    name: str
    x: Sequence[float] | Sequence[str] | NDArray[np.float64]
    y: Numbers
    low: Numbers | None = None
    high: Numbers | None = None
    style: str = "line"
    run: int | None = None


def mean_curve(
    panel: str,
    name: str,
    x: Sequence[float] | Sequence[str],
    summaries: Iterable[Summary],
    *,
    scale: float = 1.0,
    style: str = "line",
) -> Curve:
    """Return the curve of means with their 95 % confidence intervals, one for each of ``x``.

    A point without a value is NaN; if any point lacks an interval, none has one.
    """
    points = list(summaries)
    means = [math.nan if point.mean is None else point.mean * scale for point in points]
    if any(point.ci95 is None for point in points):
        return Curve(panel, name, x, means, style=style)
    halves = [(point.ci95 or 0.0) * scale for point in points]
    low, high = ([mean + sign * half for mean, half in zip(means, halves, strict=True)] for sign in (-1, 1))
    return Curve(panel, name, x, means, low, high, style)


@dataclass(frozen=True, kw_only=True)
class Figure:
    """A figure of the paper, or one beyond it.

    * name: the name for ``--only`` and for its files: ``fig7``.
    * title: a one-line description.
    * panels: its panels.
    * curves: takes the runs of the experiments that its parameters name, with ``_`` for ``-``, or the ``evidence``, and
      returns all curves, in the order of the legend.
    * needs: the experiments from which it is drawn; by default those that the parameters name.
    * caption: what the reader must know to read it, such as differences from the printed figure.
    * across: the number of panels in a row.
    * beyond: whether it goes beyond the paper.
    """

    name: str
    title: str
    panels: Sequence[Panel]
    curves: Callable[..., Iterable[Curve]]
    needs: Sequence[str] = ()
    caption: str = ""
    across: int = 2
    beyond: bool = False

    def __post_init__(self) -> None:
        _bind(self, "curves", self.needs)


@dataclass(frozen=True, kw_only=True)
class Table:
    """A table of the paper, or one beyond it.

    * name: the name for ``--only`` and for its files: ``table3``.
    * title: a one-line description.
    * rows: takes runs or evidence, as `Figure.curves` does, and returns the frame. The first column names the rows. A
      column of printed values is called ``… (paper)`` and precedes ours; a column called ``… ±`` has half the 95 %
      interval of the column before it.
    * needs: the experiments from which it is made; by default those that the parameters name.
    * caption: what the reader must know to read it.
    * digits: significant digits of numbers.
    * beyond: whether it goes beyond the paper.
    """

    name: str
    title: str
    rows: Callable[..., polars.DataFrame]
    needs: Sequence[str] = ()
    caption: str = ""
    digits: int = 4
    beyond: bool = False

    def __post_init__(self) -> None:
        _bind(self, "rows", self.needs)


def _bind(item: Figure | Table, name: str, needs: Sequence[str]) -> None:
    """Make the function of a figure or table a function of the evidence, and find the experiments that it reads."""
    bound = reader(getattr(item, name), needs or None)
    object.__setattr__(item, name, bound)
    object.__setattr__(item, "needs", list(bound.needs))


Item = Figure | Table


def figure(
    panels: Sequence[Panel],
    *,
    name: str = "",
    needs: Sequence[str] = (),
    caption: str = "",
    across: int = 2,
    beyond: bool = False,
) -> Callable[[Callable[..., Iterable[Curve]]], Figure]:
    """Make a `Figure` of the function that draws its curves.

    Its ``name`` is by default that of the function, with ``-`` for ``_``; its title is the function's docstring.
    ``panels``, ``needs``, ``caption``, ``across`` and ``beyond`` are as for `Figure`.
    """

    def made(curves: Callable[..., Iterable[Curve]]) -> Figure:
        return Figure(
            **_named(curves, name),
            panels=panels,
            curves=curves,
            needs=needs,
            caption=caption,
            across=across,
            beyond=beyond,
        )

    return made


def table(
    *, name: str = "", needs: Sequence[str] = (), caption: str = "", digits: int = 4, beyond: bool = False
) -> Callable[[Callable[..., polars.DataFrame]], Table]:
    """Make a `Table` of the function that lists its rows.

    ``name`` and title are as for `figure`, ``needs``, ``caption``, ``digits`` and ``beyond`` as for `Table`.
    """

    def made(rows: Callable[..., polars.DataFrame]) -> Table:
        return Table(**_named(rows, name), rows=rows, needs=needs, caption=caption, digits=digits, beyond=beyond)

    return made


def _named(function: Callable[..., object], name: str) -> dict[str, str]:
    title = " ".join((function.__doc__ or "").split()).removesuffix(".")
    return {"name": name or function.__name__.replace("_", "-"), "title": title}


def items(order: str, *modules: ModuleType) -> tuple[Item, ...]:
    """Collect the figures and tables that ``modules`` define, also in lists, in the ``order`` of their names.

    Raises `ValueError` if the order lacks one of them, or has another.
    """
    values = [value for module in modules for value in vars(module).values()]
    each = [one for value in values for one in (value if isinstance(value, list | tuple) else [value])]
    found = {one.name: one for one in each if isinstance(one, Item)}
    names = order.split()
    if different := found.keys() ^ names:
        raise ValueError(f"{', '.join(sorted(different))}: must be both defined and in the order")
    return tuple(found[name] for name in names)


@dataclass(frozen=True)
class Choice:
    """A parameter that the paper does not state, or states wrongly, and the value that we use.

    * parameter: the parameter.
    * stated: the paper's statement about it; empty if there is none.
    * ours: our value, with its unit.
    * why: the reason for our value, which `because` adds.
    """

    parameter: str
    stated: str
    ours: str
    why: str = ""

    def because(self, why: str) -> Choice:
        """Return the choice with its reason, ``why``."""
        return replace(self, why=why)


@dataclass(frozen=True, kw_only=True)
class Paper:
    """A paper: its experiments, figures, tables and claims.

    * name: the name of its folder: ``lred``.
    * title: the paper's title.
    * source: authors, journal or conference, year.
    * about: its proposal, in two or three sentences of ours.
    * hero: the label of the discipline that it proposes or advocates; empty if there is none.
    * experiments: the experiments to run.
    * items: the figures and tables, in the paper's order; then those beyond it.
    * claims: the claims, in the paper's order; then ours.
    * choices: the parameters that it does not state, or states wrongly.
    * variants: other values of such parameters, for the sensitivity table.
    * calibration: how such parameters were fitted to the numbers that the paper prints.
    * later: the parts that are left out; empty if there are none.
    * measurements: how other engines repeat some of its experiments.
    * simulated: the simulated paper, of one that another engine measures: see `Paper.on`.
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
    calibration: Calibration | None = None
    later: str = ""
    measurements: Sequence[Measurement] = ()
    simulated: Paper | None = None

    def on(self, engine: str, *, full: bool = False, quick: bool = False, only: Iterable[str] = ()) -> Paper:
        """Return the paper with the experiments that another ``engine`` repeats; its `simulated` is this one.

        ``full``, ``quick`` and ``only`` are as for `Measurement.paper`. Raises `ValueError` if the engine can repeat
        nothing of the paper.
        """
        return self.measured(engine).paper(self, full=full, quick=quick, only=only)

    def measured(self, engine: str) -> Measurement:
        """Return how an ``engine`` repeats experiments of the paper; raise `ValueError` if it cannot."""
        for one in self.measurements:
            if one.engine == engine:
                return one
        able = ", ".join(one.engine for one in self.measurements)
        why = (
            f"the engine that can repeat some of its experiments is {able}"
            if able
            else "its experiments are simulations, with the TCPs of their simulators, and none is described for another"
        )
        raise ValueError(f"{self.name} cannot be reproduced with engine {engine}: {why}; omit --engine")
