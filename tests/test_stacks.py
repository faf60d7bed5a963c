"""Transports of one's own in shared libraries: results, archives, and libraries that fail."""

from pathlib import Path

import pytest
from conftest import Cli, compiled_stack

import aqmlab
from aqmlab import Scenario
from aqmlab.archive.container import ArchiveError
from aqmlab.archive.seal import seal
from aqmlab.archive.verify import verify
from aqmlab.execute.task import digest


def text(library: Path, keys: str = "") -> str:
    """Return a scenario with a download by a library."""
    return (
        f'duration = "4 s"\n[dumbbell]\nrate = "4 Mbit/s"\n[[traffic]]\nname = "mine"\nkind = "stack"\n'
        f'file = "{library}"\n{keys}\n'
    )


def test_one_line_tells_what_a_library_refuses_and_finished_runs_are_kept(
    stack: Path, tmp_path: Path, quick_cli: Cli
) -> None:
    file = tmp_path / "x.toml"
    file.write_text(text(stack, 'options = "gamma=1"'))
    ended = quick_cli("run", file, "--out", tmp_path / "out")
    told = "run failed: droptail, seed 1: traffic.mine: its stack cannot go on: options: beta=B with 0 < B < 1 is all that it knows"
    assert (ended.returncode, ended.stderr.strip().splitlines()[-1]) == (1, told)


def test_results_belong_to_the_content_of_the_library(stack: Path, tmp_path: Path) -> None:
    same = tmp_path / "same.so"
    same.write_bytes(stack.read_bytes())
    slower = compiled_stack(tmp_path / "slower.so", **{"end->window = 10;": "end->window = 2;"})
    digests = [digest(Scenario.parse(text(library))) for library in (stack, same, slower)]
    assert digests[0] == digests[1] != digests[2]


def test_an_archive_has_the_library_and_runs_it_only_if_trusted(stack: Path, tmp_path: Path) -> None:
    own = tmp_path / "own.so"
    own.write_bytes(stack.read_bytes())
    aqmlab.compare(Scenario.parse(text(own)), aqms=["codel", "pie"]).save(tmp_path / "out")
    archive = seal(tmp_path / "out", tmp_path / "out.zip").file
    own.unlink()
    with pytest.raises(ArchiveError, match=r"1 programs that it has: sealed/traces/\w+\.so: .*--trust"):
        verify(archive)
    assert verify(archive, trust=True).is_sound
