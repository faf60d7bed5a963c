"""What a check has found."""

from __future__ import annotations

import shlex
from collections.abc import Callable
from dataclasses import dataclass
from enum import StrEnum
from functools import partial, wraps
from typing import TYPE_CHECKING, Concatenate, ParamSpec

if TYPE_CHECKING:
    from aqmlab.execute.preflight.machine import Machine

P = ParamSpec("P")


class State(StrEnum):
    """The states of a finding.

    ``missing`` makes a run impossible. ``spoils`` falsifies its results, and nothing in the run reveals it: it is
    refused. ``delays`` makes packets late, which every run measures: it is performed with a warning, and refused
    afterwards if they were too late. ``unknown`` means that the machine does not reveal the fact.
    """

    OK = "ok"
    DELAYS = "delays"
    SPOILS = "spoils"
    MISSING = "missing"
    UNKNOWN = "unknown"

    @property
    def refuses(self) -> bool:
        """Whether runs are refused."""
        return self in (State.MISSING, State.SPOILS)


@dataclass(frozen=True, slots=True)
class Finding:
    """The outcome of a check.

    Parameters
    ----------
    name : str
        The object of the check.
    state : State
        The outcome.
    found : str
        The fact.
    spoils : str
        A sentence on the runs that the machine cannot do, or does wrongly, unless the state is ``ok``.
    fix : str
        A command for Debian that mends it; empty if the state is ``ok``.
    needed : bool
        Whether every run of the group's engine needs it, or only runs that name it.
    group : str
        One of the groups of `aqmlab.execute.preflight`.
    """

    name: str
    state: State
    found: str
    spoils: str
    fix: str
    needed: bool = True
    group: str = ""


Fact = tuple[bool | None, str, str]
"""What a check sees: whether all is well (None if that is not known), the fact, and the command that mends it."""


def judged(fact: Fact, bad: State, name: str, spoils: str, needed: bool = True) -> Finding:
    """Return the finding on a fact, whose state is `bad` if not all is well."""
    good, found, fix = fact
    state = State.UNKNOWN if good is None else State.OK if good else bad
    return Finding(name, state, found, spoils, "" if good else fix, needed)


def _check(
    bad: State, name: str, spoils: str, needed: bool = True
) -> Callable[[Callable[Concatenate[Machine, P], Fact]], Callable[Concatenate[Machine, P], Finding]]:
    """Make a check of a function that returns a fact of a machine; the other arguments are those of `judged`."""

    def made(fact: Callable[Concatenate[Machine, P], Fact]) -> Callable[Concatenate[Machine, P], Finding]:
        @wraps(fact)
        def checked(machine: Machine, /, *arguments: P.args, **settings: P.kwargs) -> Finding:
            return judged(fact(machine, *arguments, **settings), bad, name, spoils, needed)

        return checked

    return made


missing, spoils, delays = (partial(_check, state) for state in (State.MISSING, State.SPOILS, State.DELAYS))
"""Each makes a check, whose finding is in this state if not all is well, from its name and the trouble."""


def install(machine: Machine, *packages: str) -> str:
    """Return the command that installs packages of Debian."""
    return f"{machine.sudo}apt install {' '.join(packages)}"


def set_sysctl(machine: Machine, name: str, value: object) -> str:
    """Return the command that sets a parameter of the kernel until the next start."""
    return f"{machine.sudo}sysctl -w {name}={value}"


def write(machine: Machine, value: object, *files: str) -> str:
    """Return the command that writes a value to files of the kernel."""
    return f"echo {value} | {machine.sudo}tee {' '.join(files)}"


def make(machine: Machine, target: str) -> str:
    """Return the command that calls ``make``; without a checkout, the reader must be in one."""
    return f"make -C {shlex.quote(str(machine.checkout))} {target}" if machine.checkout else f"make {target}"
