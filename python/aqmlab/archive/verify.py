"""Verify an archive: its files, a sample of its runs, and its verdicts."""

from __future__ import annotations

import os
import random
import secrets
import tempfile
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from aqmlab import _core
from aqmlab.archive import SAMPLE, contents, crate
from aqmlab.archive.container import ArchiveError, sha256, unpack
from aqmlab.archive.contents import Claimed, Facts, Watch
from aqmlab.archive.inside import require_inside, require_room
from aqmlab.archive.layout import CRATE, HEAD, PREVIEW, RUNS, Record, records
from aqmlab.archive.remade import Files, Judged, placeless, remake
from aqmlab.archive.repeated import Repeated, is_repeatable, repeat, version_of
from aqmlab.files import confined, read_json
from aqmlab.kinds import ARCHIVE
from aqmlab.runs.memory import chosen_workers
from aqmlab.sealed import unsealed
from aqmlab.text import printable


@dataclass(frozen=True)
class Verification:
    """What came of verifying an archive whose files are whole.

    ``head`` is the archive's, and ``engines`` has the version here of each engine that performed its runs, None if this
    machine lacks it. ``seed`` is that of the sample. ``left`` is the number of runs that cannot be repeated here,
    because their engine sends real packets. ``judged`` is None if the archive states no verdicts. ``files`` are the
    figures, tables and pages that were made again.
    """

    file: Path
    sha256: str
    head: Mapping[str, Any]
    engines: Mapping[str, str | None]
    seed: int
    repeated: Sequence[Repeated]
    left: int
    judged: Judged | None
    files: Files

    @property
    def is_whole(self) -> bool:
        """Whether figures and pages were made again and compared, which needs the versions that made them."""
        return not (self.files.reason or self.files.elsewhere)

    @property
    def is_sound(self) -> bool:
        """Whether every run that was repeated is the same, every verdict stands, and no figure or page differs."""
        judged = self.judged is None or not (self.judged.error or self.judged.changed)
        return judged and self.files.is_sound and all(one.is_same for one in self.repeated)

    def _conclusion(self) -> str:
        if self.is_sound:
            unseen = [] if self.repeated else ["no run was repeated"]
            unseen += ["no figure or report was made again"] if self.files.reason else []
            unseen += ["some figures were not compared"] if self.files.elsewhere else []
            return f"sound, but {' and '.join(unseen)}" if unseen else "sound"
        judged = self.judged is not None and self.judged.error
        same = self.files.is_sound and all(one.is_same for one in self.repeated)
        return "INCOMPLETE: not judged again" if judged and same else "NOT SOUND"

    @property
    def _made_by(self) -> list[str]:
        """Lines on the versions that made the archive, if they are others than here."""
        made: Mapping[str, str] = self.head["engines"]
        lines = [
            f"made by the {name} engine {made[name]}; this is {here or 'a machine without it'}: "
            "metrics may differ where the engine changed"
            for name, here in self.engines.items()
            if name in made and made[name] != here
        ]
        version = self.head["version"]
        if not made and version != _core.__version__:
            lines.append(
                f"made by aqmlab {version}; this is {_core.__version__}: metrics may differ where the engine changed"
            )
        return lines

    def document(self) -> dict[str, Any]:
        """Return it as a dictionary for JSON."""
        return {
            "file": os.fspath(self.file),
            "sha256": self.sha256,
            "sound": self.is_sound,
            "files": len(self.head["files"]),
            "made_by": self.head["version"],
            "version": _core.__version__,
            "engines": {
                name: {"made_by": self.head["engines"].get(name), "version": here}
                for name, here in self.engines.items()
            },
            "seed": self.seed,
            "runs": self.head["runs"],
            "repeated": [
                {**asdict(one.record), "same": one.is_same, "differences": dict(one.differences), "error": one.error}
                for one in self.repeated
            ],
            "not_repeatable": self.left,
            "verdicts": None
            if self.judged is None
            else {"stated": len(self.judged.stated), "changed": self.judged.changed, "error": self.judged.error},
            "made_again": asdict(self.files),
        }

    def __repr__(self) -> str:
        head = self.head
        lines = [
            f"{self.file}: {head['kind']}, {head['title']!r}",
            f"SHA-256 {self.sha256}",
            f"{len(head['files'])} files: as their checksums in the archive have it",
            *self._made_by,
            *map(str, self.repeated),
        ]
        same = sum(one.is_same for one in self.repeated)
        if head["runs"]:
            drawn = "" if len(self.repeated) + self.left == head["runs"] else f", drawn with --seed {self.seed}"
            lines.append(
                f"the same, bit for bit: {same} of {len(self.repeated)} repeated runs, of {head['runs']}{drawn}"
            )
        if self.left:
            lines.append(f"{self.left} runs are not repeatable here: their engine sends real packets")
        lines += self.judged.lines if self.judged else []
        return "\n".join(map(printable, [*lines, *self.files.lines, self._conclusion()]))


