"""A folder of finished runs, which several processes may share.

Each process appends to its own journal (`journals`); closed journals become Parquet parts (`parts`). There are no
locks: a part is moved into place in one step, under a name that includes the hash of its content, before its sources
are removed. Readers begin with the journals, and miss nothing that moves meanwhile. A run that is found twice is the
same run, for runs are deterministic. Series, if wanted, have a file each (`series`).
"""

from __future__ import annotations

import errno
import hashlib
import io
import itertools
import json
import os
import re
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence, Set
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from aqmlab import _core
from aqmlab.execute.task import document_text, opened
from aqmlab.files import parquet, prove, read_whole, remove_stale, write_whole
from aqmlab.kinds import JOURNAL, PART, SERIES, Kind
from aqmlab.results.metrics import METRICS
from aqmlab.runs.journal import CLOSED, NAME, OPEN, Content, Journal, closed, is_left, version
from aqmlab.runs.key_arrays import SIZE, Keys, array, distinct, each, keys_of, places
from aqmlab.sealed import checksum

if TYPE_CHECKING:
    import polars

T = TypeVar("T")

PART_RUNS = 5000
"""The most runs in a journal, and the fewest in a part unless there are no more."""

SMALL_PARTS = 20
"""The largest number of small parts; more are joined."""

KEPT_BYTES = 256 << 20
"""The most bytes of series that are kept after they were read."""

_PART = re.compile(r"(?P<runs>\d+)-(?P<hash>[0-9a-f]{64})\.parquet")
_SERIES = re.compile(r"(?P<name>[0-9a-f]{64}-[0-9a-f]{8})-(?P<hash>[0-9a-f]{64})\.parquet")
_CURE = "choose another folder with --store, in which all runs are done again"
"""What to do about a store without a version, or of a later one."""

_PATIENCE = 60.0
"""Seconds that a file may be listed but absent."""


