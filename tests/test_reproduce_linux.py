"""The command ``aqmlab reproduce --engine linux``, with an engine that plays the part of Linux."""

import json
import re
from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from conftest import Cli

from aqmlab import ScenarioError
from aqmlab.execute import linux, packet
from aqmlab.execute.engine import PACKETS_A_SECOND, Engine
from aqmlab.execute.task import Outcome, Task, opened, packed
from aqmlab.files import read_json
from aqmlab.scenario import Scenario
from aqmlab_papers import Paper
from aqmlab_papers.describe import library
from aqmlab_papers.judge.findings import assess
from aqmlab_papers.run import sweep
from aqmlab_papers.run.estimate import estimates
from aqmlab_papers.run.sweep import SIMULATED, Effort
from aqmlab_papers.show import pages
from aqmlab_papers.show.document import document

LINUX = Engine("linux")
IMPACT = library.load("impact")
SHORT = {"duration": "4 s", "warmup": "2 s", "traffic.*.start": "uniform(0 s, 1 s)"}
FEW = {f"traffic.{entry}.{key}": 1 for entry in ("ftp", "gif", "text") for key in ("connections", "objects")}

Watch = Callable[[float], bool]


@pytest.fixture
def fake(monkeypatch: pytest.MonkeyPatch) -> list[Task]:
    """Let the linux engine be the packet engine with a tenth less goodput; return its tasks."""
    tasks: list[Task] = []

    def perform(task: Task, options: Mapping[str, str], watch: Watch) -> Outcome | None:
        tasks.append(task)
        outcome = packet.perform(task, {}, watch)
        assert outcome
        found = opened(outcome.payload, len(task.key))[1]
        for one in found["classes"].values():
            one["goodput"] *= 0.9
        return replace(outcome, payload=packed(task, json.dumps(found)))

    monkeypatch.setattr(linux, "perform", perform)
    monkeypatch.setattr(linux, "check", lambda scenario, options: scenario.check())
    monkeypatch.setattr(linux, "version", lambda options: f"fake {options['clock']}")
    return tasks


@pytest.fixture
def brief(monkeypatch: pytest.MonkeyPatch) -> Paper:
    """Let the study have runs of seconds, and of experiments 1 to 8 only."""
    (testbed,) = IMPACT.measurements
    short = replace(
        IMPACT,
        experiments=[
            replace(one, settings={**one.settings, **SHORT, **FEW}) for one in IMPACT.experiments if one.name in DONE
        ],
        measurements=[replace(testbed, settings={**testbed.settings, **SHORT, **FEW}, quick={}, full={})],
        calibration=None,
        variants=(),
    )
    load = library.load
    monkeypatch.setattr(library, "load", lambda name: short if name == "impact" else load(name))
    return short


DONE = ("tcp", "mixed")

WORKS = "; what this engine can repeat: " + " or ".join(
    f"aqmlab reproduce {name} --engine linux" for name in ("impact", "lred", "survey")
)


def measured(paper: Paper, store: Path, **options: Any) -> dict[str, Any]:
    effort = Effort(seeds=1, most_seeds=1, engine=LINUX, **options)
    return document(assess(sweep.run(paper.on("linux", only=effort.only), effort, store, jobs=1)), {}, "")


def test_every_scenario_of_the_testbed_has_the_kernels_tcp_and_else_the_papers() -> None:
    own, here = IMPACT, IMPACT.on("linux", full=True)
    assert [one.name for one in here.experiments] == ["tcp", "presets", "mixed", "split"]
    (setting,) = sweep.settings(here, Effort(seeds=2, engine=LINUX))
    for experiment in here.experiments:
        study = setting.study(here, experiment)
        assert study
        assert study.engine == LINUX
        assert study.scenario.duration == 660
        resolved = study.scenario.resolved
        tcps = [entry["tcp"] for entry in resolved["traffic"] if "tcp" in entry]
        assert {(tcp["flavour"], tcp["congestion"], tcp["initial_window"]) for tcp in tcps} == {("rack", "reno", 2)}
        copy = Scenario.load(next(one for one in own.experiments if one.name == experiment.name).scenario).resolved
        assert resolved["dumbbell"] == copy["dumbbell"]
        assert resolved["aqm"] == copy["aqm"]


@pytest.mark.parametrize("name", ["impact", "survey"])
def test_what_is_described_is_what_the_linux_engine_can_do(name: str) -> None:
    """The check of the real engine, without a run: its router's, where it is built."""
    if not (linux.BIN / "aqmlab-router").exists():
        pytest.skip("the linux engine's router is not built: make setup")
    here = library.load(name).on("linux", full=True)
    (setting,) = sweep.settings(here, Effort(seeds=1, engine=LINUX))
    for experiment in here.experiments:
        study = setting.study(here, experiment)
        assert study
        for label in study.variants:
            try:
                LINUX.check(study.scenario_at(label, study.design.points[0]))
            except ScenarioError:
                raise
            except OSError as error:
                pytest.skip(str(error))


def test_only_the_measured_figures_need_runs_and_only_on_request_the_rare_ones() -> None:
    here = [{one.name for one in IMPACT.on("linux", only=only).experiments} for only in ((), ("fig4",), ("split",))]
    assert here == [{"tcp", "mixed"}, {"tcp", "mixed"}, {"tcp", "mixed", "split"}]


