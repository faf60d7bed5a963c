"""The facts of a machine that the checks judge."""

from __future__ import annotations

import errno
import gzip
import mmap
import os
import platform
import shutil
import subprocess
import tempfile
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

_PATIENCE = 20
"""Seconds after which a program is stopped."""

_ADMINISTRATORS = ":/usr/sbin:/sbin"
"""Folders that the search path of an ordinary user leaves out."""


@dataclass(frozen=True, slots=True)
class Done:
    """A program that has ended: its exit status, and its standard output and error in one text."""

    status: int
    output: str


class Machine:
    """The machine on which aqmlab runs: every fact of a check comes from here, so that a test can replace it.

    No method changes the machine.

    Parameters
    ----------
    root : Path
        The folder that stands for ``/``.
    environ : Mapping, optional
        Environment variables; by default those of this process.
    uid : int, optional
        Effective user; by default that of this process.
    package : Path, optional
        The folder of the package ``aqmlab``.
    """

    def __init__(
        self,
        root: Path = Path("/"),
        environ: Mapping[str, str] | None = None,
        uid: int | None = None,
        package: Path = Path(__file__).parents[2],
    ) -> None:
        self.root = root
        self.environ = dict(os.environ if environ is None else environ)
        self.uid = getattr(os, "geteuid", int)() if uid is None else uid
        self.package = package
        self.system, self.processor, self.release = platform.system(), platform.machine(), platform.release()

    @property
    def sudo(self) -> str:
        """The beginning of a command that only the administrator may call."""
        return "" if self.uid == 0 else "sudo "

    @property
    def checkout(self) -> Path | None:
        """The folder of the repository, if the package lies in one."""
        folder = self.package.parents[1]
        return folder if (folder / "Makefile").is_file() and (folder / "crates").is_dir() else None

    def path(self, name: str) -> Path:
        """Return the place of an absolute path."""
        return self.root / name.lstrip("/")

    def text(self, name: str) -> str | None:
        """Return the contents of a file without the space around them; None if it cannot be read."""
        try:
            content = self.path(name).read_bytes()
        except OSError:
            return None
        return (gzip.decompress(content) if name.endswith(".gz") else content).decode(errors="replace").strip()

    def texts(self, folder: str, pattern: str) -> dict[str, str]:
        """Return the contents of the readable files of a folder that match a pattern, by path relative to it."""
        found = {file.relative_to(self.path(folder)).as_posix(): file for file in self.path(folder).glob(pattern)}
        contents = {name: self.text(f"{folder}/{name}") for name in sorted(found)}
        return {name: text for name, text in contents.items() if text is not None}

    def number(self, name: str) -> int | None:
        """Return the whole number in a file; None if there is none."""
        try:
            return int(self.text(name) or "")
        except ValueError:
            return None

    def status(self, key: str) -> str | None:
        """Return an entry of the status of this process, such as ``CapEff``."""
        lines = (self.text("/proc/self/status") or "").splitlines()
        return next((value.strip() for name, _, value in (line.partition(":") for line in lines) if name == key), None)

    def has_capability(self, number: int) -> bool:
        """Check whether this process has a capability, by its number in capabilities(7)."""
        return bool(int(self.status("CapEff") or "0", 16) >> number & 1)

    def program(self, name: str) -> str | None:
        """Return the path of a program, which may lie in a folder for administrators; None if there is none."""
        return shutil.which(name, path=self.environ.get("PATH", "") + _ADMINISTRATORS)

    def run(self, command: Sequence[str], environ: Mapping[str, str] | None = None) -> Done | None:
        """Run a program to its end, in English and with `environ` added to its environment; None if there is none."""
        found = command[0] if "/" in command[0] else self.program(command[0])
        if found is None:
            return None
        path = self.environ.get("PATH", "") + _ADMINISTRATORS
        try:
            done = subprocess.run(
                [found, *command[1:]],
                env={**self.environ, "PATH": path, "LC_ALL": "C", **(environ or {})},
                stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                stderr=subprocess.STDOUT,
                timeout=_PATIENCE,
                check=False,
            )
        except subprocess.TimeoutExpired:
            return Done(-1, f"{name_of(command)} did not end within {_PATIENCE} s")
        except OSError as error:
            return Done(-1, f"{name_of(command)}: {error.strerror}")
        return Done(done.returncode, done.stdout.decode(errors="replace").strip())

    def is_executable(self, name: str) -> bool:
        """Check whether a file is there and this user may execute it."""
        return self.path(name).is_file() and os.access(self.path(name), os.X_OK)

    def opening(self, name: str) -> str:
        """Open a device for reading and writing and close it; return the error, or an empty text."""
        try:
            os.close(os.open(self.path(name), os.O_RDWR | os.O_CLOEXEC))
        except OSError as error:
            return error.strerror or errno.errorcode[error.errno or 0]
        return ""

    def executable_space(self, name: str) -> int | str:
        """Return the free bytes of a folder for executable files, or the reason why it takes none."""
        folder = self.path(name)
        try:
            with tempfile.TemporaryFile(dir=folder) as file:
                file.truncate(mmap.PAGESIZE)
                mmap.mmap(file.fileno(), mmap.PAGESIZE, prot=mmap.PROT_READ | mmap.PROT_EXEC).close()
        except PermissionError as error:
            is_mount = error.filename is None
            return "mounted noexec" if is_mount else "not writable"
        except OSError as error:
            return error.strerror or str(error)
        found = os.statvfs(folder)
        return found.f_bavail * found.f_frsize

    def timer_resolution(self) -> float:
        """Return the resolution of the kernel's timers in s."""
        return time.clock_getres(time.CLOCK_MONOTONIC)

    @contextmanager
    def guest_folder(self) -> Iterator[str]:
        """Keep a folder for the files of a guest, and remove it at the end."""
        with tempfile.TemporaryDirectory(prefix="aqmlab-") as folder:
            yield folder


def name_of(command: Sequence[str]) -> str:
    """Return the name of a command's program without its folder."""
    return Path(command[0]).name
