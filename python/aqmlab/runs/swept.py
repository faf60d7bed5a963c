"""The result of a sweep: the metrics of all runs as one table, and their statistics."""

from __future__ import annotations

import os
import re
import shlex
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self

from aqmlab.files import json_text
from aqmlab.kinds import SWEEP, SWEEP_TABLE
from aqmlab.own.source import keep
from aqmlab.presenters import drawn, presented
from aqmlab.results.columns import COST, LINUX_COST, described
from aqmlab.results.comparison import folders
from aqmlab.results.metrics import METRICS
from aqmlab.results.result import PACKET
from aqmlab.results.student import quantile
from aqmlab.results.views import View
from aqmlab.runs.points import Design, Scalar, number, unit
from aqmlab.runs.table import RunTable
from aqmlab.scenario import Scenario, portable
from aqmlab.sealed import Saved, Saving, Stored
from aqmlab.text import prefixed

if TYPE_CHECKING:
    import polars
    import xarray
    from matplotlib.figure import Figure

_FILES = re.compile(r"\d{5,}\.parquet")
"""The names of the files of the data set."""

VARIANTS = "variants"
"""The folder of the scenarios of disciplines whose labels do not name them."""

_VARIANT_FILES = re.compile(r".+\.(toml|py)")
"""The names of the files in it."""


@dataclass(frozen=True)
class Failure:
    """A run or, if `seed` is None, all runs of a point, that could not be done.

    `lost` is true if the run was done and its results were then not in the store.
    """

    aqm: str
    point: dict[str, Scalar]
    seed: int | None
    error: str
    lost: bool = False

    def __str__(self) -> str:
        at = [self.aqm, *(f"{path} = {value}" for path, value in self.point.items())]
        at += [] if self.seed is None else [f"seed {self.seed}"]
        return f"{', '.join(at)}: {self.error}"


