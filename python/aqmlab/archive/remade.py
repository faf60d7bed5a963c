"""The verdicts, figures and reports of an archive, made again from its runs."""

from __future__ import annotations

import hashlib
import io
import itertools
import os
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path, PurePosixPath
from typing import Any

from aqmlab import plugins
from aqmlab.archive.contents import Kind, OtherVersion, Watch
from aqmlab.archive.layout import CRATE, PREVIEW, SEALED
from aqmlab.figures import matplotlib
from aqmlab.files import FIGURE_FORMATS
from aqmlab.reports.template import rendered

_DRAWN_BY = re.compile(rb"Matplotlib (?:pdf backend )?v(?:ersion ?)?(\d[\w.]*)")
"""The version of matplotlib in an image."""


_FIRST = ("report.html", "index.html", "figure.png")
"""The files that a reader opens first."""


def page(head: Mapping[str, Any], files: Iterable[str]) -> str:
    """Return the page of an archive for people as HTML, with a link to each file."""
    names = sorted(files)
    return rendered(
        "archive.html",
        title=head["title"],
        made=f"{head['kind'].capitalize()} of aqmlab {head['version']}, {head['date']}",
        command=head["command"],
        has_figures=False,
        head=head,
        first=[name for name in _FIRST if name in names],
        results=[name for name in names if not name.startswith(SEALED)],
        own=[name for name in names if name.startswith(SEALED)],
    )


@cache
def code() -> str:
    """Return the digest of the code that judges and draws: with another one, files may differ for no other reason."""
    found = hashlib.sha256()
    for package in (Path(__file__).parents[1], *plugins.packages()):
        for path in sorted(package.rglob("*")):
            if path.is_file() and path.suffix in (".py", ".html", ".css", ".js", ".toml"):
                found.update(path.relative_to(package.parent).as_posix().encode() + b"\0" + path.read_bytes())
    return found.hexdigest()


@dataclass(frozen=True)
class Judged:
    """The verdicts that the archive states, those that its runs lead to, and why there are none of the latter."""

    stated: Mapping[str, str] = field(default_factory=dict)
    now: Mapping[str, str] = field(default_factory=dict)
    error: str = ""

    @property
    def changed(self) -> dict[str, tuple[str, str]]:
        """The verdicts that do not stand, by claim: as stated, and as the runs lead to them."""
        names = dict.fromkeys([*self.stated, *self.now])
        both = {name: (self.stated.get(name, "none"), self.now.get(name, "none")) for name in names}
        return {name: pair for name, pair in both.items() if pair[0] != pair[1]}

    @property
    def lines(self) -> list[str]:
        """The lines of the output."""
        if self.error:
            return [f"verdicts: not judged again: {self.error}"]
        lines = [f"{name}: {was!r} is stated, the runs lead to {now!r}" for name, (was, now) in self.changed.items()]
        return [*lines, f"{len(self.stated) - len(lines)} of {len(self.stated)} verdicts stand"]


@dataclass(frozen=True)
class Files:
    """The figures, tables and pages that were made again: those that are the same, and those that differ.

    ``elsewhere`` has the images that another version of matplotlib drew, by that version, which are not compared.
    ``reason`` is why nothing was made again although nothing is wrong, and ``error`` the exception that stopped it.
    """

    same: Sequence[str] = ()
    different: Sequence[str] = ()
    elsewhere: Mapping[str, Sequence[str]] = field(default_factory=dict)
    reason: str = ""
    error: str = ""

    @property
    def is_sound(self) -> bool:
        """Whether no file differs."""
        return not (self.different or self.error)

    @property
    def lines(self) -> list[str]:
        """The lines of the output."""
        if self.reason or self.error:
            return [f"figures and reports: not made again: {self.reason or self.error}"]
        lines = [f"{name}: differs from what the runs lead to" for name in self.different]
        for version, names in self.elsewhere.items():
            lines.append(f"{len(names)} figures: not compared: drawn by {version}; this is {matplotlib.maker()}")
        count = len(self.same) + len(self.different)
        return [*lines, f"made again, byte for byte the same: {len(self.same)} of {count} figures, tables and pages"]


def remake(
    kind: Kind, folder: Path, names: Sequence[str], head: Mapping[str, Any], watch: Watch | None
) -> tuple[Judged | None, Files]:
    """Judge and draw an unpacked archive again; the former is None if it states no verdicts."""
    stated = kind.facts(folder).verdicts
    try:
        found = kind.remade(folder, names, watch)
    except OtherVersion as error:
        return Judged(stated, error=str(error)) if stated else None, Files(reason=str(error))
    except MemoryError:
        raise
    except Exception as error:  # a doctored file may raise anything
        reason = _text(error, folder)
        if stated:
            return Judged(stated, error=reason), Files(reason="the verdicts were not judged again")
        return None, Files(error=reason)
    judged = None if found.verdicts is None else Judged(stated, found.verdicts)
    if head.get("code") != code():
        return judged, Files(reason="other code of aqmlab made them")
    try:
        listed = [name for name in head["files"] if name not in (CRATE, PREVIEW)]
        made = itertools.chain([(PREVIEW, page(head, listed).encode())], found.files)
        return judged, _compared(folder, names, made, head)
    except MemoryError:
        raise
    except Exception as error:  # likewise
        return judged, Files(error=_text(error, folder))


def _text(error: Exception, folder: Path) -> str:
    return placeless(str(error), folder) or type(error).__name__


def placeless(text: str, folder: Path) -> str:
    """Return a message without the temporary folder of an unpacked archive."""
    return text.replace(f"{folder}{os.sep}", "").replace(os.fspath(folder), "FOLDER")


def _compared(folder: Path, names: Sequence[str], made: Iterable[tuple[str, bytes]], head: Mapping[str, Any]) -> Files:
    """Compare files that were made again with those of an archive."""
    there = set(names)
    same, different = [], []
    elsewhere: dict[str, list[str]] = {}
    for name, now in made:
        if name not in there:
            different.append(name)
            continue
        sealed = (folder / name).read_bytes()
        is_image = PurePosixPath(name).suffix.removeprefix(".") in FIGURE_FORMATS
        by = _drawn_by(sealed, head) if is_image else ""
        if sealed == now or (name.endswith(".parquet") and _same_table(sealed, now)):
            same.append(name)
        elif is_image and by != matplotlib.maker():
            elsewhere.setdefault(by, []).append(name)
        else:
            different.append(name)
    return Files(same, different, elsewhere)


def _drawn_by(image: bytes, head: Mapping[str, Any]) -> str:
    """Return what drew an image: as its archive has it, unless the image has another version of matplotlib."""
    sealed_by = str(head.get("drawing", "another version of matplotlib"))
    found = _DRAWN_BY.search(image)
    own = f"matplotlib {found[1].decode()}" if found else sealed_by
    return sealed_by if sealed_by.startswith(own) else own


def _same_table(one: bytes, other: bytes) -> bool:
    """Return whether two Parquet files have the same table; their bytes depend on the version of polars."""
    import polars

    return polars.read_parquet(io.BytesIO(one)).equals(polars.read_parquet(io.BytesIO(other)))
