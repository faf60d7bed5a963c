"""The same scenario with aqmlab and with ns-2 or ns-3, in turn."""

from __future__ import annotations

import statistics
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace

from benches import ns2, ns3
from benches.measure import Changes, Row, Sample, Timed, measured, run_once
from benches.ns2 import Ns2
from benches.ns3 import Ns3
from benches.suite import BARE, EXPERIMENT_1, Size, sizes

TOO_MANY = 1000
"""Above, ns-2 needs minutes for set-up (its time grows quadratically), and ns-3 minutes to run."""


@dataclass
class Pair:
    """A scenario, and a rival that runs the same with ``arguments``.

    ``flows`` is the number of flows in rows that differ only in it, else 0. `process` of ``ours`` is that of `aqmlab
    run` as a user would call it.
    """

    row: Row
    rival: Ns2 | Ns3
    arguments: tuple[str, ...]
    flows: int = 0
    ours: Timed = field(default_factory=Timed)
    theirs: Timed = field(default_factory=Timed)

    def run_once(self) -> None:
        """Run both once."""
        ours = run_once(self.row)
        _, process = measured(self.row.command())
        theirs = self.rival.run_once(self.arguments)
        # Add both or neither, in case of an interrupt.
        self.ours.add(replace(ours, process=process))
        self.theirs.add(theirs)

    def ratio(
        self,
        theirs: Callable[[Sample], float],
        ours: Callable[[Sample], float],
        choose: Callable[[list[float]], float] = statistics.median,
    ) -> float:
        """Return aqmlab's packets per CPU second relative to the rival's."""
        return self.theirs.ns(theirs, choose) / self.ours.ns(ours, choose)


def found() -> tuple[list[Ns2 | Ns3], list[str]]:
    """Return the rivals that are installed, and descriptions of those missing."""
    looked = [ns2.find(), ns3.find(), ns3.find(ns3.WIFI)]
    missing = dict.fromkeys(one for one in looked if isinstance(one, str))
    return [one for one in looked if not isinstance(one, str)], list(missing)


def pairs(rivals: list[Ns2 | Ns3], quick: bool) -> list[Pair]:
    """List the rows to run beside each rival."""
    listed: list[Pair] = []
    for rival in rivals:
        if isinstance(rival, Ns2):
            listed += _beside_ns2(rival, quick)
        else:
            listed += (_over_wifi if rival.source == ns3.WIFI else _beside_ns3)(rival, quick)
    return listed


def _beside_ns2(rival: Ns2, quick: bool) -> Iterator[Pair]:
    seconds, warmup = (20, 5) if quick else (200, 20)
    settings = {**BARE, "duration": f"{seconds} s", "warmup": f"{warmup} s"}
    time = (f"dur={seconds}", f"warm={warmup}")
    goals = [("pi:q_ref=100", "PI", 400), ("droptail", "DropTail", 100), ("rem:b_star=100,form=ns2", "REM", 800)]
    for aqm, theirs, flows in goals[:1] if quick else goals:
        row = Row(f"{theirs}, N = {flows}", EXPERIMENT_1, aqm, {**settings, "traffic.long.count": flows})
        yield Pair(row, rival, (f"aqm={theirs}", f"n_tcp={flows}", *time))
    for size in _comparable(quick):
        yield Pair(_named(size), rival, (*ns2.RED, f"n_tcp={size.flows}", *time), size.flows)


def _beside_ns3(rival: Ns3, quick: bool) -> Iterator[Pair]:
    # It takes 70 microseconds per packet: both simulate less time.
    for size in _comparable(quick):
        short = replace(size, duration=5 if quick else 20, warmup=1 if quick else 5)
        yield Pair(_named(short), rival, (f"--flows={size.flows}", f"--duration={short.duration}"), size.flows)


def _over_wifi(rival: Ns3, quick: bool) -> Iterator[Pair]:
    seconds = 3 if quick else 15
    settings: Changes = {"duration": f"{seconds} s", "warmup": "2 s"}
    row = Row("Wi-Fi, one upload", str(ns3.WIFI.with_suffix(".toml")), settings=settings)
    yield Pair(row, rival, ("--tcp=1", f"--duration={seconds}", "--warmup=2"))


def _comparable(quick: bool) -> list[Size]:
    return [size for size in sizes(quick) if size.flows <= TOO_MANY and (not quick or size.flows in (10, 400))]


def _named(size: Size) -> Row:
    """Return the row with a name like those of rows with other queue disciplines."""
    return replace(size.row(), name=f"RED, N = {size.flows}")
