"""The keys of the documents that aqmlab writes, and the columns of the tables that no module of results describes.

The page on files has them. A dot separates the levels, lists have no level of their own, and words in capitals stand
for names. A key that ends in ``…`` stands for all beneath it.
"""

from __future__ import annotations

from collections.abc import Sequence

from aqmlab.results.columns import COST, LINUX_COST, Column

PLACES = {
    "CLAIMS": ("claims", "later.claims", "sensitivity.claims", "measured.claims.rulings"),
    "CHECKS": ("checks", "beside"),
}
"""Words in capitals that stand for several keys."""


def _keys(**meanings: str) -> list[Column]:
    """Describe keys on the first level that are no quantities."""
    return [Column(name, "", meaning) for name, meaning in meanings.items()]


def _below(place: str, keys: Sequence[Column]) -> list[Column]:
    return [Column(f"{place}.{key.name}", key.unit, key.meaning) for key in keys]


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


_SCHEMA = Column("schema", "", "The version of this schema.")
_BASED_ON = Column("based_on", "", "The shipped scenario that it is, or on which it is based; empty without.")
_SCENARIO = Column("scenario.…", "", "The [scenario](scenario.md), every default filled in.")
_ENGINE = Column("engine_name", "", "The [engine](../guide/engines.md): `packet`, `fluid`, `linux:clock=real`.")
_VERSION = Column("version", "", "The version of aqmlab that made it, with a hash of the engine.")
_SEALED = [
    Column("files.FILE", "", "The SHA-256 of each file that belongs to it, by its path from here."),
    Column("sha256", "", "The SHA-256 of all that stands before it."),
]

RESULT = [
    _SCHEMA,
    Column("version", "", "The version of aqmlab that made it."),
    _ENGINE,
    Column(
        "engine_version",
        "",
        "The version of the engine, which identifies all that determines the runs except scenario and seeds.",
    ),
    _BASED_ON,
    _SCENARIO,
    *_keys(seeds="The seeds of the runs, in their order."),
    *_metrics("", ", of one run its value, of several the mean"),
    *COST,
    *LINUX_COST,
    *_summary("summary.METRIC", "Over the runs in which the metric is defined"),
    *_keys(**{"runs.seed": "The seed of a run."}),
    *_metrics("runs.", ""),
    *_keys(
        **{
            "runs.engine.…": "What the run cost, under the keys of `engine`, which has the sums, of timing errors the "
            "greatest.",
            "runs.counters.LINK.COUNTER": "Of a discipline that has more numbers, such as `cake` for each tin, `choke` "
            "and `dualpi2`: these under the names of its source. Counts are those of the measurement window; other "
            "values are the last ones.",
            "runs.elsewhere.link": "The bottleneck, if the observed queue never filled.",
        }
    ),
    Column("runs.elsewhere.utilisation", "fraction", "Its utilisation."),
    *_keys(not_modelled="Of the fluid model: what its equations leave out, and what of it matters here."),
    *_summary("batches.METRIC", "Of one [long run](../guide/precision.md#one-long-run), over the batches"),
    *_SEALED,
]

COMPARISON = [
    _SCHEMA,
    *_keys(
        **{
            "results.LABEL.…": "The document of each result, with the keys of [result.json](#result).",
            "baseline": "The discipline that the others are compared with.",
        }
    ),
    *_summary("differences.LABEL.TO.METRIC", "The metric of LABEL minus that of TO, seed by seed"),
    *_SEALED,
]

