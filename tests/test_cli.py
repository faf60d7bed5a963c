"""The command line: exit codes, output streams, and the files it leaves behind."""

import json
import os
import platform
import re
import signal
import subprocess
import sys
import time
import unicodedata
from pathlib import Path
from typing import Any

import psutil
import pytest
import typer
from conftest import SMALL, Cli
from typer.core import TyperOption

from aqmlab import disciplines
from aqmlab.cli.app import app
from aqmlab.reports import text as table


def no_control_characters(text: str) -> bool:
    return not any(unicodedata.category(character) == "Cc" for character in text.replace("\n", ""))


def test_json_is_exactly_one_document(cli: Cli, small_file: Path) -> None:
    done = cli("run", small_file, "--json")
    assert (done.returncode, done.stderr) == (0, "")
    document = json.loads(done.stdout)
    assert document["seeds"] == [7]
    assert document["metrics"] == document["runs"][0]["metrics"]
    assert document["classes"]["long"]["goodput"] > 0
    assert document["engine"]["packets"] > 0
    assert "NaN" not in done.stdout
    assert "Infinity" not in done.stdout


def test_options_change_the_scenario(quick_cli: Cli, small_file: Path) -> None:
    done = quick_cli(
        "run", small_file, "--aqm", "pi:q_ref=9", "--set", "traffic.long.count=3", "--seed", "11", "--json"
    )
    document = json.loads(done.stdout)
    assert document["seeds"] == [11]
    assert document["scenario"]["aqm"]["q_ref"] == 9
    assert document["scenario"]["traffic"][0]["count"] == 3


def test_one_target_serves_a_comparison(quick_cli: Cli, small_file: Path) -> None:
    disciplines = ["--aqm", "lred", "--aqm", "pi", "--aqm", "droptail"]
    done = quick_cli("compare", small_file, *disciplines, "--set", "aqm.q0=13", "--json")
    assert done.returncode == 0, done.stderr
    results = json.loads(done.stdout)["results"]
    assert results["pi"]["scenario"]["aqm"]["q_ref"] == 13
    assert results["droptail"]["scenario"]["aqm"] == {"name": "droptail"}


def test_all_is_every_discipline_and_goes_with_others(quick_cli: Cli, small_file: Path) -> None:
    others = ["--aqm", "lred", "--aqm", "pi:q_ref=9"]
    done = quick_cli("compare", small_file, "--aqm", "all", *others, "--seeds", "2")
    assert (done.returncode, done.stderr) == (0, "")
    labels = [*disciplines(), "pi:q_ref=9"]
    rows = [line.split()[0] for line in done.stdout.splitlines()[4:] if line and not line.startswith(" ")]
    assert rows[: len(labels)] == labels
    assert max(map(len, done.stdout.splitlines())) <= table.WIDTH


def test_out_of_a_run_holds_everything(cli: Cli, small_file: Path, tmp_path: Path) -> None:
    done = cli("run", small_file, "--json", "--out", "out/deep")
    assert done.returncode == 0, done.stderr
    assert done.stderr.startswith("written to out/deep")
    names = {file.name for file in (tmp_path / "out/deep").iterdir()}
    assert names == {"result.json", "scenario.toml", "series-7.parquet", "figure.png", "figure.svg", "report.html"}
    written = json.loads((tmp_path / "out/deep/result.json").read_text())
    assert list(written.pop("files")) == ["series-7.parquet", "scenario.toml"]
    assert len(written.pop("sha256")) == 64
    assert written == json.loads(done.stdout)


def test_out_of_a_comparison_has_a_folder_for_each(quick_cli: Cli, small_file: Path, tmp_path: Path) -> None:
    for _ in range(2):  # the second time files are replaced
        done = quick_cli("compare", small_file, "--aqm", "lred", "--aqm", "pi:q_ref=9", "--out", "out")
        assert (done.returncode, done.stderr) == (0, "")
        assert no_control_characters(done.stdout)
    names = {file.relative_to(tmp_path / "out").as_posix() for file in (tmp_path / "out").rglob("*") if file.is_file()}
    assert names == {
        "comparison.json",
        "figure.png",
        "figure.svg",
        "report.html",
        "tradeoff.png",
        "tradeoff.svg",
        *(f"{one}/{name}" for one in ("lred", "pi_q_ref=9") for name in ("result.json", "scenario.toml")),
        *(f"{one}/series-7.parquet" for one in ("lred", "pi_q_ref=9")),
    }


