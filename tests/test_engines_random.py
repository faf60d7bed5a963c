"""`make engines-random` where no kernel is needed: draws, differences, and the parts that are left of a scenario."""

from pathlib import Path
from types import SimpleNamespace

import pytest
from oracle.linux import tc
from oracle.linux.drawn import agreement
from oracle.linux.drawn.agreement import SEEDS, judged
from oracle.linux.drawn.scenarios import Drawn, Entry, draw
from oracle.linux.drawn.shrink import shrunk

from aqmlab import Scenario
from aqmlab.execute.engine import PACKETS, Engine
from aqmlab.runs.study import Study, study

DRAWN = [draw(1, number) for number in range(400)]

UDP = Entry("cbr", keys=(("rate", "2 Mbit/s"),))
WITH_UDP = Drawn(
    10, 10, "codel limit 1000", True, (Entry("ftp", "cubic", 2), UDP, Entry("ftp", "linux:congestion=reno", up=True))
)


def test_a_draw_depends_on_its_seed_and_number_alone() -> None:
    assert draw(1, 7) == DRAWN[7]
    assert draw(2, 7) != DRAWN[7] != DRAWN[8]


def test_each_draw_is_a_scenario_and_so_is_what_is_smaller() -> None:
    for drawn in DRAWN[:40]:
        drawn.scenario().check()
        for smaller in drawn.smaller():
            smaller.scenario().check()


def test_every_discipline_is_drawn_as_the_kernels_and_as_ours() -> None:
    assert {(drawn.words.split()[0], drawn.kernel) for drawn in DRAWN} == {
        (name, kernel) for name in tc.KINDS for kernel in (True, False)
    }
    assert {entry.kind for drawn in DRAWN for entry in drawn.entries} == {
        *("ftp", "short", "web", "cbr", "poisson", "on-off"),
    }


def test_a_run_is_bounded() -> None:
    for drawn in DRAWN:
        assert 3 <= drawn.duration <= 40
        assert drawn.duration >= min(25 * drawn.rtt / 1000, 40) - 0.1


@pytest.fixture
def unlike(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """Let the packet engine be Linux, and send datagrams at half their rate; return the numbers of seeds asked for."""
    asked: list[int] = []

    def studied(scenario: Scenario, *, seeds: int, engine: Engine) -> Study:
        asked.append(seeds)
        if engine != PACKETS:
            rates = {
                f"traffic.{entry['name']}.rate": "1 Mbit/s"
                for entry in scenario.resolved["traffic"]
                if entry["kind"] == "cbr"
            }
            scenario = scenario.with_(rates)
        return study(scenario, seeds=seeds, engine=PACKETS)

    monkeypatch.setattr(agreement, "study", studied)
    return asked


def test_equal_engines_agree_with_few_runs(unlike: list[int], tmp_path: Path) -> None:
    alike = Drawn(10, 10, "codel limit 1000", True, (Entry("ftp", "cubic", 2),))
    found = judged({"alike": alike}, tmp_path)["alike"]
    assert not found.differing
    assert {check.metric for check in found.checks} >= {
        "queue",
        "delay_p95",
        "ftp1 goodput",
        "ftp1 lost",
        "ftp1 marked",
    }
    assert (found.seeds, set(unlike)) == (SEEDS[0], {SEEDS[0]})


def test_a_difference_is_tried_with_more_runs_and_shrunk_to_its_cause(unlike: list[int], tmp_path: Path) -> None:
    found = judged({"udp": WITH_UDP}, tmp_path)["udp"]
    assert found.seeds == SEEDS[1]
    assert "goodput" in found.differing
    assert {check.metric for check in found.failed} >= {"cbr2 goodput", "ftp1 goodput"}
    smallest = shrunk(found, tmp_path)
    assert smallest.drawn.entries == (UDP,)
    assert not smallest.drawn.kernel


def test_runs_that_fail_are_a_difference(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    failed = SimpleNamespace(interrupted=False, engine_name="linux", failures=[SimpleNamespace(error="no room")])
    monkeypatch.setattr(agreement, "run_all", lambda studies, *_, **__: [failed for _ in studies])
    found = judged({"failed": WITH_UDP}, tmp_path)["failed"]
    assert found.differing == {"error"}
    assert found.errors == ["linux: no room", "linux: no room"]
    assert found.seeds == SEEDS[0]
