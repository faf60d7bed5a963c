"""Papers: what a claim's verdict is, what evidence says, what is run and kept, what the shipped papers refer to."""

import json
import math
import re
import shutil
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from pathlib import Path

import polars
import pytest
from conftest import SMALL, Cli
from hypothesis import given
from hypothesis import strategies as some
from polars.testing import assert_frame_equal
from scipy import stats

import aqmlab
from aqmlab import Scenario, Sweep, local
from aqmlab.files import read_json
from aqmlab.papers import (
    Check,
    Evidence,
    Figure,
    Outcome,
    Paper,
    Runs,
    Verdict,
    library,
    pages,
    running,
    sketch,
    verdict,
    writing,
)
from aqmlab.papers.estimate import estimates, measured_speed
from aqmlab.papers.running import Effort, spread
from aqmlab.store import Store
from aqmlab.study import Plan, Study, study
from aqmlab.summary import Summary
from aqmlab.sweeping import run_all
from aqmlab.task import Outcome as Done
from aqmlab.task import Task

ROOT = Path(__file__).parents[1]
NUMBER = some.floats(-1e6, 1e6)
HALF = some.floats(0, 1e6)
PAPERS = library.names()

TINY = SMALL.replace("5 s", "2 s").replace('"1 s"', '"0.5 s"').replace("count = 10", "count = 3")


# Verdicts


@given(value=NUMBER, half=HALF, edge=NUMBER)
def test_a_check_holds_only_when_the_whole_interval_is_inside(value: float, half: float, edge: float) -> None:
    least = Check(effect="x", value=value, ci95=half, least=edge).outcome
    if value - half >= edge:
        assert least == Outcome.HOLDS
    elif value + half < edge:
        assert least == Outcome.FAILS
    else:
        assert least == Outcome.OPEN


@given(value=NUMBER, half=HALF, edge=NUMBER)
def test_at_most_is_at_least_seen_in_a_mirror(value: float, half: float, edge: float) -> None:
    most = Check(effect="x", value=value, ci95=half, most=edge).outcome
    assert most == Check(effect="x", value=-value, ci95=half, least=-edge).outcome


@given(value=NUMBER, half=HALF, low=NUMBER, width=HALF)
def test_an_interval_is_at_least_and_at_most_together(value: float, half: float, low: float, width: float) -> None:
    def outcome(least: float, most: float) -> Outcome:
        return Check(effect="x", value=value, ci95=half, least=least, most=most).outcome

    both = {outcome(low, math.inf), outcome(-math.inf, low + width)}
    expected = Outcome.FAILS if Outcome.FAILS in both else Outcome.OPEN if Outcome.OPEN in both else Outcome.HOLDS
    assert outcome(low, low + width) == expected


def test_a_number_on_the_edge_holds() -> None:
    assert Check.exact("x", 3.0, least=3, most=3).outcome == Outcome.HOLDS
    assert Check(effect="x", value=4.0, ci95=1.0, least=3, most=5).outcome == Outcome.HOLDS
    assert Check(effect="x", value=2.0, ci95=1.0, least=3).outcome == Outcome.OPEN  # it may be 3


def test_the_interval_of_a_check_is_students() -> None:
    values = [1.0, 2.0, 4.0, 8.0]
    check = Check.of("x", [*values, None], least=0)
    assert check.value == pytest.approx(3.75)
    assert check.ci95 == pytest.approx(stats.sem(values) * stats.t.ppf(0.975, 3))


def test_one_run_has_no_interval_and_still_a_verdict() -> None:
    check = Check.of("x", [1.0], least=0)
    assert (check.ci95, check.outcome) == (None, Outcome.HOLDS)


def test_a_number_that_no_run_has_is_open() -> None:
    assert Check.of("x", [None, None], least=0).outcome == Outcome.OPEN


@pytest.mark.parametrize("bounds", [{}, {"least": 2, "most": 1}, {"least": math.nan}])
def test_a_check_must_be_able_to_fail(bounds: dict[str, float]) -> None:
    with pytest.raises(ValueError, match="x: "):
        Check.exact("x", 1.0, **bounds)


