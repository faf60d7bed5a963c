"""`make oracle`: run, compare, print, and fail if too little agrees."""

import argparse
import os
import shutil
import sys
from collections.abc import Callable, Mapping, Sequence
from fnmatch import fnmatch

from aqmlab.terminal import progress_bar
from oracle import ours, reference
from oracle.check import FEWEST, WORST, Check, checks
from oracle.dumbbell import DEFAULTS

LIVE = reference.CLEAN | {"sample": "0.005"}


def main() -> int:
    parser = argparse.ArgumentParser(prog="make oracle", description=__doc__)
    parser.add_argument("--rows", help="patterns of rows' names, separated by spaces; default: all of reference.csv")
    parser.add_argument("--live", nargs="+", metavar="KEY=VALUE", help="run ns-2 too, with these keys of dumbbell.tcl")
    parser.add_argument("--seeds", type=int, default=5, help="how many seeds of ours, and of ns-2 if it runs")
    given = parser.parse_args()
    if given.live:
        rows = [_live(given.live, given.seeds)]
    elif given.rows:
        every = reference.stored() + reference.staggered()
        rows = [row for row in every if any(fnmatch(row.name, pattern) for pattern in given.rows.split())]
        if not rows:
            parser.error(f"--rows {given.rows}: no row of reference.csv or staggered.csv is called so")
    else:
        rows = reference.stored()
    with progress_bar() as progress:
        metrics, refused = ours.run(rows, given.seeds, progress)
    found = [check for row in rows if row.name in metrics for check in checks(row, metrics[row.name])]
    print(table(found))
    for name, reason in refused.items():
        print(f"not yet: {name}: {reason}")
    print(totals(found))
    return 0 if found and enough(found) else 1


def _live(words: Sequence[str], seeds: int) -> reference.Row:
    if not shutil.which("ns"):
        sys.exit("ns is missing: install ns-2 (Debian: apt install ns2 tcl)")
    keys = dict(LIVE)
    for word in words:
        key, equals, value = word.partition("=")
        if not equals or key not in DEFAULTS:
            sys.exit(f"{word}: must be KEY=VALUE with a key of dumbbell.tcl: {', '.join(sorted(DEFAULTS))}")
        keys[key] = value
    with progress_bar() as progress:
        return reference.live(" ".join(words), keys, range(1, seeds + 1), os.cpu_count() or 1, progress)


def enough(found: Sequence[Check]) -> bool:
    return _share(found) >= FEWEST and all(check.units <= WORST for check in found)


def table(found: Sequence[Check]) -> str:
    columns: Mapping[str, Callable[[Check], str]] = {
        "row": lambda check: check.row,
        "metric": lambda check: check.metric,
        "ns-2": lambda check: f"{check.theirs:.5g}",
        "ours": lambda check: f"{check.ours:.5g}",
        "difference": lambda check: f"{check.difference:+.3g}",
        "tolerance": lambda check: f"{check.tolerance:.3g}",
        "verdict": lambda check: "ok" if check.passed else f"off: {check.units:.1f} tolerances",
    }
    cells = [list(columns), *([show(check) for show in columns.values()] for check in found)]
    widths = [max(map(len, column)) for column in zip(*cells, strict=True)]
    left = ("row", "metric", "verdict")
    return "\n".join(
        "  ".join(
            cell.ljust(width) if name in left else cell.rjust(width)
            for cell, width, name in zip(line, widths, columns, strict=True)
        ).rstrip()
        for line in cells
    )


def totals(found: Sequence[Check]) -> str:
    passed = sum(check.passed for check in found)
    worst = sorted(found, key=lambda check: -check.units)
    far = [check for check in worst if check.units > WORST]
    return "\n".join(
        [
            f"\n{passed} of {len(found)} checks passed: {_share(found):.1%}; at least {FEWEST:.0%} have to",
            "worst five, in tolerances: " + ", ".join(map(_short, worst[:5])),
            f"off by more than {WORST:g} tolerances: " + (", ".join(map(_short, far)) or "none"),
        ]
    )


def _share(found: Sequence[Check]) -> float:
    return sum(check.passed for check in found) / len(found) if found else 0.0


def _short(check: Check) -> str:
    return f"{check.row} {check.metric} {check.units:.2f}"


if __name__ == "__main__":
    sys.exit(main())
