"""A queue besides one's own, as a provider's behind a shaper: the wait that one's own queue cannot explain.

One's own queue is known: it is simulated with the transfers of the measurement, and what its packets wait there is the
most that it explains. With queues for each flow that is little for a probe, and the rest of its wait is elsewhere.
"""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from aqmlab.calibrate.hypothesis import KINDS, Load
from aqmlab.calibrate.interval import Interval, Told
from aqmlab.calibrate.view import BELOW, View, plateau
from aqmlab.foreign.read import read
from aqmlab.foreign.scenario import scenario
from aqmlab.runs.replication import compare_scenarios
from aqmlab.scenario import Scenario

OFTEN, SELDOM = 0.9, 0.99
"""Waits are stated by the first quantile; the second is the most that one's own queue lets wait."""

SEEDS = 6
"""Runs of one's own queue."""

MODEL = 1.1
"""By this factor the simulator may be wrong."""

UNKNOWN = "one's own queue is not known: give its `tc` lines or its scenario (`--own FILE`)"


@dataclass(frozen=True)
class Own:
    """One's own queue in the direction of the load: its rate in bit/s, buffer and discipline, as in a scenario."""

    rate: str
    buffer: str
    aqm: Mapping[str, Any]


def own_queue(files: Sequence[str | os.PathLike[str]], up: bool) -> Own:
    """Read one's own queue from a scenario, or from what `aqmlab import` reads; raise ValueError if it is not there."""
    paths = [Path(file) for file in files]
    if len(paths) == 1 and paths[0].suffix == ".toml":
        found = Scenario.load(paths[0])
    else:
        found = Scenario.parse(scenario(read(paths)))
    names = ", ".join(map(str, paths))
    table, aqms = found.resolved.get("dumbbell"), [found.resolved.get(key) for key in ("aqm", "reverse_aqm")]
    if table is None:
        raise ValueError(f"{names}: links of its own in place of a dumbbell, of which one is not known to be one's own")
    if up and aqms[1]:
        return Own(table["reverse_rate"], table["reverse_buffer"], aqms[1])
    if aqms[0] is None:
        raise ValueError(f"{names}: no queue discipline in the direction of the {'upload' if up else 'download'}")
    return Own(table["rate"], table["buffer"], aqms[0])


def elsewhere(view: View, load: Load, own: Own | None, jobs: int | None = None) -> Told:
    """Return the wait in s elsewhere that one of ten packets exceeds; ``load`` has the transfers of the measurement."""
    total, packet = float(np.quantile(view.delay, OFTEN)), load.hosts[0].packet
    if own is None:
        return Told(None, UNKNOWN)
    runs = compare_scenarios({str(seed): _link(load, own, seed) for seed in range(1, SEEDS + 1)}, jobs=jobs)
    views = [load.view(result) for result in runs.values()]
    waits = [float(np.quantile(one.delay, SELDOM)) for one in views]
    if max(plateau(one, packet) for one in views) * MODEL < plateau(view, packet):
        return Told(
            None, "the transfer was faster than one's own queue lets it be: give the queue that it passed (--own)"
        )
    grain = BELOW * packet * 8 / load.rate
    least = max(0.0, total - max(waits) * MODEL - grain)
    return Told(Interval(max(least, total - float(np.median(waits))), least, total + grain))


def _link(load: Load, own: Own, seed: int) -> Scenario:
    """Return a link with one's own queue alone."""
    tables = dict(load.scenario("droptail", np.zeros(KINDS["droptail"].size), seed).resolved)
    tables["dumbbell"] = {**tables["dumbbell"], "rate": own.rate, "buffer": own.buffer}
    return Scenario.from_dict({**tables, "aqm": dict(own.aqm)})