@pytest.mark.parametrize(
    ("arguments", "complaint"),
    [
        (["run"], "SCENARIO"),
        (["run", "nowhere.toml"], "nowhere.toml"),
        (["run", ""], "'': must be the name of a file"),
        (["run", "\x1b[31m"], "\\x1b[31m: no such file"),
        (["validate", "\x1b[31m"], "\\x1b[31m: no such file"),
        (["run", "small.toml", "--seed", "1", "--seeds", "2"], "--seed or --seeds"),
        (["run", "small.toml", "--seeds", "0"], "--seeds"),
        (["run", "small.toml", "--jobs", "0"], "--jobs"),
        (["run", "small.toml", "--set", "duration"], "PATH=VALUE"),
        (["run", "small.toml", "--set", "traffic.lng.count=1"], "long"),
        (["run", "small.toml", "--set", "duration=NaN"], "duration"),
        (["run", "small.toml", "--set", "duration=-1 s"], "duration"),
        (["run", "small.toml", "--set", "traffic.long.count=1000000000000"], "count"),
        (["run", "small.toml", "--aqm", "lrd"], "lred"),
        (["run", "small.toml", "--aqm", "lred:beta=-1"], "beta"),
        (["run", "small.toml", "--surprise"], "--surprise"),
        (["run", "small.toml", "--set", "seed=1", "--set", "seed =2"], "seed given twice"),
        (["run", "small.toml", "--set", ".".join(["a"] * 12_000) + "=1"], "nested too deep"),
        (["run", "small.toml", "--aqm", "fq:aqm=" * 10_000 + "codel"], "nested too deep"),
        (["sweep", "small.toml", "--vary", ".".join(["a"] * 12_000) + "=1"], "--vary a.a"),
        (["run", "small.toml", "--set", "title=\udcff"], "--set"),
        (["compare", "small.toml", "--aqm", "pi\udcff"], "--aqm"),
        (["sweep", "small.toml", "--vary", "aqm.q0\udcff=1"], "--vary"),
        (["compare", "small.toml"], "--aqm"),
        (["compare", "small.toml", "--aqm", "lred", "--aqm", "lred:q0=20"], "lred and lred:q0=20 are the same"),
        (
            ["compare", "small.toml", "--aqm", "pi", "--aqm", "rem", "--set", "aqm=red"],
            "select queue disciplines with --aqm",
        ),
        (
            ["compare", "small.toml", "--aqm", "pi", "--aqm", "rem", "--set", "aqm.name=red"],
            "select queue disciplines with --aqm",
        ),
        (
            ["compare", "parking-lot", "--aqm", "pi", "--set", "link.first.aqm=red"],
            "select queue disciplines with --aqm",
        ),
        (
            ["compare", "parking-lot", "--aqm", "pi", "--set", "link.first.aqm.name=red"],
            "select queue disciplines with --aqm",
        ),
        (["run", "small.toml", "--aqm", ""], "--aqm"),
        (["run", "small.toml", "--seeds", "100001"], "--seeds': 100001: must be at most 100000"),
        (["sweep", "small.toml", "--seeds", "100001"], "--seeds': 100001: must be at most 100000"),
        (["reproduce", "lred", "--seeds", "100001"], "--seeds': 100001: must be at most 100000"),
        (["fluid", "small.toml", "--jobs", "2"], "applies only with --packet-seeds"),
        (["run", "small.toml", "--out", "small.toml"], "small.toml: not a folder"),
        (["run", "small.toml", "--set", "duration=1e6 s", "--out", "small.toml/out"], "small.toml/out: not a folder"),
        (["compare", "small.toml", "--aqm", "pi", "--set", "aqm.bta=1"], "bta"),
        (["run", "small.toml", "--set", "traffic.long.rate=1 Mbit/s"], 'this entry\'s is "ftp"'),
        (["run", "small.toml", "--set", 'traffic.long.active=["3 s", "2 s"]'], "an earlier to a later time"),
        (["run", "small.toml", "--set", "dumbbell.loss=2"], "a probability in [0, 1]"),
        (["show", "lrd"], "lred"),
        (["list", "aqm"], "aqms"),
    ],
)
def test_bad_usage_exits_2_and_says_why(quick_cli: Cli, small_file: Path, arguments: list[str], complaint: str) -> None:
    done = quick_cli(*arguments)
    assert done.returncode == 2
    assert done.stdout == ""
    assert complaint in done.stderr
    assert "Traceback" not in done.stderr
    assert no_control_characters(done.stderr)


