"""The store: torn, damaged, moved or concurrently written data loses no more than it must, with a report."""

import json
import os
import subprocess
import sys
import zlib
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from aqmlab import files
from aqmlab.kinds import SERIES
from aqmlab.results.frames import flat
from aqmlab.runs import journal, store
from aqmlab.runs.journal import CLOSED, OPEN, Content, Journal, record
from aqmlab.runs.store import Store, series_name


def key(number: int) -> bytes:
    return number.to_bytes(32, "big")


def payload(number: int) -> bytes:
    document = {
        "seed": number,
        "metrics": {"queue_mean": number / 3, "jain": None},
        "classes": {"long": {"goodput": float(number)}},
        "links": {"bottleneck": {"queue_mean": number / 3}},
        "lanes": {},
        "distributions": {"classes": {"long": {"delay": [number / 7]}}},
        "engine": {"packets": number, "events": 2 * number, "cpu_seconds": 0.5},
    }
    return key(number) + zlib.compress(json.dumps(document).encode())


NAMES = st.text(st.characters(codec="utf-8", exclude_characters=".\0"), min_size=1, max_size=8)
VALUES = st.dictionaries(
    st.sampled_from(["queue_mean", "goodput", "jain", "drops_early"]),
    st.none() | st.integers(-(2**70), 2**70) | st.floats(allow_nan=False, allow_infinity=False),
)
DOCUMENTS = st.fixed_dictionaries(
    {
        "seed": st.integers(0, 2**63 - 1),
        "metrics": VALUES,
        **dict.fromkeys(["classes", "links", "lanes"], st.dictionaries(NAMES, VALUES, max_size=3)),
        "distributions": st.dictionaries(NAMES, st.lists(st.floats(allow_nan=False, allow_infinity=False))),
        "engine": VALUES,
    },
    optional={"counters": st.just({"a": {}})},
)


@settings(deadline=None)
@given(st.lists(DOCUMENTS, max_size=5), st.booleans())
def test_a_row_has_every_value_of_its_document(documents: list[dict[str, Any]], ascii: bool) -> None:
    payloads = [key(n) + zlib.compress(json.dumps(one, ensure_ascii=ascii).encode()) for n, one in enumerate(documents)]
    table = store.rows(payloads)
    named = {name for one in documents for name, _ in flat(one)}
    assert table.columns == ["key", "seed", *sorted(named, key=store.place), "distributions"]
    for row, number, document in zip(table.iter_rows(named=True), range(len(documents)), documents, strict=True):
        values = dict(flat(document))
        assert (row.pop("key"), row.pop("seed")) == (key(number), document["seed"])
        assert json.loads(row.pop("distributions")) == document["distributions"]
        assert row == {name: None if values.get(name) is None else float(values[name] or 0) for name in named}


@pytest.mark.parametrize("value", [True, "1", [1], {"a": 1}])
def test_a_value_that_is_no_number_is_refused(value: object) -> None:
    document = json.loads(zlib.decompress(payload(1)[32:])) | {"metrics": {"jain": value}}
    with pytest.raises(ValueError, match=r"jain: .* is no number"):
        store.rows([key(1) + zlib.compress(json.dumps(document).encode())])


def filled(folder: Path, numbers: range) -> Path:
    """Create a store with a journal that no process writes to any more."""
    kept = Store(folder)
    for number in numbers:
        kept.add(payload(number))
    kept.close()
    return folder


def numbers(kept: Store, upto: int = 100) -> list[int]:
    found = kept.finished({key(number) for number in range(upto)})
    frame = kept.frame([key(number) for number in range(upto)])
    assert set(frame["key"]) == found
    assert all(row["queue_mean"] == row["seed"] / 3 for row in frame.iter_rows(named=True))
    return sorted(frame["seed"])


def journals(folder: Path) -> list[Path]:
    return sorted((folder / "journals").iterdir())


def parts(folder: Path) -> list[Path]:
    return sorted((folder / "parts").glob("*.parquet"))


def test_what_is_added_is_there_at_once_and_after_compaction(tmp_path: Path) -> None:
    kept = Store(tmp_path)
    for number in range(5):
        kept.add(payload(number))
        assert numbers(Store(tmp_path)) == list(range(number + 1))
    kept.close()
    kept.compact()
    assert (len(journals(tmp_path)), len(parts(tmp_path))) == (0, 1)
    assert numbers(Store(tmp_path)) == [0, 1, 2, 3, 4]


