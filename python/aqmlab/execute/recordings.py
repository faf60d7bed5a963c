"""Recordings of a scenario, of traffic or of rates, that go to another machine with its tasks.

There, the scenario names each by the digest of its content, in a folder of that machine's own.
"""

from __future__ import annotations

import hashlib
import tomllib
from collections.abc import Callable, Iterator, Mapping
from functools import lru_cache
from pathlib import Path

from aqmlab.files import write_whole
from aqmlab.scenario import Scenario


@lru_cache(maxsize=256)
def files_of(text: str) -> Mapping[str, str]:
    """Return the files of recordings that a scenario in TOML names, by the path of the setting."""
    return dict(_files("", tomllib.loads(text))) if "file = " in text else {}


def _files(place: str, table: Mapping[str, object]) -> Iterator[tuple[str, str]]:
    for key, value in table.items():
        if isinstance(value, dict):
            yield from _files(f"{place}{key}.", value)
        elif isinstance(value, list):
            for number, entry in enumerate(value, 1):
                if isinstance(entry, dict):
                    yield from _files(f"{place}{key}.{entry.get('name', number)}.", entry)
        elif key == "file" and isinstance(value, str):
            yield f"{place}{key}", value


def renamed(text: str, name: Callable[[str], str]) -> str:
    """Return a scenario in TOML whose recordings have other files; `name` returns the new one, given the old one."""
    settings = {setting: name(file) for setting, file in files_of(text).items()}
    return Scenario.parse(text).with_(settings).to_toml() if settings else text


def name_of(file: str, content: bytes) -> str:
    """Return a name for a recording: the digest of its content, with the suffix of its file."""
    return hashlib.sha256(content).hexdigest() + Path(file).suffix


def unpacked(folder: Path, contents: Mapping[str, bytes]) -> None:
    """Write recordings to a folder, each under its name, unless they are there."""
    for name, content in contents.items():
        if not (folder / name).exists():
            write_whole(folder / name, content)
