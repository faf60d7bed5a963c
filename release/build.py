"""The sdist from the sources, and the wheels from the unpacked sdist; each in a place of its own.

A place is a folder. Whatever is built in two of them must have the same bytes; what names a folder or a date is
therefore fixed here: the date is that of the last commit, and the compiler writes short names for the folders.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import tarfile
import tomllib
from collections.abc import Mapping, Sequence
from functools import cache
from pathlib import Path, PurePosixPath

from release import ROOT, TOOLS, WORK
from release.install import alone
from release.target import GLIBC, Target, path

PLACES = (WORK / "one", WORK / "another" / "place")
PLAYGROUND = [f"python/aqmlab/playground/{name}" for name in ("index.html", "widget.js")]
"""Files of the playground, which `make playground` builds where there is a toolchain for JavaScript."""
_LAWS = ROOT / "kernel"
KERNEL = [
    f"python/aqmlab/kernel/{name}"
    for name in (
        *(f"{file.stem}.bpf.o" for file in _LAWS.glob("*.c")),
        *(file.name for pattern in ("*.c", "*.h", "build.sh", "LICENSE*") for file in _LAWS.glob(pattern)),
    )
]
"""Queue disciplines for the kernel with their sources: `make kernel-disciplines`, where there is clang."""
PROGRAMS = ("aqmlab-router", "aqmlab-traffic")
"""The programs of the Linux engine."""
UNWANTED = (
    "CARGO_BUILD_",
    "CARGO_ENCODED_RUSTFLAGS",
    "CARGO_PROFILE_",
    "CARGO_TARGET_",
    "MATURIN_",
    "PYO3_",
    "RUSTFLAGS",
)
"""Variables of whoever calls make that would change what is built begin so."""


def sdist(place: Path) -> Path:
    """Copy the sources, changes that are not committed included, and pack them; return the sdist."""
    checkout, out = place / "checkout", place / "sdist"
    for folder in (checkout, out):
        shutil.rmtree(folder, ignore_errors=True)
    listed = subprocess.run(["git", "ls-files", "-z"], cwd=ROOT, capture_output=True, text=True, check=True)
    names = [*listed.stdout.rstrip("\0").split("\0"), *PLAYGROUND, *KERNEL]
    for name in filter(lambda name: (ROOT / name).is_file(), names):
        (checkout / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy2(ROOT / name, checkout / name)
    for command in (["git", "init", "--quiet"], ["git", "add", "--all"]):  # maturin packs what git knows
        subprocess.run(command, cwd=checkout, check=True)
    _make([TOOLS / "bin" / "maturin", "sdist", "--out", out], checkout, _environment())
    return next(out.glob("*.tar.gz"))


def unpacked(archive: Path, folder: Path) -> Path:
    """Unpack an sdist; return the folder of the sources.

    Files that have not changed are left alone. Others get today's date: cargo builds again what is newer than its
    last build, and in the archive all files have the date of the commit.
    """
    with tarfile.open(archive) as opened:
        files = {PurePosixPath(member.name): member for member in opened.getmembers() if member.isfile()}
        for name, member in files.items():
            stream, file = opened.extractfile(member), folder / name
            content = stream.read() if stream else b""
            if not file.is_file() or file.read_bytes() != content:
                file.parent.mkdir(parents=True, exist_ok=True)
                file.write_bytes(content)
    for file in [file for file in folder.rglob("*") if file.is_file()]:
        if PurePosixPath(file.relative_to(folder)) not in files:
            file.unlink()
    return folder / next(iter(files)).parts[0]


def programs(source: Path, target: Target, place: Path) -> None:
    """Compile the programs of the Linux engine, and put them into the package that a wheel is made of."""
    crates = place / "programs"  # in that of the engine, which is linked by another command, cargo would start anew
    triple = f"{target.triple}.{GLIBC[0]}.{GLIBC[1]}"
    options: list[str | Path] = ["--quiet", "--release", "--locked", "--target-dir", crates, "--target", triple]
    packages = ["--package", "router", "--package", "traffic"]
    _make([TOOLS / "bin" / "cargo-zigbuild", "zigbuild", *options, *packages], source, _environment(target, source))
    for program in PROGRAMS:
        built = source / "python" / "aqmlab" / "bin" / program
        built.parent.mkdir(exist_ok=True)
        shutil.copy(crates / target.triple / "release" / program, built)


def wheel(
    source: Path,
    target: Target,
    place: Path,
    flags: Sequence[str] = (),
    name: str = "",
    bill: Path | None = None,
    *,
    local: bool = False,
) -> Path:
    """Compile the engine, with more of the compiler's options and a name for the build; return the wheel.

    `bill` is the bill of materials that it gets. If `local` is true the wheel is for this machine alone: its own
    linker links it, against its own glibc.
    """
    out = place / "wheels"
    shutil.rmtree(out, ignore_errors=True)
    options: list[str | Path] = [
        "--quiet",
        "--release",
        "--locked",
        "--target-dir",
        place / "crates",
        "--target",
        target.triple,
    ]
    oldest = target.tag.removesuffix(f"_{target.arch}")
    compatible = ["--compatibility", "linux"] if local else ["--zig", "--compatibility", oldest]
    environment = _environment(target, source, flags) | ({"AQMLAB_BUILD": name} if name else {})
    included: list[str | Path] = ["--sbom-include", bill] if bill else []
    _make([TOOLS / "bin" / "maturin", "build", *options, *compatible, *included, "--out", out], source, environment)
    return next(out.glob("*.whl"))


def from_sdist(source: Path, packages: Path, out: Path) -> Path:
    """Build a wheel from an unpacked sdist as pip does, in an environment of its own, without a network."""
    shutil.rmtree(out, ignore_errors=True)
    options: list[str | Path] = ["--quiet", "--no-deps", "--no-index", "--find-links", packages, "--wheel-dir", out]
    environment = _environment() | {"CARGO_NET_OFFLINE": "true", "CARGO_TARGET_DIR": str(WORK / "sdist-crates")}
    _make([*alone(), TOOLS / "bin" / "python", "-m", "pip", "wheel", *options, source], source, environment)
    return next(out.glob("*.whl"))


@cache
def _dated() -> dict[str, str]:
    """Return the environment in which files get the date of the commit that is the last one when the build begins."""
    told = subprocess.run(["git", "log", "-1", "--format=%ct"], cwd=ROOT, capture_output=True, text=True, check=True)
    return {"SOURCE_DATE_EPOCH": told.stdout.strip()}


def _environment(target: Target | None = None, source: Path = ROOT, flags: Sequence[str] = ()) -> dict[str, str]:
    """Return the environment of a build, of the sources in this folder, with more of the compiler's options."""
    plain = {name: value for name, value in os.environ.items() if not name.startswith(UNWANTED)}
    fixed = {"PATH": path(TOOLS / "bin"), "CARGO_ZIGBUILD_CACHE_DIR": str(WORK / "zig")} | _dated()
    if target is None:
        return plain | fixed
    config = tomllib.loads((source / ".cargo" / "config.toml").read_text(encoding="utf-8"))
    flags = [*target.flags(config), *_renamed(source), *flags]
    stripped = {"CARGO_PROFILE_RELEASE_DEBUG": "false", "CARGO_PROFILE_RELEASE_STRIP": "symbols"}
    return plain | fixed | stripped | {"CARGO_ENCODED_RUSTFLAGS": "\x1f".join(flags)} | target.compiler


