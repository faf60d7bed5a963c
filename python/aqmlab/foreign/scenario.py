"""Files of other programs as a scenario in TOML, with the origin of each value in a comment."""

from __future__ import annotations

import json
import pathlib
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from aqmlab._core import ScenarioError
from aqmlab.foreign.configured import configured
from aqmlab.foreign.disciplines import rate, time
from aqmlab.foreign.model import Path, Place, State, Unread, Unreadable
from aqmlab.foreign.ways import Way, shortened, way
from aqmlab.scenario import Scenario

_ASSUMED = "assumed"
_TRAFFIC: Sequence[Mapping[str, Any]] = (
    {"name": "downloads", "count": 2, "start": "uniform(0 s, 1 s)"},
    {"name": "upload", "from": "receivers", "to": "senders", "start": "uniform(0 s, 1 s)"},
    {"name": "ping", "kind": "ping"},
)
"""The load where no file has one: both directions are busy."""

MODEM = "500 ms"
"""The buffer of a modem, which holds the queue of a shaper above its rate: that of links/home."""

ROUND_TRIP = 0.03
"""Seconds of a round trip where no file states one: that of a dumbbell."""


@dataclass(frozen=True)
class Given:
    """What the user adds: the rates of the line in bit/s, its shortest and longest round trip in s, and names."""

    down: float | None = None
    up: float | None = None
    round_trips: tuple[float, ...] = ()
    wan: str = ""
    lan: str = ""
    of: str = ""


@dataclass
class _Document:
    """Lines of TOML with their comments."""

    lines: list[str] = field(default_factory=list)

    def remark(self, text: str) -> None:
        self.lines.append(f"# {shortened(text, 400)}")

    def head(self, name: str) -> None:
        self.lines += ["", name]

    def put(self, key: str, value: Any, comment: str = "") -> None:
        self.lines.append(f"{key} = {toml(value)}" + (f" # {shortened(comment, 400)}" if comment else ""))

    def table(self, name: str, values: Mapping[str, Any], comment: str = "") -> None:
        """Write a table, those within it after its own values."""
        if not values or any(not isinstance(value, Mapping) for value in values.values()):
            self.head(f"[{name}]" + (f" # {shortened(comment, 400)}" if comment else ""))
        for key, value in values.items():
            if not isinstance(value, Mapping):
                self.put(key, value)
        for key, value in values.items():
            if isinstance(value, Mapping):
                self.table(f"{name}.{key}", value)

    def text(self) -> str:
        return "\n".join(self.lines) + "\n"


def toml(value: Any) -> str:
    """Write a value as TOML."""
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, str):
        return json.dumps(value, ensure_ascii=False)
    if isinstance(value, Mapping):
        return f"{{ {', '.join(f'{key} = {toml(each)}' for key, each in value.items())} }}"
    if isinstance(value, list | tuple):
        return f"[{', '.join(map(toml, value))}]"
    return f"{value:.9g}" if isinstance(value, float) else str(value)


def scenario(state: State, given: Given | None = None) -> str:
    """Write a state of a router as a scenario.

    Parameters
    ----------
    state : State
        What the files say, as `aqmlab.foreign.read.read` returns it.
    given : Given, optional
        What the user adds.

    Returns
    -------
    str
        TOML that `aqmlab.Scenario.parse` accepts; each line has a comment with its origin.

    Raises
    ------
    Unreadable
        If the files leave open what a scenario needs.
    """
    given = given or Given()
    made = _Document()
    for source in state.sources:
        made.remark(f"From {source.place}: {source.format}.")
    made.put("title", _title(state))
    made.put("duration", "60 s", _ASSUMED)
    made.put("warmup", "10 s", _ASSUMED)
    notes: list[tuple[Place, str]] = []
    if state.paths:
        _path(made, state.paths[0], given, state)
        notes += [(each.place, "a second network: only the first is taken") for each in state.paths[1:]]
    else:
        whole = configured(state, given.of)
        down, up = map(_behind, _ways(whole, given), (given.down, given.up))
        _dumbbell(made, down, up, given, whole)
        notes += [note for each in (down, up) if each for note in each.notes]
        state = whole
    _traffic(made, state)
    _notes(made, notes, state.unread)
    return _checked(made)


