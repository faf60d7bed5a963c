"""`make calibrate-judge`: calibrate recordings of the Linux kernel with hidden parameters, and count the right ones."""

import argparse
import sys

from aqmlab.cli.terminal import progress_bar
from oracle.calibrate import cases, direct, judge, recordings
from oracle.linux.kernel import Missing


def main() -> int:
    parser = argparse.ArgumentParser(prog="make calibrate-judge", description=__doc__)
    parser.add_argument("--cases", nargs="*", type=int, help="numbers of cases; default: all that are stored")
    parser.add_argument("--kept", action="store_true", help="only the cases kept aside in development")
    parser.add_argument("--record", action="store_true", help="let the kernel record those that are missing: an hour")
    parser.add_argument("--direct", action="store_true", help="what is estimated beside, on links of the packet engine")
    given = parser.parse_args()
    if given.direct:
        with progress_bar(lambda: "calibrating") as progress:
            text, met = direct.judged(given.kept, progress)
        print(text)
        return 0 if met else 1
    numbers = given.cases or [*(() if given.kept else cases.DEVELOPED), *cases.KEPT]
    if given.record:
        with progress_bar(lambda: "recording") as progress:
            try:
                recordings.make(numbers, progress)
            except Missing as reason:
                sys.exit(str(reason))
    if missing := sorted(set(numbers) - set(recordings.stored())):
        sys.exit(f"cases {', '.join(map(str, missing))}: not recorded; RECORD=1 records them")
    with progress_bar(lambda: "calibrating") as progress:
        found = judge.judged(numbers, progress)
    text, met = judge.verdict(found)
    print(judge.table(found), judge.confusion(found), text, sep="\n\n")
    return 0 if met else 1


if __name__ == "__main__":
    sys.exit(main())
