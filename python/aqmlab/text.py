"""Plain text for people: columns, labels in lines, names of seeds."""

import re
from collections.abc import Sequence


def printable(text: str) -> str:
    """Write a text so that a terminal shows it and does nothing else.

    Parameters
    ----------
    text : str
        Any text.

    Returns
    -------
    str
        The text, with control characters as escapes.
    """
    return "".join(c if c.isprintable() else c.encode("unicode_escape").decode() for c in text)


def wrapped(label: str, width: int) -> list[str]:
    """Break a label after commas and colons.

    Parameters
    ----------
    label : str
        The label.
    width : int
        How many characters a line may have, if what is between commas is not longer.

    Returns
    -------
    list of str
        Its lines, printable.
    """
    lines = [""]
    for part in re.findall(r"[^,:]*[,:]?", printable(label)):
        if lines[-1] and len(lines[-1] + part) > width:
            lines.append("")
        lines[-1] += part
    return lines


def columns(rows: Sequence[Sequence[str]]) -> str:
    """Lay out a table as plain text, the first column to the left, the others to the right.

    Parameters
    ----------
    rows : sequence of sequences of str
        The cells.

    Returns
    -------
    str
        One line a row.
    """
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    lines = (
        "  ".join(
            [row[0].ljust(widths[0]), *(cell.rjust(width) for cell, width in zip(row[1:], widths[1:], strict=True))]
        )
        for row in rows
    )
    return "\n".join(line.rstrip() for line in lines)


def span(seeds: tuple[int, ...]) -> str:
    """Name seeds.

    Parameters
    ----------
    seeds : tuple of int
        The seeds.

    Returns
    -------
    str
        ``1 to 5`` where they follow on each other, else each.
    """
    if len(seeds) > 2 and list(seeds) == list(range(seeds[0], seeds[0] + len(seeds))):
        return f"{seeds[0]} to {seeds[-1]}"
    return ", ".join(map(str, seeds))
