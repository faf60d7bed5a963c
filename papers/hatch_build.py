"""The version of the papers, and of the aqmlab that they need: that of the workspace, which Cargo.toml says once."""

import tomllib
from pathlib import Path
from typing import Any

from hatchling.metadata.plugin.interface import MetadataHookInterface


class Version(MetadataHookInterface):
    """Sets the version and the one dependency."""

    def update(self, metadata: dict[str, Any]) -> None:
        """Set them from the workspace in which this folder lies."""
        workspace = tomllib.loads((Path(self.root).parent / "Cargo.toml").read_text(encoding="utf-8"))
        metadata["version"] = workspace["workspace"]["package"]["version"]
        metadata["dependencies"] = [f"aqmlab=={metadata['version']}"]
