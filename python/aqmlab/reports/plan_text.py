"""What each measurement of a link would tell, as a table."""

from __future__ import annotations

import textwrap
from typing import TYPE_CHECKING

from aqmlab.calibrate.hypothesis import FAMILIES

if TYPE_CHECKING:
    from aqmlab.calibrate.plan import Plan

WIDTH = 100


def text(plan: Plan) -> str:
    """Lay out a plan: the measurement to make, a table of all, and the confusions of the best."""
    best = plan.ways[plan.best]
    link = (
        f"{plan.rate / 1e6:.4g} Mbit/s, round trip {plan.base_rtt * 1e3:.4g} ms, "
        f"buffer {plan.lowest / 1e3:.4g} to {plan.highest / 1e3:.4g} kB"
    )
    lines = [f"Record: {best.command}", "", f"Probability of the true family, {link}:", ""]
    lines.append("  ".join(f"{family:>8}" for family in FAMILIES) + "  measurement")
    for way, tells in zip(plan.ways, plan.tells, strict=True):
        lines.append("  ".join(f"{tells[family]:8.2f}" for family in FAMILIES) + f"  {way.command}")
    lines.append("")
    for family, other, probability in plan.confused:
        lines += textwrap.wrap(
            f"Even so {family} is often not told: {other} has a mean probability of {probability:.2f} there.", WIDTH
        )
    lines += textwrap.wrap(
        "Begin the probe 5 s before the transfer and end it after: the round trip without load must be in it. "
        "--get-server-output needs a server that writes JSON: iperf3 -s -J -i 0.1.",
        WIDTH,
    )
    return "\n".join(lines)
