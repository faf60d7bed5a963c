"""Comparisons of several results."""

from __future__ import annotations

import hashlib
import os
import re
import shlex
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self

from aqmlab.files import REPORT, figure_files, read_json
from aqmlab.kinds import COMPARISON, RESULT
from aqmlab.results import frames
from aqmlab.results.cases import discipline, disciplines, engine
from aqmlab.results.differences import Difference, between_disciplines, between_engines, framed
from aqmlab.results.result import FILES, Result
from aqmlab.scenario import portable
from aqmlab.sealed import Saved, Saving

if TYPE_CHECKING:
    import pandas
    import polars
    from anywidget import AnyWidget
    from matplotlib.figure import Figure

    from aqmlab.scenario import Scenario


class Comparison(Mapping[str, Result]):
    """Several results to compare, by label.

    Parameters
    ----------
    results : mapping
        The results, in the order in which to show them.
    baseline : str
        The queue discipline that the others are compared with, by default the first: its label, without an engine.

    Raises
    ------
    LookupError
        If no result is of that discipline.
    """

    def __init__(self, results: Mapping[str, Result], baseline: str | None = None) -> None:
        self._results = dict(results)
        names = disciplines(self._results)
        if baseline is not None and baseline not in names:
            raise LookupError(f"baseline = {baseline!r}: must be one of {', '.join(names) or 'no result'}")
        self._baseline = baseline

    def __getitem__(self, label: str) -> Result:
        return self._results[label]

    def __iter__(self) -> Iterator[str]:
        return iter(self._results)

    def __len__(self) -> int:
        return len(self._results)

    @property
    def baseline(self) -> str | None:
        """The discipline that the others are compared with; None without results."""
        return self._baseline or next(iter(disciplines(self)), None)

    @property
    def table(self) -> polars.DataFrame:
        """One row per label: the mean of every metric and, with several seeds, its interval ``…_ci95``."""
        import polars

        rows = []
        for label, result in self.items():
            row: dict[str, Any] = {"label": label}
            for name, summary in result.summary.items():
                row[name] = summary.mean
                if len(result.runs) > 1:
                    row[f"{name}_ci95"] = summary.ci95
            rows.append(row)
        return polars.DataFrame(rows, infer_schema_length=None)

    @property
    def differences(self) -> polars.DataFrame:
        """The differences of every metric between engines, and between queue disciplines.

        A row for each pair and metric: ``label``, ``to`` (the label of the result that is subtracted), ``metric``,
        ``runs`` (the number of seeds for which both have a value), ``difference`` (the mean of ``label`` minus ``to``)
        and ``ci95``, half its 95 % confidence interval (Student's t, paired by seed; null for fewer than two seeds).
        Each interval is for itself: nothing is corrected for their number.

        A result of another engine is compared with the packet engine's of the same scenario, or without the packet
        engine with the first. A result of another discipline is compared with that of `baseline` on the same engine.
        The fluid model has one run, without a seed: compared with runs, the interval is that of their mean.
        """
        return framed(self._differences())

    def _differences(self) -> list[Difference]:
        return [*between_engines(self), *between_disciplines(self, self.baseline)]

    def against(self, baseline: str) -> Comparison:
        """Return the same results, compared with another queue discipline.

        Parameters
        ----------
        baseline : str
            The label of the discipline, without an engine.

        Returns
        -------
        Comparison
            A comparison whose `differences` are from that discipline.

        Raises
        ------
        LookupError
            If no result is of that discipline.
        """
        return Comparison(self._results, baseline)

    def document(self) -> dict[str, Any]:
        """Return everything but the series as a dictionary for JSON.

        Returns
        -------
        dict
            ``schema``, and ``results``: the document of each result, by label. With several also
            ``baseline``, and ``differences``: for each label and each label that it is compared with, the ``mean``,
            ``std``, ``ci95`` and ``n`` of the difference of every metric; see `Comparison.differences`.
        """
        compared: dict[str, dict[str, Any]] = {}
        for one in self._differences():
            metrics = {name: each.document() for name, each in one.metrics.items()}
            compared.setdefault(one.label, {})[one.to] = metrics
        return {
            "schema": COMPARISON.version,
            "results": {label: result.document() for label, result in self.items()},
            **({"baseline": self.baseline, "differences": compared} if compared else {}),
        }

    @property
    def frame(self) -> polars.DataFrame:
        """The metrics of all runs of all results as a polars frame, a row for each run.

        ``label``, ``aqm`` (the label without the engine), ``engine``, and the columns of `Result.frame`.
        """
        import polars

        runs = [(label, result, run.document()) for label, result in self.items() for run in result.runs]
        heads = {
            "label": [label for label, _, _ in runs],
            "aqm": [discipline(label, result) for label, result, _ in runs],
            "engine": [engine(label, result) for label, result, _ in runs],
        }
        frame = polars.DataFrame(heads, schema=dict.fromkeys(heads, polars.String))
        return polars.concat([frame, frames.of_runs([run for _, _, run in runs])], how="horizontal")

    def to_pandas(self) -> pandas.DataFrame:
        """Return `frame` as a pandas frame.

        Returns
        -------
        pandas.DataFrame
            A row for each run; a metric that is not defined is NaN.

        Raises
        ------
        ImportError
            If pandas is not installed; ``pip install 'aqmlab[pandas]'`` installs it.
        """
        return frames.to_pandas(self.frame)

    def plot(self, figure: Figure | None = None) -> Figure:
        """Draw the queues over time and the main metrics of all results.

        Parameters
        ----------
        figure : matplotlib.figure.Figure
            An empty figure to draw in; by default a new pyplot figure.

        Returns
        -------
        matplotlib.figure.Figure
            The figure.
        """
        from aqmlab.figures import matplotlib, runs

        return matplotlib.draw(runs.comparison(self), figure)

    def play(self, height: int = 640) -> AnyWidget:
        """Show the disciplines beside each other in the playground, in a cell of a notebook.

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
        from aqmlab.playground import widget

        return widget.comparison(self, height)

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
        from aqmlab.figures import matplotlib, tradeoff

        return matplotlib.draw(tradeoff.tradeoff(self), figure)

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
        from aqmlab.figures import matplotlib, runs

        return matplotlib.draw(runs.distribution(self, name), figure)

    def save(self, folder: str | os.PathLike[str]) -> None:
        """Write comparison.json, and each result into a subfolder; `load` reads them.

        Parameters
        ----------
        folder : str or PathLike
            The folder to write to; a comparison saved there before is removed, other files are kept.
        """
        folder = Path(folder)
        names = folders(self)
        with Saving(folder, dict.fromkeys([*names, *_earlier(folder)], FILES)) as saving:
            for result, name in zip(self.values(), names, strict=True):
                result.add_to(saving, f"{name}/")
            saving.seal(COMPARISON.head, self.document())

    @classmethod
    def load(cls, folder: str | os.PathLike[str]) -> Self:
        """Read a comparison that `save` wrote.

        Parameters
        ----------
        folder : str or PathLike
            The folder that it was written to.

        Returns
        -------
        Comparison
            The same results.

        Raises
        ------
        ValueError
            If a file is damaged or not of this comparison, or another version of aqmlab wrote files that this version
            cannot read.
        """
        folder = Path(folder)
        saved = Saved.load(
            folder / COMPARISON.head,
            COMPARISON,
            f"repeat the call that wrote it, with --out {shlex.quote(os.fspath(folder))}",
        )
        saved.check()
        labels = saved.document.get("results")
        if not isinstance(labels, dict):
            raise saved.unusable("it has no results")
        results = {label: Result.load(folder / name) for label, name in zip(labels, folders(labels), strict=True)}
        return cls(results, saved.document.get("baseline"))

    def __repr__(self) -> str:
        from aqmlab.reports.parts import whole

        return whole(self, self.baseline) if self else "<empty Comparison>"

    def _repr_html_(self) -> str | None:
        from aqmlab.reports import notebook

        return notebook.results(self, self.baseline) if self else None  # a notebook then shows the repr


def _earlier(folder: Path) -> list[str]:
    """List the folders of a comparison that was saved before."""
    try:
        return folders(read_json(folder / COMPARISON.head)["results"])
    except (OSError, ValueError, LookupError, TypeError):
        return []


def files(scenarios: Mapping[str, Scenario], seeds: Sequence[int], alone: bool) -> list[str]:
    """List the files in which results are saved, by their paths in the folder they are saved in.

    If `alone` is true only the first result is saved, as `Result.save` does; otherwise all are, as a `Comparison`.
    """
    names = [] if alone else [COMPARISON.head]
    for folder, scenario in zip(folders(scenarios), scenarios.values(), strict=True):
        record = scenario.resolved["record"]
        series = [
            *(["series"] if record["series"] else []),
            *(["cwnd"] if record["cwnd"] != "auto" else []),
            *(["flows"] if record["flows"] else []),
        ]
        own = portable(scenario)[1]
        written = [
            RESULT.head,
            "scenario.toml",
            *own,
            *(f"{name}-{seed}.parquet" for name in series for seed in seeds),
        ]
        if alone:
            return written
        names += [f"{folder}/{name}" for name in written]
    return names


_LONGEST = 100
"""The most bytes of a label in the name of its folder: file systems allow 255 or fewer."""


def folders(labels: Iterable[str]) -> list[str]:
    """Return a folder name for each label, in the same order: all are different and valid in any file system."""
    names: dict[str, str] = dict.fromkeys((COMPARISON.head, REPORT, *figure_files()), "")
    for label in labels:
        stem = re.sub(r"[^\w.=,-]+", "_", label.removeprefix("./"))
        stem = stem if stem.strip(".") else f"_{stem}"  # neither the folder itself nor its parent
        if len(stem.encode()) > _LONGEST:
            beginning = stem.encode()[:_LONGEST].decode(errors="ignore")
            stem = f"{beginning}-{hashlib.sha256(label.encode()).hexdigest()[:8]}"
        name, number = stem, 1
        while name.casefold() in names:
            number += 1
            name = f"{stem}-{number}"
        names[name.casefold()] = name
    return [name for name in names.values() if name]
