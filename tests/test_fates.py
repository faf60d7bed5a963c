"""The file of the fate of every packet."""

import re
from pathlib import Path

import pytest
from conftest import Cli

import aqmlab
from aqmlab import EngineUnavailable, Scenario
from aqmlab.execute.engine import Engine

SCENARIO = """\
duration = "4 s"
warmup = "0 s"
aqm = "codel"
[dumbbell]
rate = "5 Mbit/s"
buffer = "30 packets"
[[traffic]]
count = 3
tcp = "linux"
"""


def test_the_file_has_the_losses_and_marks_that_the_results_count(quick_cli: Cli, tmp_path: Path) -> None:
    try:
        Engine.parse("linux").check(Scenario.parse(SCENARIO))
    except EngineUnavailable as error:
        pytest.skip(str(error))
    (tmp_path / "x.toml").write_text(SCENARIO)
    file, out = tmp_path / "fates.pcapng", tmp_path / "out"
    done = quick_cli("run", str(tmp_path / "x.toml"), "--engine", "linux", "--pcapng", str(file), "--out", str(out))
    assert done.returncode == 0, done.stderr
    assert str(file) in done.stdout
    written = file.read_bytes()
    traffic = aqmlab.Result.load(out).runs[0].links["bottleneck"]
    for words, counted in (("overflow", "drops_overflow"), (r"early drop \(codel\)", "drops_early")):
        found = re.findall(f"lost at bottleneck: {words}".encode(), written)
        assert len(found) == traffic[counted] > 0, words
    assert len(re.findall(rb"delivered after \d+\.\d{6} ms, waited", written)) > 1000


@pytest.mark.parametrize(
    ("engine", "file", "message"),
    [
        ("packet", "x.pcapng", "the packet engine does not write it: use --engine linux"),
        ("linux", "nowhere/x.pcapng", "is no folder that can be written to"),
    ],
)
def test_a_file_that_cannot_be_written_is_refused(
    quick_cli: Cli, tmp_path: Path, engine: str, file: str, message: str
) -> None:
    (tmp_path / "x.toml").write_text(SCENARIO)
    done = quick_cli("run", str(tmp_path / "x.toml"), "--engine", engine, "--pcapng", str(tmp_path / file))
    assert done.returncode == 2
    assert message in " ".join(done.stderr.replace("│", " ").split())
