"""`make digests`: compares the digests of all builds with the file; with RECORD=1 rewrites the file."""

import argparse
import sys

from aqmlab.files import json_text, write_text
from digests import FILE, builds, points, recorded, runs
from release.foreign import fetch_rust


def main() -> int:
    """Check every build that is possible on this machine."""
    parser = argparse.ArgumentParser(prog="python -m digests", description=__doc__)
    parser.add_argument("--record", action="store_true", help="write tests/digests/digests.json")
    parser.add_argument("--installed", action="store_true", help="check only the installed build")
    given = parser.parse_args()
    orders = points.orders()
    own = {name: runs.digest(runs.installed(order)) for name, order in orders.items()}
    if given.record:
        write_text(FILE, json_text(own))
    wanted, wrong = recorded(), 0

    def compare(build: str, found: dict[str, str]) -> int:
        others = [name for name in wanted.keys() | found.keys() if wanted.get(name) != found.get(name)]
        print(
            f"{build}: {len(wanted) - len(others)} of {len(wanted)} digests equal",
            *sorted(others),
            sep="\n  ",
            flush=True,
        )
        return len(others)

    wrong += compare("release", own)
    if given.installed:
        return 1 if wrong else 0
    lacking = fetch_rust()
    for build in (builds.DEBUG, builds.V3, builds.arm()):
        missing = build.missing or (lacking if build.name == "aarch64" else "")
        if missing:
            print(f"{build.name}: not checked: {missing}")
            wrong += 1
            continue
        answers = runs.by_program(build.make(), orders.values())
        wrong += compare(build.name, dict(zip(orders, map(runs.digest, answers), strict=True)))
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
