"""Remarks on a scenario whose numbers are right and may still mislead, each with the key that changes it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from aqmlab import _core
from aqmlab.scenario import Scenario
from aqmlab.text import printable

_ENDS = {"aqm": "senders", "reverse_aqm": "receivers"}
"""The nodes of a dumbbell from which data comes to each of its queue disciplines."""


def cautions(scenarios: Iterable[Scenario]) -> list[str]:
    """List the remarks on the scenarios of a result or a comparison, one sentence each; mostly there are none."""
    found: dict[tuple[str, tuple[str, ...]], list[str]] = {}
    steps: list[str] = []
    for scenario in scenarios:
        for path, table, senders in _queues(scenario):
            key = _unset(path, table)
            if key and senders:
                found.setdefault((key, tuple(senders)), []).append(_name(table))
        steps += _short_steps(scenario)
    drops = [
        f"{', '.join(dict.fromkeys(names))}: packets of {', '.join(map(printable, senders))} are dropped that could be "
        f"marked; {key} = true marks them."
        for (key, senders), names in found.items()
    ]
    return [*drops, *dict.fromkeys(steps)]


def _short_steps(scenario: Scenario) -> Iterator[str]:
    """Yield a remark for each step of DualPI2 that is shorter than a packet takes."""
    for path, table, _ in _queues(scenario):
        if _name(table) != "dualpi2" or table["th_len"] != "auto" or int(table["min_qlen_step"]):
            continue
        rate, packet = (
            _rate(scenario, path),
            max(_number(entry["packet_size"]) for entry in scenario.resolved["traffic"]),
        )
        if rate and 8 * packet / rate > _number(table["min_th"]):
            yield (
                f"{path}.min_th = {table['min_th']} is less than the {8e3 * packet / rate:.3g} ms that a packet takes: "
                f"DualPI2 marks every packet of L4S. Set {path}.min_qlen_step = 1, or a longer min_th."
            )


def _queues(scenario: Scenario) -> Iterator[tuple[str, Mapping[str, Any], list[str]]]:
    """Yield the path and the table of each queue discipline, and the ECN-capable traffic that goes through it."""
    resolved = scenario.resolved
    capable = {entry["name"]: entry["from"] for entry in resolved["traffic"] if _is_capable(entry)}
    for key, end in _ENDS.items():
        if resolved.get(key):
            # Of a network of links it is not known which traffic takes which.
            yield key, resolved[key], [name for name, ends in capable.items() if "link" in resolved or end in ends]
    for link in resolved.get("link", ()):
        for key in _ENDS:
            if link.get(key) not in (None, "auto"):
                yield f"link.{link['name']}.{key}", link[key], list(capable)


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


def _rate(scenario: Scenario, path: str) -> float:
    """Return the rate in bit/s of the link of a queue discipline; 0 if it is recorded."""
    owner, _, key = path.rpartition(".")
    cables = {f"link.{cable['name']}": cable for cable in scenario.resolved.get("link", ())}
    cable = cables.get(owner) or scenario.resolved.get("dumbbell") or {}
    rate = cable.get("reverse_rate" if key.startswith("reverse") else "rate", "auto")
    return _number(cable.get("rate", "auto") if rate == "auto" else rate)


def _number(text: Any) -> float:
    found = _core.in_base_unit(str(text))
    return float(found[0]) if found else 0.0
