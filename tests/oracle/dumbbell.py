"""The runs of dumbbell.tcl in ns-2 as scenarios; docs/internals/fidelity.md explains each convention."""

import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import aqmlab
from oracle import toml

Keys = Mapping[str, str]
"""A configuration: values by dumbbell.tcl's names."""

TABLE = re.search(r"^array set P \{\n(.*?)\n\}", (Path(__file__).parent / "dumbbell.tcl").read_text(), re.S | re.M)
assert TABLE
_WORDS = TABLE[1].split()
DEFAULTS: dict[str, str] = dict(zip(_WORDS[::2], _WORDS[1::2], strict=True))

HEADER, OF_UDP = 40, 28
WIDEST = 65535
FLAVOURS = {"Tahoe": "tahoe", "Reno": "reno", "Newreno": "newreno", "Sack1": "sack"}


class NotYet(Exception):  # noqa: N818  nothing is wrong: it is to come
    """Raised for what dumbbell.tcl can do and we cannot."""


def scenario(name: str, keys: Keys) -> aqmlab.Scenario:
    given = {**DEFAULTS, **keys}
    tables = {
        "title": name,
        "duration": _s(given["dur"]),
        "warmup": _s(given["warm"]),
        "clock": "double",
        "record.series": False,
        **{f"dumbbell.{key}": value for key, value in _network(given).items()},
        **{f"aqm.{key}": value for key, value in _aqm(given).items()},
    }
    if given["n_tcp"] == "1":
        tables["record.cwnd"] = "0.1 s"
    traffic = "".join(toml.entry("traffic", entry) for entry in _traffic(given))
    try:
        made = aqmlab.Scenario.parse(traffic, name).with_(tables)
        made.check()
    except aqmlab.ScenarioError as error:
        raise NotYet("; ".join(line.removeprefix(f"{name}:") for line in str(error).splitlines())) from None
    return made


def _network(given: Keys) -> dict[str, Any]:
    clients, servers = given["d"], given["sd"]
    hosts = int(clients.split(":")[3]) if clients.startswith("U:") else len(clients.split(","))
    sides = [_delays(servers, hosts), _delays(clients, hosts)]
    senders, receivers = sides if given["dir"] == "s2c" else sides[::-1]
    if float(given["rev_aqm"]):
        raise NotYet("rev_aqm: the dumbbell has an algorithm one way only")
    return {
        "rate": _mbit(given["mbps"]),
        "delay": _ms(given["bdelay"]),
        "buffer": _buffer(given),
        "access_rate": _mbit(given["acc_mbps"]),
        "access_buffer": f"{int(given['acc_buf']) - 1} packets",  # drop-tail, as below
        "sender_delay": senders,
        "receiver_delay": receivers,
        **({"hosts": hosts} if ":" in clients + servers else {}),
        **({"loss": float(given["loss"])} if float(given["loss"]) else {}),
    }


def _delays(spec: str, hosts: int) -> str | list[str]:
    """Every host has links of its own, so that a list names all of them: ns-2 repeats the first."""
    if spec.startswith("U:"):
        _, low, high, _ = spec.split(":")
        return f"uniform({_ms(low)}, {_ms(high)})"
    delays = spec.split(",")
    return [_ms(delay) for delay in delays + delays[:1] * (hosts - len(delays))]


def _buffer(given: Keys) -> str:
    """What the limit lets wait: ns-2's disciplines ask at different moments whether it is reached."""
    limit, mean = int(given["buf"]), _mean_packet(given)
    match given["aqm"]:
        # The packet included, less than the limit.
        case "DropTail" | "REM":
            return f"{limit * mean - 1} B" if float(given["qbytes"]) else f"{limit - 1} packets"
        # Less than the limit before the packet: in bytes the last one may stick out, as ns-2's presets have it here.
        case "RED" if float(given["red_bytes"]):
            return f"{limit * mean} B"
        case "PI" if float(given["qbytes"]):
            return f"{limit * mean} B"
        # What fits.
        case "Vq":
            return f"{limit * mean} B"
    return f"{limit} packets"


def _mean_packet(given: Keys) -> int:
    return int(given["mean_pktsize"]) or int(given["psize"])