@given(some.lists(some.sampled_from(Outcome), max_size=6))
def test_a_verdict_is_that_of_all_checks(outcomes: list[Outcome]) -> None:
    numbers = {Outcome.HOLDS: (1.0, 0.0), Outcome.FAILS: (-1.0, 0.0), Outcome.OPEN: (0.0, 1.0)}
    checks = [Check(effect="x", value=numbers[one][0], ci95=numbers[one][1], least=0) for one in outcomes]
    assert [check.outcome for check in checks] == outcomes
    count = Counter(outcomes)
    if count[Outcome.HOLDS]:
        assert verdict(checks) == (Verdict.REPRODUCED if count[Outcome.HOLDS] == len(outcomes) else Verdict.PARTLY)
    else:
        assert verdict(checks) == (Verdict.CONTRADICTED if count[Outcome.FAILS] else Verdict.NOT_TESTABLE)


def test_a_check_says_what_it_is() -> None:
    check = Check(effect="goodput", value=8.12345, ci95=0.0123, unit="Mbit/s", least=8, most=9)
    assert str(check) == "goodput: 8.123 ± 0.012 Mbit/s (claimed: 8 to 9 Mbit/s): holds"


# Evidence


@pytest.fixture
def tiny() -> Scenario:
    return Scenario.parse(TINY, "tiny.toml")


@pytest.fixture
def simulated(monkeypatch: pytest.MonkeyPatch) -> list[Task]:
    """Note every task that is done."""
    done: list[Task] = []
    simulate = local.simulate

    def noted(one: Task, watch: Callable[[float], bool] | None = None) -> Done | None:
        done.append(one)
        return simulate(one, watch)

    monkeypatch.setattr(local, "simulate", noted)
    return done


def runs_of(frame: polars.DataFrame, parameters: Sequence[str] = (), scenario: Scenario | None = None) -> Runs:
    """Give runs with these metrics, of which none was done."""
    scenario = scenario or Scenario.parse(TINY)
    labels = tuple(frame["aqm"].unique(maintain_order=True))
    asked = study(scenario, {}, dict.fromkeys(labels, "lred"), sorted(frame["seed"].unique()))
    sweep = Sweep(
        scenario=scenario,
        aqms=labels,
        parameters=dict.fromkeys(parameters, ""),
        seeds=tuple(asked.seeds),
        method="grid",
        sample_seed=None,
        frame=frame,
        failures=(),
        wanted=len(frame),
        simulated=0,
        damage={},
        interrupted=False,
        version="",
    )
    return Runs(asked, sweep, Store(Path("nowhere")), "ours")


def table(rows: Iterable[tuple[str, int, int, float | None]]) -> polars.DataFrame:
    return polars.DataFrame(list(rows), schema=["aqm", "n", "seed", "m"], orient="row")


FRAME = table(
    [
        ("ours", 1, 1, 1.0),
        ("ours", 1, 2, 2.0),
        ("ours", 2, 1, 3.0),
        ("ours", 2, 2, None),
        ("theirs", 1, 2, 7.0),
        ("theirs", 1, 1, 5.0),
        ("theirs", 2, 2, 8.0),
        ("theirs", 2, 1, 6.0),
    ]
)


def test_values_are_means_over_points_in_the_order_of_the_seeds() -> None:
    runs = runs_of(FRAME, ["n"])
    assert runs.values("m", "theirs") == [5.5, 7.5]
    assert runs.values("m", "theirs", {"n": 2}, scale=10) == [60, 80]
    assert (runs.labels, runs.others, runs.points("n")) == (("ours", "theirs"), ("theirs",), [1, 2])


def test_a_run_without_a_value_is_left_out_or_filled_in() -> None:
    runs = runs_of(FRAME, ["n"])
    assert runs.values("m", "ours") == [2.0, 2.0]
    assert runs.values("m", "ours", fill=10) == [2.0, 6.0]
    assert runs.values("m", "ours", {"n": 2}) == [3.0, None]


