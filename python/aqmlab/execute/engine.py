"""The engines that can perform a run, and their options.

An engine is a module of this package with the functions of `_Performer`. It is imported when it is first used.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from importlib import import_module
from typing import TYPE_CHECKING, Protocol, cast

from aqmlab.results.result import PACKET

if TYPE_CHECKING:
    from aqmlab.execute.task import Outcome, Task
    from aqmlab.scenario import Scenario

    Watch = Callable[[float], bool]


class EngineUnavailable(OSError):  # noqa: N818  the machine lacks something; the calling program has no error
    """Raised when this machine lacks what an engine needs, with the engine, the missing part, and how to get it."""


@dataclass(frozen=True, slots=True)
class Option:
    """An option of an engine.

    `values` are those that it may have; without any it may have each text but the empty one, which `form` describes.
    `only` is the value of another option without which this one means nothing.
    """

    name: str
    default: str
    doc: str
    values: tuple[str, ...] = ()
    form: str = "a path"
    only: tuple[str, str] | None = None

    @property
    def allowed(self) -> str:
        """The values that it may have, in words."""
        return " or ".join(self.values) or self.form


@dataclass(frozen=True, slots=True)
class Kind:
    """The engine of a name: a summary in one sentence, and its options.

    `seeded` is true if its runs depend on their seeds. If they do not, a scenario has one run. `slowness` is the CPU
    time that a packet takes, over that of the packet engine.
    """

    summary: str
    options: tuple[Option, ...] = ()
    seeded: bool = True
    slowness: float = 1.0


PACKETS_A_SECOND = 13e6
"""Packets, as `Scenario.packets` counts them, of the packet engine on the machine where the others were measured."""


ENGINES: Mapping[str, Kind] = {
    PACKET: Kind("Simulates every packet."),
    "fluid": Kind("Integrates the fluid model: the mean behaviour, without randomness, in one run.", seeded=False),
    "linux": Kind(
        "Sends real packets from Linux's TCP through a router that has the same queue disciplines.",
        (
            Option(
                "clock",
                "virtual",
                "`virtual`: a User-Mode Linux kernel whose time is simulated: a seed's runs are all the same. `real`: "
                "this machine's kernel and its clock, with one run at a time.",
                ("virtual", "real"),
            ),
            Option("ip", "4", "The version of IP; packets have the same size with both.", ("4", "6")),
            Option(
                "kernel",
                "auto",
                "The User-Mode Linux kernel to run; `auto` is the one that `make kernel` builds.",
                only=("clock", "virtual"),
            ),
            Option(
                "qdisc",
                "scenario",
                "The queue discipline at the observed link: `scenario` for the scenario's own, or one of the kernel's "
                "in tc's words, as in `qdisc=pie limit 1000 target 20ms`.",
                form="a discipline in tc's words",
            ),
        ),
        # A guest does 15,000 packets a second with hundreds of connections over 10 Mbit/s, 30,000 with a few.
        slowness=PACKETS_A_SECOND / 20_000,
    ),
}
"""The engines, by name."""


class _Performer(Protocol):
    """The functions of an engine's module; `options` has every option, with its default if it was not given."""

    def version(self, options: Mapping[str, str]) -> str:
        """Identify everything that determines a run's results, except scenario and seed."""

    def check(self, scenario: Scenario, options: Mapping[str, str]) -> None:
        """Raise ScenarioError if the engine cannot perform a scenario, `EngineUnavailable` if it cannot perform any."""

    def perform(self, task: Task, options: Mapping[str, str], watch: Watch) -> Outcome | None:
        """Perform a task; return None if `watch`, which is called with the fraction done, has returned False."""


