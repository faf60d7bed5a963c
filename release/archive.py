"""Wheels and sdists as archives: how two of them differ, what they hold, which platform a wheel names."""

from __future__ import annotations

import tarfile
import zipfile
from collections.abc import Iterable
from pathlib import Path

from packaging.utils import parse_wheel_filename


def difference(one: Path, other: Path) -> str:
    """Say how two archives differ, first of all in which member; empty if they have the same bytes and name."""
    if one.name != other.name:
        return f"one is named {one.name}, the other {other.name}"
    if one.read_bytes() == other.read_bytes():
        return ""
    first, second = _members(one), _members(other)
    for name in sorted(first.keys() ^ second.keys()):
        return f"only one has {name}"
    for name, (about, content) in first.items():
        others_about, others_content = second[name]
        if content != others_content:
            pairs = enumerate(zip(content, others_content, strict=False))
            at = next((at for at, (a, b) in pairs if a != b), min(len(content), len(others_content)))
            return f"{name} differs, from byte {at} on ({len(content)} and {len(others_content)} bytes)"
        if about != others_about:
            return f"{name} has another date, mode or owner: {about} and {others_about}"
    if list(first) != list(second):
        return "the members have another order"
    return "the members are equal, the archive around them differs"


def naming(archive: Path, folders: Iterable[Path]) -> list[str]:
    """Return the members of an archive that name one of these folders of the machine on which it was built."""
    words = [str(folder).encode() for folder in folders]
    return [name for name, (_, content) in _members(archive).items() if any(word in content for word in words)]


def names(archive: Path) -> list[str]:
    """Return the names of the members of an archive."""
    return list(_members(archive))


def platforms(wheel: Path) -> set[str]:
    """Return the platform tags in the name of a wheel."""
    _, _, _, tags = parse_wheel_filename(wheel.name)
    return {tag.platform for tag in tags}


def _members(archive: Path) -> dict[str, tuple[object, bytes]]:
    """Return what an archive holds, in its order: date, mode and owner of each file, and its content."""
    if archive.suffix == ".whl":
        with zipfile.ZipFile(archive) as wheel:
            entries = wheel.infolist()
            return {entry.filename: ((entry.date_time, entry.external_attr), wheel.read(entry)) for entry in entries}
    found: dict[str, tuple[object, bytes]] = {}
    with tarfile.open(archive) as sdist:
        for member in sdist:
            stream = sdist.extractfile(member)
            about = (member.mtime, member.mode, member.uid, member.gid, member.uname, member.gname)
            found[member.name] = about, stream.read() if stream else b""
    return found