def test_differences_are_of_equal_seeds() -> None:
    runs = runs_of(FRAME, ["n"])
    assert runs.differences("m", "theirs", "ours", {"n": 1}) == [4.0, 5.0]
    assert runs.differences("m", "theirs", "ours", {"n": 2}, scale=2) == [6.0, None]


def test_what_was_not_run_is_no_empty_answer() -> None:
    runs = runs_of(FRAME, ["n"])
    with pytest.raises(LookupError, match=r"no runs with \{'aqm': 'ours', 'n': 3\}; labels \('ours', 'theirs'\)"):
        runs.values("m", "ours", {"n": 3})


def test_a_curve_has_means_and_students_intervals_over_seeds() -> None:
    curve = runs_of(FRAME, ["n"]).curve("a", "m", "theirs", "n", scale=0.1, x_scale=100)
    half = stats.sem([5.0, 7.0]) * stats.t.ppf(0.975, 1)
    assert (curve.panel, curve.name, list(curve.x)) == ("a", "theirs", [100, 200])
    assert list(curve.y) == pytest.approx([0.6, 0.7])
    assert curve.low is not None
    assert curve.high is not None
    assert list(curve.low) == pytest.approx([0.6 - half * 0.1, 0.7 - half * 0.1])
    assert list(curve.high) == pytest.approx([0.6 + half * 0.1, 0.7 + half * 0.1])


def test_a_curve_with_a_point_of_one_run_has_no_band() -> None:
    curve = runs_of(FRAME, ["n"]).curve("a", "m", "ours", "n")
    assert list(curve.y) == [1.5, 3.0]
    assert curve.low is None


def test_a_curve_over_a_metric_stands_at_its_means() -> None:
    frame = FRAME.with_columns(load=polars.col("n") * 10 + polars.col("seed"))
    curve = runs_of(frame, ["n"]).curve("a", "m", "theirs", "load")
    assert list(curve.x) == [11.5, 21.5]


def test_over_draws_each_discipline_in_each_panel() -> None:
    runs = runs_of(FRAME, ["n"])
    evidence = Evidence({"e": runs}, "ours", quick=False)
    curves = list(sketch.over("e", "n", {"a": "m", "b": ("m", 2)})(evidence))
    assert [(curve.panel, curve.name) for curve in curves] == [
        ("a", "ours"),
        ("a", "theirs"),
        ("b", "ours"),
        ("b", "theirs"),
    ]
    assert list(curves[3].y) == [12.0, 14.0]


def test_bars_have_intervals_only_if_all_of_them_do() -> None:
    told = [Summary.of([1.0, 2.0, 3.0]), Summary.of([4.0, 4.0])]
    curve = sketch.bars("a", "x", ["one", "two"], told, scale=10)
    assert list(curve.y) == [20.0, 40.0]
    assert curve.low is not None
    assert curve.high is not None
    half = 10 * stats.t.ppf(0.975, 2) / math.sqrt(3)
    assert list(curve.low) == pytest.approx([20 - half, 40])
    assert list(curve.high) == pytest.approx([20 + half, 40])
    curve = sketch.bars("a", "x", ["one", "two"], [told[0], Summary.of([None])])
    assert (curve.low, curve.high) == (None, None)
    assert math.isnan(curve.y[1])


# Running several studies


def test_what_two_studies_mean_is_done_once(tiny: Scenario, tmp_path: Path, simulated: list[Task]) -> None:
    wide = study(tiny, {"aqm.q0": [10, 20]}, ["lred", "droptail"], 2)
    narrow = study(tiny.with_({"aqm.q0": 20}), {}, {"other name": "lred:q0=20"}, 1)
    first, second = run_all([wide, narrow], tmp_path)
    assert len(simulated) == 6  # drop-tail has no q0
    assert (len(first.frame), len(second.frame)) == (8, 1)
    assert second.frame["aqm"].to_list() == ["other name"]
    same = first.frame.filter(polars.col("aqm") == "lred", polars.col("aqm.q0") == 20, polars.col("seed") == 7)
    assert same["key"].to_list() == second.frame["key"].to_list()
    assert same["queue_mean"].to_list() == second.frame["queue_mean"].to_list()


