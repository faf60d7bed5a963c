"""Disciplines with values that suit a rate and a round trip, as tables of a scenario."""

from __future__ import annotations

import math

from aqmlab.advice.kernel import FRAME, packets
from aqmlab.scenario import Settings


def suited(rtt: float) -> float:
    """Return an interval for round trips up to this, in s: rounded up to 10 ms, or to 1 ms where that is coarse."""
    step = 0.01 if rtt > 0.03 else 0.001
    return max(round(math.ceil(round(rtt / step, 6)) * step, 6), 0.001)


def ms_word(seconds: float) -> str:
    """Write a time in ms, as tc does."""
    return f"{seconds * 1e3:.4g}ms"


def time_text(seconds: float) -> str:
    """Write a time in whole µs for a scenario."""
    return f"{round(seconds * 1e6)} us"


def target(rate: float, interval: float) -> str:
    """Return CoDel's target for an interval: a twentieth of it, and at least 1.5 packets."""
    return time_text(max(interval / 20, 1.5 * FRAME * 8 / rate))


def limit(rtt: float, rate: float) -> str:
    """Return a buffer that is no constraint: two bandwidth-delay products, and at least the thousand of tc."""
    return f"{max(1000, 1000 * math.ceil(packets(rate, 2 * rtt) / 1000))} packets"


def fifo(rate: float, rtt: float) -> tuple[Settings, str]:
    """Return a plain queue and its buffer, a bandwidth-delay product, and at least two packets."""
    return {"name": "droptail"}, f"{max(rate * rtt / 8, 2 * FRAME):.0f} B"


def codel(rate: float, interval: float) -> Settings:
    """Return CoDel of Linux with an interval in s."""
    times = {"target": target(rate, interval), "interval": time_text(interval)}
    return {"name": "codel", "preset": "linux", **times, "ecn": True}


def fq_codel(rate: float, interval: float) -> Settings:
    """Return FQ-CoDel of Linux with an interval in s."""
    inner = f"codel:preset=linux,ecn=true,target={target(rate, interval)},interval={time_text(interval)}"
    return {"name": "fq", "preset": "linux", "aqm": inner}


def cake(rate: float, interval: float) -> Settings:
    """Return CAKE as a shaper of this rate, with its word ``rtt``."""
    return {**unlimited_cake(interval), "bandwidth": f"{rate:.0f} bit/s"}


def unlimited_cake(interval: float) -> Settings:
    """Return CAKE without a shaper, with its word ``rtt``."""
    return {
        "name": "cake",
        "preset": "linux",
        "diffserv": "besteffort",
        "flowmode": "flows",
        "rtt": time_text(interval),
    }


def memory(rate: float, interval: float) -> str:
    """Return CAKE's own limit: four intervals at the rate, and 4 MiB at the least."""
    return f"{max(rate / 8 * interval * 4, 4 * 2**20):.0f} B"


def pie(rate: float, target: float) -> Settings:
    """Return PIE of Linux with a target in s."""
    return {"name": "pie", "preset": "linux", "target": time_text(max(target, 1.5 * FRAME * 8 / rate)), "ecn": True}


def fq_pie(rate: float, target: float) -> Settings:
    """Return FQ-PIE of Linux with a target in s."""
    inner = f"pie:preset=linux,ecn=true,target={time_text(max(target, 1.5 * FRAME * 8 / rate))}"
    return {"name": "fq", "preset": "pie", "aqm": inner}


def threshold(rate: float) -> int:
    """Return RED's lower threshold in bytes: 10 ms of packets, and at least five."""
    return max(round(rate * 0.01 / 8), 5 * FRAME)


def red(rate: float) -> Settings:
    """Return RED of Linux."""
    least = threshold(rate)
    return {
        "name": "red",
        "preset": "linux",
        "min_bytes": f"{least} B",
        "max_bytes": f"{3 * least} B",
        "mean_packet": "1000 B",
        "burst": math.ceil(5 * least / 3 / 1000),
        "bandwidth": f"{rate:.0f} bit/s",
        "ages": False,
        "ecn": True,
    }
