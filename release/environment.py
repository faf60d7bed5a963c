"""The packages of Python that aqmlab needs, from the metadata of those that are installed.

They are installed beside a wheel, not in it. `make setup` installs the versions of `requirements.lock`, all extras too.
"""

from __future__ import annotations

import tomllib
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cache
from importlib.metadata import Distribution, PackageNotFoundError, distribution

from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

from release import ROOT


@dataclass(frozen=True, slots=True)
class Package:
    """An installed package: what needs it, by name (empty for aqmlab), and its size in bytes, bytecode left out."""

    name: str
    version: str
    licence: str
    size: int
    through: tuple[str, ...]

    @property
    def purl(self) -> str:
        """Its package URL."""
        return f"pkg:pypi/{self.name}@{self.version}"


OURS = {"aqmlab", "aqmlab-papers"}
"""The distributions of this repository, which need each other."""


@cache
def declared() -> dict[str, list[Requirement]]:
    """Return the requirements of pyproject.toml: those of each extra by its name, and those of all under ""."""
    with (ROOT / "pyproject.toml").open("rb") as file:
        project = tomllib.load(file)["project"]
    texts = {"": project["dependencies"], **project["optional-dependencies"]}
    return {extra: [Requirement(text) for text in each] for extra, each in texts.items()}


def packages(extras: Iterable[str] = ()) -> dict[str, Package]:
    """Return what aqmlab needs with these extras, by name: its requirements, theirs, and so on."""
    new = [(requirement, "") for extra in ("", *extras) for requirement in declared()[extra]]
    through: dict[str, set[str]] = {}
    seen: set[tuple[str, str]] = set()
    while new:
        requirement, parent = new.pop()
        name = canonicalize_name(requirement.name)
        if name in OURS:
            continue
        through.setdefault(name, set()).add(parent)
        for extra in ("", *requirement.extras):
            if (name, extra) not in seen:
                seen.add((name, extra))
                needed = map(Requirement, _installed(name).requires or ())
                new += [(one, name) for one in needed if _applies(one, extra)]
    return {name: _package(name, through[name]) for name in sorted(through)}


def _applies(requirement: Requirement, extra: str) -> bool:
    """Return whether a package has this requirement on this machine, for itself or for one of its extras."""
    if requirement.marker is None:
        return extra == ""
    return requirement.marker.evaluate({"extra": extra}) and not (extra and requirement.marker.evaluate({"extra": ""}))


def _installed(name: str) -> Distribution:
    try:
        return distribution(name)
    except PackageNotFoundError:
        raise SystemExit(f"{name} is not installed: run `make setup`") from None


def _package(name: str, through: Iterable[str]) -> Package:
    found = _installed(name)
    files = [found.locate_file(file) for file in found.files or () if file.suffix != ".pyc"]
    size = sum(file.stat().st_size for file in files if file.is_file())  # type: ignore[attr-defined]
    return Package(name, found.version, _licence(found), size, tuple(sorted(through)))


def _licence(found: Distribution) -> str:
    """Return the licence: an SPDX expression where the package has one, or what its classifiers name."""
    stated = found.metadata.json
    if expression := stated.get("license_expression"):
        return str(expression)
    classifiers = [line.split(" :: ")[-1] for line in stated.get("classifier", ()) if line.startswith("License ::")]
    return " AND ".join(classifiers) or str(stated.get("license", "")).partition("\n")[0]
