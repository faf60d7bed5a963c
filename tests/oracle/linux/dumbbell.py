"""A configuration of the guest as a scenario; docs/internals/fidelity.md explains each convention."""

import csv
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import aqmlab
from aqmlab._core import in_base_unit
from oracle import toml
from oracle.dumbbell import NotYet
from oracle.linux import arrivals, shapers
from oracle.linux.guest.senders import PROBE_SIZE, starts
from oracle.linux.points import Conf
from oracle.linux.tc import Discipline, discipline, path

PACKET = 1514
"""Bytes of a full packet as HTB counts it: 1448 of payload, 52 of IP and TCP, and Ethernet's."""

FRAMING = 14
"""Bytes of Ethernet's header, which HTB and the disciplines count."""

FAST, ROOMY = "100 Gbit/s", "1000000 packets"
"""Every link but the bottleneck: never a queue."""

LATE = 128e-9
"""Seconds by which each transmission of the open loop is late on average.

The guest's clock moves in steps of 256 ns, and a burst of one byte, which tc rounds to none, makes HTB forget by how
much the last transmission was late. With it, four in five of the packets that have another fate before a FIFO have the
same.
"""

SAMPLE = "1 ms"
"""The bins of the queue's series: so short that their means are as good as samples."""

PROBE = "probe"
ECN_FIELDS = {0: "none", 1: "ect1", 2: "ect0"}
SYSCTLS = {
    "net.ipv4.tcp_slow_start_after_idle": "restart_after_idle",
    "net.ipv4.tcp_timestamps": "timestamps",
}
"""Switches of the kernel's TCP, and ours."""


def name(group: int, flow: int) -> str:
    """What a flow is called in results."""
    return f"group{group}_flow{flow}"


def closed(title: str, conf: Conf) -> aqmlab.Scenario:
    """Groups of TCP senders, and the probe; flows start when those of the same seed do in the guest."""
    entries = []
    for g, group in enumerate(conf["groups"]):
        ends = {"from": [f"sender{g + 1}"], "to": [f"receiver{g + 1}"], **_code(group)}
        tcp = _tcp(conf, group["cc"])
        what = {"kind": "transfer", "size": f"{group['octets']} B"} if "octets" in group else {}
        for i, t in enumerate(starts(conf, g)):
            entries.append(
                {
                    "name": name(g, i),
                    "start": f"{t:.9f} s",
                    "packet_size": f"{full(conf) - FRAMING} B",
                    **ends,
                    **what,
                    "tcp": tcp,
                }
            )
    if conf.get("probe", True):
        size = PROBE_SIZE - FRAMING
        probed = size * 8 / (conf.get("probe_ms", 20) / 1000)
        entries.append({"name": PROBE, "kind": "cbr", "rate": f"{probed} bit/s", "packet_size": f"{size} B"})
    return _scenario(title, conf, entries, [propagation(conf, group["rtt_ms"]) for group in conf["groups"]])


def _code(of: Mapping[str, Any]) -> dict[str, str]:
    return {"dscp": shapers.DSCPS[of["tos"]]} if "tos" in of else {}


def full(conf: Conf) -> int:
    """Bytes of a full packet, as the bottleneck counts it."""
    mtu: int = conf.get("mtu", PACKET - FRAMING)
    return mtu + FRAMING


def _is_shaped(conf: Conf) -> bool:
    """Whether a shaper of ours is before the bottleneck, and not a discipline that is a link itself."""
    return "more" in conf and "is_link" not in conf


def propagation(conf: Conf, rtt_ms: float) -> float:
    """Seconds that a round trip has besides queue and transmission.

    HTB lets a packet go when its transmission would begin: there the transmission is in no round trip, here it is, but
    not behind a shaper of ours.
    """
    transmission = 0.0 if _is_shaped(conf) else full(conf) * 8 / (conf["rate_mbit"] * 1e6)
    return max(0.0, rtt_ms / 1000 - transmission)


def rate(conf: Conf) -> str:
    """The bottleneck's link: where a shaper stands before it, one that takes packets without an end."""
    return FAST if _is_shaped(conf) else f"{conf['rate_mbit']} Mbit/s"


