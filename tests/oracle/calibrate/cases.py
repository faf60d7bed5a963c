"""The hidden links of the judge, drawn from a seed: the bottleneck, and the senders."""

import math
import random
import re
from collections.abc import Mapping
from typing import Any

FAMILIES = ("droptail", "headdrop", "red", "codel", "pie")
DEVELOPED, KEPT = [*range(40), *range(100, 140)], range(140, 160)
"""Numbers of the cases to develop with, and of those kept aside until the end."""

IDLE = 3
"""Seconds before the transfers begin."""

INTERVAL, PROBE_MS, PROBE_BYTES = 0.1, 20, 102
"""Of `iperf3 -i`, and of `irtt client -i` and its packets on Ethernet."""

MTU, ETHERNET = 1500, 14


def case(number: int) -> dict[str, Any]:
    """The configuration of the guest for a case, with the hidden part in `hidden`."""
    drawn = random.Random(f"calibrate/{number}")
    family = FAMILIES[number % len(FAMILIES)]
    rate = _spread(drawn, 2, 200)
    rtt = _spread(drawn, 5, 150)
    product = rate * 1e3 * rtt / 8
    # RED's thresholds are below its buffer, which has to hold some packets for tc to take them.
    least = 24 if family == "red" else 6
    packets = max(least, round(_spread(drawn, 0.3, 8) * product / (MTU + ETHERNET)))
    fair = family == "codel" and drawn.random() < 0.5
    groups: list[dict[str, Any]] = [
        {"n": drawn.choice((1, 1, 2)), "rtt_ms": round(rtt, 3), "cc": "cubic", "start": IDLE}
    ]
    other = drawn.random()
    if other < 0.2:
        groups.append({"n": 1, "rtt_ms": round(_spread(drawn, 5, 150), 3), "cc": "cubic", "start": IDLE})
    elif other < 0.5:
        web = {"transfers": _web(drawn, rate)}
        groups.append({"n": 0, "rtt_ms": round(_spread(drawn, 5, 150), 3), "cc": "cubic", **web})
    made = {
        "seed": number + 1,
        "rate_mbit": round(rate, 3),
        "qdisc": _words(drawn, family, fair, packets, rate),
        "groups": groups,
        "warm": 0,
        "start_jitter": 1e-3,
        "step": 0.1,
        "trace_ms": INTERVAL * 1000,
        "record": INTERVAL,
        "probe_ms": PROBE_MS,
        "probe_bytes": PROBE_BYTES,
        "sysctl": {f"net.ipv4.tcp_{way}mem": "4096 16777216 268435456" for way in ("r", "w")},
        "hidden": {"family": family, "fair": fair, "packets": packets},
    }
    return made | {"dur": IDLE + loaded(made)}


def loaded(conf: Mapping[str, Any]) -> int:
    """Seconds of the transfers: fewer where there are more packets, which the kernel takes long for."""
    return round(min(20, max(10, 20 * math.sqrt(30 / conf["rate_mbit"]))))


def truth(conf: Mapping[str, Any]) -> dict[str, Any]:
    """What `aqmlab calibrate` should find, in base units; rate and buffer are of IP packets of full size."""
    hidden, rate = conf["hidden"], conf["rate_mbit"] * 1e6 * MTU / (MTU + ETHERNET)
    target = re.search(r"target ([\d.]+)ms", conf["qdisc"])
    # A law whose buffer is full before the queue is as long as its target never acts.
    idle = target is not None and hidden["packets"] * MTU * 8 / rate <= float(target[1]) / 1e3
    return {
        "rate": rate,
        "base_rtt": conf["groups"][0]["rtt_ms"] / 1e3,
        "buffer": hidden["packets"] * MTU,
        "family": "droptail" if idle and not hidden["fair"] else hidden["family"],
        "idle": idle,
        "fair": hidden["fair"],
    }


def _spread(drawn: random.Random, low: float, high: float) -> float:
    return math.exp(drawn.uniform(math.log(low), math.log(high)))


def _web(drawn: random.Random, rate_mbit: float) -> list[tuple[float, int]]:
    """Transfers that no tool reports: a Poisson process, sizes by Pareto, 5 to 20 % of the rate."""
    mean, shape = rate_mbit * 1e6 / 8 * drawn.uniform(0.05, 0.3), 1.5
    found, t, gap = [], 0.0, mean / (rate_mbit * 1e6 / 8 * drawn.uniform(0.05, 0.2))
    while (t := t + drawn.expovariate(1 / gap)) < 20:
        found.append((t, max(500, int(mean * (1 - 1 / shape) * drawn.paretovariate(shape)))))
    return found


def _words(drawn: random.Random, family: str, fair: bool, packets: int, rate: float) -> str:
    """The discipline in tc's words; a law has its default target, or in a third of the cases another."""
    other = drawn.random() < 1 / 3
    if family == "codel":
        target = _spread(drawn, 3, 20) if other else 5
        target = max(target, 1.5 * 8 * (MTU + ETHERNET) / rate / 1e3)
        return f"{'fq_codel' if fair else 'codel'} limit {packets} target {target:.2f}ms interval {20 * target:.1f}ms"
    if family == "pie":
        return f"pie limit {packets} target {_spread(drawn, 8, 40) if other else 15:.2f}ms"
    if family == "red":
        most = int(packets * MTU * drawn.uniform(0.3, 0.8))
        least = most // 3
        # As tc's manual advises, but with thresholds that fit into the kernel's 32 bits beside the weight.
        burst = math.ceil(min((2 * least + most) / 3 / 1000, least / 1000 + 0.7 * 2 ** (31 - most.bit_length())))
        probability = f"{_spread(drawn, 0.02, 0.2):.3f}"
        limit = packets * (MTU + ETHERNET)
        return (
            f"red limit {limit} min {least} max {most} avpkt 1000 burst {burst} "
            f"probability {probability} bandwidth {rate:.3f}mbit"
        )
    return f"{'pfifo' if family == 'droptail' else 'pfifo_head_drop'} limit {packets}"
