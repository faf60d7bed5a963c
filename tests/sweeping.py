"""A sweep, a study, and the files of a saved sweep, for the tests of sweeps."""

from pathlib import Path

VARY = {"aqm.q0": "10,20..30"}


def data_set(folder: Path) -> dict[str, bytes]:
    return {file.name: file.read_bytes() for file in sorted((folder / "results").iterdir())}


STUDY = """
[sweep]
aqm = ["lred", "pi"]
seeds = 20

[sweep.vary]
"aqm.q0" = "10,20..40"
"""
