"""A queue discipline to evaluate: its name, its abilities, and how it enters a scenario."""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from aqmlab.results.result import KERNEL
from aqmlab.scenario import Scenario, Settings, discipline, is_own
from aqmlab_papers.evaluation.describe.subject import Placement

LINK_RATE, PACKET = 10e6, 1500
"""The link, in bit/s, and the packet, in bytes, at which a target in packets stands for a target in seconds."""

_PROBE = "rfc7928/friendly"
"""The scenario in which a discipline is looked up."""


@dataclass(frozen=True)
class Knob:
    """The parameter by which an operator sets the queueing delay: its path, and whether it counts packets."""

    path: str
    packets: bool = False

    def value(self, target: float) -> str | float:
        """Return its value for a target in seconds."""
        return round(target * LINK_RATE / 8 / PACKET, 2) if self.packets else f"{target * 1e3:g} ms"


@dataclass(frozen=True)
class Discipline:
    """A queue discipline, as a user writes it after ``--aqm``."""

    label: str

    @property
    def spec(self) -> str:
        """What a scenario has in its place: a discipline of Linux waits behind tail drop."""
        return "droptail" if self.label.startswith(KERNEL) else self.label

    @property
    def name(self) -> str:
        """Its name without parameters."""
        return self.label if is_own(self.label) else self.label.partition(":")[0]

    @cached_property
    def table(self) -> Mapping[str, Any]:
        """Its table in a scenario, every default filled in."""
        return dict(self.scenario.resolved["aqm"])

    @cached_property
    def entry(self) -> Mapping[str, Any]:
        """Its entry in the catalogue."""
        return discipline(self.scenario.aqm, self.scenario)

    def require(self) -> None:
        """Raise `ScenarioError` if there is no such discipline, or one of its parameters cannot be."""
        self.scenario.check()

    @cached_property
    def scenario(self) -> Scenario:
        """A scenario that has it."""
        return Scenario.load(_PROBE)._base.with_(aqm=self.spec)

    @property
    def group(self) -> str:
        """Its group: the quantity that it steers to a target, or how it decides without one."""
        if self.foreign:
            return "rule"
        if not self.entry["one_queue"]:
            return "several"
        return str(self.entry["steers"] or ("chance" if self.entry["random"] else "rule"))

    @property
    def foreign(self) -> bool:
        """Whether it is one of Linux, of which nothing but its name is known."""
        return self.label.startswith(KERNEL)

    @property
    def one_queue(self) -> bool:
        """Whether it is an algorithm on one queue, so that fair queueing can give each flow its own."""
        return bool(self.entry["one_queue"]) and not self.foreign

    @property
    def marks_by(self) -> str | None:
        """The path of the parameter that makes it mark; empty if it always does, None if it cannot."""
        if self.foreign:
            return None
        if self.name == "jobs_ecn":
            return ""
        inner = self.table.get("aqm")
        if isinstance(inner, Mapping):
            return "" if inner.get("ecn") is True else "aqm.aqm.ecn" if "ecn" in inner else None
        return "" if self.table.get("ecn") is True else "aqm.ecn" if "ecn" in self.table else None

    @property
    def knob(self) -> Knob | None:
        """The parameter that sets its delay; drop tail's is the buffer; None without one."""
        if self.foreign:
            return None
        if self.name in ("droptail", "headdrop"):
            return Knob("dumbbell.buffer")
        inner = self.table.get("aqm")
        if isinstance(inner, Mapping):
            one = Discipline(str(inner["name"])).knob
            return one and (one if one.path == "dumbbell.buffer" else Knob(f"aqm.{one.path}", one.packets))
        own = {name: each for each in self.entry["parameters"] for name in (each["name"], *each["aliases"])}
        if (self.entry["steers"] or is_own(self.name)) and "target" in own:
            return Knob(f"aqm.{own['target']['name']}", packets=own["target"]["unit"] == "packets")
        if "target_delay" in own and self.table.get("min_th") == "auto" and self.table.get("rules") == "ns2":
            return Knob("aqm.target_delay")
        return None


def _alone(one: Discipline) -> str:
    """Return why a discipline cannot be at one of two managed queues: those of Linux are at the observed one only."""
    return "a discipline of Linux is at the observed queue only" if one.foreign else ""


PLAIN = Placement[Discipline](lambda one: {"aqm": one.spec})
"""The discipline with its defaults at every managed queue."""

AT_BOTH = Placement[Discipline](lambda one: {"aqm": one.spec}, _alone)
"""The same, where there are two queues."""

ONE_WAY = Placement[Discipline](lambda one: {"aqm": one.spec, "reverse_aqm": "droptail"})
"""The discipline in the observed direction alone, where the reverse one has a queue of its own."""

BOTH_WAYS = Placement[Discipline](lambda one: {"aqm": one.spec, "reverse_aqm": one.spec}, _alone)
"""The discipline in both directions."""

BEFORE_PIE = Placement[Discipline](lambda one: {"link.first.aqm": one.spec, "link.second.aqm": "pie"}, _alone)
"""The discipline at the first of two queues, and PIE at the second."""


def _marking(one: Discipline) -> Settings:
    return {"aqm": one.spec, **({one.marks_by: True} if one.marks_by else {})}


MARKING = Placement[Discipline](_marking, lambda one: "it cannot mark" if one.marks_by is None else "")
"""The discipline, marking instead of dropping where the transport is capable of ECN."""

FAIR = Placement[Discipline](
    lambda one: {"aqm": "fq", "aqm.aqm": one.spec},
    lambda one: "" if one.one_queue else "it has several queues itself, or is one of Linux",
)
"""The discipline on the queue of each flow, under fair queueing."""


def aimed_at(target: float) -> Placement[Discipline]:
    """Return the discipline with its knob at a target delay, in seconds."""

    def settings(one: Discipline) -> Settings:
        assert one.knob
        return {"aqm": one.spec, one.knob.path: one.knob.value(target)}

    return Placement(settings, lambda one: "" if one.knob else "it has no parameter that sets the delay")
