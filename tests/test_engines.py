"""Engines: their names and options, and the comparison of what they find."""

import json
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

import numpy as np
import polars
import pytest
from conftest import Cli
from matplotlib.figure import Figure

import aqmlab
from aqmlab import Comparison, EngineUnavailable, Result, Scenario, ScenarioError, Sweep
from aqmlab.execute import linux
from aqmlab.execute.engine import ENGINES, PACKETS, Engine, different, listed
from aqmlab.execute.task import Outcome, Task, digest, key, simulate
from aqmlab.figures import matplotlib, runs
from aqmlab.results.student import quantile
from aqmlab.results.summary import Summary
from aqmlab.sealed import sealed


@pytest.mark.parametrize(
    ("text", "canonical"),
    [
        ("packet", "packet"),
        ("fluid", "fluid"),
        ("linux", "linux"),
        ("linux:clock=virtual", "linux"),
        ("linux:clock=real", "linux:clock=real"),
        ("linux: kernel=/k:2/vmlinux , clock=virtual", "linux:kernel=/k:2/vmlinux"),
    ],
)
def test_an_engine_is_its_text(text: str, canonical: str) -> None:
    engine = Engine.parse(text)
    assert str(engine) == canonical
    assert Engine.parse(canonical) == engine
    assert hash(Engine.parse(canonical)) == hash(engine)


def test_a_run_on_linux_is_more_work_and_one_in_real_time_takes_its_duration(small: Scenario) -> None:
    work = {engine: Engine.parse(engine).work(small) for engine in ("packet", "fluid", "linux", "linux:clock=real")}
    assert work["packet"] == small._packets
    cell = '[[cell]]\nbase = "b"\nusers = ["u"]\ncqi = 7\n[[traffic]]\nkind = "ping"\nfrom = "b"\nto = "u"\n'
    slots = aqmlab.Scenario.parse(f'duration = "1 h"\n{cell}')
    assert Engine.parse("packet").work(slots) == slots._packets + 3_600_000
    assert work["fluid"] == 1.0
    assert 300 < work["linux"] / work["packet"] < 1000
    longer = Engine.parse("linux:clock=real").work(small.with_(duration="50 s"))
    assert longer == pytest.approx(10 * work["linux:clock=real"])
    assert work["linux:clock=real"] > work["linux"]


def test_options_have_defaults() -> None:
    defaults = {"clock": "real", "ip": "4", "kernel": "auto", "qdisc": "scenario"}
    assert Engine.parse("linux:clock=real").settings == defaults
    assert PACKETS.settings == {}
    assert all(option.doc and option.default for kind in ENGINES.values() for option in kind.options)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("lnux", "engine 'lnux': there is no engine 'lnux'; must be one of packet, fluid, linux"),
        ("", "there is no engine ''"),
        ("packet:clock=real", "packet has no option 'clock'; it has no options"),
        ("linux:clok=real", "linux has no option 'clok'; its options are clock, ip, kernel"),
        ("linux:clock=rael", "engine 'linux:clock=rael': clock = 'rael': must be virtual or real"),
        ("linux:clock", "'clock': an option must be KEY=VALUE"),
        ("linux:", "'': an option must be KEY=VALUE"),
        ("linux:kernel=", "kernel = '': must be a path"),
        ("linux:clock=real,clock=real", "clock is given twice; give it once"),
        ("linux:clock=real,kernel=/k", "kernel applies only with clock=virtual: omit kernel or clock"),
    ],
)
def test_a_wrong_engine_is_refused_with_the_cure(text: str, message: str) -> None:
    with pytest.raises(ValueError, match=r"^engine ") as refused:
        Engine.parse(text)
    assert message in str(refused.value)


