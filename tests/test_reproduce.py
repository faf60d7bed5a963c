"""The command ``aqmlab reproduce``, with the paper of CONTRIBUTING.md."""

import json
import re
import shutil
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import polars
import pytest
import saved
from conftest import Cli

from aqmlab.execute import threads
from aqmlab.execute.task import Outcome as Done
from aqmlab.execute.task import Task
from aqmlab.files import read_json
from aqmlab.runs.store import Store
from aqmlab_papers import reproduction
from aqmlab_papers.describe import library
from aqmlab_papers.run import sweep
from aqmlab_papers.run.estimate import estimates, measured_speed
from aqmlab_papers.run.sweep import Effort
from aqmlab_papers.show import folder as writing
from aqmlab_papers.show import pages

PAPERS = library.names()


@pytest.fixture
def bloat(tmp_path: Path) -> Path:
    """Return the folder with the example of a new paper, to the letter."""
    return saved.paper(tmp_path / "mine" / "bloat")


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
    found = r"^shorter +reproduced +tentative, with 1 seed: one-way delay of CoDel minus that of drop tail, 2"
    assert re.search(found, done.stdout, re.M)
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


def test_a_paper_in_a_folder_may_have_several_files(bloat: Path) -> None:
    whole = (bloat / "paper.py").read_text(encoding="utf-8")
    (bloat / "all.py").write_text(whole, encoding="utf-8")
    (bloat / "paper.py").write_text("from .all import PAPER as PAPER\n", encoding="utf-8")
    assert library.load(str(bloat)).name == "bloat"
    line = len(whole.splitlines()) + 2
    (bloat / "all.py").write_text(f"{whole}\nnone_such\n", encoding="utf-8")
    with pytest.raises(ValueError, match=rf"all\.py:{line}: NameError"):
        library.load(str(bloat))


def test_the_same_again_has_nothing_to_do(bloat: Path, quick_cli: Cli, tmp_path: Path, simulated: list[Task]) -> None:
    quick_cli("reproduce", bloat, "--quick")
    files = {file: file.stat().st_mtime_ns for file in (tmp_path / "out/reproduce/bloat").iterdir()}
    simulated.clear()
    again = quick_cli("reproduce", bloat, "--quick")
    assert "up to date in out/reproduce/bloat: " in again.stdout
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
    assert [one["variant"] for one in document["sensitivity"]] == [sweep.CONTROL, "minimum RTO 200 ms"]
    simulated.clear()
    part = quick_cli("reproduce", bloat, "--seeds", "3", "--out", "part", "--store", "all/store", "--only", "fig1")
    assert part.returncode == 0
    assert "24 runs, all in the store" in part.stdout
    assert simulated == []

    assert pages.write(tmp_path / "all", tmp_path / "docs") == ["bloat"]
    page = (tmp_path / "docs/claims/bloat.md").read_text(encoding="utf-8")
    assert "\nSays that CoDel keeps waits short, however large the buffer is.\n" in page
    says = "With CoDel packets wait for less time, whatever the buffer."
    assert re.search(rf"^\| shorter \| {says} \| .* \| reproduced \| .* \| Figure 1 \|$", page, re.MULTILINE)
    assert "`aqmlab reproduce bloat` makes the report" in page
    with pytest.raises(ValueError, match=r"nothing: no findings\.json there"):
        pages.write(tmp_path / "nothing", tmp_path / "docs")


def test_signs_of_markdown_are_taken_as_they_are(bloat: Path, quick_cli: Cli, tmp_path: Path) -> None:
    change(bloat, "With CoDel packets wait", "PI* and PI* < CoDel, `a*|<b>` &amp; more | packets wait")
    change(bloat, '"as in RFC 6298"', '"`min_rto` | RFC 6298"')
    quick_cli("reproduce", bloat, "--quick", "--out", "out")
    pages.write(tmp_path / "out", tmp_path / "docs")
    page = (tmp_path / "docs/claims/bloat.md").read_text(encoding="utf-8")
    assert r"| PI\* and PI\* \< CoDel, `a*\|<b>` \&amp; more \| packets wait" in page
    html = (tmp_path / "out/report.html").read_text(encoding="utf-8")
    assert "PI* and PI* &lt; CoDel, <code>a*|&lt;b&gt;</code> &amp;amp; more | packets wait" in html
    assert "<code>min_rto</code> | RFC 6298" in html


