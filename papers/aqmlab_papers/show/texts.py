"""Text for a paper's findings: names, numbers, durations, tables."""

import math
import re
from collections.abc import Mapping, Sequence
from typing import Any

from aqmlab import kinds
from aqmlab.text import span
from aqmlab_papers.describe.check import LEVEL, LOOKS, Outcome
from aqmlab_papers.describe.paper import Item, Table
from aqmlab_papers.describe.verdict import Verdict
from aqmlab_papers.run.evidence import Evidence
from aqmlab_papers.run.sweep import FEW_SEEDS

FINDINGS = kinds.FINDINGS.head
"""The file of the document. It is written last: its presence means that all other files are complete."""


MEANING = (
    "A claim has one part or more, each a number with bounds: for each competitor, load, moment, direction or measure "
    "of which the sentence speaks. Readings of ours, such as another form of a formula, are beside the parts and "
    "decide nothing, unless the paper leaves no choice. A part holds if its whole confidence interval satisfies the "
    "claim, and fails if none of it does. If a difference is claimed, it is negligible if the whole interval is "
    "smaller than what counts, and fails if the whole interval has the other sign. Otherwise the part is open: its "
    "runs are then repeated with twice as many seeds, and once more. A claim is reproduced if all its parts hold (or "
    "the share that the paper's words ask for), and partly reproduced if only some do. If none holds, it is "
    "reproduced but negligible if none fails and most of the signs are the claimed one, and otherwise contradicted. "
    "It is undecided while open parts could change that. It is not testable if no run could decide it, or if a "
    "setting is fitted to its number and comes near: then that it does is no test, while that no setting comes near "
    "is a result. Differences are taken seed by seed; what counts is stated with each claim. A ± in reasons, tables "
    f"and figures is of 95 %; the interval of a part, half of which stands behind its ±, is Student's of "
    f"{100 * LEVEL:.2f} %, with "
    f"which {LOOKS} looks at a part, with 5, 10 and 20 seeds, err in 5 % of cases. These errors do not add up where "
    "all parts must hold or all fail; that a true claim of many parts is called partly reproduced is more likely. "
    "Each verdict rests on all seeds that its runs have, also those run for other claims. A verdict from one seed or "
    "from the fewest points is tentative; a claim that no run could contradict is arithmetic, and counted apart. A "
    "claim beyond the paper is ours."
)
"""What the verdicts mean."""

ROBUST = (
    "A verdict, a contradiction too, is robust in as many of the other settings of the sensitivity table (7 of 9) as "
    f"come to it with {FEW_SEEDS} seeds and fewest points; settings in which the claim is undecided, or which change "
    "none of its numbers, are not counted. Where the chosen setting, with these seeds and points, comes to another "
    "verdict than with all of its runs, nothing is counted. The settings differ in what the paper does not state. The "
    "report has the verdict in each."
)
"""What the column of robust verdicts means."""


def files(item: Item) -> list[str]:
    """List the files of a figure (images and data) or a table (data)."""
    forms = ("parquet", "csv") if isinstance(item, Table) else ("svg", "png", "parquet", "csv")
    return [f"{item.name}.{form}" for form in forms]


def heading(item: Item) -> str:
    """Return the paper's name for a figure or table: ``Figure 7``, ``Table 3``; without a number, the item's name."""
    match = re.fullmatch(r"(fig|table)(\d+\w*)", item.name)
    return item.name if match is None else f"{'Figure' if match[1] == 'fig' else 'Table'} {match[2]}"


def seeds(needs: Sequence[str], evidence: Evidence) -> str:
    """Describe the seeds of some experiments, ``seeds 1 to 5``; empty if there are none."""
    every = sorted({seed for name in needs for seed in evidence[name].seeds})
    return f"seed{'s' if len(every) > 1 else ''} {span(tuple(every))}" if every else ""


def number(value: object, digits: int = 4) -> str:
    """Format a table cell with ``digits`` significant digits: ``0.01235``, ``123457``; a dash for None and NaN."""
    if value is None or (isinstance(value, float) and math.isnan(value)):
        return "\N{EN DASH}"
    if isinstance(value, bool):
        return "yes" if value else "no"
    if not isinstance(value, float):
        return str(value)
    # The format g alone would write an exponent here.
    return f"{value:.0f}" if 10**digits <= abs(value) < 1e12 else f"{value:.{digits}g}"


def estimate(check: Mapping[str, Any]) -> str:
    """Format the number of a check with its interval and unit: ``12.3 ± 0.45 packets``.

    The check is as in `aqmlab_papers.judge.findings.Ruling.document`, where None stands for a value that is not finite.
    """
    if check["value"] is None:
        return "no value"
    value, half = check["value"], check["half"]
    text = number(value)
    if half and math.isfinite(half):
        # The interval has two digits, and the value as many places: more are noise.
        places = 1 - math.floor(math.log10(half))
        text = " ± ".join(f"{round(one, places):.{max(places, 0)}f}" for one in (value, half))
    return text + (f" {check['unit']}" if check["unit"] else "")


