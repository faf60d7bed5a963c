"""The evaluation of senders by RFC 9743: its guidelines, the placement of senders, refusals, runs and report."""

import json
import math
import re
import shlex
from pathlib import Path

import polars
import pytest
from conftest import Cli

from aqmlab import Scenario, ScenarioError
from aqmlab.scenario import shipped
from aqmlab_papers.evaluation.describe.sender import Sender, at, marked_at, senders
from aqmlab_papers.evaluation.run import Effort, Evidence, run
from aqmlab_papers.evaluation.scorecard import Cell, frame, scorecard
from aqmlab_papers.evaluation.senders import GUIDELINES
from aqmlab_papers.evaluation.senders.measures import goodput, path, segments_in_silence
from aqmlab_papers.evaluation.show import folder, pages, terminal
from aqmlab_papers.evaluation.show.document import beyond, document, opened
from aqmlab_papers.evaluation.standards import RFC7928, RFC9743

SECTIONS = """
5.1.1 5.1.2 5.1.3 5.1.4 5.1.5 5.2.1 5.2.2 5.2.3 5.3.1 5.3.2 6.1 6.2 6.3 6.4 7.1 7.2 7.3 7.4 7.5 7.6 7.7 7.8 7.9 7.10
7.11
"""
"""The RFC's guidelines, by its table of contents."""

SHORT = {"duration": "3 s", "warmup": "1 s"}


def effort(*labels: str, seeds: int = 1, sections: tuple[str, ...] = ()) -> Effort:
    return Effort(labels, RFC9743.reference, seeds, sections, standard=RFC9743)


@pytest.fixture(scope="module")
def few(tmp_path_factory: pytest.TempPathFactory) -> Evidence:
    """A section of small runs, with a sender whose packets may be marked."""
    chosen = effort("cubic:ecn=true", seeds=2, sections=("5.1.1", "7.4", "7.10"))
    return run(GUIDELINES, chosen, tmp_path_factory.mktemp("store"), jobs=2)


# The guidelines


def test_every_section_of_the_rfc_has_cases_or_is_open() -> None:
    assert [one.section for one in GUIDELINES] == SECTIONS.split()
    for one in GUIDELINES:
        assert one.cases or one.open, one.heading
        assert len({case.name for case in one.cases}) == len(one.cases)
        for case in one.cases:
            assert len({measure.name for measure in case.measures}) == len(case.measures), case.name


def test_every_scenario_of_the_folder_is_used() -> None:
    used = {case.scenario for one in GUIDELINES for case in one.cases}
    assert {name for name in shipped() if name.startswith("rfc9743/")} == used - {"rfc7928/unresponsive"}


def test_every_sender_enters_every_case_or_lacks_what_is_asked() -> None:
    for label in ("ns2.35:flavour=sack", "prague"):
        one = Sender(label)
        for case in (case for guideline in GUIDELINES for case in guideline.cases):
            scenario = Scenario.load(case.scenario)._base.with_(dict(case.settings))
            if case.placement.lacks(one):
                assert not one.marked
                continue
            placed = scenario.with_(case.placement.settings(one))
            placed.check()
            for settings in case.placement.settings(one):
                entry = next(each for each in placed.resolved["traffic"] if f"traffic.{each['name']}.tcp" == settings)
                assert entry["tcp"]["congestion"] == one.table["congestion"]


def test_a_case_changes_one_traffic_entry_and_leaves_the_others() -> None:
    base = Scenario.load("rfc9743/beside")
    own, others = base.with_(at("bulk").settings(Sender("bbr3"))).resolved["traffic"]
    assert (own["tcp"]["congestion"], others["tcp"]["congestion"]) == ("bbr3", "cubic")
    assert others == base.resolved["traffic"][1]


def test_only_senders_with_ecn_are_marked() -> None:
    assert [label for label in senders() if not marked_at("bulk").lacks(Sender(label))] == [
        "dctcp",
        "l4s",
        "prague",
        "bbr3-l4s",
    ]
    assert not marked_at("bulk").lacks(Sender("cubic:ecn=true"))


def test_of_equal_senders_all_has_the_first() -> None:
    assert "linux" in senders()
    assert "cubic" not in senders()


