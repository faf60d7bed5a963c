"""Remarks on a scenario whose numbers are right and may still mislead, each with the key that changes it."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from aqmlab import _core
from aqmlab.scenario import LISTS, Scenario
from aqmlab.text import printable

Resolved = Mapping[str, Any]
"""A scenario with every default filled in."""

_SIDES = ("from", "to")

_MANY = 50
"""Flows of one round trip, from which on phase effects are expected."""

_ENDS = {"aqm": "senders", "reverse_aqm": "receivers"}
"""The nodes of a dumbbell from which data comes to each of its queue disciplines."""


def cautions(scenarios: Iterable[Scenario]) -> list[str]:
    """List the remarks on the scenarios of a result or a comparison, one sentence each; mostly there are none."""
    found: dict[tuple[str, tuple[str, ...]], list[str]] = {}
    steps: list[str] = []
    for scenario in scenarios:
        resolved = scenario.resolved
        for path, table, senders in _queues(resolved):
            key = _unset(path, table)
            if key and senders:
                found.setdefault((key, tuple(senders)), []).append(_name(table))
        steps += _short_steps(resolved)
        steps += _unused_delays(resolved)
        steps += map(printable, scenario._core.remarks)
        steps += _phases(resolved, round_trips(scenario))
    drops = [
        f"{', '.join(dict.fromkeys(names))}: packets of {', '.join(map(printable, senders))} are dropped that could be "
        f"marked; {key} = true marks them."
        for (key, senders), names in found.items()
    ]
    return [*drops, *dict.fromkeys(steps)]


def _short_steps(resolved: Resolved) -> Iterator[str]:
    """Yield a remark for each step of DualPI2 that is shorter than a packet takes."""
    for path, table, _ in _queues(resolved):
        if _name(table) != "dualpi2" or table["th_len"] != "auto" or int(table["min_qlen_step"]):
            continue
        rate = _rate(resolved, path)
        packet = max(_number(entry["packet_size"]) for entry in resolved["traffic"])
        if rate and 8 * packet / rate > _number(table["min_th"]):
            yield (
                f"{path}.min_th = {table['min_th']} is less than the {8e3 * packet / rate:.3g} ms that a packet takes: "
                f"DualPI2 marks every packet of L4S. Set {path}.min_qlen_step = 1, or a longer min_th."
            )


def round_trips(scenario: Scenario) -> dict[str, list[float]]:
    """Return the round trips without a queue, in s, of the hosts of each traffic entry of a dumbbell, shortest first.

    Transmission is left out. So is an entry with hosts elsewhere or with drawn delays.
    """
    found: dict[str, list[float]] = {}
    resolved = scenario.resolved
    dumbbell = resolved.get("dumbbell")
    if dumbbell is None:
        return found
    for entry in resolved["traffic"]:
        pairs = [_hosts(entry, end, dumbbell) for end in _SIDES]
        if all(pairs):
            every = math.lcm(*map(len, pairs))
            count = every if entry["kind"] == "short" else min(int(entry["count"]), every)
            ways = {sum(way[i % len(way)] for way in pairs) for i in range(count)}
            found[entry["name"]] = sorted(2 * (_number(dumbbell["delay"]) + way) for way in ways)
    return found


def _hosts(entry: Mapping[str, Any], end: str, dumbbell: Mapping[str, Any]) -> list[float]:
    """Return the delays of the hosts at one end of an entry; empty if they are not known."""
    nodes = entry[end]
    group = nodes[0].rstrip("0123456789").rstrip("s")
    own = entry.get(f"{group}_delay", "auto") if nodes == [f"{group}s"] else "auto"
    texts = dumbbell.get(f"{group}_delay") if own == "auto" else own
    if len(nodes) > 1 or not texts:
        return []
    if own == "auto" and dumbbell["hosts"] != "auto":
        texts = texts[: int(dumbbell["hosts"])]
    delays = [_number(text) if _core.in_base_unit(text) else math.nan for text in texts]
    number = nodes[0].removeprefix(group)
    chosen = delays if number == "s" else [delays[(int(number) - 1) % len(delays)]]
    return [] if any(map(math.isnan, chosen)) else chosen


def _unused_delays(resolved: Resolved) -> Iterator[str]:
    """Yield a remark if several entries of greedy flows have fewer flows than there are delays: each has the first."""
    dumbbell = resolved.get("dumbbell", {})
    for side in ("sender", "receiver"):
        delays = dumbbell.get(f"{side}_delay", ())
        few = [
            printable(entry["name"])
            for entry in resolved["traffic"]
            if entry["kind"] in ("ftp", "transfer")
            and 0 < int(entry["count"]) < len(delays)
            and [f"{side}s"] in (entry["from"], entry["to"])
            and entry[f"{side}_delay"] == "auto"
        ]
        if len(few) > 1:
            yield (
                f"{', '.join(few)}: the flows of each entry begin with the first of the {len(delays)} values of "
                f'dumbbell.{side}_delay; a line {side}_delay = "{delays[1]}" in an entry gives it another.'
            )


def _phases(resolved: Resolved, trips: Mapping[str, list[float]]) -> Iterator[str]:
    """Yield a remark if many flows arrive at a full queue in step with the packets that leave it."""
    dumbbell = resolved.get("dumbbell")
    if dumbbell is None or _name(resolved.get("aqm") or {"name": "droptail"}) not in ("droptail", "headdrop"):
        return
    rate, steady = _number(dumbbell["rate"]), Counter[float]()
    for entry in resolved["traffic"]:
        if entry["kind"] in ("ftp", "transfer") and entry["name"] in trips and not _number(entry["send_jitter"]):
            ways = trips[entry["name"]]
            steady.update({round(way, 9): int(entry["count"]) // len(ways) for way in ways})
    flows = max(steady.values(), default=0)
    if flows >= _MANY and math.isclose(_number(dumbbell["access_rate"]), rate):
        packet = max(_number(entry["packet_size"]) for entry in resolved["traffic"])
        yield (
            f"{flows} flows have one round trip, and access links the bottleneck's rate: packets may keep their phase, "
            f'so that a few flows get most of the link. Set send_jitter = "{8e6 * 10 * packet / rate:.3g} us" (ten '
            "packets) in the traffic entries, or draw the delays of more hosts: see docs/guide/phase-effects.md."
        )


def _queues(resolved: Resolved) -> Iterator[tuple[str, Mapping[str, Any], list[str]]]:
    """Yield the path and the table of each queue discipline, and the ECN-capable traffic that goes through it."""
    capable = {entry["name"]: entry["from"] for entry in resolved["traffic"] if _is_capable(entry)}
    for key, end in _ENDS.items():
        if resolved.get(key):
            # Of a network of links it is not known which traffic takes which.
            yield (
                key,
                resolved[key],
                [name for name, ends in capable.items() if resolved.keys() & set(LISTS) or end in ends],
            )
    for kind in LISTS:
        for link in resolved.get(kind, ()):
            for key in _ENDS:
                if link.get(key) not in (None, "auto"):
                    yield f"{kind}.{link['name']}.{key}", link[key], list(capable)


def _is_capable(entry: Mapping[str, Any]) -> bool:
    tcp = entry.get("tcp")
    return bool(tcp["ecn"]) if isinstance(tcp, dict) and "ecn" in tcp else entry.get("ecn", "none") in ("ect0", "ect1")


def _unset(path: str, table: Mapping[str, Any]) -> str:
    """Return the path of the parameter ``ecn`` that is off, in a discipline or in that of its queues."""
    for key, value in table.items():
        if key == "ecn" and value is False:
            return f"{path}.ecn"
        if key == "aqm" and isinstance(value, dict) and (found := _unset(f"{path}.aqm", value)):
            return found
    return ""


def _name(table: Mapping[str, Any]) -> str:
    return printable(str(table["name"]))


def _rate(resolved: Resolved, path: str) -> float:
    """Return the rate in bit/s of the link of a queue discipline; 0 if it is recorded."""
    owner, _, key = path.rpartition(".")
    cables = {f"link.{cable['name']}": cable for cable in resolved.get("link", ())}
    cable = cables.get(owner) or resolved.get("dumbbell") or {}
    rate = cable.get("reverse_rate" if key.startswith("reverse") else "rate", "auto")
    return _number(cable.get("rate", "auto") if rate == "auto" else rate)


def _number(text: Any) -> float:
    found = _core.in_base_unit(str(text))
    return float(found[0]) if found else 0.0
