"""What `aqmlab calibrate` says beside rate, round trip, buffer and family: a rate that varies, bursts, other queues.

`make calibrate-judge DIRECT=1` counts how often it is right; here are cases with clear answers.
"""

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from conftest import ROOT, Cli
from oracle.calibrate import direct, recordings

from aqmlab.calibrate import inference
from aqmlab.calibrate.burst import burst
from aqmlab.calibrate.calibration import known
from aqmlab.calibrate.elsewhere import Own, own_queue
from aqmlab.calibrate.recording import recorded
from aqmlab.calibrate.variation import Windows, variation
from aqmlab.calibrate.view import View

STEP, RATE, PACKET = 0.1, 1e7, 1500


@pytest.fixture
def few(monkeypatch: pytest.MonkeyPatch) -> None:
    """A search with few links."""
    for name, value in {"FIRST": 10, "EACH": 20, "AGAIN": 1, "BEST": 2, "SEEDS": 2}.items():
        monkeypatch.setattr(inference, name, value)


def seen(rate: np.ndarray, delay: float = 0.02) -> View:
    """A link with a queue throughout, and a probe in each bin."""
    bins = len(rate)
    nothing = np.full(bins, np.nan)
    return View(np.arange(bins) * STEP, np.full(bins, delay), np.empty(0), STEP, rate, np.zeros(bins), nothing)


