"""The plain-text table: differences that make a comparison unequal are visible."""

from dataclasses import replace

import pytest

import aqmlab
from aqmlab import METRICS, Comparison, Result, Scenario, Summary
from aqmlab.reports import text as table


@pytest.fixture
def result(small: Scenario) -> Result:
    return aqmlab.run(small, seeds=2)


def means(text: str) -> str:
    """Leave out the differences."""
    return text.partition("\n\nDifferences")[0]


def cells(text: str) -> list[list[str]]:
    return [line.split() for line in means(text).splitlines()]


def test_targets_are_shown(small: Scenario) -> None:
    lines = cells(repr(aqmlab.compare(small, aqms=["lred", "pi:q_ref=9", "droptail"])))
    assert lines[2][0] == "Target"
    assert [line[1] for line in lines[4:]] == ["20", "9", "-"]


def test_rows_of_unequal_seeds_say_how_many(result: Result) -> None:
    fewer = replace(result, runs=result.runs[:1])
    text = table.text({"whole": result, "part": fewer})
    assert text.startswith("Small (seeds 7, 8, not all in every row; ")
    assert cells(text)[2][0] == "Seeds"
    assert [line[1] for line in cells(text)[4:]] == ["2", "1"]
    assert "Seeds" not in table.text({"whole": result, "again": result})
    # The header does not depend on which row comes first.
    assert "seeds 7, 8, not all" in table.text({"part": fewer, "whole": result})


def test_a_mean_over_some_of_the_runs_says_so() -> None:
    metric = METRICS["response_time"]
    assert table.interval(metric, Summary.of([1.0, None, 3.0]), 3) == "2.0 ± 12.7 (2 of 3)"
    assert table.interval(metric, Summary.of([1.0, 3.0]), 2) == "2.0 ± 12.7"
    assert table.interval(metric, Summary.of([None, None]), 2) == "-"


def test_losses_outside_of_the_managed_queues_are_told(result: Result) -> None:
    assert table.notes({"lred": result}) == []
    lossy = replace(result, runs=[replace(run, metrics={**run.metrics, "drops_elsewhere": 3}) for run in result.runs])
    told = "3 packets a run were lost in buffers without a queue discipline."
    assert repr(lossy).splitlines()[-1] == told
    assert repr(Comparison({"one": result, "two": lossy})).splitlines()[-1] == f"two: {told}"


def test_of_several_managed_links_the_observed_one_is_named() -> None:
    short = Scenario.load("parking-lot").with_(duration="21 s")
    told = "The queue is that of link second; first, second, third have a queue discipline."
    assert told in repr(aqmlab.run(short)).splitlines()


def test_a_long_label_is_broken_only_where_the_table_would_be_too_wide(result: Result) -> None:
    long = "red:min_th=20,max_th=60"
    assert f"\n{long} " in table.text({long: replace(result, runs=result.runs[:1])})
    lines = means(table.text({"lred": result, long: result})).splitlines()
    assert max(map(len, lines)) <= table.WIDTH
    broken = [line.strip() for line in lines[5:]]
    assert broken[0].startswith("red:")
    assert "".join([broken[0].split()[0], *broken[1:]]) == long


def test_signs_of_a_column_are_beneath_each_other(small: Scenario) -> None:
    lines = means(repr(aqmlab.compare(small, aqms=["lred", "droptail", "red"], seeds=2))).splitlines()[4:]
    places = [[i for i, character in enumerate(line) if character == "±"] for line in lines]
    longest = max(places, key=len)
    assert len(longest) > len(table.SHOWN) / 2
    # A value that all seeds share has no sign.
    assert all(set(each) <= set(longest) for each in places)


def test_a_title_cannot_command_the_terminal(small: Scenario) -> None:
    result = aqmlab.run(small.with_(title="red\x1b[31m\u202eé"))
    assert repr(result).startswith(r"red\x1b[31m\u202e" + "é (seed 7;")
