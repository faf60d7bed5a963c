"""The lines for Cisco's IOS: a shaper with WRED, the same for every precedence, which then is RED.

# Sources
"Cisco IOS Quality of Service Solutions Command Reference", the commands random-detect, random-detect ecn,
random-detect exponential-weighting-constant, random-detect precedence, queue-limit and shape.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from aqmlab.advice.kernel import base
from aqmlab.advice.routers.router import FULL, Lacking, Lines, Router, full_packets, octets, weight

if TYPE_CHECKING:
    from aqmlab.advice.configuration import Configuration, Half

MOST = 4096
"""The largest threshold, in packets."""

EXPONENTS = (1, 16)


def _write(configuration: Configuration) -> Lines:
    lines: list[str] = []
    for way, half in (("UP", configuration.up), ("DOWN", configuration.down)):
        lines += [
            f"policy-map AQM-{way}",
            " class class-default",
            f"  shape average {half.payload * 1000}",
            *(f"  {line}" for line in _queue(configuration.kernel, half)),
            "!",
        ]
    for way, device, where in (("UP", "GigabitEthernet0/0", "modem"), ("DOWN", "GigabitEthernet0/1", "home")):
        lines += [f"! {device}: replace it by the interface to the {where}", f"interface {device}"]
        lines += [f" service-policy output AQM-{way}", "!"]
    notes = ["Thresholds are in packets; full packets stand for the simulated bytes.", FULL]
    if configuration.kernel == "red":
        notes.insert(0, "WRED has the same thresholds for every precedence here, which makes it RED.")
    return Lines("\n".join(lines[:-1]), tuple(notes))


def _queue(name: str, half: Half) -> list[str]:
    limit = f"queue-limit {full_packets(base(half.buffer))} packets"
    if name == "bfifo":
        return [limit]
    least, most = (_within("threshold", full_packets(octets(half, key)), 1, MOST) for key in ("min_bytes", "max_bytes"))
    exponent = _within("exponential weight", weight(half), *EXPONENTS)
    return [
        "random-detect",
        *(["random-detect ecn"] if half.values["ecn"] else []),
        f"random-detect exponential-weighting-constant {exponent}",
        *(f"random-detect precedence {one} {least} {most} {round(1 / half.values['max_p'])}" for one in range(8)),
        limit,
    ]


def _within(what: str, value: int, least: int, most: int) -> int:
    if not least <= value <= most:
        raise Lacking(f"IOS has a {what} from {least} to {most}, not {value}")
    return value


ROUTER = Router("cisco", "Cisco IOS", "cisco.txt", ("red", "bfifo"), "Cisco's command reference", _write)
