"""What a check has found."""

from __future__ import annotations

import shlex
from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from aqmlab.execute.preflight.machine import Machine


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


def missing_unless(good: bool | None, name: str, found: str, spoils: str, fix: str, needed: bool = True) -> Finding:
    """Return a finding that is ``ok``, ``missing``, or ``unknown`` for None."""
    return _judged(good, State.MISSING, name, found, spoils, fix, needed)


def spoils_unless(good: bool | None, name: str, found: str, spoils: str, fix: str) -> Finding:
    """Return a finding that is ``ok``, ``spoils``, or ``unknown`` for None."""
    return _judged(good, State.SPOILS, name, found, spoils, fix)


def delays_unless(good: bool | None, name: str, found: str, spoils: str, fix: str) -> Finding:
    """Return a finding that is ``ok``, ``delays``, or ``unknown`` for None."""
    return _judged(good, State.DELAYS, name, found, spoils, fix)


def _judged(
    good: bool | None, bad: State, name: str, found: str, spoils: str, fix: str, needed: bool = True
) -> Finding:
    state = State.UNKNOWN if good is None else State.OK if good else bad
    return Finding(name, state, found, spoils, "" if good else fix, needed)


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
