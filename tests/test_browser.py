"""The script that draws figures in a browser: what it draws for each shape, the axes and the pointer's text.

The page and uPlot are stand-ins that record the calls; both axes are 100 pixels long.
"""

import json
import shutil
import subprocess
from collections.abc import Callable, Sequence
from importlib import resources
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from aqmlab.figures import browser, model
from aqmlab.figures.model import Arrow, Axis, Bars, Curve, Figure, Grid, Guide, Note, Panel, Shade

NODE = shutil.which("node")
HERE = Path(__file__).parent
UNIT = Axis("x", 0.0, 10.0), Axis("y", 0.0, 10.0)
Draw = Callable[..., Any]

pytestmark = pytest.mark.skipif(NODE is None, reason="Node.js is not installed")


@pytest.fixture
def drawn(tmp_path: Path) -> Draw:
    def draw(
        *shapes: model.Shape,
        x: Axis = UNIT[0],
        y: Axis = UNIT[1],
        right: Axis | None = None,
        width: int = 1000,
        copies: int = 1,
        panels: Sequence[Panel] = (),
    ) -> Any:
        panels = panels or [Panel(title="A panel", x=x, y=y, shapes=shapes, right=right)] * copies
        grid = Grid(panels=panels, across=len(panels), same_x=True, same_y=True)
        file = tmp_path / "figure.json"
        file.write_text(json.dumps(browser.specification(Figure(title="", rows=[[grid]]))), encoding="utf-8")
        script = str(resources.files("aqmlab.figures").joinpath("browser.js"))
        assert NODE is not None
        command = [NODE, str(HERE / "browser" / "draw.js"), script, str(file), str(width)]
        done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=60)
        assert done.returncode == 0, done.stderr
        return json.loads(done.stdout)

    return draw


def curve(*y: float, **more: Any) -> Curve:
    return Curve(x=np.linspace(0, 10, len(y)), y=np.array(y), colour="#0072b2", name="first", **more)


def calls(found: Any, *names: str) -> list[list[Any]]:
    return [call for call in found["panels"][0]["calls"] if call[0] in names]


def test_a_line_is_at_its_points_and_broken_at_a_gap(drawn: Draw) -> None:
    found = drawn(curve(0, 5, float("nan"), 10, 10))
    assert calls(found, "moveTo", "lineTo") == [
        ["moveTo", 0, 100],
        ["lineTo", 25, 50],
        ["moveTo", 75, 0],
        ["lineTo", 100, 0],
    ]


def test_a_curve_at_the_right_is_read_off_the_right_axis(drawn: Draw) -> None:
    found = drawn(curve(0, 50, right=True), curve(0, 5), right=Axis("Loss (%)", 0.0, 100.0))
    assert [tuple(call[1:]) for call in calls(found, "lineTo")] == [(100, 50), (100, 50)]
    assert [axis["label"] for axis in found["panels"][0]["axes"]] == ["x", "y", "Loss (%)"]
    right = Axis("Loss (%)", 0.0, 100.0)
    assert drawn(curve(0, 60, 100, right=True), right=right)["panels"][0]["tip"] == "first\nLoss (%)\n5: 60"


def test_a_mark_on_a_bar_is_nearer_than_the_bar(drawn: Draw) -> None:
    bars = Bars(at=np.array([5.0]), value=np.array([9.0]), colours=["#000000"], width=4.0, name="first")
    found = drawn(bars, curve(0, 50, 100, right=True, width=0.0), right=Axis("Loss (%)", 0.0, 100.0))
    assert found["panels"][0]["tip"] == "first\nLoss (%)\n5: 50"
    found = drawn(bars, curve(0, 80, 100, right=True, width=0.0), right=Axis("Loss (%)", 0.0, 100.0))
    assert found["panels"][0]["tip"] == "first\ny\n5: 9"