def options() -> list[tuple[list[str], TyperOption]]:
    """List every option of every command that takes one value, with the command's words."""
    found: list[tuple[list[str], TyperOption]] = []

    def look(command: Any, words: list[str]) -> None:
        for name, inside in getattr(command, "commands", {}).items():
            look(inside, [*words, name])
        single = (one for one in command.params if isinstance(one, TyperOption) and not (one.is_flag or one.multiple))
        found.extend((words, one) for one in single)

    look(typer.main.get_command(app), [])
    return found


@pytest.mark.parametrize(
    ("words", "option"), options(), ids=lambda one: " ".join(one) if isinstance(one, list) else one.name
)
def test_an_option_that_takes_one_value_is_given_once(quick_cli: Cli, words: list[str], option: TyperOption) -> None:
    value = str(getattr(option.type, "choices", ["3"])[0])
    done = quick_cli(*words, *(["nothing.toml"] if words[0] != "design" else []), *[option.opts[0], value] * 2)
    assert done.returncode == 2
    assert option.opts[0] in done.stderr
    assert "given 2 times" in done.stderr


def test_an_option_has_one_form_in_all_commands() -> None:
    forms: dict[str, set[str]] = {}
    for words, option in options():
        if words[0] != "design":  # whose options are parameters of different models
            parts = option.metavar, type(option.type).__name__, getattr(option.type, "min", None)
            check = getattr(option.callback, "__name__", None)
            forms.setdefault(option.opts[0], set()).add(f"{parts} {check}")
    assert {name: found for name, found in forms.items() if len(found) > 1} == {}
    assert len(forms) > 10


@pytest.mark.parametrize("words", [[], ["design"]])
def test_the_list_of_commands_cuts_no_sentence(quick_cli: Cli, words: list[str]) -> None:
    listed = quick_cli(*words, "--help").stdout
    assert "Commands:" in listed
    assert "..." not in listed.partition("Commands:")[2]


def test_a_flag_given_twice_is_a_flag(quick_cli: Cli, small_file: Path) -> None:
    assert quick_cli("run", small_file, "--json", "--json").returncode == 0


def test_validate_names_file_line_and_key(quick_cli: Cli, small_file: Path, tmp_path: Path) -> None:
    broken = tmp_path / "broken.toml"
    broken.write_text(SMALL.replace("q0 = 20", "beta = -1"), encoding="utf-8")
    assert quick_cli("validate", small_file).returncode == 0
    done = quick_cli("validate", small_file, broken)
    line = 1 + SMALL[: SMALL.index("q0 = 20")].count("\n")
    assert done.returncode == 2
    assert "valid" in done.stdout
    assert f"broken.toml:{line}: aqm.beta = -1: must be" in done.stderr


def test_validate_counts_the_slots_of_cells(quick_cli: Cli, tmp_path: Path) -> None:
    cell = tmp_path / "lte.toml"
    text = 'duration = "1 h"\n[[cell]]\nbase = "b"\nusers = ["u"]\ncqi = 7\nslot = "0.5 ms"\n'
    cell.write_text(text + '[[traffic]]\nkind = "ping"\nfrom = "b"\nto = "u"\n', encoding="utf-8")
    assert "about 1.8e+04 packets, up to 7.2e+06 slots and" in quick_cli("validate", cell).stdout


