"""Tables of saved results, with the unit and the meaning of each column, for programs that read no Parquet."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from aqmlab.results import columns
from aqmlab.results.columns import Column, described
from aqmlab.results.comparison import Comparison
from aqmlab.results.result import Result
from aqmlab.runs.swept import Sweep
from aqmlab.scenario import Scenario, cables, discipline

if TYPE_CHECKING:
    import polars

TABLES = ("runs", "series", "cwnd", "flows")
"""The tables that there are."""


@dataclass(frozen=True)
class Table:
    """A table: its name, its rows, its columns by name, and what all rows have in common.

    A column without a description is described by its name alone.
    """

    name: str
    frame: polars.DataFrame
    columns: Mapping[str, Column]
    about: Mapping[str, Any]


def tabulated(found: Result | Comparison | Sweep, name: str) -> Table:
    """Return one of `TABLES` of some results.

    Raise LookupError if they do not have it, ValueError for another name or a table without rows.
    """
    if name not in TABLES:
        raise ValueError(f"table = {name!r}: must be one of {', '.join(TABLES)}")
    if name == "runs":
        frame, known = found.frame, [*_heads(found), *columns.RUN, *columns.COST, *columns.LINUX_COST]
    elif isinstance(found, Sweep):
        raise LookupError(f"a sweep keeps no {name}: repeat a point with aqmlab run, with --set of its values")
    else:
        frame, known = _recorded(found, name), [*_heads(found), *columns.RUN, *_known(found, name)]
    if frame.is_empty():
        raise ValueError(f"{name}: no rows")
    texts = {column: one for column in frame.columns if (one := described(column, known))}
    return Table(name, frame, texts, _about(found))


def _heads(found: Result | Comparison | Sweep) -> Sequence[Column]:
    """Describe the columns that tell the runs of one result from those of another."""
    if isinstance(found, Sweep):
        varied = [Column(path, unit, f"The parameter {path}, which varies.") for path, unit in found.parameters.items()]
        return [columns.SWEPT_AQM, columns.SWEPT_KEY, *varied]
    return columns.COMPARED if isinstance(found, Comparison) else ()


def _recorded(found: Result | Comparison, name: str) -> polars.DataFrame:
    """Return a table of all runs; a column that only some results have is null in the others."""
    import polars

    frames = []
    for label, result in found.items() if isinstance(found, Comparison) else [("", found)]:
        first = [polars.lit(label).alias("label")] if isinstance(found, Comparison) else []
        frames += [one.select(*first, *one.columns) for one in _of_runs(result, name)]
    return polars.concat(frames, how="diagonal")


def _of_runs(result: Result, name: str) -> Iterator[polars.DataFrame]:
    """Yield a table of each run; it begins with the seed."""
    import polars

    if name == "flows":
        yield result.flows.with_columns(polars.col("seed").cast(polars.Int64))
        return
    read: Callable[[int], polars.DataFrame] = result.series_of if name == "series" else result.cwnd_of
    for seed in result.seeds:
        frame = read(seed)
        yield frame.select(polars.lit(seed, polars.Int64).alias("seed"), *frame.columns)


def _known(found: Result | Comparison, name: str) -> Sequence[Column]:
    if name != "series":
        return columns.CWND if name == "cwnd" else columns.FLOWS
    results = found.values() if isinstance(found, Comparison) else [found]
    return [*(column for result in results for column in _signals(result.scenario)), *columns.SERIES]


def _signals(scenario: Scenario) -> Iterator[Column]:
    """Describe the signals of each link's discipline."""
    resolved = scenario.resolved
    tables = {resolved["observe"]: resolved, **cables(resolved)}
    for name, entry in tables.items():
        for key, link in (("aqm", name), ("reverse_aqm", f"{name}:reverse")):
            for signal in discipline(entry[key]["name"], scenario)["signals"] if key in entry else ():
                for end, what in (("min", "Least"), ("mean", "Time average"), ("max", "Greatest")):
                    text = f"{what} in the bin: {signal['doc']}"
                    yield Column(f"{link}.{signal['name']}.{end}", signal["unit"], text)


def _about(found: Result | Comparison | Sweep) -> dict[str, Any]:
    one = next(iter(found.values())) if isinstance(found, Comparison) else found
    engines = [each.engine_name for each in (found.values() if isinstance(found, Comparison) else [one])]
    return {
        "title": one.scenario.title,
        "made_by": f"aqmlab {one.version}",
        "engine_name": " | ".join(dict.fromkeys(engines)),
    }
