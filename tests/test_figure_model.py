"""The model of a figure: the ranges of its axes, and that both renderers draw the same."""

import json
import math
import re
from importlib import resources
from typing import get_args

import numpy as np
import pytest
from matplotlib.figure import Figure as Canvas

from aqmlab.figures import browser, matplotlib, model
from aqmlab.figures.model import Axis, Bars, Curve, Figure, Grid, Guide, Note, Panel, Shade
from aqmlab.reports.figure import embedded


def curve(x: list[float], y: list[float], **more: object) -> Curve:
    return Curve(x=np.array(x, float), y=np.array(y, float), colour="#0072b2", **more)  # type: ignore[arg-type]


def panel(*shapes: model.Shape, x: Axis | None = None, y: Axis | None = None, title: str = "") -> Panel:
    return Panel(title=title, x=x or Axis("x"), y=y or Axis("y"), shapes=shapes)


def upright(*shapes: model.Shape, y: Axis | None = None) -> tuple[float, float]:
    return Grid(panels=[panel(*shapes, y=y)]).limits[0][1]


def test_a_range_shows_all_values_and_intervals() -> None:
    low, high = upright(curve([1, 2], [3, 5], interval=(np.array([1.0, 4.0]), np.array([4.0, 9.0]))))
    assert 0 < low < 1
    assert 9 < high < 10
    assert upright(curve([1, 2], [3, math.nan]), Guide(value=20))[1] > 20


def test_each_y_axis_has_the_range_of_its_own_curves() -> None:
    shapes = curve([1, 2], [3, 4]), curve([1, 2], [500, 900], right=True)
    twins = Panel(title="", x=Axis("x"), y=Axis("y"), shapes=shapes, right=Axis("Loss", high=1000))
    ((_, (low, high)),) = Grid(panels=[twins]).limits
    assert 2 < low < high < 5
    assert 400 < twins.right_limits[0] < 500
    assert twins.right_limits[1] == 1000
    with pytest.raises(ValueError, match="the panel has none"):
        panel(*shapes)
    with pytest.raises(ValueError, match="must have numbers"):
        Panel(title="", x=Axis("x"), y=Axis("y"), shapes=(), right=Axis("", categories=("a",)))


def test_no_range_is_negative_where_only_an_interval_is() -> None:
    interval = np.array([-2.0]), np.array([4.0])
    assert upright(curve([1], [1], interval=interval))[0] == 0
    assert upright(curve([1], [-1], interval=interval))[0] < -2


def test_a_logarithmic_range_is_positive() -> None:
    low, high = upright(curve([1, 2, 3], [0, 10, 1000]), y=Axis("", log=True))
    assert 1 < low < 10
    assert 1000 < high < 10_000
    assert upright(curve([1], [0]), y=Axis("", log=True)) == (0.1, 1.0)


def test_a_range_is_never_empty() -> None:
    for shape in (curve([1], [5]), curve([], []), curve([1], [math.nan])):
        low, high = upright(shape)
        assert math.isfinite(low)
        assert low < high
    assert upright(curve([1], [5]), y=Axis("", low=7)) == (7, 8)


def test_the_ends_that_an_axis_sets_are_kept() -> None:
    assert upright(curve([1, 2], [3, 50]), y=Axis("", low=-1, high=10)) == (-1, 10)
    categories = Grid(panels=[panel(curve([0, 1], [1, 2]), x=Axis("", categories=("a", "b")))])
    assert categories.limits[0][0] == (-0.6, 1.6)


@pytest.mark.parametrize(
    ("y", "log", "range"),
    [
        ([0, 10], False, (-0.5, 10.5)),
        ([0, 5], False, (-0.5, 10)),
        ([5, 9], False, (0, 10)),
        ([5, 11], False, (0, 10)),
        ([1, 100], True, (100**-0.05, 100**1.05)),
    ],
)
def test_a_mark_at_an_end_that_an_axis_sets_is_whole(y: list[float], log: bool, range: tuple[float, float]) -> None:
    ends = Axis("", 1 if log else 0, 100 if log else 10, log=log)
    assert upright(curve([1, 2], y, mark="circle"), y=ends) == pytest.approx(range)
    assert upright(curve([1, 2], y), y=ends) == (ends.low, ends.high), "lines are not cut"


