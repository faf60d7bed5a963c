"""A wireless LAN, a cell or a cable network as the link that advice is for.

The loads run over the whole network of the scenario. Their flows go between its servers, the ends of its traffic beyond
the medium, and its homes, the ends on the user's side, in turn: all stations of a wireless LAN, one user of a cell, one
modem. Traffic that has no end at home stays, as that of the neighbours, from the first second to the end.

A router's shaper is where its owner can put it: in front of the access point, at home behind the modem.
"""

from __future__ import annotations

import copy
import math
import tomllib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from aqmlab.advice.bad_link import BadLink
from aqmlab.advice.kernel import base
from aqmlab.advice.queues import FIRST_HOST, ROUTER, SECOND, SECOND_HOST, Direction, Queues
from aqmlab.runs import replication
from aqmlab.scenario import LISTS, Scenario

Table = dict[str, Any]
"""A table of a scenario as its file has it."""


@dataclass(frozen=True)
class Kind:
    """A kind of medium: the keys of its two ends, and the beginnings of the keys of the queues of each direction.

    `shaper` is the end beside which a router can shape, `varies` the directions whose rates are not fixed, `layer` what
    the medium adds to a packet in tc's words, if a shaper can count it.
    """

    title: str
    hub: str
    leaves: str
    down: str
    up: str
    shaper: str
    varies: frozenset[str]
    layer: str = ""


_BOTH = frozenset({"down", "up"})

KINDS: Mapping[str, Kind] = {
    "wifi": Kind("wireless LAN", "ap", "stations", "", "reverse_", "ap", _BOTH),
    "cell": Kind("cell", "base", "users", "", "reverse_", "users", _BOTH),
    "cable": Kind("cable network", "cmts", "modems", "reverse_", "", "modems", frozenset(), "docsis"),
}
"""The tables of a scenario that are a medium."""

_WANDERING = ("changes", "rates", "reverse_rates", "outages", "delays", "handover")
"""The keys by which a rate or a delay changes with time."""

OFTEN = 1.0
"""The mean time in s between the steps of a user's quality up to which a run of the usual length has enough."""

FULL = 1500
"""Bytes of a full packet with its IP header."""

TESTS = 8
"""The flows of each direction that fill the link to measure its rates, or one for each station if there are more."""

WARMUP = 8.0
"""The seconds before they count."""

SEEDS = 5
"""The runs whose mean the rates are: in a wireless LAN they differ by a third from one to the next."""


@dataclass(frozen=True)
class Speed:
    """What a full link carries down and up, in bit/s as a shaper counts, and its shortest and longest round trips."""

    rates: tuple[float, float]
    round_trips: tuple[float, float]


