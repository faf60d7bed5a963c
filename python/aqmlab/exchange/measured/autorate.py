"""Logs of cake-autorate: the rates of all traffic of a device in both directions, and the round trips of its pings.

Its header line gives the names of columns; a DATA line is of one answer to a ping. The rates are those of a shaper that
the program changes: the log has no transfer of which the link could be calibrated.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from math import isfinite

from aqmlab.exchange.measured.measurement import Failed, Measured, pings

COLUMNS = ("LOG_TIMESTAMP", "DL_ACHIEVED_RATE_KBPS", "UL_ACHIEVED_RATE_KBPS", "DL_OWD_US", "UL_OWD_US")
"""Those that are read."""

HEADS = ("DATA_HEADER;", "LOAD_HEADER;", "SUMMARY_HEADER;", "REFLECTOR_HEADER;")
"""The first words of the lines that name columns."""


def is_log(text: str) -> bool:
    """Return whether a text is such a log: a line with names precedes the others."""
    return any(line.startswith(HEADS) for line in text.splitlines()[:200])


def read(name: str, text: str) -> Iterator[Measured]:
    """Read a log: the rates of each direction, and the round trips."""
    names: list[str] = []
    rows: list[tuple[float, float, float, float]] = []
    lines = text.splitlines()
    for number, line in enumerate(lines, 1):
        fields = [field.strip() for field in line.split(";")]
        if fields[0] == "DATA_HEADER":
            names = fields
        elif fields[0] == "DATA" and names:
            if number == len(lines) and len(fields) < len(names):
                break  # as long as the program writes it
            row = dict(zip(names, fields, strict=False))
            t, down, up, *ways = (_number(row, column, number) for column in COLUMNS)
            # Half of a round trip each, or by two clocks, whose difference the sum has not.
            rows.append((t, down, up, sum(ways)))
    if not rows:
        raise Failed("no DATA line in this log of cake-autorate: set output_processing_stats=1 and record it again")
    rows.sort()
    began = rows[0][0]
    for place, way in ((1, "download"), (2, "upload")):
        rates = [(row[0] - began, 1e3 * row[place]) for row in rows]
        mean = sum(rate for _, rate in rates) / len(rates)
        yield Measured(f"{name} ({way}, all traffic)", {"throughput": mean}, rates, began=began)
    found = pings(f"{name} (pings)", [(row[0] - began, row[3] / 1e6) for row in rows], [], None)
    yield replace(found, lost=None, began=began)


def _number(row: Mapping[str, str], column: str, line: int) -> float:
    if column not in row:
        raise Failed(f"line {line}: no {column}, which its DATA_HEADER has to name: record it again")
    try:
        value = float(row[column])
    except ValueError:
        value = float("nan")
    if not isfinite(value):
        raise Failed(f"line {line}: {column} is {row[column]!r}, no number: remove the line, or record it again")
    return value