def test_a_page_is_of_a_whole_paper(bloat: Path, quick_cli: Cli, tmp_path: Path) -> None:
    quick_cli("reproduce", bloat, "--quick", "--only", "fig1", "--out", "part")
    with pytest.raises(ValueError, match="part: not all of bloat was done"):
        pages.write(tmp_path / "part", tmp_path / "docs")


def test_a_paper_is_listed_without_a_run_and_a_claim_stands_for_its_figure(
    bloat: Path, quick_cli: Cli, tmp_path: Path, simulated: list[Task]
) -> None:
    listed = quick_cli("reproduce", bloat, "--list")
    assert re.search(r"^  fig1 .*Mean wait over the buffer$", listed.stdout, re.M)
    assert re.search(r"^  shorter .*With CoDel packets wait", listed.stdout, re.M)
    assert simulated == []
    assert not (tmp_path / "out").exists()
    done = quick_cli("reproduce", bloat, "--quick", "--only", "shorter", "--json")
    assert json.loads(done.stdout)["only"] == ["fig1"]


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["nonsense"], "nonsense: no such paper; there is "),
        (["all", "--only", "fig99"], "fig99: "),
        (["mine/bloat", "--only", "fig2"], "fig2: bloat has fig1; --list has the claims"),
        (["--only", "fig1"], "applies only to a PAPER"),
        (["mine/bloat", "--cluster", "tcp://x:1", "--jobs", "2"], "not allowed with --cluster"),
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
    simulate, calls = threads.simulate, []

    def stopped(one: Task, watch: Callable[[float], bool] | None = None) -> Done | None:
        calls.append(one)
        if len(calls) == 4:
            raise KeyboardInterrupt
        return simulate(one, watch)

    monkeypatch.setattr(threads, "simulate", stopped)
    done = quick_cli("reproduce", bloat, "--quick", "--jobs", "1")
    assert done.returncode == 130
    assert done.stderr == "interrupted: bloat: 3 of 4 runs are finished; rerunning the command computes the rest\n"
    assert not (tmp_path / "out/reproduce/bloat/report.html").exists()
    again = quick_cli("reproduce", bloat, "--quick", "--jobs", "1")
    assert (again.returncode, len(calls)) == (0, 4 + 1)
    assert "1 claim of the paper: 1 reproduced" in again.stdout


def test_only_those_runs_are_repeated_from_which_an_open_part_was_computed(
    bloat: Path, quick_cli: Cli, tmp_path: Path, simulated: list[Task]
) -> None:
    open_one = "[replace(one, half=half) for one, half in zip(checks, (1e6, 0), strict=True)]"
    change(bloat, "return Judgement(checks,", f"return Judgement({open_one},")
    change(bloat, "from aqmlab_papers.run.sketch", "from dataclasses import replace\nfrom aqmlab_papers.run.sketch")
    change(bloat, "50,100..200 packets", "100,200 packets")
    command = ("reproduce", bloat, "--seeds", "2", "--most-seeds", "4", "--out", "out", "--json")
    found = json.loads(quick_cli(*command).stdout)
    assert [(one["name"], one["seeds"], one["wanted"]) for one in found["experiments"]] == [
        ("buffers", [1, 2, 3, 4], 2 * 2 * 2 + 2 * 2)
    ]
    assert found["experiments"][0]["more"] == [
        {"aqm": label, "point": 0, "seeds": 4} for label in ("CoDel", "drop tail")
    ]
    simulated.clear()
    assert json.loads(quick_cli(*command).stdout)["claims"] == found["claims"]
    assert not simulated


