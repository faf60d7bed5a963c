"""What the kernel gave: stored runs, and their metrics."""

import base64
import json
import zlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from oracle.linux.points import Conf
from oracle.reference import Measured

HERE = Path(__file__).parent

FILES = ("reference.jsonl", "reference-open.jsonl", "reference-shapers.jsonl")

Metrics = dict[str, float]


@dataclass(frozen=True, eq=False)
class Point:
    """A configuration and the kernel's runs of it, by seed."""

    name: str
    conf: Conf
    runs: Mapping[int, Mapping[str, Any]]

    @property
    def seeds(self) -> list[int]:
        return sorted(self.runs)

    @property
    def flows(self) -> int:
        return sum(group["n"] for group in self.conf["groups"])

    @property
    def open_loop(self) -> bool:
        return "arrivals" in self.conf

    @property
    def discipline(self) -> str:
        """The kind of queue, as totals call it: tc's name, RED's adaptive form apart."""
        name, *words = self.conf["qdisc"].split()
        return f"{name} adaptive" if "adaptive" in words else str(name)

    @property
    def fifo(self) -> bool:
        """Whether the senders alone decide."""
        return self.discipline in ("pfifo", "bfifo") and not self.varied and not self.offloads

    @property
    def varied(self) -> bool:
        """Whether packets have netem on their way, whose random numbers are others than ours."""
        return "path" in self.conf

    @property
    def offloads(self) -> bool:
        """Whether the senders' hosts hand over several segments at once."""
        return bool(self.conf.get("offload"))

    @property
    def tcp(self) -> str:
        """The congestion controls of the groups."""
        return "+".join(group["cc"] for group in self.conf["groups"])

    def metrics(self) -> dict[str, Measured]:
        """Over the seeds."""
        measured = open_loop if self.open_loop else closed
        return over_seeds([measured(self.conf, self.runs[seed]) for seed in self.seeds])


def stored() -> list[Point]:
    """The runs of the files below."""
    points: dict[str, Point] = {}
    for file in FILES:
        with (HERE / file).open(encoding="utf-8") as lines:
            for run in map(json.loads, lines):
                point = points.setdefault(run["name"], Point(run["name"], run["conf"], {}))
                points[run["name"]] = Point(point.name, point.conf, {**point.runs, run["seed"]: run["result"]})
    return list(points.values())


def closed(conf: Conf, result: Mapping[str, Any]) -> Metrics:
    """A run with TCP senders: what is compared, `docs/internals/fidelity.md` says what each is."""
    queue, receiver, groups = result["queue"], result["receiver"], result["groups"]
    capacity = conf["rate_mbit"] * 1e6 * (conf["dur"] - conf["warm"])
    return {
        "util": queue["bytes"] * 8 / capacity,
        # Not every discipline counts its marks, and tc does not show those of all that do.
        "drops": queue["drops"] + receiver["ecn"]["InCEPkts"],
        "q_mean": queue["q_mean"],
        "delay_p95": queue["delay_p95_ms"],
        "timeouts": sum(group["TCPTimeouts"] for group in groups),
        "retransmits": sum(group["RetransSegs"] for group in groups),
        **({"acks": receiver["acks"]} if "receive_us" in conf else {}),
        **shares(receiver["group_goodput"]),
    }


def shares(goodputs: Sequence[float]) -> Metrics:
    """The part of the goodput that each group has; the last one's is the rest."""
    total = sum(goodputs) or 1.0
    return {f"share_{g + 1}": goodput / total for g, goodput in enumerate(goodputs[:-1])}


def open_loop(_: Conf, result: Mapping[str, Any]) -> Metrics:
    """A run of `arrivals`."""
    return {name: float(result["open"][key]) for name, key in OPEN_METRICS.items()}


OPEN_METRICS = {"lost": "lost", "marked": "marked", "delay_mean": "delay_mean_ms", "delay_p95": "delay_p95_ms"}
"""Of the open loop, by what the guest calls them."""


def fate(result: Mapping[str, Any]) -> str:
    """What became of each packet of `arrivals`, in order of sending."""
    return zlib.decompress(base64.b64decode(result["open"]["fate"])).decode()


def over_seeds(runs: Sequence[Metrics]) -> dict[str, Measured]:
    return {name: Measured.of([run[name] for run in runs]) for name in runs[0]}
