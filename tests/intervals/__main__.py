"""`make coverage`: count the intervals that contain the true value, and print the table of docs/internals/trust.md."""

import argparse
import multiprocessing
import statistics
import sys
from concurrent.futures import ProcessPoolExecutor
from functools import partial

from aqmlab.execute.threads import cores
from intervals.cases import cases, trial

LEAST, MOST = 93.0, 97.0
"""The coverage that is allowed, in %."""

HEAD = """\
| case | condition | by | seeds, or times the duration | intervals that contain the true value |
|---|---|---|---|---|"""


def main() -> int:
    """Make all trials, and print a row for each case."""
    parser = argparse.ArgumentParser(prog="make coverage", description=__doc__)
    parser.add_argument("--trials", type=int, default=1000, help="the trials of each case")
    parser.add_argument("--rows", nargs="+", type=int, help="the rows to make, from 1; default: all")
    given = parser.parse_args()
    print(HEAD, flush=True)
    good = True
    with ProcessPoolExecutor(cores(), multiprocessing.get_context("spawn")) as pool:
        for i, case in enumerate(cases()):
            if given.rows and i + 1 not in given.rows:
                continue
            truth = case.truth()
            trials = list(pool.map(partial(trial, i), range(given.trials), chunksize=10))
            covered = 100 * sum(one.contains(truth) for one in trials) / given.trials
            good &= LEAST <= covered <= MOST
            amount = statistics.fmean(one.amount for one in trials)
            print(f"| {case.name} | `{case.until}` | {case.by} | {amount:.3g} | {covered:.1f} % |", flush=True)
    if not good:
        print(f"some are not within {LEAST:g} to {MOST:g} %", file=sys.stderr)
    return 0 if good else 1


if __name__ == "__main__":
    sys.exit(main())
