"""Queue disciplines of aqmlab on the devices of this machine: load, unload, show."""

from __future__ import annotations

import fcntl
import json
import os
import shutil
import signal
import socket
import struct
import subprocess
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from aqmlab.kernel import libbpf
from aqmlab.kernel.objects import SUFFIX, Object

BPFFS = Path("/sys/fs/bpf")
FOLDER = BPFFS / "aqmlab"
"""The laws that are loaded, a folder for each."""

_RUN = Path("/run/aqmlab")
"""The files of the laws that are loaded, and the settings of each device."""

_STOPPING = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)

COUNTS = ("arrivals", "departures", "drops_early", "drops_full", "drops_memory", "marks")

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
    spec: str
    """The discipline with its settings, as it was loaded."""
    link: Link
    signals: dict[str, float]
    counts: dict[str, int]
    tc: dict[str, Any]
    """The statistics that the kernel itself has, those of ``tc -s -j qdisc show``."""


def load(law: Object, spec: str, device: str, link: Link, numbers: Sequence[int], ecn: bool) -> None:
    """Make the law of a discipline the queue of a device, in place of the present one. `numbers` are its parameters.

    Raises
    ------
    OSError
        With what the kernel says. If it has accepted the law and refuses it on this device alone, the device has the
        kernel's default afterwards; otherwise all is as before.
    """
    with _alone() as stop:
        ifindex, folder = _ifindex(device), FOLDER / law.kind
        _register(law, device, folder, stop)
        _remove(device, ifindex)
        try:
            values = struct.pack(f"={3 + len(numbers)}q", link.rate, link.packets, link.bytes, *numbers)
            libbpf.Map(folder / "devices")[ifindex] = values
            _end_marks(folder, ifindex)
            if ecn:
                libbpf.Map(folder / "marks")[ifindex] = bytes(8)
                libbpf.attach(folder / "mark", ifindex, _mark(folder, ifindex))
            _spec(folder, ifindex).write_text(spec)
            _tc("qdisc", "replace", "dev", device, "root", law.kind)
        except OSError:
            _clean(folder, ifindex)
            raise


def _register(law: Object, device: str, folder: Path, stop: Callable[[], None]) -> None:
    """Register a law, unless it is registered; another version of it only if no other device has that."""
    file = _file(law.kind).path
    if folder.is_dir() and file.read_bytes() == law.path.read_bytes():
        return
    others = [one["dev"] for one in _qdiscs(None) if one["kind"] == law.kind and one["dev"] != device]
    if others:
        has = f"{', '.join(others)} has another version of it, or another law of its name"
        raise OSError(f"{law.kind}: {has}; unload it there first")
    if not os.path.ismount(BPFFS):
        subprocess.run(["mount", "-t", "bpf", "bpf", str(BPFFS)], check=False, capture_output=True)

    def accepted() -> None:
        # The verifier needs seconds, all else milliseconds: whoever has lost patience meanwhile is heard here.
        stop()
        if folder.is_dir():
            _forget(folder)
        shutil.copy(law.path, file)

    libbpf.register(law.path, folder, accepted)


def unload(device: str) -> list[str]:
    """Remove aqmlab's queue discipline from a device, which then has the kernel's default; return the kinds.

    A discipline that was loaded there, and that another program has replaced since, goes too. A law is unregistered
    when no device has it.

    Raises
    ------
    OSError
        If there is none, with what the kernel says.
    """
    with _alone():
        found = _remove(device, _ifindex(device))
        if not found:
            raise OSError(f"{device}: its queue discipline is {_root(device)}, which is none of aqmlab's")
        return found


def _remove(device: str, ifindex: int) -> list[str]:
    """Remove all of a device; return the kinds."""
    folders = [folder for folder in _folders() if _spec(folder, ifindex).exists()]
    if (kind := _root(device)).startswith(_PREFIX):
        _tc("qdisc", "del", "dev", device, "root")
    for folder in folders:
        _clean(folder, ifindex)
    return [folder.name for folder in folders] or [kind] * kind.startswith(_PREFIX)


def speed(device: str) -> int:
    """Return the rate of a device in bit/s.

    Raises
    ------
    OSError
        If the device does not know it, as a virtual one or one without a carrier.
    """
    _ifindex(device)
    try:
        megabits = int(Path("/sys/class/net", device, "speed").read_text())
    except (OSError, ValueError):
        megabits = 0
    if megabits <= 0:
        raise OSError(f"{device} does not know its speed: give --rate")
    return megabits * 10**6


