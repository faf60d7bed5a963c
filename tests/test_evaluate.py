"""The evaluation by RFC 7928: its guidelines, runs, store, scorecard, commands and report."""

import html
import json
import re
import shlex
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import cast

import pytest
from conftest import Cli

from aqmlab import Scenario, disciplines
from aqmlab.execute.progress import Progress
from aqmlab.scenario import shipped
from aqmlab_papers.evaluation.describe.discipline import FAIR, MARKING, Discipline, aimed_at
from aqmlab_papers.evaluation.describe.measure import Measure, Phase, fairness, loss, ratio, share
from aqmlab_papers.evaluation.describe.sensitivity import numbers, times
from aqmlab_papers.evaluation.guidelines import GUIDELINES
from aqmlab_papers.evaluation.run import Effort, Evidence, run
from aqmlab_papers.evaluation.scorecard import Scorecard, frame, scorecard
from aqmlab_papers.evaluation.show import pages, terminal
from aqmlab_papers.evaluation.show.document import document
from aqmlab_papers.evaluation.show.figures import drawn
from aqmlab_papers.evaluation.verdict import Verdict
from aqmlab_papers.run.runs import Runs

PASSING = """\
import aqmlab


class Passing(aqmlab.AQM):
    \"\"\"Drop nothing.\"\"\"
"""


@pytest.fixture(scope="module")
def every(tmp_path_factory: pytest.TempPathFactory) -> Evidence:
    """Every guideline once, with a discipline that has a knob, marks, and may be on the queue of each flow."""
    return run(GUIDELINES, Effort(["codel"], seeds=1), tmp_path_factory.mktemp("store"), jobs=2)


def do(store: Path, *labels: str, seeds: int = 2, sections: tuple[str, ...] = ("5.1.1",)) -> Evidence:
    return run(GUIDELINES, Effort(labels, seeds=seeds, sections=sections), store, jobs=1)


def verdicts(card: Scorecard, label: str) -> set[Verdict]:
    return {cell.verdict for cell in card.cells if cell.label == label and cell.test}


# The guidelines


def test_every_case_has_a_name_and_a_scenario_of_its_own_folder() -> None:
    for one in GUIDELINES:
        assert len({case.name for case in one.cases}) == len(one.cases)
        for case in one.cases:
            assert case.scenario in shipped()
            assert case.scenario.startswith("rfc7928/")


def test_every_scenario_of_the_folder_is_used() -> None:
    used = {case.scenario for one in GUIDELINES for case in one.cases}
    assert {name for name in shipped() if name.startswith("rfc7928/")} == used


def test_loads_are_those_of_the_rfc() -> None:
    # S is the bandwidth-delay product and the buffer in packets: N = 0.036 S, 0.081 S, 0.114 S (8.2.2 to 8.2.4).
    for name, factor in (("mild", 0.036), ("medium", 0.081), ("heavy", 0.114)):
        scenario = Scenario.load(f"rfc7928/{name}")
        packets = 10e6 * 0.1 / 8 / 1500
        assert scenario.buffer.startswith("125000")
        (entry,) = scenario.resolved["traffic"]
        assert abs(entry["count"] - factor * 2 * packets) <= 0.5


def test_phases_are_those_of_the_rfc() -> None:
    import polars

    frame = polars.DataFrame({"t": [float(t) for t in range(140)]})
    medium = Phase("medium", 40.0, 20.0, 60.0).of(frame, 20.0)["t"].to_list()
    assert medium == [*map(float, range(40, 60)), *map(float, range(100, 120))]
    fast = polars.DataFrame({"t": [20 + 0.1 * t for t in range(10)]})
    chosen = Phase("10 Mbit/s", 0.1, 0.1, 0.2).of(fast, 20.0)["t"].to_list()
    assert chosen == pytest.approx([20.1, 20.3, 20.5, 20.7, 20.9])


def test_a_section_selects_its_parts() -> None:
    def selected(*sections: str) -> list[str]:
        return [one.section for one in GUIDELINES if one.selected(sections)]

    assert selected("5.2") == ["5.2"]
    assert selected("5.1") == ["5.1.1", "5.1.2"]
    assert selected("8.2", "11") == ["8.2.2", "8.2.3", "8.2.4", "8.2.5", "8.2.6", "11"]
    assert len(selected()) == len(GUIDELINES)
    assert selected("1") == []


# Disciplines


