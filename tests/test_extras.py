"""Extras: what lacks one says so in one line, with the command that installs it."""

import subprocess
import sys
from pathlib import Path

import pytest

from release.environment import declared

ROOT = Path(__file__).parents[1]

FOLDER = "import aqmlab, sys; aqmlab.run(aqmlab.Scenario.load(sys.argv[1])).save('out')\n"
COMMAND = "from aqmlab.cli import main; sys.argv[1:] = {!r}; main()\n"
OWN = """\
import aqmlab
class Mine(aqmlab.AQM):
    def on_enqueue(self, now, packet, queue):
        return aqmlab.PASS
"""

USES = {
    "archive": ("rocrate", FOLDER + COMMAND.format(["seal", "out", "-o", "out.zip"])),
    "cluster": ("distributed", COMMAND.format(["sweep", "quickstart", "--cluster", "tcp://localhost:1"])),
    "crusader": (
        "cramjam",
        "open('a.crr', 'wb').write(bytes.fromhex('cb597cae82ab72530200000000000000'))\n"
        + COMMAND.format(["calibrate", "a.crr"]),
    ),
    "gym": ("gymnasium", "import aqmlab.gym\n"),
    "hdf5": ("h5py", FOLDER + COMMAND.format(["export", "out", "-o", "out.h5"])),
    "notebook": ("anywidget", "import aqmlab; aqmlab.Scenario.load('quickstart').play()\n"),
    "numba": ("numba", COMMAND.format(["check", "mine.py", "--speed"])),
    "pandas": ("pandas", "import aqmlab; aqmlab.run(aqmlab.Scenario.load(sys.argv[1])).to_pandas()\n"),
    "papers": ("aqmlab_papers", COMMAND.format(["reproduce", "all", "--quick"])),
    "theory": ("control", "from aqmlab.theory.loop import Plant; Plant([1], [0.1], 60.0).transfer_function()\n"),
    "xarray": (
        "xarray",
        "import aqmlab; aqmlab.sweep(aqmlab.Scenario.load(sys.argv[1]), vary={'aqm.q0': [9]}).to_xarray()\n",
    ),
}
"""For each extra a package of it, and what needs it."""


def test_every_extra_is_tried() -> None:
    assert list(USES) == sorted(set(declared()) - {""})


@pytest.mark.parametrize("extra", USES)
def test_a_missing_extra_is_one_line_with_the_command(tmp_path: Path, small_file: Path, extra: str) -> None:
    hidden, use = USES[extra]
    (tmp_path / "mine.py").write_text(OWN, encoding="utf-8")
    program = f"import sys; sys.modules[{hidden!r}] = None\n{use}"
    command = [sys.executable, "-c", program, str(small_file)]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False, timeout=60)
    lines = (done.stdout + done.stderr).splitlines()
    said = [line for line in lines if "pip install" in line and not line.startswith("    ")]  # lines of a traceback
    assert len(said) == 1, done.stdout + done.stderr
    assert f"pip install 'aqmlab[{extra}]'" in said[0]
    assert hidden.replace("_", "-") in said[0]
    if "main()" in use:
        assert "Traceback" not in done.stderr


@pytest.mark.parametrize(
    ("arguments", "what"),
    [
        (["evaluate", "--aqm", "pi"], "aqmlab evaluate"),
        (["show", "lred/exp1"], "a paper's scenario"),
        (["run", "lred/exp1"], "a paper's scenario"),
        (["design", "lred", "--n", "9"], "a paper's design rule"),
    ],
)
def test_what_comes_with_the_papers_says_so_without_them(tmp_path: Path, arguments: list[str], what: str) -> None:
    done = _without_papers(tmp_path, arguments)
    assert done.returncode == 2
    assert f"{what} comes with aqmlab-papers" in " ".join(done.stderr.split())
    assert "Traceback" not in done.stderr


def test_a_class_is_checked_without_the_papers(tmp_path: Path) -> None:
    done = _without_papers(tmp_path, ["check", str(ROOT / "examples/mine.py")])
    assert done.returncode == 0, done.stdout + done.stderr
    assert "the fluid engine runs it" in " ".join(done.stdout.split())


def _without_papers(folder: Path, arguments: list[str]) -> subprocess.CompletedProcess[str]:
    program = "import sys; sys.modules['aqmlab_papers'] = None\n" + COMMAND.format(arguments)
    command = [sys.executable, "-c", program]
    return subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False, timeout=100)