@dataclass(frozen=True, slots=True)
class Engine:
    """An engine with its options, of which defaults are left out; their order is that of the declaration.

    Raise ValueError if there is no such engine or option, or the value is not allowed.
    """

    name: str = PACKET
    options: tuple[tuple[str, str], ...] = ()

    def __post_init__(self) -> None:
        if self.name not in ENGINES:
            raise ValueError(f"there is no engine {self.name!r}; must be one of {', '.join(ENGINES)}")
        declared = {option.name: option for option in ENGINES[self.name].options}
        given: dict[str, str] = {}
        for name, value in self.options:
            if name not in declared:
                there = f"its options are {', '.join(declared)}" if declared else "it has no options"
                raise ValueError(f"{self.name} has no option {name!r}; {there}")
            if name in given:
                raise ValueError(f"{name} is given twice; give it once")
            if not value or value not in (declared[name].values or (value,)):
                raise ValueError(f"{name} = {value!r}: must be {declared[name].allowed}")
            if not value.isprintable():  # a line break would begin another command of tc's
                raise ValueError(f"{name} = {value!r}: must be one line without control characters")
            given[name] = value
        chosen = {name: given.get(name, option.default) for name, option in declared.items()}
        for name in given:
            only = declared[name].only
            if only and chosen[only[0]] != only[1]:
                raise ValueError(f"{name} applies only with {only[0]}={only[1]}: omit {name} or {only[0]}")
        own = tuple((name, value) for name, value in chosen.items() if value != declared[name].default)
        object.__setattr__(self, "options", own)

    @classmethod
    def parse(cls, text: str) -> Engine:
        """Parse ``NAME`` or ``NAME:KEY=VALUE,KEY=VALUE``, such as ``linux:clock=real``.

        Raise TypeError for anything but a string, and ValueError as the class does.
        """
        if not isinstance(text, str):
            raise TypeError(f"engine = {text!r}: must be a string, such as 'packet'")
        name, colon, rest = text.partition(":")
        pairs = [part.partition("=") for part in rest.split(",")] if colon else []
        try:
            for key, equals, _ in pairs:
                if not equals:
                    raise ValueError(f"{key!r}: an option must be KEY=VALUE")
            return cls(name.strip(), tuple((key.strip(), value.strip()) for key, _, value in pairs))
        except ValueError as error:
            raise ValueError(f"engine {text!r}: {error}") from None

    def __str__(self) -> str:
        options = ",".join(f"{name}={value}" for name, value in self.options)
        return f"{self.name}:{options}" if options else self.name

    @property
    def settings(self) -> dict[str, str]:
        """The value of every option, defaults included."""
        return {**{option.name: option.default for option in ENGINES[self.name].options}, **dict(self.options)}

    @property
    def seeded(self) -> bool:
        """Whether its runs depend on their seeds; if not, a scenario has one run."""
        return ENGINES[self.name].seeded

    def work(self, scenario: Scenario) -> float:
        """Estimate the CPU time of a run of a valid scenario, in packets of the packet engine: at least 1.

        In real time, it is that of the packet engine in the scenario's duration.
        """
        if not self.seeded:
            return 1.0
        if self.settings.get("clock") == "real":
            return max(scenario.duration * PACKETS_A_SECOND, 1.0)
        # A slot in which there is something to do takes as long as some packets on a plain link.
        return max((scenario._packets + scenario._slots) * ENGINES[self.name].slowness, 1.0)

    @property
    def most_jobs(self) -> int | None:
        """The most runs at a time, beside which no other run disturbs its clock; None for any number."""
        return 1 if self.settings.get("clock") == "real" else None

    @property
    def has_guest(self) -> bool:
        """Whether its runs have a guest each, with a kernel and memory of its own."""
        return self.settings.get("clock") == "virtual"

    @property
    def version(self) -> str:
        """The version, which identifies all that determines a run's results except scenario and seed."""
        return self._performer.version(self.settings)

    def check(self, scenario: Scenario) -> None:
        """Check that it can perform a scenario.

        Raise ScenarioError if the scenario is not valid, or the engine cannot perform it, and `EngineUnavailable` if
        this machine lacks what the engine needs.
        """
        self._performer.check(scenario, self.settings)

    def perform(self, task: Task, watch: Watch) -> Outcome | None:
        """Perform a task; return None if `watch` stopped it.

        `watch` is called from time to time with the fraction done, and stops the run when it returns False.
        """
        return self._performer.perform(task, self.settings, watch)

    @property
    def _performer(self) -> _Performer:
        return _performer(self.name)


PACKETS = Engine()
"""The engine that simulates packets."""


@cache
def _performer(name: str) -> _Performer:
    return cast(_Performer, import_module(f"aqmlab.execute.{name}"))


def listed(text: str) -> list[str]:
    """Split a list of engines, ``packet,linux:clock=real,kernel=/k``, at the commas before a name."""
    engines: list[str] = []
    for part in text.split(","):
        if engines and "=" in part.partition(":")[0]:
            engines[-1] += f",{part}"
        else:
            engines.append(part)
    return engines


def different(texts: Sequence[str]) -> list[Engine]:
    """Parse engines; raise TypeError for a single string, ValueError for none or for one that is given twice."""
    if isinstance(texts, str):
        raise TypeError(f"engines = {texts!r}: must be a list of strings: {listed(texts)!r}")
    engines = [Engine.parse(text) for text in texts]
    if not engines:
        raise ValueError("engines = []: must have at least one")
    if twice := next((engine for engine in engines if engines.count(engine) > 1), None):
        raise ValueError(f"engine {str(twice)!r}: given twice; give it once")
    return engines
