"""A session of all targets within a time limit, which continues where the last one ended."""

import json
import sys
import threading
import time
from collections import Counter, defaultdict
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

from aqmlab.execute.engine import EngineUnavailable
from aqmlab.files import json_text, write_text
from fuzz import harness, regressions
from fuzz.targets import Target

STATE = harness.ROOT / "out" / "fuzz" / "state.json"
FAR = 1 << 62
"""A number of seeds for which no session has time."""
SLICE = 30.0
"""Seconds between writes of the state."""


class Session:
    """The next seed of each target, kept in a file."""

    def __init__(self, file: Path = STATE) -> None:
        self.file = file
        self.state: dict[str, Any] = json.loads(file.read_text(encoding="utf-8")) if file.exists() else {}
        self.counts: defaultdict[str, Counter[str]] = defaultdict(Counter)
        self.kinds: set[tuple[str, str]] = set()
        self.lock = threading.Lock()

    def run(self, targets: list[Target], seconds: float, jobs: int, seed: int | None, attacks: int) -> int:
        """Attack all targets, each for its share of the time; return the number of findings."""
        end, share = threading.Event(), seconds * min(jobs, len(targets)) / len(targets)
        with ThreadPoolExecutor(jobs) as pool:
            done = [pool.submit(self._attack, target, share, seed, attacks, end) for target in targets]
            try:
                return sum(one.result() for one in done)
            except KeyboardInterrupt:
                end.set()
                print(f"stopping within {SLICE:g} s; the next session goes on from here", file=sys.stderr)
                return sum(one.result() for one in done)

    def _attack(self, target: Target, seconds: float, seed: int | None, attacks: int, end: threading.Event) -> int:
        try:
            target.ready()
        except EngineUnavailable as reason:
            print(f"{target.name}: left out: {reason}", file=sys.stderr, flush=True)
            return 0
        # The first seeds are those of `make test`.
        first = self.state.get(target.name, {}).get("next", target.tested) if seed is None else seed
        last, found, started = first + (attacks or FAR), 0, time.monotonic()
        while first < last and found < harness.MOST and not end.is_set():
            left = seconds - (time.monotonic() - started)
            if left <= 0:
                break
            tally = harness.attack(target, first, last, min(left, SLICE), harness.MOST - found)
            first, found = tally.next, found + len(tally.findings)
            with self.lock:
                self._note(target, tally)
                print(*tally.findings, sep="\n", end="\n" if tally.findings else "", file=sys.stderr, flush=True)
            new = [one for one in tally.findings if (target.name, regressions.kind(one.message)) not in self.kinds]
            self.kinds |= {(target.name, regressions.kind(one.message)) for one in new}
            for file in regressions.kept(target, new):
                print(f"kept: {file.relative_to(harness.ROOT)}", file=sys.stderr, flush=True)
        with self.lock:
            self._report(target, time.monotonic() - started)
        return found

    def _note(self, target: Target, tally: harness.Tally) -> None:
        """Add a tally to the state."""
        before = self.state.get(target.name, {}).get("outcomes", {})
        self.counts[target.name] += tally.outcomes
        self.state[target.name] = {"next": tally.next, "outcomes": dict(Counter(before) + tally.outcomes)}
        write_text(self.file, json_text(self.state))

    def _report(self, target: Target, took: float) -> None:
        """Print the results of this session."""
        counts = self.counts[target.name]
        named = ", ".join(f"{name} {number:,}" for name, number in sorted(counts.items()))
        everything = sum(self.state.get(target.name, {}).get("outcomes", {}).values())
        print(f"{target.name}: {sum(counts.values()):,} in {took:.0f} s ({named}); {everything:,} in all", flush=True)
