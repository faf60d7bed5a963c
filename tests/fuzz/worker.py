"""A process that attacks, and may crash: `python -m fuzz.worker TARGET FOLDER FIRST LAST SKIPPED...`.

The file `last` contains the seed that it is about to try. It prints a line of JSON for each finding, and every
second one with its progress. `python -m fuzz.worker TARGET FOLDER @FILE` tries the input in a file; it prints a line
before and one after.
"""

import json
import os
import resource
import shutil
import sys
import time
from collections import Counter
from collections.abc import Callable, Iterable
from functools import partial
from pathlib import Path

from fuzz.targets import target

MEMORY = 4 << 30
"""The memory limit for data of an attack in bytes."""

SPAN = 1.0
"""Seconds between reports."""


def tried(attack: Callable[[], str]) -> tuple[str, str]:
    """Return the outcome of one attack, and the finding, which is empty for most."""
    try:
        return attack(), ""
    except (KeyboardInterrupt, SystemExit):
        raise
    except BaseException as error:  # a panic of the engine is not an Exception
        return "finding", f"{type(error).__name__}: {error}"


def emptied(folder: Path) -> None:
    """Remove the files that an attack left in its folder."""
    if next(os.scandir(folder), None) is not None:
        shutil.rmtree(folder)
        folder.mkdir()


def work(name: str, folder: Path, seeds: Iterable[int]) -> None:
    """Attack with each seed."""
    attack = target(name).attack
    room = folder / "room"
    room.mkdir()
    last = os.open(folder / "last", os.O_WRONLY | os.O_CREAT)
    outcomes: Counter[str] = Counter()
    reported, since = time.monotonic(), -1

    def report(next_seed: int) -> None:
        print(json.dumps({"next": next_seed, "outcomes": outcomes}), flush=True)
        outcomes.clear()

    for since in seeds:
        os.pwrite(last, b"%020d" % since, 0)
        outcome, found = tried(partial(attack, since, room))
        outcomes[outcome] += 1
        if found:
            print(json.dumps({"finding": since, "message": found}), flush=True)
        emptied(room)
        if time.monotonic() - reported > SPAN:
            report(since + 1)
            reported = time.monotonic()
    report(since + 1)


def main() -> None:
    """Read the arguments."""
    _, name, where, first, *rest = sys.argv
    resource.setrlimit(resource.RLIMIT_DATA, (MEMORY, MEMORY))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    folder = Path(where)
    if first.startswith("@"):
        case = Path(first[1:]).read_bytes()
        room = folder / "room"
        room.mkdir()
        judge = target(name).judge
        print(json.dumps({"begins": first[1:]}), flush=True)
        outcome, found = tried(partial(judge, case, room))
        print(json.dumps({"outcome": outcome, "message": found}), flush=True)
        return
    skipped = {int(seed) for seed in rest[1:]}
    work(name, folder, (seed for seed in range(int(first), int(rest[0])) if seed not in skipped))


if __name__ == "__main__":
    main()
