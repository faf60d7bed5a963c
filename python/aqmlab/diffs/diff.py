"""The differences between two results, comparisons or sweeps: settings, versions, and metrics with intervals."""

from __future__ import annotations

import math
import os
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

from aqmlab.diffs.limits import Passed, limit, passed
from aqmlab.diffs.saved import Case, Saved, of
from aqmlab.presenters import presented
from aqmlab.results.differences import subtracted
from aqmlab.results.summary import Summary

if TYPE_CHECKING:
    from aqmlab.results.comparison import Comparison
    from aqmlab.results.result import Result
    from aqmlab.runs.swept import Sweep

    Comparable = Result | Comparison | Sweep | str | os.PathLike[str]

ABSENT = None
"""The value of a setting that a scenario does not have; a scenario has no such value."""


@dataclass(frozen=True)
class Setting:
    """A setting that differs: its path, as for ``--set``, its values, and the labels where it does; empty for all."""

    path: str
    first: Any
    second: Any
    labels: tuple[str, ...] = ()


@dataclass(frozen=True)
class Change:
    """The change of a metric.

    Parameters
    ----------
    first : Summary
        The metric in the first.
    second : Summary
        The metric in the second.
    difference : float or None
        The second mean minus the first; None if one of them has no value.
    ci95 : float or None
        Half the 95 % confidence interval of the difference; None if there are too few runs.
    """

    first: Summary
    second: Summary
    difference: float | None
    ci95: float | None

    def document(self) -> dict[str, Any]:
        """Return ``first`` and ``second`` as `Summary.document` does, ``difference`` and ``ci95`` for JSON."""
        both = {"first": self.first.document(), "second": self.second.document()}
        return {**both, "difference": self.difference, "ci95": self.ci95}


@dataclass(frozen=True, repr=False)
class Diff:
    """Two results, comparisons or sweeps, and the differences of the second from the first.

    Parameters
    ----------
    first : Saved
        The runs of the first.
    second : Saved
        The runs of the second.
    settings : tuple of Setting
        The settings that differ, in the scenarios that both have.
    origins : tuple of Setting
        Likewise the ``version`` and the ``engine_name``.
    metrics : dict
        The change of every metric, by label and name.
    paired : bool
        Whether the differences are taken seed by seed: both have the same seeds everywhere.
    """

    first: Saved
    second: Saved
    settings: tuple[Setting, ...]
    origins: tuple[Setting, ...]
    metrics: Mapping[str, Mapping[str, Change]]
    paired: bool

    @property
    def missing(self) -> tuple[list[str], list[str]]:
        """The labels that only the first has, and those that only the second has."""
        one, other = self.first.cases, self.second.cases
        return [label for label in one if label not in other], [label for label in other if label not in one]

    def passed(self, *limits: str) -> list[Passed]:
        """Return where limits are passed, each as text or with its ``label`` and ``change``.

        Parameters
        ----------
        *limits : str
            ``METRIC +AMOUNT`` for the most by which it may rise from the first to the second, ``METRIC -AMOUNT`` for
            the most by which it may fall. A percentage is one of the first mean: ``rtt_p95 +10 %``.

        Returns
        -------
        list of Passed
            Where the mean difference is beyond a limit, and its 95 % interval excludes 0 if there are several runs; or
            the second has no value.

        Raises
        ------
        ValueError
            If a text is no limit, the first has no such metric, or a label that the second lacks.
        """
        if limits and (lacking := self.missing[0]):
            raise ValueError(
                f"{', '.join(lacking)}: {self.second.name} has no such runs, so that no limit can be checked"
            )
        return [each for text in limits for each in passed(limit(text), self.metrics)]

    def document(self) -> dict[str, Any]:
        """Return the differences as a dictionary for JSON.

        Returns
        -------
        dict
            ``first`` and ``second`` (where they were read), ``command``, ``settings`` and ``origins`` (``path``,
            ``first``, ``second``, ``labels``), ``only_first`` and ``only_second`` (labels), ``paired``, and
            ``metrics``: for each label and metric, `Change.document`. A setting that one lacks is null.
        """
        only_first, only_second = self.missing
        return {
            "first": self.first.name,
            "second": self.second.name,
            "command": self.first.command,
            "settings": [asdict(one) for one in self.settings],
            "origins": [asdict(one) for one in self.origins],
            "only_first": only_first,
            "only_second": only_second,
            "paired": self.paired,
            "metrics": {
                label: {name: change.document() for name, change in changes.items()}
                for label, changes in self.metrics.items()
            },
        }

    def __repr__(self) -> str:
        return str(presented("diff.text", self))


