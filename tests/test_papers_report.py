"""Presentation of a reproduction: the figures, the report, the page over all papers, and the findings."""

import json
import math
import pickle
import re
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import numpy as np
import polars
import pytest
from matplotlib.figure import Figure as Canvas

from aqmlab import Scenario
from aqmlab.figures import matplotlib, model
from aqmlab.figures.model import COLOURS, Bars
from aqmlab.files import read_json
from aqmlab.runs.table import RunTable
from aqmlab_papers import (
    Axis,
    Choice,
    Claim,
    Curve,
    Effect,
    Evidence,
    Experiment,
    Figure,
    Judgement,
    Panel,
    Paper,
    Runs,
    Table,
    Variant,
)
from aqmlab_papers.judge.findings import Assessment, Drawn, assess, drawn
from aqmlab_papers.run.sweep import CONTROL, Effort, Findings, run
from aqmlab_papers.show import folder as writing
from aqmlab_papers.show import layout, overview, report
from aqmlab_papers.show.document import document, toml
from aqmlab_papers.show.texts import number, table

SCENARIO = """\
title = "Tiny"
duration = "2 s"
[dumbbell]
rate = "2 Mbit/s"
buffer = "50 packets"
[aqm]
name = "lred"
[[traffic]]
name = "long"
count = 3
tcp = "rfc5681"
[record]
step = "10 ms"
"""
EVIL = "<script>alert('x')</script>"
TARGET = Axis("Target (packets)", 10, 20)


def curves(evidence: Evidence) -> Iterator[Curve]:
    runs = evidence["tiny"]
    for label in runs.labels:
        yield runs.curve("a", "queue_mean", label, "aqm.q0")
        yield runs.over_time("b", label, at={"aqm.q0": 10.0})
    yield Curve("a", "bound & <b>", [10.0, 20.0], [10.0, 20.0], style="dashed")


def rows(evidence: Evidence) -> polars.DataFrame:
    runs = evidence["tiny"]
    means = [runs.per_seed("queue_mean", label).summary for label in runs.labels]
    return polars.DataFrame(
        {
            "Discipline": list(runs.labels),
            "Queue (paper)": [12.0, math.nan],
            "Queue": [mean.mean for mean in means],
            "Queue ±": [mean.ci95 for mean in means],
        }
    )


def judge(*limits: tuple[float, float]) -> object:
    def judged(evidence: Evidence) -> Judgement:
        values = evidence["tiny"].per_seed("queue_mean", "LRED")
        checks = [Effect("queue of LRED & others").of(values, unit="packets", least=a, most=b) for a, b in limits]
        checks += [Effect("PIE less LRED").of(values, least=0)] * ("PIE" in evidence["tiny"].labels)
        return Judgement(checks, f"Why: {EVIL}")

    return judged


def claim(name: str, *limits: tuple[float, float], **more: object) -> Claim:
    head = {"text": f"It {EVIL}", "where": "Section 1, Fig. 7", "quote": "so", "needs": ["tiny"], "shown": ["fig7"]}
    return Claim(name=name, judge=judge(*limits), **{**head, **more})  # type: ignore[arg-type]