def test_right_axes_are_not_shared(drawn: Draw) -> None:
    apart = [
        Panel(title="", x=UNIT[0], y=UNIT[1], shapes=[], right=high and Axis("", 0.0, high))
        for high in (10.0, 1000.0, None)
    ]
    found = drawn(panels=apart)
    assert [panel["ranges"].get("right") for panel in found["panels"]] == [[0, 10], [0, 1000], None]


def test_a_square_panel_has_one_scale(drawn: Draw) -> None:
    panel = Panel(title="", x=Axis("", -1.0, 1.0), y=Axis("", -5.0, 5.0), shapes=[], square=True)
    ranges = drawn(panels=[panel])["panels"][0]["ranges"]
    assert ranges["y"] == [-5, 5]
    assert ranges["x"][1] > 15, "several times as wide as high"


def test_steps_keep_the_value_until_the_next_point(drawn: Draw) -> None:
    path = calls(drawn(curve(0, 5, 10, steps=True)), "moveTo", "lineTo")
    assert [tuple(call[1:]) for call in path] == [(0, 100), (50, 100), (50, 50), (100, 50), (100, 0)]


def test_a_band_goes_along_its_upper_end_and_back_along_its_lower(drawn: Draw) -> None:
    interval = np.array([0.0, 4.0]), np.array([2.0, 6.0])
    found = drawn(curve(1, 5, interval=interval, width=0.0))
    assert [tuple(call[1:]) for call in calls(found, "lineTo")] == [(0, 80), (100, 40), (100, 60), (0, 100)]


def test_steps_have_a_band_of_steps(drawn: Draw) -> None:
    interval = np.array([0.0, 4.0]), np.array([2.0, 6.0])
    found = drawn(curve(1, 5, interval=interval, width=0.0, steps=True))
    path = [tuple(call[1:]) for call in calls(found, "lineTo")]
    assert path == [(0, 80), (100, 80), (100, 40), (100, 60), (100, 100), (0, 100)]


def test_an_interval_is_a_bar_with_caps_where_there_is_no_band(drawn: Draw) -> None:
    interval = np.array([2.0]), np.array([4.0])
    point = Curve(x=np.array([5.0]), y=np.array([3.0]), colour="#0072b2", width=0.0, interval=interval, band=False)
    path = [tuple(call[1:]) for call in calls(drawn(point), "moveTo", "lineTo")]
    assert path == [(50, 80), (50, 60), (47, 80), (53, 80), (47, 60), (53, 60)]


def test_bars_reach_from_zero_to_their_values(drawn: Draw) -> None:
    bars = Bars(at=np.array([5.0]), value=np.array([4.0]), colours=["#000000"], width=2.0, texts=("4",))
    ((_, left, top, width, height),) = calls(drawn(bars), "fillRect")
    assert (top, height) == (60, 40)
    assert (left, width) == pytest.approx((40.8, 18.4))
    lying = Bars(
        at=np.array([5.0]), value=np.array([4.0]), colours=["#000000"], width=2.0, texts=("4",), horizontal=True
    )
    found = drawn(lying)
    ((_, left, top, width, height),) = calls(found, "fillRect")
    assert (left, width) == (0, 40)
    assert calls(found, "fillText") == [["fillText", "4", 45, 50]]


def test_a_text_beside_a_bar_has_room_in_a_narrow_panel(drawn: Draw) -> None:
    bars = Bars(
        at=np.array([5.0]), value=np.array([4.0]), colours=["#000000"], width=2.0, texts=("9412.345",), horizontal=True
    )
    wide, narrow = (drawn(bars, x=Axis("", 0.0, 4.1), width=width)["panels"][0]["ranges"]["x"] for width in (2000, 230))
    assert wide[1] < 4.5 < narrow[1]


