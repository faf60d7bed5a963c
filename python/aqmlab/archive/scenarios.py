"""The scenario files of an archive: with everything that they read, under paths inside the archive."""

from __future__ import annotations

import hashlib
import json
import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from aqmlab.archive.layout import SCENARIOS, TRACES
from aqmlab.execute.task import digest
from aqmlab.files import read_whole
from aqmlab.scenario import Scenario, portable


class Scenarios:
    """Scenario files by their paths in the archive, each once."""

    def __init__(self) -> None:
        self.files: dict[str, bytes] = {}
        self._paths: dict[str, str] = {}

    def add(self, scenario: Scenario) -> str:
        """Add a scenario with the files that it reads; return its path.

        Raise ScenarioError if it is not valid, and OSError if a recording can no longer be read.
        """
        name = digest(scenario)
        if name not in self._paths:
            text, own = portable(scenario)
            path = self._paths[name] = f"{SCENARIOS}{name[:16]}.toml"
            self.files |= {f"{SCENARIOS}{file}": data for file, data in own.items()}
            self.files[path] = self._with_recordings(text).encode()
        return self._paths[name]

    def _with_recordings(self, text: str) -> str:
        """Let a scenario's text name copies of its recordings."""
        for path in set(_recordings(tomllib.loads(text))):
            data = read_whole(Path(path))
            name = f"{hashlib.sha256(data).hexdigest()[:8]}-{Path(path).name}"
            self.files[f"{TRACES}{name}"] = data
            text = text.replace(json.dumps(path, ensure_ascii=False), json.dumps(f"../traces/{name}"))
        return text


def _recordings(table: Any) -> Iterator[str]:
    """Yield the paths of the recordings that a scenario reads."""
    for key, value in table.items() if isinstance(table, dict) else ():
        if key == "file" and isinstance(value, str) and Path(value).is_file():
            yield value
        for inside in value if isinstance(value, list) else [value]:
            yield from _recordings(inside)