class Store:
    """Finished runs by key, in a folder that is made with the first run."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self._journals = folder / "journals"
        self._parts = folder / "parts"
        self._series = folder / "series"
        self._journal = Journal(self._journals)
        self._seen: dict[str, list[Path]] = {}
        self._kept: dict[str, polars.DataFrame] = {}
        self._kept_bytes = 0
        self.damage: dict[str, int] = {}
        """The number of runs that could not be read, by their file; they must be done again."""
        self.has_closed = False
        """Whether a journal of this process waits for `compact`."""

    def prove(self, series: bool) -> None:
        """Check that runs, and series if wanted, can be stored; raise OSError if they cannot."""
        for folder in (self._journals, *([self._series] if series else [])):
            prove(folder / "run")

    def add(self, payload: bytes) -> None:
        """Store the payload of a finished run; once this returns, it survives the end of the process."""
        self._journal.append(payload)
        if self._journal.records >= PART_RUNS:
            self._journal.close()
            self.has_closed = True

    def add_series(self, name: str, data: bytes) -> None:
        """Store the series of a run under a name from `series_name`."""
        write_whole(self._series / f"{name}-{checksum(data, name)}.parquet", data)

    def recorded(self) -> set[str]:
        """Return the names of the stored series."""
        return {path.stem.rpartition("-")[0] for path in _listed(self._series, _SERIES)}

    def series(self, name: str) -> polars.DataFrame:
        """Read the series of a run by name, in the form of `Result.series_of`.

        Raise OSError if they are missing, or if they are damaged or of another run. In the latter cases the file is put
        aside, and the run must be done again. The frames that were read last are kept: the
        claims of a paper read the same runs.
        """
        import polars

        if name in self._kept:
            self._kept[name] = self._kept.pop(name)  # the last one used comes last
            return self._kept[name].clone()
        damaged: Path | None = None
        for path in self._series_files(name):
            if (data := _read(path)) is None:
                continue
            if path.stem == f"{name}-{checksum(data, name)}":
                _require_readable(path, SERIES, data)
                return self._keep(name, polars.read_parquet(io.BytesIO(data)))
            damaged = path
            _put_aside(path)
        if damaged is None:
            missing = os.fspath(self._series / f"{name}-*.parquet")
            raise FileNotFoundError(errno.ENOENT, "no such series; rerun the command to compute it", missing)
        message = "damaged and put aside; rerun the command to compute it again"
        raise OSError(errno.EIO, message, os.fspath(damaged))

    def _keep(self, name: str, frame: polars.DataFrame) -> polars.DataFrame:
        """Keep a frame, unless it is large, and drop those that were used longest ago; return a copy."""
        size = int(frame.estimated_size())
        if size <= KEPT_BYTES // 16:
            self._kept[name] = frame
            self._kept_bytes += size
        while self._kept_bytes > KEPT_BYTES:
            self._kept_bytes -= int(self._kept.pop(next(iter(self._kept))).estimated_size())
        return frame.clone()

    def _series_files(self, name: str) -> list[Path]:
        """List the files of series of this name. The folder is listed again only for a name not seen before."""
        if name not in self._seen:
            self._seen = {}
            for path in _listed(self._series, _SERIES):
                self._seen.setdefault(path.stem.rpartition("-")[0], []).append(path)
        return self._seen.get(name, [])

    def distributions(self, wanted: Iterable[bytes]) -> dict[bytes, dict[str, Any]]:
        """Return the distributions of the runs with these keys that are stored, by key; see `Run`."""
        import polars

        keys = set(wanted)
        found: dict[bytes, dict[str, Any]] = {}
        for payloads in self._journalled():
            read = (opened(payload) for payload in payloads if key_of(payload) in keys)
            found.update((key, document["distributions"]) for key, document in read)
        for part in self._read_parts(["key", "distributions"]):
            chosen = part.filter(polars.col("key").is_in(list(keys)))
            found.update((key, json.loads(text)) for key, text in chosen.iter_rows())
        return found

    def close(self) -> None:
        """Close this process's journal."""
        self._journal.close()

    def every_key(self) -> Iterator[Keys]:
        """Yield the keys of the stored runs, file by file."""
        for payloads in self._journalled():
            yield array(b"".join(map(key_of, payloads)))
        for part in self._read_parts(["key"]):
            yield keys_of(part["key"])

    def finished(self, wanted: set[bytes]) -> set[bytes]:
        """Return the keys of `wanted` whose runs are stored."""
        return {key for keys in self.every_key() for key in wanted.intersection(each(keys))}

    def metrics(self, wanted: Keys) -> Iterator[polars.DataFrame]:
        """Yield ``key``, ``seed`` and the metrics of the stored runs, file by file; `wanted` is sorted and distinct."""
        for payloads in self._journalled():
            chosen = places(wanted, array(b"".join(map(key_of, payloads)))) >= 0
            yield _without_time(rows(list(itertools.compress(payloads, chosen))).drop("distributions"))
        for part in self._read_parts(None):
            yield _without_time(part.filter(places(wanted, keys_of(part["key"])) >= 0))

    def frame(self, wanted: Iterable[bytes]) -> polars.DataFrame:
        """Return a row for each stored run of `wanted`, as `together` does."""
        return together(self.metrics(distinct(array(b"".join(wanted)))))

    def extract(self, wanted: Set[bytes], series: Iterable[str]) -> Iterator[tuple[str, bytes | Path]]:
        """Yield the files of a store with these runs and series alone, by their paths below its folder.

        A file is its content, or the path of the file of this store that has it. Raise ValueError if a run is missing,
        and OSError if a series is.
        """
        import polars

        keys = polars.DataFrame({"key": list(wanted)}, schema={"key": polars.Binary})
        frames = [rows([one for one in payloads if key_of(one) in wanted]) for payloads in self._journalled()]
        for path in _listed(self._parts, _PART):
            part = self._read_part(path, None, whole=True)
            if part is not None and len(part):
                frames.append(part.join(keys, on="key", how="semi"))
        frame = polars.concat(frames or [rows([])], how="diagonal").unique("key", keep="first").sort("key")
        if missing := len(wanted) - len(frame):
            raise ValueError(f"{self.folder}: {missing} of {len(wanted)} runs are not here")
        for start in range(0, len(frame), PART_RUNS):
            part = frame[start : start + PART_RUNS]
            data = parquet(part, PART)
            yield f"{self._parts.name}/{len(part)}-{checksum(data)}.parquet", data
        for name in sorted(set(series)):
            self.series(name)  # whole, and of this run
            (path, *_) = self._series_files(name)
            yield f"{self._series.name}/{path.name}", path

    def compact(self) -> None:
        """Turn closed and abandoned journals into parts, and join small parts.

        The process may be killed at any moment.
        """
        self.has_closed = False
        for path in _listed(self._journals, NAME, OPEN):
            if is_left(path):
                closed(path)
        waiting: list[Path] = []
        runs: dict[bytes, bytes] = {}
        for path in _listed(self._journals, NAME, CLOSED):
            payloads = self._payloads(path)
            if payloads is None:
                continue
            waiting.append(path)
            runs.update((key_of(payload), payload) for payload in payloads)
            if len(runs) >= PART_RUNS:
                self._replace(waiting, rows(list(runs.values())))
                waiting, runs = [], {}
        self._replace(waiting, rows(list(runs.values())))
        self._join_small_parts()
        for folder in (self._parts, self._journals):
            remove_stale(folder)

    def _join_small_parts(self) -> None:
        import polars

        small = [path for path in _listed(self._parts, _PART) if _runs(path) < PART_RUNS]
        if len(small) <= SMALL_PARTS:
            return
        waiting: list[Path] = []
        frames: list[polars.DataFrame] = []
        for path in small:
            frame = self._read_part(path, None, whole=True)
            if frame is None:
                continue
            waiting.append(path)
            frames.append(frame)
            if sum(map(len, frames)) >= PART_RUNS:
                self._replace(waiting, polars.concat(frames, how="diagonal").unique("key"))
                waiting, frames = [], []
        if frames:
            self._replace(waiting, polars.concat(frames, how="diagonal").unique("key"))

    def _replace(self, sources: Sequence[Path], frame: polars.DataFrame) -> None:
        """Write a part in place of the files that its runs come from."""
        part = None
        if len(frame):
            data = parquet(frame.sort("key"), PART)
            part = self._parts / f"{len(frame)}-{checksum(data)}.parquet"
            write_whole(part, data)
        for source in sources:
            if source != part:
                source.unlink(missing_ok=True)

    def _journalled(self) -> Iterator[list[bytes]]:
        """Yield the payloads of every journal."""
        read = _each(lambda: _listed(self._journals, NAME), lambda path: path.stem, self._payloads)
        return (payloads for payloads in read if payloads)

    def _payloads(self, path: Path) -> list[bytes] | None:
        """Read a journal; None if it is gone."""
        data = _read(path)
        if data is None:
            return None
        JOURNAL.require_readable(path, {"schema": version(data)}, _CURE)
        content = Content.of(data)
        if content.damaged:
            self.damage[os.fspath(path.with_suffix(OPEN))] = content.damaged
        return content.payloads

    def _read_parts(self, columns: Sequence[str] | None) -> Iterator[polars.DataFrame]:
        """Yield every part with these columns, or with all but the distributions."""
        read = _each(
            lambda: _listed(self._parts, _PART),
            lambda path: path.name,
            lambda path: self._read_part(path, columns),
        )
        return (part for part in read if part is not None)

    def _read_part(self, path: Path, columns: Sequence[str] | None, whole: bool = False) -> polars.DataFrame | None:
        """Read a part; None if it is gone. A damaged part is put aside, and an empty frame is returned."""
        import polars

        data = _read(path)
        if data is None:
            return None
        named = _PART.fullmatch(path.name)
        if not named or checksum(data) != named["hash"]:
            self.damage[os.fspath(path)] = _runs(path)
            _put_aside(path)
            return polars.DataFrame(schema={"key": polars.Binary})
        _require_readable(path, PART, data)
        if columns is None and not whole:
            columns = [name for name in polars.read_parquet_schema(io.BytesIO(data)) if name != "distributions"]
        return polars.read_parquet(io.BytesIO(data), columns=None if columns is None else list(columns))