def test_validate_says_what_a_file_extends_and_changes(quick_cli: Cli, small_file: Path, tmp_path: Path) -> None:
    own = tmp_path / "own.toml"
    own.write_text('extends = "small.toml"\naqm = "droptail"\nseed = 8\n', encoding="utf-8")
    above = tmp_path / "above.toml"
    above.write_text('extends = "own.toml"\n', encoding="utf-8")
    _, chain, *changes = quick_cli("validate", own).stdout.splitlines()  # and then the round trips
    assert chain == f"  extends {small_file}"
    assert "    seed = 8 (it was 7)" in changes
    assert "    aqm.q0 is gone; it was 20" in changes
    assert quick_cli("validate", above).stdout.splitlines()[1] == f"  extends {own}, which extends {small_file}"


@pytest.mark.skipif(not Path("/proc/self").exists(), reason="needs a folder in which nobody may write")
def test_a_folder_that_cannot_be_written_fails_before_the_run(quick_cli: Cli, small_file: Path) -> None:
    done = quick_cli("run", small_file, "--set", "duration=1e6 s", "--out", "/proc")
    assert done.returncode == 1
    assert "/proc" in done.stderr


@pytest.mark.parametrize("way", ["figure.svg", "series-7.parquet"])
def test_a_folder_in_the_way_of_a_file_is_found_before_the_run(
    quick_cli: Cli, small_file: Path, tmp_path: Path, way: str
) -> None:
    (tmp_path / "out" / way).mkdir(parents=True)
    done = quick_cli("run", small_file, "--set", "duration=1e6 s", "--out", "out")
    assert (done.returncode, done.stdout) == (2, "")
    assert f"out/{way}: in the way of {way}" in done.stderr


def test_a_store_that_cannot_be_written_is_found_before_the_run(
    quick_cli: Cli, small_file: Path, tmp_path: Path
) -> None:
    (tmp_path / "store").mkdir()
    (tmp_path / "store/journals").write_text("")
    done = quick_cli("sweep", small_file, "--set", "duration=1e6 s", "--store", "store")
    assert done.returncode == 1
    assert "store/journals" in done.stderr
    (tmp_path / "dangling").symlink_to("nowhere")
    done = quick_cli("sweep", small_file, "--set", "duration=1e6 s", "--store", "dangling")
    assert done.returncode == 2
    assert "dangling: not a folder" in done.stderr


def test_a_label_longer_than_a_files_name_has_a_folder(quick_cli: Cli, small_file: Path, tmp_path: Path) -> None:
    long = f"lred:q0=20.{'0' * 300}"
    done = quick_cli("compare", small_file, "--aqm", long, "--aqm", "pi", "--out", "out")
    assert (done.returncode, done.stderr) == (0, "")
    assert list(json.loads((tmp_path / "out/comparison.json").read_text())["results"]) == [long, "pi"]


def shell(line: str, folder: Path) -> "subprocess.CompletedProcess[bytes]":
    """Run a shell line with aqmlab as $A."""
    environment = os.environ | {"A": f"{sys.executable} -m aqmlab"}
    return subprocess.run(
        ["bash", "-c", line], cwd=folder, env=environment, capture_output=True, timeout=60, check=False
    )


@pytest.mark.parametrize(
    ("command", "status"),
    [
        ("run small.toml", 0),
        ("compare small.toml --aqm pi --aqm red", 0),
        ("sweep small.toml --vary aqm.q0=5,6", 0),
        ("fluid small.toml", 0),
        ("validate small.toml", 0),
        ("show lred", 0),
        ("run nowhere.toml", 2),
        ("run small.toml --surprise", 2),
        ("run small.toml --out /proc/x", 1),
    ],
)
def test_a_command_whose_messages_nobody_reads_ends_as_ever(
    small_file: Path, tmp_path: Path, command: str, status: int
) -> None:
    whole = shell(f"$A {command}", tmp_path)
    assert whole.returncode == status
    for nobody in ("2>&-", "2>/dev/full"):
        done = shell(f"rm -rf out; $A {command} {nobody}", tmp_path)
        assert (done.returncode, done.stdout) == (status, whole.stdout), nobody
    assert shell(f"$A {command} >&- 2>&- <&-", tmp_path).returncode == status


def test_files_are_written_though_their_reader_has_left(small_file: Path, tmp_path: Path) -> None:
    for command in ("run small.toml", "compare small.toml --aqm pi --aqm red", "fluid small.toml"):
        folder = command.split()[0]
        done = shell(f"$A {command} --out {folder} > /dev/full", tmp_path)
        assert (done.returncode, done.stderr) == (1, b"the standard output: No space left on device\n")
        assert (tmp_path / folder / "report.html").is_file()


