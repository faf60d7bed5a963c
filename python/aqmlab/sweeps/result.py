"""What a sweep gives: the metrics of all runs as one table, and what they say together."""

from __future__ import annotations

import os
import re
import shlex
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self

from aqmlab.files import json_text, parquet
from aqmlab.results.metrics import METRICS
from aqmlab.results.student import quantile
from aqmlab.scenario import Scenario
from aqmlab.sealed import Saved, Saving
from aqmlab.sweeps.points import Design, Scalar, number, unit

if TYPE_CHECKING:
    import polars
    from matplotlib.figure import Figure

MORE_IS_BETTER = frozenset({"goodput", "throughput", "utilisation", "jain", "completed", "sessions"})
"""The metrics of which more is better; of all others less."""

FILE_RUNS = 100_000
"""How many runs a file of the data set has at most."""

_FILES = re.compile(r"\d{5,}\.parquet")
"""How the files of the data set are called."""


@dataclass(frozen=True)
class Failure:
    """A run, or all runs of a point, that could not be done.

    Parameters
    ----------
    aqm : str
        The label of the queue discipline.
    point : dict
        The value of each parameter that varies.
    seed : int or None
        The seed of the run; none if the point as such is not valid.
    error : str
        Why.
    lost : bool
        Whether it was done, and its results were then not in the store.
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
class Sweep:
    """A scenario at many points, each with several queue disciplines and the same seeds.

    Parameters
    ----------
    scenario : Scenario
        What was simulated, but for what varies.
    aqms : tuple of str
        The queue disciplines, as they were asked for.
    parameters : dict
        What varies: the unit of each parameter's column, by its path; empty for plain numbers and texts.
    seeds : tuple of int
        The seeds of the runs of each point.
    method : str
        How the points were chosen.
    sample_seed : int or None
        Where the randomness of drawn points started from.
    frame : polars.DataFrame
        A row for each run: ``aqm``, a column for each parameter that varies, ``seed``, ``key`` (the run's key in the
        store), and every metric. Quantities are in s, bit/s, bytes, packets and fractions.
    failures : tuple of Failure
        What could not be done.
    wanted : int
        How many runs were asked for.
    simulated : int
        How many of them were not in the store.
    damage : dict
        Runs of the store that could not be read and were done again, by the file that they were in.
    interrupted : bool
        Whether the user stopped it.
    version : str
        The engine that made it.
    """

    scenario: Scenario
    aqms: tuple[str, ...]
    parameters: dict[str, str]
    seeds: tuple[int, ...]
    method: str
    sample_seed: int | None
    frame: polars.DataFrame
    failures: tuple[Failure, ...]
    wanted: int
    simulated: int
    damage: dict[str, int] = field(default_factory=dict)
    interrupted: bool = False
    version: str = ""

    @property
    def done(self) -> int:
        """How many runs there are."""
        return len(self.frame)

    @property
    def failed(self) -> int:
        """How many runs could not be done. Unless it was interrupted, these and those that there are are all wanted."""
        return sum(len(self.seeds) if failure.seed is None else 1 for failure in self.failures)

    @property
    def metrics(self) -> list[str]:
        """The columns of `frame` that are metrics."""
        return self.frame.columns[len(self.parameters) + 3 :]

    @cached_property
    def summary(self) -> polars.DataFrame:
        """A row for each point and discipline: of each metric its mean and, as ``…_ci95``, half its 95 % interval.

        ``runs`` tells of how many runs. An interval is Student's; none for fewer than two runs with a value.
        """
        import polars

        columns: list[polars.Expr] = [polars.len().alias("runs")]
        for name in self.metrics:
            metric = polars.col(name)
            columns += [metric.mean(), _half_width(metric, self.seeds).alias(f"{name}_ci95")]
        return self.frame.group_by(*self.parameters, "aqm", maintain_order=True).agg(columns)

    def differences(self, metric: str, to: str | None = None) -> polars.DataFrame:
        """Compare queue disciplines at each point, run by run of the same seed.

        Parameters
        ----------
        metric : str
            Of which metric.
        to : str
            The discipline that the others are compared with; by default each is with each.

        Returns
        -------
        polars.DataFrame
            A row for each point and pair: the parameters, ``aqm``, ``to``, ``runs`` (how many seeds both have a value
            for), ``difference`` (the mean of that of ``aqm`` less that of ``to``) and ``ci95``, half its 95 %
            confidence interval (paired, Student).

        Raises
        ------
        LookupError
            If there is no such metric or discipline.
        """
        import polars

        self._refuse_unknown(metric)
        if to is not None and to not in self.aqms:
            raise LookupError(f"{to}: this sweep has {', '.join(self.aqms)}")
        paths = list(self.parameters)
        frame = self.frame.select("aqm", *paths, "seed", value=metric)
        pairs = [(aqm, other) for other in ([to] if to else self.aqms) for aqm in self.aqms if aqm != other]
        if to is None:
            pairs = [(aqm, other) for aqm, other in pairs if self.aqms.index(aqm) > self.aqms.index(other)]
        found = []
        for aqm, other in pairs:
            own, others = (frame.filter(polars.col("aqm") == label) for label in (aqm, other))
            matched = own.join(others, on=[*paths, "seed"], suffix="_to", nulls_equal=True, maintain_order="left")
            matched = matched.with_columns(polars.col("value") - polars.col("value_to"))
            difference = polars.col("value")
            found.append(
                matched.group_by(*paths, "aqm", polars.col("aqm_to").alias("to"), maintain_order=True).agg(
                    difference.count().alias("runs"),
                    difference.mean().alias("difference"),
                    _half_width(difference, self.seeds).alias("ci95"),
                )
            )
        if not found:
            raise LookupError("one discipline has nothing to be compared with")
        return polars.concat(found)

    def best(self, metric: str, by: str | Sequence[str] | None = None, largest: bool | None = None) -> polars.DataFrame:
        """Find where a metric is best.

        Parameters
        ----------
        metric : str
            Which.
        by : str or sequence of str
            For each value of these columns: ``aqm`` for the best point of each discipline, a parameter for the best
            discipline at each of its values; by default the best of all.
        largest : bool
            Whether more is better; by default so for goodput and its like, and not for all others.

        Returns
        -------
        polars.DataFrame
            A row each: the parameters, ``aqm``, ``runs``, the metric's mean and its interval.

        Raises
        ------
        LookupError
            If there is no such metric or column.
        """
        import polars

        self._refuse_unknown(metric)
        columns = [by] if isinstance(by, str) else list(by or [])
        if strange := [name for name in columns if name not in ("aqm", *self.parameters)]:
            raise LookupError(f"{', '.join(strange)}: must be of {', '.join(('aqm', *self.parameters))}")
        if largest is None:
            largest = metric.rpartition(".")[2] in MORE_IS_BETTER
        chosen = self.summary.select(*self.parameters, "aqm", "runs", metric, f"{metric}_ci95")
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
            The parameter; by default the first that varies and is a number.
        y : str or sequence of str
            The metrics, a row of panels each; by default the main ones.
        figure : matplotlib.figure.Figure
            An empty figure to draw in; by default a new one of pyplot's.

        Returns
        -------
        matplotlib.figure.Figure
            The figure. If another parameter varies, each of its values has a column of panels.

        Raises
        ------
        LookupError
            If there is no such parameter or metric.
        """
        from aqmlab.figures import sweep

        for name in [y] if isinstance(y, str) else y or ():
            self._refuse_unknown(name)
        return sweep.sweep(self, x, y, figure)

    def document(self) -> dict[str, Any]:
        """Give what they say together as JSON has it.

        Returns
        -------
        dict
            ``version``, ``scenario`` (every default filled in), ``aqms``, ``parameters``, ``seeds``, ``method``,
            ``sample_seed``, ``wanted``, ``done``, ``failed``, ``simulated``, ``interrupted``, ``points`` (the
            rows of `summary`), ``failures`` and ``damage``.
        """
        return {**self._head(), "points": self.summary.to_dicts()}

    def _head(self) -> dict[str, Any]:
        names = ("version", "aqms", "parameters", "seeds", "method", "sample_seed", "wanted", "done", "failed")
        return {
            **{name: getattr(self, name) for name in names},
            "simulated": self.simulated,
            "interrupted": self.interrupted,
            "scenario": self.scenario.resolved,
            "failures": [asdict(failure) for failure in self.failures],
            "damage": self.damage,
        }

    def save(self, folder: str | os.PathLike[str]) -> None:
        """Write sweep.json, scenario.toml and the data set results/*.parquet; `load` reads them.

        Parameters
        ----------
        folder : str or PathLike
            Where to; a sweep that was saved there before goes, other files stay.
        """
        with Saving(Path(folder), {"results": _FILES}) as saving:
            slices = self.frame.iter_slices(FILE_RUNS) if self.done else [self.frame]
            for index, frame in enumerate(slices):
                saving.add(f"results/{index:05}.parquet", parquet(frame))
            saving.add("scenario.toml", self.scenario.to_toml().encode())
            saving.seal("sweep.json", self._head())

    def is_saved_in(self, folder: str | os.PathLike[str]) -> bool:
        """Tell whether `save` has written the same there.

        Parameters
        ----------
        folder : str or PathLike
            Where to look.

        Returns
        -------
        bool
            Whether it has, whatever was simulated for it then and now.
        """
        try:
            other = type(self).load(folder)
        except (OSError, ValueError):
            return False
        passing = {"simulated", "damage"}
        heads = [{k: v for k, v in one._head().items() if k not in passing} for one in (self, other)]
        return json_text(heads[0]) == json_text(heads[1]) and self.frame.equals(other.frame)

    @classmethod
    def load(cls, folder: str | os.PathLike[str]) -> Self:
        """Read what `save` wrote.

        Parameters
        ----------
        folder : str or PathLike
            Where it was written to.

        Returns
        -------
        Sweep
            The same sweep.

        Raises
        ------
        ValueError
            If a file is damaged or not of this sweep, or another version of aqmlab wrote what this one cannot read.
        """
        import polars

        folder = Path(folder)
        cure = f"the sweep that made it again, with --out {shlex.quote(os.fspath(folder))}; its store has the runs"
        saved = Saved.load(folder / "sweep.json", cure)
        head = saved.document
        try:
            return cls(
                scenario=Scenario.parse(saved.text("scenario.toml"), os.fspath(folder / "scenario.toml")),
                frame=polars.concat([file.frame() for name, file in saved.files.items() if name.endswith(".parquet")]),
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
            )
        except (KeyError, TypeError) as error:
            raise saved.refused(str(error)) from error

    def _refuse_unknown(self, metric: str) -> None:
        if metric not in self.metrics:
            near = [name for name in self.metrics if metric.rpartition(".")[2] in name] or list(METRICS)
            raise LookupError(f"{metric}: no such metric; there is {', '.join(near)}")

    def __repr__(self) -> str:
        from aqmlab.reports import sweep_text

        return sweep_text.text(self)


