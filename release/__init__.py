"""The files of a release, in dist: `make wheel`, and `make release` with profile-guided wheels.

Besides how they are built, this folder has what a release has beside its code: the manual, the licences and the list of
all that is in it.
"""

from pathlib import Path

ROOT = Path(__file__).parents[1]
WORK = ROOT / "target" / "wheel"
"""What is built on the way: compiled crates, environments, packages fetched."""
DIST = ROOT / "dist"
TOOLS = ROOT / "target" / "package"
"""The virtual environment of release/requirements.lock."""
