"""The answer with which an analysis begins: its limits hold in the model and in the integrated equations."""

import json
import re
from pathlib import Path

import numpy as np
import pytest
from conftest import Cli
from numpy.typing import NDArray

import aqmlab
from aqmlab import Scenario
from aqmlab.analysis.answer import Limit, boundary
from aqmlab.analysis.loop import Analysis, analyse
from aqmlab.figures import loop as figures

TEN = """\
title = "Ten flows"
duration = "100 s"
warmup = "20 s"
record.step = "50 ms"
[dumbbell]
rate = "10 Mbit/s"
buffer = "400 packets"
delay = "40 ms"
[aqm]
name = "pi2"
[[traffic]]
name = "long"
kind = "ftp"
count = 10
packet_size = "1000 B"
tcp = "newreno:delayed_ack=false"
"""
PI = "pi:q_ref=40,a=2e-4,b=1.98e-4"
SLOW = "pi:q_ref=40,a=2e-5,b=1.98e-5"


def ten(aqm: str = "pi2", **settings: str | int) -> Scenario:
    return Scenario.parse(TEN, "ten.toml").with_(aqm=aqm).with_(dict(settings))


def limit(found: Analysis, quantity: str) -> Limit:
    return next(one for one in found.answer.limits if one.quantity == quantity)


def is_stable(scenario: Scenario) -> bool:
    return analyse(scenario).loops["queue_pole_unmerged"].margins.stable


def beyond(found: Analysis, part: float) -> Scenario:
    """Return the scenario with a part of the change of the round trip that would take it to its limit."""
    (propagation,) = found.point.flows.propagation
    change = propagation * (limit(found, "round_trip").factor - 1)
    return found.scenario.with_({"dumbbell.delay": f"{0.04 + part * change / 2} s"})


@pytest.mark.parametrize("aqm", ["pi2", "pie:delay=rate", PI, SLOW, "lred:q0=40", "rem:b_star=40"])
def test_stability_changes_at_the_limits(aqm: str) -> None:
    found = analyse(ten(aqm))
    stable = found.answer.stable
    assert stable == found.loops["queue_pole_unmerged"].margins.stable
    assert {one.quantity for one in found.answer.limits} >= {"round_trip", "gain"}

    assert is_stable(beyond(found, 0.97)) == stable
    assert is_stable(beyond(found, 1.03)) != stable
    gain = limit(found, "gain")
    assert (gain.factor > 1) == stable
    assert gain.factor == pytest.approx(found.loops["queue_pole_unmerged"].margins.gain_margin, rel=0.01)
    at = ten(aqm).with_({f"aqm.{name}": _scaled(value, 1 / gain.factor) for name, value in gain.parameters.items()})
    assert analyse(at).point == found.point
    for times in (0.98, 1.02):
        changed = {f"aqm.{name}": _scaled(value, times) for name, value in gain.parameters.items()}
        assert is_stable(ten(aqm).with_(changed)) == (times < 1)


def _scaled(value: str, times: float) -> str | float:
    number, _, unit = value.partition(" ")
    return f"{float(number) * times} {unit}" if unit else float(number) * times


def test_the_number_of_flows_is_whole_and_on_the_stable_side() -> None:
    found = analyse(ten("pi2"))
    assert not found.answer.stable
    (fewest,) = map(int, re.findall(r"at least (\d+) flows instead of 10", found.answer.change))
    assert is_stable(ten("pi2", **{"traffic.long.count": fewest}))
    assert not is_stable(ten("pi2", **{"traffic.long.count": fewest - 1}))
    many = analyse(ten(PI))
    assert many.answer.stable
    (least,) = map(int, re.findall(r"10 flows may fall to (\d+)", f"{many.answer.headline} {many.answer.change}"))
    assert is_stable(ten(PI, **{"traffic.long.count": least}))
    assert not is_stable(ten(PI, **{"traffic.long.count": least - 1}))


# What the answer says of small deviations, the integrated equations do: with a shorter round trip than the limit the
# start fades, with a longer one the queue swings without end, with the period that the answer gives.
def test_the_equations_oscillate_beyond_the_round_trip_of_the_answer() -> None:
    found = analyse(ten("pi2"))

    def queue(chosen: Scenario) -> NDArray[np.float64]:
        result = aqmlab.fluid(chosen, tcp="square-root", slow_start=False, thinned=False)
        late = result.series.filter(result.series["t"] > 60)
        return late[f"{result.link}.queue.mean"].to_numpy()

    assert np.ptp(queue(beyond(found, 1.3))) < 0.5
    chosen = beyond(found, 0.7)
    q = queue(chosen)
    assert np.ptp(q) > 10
    (period,) = map(float, re.findall(r"period of about ([\d.]+) s", analyse(chosen).answer.headline))
    rises = np.flatnonzero((q[:-1] < q.mean()) & (q[1:] >= q.mean()))
    assert np.diff(rises).mean() * 0.05 == pytest.approx(period, rel=0.15)


