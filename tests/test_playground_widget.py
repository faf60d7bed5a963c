"""The playground in notebooks: scenarios, results and comparisons as widgets."""

from collections.abc import Iterator
from pathlib import Path

import pytest

import aqmlab
from aqmlab import Scenario, ScenarioError
from aqmlab.playground import built, widget
from aqmlab.playground.address import Address

NEEDED = pytest.importorskip("anywidget", reason="anywidget is not installed: pip install 'aqmlab[notebook]'")

MINE = "import aqmlab\n\nclass Mine(aqmlab.AQM):\n    def on_enqueue(self, packet, queue):\n        pass\n"


def shown(view: object) -> Address:
    assert isinstance(view, NEEDED.AnyWidget)
    return Address.parse(view.link)


@pytest.fixture
def fresh(pages: Path) -> Iterator[None]:
    """Let the class of the widget read the module of this test."""
    widget._class.cache_clear()
    yield
    widget._class.cache_clear()


@pytest.mark.usefixtures("fresh")
def test_a_scenario_plays(tiny: Scenario, pages: Path) -> None:
    view = tiny.play(height=500)
    assert shown(view) == Address(toml=tiny.to_toml(), name="scenario.toml")
    assert (view.height, view.trait_metadata("link", "sync"), view.trait_metadata("height", "sync")) == (
        500,
        True,
        True,
    )
    assert view._esm == (pages / built.WIDGET).read_text(encoding="utf-8")
    assert shown(tiny.play(["codel", "pie"])).aqms == ("codel", "pie")


@pytest.mark.usefixtures("fresh")
def test_a_result_plays_with_its_discipline_and_its_first_seed(tiny: Scenario) -> None:
    address = shown(aqmlab.run(tiny.with_(aqm="pi:q_ref=9"), seeds=[4, 5]).play())
    assert (address.aqms, address.seed) == ((), 4)
    assert Scenario.parse(address.toml or "").resolved["aqm"]["q_ref"] == 9
    assert shown(aqmlab.run(tiny).play()).seed is None, "it is in the text"


def playing(view: object) -> list[Scenario]:
    """Return the scenarios that a view shows, as the page makes them."""
    address = shown(view)
    base = Scenario.parse(address.toml or "")
    return [base.with_(aqm=spec) for spec in address.aqms]


@pytest.mark.usefixtures("fresh")
def test_a_comparison_plays_its_disciplines(tiny: Scenario) -> None:
    compared = aqmlab.compare(tiny, aqms=["lred", "pi:q_ref=9"])
    view = compared.play()
    assert shown(view).aqms == ("lred", "pi:q_ref=9")
    assert playing(view) == [result.scenario for result in compared.values()]


@pytest.mark.usefixtures("fresh")
def test_parameters_of_a_comparison_that_no_label_has_are_kept(tiny: Scenario) -> None:
    changed = {"lred": tiny.with_({"aqm.beta": 0.002}), "second": tiny.with_(aqm="fq_codel").with_({"aqm.flows": 9})}
    compared = aqmlab.Comparison({label: aqmlab.run(one) for label, one in changed.items()})
    view = compared.play()
    assert [one.resolved["aqm"] for one in playing(view)] == [one.resolved["aqm"] for one in changed.values()]


@pytest.mark.usefixtures("fresh")
def test_of_many_disciplines_the_first_three_play(tiny: Scenario) -> None:
    compared = aqmlab.compare(tiny, aqms=["lred", "pi", "codel", "pie", "red"])
    with pytest.warns(UserWarning, match=r"shows 3 disciplines at a time: pie, red left out") as caught:
        view = compared.play()
    assert caught[0].filename == __file__
    assert shown(view).aqms == ("lred", "pi", "codel")


@pytest.mark.usefixtures("fresh")
def test_results_of_several_engines_play_once(tiny: Scenario) -> None:
    assert shown(aqmlab.compare(tiny, aqms=["lred", "pi"], engines=["packet", "fluid"]).play()).aqms == ("lred", "pi")


@pytest.mark.usefixtures("fresh")
def test_what_cannot_play_is_refused(tiny: Scenario, tmp_path: Path) -> None:
    two = {"a": aqmlab.run(tiny), "b": aqmlab.run(tiny.with_({"dumbbell.rate": "1 Mbit/s"}))}
    with pytest.raises(ValueError, match="b: differs from 'Small' in more than its discipline"):
        aqmlab.Comparison(two).play()
    with pytest.raises(ValueError, match="the comparison is empty"):
        aqmlab.Comparison({}).play()
    with pytest.raises(ValueError, match=r"aqms = .*: the playground shows at most 3"):
        tiny.play(["pi", "pie", "red", "rem"])
    with pytest.raises(TypeError, match=r"must be a list of strings: \['pi'\]"):
        tiny.play("pi")
    with pytest.raises(ValueError, match="kernel:pie: only the linux engine"):
        tiny.play(["kernel:pie"])
    with pytest.raises(ValueError, match="height = 0: must be at least 1"):
        tiny.play(height=0)
    with pytest.raises(ScenarioError, match=r"traffic\.conference\.file"):
        Scenario.load("traffic/trace").play()
    (tmp_path / "mine.py").write_text(MINE, encoding="utf-8")
    with pytest.raises(ScenarioError, match="no Python"):
        aqmlab.run(tiny.with_(aqm=f"{tmp_path}/mine.py:Mine")).play()


@pytest.mark.usefixtures("fresh")
def test_without_the_widget_the_error_names_the_command_that_builds_it(tiny: Scenario, pages: Path) -> None:
    (pages / built.WIDGET).unlink()
    with pytest.raises(FileNotFoundError, match="`make setup` builds it"):
        tiny.play()
