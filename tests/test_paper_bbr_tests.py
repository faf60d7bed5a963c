"""BBR's test cases: each case of the draft is a claim, and what is read off packets is what they do."""

import numpy as np
import pytest

from aqmlab_papers.bbr_tests.measures import Seen
from aqmlab_papers.describe import library


def test_each_case_of_the_draft_is_a_claim_in_its_order() -> None:
    claims = library.load("bbr-tests").claims
    assert [claim.where for claim in claims] == [f"Appendix A.{number}" for number in range(1, 23)]


def test_pace_flight_and_round_trips_are_those_of_the_packets() -> None:
    """1,000 packets a second, with a round trip of 50 ms, at half the link's rate; after 1 s nothing is sent."""
    t = np.arange(0, 2, 0.005)
    sent = np.minimum(1000 * t, 1000)
    seen = Seen(t, 0.005, sent, sent, np.zeros_like(t), rate=2000, rtt=0.05)
    assert seen.at(seen.pace, 0.5) == pytest.approx(0.5)
    assert seen.at(seen.flight, 0.5) == pytest.approx(0.5)
    assert seen.rounds(0.2, 0.7) == pytest.approx(10)
    assert seen.when(seen.flight < 1e-9, 1) == pytest.approx(1.05)
    assert seen.when(seen.pace > 1) == t[-1]
