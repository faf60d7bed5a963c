"""The queue disc of ns-3 that has our disciplines; where ns-3 is installed it is compiled, and run briefly."""

import math
from typing import Any

import pytest
from oracle import discs

import aqmlab
from benches import ns3
from benches.measure import Failed

pytestmark = pytest.mark.timeout(600)
SHORT = ("--flows=4", "--duration=6", "--warmup=2")


@pytest.fixture(scope="module")
def program() -> ns3.Ns3:
    found = ns3.find(ns3.DISCS)
    if isinstance(found, str):
        pytest.skip(found)
    return found


def run(program: ns3.Ns3, *arguments: str) -> dict[str, Any]:
    return program.found([*SHORT, *arguments])[0]


def test_our_tail_drop_is_that_of_ns3(program: ns3.Ns3) -> None:
    theirs = run(program, "--duration=30", "--queue=FifoQueueDisc", "--set=MaxSize=50p")
    ours = run(program, "--duration=30", "--set=Discipline=droptail|MaxSize=50p")
    assert theirs.pop("reasons") == {"Queue disc limit exceeded": theirs["drops"]}
    assert ours.pop("reasons") == {"No room in the queue": ours["drops"]}
    assert ours == theirs
    assert ours["drops"] > 10


def test_packets_are_marked_and_dropped_with_reasons(program: ns3.Ns3) -> None:
    marked = run(program, "--set=Discipline=codel:ecn=true,interval=20ms", "--ecn=1")
    assert marked["marks"] > 10
    assert marked["reasons"].get("Dropped by the discipline", 0) == marked["drops"] < marked["marks"]
    dropped = run(program, "--set=Discipline=codel:ecn=true,interval=20ms")
    assert dropped["marks"] == 0
    assert dropped["reasons"]["Dropped by the discipline"] > 10


def test_a_shaper_wakes_the_device_again(program: ns3.Ns3) -> None:
    goodput = run(program, "--set=Discipline=tbf:rate=2Mbps,burst=3000B|MaxSize=50p")["goodput"]
    assert 1.7e6 < goodput < 2e6


@pytest.mark.parametrize("name", sorted(aqmlab.disciplines()))
def test_every_discipline_runs(program: ns3.Ns3, name: str) -> None:
    assert run(program, f"--set=Discipline={name}")["goodput"] > 1e6


def test_a_discipline_that_does_not_exist_is_refused(program: ns3.Ns3) -> None:
    with pytest.raises(Failed, match="aqm = nothing: must be one of droptail"):
        run(program, "--set=Discipline=nothing")


def test_stored_runs_of_both_implementations_agree() -> None:
    rows = discs.stored()
    assert list(rows) == list(discs.ROWS)
    for theirs, ours in (("FifoQueueDisc", "droptail"), ("CoDelQueueDisc", "codel:preset=ns3")):
        assert rows[ours] | {"queue": theirs} == rows[theirs]
    # Random numbers differ: four standard errors of the difference of two means of five runs.
    for theirs, ours in (("PieQueueDisc", "pie:preset=ns3"), ("RedQueueDisc", "red"), ("FqCoDelQueueDisc", "fq_codel")):
        for column in ("goodput", "wait"):
            error = math.hypot(*(float(rows[name][f"{column}_sd"]) for name in (theirs, ours))) / math.sqrt(discs.SEEDS)
            assert float(rows[ours][column]) == pytest.approx(float(rows[theirs][column]), abs=4 * error)
