"""The documentation pages that are generated: ``python -m aqmlab.pages FOLDER`` writes them."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from pathlib import Path

from aqmlab.files import write_text
from aqmlab.metrics import DISTRIBUTIONS, METRICS, Metric

_RESULTS = """\
# Results

*Generated from `python/aqmlab/metrics.py` by `make docs`.*

A run gives metrics of the observed queue and of all flows (`metrics`), of each traffic entry (`classes.NAME`)
and of each link with a queue discipline (`links.NAME`). All are taken over `[warmup, duration]` unless the definition
says otherwise, from every packet and every change of the queue, not from samples; the percentiles of the waiting times
come from a histogram that keeps three significant digits. A metric that is not defined (no packet arrived, say) is
`null` in JSON and `None` in Python, never NaN.

| metric | unit | definition |
|---|---|---|
{rows}

## Distributions

Each traffic entry (`distributions.classes.NAME`) and each link with a queue discipline (`distributions.links.NAME`) has
these as lists of numbers, counts of 1, 2, … or the percentiles 0, 1, …, 100, an empty one where there is no value. Of
several seeds they are means, number by number. `Result.plot_distribution(NAME)` and the report draw them.

| distribution | unit | definition |
|---|---|---|
{distributions}

## The document

`aqmlab run --json` prints it, `--out DIR` writes it to `DIR/result.json`, and `Result.document()` gives it:

| key | content |
|---|---|
| `version` | of aqmlab that made it |
| `scenario` | everything that was simulated, every default filled in |
| `seeds` | of the runs, in order; `--seeds N` means s, s + 1, …, s + N - 1, where s is the scenario's `seed` |
| `metrics`, `classes`, `links`, `distributions` | of one seed its values, of several their means |
| `summary.METRIC` | `mean`, `std`, `ci95` and `n` over the runs in which it is defined (below) |
| `runs` | each run's `seed`, `metrics`, `classes`, `links`, `distributions` and `engine` |
| `engine` | `packets` and `events` simulated and `cpu_seconds` used, set-up included; added up over the runs |

`std` divides by n - 1, `ci95` is half the width of the 95 % confidence interval of the mean (Student t); both are
`null` for n < 2.

`aqmlab compare --json` prints `{{"results": {{LABEL: document}}}}`, the labels being the `--aqm` options as given.

## Series

`series-SEED.parquet` (`Result.series_of(seed)`) has a row per bin of `record.step`: `t`, the start of the bin in
seconds; for each link with a queue discipline and each quantity of it (`queue` in packets, and the discipline's own
signals, which `aqmlab show NAME` lists) `LINK.QUANTITY.min`, `.mean` and `.max` over the bin; and the counts
`LINK.arrivals` and `LINK.drops`. For each traffic entry at the observed link there are `LINK.CLASS.arrivals` and
`.drops`, `.throughput` in bit/s (packets count when their transmission begins), and `.delay`, the mean wait in seconds
of the packets sent in the bin, null if none was.

With `record.cwnd` set, `cwnd-SEED.parquet` (`Result.cwnd_of(seed)`) has `t`, `flow`, `class`, `cwnd` and `ssthresh`
(segments); in the file `class` is the number of the traffic entry, from 0.
"""


def results() -> str:
    """Write the page on results.

    Returns
    -------
    str
        Markdown.
    """
    return _RESULTS.format(rows=_rows(METRICS), distributions=_rows(DISTRIBUTIONS))


def _rows(metrics: Mapping[str, Metric]) -> str:
    return "\n".join(f"| `{one.name}` | {one.unit or '1'} | {one.definition} |" for one in metrics.values())


PAGES = {"results.md": results}
"""The generated pages: file name and what makes it."""


if __name__ == "__main__":
    for name, page in PAGES.items():
        write_text(Path(sys.argv[1]) / name, page())
