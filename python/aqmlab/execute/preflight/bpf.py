"""Checks of what ``aqmlab kernel`` needs: queue disciplines in BPF, in the kernel of this machine."""

from __future__ import annotations

import sys

from aqmlab.execute.preflight.finding import Fact, install, make, missing
from aqmlab.execute.preflight.machine import Machine
from aqmlab.kernel.objects import COMPILER, headers

_TYPES = "/sys/kernel/btf/vmlinux"
"""The types of the kernel, from which BPF programs are checked."""

_LOAD = "import ctypes; ctypes.CDLL('libbpf.so.1')"


@missing("kernel", "Only kernels that take queue disciplines in BPF can have aqmlab's.")
def kernel(machine: Machine) -> Fact:
    """Check that the kernel takes queue disciplines in BPF."""
    good = "bpf_struct_ops_Qdisc_ops" in (machine.text(_TYPES) or "")
    what = "takes" if good else "does not take"
    cure = "start Linux 6.16 or later, built with CONFIG_NET_SCH_BPF and CONFIG_DEBUG_INFO_BTF"
    return good, f"Linux {machine.release} {what} queue disciplines in BPF", cure


@missing("libbpf", "The library libbpf speaks with the kernel.")
def libbpf(machine: Machine) -> Fact:
    """Check that libbpf is there."""
    done = machine.run([sys.executable, "-c", _LOAD])
    good = done is not None and done.status == 0
    return good, "libbpf.so.1" if good else "not there", install(machine, "libbpf1")


@missing("laws", "These files are the algorithms, compiled for the kernel.")
def laws(machine: Machine) -> Fact:
    """Check that the laws are compiled."""
    folder = f"{machine.package}/kernel"
    found = sorted(file.name.removesuffix(".bpf.o") for file in machine.path(folder).glob("*.bpf.o"))
    return bool(found), ", ".join(found) or f"none in {folder}", make(machine, "kernel-disciplines")


@missing("clang", "A class of your own is compiled for the kernel by clang.", needed=False)
def clang(machine: Machine) -> Fact:
    """Check that a class can be compiled for the kernel."""
    done = machine.run(["bash", str(headers() / COMPILER), "--ready"])
    good = done is not None and done.status == 0
    return good, "there" if good else "not there", install(machine, "clang-19", "libbpf-dev")
