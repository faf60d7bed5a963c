"""Options and settings that would have no effect are refused, with the reason."""

from pathlib import Path

import pytest
from conftest import Cli

TEXT = """\
duration = "2 s"
[dumbbell]
rate = "2 Mbit/s"
[aqm]
name = "pie"
[[traffic]]
name = "long"
count = 2
tcp = "newreno"
"""


@pytest.fixture
def scenario(tmp_path: Path) -> Path:
    (tmp_path / "own.toml").write_text(TEXT)
    return tmp_path / "own.toml"


@pytest.mark.parametrize(
    ("command", "message"),
    [
        ("run own.toml --set sweep.seeds=5", "sweep.seeds=5: would have no effect: only `aqmlab sweep` reads it"),
        ("compare own.toml --aqm pie --aqm red --set sweep.seeds=5", "only `aqmlab sweep` reads it; omit it"),
        ("fluid own.toml --set sweep={seeds=3}", "only `aqmlab sweep` reads it; omit it"),
        ("sweep own.toml --set record.flows=true", "sweep keeps nothing over time: set it in `aqmlab run`; omit it"),
        (
            "sweep own.toml --set record={step='1\u00a0s'}",
            "record.step would have no effect: sweep keeps nothing over time",
        ),
        ("tune own.toml --over target --for goodput --set record.step=1", "tune keeps nothing over time"),
        ("tune own.toml --over target --for goodput --out o --figure-format pdf", "one goal has no front to draw"),
        ("analyse own.toml --set record.flows=true", "analyse does not depend on it; omit it"),
        ("analyse own.toml --set response.band=0.1", "analyse does not depend on it; omit it"),
        ("run own.toml --engine fluid --set record.flows=true", "the fluid engine does not record it; omit it"),
        ("run own.toml --engine linux --set record.flows=true", "the linux engine does not record it; omit it"),
        ("fluid own.toml --set record.cwnd=1", "the fluid engine does not record it; omit it"),
        ("run own.toml --engine fluid --seeds 3", "3: the fluid engine has one run, without randomness: omit it"),
        ("sweep own.toml --engine fluid --seeds 3", "3: the fluid engine has one run, without randomness: omit it"),
        ("sweep own.toml --figure-format pdf", "a sweep with one point has no figure"),
    ],
)
def test_what_would_have_no_effect_is_refused(scenario: Path, quick_cli: Cli, command: str, message: str) -> None:
    done = quick_cli(*command.split(" "))
    assert done.returncode == 2
    assert message in " ".join(done.stderr.split())


@pytest.mark.parametrize(
    "command",
    [
        "run own.toml --set record.flows=true",
        "compare own.toml --aqm pie --engines packet,fluid --set record.flows=true",
        "sweep own.toml --set sweep.seeds=2 --set record.loss_event=50ms --out o",
        "sweep own.toml --set record={loss_event='50ms'} --out o",
        "analyse own.toml --set response.target=20",
    ],
)
def test_what_has_an_effect_is_not(scenario: Path, quick_cli: Cli, command: str) -> None:
    done = quick_cli(*command.split(" "))
    assert (done.returncode, done.stderr) == (0, "")
