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
from aqmlab.results.metrics import METRICS
from aqmlab.results.result import FILES, Result
from aqmlab.results.views import Shown
from aqmlab.scenario import portable
from aqmlab.sealed import Saved, Saving

if TYPE_CHECKING:
    import polars

    from aqmlab.scenario import Scenario


class Comparison(Shown, Mapping[str, Result]):
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
        self._by_label = dict(results)
        names = disciplines(self._by_label)
        if baseline is not None and baseline not in names:
            raise LookupError(f"baseline = {baseline!r}: must be one of {', '.join(names) or 'no result'}")
        self._baseline = baseline

    def __getitem__(self, label: str) -> Result:
        return self._by_label[label]

    def __iter__(self) -> Iterator[str]:
        return iter(self._by_label)

    def __len__(self) -> int:
        return len(self._by_label)

    @property
    def baseline(self) -> str | None:
        """The discipline that the others are compared with; None without results."""
        return self._baseline or next(iter(disciplines(self)), None)

    @property
    def summary(self) -> polars.DataFrame:  # noqa: D102  `View` has it
        import polars

        heads = ({"aqm": discipline(label, one), "engine": engine(label, one)} for label, one in self.items())
        found = [frames.summarised(each, one.summaries) for each, one in zip(heads, self.values(), strict=True)]
        return polars.concat(found or [frames.summarised({"aqm": "", "engine": ""}, {})])

    def differences(self, metric: str | None = None, to: str | None = None) -> polars.DataFrame:
        """Compare the results of engines, and of queue disciplines.

        A result of another engine is compared with the packet engine's of the same scenario, or without the packet
        engine with the first. A result of another discipline is compared with that of `to` on the same engine. The
        fluid model has one run, without a seed: compared with runs, the interval is that of their mean.

        Parameters
        ----------
        metric : str
            The metric to compare; by default those of the observed queue and all flows.
        to : str
            The discipline that the others are compared with, by its label without an engine; by default `baseline`.

        Returns
        -------
        polars.DataFrame
            A row for each pair and metric: ``label``, ``to`` (the label of the result that is subtracted), ``metric``,
            ``runs`` (the number of seeds for which both have a value), ``difference`` (the mean of ``label`` minus
            ``to``) and ``ci95``, half its 95 % confidence interval (Student's t, paired by seed; null for fewer than
            two seeds). Each interval is for itself: nothing is corrected for their number.

        Raises
        ------
        LookupError
            If there is no such metric or discipline.
        """
        found = framed((self if to is None else self.against(to))._differences())
        if metric is None:
            return found
        if all(metric not in result.metrics for result in self.values()):
            raise LookupError(f"{metric}: no such metric; must be one of {', '.join(METRICS)}")
        return found.filter(metric=metric)

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
        return Comparison(self._by_label, baseline)

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

    @property
    def _headed(self) -> polars.DataFrame:
        return self.frame.drop("label")

    @property
    def _results(self) -> Mapping[str, Result]:
        return self

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
