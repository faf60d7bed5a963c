"""Figures and the report: drawn from the results, whatever was recorded."""

import re
from dataclasses import replace
from html import unescape
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest
from matplotlib.axes import Axes
from matplotlib.figure import Figure

import aqmlab
from aqmlab import DISTRIBUTIONS, METRICS, Comparison, Scenario
from aqmlab.figures import matplotlib, runs
from aqmlab.figures.model import COLOURS
from aqmlab.reports import html


@pytest.fixture
def comparison(small: Scenario) -> Comparison:
    return aqmlab.compare(small, aqms=["lred:q0=20", "droptail"], seeds=2)


def panels(figure: Figure) -> list[str]:
    return [axes.get_title(loc="left") for axes in figure.get_axes()]


def test_a_comparison_has_a_panel_for_each_and_bars(comparison: Comparison) -> None:
    figure = comparison.plot(Figure())
    bars = [METRICS[name].axis for name in runs.BARS]
    assert panels(figure) == ["lred:q0=20", "droptail", *bars]
    first, second = figure.get_axes()[:2]
    assert first.get_ylim() == second.get_ylim()
    assert first.get_ylim()[1] >= comparison["lred:q0=20"].series["bottleneck.queue.max"].max()


def test_the_target_is_drawn_where_there_is_one(comparison: Comparison) -> None:
    lred, droptail = comparison.plot(Figure()).get_axes()[:2]
    levels = [list(line.get_ydata()) for line in lred.lines]
    assert [20, 20] in levels
    assert len(droptail.lines) == len(lred.lines) - 1


def test_bars_show_means_and_intervals(comparison: Comparison) -> None:
    axes = comparison.plot(Figure()).get_axes()[2]
    means = [result["queue_mean"].mean for result in comparison.values()]
    assert [bar.get_width() for bar in axes.patches] == pytest.approx(means)
    assert len(axes.collections) == 1, "the error bars"


def columns_and_panels(figure: Figure) -> tuple[list[Axes], list[Axes]]:
    axes = figure.get_axes()
    return axes[: len(runs.BARS)], axes[len(runs.BARS) :]


@pytest.fixture
def many(small: Scenario) -> Comparison:
    specs = [
        "all",
        *(f"lred:q0={q}" for q in (30, 5, 10, 15)),
        "red:min_th=5,max_th=15,w_q=0.002,max_p=0.1,gentle=false",
    ]
    return aqmlab.compare(small, aqms=specs, seeds=2)


def test_many_results_are_rows_sorted_by_the_mean_queue_and_small_panels(many: Comparison) -> None:
    columns, small_panels = columns_and_panels(many.plot(Figure()))
    order = list(runs.by_queue(many))
    means = [many[label]["queue_mean"].mean or 0.0 for label in order]
    assert sorted(order) == sorted(many)
    assert means == sorted(means)
    labels = [text.get_text().replace("\n", "") for text in columns[0].get_yticklabels()]
    assert labels == order
    assert [axes.get_title(loc="left") for axes in columns] == [METRICS[name].axis for name in runs.BARS]
    assert [axes.get_title(loc="left").replace("\n", "") for axes in small_panels] == order
    assert [bar.get_width() for bar in columns[0].patches] == pytest.approx(means)
    assert len({axes.get_ylim() for axes in small_panels}) == 1
    assert small_panels[0].get_ylim()[1] >= max(result.series["bottleneck.queue.max"].max() for result in many.values())


def test_labels_beside_rows_do_not_overlap(many: Comparison) -> None:
    figure = many.plot(Figure())
    figure.draw_without_rendering()
    columns, _ = columns_and_panels(figure)
    boxes = [text.get_window_extent() for text in columns[0].get_yticklabels()]
    assert all(above.y0 >= below.y1 - 1 for above, below in pairwise(boxes))


def test_curves_of_many_results_each_have_a_colour_and_a_name(many: Comparison) -> None:
    shades = runs.colours(many)
    assert list(shades) == list(many)
    assert len(set(shades.values())) == len(many)
    figure = many.plot_distribution("delay", Figure())
    (legend,) = figure.legends
    assert [text.get_text() for text in legend.get_texts()] == list(runs.by_queue(many))
    few = dict(list(many.items())[: runs.MANY])
    assert list(runs.colours(few).values()) == list(COLOURS)