def steps(ratio: float, bins: int = 150, each: int = 25) -> np.ndarray:
    return np.where(np.arange(bins) // each % 2, RATE / ratio, RATE)


CONSTANT = [seen(np.full(150, RATE))] * 5


def test_rate_with_steps_varies_by_their_ratio_and_stays_as_long_as_they() -> None:
    found = variation(seen(steps(2.0)), 0.01, PACKET, True, CONSTANT, CONSTANT)
    assert found.varies
    assert found.ratio
    assert found.every
    assert found.ratio.low < 2 < found.ratio.high
    assert found.every.low < 2.5 < found.every.high
    assert (found.lowest, found.highest) == pytest.approx((RATE / 2, RATE))


def test_constant_rate_is_called_constant() -> None:
    found = variation(CONSTANT[0], 0.01, PACKET, True, CONSTANT, CONSTANT)
    assert found.varies is False
    assert found.ratio
    assert found.ratio.low == 1


def test_spread_that_constant_links_have_is_none_of_the_link() -> None:
    alike = [seen(steps(1.5)), *[seen(steps(2.0))] * 4]
    found = variation(seen(steps(2.0)), 0.01, PACKET, True, alike, alike)
    assert found.varies is None
    assert "losses alone may do it" in found.because
    found = variation(seen(steps(2.0)), 0.01, PACKET, True, CONSTANT, alike)
    assert found.varies is None
    assert "other traffic may do it" in found.because


def test_rate_without_a_queue_tells_nothing() -> None:
    found = variation(seen(steps(2.0), delay=0.0), 0.01, PACKET, True, CONSTANT, CONSTANT)
    assert found.varies is None
    assert found.because.startswith(
        "there was a queue for 0.0 s, and 4.0 s are needed: measure for longer, or as `probe"
    )


def test_data_that_a_lost_segment_holds_up_widen_the_interval() -> None:
    view = seen(steps(2.0))
    lossy = replace(view, repeated=np.ones(150))
    wide, narrow = (variation(one, 0.05, PACKET, True, CONSTANT, CONSTANT).ratio for one in (lossy, view))
    capture = variation(lossy, 0.05, PACKET, False, CONSTANT, CONSTANT).ratio
    assert wide
    assert narrow
    assert wide.high > 1.05 * narrow.high
    assert capture == narrow
    assert Windows.of(lossy, 0.05, PACKET).wide == 6


@pytest.mark.parametrize("size", [0, 100_000])
def test_burst_is_what_arrives_beyond_the_rate(size: int) -> None:
    rate = np.full(150, RATE)
    rate[1] += size * 8 / STEP
    view = seen(rate)
    view.delay[:2] = 0.0
    found = burst(view, None, 0.01, PACKET).interval
    assert found
    assert found.low <= size <= found.high
    assert (found.low > 0) == (size > 0)
    assert found.high - found.low < 1.5 * RATE / 8 * STEP
    times = np.arange(15001) * 1e-3
    octets = np.interp(times, np.arange(151) * STEP, np.concatenate([[0], np.cumsum(rate) * STEP / 8]))
    finer = burst(view, (times, octets), 0.01, PACKET).interval
    assert finer
    assert finer.low <= size <= finer.high
    assert finer.high - finer.low < 0.3 * RATE / 8 * STEP


def test_burst_without_a_queue_behind_it_is_not_told() -> None:
    assert "there seldom was a queue" in burst(seen(np.full(150, RATE), 0.0), None, 0.01, PACKET).because
    gaps = seen(np.full(150, RATE))
    gaps.delay[::5] = 0.0
    assert "no queue lasted" in burst(gaps, None, 0.01, PACKET).because


def test_data_that_come_late_are_no_burst() -> None:
    rate = np.full(150, RATE)
    rate[3], rate[4] = 0.0, 2 * RATE
    repeated = np.zeros(150)
    repeated[3] = 1
    found = burst(replace(seen(rate), repeated=repeated), None, 0.01, PACKET).interval
    assert found
    assert found.low == 0


@pytest.mark.parametrize("side", ["sender", "receiver"])
def test_captures_have_their_first_arrivals_and_no_burst(side: str) -> None:
    found = recorded([ROOT / f"tests/measured/{side}.pcap.gz"])
    assert found.arrivals
    times, octets = found.arrivals
    assert 4 < times[-1] < 5
    assert octets[-1] == pytest.approx(found.rate[: int(times[-1] / STEP)].sum() * STEP / 8, rel=0.03)
    view, trip, _ = known(found)
    told = burst(view, found.arrivals, trip.value, found.hosts[0].packet).interval
    assert told
    assert told.low == 0
    assert told.high < 12_000


@pytest.mark.parametrize("number", [1, 5])
def test_burst_of_a_shaper_in_the_engine_is_found(number: int) -> None:
    for fine in (True, False):
        found = direct.bursts(number, fine)
        assert found.covered
    assert direct.bursts(number, fine=True).found.low > 0.5 * found.true


@pytest.mark.parametrize("number", [2, 3])
def test_wait_behind_ones_own_queue_is_told_from_that_in_it(number: int) -> None:
    found = direct.waits(number)
    assert found.found
    assert found.covered
    assert (found.found.low > 0) == (number % 2 == 1)


def test_rate_of_a_link_in_the_engine_varies_or_does_not(few: None) -> None:
    found = direct.varies(15)
    assert (found.covered, found.said) == (True, "varies")
    assert direct.varies(0).said == "constant"


CAKE = (
    "qdisc cake 8001: root refcnt 2 bandwidth 18Mbit besteffort triple-isolate nonat nowash split-gso rtt 100ms raw\n"
)


def test_own_queue_is_read_from_tc_and_from_a_scenario(tmp_path: Path) -> None:
    lines, scenario = tmp_path / "tc.txt", tmp_path / "own.toml"
    lines.write_text(CAKE)
    own = own_queue([lines], up=True)
    assert (own.rate, own.aqm["name"]) == ("18 Mbit/s", "cake")
    scenario.write_text('[dumbbell]\nrate = "5 Mbit/s"\nbuffer = "50 packets"\n[aqm]\nname = "codel"\n[[traffic]]\n')
    own = own_queue([scenario], up=True)
    assert isinstance(own, Own)
    assert (own.rate, own.buffer, own.aqm["name"]) == ("5 Mbit/s", "50 packets", "codel")


def test_command_says_what_is_beside(few: None, quick_cli: Cli, tmp_path: Path) -> None:
    files = recordings.write(recordings.stored()[9], tmp_path)
    (tmp_path / "tc.txt").write_text(CAKE)
    done = quick_cli("calibrate", *files, "--own", tmp_path / "tc.txt")
    assert done.returncode == 0, done.stderr
    assert "Rate over time              constant: the highest is at most 1" in done.stdout
    assert "Burst of a shaper           none, or at most" in done.stdout
    assert "Wait in another queue" in done.stdout
    assert "not in your own queue" in " ".join(done.stdout.split())
    done = quick_cli("calibrate", *files, "--own", tmp_path / "nothing.txt")
    assert done.returncode in (1, 2)
    assert done.stderr.count("\n") == 1
