"""Options of jobs of SLURM, and missing packages, without SLURM."""

import sys
from pathlib import Path

import pytest
from conftest import ROOT, Cli

import aqmlab
from aqmlab import ClusterError, Scenario
from aqmlab.execute.slurm import Options

ALL = """\
jobs = [2, 40]
cores = 32
memory = "64 GB"
walltime = "1-02:00:00"
queue = "long"
account = "thesis"
interface = "ib0"
python = "/opt/aqmlab/bin/python"
scratch = "/scratch"
logs = "logs"
prologue = ["module load python", "source .venv/bin/activate"]
directives = ["--exclusive"]
"""


def test_every_option_is_read(tmp_path: Path) -> None:
    file = tmp_path / "cluster.toml"
    file.write_text(ALL)
    assert f"```toml\n{ALL}```" in (ROOT / "docs" / "guide" / "cluster.md").read_text()
    options = Options.load(file)
    assert options == Options(
        jobs=(2, 40),
        cores=32,
        memory="64 GB",
        walltime="1-02:00:00",
        queue="long",
        account="thesis",
        interface="ib0",
        python="/opt/aqmlab/bin/python",
        scratch="/scratch",
        logs="logs",
        prologue=("module load python", "source .venv/bin/activate"),
        directives=("--exclusive",),
    )
    assert Options.parse({"jobs": 8}, "x").jobs == (8, 8)


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ("jobs = 0", "jobs = 0: must be a number of jobs, 8, or the least and the greatest, [1, 8]"),
        ("jobs = true", "jobs = True: must be a number of jobs"),
        ("jobs = [8, 1]", "jobs = [8, 1]: must be a number of jobs"),
        ("jobs = [1, 2, 3]", "jobs = [1, 2, 3]: must be a number of jobs"),
        ("cores = 1.5", "cores = 1.5: must be a whole number, 1 or more"),
        ("memory = 8", 'memory = 8: must be the memory of a job with its unit, 1 MB or more, such as "8 GB"'),
        ('memory = "8"', "memory = '8': must be the memory of a job with its unit"),
        ('memory = "much"', "memory = 'much': must be the memory of a job with its unit"),
        ('walltime = "2 h"', "walltime = '2 h': must be HOURS:MINUTES:SECONDS in quotes, such as \"02:00:00\""),
        ("queue = 1", "queue = 1: must be one line of text, in quotes"),
        ('queue = "a\\nb"', "queue = 'a\\nb': must be one line of text, in quotes"),
        ('prologue = "ls"', "prologue = 'ls': must be a list of lines, such as [\"module load python\"]"),
        ("directives = [1]", 'directives = [1]: must be a list of options of sbatch, such as ["--exclusive"]'),
        ('partition = "long"', "partition = 'long': no such option; there are jobs, cores"),
        ('wall_time = "1:00"', "wall_time = '1:00': no such option; did you mean walltime?"),
    ],
)
def test_what_is_wrong_is_said_with_file_key_value_and_cure(tmp_path: Path, line: str, said: str) -> None:
    file = tmp_path / "cluster.toml"
    file.write_text(line)
    with pytest.raises(ValueError) as refused:  # noqa: PT011  the message is compared below
        Options.load(file)
    assert str(refused.value).startswith(f"{file}: {said}")


def test_a_file_that_is_none_is_a_mistake_of_the_command_line(quick_cli: Cli, tmp_path: Path, tiny: Scenario) -> None:
    pytest.importorskip("dask_jobqueue")
    (tmp_path / "tiny.toml").write_text(tiny.to_toml())
    (tmp_path / "bad.toml").write_text("jobs = ")
    for file, said in (("none.toml", "none.toml: cannot be read: No such file"), ("bad.toml", "bad.toml: not TOML")):
        done = quick_cli("sweep", "tiny.toml", "--cluster", f"slurm:{file}")
        assert done.returncode == 2
        assert said in " ".join(done.stderr.split())


def test_without_slurm_or_the_extra_it_is_said(tiny: Scenario, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setitem(sys.modules, "cryptography", None)
    with pytest.raises(ClusterError, match=r"a cluster needs cryptography: pip install 'aqmlab\[cluster\]'"):
        aqmlab.sweep(tiny, cluster="slurm")
    monkeypatch.undo()
    pytest.importorskip("dask_jobqueue")
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(ClusterError, match="slurm: sbatch is missing"):
        aqmlab.sweep(tiny, cluster="slurm")


def test_the_script_of_a_job_has_keys_that_nobody_else_can_read() -> None:
    pytest.importorskip("dask_jobqueue")
    from aqmlab.execute.slurm import job_class

    prologue = ["export DASK_DISTRIBUTED__COMM__TLS__WORKER__KEY='secret'"]
    job = job_class()("tcp://127.0.0.1:1", "1", cores=1, memory="1 GB", job_script_prologue=prologue)
    with job.job_file() as name:
        file = Path(name)
        assert file.stat().st_mode & 0o777 == 0o600
        assert file.read_text() == job.job_script()
        assert "secret" in file.read_text()
    assert not file.exists()
