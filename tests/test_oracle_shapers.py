"""Disciplines around others beside those of the Linux kernel, packet by packet (docs/internals/fidelity.md)."""

import pytest
from oracle.linux import arrivals, dumbbell, fates, ours, reference, shapers

from aqmlab._core import in_base_unit

STORED = {point.name: point for point in reference.stored() if point.name in shapers.OPEN | shapers.CLOSED}

OTHER_FATES = {"tbf_codel": 0.13, "tbf_fq_codel": 0.2, "htb_fq_codel": 0.1, "cake_mq": 0.15, "cake_mq_tins": 0.1}
"""The part of the packets that may have another fate where CoDel is inside, whose times are in units of 1024 ns
there, and with CAKE, whose quanta are rounded by random numbers."""

SMALL = {
    "open_htb_flat_small": 0.03,
    "open_police_small_small": 0.05,
    "open_police_peak_small": 0.02,
    "open_police_peak_sizes": 0.005,
}
"""And where one packet in place of another leaves a class that is always full, or a bucket that never is."""

FEW = 12
"""Packets in other runs: two for each that comes within a step of the guest's clock of a departure, of 256 ns."""

OTHER_DELAY = {"open_tbf_fq_codel_sizes": ["delay_mean"], "open_cake_mq_sizes": ["delay_p95"]}
"""Metrics that are off."""


@pytest.mark.oracle
@pytest.mark.timeout(900)  # the first of them builds the program
@pytest.mark.parametrize("shaper", shapers.SHAPERS)
def test_each_packet_meets_the_fate_that_it_met_in_linux(shaper: str) -> None:
    points = [STORED[f"open_{shaper}_{pattern}"] for pattern in arrivals.SHORT]
    found = fates.partings(points, "test")
    assert {name: parting.packets for name, parting in found.items() if parting.packets < 4000} == {}
    allowed = {name: OTHER_FATES.get(shaper) or SMALL.get(name) for name in found}
    most = {name: FEW if part is None else part * found[name].packets for name, part in allowed.items()}
    assert {name: parting for name, parting in found.items() if parting.differ > most[name]} == {}


@pytest.mark.oracle
@pytest.mark.parametrize("shaper", shapers.SHAPERS)
def test_losses_and_delays_are_those_of_linux(shaper: str) -> None:
    compared, refused = ours.judged([STORED[f"open_{shaper}_{pattern}"] for pattern in arrivals.SHORT])
    assert not refused
    off = {point.name: [check.metric for check in checks if not check.passed] for point, checks in compared.items()}
    assert {name: metrics for name, metrics in off.items() if metrics != OTHER_DELAY.get(name, [])} == {}


@pytest.mark.oracle
@pytest.mark.parametrize(
    "name",
    [
        *("behind_tbf_cubic", "behind_tbf_drr_cubic", "behind_htb_borrow_cubic", "behind_police_cubic"),
        "behind_cake_mq_cubic",
    ],
)
def test_senders_behind_a_shaper_do_what_those_of_linux_do(name: str) -> None:
    compared, refused = ours.judged([STORED[name]])
    assert not refused
    checks = compared[STORED[name]]
    assert len(checks) >= 6
    assert [check for check in checks if not check.passed] == []


def test_a_group_of_senders_has_a_class_and_no_transmission_in_its_round_trip() -> None:
    scenario = dumbbell.closed("a", {**shapers.CLOSED["behind_tbf_drr_cubic"], "seed": 1}).resolved
    assert [entry.get("dscp") for entry in scenario["traffic"]] == ["EF", "AF21", "BE", "BE"]
    assert (scenario["dumbbell"]["rate"], scenario["aqm"]["rate"]) == ("100 Gbit/s", "10 Mbit/s")
    delays = scenario["dumbbell"]["sender_delay"]
    assert [in_base_unit(delay) for delay in delays] == [(0.02, "s")] * 3
