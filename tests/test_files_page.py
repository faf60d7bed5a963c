"""The page on files has every key of every document and every column of every table, and no other."""

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import polars
import pytest
import saved
from conftest import ROOT, TINY, Cli
from intervals.cases import TCP

import aqmlab
from aqmlab import METRICS, Scenario
from aqmlab.execute.engine import Engine
from aqmlab.execute.task import Task
from aqmlab.figures import matplotlib
from aqmlab.files import read_json
from aqmlab.results.columns import LINUX_COST
from aqmlab_papers import Calibration, Claim, Evidence, Figure, Judgement, Measurement, Printed, Runs, Table, Variant
from aqmlab_papers.describe import library
from aqmlab_papers.evaluation.guidelines import GUIDELINES
from aqmlab_papers.evaluation.standards import RFC7928, STANDARDS
from aqmlab_papers.judge.findings import assess
from aqmlab_papers.run.sweep import Effort, run
from aqmlab_papers.show.document import document

PAGE = (ROOT / "docs/reference/files.md").read_text(encoding="utf-8")

LINUX_ONLY = [column.name for column in LINUX_COST]
"""The keys of runs on real hosts, which few machines can do."""

REPORTED = (ROOT / "crates/router/src/ends.rs").read_text(encoding="utf-8").partition("pub struct Program {")[2]
OF_PROGRAMS = [f"runs.programs.{name}" for name in re.findall(r"pub (\w+): ", REPORTED.partition("\n}\n")[0])]
"""The keys of the programs that the Linux engine runs."""

Path_ = tuple[str, ...]


def section(heading: str) -> str:
    return PAGE.partition(f"\n## {heading}\n")[2].partition("\n## ")[0]


def names(heading: str) -> list[str]:
    """Return the first column of the table of a section."""
    table = section(heading).partition("| name | unit | meaning |\n")[2].partition("\n\n")[0]
    found = re.findall(r"^\| `([^`]+)` \|", table, re.MULTILINE)
    assert found, heading
    return found


def keys(heading: str) -> list[Path_]:
    """Return the keys of a document level by level, each place of the words that stand for several."""
    stand = dict(re.findall(r"`([A-Z]+)` stands for (.*?)\.(?: |\n)", section(heading)))
    found = names(heading)
    for word, places in stand.items():
        several = re.findall("`([^`]+)`", places)
        found = [name.replace(word, place) for name in found for place in (several if word in name else [word])]
    return [tuple(name.split(".")) for name in found]


def paths(value: Any, path: Path_ = ()) -> Iterator[tuple[Path_, bool]]:
    """Yield each key of a document that has no keys beneath, and whether it has a value."""
    inside = list(value.items()) if isinstance(value, dict) else [(None, one) for one in value]
    for key, one in inside:
        below = path if key is None else (*path, key)
        if isinstance(one, dict) or (isinstance(one, list) and any(isinstance(each, dict | list) for each in one)):
            yield from paths(one, below) if one else [(below, False)]
        else:
            yield below, one != []


def stands_for(word: str, text: str) -> bool:
    if word == "METRIC":
        return text in METRICS
    return text == word or (re.fullmatch("[A-Z]+", word) is not None)


def fits(key: Path_, path: Path_) -> bool:
    if key[-1] == "…":
        key, path = key[:-1], path[: len(key) - 1]
    return len(key) == len(path) and all(map(stands_for, key, path))


def hold(expected: Sequence[Path_], documents: Iterable[Any], elsewhere: Sequence[str] = ()) -> None:
    """Compare the keys of the page with those of documents, both ways; `elsewhere` are those that no document has."""
    written = dict.fromkeys(pair for one in documents for pair in paths(one))
    surplus = [
        path
        for path, known in written
        if not any(fits(key, path) or (not known and fits(key[: len(path)], path)) for key in expected)
    ]
    assert surplus == [], "not on the page"
    lacking = [".".join(key) for key in expected if not any(fits(key, path) for path, _ in written)]
    assert sorted(lacking) == sorted(elsewhere), "only on the page"


