"""The lines for RouterOS 7 of MikroTik: a queue type for each direction, and a simple queue.

# Sources
MikroTik's manual: the pages "Queues" and "CAKE", and the reference of ``/queue/type``.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from aqmlab import _core
from aqmlab.advice.kernel import base
from aqmlab.advice.routers.router import FULL, Lines, Router, full_packets, micros, octets

if TYPE_CHECKING:
    from aqmlab.advice.configuration import Configuration, Half

_ACK_FILTER = {"off": "none", "on": "filter", "aggressive": "aggressive"}


def _write(configuration: Configuration) -> Lines:
    name, up, down = configuration.kernel, configuration.up, configuration.down
    # CAKE is the only shaper then: behind a second one it would not have the queue.
    limits = "" if name == "cake" else f" max-limit={up.payload}k/{down.payload}k"
    lines = [
        "# replace bridge by the interface of the home",
        "/queue simple remove [find name=aqm]",
        '/queue type remove [find name~"^aqm-(up|down)\\$"]',
        *(f"/queue type add name=aqm-{way} {_type(name, half)}" for way, half in (("up", up), ("down", down))),
        f"/queue simple add name=aqm target=bridge{limits} queue=aqm-up/aqm-down",
    ]
    notes = ["Packets of FastTrack bypass simple queues: disable its rule in /ip firewall filter."]
    if name == "cake":
        notes.append("RouterOS has no word for CAKE's ingress: downloads keep a little more of the provider's queue.")
    else:
        notes.append(FULL)
    if name == "red":
        notes.append("RouterOS's RED counts packets, and has no words for its probability and for ECN: it drops.")
    if any(half.values[key] != "auto" and micros(half, key) % 1000 for half in (up, down) for key in _times(name)):
        notes.append("Times are rounded to milliseconds.")
    return Lines("\n".join(lines), tuple(notes))


def _times(name: str) -> tuple[str, ...]:
    return {"fq_codel": ("aqm.target", "aqm.interval"), "codel": ("target", "interval"), "cake": ("rtt",)}.get(name, ())


def _type(name: str, half: Half) -> str:
    """Return the properties of a queue type."""
    if name == "cake":
        return _cake(half)
    if name == "bfifo":
        return f"kind=bfifo bfifo-limit={round(base(half.buffer))}"
    if name == "red":
        least, most = (full_packets(octets(half, key)) for key in ("min_bytes", "max_bytes"))
        rows = {
            "limit": full_packets(base(half.buffer)),
            "min-threshold": least,
            "max-threshold": most,
            "burst": half.values["burst"],
            "avg-packet": octets(half, "mean_packet"),
        }
        return " ".join(["kind=red", *(f"red-{key}={value}" for key, value in rows.items())])
    kind, inner = name.replace("_", "-"), "aqm." if name == "fq_codel" else ""
    rows = {
        "target": _ms(half, f"{inner}target"),
        "interval": _ms(half, f"{inner}interval"),
        "limit": half.buffer.removesuffix(" packets"),
        "ecn": "yes" if half.values[f"{inner}ecn"] else "no",
        **({"flows": half.values["flows"]} if inner else {}),
    }
    return " ".join([f"kind={kind}", *(f"{kind}-{key}={value}" for key, value in rows.items())])


def _cake(half: Half) -> str:
    values = half.values
    rows = {
        "bandwidth": f"{half.kbit}k",
        "diffserv": values["diffserv"],
        "flowmode": values["flowmode"],
        "nat": "yes" if values["flowmode"].startswith("dual-") else "no",
        "rtt": _ms(half, "rtt"),
        **({"autorate-ingress": "yes"} if values["autorate_ingress"] else {}),
        "ack-filter": _ACK_FILTER[values["ack_filter"]],
    }
    if values["framing"] != "auto":
        found = _core.framing(values["framing"])
        assert found
        overhead, _, mpu, cells = found
        rows |= {"overhead": overhead or 0, "mpu": mpu, "atm": cells or "none"}
    return " ".join(["kind=cake", *(f"cake-{key}={value}" for key, value in rows.items())])


def _ms(half: Half, key: str) -> str:
    return f"{max(round(micros(half, key) / 1000), 1)}ms"


ROUTER = Router(
    "mikrotik",
    "MikroTik RouterOS 7",
    "mikrotik.rsc",
    ("cake", "fq_codel", "codel", "red", "bfifo"),
    "MikroTik's reference of /queue/type",
    _write,
)
