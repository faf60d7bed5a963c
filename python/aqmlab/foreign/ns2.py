"""Scripts of ns-2 in Tcl, as far as they state a bottleneck and its flows.

# Sources
The ns Manual, "Queue Management", and ``ns-default.tcl`` of ns-2.35.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from aqmlab.foreign.model import Flows, Path, Place, State, Unread, Unreadable
from aqmlab.foreign.ns import NUMBER, RATES, TIMES, number_of, rate_of, table, time_of

_KINDS = {
    "DropTail": ("droptail", ""),
    "RED": ("red", "ns2.35"),
    "CoDel": ("codel", "ns2.35"),
    "sfqCoDel": ("fq_codel", ""),
    "SFQ": ("sfq", ""),
    "FQ": ("drr", ""),
    "DRR": ("drr", ""),
    "PI": ("pi", "ns2.35"),
    "REM": ("rem", "ns2.35"),
    "Vq": ("avq", "ns2.35"),
    "PIE": ("pie", ""),
}
_TCPS = {"Tahoe": "tahoe", "": "tahoe", "Reno": "reno", "Newreno": "newreno", "Sack1": "sack"}

_NEW = re.compile(
    r"(?:set (\w+(?:\([^)\s]*\))?) \[(?:\$\w+ )?)?"
    r"(?:new (?:Agent/(?=TCP(?:/(?!Sink|FullTcp)|[\]\s;]|$))|Application/Traffic/)([\w/]+)"
    r"|create-connection(?:-list)? (TCP(?!/FullTcp|Sink)[\w/]*))"
)
_BOTH_WAYS = re.compile(r"(?:new Agent/|create-connection(?:-list)? )TCP/FullTcp")
_OF_ONE = re.compile(r"\$(\w+(?:\([^)\s]*\))?) set (\w+_) ([^\s;]+)")
_STARTS = "when flows start and stop is not taken over: they start within the first second"


def is_script(text: str) -> bool:
    """Whether a text is a script for ns-2."""
    return bool(
        re.search(r"^\s*\$\w+\s+(?:duplex|simplex)-link\s", text, re.M)
        or re.search(r"^\s*Queue/\w+ set \w+_", text, re.M)
    )


@dataclass
class _Link:
    ends: tuple[str, str]
    rate: float
    delay: float
    queue: str
    place: Place
    duplex: bool = True
    limit: str = ""
    limit_at: Place | None = None
    back: str = ""


@dataclass
class _Agent:
    """A sender, or a source over UDP: its class, how many there are in loops, and the values set for it alone."""

    kind: str
    count: int
    place: Place
    set: dict[str, str] = field(default_factory=dict)


@dataclass
class _Script:
    name: str
    variables: dict[str, str] = field(default_factory=dict)
    links: list[_Link] = field(default_factory=list)
    set: dict[str, dict[str, tuple[str, Place]]] = field(default_factory=dict)
    agents: list[_Agent] = field(default_factory=list)
    named: dict[str, _Agent] = field(default_factory=dict)
    """The last agent that each variable has held."""
    unread: list[Unread] = field(default_factory=list)

    def filled(self, text: str) -> str:
        """Fill in variables and sums, as far as they are known."""
        for _ in range(4):
            text = re.sub(
                r"\$(?:\{([\w()]+)\}|([A-Za-z_]\w*(?:\(\w+\))?))",
                lambda m: self.variables.get(m[1] or m[2], m[0]),
                text,
            )
            text = re.sub(r"\[set (\w+)\]", lambda found: self.variables.get(found[1], found[0]), text)
            text = re.sub(r"\[expr ([-+*/(). 0-9eE]+)\]", lambda m: _sum(m[1]), text)
        return text


def _sum(text: str) -> str:
    try:
        return f"{eval(text, {'__builtins__': {}}):.12g}" if len(text) < 100 and "**" not in text else text
    except (SyntaxError, ZeroDivisionError, TypeError, ValueError, OverflowError):
        return text


def read(name: str, text: str) -> State:
    """Read the slowest link with its queue, the others as access links, and the long flows of TCP."""
    made = _Script(name)
    repeats: list[tuple[int, int]] = []
    depth = 0
    for number, raw in enumerate(text.splitlines(), 1):
        place = Place(name, number)
        line = made.filled(re.sub(r";?#.*", "", raw) if re.match(r"\s*#|.*;\s*#", raw) else raw).strip()
        if loop := re.match(r"for\s*\{\s*set \w+ (\d+)\s*\}\s*\{\s*\$\w+\s*(<=?)\s*(\d+)\s*\}", line):
            count = int(loop[3]) - int(loop[1]) + (loop[2] == "<=")
            repeats.append((depth, min(max(count, 0), 10_000)))
        times = 1
        for _, count in repeats:
            times *= count
        _line(made, line, place, min(times, 10_000))
        depth += line.count("{") - line.count("}")
        repeats = [each for each in repeats if each[0] < depth]
    if not made.links:
        raise Unreadable(
            Place(name), "no duplex-link with a rate and a delay that are numbers here: write them in their place"
        )
    return _state(made)


def _line(made: _Script, line: str, place: Place, times: int) -> None:
    if found := re.match(r"set ([A-Za-z_]\w*(?:\(\w+\))?) (\S+)$", line):
        made.variables[found[1]] = found[2].strip('"')
    for found in _NEW.finditer(line):
        made.agents.append(_Agent(found[2] or found[3], times, place))
        made.named[found[1]] = made.agents[-1]
    for found in _OF_ONE.finditer(line):
        if found[1] in made.named:
            _set(made.named[found[1]], found[2], found[3])
    if _BOTH_WAYS.search(line):
        made.unread.append(Unread(place, "TCP/FullTcp, which sends both ways, has no counterpart: it is left out"))
    if re.search(r"\$ns_? at .*start", line) and not any(each.text == _STARTS for each in made.unread):
        made.unread.append(Unread(place, _STARTS))
    if found := re.match(
        rf"\$\w+ (duplex|simplex)-link (\S+) (\S+) ({NUMBER})([kKmMgG]?)(?:b|bps)? ({NUMBER})(m?s?|us) ([\w/]+)",
        line,
    ):
        bits = float(found[4]) * RATES[found[5].lower()]
        delay = float(found[6]) * TIMES.get("ms" if found[7] == "m" else found[7], 1.0)
        made.links.append(_Link((found[2], found[3]), bits, delay, found[8], place, found[1] == "duplex"))
    elif re.match(r"\$\w+ (duplex|simplex)-link ", line):
        made.unread.append(Unread(place, f"{line}: its rate, delay or queue is not known"))
    elif found := re.match(r"\$\w+ queue-limit (\S+) (\S+) (\d+)", line):
        for each in made.links:
            if each.ends == (found[1], found[2]):
                each.limit, each.limit_at = found[3], place
            elif each.ends == (found[2], found[1]):
                each.back = found[3]
    elif found := re.match(r"(Queue(?:/\w+)?|Agent/TCP\S*|Application/Traffic/CBR) set (\w+) (\S+)", line):
        made.set.setdefault(found[1], {})[found[2]] = found[3], place


def _set(agent: _Agent, key: str, value: str) -> None:
    """Set a value of one agent. Of an interval ns-2 makes a rate at once, by the size that datagrams have by then."""
    if key in ("rate_", "interval_"):
        for other in ("rate_", "interval_", "interval's size"):
            agent.set.pop(other, None)
    if key == "interval_" and "packetSize_" in agent.set:
        agent.set["interval's size"] = agent.set["packetSize_"]
    agent.set["packetSize_" if key == "packet_size_" else key] = value


def _state(made: _Script) -> State:
    slowest = min(made.links, key=lambda each: each.rate)
    kind = _KINDS.get(slowest.queue)
    if kind is None:
        raise Unreadable(
            slowest.place, f"queue {slowest.queue} has no counterpart here; those that have one: {', '.join(_KINDS)}"
        )
    given = dict(made.set.get(f"Queue/{slowest.queue}", {}))
    limit, at = slowest.limit, slowest.limit_at
    if not limit:
        limit, at = given.get("limit_") or made.set.get("Queue", {}).get("limit_") or ("50", slowest.place)
    left = list(made.unread)
    aqm = table(slowest.place, kind, given, left)
    own = given.get("limit_", made.set.get("Queue", {}).get("limit_", ("50", slowest.place)))[0]
    buffers = {"down": _buffer(aqm, limit, given)}
    # A duplex link has the discipline in both directions.
    aqms = {"down": aqm}
    if slowest.duplex:
        aqms["up"], buffers["up"] = aqm, _buffer(aqm, slowest.back or own, given)
    ends = set(slowest.ends)
    others = [each for each in made.links if set(each.ends) != ends]
    back = next((each for each in made.links if each.ends == slowest.ends[::-1]), None)
    if back is not None and back.queue in _KINDS:
        theirs = dict(made.set.get(f"Queue/{back.queue}", {}))
        aqms["up"] = table(back.place, _KINDS[back.queue], theirs, left)
        limit = back.limit or made.set.get("Queue", {}).get("limit_", ("50", back.place))[0]
        buffers["up"] = _buffer(aqms["up"], limit, theirs)
    near = list(dict.fromkeys(each.delay for each in others if slowest.ends[0] in each.ends))
    far = list(dict.fromkeys(each.delay for each in others if slowest.ends[1] in each.ends))
    if len(others) > len([each for each in others if set(slowest.ends) & set(each.ends)]):
        left.append(Unread(slowest.place, "links that do not meet the slowest are left out"))
    flows = _flows(made, left)
    path = Path(
        slowest.place,
        slowest.rate,
        slowest.rate,
        slowest.delay,
        buffers,
        aqms,
        {},
        {},
        tuple(near),
        {"buffer down": at or slowest.place},
        tuple(far),
    )
    return State(paths=(path,), flows=tuple(flows), unread=tuple(left))


def _flows(made: _Script, left: list[Unread]) -> list[Flows]:
    """Return the traffic; senders of which the same is known are one entry."""
    found: list[tuple[Place, dict[str, Any]]] = []
    named = Counter[str]()
    for agent in made.agents:
        if agent.kind.startswith("TCP"):
            entry = _tcp(made, agent, left)
        elif agent.kind == "CBR":
            entry = _cbr(made, agent, left)
        else:
            left.append(Unread(agent.place, f"Application/Traffic/{agent.kind} has no counterpart"))
            continue
        same = next((one for _, one in found if {**one, "count": 0, "name": ""} == {**entry, "name": ""}), None)
        if same is None:
            named[entry["name"]] += 1
            again = named[entry["name"]]
            found.append((agent.place, entry | {"name": f"{entry['name']}-{again}" if again > 1 else entry["name"]}))
            same = found[-1][1]
        same["count"] += agent.count
    return [Flows(place, entry) for place, entry in found]


def _value(made: _Script, agent: _Agent, owner: str, key: str, default: str) -> str:
    """Return a value set for an agent, for its class, or for the class of all."""
    owners = (made.set.get(each, {}) for each in (f"{owner}/{agent.kind.partition('/')[2]}", owner))
    return agent.set.get(key) or next((own[key][0] for own in owners if key in own), default)


def _read(
    agent: _Agent, key: str, text: str, default: str, number: Callable[[str], float | None], left: list[Unread]
) -> float:
    """Return the number that a text is, or else, with a remark, that of the default."""
    found = number(text)
    if found is None or found <= 0:
        left.append(Unread(agent.place, f"{key} {text}: no number here: {default} is taken"))
        found = number(default)
    assert found is not None
    return found


def _tcp(made: _Script, agent: _Agent, left: list[Unread]) -> dict[str, Any]:
    kind = agent.kind.partition("/")[2]
    if kind not in _TCPS and not any(each.text.startswith(f"Agent/TCP/{kind} ") for each in left):
        left.append(Unread(agent.place, f"Agent/TCP/{kind} has no counterpart: newreno is taken"))
    window = _value(made, agent, "Agent/TCP", "window_", "20")
    size = _value(made, agent, "Agent/TCP", "packetSize_", "1000")
    segments = _read(agent, "window_", window, "20", number_of, left)
    octets = _read(agent, "packetSize_", size, "1000", number_of, left)
    return {
        "name": f"tcp-{kind.lower()}" if kind else "tcp",
        "count": 0,
        "start": "uniform(0 s, 1 s)",
        "tcp": f"ns2.35:flavour={_TCPS.get(kind, 'newreno')},max_window={max(1, int(segments))}",
        "packet_size": f"{octets + 40:g} B",  # with the header, which ns-2 adds
    }


def _cbr(made: _Script, agent: _Agent, left: list[Unread]) -> dict[str, Any]:
    """Return a source of datagrams, by default of 448 kbit/s in packets of 210 bytes."""

    def value(key: str, default: str, number: Callable[[str], float | None]) -> float:
        return _read(agent, key, _value(made, agent, "Application/Traffic/CBR", key, default), default, number, left)

    bits = value("rate_", "448Kb", rate_of)
    if "interval_" in agent.set:
        default = _value(made, _Agent("CBR", 1, agent.place), "Application/Traffic/CBR", "packetSize_", "210")
        then = _read(agent, "packetSize_", agent.set.get("interval's size", default), "210", number_of, left)
        bits = then * 8 / _read(agent, "interval_", agent.set["interval_"], f"{then * 8 / bits:g}", time_of, left)
    elif "interval_" in made.set.get("Application/Traffic/CBR", {}):
        left.append(Unread(agent.place, "ns-2 takes interval_ of one source alone: that of all is left out"))
    size = value("packetSize_", "210", number_of)
    own = {"rate": f"{bits:g} bit/s", "packet_size": f"{size:g} B"}
    return {"name": "cbr", "kind": "cbr", "count": 0, "start": "uniform(0 s, 1 s)", **own}


def _buffer(aqm: Mapping[str, Any], limit: str, given: Mapping[str, tuple[str, Place]]) -> str:
    """Return what a limit lets wait: ns-2's disciplines ask at different moments whether it is reached."""
    number = int(float(limit)) if re.fullmatch(NUMBER, limit) else 50
    octets = aqm.get("bytes", aqm.get("preset") == "ns2.35" and aqm["name"] == "red")
    if octets:
        mean = given.get("mean_pktsize_", ("500", None))[0]
        return f"{max(1, number) * int(float(mean))} B"
    return f"{max(1, number - (aqm['name'] in ('droptail', 'rem')))} packets"