def _require_readable(path: Path, kind: Kind, data: bytes) -> None:
    """Refuse a Parquet file without a version, or of a later one."""
    import polars

    kind.require_readable_table(path, polars.read_parquet_metadata(io.BytesIO(data)), _CURE)


def series_name(key: bytes, record: Mapping[str, Any]) -> str:
    """Return the name in the store of a run's series.

    `record` is the scenario's `[record]` with every default filled in: results do not depend on it, series do.
    """
    text = json.dumps(record, sort_keys=True)
    return f"{key.hex()}-{hashlib.sha256(text.encode()).hexdigest()[:8]}"


def key_of(payload: bytes) -> bytes:
    """Return the key of a payload without reading the rest."""
    return payload[:SIZE]


def rows(payloads: Sequence[bytes]) -> polars.DataFrame:
    """Lay out runs as a table, one row per payload.

    The columns are ``key``, ``seed``, the metrics in the order of `place`, ``engine.cpu_seconds``, and
    ``distributions`` as JSON.
    """
    import polars

    table = polars.DataFrame(_core.rows(document_text(payload) for payload in payloads))
    metrics = sorted(table.columns[2:], key=place)
    keys = polars.Series("key", list(map(key_of, payloads)), polars.Binary)
    return table.select(keys, "seed", *metrics, "distributions")


