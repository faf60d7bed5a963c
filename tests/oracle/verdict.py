"""What a comparison finds: checks, a table of them, and whether enough agree."""

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass

WORST = 3.0
"""Tolerances that no difference may exceed."""


@dataclass(frozen=True)
class Check:
    """One metric of one row."""

    row: str
    metric: str
    theirs: float
    ours: float
    tolerance: float

    @property
    def difference(self) -> float:
        return self.ours - self.theirs

    @property
    def units(self) -> float:
        """The difference in tolerances."""
        if not self.difference:
            return 0.0
        return abs(self.difference) / self.tolerance if self.tolerance else float("inf")

    @property
    def passed(self) -> bool:
        return self.units <= 1


def enough(found: Sequence[Check], fewest: float, known: Collection[tuple[str, str]] = ()) -> bool:
    """Whether enough passed and none is far off; `known` names those of which fidelity.md says what is known."""
    return share(found) >= fewest and all((check.row, check.metric) in known for check in far(found))


def share(found: Sequence[Check]) -> float:
    """The part of the checks that passed."""
    return sum(check.passed for check in found) / len(found) if found else 0.0


def worst(found: Sequence[Check]) -> list[Check]:
    return sorted(found, key=lambda check: -check.units)


def far(found: Sequence[Check]) -> list[Check]:
    return [check for check in worst(found) if check.units > WORST]


def table(found: Sequence[Check], reference: str) -> str:
    """A line for each check; `reference` is the name of the program that is compared with."""
    columns: Mapping[str, Callable[[Check], str]] = {
        "row": lambda check: check.row,
        "metric": lambda check: check.metric,
        reference: lambda check: f"{check.theirs:.5g}",
        "ours": lambda check: f"{check.ours:.5g}",
        "difference": lambda check: f"{check.difference:+.3g}",
        "tolerance": lambda check: f"{check.tolerance:.3g}",
        "verdict": lambda check: "ok" if check.passed else f"off: {check.units:.1f} tolerances",
    }
    return aligned(
        [columns, *([show(check) for show in columns.values()] for check in found)], {"row", "metric", "verdict"}
    )


def aligned(lines: Sequence[Sequence[str] | Mapping[str, object]], left: set[str]) -> str:
    """Lines of cells as columns, under a first line of names; `left` names those that begin on the left."""
    cells = [list(line) for line in lines]
    widths = [max(map(len, column)) for column in zip(*cells, strict=True)]
    return "\n".join(
        "  ".join(
            cell.ljust(width) if name in left else cell.rjust(width)
            for cell, width, name in zip(line, widths, cells[0], strict=True)
        ).rstrip()
        for line in cells
    )


def totals(found: Sequence[Check], fewest: float, known: Collection[tuple[str, str]] = ()) -> str:
    passed = sum(check.passed for check in found)
    beyond = [
        short(check) + (" (see docs/internals/fidelity.md)" if (check.row, check.metric) in known else "")
        for check in far(found)
    ]
    return "\n".join(
        [
            f"\n{passed} of {len(found)} checks passed: {share(found):.1%}; at least {fewest:.0%} have to",
            "worst five, in tolerances: " + ", ".join(map(short, worst(found)[:5])),
            f"off by more than {WORST:g} tolerances: " + (", ".join(beyond) or "none"),
        ]
    )


def short(check: Check) -> str:
    return f"{check.row} {check.metric} {check.units:.2f}"