def test_engines_of_a_list_are_different() -> None:
    assert listed("packet,linux:clock=virtual,kernel=/k:1,fluid") == [
        "packet",
        "linux:clock=virtual,kernel=/k:1",
        "fluid",
    ]
    assert different(["packet", "linux"]) == [PACKETS, Engine("linux")]
    with pytest.raises(ValueError, match="engine 'linux': given twice"):
        different(["linux", "linux:clock=virtual"])
    with pytest.raises(ValueError, match="at least one"):
        different([])
    with pytest.raises(TypeError, match="must be a list"):
        different("packet,fluid")
    with pytest.raises(TypeError, match="must be a string"):
        Engine.parse(None)  # type: ignore[arg-type]


def test_the_clock_of_the_machine_is_for_one_run_at_a_time() -> None:
    assert [Engine.parse(text).most_jobs for text in ("packet", "fluid", "linux", "linux:clock=real")] == [
        None,
        None,
        None,
        1,
    ]


# The key with which stores were written before runs named their engine.
def test_the_keys_of_packets_are_those_of_earlier_stores(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(aqmlab._core, "engine_version", "0.1.0+bf405e33663a6ac6")
    known = "c33af83ddc0fdf94400560a3341591a277152eb453a771623a1ca7d29a66e504"
    assert key("abc", 7).hex() == key("abc", 7, PACKETS).hex() == known
    assert key("abc", 7, Engine("fluid")).hex() != known


def test_each_engine_has_its_version(fake: list[Task]) -> None:
    assert PACKETS.version == aqmlab._core.engine_version
    assert Engine("fluid").version == aqmlab._core.fluid_version
    assert Engine("linux").version == "fake virtual"


def test_the_fluid_engine_is_the_fluid_model(tiny: Scenario) -> None:
    model, run = aqmlab.fluid(tiny), aqmlab.run(tiny, seeds=3, engine="fluid")
    assert run.metrics == model.metrics
    assert run.owned("classes") == model.owned("classes")
    assert run.distributions == model.distributions
    assert run.not_modelled == model.not_modelled
    assert run.engine_name == model.engine_name == "fluid"
    assert run.seeds == model.seeds == [tiny.seed]
    assert run.series.equals(model.series)


def test_a_result_names_its_engine(tiny: Scenario, fake: list[Task], tmp_path: Path) -> None:
    plain, other = aqmlab.run(tiny), aqmlab.run(tiny, engine="linux:clock=real")
    assert plain.document()["engine_name"] == plain.engine_name == "packet"
    assert other.document()["engine_name"] == other.engine_name == "linux:clock=real"
    assert "(seed 7; aqmlab" in repr(plain)
    assert "(seed 7; engine linux:clock=real; aqmlab" in repr(other)
    assert "engine linux:clock=real" in other._repr_html_()
    other.save(tmp_path / "other")
    assert Result.load(tmp_path / "other") == other


@pytest.mark.parametrize("engine", ["packet", "fluid"])
def test_a_result_saved_without_its_engine_is_read(tiny: Scenario, engine: str, tmp_path: Path) -> None:
    aqmlab.run(tiny, engine=engine).save(tmp_path)
    file = tmp_path / "result.json"
    document = json.loads(file.read_text(encoding="utf-8"))
    del document["engine_name"], document["sha256"]
    file.write_bytes(sealed(document))
    assert Result.load(tmp_path).engine_name == engine


def test_all_engines_have_all_disciplines(tiny: Scenario, fake: list[Task], tmp_path: Path) -> None:
    engines = ["packet", "fluid", "linux"]
    found = aqmlab.compare(tiny, aqms=["lred", "droptail"], seeds=2, engines=engines)
    assert list(found) == [f"{aqm}, {engine}" for aqm in ("lred", "droptail") for engine in engines]
    assert [len(result.runs) for result in found.values()] == [2, 1, 2] * 2
    assert [result.engine_name for result in found.values()] == engines * 2
    assert [(task.label, task.seed) for task in fake] == [
        (f"{aqm}, linux", seed) for seed in (7, 8) for aqm in ("lred", "droptail")
    ]
    found.save(tmp_path)
    loaded = Comparison.load(tmp_path)
    assert dict(loaded) == dict(found)
    assert loaded.differences().equals(found.differences())
    assert list(aqmlab.compare(tiny, aqms=["lred"], engines=["fluid"])) == ["lred"]
    assert list(aqmlab.compare(tiny, engines=["packet", "fluid"])) == ["lred, packet", "lred, fluid"]


def difference(found: Comparison, label: str, metric: str) -> dict[str, object]:
    (row,) = found.differences().filter((polars.col("label") == label) & (polars.col("metric") == metric)).to_dicts()
    return row


def test_differences_are_paired_by_seed(tiny: Scenario, fake: list[Task]) -> None:
    found = aqmlab.compare(tiny, aqms=None, seeds=[7, 9, 14], engines=["linux", "packet"])
    row = difference(found, "lred, linux", "queue_mean")
    # 7, 9 and 14: their mean is 10, their variance 13.
    half = quantile(0.95, 2) * np.sqrt(13 / 3)
    assert row["to"] == "lred, packet"
    assert row["runs"] == 3
    assert row["difference"] == pytest.approx(10)
    assert row["ci95"] == pytest.approx(half)
    assert half == pytest.approx(8.957, abs=0.001)
    assert difference(found, "lred, linux", "jain")["difference"] is None
    document = found.document()["differences"]
    assert document["lred, linux"]["lred, packet"]["queue_mean"]["mean"] == pytest.approx(10)
    table = repr(found).partition("Differences from packet, seed by seed:\n")[2]
    cells = next(line for line in table.splitlines() if line.startswith("lred, linux")).split()
    assert cells[2:8] == ["+0.0", "+0.0", "+10.0", "±", "9.0", "*"]
    assert cells[-1] == "-"


def test_differences_without_seeds_have_the_interval_of_the_others(tiny: Scenario) -> None:
    found = aqmlab.compare(tiny, aqms=None, seeds=3, engines=["packet", "fluid"])
    values = [run.metrics["queue_mean"] for run in found["lred, packet"].runs]
    model = found["lred, fluid"].metrics["queue_mean"]
    assert model is not None
    row = difference(found, "lred, fluid", "queue_mean")
    expected = Summary.of(values)
    assert row["runs"] == 3
    assert row["difference"] == pytest.approx(model - (expected.mean or 0))
    assert row["ci95"] == pytest.approx(expected.ci95)
    assert difference(found, "lred, fluid", "response_time")["difference"] is None
    assert "Differences from the mean of packet:" in repr(found)
    assert "Differences from the mean of packet" in str(found._repr_html_())


def test_without_packets_the_first_engine_is_the_reference(tiny: Scenario, fake: list[Task]) -> None:
    found = aqmlab.compare(tiny, aqms=None, seeds=2, engines=["fluid", "linux"])
    assert set(found.differences()["to"]) == {"lred, fluid"}
    row = difference(found, "lred, linux", "queue_mean")
    own, model = (found[f"lred, {engine}"]["queue_mean"] for engine in ("linux", "fluid"))
    assert row["difference"] == pytest.approx((own.mean or 0) - (model.mean or 0))
    assert row["ci95"] == pytest.approx(own.ci95)


def test_without_several_there_are_no_differences(tiny: Scenario) -> None:
    found = aqmlab.compare(tiny, aqms=["lred"], seeds=2)
    assert found.differences().is_empty()
    assert found.differences().columns == ["label", "to", "metric", "runs", "difference", "ci95"]
    assert "differences" not in found.document()
    assert "Differences" not in repr(found)


def test_what_cannot_be_compared_is_refused(tiny: Scenario) -> None:
    with pytest.raises(ValueError, match="give aqms, or several engines"):
        aqmlab.compare(tiny)
    with pytest.raises(ValueError, match="the fluid engine does not account for packets"):
        aqmlab.compare(tiny, check=True, engines=["packet", "fluid"])
    with pytest.raises(ScenarioError, match="the fluid model has laws for"):
        aqmlab.compare(tiny, aqms=["codel"], engines=["packet", "fluid"])
    with pytest.raises(ValueError, match="there is no engine 'lnux'"):
        aqmlab.run(tiny, engine="lnux")


def missing(scenario: Scenario, options: Mapping[str, str]) -> None:
    raise EngineUnavailable("the linux engine's programs are not built: make them")


def test_an_engine_that_is_missing_stops_before_any_run(
    tiny: Scenario, monkeypatch: pytest.MonkeyPatch, simulated: list[Task]
) -> None:
    monkeypatch.setattr(linux, "check", missing)
    with pytest.raises(EngineUnavailable, match="not built"):
        aqmlab.compare(tiny, engines=["packet", "linux"])
    with pytest.raises(EngineUnavailable, match="not built"):
        aqmlab.sweep(tiny, vary={"aqm.q0": [10, 20]}, engine="linux")
    assert not simulated


def test_a_run_that_fails_is_named(tiny: Scenario, fake: list[Task], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(linux, "perform", lambda task, options, watch: Outcome(error="the guest died"))
    with pytest.raises(aqmlab.RunFailed, match="run failed: lred, linux, seed 7: the guest died") as failed:
        aqmlab.compare(tiny, engines=["packet", "linux"])
    assert list(failed.value.finished) == ["lred, packet"]


# A run in real time is disturbed by any other.
def test_runs_in_real_time_have_the_machine_to_themselves(
    tiny: Scenario, fake: list[Task], monkeypatch: pytest.MonkeyPatch
) -> None:
    from aqmlab.execute import threads

    executor, calls = threads.executor, []
    monkeypatch.setattr(threads, "executor", lambda jobs: (calls.append(jobs), executor(jobs))[1])
    aqmlab.compare(tiny, aqms=None, seeds=2, jobs=4, engines=["linux:clock=real", "packet"])
    assert calls == [4, 1]
    calls.clear()
    aqmlab.sweep(tiny, vary={"aqm.q0": [10, 20]}, jobs=4, engine="linux:clock=real")
    assert calls == [1]
    with pytest.raises(ValueError, match=r"engine linux:clock=real performs one run at a time"):
        aqmlab.sweep(tiny, vary={"aqm.q0": [10, 20]}, engine="linux:clock=real", cluster="tcp://nowhere:1")


def test_a_task_has_its_engine(tiny: Scenario, fake: list[Task]) -> None:
    engine = Engine("linux")
    task = Task(tiny.to_toml(), 7, key(digest(tiny), 7, engine), "", 1.0, engine=engine)
    outcome = simulate(task)
    assert outcome
    assert not outcome.error
    assert fake == [task]
    assert "a trace has changed" in (simulate(replace(task, engine=PACKETS)) or outcome).error


def test_a_sweep_keeps_the_runs_of_each_engine_apart(
    tiny: Scenario, fake: list[Task], simulated: list[Task], tmp_path: Path
) -> None:
    store = tmp_path / "store"
    vary = {"aqm.q0": [10, 20]}
    counts = {}
    for engine in ("packet", "linux", "fluid", "linux:clock=real", "packet", "linux", "fluid"):
        simulated.clear()
        swept = aqmlab.sweep(tiny, vary=vary, seeds=2, store=store, out=tmp_path / "out", engine=engine)
        assert swept.engine_name == engine
        assert swept.version == Engine.parse(engine).version
        assert len(swept.frame) == (2 if engine == "fluid" else 4)
        counts[engine] = [*counts.get(engine, []), len(simulated)]
        assert Sweep.load(tmp_path / "out").engine_name == engine
        assert (f"engine {engine}" in repr(swept)) == (engine != "packet")
    assert counts == {"packet": [4, 0], "linux": [4, 0], "fluid": [2, 0], "linux:clock=real": [4]}


def test_a_sweep_lists_what_its_engine_cannot_perform(tiny: Scenario, simulated: list[Task]) -> None:
    swept = aqmlab.sweep(tiny, aqms=["lred", "codel"], engine="fluid")
    assert [failure.aqm for failure in swept.failures] == ["codel"]
    assert "the fluid model has laws for" in swept.failures[0].error
    assert [task.label for task in simulated] == ["lred, seed 7"]


def test_a_figure_has_a_panel_for_each_discipline_and_a_colour_for_each_engine(
    tiny: Scenario, fake: list[Task]
) -> None:
    found = aqmlab.compare(tiny, aqms=["lred", "droptail"], seeds=2, engines=["packet", "fluid", "linux"])
    drawn = matplotlib.draw(runs.comparison(found), Figure())
    queues = [axes for axes in drawn.get_axes() if axes.get_title(loc="left") in ("lred", "droptail")]
    assert len(queues) == 2
    names = ["packets, mean of 2 seeds; band: least to greatest", "linux, mean of 2 seeds; band: least to greatest"]
    assert [line.get_label() for line in queues[0].lines][:3] == [*names, "fluid model"]
    colour = runs.colours(found)
    assert len(set(colour.values())) == 3
    assert colour["lred, linux"] == colour["droptail, linux"]
    dashes = {curve.name: curve.dash for curve in runs.distribution(found, "delay").panels[0].curves}
    assert dashes["lred, packet"] == ()
    assert dashes["droptail, packet"] != ()


def test_the_commands_name_engines(quick_cli: Cli, small_file: Path, fake: list[Task], tmp_path: Path) -> None:
    short = ("--set", "duration=2 s", "--set", "warmup=0.5 s")
    done = quick_cli("compare", small_file, *short, "--engines", "packet,fluid,linux", "--seeds", "2", "--out", "out")
    assert done.returncode == 0, done.stderr
    assert "Differences from packet, seed by seed; of the fluid model from the mean:" in done.stdout
    assert list(Comparison.load(tmp_path / "out")) == [f"lred, {engine}" for engine in ("packet", "fluid", "linux")]
    report = (tmp_path / "out" / "report.html").read_text(encoding="utf-8")
    assert "<h2>Differences from packet, seed by seed; of the fluid model from the mean</h2>" in report
    done = quick_cli("run", small_file, *short, "--engine", "linux:clock=real", "--out", "alone")
    assert done.returncode == 0, done.stderr
    assert "engine linux:clock=real" in done.stdout
    assert "engine linux:clock=real" in (tmp_path / "alone" / "report.html").read_text(encoding="utf-8")
    done = quick_cli("sweep", small_file, *short, "--vary", "aqm.q0=10,20", "--engine", "linux", "--out", "swept")
    assert done.returncode == 0, done.stderr
    assert "engine linux; aqmlab fake virtual" in done.stdout


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["run", "--engine", "lnux"], "there is no engine 'lnux'"),
        (["compare", "--engines", "fluid"], "give --aqm, or several --engines"),
        (["run", "--engine", "fluid", "--check"], "does not account for packets"),
    ],
)
def test_the_commands_refuse_other_engines(
    quick_cli: Cli, small_file: Path, arguments: list[str], message: str
) -> None:
    done = quick_cli(arguments[0], small_file, *arguments[1:])
    assert done.returncode == 2
    assert message in " ".join(done.stderr.split())


def test_a_command_says_what_is_missing(quick_cli: Cli, small_file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(linux, "check", missing)
    done = quick_cli("run", small_file, "--engine", "linux")
    assert done.returncode == 1
    assert done.stderr == "the linux engine's programs are not built: make them\n"


def test_engines_are_listed_with_their_options(quick_cli: Cli) -> None:
    text = quick_cli("list", "engines").stdout
    for name, kind in ENGINES.items():
        assert f"  {name} " in text
        assert all(f"    {option.name} = {option.default}  {option.allowed}" in text for option in kind.options)