def test_a_store_that_is_not_there_has_nothing(tmp_path: Path) -> None:
    kept = Store(tmp_path / "nowhere")
    kept.compact()
    assert numbers(kept) == []
    assert not (tmp_path / "nowhere").exists()


def test_nobody_waits_for_a_pipe_in_a_store(tmp_path: Path) -> None:
    (journal,) = journals(filled(tmp_path, range(2)))
    journal.unlink()
    os.mkfifo(journal)
    with pytest.raises(OSError, match=f"must be a regular file: '{journal}'"):
        numbers(Store(tmp_path))


def test_a_frame_has_columns_in_one_order_and_no_time(tmp_path: Path) -> None:
    columns = Store(filled(tmp_path, range(2))).frame([key(0), key(1)]).columns
    named = ["classes.long.goodput", "links.bottleneck.queue_mean", "engine.events", "engine.packets"]
    assert columns == ["key", "seed", "queue_mean", "jain", *named]


def test_parts_keep_the_distributions(tmp_path: Path) -> None:
    import polars

    Store(filled(tmp_path, range(3, 4))).compact()
    kept = polars.read_parquet(tmp_path / "parts" / "*.parquet")
    assert json.loads(kept["distributions"][0]) == {"classes": {"long": {"delay": [3 / 7]}}}


def test_a_journal_torn_at_any_byte_keeps_every_whole_record(tmp_path: Path) -> None:
    records = [record(payload(number)) for number in range(3)]
    whole = b"".join(records)
    for cut in range(len(whole) + 1):
        content = Content.of(whole[:cut])
        ends = [sum(map(len, records[: count + 1])) for count in range(3)]
        assert content.payloads == [payload(number) for number in range(3) if ends[number] <= cut]
        assert content.damaged == 0, "a record that was not finished is no damage"


@given(st.data())
@settings(max_examples=200)
def test_a_flipped_bit_costs_one_record_and_is_found(data: st.DataObject) -> None:
    payloads = [payload(number) for number in range(4)]
    whole = bytearray(b"".join(map(record, payloads)))
    at = data.draw(st.integers(0, len(whole) - 1))
    whole[at] ^= 1 << data.draw(st.integers(0, 7))
    content = Content.of(bytes(whole))
    lost = [one for one in payloads if one not in content.payloads]
    assert len(lost) == 1
    assert content.payloads == [one for one in payloads if one not in lost]
    assert content.damaged == 1


@given(st.binary(max_size=300), st.integers(0, 3))
def test_rubbish_in_a_journal_does_not_hide_what_follows(rubbish: bytes, count: int) -> None:
    payloads = [payload(number) for number in range(count)]
    content = Content.of(rubbish + b"".join(map(record, payloads)))
    assert content.payloads == payloads
    if count and rubbish:
        assert content.damaged == 1


def test_a_torn_journal_is_left_as_it_is_and_the_next_process_writes_its_own(tmp_path: Path) -> None:
    filled(tmp_path, range(3))
    (torn,) = journals(tmp_path)
    torn.write_bytes(torn.read_bytes()[:-7])
    before = torn.read_bytes()
    kept = Store(tmp_path)
    kept.add(payload(3))
    assert torn.read_bytes() == before
    assert numbers(kept) == [0, 1, 3]
    assert kept.damage == {}


def test_a_damaged_journal_is_reported_and_the_rest_of_it_kept(tmp_path: Path) -> None:
    filled(tmp_path, range(3))
    (file,) = journals(tmp_path)
    data = bytearray(file.read_bytes())
    data[len(record(payload(0))) + 40] ^= 4
    file.write_bytes(data)
    kept = Store(tmp_path)
    kept.compact()
    assert numbers(kept) == [0, 2]
    assert kept.damage == {os.fspath(file.with_suffix(OPEN)): 1}


