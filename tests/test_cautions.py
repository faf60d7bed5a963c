"""Remarks on scenarios whose numbers are right and may mislead."""

from pathlib import Path

import pytest
from conftest import Cli

from aqmlab import Scenario
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
    (found,) = cautions([base.with_({"aqm.ecn": False}), base.with_aqm("codel"), base.with_aqm("droptail")])
    assert found.startswith("step, codel: packets of copies, answers are dropped that could be marked; aqm.ecn = true")
    (inner,) = cautions([base.with_aqm("fq:aqm=codel")])
    assert "aqm.aqm.ecn = true" in inner
    assert cautions([Scenario.load("quickstart").with_aqm("codel")]) == [], "its senders are not ECN-capable"


@pytest.mark.parametrize(
    ("rate", "more", "warned"),
    [("5 Mbit/s", "", True), ("5 Mbit/s", ",min_qlen_step=1", False), ("50 Mbit/s", "", False)],
)
def test_a_step_of_dualpi2_that_is_shorter_than_a_packet_is_named(rate: str, more: str, warned: bool) -> None:
    found = cautions([Scenario.load("l4s").with_({"dumbbell.rate": rate}).with_aqm(f"dualpi2:preset=linux{more}")])
    assert any("min_qlen_step = 1" in one for one in found) == warned


def test_flows_of_several_entries_that_all_have_the_first_delay_are_named() -> None:
    both = Scenario.parse(TWO, "two")
    assert round_trips(both) == {"far": [pytest.approx(0.185)], "near": [pytest.approx(0.185)]}
    (found,) = cautions([both])
    assert found.startswith("far, near: the flows of each entry begin with the first of the 2 values of sender_delay")
    apart = Scenario.parse(TWO + 'from = "sender2"\n', "two")
    assert round_trips(apart) == {"far": [pytest.approx(0.185)], "near": [pytest.approx(0.045)]}
    assert cautions([apart]) == []


def test_validate_prints_round_trips_and_remarks(quick_cli: Cli, tmp_path: Path) -> None:
    (tmp_path / "two.toml").write_text(TWO)
    done = quick_cli("validate", tmp_path / "two.toml")
    assert "round trips without a queue: far 185 ms, near 185 ms" in done.stdout
    assert '"sender2" chooses a host' in done.stdout