def test_series_are_kept_and_are_those_of_a_run(tiny: Scenario, tmp_path: Path) -> None:
    asked = study(tiny, {"aqm.q0": [10, 20]}, ["lred"], 2, series=True)
    (sweep,) = run_all([asked], tmp_path)
    runs = Runs(asked, sweep, Store(tmp_path), "lred")
    for seed in (7, 8):
        alone = aqmlab.run(tiny.with_({"aqm.q0": 20}, seed=seed)).series_of(seed)
        assert_frame_equal(runs.series("lred", {"aqm.q0": 20}, seed), alone)
    with pytest.raises(LookupError, match="2 runs of lred at None: say which point"):
        runs.series("lred")


def test_over_time_is_the_series_at_the_middle_of_its_bins(tiny: Scenario, tmp_path: Path) -> None:
    asked = study(tiny, {}, ["lred"], 1, series=True)
    runs = Runs(asked, run_all([asked], tmp_path)[0], Store(tmp_path), "lred")
    series = runs.series("lred")
    step = series["t"][1]
    curve = runs.over_time("a", "lred", quantity="queue.max", scale=2)
    assert list(curve.x) == pytest.approx([t + step / 2 for t in series["t"]])
    link = tiny.resolved["observe"]
    assert list(curve.y) == [2 * value for value in series[f"{link}.queue.max"]]
    coarse = runs.over_time("a", "lred", bin=0.5)
    assert list(coarse.x) == pytest.approx([0.25, 0.75, 1.25, 1.75])
    first = series.filter(polars.col("t") < 0.5 - step / 2)[f"{link}.queue.mean"]
    assert coarse.y[0] == pytest.approx(first.mean())


def test_only_what_lacks_series_is_done_again_for_them(tiny: Scenario, tmp_path: Path, simulated: list[Task]) -> None:
    def asked(series: bool, q0: list[int]) -> Study:
        return study(tiny, {"aqm.q0": q0}, ["lred"], 1, series=series)

    run_all([asked(False, [10, 20])], tmp_path)
    run_all([asked(True, [20, 30])], tmp_path)
    assert Counter(one.series for one in simulated) == {False: 2, True: 2}
    run_all([asked(True, [20]), asked(False, [10, 20, 30])], tmp_path)
    assert len(simulated) == 4


def test_a_run_that_is_wanted_with_and_without_series_is_done_once(
    tiny: Scenario, tmp_path: Path, simulated: list[Task]
) -> None:
    run_all([study(tiny, {}, ["lred"], 2), study(tiny, {}, ["lred"], 1, series=True)], tmp_path)
    assert Counter(one.series for one in simulated) == {False: 1, True: 1}


def test_an_interrupt_keeps_the_runs_of_every_study(tiny: Scenario, tmp_path: Path, simulated: list[Task]) -> None:
    long = tiny.with_(duration="60 s")
    asked = [study(long, {"aqm.q0": [q0]}, ["lred"], 10, series=q0 == 20) for q0 in (10, 20)]

    def progress(standing: aqmlab.sweeping.Standing) -> None:
        if standing.done >= 3:
            raise KeyboardInterrupt

    stopped = run_all(asked, tmp_path, jobs=1, progress=progress)
    there = sum(len(sweep.frame) for sweep in stopped)
    assert all(sweep.interrupted for sweep in stopped)
    assert 3 <= there < 20
    before = len(simulated)
    finished = run_all(asked, tmp_path)
    assert len(simulated) - before == 20 - there
    assert [len(sweep.frame) for sweep in finished] == [10, 10]


