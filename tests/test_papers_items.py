"""The checklists of the papers name claims, figures, experiments and files that exist."""

import re
from pathlib import Path

import pytest

import aqmlab
from aqmlab.results.metrics import METRICS
from aqmlab_papers import Figure, Paper
from aqmlab_papers.describe import library

ROOT = Path(__file__).parents[1]
PAPERS = library.names()
HEAD = ["id", "where", "what", "kind", "status", "by", "remark"]
STATES = {"yes", "partly", "out"}


def rows(paper: str) -> list[dict[str, str]]:
    """Return the rows of a paper's checklist."""
    lines = (ROOT / f"docs/papers/items/{paper}.md").read_text(encoding="utf-8").splitlines()
    table = [re.split(r"(?<!\\)\|", line)[1:-1] for line in lines if line.startswith("|")]
    cells = [[cell.strip() for cell in line] for line in table]
    assert cells[0] == HEAD
    assert all(len(line) == len(HEAD) for line in cells), [line for line in cells if len(line) != len(HEAD)]
    return [dict(zip(HEAD, line, strict=True)) for line in cells[2:]]


@pytest.fixture(scope="module", params=PAPERS)
def paper(request: pytest.FixtureRequest) -> Paper:
    return library.load(request.param)


def test_each_row_of_a_checklist_has_a_state_and_a_reason(paper: Paper) -> None:
    found = rows(paper.name)
    names = [row["id"] for row in found]
    assert len(set(names)) == len(names)
    for row in found:
        assert row["status"] in STATES, row
        assert row["where"], row
        assert row["what"], row
        assert row["by"] if row["status"] == "yes" else row["remark"], row


def test_what_a_checklist_names_exists(paper: Paper) -> None:
    known = {
        "claim": {one.name for one in paper.claims},
        "figure": {one.name for one in paper.items if isinstance(one, Figure)},
        "table": {one.name for one in paper.items if not isinstance(one, Figure)},
        "experiment": {one.name for one in paper.experiments},
        "scenario": set(aqmlab.shipped()),
        "aqm": set(aqmlab.disciplines()),
        "metric": set(METRICS),
    }
    for row in rows(paper.name):
        for text in re.findall(r"`([^`]+)`", row["by"]):
            kind, _, name = text.partition(" ")
            if kind == "file":
                assert (ROOT / name).exists(), (row["id"], text)
            else:
                assert kind in known, (row["id"], text)
                assert name in known[kind], (row["id"], text)
        assert not re.sub(r"`[^`]+`|[\s,;]", "", row["by"]), (row["id"], row["by"])