def _checked(made: _Document) -> str:
    """Return the text; raise `Unreadable`, with the origin of the line, if no simulation can have one of its values."""
    text = made.text()
    try:
        Scenario.parse(text, "").check()
    except ScenarioError as error:
        said = re.sub(r"^[^:]*:\d+: ", "", str(error).splitlines()[0])
        origin = next((each for each in reversed(made.lines[: error.line or 0]) if " # " in each), "")
        where, _, _ = origin.partition(" # ")[2].partition(": ")
        file, _, number = where.partition(", line ")
        place = Place(file, int(number)) if number.isdigit() else Place(file or "the files")
        raise Unreadable(place, f"no simulation can have {said}") from None
    return text


def _title(state: State) -> str:
    return shortened(
        f"Imported from {', '.join(dict.fromkeys(each.place.file for each in state.sources)) or 'files'}", 200
    )


def by_shapers(state: State, given: Given) -> list[str]:
    """Return the rates of a link that are those of its shapers, though those of the line may be others, in words."""
    if state.paths:
        return []
    ways = zip(("down", "up"), _ways(configured(state, given.of), given), strict=True)
    return [f"{rate(one.rate)} {name}" for name, one in ways if one and one.rate and getattr(given, name) is None]


def _behind(one: Way | None, line: float | None) -> Way | None:
    """Return the direction on a line that is not faster than its shaper: the queue is that of the modem."""
    if one is None or one.rate is None or line is None or line > one.rate:
        return one
    stated = one.origins.get("rate", one.device)
    told = f"{_ASSUMED}: the modem's, behind a shaper that is not below the line ({stated})"
    origins = {**one.origins, "rate": f"as given; the shaper has {rate(one.rate)}", "buffer": told, "aqm": told}
    return replace(one, rate=line, aqm={"name": "droptail"}, buffer=MODEM, origins=origins)


def _ways(state: State, given: Given) -> tuple[Way | None, Way | None]:
    """Return the directions to the home and from it; raise `Unreadable` if the files do not tell their devices."""
    wan, lan = given.wan, given.lan
    having = [device for device in state.devices_with_queues() if state.root(device)]
    for option, device in (("--wan", wan), ("--lan", lan)):
        if device and device not in having:
            raise Unreadable(
                _where(state), f"{option} {device}: there are queues of {', '.join(having) or 'no device'}"
            )
    if not wan and not lan:
        redirected = [device for device in state.devices_with_queues() if state.ingress_of(device)]
        wan = redirected[0] if len(redirected) == 1 else _only(state, having, redirected)
    if wan and not lan:
        named = (f"ifb4{wan}", f"ifb-{wan}", f"ifb_{wan}")
        ifbs = [device for device in having if device.startswith("ifb") and device != wan]
        to = state.ingress_of(wan) or next((device for device in ifbs if device in named or len(ifbs) == 1), "")
        lan = to if to in having else ""
    down = way(state, lan) if lan else None
    up = way(state, wan) if wan and state.root(wan) else None
    return down, up


_CURE = "give `tc -s -d qdisc show` of the router whose device sends to the line, as root"
_CURES = {
    "LibreQoS' network": "give ShapedDevices.csv beside it",
    "RouterOS' export": "give the queues that have a max-limit, with /queue type",
}
"""What to give instead, where it is not the output of tc."""


def _only(state: State, having: Sequence[str], redirected: Sequence[str]) -> str:
    """Return the device that has a queue, or a shaper if several have queues."""
    ifbs = {state.ingress_of(device) for device in redirected}
    queues = [device for device in having if device not in ifbs and _root_kind(state, device) != "noqueue"]
    queues = [device for device in queues if not device.startswith("ifb")] or queues
    shaped = [device for device in queues if way_has_rate(state, device)]
    found = shaped if shaped else queues
    if len(found) == 1:
        return found[0]
    if not found:
        kinds = "no queue but noqueue" if having else "no queue"
        told = list(dict.fromkeys(each.text for each in state.unread))[:2]
        why = f" ({'; '.join(told)})" if told else ""
        format_ = state.sources[0].format if state.sources else ""
        raise Unreadable(_where(state), f"{kinds}{why}: {_CURES.get(format_, _CURE)}")
    raise Unreadable(
        _where(state),
        f"{', '.join(found)} have queues: say with --wan DEVICE which sends to the line, and with --lan DEVICE which "
        "sends to the home",
    )


