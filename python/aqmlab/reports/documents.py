"""The keys of the documents that aqmlab writes, and the columns of the tables that no module of results describes.

The page on files has them. A dot separates the levels, lists have no level of their own, and words in capitals stand
for names. A key that ends in ``…`` stands for all beneath it.
"""

from __future__ import annotations

from collections.abc import Mapping

from aqmlab.results.columns import COST, LINUX_COST, Column


def keys(meanings: Mapping[str, str]) -> list[Column]:
    """Describe keys on the first level that are no quantities."""
    return [Column(name, "", meaning) for name, meaning in meanings.items()]


def _summary(place: str, of: str) -> list[Column]:
    own = "that of the metric"
    return [
        Column(f"{place}.mean", own, f"{of}: the mean."),
        Column(f"{place}.std", own, "The standard deviation, divided by n - 1; null for n < 2."),
        Column(f"{place}.ci95", own, "Half the 95 % confidence interval of the mean (Student's t); null for n < 2."),
        Column(f"{place}.n", "", "The number of values, n."),
    ]


def _metrics(place: str, of: str) -> list[Column]:
    own = "that of the metric"
    return [
        Column(f"{place}metrics.METRIC", own, f"A [metric](results.md) of the observed queue and all flows{of}."),
        Column(f"{place}classes.CLASS.METRIC", own, "That of a traffic entry."),
        Column(f"{place}links.LINK.METRIC", own, "That of a link with a queue discipline."),
        Column(f"{place}lanes.LANE.METRIC", own, "That of a queue which a discipline names; LANE is `LINK.QUEUE`."),
        Column(
            f"{place}distributions.classes.CLASS.DISTRIBUTION",
            "that of the distribution",
            "A [distribution](results.md#distributions) of a traffic entry, as a list.",
        ),
        Column(f"{place}distributions.links.LINK.DISTRIBUTION", "that of the distribution", "That of a link."),
    ]


SCHEMA = Column("schema", "", "The version of this schema.")
_BASED_ON = Column("based_on", "", "The shipped scenario that it is, or on which it is based; empty without.")
_SCENARIO = Column("scenario.…", "", "The [scenario](scenario.md), every default filled in.")
ENGINE = Column("engine_name", "", "The [engine](../guide/engines.md): `packet`, `fluid`, `linux:clock=real`.")
VERSION = Column("version", "", "The version of aqmlab that made it, with a hash of the engine.")
SEALED = [
    Column("files.FILE", "", "The SHA-256 of each file that belongs to it, by its path from here."),
    Column("sha256", "", "The SHA-256 of all that stands before it."),
]

RESULT = [
    SCHEMA,
    Column("version", "", "The version of aqmlab that made it."),
    ENGINE,
    Column(
        "engine_version",
        "",
        "The version of the engine, which identifies all that determines the runs except scenario and seeds.",
    ),
    _BASED_ON,
    _SCENARIO,
    *keys({"seeds": "The seeds of the runs, in their order."}),
    *_metrics("", ", of one run its value, of several the mean"),
    *COST,
    *LINUX_COST,
    *_summary("summary.METRIC", "Over the runs in which the metric is defined"),
    *keys({"runs.seed": "The seed of a run."}),
    *_metrics("runs.", ""),
    *keys(
        {
            "runs.engine.…": "What the run cost, under the keys of `engine`, which has the sums, of timing errors the "
            "greatest.",
            "runs.counters.LINK.COUNTER": "Of a discipline that has more numbers, such as `cake` for each tin, `choke` "
            "and `dualpi2`: these under the names of its source. Counts are those of the measurement window; other "
            "values are the last ones.",
            "runs.elsewhere.link": "The bottleneck, if the observed queue never filled.",
        }
    ),
    Column("runs.elsewhere.utilisation", "fraction", "Its utilisation."),
    *keys(
        {
            "runs.programs.entry": "Of a [program](../guide/programs.md) that has run: its traffic entry.",
            "runs.programs.key": "`command` or `server`.",
            "runs.programs.number": "Its number among those of this key of the entry, from 1 on.",
            "runs.programs.words": "Its words, with their gaps filled.",
        }
    ),
    Column("runs.programs.started", "s", "When it began; a server begins before the run."),
    Column("runs.programs.ended", "s", "When it ended; null if the end of the run was its end."),
    *keys({"runs.programs.status": "Its exit status; null if it has none, because it was killed."}),
    Column("runs.programs.kept", "bytes", "The most that is kept of each of its streams."),
    *(
        column
        for stream, whole in (("stdout", "standard output"), ("stderr", "standard error"))
        for column in (
            *keys({f"runs.programs.{stream}": f"The beginning of its {whole}, as UTF-8."}),
            Column(f"runs.programs.{stream}_bytes", "bytes", f"The size of all of its {whole}."),
        )
    ),
    *keys({"not_modelled": "Of the fluid model: what its equations leave out, and what of it matters here."}),
    *_summary("batches.METRIC", "Of one [long run](../guide/precision.md#one-long-run), over the batches"),
    *SEALED,
]

