"""Several results beside each other."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self

from aqmlab.files import json_text, read_json, write_text
from aqmlab.result import Result
from aqmlab.table import text

if TYPE_CHECKING:
    import polars
    from matplotlib.figure import Figure


class Comparison(Mapping[str, Result]):
    """Several results beside each other, by label.

    Parameters
    ----------
    results : mapping
        The results in the order to show them.
    """

    def __init__(self, results: Mapping[str, Result]) -> None:
        self._results = dict(results)

    def __getitem__(self, label: str) -> Result:
        return self._results[label]

    def __iter__(self) -> Iterator[str]:
        return iter(self._results)

    def __len__(self) -> int:
        return len(self._results)

    @property
    def table(self) -> polars.DataFrame:
        """One row a label: the mean of every metric, and of those with several seeds ``…_ci95``."""
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

    def document(self) -> dict[str, Any]:
        """Give everything but the series as JSON has it.

        Returns
        -------
        dict
            ``results``: each result's document by label.
        """
        return {"results": {label: result.document() for label, result in self.items()}}

    def plot(self, figure: Figure | None = None) -> Figure:
        """Draw the queues over time and the main metrics beside each other.

        Parameters
        ----------
        figure : matplotlib.figure.Figure
            An empty figure to draw in; by default a new one of pyplot's.

        Returns
        -------
        matplotlib.figure.Figure
            The figure.
        """
        from aqmlab import plot

        return plot.comparison(self, figure)

    def plot_distribution(self, name: str, figure: Figure | None = None) -> Figure:
        """Draw a distribution, a panel for each traffic entry or link that has it and a curve for each result.

        Parameters
        ----------
        name : str
            Which, of `aqmlab.DISTRIBUTIONS`.
        figure : matplotlib.figure.Figure
            An empty figure to draw in; by default a new one of pyplot's.

        Returns
        -------
        matplotlib.figure.Figure
            The figure.
        """
        from aqmlab import plot

        return plot.distribution(self, name, figure)

    def save(self, folder: str | os.PathLike[str]) -> None:
        """Write comparison.json and each result into a folder of its own; `load` reads them.

        Parameters
        ----------
        folder : str or PathLike
            Where to; files of these names there are replaced.
        """
        folder = Path(folder)
        for result, name in zip(self.values(), _folders(self), strict=True):
            result.save(folder / name)
        write_text(folder / "comparison.json", json_text(self.document()))

    @classmethod
    def load(cls, folder: str | os.PathLike[str]) -> Self:
        """Read what `save` wrote.

        Parameters
        ----------
        folder : str or PathLike
            Where it was written to.

        Returns
        -------
        Comparison
            The same results.

        Raises
        ------
        ValueError
            If it is broken, or another version of aqmlab wrote what this one cannot read.
        """
        folder = Path(folder)
        labels = read_json(folder / "comparison.json").get("results")
        if not isinstance(labels, dict):
            raise ValueError(f"{folder / 'comparison.json'}: not a comparison: it has no results")
        return cls({label: Result.load(folder / name) for label, name in zip(labels, _folders(labels), strict=True)})

    def __repr__(self) -> str:
        return text(self) if self else "<Comparison of nothing>"


def _folders(labels: Mapping[str, object]) -> list[str]:
    """Name a folder for each label, all different, in any file system."""
    names: list[str] = []
    for label in labels:
        name = stem = re.sub(r"[^\w.=,-]+", "_", label)
        number = 1
        while name in names:
            number += 1
            name = f"{stem}-{number}"
        names.append(name)
    return names
