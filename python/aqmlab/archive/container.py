"""The container of an archive: a zip file, written the same way every time, and read with suspicion."""

from __future__ import annotations

import hashlib
import os
import shutil
import stat
import struct
import unicodedata
import zipfile
import zlib
from collections.abc import Iterator, Mapping
from pathlib import Path, PurePosixPath
from typing import BinaryIO

from aqmlab.files import replacing

MOST_BYTES = 20 << 30
"""The most bytes that an archive may unpack to."""

MOST_RATIO = 100
"""The largest factor by which an archive may unpack to more than `LARGE` bytes; tables come to 5, texts to 30."""

LARGE = 100 << 20
_BLOCK = 1 << 20
_NOT_PORTABLE = frozenset('\\:*?"<>|' + "".join(map(chr, range(32))))
_LONG, _LONGEST = 255, 1024
"""The most bytes of a file's or a folder's name, and of a path."""
_DATE = (1980, 1, 1, 0, 0, 0)
"""The date of every file: the same results make the same archive."""


class ArchiveError(ValueError):
    """Raised for an archive that is damaged, doctored or dangerous; the message names it and the reason."""


def write(path: Path, files: Mapping[str, bytes | Path]) -> None:
    """Write an archive in one step; a file is its content, or the path of a file that has it.

    Raise ArchiveError if `unpack` would refuse it: for the name of a file, say.
    """
    with replacing(path) as temporary:
        with zipfile.ZipFile(temporary, "w", zipfile.ZIP_DEFLATED) as archive:
            for name, content in sorted(files.items()):
                entry = zipfile.ZipInfo(name, _DATE)
                entry.compress_type = zipfile.ZIP_DEFLATED
                entry.create_system = 3  # Unix, on every system
                entry.external_attr = (stat.S_IFREG | 0o644) << 16
                with archive.open(entry, "w", force_zip64=True) as target:
                    if isinstance(content, bytes):
                        target.write(content)
                    else:
                        with content.open("rb") as source:
                            shutil.copyfileobj(source, target, _BLOCK)
            entries = archive.infolist()
        for reason in _faults(entries, temporary.stat().st_size):
            raise ArchiveError(f"{path}: {reason}: rename it or take it out of the folder")


def sha256(content: bytes | Path) -> str:
    """Return the SHA-256 of a content, or of a file, in hexadecimal."""
    if isinstance(content, bytes):
        return hashlib.sha256(content).hexdigest()
    with content.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def unpack(path: Path, folder: Path) -> list[str]:
    """Unpack an archive into an empty folder; return the names of its files.

    Raise ArchiveError, before anything is written, if it is no zip file, if a name is taken twice or leads out of the
    folder, if an entry is no file, or if there is more to unpack than is plausible; and for a file that is damaged.
    """
    room = shutil.disk_usage(folder).free
    try:
        with zipfile.ZipFile(path) as archive:
            entries = archive.infolist()
            for reason in _faults(entries, path.stat().st_size):
                raise ArchiveError(f"{path}: {reason}")
            with path.open("rb") as file:
                _require_nothing_else(path, file, entries, archive.start_dir)
            if (total := sum(entry.file_size for entry in entries)) > room:
                raise ArchiveError(
                    f"{path}: it unpacks to {total / 1e9:.1f} GB, and {room / 1e9:.1f} GB are free in {folder}"
                )
            for entry in entries:
                target = folder / entry.filename
                target.parent.mkdir(parents=True, exist_ok=True)
                try:
                    with archive.open(entry) as source, target.open("xb") as file:
                        shutil.copyfileobj(source, file, _BLOCK)
                except (zlib.error, EOFError) as error:
                    raise ArchiveError(f"{path}: {entry.filename}: damaged: {error}") from None
    except (zipfile.BadZipFile, zipfile.LargeZipFile, struct.error, RuntimeError) as error:
        raise ArchiveError(f"{path}: torn or damaged, or no zip file: {error}") from None
    except OSError as error:
        target = Path(os.fsdecode(error.filename or "/"))
        if target.is_relative_to(folder):
            raise ArchiveError(f"{path}: {error.strerror}: {target.relative_to(folder)!s:.200}") from None
        raise
    return [entry.filename for entry in entries]


_LOCAL = struct.Struct("<4s22xHH")
"""The head of an entry in a zip file: its magic, and the lengths of the name and of what follows it."""
_END = struct.Struct("<4s16xH")
"""The end of a zip file: its magic, and the length of a comment."""


def _require_nothing_else(path: Path, file: BinaryIO, entries: list[zipfile.ZipInfo], start: int) -> None:
    """Refuse a zip file with bytes that are of no entry; its list of entries starts at the byte `start`."""
    at = 0
    for entry in sorted(entries, key=lambda entry: entry.header_offset):
        file.seek(entry.header_offset)
        magic, name, extra = _LOCAL.unpack(file.read(_LOCAL.size))
        if entry.header_offset != at or magic != b"PK\x03\x04":
            break
        at += _LOCAL.size + name + extra + entry.compress_size
    file.seek(-_END.size, os.SEEK_END)
    if at != start or _END.unpack(file.read(_END.size)) != (b"PK\x05\x06", 0):
        raise ArchiveError(f"{path}: it has bytes that are of none of its files")


def _faults(entries: list[zipfile.ZipInfo], size: int) -> Iterator[str]:
    """Yield the reasons to refuse an archive with these entries; `size` is the number of its bytes."""
    seen: set[str] = set()
    names = {entry.filename for entry in entries}
    for entry in entries:
        name, mode = entry.filename, entry.external_attr >> 16
        folded = unicodedata.normalize("NFC", name).casefold()
        if folded in seen:
            yield f"{name!r} is in it twice, apart from small and capital letters and the code of its accents"
        seen.add(folded)
        place = PurePosixPath(name)
        odd = name != place.as_posix() or any(letter in _NOT_PORTABLE for letter in name)
        long = len(name.encode(errors="replace")) > _LONGEST or any(
            len(part.encode(errors="replace")) > _LONG for part in place.parts
        )
        if place.is_absolute() or ".." in place.parts or odd or long:
            yield f"{name!r:.200} leads out of the folder, or is no name for a file on every system"
        if inside := [folder for folder in place.parents if folder.as_posix() in names]:
            yield f"{name!r} is in {inside[0].as_posix()!r}, which is a file"
        if mode and stat.S_IFMT(mode) not in (0, stat.S_IFREG):
            yield f"{name!r} is no file but a link or a device"
        if entry.flag_bits & 1:
            yield f"{name!r} is encrypted"
        if entry.compress_type not in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED):
            yield f"{name!r} is compressed in an unusual way"
    total = sum(entry.file_size for entry in entries)
    if total > MOST_BYTES or (total > LARGE and total > MOST_RATIO * size):
        yield f"it unpacks from {size / 1e6:.1f} MB to {total / 1e9:.1f} GB: a zip bomb"
