"""What holds in any queue whatever the traffic: Little's law, and no packet lost from sight."""

import pytest

from aqmlab import Scenario, run
from aqmlab.result import Run

AQMS = ["droptail", "red:preset=ns2.35", "pi:q_ref=20", "rem:b_star=20,form=ns2", "lred:q0=20"]


def observed(small: Scenario, aqm: str) -> Run:
    return run(small.with_({"duration": "105 s", "warmup": "5 s", "record.series": False}, aqm=aqm)).runs[0]


# The queue's integral over time is the sum of the waits, but for those that straddle the window's two ends.
@pytest.mark.parametrize("aqm", AQMS)
def test_the_mean_queue_is_throughput_times_mean_delay(small: Scenario, aqm: str) -> None:
    metrics = observed(small, aqm).metrics
    waits = (metrics["throughput"] or 0) / (8 * 500) * (metrics["queue_delay_mean"] or 0)
    assert metrics["queue_mean"] == pytest.approx(waits, rel=0.001)


@pytest.mark.parametrize("aqm", AQMS)
def test_what_arrived_was_sent_or_dropped_or_waits(small: Scenario, aqm: str) -> None:
    made = run(small.with_(warmup="0 s", aqm=aqm)).runs[0]
    metrics, sent = made.metrics, made.engine["packets"] or 0
    lost = (metrics["drops_early"] or 0) + (metrics["drops_overflow"] or 0)
    assert lost > 0
    assert 0 <= (metrics["arrivals"] or 0) - lost - sent <= 50


# Every bit that was sent is goodput, a header, a SYN, a repetition or on its way: utilisation and loss leave no more.
@pytest.mark.parametrize("aqm", AQMS)
def test_goodput_is_what_was_sent_less_headers_and_repetitions(small: Scenario, aqm: str) -> None:
    metrics = observed(small, aqm).metrics
    payload = (metrics["throughput"] or 0) * 460 / 500
    # A repetition is wasted only if the first copy came through.
    repeated = (metrics["retransmits"] or 0) * 460 * 8 / 100
    assert payload - repeated <= (metrics["goodput"] or 0) * 1.001
    assert (metrics["goodput"] or 0) <= payload * 1.001
