"""Completion in shells: what each offers, in the way in which it asks."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

AQMLAB = f"'{sys.executable}' -m aqmlab"
"""The program without its script, which the environment of a test need not have."""


def offered(folder: Path, *words: str) -> list[str]:
    """Return what bash offers for the last of these words, as bash divides them."""
    program = (
        f'aqmlab() {{ {AQMLAB} "$@"; }}; env() {{ while [[ $1 == *=* ]]; do local -x "$1"; shift; done; "$@"; }}\n'
        'eval "$(_AQMLAB_COMPLETE=source_bash aqmlab)"\n'
        'COMP_WORDS=(aqmlab "$@"); COMP_CWORD=$#\n'
        "_aqmlab_completion aqmlab; printf '%s\\n' \"${COMPREPLY[@]}\"\n"
    )
    command = ["bash", "--norc", "-c", program, "bash", *words]
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, timeout=60, check=False)
    assert (done.returncode, done.stderr) == (0, "")
    return done.stdout.split()


@pytest.mark.parametrize(
    ("words", "values"),
    [
        (["rep"], ["reproduce"]),
        (["compare", "--se"], ["--set", "--seed", "--seeds"]),
        (["run", "links/off"], ["links/office"]),
        (["run", "./mine"], ["./mine.toml"]),
        (["run", "quickstart", "--aqm", "fq_c"], ["fq_codel"]),
        (["compare", "quickstart", "--aqm", "pie", "--aqm", "lre"], ["lred"]),
        (["run", "quickstart", "--aqm", "pi", ":", "q_"], ["q_ref="]),
        (["run", "quickstart", "--aqm", "pi", ":", "q_ref", "=", "50,frequ"], ["50,frequency="]),
        (["run", "quickstart", "--aqm", "pistar", ":", "q_"], ["q_ref="]),
        (["run", "quickstart", "--aqm", "=", "fq_c"], ["fq_codel"]),
        (["run", "quickstart", "--engine", "fl"], ["fluid"]),
        (["run", "quickstart", "--engine", "linux", ":", "clock", "=", "re"], ["real"]),
        (["compare", "quickstart", "--engines", "packet,fl"], ["packet,fluid"]),
        (["run", "quickstart", "--metric", "queue_delay_p9"], ["queue_delay_p95", "queue_delay_p99"]),
        (["run", "quickstart", "--figure-format", "pdf,p"], ["pdf,png", "pdf,pgf"]),
        (["run", "links/home", "--class", "u"], ["upload"]),
        (["run", "two-way", "--link", "bottle"], ["bottleneck"]),
        (["run", "mine.toml", "--set", "traffic.mine.co"], ["traffic.mine.count="]),
        (["sweep", "mine.toml", "--vary", "dumbbell.buffer_"], ["dumbbell.buffer_admission="]),
        (["list", "s"], ["scenarios"]),
        (["show", "tcp", ":", "ns2."], ["ns2.35"]),
        (["reproduce", "lr"], ["lred"]),
        (["design", "redt"], ["redtail"]),
        (["evaluate", "--rfc", "97"], ["9743"]),
        (["evaluate", "--rfc", "9743", "--tcp", "bbr3"], ["bbr3", "bbr3-l4s"]),
        (["evaluate", "--rfc", "9743", "--tcp", "cubic", ":", "bet"], ["beta="]),
        (["evaluate", "--rfc", "9743", "--against", "pra"], ["prague"]),
        (["evaluate", "--against", "pi2"], ["pi2"]),
        (["run", "no-such.toml", "--class", ""], []),
        (["run", "quickstart", "--aqm", "nonsense", ":", "q_"], []),
    ],
    ids=lambda part: " ".join(part) or "nothing",
)
def test_bash_completes(tmp_path: Path, words: list[str], values: list[str]) -> None:
    mine = '[dumbbell]\nrate = "1 Mbit/s"\n[[traffic]]\nname = "mine"\nkind = "ftp"\n'
    (tmp_path / "mine.toml").write_text(mine, encoding="utf-8")
    assert offered(tmp_path, *words) == values


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_a_shell_takes_its_script(tmp_path: Path, shell: str) -> None:
    if shutil.which(shell) is None:
        pytest.skip(f"{shell} is not installed")
    environment = os.environ | {"_AQMLAB_COMPLETE": f"source_{shell}"}
    command = [sys.executable, "-m", "aqmlab"]
    script = tmp_path / "script"
    script.write_bytes(subprocess.run(command, env=environment, capture_output=True, check=True).stdout)
    assert "_AQMLAB_COMPLETE" in script.read_text(encoding="utf-8")
    subprocess.run([shell, "-n", script], check=True)


def test_fish_completes_with_the_summary_of_a_command() -> None:
    environment = {"_AQMLAB_COMPLETE": "complete_fish", "_TYPER_COMPLETE_FISH_ACTION": "get-args"}
    environment |= {"_TYPER_COMPLETE_ARGS": "aqmlab doc"}
    command = [sys.executable, "-m", "aqmlab"]
    done = subprocess.run(command, env=os.environ | environment, capture_output=True, text=True, check=True)
    assert done.stdout == "doctor\tCheck what this machine can run.\n"


def test_no_class_is_executed(tmp_path: Path) -> None:
    (tmp_path / "evil.py").write_text(
        "import aqmlab\nopen('executed', 'w').close()\n\n\nclass Evil(aqmlab.AQM):\n"
        "    target = aqmlab.param(0.02, 's', 'Target')\n    p = aqmlab.signal()\n\n"
        "    def on_enqueue(self, packet, queue):\n        return aqmlab.DROP\n"
    )
    (tmp_path / "evil.toml").write_text(
        '[aqm]\nname = "evil.py:Evil"\ntarget = "5 ms"\n[dumbbell]\n[[traffic]]\nname = "mine"\n'
    )
    assert offered(tmp_path, "run", "evil.toml", "--set", "aqm.t") == ["aqm.target="]
    assert offered(tmp_path, "run", "evil.toml", "--class", "m") == ["mine"]
    assert offered(tmp_path, "run", "evil.toml", "--link", "b") == ["bottleneck"]
    assert not (tmp_path / "executed").exists()
