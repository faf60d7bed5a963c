"""Checks of the programs: the extension module, the two programs of the Linux engine, and those of Debian."""

from __future__ import annotations

import sys
from functools import partial

from aqmlab.execute.preflight.finding import Finding, install, make, missing_unless
from aqmlab.execute.preflight.machine import Machine

OURS = ("aqmlab-router", "aqmlab-traffic")
"""The programs of the Linux engine, in the folder ``bin`` of the package."""

_LOAD = "from aqmlab import _core; print(_core.__version__)"


def engine(machine: Machine) -> Finding:
    """Check that the extension module loads; a separate process survives if the module ends it."""
    done = machine.run([sys.executable, "-c", _LOAD])
    good = done is not None and done.status == 0
    last = (done.output.splitlines() if done else [])[-1:] or ["the process ended without a message"]
    spoils = "Every command that simulates or integrates needs the extension module aqmlab._core."
    return missing_unless(good, "engine", f"aqmlab {last[0]}" if good else last[0], spoils, _reinstall(machine))


def router(machine: Machine) -> str:
    """Return the path of the router."""
    return f"{machine.package}/bin/{OURS[0]}"


def ours(machine: Machine) -> Finding:
    """Check that the programs of the Linux engine are there."""
    folder = machine.package / "bin"
    lacking = [name for name in OURS if not machine.is_executable(f"{folder}/{name}")]
    found = f"no {' and '.join(lacking)} in {folder}" if lacking else str(folder)
    spoils = "The router and the senders of the Linux engine are these programs."
    return missing_unless(not lacking, "programs", found, spoils, _reinstall(machine))


def ip(machine: Machine) -> Finding:
    """Check that ``ip`` is there and can end the segmentation offload of a device."""
    judged = partial(missing_unless, name="ip", fix=install(machine, "iproute2"))
    version = machine.run(["ip", "-V"])
    if version is None or "iproute2" not in version.output:
        other = "not there" if version is None else "another program than that of iproute2"
        return judged(False, found=other, spoils="The Linux engine sets up its networks with ip of iproute2.")
    knows = "gso_max_segs" in getattr(machine.run(["ip", "link", "help"]), "output", "")
    spoils = "With segmentation offload the router would receive packets of up to 64 kB."
    return judged(knows, found=_release(version.output) + ("" if knows else ", without gso_max_segs"), spoils=spoils)


def tc(machine: Machine) -> Finding:
    """Check that ``tc`` is there."""
    version = machine.run(["tc", "-V"])
    good = version is not None and "iproute2" in version.output
    found = _release(version.output) if version and good else "not there"
    spoils = "The Linux engine sets up the queues of its devices with tc of iproute2."
    return missing_unless(good, "tc", found, spoils, install(machine, "iproute2"))


def _release(version: str) -> str:
    """Return ``iproute2-6.1.0`` of what ``ip -V`` prints."""
    return next(word.strip(",") for word in version.split() if "iproute2" in word)


def _reinstall(machine: Machine) -> str:
    return make(machine, "setup") if machine.checkout else "pip install --force-reinstall aqmlab"