def test_a_knob_is_set_to_the_same_delay_in_packets_and_in_time() -> None:
    # 20 ms at 10 Mbit/s are 25 kB, 16.67 packets of 1500 bytes.
    found = {name: aimed_at(0.02).settings(Discipline(name)) for name in ("lred", "codel", "fq_codel", "droptail")}
    assert found["lred"] == {"aqm": "lred", "aqm.q0": 16.67}
    assert found["codel"] == {"aqm": "codel", "aqm.target": "20 ms"}
    assert found["fq_codel"] == {"aqm": "fq_codel", "aqm.aqm.target": "20 ms"}
    assert found["droptail"] == {"aqm": "droptail", "dumbbell.buffer": "20 ms"}
    assert aimed_at(0.02).lacks(Discipline("blue"))


def test_every_discipline_enters_every_scenario_or_lacks_what_is_asked() -> None:
    base = Scenario.load("rfc7928/mix")._base
    for name in disciplines():
        one = Discipline(name)
        for placement in (FAIR, MARKING, aimed_at(0.02)):
            if not placement.lacks(one):
                base.with_(placement.settings(one)).check()


def test_marking_is_switched_on_only_where_it_is_off() -> None:
    assert MARKING.settings(Discipline("pie")) == {"aqm": "pie", "aqm.ecn": True}
    assert MARKING.settings(Discipline("fq_codel")) == {"aqm": "fq_codel"}
    assert MARKING.settings(Discipline("fq_pie")) == {"aqm": "fq_pie", "aqm.aqm.ecn": True}
    assert MARKING.lacks(Discipline("droptail")) == "it cannot mark"


def test_parameters_are_scaled_in_their_form() -> None:
    assert numbers(Discipline("codel"))["aqm.target"] == "5 ms"
    assert [times(value, 2.0) for value in ("5 ms", 4, 0.25)] == ["10 ms", 8, 0.5]
    assert times(1, 0.5) == 1


# Runs


def test_every_measure_has_a_value_and_every_case_runs(every: Evidence) -> None:
    assert not every.failures
    for one in every.guidelines:
        for case in one.cases:
            runs = every.cases[one.section, case.name]
            wanted = [label for label in ("droptail", "codel") if label not in runs.left_out]
            assert one.kind == "sensitivity" or "codel" in wanted, runs.left_out
            for label in wanted:
                for measure in [*case.measures, *(part for plot in case.plots for part in (plot.delay, plot.goodput))]:
                    (value,) = runs.values(measure, label).values()
                    assert value is not None, (one.section, case.name, measure.name, label)


def test_a_run_without_a_number_has_no_value() -> None:
    import polars

    goodputs = {"classes.x.goodput": [0.0, 3.0], "classes.y.goodput": [0.0, 1.0], "jain": [None, 0.5]}
    frame = polars.DataFrame({"aqm": ["a", "b"], "seed": [1, 2], **goodputs})
    runs = cast(Runs, SimpleNamespace(of=lambda label: frame.filter(polars.col("aqm") == label)))

    def read(measure: Measure) -> list[float | None]:
        return [*measure.read(runs, "a").values(), *measure.read(runs, "b").values()]

    assert read(share("x", ["y"], "Share", "less")) == [None, 75.0]
    assert read(ratio("x", "y", "Ratio")) == [None, 1 / 3]
    assert read(fairness()) == [None, 0.5]
    assert read(loss("x")) == [None, None], "no run has a loss"


def test_a_second_call_runs_nothing_and_another_discipline_only_its_own(tmp_path: Path) -> None:
    assert do(tmp_path, "codel").simulated == 4
    again = do(tmp_path, "codel")
    assert (again.simulated, again.done) == (0, 4)
    assert do(tmp_path, "codel", "pie").simulated == 2


def test_a_case_that_others_are_compared_with_is_run_too(tmp_path: Path) -> None:
    found = do(tmp_path, "codel", seeds=1, sections=("4.6",))
    assert set(found.cases) == {("4.6", ""), ("9.1", "")}
    assert [one.section for one in found.guidelines] == ["4.6"]


def test_an_interrupt_keeps_the_finished_runs(tmp_path: Path) -> None:
    effort = Effort(["codel"], seeds=3, sections=("6.2",))

    def impatient(standing: Progress) -> None:
        if standing.done >= 2:
            raise KeyboardInterrupt

    stopped = run(GUIDELINES, effort, tmp_path, jobs=1, progress=impatient)
    assert stopped.interrupted
    assert 2 <= stopped.done < stopped.wanted == 30
    rest = run(GUIDELINES, effort, tmp_path, jobs=1)
    assert rest.simulated == 30 - stopped.done


