"""Verify an archive: its files, a sample of its runs, and its verdicts."""

from __future__ import annotations

import json
import os
import random
import secrets
import tempfile
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

import psutil

from aqmlab.archive import contents, crate
from aqmlab.archive.container import ArchiveError, sha256, unpack
from aqmlab.archive.inside import require_inside
from aqmlab.archive.layout import CRATE, HEAD, PREVIEW, RUNS, Record, counted, records
from aqmlab.execute import threads
from aqmlab.execute.engine import PACKETS, Engine
from aqmlab.execute.room import chosen_workers, memory
from aqmlab.execute.task import Outcome, Task, opened
from aqmlab.kinds import ARCHIVE
from aqmlab.results.frames import flat
from aqmlab.results.result import Metrics
from aqmlab.scenario import Scenario
from aqmlab.sealed import unsealed

SAMPLE = 20
"""The number of runs that are repeated if no other is given."""

_REPEATABLE = ("packet", "fluid")
"""The engines whose runs are the same on every machine."""

_COST = ("engine.cpu_seconds",)
"""The metrics of a run that differ each time."""

Watch = Callable[[str, float], None]
"""Called with the name of the current step and the fraction of it that is done."""


@dataclass(frozen=True)
class Repeated:
    """A run that was repeated: the metrics that differ, with the archive's value and that of now; and its error."""

    record: Record
    differences: Mapping[str, tuple[float | None, float | None]] = field(default_factory=dict)
    error: str = ""

    @property
    def is_same(self) -> bool:
        """Whether the run is the same, bit for bit."""
        return not self.differences and not self.error

    def __str__(self) -> str:
        if self.error:
            return f"{self.record.name}: failed: {self.error}"
        if not self.differences:
            return f"{self.record.name}: bit-identical"
        shown = [f"{name} {_shown(was)} was sealed, {_shown(now)} now" for name, (was, now) in self.differences.items()]
        more = f"; {len(shown) - 3} more" if len(shown) > 3 else ""
        return f"{self.record.name}: {len(shown)} metrics differ: {'; '.join(shown[:3])}{more}"


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


@dataclass(frozen=True)
class Verification:
    """What came of verifying an archive whose files are whole.

    ``head`` is the archive's, ``version`` the engine's here, ``seed`` that of the sample. ``left`` is the number of
    runs whose engine sends real packets, which no other run repeats. ``judged`` is None if the archive states no
    verdicts.
    """

    file: Path
    sha256: str
    head: Mapping[str, Any]
    version: str
    seed: int
    repeated: Sequence[Repeated]
    left: int
    judged: Judged | None

    @property
    def is_sound(self) -> bool:
        """Whether every run that was repeated is the same, bit for bit, and every verdict stands."""
        judged = self.judged is None or not (self.judged.error or self.judged.changed)
        return judged and all(one.is_same for one in self.repeated)

    def _conclusion(self) -> str:
        if self.is_sound:
            return "sound" if self.repeated else "sound, but no run was repeated"
        judged = self.judged is not None and self.judged.error
        return "INCOMPLETE: not judged again" if judged and all(one.is_same for one in self.repeated) else "NOT SOUND"

    def document(self) -> dict[str, Any]:
        """Return it as a dictionary for JSON."""
        return {
            "file": os.fspath(self.file),
            "sha256": self.sha256,
            "sound": self.is_sound,
            "files": len(self.head["files"]),
            "made_by": self.head["version"],
            "version": self.version,
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
        }

    def __repr__(self) -> str:
        head = self.head
        lines = [
            f"{self.file}: {head['kind']}, {head['title']!r}",
            f"SHA-256 {self.sha256}",
            f"{len(head['files'])} files: as their checksums in the archive have it",
        ]
        if not _is_ours(head["version"], self.version):
            lines.append(
                f"made by aqmlab {head['version']}; this is {self.version}: metrics may differ where the engine changed"
            )
        lines += [str(one) for one in self.repeated]
        same = sum(one.is_same for one in self.repeated)
        if head["runs"]:
            drawn = "" if len(self.repeated) + self.left == head["runs"] else f", drawn with --seed {self.seed}"
            lines.append(
                f"the same, bit for bit: {same} of {len(self.repeated)} repeated runs, of {head['runs']}{drawn}"
            )
        if self.left:
            lines.append(f"{self.left} runs are not repeatable: their engine sends real packets")
        if self.judged:
            lines += _verdicts(self.judged)
        lines.append(self._conclusion())
        return "\n".join(lines)


