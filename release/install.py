"""Wheels and their dependencies in empty environments: without Rust, without a network.

The packages are fetched beforehand, in the versions of requirements.lock and only as wheels. This machine's processor
gets a virtual environment. ARM gets a folder of packages, and qemu runs Debian's Python for ARM on them.
"""

from __future__ import annotations

import shutil
import subprocess
import sys
import tomllib
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from release import ROOT, TOOLS, WORK, foreign
from release.target import Target

UV = ROOT / "target" / "uv" / "bin" / "uv"
LIBRARIES = (17, 24, 26, 27, 28)
"""The glibc 2.x for which the dependencies have wheels for ARM."""


@dataclass(frozen=True)
class Installed:
    """An environment with the package: ``command`` starts its Python, ``packages`` is the folder of its packages."""

    target: Target
    command: tuple[str, ...]
    packages: Path
    environment: dict[str, str]

    def run(self, arguments: Sequence[str | Path], **more: str) -> subprocess.CompletedProcess[str]:
        """Run Python without a network, with more environment."""
        return self._run([*self.command, *arguments], more)

    def program(self, name: str, *arguments: str) -> subprocess.CompletedProcess[str]:
        """Run a program of the Linux engine."""
        file = self.packages / "aqmlab" / "bin" / name
        return self._run([*([file] if self.target.native else foreign.emulated(file)), *arguments], {})

    def _run(self, command: Sequence[str | Path], more: dict[str, str]) -> subprocess.CompletedProcess[str]:
        whole = [*alone(), *command]
        return subprocess.run(whole, cwd=ROOT, env=self.environment | more, capture_output=True, text=True, check=False)


@cache
def alone() -> tuple[str, ...]:
    """Return the beginning of a command that is to run without a network; empty if this machine cannot do that."""
    program = shutil.which("unshare")
    if program is None:
        return ()
    command = (program, "--net", "--map-root-user")
    return command if subprocess.run([*command, "true"], capture_output=True, check=False).returncode == 0 else ()


def installed(wheel: Path, target: Target, folder: Path) -> Installed:
    """Install a wheel with its dependencies in an empty environment in this folder."""
    shutil.rmtree(folder, ignore_errors=True)
    environment = {"HOME": str(folder / "home"), "LANG": "C.UTF-8", "PATH": str(folder / "bin")}
    packages, version = dependencies(target), _version(target)
    offline: list[str | Path] = ["--quiet", "--offline", "--no-cache", "--no-index", "--find-links", packages]
    if target.native:
        _make([UV, "venv", "--quiet", "--python", sys.executable, folder])
        _make([*alone(), UV, "pip", "install", *offline, "--python", folder / "bin" / "python", wheel])
        found = folder / "lib" / f"python{version}" / "site-packages"
        return Installed(target, (str(folder / "bin" / "python"),), found, environment)
    found = folder / "packages"
    wanted = ["--python-platform", target.triple, "--python-version", version, "--python", sys.executable]
    _make([*alone(), UV, "pip", "install", *offline, *wanted, "--target", found, wheel])
    command = tuple(foreign.emulated(foreign.PYTHON / "usr/bin/python3"))
    return Installed(target, command, found, environment | {"PYTHONPATH": str(found)})


def dependencies(target: Target) -> Path:
    """Fetch the packages that aqmlab needs, once; return their folder."""
    pins = WORK / "dependencies.txt"
    options: list[str | Path] = [
        "--quiet",
        "--generate-hashes",
        "--no-header",
        "--constraints",
        ROOT / "requirements.lock",
    ]
    _make([UV, "pip", "compile", *options, "--output-file", pins, ROOT / "pyproject.toml"])
    version = _version(target)
    wanted: list[str | Path] = ["--requirement", pins]
    if not target.native:
        platforms = [word for minor in LIBRARIES for word in ("--platform", f"manylinux_2_{minor}_{target.arch}")]
        wanted += ["--python-version", version, *platforms]
    return _fetched(pins, WORK / "packages" / f"{target.arch}-{version}", wanted)


def build_requirements() -> Path:
    """Fetch the packages that building the sdist needs, once; return their folder."""
    pins = ROOT / "release" / "requirements.lock"
    needed = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["build-system"]["requires"]
    return _fetched(pins, WORK / "packages" / "build", ["--constraint", pins, *needed])


def _fetched(pins: Path, folder: Path, wanted: Sequence[str | Path]) -> Path:
    """Fetch wheels of the pinned versions, unless the folder has them; return the folder."""
    done = folder / "pins.txt"
    if not done.is_file() or done.read_text(encoding="utf-8") != pins.read_text(encoding="utf-8"):
        shutil.rmtree(folder, ignore_errors=True)
        options: list[str | Path] = ["--quiet", "--only-binary", ":all:", "--require-hashes", "--dest", folder]
        _make([TOOLS / "bin" / "python", "-m", "pip", "download", *options, *wanted])
        shutil.copy(pins, done)
    return folder


@cache
def _version(target: Target) -> str:
    """Return the version of the Python that runs for a target: `3.11`."""
    python = [sys.executable] if target.native else foreign.emulated(foreign.PYTHON / "usr/bin/python3")
    program = "import sys; print(*sys.version_info[:2], sep='.')"
    return subprocess.run([*python, "-c", program], capture_output=True, text=True, check=True).stdout.strip()


def _make(command: Sequence[str | Path]) -> None:
    subprocess.run(command, cwd=ROOT, stdout=sys.stderr, check=True)
