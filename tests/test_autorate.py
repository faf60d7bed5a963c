"""cake-autorate: its law, step by step by hand, and in the loop of a run."""

import pytest

import aqmlab
from aqmlab import Scenario
from aqmlab.advice import link
from aqmlab.advice.autorate import PACKET, Autorate, Law

LAW = Law(1e6, 10e6, 20e6)


def settled(delay: float = 0.01) -> Autorate:
    """A direction whose baselines have learned a delay, at the base rate."""
    found = Autorate(LAW)
    for number in range(30):
        found.answers(0.05 * number, delay)
    assert found.rate == LAW.base
    return found


def test_late_answers_cut_the_rate_by_their_mean_and_then_it_pauses() -> None:
    own = settled()
    for _ in range(2):
        assert own.answers(2.0, 0.06) == 10e6  # two of six are late: not yet
    own.answers(2.0, 0.06)
    # The baselines of three pingers have risen by a thousandth of 50 ms.
    mean, room = 3 * 0.05 * 0.999 / 6, PACKET / 10e6
    assert mean < LAW.delay + room
    assert own.rate == pytest.approx(10e6 * 0.99)
    for _ in range(3):
        own.answers(2.2, 0.2)  # within the pause of 0.3 s
    assert own.rate == pytest.approx(10e6 * 0.99)
    own.answers(2.31, 0.2)
    assert own.rate == pytest.approx(10e6 * 0.99 * 0.75), "a mean above 60 ms cuts most"


def test_a_high_load_raises_the_rate_once_for_each_measurement() -> None:
    own = settled()
    own.carries(7.6e6)
    assert own.answers(2.0, 0.01) == pytest.approx(10.4e6)
    assert own.answers(2.05, 0.01) == pytest.approx(10.4e6), "no new measurement"
    own.carries(7.7e6)  # below 75 % of 10.4 Mbit/s
    assert own.answers(2.1, 0.01) == pytest.approx(10.4e6)


def test_without_load_the_rate_goes_back_to_the_base_within_its_limits() -> None:
    own = settled()
    for number in range(40):
        own.carries(own.rate)
        own.answers(2 + 0.2 * number, 0.01)
    assert own.rate == LAW.most
    own.carries(0.0)
    own.answers(20.0, 0.01)
    assert own.rate == pytest.approx(0.99 * LAW.most)
    for number in range(200):
        own.answers(21.1 + 1.1 * number, 0.01)
    assert own.rate == LAW.base


@pytest.fixture
def brief(monkeypatch: pytest.MonkeyPatch) -> Scenario:
    """A link of 20 Mbit/s that has 4 Mbit/s from the eighth second on."""
    monkeypatch.setattr(link, "COURSE", 14.0)
    monkeypatch.setattr(link, "MEASURED", 14.0)
    return Scenario.parse(
        '[dumbbell]\nrate = "20 Mbit/s"\nreverse_rate = "5 Mbit/s"\nchanges = ["8 s: 4 Mbit/s"]\nbuffer = "1 MB"\n'
        'reverse_buffer = "300 kB"\nsender_delay = "10 ms"\n[[traffic]]\n'
    )


def test_in_the_loop_the_shaper_follows_the_rate_and_keeps_the_queue_out_of_the_modem(brief: Scenario) -> None:
    own = Law(2e6, 10e6, 40e6)
    found = aqmlab.autorate(brief, laws={"down": own})
    rates = found.rates
    assert set(rates["way"]) == {"down"}
    before = rates.filter((rates["t"] > 5) & (rates["t"] < 8))["rate"].max()
    after = rates.filter(rates["t"] > 12)["rate"].max()
    assert isinstance(before, float)
    assert isinstance(after, float)
    assert before > 15e6
    assert after < 6e6
    fixed = aqmlab.autorate(brief, laws={"down": Law(20e6, 20e6, 20e6)})
    late = [one.results["classes"]["call"]["delay_p95"] for one in (found, fixed)]
    assert late[0] < 0.5 * late[1]
    again = aqmlab.autorate(brief, laws={"down": own})
    assert again.results["classes"] == found.results["classes"]
    assert again.rates.equals(rates)