def _half_width(metric: polars.Expr, seeds: Sequence[int]) -> polars.Expr:
    """Give half the 95 % confidence interval of a mean, by Student's t."""
    import polars

    counts = list(range(2, len(seeds) + 1))
    t = {count: quantile(0.95, count - 1) for count in counts}
    factor = metric.count().replace_strict(counts, [t[n] / n**0.5 for n in counts], default=None) if counts else None
    return metric.std() * (polars.lit(None, polars.Float64) if factor is None else factor)


def parameters(design: Design, numbers: Sequence[int]) -> tuple[dict[str, list[Any]], dict[str, str]]:
    """Lay out what varies as columns.

    Parameters
    ----------
    design : Design
        The points.
    numbers : sequence of int
        For each row the number of its point.

    Returns
    -------
    tuple
        The column of each parameter, by its path: numbers in the base unit if they all are of one, else texts; and its
        unit.
    """
    columns: dict[str, list[Any]] = {}
    units: dict[str, str] = {}
    for index, path in enumerate(design.paths):
        values = [point[index] for point in design.points]
        read = [number(value) for value in values]
        found = {one[1] for one in read if one}
        if None in read or len(found) > 1:
            told: list[Any] = [value if isinstance(value, str) else str(value).lower() for value in values]
            units[path] = ""
        else:
            told = [one[0] for one in read if one]
            if not all(isinstance(value, int) for value in told):
                told = [float(value) for value in told]  # a column has one type
            units[path] = found.pop() or unit(path) if found else ""
        columns[path] = [told[number] for number in numbers]
    return columns, units