def test_a_star_stands_for_all_traffic_that_has_the_setting() -> None:
    mixed = Scenario.parse(TINY + '\n[[traffic]]\nname = "noise"\nkind = "cbr"\nrate = "10 kbit/s"\n')
    assert spread({"traffic.*.tcp.min_rto": "1 s", "aqm.q0": 10}, mixed) == {
        "traffic.long.tcp.min_rto": "1 s",
        "aqm.q0": 10,
    }
    changed = mixed.with_(spread({"traffic.*.tcp.min_rto": "1 s"}, mixed)).resolved
    assert [entry["tcp"]["min_rto"] for entry in changed["traffic"] if "tcp" in entry] == ["1 s"]
    assert set(spread({"traffic.*.packet_size": "1 kB"}, mixed)) == {
        "traffic.long.packet_size",
        "traffic.noise.packet_size",
    }


# What the shipped papers refer to


@pytest.fixture(scope="module", params=PAPERS)
def paper(request: pytest.FixtureRequest) -> Paper:
    return library.load(request.param)


def test_a_shipped_paper_has_names_that_tell_things_apart(paper: Paper) -> None:
    assert paper.name in PAPERS
    for things in (paper.experiments, paper.items, paper.claims, paper.variants):
        names = [thing.name for thing in things]
        assert len(set(names)) == len(names)
    for item in paper.items:
        assert re.fullmatch(r"[a-z0-9-]+", item.name), "files are called so"
        if isinstance(item, Figure):
            letters = [panel.letter for panel in item.panels]
            assert len(set(letters)) == len(letters), item.name


def test_a_shipped_paper_needs_and_shows_what_it_has(paper: Paper) -> None:
    experiments = {one.name for one in paper.experiments}
    items = {one.name for one in paper.items}
    needed = {name for one in (*paper.items, *paper.claims) for name in one.needs}
    assert needed == experiments, "what is needed is there, and what is there is needed"
    assert {name for claim in paper.claims for name in claim.shown} <= items
    for variant in paper.variants:
        assert set(variant.only) <= experiments, variant.name
        assert variant.settings or variant.only, variant.name
    assert not any(claim.sensitive for claim in paper.claims) or paper.variants
    assert not paper.hero or any(paper.hero in one.aqms for one in paper.experiments)


def test_a_shipped_paper_says_where_each_claim_is_and_why_each_choice(paper: Paper) -> None:
    assert paper.title
    for claim in paper.claims:
        assert claim.where, claim.name
        assert claim.text.endswith("."), claim.name
    for choice in paper.choices:
        assert choice.what, choice
        assert choice.ours, choice
        assert choice.why, choice


def test_every_scenario_of_a_shipped_paper_is_valid_in_every_setting(paper: Paper) -> None:
    for setting in running.settings(paper, Effort(seeds=1)):
        quick = replace(setting, quick=True)
        for experiment in paper.experiments:
            wanted = quick.study(paper, experiment) if experiment.name in quick.needs else None
            if wanted:
                assert Plan.of(wanted).failures == [], (setting.name, experiment.name)


# The command, with the paper of CONTRIBUTING.md


@pytest.fixture
def bloat(tmp_path: Path) -> Path:
    """Give the folder of the example of a new paper, to the letter."""
    page = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
    section = page[page.index("## Adding a paper") :].partition("\n## ")[0]
    files = {"toml": "base.toml", "python": "paper.py"}
    folder = tmp_path / "mine" / "bloat"
    folder.mkdir(parents=True)
    for language, name in files.items():
        assert f"`bloat/{name}`" in section
        (content,) = re.findall(rf"^```{language}\n(.*?)^```$", section, re.DOTALL | re.MULTILINE)
        (folder / name).write_text(content, encoding="utf-8")
    return folder


def change(folder: Path, before: str, after: str) -> None:
    file = folder / "paper.py"
    text = file.read_text(encoding="utf-8")
    assert before in text
    file.write_text(text.replace(before, after), encoding="utf-8")