@dataclass(frozen=True)
class Medium:
    """A medium and the network around it.

    `resolved` is its table with every value, `tables` the network as the file has it. `homes` and `servers` are the
    ends of the loads, `leaves` the nodes of the medium on the user's side, `others` the traffic of the neighbours,
    `yours` the discipline of downloads.
    """

    table: str
    name: str
    resolved: Mapping[str, Any]
    tables: Mapping[str, list[Table]]
    leaves: Sequence[str]
    homes: Sequence[str]
    servers: Sequence[str]
    others: Sequence[Table]
    queues: Queues
    yours: str
    wanders: bool

    @property
    def kind(self) -> Kind:
        """The properties of its kind."""
        return KINDS[self.table]

    @classmethod
    def of(cls, scenario: Scenario, file: str) -> Medium | None:
        """Take the medium of a scenario that is valid, or None if it has none; raise `BadLink` if it cannot be one."""
        resolved = scenario.resolved
        found = [(kind, one) for kind in KINDS for one in resolved.get(kind) or ()]
        if not found:
            return None
        if resolved.get("dumbbell"):
            kind, one = found[0]
            problem = f"[[{kind}]] {one['name']}: not beside [dumbbell]: write the wired links as [[link]] instead"
            raise BadLink(file, problem)
        observed = tomllib.loads(scenario.to_toml()).get("observe", "").removesuffix(":reverse")
        chosen = [(kind, one) for kind, one in found if observed in _links(kind, one)] or found
        if len(chosen) > 1:
            named = " and ".join(f"[[{kind}]] {one['name']}" for kind, one in chosen)
            wanted = _links(*chosen[0])[-1]
            problem = f'which of {named} is advice for? name a link of it, as in observe = "{wanted}"'
            raise BadLink(file, f"observe = {observed!r}: {problem}" if observed else f"observe: missing: {problem}")
        ((kind, one),) = chosen
        return _Reader(scenario, file, kind, one, observed).medium()

    def scenario(self, template: Scenario, queues: Queues | None, lan: float) -> Scenario:
        """Return a load on this network, with a router's queues or with others of its own devices; not yet checked."""
        top = tomllib.loads(template.to_toml())
        entries = top.pop("traffic")
        for key in ("dumbbell", "aqm", "reverse_aqm"):
            top.pop(key, None)
        tables = copy.deepcopy(dict(self.tables))
        homes = list(self.homes)
        second = homes[1:2]
        if not second and any(entry.get("to") == SECOND_HOST for entry in entries):
            second = [SECOND]
            beside = {"name": SECOND, "from": self.leaves[0], "to": SECOND, "delay": "0 s", "rate": f"{lan:.0f} bit/s"}
            tables.setdefault("link", []).append(beside)
        traffic = []
        for place, entry in enumerate(entries):
            turned = homes[place % len(homes) :] + homes[: place % len(homes)]
            ends = {"senders": self.servers, "receivers": turned, FIRST_HOST: homes[:1], SECOND_HOST: second}
            own = {end: list(ends.get(one := entry.get(end, group), [one])) for end, group in _ENDS.items()}
            traffic.append({**entry, **own})
        made = {**top, **tables, "traffic": [*traffic, *copy.deepcopy(list(self.others))]}
        if queues and queues.device is None:
            self._shape(made, queues.router(lan))
        elif queues:
            self._table(made).update(self._written(queues))
        # The queue that a device has changes its name where the stations get queues of their own.
        return Scenario.from_dict({**made, "observe": self.observed(self._table(made))})

    def measured(self, counted: float, file: str) -> Speed:
        """Return what the full link carries, each direction by itself as a speed test has it."""
        rates: list[float] = []
        trips: list[float] = []
        # A cable network counts what a shaper does, the others packets from the IP header on.
        counts = 1.0 if self.kind.layer else (FULL + _ETHERNET) / FULL
        common = {"count": max(TESTS, len(self.homes)), "start": "uniform(0 s, 1 s)"}
        times: Table = {"duration": counted + WARMUP, "warmup": WARMUP, "record": {"series": False}}
        for way, end, source, sink in (("down", "from", "senders", "receivers"), ("up", "to", "receivers", "senders")):
            entries: list[Table] = [
                {**common, "from": source, "to": sink, end: server, "name": f"full-{server}"} for server in self.servers
            ]
            template = Scenario.from_dict({**times, "traffic": entries})
            run = replication.run(self.scenario(template, None, 0), seeds=SEEDS)
            links = [self._named(leaf, way) for leaf in self.leaves]
            carried = math.fsum(run[f"links.{link}.throughput"].mean or 0.0 for link in links)
            if not carried:
                raise BadLink(file, f"no packet passes {links[0]} within {run.scenario.duration:g} s: check its rates")
            rates.append(float(f"{carried * counts:.3g}"))
            trips += [run[f"classes.{entry['name']}.rtt_idle"].mean or 0.0 for entry in entries]
        return Speed((rates[0], rates[1]), (min(trips), max(trips)))

    def _shape(self, made: Table, settings: Table) -> None:
        """Put a router's link beside the medium: the network at that end is then behind the router."""
        moved = self.leaves[0] if self.kind.shaper == self.kind.leaves else self._table(made)[self.kind.hub]
        for table, ends in _ends(made):
            if table is not self._table(made):
                for end in ends:
                    table[end] = _replaced(table[end], moved, ROUTER)
        ways = (ROUTER, moved) if self.kind.shaper == self.kind.hub else (moved, ROUTER)
        link = {"name": ROUTER, "from": ways[0], "to": ways[1], "delay": "0 s", **settings}
        made["link"] = [*made.get("link", ()), link]

    def _written(self, queues: Queues) -> Table:
        """Return the keys of the medium's table for queues of its devices."""
        found: Table = dict(queues.device or {})
        for prefix, own, present in (
            (self.kind.down, queues.down, self.queues.down),
            (self.kind.up, queues.up, self.queues.up),
        ):
            if (own.aqm, own.buffer) != (present.aqm, present.buffer):
                found |= {f"{prefix}aqm": own.aqm, f"{prefix}buffer": own.buffer}
        return found

    def _table(self, made: Mapping[str, Any]) -> Table:
        own: Table = next(one for one in made[self.table] if one.get("name") == self.name)
        return own

    def _named(self, leaf: str, way: str) -> str:
        """Return the name of the link to or from a node of the medium."""
        reverse = {"down": self.kind.down, "up": self.kind.up}[way] != ""
        return f"{self.name}-{leaf}{':reverse' if reverse else ''}"

    def observed(self, own: Mapping[str, Any]) -> str:
        """Return the link at whose queue downloads wait, given a table of the medium."""
        return self.name if own.get("queues") == "shared" else self._named(self.leaves[0], "down")


_ETHERNET = 14

_ENDS = {"from": "senders", "to": "receivers"}
"""The ends of a flow, each with the group that it has by default."""


