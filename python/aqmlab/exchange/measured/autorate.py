"""Logs of cake-autorate: the rates of all traffic of a device in both directions, and the round trips of its pings.

Its header line gives the names of columns; a DATA line is of one answer to a ping. The rates are those of a shaper that
the program changes: the log has no transfer of which the link could be calibrated.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from aqmlab.exchange.measured.measurement import Failed, Measured, pings

HEADS = ("DATA_HEADER;", "LOAD_HEADER;", "SUMMARY_HEADER;", "REFLECTOR_HEADER;")
"""The first words of the lines that name columns."""


def is_log(text: str) -> bool:
    """Return whether a text is such a log: a line with names precedes the others."""
    return any(line.startswith(HEADS) for line in text.splitlines()[:200])


def read(name: str, text: str) -> Iterator[Measured]:
    """Read a log: the rates of each direction, and the round trips."""
    names: list[str] = []
    rows: list[tuple[float, float, float, float]] = []
    for number, line in enumerate(text.splitlines(), 1):
        fields = [field.strip() for field in line.split(";")]
        if fields[0] == "DATA_HEADER":
            names = fields
        elif fields[0] == "DATA" and names:
            row = dict(zip(names, fields, strict=False))
            try:
                rows.append(
                    (
                        float(row["LOG_TIMESTAMP"]),
                        float(row["DL_ACHIEVED_RATE_KBPS"]),
                        float(row["UL_ACHIEVED_RATE_KBPS"]),
                        # Half of a round trip each, or by two clocks, whose difference the sum has not.
                        float(row["DL_OWD_US"]) + float(row["UL_OWD_US"]),
                    )
                )
            except (KeyError, ValueError) as error:
                raise Failed(f"line {number}: {type(error).__name__} {error}: not a line of cake-autorate") from None
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