def test_the_example_of_a_new_paper_works_to_the_letter(
    bloat: Path, quick_cli: Cli, tmp_path: Path, simulated: list[Task]
) -> None:
    done = quick_cli("reproduce", bloat, "--quick")
    assert (done.returncode, done.stderr) == (0, "")
    assert len(simulated) == 2 + 2, "the paper's, and PIE and DualPI2 beside CoDel"
    assert re.search(r"^shorter +reproduced +mean wait with drop tail less that with CoDel: \d+", done.stdout, re.M)
    assert "1 claim of the paper: 1 reproduced\n4 runs, simulated in " in done.stdout
    assert "written to out/reproduce/bloat: report.html, findings.json, 1 figure\n" in done.stdout
    folder = tmp_path / "out/reproduce/bloat"
    assert {file.name for file in folder.iterdir()} == {
        *(f"fig1.{form}" for form in ("svg", "png", "parquet", "csv")),
        "report.html",
        "findings.json",
    }
    data = polars.read_csv(folder / "fig1.csv")
    assert data.select("curve", "x").rows() == [("CoDel", 200.0), ("drop tail", 200.0)]
    assert data["y"][0] < data["y"][1]


def test_the_same_again_has_nothing_to_do(bloat: Path, quick_cli: Cli, tmp_path: Path, simulated: list[Task]) -> None:
    quick_cli("reproduce", bloat, "--quick")
    files = {file: file.stat().st_mtime_ns for file in (tmp_path / "out/reproduce/bloat").iterdir()}
    simulated.clear()
    again = quick_cli("reproduce", bloat, "--quick")
    assert "nothing to do; in out/reproduce/bloat: " in again.stdout
    assert {file: file.stat().st_mtime_ns for file in files} == files
    (tmp_path / "out/reproduce/bloat/fig1.png").unlink()
    assert "written to out/reproduce/bloat: " in quick_cli("reproduce", bloat, "--quick").stdout
    assert (tmp_path / "out/reproduce/bloat/fig1.png").is_file()
    change(bloat, "CoDel drops as long as", "It drops as long as")
    assert "written to out/reproduce/bloat: " in quick_cli("reproduce", bloat, "--quick").stdout
    assert "It drops as long as" in (tmp_path / "out/reproduce/bloat/report.html").read_text(encoding="utf-8")
    assert simulated == []


def test_all_of_a_paper_has_its_settings_and_a_page(
    bloat: Path, quick_cli: Cli, tmp_path: Path, simulated: list[Task]
) -> None:
    done = quick_cli("reproduce", bloat, "--seeds", "3", "--out", "all", "--json")
    document = json.loads(done.stdout)
    assert len(simulated) == 24 + 6 + 6, "four buffers; two later disciplines; the variant"
    assert (document["wanted"], document["done"], document["seeds"]) == (36, 36, [1, 2, 3])
    assert document["later"]["rivals"] == ["PIE", "DualPI2"]
    assert [one["variant"] for one in document["sensitivity"]] == ["minimum RTO 200 ms"]
    simulated.clear()
    part = quick_cli("reproduce", bloat, "--seeds", "3", "--out", "part", "--store", "all/store", "--only", "fig1")
    assert part.returncode == 0
    assert "24 runs, all in the store" in part.stdout
    assert simulated == []

    assert pages.write(tmp_path / "all", tmp_path / "docs") == ["bloat"]
    page = (tmp_path / "docs/bloat.md").read_text(encoding="utf-8")
    assert "| shorter | Section 2, Fig. 1 | **reproduced** | mean wait with drop tail less that with CoDel: " in page
    assert "\n## What holds\n\n**shorter** (Section 2, Fig. 1). With CoDel packets wait for less time" in page
    assert "\n| as chosen | reproduced |\n| minimum RTO 200 ms | " in page
    assert "\n| minimum RTO | nothing | 1 s | what RFC 6298 says |\n" in page
    assert "claimed >= 0 ms" in page
    (image,) = re.findall(r"!\[.*\]\((.*)\)", page)
    assert (tmp_path / "docs" / image).stat().st_size < (tmp_path / "all/fig1.png").stat().st_size * 0.7
    index = (tmp_path / "docs/README.md").read_text(encoding="utf-8")
    assert "| [On long queues](bloat.md) | 1 | 1 | 0 | 0 | 0 | 0 |" in index
    with pytest.raises(ValueError, match=r"nothing: no findings\.json there"):
        pages.write(tmp_path / "nothing", tmp_path / "docs")