def diff(first: Comparable, second: Comparable) -> Diff:
    """Compare two results, two comparisons or two sweeps.

    Parameters
    ----------
    first : Result, Comparison, Sweep, str or PathLike
        The first; or the folder that ``--out`` wrote, or the file that ``--json`` printed.
    second : Result, Comparison, Sweep, str or PathLike
        The second, of the same kind.

    Returns
    -------
    Diff
        The settings and versions that differ, and the difference of every metric with its 95 % confidence interval:
        paired by seed where both have the same seeds, otherwise Welch's.

    Raises
    ------
    ValueError
        If a file is damaged or something else, the two are of different kinds, or they have no label in common.
    """
    one, other = of(first), of(second)
    if one.command != other.command:
        hint = "; a comparison has a folder for each result" if "sweep" not in (one.command, other.command) else ""
        raise ValueError(f"{one.name} is {one.kind}, {other.name} is {other.kind}: give two of one kind{hint}")
    shared = [label for label in one.cases if label in other.cases]
    if not shared:
        ours, theirs = ("; ".join(list(saved.cases)[:5]) or "nothing" for saved in (one, other))
        raise ValueError(f"nothing in common: {one.name} has {ours}, {other.name} has {theirs}")
    pairs = {label: (one.cases[label], other.cases[label]) for label in shared}
    return Diff(
        one,
        other,
        _collected({label: (_flat(a.scenario), _flat(b.scenario)) for label, (a, b) in pairs.items()}),
        _collected({label: (_origin(a), _origin(b)) for label, (a, b) in pairs.items()}),
        {label: _changes(a, b) for label, (a, b) in pairs.items()},
        all(_same_seeds(a, b) for a, b in pairs.values()),
    )


def _origin(case: Case) -> dict[str, Any]:
    return {"version": case.version, "engine_name": case.engine_name}


def _flat(scenario: Mapping[str, Any]) -> dict[str, Any]:
    return dict(_settings("", scenario))


def _settings(prefix: str, value: Any) -> Iterator[tuple[str, Any]]:
    """Yield each setting with its path; of named tables the name is part of the path, as in ``traffic.long.count``."""
    if isinstance(value, Mapping):
        for key, one in value.items():
            yield from _settings(f"{prefix}.{key}" if prefix else key, one)
    elif isinstance(value, list) and value and all(isinstance(one, Mapping) and "name" in one for one in value):
        for one in value:
            yield from _settings(f"{prefix}.{one['name']}", {key: each for key, each in one.items() if key != "name"})
    else:
        yield prefix, value


def _collected(pairs: Mapping[str, tuple[Mapping[str, Any], Mapping[str, Any]]]) -> tuple[Setting, ...]:
    """Collect what differs, with the labels where it does unless it does everywhere."""
    found: dict[tuple[str, str], tuple[Setting, list[str]]] = {}
    for label, (first, second) in pairs.items():
        for path in dict.fromkeys([*first, *second]):
            setting = Setting(path, first.get(path, ABSENT), second.get(path, ABSENT))
            if setting.first != setting.second:
                found.setdefault((path, repr(setting)), (setting, []))[1].append(label)
    return tuple(
        Setting(one.path, one.first, one.second, () if len(labels) == len(pairs) else tuple(labels))
        for one, labels in found.values()
    )


def _same_seeds(first: Case, second: Case) -> bool:
    return first.seeded and second.seeded and first.runs.keys() == second.runs.keys()


def _changes(first: Case, second: Case) -> dict[str, Change]:
    """Return the change of every metric, in the order of the first."""
    names = dict.fromkeys(name for case in (first, second) for run in case.runs.values() for name in run)
    paired = _same_seeds(first, second)
    between = (
        subtracted(second.runs, first.runs, second.seeded, first.seeded, names)
        if paired or not (first.seeded and second.seeded)
        else {}
    )
    changes = {}
    for name in names:
        one, other = (Summary.of([run.get(name) for run in case.runs.values()]) for case in (first, second))
        if name in between:
            changes[name] = Change(one, other, between[name].mean, between[name].ci95)
        else:
            changes[name] = welch(one, other)
    return changes


def welch(first: Summary, second: Summary) -> Change:
    """Return the difference of two means of independent runs, with Welch's interval if both have several.

    Examples
    --------
    >>> change = welch(Summary.of([1.0, 2.0, 3.0]), Summary.of([4.0, 6.0, 8.0]))
    >>> round(change.difference, 3), round(change.ci95, 3)
    (4.0, 4.155)
    """
    if first.mean is None or second.mean is None:
        return Change(first, second, None, None)
    difference = second.mean - first.mean
    if first.std is None or second.std is None:
        return Change(first, second, difference, None)
    parts: Sequence[float] = [one.std**2 / one.n for one in (first, second) if one.std is not None]
    variance = math.fsum(parts)
    if variance == 0.0:
        return Change(first, second, difference, 0.0)
    from scipy.special import stdtrit

    # The degrees of freedom of Welch and Satterthwaite, which are not whole.
    freedom = variance**2 / math.fsum(part**2 / (one.n - 1) for part, one in zip(parts, (first, second), strict=True))
    return Change(first, second, difference, float(stdtrit(freedom, 0.975)) * math.sqrt(variance))