def test_guides_shades_notes_and_arrows_are_at_their_places(drawn: Draw) -> None:
    found = drawn(
        Guide(value=2.0),
        Guide(value=3.0, upright=True),
        Shade(start=1.0, end=4.0),
        Note(text="here", x=5, y=5, dx=3),
        Arrow(x=1, y=1, to_x=2, to_y=1, colour="#000000"),
    )
    assert calls(found, "moveTo") == [["moveTo", 0, 80], ["moveTo", 30, 0]]
    assert calls(found, "fillRect") == [["fillRect", 10, 0, 30, 100]]
    ((_, text, x, y),) = calls(found, "fillText")
    assert (text, x, y) == ("here", pytest.approx(54, abs=0.1), 50)
    assert calls(found, "lineTo")[2] == ["lineTo", 17, 90], "its tip, seven pixels ahead"


@pytest.mark.parametrize("mark", model.MARKS)
def test_each_mark_surrounds_its_point(drawn: Draw, mark: str) -> None:
    found = drawn(Curve(x=np.array([5.0]), y=np.array([5.0]), colour="#0072b2", width=0.0, mark=mark))
    path = calls(found, "arc", "rect", "lineTo")[1:]  # the first cuts off what is outside the panel
    assert path
    if mark not in ("circle", "square", "plus"):
        xs, ys = zip(*(call[1:] for call in path), strict=True)
        assert min(xs) < 50 < max(xs)
        assert min(ys) < 50 < max(ys)


def test_the_pointer_is_shown_the_nearest_point(drawn: Draw) -> None:
    interval = np.array([0.0, 4.0, 9.0]), np.array([2.0, 6.0, 11.0])
    assert drawn(curve(1, 5.12345, 10, interval=interval))["panels"][0]["tip"] == "first\n5: 5.123 (4 to 6)"
    assert drawn(curve(0, 0))["panels"][0]["tip"] is None, "nothing is near"
    bars = Bars(at=np.array([1.0]), value=np.array([5.0]), colours=["#000000"], width=1.0, name="PI")
    found = drawn(bars, x=Axis("", categories=("low", "high load", "more")))
    assert found["panels"][0]["tip"] == "PI\nhigh load: 5"


def test_the_legend_hides_a_name(drawn: Draw) -> None:
    found = drawn(curve(1, 2), Guide(value=2.0))
    assert len(found["panels"][0]["calls"]) > len(found["hidden"][0])
    assert ["moveTo", 0, 80] in found["hidden"][0], "the line without a name stays"


def test_panels_beside_each_other_share_labels_and_break_up_in_a_narrow_page(drawn: Draw) -> None:
    wide, narrow = (drawn(curve(1, 2), width=width, copies=3)["panels"] for width in (1000, 400))
    assert [panel["axes"][1].get("label") for panel in wide] == ["y", None, None]
    assert [panel["axes"][1].get("label") for panel in narrow] == ["y", "y", "y"]
    assert [panel["axes"][0].get("label") for panel in narrow] == [None, None, "x"]


def test_axes_have_their_categories_and_powers_of_ten(drawn: Draw) -> None:
    found = drawn(curve(1, 2), x=Axis("", categories=("a", "b")), y=Axis("", 1.0, 1000.0, log=True))
    x, y = found["panels"][0]["axes"]
    assert x["texts"] == ["a", "b"]
    assert [text for text in y["texts"] if text] == ["1", "10", "100", "1000"]


@pytest.mark.parametrize(
    ("low", "high", "texts"),
    [
        (9.955, 111.6, ["10", "20", "50", "100"]),
        (3, 3e4, ["10", "100", "1000", "10000"]),
        (20, 90, ["20", "50"]),
        (2.4, 4.6, ["3", "4"]),
        (4.1, 4.9, ["4.1", "4.3", "4.5", "4.7", "4.9"]),
        (3e5, 3e8, ["1e+6", "1e+7", "1e+8"]),
    ],
)
def test_a_logarithmic_axis_has_numbers_whatever_its_range(
    drawn: Draw, low: float, high: float, texts: list[str]
) -> None:
    y = drawn(curve(low, high), y=Axis("", low, high, log=True))["panels"][0]["axes"][1]
    assert [text for text in y["texts"] if text] == texts
