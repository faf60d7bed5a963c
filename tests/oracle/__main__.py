"""`make oracle`: run, compare, print, and fail if too little agrees."""

import argparse
import os
import shutil
import sys
from collections.abc import Sequence
from fnmatch import fnmatch

from aqmlab.cli.terminal import progress_bar
from oracle import ours, reference
from oracle.check import FEWEST, checks
from oracle.dumbbell import DEFAULTS
from oracle.verdict import enough, table, totals

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
        every = reference.stored() + reference.staggered() + reference.tfrc()
        rows = [row for row in every if any(fnmatch(row.name, pattern) for pattern in given.rows.split())]
        if not rows:
            parser.error(f"--rows {given.rows}: no row of reference.csv, staggered.csv or tfrc.csv is called so")
    else:
        rows = reference.stored()
    with progress_bar() as progress:
        metrics, refused = ours.run(rows, given.seeds, progress)
    found = [check for row in rows if row.name in metrics for check in checks(row, metrics[row.name])]
    print(table(found, "ns-2"))
    for name, reason in refused.items():
        print(f"not yet: {name}: {reason}")
    print(totals(found, FEWEST))
    return 0 if found and enough(found, FEWEST) else 1


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


if __name__ == "__main__":
    sys.exit(main())