@pytest.mark.parametrize("direction", [1, -1])
@pytest.mark.parametrize("stable", [True, False])
def test_a_boundary_is_its_stable_side_and_none_if_nothing_changes(stable: bool, direction: int) -> None:
    edge = 3.3**direction

    def state(factor: float) -> bool:
        return stable == (factor**direction < 3.3)

    found = boundary(state, stable, direction, 50)
    assert found is not None
    assert found == pytest.approx(edge, rel=1e-3)
    assert state(found)
    assert boundary(state, stable, direction, 3) is None
    assert boundary(lambda factor: None, stable, direction, 50) is None


def test_half_of_the_proposed_gains_leaves_a_gain_margin_of_two() -> None:
    for aqm in ("pi2", "pi:q_ref=40,a=1e-3,b=9.9e-4"):
        found = analyse(ten(aqm))
        assert "half of that leaves a gain margin of 2" in found.answer.change
        halved = {f"aqm.{name}": _scaled(value, 0.5) for name, value in limit(found, "gain").parameters.items()}
        margins = analyse(ten(aqm).with_(halved)).loops["queue_pole_unmerged"].margins
        assert margins.gain_margin == pytest.approx(2, rel=0.01)


def test_the_lags_of_the_cause_add_up_and_its_gain_is_that_of_the_margin() -> None:
    found = analyse(ten("pie:delay=rate"))
    margins = found.loops["queue_pole_unmerged"].margins
    lags = re.findall(r"round trip (-?\d+), flows and queue (-?\d+), pie (-?\d+)", found.answer.why)
    assert sum(map(int, lags[0])) == pytest.approx(180, abs=1)
    (rtt,) = found.point.rtt
    assert found.law is not None
    w = margins.phase_crossover
    assert int(lags[0][0]) == pytest.approx(np.degrees(w * rtt), abs=1)
    assert int(lags[0][2]) == pytest.approx(-np.degrees(np.angle(found.law(1j * w))), abs=1)
    assert f"Its gain there is {1 / margins.gain_margin:.3g}" in found.answer.why
    assert "table multiplies its gains by 0.125 at this drop probability" in found.answer.why


def test_without_a_law_there_is_no_answer_and_the_reason() -> None:
    found = analyse(ten("droptail"))
    assert found.answer.stable is None
    assert repr(found).startswith("No answer from linear theory for droptail.\n")
    assert found.document()["answer"]["limits"] == []


def test_an_answer_beyond_the_model_s_validity_refers_to_its_warnings() -> None:
    heavy = analyse(ten(SLOW, **{"traffic.long.count": 200}))
    assert heavy.point.p != heavy.point.p_square_root
    assert heavy.answer.headline.endswith("The warnings limit this answer.")
    assert not analyse(ten(SLOW)).answer.headline.endswith("answer.")


def test_the_small_print_of_the_figure_begins_with_the_answer() -> None:
    for aqm in ("pi2", "droptail"):
        found = analyse(ten(aqm))
        assert figures.analysis(found).small_print.startswith(found.answer.headline)


def test_the_search_makes_no_remarks_of_its_own() -> None:
    found = analyse(ten(SLOW, **{"traffic.long.count": 40}))
    assert found.answer.headline
    assert found.warnings == ()


def test_the_output_and_the_document_begin_with_the_answer(quick_cli: Cli, tmp_path: Path) -> None:
    file = tmp_path / "ten.toml"
    file.write_text(TEN)
    done = quick_cli("analyse", file)
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith("NOT STABLE: the queue oscillates with a period of about ")
    assert (
        done.stdout.index("Why: the loop of 10 flows")
        < done.stdout.index("Stable with: ")
        < done.stdout.index("Ten flows: pi2")
    )
    document = json.loads(quick_cli("analyse", file, "--json").stdout)
    assert next(iter(document)) == "answer"
    answer = document["answer"]
    assert next(iter(answer)) == "stable"
    assert answer["stable"] is False
    assert answer["gain_margin"] == document["plants"][answer["plant"]]["gain_margin"]
    assert answer["limits"][0]["quantity"] in ("round_trip", "flows", "gain")


def test_raqm_tolerates_only_so_many_flows_and_says_it_in_that_direction() -> None:
    found = analyse(ten("raqm:q0=40"))
    assert found.answer.stable
    assert "flows may grow to" in found.answer.headline
