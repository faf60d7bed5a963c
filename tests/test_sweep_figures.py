"""The figure and the report of a sweep."""

from dataclasses import replace
from pathlib import Path

import polars
import pytest
from matplotlib.figure import Figure

import aqmlab
from aqmlab import Scenario, Sweep
from aqmlab.figures import matplotlib, sweep
from aqmlab.reports import sweep_html
from aqmlab.runs.table import RunTable


@pytest.fixture(scope="module")
def swept() -> Sweep:
    text = (
        "title = 'A <b>title</b>'\nduration = '2 s'\n[dumbbell]\nrate = '2 Mbit/s'\n[aqm]\nname = 'lred'\n[[traffic]]\n"
    )
    vary = {"aqm.q0": "10,20..40", "traffic.1.count": [2, 3]}
    return aqmlab.sweep(Scenario.parse(text), vary=vary, aqms=["lred", "pi"], seeds=2)


def test_a_line_is_the_means_and_a_band_their_intervals(swept: Sweep) -> None:
    figure = swept.plot(x="aqm.q0", y="goodput", figure=Figure())
    (first, second) = figure.axes
    assert [axes.get_title(loc="left") for axes in (first, second)] == [
        "traffic.1.count = 2 flows",
        "traffic.1.count = 3 flows",
    ]
    means = swept.means().filter(polars.col("traffic.1.count") == 3, aqm="pi")
    line = second.lines[1]
    assert list(line.get_xdata()) == [10, 20, 30, 40]
    assert list(line.get_ydata()) == pytest.approx(list(means["goodput"] * 1e-6))
    top = max(y for _, y in second.collections[1].get_paths()[0].vertices)
    assert top == pytest.approx(((means["goodput"] + means["goodput_ci95"]) * 1e-6).max())
    assert first.get_xlabel() == "aqm.q0 (packets)"


def test_one_parameter_has_a_panel_for_each_metric(swept: Sweep) -> None:
    one = replace(swept, table=RunTable((swept.frame.filter(polars.col("traffic.1.count") == 2),)))
    figure = one.plot(y=["queue_mean", "classes.1.goodput", "jain"], figure=Figure())
    titles = [axes.get_title(loc="left") for axes in figure.axes]
    starts = [f"{axes.get_ylim()[0]:g}" for axes in figure.axes]
    labels = ["Mean queue (packets)", "Goodput of 1 (Mbit/s)", "Jain index"]
    assert titles == [
        label if low == "0" else f"{label}, from {low}" for label, low in zip(labels, starts, strict=True)
    ]


def test_a_metric_without_values_has_no_panel_unless_it_is_asked_for(swept: Sweep) -> None:
    without = swept.frame.with_columns(link_goodput=polars.lit(None, polars.Float64))
    bare = replace(swept, table=RunTable((without,)))
    titles = [axes.get_title(loc="left") for axes in bare.plot(figure=Figure()).axes]
    assert len(titles) == 2 * (len(sweep.SWEPT) - 1)
    assert len(bare.plot(y="link_goodput", figure=Figure()).axes) == 2


def test_a_parameter_is_shown_in_the_unit_in_which_people_type_it() -> None:
    base = Scenario.parse("duration = '2 s'\n[dumbbell]\n[[traffic]]\n")
    rates = aqmlab.sweep(base, vary={"dumbbell.rate": ["2 Mbit/s", "2125 kbit/s"], "dumbbell.delay": ["2 ms", "20 ms"]})
    assert rates.shown == {"dumbbell.rate": ("Mbit/s", 1e-6), "dumbbell.delay": ("ms", pytest.approx(1e3))}
    axes = rates.plot(x="dumbbell.rate", y="goodput", figure=Figure()).axes
    assert axes[0].get_xlabel() == "dumbbell.rate (Mbit/s)"
    assert [one.get_title(loc="left") for one in axes] == ["dumbbell.delay = 2 ms", "dumbbell.delay = 20 ms"]
    assert list(axes[0].lines[0].get_xdata()) == pytest.approx([2, 2.125])
    assert " 2.125 " in str(rates)
    assert "e+06" not in str(rates)


def test_texts_and_drawn_points_are_dots() -> None:
    base = Scenario.parse("duration = '2 s'\n[dumbbell]\nrate = '2 Mbit/s'\n[aqm]\nname = 'lred'\n[[traffic]]\n")
    texts = aqmlab.sweep(base, vary={"traffic.1.tcp": "rfc,linux"}).plot(y="goodput", figure=Figure())
    assert [label.get_text() for label in texts.axes[0].get_xticklabels()] == ["rfc", "linux"]
    vary = {"aqm.q0": "log(5.0, 200.0)", "dumbbell.buffer": "uniform(50 packets, 90 packets)"}
    drawn = aqmlab.sweep(base, vary=vary, method="latin", samples=8).plot(y="goodput", figure=Figure())
    assert len(drawn.axes) == 1
    assert [line.get_linestyle() for line in (*texts.axes[0].lines, *drawn.axes[0].lines)] == ["None"] * 2
    assert "dots differ in dumbbell.buffer too" in drawn.get_supxlabel()
    assert drawn.axes[0].get_xscale() == "log"


def test_what_cannot_be_drawn_is_refused(swept: Sweep) -> None:
    with pytest.raises(LookupError, match=r"must be one of what varies: aqm\.q0, traffic\.1\.count"):
        swept.plot(x="q0")
    with pytest.raises(LookupError, match="no such metric"):
        swept.plot(y="queue")
    with pytest.raises(LookupError, match="nothing varies"):
        aqmlab.sweep(swept.scenario.with_(aqm="lred")).plot()


def test_the_report_has_all_and_nothing_breaks_out(swept: Sweep, tmp_path: Path) -> None:
    failed = (aqmlab.runs.swept.Failure("pi", {"aqm.q0": -1}, None, "<script>alert(1)</script>"),)
    sweep_html.save(replace(swept, failures=failed), tmp_path / "report.html", "aqmlab sweep x")
    text = (tmp_path / "report.html").read_text()
    page = text[text.rindex("<h1>") :]
    assert "A &lt;b&gt;title&lt;/b&gt;" in page
    assert "&lt;script&gt;alert(1)" in page
    assert page.count("<tr>") == 1 + 8 * 2 + 1 + 8, "means of both, differences of one"
    assert '<figure class="figure" id="sweep"' in page
    assert "Seeds 1, 2; means of 2 runs; bands: 95 % confidence intervals (Student)." in page


def test_the_same_results_give_the_same_files(swept: Sweep, tmp_path: Path) -> None:
    for name in ("a", "b"):
        (tmp_path / name).mkdir()
        matplotlib.save(sweep.sweep(swept), tmp_path / name)
        sweep_html.save(swept, tmp_path / name / "report.html", "aqmlab sweep x")
    for file in ("figure.png", "figure.svg", "report.html"):
        assert (tmp_path / "a" / file).read_bytes() == (tmp_path / "b" / file).read_bytes()


def test_a_table_is_cut_when_it_is_long(swept: Sweep, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("aqmlab.reports.sweep_text.MOST_ROWS", 5)
    assert "… 11 more rows: in results/*.parquet" in repr(swept)
    assert "16 points" not in repr(swept)
    assert "8 points, 2 queue disciplines, seeds 1, 2" in repr(swept)
    assert ", 1 run simulated now;" in repr(replace(swept, simulated=1))
