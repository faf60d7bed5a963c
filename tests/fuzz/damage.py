"""Damage to the files of a folder: changed content, or files removed, exchanged, copied or renamed."""

import random
import shutil
from pathlib import Path

Files = dict[str, bytes]
"""The content of a folder: its files by name."""


def _flip(rng: random.Random, data: bytes) -> bytes:
    changed = bytearray(data)
    for _ in range(rng.choice((1, 1, 1, 2, 8))):
        changed[rng.randrange(len(data))] ^= 1 << rng.randrange(8)
    return bytes(changed)


def _range(rng: random.Random, data: bytes) -> tuple[int, int]:
    start = rng.randrange(len(data))
    return start, min(len(data), start + rng.choice((1, 4, 64, 512, len(data))))


def _truncate(rng: random.Random, data: bytes) -> bytes:
    return data[: rng.randrange(len(data))]


def _zero(rng: random.Random, data: bytes) -> bytes:
    start, end = _range(rng, data)
    return data[:start] + bytes(end - start) + data[end:]


def _scramble(rng: random.Random, data: bytes) -> bytes:
    start, end = _range(rng, data)
    return data[:start] + rng.randbytes(end - start) + data[end:]


def _cut(rng: random.Random, data: bytes) -> bytes:
    start, end = _range(rng, data)
    return data[:start] + data[end:]


def _repeat(rng: random.Random, data: bytes) -> bytes:
    start, end = _range(rng, data)
    at = rng.randrange(len(data) + 1)
    return data[:at] + data[start:end] + data[at:]


CONTENT = (_flip, _flip, _flip, _truncate, _zero, _scramble, _cut, _repeat)


def damage(rng: random.Random, folder: Path, others: Files) -> str:
    """Damage a folder once, and return a description.

    `others` are files of folders of the same kind, one of which may replace a file.
    """
    files = sorted(file for file in folder.rglob("*") if file.is_file())
    if not files:
        return "nothing is there"
    file, other = rng.choice(files), rng.choice(files)
    named = file.relative_to(folder).as_posix()
    match rng.randrange(12):
        case 0:
            file.unlink()
            return f"{named} removed"
        case 1:
            data = file.read_bytes()
            file.write_bytes(other.read_bytes())
            other.write_bytes(data)
            return f"{named} and {other.relative_to(folder)} exchanged"
        case 2:
            file.write_bytes(other.read_bytes())
            return f"{other.relative_to(folder)} copied over {named}"
        case 3:
            like = [name for name in others if Path(name).suffix == file.suffix]
            if like:
                file.write_bytes(others[chosen := rng.choice(like)])
                return f"{named} is {chosen} of another call"
            return "nothing"
        case 4:
            tail = rng.choice((file.stem[-1:], "0", file.stem))
            again = file.with_name(f"{file.stem.removesuffix(tail)}{rng.randrange(10)}{file.suffix}")
            again.write_bytes(file.read_bytes())
            return f"{named} copied to {again.name}"
        case 5:
            # Half of one name, half of the other.
            at = rng.randrange(len(file.stem))
            file.rename(again := file.with_name(f"{file.stem[:at]}{other.stem[at:]}{file.suffix}"))
            return f"{named} renamed {again.name}"
        case 6 if rng.randrange(4) == 0:
            shutil.rmtree(file.parent)
            return f"the folder of {named} removed"
        case _:
            data = file.read_bytes()
            change = rng.choice(CONTENT)
            if data:
                file.write_bytes(change(rng, data))
            return f"{named}: {change.__name__.removeprefix('_')}"