def test_findings_of_an_earlier_version_know_no_further_seeds(monkeypatch: pytest.MonkeyPatch) -> None:
    effort = Effort()
    more = [{"aqm": "CoDel", "point": 1, "seeds": 20}]
    experiments = [{"name": "old"}, {"name": "none", "more": []}, {"name": "new", "more": more}]
    found = {"effort": effort.document(), "experiments": experiments}
    monkeypatch.setattr(reproduction, "unsealed", lambda *_: found)
    assert reproduction.known_seeds(Path(), effort) == {"new": {("CoDel", 1): 20}}


def test_ctrl_c_at_a_later_look_keeps_the_verdicts_of_the_look_before(
    bloat: Path, quick_cli: Cli, monkeypatch: pytest.MonkeyPatch
) -> None:
    change(bloat, "return Judgement(checks,", f"return Judgement({WIDE.format(least=3)},")
    change(bloat, "from aqmlab_papers.run.sketch", "from dataclasses import replace\nfrom aqmlab_papers.run.sketch")
    change(bloat, "50,100..200 packets", "200 packets")
    simulate, calls = threads.simulate, []

    def stopped(one: Task, watch: Callable[[float], bool] | None = None) -> Done | None:
        calls.append(one)
        if len(calls) == 12 + 2:
            raise KeyboardInterrupt
        return simulate(one, watch)

    command = ("reproduce", bloat, "--seeds", "2", "--most-seeds", "4", "--jobs", "1", "--json")
    with monkeypatch.context() as patched:
        patched.setattr(threads, "simulate", stopped)
        done = quick_cli(*command)
    assert done.returncode == 130
    assert [(one["verdict"], one["seeds"]) for one in json.loads(done.stdout)["claims"]] == [("undecided", 2)]
    found = json.loads(quick_cli(*command).stdout)
    assert [(one["verdict"], one["seeds"]) for one in found["claims"]] == [("reproduced", 4)]


def test_ctrl_c_while_it_draws_keeps_the_runs(
    bloat: Path, quick_cli: Cli, monkeypatch: pytest.MonkeyPatch, simulated: list[Task]
) -> None:
    def stopped(*_: object, **__: object) -> None:
        raise KeyboardInterrupt

    with monkeypatch.context() as patched:
        patched.setattr(writing, "write", stopped)
        done = quick_cli("reproduce", bloat, "--quick")
    assert (done.returncode, done.stderr) == (130, "interrupted; rerunning the command computes the rest\n")
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


