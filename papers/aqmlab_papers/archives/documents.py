"""The part of the page on files that is on evaluations and reproductions: the keys and columns of their files."""

from __future__ import annotations

from aqmlab.reports.documents import ENGINE, SCHEMA, SEALED, VERSION, keys
from aqmlab.reports.pages import key_table
from aqmlab.results.columns import Column

PLACES = {
    "CLAIMS": ("claims", "later.claims", "sensitivity.claims", "measured.claims.rulings"),
    "CHECKS": ("checks", "beside"),
}
"""Words in capitals that stand for several keys."""

EVALUATION = [
    SCHEMA,
    VERSION,
    ENGINE,
    *keys({"command": "The command line."}),
    Column("seconds", "s", "The time that the runs took."),
    *keys(
        {
            "rfc": "The number of the RFC if it is not 7928: 9743, by which senders are compared.",
            "labels": "The disciplines or the senders, the reference first.",
            "reference": "That with which the others are compared.",
            "seeds": "The number of seeds.",
            "sections": "The sections of `--section`; empty for all.",
            "correction": "The procedure that bounds the errors of all tests: `holm` or `bh`.",
            "method": "Paragraphs on the tests.",
            "tested": "The number of tests.",
            "wanted": "The number of runs requested.",
            "done": "The number of finished runs.",
            "simulated": "The number of runs that were not in the store.",
            "failures": "The runs that failed, each with its reason.",
            "scorecard.label": "A discipline or a sender.",
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
            "guidelines.open": "What the section asks for that is not done, with the reason; only where there is some.",
            "guidelines.figures.name": "A figure: the name of its files without the ending.",
            "guidelines.figures.text": "Its caption.",
            "guidelines.cases.name": "A case of the section; empty if it has only one.",
            "guidelines.cases.anchor": "Its name in links.",
            "guidelines.cases.scenario": "The shipped scenario from which it is made.",
            "guidelines.cases.file": "The scenario as it was run.",
            "guidelines.cases.judged": "Whether its measures are tested.",
            "guidelines.cases.against": "The case with which each is compared with itself, not with the reference.",
            "guidelines.cases.measures.name": "A measure.",
            "guidelines.cases.measures.unit": "Its unit.",
            "guidelines.cases.measures.better": "`more` or `less`, whichever is better.",
            "guidelines.cases.measures.least": "The least difference of interest, with its unit.",
            "guidelines.cases.measures.bound": "The most that the RFC allows, with its unit; only where it says so.",
            "guidelines.cases.rows.label": "A discipline or a sender.",
            "guidelines.cases.rows.anchor": "Its name in links.",
            "guidelines.cases.rows.cells.text": "The mean, or the difference from the reference, with its interval.",
            "guidelines.cases.rows.cells.sign": "The sign of the verdict.",
            "guidelines.cases.rows.cells.verdict": "The verdict.",
            "guidelines.cases.rows.cells.tip": "The numbers behind it.",
            "guidelines.cases.rows.cells.beyond": "Where there is a bound: the mean, if it is beyond; otherwise empty.",
            "guidelines.cases.rows.commands": "The commands that repeat the numbers.",
            "guidelines.cases.left_out.reason": "The reason why some have no runs.",
            "guidelines.cases.left_out.labels": "These.",
            "guidelines.cases.drawn": "Whether the section has figures.",
            "guidelines.table": "Null in a section that is no table.",
            "guidelines.table.columns": "Of a section that is a table: the heads of its columns.",
            "guidelines.table.rows": "The texts of each row.",
            "guidelines.table.code": "The places of the columns with names of parameters.",
        }
    ),
    SEALED[-1],
]

SCORECARD = [
    *keys(
        {
            "section": "The section of the RFC.",
            "case": "The case; empty if the section has only one.",
            "measure": "The measure.",
            "unit": "Its unit, which `least`, `mean`, `ci95`, `reference` and the differences have.",
            "better": "`more` or `less`, whichever is better.",
            "least": "The least difference of interest.",
            "bound": "The most that the RFC allows; a column of RFC 9743.",
            "aqm": "The discipline; by RFC 7928.",
            "tcp": "The sender; by RFC 9743.",
            "runs": "The number of its runs in which the measure is defined.",
            "mean": "The mean over them.",
            "ci95": "Half its 95 % confidence interval.",
            "reference": "The mean of what it is compared with.",
            "difference": "The mean difference, seed by seed.",
            "difference_ci95": "Half its 95 % confidence interval.",
            "p": "The p-value of its test.",
            "p_adjusted": "That value, corrected for all tests.",
            "verdict": "`better`, `worse`, `no difference shown`, `not tested`; empty where there is no test.",
            "reason": "The reason for a missing verdict.",
            "command": "The command that repeats the numbers.",
        }
    ),
]

FINDINGS = [
    SCHEMA,
    *keys(
        {
            "paper": "The name of the paper.",
            "title": "Its title.",
            "source": "Its authors, place and year.",
            "about": "What it says, in a few sentences.",
            "hero": "The discipline that it proposes.",
            "version": "The version of aqmlab that made it.",
            "engine": "The version of the engine.",
        }
    ),
    ENGINE,
    *keys({"command": "The command line."}),
    Column("seconds", "s", "The time that the runs took; null if unknown."),
    *keys(
        {
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
            "CLAIMS.CHECKS.counts": "The smallest difference that counts, if one is claimed, or null.",
            "CLAIMS.CHECKS.seeds": "The number of seeds that have a value, or null if it is exact.",
            "CLAIMS.CHECKS.wanted": "The bounds as a text.",
            "CLAIMS.CHECKS.outcome": "Whether it holds, is negligible, fails or is open.",
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
            "experiments.more.aqm": "The label of a discipline that has more seeds at some point.",
            "experiments.more.point": "The number of the point, from 0.",
            "experiments.more.seeds": "The number of its seeds.",
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
    SEALED[-1],
]

FIGURE = keys(
    {
        "panel": "The panel of the figure; empty if it has only one.",
        "curve": "The curve.",
        "x": "The place on the axis, in its unit.",
        "category": "The place on an axis of names; null on one of numbers.",
        "y": "The value, in the unit of its axis.",
        "low": "The lower end of its 95 % interval; null without.",
        "high": "The upper end.",
    }
)

_EVALUATION = """\
## Evaluation

`evaluation.json`. The content of the report, without its images.

{evaluation}

## Scorecard

`scorecard.csv`. A row for each measure of each case and discipline or sender.

{scorecard}"""

_REPRODUCTION = """\
## Reproduction

`findings.json`. The content of the report, without its images. {places}

{findings}

## Data of a figure

`NAME.parquet` and `NAME.csv`. The data of each figure. Those of a table have its own columns, which `findings.json`
lists.

{figure}"""


def evaluation() -> str:
    """Return the sections on evaluations as Markdown."""
    return _EVALUATION.format(evaluation=key_table(EVALUATION), scorecard=key_table(SCORECARD))


def reproduction() -> str:
    """Return the sections on reproductions as Markdown."""
    places = (f"`{word}` stands for {' or '.join(f'`{key}`' for key in several)}." for word, several in PLACES.items())
    return _REPRODUCTION.format(places=" ".join(places), findings=key_table(FINDINGS), figure=key_table(FIGURE))
