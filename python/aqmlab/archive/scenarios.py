"""The scenario files of an archive: with everything that they read, under paths inside the archive."""

from __future__ import annotations

from pathlib import Path, PurePosixPath

from aqmlab.archive.layout import SCENARIOS, TRACES, Record
from aqmlab.execute.engine import Engine
from aqmlab.execute.recordings import files_of, name_of
from aqmlab.execute.task import digest, key
from aqmlab.files import read_whole
from aqmlab.runs.cases import UNRECORDED
from aqmlab.scenario import Scenario, portable

_OWN_END = ".py"
"""The end of the file in the name of a discipline of the user's own, ``FILE:CLASS`` with its parameters."""


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
            settings = {setting: self._copied(file) for setting, file in files_of(scenario.to_toml()).items()}
            text, own = portable(scenario, settings)
            path = self._paths[name] = f"{SCENARIOS}{name[:16]}.toml"
            self.files |= {f"{SCENARIOS}{file}": data for file, data in own.items()}
            self.files[path] = text.encode()
        return self._paths[name]

    def _copied(self, file: str) -> str:
        """Add a recording; return its path from a scenario in the archive."""
        data = read_whole(Path(file))
        name = name_of(file, data)
        self.files[f"{TRACES}{name}"] = data
        return f"../{PurePosixPath(TRACES).name}/{name}"


def is_of(record: Record, scenario: Scenario, version: str) -> bool:
    """Return whether a scenario is that of a run, by its key, if ours is the version of the engine that made it."""
    engine = Engine.parse(record.engine)
    return engine.version != version or key(digest(scenario), record.seed, engine).hex() == record.key


def bare(scenario: Scenario) -> Scenario:
    """Return a scenario that records nothing over time."""
    return scenario.with_({**UNRECORDED, "record.flows": False})


def file_of(label: str) -> str:
    """Return the file of a discipline of the user's own, by its label."""
    return label[: label.rindex(_OWN_END) + len(_OWN_END)]


def moved(label: str, file: str) -> str:
    """Return such a label with another file."""
    return file + label[len(file_of(label)) :]