@dataclass(frozen=True, repr=False)
class Sweep(View):
    """A scenario at many points, each with several queue disciplines and the same seeds.

    Parameters
    ----------
    scenario : Scenario
        The scenario that was simulated, apart from the varying parameters.
    aqms : tuple of str
        The queue disciplines, as they were requested.
    parameters : dict
        The unit of each varying parameter's column, by its path; empty for plain numbers and texts.
    seeds : tuple of int
        The seeds of the runs of each point.
    method : str
        The method that chose the points.
    sample_seed : int or None
        The seed with which points were drawn.
    table : RunTable
        The table of runs; see `frame` and `scan`.
    failures : tuple of Failure
        The runs and points that could not be done.
    wanted : int
        The number of runs requested.
    simulated : int
        The number of these runs that were not in the store.
    damage : dict
        The number of runs in the store that could not be read and were done again, by their file.
    interrupted : bool
        Whether the user stopped the sweep.
    version : str
        The version of the engine that did the runs.
    engine_name : str
        The engine, as for `aqmlab.run`.
    variants : dict
        The scenario of each queue discipline whose label in `aqms` does not name it, apart from the varying parameters.
    """

    scenario: Scenario
    aqms: tuple[str, ...]
    parameters: dict[str, str]
    seeds: tuple[int, ...]
    method: str
    sample_seed: int | None
    table: RunTable
    failures: tuple[Failure, ...]
    wanted: int
    simulated: int
    damage: dict[str, int] = field(default_factory=dict)
    interrupted: bool = False
    version: str = ""
    engine_name: str = PACKET
    variants: Mapping[str, Scenario] = field(default_factory=dict)

    @property
    def done(self) -> int:
        """The number of runs in `frame`."""
        return self.table.length

    @property
    def frame(self) -> polars.DataFrame:
        """A row for each run: ``aqm``, a column for each varying parameter, ``seed``, ``key`` and every metric.

        ``key`` is the run's key in the store. Quantities are in s, bit/s, bytes, packets and fractions. All rows are
        in memory, about 1 kB each; `scan` reads those and the columns that a query needs.
        """
        return self.table.frame

    def scan(self) -> polars.LazyFrame:
        """Return a query of `frame`.

        Returns
        -------
        polars.LazyFrame
            The query: ``sweep.scan().filter(polars.col("loss_ratio") > 0.1).select("aqm", "loss_ratio").collect()``
            reads three columns. The files of a large sweep that is not saved are removed with the `Sweep`: keep it
            until the query is done.

        Raises
        ------
        ValueError
            If the files from which the sweep was loaded have changed since.
        """
        return self.table.scan()

    @property
    def failed(self) -> int:
        """The number of runs that could not be done.

        Unless the sweep was interrupted, `wanted` is `done` plus `failed`.
        """
        return sum(len(self.seeds) if failure.seed is None else 1 for failure in self.failures)

    @property
    def metrics(self) -> list[str]:
        """The columns of `frame` that are metrics."""
        return list(self.table.schema)[len(self.parameters) + 3 :]

    @property
    def _headed(self) -> polars.DataFrame:
        import polars

        engine = polars.lit(self.engine_name).alias("engine")
        return self.frame.select("aqm", engine, *self.parameters, "seed", *self.metrics)

    @property
    def summary(self) -> polars.DataFrame:  # noqa: D102  `View` has it
        import polars

        value = polars.col("value")
        heads = ["aqm", "engine", *self.parameters, "scope", "name", "metric"]
        columns = value.mean().alias("mean"), value.std().alias("std"), _half_width(value, self.seeds).alias("ci95")
        return self.long.group_by(*heads, maintain_order=True).agg(*columns, value.count().alias("n"))

    def to_xarray(self) -> xarray.Dataset:
        """Return the metrics of a grid as arrays: a dimension for the discipline, each varying parameter and the seed.

        Returns
        -------
        xarray.Dataset
            A variable for each metric, with its unit; a run that is not there is NaN.

        Raises
        ------
        ValueError
            If the points are no grid.
        ImportError
            If xarray is not installed; ``pip install 'aqmlab[xarray]'`` installs it.
        """
        if self.method != "grid":
            raise ValueError(f"to_xarray needs a grid, and the points of this sweep are {self.method}: use to_pandas")
        try:
            import xarray  # noqa: F401  pandas converts to it
        except ImportError as error:
            raise ImportError("to_xarray needs xarray: pip install 'aqmlab[xarray]'", name="xarray") from error
        heads = ["aqm", *self.parameters, "seed"]
        found: xarray.Dataset = self.to_pandas(self.frame.select(*heads, *self.metrics)).set_index(heads).to_xarray()
        for name in self.metrics:
            known = described(name, (*COST, *LINUX_COST))
            found[name].attrs["units"] = known.unit if known else ""
        for path in self.parameters:
            found[path].attrs["units"] = self.parameters[path]
        return found

    @cached_property
    def shown(self) -> dict[str, tuple[str, float]]:
        """The unit in which people read each varying parameter, and the factor that converts `frame` to it."""
        import polars

        numeric = [path for path in self.parameters if self.table.schema[path].is_numeric()]
        row = self.scan().select(polars.col(numeric).abs().max()).collect() if numeric and self.done else None
        greatest = row.row(0, named=True) if row is not None else {}
        return {path: prefixed(unit, greatest.get(path) or 0.0) for path, unit in self.parameters.items()}

    def count(self, *columns: str) -> int:
        """Count the different combinations of values in columns of `frame`.

        Parameters
        ----------
        *columns : str
            ``aqm``, or varying parameters.

        Returns
        -------
        int
            The number: ``swept.count("aqm", *swept.parameters)`` is that of the rows of `means`.
        """
        return int(self.scan().select(*columns).unique().collect().height) if columns else min(self.done, 1)

    def means(self, metrics: Sequence[str] | None = None, most: int | None = None) -> polars.DataFrame:
        """Return a row for each point and discipline: means and, as ``…_ci95``, half their 95 % intervals.

        Parameters
        ----------
        metrics : sequence of str
            The metrics; by default all.
        most : int
            The number of rows, from the first on; by default all.

        Returns
        -------
        polars.DataFrame
            The parameters, ``aqm``, ``runs`` (their number), and the mean of each metric with its interval: Student's,
            and null for fewer than two runs with a value.

        Raises
        ------
        LookupError
            If there is no such metric.
        """
        import polars

        metrics = self.metrics if metrics is None else metrics
        for name in metrics:
            self._require_metric(name)
        heads, rows = [*self.parameters, "aqm"], self.scan()
        if most is not None:
            rows = rows.head(most * len(self.seeds))  # the runs of a point and discipline follow each other
        if len(self.seeds) == 1:  # as there is no group, none is formed: of a million that would take 1 GB
            absent = polars.lit(None, polars.Float64)
            columns = [part for name in metrics for part in (polars.col(name), absent.alias(f"{name}_ci95"))]
            return rows.select(*heads, polars.lit(1, polars.UInt32).alias("runs"), *columns).collect()
        columns = [polars.len().alias("runs")]
        for name in metrics:
            metric = polars.col(name)
            columns += [metric.mean(), _half_width(metric, self.seeds).alias(f"{name}_ci95")]
        found = rows.group_by(*heads, maintain_order=True).agg(columns).collect()
        return found if most is None else found.head(most)

    def differences(self, metric: str | None = None, to: str | None = None) -> polars.DataFrame:
        """Compare queue disciplines at each point, pairing the runs of the same seed.

        Parameters
        ----------
        metric : str
            The metric to compare; by default those of the observed queue and all flows.
        to : str
            The discipline that the others are compared with; by default all pairs are compared.

        Returns
        -------
        polars.DataFrame
            A row for each metric, point and pair: the parameters, ``aqm``, ``to``, ``metric``, ``runs`` (the number of
            seeds for which both have a value), ``difference`` (the mean of ``aqm`` minus ``to``) and ``ci95``, half its
            95 % confidence interval (paired, Student's t).

        Raises
        ------
        LookupError
            If there is no such metric or discipline, or no pair to compare.
        """
        import polars

        metrics = [name for name in self.metrics if "." not in name] if metric is None else [metric]
        for name in metrics:
            self._require_metric(name)
        if to is not None and to not in self.aqms:
            raise LookupError(f"{to}: not in this sweep; must be one of {', '.join(self.aqms)}")
        paths = list(self.parameters)
        wide = self.scan().select("aqm", *paths, "seed", *metrics).collect()
        frame = wide.unpivot(index=["aqm", *paths, "seed"], variable_name="metric")
        pairs = [(aqm, other) for other in ([to] if to else self.aqms) for aqm in self.aqms if aqm != other]
        if to is None:
            pairs = [(aqm, other) for aqm, other in pairs if self.aqms.index(aqm) > self.aqms.index(other)]
        found = []
        for aqm, other in pairs:
            first, second = (frame.filter(polars.col("aqm") == label) for label in (aqm, other))
            matched = first.join(
                second, on=[*paths, "seed", "metric"], suffix="_to", nulls_equal=True, maintain_order="left"
            )
            matched = matched.with_columns(polars.col("value") - polars.col("value_to"))
            difference = polars.col("value")
            found.append(
                matched.group_by(*paths, "aqm", polars.col("aqm_to").alias("to"), "metric", maintain_order=True).agg(
                    difference.count().alias("runs"),
                    difference.mean().alias("difference"),
                    _half_width(difference, self.seeds).alias("ci95"),
                )
            )
        if not found:
            raise LookupError("differences need at least two disciplines")
        return polars.concat(found)

    def best(self, metric: str, by: str | Sequence[str] | None = None, largest: bool | None = None) -> polars.DataFrame:
        """Find where a metric is best.

        Parameters
        ----------
        metric : str
            The name of the metric.
        by : str or sequence of str
            The columns for each of whose values to find the best: ``aqm`` for the best point of each discipline, a
            parameter for the best discipline at each of its values. By default the best of all.
        largest : bool
            Whether larger values are better; by default as `aqmlab.METRICS` has it.

        Returns
        -------
        polars.DataFrame
            A row for each: the parameters, ``aqm``, ``runs``, the metric's mean and its interval.

        Raises
        ------
        LookupError
            If there is no such metric or column, or neither more nor less of the metric is better.
        """
        import polars

        self._require_metric(metric)
        columns = [by] if isinstance(by, str) else list(by or [])
        if strange := [name for name in columns if name not in ("aqm", *self.parameters)]:
            raise LookupError(f"{', '.join(strange)}: must be one of {', '.join(('aqm', *self.parameters))}")
        if largest is None:
            known = METRICS.get(metric.rpartition(".")[2])
            if known is None or not known.better:
                raise LookupError(f"{metric}: neither more nor less of it is better as such: set largest")
            largest = known.better == "more"
        chosen = self.means([metric])
        ranked = chosen.filter(polars.col(metric).is_not_null()).sort(metric, descending=largest, maintain_order=True)
        if not columns:
            return ranked.head(1)
        first = ranked.unique(columns, keep="first", maintain_order=True)
        places = {label: place for place, label in enumerate(self.aqms)}
        order = [polars.col(name).replace_strict(places) if name == "aqm" else polars.col(name) for name in columns]
        return first.sort(*order)

    def plot(self, x: str | None = None, y: str | Sequence[str] | None = None, figure: Figure | None = None) -> Figure:
        """Draw metrics over a parameter: a line with its 95 % interval for each discipline.

        Parameters
        ----------
        x : str
            The parameter; by default the first varying parameter that is a number.
        y : str or sequence of str
            The metrics, each with a row of panels; by default the main ones.
        figure : matplotlib.figure.Figure
            An empty figure to draw in; by default a new pyplot figure.

        Returns
        -------
        matplotlib.figure.Figure
            The figure. If another parameter varies, each of its values has a column of panels.

        Raises
        ------
        LookupError
            If there is no such parameter or metric.
        """
        for name in [y] if isinstance(y, str) else y or ():
            self._require_metric(name)
        return drawn("sweep.figure", self, x, y, figure=figure)

    def document(self) -> dict[str, Any]:
        """Return the sweep's summary and settings as a dictionary for JSON.

        Returns
        -------
        dict
            ``schema``, ``version``, ``engine_name``, ``based_on`` (a shipped scenario), ``scenario`` (every default
            filled in), ``aqms``, ``parameters``, ``seeds``, ``method``, ``sample_seed``, ``wanted``, ``done``,
            ``failed``, ``simulated``, ``interrupted``, ``points`` (the rows of `means`), ``failures`` and ``damage``;
            and ``variants``, if there are any.
        """
        return {**self._head(), "points": self.means().to_dicts()}

    def _head(self) -> dict[str, Any]:
        names = ("version", "engine_name", "aqms", "parameters", "seeds", "method", "sample_seed")
        return {
            "schema": SWEEP.version,
            **{name: getattr(self, name) for name in names},
            "wanted": self.wanted,
            "done": self.done,
            "failed": self.failed,
            "simulated": self.simulated,
            "interrupted": self.interrupted,
            "based_on": self.scenario.based_on,
            "scenario": self.scenario.resolved,
            "failures": [asdict(failure) for failure in self.failures],
            "damage": self.damage,
            **({"variants": self._files} if self.variants else {}),
        }

    @property
    def _files(self) -> dict[str, str]:
        """The scenario file of each variant."""
        return {
            label: f"{VARIANTS}/{name}.toml" for label, name in zip(self.variants, folders(self.variants), strict=True)
        }

    def save(self, folder: str | os.PathLike[str]) -> None:
        """Write sweep.json, scenario.toml and the data set ``results/*.parquet``; `load` reads them.

        Parameters
        ----------
        folder : str or PathLike
            The folder to write to; a sweep saved there before is removed, other files are kept.
        """
        with Saving(Path(folder), {"results": _FILES, VARIANTS: _VARIANT_FILES}) as saving:
            for index, data in enumerate(self.table.files()):
                saving.add(f"results/{index:05}.parquet", data)
            text, own = portable(self.scenario)
            for name, data in own.items():
                saving.add(name, data)
            saving.add("scenario.toml", text.encode())
            files: dict[str, bytes] = {}
            for label, name in self._files.items():
                text, own = portable(self.variants[label])
                files |= {**{f"{VARIANTS}/{program}": data for program, data in own.items()}, name: text.encode()}
            for name, data in files.items():
                saving.add(name, data)
            saving.seal(SWEEP.head, self._head())

    def is_saved_in(self, folder: str | os.PathLike[str]) -> bool:
        """Return whether `save` has written the same sweep to a folder.

        Parameters
        ----------
        folder : str or PathLike
            The folder to look in.

        Returns
        -------
        bool
            Whether it has; `simulated` and `damage` may differ.
        """
        try:
            other = type(self).load(folder)
        except (OSError, ValueError):
            return False
        passing = {"simulated", "damage"}
        heads = [
            {key: value for key, value in head.items() if key not in passing} for head in (self._head(), other._head())
        ]
        return json_text(heads[0]) == json_text(heads[1]) and self.table.equals(other.table)

    @classmethod
    def load(cls, folder: str | os.PathLike[str]) -> Self:
        """Read a sweep that `save` wrote.

        Parameters
        ----------
        folder : str or PathLike
            The folder that it was written to.

        Returns
        -------
        Sweep
            The same sweep.

        Raises
        ------
        ValueError
            If a file is damaged or not of this sweep, or another version of aqmlab wrote files that this version cannot
            read.
        """
        folder = Path(folder)
        remedy = f"repeat the sweep that wrote it, with --out {shlex.quote(os.fspath(folder))}; its store has the runs"
        saved = Saved.load(folder / SWEEP.head, SWEEP, remedy)
        head = saved.document
        keep(saved.text(name) for name in saved.files if name.endswith(".py"))
        try:
            return cls(
                scenario=Scenario(
                    Scenario.parse(saved.text("scenario.toml"), os.fspath(folder / "scenario.toml"))._core,
                    head.get("based_on", ""),
                ),
                table=_table([file for name, file in saved.files.items() if name.endswith(".parquet")]),
                failures=tuple(Failure(**failure) for failure in head["failures"]),
                aqms=tuple(head["aqms"]),
                parameters=head["parameters"],
                seeds=tuple(head["seeds"]),
                method=head["method"],
                sample_seed=head["sample_seed"],
                wanted=head["wanted"],
                simulated=head["simulated"],
                damage=head["damage"],
                interrupted=head["interrupted"],
                version=head["version"],
                engine_name=head.get("engine_name", PACKET),
                variants={
                    label: Scenario.parse(saved.text(file), os.fspath(folder / file))
                    for label, file in head.get("variants", {}).items()
                },
            )
        except (KeyError, TypeError) as error:
            raise saved.unusable(str(error)) from error

    def _require_metric(self, metric: str) -> None:
        if metric not in self.metrics:
            near = [name for name in self.metrics if metric.rpartition(".")[2] in name] or list(METRICS)
            raise LookupError(f"{metric}: no such metric; must be one of {', '.join(near)}")

    def __repr__(self) -> str:
        return str(presented("sweep.text", self))

    def _repr_html_(self) -> str:
        return str(presented("sweep.html", self))