def test_claims_are_judged_on_both_engines(brief: Paper, fake: list[Task], tmp_path: Path) -> None:
    first = measured(brief, tmp_path)
    assert {task.engine for task in fake} == {LINUX}
    assert first["engine_name"] == "linux"
    assert first["measured"]["engines"] == ["packet", "linux"]
    rows = {one["claim"]: one for one in first["measured"]["claims"]}
    assert rows["red-drops-udp-by"]["printed"] == "5 to 12 % higher"
    packets, here = rows["red-drops-udp-by"]["rulings"]
    assert packets is None, "the store has no simulation"
    assert here["checks"]
    assert rows["red-runs"]["rulings"] == [None, None]
    why = {one["claim"]: one["missing"] for one in first["not_judged"]}
    assert why["red-runs"] == "split was not measured on linux: --full does it"
    assert "the simulation simulation is not in the store" in why["red-drops-more"]
    assert why["gred-i-steady"].startswith("not measured on linux")

    sweep.run(brief, Effort(seeds=1, most_seeds=1, quick=True), tmp_path, jobs=1)
    count = len(fake)
    second = measured(brief, tmp_path)
    assert len(fake) == count, "the store has the runs"
    rows = {one["claim"]: one for one in second["measured"]["claims"]}
    packets, here = rows["testbed-levels"]["rulings"]
    goodputs = [
        next(check["value"] for check in one["beside"] if check["effect"] == "Exp6: TCP goodput, RED")
        for one in (packets, here)
    ]
    assert goodputs[0] != goodputs[1]


def test_figures_have_the_curves_of_both_engines(brief: Paper, fake: list[Task], tmp_path: Path) -> None:
    effort = Effort(seeds=1, most_seeds=1, engine=LINUX, only=frozenset({"fig4"}))
    sweep.run(brief, Effort(seeds=1, most_seeds=1, only=frozenset({"fig4"})), tmp_path, jobs=1)
    findings = sweep.run(brief.on("linux", only=effort.only), effort, tmp_path, jobs=1)
    assert set(findings.evidence) == {"paper", SIMULATED}
    (figure,) = assess(findings).drawn
    names = ["Tail Drop, linux", "RED, linux", "Tail Drop, packet", "RED, packet"]
    assert [curve.name for curve in figure.curves] == names
    assert all(mine > 0 for curve in figure.curves for mine in curve.y)


def test_the_command_writes_a_folder_of_its_own_and_does_nothing_twice(
    brief: Paper, fake: list[Task], quick_cli: Cli, tmp_path: Path
) -> None:
    command = ("reproduce", "impact", "--engine", "linux", "--seeds", "1", "--only", "fig4", "--jobs", "1")
    done = quick_cli(*command)
    assert done.returncode == 0
    assert "22 of 22 runs to do, " in done.stderr
    folder = tmp_path / "out/reproduce/impact-linux"
    report = (folder / "report.html").read_text(encoding="utf-8")
    assert '<section id="measured">' in report
    assert "; engine linux" in report
    assert read_json(folder / "findings.json")["effort"]["engine"] == "linux"
    count = len(fake)
    again = quick_cli(*command)
    assert "up to date" in again.stdout
    assert "runs to do" not in again.stderr
    assert len(fake) == count == 22


def test_a_page_is_written_on_the_measurements(brief: Paper, fake: list[Task], quick_cli: Cli, tmp_path: Path) -> None:
    done = quick_cli("reproduce", "impact", "--engine", "linux", "--seeds", "1", "--jobs", "1")
    assert done.returncode == 0
    docs = tmp_path / "docs"
    assert pages.write(tmp_path / "out/reproduce/impact-linux", docs) == ["impact-linux"]
    text = (docs / "claims/impact-linux.md").read_text(encoding="utf-8")
    assert "`aqmlab reproduce impact --engine linux` makes" in text
    assert re.search(r"^\| red-for-few \|.*\| Figure 4 \|$", text, re.MULTILINE)
    assert pages.listed(docs / "claims/impact-linux.md")["small-deviations"] == "not testable"
    assert not (docs / "README.md").exists(), "it has the papers as simulated"


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("raqm", "--engine", "linux"), "raqm cannot be reproduced with engine linux: its experiments are simulations"),
        (("impact", "--engine", "fluid"), "the engine that can repeat some of its experiments is linux"),
        (("raqm", "--engine", "linux"), WORKS),
        (("all", "--engine", "linux"), WORKS),
        (("--engine", "linux"), f"applies only to a PAPER{WORKS}"),
        (("--engine", "fluid"), "applies only to a PAPER; no paper has anything that fluid can repeat"),
        (("impact", "--full"), "use --seeds, or --engine linux"),
        (("impact", "--engine", "linux", "--full", "--quick"), "--quick is the opposite"),
        (("impact", "--engine", "linux", "--only", "fig7"), "impact has fig4, fig5, fig6, fig8, levels"),
    ],
)
def test_what_cannot_be_is_refused_with_the_reason(
    arguments: tuple[str, ...], message: str, quick_cli: Cli, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "400")
    done = quick_cli("reproduce", *arguments)
    assert done.returncode == 2
    assert message in done.stderr


def test_the_estimate_knows_that_guests_are_slow(fake: list[Task], tmp_path: Path) -> None:
    paper, effort = IMPACT.on("linux"), Effort(seeds=3, most_seeds=3, engine=LINUX)
    (found,) = estimates([paper], effort, tmp_path, speed=PACKETS_A_SECOND)
    assert (found.runs, found.missing) == (66, 66)
    minutes = found.runs * 3
    assert 7 < found.seconds / minutes < 40