def bits(conf: Conf) -> float:
    """The rate of the bottleneck's link in bit/s."""
    converted = in_base_unit(rate(conf))
    assert converted
    return converted[0]


def _tcp(conf: Conf, congestion: str) -> dict[str, Any]:
    # Another preset of ours than the guest's, to see how far it is from Linux.
    tcp: dict[str, Any] = {"preset": conf.get("tcp", "linux"), "congestion": congestion}
    if conf.get("ecn"):
        tcp["ecn"] = True
        if conf["ecn"] == 3:
            tcp["ecn_feedback"] = "accurate"
    if conf.get("offload"):
        tcp["offload"] = True
    if conf.get("fq"):
        tcp["pacing"] = "fq"
    if "receive_us" in conf:
        tcp["receive_offload"] = f"{conf['receive_us']} us"
    if "hystart" in conf and congestion == "cubic":
        tcp["hystart"] = bool(conf["hystart"])
    for key, value in conf.get("sysctl", {}).items():
        if key not in SYSCTLS:
            raise NotYet(f"sysctl {key}: no key of ours does the same; known: {', '.join(SYSCTLS)}")
        tcp[SYSCTLS[key]] = bool(int(value))
    return tcp


def open_loop(title: str, conf: Conf, folder: Path, late: float = 0.0) -> aqmlab.Scenario:
    """The packets of `arrivals`, a trace for each flow, written to `folder`; transmissions take `late` seconds more."""
    sent = arrivals.arrivals(conf["arrivals"], conf["seed"])
    field = ECN_FIELDS[conf.get("ecn_field", 0)]
    entries = []
    for flow in range(arrivals.FLOWS):
        own = [(t, size - FRAMING) for t, size, of in sent if of == flow]
        file = folder / f"{conf['arrivals']}-{conf['seed']}-{flow}.csv"
        with file.open("w", newline="") as lines:
            csv.writer(lines).writerows([("time", "size"), *((f"{t:.7f}", size) for t, size in own)])
        entry = {"name": name(0, flow), "kind": "trace", "file": str(file), "start": f"{own[0][0]:.7f} s"}
        code = _code({"tos": conf["tos"][flow]}) if "tos" in conf else {}
        entries.append(entry | code | ({"ecn": field} if field != "none" else {}))
    made = _scenario(title, conf, entries, [0.0])
    if "more" in conf:
        return made
    transmission = arrivals.SIZE * 8 / (conf["rate_mbit"] * 1e6)
    lower = conf["rate_mbit"] * 1e6 * transmission / (transmission + late)
    return made.with_({"dumbbell.rate": f"{lower:.0f} bit/s"})


def _scenario(title: str, conf: Conf, entries: list[dict[str, Any]], round_trips: list[float]) -> aqmlab.Scenario:
    under_test = Discipline(conf["aqm"], conf.get("buffer", ROOMY)) if "aqm" in conf else discipline(conf["qdisc"])
    settings = {
        "title": title,
        "duration": f"{conf['dur']} s",
        "warmup": f"{conf['warm']} s",
        "seed": conf["seed"],
        "record.step": SAMPLE,
        "dumbbell": {
            "rate": rate(conf),
            "delay": "0 s",
            **(path(conf["path"]) if "path" in conf else {}),
            "overhead": f"{FRAMING} B",
            "buffer": under_test.buffer,
            "reverse_rate": FAST,
            "access_rate": FAST,
            "access_buffer": ROOMY,
            # Half a round trip each way. Nothing queues there, so that only their sum counts.
            "sender_delay": [f"{each / 2:.9f} s" for each in round_trips],
            "receiver_delay": ["0 s"],
        },
        **{f"aqm.{key}": value for key, value in under_test.aqm.items()},
        # A discipline, so that the acknowledgements that pass it are counted.
        **({"reverse_aqm.name": "droptail"} if "receive_us" in conf else {}),
    }
    try:
        made = aqmlab.Scenario.parse("".join(toml.entry("traffic", entry) for entry in entries), title).with_(settings)
        made.check()
    except aqmlab.ScenarioError as error:
        raise NotYet(str(error).splitlines()[0].removeprefix(f"{title}:")) from None  # the others are of other flows
    return made
