"""The part of the bench that goes over every queue discipline."""

import importlib
from pathlib import Path
from types import ModuleType

import pytest

from aqmlab import Scenario, disciplines


@pytest.fixture
def bench(monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    monkeypatch.syspath_prepend(Path(__file__).parents[1] / "benches")
    return importlib.import_module("bench")


def test_every_discipline_is_timed_and_listed_in_order(
    bench: ModuleType, small: Scenario, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(bench, "DISCIPLINES", small)
    monkeypatch.setattr(bench, "ROUNDS", 2)
    bench.print_disciplines()
    _, *rows = capsys.readouterr().out.strip().splitlines()
    cells = [row.split() for row in rows]
    assert [row[0] for row in cells] == disciplines()
    assert all(float(row[1]) > 0 for row in cells)
    assert cells[0][2] == "1.00", "droptail to itself"
    assert any(row[3] != "0.0%" for row in cells)