def _aqm(given: Keys) -> dict[str, Any]:
    mean, ecn, in_bytes = f"{_mean_packet(given)} B", bool(float(given["ecn"])), bool(float(given["qbytes"]))
    number = {key: float(given[key]) for key in given if re.fullmatch(r"(pi|rem|red|vq)_\w+|q0", key)}
    match given["aqm"]:
        case "DropTail":
            return {"name": "droptail"}
        case "PI":
            return {
                "name": "pi",
                "q_ref": number["q0"],
                "a": number["pi_a"],
                "b": number["pi_b"],
                "frequency": f"{given['pi_w']} Hz",
                "bytes": in_bytes,
                "mean_packet": mean,
                "ecn": ecn,
            }
        case "REM" if number["rem_inw"] == 1:
            return {
                "name": "rem",
                "form": "ns2",
                "b_star": number["q0"],
                "phi": number["rem_phi"],
                "gamma": number["rem_gamma"],
                "interval": _s(given["rem_T"]),
                "bytes": in_bytes,
                "mean_packet": mean,
                "ecn": ecn,
            }
        case "RED":
            return {**_red(number), "mean_packet": mean, "ecn": ecn}
        case "Vq" if number["vq_ecnlim"] == float(DEFAULTS["vq_ecnlim"]):
            return {"name": "avq", "form": "ns2", "gamma": number["vq_gamma"], "ecn": ecn}
    raise NotYet(f"aqm={given['aqm']} with these parameters")


def _red(number: Mapping[str, float]) -> dict[str, Any]:
    adaptive = bool(number["red_adaptive"])
    own = adaptive and "ared" in {entry["name"] for entry in aqmlab.catalogue()["aqms"]}
    return {
        "name": "ared" if own else "red",
        "preset": "ns2.35",
        **({"adaptive": True} if adaptive and not own else {}),
        "bytes": bool(number["red_bytes"]),
        "max_p": number["red_maxp"],
        "gentle": bool(number["red_gentle"]),
        "target_delay": f"{number['red_target']} s",
        # Zero, or a weight of -1: automatic, here and there by the same rules.
        **{ours: number[key] for ours, key in (("min_th", "red_min"), ("max_th", "red_max")) if number[key]},
        **({"w_q": number["red_wq"]} if number["red_wq"] > 0 else {}),
    }


def _traffic(given: Keys) -> list[dict[str, Any]]:
    """Flow i of each entry is of host i mod k, there and here."""
    tcp = {
        "preset": "ns2.35",
        "flavour": FLAVOURS[given["tcp"]],
        "delayed_ack": bool(float(given["delack"])),
        "max_window": min(int(given["window"]), WIDEST),
        "min_rto": _s(given["minrto"]),
        "tick": _s(given["tick"]),
        "ecn": bool(float(given["ecn"])),
    }
    if float(given["overhead"]):
        raise NotYet("overhead: no random delay before a packet is sent")
    jitter = float(given["start_jitter"])
    common = {"packet_size": f"{given['psize']} B", "tcp": tcp}
    start = f"uniform(0 s, {jitter:g} s)" if jitter else "0 s"
    back = {"from": ["receivers"], "to": ["senders"]}
    short = {
        "kind": "short",
        "lifetime": f"uniform({_s(given['short_min'])}, {_s(given['short_max'])})",
        "active": [_s(given["short_start"]), _s(given["short_stop"])],
        **common,
    }
    entries: list[tuple[str, dict[str, Any]]] = [
        (given["n_tcp"], {"name": "tcp", "count": int(given["n_tcp"]), "start": start, **common}),
        (
            given["n_tfrc"],
            {
                "name": "tfrc",
                "kind": "tfrc",
                "count": int(given["n_tfrc"]),
                "start": start,
                "packet_size": f"{given['psize']} B",
                "ecn": "ect0" if float(given["ecn"]) else "none",
            },
        ),
        (given["rev_tcp"], {"name": "back", "count": int(given["rev_tcp"]), "start": start, **back, **common}),
        (
            given["n_udp"],
            {
                "name": "udp",
                "kind": "on-off",
                "count": int(given["n_udp"]),
                "rate": _mbit(given["udp_mbps"]),
                "on": f"exponential({_s(given['udp_on'])})",
                "off": f"exponential({_s(given['udp_off'])})",
                "packet_size": f"{given['udp_psize']} B",
                "active": [_s(given["udp_start"]), _s(given["udp_stop"])],
            },
        ),
        (given["short_rate"], {"name": "short", "arrival_rate": f"{given['short_rate']} /s", **short}),
        (
            given["rev_short_rate"],
            {"name": "short back", "arrival_rate": f"{given['rev_short_rate']} /s", **back, **short},
        ),
    ]
    return [entry for amount, entry in entries if float(amount)]


def _s(text: str) -> str:
    return f"{text} s"


def _ms(text: str) -> str:
    return f"{text} ms"


def _mbit(text: str) -> str:
    return f"{text} Mbit/s"
