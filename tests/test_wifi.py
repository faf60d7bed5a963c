"""Wireless LANs in Python: the links in figures, tables and files."""

import pytest

import aqmlab
from aqmlab import Comparison, Scenario
from aqmlab.exchange import tc
from aqmlab.figures import runs
from aqmlab.reports.parts import links
from aqmlab.reports.text import rate_key
from aqmlab.scenario import cables

STATIONS = ("near", "middle", "far")


def brief(**changes: object) -> Scenario:
    return Scenario.load("links/wifi").with_({"duration": "4 s", "warmup": "1 s", **changes})


@pytest.fixture(scope="module")
def found() -> Comparison:
    return aqmlab.compare(brief(), aqms=["droptail", "fq_codel"], seeds=2)


def test_a_comparison_shows_the_airtime_of_each_station(found: Comparison) -> None:
    figure = runs.comparison(found)
    airtime, goodput, delay = figure.rows[-1][0].panels
    assert (airtime.title, goodput.title) == ("Airtime (%)", "Goodput (Mbit/s)")
    assert delay.title == "One-way p95 (ms)"
    ways = [f"wlan-{name}{back}" for name in STATIONS for back in ("", ":reverse")]
    assert list(airtime.y.categories) == ways
    for shape, result in zip(airtime.shapes, found.values(), strict=True):
        expected = [100 * (result.owned("links")[way]["utilisation"].mean or 0) for way in ways]
        assert list(shape.value) == pytest.approx(expected)
        assert sum(shape.value) < 105
    assert [*goodput.y.categories] == [entry["name"] for entry in found["droptail"].scenario.resolved["traffic"]]
    plain = aqmlab.compare(Scenario.load("links/home").with_({"duration": "2 s", "warmup": "1 s"}), aqms=["droptail"])
    assert not any(panel.title == "Airtime (%)" for panel in runs.comparison(plain).panels)


def test_tables_have_aggregates_and_collisions_of_links_that_have_them(found: Comparison) -> None:
    columns = [column.label for column in links({"droptail": found["droptail"]}).columns]
    assert columns[-2:] == ["Aggregate", "Collisions"]
    of = found["droptail"].owned("links")
    assert of["wlan-far"]["aggregate_mean"].mean == pytest.approx(2.0, abs=0.1)  # 4 ms at 7.2 Mbit/s
    assert "aggregate_mean" not in of["wlan"]


def test_each_link_has_the_table_of_its_queue() -> None:
    def disciplines(queues: str) -> dict[str, str]:
        scenario = brief(**{"wifi.wlan.queues": queues}).with_(aqm="codel")
        return {name: table["aqm"]["name"] for name, table in cables(scenario.resolved).items() if "aqm" in table}

    stations = [f"wlan-{name}" for name in STATIONS]
    assert disciplines("station") == dict.fromkeys(stations, "codel")
    assert disciplines("shared") == {"wlan": "codel", **dict.fromkeys(stations, "droptail")}


def test_the_rate_of_a_wireless_link_is_its_mcs() -> None:
    for link in ("wlan", "wlan-far", "wlan-far:reverse"):
        assert rate_key(brief(), link) == "wifi.wlan.mcs"
    assert rate_key(brief(), "wan:reverse") == "link.wan.reverse_rate"


def test_files_of_tc_have_each_queue(found: Comparison) -> None:
    kinds = {queue["dev"]: queue["kind"] for queue in tc.qdiscs(found["fq_codel"])}
    assert (kinds["wlan"], kinds["wlan-far"], kinds["wlan-far:reverse"]) == ("fq_codel", "pfifo", "pfifo")


def test_queues_of_stations_in_turns_of_equal_airtime_divide_the_time() -> None:
    settings = {"wifi.wlan.queues": "station", "wifi.wlan.scheduler": "airtime"}
    run = aqmlab.run(brief(**settings, duration="12 s").with_(aqm="fq_codel"))
    of = run.owned("links")
    times = [sum(of[f"wlan-{name}{back}"]["utilisation"].mean or 0 for back in ("", ":reverse")) for name in STATIONS]
    assert max(times) - min(times) < 0.03
    assert run.link == "wlan-near"
