"""Plain text for people: tables, broken labels, lists of seeds; and the texts of a document."""

import re
from collections.abc import Iterator, Mapping, Sequence


def printable(text: str) -> str:
    """Escape the characters that are not printable: a terminal shows the text and does nothing else."""
    return "".join(c if c.isprintable() else c.encode("unicode_escape").decode() for c in text)


def texts(value: object, key: str = "") -> Iterator[tuple[str, str]]:
    """Yield every text in tables and lists, with the key of the innermost table that has it."""
    if isinstance(value, str):
        yield key, value
    elif isinstance(value, Mapping):
        for name, inside in value.items():
            yield from texts(inside, name)
    elif isinstance(value, list | tuple):
        for inside in value:
            yield from texts(inside, key)


def wrapped(label: str, width: int) -> list[str]:
    """Break a label after commas and colons into printable lines of at most `width` characters.

    A part without a comma or colon may be longer.
    """
    lines = [""]
    for part in re.findall(r"[^,:]*[,:]?", printable(label)):
        if lines[-1] and len(lines[-1] + part) > width:
            lines.append("")
        lines[-1] += part
    return lines


_PREFIXES = {
    "s": {"": 1.0, "m": 1e-3, "µ": 1e-6},
    "bit/s": {"G": 1e9, "M": 1e6, "k": 1e3, "": 1.0},
    "B": {"G": 1e9, "M": 1e6, "k": 1e3, "": 1.0},
}


def prefixed(unit: str, greatest: float) -> tuple[str, float]:
    """Return a unit with the prefix that suits values up to `greatest`, and the factor that converts to it."""
    prefixes = _PREFIXES.get(unit, {"": 1.0})
    prefix = next((prefix for prefix, size in prefixes.items() if greatest >= size), "")
    return f"{prefix}{unit}", 1 / prefixes[prefix]


def columns(rows: Sequence[Sequence[str]]) -> str:
    """Lay out a table as plain text, one line per row, with the first column flush left and the others flush right."""
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    lines = (
        "  ".join(
            [row[0].ljust(widths[0]), *(cell.rjust(width) for cell, width in zip(row[1:], widths[1:], strict=True))]
        )
        for row in rows
    )
    return "\n".join(line.rstrip() for line in lines)


def span(seeds: tuple[int, ...]) -> str:
    """Write seeds as ``1 to 5`` if there are at least three and they are consecutive, otherwise list them."""
    if len(seeds) > 2 and list(seeds) == list(range(seeds[0], seeds[0] + len(seeds))):
        return f"{seeds[0]} to {seeds[-1]}"
    return ", ".join(map(str, seeds))
