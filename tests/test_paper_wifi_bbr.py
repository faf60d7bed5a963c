"""BBRv3 over Wi-Fi 6: probes are found by the pace, and times to converge by the shares."""

from collections.abc import Callable
from types import SimpleNamespace
from typing import cast

import polars
import pytest

from aqmlab_papers import PerSeed, Runs
from aqmlab_papers.wifi_bbr.measures import burst, converged, in_probes, mismatch, variation

STEP, WARMUP, DURATION = 0.01, 1.0, 11.0


class OneRun:
    """A run with given series, in place of an experiment."""

    def __init__(self, frame: polars.DataFrame) -> None:
        self.frame = frame
        self.duration = DURATION
        self.study = SimpleNamespace(scenario=SimpleNamespace(warmup=WARMUP))

    def from_series(
        self, label: str, read: Callable[[polars.DataFrame], float | None], at: object, *, unit: str = ""
    ) -> PerSeed:
        assert label == "CAKE"
        assert at == {"link.bbr-wire.delay": 0.01, "link.cubic-wire.delay": 0.01}
        return PerSeed.of([read(self.frame)], unit)


def run(**columns: Callable[[float], int]) -> Runs:
    """Return a run whose columns have the values of functions of the time."""
    times = [round(STEP * step, 2) for step in range(round(DURATION / STEP))]
    names = {name: name.replace("_", ".").replace("wire", "-wire") for name in columns}
    values = {names[name]: [read(time) for time in times] for name, read in columns.items()}
    return cast(Runs, OneRun(polars.DataFrame({"t": times, **values})))


def test_losses_count_as_those_of_a_probe_while_the_pace_is_higher_and_in_the_bin_thereafter() -> None:
    """One probe of 0.3 s, 13 packets a step for 10: 30 of 60 losses are in its 0.4 s, and 30 in the other 9.6 s."""

    def lost(time: float) -> int:
        return {5.0: 20, 5.35: 10, 5.4: 10, 8.0: 20}.get(time, 0)

    probed = run(
        bbrwire_arrivals=lambda time: 13 if 5 <= time < 5.3 else 10, bbr_departures=lambda time: 10, bbr_drops=lost
    )
    during, otherwise = 30 / (3 * 130 + 100), 30 / (96 * 100)
    assert in_probes(probed, "CAKE", "20 ms").mean == pytest.approx(during / otherwise)
    assert burst(probed, "CAKE", "20 ms").mean == 20
    assert mismatch(probed, "CAKE", "20 ms").mean == pytest.approx(3 * 30 / (100 * 100))


def test_a_pace_without_probes_has_no_losses_during_them() -> None:
    steady = run(bbrwire_arrivals=lambda time: 10, bbr_departures=lambda time: 10, bbr_drops=lambda time: 1)
    assert in_probes(steady, "CAKE", "20 ms").known == []
    assert variation(steady, "CAKE", "20 ms").mean == 0


def test_the_warm_up_does_not_count() -> None:
    early = run(
        bbrwire_arrivals=lambda time: 10 if time >= WARMUP else 100,
        bbr_departures=lambda time: 10,
        bbr_drops=lambda time: 0 if time >= WARMUP else 9,
    )
    assert burst(early, "CAKE", "20 ms").mean == 0
    assert mismatch(early, "CAKE", "20 ms").mean == 0


@pytest.mark.parametrize(("part", "second"), [(lambda t: 5, 0), (lambda t: 9 if t < 4 else 6, 4), (lambda t: 9, 11)])
def test_flows_have_converged_from_the_second_on_after_which_both_keep_an_even_part(
    part: Callable[[float], int], second: float
) -> None:
    both = run(bbr_departures=part, cubic_departures=lambda time: 10 - part(time))
    assert converged(both, "CAKE", "20 ms").mean == second
