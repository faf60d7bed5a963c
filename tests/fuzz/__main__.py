"""`make fuzz`: attacks within a time limit, continuing from the end of the last session."""

import argparse
import os
import sys

from fuzz import harness, targets
from fuzz.session import Session


def main() -> int:
    """Read the arguments, and run a session."""
    names = targets.names()
    parser = argparse.ArgumentParser(prog="python -m fuzz", description=__doc__)
    parser.add_argument("--seconds", type=float, default=600.0, help="how long, for all targets together")
    parser.add_argument("--targets", nargs="+", choices=names, default=names, help="what to attack")
    parser.add_argument("--jobs", type=int, default=os.cpu_count() or 1, help="processes at a time")
    parser.add_argument("--seed", type=int, help="the first seed; else where the last session ended")
    parser.add_argument("--attacks", type=int, default=0, help="at most so many of each target")
    parser.add_argument("--one", metavar="TARGET:SEED", help="one attack; its input goes to standard output")
    given = parser.parse_args()
    if given.one:
        name, _, seed = given.one.partition(":")
        one = targets.target(name)
        sys.stdout.buffer.write(one.case(int(seed)))
        sys.stdout.flush()
        tally = harness.attack(one, int(seed), int(seed) + 1)
        print(*tally.findings, *tally.outcomes, sep="\n", file=sys.stderr)
        return 1 if tally.findings else 0
    chosen = [targets.target(name) for name in given.targets]
    return 1 if Session().run(chosen, given.seconds, given.jobs, given.seed, given.attacks) else 0


if __name__ == "__main__":
    sys.exit(main())
