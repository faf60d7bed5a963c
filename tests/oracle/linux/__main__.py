"""`make oracle-linux`: run, compare, print, and fail if too little agrees."""

import argparse
import sys
from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from fnmatch import fnmatch

from aqmlab.cli.terminal import progress_bar
from oracle.linux import fates, live, ours, reference
from oracle.linux.check import FEWEST_DISCIPLINES, FEWEST_FIFO, FEWEST_OFFLOAD, FEWEST_VARIED, KNOWN
from oracle.linux.kernel import Missing
from oracle.linux.reference import Point
from oracle.verdict import Check, aligned, enough, share, table, totals

REFERENCE = "Linux"


def main() -> int:
    parser = argparse.ArgumentParser(prog="make oracle-linux", description=__doc__)
    parser.add_argument("--rows", help="patterns of points' names, separated by spaces; default: all that are stored")
    parser.add_argument("--live", nargs="*", metavar="KEY=VALUE", help=f"run Linux too; keys: {', '.join(live.KEYS)}")
    given = parser.parse_args()
    if given.live is not None:
        try:
            return live.main(given.live)
        except (Missing, ValueError) as reason:
            sys.exit(str(reason))
    points = reference.stored()
    if given.rows:
        points = [point for point in points if any(fnmatch(point.name, pattern) for pattern in given.rows.split())]
        if not points:
            parser.error(f"--rows {given.rows}: no stored point is called so")
    with progress_bar() as progress:
        compared, refused = ours.judged(points, progress)
    closed = {point: found for point, found in compared.items() if not point.open_loop}
    opened = {point: found for point, found in compared.items() if point.open_loop}
    print(table(_flat(compared), REFERENCE))
    if opened:
        print(_open_loop(opened))
    for reason in sorted(set(refused.values())):
        print(f"not yet: {', '.join(name for name, each in refused.items() if each == reason)}: {reason}")
    return _verdict(closed) if closed else 0


def _flat(compared: Mapping[Point, Sequence[Check]]) -> list[Check]:
    return [check for found in compared.values() for check in found]


def _open_loop(opened: Mapping[Point, Sequence[Check]]) -> str:
    """Where the fates of packets first differ: before that the two disciplines do the same."""
    lines = [("point", "packets", "other fate", "first", "sent at")]
    for name, parting in fates.partings(list(opened)).items():
        where = ("-", "-") if parting.when is None else (str(parting.first), f"{parting.when:.4f} s")
        lines.append((name, str(parting.packets), str(parting.differ), *where))
    found = _flat(opened)
    passed = f"\nOpen loop, which decides nothing here: {share(found):.1%} of {len(found)} checks passed"
    return "\n" + aligned(lines, {"point"}) + "\n" + passed


def _verdict(closed: Mapping[Point, Sequence[Check]]) -> int:
    """The totals of the points with TCP: the senders alone decide, or paths and disciplines do too."""
    for title, key in (("discipline", lambda point: point.discipline), ("tcp", lambda point: point.tcp)):
        print(_rates(title, closed, key))
    rest = {p: found for p, found in closed.items() if not (p.fifo or p.varied or p.offloads)}
    parts = (
        ("FIFO, the senders alone", FEWEST_FIFO, {p: found for p, found in closed.items() if p.fifo}),
        ("paths that vary", FEWEST_VARIED, {p: found for p, found in closed.items() if p.varied}),
        ("hosts that offload", FEWEST_OFFLOAD, {p: found for p, found in closed.items() if p.offloads}),
        ("with disciplines", FEWEST_DISCIPLINES, rest),
    )
    for title, fewest, part in parts:
        if part:
            print(f"\n{title}:{totals(_flat(part), fewest, KNOWN)}")
    return 0 if all(enough(_flat(part), fewest, KNOWN) for _, fewest, part in parts if part) else 1


def _rates(title: str, closed: Mapping[Point, Sequence[Check]], key: Callable[[Point], str]) -> str:
    by_key: dict[str, list[Check]] = defaultdict(list)
    for point, found in closed.items():
        by_key[key(point)] += found
    rows = [(name, f"{share(found):.1%}", str(len(found))) for name, found in sorted(by_key.items())]
    return "\n" + aligned([(title, "passed", "of checks"), *rows], {title})


if __name__ == "__main__":
    sys.exit(main())