def test_a_damaged_part_is_reported_and_put_aside(tmp_path: Path) -> None:
    Store(filled(tmp_path, range(5))).compact()
    Store(filled(tmp_path, range(5, 7))).compact()
    damaged = next(file for file in parts(tmp_path) if file.name.startswith("5-"))
    data = bytearray(damaged.read_bytes())
    data[len(data) // 2] ^= 1
    damaged.write_bytes(data)
    kept = Store(tmp_path)
    assert numbers(kept) == [5, 6]
    assert kept.damage == {os.fspath(damaged): 5}
    assert damaged.with_suffix(".damaged").is_file()
    assert numbers(Store(tmp_path)) == [5, 6]
    assert Store(tmp_path).damage == {}


def test_a_part_that_is_damaged_after_it_was_read_is_found_too(tmp_path: Path) -> None:
    Store(filled(tmp_path, range(5))).compact()
    (part,) = parts(tmp_path)
    kept = Store(tmp_path)
    assert numbers(kept) == list(range(5))
    data = bytearray(part.read_bytes())
    data[len(data) // 2] ^= 1
    part.write_bytes(data)
    assert numbers(kept) == []
    assert kept.damage == {os.fspath(part): 5}


def table(number: int) -> bytes:
    import polars

    return files.parquet(polars.DataFrame({"t": [0.0, 1.0], "link.queue.mean": [number / 3, number / 7]}), SERIES)


def series_of(folder: Path, count: int) -> list[str]:
    """Create a store with the series of some runs, and return their names."""
    kept = Store(folder)
    names = [series_name(key(number), {"step": 0.1}) for number in range(count)]
    for number, name in enumerate(names):
        kept.add_series(name, table(number))
    assert kept.recorded() == set(names)
    return names


def test_series_with_any_bit_flipped_are_refused_and_put_aside(tmp_path: Path) -> None:
    (name,) = series_of(tmp_path, 1)
    (file,) = (tmp_path / "series").iterdir()
    sound = file.read_bytes()
    assert Store(tmp_path).series(name)["link.queue.mean"].to_list() == [0.0, 0.0]
    for at in range(len(sound)):
        flipped = bytearray(sound)
        flipped[at] ^= 1 << (at % 8)
        file.write_bytes(flipped)
        with pytest.raises(OSError, match="damaged and put aside; rerun the command"):
            Store(tmp_path).series(name)
        assert Store(tmp_path).recorded() == set()
        file.with_suffix(".damaged").unlink()


def test_series_that_are_exchanged_or_called_otherwise_are_refused(tmp_path: Path) -> None:
    names = series_of(tmp_path, 3)
    one, other, third = sorted((tmp_path / "series").iterdir())
    first, second = one.read_bytes(), other.read_bytes()
    one.write_bytes(second)
    other.write_bytes(first)
    third.rename(third.with_name(third.name.replace(key(2).hex(), key(7).hex())))
    for name in (*names[:2], series_name(key(7), {"step": 0.1})):
        with pytest.raises(OSError, match="damaged and put aside"):
            Store(tmp_path).series(name)
    with pytest.raises(FileNotFoundError, match="no such series"):
        Store(tmp_path).series(names[2])


def test_series_that_were_done_again_are_found_beside_damaged_ones(tmp_path: Path) -> None:
    (name,) = series_of(tmp_path, 1)
    (file,) = (tmp_path / "series").iterdir()
    file.rename(file.with_name(f"{name}-{'0' * 64}.parquet"))
    series_of(tmp_path, 1)
    assert Store(tmp_path).series(name)["t"].to_list() == [0.0, 1.0]


def test_a_part_that_is_done_again_heals_what_was_damaged(tmp_path: Path) -> None:
    Store(filled(tmp_path, range(5))).compact()
    (part,) = parts(tmp_path)
    sound = part.read_bytes()
    part.write_bytes(sound[:-1])
    kept = Store(filled(tmp_path, range(5)))
    assert numbers(kept) == list(range(5))
    kept.compact()
    assert [file.read_bytes() for file in parts(tmp_path)] == [sound]


def test_files_of_others_are_left_alone(tmp_path: Path) -> None:
    Store(filled(tmp_path, range(3))).compact()
    filled(tmp_path, range(3, 5))
    strange = [tmp_path / "journals" / name for name in ("notes.journal", "notes.closed", ".DS_Store")]
    strange.append(tmp_path / "parts" / "mine.parquet")
    for file in strange:
        file.write_bytes(b"not of the store")
    (tmp_path / "parts" / "folder.parquet").mkdir()
    (tmp_path / "parts" / "nowhere.parquet").symlink_to(tmp_path / "nowhere")
    kept = Store(tmp_path)
    kept.compact()
    assert numbers(kept) == list(range(5))
    assert kept.damage == {}
    assert all(file.read_bytes() == b"not of the store" for file in strange)


def test_a_part_that_is_listed_and_never_there_is_an_error(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    Store(filled(tmp_path, range(3))).compact()
    (part,) = parts(tmp_path)
    part.unlink()
    part.symlink_to(tmp_path / "nowhere")
    monkeypatch.setattr(store, "_PATIENCE", 0.05)
    with pytest.raises(OSError, match="is listed and cannot be opened") as raised:
        numbers(Store(tmp_path))
    assert raised.value.filename == os.fspath(part)


def test_what_is_half_written_does_not_show_in_a_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    seen: list[str] = []
    monkeypatch.setattr(Path, "replace", lambda source, _: seen.append(source.name))
    files.write_whole(tmp_path / "00000.parquet", b"PAR1")
    (name,) = seen
    assert name.startswith("."), "pandas.read_parquet(folder) reads all others"


class Killed(BaseException):
    """Stands for kill -9: no code after it runs."""


def steps(monkeypatch: pytest.MonkeyPatch, limit: int) -> Callable[[], int]:
    """Allow a limited number of file-system changes; the returned function counts them."""
    count = 0

    def counted(change: Callable[..., Any]) -> Callable[..., Any]:
        def step(*arguments: Any, **named: Any) -> Any:
            nonlocal count
            if count == limit:
                raise Killed
            count += 1
            return change(*arguments, **named)

        return step

    for name in ("rename", "replace", "unlink"):
        monkeypatch.setattr(Path, name, counted(getattr(Path, name)))
    monkeypatch.setattr(files.os, "fsync", counted(os.fsync))
    return lambda: count


def test_compaction_may_be_killed_between_any_two_steps(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(store, "PART_RUNS", 4)
    monkeypatch.setattr(store, "SMALL_PARTS", 1)
    monkeypatch.setattr(store, "is_left", lambda _: True)

    def prepared(folder: Path) -> Path:
        for first in (0, 2, 4):
            kept = Store(filled(folder, range(first, first + 2)))
            if first < 4:
                with monkeypatch.context() as patch:
                    patch.setattr(store, "SMALL_PARTS", 9)
                    kept.compact()
        left = Store(folder)
        left.add(payload(6))  # left by a process that was killed
        return folder

    killed, limit = True, 0
    while killed:
        folder = prepared(tmp_path / str(limit))
        with monkeypatch.context() as patch:
            taken = steps(patch, limit)
            try:
                Store(folder).compact()
                killed = False
            except Killed:
                pass
            assert taken() == limit or not killed
        assert numbers(Store(folder)) == list(range(7)), f"killed after step {limit}"
        Store(folder).compact()
        assert numbers(Store(folder)) == list(range(7))
        assert [file for file in journals(folder) if file.suffix in (OPEN, CLOSED)] == []
        limit += 1
    assert limit > 8, "it closes, writes, replaces, removes, and puts small parts together"


def test_files_that_vanish_while_they_are_read_are_found_where_they_went(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    filled(tmp_path, range(3))
    filled(tmp_path, range(3, 5))
    read = store._read
    moved = False

    def moving(path: Path) -> bytes | None:
        nonlocal moved
        if not moved and path.suffix == CLOSED:
            moved = True
            Store(tmp_path).compact()  # another process, between our directory scan and our read
        return read(path)

    monkeypatch.setattr(store, "_read", moving)
    assert numbers(Store(tmp_path)) == list(range(5))
    assert moved


def test_parts_that_are_put_together_meanwhile_are_found(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for number in range(4):
        Store(filled(tmp_path, range(number, number + 1))).compact()
    assert len(parts(tmp_path)) == 4
    monkeypatch.setattr(store, "SMALL_PARTS", 3)
    read = store._read
    moved = False

    def moving(path: Path) -> bytes | None:
        nonlocal moved
        if not moved and path.suffix == ".parquet":
            moved = True
            Store(tmp_path).compact()
        return read(path)

    monkeypatch.setattr(store, "_read", moving)
    assert numbers(Store(tmp_path)) == list(range(4))
    assert len(parts(tmp_path)) == 1


def test_a_record_written_while_the_journal_is_taken_away_is_not_lost(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    # As on another machine, which considers our process ended.
    monkeypatch.setattr(store, "is_left", lambda _: True)
    kept = Store(tmp_path)
    kept.add(payload(0))
    write = journal.os.write

    def late(handle: int, data: bytes) -> int:
        monkeypatch.setattr(journal.os, "write", write)
        Store(tmp_path).compact()
        return write(handle, data)

    monkeypatch.setattr(journal.os, "write", late)
    kept.add(payload(1))
    assert numbers(Store(tmp_path)) == [0, 1]


def test_a_full_disk_is_an_error_and_loses_nothing_else(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(*_: object) -> int:
        raise OSError(28, "No space left on device")

    kept = Store(tmp_path)
    kept.add(payload(0))
    write = os.write
    with monkeypatch.context() as patch:
        patch.setattr(journal.os, "write", lambda handle, data: write(handle, data[:20]))
        with pytest.raises(OSError, match="No space left"):
            kept.add(payload(1))
    with monkeypatch.context() as patch:
        patch.setattr(journal.os, "write", full)
        with pytest.raises(OSError, match=r"No space left on device: '.*\.journal'"):
            kept.add(payload(1))
    kept.add(payload(2))
    assert numbers(kept) == [0, 2]
    assert kept.damage == {}, "half a record is at the end of a journal, and nothing behind it"


def test_a_journal_is_closed_when_it_is_long(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(store, "PART_RUNS", 3)
    filled(tmp_path, range(8))
    assert len(journals(tmp_path)) == 3
    Store(tmp_path).compact()
    assert sorted(int(file.name.split("-")[0]) for file in parts(tmp_path)) in ([2, 3, 3], [3, 5])


def test_the_journal_of_a_process_that_lives_is_not_taken_away(tmp_path: Path) -> None:
    kept = Store(tmp_path)
    kept.add(payload(0))
    Store(tmp_path).compact()
    assert [file.suffix for file in journals(tmp_path)] == [OPEN]
    (own,) = journals(tmp_path)
    host, pid, born, rest = own.name.rsplit("-", 3)
    ended = own.with_name(f"{host}-{pid}-{int(born) - 60}-{rest}")  # the number belongs to another process now
    own.rename(ended)
    assert journal.is_left(ended)
    other = own.with_name(f"elsewhere-{pid}-{born}-{rest}")
    ended.rename(other)
    assert not journal.is_left(other)
    os.utime(other, (0, 0))
    assert journal.is_left(other)


WRITER = """
import sys
from pathlib import Path
sys.path.insert(0, sys.argv[1])
from test_store import payload
from aqmlab.runs.store import Store
kept = Store(Path(sys.argv[2]))
for number in range(int(sys.argv[3]), int(sys.argv[4])):
    kept.add(payload(number))
    if number % 20 == 0:
        kept.close()
        kept.compact()
"""


@pytest.fixture
def writer(tmp_path: Path) -> Iterator[Callable[[int, int], "subprocess.Popen[bytes]"]]:
    started = []

    def start(first: int, last: int) -> "subprocess.Popen[bytes]":
        arguments = [str(Path(__file__).parent), str(tmp_path), str(first), str(last)]
        started.append(subprocess.Popen([sys.executable, "-c", WRITER, *arguments]))
        return started[-1]

    yield start
    for process in started:
        process.kill()
        process.wait()


def test_two_processes_write_and_compact_at_once(
    tmp_path: Path, writer: Callable[[int, int], "subprocess.Popen[bytes]"]
) -> None:
    both = [writer(0, 60), writer(40, 100)]
    assert [process.wait() for process in both] == [0, 0]
    kept = Store(tmp_path)
    assert numbers(kept) == list(range(100))
    kept.compact()
    assert numbers(kept) == list(range(100))
    assert kept.damage == {}
    assert journals(tmp_path) == []


def test_an_unwritten_journal_is_no_file(tmp_path: Path) -> None:
    Journal(tmp_path / "journals").close()
    assert not (tmp_path / "journals").exists()
