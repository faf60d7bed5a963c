"""The text of the page on files, and the tables that it shows."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from aqmlab import kinds
from aqmlab.kinds import Kind
from aqmlab.reports import documents
from aqmlab.results import columns
from aqmlab.results.columns import Column

_RUN_METRICS = [*columns.METRIC_COLUMNS, *columns.COST, *columns.LINUX_COST]

TABLES: Mapping[str, Sequence[Column]] = {
    "result": documents.RESULT,
    "comparison": documents.COMPARISON,
    "sweep": documents.SWEEP,
    "sweep_table": [
        columns.SWEPT_AQM,
        Column("PATH", "its unit in `sweep.json`", "The value of each parameter that varies."),
        *columns.RUN,
        columns.SWEPT_KEY,
        *columns.METRIC_COLUMNS,
        *columns.COST[:2],
    ],
    "series": columns.SERIES,
    "cwnd": columns.CWND,
    "flows": columns.FLOWS,
    "part": [
        Column("key", "", "The key of the run: 32 bytes."),
        *columns.RUN,
        *_RUN_METRICS,
        Column("distributions", "", "The `distributions` of the run as JSON, as in `runs` of result.json."),
    ],
    "archive": documents.ARCHIVE,
    "archived_runs": documents.ARCHIVED_RUNS,
    "csv": [*columns.COMPARED, *columns.RUN, *_RUN_METRICS],
}
"""The keys or columns of each file, by its place in the text."""

VERSIONS: Mapping[str, Kind] = {
    "`result.json`": kinds.RESULT,
    "`comparison.json`": kinds.COMPARISON,
    "`sweep.json`": kinds.SWEEP,
    "`results/*.parquet` of a sweep": kinds.SWEEP_TABLE,
    "`series-SEED.parquet`, `series/*.parquet` of a store": kinds.SERIES,
    "`cwnd-SEED.parquet`": kinds.CWND,
    "`flows-SEED.parquet`": kinds.FLOWS,
    "`parts/*.parquet` of a store": kinds.PART,
    "`journals/*` of a store": kinds.JOURNAL,
    "`evaluation.json`": kinds.EVALUATION,
    "`findings.json`": kinds.FINDINGS,
    "`NAME.parquet` of a reproduction": kinds.FIGURE_DATA,
    "`seal.json`": kinds.ARCHIVE,
    "what `aqmlab export` writes as NetCDF, HDF5 and Parquet": kinds.EXPORT,
}
"""The kind of each file that has a version."""

FILES = """\
# Files

*Generated from the declarations in `python/aqmlab/` by `make docs`.*