def test_a_curve_above_is_drawn_last_and_stays_in_its_place_in_the_legend() -> None:
    shapes = curve([1, 2], [1, 2], name="ours", above=True), curve([1, 2], [1, 2], name="theirs")
    figure = Figure(title="", rows=[[Grid(panels=[panel(*shapes)])]], legend=True)
    (axes,) = matplotlib.draw(figure, Canvas()).axes
    assert [line.get_label() for line in axes.lines] == ["theirs", "ours"]
    assert list(figure.entries) == ["ours", "theirs"]


def test_panels_share_a_range_where_the_grid_says_so() -> None:
    panels = [panel(curve([0, 1], [0, 1])), panel(curve([5, 9], [0, 100]))]
    apart, together = (Grid(panels=panels, same_x=same, same_y=same).limits for same in (False, True))
    assert apart[0] != apart[1]
    assert together[0] == together[1]
    assert together[0][0][1] > 9
    assert together[0][1][1] > 100


def test_bars_begin_at_zero_and_leave_room_for_their_texts() -> None:
    bars = Bars(at=np.arange(2.0), value=np.array([10.0, 20.0]), colours=["#000000"] * 2, horizontal=True)
    texts = Bars(**{**vars(bars), "texts": ("10", "20")})
    low, high = Grid(panels=[panel(texts)]).limits[0][0]
    assert low == 0
    assert 20 < high < 25
    assert panel(bars).with_texts(high, 100, 7) == high
    longer = panel(texts).with_texts(high, 100, 7)
    assert 20 / longer * 100 + 2 * 7 < 100, "the longest bar and its text"


def test_a_difference_by_rounding_is_no_effect() -> None:
    low, high = upright(curve([1, 2, 3], [0.4444467555315193, 0.4444467555315146, 0.4444467555315146]))
    assert high - low > 0.01


def test_a_range_of_which_one_end_is_set_keeps_it() -> None:
    assert upright(curve([1, 2], [10, 30]), y=Axis("", high=5)) == (4, 5)
    with pytest.raises(ValueError, match="must be above 0"):
        Axis("", 0, log=True)


def test_intervals_end_where_a_logarithmic_axis_begins() -> None:
    line = curve([1, 2], [10, 1], interval=(np.array([5.0, -1.0]), np.array([20.0, 4.0])))
    logarithmic = panel(line, y=Axis("", log=True))
    (drawn,) = logarithmic.visible(0.5)
    assert list(drawn.interval[0]) == [5.0, 0.5]  # type: ignore[union-attr, index]
    (same,) = panel(line).visible(0.5)
    assert same is line
    twin = curve([1, 2], [10, 1], interval=(np.array([5.0, -1.0]), np.array([20.0, 4.0])), right=True)
    for y, cut in ((Axis("", log=True), 0.5), (Axis(""), -1.0)):
        right = Axis("", 0.01, 100, log=True)
        shapes = Panel(title="", x=Axis("x"), y=y, shapes=(line, twin), right=right).visible(0.5)
        ends = [shape.interval[0][1] for shape in shapes if isinstance(shape, Curve) and shape.interval]
        assert ends == [cut, 0.01]


@pytest.mark.parametrize("line", [True, False])
def test_a_thinned_curve_keeps_its_peaks_unless_it_is_points(line: bool) -> None:
    y = np.zeros(100_000)
    y[33_335] = 7.0
    thin = curve(list(range(len(y))), list(y), width=1.0 if line else 0.0).thinned(1000)
    assert len(thin.x) <= 2001
    assert (thin.y.max() == 7.0) == line
    wide = curve(list(range(len(y))), list(0 * y), interval=(-y, y)).thinned(1000)
    assert wide.interval
    assert (wide.interval[0].min(), wide.interval[1].max()) == (-7.0, 7.0)


def test_shades_are_the_colours_until_there_are_too_few() -> None:
    assert model.shades(8) == list(model.COLOURS)
    many = model.shades(30)
    assert len(set(many)) == 30
    assert all(re.fullmatch("#[0-9a-f]{6}", shade) for shade in many)