@pytest.fixture(scope="module")
def paper(tmp_path_factory: pytest.TempPathFactory) -> Paper:
    file = tmp_path_factory.mktemp("paper") / "tiny.toml"
    file.write_text(SCENARIO, encoding="utf-8")
    always, never = (0.0, 1e6), (1e6, 2e6)
    return Paper(
        name="tiny",
        title="A <b>tiny</b> paper",
        source="Nobody & Co, 2026",
        about="It proposes nothing.",
        hero="LRED",
        experiments=[
            Experiment(
                name="tiny",
                title="The only one",
                scenario=str(file),
                aqms={"LRED": "lred", "PI": "pi"},
                vary={"aqm.q0": [10, 20]},
                series=True,
                rivals={"PIE": "pie:target=40 ms"},
            )
        ],
        items=[
            Figure(
                name="fig7",
                title="Two panels",
                panels=[
                    Panel("a", "Mean queue", TARGET, Axis("Queue (packets)", 0, 1)),
                    Panel("b", "Queue over time", Axis("Time (s)", 0, 2), Axis("Queue (packets)", 0)),
                ],
                curves=curves,
                needs=["tiny"],
                caption=f"Caption {EVIL}",
            ),
            Table(name="table3", title="A table", rows=rows, needs=["tiny"]),
            Figure(
                name="more",
                title="Ours",
                panels=[Panel("", "Bars", Axis("Load"), Axis("Loss (%)"))],
                curves=lambda _: [Curve("", "LRED", ["low", "high"], [1, 2], [0, 1], [2, 3], "bars")],
                beyond=True,
            ),
        ],
        claims=[
            claim("holds", always, sensitive=True, comparative=True),
            claim("holds-partly", always, never),
            claim("fails", never),
            claim("untold"),
            claim("ours", always, quote="", shown=["more"]),
        ],
        choices=[Choice("buffer", "", "50 packets").because("it <must> be something")],
        variants=[Variant("smaller <buffer>", {"dumbbell.buffer": "20 packets"})],
        later=f"The testbed {EVIL}",
    )


@pytest.fixture(scope="module")
def findings(paper: Paper, tmp_path_factory: pytest.TempPathFactory) -> Findings:
    return run(paper, Effort(seeds=2), tmp_path_factory.mktemp("store"), jobs=1)


@pytest.fixture(scope="module")
def assessment(findings: Findings) -> Assessment:
    return assess(findings)


@pytest.fixture(scope="module")
def folder(assessment: Assessment, tmp_path_factory: pytest.TempPathFactory) -> Path:
    where = tmp_path_factory.mktemp("out") / "tiny"
    writing.write(assessment, where, "aqmlab reproduce tiny", 3.0)
    return where


def own_html(folder: Path, name: str = "report.html") -> str:
    """Return a page without the embedded library."""
    text = (folder / name).read_text(encoding="utf-8")
    return re.sub(r"<script>/\*! \S*uPlot.*?</script>", "", text, flags=re.DOTALL)


def test_each_figure_and_table_has_its_files(assessment: Assessment, folder: Path) -> None:
    data = {f"{name}.{form}" for name in ("fig7", "table3", "more") for form in ("parquet", "csv")}
    images = {f"{name}.{form}" for name in ("fig7", "more") for form in ("svg", "png")}
    assert {file.name for file in folder.iterdir()} == data | images | {"report.html", "findings.json"}
    (drawn, *_) = assessment.drawn
    assert polars.read_parquet(folder / "fig7.parquet").equals(drawn.frame)
    assert (folder / "fig7.csv").read_text().splitlines()[0] == "panel,curve,x,category,y,low,high"


def test_the_same_findings_give_the_same_bytes(assessment: Assessment, folder: Path, tmp_path: Path) -> None:
    writing.write(assessment, tmp_path, "aqmlab reproduce tiny", 3.0)
    for file in folder.iterdir():
        assert file.read_bytes() == (tmp_path / file.name).read_bytes(), file.name