def _root_kind(state: State, device: str) -> str:
    root = state.root(device)
    return root.kind if root else "noqueue"


def way_has_rate(state: State, device: str) -> bool:
    """Whether a device has a shaper."""
    root = state.root(device)
    return root is not None and (
        root.kind in ("htb", "tbf", "hfsc")
        or "bandwidth" in root.options
        or (root.kind == "netem" and "rate" in root.options)
    )


def _where(state: State) -> Place:
    return state.sources[0].place if state.sources else Place("the files")


def _dumbbell(made: _Document, down: Way | None, up: Way | None, given: Given, state: State) -> None:
    """Write a link whose forward direction is the way to the home, as `aqmlab advise` takes it."""
    if down is None and up is None:
        raise Unreadable(
            _where(state), "no queue of a device that sends to the line: give `tc -s -d qdisc show` of the router"
        )
    if down is None:
        made.put("observe", "bottleneck:reverse", "what goes up, which the files are about")
    made.head("[dumbbell]")
    ways = (("", "down", down), ("reverse_", "up", up))
    rates = {name: (each.rate if each else None) or getattr(given, name) for _, name, each in ways}
    for prefix, name, each in ways:
        bits = rates[name] or (next(filter(None, rates.values()), None) if None in (down, up) else None)
        if bits is None:
            lacking = each or down or up
            assert lacking is not None
            raise Unreadable(
                Place(lacking.origins.get("aqm", lacking.device).partition(": ")[0]),
                f"{lacking.device} has no shaper, so that no file states the link's rate: give it with "
                f"--{'down' if lacking is down else 'up'} 50mbit",
            )
        stated = each.origins.get("rate") if each else None
        assumed = (
            "as given: no shaper" if rates[name] else f"{_ASSUMED}, as the other direction's: give --{name} 50mbit"
        )
        made.put(f"{prefix}rate", rate(bits), stated or assumed)
        if each is not None:
            made.put(f"{prefix}buffer", each.buffer, each.origins.get("buffer", f"{each.device}: {_ASSUMED}"))
    _frames(made, [each for each in (down, up) if each])
    _delays(made, down, up, given)
    for prefix, _, each in ways:
        if each is not None:
            for key, value in each.link.items():
                if key != "delay":
                    made.put(f"{prefix}{key}", value, each.origins.get(key, ""))
    for table, each in (("aqm", down), ("reverse_aqm", up)):
        if each is not None:
            made.table(table, each.aqm, each.origins.get("aqm", f"{each.device}: no discipline"))


def _frames(made: _Document, ways: Sequence[Way]) -> None:
    """Write what a link adds to each packet: what the shapers of both directions count."""
    stated = [each for each in ways if each.framing]
    if stated and len({each.framing for each in ways}) > 1:
        made.remark("The two directions state different link layers, of which a link has one.")
        # CAKE counts for itself, whatever the link adds.
        stated = [each for each in stated if "framing" not in each.aqm]
    if stated:
        made.put("framing", stated[0].framing, stated[0].origins["framing"])
        return
    counted = next(iter(ways)).header
    if len({each.header for each in ways}) > 1:
        made.remark("Linux counts Ethernet's header in one direction alone; a link has one overhead.")
    said = "Ethernet's header, which Linux counts" if counted else "Linux counts no header before that of IP"
    made.put("overhead", f"{counted} B", said)


def _delays(made: _Document, down: Way | None, up: Way | None, given: Given) -> None:
    ways = (("", down), ("reverse_", up))
    stated = {key: each.link["delay"] for key, each in ways if each and "delay" in each.link}
    if stated:
        told = next(each.origins["delay"] for _, each in ways if each and "delay" in each.link)
        made.put("delay", stated.get("", "0 s"), told)
        if stated.get("reverse_") != stated.get(""):
            made.put("reverse_delays", [f"0 s: {stated.get('reverse_', '0 s')}"], "the other direction")
        own = [trip / 2 for trip in given.round_trips]
        made.put("sender_delay", [time(each) for each in own] or "0 s", "as given" if own else "netem has the delay")
        made.put("receiver_delay", "0 s")
        return
    trips, origin = _round_trips(given)
    ends = min(trips) / 20
    made.put("delay", time(ends), origin)
    made.put("sender_delay", [time(trip / 2 - 2 * ends) for trip in trips], origin)
    made.put("receiver_delay", time(ends), origin)