def test_runs_that_are_lost_from_the_store_end_it_with_a_status_of_their_own(
    bloat: Path, quick_cli: Cli, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    add = Store.add
    first: list[bytes] = []

    def forgetful(self: Store, payload: bytes) -> None:
        first.append(payload[:32])
        if payload[:32] != first[0]:
            add(self, payload)

    monkeypatch.setattr(Store, "add", forgetful)
    done = quick_cli("reproduce", bloat, "--quick", "--jobs", "1", "--out", "out")
    assert done.returncode == 3
    assert "seed 1: done and not in out/store afterwards" in done.stderr
    assert first.count(first[0]) == 3
    assert len(first) == 4 + 2


def test_findings_that_are_damaged_are_made_reloaded_and_make_no_pages(
    bloat: Path, quick_cli: Cli, tmp_path: Path, simulated: list[Task]
) -> None:
    quick_cli("reproduce", bloat, "--quick", "--out", "out")
    file = tmp_path / "out/findings.json"
    sound = file.read_bytes()
    at = sound.index(b'"verdict": "reproduced"') + 12
    simulated.clear()
    for damaged in (sound[:at] + b"R" + sound[at + 1 :], sound[:-1], b"{}"):
        file.write_bytes(damaged)
        with pytest.raises(ValueError, match=r"findings\.json: .*checksum.*to recreate it: aqmlab reproduce all"):
            pages.write(tmp_path / "out", tmp_path / "docs")
        done = quick_cli("reproduce", bloat, "--quick", "--out", "out")
        assert "up to date" not in done.stdout
        assert read_json(file)["claims"][0]["verdict"] == "reproduced"
    assert simulated == []
    assert "up to date" in quick_cli("reproduce", bloat, "--quick", "--out", "out").stdout


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
    assert "1 paper in " in done.stdout
    assert (tmp_path / "both/bloat/report.html").is_file()
    assert "On long queues" in (tmp_path / "both/index.html").read_text(encoding="utf-8")
    assert not (tmp_path / "both/broken/report.html").exists()


def test_a_claim_that_stays_open_is_said_to_be_undecided(bloat: Path, quick_cli: Cli, tmp_path: Path) -> None:
    change(bloat, "return Judgement(checks,", "return Judgement([replace(one, half=1e6) for one in checks],")
    change(
        bloat,
        "from aqmlab_papers.run.sketch",
        "from dataclasses import replace\nfrom aqmlab_papers.run.sketch",
    )
    done = quick_cli("reproduce", bloat, "--seeds", "2", "--quick", "--out", "out")
    assert re.search(r"^shorter +undecided +tentative, with 2 seeds: one-way delay of CoDel minus", done.stdout, re.M)
    html = (tmp_path / "out/report.html").read_text(encoding="utf-8")
    assert html.count('undecided</span><br><span class="small">tentative, with 2 seeds</span>') == 3
    pages.write(tmp_path / "out", tmp_path / "docs")
    page = (tmp_path / "docs/claims/bloat.md").read_text(encoding="utf-8")
    assert re.search(r"whatever the buffer. \| .* \| undecided \|", page)


WIDE = "[replace(one, half=1e6 if len(buffers.study.seeds) < {least} else one.half) for one in checks]"


@pytest.mark.parametrize(("least", "verdict", "seeds"), [(3, "reproduced", 4), (9, "undecided", 5)])
def test_runs_of_undecided_claims_are_repeated_with_more_seeds(
    bloat: Path, quick_cli: Cli, simulated: list[Task], least: int, verdict: str, seeds: int
) -> None:
    change(bloat, "return Judgement(checks,", f"return Judgement({WIDE.format(least=least)},")
    change(bloat, "from aqmlab_papers.run.sketch", "from dataclasses import replace\nfrom aqmlab_papers.run.sketch")
    change(bloat, "50,100..200 packets", "200 packets")
    command = ("reproduce", bloat, "--seeds", "2", "--most-seeds", "5", "--out", "out", "--json")
    found = json.loads(quick_cli(*command).stdout)
    assert [(one["verdict"], one["seeds"]) for one in found["claims"]] == [(verdict, seeds)]
    assert [one["seeds"] for one in found["later"]["claims"]] == [2], "the paper's own setting alone goes on"
    assert len(simulated) == 2 * seeds + 2 * 2 + 2 * 2
    simulated.clear()
    assert json.loads(quick_cli(*command).stdout)["claims"] == found["claims"]
    assert "up to date" in quick_cli(*command[:-1]).stdout
    assert simulated == []


def test_the_page_over_all_is_never_older_than_what_it_is_of(
    bloat: Path, quick_cli: Cli, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    load = library.load
    monkeypatch.setattr(library, "names", lambda: ["bloat"])
    monkeypatch.setattr(library, "load", lambda _: load(str(bloat)))
    monkeypatch.setattr(library, "folder", lambda _: bloat)
    quick_cli("reproduce", "all", "--quick", "--out", "both")
    change(bloat, "CoDel drops as long as", "It drops as long as")
    quick_cli("reproduce", "bloat", "--quick", "--out", "both/bloat", "--store", "both/store")
    assert "up to date" in quick_cli("reproduce", "all", "--quick", "--out", "both").stdout
    assert "It drops as long as" in (tmp_path / "both/index.html").read_text(encoding="utf-8")


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
    sweep.run(paper, replace(effort, only=frozenset(["fig1"])), store)
    (after,) = estimates([paper], effort, store, 1e6)
    assert (after.runs, after.missing, after.items["fig1"]) == (4, 2, 0)
    assert after.seconds == pytest.approx(before.seconds - before.items["fig1"])


def test_a_machines_speed_is_that_of_some_simulation() -> None:
    assert 1e4 < measured_speed() < 1e10
