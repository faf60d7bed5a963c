"""One of every kind of file that aqmlab writes, small.

``PYTHONPATH=tests python -m saved tests/files/N`` makes the files that `test_files_of_every_version` opens for ever,
once for each version N of their schemas.
"""

import re
import shutil
import sys
from pathlib import Path

import numpy as np
from typer.testing import CliRunner

import aqmlab
from aqmlab.execute.task import simulate
from aqmlab.runs.plan import Plan
from aqmlab.runs.runner import run_all
from aqmlab.runs.store import Store
from aqmlab.runs.study import study

SCENARIO = """\
title = "Small"
duration = "2 s"
warmup = "1 s"
seed = 7

[dumbbell]
rate = "2 Mbit/s"
buffer = "50 packets"

[aqm]
name = "lred"
q0 = 20

[[traffic]]
name = "long"
kind = "ftp"
count = 3
packet_size = "500 B"
tcp = "rfc5681"

[record]
step = "500 ms"
series = true
cwnd = "500 ms"
flows = true
"""

ROOT = Path(__file__).parents[1]


def scenario(recorded: bool = True) -> aqmlab.Scenario:
    return aqmlab.Scenario.parse(
        SCENARIO if recorded else SCENARIO.partition("step")[0] + "series = false", "small.toml"
    )


def run(folder: Path) -> None:
    aqmlab.run(scenario(), seeds=2).save(folder)


def compare(folder: Path) -> None:
    aqmlab.compare(scenario(recorded=False), aqms=["lred", "pi"]).save(folder)


def sweep(folder: Path) -> None:
    aqmlab.sweep(scenario(recorded=False), vary={"aqm.q0": [10, 20]}, out=folder, jobs=1)
    shutil.rmtree(folder / "store")


def store(folder: Path) -> None:
    """Write a store of two runs: one in a part, with its series, and one in a journal."""
    first, second = (study(scenario(), {"aqm.q0": [value]}, series=True) for value in (10, 20))
    run_all([first], folder, jobs=1)
    plan = Plan.of(second)
    kept = Store(folder)
    for task in plan.tasks(np.ones(len(plan.keys), bool)):
        outcome = simulate(task)
        assert outcome
        kept.add(outcome.payload)
    kept.close()
    (journal,) = (folder / "journals").glob("*")
    journal.rename(journal.with_name("host-1-1-0.closed"))


def evaluate(folder: Path) -> None:
    call("evaluate", "--aqm", "codel", "--section", "5.1.1", "--seeds", "2", "--jobs", "1", "--out", str(folder))


def reproduce(folder: Path) -> None:
    own = paper(folder / "bloat")
    call("reproduce", str(own), "--quick", "--jobs", "1", "--out", str(folder))
    shutil.rmtree(own)


def paper(folder: Path) -> Path:
    """Write the example of a new paper in CONTRIBUTING.md, to the letter, into a folder called bloat."""
    page = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
    section = page[page.index("## Adding a paper") :].partition("\n## ")[0]
    folder.mkdir(parents=True)
    for language, name in (("toml", "base.toml"), ("python", "paper.py")):
        assert f"`{folder.name}/{name}`" in section
        (content,) = re.findall(rf"^```{language}\n(.*?)^```$", section, re.DOTALL | re.MULTILINE)
        (folder / name).write_text(content, encoding="utf-8")
    return folder


def call(*arguments: str) -> None:
    from aqmlab.cli.app import app

    done = CliRunner().invoke(app, arguments, prog_name="aqmlab", catch_exceptions=False)
    assert done.exit_code == 0, done.output


EVERY = {"run": run, "compare": compare, "sweep": sweep, "store": store, "evaluate": evaluate, "reproduce": reproduce}
"""The writer of each folder of files, by name."""


def main(folder: Path) -> None:
    for name, write in EVERY.items():
        write(folder / name)
        shutil.rmtree(folder / name / "store", ignore_errors=True)
    for file in folder.rglob("*"):
        if file.suffix in (".png", ".svg", ".html"):
            file.unlink()


if __name__ == "__main__":
    main(Path(sys.argv[1]))
