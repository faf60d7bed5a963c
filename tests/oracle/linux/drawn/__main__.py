"""`make engines-random`: scenarios drawn at random, on the packet engine and on the Linux engine."""

import sys
from argparse import ArgumentParser
from pathlib import Path

from aqmlab.cli.terminal import runs_bar
from aqmlab.execute.engine import EngineUnavailable
from aqmlab.files import write_text
from oracle.linux.drawn.agreement import Agreement, judged
from oracle.linux.drawn.scenarios import draw
from oracle.linux.drawn.shrink import shrunk
from oracle.verdict import enough, table, totals

FEWEST = 0.98
"""The part of the checks that has to pass."""

OUT = Path("out/engines-random")


def main() -> int:
    parser = ArgumentParser(prog="make engines-random", description=__doc__)
    parser.add_argument("--seed", type=int, default=1, help="of the draws")
    parser.add_argument("--n", type=int, default=20, help="the number of scenarios")
    parser.add_argument("--first", type=int, default=0, metavar="K", help="the number of the first one")
    parser.add_argument("--one", type=int, metavar="K", help="one scenario: its file, and its table")
    parser.add_argument("--jobs", type=int, metavar="J", help="runs at a time; by default the number of cores")
    parser.add_argument("--no-shrink", action="store_true", help="do not look for smaller scenarios that differ too")
    given = parser.parse_args()
    numbers = range(given.first, given.first + given.n) if given.one is None else [given.one]
    drawn = {f"{given.seed}:{number}": draw(given.seed, number) for number in numbers}
    try:
        with runs_bar() as progress:
            found = judged(drawn, OUT / "store", given.jobs, progress)
            differing = {name: each for name, each in found.items() if each.differing}
            for name, each in (differing if given.one is None else found).items():
                _report(name, each)
            for name, each in differing.items():
                if not given.no_shrink:
                    _shrink(name, shrunk(each, OUT / "store", given.jobs, progress))
    except EngineUnavailable as reason:
        sys.exit(str(reason))
    except KeyboardInterrupt:
        sys.exit(f"stopped: what was finished is in {OUT}/store, and the same command goes on from there")
    checks = [check for each in found.values() for check in each.checks]
    broken = [name for name, each in found.items() if each.errors]
    print(f"\n{len(found)} scenarios, {len(differing)} with a difference{totals(checks, FEWEST)}")
    print(f"passed by three standard errors alone: {sum(each.by_chance for each in found.values())}")
    if broken:
        print(f"runs failed in {', '.join(broken)}")
    return int(bool(broken) or not enough(checks, FEWEST))


def _report(name: str, each: Agreement) -> None:
    print(f"\n{name}: {each.drawn}")
    for error in each.errors:
        print(f"  {error}")
    if each.checks:
        print(table(each.checks, "Linux"))


def _shrink(name: str, smallest: Agreement) -> None:
    """Print the smallest scenario that was found to differ, and write its file."""
    file = OUT / f"{name.replace(':', '-')}.toml"
    write_text(file, smallest.drawn.text())
    linux, _ = smallest.drawn.engines
    print(f"\n{name}, shrunk: {smallest.drawn}\n  {file}, on {linux} and packet")
    for error in smallest.errors:
        print(f"  {error}")
    for check in smallest.failed:
        print(f"  {check.metric}: Linux {check.theirs:.5g}, ours {check.ours:.5g}, {check.units:.1f} tolerances")


if __name__ == "__main__":
    sys.exit(main())