def test_signs_of_markdown_are_taken_as_they_are(bloat: Path, quick_cli: Cli, tmp_path: Path) -> None:
    change(bloat, "CoDel drops as long as", "PI* and PI* < CoDel drops as long as")
    quick_cli("reproduce", bloat, "--quick", "--out", "out")
    pages.write(tmp_path / "out", tmp_path / "docs")
    assert r"PI\* and PI\* \< CoDel drops" in (tmp_path / "docs/bloat.md").read_text(encoding="utf-8")


def test_a_page_is_of_a_whole_paper(bloat: Path, quick_cli: Cli, tmp_path: Path) -> None:
    quick_cli("reproduce", bloat, "--quick", "--only", "fig1", "--out", "part")
    with pytest.raises(ValueError, match="part: not all of bloat was done"):
        pages.write(tmp_path / "part", tmp_path / "docs")


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["nonsense"], "nonsense: no such paper; there is "),
        (["all", "--only", "fig99"], "fig99: "),
        (["mine/bloat", "--only", "fig2"], "fig2: bloat has fig1"),
        (["--only", "fig1"], "say of which paper"),
        (["mine/bloat", "--cluster", "tcp://x:1", "--jobs", "2"], "the workers of --cluster say"),
        (["mine/bloat", "--out", "mine/bloat/paper.py"], "mine/bloat/paper.py: not a folder"),
        (["mine/bloat", "--store", "mine/bloat/paper.py"], "mine/bloat/paper.py: not a folder"),
        (["mine/bloat", "--seeds", "0"], "--seeds"),
    ],
)
def test_bad_usage_exits_2_and_runs_nothing(
    arguments: list[str], said: str, bloat: Path, quick_cli: Cli, tmp_path: Path
) -> None:
    done = quick_cli("reproduce", *arguments)
    assert done.returncode == 2
    assert said in done.stderr
    assert bloat.is_dir()
    assert not (tmp_path / "out").exists()


def test_a_file_that_cannot_be_read_is_told_with_its_line(bloat: Path, quick_cli: Cli) -> None:
    change(bloat, "BUFFER = ", "BUFFER = 1 / 0  # ")
    done = quick_cli("reproduce", bloat)
    assert done.returncode == 2
    assert re.search(r"bloat/paper\.py:\d+: ZeroDivisionError: division by zero", done.stderr)