def test_names_that_are_not_utf_8_are_names(small_file: Path, tmp_path: Path) -> None:
    odd = os.fsdecode(b"odd\xff")
    (tmp_path / f"{odd}.toml").write_bytes(small_file.read_bytes())
    options = "--vary aqm.q0=5,6 --store $'store\\xff'"
    for line in ("run $'odd\\xff.toml' --out $'run\\xff'", f"sweep $'odd\\xff.toml' {options}"):
        done = shell(f"$A {line}", tmp_path)
        assert (done.returncode, done.stderr) == (0, b"")
    assert (tmp_path / os.fsdecode(b"run\xff") / "report.html").is_file()
    assert (tmp_path / "out" / odd / "report.html").is_file()
    trace = SMALL.replace('kind = "ftp"', 'kind = "trace"\nfile = "trace.csv"').partition("count")[0]
    (tmp_path / odd).mkdir()
    (tmp_path / odd / "trace.csv").write_text("time,size\n0,100\n")
    (tmp_path / odd / "trace.toml").write_text(trace)
    done = shell("$A run $'odd\\xff/trace.toml'", tmp_path)
    assert done.returncode == 2
    assert b"its whole path is not UTF-8" in done.stderr


def test_a_scenario_may_come_from_the_standard_input(small_file: Path, tmp_path: Path) -> None:
    assert shell("$A run - < small.toml", tmp_path).stdout == shell("$A run small.toml", tmp_path).stdout
    assert shell("$A validate - < small.toml", tmp_path).stdout.startswith(b"-: valid")
    assert shell("$A sweep - < small.toml", tmp_path).returncode == 0
    assert (tmp_path / "out/stdin/sweep.json").is_file()
    done = shell("head -c 17000000 /dev/zero | $A run -", tmp_path)
    assert done.returncode == 2
    assert done.stderr.startswith(b"<stdin>: more than 16 MiB")
    assert b"<stdin>: not UTF-8" in shell("echo $'\\xff' | $A run -", tmp_path).stderr