def _renamed(source: Path) -> list[str]:
    """Return the options by which messages name neither this folder nor that of the registry's crates."""
    return [f"--remap-path-prefix={folder}={name}" for folder, name in [(source, "aqmlab"), *_registry()]]


@cache
def _registry() -> list[tuple[Path, str]]:
    """Fetch the crates; return the folders in which cargo unpacks them, with a name for each."""
    subprocess.run(["cargo", "fetch", "--locked", "--quiet"], cwd=ROOT, check=True)
    home = Path(os.environ.get("CARGO_HOME", Path.home() / ".cargo"))
    return [(folder, "crates") for folder in sorted((home / "registry" / "src").iterdir())]


def _make(command: Sequence[str | Path], folder: Path, environment: Mapping[str, str]) -> None:
    """Run a command that builds something. What it says is kept beside the folder, and shown if it fails."""
    log = folder.with_name(f"{folder.name}.log")
    with log.open("a", encoding="utf-8") as stream:
        done = subprocess.run(command, cwd=folder, env=environment, stdout=stream, stderr=stream, check=False)
    if done.returncode != 0:
        last = log.read_text(encoding="utf-8").splitlines()[-30:]
        raise SystemExit("\n".join([*last, f"{' '.join(map(str, command))}: exit status {done.returncode}: see {log}"]))
