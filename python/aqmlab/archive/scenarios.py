"""The scenario files of an archive: with everything that they read, under paths inside the archive."""

from __future__ import annotations

from pathlib import Path, PurePosixPath

from aqmlab.archive.layout import SCENARIOS, TRACES
from aqmlab.execute.recordings import files_of, name_of
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