def loaded(device: str | None = None) -> list[Loaded]:
    """Return the queue disciplines of aqmlab on a device, or on all; raise OSError if there is no such device."""
    found = []
    if device:
        _ifindex(device)
    for entry in _qdiscs(device):
        if entry["kind"].startswith(_PREFIX) and (one := _loaded(entry)):
            found.append(one)
    return found


def _loaded(entry: dict[str, Any]) -> Loaded | None:
    folder, device, kind = FOLDER / entry["kind"], entry["dev"], entry["kind"]
    law, ifindex = _file(kind), _ifindex(device)
    if not _spec(folder, ifindex).exists():
        return None  # another program has loaded it, or it has just gone
    # As `struct qdisc` of kernel/qdisc.h begins.
    count = 1 + len(COUNTS) + 3 + len(law.fields.split()) + len(law.signals)
    values = (struct.unpack_from(f"={count}q", value) for value in libbpf.Map(folder / "qdiscs").values())
    own = next((value for value in values if value[0] == ifindex), None)
    if own is None:
        return None
    return Loaded(
        device,
        kind,
        _spec(folder, ifindex).read_text(),
        Link(*own[7:10]),
        {one.name: one.value(number) for one, number in zip(law.signals, own[count - len(law.signals) :], strict=True)},
        dict(zip(COUNTS, own[1:7], strict=True)),
        entry,
    )


def _file(kind: str) -> Object:
    return Object(_RUN / f"{kind.removeprefix(_PREFIX)}{SUFFIX}")


def _ifindex(device: str) -> int:
    try:
        return socket.if_nametoindex(device)
    except OSError:
        devices = ", ".join(sorted(name for _, name in socket.if_nameindex()))
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


def _mark(folder: Path, ifindex: int) -> Path:
    return folder / f"mark-{ifindex}"


def _spec(folder: Path, ifindex: int) -> Path:
    return _RUN / f"{folder.name}-{ifindex}"


def _end_marks(folder: Path, ifindex: int) -> None:
    _mark(folder, ifindex).unlink(missing_ok=True)
    del libbpf.Map(folder / "marks")[ifindex]


def _clean(folder: Path, ifindex: int) -> None:
    """Forget a device."""
    _end_marks(folder, ifindex)
    _spec(folder, ifindex).unlink(missing_ok=True)
    del libbpf.Map(folder / "devices")[ifindex]


def _forget(folder: Path) -> None:
    """Unregister a law, and remove its files, maps and programs."""
    del libbpf.Map(folder / "ops")[0]
    for path in [*folder.iterdir(), *_RUN.glob(f"{folder.name}-*"), _file(folder.name).path]:
        path.unlink(missing_ok=True)
    folder.rmdir()
    if not any(FOLDER.iterdir()):
        FOLDER.rmdir()


def _folders() -> list[Path]:
    return sorted(FOLDER.iterdir()) if FOLDER.is_dir() else []


def _sweep() -> None:
    """Forget the laws without a queue, also those of devices that are gone."""
    for folder in _folders():
        if not libbpf.Map(folder / "qdiscs").values():
            _forget(folder)


@contextmanager
def _alone() -> Iterator[Callable[[], None]]:
    """Let one command at a time load and unload, as `_signals_wait` does; then the laws without a queue go."""
    _RUN.mkdir(exist_ok=True)
    lock = os.open(_RUN, os.O_RDONLY)
    try:
        fcntl.flock(lock, fcntl.LOCK_EX)
        with _signals_wait() as stop:
            try:
                yield stop
            finally:
                _sweep()
    finally:
        os.close(lock)


@contextmanager
def _signals_wait() -> Iterator[Callable[[], None]]:
    """Keep signals that end the program for later; yield a function with which one that has come ends it at once."""
    came: list[int] = []
    # Not blocked, since another thread would take them.
    before = {one: signal.signal(one, lambda number, _: came.append(number)) for one in _STOPPING}

    def stop() -> None:
        for number in came[:1]:
            came.clear()
            signal.signal(number, before[signal.Signals(number)])
            signal.raise_signal(number)

    try:
        yield stop
    finally:
        for one, handler in before.items():
            signal.signal(one, handler)
        stop()