@dataclass(frozen=True)
class Rows:
    """The runs of a sweep, column by column: there may be millions.

    Parameters
    ----------
    points : list of int
        The number of each run's point.
    aqms : list of str
        The label of its discipline.
    seeds : list of int
        Its seed.
    keys : list of bytes
        Its key.
    """

    points: list[int] = field(default_factory=list)
    aqms: list[str] = field(default_factory=list)
    seeds: list[int] = field(default_factory=list)
    keys: list[bytes] = field(default_factory=list)

    def append(self, point: int, aqm: str, seed: int, key: bytes) -> None:
        """Add a run.

        Parameters
        ----------
        point : int
            The number of its point.
        aqm : str
            The label of its discipline.
        seed : int
            Its seed.
        key : bytes
            Its key.
        """
        self.points.append(point)
        self.aqms.append(aqm)
        self.seeds.append(seed)
        self.keys.append(key)


def framed(columns: Mapping[str, list[Any]], runs: Rows, metrics: polars.DataFrame) -> polars.DataFrame:
    """Put runs beside their metrics.

    Parameters
    ----------
    columns : mapping
        The columns of what varies.
    runs : Rows
        The runs.
    metrics : polars.DataFrame
        The metrics, by ``key``.

    Returns
    -------
    polars.DataFrame
        A row for each run that has metrics, in the order of `runs`. A metric of a traffic entry, link or lane that
        none has is left out.
    """
    import polars

    frame = polars.DataFrame(
        [
            polars.Series("aqm", runs.aqms, polars.String),
            *(polars.Series(path, values) for path, values in columns.items()),
            polars.Series("seed", runs.seeds, polars.Int64),
            polars.Series("key", runs.keys, polars.Binary),
        ]
    )
    empty = [column.name for column in metrics.iter_columns() if "." in column.name and column.is_null().all()]
    joined = frame.join(metrics.drop("seed", *empty), on="key", how="inner", maintain_order="left")
    return joined.with_columns(polars.col("key").bin.encode("hex"))
