"""The link that advice is for, and the scenarios of its loads."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from aqmlab import _core
from aqmlab.advice.bad_link import BadLink
from aqmlab.advice.kernel import FRAME
from aqmlab.advice.medium import KINDS, Medium
from aqmlab.advice.queues import FIRST_HOST, HEADER, LAN, ROUTER, SECOND, SECOND_HOST, Direction, Queues
from aqmlab.advice.users import users_of
from aqmlab.runs import replication
from aqmlab.scenario import LISTS, Scenario, Settings

FASTEST = 2.5e9
"""The highest rate in bit/s that advice is for: the shaper of a device works under one lock, on one CPU at a time.

Full packets come every 4.8 µs here, and every 1.2 µs at 10 Gbit/s. That a CPU needs a few µs for one is our estimate.
"""

BUFFER = (FRAME, 4e9)
"""The smallest and the largest buffer of a link, in bytes, which limit the rates of a queue of a given time."""

LONGEST = 7200.0
"""The longest round trip, in s: each way is at most an hour."""

MEASURED = 20.0
"""Simulated seconds that count, of a link that is neither fast nor far."""

FAST = 2e8
"""The rate in bit/s from which runs are shorter: a run of fewer seconds has as many packets."""

SHORTEST = 8.0
"""The least of these seconds."""

COURSE = 60.0
"""The least of these seconds of a link whose rate varies: a minute of a recording, four satellites."""

_VARYING = {
    **dict.fromkeys(("changes", "rates", "outages", "delays"), ("down",)),
    **dict.fromkeys(("reverse_rates", "reverse_outages", "reverse_delays"), ("up",)),
    "handover": ("down", "up"),
}
"""The keys of a dumbbell by which rates and delays vary, each with the directions."""

HOME = "home"
"""The node behind the router's shaper."""

_ROUTER = f'[[link]]\nname = "{ROUTER}"\nfrom = "r2"\nto = "{HOME}"\n'

_HOST = f'[[link]]\nname = "{SECOND}"\nfrom = "{HOME}"\nto = "{SECOND}"\ndelay = "0 s"\n'

EACH = 5e5
"""The least rate in bit/s that each download or upload of a load would have alone; on slower links there are fewer."""

QUICK = 8e6
"""The rate in bit/s below which short files come more seldom."""

VIDEO = 1 / 3
"""The most that video calls have of the rate of their direction; on slower links their frames are smaller."""


_TOO_FAST = (
    f"no router's shaper reaches it: HTB and CAKE of a device work under one lock, on one CPU at a time, and beyond "
    f"{FASTEST / 1e9:g} Gbit/s a full packet comes every {FRAME * 8 / FASTEST * 1e6:.1f} µs or sooner. The limit is "
    "our estimate, from the few µs that a CPU needs for a packet, and not measured. "
    "Compare disciplines for the port itself with aqmlab compare"
)