class _Reader:
    """A scenario, and the parts of its network seen from a medium."""

    def __init__(self, scenario: Scenario, file: str, table: str, chosen: Table, observed: str) -> None:
        self.scenario, self.file, self.table, self.chosen = scenario, file, table, chosen
        self.kind = KINDS[table]
        written = tomllib.loads(scenario.to_toml())
        self.tables: dict[str, list[Table]] = {kind: written[kind] for kind in LISTS if kind in written}
        self.traffic = written["traffic"]
        for kind, tables in self.tables.items():  # one without a name has a default
            for own, resolved in zip(tables, scenario.resolved[kind], strict=True):
                own["name"] = resolved["name"]
        leaves: list[str] = chosen[self.kind.leaves]
        one = next((leaf for leaf in leaves if observed == f"{chosen['name']}-{leaf}"), leaves[0])
        self.leaves: list[str] = leaves if table == "wifi" else [one]

    def medium(self) -> Medium:
        """Return the medium, or raise `BadLink`."""
        hub, name = self.chosen[self.kind.hub], self.chosen["name"]
        place = f"[[{self.table}]] {name}"
        known = {table["name"] for tables in self.tables.values() for table in tables} | set(self.scenario.nodes)
        for taken in (ROUTER, SECOND):
            if taken in known:
                raise BadLink(self.file, f"{taken}: the name of advice's own router or host: rename that link or node")
        beyond = self._reached([hub])
        home = self._reached(self.leaves)
        if ways := beyond & home:
            raise BadLink(self.file, f"{place}: {sorted(ways)[0]} is reached past it too: remove the other way")
        ends = [(entry, [*entry["from"], *entry["to"]]) for entry in self.scenario.resolved["traffic"]]
        servers = list(dict.fromkeys(node for _, both in ends for node in both if node in beyond))
        if not servers:
            raise BadLink(self.file, f"{place}: no traffic ends beyond {hub}, at a server: add a [[traffic]] that does")
        homes = list(dict.fromkeys(node for _, both in ends for node in both if node in home))
        others = [
            {key: value for key, value in written.items() if key not in ("stop", "active")}
            | {"name": f"other-{entry['name']}", "start": "uniform(0 s, 1 s)"}
            for written, (entry, both) in zip(self.traffic, ends, strict=True)
            if not home.intersection(both)
        ]
        ways_of = (
            Direction(self.chosen.get(f"{prefix}aqm") or {"name": "droptail"}, self.chosen[f"{prefix}buffer"], 0.0)
            for prefix in (self.kind.down, self.kind.up)
        )
        found = Medium(
            self.table,
            name,
            self.chosen,
            self.tables,
            self.leaves,
            homes or self.leaves,
            servers,
            others,
            Queues(*ways_of),
            "",
            any(_wanders(table) for kind in LISTS for table in self.scenario.resolved.get(kind) or ()),
        )
        yours = self.scenario.with_({"observe": found.observed(self.chosen)}).aqm
        return Medium(**{**vars(found), "yours": yours})

    def _reached(self, starts: Iterable[str]) -> set[str]:
        """Return the nodes that links connect with these, not through the medium."""
        pairs = [pair for kind, own in self.tables.items() for one in own for pair in self._pairs(kind, one)]
        found, new = set(starts), set(starts)
        while new:
            new = {b for pair in pairs for a, b in (pair, pair[::-1]) if a in new} - found
            found |= new
        return found

    def _pairs(self, kind: str, table: Table) -> Iterator[tuple[str, str]]:
        if kind == "link":
            yield table["from"], table["to"]
        elif (kind, table["name"]) != (self.table, self.chosen["name"]):
            leaves = table[KINDS[kind].leaves]
            yield from ((table[KINDS[kind].hub], leaf) for leaf in ([leaves] if isinstance(leaves, str) else leaves))


def _wanders(table: Table) -> bool:
    slowly = any(table.get("spread", ())) and base(table["step"]) > OFTEN
    return slowly or any(table.get(key, "auto") != "auto" for key in _WANDERING)


def _links(kind: str, table: Table) -> list[str]:
    """Return the names of the links of a medium, of downloads or uploads alike."""
    return [table["name"], *(f"{table['name']}-{leaf}" for leaf in table[KINDS[kind].leaves])]


def _ends(made: Table) -> Iterator[tuple[Table, Sequence[str]]]:
    """Yield each table of a network and of its traffic, with the keys that have nodes."""
    for key, ends in (("link", ("from", "to")), ("traffic", ("from", "to"))):
        yield from ((table, ends) for table in made.get(key, ()))
    for key, kind in KINDS.items():
        yield from ((table, (kind.hub, kind.leaves)) for table in made.get(key, ()))


def _replaced(value: str | list[str], node: str, other: str) -> str | list[str]:
    if isinstance(value, str):
        return other if value == node else value
    return [other if one == node else one for one in value]