def _table(files: Sequence[Stored]) -> RunTable:
    """Return the table in these files: in memory, or many of them where they are."""
    if len(files) == 1:
        return RunTable((files[0].frame(SWEEP_TABLE),))
    for file in files:
        file.require(SWEEP_TABLE)
    return RunTable(tuple(files))


def _half_width(metric: polars.Expr, seeds: Sequence[int]) -> polars.Expr:
    """Return half the 95 % confidence interval of a mean, by Student's t."""
    import polars

    counts = list(range(2, len(seeds) + 1))
    t = {count: quantile(0.95, count - 1) for count in counts}
    factor = metric.count().replace_strict(counts, [t[n] / n**0.5 for n in counts], default=None) if counts else None
    return metric.std() * (polars.lit(None, polars.Float64) if factor is None else factor)


def parameters(design: Design) -> tuple[polars.DataFrame, dict[str, str]]:
    """Lay out the varying parameters as columns, with a row for each point; return them and their units by path.

    A column has numbers in the base unit if all its values have the same unit, otherwise texts.
    """
    import polars

    columns: dict[str, polars.Series] = {}
    units: dict[str, str] = {}
    for index, path in enumerate(design.paths):
        values = [point[index] for point in design.points]
        read = [number(value) for value in values]
        found = {quantity[1] for quantity in read if quantity}
        if None in read or len(found) > 1:
            column: list[Any] = [value if isinstance(value, str) else str(value).lower() for value in values]
            units[path] = ""
        else:
            column = [quantity[0] for quantity in read if quantity]
            if not all(isinstance(value, int) for value in column):
                column = [float(value) for value in column]  # a column has one type
            units[path] = found.pop() or unit(path) if found else ""
        columns[path] = polars.Series(path, column)
    return polars.DataFrame(list(columns.values())), units
