"""What results, comparisons and sweeps have alike: tables of runs, and of the former two also figures and texts."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from typing import TYPE_CHECKING

from aqmlab.presenters import drawn, presented
from aqmlab.results import frames

if TYPE_CHECKING:
    import pandas
    import polars
    from anywidget import AnyWidget
    from matplotlib.figure import Figure

    from aqmlab.results.result import Result


class View(ABC):
    """Runs as tables. The names of metrics are those of `aqmlab.METRICS`, and quantities are in their units."""

    @property
    @abstractmethod
    def frame(self) -> polars.DataFrame:
        """The metrics of all runs, a row for each run."""

    @property
    @abstractmethod
    def summary(self) -> polars.DataFrame:
        """The statistics of every metric over the seeds, a row for each.

        The columns that distinguish the cases (``aqm``, ``engine``, varying parameters), then ``scope``, ``name`` and
        ``metric`` as in `long`, and ``mean``, ``std``, ``ci95`` (half the 95 % confidence interval of the mean,
        Student's t; null for fewer than two values) and ``n``, the number of values.
        """

    @property
    @abstractmethod
    def _headed(self) -> polars.DataFrame:
        """The frame with discipline and engine in front and without keys: all metrics follow the seed."""

    @property
    def long(self) -> polars.DataFrame:
        """The metrics of all runs, a row for each run and metric.

        The columns that distinguish the cases (``aqm``, ``engine``, varying parameters), ``seed``, ``scope`` (``all``
        for the observed queue and all flows, ``classes``, ``links``, ``lanes``, ``engine``), ``name`` (of the traffic
        entry, link or lane), ``metric`` and ``value``.
        """
        return frames.long(self._headed)

    def to_pandas(self, frame: polars.DataFrame | None = None) -> pandas.DataFrame:
        """Return a frame of this object as one of pandas; the conversion of polars would need pyarrow.

        Parameters
        ----------
        frame : polars.DataFrame
            The frame, such as `summary`; by default `frame`.

        Returns
        -------
        pandas.DataFrame
            The same rows and columns; null is NaN.

        Raises
        ------
        ImportError
            If pandas is not installed; ``pip install 'aqmlab[pandas]'`` installs it.
        """
        return frames.to_pandas(self.frame if frame is None else frame)


class Shown(View):
    """A result, or several beside each other, as figures, as text, and as pages of a notebook."""

    @property
    def baseline(self) -> str | None:
        """The discipline that the others are compared with; None without results or others."""
        return None

    @property
    @abstractmethod
    def _results(self) -> Mapping[str, Result]:
        """The results by label."""

    def plot(self, figure: Figure | None = None) -> Figure:
        """Draw the queue over time and the main metrics of each result.

        Parameters
        ----------
        figure : matplotlib.figure.Figure
            An empty figure to draw in; by default a new pyplot figure.

        Returns
        -------
        matplotlib.figure.Figure
            The figure.
        """
        return drawn("results.figure", self._results, figure=figure)

    def plot_distribution(self, name: str, figure: Figure | None = None) -> Figure:
        """Draw a distribution: a panel for each traffic entry or link that has it, with a curve for each result.

        Parameters
        ----------
        name : str
            The name of the distribution in `aqmlab.DISTRIBUTIONS`.
        figure : matplotlib.figure.Figure
            An empty figure to draw in; by default a new pyplot figure.

        Returns
        -------
        matplotlib.figure.Figure
            The figure.
        """
        return drawn("results.distribution", self._results, name, figure=figure)

    def plot_tradeoff(self, figure: Figure | None = None) -> Figure:
        """Draw the goodput over the queueing delay, its mean and its 95th percentile, with a point for each result.

        Parameters
        ----------
        figure : matplotlib.figure.Figure
            An empty figure to draw in; by default a new pyplot figure.

        Returns
        -------
        matplotlib.figure.Figure
            The figure. Better is up and to the right: the delay axis is reversed. Each seed has a mark, and the mean
            bars for its 95 % confidence intervals.

        Raises
        ------
        LookupError
            If no result has both metrics.
        """
        return drawn("results.tradeoff", self._results, figure=figure)

    def play(self, height: int = 640) -> AnyWidget:
        """Show the disciplines in the playground, in a cell of a notebook: queues that react while you move sliders.

        The page simulates the scenario anew, with the seed of the first run; the results stay as they are. It shows
        three disciplines at a time: of more, the first three.

        Parameters
        ----------
        height : int
            The height of the widget, in CSS pixels.

        Returns
        -------
        anywidget.AnyWidget
            The widget, for Jupyter and marimo.

        Raises
        ------
        ScenarioError
            If a page cannot simulate the scenario: it has a recording, or a discipline of your own.
        ValueError
            If the results differ in more than their disciplines.
        ImportError
            If anywidget is not installed; ``pip install 'aqmlab[notebook]'`` installs it.
        FileNotFoundError
            If the playground is not built.
        """
        widget: AnyWidget = presented("results.player", self._results, height)
        return widget

    def __repr__(self) -> str:
        if not self._results:
            return f"<empty {type(self).__name__}>"
        return str(presented("results.text", self._results, self.baseline))

    def _repr_html_(self) -> str | None:
        # A notebook shows the repr where there is nothing.
        return presented("results.html", self._results, self.baseline) if self._results else None
