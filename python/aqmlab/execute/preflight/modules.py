"""Checks of the host's kernel: congestion controls and queue disciplines, in it or as modules.

They read files only: an attempt with tc in a namespace would load modules, which stay.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Literal

from aqmlab.execute.preflight.finding import Fact, install, missing
from aqmlab.execute.preflight.guest import options_of
from aqmlab.execute.preflight.machine import Machine

Support = Literal["there", "loadable", "absent"] | None
"""Whether the kernel has a module: built in or loaded, on demand, not at all; None if that is not known."""

_NET_ADMIN = 12
"""The capability to change the network, which includes loading a congestion control."""

_ARCHITECTURES = {"x86_64": "amd64", "aarch64": "arm64"}
"""Debian's names of processors, by the kernel's."""


def support(machine: Machine, module: str, option: str) -> Support:
    """Return whether the host's kernel has a module, which has an option in the kernel's configuration."""
    folder = f"/lib/modules/{machine.release}"
    loaded = {line.split()[0] for line in (machine.text("/proc/modules") or "").splitlines()}
    if module in loaded or f"/{module}.ko" in (machine.text(f"{folder}/modules.builtin") or ""):
        return "there"
    available = machine.text(f"{folder}/modules.dep")
    if f"/{module}.ko" in (available or ""):
        return "loadable"
    configured = machine.text("/proc/config.gz") or machine.text(f"/boot/config-{machine.release}")
    if configured is not None:
        value = options_of(configured).get(option)
        # A container has no modules of its own, but the host loads those that a program in it needs.
        if value == "m" and available is None:
            return None
        return "there" if value == "y" else "absent"
    return "absent" if available else None


@missing("congestion controls", "Senders with a congestion control that the kernel lacks cannot run.", needed=False)
def congestion_controls(machine: Machine, names: Iterable[str]) -> Fact:
    """Check that the host's kernel has congestion controls that this user can have."""
    names = list(names)
    loaded = (machine.text("/proc/sys/net/ipv4/tcp_available_congestion_control") or "").split()
    found = {
        name: "there" if name in loaded else support(machine, f"tcp_{name}", f"TCP_CONG_{name.upper()}")
        for name in names
    }
    unloaded = [name for name in names if found[name] == "loadable"]
    if unloaded and not machine.has_capability(_NET_ADMIN):
        cure = f"{machine.sudo}modprobe --all {' '.join(f'tcp_{name}' for name in unloaded)}"
        return False, f"not loaded: {', '.join(unloaded)}", cure
    return _of_kernel(machine, found)


@missing(
    "real time", "--aqm kernel:NAME needs the discipline, and HTB as the link, in this machine's kernel.", needed=False
)
def disciplines(machine: Machine, names: Iterable[str]) -> Fact:
    """Check that the host's kernel has queue disciplines; tc loads those that are modules."""
    return _of_kernel(machine, {name: support(machine, f"sch_{name}", f"NET_SCH_{name.upper()}") for name in names})


def _of_kernel(machine: Machine, found: dict[str, Support]) -> Fact:
    absent = [one for one in found if found[one] == "absent"]
    unknown = [one for one in found if found[one] is None]
    good = False if absent else None if unknown else True
    there = ", ".join(one for one in found if found[one] in ("there", "loadable"))
    text = "; ".join(
        part
        for part, given in (
            (there, there),
            (f"no {', '.join(absent)}", absent),
            (f"not known: {', '.join(unknown)}", unknown),
        )
        if given
    )
    architecture = _ARCHITECTURES.get(machine.processor, machine.processor)
    cure = f"{install(machine, f'linux-image-{architecture}')} && {machine.sudo}reboot"
    if machine.text(f"/lib/modules/{machine.release}/modules.dep") is None:
        # A kernel that comes from outside, as in a container or a virtual machine, is not this system's to replace.
        cure = "aqmlab run SCENARIO --engine linux"
    return good, text, cure
