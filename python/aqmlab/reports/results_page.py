"""The text of the page on results."""

RESULTS = """\
# Results

*Generated from the declarations in `crates/run/src/metrics.rs` by `make docs`.*

`aqmlab run` shows the observed link, then every link with a queue discipline and every traffic entry. `--link NAME`,
`--class NAME` and `--metric NAME` choose among them. `--json` and `--out` have everything.

A run gives metrics of the observed queue and of all flows (`metrics`), of each traffic entry (`classes.NAME`),
of each link with a queue discipline (`links.NAME`), and, where the discipline keeps several queues in the buffer and
names them, of each of these: `lanes`, with keys `LINK.LANE`. All are taken over `[warmup, duration]` unless the
definition says otherwise, from every packet and every change of the queue, not from samples; the percentiles of the
waiting times come from a histogram that keeps three significant digits. A metric that is not defined (no packet
arrived, say) is `null` in JSON and `None` in Python, never NaN.

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

`aqmlab run --json` prints it, `--out DIR` writes it to `DIR/result.json`, and `Result.document()` gives it.
[Files](files.md#result) has its keys. `metrics`, `classes`, `links`, `lanes` and `distributions` are of one seed its
values, of several their means; `runs` has those of each seed. `--seeds N` means the seeds s, s + 1, …, s + N - 1, where
s is the scenario's `seed`. `summary.METRIC` has `mean`, `std`, `ci95` and `n` over the runs in which the metric is
defined, and `batches.METRIC` the same of one [long run](../guide/precision.md#one-long-run), by batch means.

`std` divides by n - 1, `ci95` is half the width of the 95 % confidence interval of the mean (Student t); both are
`null` for n < 2.

`Result.load` refuses what is damaged, exchanged or of another call, and says how to make it anew. `--out DIR` and
`Result.save` put the new files in the place of those of an earlier result, of which none is left; other files in the
folder stay.

`aqmlab compare --json` prints `{{"results": {{LABEL: document}}}}`, the labels being the `--aqm` options as given, each
followed by its engine if there are several: `lred, fluid`. With several results the document also has the keys
`baseline` and `differences`. The latter is `{{LABEL: {{LABEL: {{METRIC: …}}}}}}`: the first result minus the second,
seed by seed, with the `mean`, `std`, `ci95` and `n` of every metric. A result of another engine is compared with the
packet engine's, and one of another discipline with that of the `baseline` (`--baseline NAME`, by default the first
`--aqm`) on the same engine. Each interval is for itself: of 20 differences that are really 0, about one has an interval
that excludes 0.

## Latency under load

`aqmlab run` and `compare` show how users see the links if the scenario has a `ping`, a `voip` or a `web` entry; of
several entries the worst counts. A `ping` sends requests of `packet_size` every `interval`, which the other end
answers.

* **Round-trip times**: `rtt_idle` is computed, the others are measured. On a link of 1 Mbit/s with a delay of 30 ms,
  a ping of 125 B alone takes 2 · (30 ms + 8 · 125 bit / 1 Mbit/s) = 62 ms.
* **RPM** (`rpm`): draft-ietf-ippm-responsiveness-09, section 5.3.1.1. The probes on connections of their own are the
  pings: TCP, TLS and HTTP take a round trip each, so that the mean of the three is that of a ping. The probes on the
  loading connections are the own round trips of `ftp` and `transfer` flows; a request there would also wait in its
  sender. With trimmed means of 50 ms and 200 ms: (60 / 0.05 + 60 / 0.2) / 2 = 750 round trips a minute. The draft calls
  less than 300 poor. It loads one direction at a time; here the load is that of the scenario, and the slowest entry
  counts, whichever way it sends.
* **QoO** (`qoo`): draft-ietf-ippm-qoo-09. Its example, with which the needs here come: 350 ms at 99 % and 375 ms at
  99.9 %, 2 % lost, 28 Mbit/s. Latency: min(1 - 150 / 300, 1 - 75 / 300) = 0.5. Loss: 1 - 1 / 4 = 0.75. Rate: 1. The
  least is 50 %. The rate is what the observed link could carry, not what the load left.
* **MOS** (`mos`): R = 93.2 - Idd - Ie - (95 - Ie) · Ppl / (Ppl + Bpl), from which G.107, annex B, has 1 + 0.035 R + R
  (R - 60) (100 - R) · 7 · 10⁻⁶. Ie and Bpl are those of the `codec`, from G.113 (11/2007), appendix I: of `g711` 0 and
  25.1, of `g711-bare` 0 and 4.3, of `g729a` 11 and 19, of `g723.1` 15 and 16.1, of `gsm-efr` and `amr` 5 and 10. The
  table has no values for Opus. With `g711`, at 200 ms, Idd is 25 (2^(1/6) - 3 (1 + 1/729)^(1/6) + 2) = 3.04, R 90.16,
  MOS 4.34; at 400 ms 3.56; without delay, but 5 % lost, 3.92, with `g711-bare` 2.17. The standard's R for no delay and
  no loss is 93.2, MOS 4.41.
* **Pages** (`session_time_mean`, `_p50`, `_p95`, `_max`): from the first request of a page to its last byte. The name
  is not resolved, and connections are opened by TCP without TLS.

## Flows

`aqmlab run --flows` (or `record.flows = true`) records a row for each flow and each transfer, on the packet engine.
`Result.flows` has them as a polars frame, `--out DIR` as `flows-SEED.parquet`. [Files](files.md#flows) has its columns.

## Tables

`--csv FILE` of `aqmlab run`, `compare` and `sweep` writes the metrics of every run, a row for each run, with all
digits. In Python `frame` is the same table as a polars frame, and `to_pandas()` as a pandas frame.
[Files](files.md#csv) has its columns, and `aqmlab export` writes it [in other formats](files.md#export).

A metric that is not defined is empty in CSV, null in polars and NaN in pandas.

## Two results compared

`aqmlab diff A B` compares two results of `aqmlab run`, two comparisons or two sweeps. Each is a folder that `--out`
wrote or, of `run` and `compare`, a file that `--json` printed. In Python `aqmlab.diff(a, b)` takes these paths, or the
results themselves. It lists

* the settings that differ, with the paths of `--set`, and the versions and engines that differ;
* what only one of the two has: labels of a comparison, disciplines and points of a sweep;
* each metric's difference, B minus A, with its 95 % confidence interval: seed by seed if both have the same seeds,
  otherwise Welch's for independent runs. Each interval is for itself. A single run has no interval.

`--json` prints `first`, `second`, `command`, `settings`, `origins` (versions and engines), `only_first`, `only_second`,
`paired`, and `metrics`: `{{LABEL: {{METRIC: …}}}}` with `first`, `second`, `difference` and `ci95`; the label of a
single result is empty. What a run cost is left out. `--fail LIMIT` ends the command with status 6 if a metric rises or
falls by more: [a check in CI](../guide/gate.md).

## Figures

`--out DIR` writes `figure.png` and `.svg`, and `compare` also `tradeoff.png` and `.svg`: goodput over queueing delay.
`--figure-format pdf,svg` chooses among `png`, `svg`, `pdf` and `pgf`. In PDF and PGF, texts are texts: they can be
searched, and those of PGF have the fonts of the TeX document that includes the figure. PGF needs `xelatex`, `lualatex`
or `pdflatex` to measure them; without one, the option is refused before anything runs.

## Series

`series-SEED.parquet` (`Result.series_of(seed)`) has a row for each bin of `record.step`: queue and signals of each link
with a queue discipline, counts, throughput and delay of each traffic entry at the observed link, and of each queue that
a discipline names. [Files](files.md#series) has its columns.

`Result.mean_series` averages these over the seeds: for each `COLUMN`, under the same name its mean, `COLUMN.least`,
`COLUMN.greatest`, and `COLUMN.ci95`, half the 95 % confidence interval of the mean in that bin (Student t). A run in
which a value is null does not count in that bin.

With `record.cwnd` set, `cwnd-SEED.parquet` (`Result.cwnd_of(seed)`) has the
[congestion windows](files.md#congestion-windows).
"""
"""The page on results, with places for the metrics and the distributions."""