def test_every_group_is_known() -> None:
    assert {Sender(label).group for label in senders()} == set(RFC9743.groups)


def test_a_path_has_the_round_trip_of_its_name() -> None:
    resolved = Scenario.load("rfc9743/long").with_(path(10.0, 40.0)).resolved["dumbbell"]
    assert (resolved["delay"], resolved["sender_delay"], resolved["receiver_delay"]) == (
        "uniform(8 ms, 12 ms)",
        ["8 ms"],
        ["2 ms"],
    )
    assert 2 * (10 + 8 + 2) == 40


def test_one_percent_of_the_rate_is_of_interest() -> None:
    assert [(goodput("bulk", rate).least, goodput("bulk", rate).digits) for rate in (0.1, 10.0, 1000.0)] == [
        (0.001, 4),
        (0.1, 2),
        (10.0, 1),
    ]


def test_the_bound_of_silence_is_a_doubling_gap() -> None:
    # A segment at 0, after 0.1 s, 0.2 s more, 0.4 s more, …: the n-th gap ends at 0.1 (2^n - 1) s.
    sent = 1 + sum(0.1 * (2**gaps - 1) <= 58 for gaps in range(1, 100))
    assert segments_in_silence("bulk", 4, 32.0, 90.0).bound == sent == 10


# Refusals


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--tcp", "nope"], '--tcp nope: tcp = "nope": no such TCP; known: tahoe, reno'),
        (["--tcp", "cubic:foo=1"], "--tcp cubic:foo=1: tcp.foo: unknown key; known: flavour"),
        (["--tcp", "cubic:beta=2"], "tcp.beta = 2: must be in [0.1, 0.99]"),
        (["--tcp", "cubic", "--against", "nope"], '--tcp nope: tcp = "nope": no such TCP'),
        (["--tcp", "cubic", "--against", "all"], "all: must be one sender"),
        (["--tcp", "mine.py:Mine"], "a file cannot bring a congestion control"),
        (["--tcp", "cubic", "--tcp", "linux"], "cubic and linux are the same"),
        (["--tcp", "cubic", "--engine", "fluid"], "one run without a seed"),
        (["--tcp", "cubic", "--section", "5.4"], "5.4: must be one of 5.1.1,"),
        (["--aqm", "codel"], "codel: for --rfc 7928; --rfc 9743 evaluates senders, with --tcp"),
        ([], "give a sender, as in --tcp cubic, or --tcp all"),
    ],
)
def test_what_cannot_be_is_refused_before_anything_runs(
    quick_cli: Cli, tmp_path: Path, options: list[str], message: str
) -> None:
    done = quick_cli("evaluate", "--rfc", "9743", *options)
    assert done.returncode == 2
    assert message in " ".join((done.stderr + done.stdout).replace("│", " ").split())
    assert not list(tmp_path.iterdir())


def test_senders_are_for_the_other_rfc(quick_cli: Cli) -> None:
    done = quick_cli("evaluate", "--tcp", "cubic")
    assert done.returncode == 2
    assert "cubic: for --rfc 9743; --rfc 7928 evaluates disciplines, with --aqm" in " ".join(done.stderr.split())


def test_an_unknown_sender_has_the_place_of_the_error() -> None:
    with pytest.raises(ScenarioError, match="no such TCP") as caught:
        Sender("nope").require()
    assert caught.value.path == "traffic.bulk.tcp"


# Runs and report


def test_every_measure_has_a_value(few: Evidence) -> None:
    assert not few.failures
    for (section, name), case in few.cases.items():
        for label in (RFC9743.reference, "cubic:ecn=true"):
            for measure in case.case.measures:
                values = case.values(measure, label).values()
                assert len(values) == 2
                assert all(value is not None and math.isfinite(value) for value in values), (section, name, measure)


def test_a_backing_off_sender_is_within_the_bounds(few: Evidence) -> None:
    card = scorecard(few)
    bounded = [cell for cell in card.cells if cell.measure.bound is not None]
    assert len(bounded) == 4
    assert not any(cell.beyond for cell in bounded)
    silence = next(cell for cell in bounded if cell.measure.name == "Segments in silence")
    # Time-outs from 0.3 s on that double: 5 or 6 segments in a minute.
    assert silence.own.mean == pytest.approx(5, abs=1.5)


