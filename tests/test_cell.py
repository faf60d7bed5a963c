"""Cells in Python: the links in figures, tables and files."""

import numpy as np
import pytest

import aqmlab
from aqmlab import Comparison, Scenario
from aqmlab.exchange import tc
from aqmlab.figures import runs
from aqmlab.reports.parts import links
from aqmlab.reports.text import rate_key
from aqmlab.scenario import cables

USERS = ("phone", "laptop", "car")


def brief(**changes: object) -> Scenario:
    return Scenario.load("links/5g").with_({"duration": "3 s", "warmup": "1 s", "cell.cell.width": 10, **changes})


@pytest.fixture(scope="module")
def found() -> Comparison:
    return aqmlab.compare(brief(), aqms=["droptail", "fq_codel"], seeds=2)


def test_a_comparison_shows_the_resources_of_each_user(found: Comparison) -> None:
    shares, goodput, _ = runs.comparison(found).rows[-1][0].panels
    assert (shares.title, goodput.title) == ("Resources (%)", "Goodput (Mbit/s)")
    ways = [f"cell-{name}{back}" for name in USERS for back in ("", ":reverse")]
    assert list(shares.y.categories) == ways
    for shape, result in zip(shares.shapes, found.values(), strict=True):
        expected = [100 * (result.owned("links")[way]["utilisation"].mean or 0) for way in ways]
        assert list(shape.value) == pytest.approx(expected)
        assert 90 < sum(shape.value[::2]) <= 100.1, "of the downlink"
        assert sum(shape.value[1::2]) < 100.1


def test_tables_have_the_rounds_of_links_that_have_them(found: Comparison) -> None:
    columns = [column.label for column in links({"droptail": found["droptail"]}).columns]
    assert [label.split(" (")[0] for label in columns[-2:]] == ["HARQ rounds", "In-order wait"]
    of = found["droptail"].owned("links")
    # A tenth of the blocks fails in each of five rounds.
    assert of["cell-phone"]["harq_rounds_mean"].mean == pytest.approx(1.1111, abs=0.05)
    assert "harq_rounds_mean" not in of.get("wan", {})


def test_each_link_has_the_table_of_its_queue_and_the_key_of_its_rate() -> None:
    scenario = brief().with_(aqm="codel")
    tables = cables(scenario.resolved)
    assert {name: tables[f"cell-{name}"]["aqm"]["name"] for name in USERS} == dict.fromkeys(USERS, "codel")
    assert rate_key(scenario, "cell-car") == "cell.cell.cqi"
    assert rate_key(scenario, "cell-car:reverse") == "cell.cell.reverse_cqi"


def test_files_of_tc_have_each_queue(found: Comparison) -> None:
    kinds = {queue["dev"]: queue["kind"] for queue in tc.qdiscs(found["fq_codel"])}
    assert (kinds["cell-car"], kinds["cell-car:reverse"]) == ("fq_codel", "pfifo")


def test_quality_changes_by_the_second_as_in_the_logs() -> None:
    """In the logs of phones at rest it changes by 0.84 CQI from one second to the next, in a car by 1.00.

    A chain of nine or five values is stepped as the engine does, with its mean time of a step.
    """
    cell = Scenario.load("links/5g").resolved["cell"][0]
    assert cell["step"] == "500 ms"
    for spread, logged in ((2, 0.84), (4, 1.00)):
        values = 2 * spread + 1
        step = np.zeros((values, values))
        for state in range(values):
            for to in (state - 1, state + 1):
                step[state, min(max(to, 0), values - 1)] += 0.5
        # A second has two steps on average, by Poisson's law.
        mean, weight, power, second = 2.0, np.exp(-2.0), np.eye(values), np.zeros((values, values))
        for number in range(1, 40):
            second += weight * power
            weight, power = weight * mean / number, power @ step
        places = np.arange(values)
        change = float((second * abs(places[:, None] - places)).sum() / values)
        assert change == pytest.approx(logged, abs=0.1)
