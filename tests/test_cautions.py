"""Remarks on scenarios whose numbers are right and may mislead."""

from pathlib import Path

import pytest
from conftest import Cli

from aqmlab import Scenario, run
from aqmlab.reports.cautions import cautions, round_trips

TWO = """
[dumbbell]
rate = "10 Mbit/s"
sender_delay = ["80 ms", "10 ms"]
[[traffic]]
name = "far"
[[traffic]]
name = "near"
"""


def test_a_queue_that_drops_what_it_could_mark_is_named_with_the_key() -> None:
    base = Scenario.load("links/datacentre")
    assert cautions([base]) == []
    (found,) = cautions([base.with_({"aqm.ecn": False}), base.with_(aqm="codel"), base.with_(aqm="droptail")])
    assert found.startswith("step, codel: packets of copies, answers are dropped that could be marked; aqm.ecn = true")
    (inner,) = cautions([base.with_(aqm="fq:aqm=codel")])
    assert "aqm.aqm.ecn = true" in inner
    assert cautions([Scenario.load("quickstart").with_(aqm="codel")]) == [], "its senders are not ECN-capable"


@pytest.mark.parametrize(
    ("rate", "more", "warned"),
    [("5 Mbit/s", "", True), ("5 Mbit/s", ",min_qlen_step=1", False), ("50 Mbit/s", "", False)],
)
def test_a_step_of_dualpi2_that_is_shorter_than_a_packet_is_named(rate: str, more: str, warned: bool) -> None:
    found = cautions([Scenario.load("l4s").with_({"dumbbell.rate": rate}).with_(aqm=f"dualpi2:preset=linux{more}")])
    assert any("min_qlen_step = 1" in one for one in found) == warned


def test_flows_of_several_entries_that_all_have_the_first_delay_are_named() -> None:
    both = Scenario.parse(TWO, "two")
    assert round_trips(both) == {"far": [pytest.approx(0.185)], "near": [pytest.approx(0.185)]}
    (found,) = cautions([both])
    assert found.startswith(
        "far, near: the flows of each entry begin with the first of the 2 values of dumbbell.sender_delay"
    )
    apart = Scenario.parse(TWO + 'from = "sender2"\n', "two")
    assert round_trips(apart) == {"far": [pytest.approx(0.185)], "near": [pytest.approx(0.045)]}
    assert cautions([apart]) == []
    own = Scenario.parse(TWO + 'sender_delay = "10 ms"\n', "two")
    assert round_trips(own) == {"far": [pytest.approx(0.185)], "near": [pytest.approx(0.045)]}
    assert cautions([own]) == []
    one_host = both.with_({"dumbbell.hosts": 1, "traffic.far.count": 2})
    assert round_trips(one_host)["far"] == [pytest.approx(0.185)], "the second delay is nobody's"


MANY = """
[dumbbell]
rate = "1 Gbit/s"
access_rate = "1 Gbit/s"
hosts = 20
buffer = "0.2 BDP"
[[traffic]]
name = "bulk"
count = 200
start = "uniform(0 s, 1 s)"
"""


@pytest.mark.parametrize(
    ("settings", "warned"),
    [
        ({}, True),
        ({"dumbbell.access_rate": "1000 Mbit/s"}, True),
        ({"dumbbell.access_rate": "1.37 Gbit/s"}, False),
        ({"traffic.bulk.send_jitter": "1 ms"}, False),
        ({"traffic.bulk.sender_delay": "uniform(5 ms, 50 ms)"}, False),
        ({"traffic.bulk.count": 20}, False),
        ({"aqm.name": "red"}, False),
    ],
)
def test_many_flows_in_step_with_the_queue_are_named_with_the_cure(settings: dict[str, object], warned: bool) -> None:
    found = cautions([Scenario.parse(MANY, "many").with_(settings)])
    assert any("send_jitter" in one and "200 flows" in one for one in found) == warned


def test_jitter_ends_phase_effects() -> None:
    document = 'duration = "5 s"\nwarmup = "2 s"\n' + MANY + 'tcp = "rfc5681:flavour=sack"\n'
    many = Scenario.parse(document, "many")
    before, after = (
        run(many.with_({"traffic.bulk.send_jitter": jitter})).runs[0].metrics["jain"] for jitter in ("0 s", "1 ms")
    )
    assert before < 0.2
    assert after > 0.8


def test_validate_prints_round_trips_and_remarks(quick_cli: Cli, tmp_path: Path) -> None:
    (tmp_path / "two.toml").write_text(TWO)
    done = quick_cli("validate", tmp_path / "two.toml")
    assert "round trips without a queue: far 185 ms, near 185 ms" in done.stdout
    assert 'a line sender_delay = "10 ms" in an entry gives it another' in done.stdout
