"""`aqmlab design NAME` answers as the design rule does, in its units, and refuses what it refuses."""

import importlib
import json
import pkgutil
from dataclasses import fields
from importlib import import_module

import pytest
from conftest import Cli

from aqmlab.theory.answer import Answer

LINK = {"--rate": "10 Mbit/s", "--packet": "500 B"}
LOAD = LINK | {"--n-min": "100", "--rtt-max": "450 ms"}
SIZE = {"N_min": 100, "R_max": 0.45, "C": 2500}
GAINS = {"--n-max": "400", "--rtt-min": "50 ms", "--target": "10 ms", "--alpha": "0.2", "--beta": "2"}
RANGE = {"N_max": 400, "R_min": 0.05, "target": 0.01, "alpha": 0.2, "beta": 2, "phase_margin": 50}
QUEUE = {"--rate": "6 Mbit/s", "--packet": "1000 B", "--rtt": "64 ms", "--flows": "40", "--loss": "0.014"}
NOISE = {"--sigma": "128490 bit/s", "--buffer": "800 packets", "--period": "552 ms"}

# The command's options, the arguments of the rule, and an option with a value that is refused.
CASES = {
    "aqmlab.theory.pi": (LOAD | {"--frequency": "160"}, SIZE | {"frequency": 160}, {"--frequency": "0"}),
    "aqmlab.theory.pie": (LOAD | GAINS | {"--phase-margin": "50"}, SIZE | RANGE, {"--phase-margin": "95"}),
    "aqmlab.theory.pi2": (LOAD | GAINS | {"--phase-margin": "50"}, SIZE | RANGE, {"--phase-margin": "95"}),
    "aqmlab.theory.rem": (
        LOAD | {"--gamma": "0.0001", "--target": "50", "--buffer": "100"},
        SIZE | {"gamma": 0.0001, "q0": 50, "Q": 100},
        {"--gamma": "0"},
    ),
    "aqmlab_papers.theory.lred": (LOAD | {"--beta": "0.002"}, SIZE | {"beta": 0.002}, {"--n-min": "0"}),
    "aqmlab_papers.theory.avq": (LOAD | {"--alpha": "0.15"}, SIZE | {"alpha": 0.15}, {"--gamma": "1.2"}),
    "aqmlab_papers.theory.raqm": (
        {"--rate": "10 Mbit/s", "--at": "5 Mbit/s", "--eps": "0.9"},
        {"r0": 1.25e6, "r": 6.25e5, "eps": 0.9},
        {"--eps": "2"},
    ),
    "aqmlab_papers.theory.redtail": (
        QUEUE | NOISE,
        {"C": 750, "d": 0.064, "N": 40, "P": 0.014, "sigma": 128490 / 8000, "S": 0.552},
        {"--flows": "0"},
    ),
}


def command(module: str, options: dict[str, str]) -> list[str]:
    return ["design", module.rpartition(".")[2], *(word for pair in options.items() for word in pair)]


@pytest.mark.parametrize("module", CASES)
def test_the_command_answers_as_the_rule_does(quick_cli: Cli, module: str) -> None:
    options, arguments, _ = CASES[module]
    done = quick_cli(*command(module, options), "--json")
    assert done.returncode == 0, done.stderr
    printed = json.loads(done.stdout)
    expected = json.loads(json.dumps(import_module(module).design(**arguments).document()))
    assert list(printed) == list(expected)
    assert printed.pop("warnings") == expected.pop("warnings")
    for name, value in expected.items():  # units are converted in floating point
        assert printed[name] == (pytest.approx(value, rel=1e-9) if isinstance(value, float) else value), name


@pytest.mark.parametrize("module", CASES)
def test_the_command_refuses_what_the_rule_refuses(quick_cli: Cli, module: str) -> None:
    options, _, wrong = CASES[module]
    done = quick_cli(*command(module, options | wrong))
    ((option, value),) = wrong.items()
    assert done.returncode == 2
    assert "must be" in done.stderr or "fails" in done.stderr
    assert f"= {value}" in done.stderr or option in done.stderr


def test_every_field_of_an_answer_has_its_meaning() -> None:
    for package in ("aqmlab.theory", "aqmlab_papers.theory"):
        for found in pkgutil.walk_packages(importlib.import_module(package).__path__, f"{package}."):
            importlib.import_module(found.name)
    assert len(Answer.__subclasses__()) > 10
    for kind in Answer.__subclasses__():
        meanings = kind.meanings()
        assert set(meanings) == {field.name for field in fields(kind)}, kind
        assert all(meanings.values()), kind
