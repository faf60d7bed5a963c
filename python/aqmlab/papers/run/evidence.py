"""Evidence: the runs of a paper's experiments, with the queries that figures, tables and claims need."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import cached_property
from typing import TYPE_CHECKING, Any

from aqmlab.papers.describe.paper import Curve
from aqmlab.results.summary import Summary
from aqmlab.sweeps.result import Sweep
from aqmlab.sweeps.store import Store
from aqmlab.sweeps.study import Study

if TYPE_CHECKING:
    import polars

At = Mapping[str, float | str]
"""A selection of points: values of some parameters, by dotted path, in s, bit/s, bytes and packets."""


class Runs:
    """The runs of an experiment.

    Parameters
    ----------
    study : Study
        The requested runs.
    sweep : Sweep
        The results of those that are finished.
    store : Store
        The store with their time series and distributions.
    hero : str
        The label of the discipline that the paper advocates.
    """

    def __init__(self, study: Study, sweep: Sweep, store: Store, hero: str) -> None:
        self.study = study
        self.sweep = sweep
        self.hero = hero
        self._store = store

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
        return self.sweep.done == self.sweep.wanted

    @property
    def duration(self) -> float:
        """The simulated duration of a run, in seconds."""
        return self.study.scenario.duration

    def points(self, path: str) -> list[Any]:
        """List the values of a parameter.

        Parameters
        ----------
        path : str
            Its dotted path.

        Returns
        -------
        list
            The values for which there are runs, ascending.
        """
        return sorted(self.frame[path].unique().to_list())

    def of(self, label: str | None = None, at: At | None = None) -> polars.DataFrame:
        """Select runs.

        Parameters
        ----------
        label : str
            The label of a discipline; by default all disciplines.
        at : mapping
            The points; by default all.

        Returns
        -------
        polars.DataFrame
            Their rows of `frame`.

        Raises
        ------
        LookupError
            If there are none.
        """
        import polars

        wanted = {**({} if label is None else {"aqm": label}), **(at or {})}
        found = self.frame.filter(*(polars.col(path) == value for path, value in wanted.items()))
        if found.is_empty():
            raise LookupError(f"{self.study.scenario.title}: no runs with {wanted}; labels {self.labels}")
        return found

    def values(
        self, metric: str, label: str, at: At | None = None, fill: float | None = None, scale: float = 1.0
    ) -> list[float | None]:
        """Return a metric for each seed, averaged over the points.

        Parameters
        ----------
        metric : str
            The name of the metric.
        label : str
            The label of the discipline.
        at : mapping
            The points; by default all.
        fill : float
            The value to use for runs without one, such as the duration for a queue that never settled; by default such
            runs are left out.
        scale : float
            A factor for the values.

        Returns
        -------
        list of float or None
            One value for each seed, in the order of the seeds; None for a seed if none of its runs has a value.
        """
        found = self.of(label, at).group_by("seed").agg(_filled(metric, fill).mean().alias("value")).sort("seed")
        return [None if number is None else number * scale for number in found["value"].to_list()]

    def each(self, value: polars.Expr, label: str, at: At | None = None) -> dict[int, float]:
        """Return a number computed from several metrics for each seed, averaged over the points.

        Parameters
        ----------
        value : polars.Expr
            The number, as an expression of a run's metrics.
        label : str
            The label of the discipline.
        at : mapping
            The points; by default all.

        Returns
        -------
        dict
            The number by seed, in ascending order; seeds without a value are left out.
        """
        found = self.of(label, at).group_by("seed").agg(value.mean().alias("value")).drop_nulls().sort("seed")
        return dict(found.iter_rows())

    def mean(
        self, metric: str, label: str, at: At | None = None, fill: float | None = None, scale: float = 1.0
    ) -> Summary:
        """Return the mean of a metric over seeds and points, with its confidence interval.

        Parameters
        ----------
        metric : str
            As for `values`.
        label : str
            As for `values`.
        at : mapping
            As for `values`.
        fill : float
            As for `values`.
        scale : float
            As for `values`.

        Returns
        -------
        Summary
            The summary over the seeds.
        """
        return Summary.of(self.values(metric, label, at, fill, scale))

    def differences(
        self,
        metric: str,
        label: str,
        to: str,
        at: At | None = None,
        fill: float | None = None,
        scale: float = 1.0,
    ) -> list[float | None]:
        """Compare two disciplines by the differences between runs of the same seed.

        Parameters
        ----------
        metric : str
            As for `values`.
        label : str
            The label of the first discipline.
        to : str
            The label of the second discipline.
        at : mapping
            As for `values`.
        fill : float
            As for `values`.
        scale : float
            As for `values`.

        Returns
        -------
        list of float or None
            For each seed the value of `label` minus that of `to`.
        """
        value = _filled(metric, fill)
        one, other = (self.of(name, at).group_by("seed").agg(value.mean().alias("value")) for name in (label, to))
        both = one.join(other, on="seed", suffix="_to").sort("seed")
        differences = (both["value"] - both["value_to"]).to_list()
        return [None if number is None else number * scale for number in differences]

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

        Parameters
        ----------
        panel : str
            The letter of the panel.
        metric : str
            The name of the metric.
        label : str
            The label of the discipline.
        x : str
            The dotted path of a parameter, or the name of a metric; each point is then at the mean of that metric.
        at : mapping
            The points; by default all.
        fill : float
            The value to use for runs without one.
        scale : float
            A factor for the values.
        x_scale : float
            A factor for the x coordinates.
        name : str
            The entry in the legend; by default the label.
        style : str
            As for `Curve`.

        Returns
        -------
        Curve
            The mean over the seeds at each point.
        """
        import polars

        rows = self.of(label, at)
        parameter = x in self.sweep.parameters
        groups = [x] if parameter else list(self.sweep.parameters)
        value = _filled(metric, fill)
        place = polars.col(x).first() if parameter else polars.col(x).mean()
        grouped = rows.group_by(*groups, "seed").agg(value.mean().alias("y"), place.alias("at"))
        if not groups:
            raise LookupError(f"{self.study.scenario.title}: nothing varies to draw {metric} over")
        points: list[tuple[Any, Summary]] = []
        for _, point in grouped.group_by(*groups):
            summary = Summary.of(point["y"].to_list())
            if summary.mean is not None:
                points.append((point["at"][0] if parameter else point["at"].mean(), summary))
        points.sort(key=lambda point: point[0])
        banded = all(summary.ci95 is not None for _, summary in points)
        means = [(summary.mean or 0.0) * scale for _, summary in points]
        halves = [(summary.ci95 or 0.0) * scale for _, summary in points]
        return Curve(
            panel,
            label if name is None else name,
            [place if isinstance(place, str) else place * x_scale for place, _ in points],
            means,
            [mean - half for mean, half in zip(means, halves, strict=True)] if banded else None,
            [mean + half for mean, half in zip(means, halves, strict=True)] if banded else None,
            style,
        )

    def series(self, label: str, at: At | None = None, seed: int | None = None) -> polars.DataFrame:
        """Return the time series of queues and signals of one run.

        Parameters
        ----------
        label : str
            The label of the discipline.
        at : mapping
            The point.
        seed : int
            The seed; by default the first.

        Returns
        -------
        polars.DataFrame
            As from `Result.series_of`.

        Raises
        ------
        LookupError
            If no run or more than one matches, or the experiment keeps no series.
        """
        found = self.of(label, {**(at or {}), "seed": self.study.seeds[0] if seed is None else seed})
        if len(found) != 1:
            raise LookupError(
                f"{self.study.scenario.title}: {len(found)} runs of {label} at {at}: give one point in at"
            )
        if not self.study.series:
            raise LookupError(f"{self.study.scenario.title}: its experiment keeps no series: set series=True in it")
        return self._store.series(self.study.series_name(bytes.fromhex(found["key"][0])))

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
        """Compute the curve of a queue or a signal of one run over time.

        Parameters
        ----------
        panel : str
            The letter of the panel.
        label : str
            The label of the discipline.
        quantity : str
            The quantity of the link: ``queue.mean``, ``queue.max``, ``p.mean``, ``web.throughput``, ``drops``; see
            `Result.series_of`.
        at : mapping
            The point.
        bin : float
            The length in seconds of the intervals to average over; by default the bins of the series.
        scale : float
            A factor for the values.
        seed : int
            The seed; by default the first.
        name : str
            The entry in the legend; by default the label.
        link : str
            The link; by default the observed one.

        Returns
        -------
        Curve
            The series; the time of a point is the middle of its bin, in s.
        """
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
        """Return a distribution for each run.

        Parameters
        ----------
        name : str
            The name of the distribution, from `aqmlab.DISTRIBUTIONS`.
        label : str
            The label of the discipline.
        owner : str
            The traffic entry or link.
        at : mapping
            The points; by default all.
        kind : str
            ``classes`` or ``links``.

        Returns
        -------
        list of list of float
            The distribution of each run, in the order of the seeds.
        """
        keys = [bytes.fromhex(key) for key in self.of(label, at).sort("seed")["key"]]
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


def _filled(metric: str, fill: float | None) -> polars.Expr:
    """Return a metric as an expression, with ``fill`` for runs without a value."""
    import polars

    return polars.col(metric) if fill is None else polars.col(metric).fill_null(fill)


class Evidence(Mapping[str, Runs]):
    """The runs of a paper's experiments, by their names.

    Parameters
    ----------
    runs : mapping
        The runs of each experiment.
    hero : str
        The label of the discipline that the paper advocates.
    quick : bool
        Whether the points are the fewest that still judge the claims.
    """

    def __init__(self, runs: Mapping[str, Runs], hero: str, quick: bool) -> None:
        self._runs = dict(runs)
        self.hero = hero
        self.quick = quick

    def __getitem__(self, name: str) -> Runs:
        return self._runs[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._runs)

    def __len__(self) -> int:
        return len(self._runs)

    def has(self, names: Sequence[str]) -> bool:
        """Check whether experiments are complete.

        Parameters
        ----------
        names : sequence of str
            The experiments.

        Returns
        -------
        bool
            Whether each has all its runs: a subset could yield a different figure or verdict.
        """
        return all(name in self._runs and self._runs[name].whole for name in names)