def test_what_is_beyond_a_bound_is_told(few: Evidence, monkeypatch: pytest.MonkeyPatch) -> None:
    found = document(few, scorecard(few), {}, "aqmlab evaluate --rfc 9743", 1.0)
    assert beyond(found) == []
    monkeypatch.setattr(Cell, "beyond", property(lambda cell: cell.measure.bound == 1.0))
    found = document(few, scorecard(few), {}, "aqmlab evaluate --rfc 9743", 1.0)
    lines = beyond(found)
    assert len(lines) == 2
    assert re.fullmatch(
        r"5\.1\.1 overload: cubic:ecn=true: Segments a flow and round trip 0\.\d+.* \(at most 1\)", lines[1]
    )
    assert f"Beyond a bound of the RFC: {lines[1]}" in terminal.scorecard(found)
    assert "is beyond the bound)" in folder.report(found, {}, RFC9743)


def test_the_report_has_words_for_senders(few: Evidence) -> None:
    found = document(few, scorecard(few), {}, "aqmlab evaluate --rfc 9743", 1.0)
    assert (found["rfc"], found["reference"]) == ("9743", "linux:congestion=reno")
    assert opened(found)[-1].startswith("7.10 Multipath transport: A connection has one path")
    html = folder.report(found, {}, RFC9743)
    page = pages.text(found, [], "images")
    assert page.startswith("# RFC 9743: 2 senders\n")
    assert "* 7.10 Multipath transport:" in page
    assert "at most 10" in html
    assert "Open, for the reasons in the report: 7.4, 7.10" in terminal.scorecard(found)
    assert not re.search("discipline", html + page + terminal.scorecard(found))


def test_a_report_on_disciplines_says_nothing_of_rfcs_or_bounds(tmp_path: Path) -> None:
    found = run(RFC7928.guidelines, Effort(["pie"], seeds=1, sections=("5.3",)), tmp_path, jobs=1)
    written = document(found, scorecard(found), {}, "aqmlab evaluate", 1.0)
    assert not {"rfc", "open", "bound", "beyond"} & set(re.findall(r'"(\w+)":', json.dumps(written)))
    assert "aqm" in frame(scorecard(found), found).columns


def test_the_table_has_the_senders_and_the_commands_repeat_it(few: Evidence, quick_cli: Cli) -> None:
    table = frame(scorecard(few), few)
    row = table.filter((polars.col("section") == "7.4") & (polars.col("tcp") == "cubic:ecn=true")).row(0, named=True)
    assert row["unit"] == "Mbit/s"
    first, second = (shlex.split(command) for command in row["command"].split(" && "))
    assert second[3:5] == ["--set", 'traffic.bulk.tcp="linux:congestion=reno"']
    done = quick_cli(*first[1:], "--json")
    assert done.returncode == 0, done.stderr
    metrics = json.loads(done.stdout)["classes"]["bulk"]
    assert metrics["goodput"] / 1e6 == pytest.approx(row["mean"])


def test_senders_of_the_own_reference_need_marks(few: Evidence, tmp_path: Path) -> None:
    found = run(GUIDELINES, effort("cubic", sections=("7.10",)), tmp_path)
    assert (found.wanted, list(found.cases)) == (0, [])
    everyone = effort("cubic", sections=("6.2",))
    from aqmlab_papers.evaluation.run import studies

    assert [name for name, _ in studies(GUIDELINES, everyone)] == ["7.1 PIE"], "no sender has ECN"


def test_an_evaluation_of_senders_is_cited(quick_cli: Cli) -> None:
    options = ["--rfc", "9743", "--tcp", "bbr3", "--section", "7.4", "--seeds", "1", "--jobs", "1", "--out", "rfc"]
    assert quick_cli("evaluate", *options).returncode == 0
    cited = quick_cli("cite", "rfc").stdout
    keys = re.findall(r"^@\w+\{([^,]+),", cited, re.MULTILINE)
    assert keys[:2] == ["aqmlab", "rfc9743"]
    assert "draft-ietf-bbr" in keys