def _verdicts(judged: Judged) -> list[str]:
    if judged.error:
        return [f"verdicts: not judged again: {judged.error}"]
    lines = [f"{name}: {was!r} is stated, the runs lead to {now!r}" for name, (was, now) in judged.changed.items()]
    return [*lines, f"{len(judged.stated) - len(lines)} of {len(judged.stated)} verdicts stand"]


def _shown(value: float | None) -> str:
    return "none" if value is None else repr(value)


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
    """Check an archive that `seal` wrote: every file, then a sample of its runs, then its verdicts.

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
        Whether to run the Python that the archive has: queue disciplines of its author. Without it, such an archive is
        refused.
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
    digest = sha256(path)
    if expect is not None and expect.lower() != digest:
        raise ArchiveError(f"{path}: SHA-256 {digest}, expected {expect}: another archive, or one that was changed")
    seed = secrets.randbelow(2**32) if seed is None else seed
    with tempfile.TemporaryDirectory(prefix="aqmlab-") as temporary:
        folder = Path(temporary)
        names = unpack(path, folder)
        try:
            head = _whole(folder, names)
            require_inside(folder, names, trust)
            kind = contents.kind(contents.head(folder))
            listed = records((folder / RUNS).read_bytes())
            _require_all_runs(kind.runs(folder), listed, head)
            able = [one for one in listed if one.engine.partition(":")[0] in _REPEATABLE]
            places = random.Random(seed).sample(
                range(len(able)), len(able) if sample is None else min(sample, len(able))
            )
            chosen = [able[place] for place in sorted(places)]
            archived = kind.metrics(folder, chosen)
            repeated = _repeat(kind, folder, chosen, archived, chosen_workers(jobs, len(chosen)), watch)
        except MemoryError:
            raise
        except Exception as error:  # a doctored file may raise anything
            reason = str(error) if isinstance(error, ValueError | OSError) else f"{type(error).__name__}: {error}"
            raise ArchiveError(f"{path}: {reason.replace(f'{folder}{os.sep}', '')}") from error
        if watch:
            watch("judging", 0.0)
        judged = _judged(kind, folder, head)
        version = Engine.parse(able[0].engine).version if able else head["version"]
        return Verification(path, digest, head, version, seed, repeated, len(listed) - len(able), judged)


def _judged(kind: contents.Kind, folder: Path, head: Mapping[str, Any]) -> Judged | None:
    """Judge an unpacked archive again; return None if it states no verdicts."""
    if not head["verdicts"]:
        return None
    if not _is_ours(head["version"], PACKETS.version):
        return Judged(error=f"the keys of runs are those of aqmlab {head['version']}: judge with that version")
    try:
        found = kind.verdicts(folder)
    except Exception as error:  # a doctored file may raise anything
        return Judged(error=str(error).replace(f"{folder}{os.sep}", ""))
    judged = Judged(*found) if found else None
    counts = counted(judged.stated.values()) if judged else {}
    if counts != head["verdicts"]:
        return Judged(error=f"{HEAD} has {head['verdicts']}, the results have {counts}")
    return judged


def _is_ours(made_by: str, ours: str) -> bool:
    """Return whether two versions are the same; results know that of aqmlab alone, without the hash of the engine."""
    return made_by in (ours, ours.partition("+")[0])


def _require_all_runs(claimed: Iterable[contents.Claimed], listed: Sequence[Record], head: Mapping[str, Any]) -> None:
    """Refuse a table of runs that has other runs than the results."""
    stated = Counter((one.seed, one.engine, one.key, one.result) for one in listed)
    if len(listed) != head["runs"] or Counter(claimed) != stated:
        raise ValueError(f"{RUNS}: not the runs of the results")


def _whole(folder: Path, names: Sequence[str]) -> dict[str, Any]:
    """Check the files of an unpacked archive against both lists of their checksums; return the head."""
    if HEAD not in names:
        raise ValueError(f"{HEAD} is missing: no archive of aqmlab seal, or a torn one")
    head = unsealed(folder / HEAD, ARCHIVE, "ask for the archive again")
    listed: dict[str, str] = head["files"]
    present = set(names) - {HEAD}
    if missing := sorted(listed.keys() - present):
        raise ValueError(f"{len(missing)} files are missing: {missing[0]}")
    if strange := sorted(present - listed.keys()):
        raise ValueError(f"{len(strange)} files were not sealed: {strange[0]}")
    stated = crate.checksums(json.loads((folder / CRATE).read_bytes()))
    for name, wanted in listed.items():
        found = sha256(folder / name)
        if found != wanted:
            raise ValueError(f"{name}: changed: its SHA-256 is {found}, {HEAD} has {wanted}")
        if name not in (CRATE, PREVIEW) and stated.get(name) != wanted:
            raise ValueError(f"{name}: changed with its checksum: {CRATE} has {stated.get(name)}, {HEAD} has {wanted}")
    return head


def _repeat(
    kind: contents.Kind,
    folder: Path,
    chosen: Sequence[Record],
    archived: Sequence[Metrics],
    jobs: int,
    watch: Watch | None,
) -> list[Repeated]:
    """Repeat runs, and compare their metrics with those of the archive."""
    found: dict[int, Repeated] = {}
    free = psutil.virtual_memory().available

    def tasks() -> Iterator[Task]:
        for place, record in enumerate(chosen):
            engine = Engine.parse(record.engine)
            try:
                scenario = Scenario.load(folder / record.scenario)
                if not kind.is_of(folder, record, scenario):
                    raise ValueError(f"{record.scenario}: not the scenario of this run")
                bare = scenario.with_({"record.series": False, "record.cwnd": "auto", "record.flows": False})
                if (need := memory(engine, bare) * jobs) > free:
                    raise ValueError(
                        f"about {need / 1e9:.1f} GB of memory needed for {jobs} runs at a time, {free / 1e9:.1f} GB "
                        "are free: give fewer --jobs"
                    )
                yield Task(bare.core, record.seed, b"", str(place), engine.work(bare), engine=engine)
            except (ValueError, OSError) as error:
                found[place] = Repeated(record, error=str(error))

    def on_done(task: Task, outcome: Outcome) -> None:
        place = int(task.label)
        record = chosen[place]
        if outcome.error:
            found[place] = Repeated(record, error=outcome.error)
            return
        now = dict(flat(opened(outcome.payload, 0)[1]))
        found[place] = Repeated(record, _differences(archived[place], now))

    def look(under_way: float) -> None:
        if watch:
            watch(f"repeating {len(chosen)} runs", len(found) / max(1, len(chosen)))

    threads.executor(max(1, jobs))(tasks(), on_done, look)
    return [found[place] for place in range(len(chosen))]


def _differences(archived: Metrics, now: Metrics) -> dict[str, tuple[float | None, float | None]]:
    """Return the metrics that differ; one that a table has of other runs alone is none."""
    names = [name for name in dict.fromkeys([*archived, *now]) if name not in _COST]
    pairs = {name: (archived.get(name), now.get(name)) for name in names}
    return {name: pair for name, pair in pairs.items() if pair[0] != pair[1]}