def _round_trips(given: Given) -> tuple[list[float], str]:
    """Return the round trips of hosts, first that of a flow which is alone, and their origin."""
    if not given.round_trips:
        return [ROUND_TRIP], f"a round trip of {time(ROUND_TRIP)} is {_ASSUMED}: give --rtt"
    least, most = given.round_trips[0], given.round_trips[-1]
    # As `aqmlab advise` takes a range: the geometric mean, the least and the most.
    return [least] if least == most else [(least * most) ** 0.5, least, most], "as given"


def _path(made: _Document, path: Path, given: Given, state: State) -> None:
    """Write the network of a simulator or an emulator."""
    told = {key: f"{place}" for key, place in path.places.items()}

    def origin(key: str) -> str:
        return told.get(key, str(path.place))

    made.head("[dumbbell]")
    down, up = path.down or given.down, path.up or given.up
    if down is None and "down" not in path.recordings:
        raise Unreadable(path.place, "no rate of the link with the queue is stated: give it with --down 10mbit")
    for prefix, way_, bits in (("", "down", down), ("reverse_", "up", up)):
        if way_ in path.recordings:
            made.put(f"{prefix}rates", {"file": _trace(path, way_)}, origin(way_))
        elif bits:
            made.put(f"{prefix}rate", rate(bits), origin(way_) if getattr(path, way_) else "as given")
        if way_ in path.buffer:
            made.put(f"{prefix}buffer", path.buffer[way_], origin(f"buffer {way_}"))
        if way_ in path.loss:
            made.put(f"{prefix}loss", path.loss[way_], origin(f"loss {way_}"))
    delay = path.delay
    if delay is None:
        trips, assumed = _round_trips(given)
        made.put("delay", time(trips[0] / 2), assumed)
    else:
        made.put("delay", time(delay) if delay else "0 s", origin("delay"))
    for key, delays in (("sender_delay", path.access), ("receiver_delay", path.far)):
        made.put(key, [time(each) if each else "0 s" for each in delays] or "0 s", origin("access") if delays else "")
    if path.recordings:
        made.put("overhead", "4 B", "Mahimahi's tunnel counts 4 bytes with each packet")
    for table, way_ in (("aqm", "down"), ("reverse_aqm", "up")):
        if way_ in path.aqm:
            made.table(table, path.aqm[way_], origin(f"aqm {way_}"))


def _trace(path: Path, way_: str) -> str:
    """Return the path of a recording, which stands beside the file that names it or in the working folder."""
    named = path.recordings[way_]
    for folder in (pathlib.Path(path.place.file).parent, pathlib.Path()):
        if (folder / named).is_file():
            return str((folder / named).resolve())
    raise Unreadable(path.place, f"{named}: no such file beside it: put the recording there")


def _traffic(made: _Document, state: State) -> None:
    names: set[str] = set()
    for flows in state.flows:
        made.head(f"[[traffic]] # {flows.place}")
        name = str(flows.table["name"])
        name = name if name not in names else f"{name}-{len(names)}"
        names.add(name)
        for key, value in {**flows.table, "name": name}.items():
            made.put(key, value)
    if not state.flows:
        for table in _TRAFFIC:
            made.head(f"[[traffic]] # {_ASSUMED}: no file has traffic")
            for key, value in table.items():
                made.put(key, value)


def _notes(made: _Document, notes: Sequence[tuple[Place, str]], unread: Sequence[Unread]) -> None:
    lines = list(_distinct([*notes, *((each.place, each.text) for each in unread)]))
    if lines:
        made.lines += ["", "# Left out, or taken otherwise:"]
        for place, text in lines:
            made.remark(f"{place}: {text}")


def _distinct(notes: Sequence[tuple[Place, str]]) -> Iterator[tuple[Place, str]]:
    seen: set[tuple[str, str]] = set()
    for place, text in notes:
        if (key := (place.file, text)) not in seen:
            seen.add(key)
            yield place, text
