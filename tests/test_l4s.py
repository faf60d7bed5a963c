"""The L4S matrices, and their page."""

from pathlib import Path
from typing import Any

import pytest
from PIL import Image

import aqmlab
from aqmlab import Scenario
from aqmlab_papers.evaluation.show import l4s

TCPS = list(l4s.NAMES)
RATE, DELAY = l4s.RATE, l4s.DELAY
SHORT = {"duration": "4 s", "warmup": "1 s"}


def swept(folder: Path, name: str, vary: dict[str, Any]) -> aqmlab.Sweep:
    scenario = Scenario.load(f"l4s/{name}").with_(SHORT)
    return aqmlab.sweep(scenario, vary=vary, seeds=2, out=folder / name, jobs=2)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The four matrices, of two lines and columns each."""
    found = tmp_path_factory.mktemp("l4s")
    swept(found, "rates", {l4s.TCP: TCPS, RATE: "10,40 Mbit/s", DELAY: "5,10 ms"})
    swept(found, "dctcp", {RATE: "10,40 Mbit/s", DELAY: "5,10 ms"})
    for matrix in l4s.MATRICES[1:]:
        values: list[Any] = [1, 2] if matrix.name == "shares" else ["5 ms", "10 ms"]
        swept(found, matrix.name, {l4s.TCP: TCPS, matrix.down.path: values, matrix.across.path: values})
    return found


def test_a_cell_has_the_geometric_mean_of_the_rates_of_single_flows(folder: Path) -> None:
    sweep = aqmlab.Sweep.load(folder / "shares")
    paths = (l4s.TCP, "traffic.scalable.count", "traffic.classic.count")
    cell = l4s.cells(sweep, paths)["prague", 2, 1]
    runs = [
        row
        for row in sweep.frame.iter_rows(named=True)
        if (row[paths[0]], row[paths[1]], row[paths[2]]) == ("prague", 2, 1)
    ]
    assert len(runs) == 2
    product = 1.0
    for row in runs:
        product *= row["classes.scalable.goodput"] / 2 / row["classes.classic.goodput"]
    assert cell["balance"] == pytest.approx(product**0.5)
    assert cell["l4s"] == pytest.approx(sum(row["lanes.bottleneck.l4s.queue_delay_p99"] for row in runs) / 2 * 1e3)


def test_the_page_has_all_matrices_and_a_figure(folder: Path, tmp_path: Path) -> None:
    page = tmp_path / "l4s.md"
    l4s.write(folder, page)
    text = page.read_text(encoding="utf-8")
    for matrix in l4s.MATRICES:
        assert f"## {matrix.heading}" in text
        assert f"`aqmlab sweep l4s/{matrix.name}`" in text
    assert text.count("| rate \\ round trip | 10 ms | 20 ms |") == 4
    assert text.count("**TCP Prague**") == len(l4s.MATRICES)
    # Without runs of Linux, a cell of DCTCP has one set of numbers.
    assert " / " not in text.split("## DCTCP beside Linux")[1]
    with Image.open(tmp_path / "l4s" / "balance.png") as image:
        assert image.width > 500


def test_runs_of_linux_stand_beside_ours(folder: Path, tmp_path: Path) -> None:
    swept(tmp_path, "dctcp", {RATE: "10,40 Mbit/s", DELAY: "5,10 ms"})
    both = [aqmlab.Sweep.load(folder / "dctcp"), aqmlab.Sweep.load(tmp_path / "dctcp")]
    found = {matrix.name: aqmlab.Sweep.load(folder / matrix.name) for matrix in l4s.MATRICES}
    last = l4s.text(found, both, "l4s").split("## DCTCP beside Linux")[1]
    rows = [line for line in last.splitlines() if line.startswith(("| 10 Mbit/s", "| 40 Mbit/s"))]
    cells = [cell for row in rows for cell in row.strip("| ").split(" | ")[1:]]
    assert len(cells) == 4
    assert all(cell.split(" / ")[0] == cell.split(" / ")[1] for cell in cells)


def test_a_missing_matrix_is_named(tmp_path: Path) -> None:
    with pytest.raises((OSError, ValueError), match="rates"):
        l4s.write(tmp_path, tmp_path / "l4s.md")


def test_every_matrix_is_a_shipped_study() -> None:
    for name in [*(matrix.name for matrix in l4s.MATRICES), "dctcp"]:
        scenario = Scenario.load(f"l4s/{name}")
        assert scenario.title.startswith("L4S:")
