"""The lines for Junos of Juniper: a shaper, a buffer by its time, and a drop profile, which is RED.

# Sources
Juniper, "Class of Service User Guide": the statements drop-profiles, drop-profile-map, buffer-size, schedulers,
scheduler-maps and shaping-rate. The time of a buffer is at most 200 ms on routers without the buffers of some cards.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from aqmlab.advice.kernel import base
from aqmlab.advice.routers.router import FULL, Lacking, Lines, Router, octets

if TYPE_CHECKING:
    from aqmlab.advice.configuration import Configuration, Half

LONGEST = 200_000
"""The longest buffer in µs."""

PARTS = 10
"""RED's buffer here, in lower thresholds: both thresholds then are whole percentages of it."""

CONTROL = 5
"""The percentage that Junos leaves to the control of the network by default."""

_DEVICES = {"up": "ge-0/0/0", "down": "ge-0/0/1"}


def _write(configuration: Configuration) -> Lines:
    red = configuration.kernel == "red"
    cos = "set class-of-service"
    control = f"{cos} schedulers aqm-control"
    lines = [
        f"# replace {_DEVICES['up']} by the interface to the modem, {_DEVICES['down']} by that of the home",
        f"{control} transmit-rate percent {CONTROL}",
        f"{control} buffer-size percent {CONTROL}",
    ]
    for way, half in (("up", configuration.up), ("down", configuration.down)):
        name, device = f"aqm-{way}", f"{cos} interfaces {_DEVICES[way]}"
        scheduler = f"{cos} schedulers {name}"
        if red:
            levels, chances = _profile(half)
            lines.append(
                f"{cos} drop-profiles {name} interpolate fill-level [ {levels} ] drop-probability [ {chances} ]"
            )
        lines += [f"{scheduler} transmit-rate remainder", f"{scheduler} buffer-size temporal {_buffer(half, red)}"]
        if red:
            lines.append(f"{scheduler} drop-profile-map loss-priority any protocol any drop-profile {name}")
        lines += [
            f"{cos} scheduler-maps {name} forwarding-class best-effort scheduler {name}",
            f"{cos} scheduler-maps {name} forwarding-class network-control scheduler aqm-control",
            f"{device} scheduler-map {name}",
            f"{device} shaping-rate {half.payload}k",
        ]
    notes = [FULL, "Junos drops at the head of a full buffer."]
    if red:
        notes.insert(0, "Junos has its own average of the fill level, and marks (ECN) on some devices only: it drops.")
    return Lines("\n".join(lines), tuple(notes))


def _buffer(half: Half, red: bool) -> int:
    """Return the time of the buffer in µs, at the shaper's rate."""
    size = PARTS * octets(half, "min_bytes") if red else base(half.buffer)
    time = round(size * 8 / half.rate * 1e6)
    if time > LONGEST:
        raise Lacking(f"Junos has buffers of up to {LONGEST / 1000:g} ms, not {time / 1000:.0f}: this link is too slow")
    return time


def _profile(half: Half) -> tuple[str, str]:
    """Return the levels and the probabilities of a drop profile in percent: RED's line, then everything."""
    least = 100 // PARTS
    most = round(least * octets(half, "max_bytes") / octets(half, "min_bytes"))
    return f"{least} {most} {most + 1}", f"0 {max(round(100 * half.values['max_p']), 1)} 100"


ROUTER = Router("junos", "Juniper Junos", "junos.txt", ("red", "bfifo"), "Juniper's user guide", _write)
