"""Queue disciplines of aqmlab on the devices of this machine: load, unload, show."""

from __future__ import annotations

import json
import os
import shutil
import struct
import subprocess
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from aqmlab.kernel import libbpf
from aqmlab.kernel.objects import SUFFIX, Object
from aqmlab.scenario import catalogue

BPFFS = Path("/sys/fs/bpf")
FOLDER = BPFFS / "aqmlab"
"""What is loaded, a folder for each law."""

_RUN = Path("/run/aqmlab")
"""The files of what is loaded."""

COUNTS = ("arrivals", "departures", "drops_early", "drops_full", "marks")

_PREFIX = "aqm_"


@dataclass(frozen=True, slots=True)
class Link:
    """The link that a queue discipline is on its device: rate in bit/s, 0 for the device's own, and what may wait."""

    rate: int
    packets: int
    bytes: int


@dataclass(frozen=True, slots=True)
class Loaded:
    """A queue discipline of aqmlab on a device."""

    device: str
    kind: str
    link: Link
    parameters: dict[str, float]
    signals: dict[str, float]
    counts: dict[str, int]
    tc: dict[str, Any]
    """The statistics that the kernel itself has, those of ``tc -s -j qdisc show``."""


def load(law: Object, device: str, link: Link, numbers: Sequence[int], ecn: bool) -> None:
    """Make a law the queue discipline of a device, in place of the present one.

    Raises
    ------
    OSError
        With what the kernel says. What was there before is there still, unless the kernel has refused the law only on
        this device, which then has the kernel's default.
    """
    ifindex = _ifindex(device)
    before = _root(device)
    folder = FOLDER / law.kind
    _mount()
    fresh = not folder.is_dir()
    if fresh:
        libbpf.register(law.path, folder)
    if law.path.parent != _RUN:
        _RUN.mkdir(exist_ok=True)
        shutil.copy(law.path, _RUN)
    try:
        values = struct.pack(f"={3 + len(numbers)}q", link.rate, link.packets, link.bytes, *numbers)
        libbpf.Map(folder / "devices")[ifindex] = values
        _end_marks(folder, ifindex)
        if ecn:
            libbpf.Map(folder / "marks")[ifindex] = bytes(8)
            libbpf.attach(folder / "mark", ifindex, _mark(folder, ifindex))
        if before.startswith(_PREFIX):
            unload(device, keep=law.kind)
        _tc("qdisc", "replace", "dev", device, "root", law.kind)
    except OSError:
        _clean(folder, ifindex)
        raise


def unload(device: str, keep: str = "") -> str:
    """Remove the queue discipline of aqmlab from a device, which then has the kernel's default; return its kind.

    The law is unregistered when no device has it, unless it is to be kept.

    Raises
    ------
    OSError
        If there is none, with what the kernel says.
    """
    ifindex, kind = _ifindex(device), _root(device)
    if not kind.startswith(_PREFIX):
        raise OSError(f"{device}: its queue discipline is {kind}, which is none of aqmlab's")
    _tc("qdisc", "del", "dev", device, "root")
    if kind != keep:
        _clean(FOLDER / kind, ifindex)
    return kind


def speed(device: str) -> int:
    """Return the rate of a device in bit/s; 10 Gbit/s if it does not know it, as a virtual one."""
    try:
        megabits = int(Path("/sys/class/net", device, "speed").read_text())
    except (OSError, ValueError):
        megabits = 0
    return megabits * 10**6 if megabits > 0 else 10**10


def loaded(device: str | None = None) -> list[Loaded]:
    """Return the queue disciplines of aqmlab on a device, or on all."""
    found = []
    for entry in _qdiscs(device):
        if entry["kind"].startswith(_PREFIX) and (FOLDER / entry["kind"]).is_dir():
            found.append(_loaded(entry))
    return found


def _loaded(entry: dict[str, Any]) -> Loaded:
    folder, device, kind = FOLDER / entry["kind"], entry["dev"], entry["kind"]
    law = _file(kind)
    algorithm = next((one for one in catalogue()["aqms"] if one["name"] == kind.removeprefix(_PREFIX)), None)
    times = [one["name"] for one in (algorithm["parameters"] if algorithm else []) if one["unit"] == "s"]
    ifindex = _ifindex(device)
    count = 1 + len(COUNTS) + 3 + len(law.parameters) + len(law.signals)
    values = (struct.unpack_from(f"={count}q", value) for value in libbpf.Map(folder / "qdiscs").values())
    numbers = iter(next(value for value in values if value[0] == ifindex)[1:])
    counts = {name: next(numbers) for name in COUNTS}
    link = Link(next(numbers), next(numbers), next(numbers))
    parameters, signals = (
        {one.name: one.value(next(numbers)) for one in group} for group in (law.parameters, law.signals)
    )
    parameters = {name: value / 1e9 if name in times else value for name, value in parameters.items()}
    return Loaded(device, kind, link, parameters, signals, counts, entry)


def _file(kind: str) -> Object:
    return Object(_RUN / f"{kind.removeprefix(_PREFIX)}{SUFFIX}")


def _ifindex(device: str) -> int:
    try:
        return int(Path("/sys/class/net", device, "ifindex").read_text())
    except OSError:
        devices = ", ".join(sorted(os.listdir("/sys/class/net")))
        raise OSError(f"{device}: no such device; there is {devices}") from None


def _qdiscs(device: str | None) -> list[dict[str, Any]]:
    every = json.loads(_tc("-s", "-j", "qdisc", "show") or "[]")
    return [one for one in every if one.get("root") and device in (None, one["dev"])]


def _root(device: str) -> str:
    """Return the kind of a device's queue discipline."""
    return next((str(one["kind"]) for one in _qdiscs(device)), "noqueue")


def _tc(*words: str) -> str:
    """Call ``tc``; return what it prints."""
    done = subprocess.run(["tc", *words], capture_output=True, text=True)
    if done.returncode:
        raise OSError(f"tc {' '.join(words)}: {done.stderr.strip() or done.returncode}")
    return done.stdout


def _mount() -> None:
    if not os.path.ismount(BPFFS):
        subprocess.run(["mount", "-t", "bpf", "bpf", str(BPFFS)], check=False, capture_output=True)


def _mark(folder: Path, ifindex: int) -> Path:
    return folder / f"mark-{ifindex}"


def _end_marks(folder: Path, ifindex: int) -> None:
    _mark(folder, ifindex).unlink(missing_ok=True)
    del libbpf.Map(folder / "marks")[ifindex]


def _clean(folder: Path, ifindex: int) -> None:
    """Forget a device, and the law with the last of them."""
    _end_marks(folder, ifindex)
    del libbpf.Map(folder / "devices")[ifindex]
    if not libbpf.Map(folder / "devices").values():
        del libbpf.Map(folder / "ops")[0]
        for path in folder.iterdir():
            path.unlink()
        folder.rmdir()
        if not any(FOLDER.iterdir()):
            FOLDER.rmdir()
        _file(folder.name).path.unlink(missing_ok=True)