def verify(
    file: str | os.PathLike[str],
    *,
    sample: int | None = SAMPLE,
    seed: int | None = None,
    expect: str | None = None,
    trust: bool = False,
    jobs: int | None = None,
    watch: Watch | None = None,
) -> Verification:
    """Check an archive that `seal` wrote: every file, then a sample of its runs, then its verdicts, figures and pages.

    Parameters
    ----------
    file : str or PathLike
        The archive.
    sample : int or None
        The number of runs to repeat; None for all.
    seed : int
        The seed with which they are drawn; by default a random one.
    expect : str
        The SHA-256 that the archive should have.
    trust : bool
        Whether to run the Python that the archive has: queue disciplines, or a paper, of its author. Without it, such
        an archive is refused.
    jobs : int
        The number of runs at a time; by default, one for each core.
    watch : callable
        Called with the name of the current step and the fraction of it that is done.

    Returns
    -------
    Verification
        What came of it.

    Raises
    ------
    ArchiveError
        If the archive is torn, damaged, doctored or dangerous, another one than expected, or has Python and is not
        trusted.
    """
    path = Path(file)
    if path.exists() and not path.is_file():
        raise ArchiveError(f"{path}: must be a regular file")
    digest = sha256(path)
    if expect is not None and expect.lower() != digest:
        raise ArchiveError(f"{path}: SHA-256 {digest}, expected {expect}: another archive, or one that was changed")
    seed = secrets.randbelow(2**32) if seed is None else seed
    with tempfile.TemporaryDirectory(prefix="aqmlab-") as temporary, confined(Path(temporary)):
        folder = Path(temporary)
        names = unpack(path, folder)
        try:
            head = _whole(folder, names)
            require_inside(folder, names, trust)
            require_room(folder, names)
            name = contents.head(folder)
            kind = contents.kind(name)
            listed = records((folder / RUNS).read_bytes())
            _require_facts(kind.facts(folder), name, head)
            if lost := {one.scenario for one in listed}.difference(names):
                raise ValueError(f"missing: {_first(sorted(lost))}")
            _require_all_runs(kind.runs(folder), listed, head)
            able = [one for one in listed if is_repeatable(one, head["engines"])]
            places = random.Random(seed).sample(
                range(len(able)), len(able) if sample is None else min(sample, len(able))
            )
            chosen = [able[place] for place in sorted(places)]
            archived = kind.measured(folder, chosen)
            repeated = repeat(kind, folder, chosen, archived, chosen_workers(jobs, len(chosen)), watch)
            engines = {one.engine: version_of(one.engine) for one in listed}
        except MemoryError:
            raise
        except Exception as error:  # a doctored file may raise anything
            reason = str(error) if isinstance(error, ValueError | OSError) else f"{type(error).__name__}: {error}"
            raise ArchiveError(f"{path}: {placeless(reason, folder)}") from error
        if watch:
            watch("judging", 0.0)
        judged, files = remake(kind, folder, names, head, watch)
        return Verification(path, digest, head, engines, seed, repeated, len(listed) - len(able), judged, files)


def _require_facts(facts: Facts, name: str, head: Mapping[str, Any]) -> None:
    """Refuse a head that has something else than the results."""
    for key, value in {**facts.document(), "head": name}.items():
        if head.get(key) != value:
            raise ValueError(f"{HEAD}: {key} = {head.get(key)!r:.200}: the results have {value!r:.200}")


def _require_all_runs(claimed: Iterable[Claimed], listed: Sequence[Record], head: Mapping[str, Any]) -> None:
    """Refuse a table of runs that has other runs than the results."""
    stated = Counter((one.seed, one.engine, one.key, one.result) for one in listed)
    if twice := [run for run, count in stated.items() if count > 1 and not run[2]]:
        raise ValueError(f"{RUNS}: the run of seed {twice[0][0]} in {twice[0][3]} is there twice")
    if len(listed) != head["runs"] or Counter(claimed) != stated:
        raise ValueError(f"{RUNS}: not the runs of the results")


def _first(names: Sequence[str]) -> str:
    """Return the first of some names, and how many there are more."""
    return f"{names[0]}, and {len(names) - 1} more" if len(names) > 1 else names[0]


def _require_form(head: Mapping[str, Any]) -> None:
    """Refuse a head whose values have other types than those that `seal` writes."""
    for name, form in {"files": dict, "engines": dict, "authors": list}.items():
        value = head.get(name)
        texts = value.values() if isinstance(value, dict) else value
        if not isinstance(value, form) or not all(isinstance(text, str) for text in texts):
            called = "table" if form is dict else "list"
            raise ValueError(f"{HEAD}: {name} = {value!r:.100}: must be a {called} of texts")


def _whole(folder: Path, names: Sequence[str]) -> dict[str, Any]:
    """Check the files of an unpacked archive against both lists of their checksums; return the head."""
    if HEAD not in names:
        raise ValueError(f"{HEAD} is missing: no archive of aqmlab seal, or a torn one")
    head = unsealed(folder / HEAD, ARCHIVE, "ask for the archive again")
    _require_form(head)
    listed: dict[str, str] = head["files"]
    present = set(names) - {HEAD}
    if missing := sorted(listed.keys() - present):
        raise ValueError(f"missing: {_first(missing)}")
    if strange := sorted(present - listed.keys()):
        raise ValueError(f"not sealed, but there: {_first(strange)}")
    if missing := sorted({CRATE, PREVIEW, RUNS} - present):
        raise ValueError(f"{missing[0]} is missing: no archive of aqmlab seal, or a torn one")
    described = read_json(folder / CRATE)
    stated = crate.checksums(described)
    for name, wanted in listed.items():
        found = sha256(folder / name)
        if found != wanted:
            raise ValueError(f"{name}: changed: its SHA-256 is {found}, {HEAD} has {wanted}")
        if name not in (CRATE, PREVIEW) and stated.get(name) != wanted:
            raise ValueError(f"{name}: changed with its checksum: {CRATE} has {stated.get(name)}, {HEAD} has {wanted}")
    crate.require_same(described, head)
    return head