def check_line(check: Mapping[str, Any]) -> str:
    """Format a check in one line: its name, its number, the bounds, and the outcome."""
    return f"{check['effect']}: {estimate(check)} (claimed: {check['wanted']}): {check['outcome']}"


def certainty(claim: Mapping[str, Any]) -> str:
    """Describe how sure a verdict is: ``with 5 to 20 seeds``, ``tentative, with 1 seed``, ``arithmetic``, or nothing.

    The claim is as in `aqmlab_papers.show.document.document`.
    """
    if claim["arithmetic"]:
        return "arithmetic"
    if claim["verdict"] == Verdict.UNDECIDED and all(check["value"] is None for check in claim["checks"]):
        return "no run gives a number"
    parts = ["tentative"] * claim["tentative"]
    known = {check.get("seeds") for check in claim["checks"]} - {None} or {claim["seeds"]} - {None}
    if known and claim["checks"]:
        many = "s" if known != {1} else ""
        parts.append(f"with {' to '.join(map(str, sorted({min(known), max(known)})))} seed{many}")
    return ", ".join(parts)


def decisive(claim: Mapping[str, Any]) -> str:
    """Describe a check on which the verdict rests: the first that fails, is open or holds, whichever decides it.

    The text has the number with half its interval, the bounds, the number of checks with the same outcome, and the
    share that must hold, if it is not all; it is empty if there are no checks. The claim is as in
    `aqmlab_papers.show.document.document`.
    """
    checks = claim["checks"]
    first = _DECIDES.get(claim["verdict"], (Outcome.FAILS, Outcome.NEGLIGIBLE))
    decides = next((one for one in first if any(check["outcome"] == one for check in checks)), None)
    alike = [check for check in checks if check["outcome"] == decides]
    if not alike:
        return ""
    one = alike[0]
    share = f"; {100 * claim['need']:.0f} % must" if claim.get("need", 1.0) < 1 else ""
    many = f" ({len(alike)} of {len(checks)} checks {_SAID[one['outcome']]}{share})" if len(checks) > 1 else ""
    return f"{one['effect']}: {estimate(one)}, claimed {one['wanted']}{many}"


_DECIDES = {
    Verdict.REPRODUCED: (Outcome.HOLDS,),
    Verdict.UNDECIDED: (Outcome.OPEN,),
    Verdict.NEGLIGIBLE: (Outcome.NEGLIGIBLE,),
}
_SAID = {
    Outcome.FAILS: "fail",
    Outcome.NEGLIGIBLE: "are negligible",
    Outcome.OPEN: "are open",
    Outcome.HOLDS: "hold",
}


def depends(verdicts: Sequence[str | None]) -> bool | None:
    """Decide whether a verdict depends on the setting; None if that is not known.

    An undecided verdict differs from no other; None stands for a setting in which the claim was not judged.
    """
    decided = {verdict for verdict in verdicts if verdict is not None and verdict != Verdict.UNDECIDED}
    if len(decided) > 1:
        return True
    return False if decided and decided.issuperset(verdicts) else None


def repeated(found: Mapping[str, Any]) -> str:
    """Describe the seeds of a document: ``seeds 1 to 5``, ``seeds 1 to 5, where undecided to 20``."""
    every, first = found["seeds"], found["effort"]["seeds"]
    if not every:
        return "nothing drawn by chance"
    text = f"seed{'s' if len(every[:first]) > 1 else ''} {span(tuple(every[:first]))}"
    return text + (f", where undecided to {every[-1]}" if len(every) > first else "")


def distance(one: Mapping[str, Any]) -> str:
    """Format the distance of a setting of the calibration, with the number of printed numbers that the setting has."""
    known = sum(one["has"])
    text = "\N{INFINITY}" if one["distance"] is None else number(one["distance"], 3)
    return text + (f" ({known} of {len(one['has'])})" if known < len(one["has"]) else "")


def lasted(seconds: float) -> str:
    """Format a duration in seconds: ``4.2 s``, ``3 min 20 s``."""
    minutes, rest = divmod(round(seconds), 60)
    return f"{minutes} min {rest} s" if minutes else f"{seconds:.1f} s"


PRINTED, SPREAD = " (paper)", " ±"
"""The endings of the names of columns with values printed in the paper, and with half the width of an interval."""


def table(columns: Sequence[str], rows: Sequence[Sequence[object]], digits: int) -> tuple[list[str], list[list[str]]]:
    """Return the column heads and the cells of a table as text; a number and its interval share one cell."""
    spreads = {name: columns.index(name + SPREAD) for name in columns if name + SPREAD in columns}
    shown = [index for index, name in enumerate(columns) if index not in spreads.values()]
    laid = []
    for row in rows:
        cells = []
        for index in shown:
            half = row[spreads[columns[index]]] if columns[index] in spreads else None
            more = f" ± {number(half, 2)}" if isinstance(half, int | float) and math.isfinite(half) else ""
            cells.append(number(row[index], digits) + more)
        laid.append(cells)
    return [columns[index] for index in shown], laid