FIGURE = Figure(
    title="A </script> title",
    rows=[
        [
            Grid(
                panels=[
                    panel(
                        curve([1, 2, 3], [1e-9, math.nan, 123456789.0], name="<b>", mark="square"),
                        Shade(start=0, end=1),
                        y=Axis("Load", log=True),
                    ),
                    panel(curve([0, 1], [2, 3], name="dots", width=0.0), x=Axis("", categories=("low & high", "b"))),
                ],
                across=2,
            ),
            Grid(panels=[panel(Guide(value=3.0, upright=True), Note(text="n", x=1, y=2), title="third")]),
        ]
    ],
    legend=True,
    small_print="one run",
)


def test_both_renderers_have_the_same_panels_axes_and_legend() -> None:
    canvas = matplotlib.draw(FIGURE, Canvas())
    drawn = json.loads(json.dumps(browser.specification(FIGURE), allow_nan=False))
    panels = [one for row in drawn["rows"] for grid in row for one in grid["panels"]]
    assert [axes.get_title(loc="left") for axes in canvas.axes] == [one["title"] for one in panels]
    for axes, one in zip(canvas.axes, panels, strict=True):
        assert axes.get_xlim() == pytest.approx(one["x"]["range"], rel=1e-5)
        assert axes.get_ylim() == pytest.approx(one["y"]["range"], rel=1e-5)
        assert (axes.get_yscale() == "log") == one["y"]["log"]
        assert axes.get_xlabel() == one["x"]["label"]
    names = [entry["name"] for entry in browser.legend(FIGURE)]
    assert [text.get_text() for text in canvas.legends[0].get_texts()] == names == ["<b>", "dots"]


def test_both_renderers_have_the_same_right_axis_and_room_for_it() -> None:
    line = curve([1, 2], [5, 9], right=True)
    panels = [Panel(title="", x=Axis("x"), y=Axis("y"), shapes=[line], right=Axis("Loss"))] * 2
    figure = Figure(title="", rows=[[Grid(panels=panels, across=2)]])
    canvas = matplotlib.draw(figure, Canvas())
    specified = browser.specification(figure)["rows"][0][0]["panels"][0]
    left, right = canvas.axes[:2]
    assert right.get_ylim() == pytest.approx(specified["right"]["range"], rel=1e-5)
    assert right.get_ylabel() == specified["right"]["label"] == "Loss"
    assert (len(left.lines), len(right.lines)) == (0, 1)
    assert specified["shapes"][0]["right"]
    canvas.draw_without_rendering()
    boxes = [axes.get_tightbbox() for axes in canvas.axes]
    assert all(box is not None for box in boxes)
    width = canvas.get_size_inches()[0] * canvas.dpi
    assert boxes[1].x1 < boxes[2].x0, "no label of the first panel is on the second"  # type: ignore[union-attr]
    assert boxes[3].x1 < width  # type: ignore[union-attr]


def test_numbers_in_a_page_have_six_digits_and_gaps_are_null() -> None:
    shape = browser.specification(FIGURE)["rows"][0][0]["panels"][0]["shapes"][0]
    assert shape["y"] == [1e-9, None, 123457000.0]
    assert "hollow" not in shape, "a default is left out"
    close = Figure(title="", rows=[[Grid(panels=[panel(curve([10_000_000, 10_000_010], [1, 2]))])]])
    shape = browser.specification(close)["rows"][0][0]["panels"][0]["shapes"][0]
    assert shape["x"] == [10_000_000, 10_000_010], "values that differ by little do not coincide"


def test_no_text_of_a_figure_ends_its_script() -> None:
    page = embedded(FIGURE, "fig1")
    assert page.count("</script>") == 1
    assert "&lt;b&gt;" in page
    assert "<b>" not in page.split("<script")[0]
    assert page.count("<svg") == 1, "the mark of the first curve"


