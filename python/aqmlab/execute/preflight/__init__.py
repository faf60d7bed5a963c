"""The facts of this machine that the engines depend on, each with its remedy.

No check changes the machine. Those that only a trial can answer start a program that does nothing in a namespace, with
real-time scheduling, or in a guest; nothing of them stays.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial

from aqmlab.execute.preflight import bpf, guest, host, modules, programs
from aqmlab.execute.preflight.finding import Finding, State
from aqmlab.execute.preflight.machine import Machine

__all__ = [
    "BPF",
    "DISCIPLINES",
    "ENGINES",
    "FIFOS",
    "GROUPS",
    "LINK",
    "Finding",
    "Machine",
    "State",
    "Verdict",
    "examine",
    "findings",
    "verdict",
]

CONGESTION = ("reno", "cubic", "bbr", "dctcp")
"""The congestion controls of the scenario schema that Linux has."""

DISCIPLINES = ("codel", "fq_codel", "pie", "fq_pie", "cake", "dualpi2", "red", "choke", "sfb", "sfq", "fq", "hhf")
"""The disciplines of Linux that ``--aqm kernel:NAME`` accepts."""

FIFOS = ("pfifo", "bfifo", "pfifo_head_drop")
"""The disciplines that every kernel with `LINK` has."""

LINK = "htb"
"""The discipline of Linux that is the link above a discipline of the kernel."""

_Check = Callable[[Machine], Finding]

PACKET, VIRTUAL, REAL, KERNEL = "packet and fluid", "linux, virtual time", "linux, real time", "kernel disciplines"

BPF = "disciplines in BPF"
"""The group of ``aqmlab kernel``."""

ENGINES: Mapping[str, str] = {
    "packet": PACKET,
    "fluid": PACKET,
    "linux": VIRTUAL,
    "linux:clock=virtual": VIRTUAL,
    "linux:clock=real": REAL,
}
"""The group of each engine that runs need."""

GROUPS = (PACKET, VIRTUAL, REAL, KERNEL, BPF)
"""The groups of findings, in their order; the first three are engines."""


@dataclass(frozen=True, slots=True)
class Verdict:
    """Whether an engine can run, from the findings of its group.

    Parameters
    ----------
    engine : str
        One of `GROUPS`.
    missing : sequence of Finding
        The findings that make each run impossible.
    spoiling : sequence of Finding
        Those that falsify its results.
    delaying : sequence of Finding
        Those that make its packets late.
    """

    engine: str
    missing: Sequence[Finding]
    spoiling: Sequence[Finding]
    delaying: Sequence[Finding]

    @property
    def ready(self) -> bool:
        """Whether no finding refuses every run."""
        return not self.missing and not self.spoiling


def examine(machine: Machine | None = None) -> list[Finding]:
    """Return every finding on a machine, by default this one, in the order of `GROUPS`."""
    machine = machine or Machine()
    return [one for group in GROUPS for one in _found(machine, group, CONGESTION, DISCIPLINES, "auto")]


def verdict(engine: str, found: Iterable[Finding]) -> Verdict:
    """Judge whether an engine can run, one of the first three of `GROUPS`, or `BPF` be loaded."""
    own = [one for one in found if one.group == engine and one.needed]
    bad = (State.MISSING, State.SPOILS, State.DELAYS)
    return Verdict(engine, *([one for one in own if one.state == state] for state in bad))


def findings(
    engine: str,
    *,
    congestion: Iterable[str] = (),
    disciplines: Iterable[str] = (),
    kernel: str = "auto",
    machine: Machine | None = None,
) -> list[Finding]:
    """Return the findings that make the runs of a scenario impossible, falsify their results or delay packets.

    `engine` is one of `ENGINES`; raise ValueError for another. `congestion` has the congestion controls that the
    scenario needs, by their names in Linux, and `disciplines` those of ``--aqm kernel:NAME``. `kernel` is the path of
    the guest's kernel; ``auto`` is the one that ``make kernel`` builds.
    """
    if engine not in ENGINES:
        raise ValueError(f"engine = {engine!r}: must be one of {', '.join(ENGINES)}")
    machine = machine or Machine()
    group, disciplines = ENGINES[engine], list(disciplines)
    found = _found(machine, group, list(congestion), [], kernel)
    if disciplines and group != PACKET:
        clock = {VIRTUAL: "virtual time", REAL: "real time"}[group]
        own = _found(machine, KERNEL, [], [name for name in disciplines if name not in FIFOS], kernel)
        found += [_with_others(one, disciplines) for one in own if one.name == clock]
    return [one for one in found if one.state.refuses or one.state == State.DELAYS]


def obstacles(machine: Machine | None = None) -> list[Finding]:
    """Return the findings that make it impossible to load a queue discipline in BPF."""
    found = [check(machine or Machine()) for check in (bpf.kernel, bpf.libbpf, programs.tc)]
    return [one for one in found if one.state.refuses]


def _with_others(one: Finding, disciplines: Sequence[str]) -> Finding:
    """Return a finding on disciplines; for one that is none of Linux, or an unusual one, the remedy is another."""
    known = (*FIFOS, *DISCIPLINES)
    if not one.state.refuses or all(name in known for name in disciplines):
        return one
    return replace(one, fix=f"aqmlab run SCENARIO --engine linux --aqm kernel:NAME, NAME one of {', '.join(known)}")


def _found(
    machine: Machine, group: str, congestion: Sequence[str], disciplines: Sequence[str], kernel: str
) -> list[Finding]:
    """Return the findings of a group, for the congestion controls and disciplines that a run needs."""
    checks = _checks(machine.system, group, congestion, disciplines, kernel)
    return [replace(check(machine), group=group) for check in checks]


def _checks(
    system: str, group: str, congestion: Sequence[str], disciplines: Sequence[str], kernel: str
) -> list[_Check]:
    if group == PACKET:
        return [programs.engine]
    if system != "Linux":  # there is nothing else to look at
        return [] if group in (KERNEL, BPF) else [guest.platform if group == VIRTUAL else host.platform]
    if group == VIRTUAL:
        return [
            guest.platform,
            programs.ours,
            programs.ip,
            programs.tc,
            guest.shell,
            partial(guest.built_kernel, kernel=kernel),
            guest.tracing,
            guest.memory,
            partial(guest.boot, kernel=kernel),
            *([partial(guest.congestion_controls, names=congestion, kernel=kernel)] if congestion else []),
        ]
    if group == REAL:
        return [
            host.platform,
            programs.ours,
            programs.ip,
            programs.tc,
            host.namespaces,
            host.tun,
            host.device,
            *([partial(modules.congestion_controls, names=congestion)] if congestion else []),
            host.scheduling,
            host.throttling,
            host.cores,
            host.quota,
            host.clock_source,
            host.timers,
            host.frequency,
            host.idle_states,
            host.steal,
            host.load,
        ]
    if group == BPF:
        return [bpf.kernel, bpf.libbpf, programs.tc, bpf.laws, bpf.clang]
    return [
        partial(guest.disciplines, names=[LINK, *disciplines], kernel=kernel),
        partial(modules.disciplines, names=[LINK, *disciplines]),
    ]