@dataclass(frozen=True)
class Link:
    """A link, its users, and the queues that it has now.

    `rtt` is the longest round trip in s, `dumbbell` a table of a scenario without what `queues` has, `named` a
    description for readers, and `yours` the name of its discipline.
    """

    named: str
    yours: str
    users: str
    rtt: float
    dumbbell: Settings
    queues: Queues
    layer: str = ""
    varies: frozenset[str] = frozenset()
    """The directions whose rates vary, of ``down`` and ``up``; those of `queues` then are their means."""
    course: float = 0.0
    """The least simulated seconds that count."""
    medium: Medium | None = None
    """The wireless LAN, cell or cable network that is the link, in place of a dumbbell."""

    @classmethod
    def given(cls, down: str, up: str, rtt: str, users: str, layer: str = "") -> Link:
        """Describe a link by the texts of options; raise `BadLink` if there can be no such link."""
        _cells(layer)
        who = users_of(users)
        drained = _drained(Scenario.load(who.like))
        rates = _rate("--down", down, drained), _rate("--up", up, drained)
        least, most = round_trips(rtt)
        delays = _delays(least, most)
        named = f"{_shown(rates[0])} down and {_shown(rates[1])} up, round trips of {_span(least, most)}"
        return cls(
            named=named,
            yours="droptail",
            users=users,
            rtt=most,
            dumbbell={"overhead": HEADER, **({"framing": layer} if layer else {}), **delays},
            queues=Queues(*(Direction({"name": "droptail"}, f"{drained:g} s", rate) for rate in rates)),
            layer=layer,
        )

    @classmethod
    def of(cls, scenario: Scenario, name: str, users: str, layer: str = "") -> Link:
        """Take the link of a scenario with its disciplines: the dumbbell, or the wireless LAN, cell or cable network.

        `name` is that of its file.

        Raise ScenarioError if the scenario is not valid, `BadLink` if it has no link that a router can shape.
        """
        users_of(users)
        _cells(layer)
        scenario.check()
        resolved = scenario.resolved
        if medium := Medium.of(scenario, name):
            return cls._of_medium(medium, users, layer, name)
        table = dict(resolved.get("dumbbell") or {})
        if not table:
            others = ", ".join(f"[[{kind}]]" for kind in KINDS)
            raise BadLink(name, f"no [dumbbell], whose rates and delays are the link, and no {others}: add one")
        for kind in LISTS:
            if resolved.get(kind):
                raise BadLink(name, f"[[{kind}]]: advice is for the dumbbell alone: remove the other links")
        down = {"aqm": resolved["aqm"], "buffer": table.pop("buffer"), "rate": table.pop("rate")}
        up = {"aqm": resolved.get("reverse_aqm"), "buffer": table.pop("reverse_buffer")}
        up["rate"] = table.pop("reverse_rate")
        if up["buffer"] == "auto":
            up["buffer"] = down["buffer"] if up["aqm"] else table["access_buffer"]
        up["aqm"] = up["aqm"] or {"name": "droptail"}
        up["rate"] = down["rate"] if up["rate"] == "auto" else up["rate"]
        queues = Queues(*(Direction(way["aqm"], way["buffer"], _base(way["rate"])) for way in (down, up)))
        varies = frozenset(way for key, ways in _VARYING.items() if table[key] != "auto" for way in ways)
        if varies:
            # The course of the rates goes on from that of the start.
            table |= {"rate": down["rate"], "reverse_rate": up["rate"]}
        for key, way in (("rate", queues.down), ("reverse_rate", queues.up)):
            if way.rate > FASTEST:
                raise BadLink(name, f"dumbbell.{key}: {_shown(way.rate)}: {_TOO_FAST}")
        if layer:
            table["framing"] = layer
        elif table.get("framing", "auto") != "auto":
            layer = table["framing"]
        least, most = _measured_round_trips(scenario, name)
        found = cls("", scenario.aqm, users, most, table, queues, layer, varies, COURSE if varies else 0.0)
        if varies:
            queues = found._mean_queues(name)
        rates = f"{_shown(queues.down.rate)} down and {_shown(queues.up.rate)} up{' on average' if varies else ''}"
        return replace(found, named=f"{rates}, round trips of {_span(least, most)}", queues=queues)

    @classmethod
    def _of_medium(cls, medium: Medium, users: str, layer: str, name: str) -> Link:
        """Take a wireless LAN, a cell or a cable network, whose rates are those of a full link in a run."""
        if layer and layer != medium.kind.layer:
            problem = f"{layer}: not allowed with [[{medium.table}]], whose headers are simulated: omit it"
            raise BadLink("--link-layer", problem)
        course = COURSE if medium.wanders else 0.0
        speed = medium.measured(max(MEASURED, course), name)
        down, up = speed.rates
        queues = Queues(replace(medium.queues.down, rate=down), replace(medium.queues.up, rate=up))
        for way in (queues.down, queues.up):
            if way.rate > FASTEST:
                raise BadLink(name, f"{medium.table}.{medium.name}: {_shown(way.rate)}: {_TOO_FAST}")
        rates = f"{_shown(queues.down.rate)} down and {_shown(queues.up.rate)} up when full"
        return cls(
            named=f"{medium.kind.title} {medium.name}, {rates}, round trips of {_span(*speed.round_trips)}",
            yours=medium.yours,
            users=users,
            rtt=speed.round_trips[1],
            dumbbell={},
            queues=queues,
            layer=medium.kind.layer,
            varies=medium.kind.varies,
            course=course,
            medium=medium,
        )

    def _mean_queues(self, name: str) -> Queues:
        """Return the queues with the mean rates of a run of a load that uses both directions."""
        run = replication.run(self.scenario("uploads"))
        found = []
        for link, way in (("bottleneck", self.queues.down), ("bottleneck:reverse", self.queues.up)):
            used, part = (run[f"links.{link}.{metric}"].mean for metric in ("throughput", "utilisation"))
            if not used or not part:
                raise BadLink(name, f"no packet passes {link} within {run.scenario.duration:g} s: check its rates")
            found.append(replace(way, rate=float(f"{used / part:.3g}")))
        return Queues(*found)

    def scenario(self, load: str, queues: Queues | None = None) -> Scenario:
        """Return the scenario of a load on this link, with its own queues or with others behind it; not yet checked.

        Others are those of a router between the link and the home. Downloads come through the link's own queue, that of
        the provider, before they come to the router's; uploads leave through that of the modem.
        """
        template = users_of(self.users).load(load)
        template = template.with_(self._slowed(template))
        template = template.with_(
            {
                f"traffic.{entry['name']}.{key}": f"{max(round(_base(entry[key]) * factor), 1)} B"
                for entry, factor in self._videos(template)
                for key in ("frame_size", "key_size")
            }
        )
        counted = max(MEASURED * min(1.0, FAST / self.queues.down.rate), SHORTEST, 40 * self.rtt, self.course)
        warmup = max(template.warmup * min(1.0, FAST / self.queues.down.rate), 3.0, 15 * self.rtt)
        template = template.with_({"duration": f"{warmup + counted:.9g} s", "warmup": f"{warmup:.9g} s"})
        others = queues if queues is not self.queues else None
        return self.medium.scenario(template, others, self._lan) if self.medium else self._over(template, others)

    @property
    def _lan(self) -> float:
        return max(10 * self.queues.down.rate, 10 * self.queues.up.rate, LAN)

    def _over(self, template: Scenario, queues: Queues | None) -> Scenario:
        """Return a load over the dumbbell, before a router with these queues if there are any."""
        own = self.queues
        several = any(entry["to"] == [SECOND_HOST] for entry in template.resolved["traffic"])
        if queues:
            template = Scenario.parse(f"{template.to_toml()}\n{_ROUTER}{_HOST if several else ''}")
        return template.with_(
            {
                "dumbbell": {
                    "rate": f"{own.down.rate:.0f} bit/s",
                    "buffer": own.down.buffer,
                    "reverse_rate": f"{own.up.rate:.0f} bit/s",
                    "reverse_buffer": own.up.buffer,
                    **self.dumbbell,
                    **({"hosts": self._hosts} if several else {}),
                },
                "aqm": own.down.aqm,
                "reverse_aqm": own.up.aqm,
                **(self._behind(template, queues) if queues else {}),
            }
        )

    def _behind(self, template: Scenario, queues: Queues) -> dict[str, Any]:
        """Return the settings for a router with these queues between the link and the home, where all traffic ends."""
        receivers: Any = self.dumbbell.get("receiver_delay", "0 s")
        router = {
            **queues.router(self._lan),
            "delay": receivers if isinstance(receivers, str) else receivers[0],
            "overhead": self.dumbbell.get("overhead", HEADER),
        }
        homes = {"receivers": HOME, FIRST_HOST: HOME, SECOND_HOST: SECOND}
        ends = {
            f"traffic.{entry['name']}.{end}": homes[entry[end][0]]
            for entry in template.resolved["traffic"]
            for end in ("from", "to")
            if entry[end][0] in homes
        }
        beside = {f"link.{SECOND}.rate": f"{self._lan:.0f} bit/s"} if SECOND in ends.values() else {}
        return {**{f"link.{ROUTER}.{key}": value for key, value in router.items()}, **beside, **ends}

    @property
    def _hosts(self) -> int:
        """The hosts on each side for a load with two: as there are delays or as a file says, and at least two."""
        delays = [self.dumbbell.get(key, "") for key in ("sender_delay", "receiver_delay")]
        given = self.dumbbell.get("hosts", "auto")
        return max(2, *(len(own) for own in delays if isinstance(own, list)), given if isinstance(given, int) else 0)

    def _slowed(self, template: Scenario) -> dict[str, Any]:
        """Return fewer bulk flows and files for a slow link: a fair share among more is less than a call needs."""
        slowed: dict[str, Any] = {}
        for entry in template.resolved["traffic"]:
            rate = getattr(self.queues, _direction(entry)).rate
            if entry["kind"] == "ftp":
                slowed[f"traffic.{entry['name']}.count"] = max(1, min(entry["count"], math.floor(rate / EACH)))
            elif entry["name"] == "files":
                often = _base(entry["arrival_rate"]) * min(1.0, rate / QUICK)
                slowed[f"traffic.{entry['name']}.arrival_rate"] = f"{often:.3g} /s"
        return slowed

    @property
    def video(self) -> Mapping[str, float]:
        """The rates in bit/s of the video calls that are smaller than usual, by direction: ``down`` and ``up``."""
        smaller = self._videos(users_of(self.users).load("calls"))
        return {_direction(entry): VIDEO * getattr(self.queues, _direction(entry)).rate for entry, _ in smaller}

    def _videos(self, template: Scenario) -> list[tuple[Mapping[str, Any], float]]:
        """Return the video calls that must be smaller, each with the factor of its frames."""
        found = []
        for entry in template.resolved["traffic"]:
            if entry["kind"] == "video":
                every = entry["key_every"]
                mean = ((every - 1) * _base(entry["frame_size"]) + _base(entry["key_size"])) / every
                needed = 8 * mean * _base(entry["frame_rate"]) * entry["count"]
                factor = VIDEO * getattr(self.queues, _direction(entry)).rate / needed
                if factor < 1:
                    found.append((entry, factor))
        return found


