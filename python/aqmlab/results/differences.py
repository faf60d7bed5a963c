"""Differences between the results of several engines or queue disciplines, with confidence intervals."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from aqmlab.results.cases import case, discipline, engine
from aqmlab.results.result import PACKET, Metrics, Result
from aqmlab.results.summary import Summary

if TYPE_CHECKING:
    import polars


@dataclass(frozen=True)
class Difference:
    """The differences of a result from another one.

    `label` and `to` are the labels of the two, `metrics` has the difference of every metric of either: over the seeds
    of both, or if only one of them has seeds over these.
    """

    label: str
    to: str
    metrics: Mapping[str, Summary]


def between_engines(results: Mapping[str, Result]) -> list[Difference]:
    """Compare each result with that of the same scenario and discipline on another engine, if there is one.

    The engine of reference is `packet` or, where it is missing, that of the first such result.
    """
    references: dict[tuple[str, str], str] = {}
    cases = {label: case(label, result) for label, result in results.items()}
    engines = {label: engine(label, result) for label, result in results.items()}
    for label in sorted(results, key=lambda label: engines[label] != PACKET):
        references.setdefault(cases[label], label)
    pairs = [(label, references[cases[label]]) for label in results]
    return [
        Difference(label, to, _subtracted(results[label], results[to]))
        for label, to in pairs
        if engines[label] != engines[to]
    ]


def between_disciplines(results: Mapping[str, Result], baseline: str | None = None) -> list[Difference]:
    """Compare each result with that of the discipline `baseline`, by default the first, on the same engine."""
    names = {label: discipline(label, result) for label, result in results.items()}
    chosen = baseline or next(iter(names.values()), "")
    references = {engine(label, results[label]): label for label, name in names.items() if name == chosen}
    pairs = [(label, references.get(engine(label, result))) for label, result in results.items()]
    return [
        Difference(label, to, _subtracted(results[label], results[to]))
        for label, to in pairs
        if to not in (None, label)
    ]


def _subtracted(result: Result, other: Result) -> dict[str, Summary]:
    """Return the differences of two results' metrics; see `subtracted`."""
    own, others = ({run.seed: run.metrics for run in one.runs} for one in (result, other))
    names = dict.fromkeys([*result.runs[0].metrics, *other.runs[0].metrics])
    return subtracted(own, others, result.seeded, other.seeded, names)


def subtracted(
    own: Mapping[int, Metrics], others: Mapping[int, Metrics], seeded: bool, others_seeded: bool, names: Iterable[str]
) -> dict[str, Summary]:
    """Return the differences of the metrics of some runs from those of others, paired by seed where both have seeds.

    A single run without a seed is compared with each of the others.
    """
    if not others_seeded:
        others = dict.fromkeys(own, next(iter(others.values())))
    elif not seeded:
        own = dict.fromkeys(others, next(iter(own.values())))
    pairs = [(own[seed], others[seed]) for seed in own if seed in others]
    return {name: Summary.of([_less(mine, theirs, name) for mine, theirs in pairs]) for name in names}


def _less(metrics: Metrics, others: Metrics, name: str) -> float | None:
    own, other = metrics.get(name), others.get(name)
    return None if own is None or other is None else own - other


def framed(found: Sequence[Difference]) -> polars.DataFrame:
    """Return differences as a frame, with a row for each result and metric."""
    import polars

    rows = [
        (one.label, one.to, name, summary.n, summary.mean, summary.ci95)
        for one in found
        for name, summary in one.metrics.items()
    ]
    schema = {
        "label": polars.String,
        "to": polars.String,
        "metric": polars.String,
        "runs": polars.Int64,
        "difference": polars.Float64,
        "ci95": polars.Float64,
    }
    return polars.DataFrame(rows, schema=schema, orient="row")
