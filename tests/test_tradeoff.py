"""The figure of goodput over queueing delay."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from conftest import Cli
from matplotlib.figure import Figure

import aqmlab
from aqmlab import Comparison, Scenario
from aqmlab.figures import model, tradeoff
from aqmlab.reports import html


@pytest.fixture
def found(tiny: Scenario) -> Comparison:
    return aqmlab.compare(tiny, aqms=["lred", "pi:q_ref=9", "droptail"], seeds=3)


def panel(found: Comparison) -> model.Panel:
    return tradeoff.tradeoff(found).panels[0]


def test_each_run_has_a_mark_and_the_mean_a_label(found: Comparison) -> None:
    shown = panel(found)
    means = {curve.name: curve for curve in shown.curves if curve.name}
    runs = [curve for curve in shown.curves if curve.hollow]
    for (label, result), marked in zip(found.items(), runs, strict=True):
        assert list(marked.x) == [1e3 * run.metrics["queue_delay_mean"] for run in result.runs]  # type: ignore[operator]
        assert list(marked.y) == pytest.approx([run.metrics["goodput"] / 1e6 for run in result.runs])  # type: ignore[operator]
        assert means[label].x[0] == pytest.approx(1e3 * (result.metrics["queue_delay_mean"] or 0))
        assert means[label].mark == marked.mark
    assert sorted(note.text for note in shown.shapes if isinstance(note, model.Note)) == sorted(found)
    assert len(tradeoff.tradeoff(found).panels) == len(tradeoff.DELAYS)


def test_better_is_up_and_to_the_right(found: Comparison) -> None:
    shown = panel(found)
    assert shown.x.downwards
    assert not shown.y.downwards
    axes = found.plot_tradeoff(Figure()).get_axes()[0]
    assert axes.get_xlim()[0] > axes.get_xlim()[1]
    assert axes.get_xlabel() == "Mean delay (ms), reversed"


def test_bars_are_the_intervals_of_the_table(found: Comparison) -> None:
    shown = panel(found)
    bars = [curve for curve in shown.curves if curve.width]
    goodput = found["lred"]["goodput"]
    mean, half = (goodput.mean or 0) / 1e6, (goodput.ci95 or 0) / 1e6
    low, high = np.clip([mean - half, mean + half], shown.y.low, shown.y.high)
    assert len(bars) == 2 * len(found)
    assert sorted(bars[1].y) == pytest.approx([low, high])
    assert bars[1].x[0] == bars[1].x[1]


def test_one_seed_has_means_alone(tiny: Scenario) -> None:
    shown = panel(aqmlab.compare(tiny, aqms=["lred", "pi"]))
    assert [curve.name for curve in shown.curves] == ["lred", "pi"]


def test_labels_cover_neither_each_other_nor_marks() -> None:
    taken: list[tuple[float, float, float, float]] = [(95.0, 95.0, 105.0, 105.0)]
    for _ in range(6):  # six results at one place
        box, *_ = tradeoff._free("droptail", 100.0, 100.0, taken, (280.0, 240.0))
        assert not any(tradeoff._overlap(box, other) for other in taken)
        taken.append(box)
    box, dx, _, left = tradeoff._free("droptail", 275.0, 100.0, [], (280.0, 240.0))
    assert left, "there is no room at its right"
    assert dx < 0
    assert box[2] <= 275


def test_delays_of_several_decades_have_a_logarithmic_axis(tiny: Scenario) -> None:
    slow, fast = aqmlab.run(tiny.with_({"dumbbell.rate": "200 kbit/s"}), seeds=2), aqmlab.run(tiny, seeds=2)

    def beside(delay: float) -> model.Panel:
        quick = [replace(run, metrics={**run.metrics, "queue_delay_mean": delay}) for run in fast.runs]
        return panel(Comparison({"slow": slow, "quick": replace(fast, runs=quick)}))

    assert beside(1e-4).x.log
    shown = beside(0.0)
    assert not shown.x.log
    assert shown.x.low is not None
    assert shown.x.low < 0, "the mark at 0 is not cut"


def test_many_results_have_runs_and_intervals_too_in_larger_panels(tiny: Scenario) -> None:
    found = aqmlab.compare(tiny, aqms=[f"lred:q0={q}" for q in range(5, 14)], seeds=2)
    figure = tradeoff.tradeoff(found)
    curves = list(figure.panels[0].curves)
    assert sum(curve.hollow for curve in curves) == len(found)
    assert sum(curve.width > 0 for curve in curves) == 2 * len(found)
    assert figure.grids[0].across == 1
    assert "95 % confidence intervals" in figure.small_print


def test_a_difference_of_less_than_a_percent_is_no_corner() -> None:
    near = [tradeoff.Point(name, (), (10.0, y), (None, None)) for name, y in (("a", 19.07), ("b", 18.92))]
    shown = tradeoff.scattered(
        "", "Delay (ms)", "Goodput", near, {"a": "#000", "b": "#000"}, dict.fromkeys("ab", "circle")
    )
    low, high = shown.y.low or 0, shown.y.high or 0
    assert high - low >= model.LEAST_SPAN * high
    assert shown.y.label == f"Goodput, from {low:g}"


def test_a_label_that_is_moved_away_is_joined_to_its_point() -> None:
    place = [tradeoff.Point(name, (), (10.0, 9.0), (None, None)) for name in ("one", "two", "three")]
    shade, mark = dict.fromkeys(("one", "two", "three"), "#000"), dict.fromkeys(("one", "two", "three"), "circle")
    notes = [
        note for note in tradeoff.scattered("", "x", "y", place, shade, mark).shapes if isinstance(note, model.Note)
    ]
    assert [note.joined for note in notes] == [abs(note.dy) > 6 for note in notes]
    assert any(note.joined for note in notes)


def test_the_command_and_the_report_have_it(quick_cli: Cli, small_file: Path, tmp_path: Path) -> None:
    short = ("--set", "duration=2 s", "--set", "warmup=0.5 s", "--seeds", "2")
    done = quick_cli("compare", small_file, *short, "--aqm", "lred", "--aqm", "pi", "--out", "out")
    assert done.returncode == 0, done.stderr
    assert "tradeoff.png, tradeoff.svg, report.html" in done.stdout
    assert (tmp_path / "out/tradeoff.png").read_bytes().startswith(b"\x89PNG")
    assert '<figure class="figure" id="tradeoff">' in (tmp_path / "out/report.html").read_text(encoding="utf-8")


def test_one_result_has_no_trade_off(tiny: Scenario, tmp_path: Path) -> None:
    html.save({"lred": aqmlab.run(tiny)}, tmp_path / "report.html", "aqmlab run")
    assert 'id="tradeoff"' not in (tmp_path / "report.html").read_text(encoding="utf-8")
