"""How a paper's findings are put in words and numbers."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence
from typing import Any

from aqmlab.papers.describe.paper import Item, Table
from aqmlab.papers.describe.verdict import Verdict
from aqmlab.papers.run.evidence import Evidence
from aqmlab.text import span

FINDINGS = "findings.json"
"""The file of the document, which is written last: the sign that all other files are there."""


def files(item: Item) -> list[str]:
    """Name the files that a figure or table is written to.

    Parameters
    ----------
    item : Figure or Table
        Which.

    Returns
    -------
    list of str
        The images of a figure, and the data.
    """
    forms = ("parquet", "csv") if isinstance(item, Table) else ("svg", "png", "parquet", "csv")
    return [f"{item.name}.{form}" for form in forms]


def heading(item: Item) -> str:
    """Call a figure or table what the paper calls it.

    Parameters
    ----------
    item : Figure or Table
        Which.

    Returns
    -------
    str
        ``Figure 7``, ``Table 3``; of what has no number in the paper its name.
    """
    match = re.fullmatch(r"(fig|table)(\d+\w*)", item.name)
    return item.name if match is None else f"{'Figure' if match[1] == 'fig' else 'Table'} {match[2]}"


def seeds(needs: Sequence[str], evidence: Evidence) -> str:
    """Name the seeds of some experiments.

    Parameters
    ----------
    needs : sequence of str
        The experiments.
    evidence : Evidence
        Their runs.

    Returns
    -------
    str
        ``seeds 1 to 5``; nothing if nothing was run.
    """
    every = sorted({seed for name in needs for seed in evidence[name].study.seeds})
    return f"seed{'s' if len(every) > 1 else ''} {span(tuple(every))}" if every else ""


def number(value: object, digits: int = 4) -> str:
    """Write a cell of a table.

    Parameters
    ----------
    value : object
        A number, a text, or none.
    digits : int
        How many significant digits a number that is not whole has.

    Returns
    -------
    str
        ``0.01235``, ``123457``; a dash for none and not-a-number.
    """
    if value is None or (isinstance(value, float) and math.isnan(value)):
        return "\N{EN DASH}"
    if isinstance(value, bool):
        return "yes" if value else "no"
    if not isinstance(value, float):
        return str(value)
    # No exponent where people write none.
    return f"{value:.0f}" if 10**digits <= abs(value) < 1e12 else f"{value:.{digits}g}"


def estimate(check: Mapping[str, Any]) -> str:
    """Write the number of a check with its interval.

    Parameters
    ----------
    check : mapping
        As `aqmlab.papers.judge.findings.Ruling.document` has it; none stands for what is not finite.

    Returns
    -------
    str
        ``12.3 ± 0.45 packets``.
    """
    if check["value"] is None:
        return "no value"
    half = f" ± {number(check['ci95'], 2)}" if check["ci95"] else ""
    return f"{number(check['value'])}{half}" + (f" {check['unit']}" if check["unit"] else "")


def told(check: Mapping[str, Any]) -> str:
    """Write a check in a line.

    Parameters
    ----------
    check : mapping
        As for `estimate`.

    Returns
    -------
    str
        What it is, its number, what is claimed, and the outcome.
    """
    return f"{check['effect']}: {estimate(check)} (claimed: {check['wanted']}): {check['outcome']}"


def undecided(claim: Mapping[str, Any]) -> str:
    """Tell a claim that is tested and stays open from one that cannot be tested: both have one verdict.

    Parameters
    ----------
    claim : mapping
        As in `aqmlab.papers.show.document.document`.

    Returns
    -------
    str
        ``undecided with 5 seeds``; nothing if it is decided, or has no number.
    """
    if claim["verdict"] != Verdict.NOT_TESTABLE or not claim["checks"]:
        return ""
    if all(check["value"] is None for check in claim["checks"]):
        return "undecided: no run gives a number"
    count = claim["seeds"]
    return f"undecided with {count} seed{'s' if count != 1 else ''}" if count else "undecided"


def lasted(seconds: float) -> str:
    """Write how long something took.

    Parameters
    ----------
    seconds : float
        How long, in s.

    Returns
    -------
    str
        ``4.2 s``, ``3 min 20 s``.
    """
    minutes, rest = divmod(round(seconds), 60)
    return f"{minutes} min {rest} s" if minutes else f"{seconds:.1f} s"


PRINTED, SPREAD = " (paper)", " ±"
"""How the names of columns end that are printed in the paper, and that are half of an interval."""


def table(columns: Sequence[str], rows: Sequence[Sequence[object]], digits: int) -> tuple[list[str], list[list[str]]]:
    """Lay out a table: a number and its interval go in one cell.

    Parameters
    ----------
    columns : sequence of str
        The names of its columns.
    rows : sequence of sequences
        Its cells.
    digits : int
        Significant digits of numbers.

    Returns
    -------
    tuple
        The heads of the columns, and the texts of each row.
    """
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