def test_nobody_waits_for_a_pipe(small_file: Path, tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    for command in ("run pipe", "validate pipe", "sweep small.toml --cluster pipe"):
        done = shell(f"$A {command}", tmp_path)
        assert done.returncode == (1 if "cluster" in command else 2)
        assert b"pipe" in done.stderr
        assert b"must be a regular file" in done.stderr


@pytest.mark.parametrize("number", ["SIGINT", "SIGTERM"])
def test_a_late_signal_does_not_lose_what_was_finished(small_file: Path, tmp_path: Path, number: str) -> None:
    out = tmp_path / "out"
    program = (
        "import os, signal, sys\n"
        "from aqmlab import cli\n"
        "from aqmlab.reports import html as report\n"
        "whole = report.save\n"
        "def save(*arguments):\n"
        f"    os.kill(os.getpid(), signal.{number})\n"
        "    whole(*arguments)\n"
        "report.save = save\n"
        f"sys.argv = ['aqmlab', 'run', {str(small_file)!r}, '--out', {str(out)!r}]\n"
        "cli.main()\n"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, timeout=60, check=False)
    assert (done.returncode, done.stderr) == (0, "")
    assert (out / "report.html").is_file()


def wait_until_it_runs(process: "subprocess.Popen[str]") -> None:
    """Wait until a command has computed for longer than it takes to start, even if it compiles all modules first."""
    while psutil.Process(process.pid).cpu_times().user < 4:
        assert process.poll() is None
        time.sleep(0.05)


@pytest.mark.parametrize(
    ("number", "status"),
    [(signal.SIGINT, 130), (signal.SIGTERM, 143), (signal.SIGHUP, 129)],
    ids=["SIGINT", "SIGTERM", "SIGHUP"],
)
def test_a_signal_stops_a_command_in_order(small_file: Path, number: signal.Signals, status: int) -> None:
    command = [sys.executable, "-m", "aqmlab", "run", str(small_file), "--set", "duration=1e6 s", "--json"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
        wait_until_it_runs(process)
        process.send_signal(number)
        try:
            out, err = process.communicate(timeout=20)
        finally:
            process.kill()
    assert process.returncode == status
    assert out == ""
    assert err == "interrupted: 0 of 1 runs finished\n"


def test_a_signal_that_the_caller_ignores_stays_ignored() -> None:
    program = (
        "import signal, sys\n"
        "from aqmlab import cli\n"
        "signal.signal(signal.SIGHUP, signal.SIG_IGN)\n"  # as nohup does
        "sys.argv = ['aqmlab', '--help']\n"
        "try:\n"
        "    cli.main()\n"
        "except SystemExit:\n"
        "    print(signal.getsignal(signal.SIGHUP) is signal.SIG_IGN, signal.getsignal(signal.SIGTERM).__name__)\n"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, timeout=60, check=False)
    assert done.stdout.splitlines()[-1:] == ["True _interrupt"], done.stderr


def test_the_library_leaves_signals_to_its_caller(small_file: Path) -> None:
    program = (
        "import signal, sys\n"
        "import aqmlab, aqmlab.cli.app\n"
        "before = [signal.getsignal(number) for number in signal.valid_signals()]\n"
        "aqmlab.run(aqmlab.Scenario.load(sys.argv[1]))\n"
        "assert before == [signal.getsignal(number) for number in signal.valid_signals()]\n"
        "assert signal.getsignal(signal.SIGTERM) is signal.getsignal(signal.SIGHUP) is signal.SIG_DFL\n"
    )
    command = [sys.executable, "-c", program, str(small_file)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)
    assert (done.returncode, done.stderr) == (0, "")


def test_interrupting_a_comparison_keeps_what_was_finished(small_file: Path, tmp_path: Path) -> None:
    out, several = tmp_path / "out", ["codel", "fq_codel", "pie", "red", "droptail", "blue"]
    options = ["--seeds", "1000", "--set", "record.series=false", "--set", "duration=20 s"]
    options += [word for name in several for word in ("--aqm", name)]
    command = [sys.executable, "-m", "aqmlab", "compare", str(small_file), *options, "--out", str(out)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
        try:
            wait_until_it_runs(process)
            process.send_signal(signal.SIGINT)
            printed, err = process.communicate(timeout=90)
        finally:
            process.kill()
    assert process.returncode == 130
    assert err.startswith("interrupted: ")
    assert f"saved in {out}" in err
    results = json.loads((out / "comparison.json").read_text())["results"]
    assert list(results) == several
    counts = [len(result["seeds"]) for result in results.values()]
    assert max(counts) - min(counts) <= 2, "all have about as many"
    assert "Mean queue" in printed
    assert (out / "report.html").is_file()


def test_a_reader_that_leaves_is_no_error_message(small_file: Path) -> None:
    read, write = os.pipe()
    os.close(read)
    try:
        done = subprocess.run(
            [sys.executable, "-m", "aqmlab", "list"], stdout=write, stderr=subprocess.PIPE, text=True, check=False
        )
    finally:
        os.close(write)
    assert done.stderr == ""
    assert done.returncode == 1


def test_lists_and_pages_have_no_control_characters(quick_cli: Cli) -> None:
    for arguments in (
        ["list"],
        ["list", "aqms"],
        ["show", "lred"],
        ["show", "tcp:ns2.35"],
        ["show", "ftp"],
        ["--help"],
    ):
        done = quick_cli(*arguments)
        assert (done.returncode, done.stderr) == (0, "")
        assert done.stdout
        assert no_control_characters(done.stdout)


def test_schema_is_a_json_schema(quick_cli: Cli) -> None:
    assert "$schema" in json.loads(quick_cli("schema").stdout)


def test_version_is_printed(quick_cli: Cli) -> None:
    from aqmlab import __version__, _core

    version, *facts = quick_cli("--version").stdout.splitlines()
    assert re.fullmatch(rf"{re.escape(__version__)}( \(profile-guided\))?", version)
    assert facts == [
        f"packet engine: {_core.engine_version}",
        f"fluid engine: {_core.fluid_version}",
        f"Python: {platform.python_version()} ({platform.python_implementation()})",
        f"system: {platform.platform()}",
    ]