COMPARISON = [
    SCHEMA,
    *keys(
        {
            "results.LABEL.…": "The document of each result, with the keys of [result.json](#result).",
            "baseline": "The discipline that the others are compared with.",
        }
    ),
    *_summary("differences.LABEL.TO.METRIC", "The metric of LABEL minus that of TO, seed by seed"),
    *SEALED,
]

SWEEP = [
    SCHEMA,
    VERSION,
    ENGINE,
    _BASED_ON,
    _SCENARIO,
    *keys(
        {
            "aqms": "The queue disciplines, as requested.",
            "parameters.PATH": "The unit of each parameter that varies; empty for a plain number or a text.",
            "seeds": "The seeds of each point.",
            "method": "The method that chose the points.",
            "sample_seed": "The seed with which points were drawn; null without.",
            "wanted": "The number of runs requested.",
            "done": "The number of runs in the table.",
            "failed": "The number of runs that could not be done.",
            "simulated": "The number of runs that were not in the store.",
            "interrupted": "Whether the user stopped it.",
            "failures.aqm": "The discipline of a failure.",
            "failures.point.PATH": "The value of each parameter there.",
            "failures.seed": "The seed of the run; null if the whole point is not valid.",
            "failures.error": "The reason.",
            "failures.lost": "Whether the run was done and then not in the store.",
            "damage.FILE": "The number of runs in a file of the store that could not be read.",
            "variants.LABEL": "The scenario file, without the varying parameters, of a discipline whose label was "
            "chosen in Python.",
        }
    ),
    *SEALED,
]

ARCHIVE = [
    SCHEMA,
    *keys(
        {
            "kind": "The kind of results, as text.",
            "title": "The title of the scenario or of the paper.",
            "source": "The paper or the RFC, if there is one.",
            "command": "The command line that wrote the results, if they have it.",
            "head": "The file by which the folder is known: `result.json`.",
            "version": "The version of aqmlab that made the runs; of runs in a store, with a hash of the engine.",
        }
    ),
    *keys({"engines.ENGINE": "The version of each engine that performed runs, if the results have it."}),
    *keys(
        {
            "build": "How the engine was built, if it was not built as usual.",
            "code": "A digest of the code of aqmlab that sealed it.",
            "drawing": "The versions of the libraries that draw figures, where it was sealed.",
            "platform": "The system, the machine and the version of Python where it was sealed.",
            "date": "The time of the results, UTC.",
            "authors": "The authors.",
            "publisher": "The publisher; empty without.",
            "license": "The licence: an SPDX identifier, or an address.",
            "runs": "The number of runs.",
        }
    ),
    *keys({"verdicts.VERDICT": "The number of claims, or of tested measures, with each verdict."}),
    *SEALED,
]

ARCHIVED_RUNS = keys(
    {
        "label": "The discipline, the point and the experiment of the run.",
        "scenario": "Its scenario file in the archive.",
        "seed": "Its seed.",
        "engine": "The [engine](../guide/engines.md) that performed it.",
        "key": "Its key in the store, in hexadecimal; empty if the results have none.",
        "result": "The file or the folder of the archive that has its metrics.",
    }
)