# The scorecard


def test_a_discipline_that_does_what_the_reference_does_shows_no_difference(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "passing.py").write_text(PASSING)
    monkeypatch.chdir(tmp_path)
    card = scorecard(do(tmp_path / "store", "./passing.py:Passing", sections=("5",)))
    assert verdicts(card, "./passing.py:Passing") == {Verdict.NONE}


def test_a_great_difference_is_shown(tmp_path: Path) -> None:
    card = scorecard(do(tmp_path, "codel", seeds=4))
    found = {cell.measure.name: cell.verdict for cell in card.cells if cell.label == "codel"}
    assert (found["Delay"], found["Goodput"]) == (Verdict.BETTER, Verdict.WORSE)
    assert card.tested == 4


def test_one_seed_has_no_verdicts(every: Evidence) -> None:
    assert verdicts(scorecard(every), "codel") == {Verdict.UNTESTED}


def test_a_section_on_its_own_reference_compares_with_the_other_section(every: Evidence) -> None:
    cells = [cell for cell in scorecard(every).cells if cell.guideline.section == "4.6" and cell.label == "codel"]
    plain = [cell for cell in scorecard(every).cells if cell.guideline.section == "9.1" and cell.label == "codel"]
    means = {cell.measure.name: cell.own.mean for cell in plain}
    assert {cell.measure.name for cell in cells} & set(means)
    for cell in cells:
        if cell.measure.name in means:
            assert cell.other
            assert cell.other.mean == means[cell.measure.name]


COMMANDS = [("5.2", ""), ("5.1.2", "IW 10"), ("4.3.1", "20 ms"), ("4.5", "RTT 560 ms"), ("4.6", "")]
COMMANDS += [("9.2", "both directions"), ("10.2", "before PIE"), ("8.3", "1 x 2")]


@pytest.mark.parametrize(("section", "case"), COMMANDS)
def test_the_commands_repeat_the_numbers(every: Evidence, quick_cli: Cli, section: str, case: str) -> None:
    table = frame(scorecard(every), every)
    chosen = table.filter((table["section"] == section) & (table["case"] == case) & (table["aqm"] == "codel"))
    command, *_ = chosen["command"][0].split(" && ")
    program, *arguments = shlex.split(command)
    assert program == "aqmlab"
    done = quick_cli(*arguments, "--json")
    assert done.returncode == 0, done.stderr
    printed = json.loads(done.stdout)
    printed = printed["results"]["codel"] if "results" in printed else printed
    runs = every.cases[section, case].runs
    assert runs
    for name, metrics in printed["classes"].items():
        assert runs.of("codel", {"seed": 1})[f"classes.{name}.goodput"].to_list() == [metrics["goodput"]]


# The output


def test_distributions_are_of_all_packets_and_seconds(every: Evidence) -> None:
    guideline = next(one for one in every.guidelines if one.section == "5.3")
    figure = next(one.figure for one in drawn(guideline, every) if one.name.endswith("distributions"))
    delay, throughput = figure.panels
    for panel in (delay, throughput):
        assert [curve.name for curve in panel.curves] == ["droptail", "codel"]
        for curve in panel.curves:
            assert curve.y[-1] == 100.0
            assert (curve.x[1:] >= curve.x[:-1]).all()
    (curve, _) = throughput.curves
    assert curve.x[0] == pytest.approx(10.0, rel=0.002)  # the flood fills every second
    assert len(curve.x) == 50


@pytest.fixture(scope="module")
def written(tmp_path_factory: pytest.TempPathFactory) -> Path:
    from typer.testing import CliRunner

    from aqmlab.cli.app import app

    folder = tmp_path_factory.mktemp("out")
    options = ["--aqm", "codel", "--section", "5.3", "--section", "11", "--section", "12", "--seeds", "2"]
    done = CliRunner().invoke(app, ["evaluate", *options, "--jobs", "1", "--out", str(folder)], catch_exceptions=False)
    assert done.exit_code == 0, done.output
    (folder / "said").write_text(done.stdout)
    return folder


