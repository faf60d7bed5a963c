"""Cable networks in Python: the shipped scenario, its links in figures, tables and files."""

import pytest

import aqmlab
from aqmlab import Comparison, Scenario
from aqmlab.exchange import tc
from aqmlab.figures import runs
from aqmlab.reports.parts import links
from aqmlab.reports.text import rate_key
from aqmlab.scenario import cables


def brief(**changes: object) -> Scenario:
    return Scenario.load("links/cable").with_({"duration": "6 s", "warmup": "2 s", **changes})


@pytest.fixture(scope="module")
def found() -> Comparison:
    return aqmlab.compare(brief(), aqms=["droptail", "pie:preset=docsis"], seeds=2)


def test_a_comparison_shows_the_rates_in_use_of_each_modem(found: Comparison) -> None:
    shares, goodput, _ = runs.comparison(found).rows[-1][0].panels
    assert (shares.title, goodput.title) == ("Rate in use (%)", "Goodput (Mbit/s)")
    assert list(shares.y.categories) == ["cable-home", "cable-home:reverse"]
    for shape, result in zip(shares.shapes, found.values(), strict=True):
        expected = [100 * (result.owned("links")[way]["utilisation"].mean or 0) for way in shares.y.categories]
        assert list(shape.value) == pytest.approx(expected)
        assert 90 < shape.value[0] <= 100


def test_tables_have_the_grants_of_links_that_have_them(found: Comparison) -> None:
    columns = [column.label for column in links({"droptail": found["droptail"]}).columns]
    assert [label.split(" (")[0] for label in columns[-2:]] == ["Channel share", "Grants unused"]
    of = found["droptail"].owned("links")
    # 20 Mbit/s of Ethernet frames of up to 1518 bytes, each with 10 more, of 668.44 Mbit/s.
    assert of["cable-home"]["channel_share"].mean == pytest.approx(20 / 668.44 * 1528 / 1518, rel=0.02)
    assert "channel_share" not in of["cable-home:reverse"]


def test_each_link_has_the_table_of_its_queue_and_the_key_of_its_rate() -> None:
    scenario = brief().with_(aqm="codel")
    tables = cables(scenario.resolved)
    assert [tables["cable-home"][key]["name"] for key in ("aqm", "reverse_aqm")] == ["codel", "codel"]
    assert rate_key(scenario, "cable-home") == "cable.cable.rate"
    assert rate_key(scenario, "cable-home:reverse") == "cable.cable.reverse_rate"


def test_files_of_tc_have_each_queue(found: Comparison) -> None:
    kinds = {queue["dev"]: queue["kind"] for queue in tc.qdiscs(found["pie:preset=docsis"])}
    assert (kinds["cable-home"], kinds["cable-home:reverse"]) == ("pie", "pie")


def test_an_idle_house_has_the_floor_of_request_and_grant() -> None:
    """A ping alone: RFC 8034, section 4.2, says that request and grant take about 4 to 8 ms."""
    quiet = {f"traffic.{name}.count": 0 for name in ("uploads", "download", "call", "game")}
    idle = aqmlab.run(brief(duration="200 s", **quiet)).owned("classes")["ping"]
    expected = idle["rtt_idle"].mean
    assert expected is not None
    assert idle["rtt_mean"].mean == pytest.approx(expected, rel=0.01)
    # 20.2 ms of the other links there and back.
    assert 4e-3 < expected - 20.2e-3 < 8e-3