SWEEP = [
    _SCHEMA,
    _VERSION,
    _ENGINE,
    _BASED_ON,
    _SCENARIO,
    *_keys(
        **{
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
    *_SEALED,
]

ARCHIVE = [
    _SCHEMA,
    *_keys(
        kind="The kind of results, as text.",
        title="The title of the scenario or of the paper.",
        source="The paper or the RFC, if there is one.",
        command="The command line that wrote the results, if they have it.",
        head="The file by which the folder is known: `result.json`.",
        version="The version of aqmlab that made the runs; of runs in a store, with a hash of the engine.",
    ),
    *_keys(**{"engines.ENGINE": "The version of each engine that performed runs, if the results have it."}),
    *_keys(
        build="How the engine was built, if it was not built as usual.",
        code="A digest of the code of aqmlab that sealed it.",
        drawing="The versions of the libraries that draw figures, where it was sealed.",
        platform="The system, the machine and the version of Python where it was sealed.",
        date="The time of the results, UTC.",
        authors="The authors.",
        publisher="The publisher; empty without.",
        license="The licence: an SPDX identifier, or an address.",
        runs="The number of runs.",
    ),
    *_keys(**{"verdicts.VERDICT": "The number of claims, or of tested measures, with each verdict."}),
    *_SEALED,
]

ARCHIVED_RUNS = _keys(
    label="The discipline, the point and the experiment of the run.",
    scenario="Its scenario file in the archive.",
    seed="Its seed.",
    engine="The [engine](../guide/engines.md) that performed it.",
    key="Its key in the store, in hexadecimal; empty if the results have none.",
    result="The file or the folder of the archive that has its metrics.",
)

EVALUATION = [
    _SCHEMA,
    _VERSION,
    _ENGINE,
    *_keys(command="The command line."),
    Column("seconds", "s", "The time that the runs took."),
    *_keys(
        **{
            "labels": "The disciplines, the reference first.",
            "reference": "The discipline that the others are compared with.",
            "seeds": "The number of seeds.",
            "sections": "The sections of `--section`; empty for all.",
            "correction": "The procedure that bounds the errors of all tests: `holm` or `bh`.",
            "method": "Paragraphs on the tests.",
            "tested": "The number of tests.",
            "wanted": "The number of runs requested.",
            "done": "The number of finished runs.",
            "simulated": "The number of runs that were not in the store.",
            "failures": "The runs that failed, each with its reason.",
            "scorecard.label": "A discipline.",
            "scorecard.cells.section": "A section of the RFC in which something is tested.",
            "scorecard.cells.name": "Its name in links.",
            "scorecard.cells.counts.VERDICT": "How often each verdict was given.",
            "scorecard.cells.text": "These counts as signs.",
            "guidelines.section": "A section of the RFC.",
            "guidelines.name": "Its name in links.",
            "guidelines.title": "Its title.",
            "guidelines.heading": "Number and title.",
            "guidelines.requirement": "What it asks for.",
            "guidelines.about": "How it is done here.",
            "guidelines.departures": "What differs from the RFC.",
            "guidelines.figures.name": "A figure: the name of its files without the ending.",
            "guidelines.figures.text": "Its caption.",
            "guidelines.cases.name": "A case of the section; empty if it has only one.",
            "guidelines.cases.anchor": "Its name in links.",
            "guidelines.cases.scenario": "The shipped scenario from which it is made.",
            "guidelines.cases.file": "The scenario as it was run.",
            "guidelines.cases.judged": "Whether its measures are tested.",
            "guidelines.cases.against": "The case with which a discipline is compared instead of the reference.",
            "guidelines.cases.measures.name": "A measure.",
            "guidelines.cases.measures.unit": "Its unit.",
            "guidelines.cases.measures.better": "`more` or `less`, whichever is better.",
            "guidelines.cases.measures.least": "The least difference of interest, with its unit.",
            "guidelines.cases.rows.label": "A discipline.",
            "guidelines.cases.rows.anchor": "Its name in links.",
            "guidelines.cases.rows.cells.text": "The mean, or the difference from the reference, with its interval.",
            "guidelines.cases.rows.cells.sign": "The sign of the verdict.",
            "guidelines.cases.rows.cells.verdict": "The verdict.",
            "guidelines.cases.rows.cells.tip": "The numbers behind it.",
            "guidelines.cases.rows.commands": "The commands that repeat the numbers.",
            "guidelines.cases.left_out.reason": "The reason why disciplines have no runs.",
            "guidelines.cases.left_out.labels": "These disciplines.",
            "guidelines.cases.drawn": "Whether the section has figures.",
            "guidelines.table": "Null in a section that is no table.",
            "guidelines.table.columns": "Of a section that is a table: the heads of its columns.",
            "guidelines.table.rows": "The texts of each row.",
            "guidelines.table.code": "The places of the columns with names of parameters.",
        }
    ),
    _SEALED[-1],
]

SCORECARD = [
    *_keys(
        section="The section of the RFC.",
        case="The case; empty if the section has only one.",
        measure="The measure.",
        unit="Its unit, which `least`, `mean`, `ci95`, `reference` and the differences have.",
        better="`more` or `less`, whichever is better.",
        least="The least difference of interest.",
        aqm="The discipline.",
        runs="The number of its runs in which the measure is defined.",
        mean="The mean over them.",
        ci95="Half its 95 % confidence interval.",
        reference="The mean of what it is compared with.",
        difference="The mean difference, seed by seed.",
        difference_ci95="Half its 95 % confidence interval.",
        p="The p-value of its test.",
        p_adjusted="That value, corrected for all tests.",
        verdict="`better`, `worse`, `no difference shown`, `not tested`; empty where there is no test.",
        reason="The reason for a missing verdict.",
        command="The command that repeats the numbers.",
    ),
]

FINDINGS = [
    _SCHEMA,
    *_keys(
        **{
            "paper": "The name of the paper.",
            "title": "Its title.",
            "source": "Its authors, place and year.",
            "about": "What it says, in a few sentences.",
            "hero": "The discipline that it proposes.",
            "version": "The version of aqmlab that made it.",
            "engine": "The version of the engine.",
        }
    ),
    _ENGINE,
    *_keys(command="The command line."),
    Column("seconds", "s", "The time that the runs took; null if unknown."),
    *_keys(
        **{
            "seeds": "The seeds of the runs in the paper's own setting.",
            "quick": "Whether there were fewer points, with `--quick`.",
            "only": "The figures and tables of `--only`; empty for all.",
            "effort.…": "The options of the call: `seeds`, `most_seeds`, `quick`, `only`, `engine`.",
            "wanted": "The number of runs requested.",
            "done": "The number of finished runs.",
            "simulated": "The number of runs that were not in the store.",
            "interrupted": "Whether the user stopped it.",
            "counts.VERDICT": "How often each verdict was given on claims of the paper.",
            "counts_beyond.VERDICT": "How often on our own claims.",
            "items.kind": "`figure` or `table`.",
            "items.name": "Its name in `--only`.",
            "items.title": "Its title.",
            "items.caption": "Its caption.",
            "items.beyond": "Whether the paper lacks it.",
            "items.heading": "The paper's name for it.",
            "items.claims": "The claims that it shows.",
            "items.files": "Its files.",
            "items.small": "Of a figure: its small print.",
            "items.drawn_from": "Of a figure: a hash of what it shows.",
            "items.columns": "Of a table: the heads of its columns.",
            "items.rows": "Of a table: its cells.",
            "items.digits": "Of a table: the significant digits to show.",
            "left_out.name": "A figure or table without all its runs.",
            "left_out.heading": "The paper's name for it.",
            "left_out.title": "Its title.",
            "left_out.missing": "What it lacks.",
            "CLAIMS.claim": "The name of a claim.",
            "CLAIMS.text": "The claim.",
            "CLAIMS.quote": "The paper's words; empty for our own.",
            "CLAIMS.where": "Their place in the paper.",
            "CLAIMS.beyond": "Whether it is our own.",
            "CLAIMS.arithmetic": "Whether no run could contradict it.",
            "CLAIMS.tolerance": "The effect size below which nothing is claimed, with its reason.",
            "CLAIMS.verdict": "The verdict.",
            "CLAIMS.tentative": "Whether it is from one seed or from the fewest points.",
            "CLAIMS.seeds": "The number of seeds.",
            "CLAIMS.CHECKS.effect": "The number that the claim is about.",
            "CLAIMS.CHECKS.value": "Its value, in `unit`.",
            "CLAIMS.CHECKS.half": "Half its confidence interval; null without.",
            "CLAIMS.CHECKS.unit": "The unit.",
            "CLAIMS.CHECKS.least": "The least value with which the claim holds; null without.",
            "CLAIMS.CHECKS.most": "The greatest such value; null without.",
            "CLAIMS.CHECKS.wanted": "Both as a text.",
            "CLAIMS.CHECKS.outcome": "Whether it holds, fails or is open.",
            "CLAIMS.need": "The share of the checks that must hold.",
            "CLAIMS.why": "The reason for the verdict.",
            "CLAIMS.shown": "The figures and tables that show it.",
            "not_judged.claim": "The name of a claim without its runs.",
            "not_judged.text": "The claim.",
            "not_judged.where": "Its place in the paper.",
            "not_judged.missing": "What it lacks.",
            "sensitivity.variant": "Another setting; its verdicts are in `sensitivity.claims`.",
            "sensitivity.seeds": "The seeds of its runs.",
            "sensitivity.quick": "Whether it has fewer points.",
            "later.rivals": "Later disciplines, in place of the paper's competitors.",
            "later.seeds": "The seeds of their runs.",
            "later.quick": "Whether they have fewer points.",
            "measured.engines": "The engine of the simulation, and that of the measurement.",
            "measured.why": "What is measured, and by what means.",
            "measured.claims.claim": "The name of a measured claim.",
            "measured.claims.text": "The claim.",
            "measured.claims.where": "Its place in the paper.",
            "measured.claims.quote": "The paper's words.",
            "measured.claims.printed": "What the paper prints.",
            "measured.claims.rulings": "The verdict on either engine; null where runs are missing.",
            "choices.parameter": "A parameter that the paper does not state.",
            "choices.stated": "What the paper says of it.",
            "choices.ours": "Our value.",
            "choices.why": "The reason.",
            "calibration.why": "The reason for the chosen setting.",
            "calibration.printed.name": "A number that the paper prints.",
            "calibration.printed.value": "Its value, in `unit`.",
            "calibration.printed.unit": "The unit.",
            "calibration.printed.where": "Its place in the paper.",
            "calibration.tried.name": "A setting that was tried.",
            "calibration.tried.values": "Our value of each printed number.",
            "calibration.tried.halves": "Half the 95 % confidence interval of each.",
            "calibration.tried.has": "Whether we have each.",
            "calibration.tried.distance": "The root mean square of ln(ours / printed).",
            "calibration.tried.chosen": "Whether this setting was chosen.",
            "experiments.name": "The name of an experiment.",
            "experiments.title": "Its title.",
            "experiments.scenario": "Its scenario.",
            "experiments.seeds": "The seeds of its runs.",
            "experiments.wanted": "The number of its runs.",
            "experiments.done": "The number of finished ones.",
            "experiments.varies.PATH": "The values of each parameter that varies.",
            "experiments.first": "The label of its first discipline.",
            "experiments.toml": "The scenario with that discipline, with every default.",
            "experiments.aqms.LABEL.…": "Each discipline, with all its parameters.",
            "errors.NAME": "What could not be drawn or judged, and why.",
            "failures": "The runs that failed, each with its reason.",
            "elsewhere": "Where later work has the same question.",
            "made_from": "A hash of all from which the report was made.",
        }
    ),
    _SEALED[-1],
]

FIGURE = _keys(
    panel="The panel of the figure; empty if it has only one.",
    curve="The curve.",
    x="The place on the axis, in its unit.",
    category="The place on an axis of names; null on one of numbers.",
    y="The value, in the unit of its axis.",
    low="The lower end of its 95 % interval; null without.",
    high="The upper end.",
)
