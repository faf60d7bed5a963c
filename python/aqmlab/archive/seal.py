"""Seal a folder of results: one file with all that a reader needs to check them."""

from __future__ import annotations

import os
import platform
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from aqmlab import _core
from aqmlab.archive import LICENSE, contents, crate
from aqmlab.archive.container import sha256, write
from aqmlab.archive.contents import Given
from aqmlab.archive.layout import CRATE, HEAD, PREVIEW, RUNS, SEALED, table
from aqmlab.archive.remade import code, page
from aqmlab.figures import matplotlib
from aqmlab.files import UNFINISHED
from aqmlab.kinds import ARCHIVE, EVALUATION, FINDINGS
from aqmlab.sealed import sealed

if TYPE_CHECKING:
    from aqmlab.archive.contents import Contents

_LEFT_OUT = ("store",)
"""Folders of finished runs beside the results: the archive has those of its runs."""


@dataclass(frozen=True)
class Sealed:
    """An archive that was written: its file, its SHA-256, and its head."""

    file: Path
    sha256: str
    head: Mapping[str, Any]

    def document(self) -> dict[str, Any]:
        """Return it as a dictionary for JSON: the head without its files, with ``file``, ``bytes`` and ``sha256``."""
        head = {name: value for name, value in self.head.items() if name != "files"}
        size = self.file.stat().st_size
        return {"file": os.fspath(self.file), "bytes": size, "sha256": self.sha256, **head}

    def __repr__(self) -> str:
        head = self.head
        size = self.file.stat().st_size / 1e6
        verdicts = ", ".join(f"{count} {name}" for name, count in head["verdicts"].items())
        lines = [
            f"{self.file}: {head['kind']}, {head['title']!r}",
            f"{size:.1f} MB, {len(head['files'])} files, {head['runs']} runs{verdicts and f'; verdicts: {verdicts}'}",
            f"SHA-256 {self.sha256}",
            f"A reader checks it with: aqmlab verify {self.file.name} --expect {self.sha256}",
        ]
        return "\n".join(lines)


def seal(
    folder: str | os.PathLike[str],
    file: str | os.PathLike[str],
    *,
    store: str | os.PathLike[str] | None = None,
    paper: str | os.PathLike[str] | None = None,
    authors: Sequence[str] = (),
    publisher: str = "",
    license: str = LICENSE,
) -> Sealed:
    """Pack a folder of results into one file, which `verify` checks.

    The file is an RO-Crate in a zip file. It has the folder as it is, the scenario file of every run with the
    recordings and the disciplines that it reads, and of a reproduction or an evaluation all runs.

    Parameters
    ----------
    folder : str or PathLike
        A folder that ``--out`` of ``run``, ``compare``, ``sweep``, ``reproduce`` or ``evaluate`` wrote.
    file : str or PathLike
        The file to write.
    store : str or PathLike
        The folder of the runs of a reproduction or an evaluation, if it is neither in `folder` nor beside it.
    paper : str or PathLike
        The folder of the paper of a reproduction, if it is one of your own.
    authors : sequence of str
        The authors: ``Ada Lovelace <ada@example.org> <https://orcid.org/…> (University of London)``, or less.
    publisher : str
        The organisation that publishes the archive, likewise.
    license : str
        The SPDX identifier of the archive's licence, or the address of its text.

    Returns
    -------
    Sealed
        The file, its SHA-256, and what it contains.

    Raises
    ------
    ValueError
        If the folder has no results, a file of it is damaged, runs are missing, or another version of aqmlab made them.
    ImportError
        If rocrate is not installed; ``pip install 'aqmlab[archive]'`` installs it.
    """
    folder, file = Path(folder), Path(file)
    crate.require([*authors, *filter(None, [publisher])], license)
    if folder.resolve() in file.resolve().parents:
        raise ValueError(f"{file}: is in the folder that is sealed: choose a file outside of {folder}")
    name = contents.head(folder)
    if paper and name != FINDINGS.head:
        raise ValueError(f"paper = {os.fspath(paper)}: for a reproduction only; {folder} has {name}")
    if store and name not in (FINDINGS.head, EVALUATION.head):
        raise ValueError(f"store = {os.fspath(store)}: for a reproduction or an evaluation; {folder} has {name}")
    given = Given(Path(store) if store else None, Path(paper) if paper else None)
    found = contents.kind(name).contents(folder, given)
    files: dict[str, bytes | Path] = dict(_results(folder))
    files |= found.files
    files[RUNS] = table(found.records)
    about = {"authors": list(authors), "publisher": publisher, "license": license}
    head = _head(name, found, about, (folder / name).stat().st_mtime)
    files[PREVIEW] = page(head, files).encode()
    head["files"] = {path: sha256(content) for path, content in sorted(files.items())}
    sizes = {path: len(one) if isinstance(one, bytes) else one.stat().st_size for path, one in files.items()}
    files[CRATE] = crate.metadata(head, sizes)
    head["files"][CRATE] = sha256(files[CRATE])
    files[HEAD] = sealed(head)
    write(file, files)
    return Sealed(file, sha256(file), head)


def _results(folder: Path) -> Iterator[tuple[str, Path]]:
    """Yield the files of a folder of results, apart from finished runs and hidden and unfinished files."""
    for path in sorted(folder.rglob("*")):
        place = path.relative_to(folder)
        hidden = any(part.startswith(".") or part.endswith(UNFINISHED) for part in place.parts)
        if hidden or place.parts[0] in _LEFT_OUT or path.is_dir():
            continue
        if path.is_symlink() or not path.is_file():
            raise ValueError(f"{path}: a link, not a file: put the file itself there, or remove it")
        name = place.as_posix()
        if name.startswith(SEALED) or name in (HEAD, CRATE, PREVIEW):
            raise ValueError(f"{path}: an archive has a file of its own of this name: rename or remove this one")
        yield name, path


def _head(name: str, found: Contents, about: Mapping[str, Any], made: float) -> dict[str, Any]:
    """Return the head without the files."""
    system = f"{platform.system()} on {platform.machine()}, Python {platform.python_version()}"
    return {
        "schema": ARCHIVE.version,
        **found.facts.document(),
        "head": name,
        "build": _core.build,
        "code": code(),
        "drawing": matplotlib.maker(),
        "platform": system,
        "date": crate.when(made),
        **about,
        "runs": len(found.records),
    }