def _direction(entry: Mapping[str, Any]) -> str:
    return "down" if entry["from"] == ["senders"] else "up"


def _cells(layer: str) -> None:
    if layer and _core.framing(layer) is None:
        raise BadLink(
            "--link-layer",
            f"{layer}: must be tc's words for CAKE: docsis, pppoe-ptm, 'atm overhead 44', …",
        )


def _base(text: str) -> float:
    converted = _core.in_base_unit(text)
    assert converted
    return converted[0]


def rate_of(option: str, text: str, above: float = 0.0) -> float:
    """Read a rate in bit/s; raise `BadLink` if it is none above this one."""
    converted = _core.in_base_unit(text)
    if converted is None or converted[1] != "bit/s" or not converted[0] > above:
        raise BadLink(option, f"{text}: must be a rate above 0, such as '100 Mbit/s' or 100mbit")
    return float(converted[0])


def _rate(option: str, text: str, drained: float) -> float:
    """Read a rate; raise `BadLink` if it is none, or one at which a buffer of this time in s is out of bounds."""
    rate = rate_of(option, text, -math.inf)  # the least is below
    if rate > FASTEST:
        raise BadLink(option, f"{text}: {_TOO_FAST}")
    least, most = (octets * 8 / drained for octets in BUFFER)
    least, most = math.ceil(least / 1000) * 1e3, min(math.floor(most / 1e9) * 1e9, FASTEST)
    if not least <= rate <= most:
        problem = f"must be from {_shown(least)} to {_shown(most)}, for the buffer of {drained * 1e3:g} ms"
        raise BadLink(option, f"{text}: {problem}")
    return float(round(rate))


