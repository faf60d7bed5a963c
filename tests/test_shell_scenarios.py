"""The scenarios of `aqmlab shell`: with the entries of a shell, and as long as it was."""

import tomllib
from pathlib import Path

import pytest

import aqmlab
from aqmlab import Scenario
from aqmlab.execute.shell import WAYS, _until, with_shell

LINK = """\
[dumbbell]
delay = "10 ms"
[[traffic]]
name = "load"
kind = "cbr"
rate = "1 Mbit/s"
"""

SHIPPED = [
    *sorted(Path(aqmlab.__file__).parent.glob("library/links/*.toml")),
    *sorted(Path(aqmlab.__file__).parent.glob("library/traffic/*.toml")),
]


@pytest.mark.parametrize("file", SHIPPED, ids=lambda file: f"{file.parent.name}-{file.stem}")
@pytest.mark.parametrize("end", ["200123456 ns", "14.9 s", "30 s"])
def test_every_shipped_scenario_has_a_shell_of_an_hour_or_more_and_results_of_any_length(file: Path, end: str) -> None:
    with_it = with_shell(Scenario.load(file))
    with_it.check()
    assert with_it.duration >= 3600
    shorter = _until(with_it, end)
    shorter.check()
    assert shorter.duration == Scenario.parse(LINK).with_(duration=end).duration
    entries = zip(with_it.resolved["traffic"], shorter.resolved["traffic"], strict=True)
    for before, after in entries:
        assert after == before or (after["name"] not in WAYS and after["count"] == 0)
    if end == "30 s":
        assert [one["name"] for one in shorter.resolved["traffic"] if one["count"] == 0] == []


def test_what_is_later_than_the_end_is_left_out_and_all_else_kept() -> None:
    scenario = Scenario.parse(LINK).with_(
        {
            "dumbbell.outages": ["1 s..2 s", "2.5 s..6 s"],
            "dumbbell.delays": ["1 s: 10 ms", "2 s: 20 ms", "7 s: 30 ms"],
            "traffic.load.start": "1 s",
        }
    )
    document = tomllib.loads(_until(with_shell(scenario), "3 s").to_toml())
    assert document["dumbbell"]["outages"] == ["1 s..2 s"]
    assert document["dumbbell"]["delays"] == ["1 s: 10 ms", "2 s: 20 ms"]
    assert document["traffic"][0]["start"] == "1 s"
    assert document["traffic"][0].get("count", 1) == 1
    dish = with_shell(Scenario.load(SHIPPED[0].with_name("starlink.toml")))
    ends = {end: tomllib.loads(_until(dish, end).to_toml())["dumbbell"] for end in ("14 s", "16 s")}
    assert ["handover" in one for one in ends.values()] == [False, True]


def test_steps_that_a_long_run_cannot_have_are_those_of_a_shorter_one() -> None:
    assert with_shell(Scenario.parse(LINK)).duration == 86400
    fine = with_shell(Scenario.parse(LINK).with_({"record.step": "100 us"}))
    fine.check()
    assert fine.duration == 3600


def test_the_ends_of_a_shell() -> None:
    scenario = Scenario.parse(LINK)

    def ends(*arguments: object) -> list[tuple[str, list[str], list[str]]]:
        traffic = with_shell(scenario, *arguments).resolved["traffic"]  # type: ignore[arg-type]
        return [(entry["name"], entry["from"], entry["to"]) for entry in traffic]

    down = [("to-shell", ["senders"], ["receivers"]), ("from-shell", ["receivers"], ["senders"])]
    assert ends() == [("load", ["senders"], ["receivers"]), *down]
    assert ends(None, True) == down
    up = [("to-shell", ["receivers"], ["senders"]), ("from-shell", ["senders"], ["receivers"])]
    assert ends("senders", True) == up
    with pytest.raises(ValueError, match="moon: no traffic has an end there"):
        with_shell(scenario, "moon")
