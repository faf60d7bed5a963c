"""Our queue disciplines in a real kernel: stored runs, and a guest that is booted where QEMU is installed."""

import os
import time
from pathlib import Path

import psutil
import pytest
from oracle.kernel import closed, figure, guest, open_loop
from oracle.linux import ours
from oracle.linux.check import FEWEST_DISCIPLINES
from oracle.linux.kernel import Missing
from oracle.verdict import enough

ALL = bool(os.environ.get("AQMLAB_TEST_KERNEL"))
"""Whether what is missing is a failure."""


@pytest.fixture
def machine() -> None:
    try:
        guest.check()
    except Missing as reason:
        (pytest.fail if ALL else pytest.skip)(str(reason))


@pytest.mark.kernel
@pytest.mark.timeout(400)
def test_packets_fare_in_the_kernel_as_in_the_algorithm(machine: None) -> None:
    found = list(open_loop.judged(["blue", "red"], packets=3000))
    assert [(one.algorithm, one.first) for one in found] == [("blue", None), ("gred", None), ("gredi", None)]
    for one in found:
        assert one.equal == one.packets == 3000
        assert one.early > 100
        assert min(one.enqueue, one.dequeue) > 100


@pytest.mark.kernel
@pytest.mark.timeout(400)
def test_what_fails_inside_is_told_and_nothing_is_left(machine: None, tmp_path: Path) -> None:
    with pytest.raises(RuntimeError, match="the guest failed; the end of what it said:") as failed:
        list(guest.run({"replay": [str(tmp_path), "absent"]}, patience=300))
    assert "FileNotFoundError" in str(failed.value)
    assert not _left()


@pytest.mark.kernel
def test_a_guest_that_does_not_end_is_ended(machine: None) -> None:
    begun = time.monotonic()
    with pytest.raises(RuntimeError, match="the guest has not ended after 1 s; the end of what it said:"):
        list(guest.run({}, patience=1))
    assert time.monotonic() - begun < 20
    assert not _left()


def _left() -> list[str]:
    return [one.name() for one in psutil.Process().children(recursive=True) if one.name()[:4] in ("qemu", "virt")]


def test_a_packet_that_fares_otherwise_is_found() -> None:
    facts = {"seconds": 0.5, "enqueue": 10, "dequeue": 5}
    one = open_loop._compared("blue", {"fates": "..x.x", **facts}, ["1", "..xx."])
    assert (one.packets, one.equal, one.first, one.early, one.full) == (5, 3, 3, 1, 1)


def test_arrivals_are_dense_and_sparse_by_turns_and_begin_when_a_link_may_be_late() -> None:
    packets = list(open_loop.ARRIVAL.iter_unpack(open_loop.arrivals(1, 4000)))
    times = [at for at, *_ in packets]
    assert times[0] >= open_loop.BEGIN
    assert times == sorted(times)
    assert {size for _, _, size, *_ in packets} == set(open_loop.SIZES)
    spans = [times[i + 400] - times[i] for i in range(0, 4000, 500)]
    assert max(spans) > 1.8 * min(spans)


@pytest.mark.oracle
def test_disciplines_in_the_kernel_do_to_its_tcp_what_the_packet_engine_computes() -> None:
    compared, refused = ours.judged(closed.points(closed.stored()))
    assert not refused
    found = [check for each in compared.values() for check in each]
    assert {point.name for point in compared} == set(closed.POINTS)
    assert enough(found, FEWEST_DISCIPLINES)


def test_stored_runs_are_of_configurations_that_can_be_run_again_and_have_their_queue_over_time() -> None:
    runs = closed.stored()
    assert {run["name"]: run["conf"] for run in runs} == closed.POINTS
    for run in runs:
        samples = run["result"]["queue"]["packets_sampled"]
        assert len(samples) == pytest.approx(run["conf"]["dur"] / closed.STEP, abs=3)
        assert 0 <= min(samples) <= max(samples)
    assert set(figure.TITLES) == set(closed.POINTS)


# What the papers claim and question, here in a kernel.
def test_lred_holds_its_queue_in_the_kernel_and_raqm_and_drop_tail_do_not() -> None:
    means = {run["name"]: run["result"]["queue"]["q_mean"] for run in closed.stored()}
    assert means["lred"] == pytest.approx(100, rel=0.1)
    assert means["droptail"] > 150
    assert means["raqm"] < 25