| written by | into its folder |
|---|---|
| `aqmlab run --out` | [`result.json`](#result), `scenario.toml`, [`series-SEED.parquet`](#series), \
[`cwnd-SEED.parquet`](#congestion-windows), [`flows-SEED.parquet`](#flows), figures, `report.html` |
| `aqmlab compare --out` | [`comparison.json`](#comparison), a folder with the files of a run for each label, \
figures, `report.html` |
| `aqmlab sweep --out` | [`sweep.json`](#sweep), `scenario.toml`, \
[`results/*.parquet`](#table-of-a-sweep), figures, `report.html`, the [store](#the-store) |
| `aqmlab evaluate --out` | [`evaluation.json`](#evaluation), [`scorecard.csv`](#scorecard), `scenarios/`, \
figures, `index.html`, the store |
| `aqmlab reproduce --out` | [`findings.json`](#reproduction), [`NAME.parquet`, \
`NAME.csv`](#data-of-a-figure) of each figure and table, figures, `report.html`, the store |
| `--csv` of run, compare and sweep | [one table](#csv) |
| `aqmlab seal` | [`seal.json`](#archive), [`sealed/runs.csv`](#runs-of-an-archive), and more: \
[archives](../guide/archives.md) |
| `aqmlab export` | [one table in another format](#export) |

`scenario.toml` is the [scenario](scenario.md) as it was given. A discipline of your own is beside it as
`FILE-HASH.py`. Quantities are in s, bit/s, bytes, packets and fractions. A value that is not defined is null, in CSV an
empty cell. In keys and columns below, a dot separates levels, a list has no level of its own, words in capitals stand
for names, and `…` for all beneath a key.

## Versions

Each file has the version of its schema, a whole number: documents under the key `schema`, tables in the metadata of
Parquet as `aqmlab.schema` (beside `aqmlab.kind`, and `aqmlab.version`, that of aqmlab). The number goes up when a key
or a column goes or changes its meaning. Files of every earlier version open. A file without a version is refused, with
the call that makes it anew; so is a file of a later version, with the version of aqmlab that reads it.
The keys of runs in the store do not depend on these versions.

{versions}

## Result

`result.json`. `Result.save` writes it, and `Result.load` reads it. `aqmlab run --json` prints the same without `files`
and `sha256`. [Results](results.md#the-document) defines the numbers.

{result}

## Comparison

`comparison.json`. `Comparison.save` writes it, and `Comparison.load` reads it. `aqmlab compare --json` prints the same
without `files` and `sha256`. `baseline` and `differences` are absent if there is a single result.

{comparison}

## Sweep

`sweep.json`. `Sweep.save` writes it, and `Sweep.load` reads it. `aqmlab sweep --json` prints `points` in place of
`files` and `sha256`: a row for each point and discipline, with the mean of each metric and, as `METRIC_ci95`, half its
95 % confidence interval.

{sweep}

## Table of a sweep

`results/*.parquet`. A row for each run; `Sweep.frame` is the whole table, and `Sweep.scan` a query of it. A column of
an entry, link or queue that no run has is absent.

{sweep_table}

## Series

`series-SEED.parquet`. A row for each bin of `record.step`; `Result.series_of(SEED)` reads it. Signals, and the unit of
each, are those that `aqmlab show NAME` lists.

{series}

## Congestion windows

`cwnd-SEED.parquet`. A row for each flow and sample, if `record.cwnd` is set; `Result.cwnd_of(SEED)` reads it.

{cwnd}

## Flows

`flows-SEED.parquet`. A row for each flow and each transfer, if `record.flows` is set; `Result.flows` has those of all
seeds. A row is about the whole life of a flow, the warm-up included. What a connection loses after its transfer is in
no row.

{flows}

## The store

[Sweeps](../guide/sweeps.md) describes its use. Nothing in it changes when schemas do, so finished runs stay finished.

* `journals/HOST-PID-START-ID.journal` (`.closed` when its process has ended) has a record for each finished run: `aqm`
  and the version as a digit; as 32-bit numbers, little-endian, the length of the payload, its CRC-32, and the CRC-32 of
  these two; the payload. The payload is the run's key, of 32 bytes, and its entry of `runs` in
  [result.json](#result) as JSON, compressed by zlib.
* `parts/RUNS-SHA256.parquet` has runs of closed journals: the columns below.
* `plans/STUDY-SHA256.arrow` has what came of checking the scenarios of a large sweep. Only the version of aqmlab that
  wrote it reads it, and it can be removed at any time.
* `series/KEY-RECORD-SHA256.parquet` has the series of a run, with the columns of
  [`series-SEED.parquet`](#series). RECORD is a hash of the scenario's `[record]`.

{part}

{added}

## Archive

`seal.json` of an archive that `aqmlab seal` wrote.

{archive}

## Runs of an archive

`sealed/runs.csv`. A row for each run.

{archived_runs}

## CSV

`--csv FILE` writes the metrics of every run, a row for each, with all digits. `Result.frame`, `Comparison.frame` and
`Sweep.frame` are the same tables; `to_pandas()` gives them to pandas, which has NaN for null. `label`, `aqm` and
`engine` are columns of a comparison only. The table of a sweep is that of [its files](#table-of-a-sweep).

{csv}

## Export

`aqmlab export FOLDER -o FILE` writes a table of a folder that `--out` of run, compare or sweep wrote; in Python
`aqmlab.export(result, FILE)`. `--table` chooses it: `runs` (the columns of [CSV](#csv)), `series`, `cwnd` or `flows`.
The last three have the rows of all runs, and begin with `seed`, and with `label` if it is of a comparison.

| ending | format |
|---|---|
| `.csv` | CSV |
| `.jsonl` | JSON lines: an object for each row |
| `.parquet` | Parquet |
| `.nc` | NetCDF 3: a variable for each column over the dimension `row`, with `units` and `long_name`; texts are \
arrays of characters |
| `.h5` | HDF5: a data set for each column, with the same attributes; needs `pip install 'aqmlab[hdf5]'` |

NetCDF and HDF5 have NaN or an empty text for null, and the attributes `title`, `made_by` (the version of aqmlab that
made the results), `engine_name`, `source` (the version that exported them), `table` and `schema`.
"""
"""The page, with places for its tables."""
