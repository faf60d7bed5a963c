"""The runs of an experiment, with the queries that figures, tables and claims need.

Words of the queries:

* label, subject, others: the labels of disciplines; at: the points, by default all; of a series, the one point.
* path: the dotted path of a parameter; x: such a path, or the name of a metric.
* metric: the name of a metric, or of its column for a class or link: ``classes.ftp.loss_ratio``; or an expression of a
  run's columns.
* fill: the value to use for runs without one, in the metric's own unit, such as the duration for a queue that never
  settled; by default a seed with such a run has no value: the other points alone have another mean.
* unit: by default the one in which people read the metric: ms, %, Mbit/s; an expression is not converted.
* name: the name of a quantity, by default that of the metric, of a curve, by default the label, or of a distribution in
  `aqmlab.DISTRIBUTIONS`.
* better, tolerance: as for `Effect.better`; panel, style: as for `Curve`; scale, x_scale: factors for values and x.
* seed: by default the first; quantity, link: a column of the series, ``queue.mean``, ``p.mean``, ``web.throughput``,
  and its link, by default the observed one; bin: the length (s) of the intervals to average over, by default the
  series'.
* owner, kind: a traffic entry or link, and ``classes`` or ``links``.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from aqmlab.results.summary import Summary
from aqmlab.runs.plan import Study
from aqmlab.runs.store import Store
from aqmlab.runs.swept import Sweep, parameters
from aqmlab.runs.table import RunTable
from aqmlab_papers.describe.check import Better, Check, Effect, Tolerance
from aqmlab_papers.describe.paper import Curve, mean_curve
from aqmlab_papers.describe.per_seed import PerSeed, Read
from aqmlab_papers.run.reading import place, reading
from aqmlab_papers.run.table import Table

if TYPE_CHECKING:
    import polars

At = Mapping[str, float | str]
"""A selection of points: values of some parameters, by dotted path, in s, bit/s, bytes and packets."""

Cell = tuple[str, int]
"""The label of a discipline, and the number of a point in the design of an experiment."""


class Runs:
    """The runs of an experiment.

    * study: the requested runs.
    * sweep: the results of those that are finished.
    * store: the store with their time series and distributions.
    * hero: the label of the discipline that the paper advocates.
    * name: that of the experiment.
    * further: the results of further seeds at some points of some disciplines. `per_seed`, `from_series` and `curve`
      use those that are there at all the points which they read; all else has the first seeds, those of the study.
    """

    def __init__(
        self, study: Study, sweep: Sweep, store: Store, hero: str, name: str = "", further: Sequence[Sweep] = ()
    ) -> None:
        self.study = study
        self.sweep = sweep
        self.hero = hero
        self._further = further
        self._names = dict.fromkeys(self.labels, name)
        self._store = store
        self._table = self._every = Table(sweep.frame)
        if further:
            self._every = Table(_joined(one.frame for one in (sweep, *further)))

    @property
    def labels(self) -> tuple[str, ...]:
        """The labels of the disciplines, in the paper's order."""
        return self.sweep.aqms

    @property
    def others(self) -> tuple[str, ...]:
        """The labels of all disciplines but the paper's own: those of its time, or later ones."""
        return tuple(label for label in self.labels if label != self.hero)

    @property
    def frame(self) -> polars.DataFrame:
        """One row for each run: ``aqm`` (its label), varied parameters, ``seed``, ``key``, all metrics; see `Sweep`."""
        return self.sweep.frame

    @property
    def whole(self) -> bool:
        """Whether all requested runs are finished."""
        return self.done == self.wanted

    @property
    def wanted(self) -> int:
        """The number of requested runs."""
        return sum(one.wanted for one in (self.sweep, *self._further))

    @property
    def done(self) -> int:
        """The number of finished runs."""
        return sum(one.done for one in (self.sweep, *self._further))

    @property
    def keys(self) -> list[str]:
        """The keys of all runs in the store, those of further seeds too."""
        return self._every.column("key")

    @property
    def seeds(self) -> list[int]:
        """The seeds of all runs, those that only some points have too."""
        return self._every.seeds(range(len(self._every.frame)))

    @property
    def duration(self) -> float:
        """The simulated duration of a run, in seconds."""
        return self.study.scenario.duration

    def __or__(self, other: Runs | None) -> Runs:
        """Return the runs of both, whose disciplines have different labels; None adds nothing.

        It serves disciplines that the paper compares and that need their own parameters at each point, such as PI* at
        its design for each load.
        """
        if other is None:
            return self
        if shared := set(self.labels).intersection(other.labels):
            raise ValueError(f"{self.study.scenario.title}: both have runs of {', '.join(sorted(shared))}")
        one, two = self.sweep, other.sweep
        sweep = replace(
            one,
            aqms=(*one.aqms, *two.aqms),
            parameters={**two.parameters, **one.parameters},
            table=RunTable((_joined([one.frame, two.frame]),)),
            wanted=one.wanted + two.wanted,
        )
        both = Runs(self.study, sweep, self._store, self.hero, further=(*self._further, *other._further))
        both._names = self._names | other._names
        return both

    def cells(self, label: str | None = None, at: At | None = None) -> Collection[Cell]:
        """List the cells of a discipline, by default of all."""
        import polars

        chosen: Sequence[int] = range(len(self.study.design.points))
        if at:
            same = [polars.col(path) == value for path, value in at.items()]
            chosen = (
                parameters(self.study.design)[0].select(polars.all_horizontal(same).arg_true()).to_series().to_list()
            )
        return [(one, number) for one in (self.labels if label is None else [label]) for number in chosen]

    def points(self, path: str) -> list[Any]:
        """List the values of a parameter for which there are runs, ascending."""
        return sorted(self.frame[path].drop_nulls().unique().to_list())

    def of(self, label: str | None = None, at: At | None = None) -> polars.DataFrame:
        """Select the rows of `frame` of a discipline, by default of all; raise `LookupError` if there are none."""
        return self.frame[list(self._rows(label, at))]

    def _rows(self, label: str | None, at: At | None) -> Sequence[int]:
        """Return the numbers of the rows that `of` selects."""
        return self._selected(self._table, label, at)

    def _every_row(self, label: str, at: At | None) -> Sequence[int]:
        """Return the numbers of the rows with all seeds that a discipline has at each of these points."""
        return self._every.balanced(self._selected(self._every, label, at))

    def _selected(self, table: Table, label: str | None, at: At | None) -> Sequence[int]:
        wanted = {**({} if label is None else {"aqm": label}), **(at or {})}
        if rows := table.rows(wanted):
            return rows
        raise LookupError(f"{self.study.scenario.title}: no runs with {wanted}; labels {self.labels}")

    def _reads(self, label: str, at: At | None) -> frozenset[Read]:
        return frozenset({(self._names[label], label, frozenset((at or {}).items()))})

    def per_seed(
        self,
        metric: str | polars.Expr,
        label: str,
        at: At | None = None,
        *,
        fill: float | None = None,
        unit: str | None = None,
        name: str | None = None,
    ) -> PerSeed:
        """Return a metric for each seed, averaged over the points; None if one of its runs has none."""
        rows, reads = self._every_row(label, at), self._reads(label, at)
        _, read_unit, scale, read_name = reading(metric)
        if not isinstance(metric, str):
            means = self._every.means_of(metric if fill is None else metric.fill_null(fill), rows)
            return PerSeed.of(means, unit or "", name or read_name, reads)
        values = PerSeed.of(self._every.means(metric, rows, fill, scale), read_unit, name or read_name, reads)
        return values.to(read_unit if unit is None else unit)

    def slope(self, metric: polars.Expr, x: str, label: str, *, unit: str = "") -> PerSeed:
        """Return the slope of a metric over a column of a discipline's runs for each seed, by linear regression."""
        import polars

        points = self._every.frame[list(self._every_row(label, None))].select(
            "seed", x=polars.col(x).cast(polars.Float64), y=metric.cast(polars.Float64)
        )
        found = {
            int(seed): float(np.polyfit(rows["x"], rows["y"], 1)[0])
            for (seed,), rows in points.group_by("seed", maintain_order=True)
        }
        return PerSeed.of(found, unit, reads=self._reads(label, None))

    def from_series(
        self,
        label: str,
        read: Callable[[polars.DataFrame], float | None],
        at: At | None = None,
        *,
        unit: str = "",
        name: str = "",
    ) -> PerSeed:
        """Return a number for each seed that ``read`` takes from the series of its run.

        The series are as from `Result.series_of`, but columns of the observed link lack its name: ``t``,
        ``queue.mean``, ``ftp.arrivals``.
        """
        own = f"{self.study.scenario.resolved['observe']}."
        found: dict[int, float | None] = {}
        for seed in self._every.seeds(self._every_row(label, at)):
            frame = self.series(label, at, seed)
            found[seed] = read(frame.rename({column: column.removeprefix(own) for column in frame.columns}))
        return PerSeed.of(found, unit, name, self._reads(label, at))

    def compare(
        self,
        metric: str | polars.Expr,
        subject: str,
        others: Sequence[str] | None = None,
        *,
        better: Better,
        tolerance: Tolerance,
        at: At | Sequence[At] | None = None,
        each: str | tuple[str, str] | None = None,
        fill: float | None = None,
        unit: str | None = None,
        name: str | None = None,
    ) -> list[Check]:
        """Check how a discipline compares with others, by default all, in a metric, seed by seed.

        There is one check for each other discipline; with ``each``, a parameter by its dotted path, one for each of its
        values instead of one for their average. With the path may come a text for its values: ``("traffic.long.count",
        "{:g} flows")``.
        """
        wheres = [at] if at is None or isinstance(at, Mapping) else list(at)
        path, form = each if isinstance(each, tuple) else (each, None)
        cases: list[tuple[str, At]] = [("", {})]
        if path is not None:
            unit_of = self.sweep.parameters.get(path, "")
            cases = [(f", {place(path, value, form, unit_of)}", {path: value}) for value in self.points(path)]
        checks = []
        for where, case in cases:
            points = [{**(one or {}), **case} for one in wheres]
            for other in self.others_than(subject) if others is None else others:
                own, theirs = (
                    PerSeed.average(
                        self.per_seed(metric, label, point, fill=fill, unit=unit, name=name) for point in points
                    )
                    for label in (subject, other)
                )
                words = f"{own.name} of {subject} {'over' if tolerance.relative else 'minus'} that of {other}"
                checks.append(Effect(words + where).better(own, theirs, better, tolerance))
        return checks

    def others_than(self, label: str) -> tuple[str, ...]:
        """List the labels of all other disciplines, in the paper's order."""
        return tuple(one for one in self.labels if one != label)

    def curve(
        self,
        panel: str,
        metric: str,
        label: str,
        x: str,
        *,
        at: At | None = None,
        fill: float | None = None,
        scale: float = 1.0,
        x_scale: float = 1.0,
        name: str | None = None,
        style: str = "line",
    ) -> Curve:
        """Compute the curve of a metric over a parameter or another metric, with 95 % confidence intervals.

        A point is the mean over the seeds; where ``x`` is a metric, at the mean of that metric.
        """
        import polars

        rows = self._every.frame[list(self._selected(self._every, label, at))]
        parameter = x in self.sweep.parameters
        groups = [x] if parameter else list(self.sweep.parameters)
        if not groups:
            raise LookupError(f"{self.study.scenario.title}: nothing varies to draw {metric} over")
        points_of_seed = polars.len().over([*groups, "seed"])
        rows = rows.filter(points_of_seed == points_of_seed.max().over(groups))
        value = polars.col(metric) if fill is None else polars.col(metric).fill_null(fill)
        where = polars.col(x).first() if parameter else polars.col(x).mean()
        # In the order of the runs: that of threads would change the last digits of a mean.
        grouped = rows.group_by(*groups, "seed", maintain_order=True).agg(value.mean().alias("y"), where.alias("at"))
        points: list[tuple[Any, Summary]] = []
        for _, point in grouped.group_by(*groups, maintain_order=True):
            summary = Summary.of(point["y"].to_list())
            if summary.mean is not None:
                points.append((point["at"][0] if parameter else point["at"].mean(), summary))
        points.sort(key=lambda point: point[0])
        places = [at if isinstance(at, str) else at * x_scale for at, _ in points]
        means = [summary for _, summary in points]
        return mean_curve(panel, label if name is None else name, places, means, scale=scale, style=style)

    def series(self, label: str, at: At | None = None, seed: int | None = None) -> polars.DataFrame:
        """Return the time series of queues and signals of one run, as from `Result.series_of`.

        Raises `LookupError` if no run or more than one matches, or the experiment keeps no series.
        """
        where = {**(at or {}), "seed": self.study.seeds[0] if seed is None else seed}
        rows = self._selected(self._every, label, where)
        if len(rows) != 1:
            raise LookupError(f"{self.study.scenario.title}: {len(rows)} runs of {label} at {at}: give one point in at")
        if not self.study.series:
            raise LookupError(f"{self.study.scenario.title}: its experiment keeps no series: set series=True in it")
        return self._store.series(self.study.series_name(bytes.fromhex(self._every.column("key")[rows[0]])))

    def over_time(
        self,
        panel: str,
        label: str,
        *,
        quantity: str = "queue.mean",
        at: At | None = None,
        bin: float = 0.0,
        scale: float = 1.0,
        seed: int | None = None,
        name: str | None = None,
        link: str | None = None,
    ) -> Curve:
        """Compute the curve of a queue or a signal of one run over time; a point is at the middle of its bin, in s."""
        import polars

        frame = self.series(label, at, seed)
        link = link or self.study.scenario.resolved["observe"]
        step = frame["t"][1] - frame["t"][0]
        values = frame.select("t", value=polars.col(f"{link}.{quantity}").cast(polars.Float64))
        if bin > step:
            groups = (polars.col("t") / bin + 1e-9).floor()
            values = values.group_by(groups.alias("group"), maintain_order=True).agg(
                polars.col("t").first(), polars.col("value").mean()
            )
            step = bin
        return Curve(
            panel,
            label if name is None else name,
            (values["t"] + step / 2).to_numpy(),
            values["value"].fill_null(float("nan")).to_numpy() * scale,
            run=self.study.seeds[0] if seed is None else seed,
        )

    def distribution(
        self, name: str, label: str, owner: str, at: At | None = None, kind: str = "classes"
    ) -> list[list[float]]:
        """Return a distribution for each run, in the order of the seeds."""
        found, seeds = self._table.column("key"), self._table.column("seed")
        keys = [bytes.fromhex(found[row]) for row in sorted(self._rows(label, at), key=seeds.__getitem__)]
        return [self._distributions[key][kind][owner][name] for key in keys]

    @cached_property
    def _distributions(self) -> dict[bytes, dict[str, Any]]:
        keys = {bytes.fromhex(key) for key in self.frame["key"]}
        found = self._store.distributions(keys)
        if gone := len(keys.difference(found)):
            raise LookupError(
                f"{gone} runs were removed from the store after they were found; rerun the command to redo them"
            )
        return found


def _joined(frames: Iterable[polars.DataFrame]) -> polars.DataFrame:
    """Put the rows of several tables of runs below each other."""
    import polars

    return polars.concat(frames, how="diagonal_relaxed")