def test_an_interrupted_reproduction_goes_on(
    bloat: Path, quick_cli: Cli, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    simulate, calls = local.simulate, []

    def stopped(one: Task, watch: Callable[[float], bool] | None = None) -> Done | None:
        calls.append(one)
        if len(calls) == 4:
            raise KeyboardInterrupt
        return simulate(one, watch)

    monkeypatch.setattr(local, "simulate", stopped)
    done = quick_cli("reproduce", bloat, "--quick", "--jobs", "1")
    assert done.returncode == 130
    assert done.stderr == "interrupted: bloat: 3 of 4 runs are there; the same again does the rest\n"
    assert not (tmp_path / "out/reproduce/bloat/report.html").exists()
    again = quick_cli("reproduce", bloat, "--quick", "--jobs", "1")
    assert (again.returncode, len(calls)) == (0, 4 + 1)
    assert "1 claim of the paper: 1 reproduced" in again.stdout


def test_ctrl_c_while_it_draws_keeps_the_runs(
    bloat: Path, quick_cli: Cli, monkeypatch: pytest.MonkeyPatch, simulated: list[Task]
) -> None:
    def stopped(*_: object, **__: object) -> None:
        raise KeyboardInterrupt

    with monkeypatch.context() as patched:
        patched.setattr(writing, "write", stopped)
        done = quick_cli("reproduce", bloat, "--quick")
    assert (done.returncode, done.stderr) == (130, "interrupted; the same again does the rest\n")
    simulated.clear()
    assert quick_cli("reproduce", bloat, "--quick").returncode == 0
    assert simulated == []


def test_a_figure_that_cannot_be_drawn_costs_no_claim(bloat: Path, quick_cli: Cli, tmp_path: Path) -> None:
    drawn = 'curves=over("buffers", "dumbbell.buffer", {"": ("delay_mean", 1e3)})'
    change(bloat, drawn, "curves=lambda evidence: [1 / 0]")
    done = quick_cli("reproduce", bloat, "--quick")
    assert done.returncode == 1
    assert re.fullmatch(r"bloat: fig1: ZeroDivisionError: division by zero \(paper\.py:\d+\)\n", done.stderr)
    assert "1 claim of the paper: 1 reproduced" in done.stdout
    document = read_json(tmp_path / "out/reproduce/bloat/findings.json")
    assert "ZeroDivisionError" in document["left_out"][0]["missing"]
    again = quick_cli("reproduce", bloat, "--quick")
    assert again.returncode == 1, "an error is no less one when it is repeated"
    assert again.stderr == done.stderr


def test_a_run_that_fails_is_listed_and_costs_what_needs_it(bloat: Path, quick_cli: Cli, tmp_path: Path) -> None:
    change(bloat, 'quick={"dumbbell.buffer": "200 packets"}', 'quick={"dumbbell.buffer": ["200 packets", "0 packets"]}')
    done = quick_cli("reproduce", bloat, "--quick", "--out", "out")
    assert done.returncode == 1
    assert done.stderr.startswith("bloat: CoDel, dumbbell.buffer = 0")
    document = read_json(tmp_path / "out/findings.json")
    assert [one["claim"] for one in document["not_judged"]] == ["shorter"]


def test_an_error_in_one_paper_does_not_lose_the_others(
    bloat: Path, quick_cli: Cli, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    broken = bloat.with_name("broken")
    shutil.copytree(bloat, broken)
    change(broken, 'name="bloat"', 'name="broken"')
    change(broken, 'scenario="bloat/base"', 'scenario="nowhere"')
    load = library.load
    monkeypatch.setattr(library, "names", lambda: [])
    papers = {"broken": load(str(broken)), "bloat": load(str(bloat))}
    monkeypatch.setattr(library, "names", lambda: list(papers))
    monkeypatch.setattr(library, "load", lambda name: papers[name])
    done = quick_cli("reproduce", "all", "--quick", "--out", "both")
    assert done.returncode == 1
    assert done.stderr.startswith("broken: ScenarioError: nowhere")
    assert "1 papers in " in done.stdout
    assert (tmp_path / "both/bloat/report.html").is_file()
    assert "On long queues" in (tmp_path / "both/index.html").read_text(encoding="utf-8")
    assert not (tmp_path / "both/broken/report.html").exists()


def test_the_list_has_every_item_and_claim_with_a_time(quick_cli: Cli, monkeypatch: pytest.MonkeyPatch) -> None:
    name = PAPERS[0]
    monkeypatch.setattr(library, "names", lambda: [name])
    listed = quick_cli("reproduce").stdout
    assert listed.startswith(f"{name}: ")
    for one in (*library.load(name).items, *library.load(name).claims):
        assert re.search(rf"^  {one.name} +(< )?[\d.]+ (s|min|h)  \S", listed, re.M), one.name


def test_an_estimate_is_of_what_is_missing(bloat: Path, tmp_path: Path) -> None:
    paper, effort, store = library.load(str(bloat)), Effort(seeds=1, quick=True), tmp_path / "store"
    (before,) = estimates([paper], effort, store, 1e6)
    assert (before.runs, before.missing) == (4, 4)
    assert before.items == {"fig1": before.claims["shorter"]}
    assert 0 < before.items["fig1"] < before.seconds
    (slow,) = estimates([paper], effort, store, 5e5)
    assert slow.seconds == pytest.approx(2 * before.seconds)
    running.run(paper, replace(effort, only=frozenset(["fig1"])), store)
    (after,) = estimates([paper], effort, store, 1e6)
    assert (after.runs, after.missing, after.items["fig1"]) == (4, 2, 0)
    assert after.seconds == pytest.approx(before.seconds - before.items["fig1"])


def test_a_machines_speed_is_that_of_some_simulation() -> None:
    assert 1e4 < measured_speed() < 1e10
