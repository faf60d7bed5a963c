"""All that is built into a wheel and not ours: crates, and packages of npm.

The lock files have their names. The packages of Python that a wheel needs are installed beside it, not in it:
`release.environment` has them.
"""

from __future__ import annotations

import base64
import json
import subprocess
import tomllib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any, Literal

from release import ROOT

BUILT = ("py", "router", "traffic", "wasm")
"""Our crates that become files of a wheel: the module of Python, two programs, the engine in the playground."""

TARGETS = ("x86_64-unknown-linux-gnu", "aarch64-unknown-linux-gnu", "wasm32-unknown-unknown")
"""The systems for which they are compiled."""

PLAYGROUND = ROOT / "playground"
"""The page. Its uPlot is also that of figures in a browser: `python/aqmlab/figures/uplot`."""


@dataclass(frozen=True, slots=True)
class Part:
    """A package in a wheel: its registry, its licence as an SPDX expression, and the package URLs of what it needs.

    ``direct`` tells whether our own code uses it. ``folder`` is where it is on this machine. ``sha256`` and ``sha512``
    are those of the archive in the registry, in hexadecimal, where the lock file has them.
    """

    registry: Literal["cargo", "npm"]
    name: str
    version: str
    licence: str
    folder: Path
    direct: bool
    needs: tuple[str, ...] = ()
    sha256: str = ""
    sha512: str = ""

    @property
    def purl(self) -> str:
        """Its package URL."""
        return _purl(self.registry, self.name, self.version)


@cache
def parts() -> list[Part]:
    """List all packages by registry and name."""
    found = {part.purl: part for part in (*crates(), *scripts())}
    return [found[purl] for purl in sorted(found)]


def crates() -> Iterator[Part]:
    """Yield the crates of others that are compiled into our files, for any of the systems."""
    with (ROOT / "Cargo.lock").open("rb") as file:
        checksums = {(one["name"], one["version"]): one.get("checksum", "") for one in tomllib.load(file)["package"]}
    found = [one for target in TARGETS for one in linked(BUILT, target)]
    direct = {one["id"] for package, needs in found if package["source"] is None for one in needs}
    foreign = {package["id"]: package for package, _ in found if package["source"] is not None}
    for id, package in foreign.items():
        name, version = package["name"], package["version"]
        # A crate needs others on other systems.
        needs = {
            _purl("cargo", one["name"], one["version"]) for each, more in found if each["id"] == id for one in more
        }
        yield Part(
            "cargo",
            name,
            version,
            licence=package["license"].replace("/", " OR "),
            folder=Path(package["manifest_path"]).parent,
            direct=id in direct,
            needs=tuple(sorted(needs)),
            sha256=checksums[name, version],
        )


def linked(names: Sequence[str], target: str) -> list[tuple[dict[str, Any], list[dict[str, Any]]]]:
    """List cargo's data on each crate that is compiled into these crates of ours, and on the crates that it needs."""
    command = ["cargo", "metadata", "--format-version", "1", "--locked", "--filter-platform", target]
    told = json.loads(subprocess.run(command, cwd=ROOT, capture_output=True, check=True).stdout)
    packages = {package["id"]: package for package in told["packages"]}
    nodes = {node["id"]: node for node in told["resolve"]["nodes"]}

    def needs(id: str) -> list[str]:
        # A macro and its dependencies belong to the compiler, not to the compiled code.
        return [
            one["pkg"]
            for one in nodes[id]["deps"]
            if "proc-macro" not in packages[one["pkg"]]["targets"][0]["kind"]
            and any(kind["kind"] is None for kind in one["dep_kinds"])
        ]

    new = [id for id, package in packages.items() if package["source"] is None and package["name"] in names]
    found = set(new)
    while new:
        more = [id for id in needs(new.pop()) if id not in found]
        found.update(more)
        new += more
    return [(packages[id], [packages[one] for one in needs(id)]) for id in sorted(found)]


def scripts() -> Iterator[Part]:
    """Yield the packages of npm that are bundled into the playground. Their data is that of its lock file."""
    locked = json.loads((PLAYGROUND / "package-lock.json").read_text(encoding="utf-8"))["packages"]
    bundled = {
        place.removeprefix("node_modules/"): one
        for place, one in locked.items()
        if place.startswith("node_modules/") and not (one.get("dev") or one.get("link"))
    }
    for name, one in bundled.items():
        needs = tuple(_purl("npm", each, bundled[each]["version"]) for each in one.get("dependencies", ()))
        kind, _, digest = one["integrity"].partition("-")
        assert kind == "sha512", f"{name}: integrity by {kind}, not sha512"
        sha512 = base64.b64decode(digest).hex()
        folder = PLAYGROUND / "node_modules" / name
        direct = name in locked[""]["dependencies"]
        yield Part("npm", name, one["version"], one["license"], folder, direct, needs, sha512=sha512)


def _purl(registry: str, name: str, version: str) -> str:
    """Return the package URL: the name in any registry."""
    return f"pkg:{registry}/{name.replace('@', '%40')}@{version.replace('+', '%2B')}"
