"""Disciplines of Linux among ours, ``kernel:WORDS``, with an engine that plays the part of Linux."""

from collections.abc import Mapping
from pathlib import Path

import pytest
from conftest import Cli
from matplotlib.figure import Figure

import aqmlab
from aqmlab import Comparison, EngineUnavailable, Scenario, ScenarioError
from aqmlab.execute import linux
from aqmlab.execute.engine import Engine
from aqmlab.execute.task import Task
from aqmlab.figures import matplotlib, runs

PIE = "kernel:pie limit 1000 target 20ms"


def test_a_discipline_of_linux_stands_beside_ours(tiny: Scenario, fake: list[Task]) -> None:
    found = aqmlab.compare(tiny, aqms=["lred", "kernel:fq_codel", PIE], seeds=2, engines=["linux"])
    assert list(found) == ["lred", "kernel:fq_codel", PIE]
    assert [result.engine_name for result in found.values()] == [
        "linux",
        "linux:qdisc=fq_codel",
        "linux:qdisc=pie limit 1000 target 20ms",
    ]
    assert [result.discipline for result in found.values()] == list(found)
    assert {task.label: str(task.engine) for task in fake}["kernel:fq_codel"] == "linux:qdisc=fq_codel"
    text = repr(found)
    assert "(seeds 7, 8; engine linux; aqmlab" in text
    assert "Differences from lred, seed by seed:" in text


def test_it_runs_on_the_linux_engine_only_and_is_compared_where_two_have_it(
    tiny: Scenario, fake: list[Task], tmp_path: Path
) -> None:
    engines = ["packet", "fluid", "linux:ip=6", "linux"]
    found = aqmlab.compare(tiny, aqms=["droptail", "kernel:pfifo"], seeds=2, engines=engines)
    assert list(found) == [
        *(f"droptail, {engine}" for engine in engines),
        "kernel:pfifo, linux:ip=6",
        "kernel:pfifo, linux",
    ]
    assert found["kernel:pfifo, linux:ip=6"].engine_name == "linux:ip=6,qdisc=pfifo"
    pairs = {(row["label"], row["to"]) for row in found.differences().to_dicts()}
    assert pairs == {
        *((f"droptail, {engine}", "droptail, packet") for engine in engines[1:]),
        ("kernel:pfifo, linux", "kernel:pfifo, linux:ip=6"),
        *((f"kernel:pfifo, {engine}", f"droptail, {engine}") for engine in engines[2:]),
    }
    found.save(tmp_path)
    assert Comparison.load(tmp_path).differences().equals(found.differences())


# The option makes the kernel's discipline another engine for ours.
def test_the_option_is_compared_with_our_discipline(tiny: Scenario, fake: list[Task]) -> None:
    found = aqmlab.compare(tiny, aqms=["pie"], engines=["packet", "linux:qdisc=pie limit 1000"])
    assert set(found.differences()["to"]) == {"pie, packet"}
    assert set(found.differences()["label"]) == {"pie, linux:qdisc=pie limit 1000"}


def test_figures_have_a_panel_for_it_and_the_colour_of_its_engine(tiny: Scenario, fake: list[Task]) -> None:
    found = aqmlab.compare(tiny, aqms=["lred", "kernel:fq_codel"], engines=["packet", "linux"])
    colour = runs.colours(found)
    assert colour["lred, linux"] == colour["kernel:fq_codel, linux"] != colour["lred, packet"]
    drawn = matplotlib.draw(runs.comparison(found), Figure())
    panels = {axes.get_title(loc="left"): axes for axes in drawn.get_axes()}
    assert "linux, seed 7" in [line.get_label() for line in panels["kernel:fq_codel"].lines]
    alone = aqmlab.compare(tiny, aqms=["lred", "kernel:fq_codel"], engines=["linux"])
    assert [panel.title for panel in runs.comparison(alone).rows[0][0].panels] == ["lred", "kernel:fq_codel"]
    assert len(set(runs.colours(alone).values())) == 2


@pytest.mark.parametrize(
    ("specs", "engines", "message"),
    [
        (["kernel:pie"], ["packet"], "kernel:pie: for the kernel's disciplines the engine must be linux: it is packet"),
        (["lred", "kernel:pie"], ["packet", "fluid"], "one of the engines must be linux: they are packet, fluid"),
        (["kernel:pie"], ["linux:qdisc=red"], "kernel:pie: engine linux:qdisc=red: qdisc is given twice"),
        (["kernel:"], ["linux"], "qdisc = '': must be a discipline in tc's words"),
        (["kernel:scenario"], ["linux"], "'scenario' is no discipline of the kernel"),
        (["kernel:pie", "kernel: pie"], ["linux"], "kernel:pie and kernel: pie are the same"),
    ],
)
def test_what_cannot_be_run_is_refused(
    tiny: Scenario, fake: list[Task], specs: list[str], engines: list[str], message: str
) -> None:
    with pytest.raises(ValueError, match="kernel") as refused:
        aqmlab.compare(tiny, aqms=specs, engines=engines)
    assert message in str(refused.value)
    assert not fake


SHORT = ("--set", "duration=2 s", "--set", "warmup=0.5 s")