def together(metrics: Iterable[polars.DataFrame]) -> polars.DataFrame:
    """Join frames of `Store.metrics` into one, with a row for each run; the columns are sorted by `place`."""
    import polars

    frame = polars.concat([rows([]).drop("distributions"), *metrics], how="diagonal")
    if frame["key"].n_unique() < len(frame):
        frame = frame.unique("key", keep="first", maintain_order=True)
    return frame.select("key", "seed", *sorted(frame.columns[2:], key=place))


def _without_time(metrics: polars.DataFrame) -> polars.DataFrame:
    """Leave out the time that each run took: two copies of a run differ in nothing else."""
    return metrics.drop("engine.cpu_seconds", strict=False)


_GROUPS = ("", "classes", "links", "lanes", "engine")
_PLACES = {name: place for place, name in enumerate(METRICS)}


def place(column: str) -> tuple[int, str, int, str]:
    """Return the sort key of a metric's column.

    The metrics of the observed queue and all flows come first, then those of each traffic entry, link and lane, then
    the engine's.
    """
    group, _, rest = column.rpartition(".")
    head, _, owner = group.partition(".")
    return _GROUPS.index(head), owner, _PLACES.get(rest, len(_PLACES)), rest


def _each(
    listed: Callable[[], list[Path]], name: Callable[[Path], str], read: Callable[[Path], T | None]
) -> Iterator[T]:
    """Read files that other processes may move meanwhile: list them again until each listed file has been read."""
    seen: set[str] = set()
    began = time.monotonic()
    while True:
        missed = None
        for path in listed():
            if name(path) in seen:
                continue
            content = read(path)
            if content is None:
                missed = path
                continue
            seen.add(name(path))
            yield content
        if missed is None:
            return
        if time.monotonic() - began > _PATIENCE:
            raise OSError(errno.ESTALE, "is listed and cannot be opened", os.fspath(missed))
        time.sleep(0.01)  # a network file system may list a removed file for a while


def _listed(folder: Path, name: re.Pattern[str], suffix: str = "") -> list[Path]:
    """List the files in a folder whose names match, sorted; other files are ignored."""
    try:
        with os.scandir(folder) as entries:
            names = sorted(entry.name for entry in entries)
    except FileNotFoundError:
        return []
    return [folder / file for file in names if name.fullmatch(file) and file.endswith(suffix)]


def _read(path: Path) -> bytes | None:
    """Read a file; None if it is gone."""
    try:
        return read_whole(path)
    except FileNotFoundError:
        return None
    except OSError as error:
        if error.errno == errno.ESTALE:  # the file is gone from a network file system
            return None
        raise


def _runs(part: Path) -> int:
    """Return the number of runs in a part, from its name."""
    named = _PART.fullmatch(part.name)
    return int(named["runs"]) if named else 0


def _put_aside(path: Path) -> None:
    """Rename a damaged file to a name that matches no pattern."""
    with suppress(OSError):  # another process has moved it, or the folder is read-only
        path.replace(path.with_suffix(".damaged"))
