"""Checks of the programs: the extension module, the two programs of the Linux engine, and those of Debian."""

from __future__ import annotations

import sys

from aqmlab.execute.preflight.finding import Fact, Finding, State, install, judged, make, missing
from aqmlab.execute.preflight.machine import Machine

OURS = ("aqmlab-router", "aqmlab-traffic")
"""The programs of the Linux engine, in the folder ``bin`` of the package."""

_LOAD = "from aqmlab import _core; print(_core.__version__)"


@missing("engine", "Every command that simulates or integrates needs the extension module aqmlab._core.")
def engine(machine: Machine) -> Fact:
    """Check that the extension module loads; a separate process survives if the module ends it."""
    done = machine.run([sys.executable, "-c", _LOAD])
    good = done is not None and done.status == 0
    last = (done.output.splitlines() if done else [])[-1:] or ["the process ended without a message"]
    return good, f"aqmlab {last[0]}" if good else last[0], _reinstall(machine)


def router(machine: Machine) -> str:
    """Return the path of the router."""
    return f"{machine.package}/bin/{OURS[0]}"


@missing("programs", "The router and the senders of the Linux engine are these programs.")
def ours(machine: Machine) -> Fact:
    """Check that the programs of the Linux engine are there."""
    folder = machine.package / "bin"
    lacking = [name for name in OURS if not machine.is_executable(f"{folder}/{name}")]
    found = f"no {' and '.join(lacking)} in {folder}" if lacking else str(folder)
    return not lacking, found, _reinstall(machine)


def ip(machine: Machine) -> Finding:
    """Check that ``ip`` is there and can end the segmentation offload of a device."""
    version, cure = machine.run(["ip", "-V"]), install(machine, "iproute2")
    if version is None or "iproute2" not in version.output:
        other = "not there" if version is None else "another program than that of iproute2"
        spoils = "The Linux engine sets up its networks with ip of iproute2."
        return judged((False, other, cure), State.MISSING, "ip", spoils)
    knows = "gso_max_segs" in getattr(machine.run(["ip", "link", "help"]), "output", "")
    found = _release(version.output) + ("" if knows else ", without gso_max_segs")
    spoils = "With segmentation offload the router would receive packets of up to 64 kB."
    return judged((knows, found, cure), State.MISSING, "ip", spoils)


@missing("tc", "The Linux engine sets up the queues of its devices with tc of iproute2.")
def tc(machine: Machine) -> Fact:
    """Check that ``tc`` is there."""
    version = machine.run(["tc", "-V"])
    good = version is not None and "iproute2" in version.output
    return good, _release(version.output) if version and good else "not there", install(machine, "iproute2")


def _release(version: str) -> str:
    """Return ``iproute2-6.1.0`` of what ``ip -V`` prints."""
    return next(word.strip(",") for word in version.split() if "iproute2" in word)


def _reinstall(machine: Machine) -> str:
    return make(machine, "setup") if machine.checkout else "pip install --force-reinstall aqmlab"