def hold_columns(heading: str, frames: Iterable[polars.DataFrame], elsewhere: Sequence[str] = ()) -> None:
    """Compare the columns of the page with those of tables, both ways."""
    expected = names(heading)
    # A parameter's path may look like any other column; so may the signal of a discipline.
    order = sorted(expected, key=lambda name: ("PATH" in name, sum(word.isupper() for word in name.split("."))))
    patterns = {name: re.compile(".".join(map(_pattern, name.split(".")))) for name in order}
    found = {
        column: next((name for name, pattern in patterns.items() if pattern.fullmatch(column)), None)
        for frame in frames
        for column in frame.columns
    }
    assert [column for column, name in found.items() if name is None] == [], "not on the page"
    assert sorted(set(expected).difference(found.values())) == sorted(elsewhere), "only on the page"


def _pattern(word: str) -> str:
    if word == "METRIC":
        return f"({'|'.join(METRICS)})"
    return {"PATH": r"\w+\.\S+"}.get(word, r"[^.]+" if re.fullmatch("[A-Z]+", word) else re.escape(word))


RECORDED = {"record.series": True, "record.step": "500 ms", "record.cwnd": "500 ms", "record.flows": True}


def lanes() -> Scenario:
    return Scenario.parse(TINY).with_({"aqm": "dualpi2", **RECORDED})


def test_the_table_of_a_section_is_found() -> None:
    assert names("Congestion windows") == ["t", "flow", "class", "cwnd", "ssthresh"]
    assert ("measured", "claims", "rulings", "beside", "unit") in keys("Reproduction")
    assert ("metrics", "METRIC") in keys("Result")


def test_a_key_too_many_and_one_too_few_are_found() -> None:
    with pytest.raises(AssertionError, match="not on the page"):
        hold([("a",)], [{"a": 1, "b": 2}])
    with pytest.raises(AssertionError, match="only on the page"):
        hold([("a",), ("b", "NAME")], [{"a": 1, "b": {}}])
    with pytest.raises(AssertionError, match="not on the page"):
        hold_columns("Flows", [polars.DataFrame({"surplus": [1]})])
    with pytest.raises(AssertionError, match="only on the page"):
        hold_columns("Flows", [polars.DataFrame({"seed": [1]})])


def test_results_have_the_keys_of_the_page(tmp_path: Path) -> None:
    steady = Scenario.parse(TCP.format(duration=12, warmup=4))
    aside = Scenario.parse(TINY).with_({"dumbbell.access_rate": "1 Mbit/s"})
    aqmlab.run(lanes(), seeds=2).save(tmp_path)
    found = [
        read_json(tmp_path / "result.json"),
        aqmlab.fluid(Scenario.load("lred/exp1").with_({"duration": "5 s", "warmup": "1 s"})).document(),
        aqmlab.run(steady, until="goodput ±5 %", long_run=True).document(),
        aqmlab.run(aside).document(),
    ]
    hold(keys("Result"), found, [*LINUX_ONLY, *OF_PROGRAMS])


def test_the_linux_engine_has_the_keys_of_the_page() -> None:
    fields = (ROOT / "crates/run/src/results.rs").read_text(encoding="utf-8")
    for name in LINUX_ONLY:
        assert f"pub {name.removeprefix('engine.')}: " in fields


def test_a_comparison_has_the_keys_of_the_page(tmp_path: Path) -> None:
    aqmlab.compare(Scenario.parse(TINY), aqms=["lred", "pi"], seeds=2).save(tmp_path)
    hold(keys("Comparison"), [read_json(tmp_path / "comparison.json")])


def test_a_sweep_and_its_store_have_the_keys_and_columns_of_the_page(tmp_path: Path) -> None:
    vary = {"aqm.target": "5,-5 ms"}
    aqmlab.sweep(lanes(), vary=vary, aqms={"two lanes": "dualpi2"}, seeds=2, out=tmp_path)
    (part,) = (tmp_path / "store/parts").iterdir()
    hold_columns("The store", [polars.read_parquet(part)], LINUX_ONLY)
    part.write_bytes(part.read_bytes()[:-1])
    swept = aqmlab.sweep(lanes(), vary=vary, aqms={"two lanes": "dualpi2"}, seeds=2, out=tmp_path)
    assert swept.damage
    assert swept.failures
    hold(keys("Sweep"), [read_json(tmp_path / "sweep.json")])
    hold_columns("Table of a sweep", [polars.read_parquet(tmp_path / "results/00000.parquet")])