def round_trips(text: str) -> tuple[float, float]:
    """Read ``15-80ms``, ``15ms-80ms`` or ``40 ms`` as times in s; a number without a unit has that of the other."""
    parts = re.fullmatch(r"\s*([\d.]+)\s*([a-zµ]*)\s*(?:(?:-|to|\.\.)\s*([\d.]+)\s*([a-zµ]+))?\s*", text)
    if parts:
        low, unit, high, second = parts.groups()
        ends = [_core.in_base_unit(f"{low} {unit or second}"), _core.in_base_unit(f"{high or low} {second or unit}")]
        times = [end[0] for end in ends if end and end[1] == "s"]
        if len(times) == 2:
            least, most = times
            if not 0 < least <= most <= LONGEST:
                raise BadLink("--rtt", f"{text}: must be above 0, from the shortest to the longest, up to 2 h")
            return least, most
    raise BadLink("--rtt", f"{text}: must be a time or a range of times, such as '40 ms' or 15-80ms")


def _delays(least: float, most: float) -> dict[str, str | list[str]]:
    """Return the delays of a dumbbell with these round trips: hosts at their geometric mean, the least and the most.

    The first host is that of a flow that is alone. A tenth of the shortest way is the link's, a tenth the receivers'.
    """
    own = least / 2 / 10
    trips = [least] if most == least else [(least * most) ** 0.5, least, most]
    return {
        "delay": _time(own),
        "receiver_delay": _time(own),
        "sender_delay": [_time(trip / 2 - 2 * own) for trip in trips],
    }