def test_every_shape_and_mark_can_be_drawn_by_both() -> None:
    script = resources.files("aqmlab.figures").joinpath("browser.js").read_text(encoding="utf-8")
    drawings = script[script.index("const DRAW = {") : script.index("const corners")]
    kinds = {kind.__name__ for kind in get_args(model.Shape)}
    assert set(re.findall(r"^  (\w+)\(u, shape", drawings, re.MULTILINE)) == {kind.lower() for kind in kinds}
    marks = script[script.index("const MARKS = {") :].split("\n};")[0]
    assert set(re.findall(r"^  '?([\w-]+)'?:", marks, re.MULTILINE)) == set(model.MARKS)
    points = [curve([1], [1], mark=mark, width=0.0) for mark in model.MARKS]
    assert len(matplotlib.draw(Figure(title="", rows=[[Grid(panels=[panel(*points)])]]), Canvas()).axes[0].lines) == 8


def test_columns_of_a_figure_end_at_the_same_height() -> None:
    high = Grid(panels=[panel(title="a"), panel(title="b")], height=3.0)
    low = Grid(panels=[panel(title="c")], height=1.0)
    canvas = matplotlib.draw(Figure(title="", rows=[[high, low]]), Canvas())
    _, last, alone = (axes.get_position() for axes in canvas.axes)
    assert last.y0 == pytest.approx(alone.y0)
    assert all(0 <= box.x0 < box.x1 <= 1 for box in (last, alone))
    assert last.x1 < alone.x0


def test_a_grid_without_panels_is_left_out() -> None:
    alone = Grid(panels=[panel(title="a")])
    assert (
        len(matplotlib.draw(Figure(title="", rows=[[Grid(panels=[]), alone], [Grid(panels=[])]]), Canvas()).axes) == 1
    )


def test_no_text_is_typeset_as_mathematics() -> None:
    odd = r"$\\frac{$"
    line = curve([1, 2], [1, 2], name=odd)
    figure = Figure(
        title=odd, rows=[[Grid(panels=[panel(line, title=odd, x=Axis(odd))])]], legend=True, small_print=odd
    )
    assert matplotlib.images(figure)["png"]


@pytest.mark.parametrize(
    ("high", "labels"),
    [
        (400, ["50", "100", "200"]),
        (2000, ["50", "100", "200", "500", "1000", "2000"]),
        (1e5, ["100", "1000", "10000", "100000"]),
        (1e6, ["10^{2}", "10^{3}", "10^{4}", "10^{5}", "10^{6}"]),
    ],
)
def test_a_logarithmic_axis_has_numbers_that_can_be_read(high: float, labels: list[str]) -> None:
    drawn = Figure(title="", rows=[[Grid(panels=[panel(curve([50, high], [1, 2]), x=Axis("x", 50, high, log=True))])]])
    (axes,) = matplotlib.draw(drawn).axes
    axes.figure.draw_without_rendering()  # type: ignore[union-attr]
    ticks = [(place, label.get_text()) for place, label in zip(axes.get_xticks(), axes.get_xticklabels(), strict=True)]
    ticks += [
        (place, label.get_text())
        for place, label in zip(axes.get_xticks(minor=True), axes.get_xticklabels(minor=True), strict=True)
    ]
    shown = [text for place, text in ticks if text and 50 <= place <= high]
    assert [label in text for label, text in zip(labels, shown, strict=True)] == [True] * len(labels)


@pytest.mark.parametrize(
    ("values", "low", "label"),
    [
        ([2.0, 9.0], 0.0, "y"),
        ([8.0, 9.0], 7.5, "y, from 7.5"),
        ([9.0, 9.01], 8.1, "y, from 8.1"),
        ([-1.0, 9.0], None, "y"),
    ],
)
def test_an_axis_starts_at_0_or_says_where_it_starts(values: list[float], low: float | None, label: str) -> None:
    found = model.grounded(Axis("y"), [panel(curve([1, 2], values))], "y")
    assert found.label == label
    assert found.low == low


def test_colours_of_sixteen_curves_differ_and_the_later_half_is_dashed() -> None:
    chosen = model.shades(16)
    assert len(set(chosen)) == 16
    assert [bool(model.dash(colour)) for colour in chosen] == [False] * 8 + [True] * 8
