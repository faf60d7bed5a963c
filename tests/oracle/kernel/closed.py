"""The guest's own TCP through a discipline of ours, as a run of `oracle.linux` that the packet engine has to match."""

import json
import os
import struct
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

from aqmlab import _core
from aqmlab.kernel import objects
from oracle.kernel import guest
from oracle.linux.dumbbell import full
from oracle.linux.points import Conf, group
from oracle.linux.reference import Point

STORED = Path(__file__).with_name("reference.jsonl")
STEP = 0.02
"""Seconds between samples of the queue."""

PATIENCE = 900
"""Seconds of the host for a run."""


def _dumbbell(buffer: int, groups: list[dict[str, Any]], aqm: Mapping[str, Any] | None, **more: Any) -> dict[str, Any]:
    """10 Mbit/s and packets of 500 bytes, as in both papers; without an `aqm`, Linux's own FIFO."""
    under_test = {"qdisc": f"pfifo limit {buffer}"}
    if aqm:
        # At the root, where it is a link itself: nothing is below it.
        under_test = {
            "qdisc": f"aqm_{aqm['name']}",
            "aqm": aqm,
            "buffer": f"{buffer} packets",
            "more": [],
            "is_link": True,
        }
    return {"rate_mbit": 10, "groups": groups, "mtu": 500, "step": STEP, "trace_ms": 10_000, **under_test, **more}


_FIVE = [group(8, "reno", rtt) for rtt in (30, 110, 210, 310, 410)]
_FILES = group(1000, "reno", 50) | {"octets": 20_000, "spread": 58.0}
_SHORT = [group(40, "reno", 30)]

POINTS = {
    # LRED's experiment 1 with a tenth of its flows, and case 1 of the RAQM paper.
    "lred": _dumbbell(200, _FIVE, {"name": "lred", "q0": 100}, dur=60, warm=20),
    "droptail": _dumbbell(200, _FIVE, None, dur=60, warm=20),
    # An idle link lowers RAQM's probability, from which it would then start.
    # As in its experiments: long flows, files and UDP (the probe). Connections are told apart, as all share a host.
    "redtail": _dumbbell(300, [group(10, "reno", 110), _FILES], {"name": "redtail", "key": "flow"}, dur=60, warm=20),
    "raqm": _dumbbell(100, _SHORT, {"name": "raqm", "q0": 50}, dur=60, warm=35, fresh=True),
}


def run(name: str, seed: int = 1) -> dict[str, Any]:
    """The guest's run of a point; its queue over time is `packets_sampled`, every `step` seconds."""
    conf = {**POINTS[name], "seed": seed}
    (result,) = guest.run({"closed": conf, **_loaded(conf)}, PATIENCE, virtual=True)
    result["queue"]["packets_sampled"] = [packets for _, packets, *_ in result["queue"].pop("trace")]
    for one in result["groups"]:
        del one["trace"], one["trace_columns"]
    return {"name": name, "seed": seed, "conf": POINTS[name], "result": result}


def _loaded(conf: Conf) -> dict[str, Any]:
    """What the guest registers: the object, and the value of its map `devices`."""
    if "aqm" not in conf:
        return {}
    name = conf["aqm"]["name"]
    spec = name + ":" + ",".join(f"{key}={value}" for key, value in conf["aqm"].items() if key != "name")
    law, packets, rate = objects.shipped(name), int(conf["buffer"].split()[0]), int(conf["rate_mbit"] * 1e6)
    numbers = _core.kernel_numbers(spec, {"rate": rate, "packets": packets, "packet_size": full(conf)}, law.fields)
    device = struct.pack(f"={3 + len(numbers)}q", rate, packets, 0, *numbers)
    return {"object": str(law.path), "device": list(device)}


def run_all(progress: Callable[[float], None] | None) -> list[dict[str, Any]]:
    """A run of each point, as many at once as there are processors."""
    found = []
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        for one in pool.map(run, POINTS):
            found.append(one)
            if progress:  # there is a terminal
                progress(len(found) / len(POINTS))
    return found


def points(runs: Sequence[Mapping[str, Any]]) -> list[Point]:
    """As `oracle.linux` compares them with ours."""
    return [Point(each["name"], each["conf"], {each["seed"]: each["result"]}) for each in runs]


def stored() -> list[dict[str, Any]]:
    """The runs of the file."""
    return [json.loads(line) for line in STORED.read_text().splitlines()]
