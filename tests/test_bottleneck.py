"""A bottleneck that is not where the user thinks, and names and buffers as the user wrote them."""

from pathlib import Path

import pytest
from conftest import Cli

import aqmlab
from aqmlab import Scenario
from aqmlab.execute.task import digest
from aqmlab.execute.variants import repeated
from aqmlab.reports.text import notes, rate_key
from aqmlab.results.result import Result

TEXT = """
duration = "6 s"
warmup = "2 s"
record = { series = false }
[dumbbell]
rate = "2 Mbit/s"
buffer = "30 packets"
[[traffic]]
name = "long"
count = 2
"""
SLOW_ACCESS = {"dumbbell.access_rate": "2 Mbps"}
SAID = (
    "The queue under study never filled: the bottleneck is access link sender1, in use for 99.9% of the time. "
    "Raise dumbbell.access_rate."
)


def scenario(**settings: str) -> Scenario:
    return Scenario.parse(TEXT).with_({key.replace("__", "."): value for key, value in settings.items()})


def test_a_table_names_the_access_link_that_was_the_bottleneck() -> None:
    result = aqmlab.run(scenario().with_(SLOW_ACCESS), seeds=2)
    assert result.elsewhere.keys() == {"sender1"}
    assert SAID in repr(result).splitlines()
    assert "Raise dumbbell.access_rate" in result._repr_html_()


def test_nothing_is_said_where_the_queue_fills_and_where_traffic_is_light() -> None:
    full = aqmlab.run(scenario())
    assert full.elsewhere == {}
    assert "elsewhere" not in full.document()["runs"][0]
    light = {"traffic.long.kind": "cbr", "traffic.long.rate": "100 kbit/s"}
    for result in (full, aqmlab.run(scenario().with_(light | SLOW_ACCESS))):
        assert notes({"one": result}) == []


def test_a_comparison_names_the_rows_and_another_link_can_be_studied_instead() -> None:
    graph = """
duration = "6 s"
record = { series = false }
[[link]]
name = "first"
from = "a"
to = "b"
rate = "2 Mbit/s"
[[link]]
name = "second"
from = "b"
to = "c"
rate = "5 Mbit/s"
aqm = "red"
[[traffic]]
from = "a"
to = "c"
count = 2
"""
    found = aqmlab.compare(Scenario.parse(graph), aqms=["droptail", "codel"])
    for label, line in zip(found, repr(found).splitlines()[-2:], strict=True):
        assert f"{label}: the queue under study never filled: the bottleneck is link first, in use for " in line
        assert line.endswith('. Raise link.first.rate, or study that link: observe = "first".')
    assert aqmlab.run(Scenario.parse(f'observe = "first"\n{graph}')).elsewhere == {}


@pytest.mark.parametrize(
    ("link", "key"),
    [
        ("receiver1", "dumbbell.access_rate"),
        ("sender2:reverse", "dumbbell.access_rate"),
        ("bottleneck", "dumbbell.rate"),
        ("bottleneck:reverse", "dumbbell.reverse_rate"),
        ("tail", "link.tail.rate"),
        ("tail:reverse", "link.tail.reverse_rate"),
    ],
)
def test_each_link_has_a_key_for_its_rate(link: str, key: str) -> None:
    beside = Scenario.parse(f'{TEXT}[[link]]\nname = "tail"\nfrom = "r2"\nto = "end"\n')
    assert rate_key(beside, link) == key
    beside.with_({key: "3 Mbps"}).check()


def test_a_saved_result_and_its_report_say_it_too(quick_cli: Cli, tmp_path: Path) -> None:
    file = tmp_path / "slow.toml"
    file.write_text(TEXT, encoding="utf-8")
    done = quick_cli("run", file, "--set", "dumbbell.access_rate=2Mbps", "--out", tmp_path / "out")
    assert SAID in done.stdout
    assert SAID in (tmp_path / "out" / "report.html").read_text(encoding="utf-8")
    loaded = Result.load(tmp_path / "out")
    assert loaded.elsewhere.keys() == {"sender1"}
    assert SAID in repr(loaded)


def test_a_discipline_keeps_its_name_in_tables_and_results(quick_cli: Cli, tmp_path: Path) -> None:
    named = scenario(aqm="fq_codel")
    assert named.aqm == "fq_codel"
    result = aqmlab.run(named)
    assert "\nfq_codel " in repr(result)
    assert result.document()["scenario"]["aqm"]["name"] == "fq_codel"
    result.save(tmp_path / "saved")
    assert "\nfq_codel " in repr(Result.load(tmp_path / "saved"))
    file = tmp_path / "named.toml"
    file.write_text(named.with_({"dumbbell.buffer": "2BDP"}).to_toml(), encoding="utf-8")
    assert "valid: fq_codel, a buffer of 15000 B (2 BDP), 6 s" in quick_cli("validate", file).stdout
    assert "\nfq_codel " in quick_cli("run", file).stdout


def test_names_of_one_discipline_are_one_run() -> None:
    names = {spec: scenario(aqm=spec) for spec in ("fq_codel", "fq:preset=codel")}
    assert repeated(names) == ("fq_codel", "fq:preset=codel")
    assert len({digest(one) for one in names.values()}) == 1
    beside = Scenario.parse(f'{TEXT}[[link]]\nname = "tail"\nfrom = "r2"\nto = "end"\naqm = "drr"\n')
    assert digest(beside) == digest(beside.with_({"link.tail.aqm": "fq:preset=droptail"}))
    assert digest(beside) != digest(beside.with_({"link.tail.aqm": "fq_codel"}))
    assert digest(names["fq_codel"]) != digest(scenario(aqm="fq_pie"))
