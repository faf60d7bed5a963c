"""The pages on papers that a person wrote: their gaps, their length, and that those in docs are what they make."""

import re
from pathlib import Path
from typing import Any

import pytest

from aqmlab_papers.describe import library
from aqmlab_papers.show import pages
from aqmlab_papers.show.pages import PAGE, Filling

ROOT = Path(__file__).parents[1]
WRITTEN = [name for name in library.names() if (library.folder(name) / PAGE).is_file()]

CHECK = {"effect": "queue of A", "value": 3.25, "half": 0.5, "unit": "packets", "outcome": "holds", "wanted": ">= 1"}
CLAIM = {
    "claim": "short",
    "quote": "A's queue is short*",
    "where": "Section 2",
    "verdict": "partly",
    "checks": [
        {**CHECK, "effect": "queue of AB", "value": 4.0, "outcome": "fails"},
        CHECK,
        {**CHECK, "effect": "queue of B", "outcome": "fails"},
    ],
    "beside": [{**CHECK, "effect": "runs of A", "value": 1.5, "unit": "orders of magnitude"}],
    "beyond": False,
    "arithmetic": False,
}
DOCUMENT = {
    "paper": "tiny",
    "source": "A. Author",
    "claims": [CLAIM],
    "items": [{"name": "fig1"}],
    "sensitivity": [
        {"claims": [{"claim": "short", "verdict": verdict, "checks": [{"value": value}]}]}
        for value, verdict in enumerate(("partly", "partly", "reproduced", "undecided"))
    ],
}
TEXT = """\
# Tiny

{{ source() }}: {{ counts() }}.

{{ headline("short") }}

{{ parts("short") }} hold, {{ part("short", "of AB") }}, {{ part("short", "queue of A") }}.
{{ times("short", "runs", beside=True) }} times as often, {{ cell("table1", "A", "loss (%)") }} %.
{{ drawn("fig2", "A", -1, "b") }} is drawn.

{{ figure("fig1", "The queue") }}
"""


def test_gaps_are_filled_from_the_findings(tmp_path: Path) -> None:
    page = tmp_path / PAGE
    page.write_text(TEXT, encoding="utf-8")
    (tmp_path / "table1.csv").write_text('aqm,loss (%)\n"A",12.366\nB,7\n', encoding="utf-8")
    drawn = "panel,curve,x,y\na,A,1,2\nb,A,1,3\nb,A,2,4.5678\n"
    (tmp_path / "fig2.csv").write_text(drawn, encoding="utf-8")
    assert pages.filled(page, Filling(DOCUMENT, {"short": "contradicted"}, tmp_path)) == (
        "# Tiny\n\nA. Author: 1 claim of the paper: 1 partly "
        "([verdicts, parts, robust, ± explained](claims/README.md)).\n\n"
        "> A's queue is short\\* (Section 2)\n\n"
        "**Partly**: 1 of 3 parts hold; robust 1 of 2; on real hosts contradicted.\n\n"
        "1 of 3 hold, 4.00 ± 0.50 packets, 3.25 ± 0.50 packets.\n32 times as often, 12.4 %.\n4.57 is drawn.\n\n"
        "![The queue](tiny-fig1.png)\n"
    )


@pytest.mark.parametrize(
    ("settings", "expected"),
    [
        (("partly", "reproduced", "partly"), "1 of 2"),
        (("undecided", "reproduced", "partly"), "1 of 2"),
        # With their seeds and points the chosen setting itself has another verdict than with all.
        (("reproduced", "reproduced", "partly"), ""),
        (("partly",), ""),
        ((), ""),
        # The second changes nothing.
        (("partly", "partly same", "reproduced", "partly"), "1 of 2"),
    ],
)
def test_a_verdict_is_robust_where_other_settings_agree_with_the_chosen_one(
    settings: tuple[str, ...], expected: str
) -> None:
    varied = [
        {"claims": [{"claim": "short", "verdict": verdict, "checks": [{"value": 0 if same else place}]}]}
        for place, (verdict, _, same) in enumerate(setting.partition(" ") for setting in settings)
    ]
    assert pages.robust({**DOCUMENT, "sensitivity": varied}, "short") == expected


@pytest.mark.parametrize(
    "gap",
    [
        "headline('long')",
        "part('short', 'of C')",
        "part('short', 'of')",
        "cell('table1', 'C', 'loss (%)')",
        "drawn('table1', 'A', 0)",
        "figure('x', '')",
        "x",
    ],
)
def test_a_gap_without_a_number_is_an_error(tmp_path: Path, gap: str) -> None:
    page = tmp_path / PAGE
    page.write_text(f"{{{{ {gap} }}}}", encoding="utf-8")
    (tmp_path / "table1.csv").write_text("aqm,loss (%),panel,curve\nA,12.366,a,A\n", encoding="utf-8")
    with pytest.raises((KeyError, pages.jinja2.UndefinedError)):
        pages.filled(page, Filling(DOCUMENT, {}, tmp_path))


class Gaps:
    """What stands in the gaps of a page: anything, but for the quotes and verdicts of its headlines."""

    def __init__(self, paper: str) -> None:
        self.claims = {claim.name: claim for claim in library.load(paper).claims}
        self.listed = pages.listed(ROOT / f"docs/papers/claims/{paper}.md")
        self.headlines: list[str] = []
        self.figures: list[str] = []

    def headline(self, name: str) -> str:
        """Note the claim, and stand for its sentence and verdict."""
        assert self.claims[name].quote, f"{name} is no claim of the paper"
        self.headlines.append(name)
        return f"\0**{self.listed[name].capitalize()}**\0"

    def figure(self, name: str, words: str) -> str:
        """Note the figure, and stand for it."""
        self.figures.append(name)
        return f"![{words}](\0.png)"

    def __getattr__(self, name: str) -> Any:
        return lambda *_, **__: "\0"


def test_every_paper_has_a_page() -> None:
    assert library.names() == WRITTEN


@pytest.mark.parametrize("paper", WRITTEN)
def test_a_page_in_docs_is_the_written_one_with_the_verdicts_of_all_claims(paper: str) -> None:
    gaps = Gaps(paper)
    text = pages.filled(library.folder(paper) / PAGE, gaps)
    shown = (ROOT / f"docs/papers/{paper}.md").read_text(encoding="utf-8")
    pattern = ".+?".join(re.escape(part) for part in text.split("\0"))
    assert re.fullmatch(pattern, shown, re.DOTALL), "make reproduce writes it anew"
    assert 5 <= len(gaps.headlines) <= 8
    assert len(shown.split()) <= 1200
    for figure in gaps.figures:
        assert (ROOT / f"docs/papers/{paper}-{figure}.png").is_file()