def test_series_windows_and_flows_have_the_columns_of_the_page(tmp_path: Path) -> None:
    with_ping = Scenario.parse(f'{TINY}[[traffic]]\nname = "probe"\nkind = "ping"\n').with_(
        {"aqm": "dualpi2", "dumbbell.duplicate": 0.1, **RECORDED}
    )
    aqmlab.run(with_ping).save(tmp_path)
    for heading, name in {"Series": "series", "Congestion windows": "cwnd", "Flows": "flows"}.items():
        hold_columns(heading, [polars.read_parquet(tmp_path / f"{name}-7.parquet")])


def test_csv_has_the_columns_of_the_page(quick_cli: Cli, tmp_path: Path) -> None:
    (tmp_path / "tiny.toml").write_text(TINY)
    assert quick_cli("compare", "tiny.toml", "--aqm", "dualpi2", "--aqm", "pi", "--csv", "a.csv").returncode == 0
    hold_columns("CSV", [polars.read_csv(tmp_path / "a.csv")], LINUX_ONLY)


def test_an_evaluation_has_the_keys_and_columns_of_the_page(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(matplotlib, "save", lambda *_: None)  # drawing takes longest, and adds no key
    runs, table = (one for one in GUIDELINES if one.section in ("5.1.1", "12"))
    (case,) = runs.cases
    placement = replace(case.placement, lacks=lambda one: "too slow" if one.label == "pi" else "")
    few = [replace(runs, cases=[replace(case, placement=placement)]), table]
    monkeypatch.setitem(STANDARDS, "7928", replace(RFC7928, guidelines=few))
    options = ["--aqm", "codel", "--aqm", "pi", "--seeds", "2", "--jobs", "1"]
    saved.call("evaluate", *options, "--out", str(tmp_path / "disciplines"))
    # A section with a bound, and one that is open.
    options = [
        "--rfc",
        "9743",
        "--section",
        "5.1.1",
        "--section",
        "7.10",
        "--tcp",
        "cubic",
        "--seeds",
        "2",
        "--jobs",
        "1",
    ]
    saved.call("evaluate", *options, "--out", str(tmp_path / "senders"))
    folders = [tmp_path / "disciplines", tmp_path / "senders"]
    hold(keys("Evaluation"), [read_json(folder / "evaluation.json") for folder in folders])
    hold_columns("Scorecard", [polars.read_csv(folder / "scorecard.csv") for folder in folders])


def test_a_reproduction_has_the_keys_and_columns_of_the_page(fake: list[Task], tmp_path: Path) -> None:
    saved.reproduce(tmp_path / "out")
    written = read_json(tmp_path / "out/findings.json")
    hold_columns("Data of a figure", [polars.read_parquet(tmp_path / "out/fig1.parquet")])
    hold_columns("Data of a figure", [polars.read_csv(tmp_path / "out/fig1.csv")])

    paper = library.load(str(saved.paper(tmp_path / "bloat")))
    (experiment,), (figure,), (claim,) = paper.experiments, paper.items, paper.claims
    assert isinstance(figure, Figure)
    short = replace(experiment, settings={"duration": "2 s", "warmup": "1 s"})

    def broken(buffers: Runs) -> Any:
        raise ZeroDivisionError

    def beside(evidence: Evidence) -> Judgement:
        found = claim.judge(evidence)
        return replace(found, beside=found.checks)

    delay = Printed("delay", 50.0, "ms", "Section 2", "buffers", lambda runs: runs.per_seed("delay_mean", "CoDel"))
    whole = replace(
        paper,
        experiments=[short],
        items=[
            figure,
            replace(figure, name="fig2", curves=broken),
            Table(name="table1", title="Delays", rows=lambda buffers: polars.DataFrame({"a": [1]}), needs=["buffers"]),
        ],
        claims=[
            replace(claim, judge=beside),
            Claim(name="broken", text="It breaks.", where="Section 3", judge=broken, needs=["buffers"]),
        ],
        calibration=Calibration(printed=[delay], tried=[Variant("slower", {"duration": "3 s"})], why="it is nearer"),
        measurements=[Measurement(engine="linux", experiments={"buffers": False}, settings={}, items=[figure])],
    )
    effort = Effort(seeds=1, most_seeds=1)
    deeper = {"buffers": {("CoDel", 0): 2}}
    simulated = document(assess(run(whole, effort, tmp_path / "store", jobs=1, more=deeper)), {}, "")
    linux = replace(effort, engine=Engine.parse("linux"))
    measured = document(assess(run(whole.on("linux"), linux, tmp_path / "store", jobs=1)), {}, "")
    hold(keys("Reproduction"), [written, simulated, measured])