def test_bins_are_put_together_to_fit_a_small_panel(comparison: Comparison) -> None:
    result = comparison["droptail"]
    whole, coarse = runs.band(result), runs.band(result, most=100)
    assert len(whole["t"]) > 100 >= len(coarse["t"]) > 40
    width = -(-len(whole["t"]) // 100)
    assert coarse["t"][1] == whole["t"][width]
    assert coarse["mean"][1] == pytest.approx(whole["mean"][width : 2 * width].mean())
    assert coarse["max"][1] == whole["max"][width : 2 * width].max()
    assert coarse["min"].min() == whole["min"].min()
    assert coarse["max"].max() == whole["max"].max()
    assert runs.band(result, most=len(whole["t"]))["mean"] == pytest.approx(whole["mean"])


def test_the_report_of_many_results_has_a_row_for_each(many: Comparison, tmp_path: Path) -> None:
    html.save(many, tmp_path / "report.html", "aqmlab compare")
    text = (tmp_path / "report.html").read_text(encoding="utf-8")
    head, *rows = map(cells, text.partition('<table class="tall">')[2].partition("<h2>Links</h2>")[0].split("<tr")[1:])
    assert head[1:] == [METRICS[name].axis for name in METRICS if name in many["lred"].metrics]
    assert [row[0] for row in rows] == list(many)
    assert "sorted by the mean queue" in text


def test_without_series_there_are_only_bars(small: Scenario, tmp_path: Path) -> None:
    result = aqmlab.run(small.with_({"record.series": False}))
    assert panels(result.plot(Figure())) == [METRICS[name].axis for name in runs.BARS]
    html.save({"lred": result}, tmp_path / "report.html", "aqmlab run")


def test_a_distribution_has_a_panel_for_each_owner_and_a_curve_for_each_result(comparison: Comparison) -> None:
    for name, owner in (("loss_runs", "long"), ("loss_bursts", "bottleneck"), ("delay", "long")):
        figure = comparison.plot_distribution(name, Figure())
        assert panels(figure) == [owner]
        (axes,) = figure.get_axes()
        assert [line.get_label() for line in axes.lines] == list(comparison)
        assert axes.get_xlabel() == DISTRIBUTIONS[name].axis
        numbers = comparison["droptail"].distributions["links" if owner == "bottleneck" else "classes"][owner][name]
        x, y = axes.lines[1].get_data()
        if name == "delay":
            assert list(x) == pytest.approx([1e3 * number for number in numbers])
        else:
            assert list(x) == list(range(1, len(numbers) + 1))
            assert y[0] == 100
            assert y[-1] == pytest.approx(100 * numbers[-1] / sum(numbers))


def test_what_has_no_distribution_is_not_drawn(comparison: Comparison) -> None:
    with pytest.raises(LookupError, match="no values of completion_time"):
        comparison.plot_distribution("completion_time", Figure())
    with pytest.raises(KeyError, match="must be one of loss_runs, loss_bursts"):
        comparison["droptail"].plot_distribution("loss", Figure())


def test_the_same_results_give_the_same_files(comparison: Comparison, tmp_path: Path) -> None:
    for folder in ("a", "b"):
        matplotlib.save(runs.comparison(comparison), tmp_path / folder)
        html.save(comparison, tmp_path / folder / "report.html", "aqmlab compare")
    for name in ("figure.png", "figure.svg", "report.html"):
        assert (tmp_path / "a" / name).read_bytes() == (tmp_path / "b" / name).read_bytes()


def test_the_default_figure_is_pyplots(comparison: Comparison) -> None:
    from matplotlib import pyplot

    figure = comparison["lred:q0=20"].plot()
    assert pyplot.gcf() is figure
    pyplot.close(figure)


def test_curves_are_of_all_seeds_and_figure_and_report_say_so(comparison: Comparison, tmp_path: Path) -> None:
    result = comparison["droptail"]
    first, second = (result.series_of(seed) for seed in result.seeds)
    both = runs.band(result)
    for key, of in (("min", np.minimum), ("max", np.maximum), ("mean", lambda a, b: (a + b) / 2)):
        column = f"bottleneck.queue.{key}"
        assert both[key] == pytest.approx(of(first[column].to_numpy(), second[column].to_numpy()))
    told = "ine and band: mean, least and greatest value of each bin, over 2 runs; "
    html.save(comparison, tmp_path / "report.html", "aqmlab compare")
    assert f"L{told}" in (tmp_path / "report.html").read_text(encoding="utf-8")
    assert f"l{told}" in comparison.plot(Figure()).get_supxlabel()
    alone = {"lred": replace(comparison["lred:q0=20"], runs=comparison["lred:q0=20"].runs[:1])}
    assert "runs" not in runs.explained(alone)


def test_texts_are_shown_as_they_are(small: Scenario, tmp_path: Path) -> None:
    result = aqmlab.run(small.with_(title=r"$\frac{$ <b> 漢"))
    figure = result.plot(Figure())
    assert figure.get_suptitle() == r"$\frac{$ <b> 漢"
    matplotlib.save(
        runs.comparison({r"$\frac{$": result}), tmp_path
    )  # neither an error nor a missing glyph, whose warning is an error here


def test_long_labels_are_broken_at_commas(comparison: Comparison) -> None:
    long = "red:min_th=20,max_th=60,w_q=0.002,max_p=0.1"
    axes = matplotlib.draw(runs.comparison({long: comparison["droptail"]}), Figure()).get_axes()[-1]
    lines = axes.get_yticklabels()[0].get_text().split("\n")
    assert "".join(lines) == long
    assert len(lines) == 3
    assert all(line.endswith(",") for line in lines[:-1])


def cells(page: str) -> list[str]:
    return [unescape(text) for text in re.findall(r"<t[dh]\b[^>]*>([^<]*)", page)]


def test_the_report_is_whole_and_fetches_nothing(comparison: Comparison, tmp_path: Path) -> None:
    command = "aqmlab compare <small> --aqm 'lred'"
    html.save(comparison, tmp_path / "report.html", command)
    text = (tmp_path / "report.html").read_text(encoding="utf-8")
    assert not re.search(r"<[^>]* (src|href)=", text)
    assert not re.search(r"@import|url\(http", text[: text.index("<script>")])
    assert [name for name in DISTRIBUTIONS if f'<figure class="figure" id="{name}">' in text] == [
        "loss_runs",
        "loss_bursts",
        "delay",
    ]
    assert set(cells(text)) >= {METRICS[name].axis for name in comparison["lred:q0=20"].metrics}
    assert "aqmlab compare &lt;small&gt;" in text
    assert f"aqmlab {aqmlab.__version__}" in text
    assert "Seeds 7, 8" in text
    assert "[dumbbell]" in text