def test_every_link_of_the_report_leads_somewhere(written: Path) -> None:
    text = (written / "index.html").read_text(encoding="utf-8")
    anchors = {html.unescape(one) for one in re.findall(r'id="([^"]+)"', text)}
    targets = {html.unescape(one) for one in re.findall(r'href="([^"]+)"', text)}
    assert any(one.startswith("#repeat-") for one in targets)
    assert "#section-5.3-tradeoff" in targets
    for target in targets:
        if target.startswith("#"):
            assert target[1:] in anchors
        elif not target.startswith("https://www.rfc-editor.org/"):
            assert (written / target).is_file(), target
    for file in (written / "scenarios").iterdir():
        Scenario.load(file).check()


def test_the_terminal_has_the_scorecard(written: Path) -> None:
    said = (written / "said").read_text()
    assert re.search(r"^codel +\S", said, re.MULTILINE)
    assert "6 tests, 2 seeds: the probability of one or more false verdicts among all is at most 5 % (Holm)" in (
        " ".join(said.split())
    )
    assert "8 of 8 runs, 8 of them new" in said


def test_a_page_is_made_of_a_whole_evaluation_only(written: Path, tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="not all sections were evaluated"):
        pages.write(written, tmp_path / "page.md")


def test_a_page_has_every_section_and_discipline(every: Evidence) -> None:
    found = document(every, scorecard(every), {}, "aqmlab evaluate --aqm codel", 1.0)
    page = pages.text(found, [], "images")
    assert all(one.heading in page for one in GUIDELINES)
    tested = [one.section for one in GUIDELINES if any(case.judged for case in one.cases)]
    assert f"|  | {' | '.join(tested)} |" in page
    assert re.findall(r"^\| `(\w+)` \|", page, re.MULTILINE) == ["droptail", "codel"]
    assert "codel" in terminal.scorecard(found)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--section", "5.9", "--aqm", "codel"], "5.9: must be one of 4.3.1,"),
        ([], "give a discipline, as in --aqm codel"),
        (["--aqm", "codl"], 'no such algorithm; did you mean "codel"'),
        (["--aqm", "codel:foo=1"], "aqm.foo: unknown key"),
        (["--aqm", "codel", "--against", "nope"], 'aqm.name = "nope": no such algorithm'),
        (["--aqm", "codel", "--against", "all"], "must be one discipline"),
        (["--aqm", "codel", "--aqm", "codel:target=5ms"], "codel and codel:target=5ms are the same"),
        (["--aqm", "kernel:pie"], "the engine must be linux"),
        (["--aqm", "codel", "--engine", "fluid"], "one run without a seed"),
        (["--aqm", "none.py:Mine"], "none.py"),
    ],
)
def test_what_cannot_be_is_refused_before_anything_runs(
    quick_cli: Cli, tmp_path: Path, options: list[str], message: str
) -> None:
    done = quick_cli("evaluate", *options)
    assert done.returncode == 2
    assert message in " ".join((done.stderr + done.stdout).replace("│", " ").split())
    assert not list(tmp_path.iterdir())


def test_an_interrupted_command_says_how_to_go_on(quick_cli: Cli, monkeypatch: pytest.MonkeyPatch) -> None:
    from aqmlab_papers.evaluation import run as running

    original: Callable[..., object] = running.run_all

    def impatient(*arguments: object, progress: Callable[[Progress], None], **options: object) -> object:
        def stop(standing: Progress) -> None:
            progress(standing)
            if standing.done >= 1:
                raise KeyboardInterrupt

        return original(*arguments, progress=stop, **options)

    monkeypatch.setattr(running, "run_all", impatient)
    options = ["evaluate", "--aqm", "codel", "--section", "6.2", "--seeds", "3", "--jobs", "1", "--out", "here"]
    done = quick_cli(*options)
    assert done.returncode == 130
    assert re.search(r"interrupted: [12]?\d of 30 runs are finished; rerunning", done.stderr)


def test_one_direction_leaves_the_other_to_tail_drop() -> None:
    two_way = Scenario.load("rfc7928/two-way")
    cases = {case.name: case for one in GUIDELINES for case in one.cases if case.scenario == "rfc7928/two-way"}
    placed = (cases[name].placement.settings(Discipline("pie")) for name in ("one direction", "both directions"))
    one, both = (two_way.with_(settings).resolved for settings in placed)
    assert (one["aqm"]["name"], one["reverse_aqm"]["name"]) == ("pie", "droptail")
    assert (both["aqm"]["name"], both["reverse_aqm"]["name"]) == ("pie", "pie")
    assert one["reverse_aqm"] == two_way.resolved["reverse_aqm"]