def test_compare_warns_of_the_engines_without_it(
    quick_cli: Cli, small_file: Path, fake: list[Task], tmp_path: Path
) -> None:
    disciplines = ("--aqm", "lred", "--aqm", "kernel:fq_codel", "--aqm", PIE)
    done = quick_cli("compare", small_file, *SHORT, *disciplines, "--engines", "packet,fluid,linux", "--out", "out")
    assert done.returncode == 0, done.stderr
    lacking = "not on packet, fluid: only the linux engine has the kernel's disciplines"
    assert f"warning: kernel:fq_codel: {lacking}\nwarning: {PIE}: {lacking}\n" in done.stderr
    names = [*(f"lred, {engine}" for engine in ("packet", "fluid", "linux")), "kernel:fq_codel, linux", f"{PIE}, linux"]
    assert list(Comparison.load(tmp_path / "out")) == names
    assert "kernel:fq_codel, linux" in (tmp_path / "out" / "report.html").read_text(encoding="utf-8")


def test_run_has_it_alone(quick_cli: Cli, small_file: Path, fake: list[Task]) -> None:
    done = quick_cli("run", small_file, *SHORT, "--engine", "linux", "--aqm", "kernel:fq_codel")
    assert done.returncode == 0, done.stderr
    assert "(seed 7; engine linux; aqmlab" in done.stdout
    assert "\nkernel:fq_codel " in done.stdout
    assert [str(task.engine) for task in fake] == ["linux:qdisc=fq_codel"]


def test_settings_do_not_reach_it(quick_cli: Cli, small_file: Path, fake: list[Task]) -> None:
    compare = ("compare", small_file, *SHORT, "--engines", "linux", "--aqm", "kernel:fq_codel")
    done = quick_cli(*compare, "--aqm", "lred", "--set", "aqm.q0=30")
    assert done.returncode == 0, done.stderr
    done = quick_cli(*compare, "--set", "aqm.q0=30")
    assert done.returncode == 2
    assert "no discipline of kernel:fq_codel has q0" in " ".join(done.stderr.split())


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["run", "--aqm", "kernel:pie"], "--engine: kernel:pie: for the kernel's disciplines the engine must be linux"),
        (["compare", "--aqm", "kernel:pie"], "--engines: kernel:pie: for the kernel's disciplines the engine must be"),
        (["compare", "--aqm", "kernel:pie", "--engines", "packet,fluid"], "--engines: kernel:pie: for the kernel's"),
        (["sweep", "--aqm", "kernel:pie", "--vary", "duration=1 s,2 s"], "the engine must be linux: it is packet"),
        (["fluid", "--aqm", "kernel:pie"], "must be NAME"),
    ],
)
def test_commands_refuse_it_without_the_linux_engine(
    quick_cli: Cli, small_file: Path, arguments: list[str], message: str
) -> None:
    done = quick_cli(arguments[0], small_file, *arguments[1:])
    assert done.returncode != 0
    assert message in " ".join(done.stderr.replace("│", " ").split())


def test_it_is_not_left_out_where_linux_is_unavailable(
    quick_cli: Cli, small_file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def missing(scenario: Scenario, options: Mapping[str, str]) -> None:
        raise EngineUnavailable("the linux engine's programs are not built: make them")

    monkeypatch.setattr(linux, "check", missing)
    engines = ("--engines", "packet,linux")
    done = quick_cli("compare", small_file, *SHORT, "--aqm", "lred", "--aqm", "kernel:pie", *engines)
    assert (done.returncode, done.stderr) == (1, "the linux engine's programs are not built: make them\n")
    done = quick_cli("compare", small_file, *SHORT, "--aqm", "lred", "--aqm", "pi", *engines)
    assert done.returncode == 0
    assert "without the linux engine" in done.stderr


def test_only_the_engine_that_runs_it_must_be_able_to(
    tiny: Scenario, fake: list[Task], monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[str] = []

    def check(scenario: Scenario, options: Mapping[str, str]) -> None:
        asked.append(options["qdisc"])
        if options["qdisc"] == "sfq":
            raise ScenarioError("the link's rate is not constant")

    monkeypatch.setattr(linux, "check", check)
    aqmlab.compare(tiny, aqms=["lred", "kernel:fq_codel"], engines=["packet", "linux"])
    assert asked == ["scenario", "fq_codel"]
    with pytest.raises(ScenarioError, match="not constant"):
        aqmlab.compare(tiny, aqms=["kernel:sfq"], engines=["linux"])


def test_a_sweep_keeps_its_runs_apart(tiny: Scenario, fake: list[Task], tmp_path: Path) -> None:
    counts = []
    for aqms in (["droptail", "kernel:pfifo"], ["kernel:pfifo", PIE]):
        swept = aqmlab.sweep(
            tiny, vary={"traffic.long.count": [2, 3]}, aqms=aqms, seeds=2, store=tmp_path / "store", engine="linux"
        )
        assert swept.aqms == tuple(aqms)
        assert swept.engine_name == "linux"
        assert swept.frame["aqm"].unique(maintain_order=True).to_list() == aqms
        counts.append((len(swept.frame), swept.simulated))
    assert counts == [(8, 8), (8, 4)]
    names = {str(task.engine) for task in fake}
    assert names == {"linux", "linux:qdisc=pfifo", "linux:qdisc=pie limit 1000 target 20ms"}


def test_the_kernels_discipline_is_part_of_the_engines_version(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(linux, "_digest", lambda file, remedy: file.name)
    plain, one, other = (Engine.parse(f"linux{option}").version for option in ("", ":qdisc=pie", ":qdisc=red"))
    assert one == f"{plain},qdisc=pie"
    assert other != one
