"""The files of a release, in dist: `make wheel`, and `make release` with profile-guided wheels."""

from pathlib import Path

ROOT = Path(__file__).parents[1]
WORK = ROOT / "target" / "wheel"
"""What is built on the way: compiled crates, environments, packages fetched."""
DIST = ROOT / "dist"
TOOLS = ROOT / "target" / "package"
"""The virtual environment of release/requirements.lock."""