def _time(seconds: float) -> str:
    return f"{seconds * 1e9:.0f} ns"


def _drained(scenario: Scenario) -> float:
    """Return how long a full buffer of a shipped link takes to empty, in s, to two digits."""
    (octets,) = re.findall(r"^(\d+) B$", scenario.buffer)
    return float(f"{int(octets) * 8 / _base(scenario.resolved['dumbbell']['rate']):.2g}")


_ENDS = ("sender_delay", "receiver_delay")


def _measured_round_trips(scenario: Scenario, name: str) -> tuple[float, float]:
    """Return the shortest and the longest base round trip of a dumbbell's hosts, in s."""
    table = scenario.resolved["dumbbell"]
    tables = [table, *scenario.resolved["traffic"]]
    trips = []
    for pick in (min, max):
        delays = ([law for owner in tables if owner[key] != "auto" for law in owner[key]] for key in _ENDS)
        sender, receiver = (pick(map(_mean, laws)) for laws in delays)
        trips.append(2 * (_mean(table["delay"]) + sender + receiver))
    if trips[0] <= 0:
        raise BadLink(name, "a round trip takes no time: set dumbbell.delay, or the delays of the hosts")
    return trips[0], trips[1]


def _mean(law: str) -> float:
    """Return the mean of a time or of the distribution from which it is drawn, in s."""
    found = re.fullmatch(r"(\w+)\(([^,]+?)(?:,(.+))?\)", law.strip())
    if not found:
        return _base(law)
    kind, first, second = found.groups()
    return (_base(first) + _base(second)) / 2 if kind == "uniform" else _base(first)


def _shown(rate: float) -> str:
    scale, unit = next(((s, u) for s, u in ((1e9, "Gbit/s"), (1e6, "Mbit/s")) if rate >= s), (1e3, "kbit/s"))
    return f"{rate / scale:.6g} {unit}"


def _span(least: float, most: float) -> str:
    shown = dict.fromkeys(f"{end * 1e3:.4g}" for end in (least, most))
    return f"{' to '.join(shown)} ms"