def test_what_is_there_is_not_written_again(
    assessment: Assessment, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def times() -> dict[str, int]:
        return {file.name: file.stat().st_mtime_ns for file in tmp_path.iterdir()}

    writing.write(assessment, tmp_path, "aqmlab", 3.0)
    before = times()
    nothing_left = replace(assessment, findings=replace(assessment.findings, simulated=0))
    writing.write(nothing_left, tmp_path, "aqmlab", 0.1)  # and the recorded time is unchanged
    assert times() == before
    (tmp_path / "more.png").unlink()
    drawn: list[str] = []
    images = matplotlib.images

    def noted(sheet: model.Figure) -> dict[str, bytes]:
        drawn.append(sheet.name)
        return images(sheet)

    monkeypatch.setattr(matplotlib, "images", noted)
    writing.write(assessment, tmp_path, "aqmlab", 3.0)
    assert drawn == ["more"]
    assert times() | {"more.png": 0, "findings.json": 0} == before | {"more.png": 0, "findings.json": 0}


def test_a_figure_is_drawn_again_when_its_data_change(assessment: Assessment, tmp_path: Path) -> None:
    def images() -> list[bytes]:
        return [(tmp_path / name).read_bytes() for name in ("fig7.png", "more.png")]

    writing.write(assessment, tmp_path, "aqmlab")
    before = images()
    first, *rest = assessment.drawn
    other = replace(first, curves=first.curves[:-1])
    writing.write(replace(assessment, drawn=[other, *rest]), tmp_path, "aqmlab")
    after = images()
    assert after[0] != before[0]
    assert after[1] == before[1]


def test_findings_are_there_only_when_all_else_is(
    assessment: Assessment, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    writing.write(assessment, tmp_path, "aqmlab", 3.0)

    def stopped(*_: object) -> str:
        raise KeyboardInterrupt

    monkeypatch.setattr(report, "text", stopped)
    with pytest.raises(KeyboardInterrupt):
        writing.write(assessment, tmp_path, "aqmlab --other", 3.0)
    assert not (tmp_path / "findings.json").exists()


def test_each_claim_has_the_badge_of_its_verdict(folder: Path) -> None:
    html = own_html(folder)
    badges = dict(re.findall(r'<tr id="claim-([\w-]+)">.*?<span class="badge ([\w-]+)"', html, re.DOTALL))
    assert badges == {
        "holds": "reproduced",
        "holds-partly": "partly",
        "fails": "contradicted",
        "untold": "not-testable",
        "ours": "reproduced",
    }
    counts = re.findall(r'<li><span class="badge [\w-]+">(\d+ [\w ]+)</span></li>', html)
    assert counts == ["1 reproduced", "1 partly", "1 contradicted", "0 undecided", "1 not testable"]
    assert html.index('id="claim-ours"') > html.index('<section id="beyond">') > html.index('id="claim-untold"')


def test_the_report_has_all_and_takes_no_text_for_html(folder: Path, paper: Paper) -> None:
    html = own_html(folder)
    assert EVIL not in html
    assert "A &lt;b&gt;tiny&lt;/b&gt; paper" in html
    assert "it &lt;must&gt; be something" in html
    assert html.count("The testbed &lt;script&gt;") == 1
    for item in paper.items:
        place = html.index(f'<section id="item-{item.name}">')
        assert (place > html.index('<section id="beyond">')) == item.beyond
    assert re.search(r"<td class=\"text\">LRED</td><td class=\"printed\">12</td><td>\d+(\.\d+)? ± \d", html)
    assert "Table 3: A table" in html
    assert "smaller &lt;buffer&gt;" in html
    assert "PIE less LRED" in html
    assert "flavour" in html.split('<section id="parameters">')[1]  # which the scenario does not set


def test_a_number_stands_with_the_later_discipline_that_it_is_of(folder: Path) -> None:
    found = read_json(folder / "findings.json") | {"items": []}
    (first, *_) = found["later"]["claims"]
    checks = [first["checks"][0] | {"effect": effect} for effect in ("loss with FQ-CoDel", "loss with CoDel", "both")]
    told = {"rivals": ["CoDel", "FQ-CoDel"], "claims": [first | {"checks": checks}]}
    html = report.text(found | {"later": found["later"] | told}, {})
    later = html.split('<section id="later">')[1].split("</section>")[0]
    assert "<th>CoDel</th><th>FQ-CoDel</th><th>Among all</th>" in later
    _, *cells = later.split("<tbody>")[1].split("<td>")[1:]
    assert [re.findall(r"loss with [\w-]+|both", cell) for cell in cells] == [
        ["loss with CoDel"],
        ["loss with FQ-CoDel"],
        ["both"],
    ]


def test_pages_need_no_network(folder: Path, tmp_path: Path) -> None:
    overview.save({"tiny": read_json(folder / "findings.json")}, tmp_path / "index.html", "aqmlab reproduce all", 5.0)
    for html in (own_html(folder), own_html(tmp_path, "index.html")):
        assert not re.search(r"(?:src|href|url|import)\s*[=(]?\s*[\"']?(?:https?:)?//", html)
        for link in re.findall(r'href="([^"#]+)', html):
            assert (folder / link).exists() or (folder.parent / link).exists(), link
        for link in re.findall(r'href="#([^"]+)', html):
            assert f'id="{link}"' in html, link


def test_pages_are_made_from_the_findings_alone(assessment: Assessment, folder: Path) -> None:
    found = read_json(folder / "findings.json")
    colours = layout.colours(assessment.findings.paper, assessment.drawn)
    main = assessment.findings.evidence["paper"]
    sheets = {one.item.name: layout.sheet(one, colours, main) for one in assessment.drawn if one.curves}
    assert report.text(found, sheets) == (folder / "report.html").read_text(encoding="utf-8")


def test_the_overview_counts_and_links_each_claim(folder: Path) -> None:
    found = read_json(folder / "findings.json")
    other = found | {"paper": "two", "counts": dict(zip(found["counts"], (3, 2, 5, 7, 8, 9), strict=True))}
    html = overview.text({"one": found, "two": other}, "aqmlab reproduce all")
    assert re.findall(r"<b>(\d+)</b>", html) == ["4", "2", "6", "8", "8", "10"]
    assert list(other["counts"]) == re.findall(r'<th><span class="badge [\w-]+">([\w, ]+)</span></th>', html)
    assert html.count('href="two/report.html#claim-') == 5
    assert html.count('data-verdict="contradicted"') == 2
    assert html.count("<b>Decided by</b> queue of LRED &amp; others: ") == 2 * 4, "of five claims one has no number"
    assert '<option value="two">two</option>' in html
    assert EVIL not in html


def test_what_lacks_runs_is_left_out_and_said_to_be(findings: Findings, tmp_path: Path) -> None:
    evidence = dict(findings.evidence)
    runs = evidence["paper"]["tiny"]
    fewer = Runs(runs.study, replace(runs.sweep, table=RunTable((runs.frame.head(5),))), runs._store, runs.hero)
    evidence["paper"] = Evidence({"tiny": fewer}, "LRED", quick=False)
    writing.write(assess(replace(findings, evidence=evidence, interrupted=True)), tmp_path, "aqmlab")
    assert not list(tmp_path.glob("fig7*"))
    assert (tmp_path / "more.png").exists()
    html = own_html(tmp_path)
    assert "It was interrupted. 2 figures and tables and 5 claims are" in html
    assert "Figure 7: Two panels: 3 of 8 runs of tiny are missing" in html
    assert not re.search(r'id="claim-', html)


def test_what_is_not_finite_is_null_in_the_findings(folder: Path) -> None:
    found = json.loads((folder / "findings.json").read_text(), parse_constant=pytest.fail)
    assert [row[1] for item in found["items"] if item["kind"] == "table" for row in item["rows"]] == [12.0, None]
    checks = [check for one in found["later"]["claims"] for check in one["checks"]]
    assert [check["most"] for check in checks if check["effect"] == "PIE less LRED"] == [None]
    assert found["later"]["rivals"] == ["PIE"]
    assert [one["variant"] for one in found["sensitivity"]] == [CONTROL, "smaller <buffer>"]


def test_the_resolved_scenario_is_a_scenario(small: Scenario) -> None:
    text = toml(small.resolved)
    assert "grow_after_recovery" in text
    assert Scenario.parse(text).resolved == small.resolved


def test_the_small_print_says_what_is_drawn(assessment: Assessment, folder: Path) -> None:
    (small, *_) = [item["small"] for item in read_json(folder / "findings.json")["items"] if item["name"] == "fig7"]
    assert small.startswith("seeds 1, 2; bands: 95 % confidence intervals")
    assert "one run, of seed 1" in small
    assert small.endswith("some points are outside the axes of a")
    assert "beyond" not in small


def test_matplotlib_draws_the_panels_as_they_are_described(assessment: Assessment) -> None:
    (drawn, *_) = assessment.drawn
    colours = layout.colours(assessment.findings.paper, assessment.drawn)
    figure = matplotlib.draw(layout.sheet(drawn, colours, assessment.findings.evidence["paper"]), Canvas())
    first, second = figure.axes
    assert first.get_title(loc="left") == "(a) Mean queue"
    assert first.get_xlim() == pytest.approx((9.8, 20.2)), "there are marks at 10 and 20"
    assert first.get_ylim() == (0, 1)
    assert second.get_xlim() == (0, 2)
    mean, *_ = [curve for curve in drawn.curves if curve.panel == "a"]
    line = next(one for one in first.lines if one.get_label() == mean.name)
    assert np.asarray(line.get_ydata()) == pytest.approx(np.asarray(mean.y))
    assert line.get_color() == colours["LRED"] == COLOURS[0]
    assert [one.get_label() for one in first.lines if one.get_linestyle() == "--"] == ["bound & <b>"]
    assert [text.get_text() for text in figure.legends[0].get_texts()] == ["LRED", "PI", "bound & <b>"]
    assert mean.high is not None
    vertices = np.asarray(first.collections[-1].get_paths()[0].vertices)
    top = float(vertices[:, 1].max())
    assert top == pytest.approx(max(mean.high))


def test_a_name_has_one_colour_and_no_other_in_its_figure_has_it(paper: Paper) -> None:
    def drawn(*names: str) -> Drawn:
        return Drawn(paper.items[0], polars.DataFrame(), [Curve("a", name, [1.0], [1.0]) for name in names])

    many = [f"curve {place}" for place in range(12)]
    colours = layout.colours(paper, [drawn("PI", *many[:7]), drawn(*many[7:], "LRED"), drawn(*many[3:10])])
    assert list(colours)[:2] == ["LRED", "PI"]
    for names in (["PI", *many[:7]], [*many[7:], "LRED"], many[3:10]):
        assert len({colours[name] for name in names}) == len(names)


def test_there_is_no_legend_where_the_panels_say_what_they_show() -> None:
    def legend(*letters: str, others: bool = False) -> list[str]:
        panels = [Panel(letter, "light", Axis("x"), Axis("y")) for letter in letters]
        curves = [Curve(letter, name, [1.0], [1.0]) for letter, name in zip(letters, ("LRED", "PI"), strict=True)]
        curves += [Curve(letters[0], "PI", [1.0], [1.0])] * others
        figure = Figure(name="fig1", title="", panels=panels, curves=lambda _: [])
        drawn = Drawn(figure, polars.DataFrame(), curves)
        return list(layout.sheet(drawn, {"LRED": "", "PI": ""}, Evidence({}, "", quick=False)).entries)

    assert legend("a, LRED", "a, PI") == []
    assert legend("a", "b") == ["LRED", "PI"]
    assert legend("a, LRED", "a, PI", others=True) == ["LRED", "PI"]


def test_marks_of_the_right_axis_stand_on_the_bars_of_their_name() -> None:
    loss = Axis("Loss (%)", 0, 40)
    figure = Figure(
        name="fig1", title="", panels=[Panel("", "", Axis("x"), Axis("y"), right=("loss", loss))], curves=lambda _: []
    )
    curves = [
        Curve(letter, name, ["light", "heavy"], [1.0, 90.0], style=style)
        for letter, style in (("", "bars"), ("loss", "points"))
        for name in ("LRED", "PI")
    ]
    drawn = Drawn(figure, polars.DataFrame(), curves)
    sheet = layout.sheet(drawn, {"LRED": "", "PI": ""}, Evidence({}, "", quick=False))
    (panel,) = sheet.panels
    bars = [shape for shape in panel.shapes if isinstance(shape, Bars)]
    assert [list(bar.at) for bar in bars] == [list(mark.x) for mark in panel.curves]
    assert list(bars[0].at) != list(bars[1].at)
    assert panel.right == loss
    assert all(mark.right and mark.hollow for mark in panel.curves)
    assert list(sheet.entries) == ["LRED", "PI", "Loss (%)"]
    assert "some points are outside the axes" in sheet.small_print, "90 % is above the right axis, which ends at 40"


def test_the_paper_s_discipline_is_on_top_and_a_line_that_another_hides_is_wider() -> None:
    figure = Figure(name="fig1", title="", panels=[Panel("", "", Axis("x"), Axis("y"))], curves=lambda _: [])
    t = np.arange(100.0)
    ys = {"RED": t, "LRED, q0 = 20": t, "GRED": t, "PI": t + (t > 50)}
    drawn = Drawn(figure, polars.DataFrame(), [Curve("", name, t, y) for name, y in ys.items()])
    (panel,) = layout.sheet(drawn, dict.fromkeys(ys, ""), Evidence({}, "LRED", quick=False)).panels
    names = [one.name for one in panel.visible(0) if isinstance(one, model.Curve)]
    assert names == ["RED", "GRED", "PI", "LRED, q0 = 20"]
    red, ours, gred, other = panel.curves
    assert red.width > gred.width > ours.width == other.width


@pytest.mark.parametrize("letters", [["a", "a"], ["a", "loss"], ["loss", "a"]])
def test_each_axis_of_a_figure_has_a_letter_of_its_own(letters: list[str]) -> None:
    right = ("loss", Axis("Loss (%)"))
    panels = [Panel(letter, "", Axis("x"), Axis("y"), right=right) for letter in letters[:1]]
    panels += [Panel(letter, "", Axis("x"), Axis("y")) for letter in letters[1:]]
    figure = Figure(name="fig1", title="", panels=panels, curves=lambda evidence: [])
    with pytest.raises(ValueError, match="fig1: two panels or axes have one letter"):
        drawn(figure, Evidence({}, "", quick=False))


def test_a_long_curve_keeps_its_peaks_and_its_gaps(paper: Paper, assessment: Assessment) -> None:
    y = np.zeros(100_000)
    y[12_345], y[54_321], y[70_000:80_000] = 9.0, -9.0, np.nan
    curve = Curve("b", "LRED", np.linspace(0, 100, len(y), endpoint=False), y)
    drawn = Drawn(paper.items[0], polars.DataFrame(), [curve])
    (_, panel) = layout.sheet(drawn, {"LRED": ""}, assessment.findings.evidence["paper"]).panels
    (line,) = panel.curves
    assert len(line.x) <= 2 * layout.MOST
    assert np.nanmax(line.y) == 9.0
    assert np.nanmin(line.y) == -9.0
    assert list(line.x[line.y == 9.0]) == pytest.approx([12.345])
    assert np.isnan(line.y[(line.x > 70) & (line.x < 80)]).all()


def test_numbers_have_no_exponent_where_people_write_none() -> None:
    assert [number(value, 3) for value in (123456.7, 0.012345, None, float("nan"), 7, True, "x")] == [
        "123457",
        "0.0123",
        "\N{EN DASH}",
        "\N{EN DASH}",
        "7",
        "yes",
        "x",
    ]
    head, (row,) = table(["Name", "A (paper)", "A", "A ±"], [["x", 1.0, 1.23456, 0.0123]], 3)
    assert (head, row) == (["Name", "A (paper)", "A"], ["x", "1", "1.23 ± 0.012"])


def test_another_process_can_draw_a_figure(assessment: Assessment) -> None:
    (drawn, *_) = assessment.drawn
    colours = layout.colours(assessment.findings.paper, assessment.drawn)
    sheet = layout.sheet(drawn, colours, assessment.findings.evidence["paper"])
    assert matplotlib.images(pickle.loads(pickle.dumps(sheet))) == matplotlib.images(sheet)


def test_a_document_needs_no_figures(assessment: Assessment) -> None:
    found = document(assessment, {}, "aqmlab")
    assert [item["heading"] for item in found["items"]] == ["Figure 7", "Table 3", "more"]
    assert found["seconds"] is None
