"""`aqmlab import`: what advise prints, imported, is what it chose; configurations of routers; what is refused."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
from test_advise import BY_LABEL, CONFIGURATIONS, by_meaning

from aqmlab.advice.queues import Queues
from aqmlab.foreign.read import read
from aqmlab.foreign.scenario import Given, scenario
from aqmlab.scenario import Scenario


def imported(folder: Path, given: Given | None = None, **files: str) -> Scenario:
    paths = []
    for name, text in files.items():
        (folder / name).write_text(text)
        paths.append(folder / name)
    made = Scenario.parse(scenario(read(paths), given))
    made.check()
    return made


def queues(made: Mapping[str, Any]) -> list[dict[str, Any]]:
    """The disciplines of both directions of a scenario, with their buffers."""
    table = made["dumbbell"]
    both = (("aqm", "buffer", "rate"), ("reverse_aqm", "reverse_buffer", "reverse_rate"))
    return [by_meaning({"aqm": made[aqm], "buffer": table[buffer], "rate": table[rate]}) for aqm, buffer, rate in both]


def chosen(tried: Queues) -> list[dict[str, Any]]:
    """Those that advise simulated."""
    found = []
    for way in (tried.down, tried.up):
        one = Scenario.parse('[dumbbell]\n[[traffic]]\nname = "a"\n').with_({"aqm": way.aqm})
        found.append(by_meaning({"aqm": one.resolved["aqm"], "buffer": way.buffer, "rate": f"{way.rate} bit/s"}))
    return found


# CAKE has no limit in packets.
@pytest.mark.parametrize("label", CONFIGURATIONS)
@pytest.mark.parametrize("form", ["tc", "uci"])
def test_what_advise_prints_imported_is_what_it_chose(label: str, form: str, tmp_path: Path) -> None:
    text = getattr(CONFIGURATIONS[label], form)
    if text is None:
        pytest.skip("sqm-scripts do not take RED")
    found, wanted = queues(imported(tmp_path, printed=text).resolved), chosen(BY_LABEL[label].queues)
    for mine, theirs in zip(found, wanted, strict=True):
        assert mine["rate"] == theirs["rate"]
        if mine["aqm"]["name"] == "cake":
            mine["buffer"] = theirs["buffer"]
        assert mine == theirs
