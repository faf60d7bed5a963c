"""One page over several papers: the number of claims that hold, and each claim with its verdict."""

from __future__ import annotations

import html
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

from aqmlab.files import write_text
from aqmlab.papers.describe.verdict import Verdict
from aqmlab.papers.show.document import Document
from aqmlab.papers.show.report import STYLE, badge, ruled
from aqmlab.papers.show.terminal import decisive
from aqmlab.papers.show.texts import lasted, undecided
from aqmlab.reports.html import page

_STYLE = """
.choose { display: flex; flex-wrap: wrap; gap: .4rem 1rem; margin: .8rem 0; }
tr[hidden] { display: none !important; }
.summary th, .summary td:first-child { white-space: normal; }
.summary td:first-child { min-width: 12rem; }
"""

_SCRIPT = """
const boxes = [...document.querySelectorAll('.choose select')];
function choose() {
  let count = 0;
  document.querySelectorAll('#all tbody tr').forEach(row => {
    row.hidden = boxes.some(box => box.value && row.dataset[box.name] !== box.value);
    count += !row.hidden;
  });
  document.getElementById('count').textContent = count + ' claims';
}
boxes.forEach(box => box.addEventListener('change', choose));
choose();
"""


def save(found: Mapping[str, Document], file: Path, command: str, seconds: float | None = None) -> None:
    """Write the page to an HTML file.

    ``found`` maps the folder of each paper, relative to the page, to its document. ``command`` is the command line for
    the reader to repeat; ``seconds`` is the total time.
    """
    write_text(file, text(found, command, seconds))


def text(found: Mapping[str, Document], command: str, seconds: float | None = None) -> str:
    """Return the page as HTML; the arguments are as for `save`."""
    documents = list(found.values())
    seeds = sorted({len(one["seeds"]) for one in documents})
    told = [f"{len(documents)} papers", f"{' or '.join(map(str, seeds))} seed{'s' if seeds != [1] else ''}"]
    told += ["quick"] * any(one["quick"] for one in documents)
    told.append(f"{sum(one['done'] for one in documents)} runs")
    told += [] if seconds is None else [lasted(seconds)]
    told += sorted({f"aqmlab {one['version']}" for one in documents})
    body = _summary(found) + _claims(found) + f"<script>{_SCRIPT}</script>"
    return page(
        "Five papers, reproduced" if len(found) == 5 else "Papers, reproduced",
        "; ".join(told),
        command,
        body,
        STYLE + _STYLE,
        figures=False,
    )


def _summary(found: Mapping[str, Document]) -> str:
    heads = ["Paper", *(badge(one) for one in Verdict), "Figures, tables", "Runs", "Time"]
    rows = [heads]
    for folder, one in found.items():
        link = (
            f'<a href="{html.escape(folder)}/report.html">{html.escape(one["paper"])}</a>: {html.escape(one["title"])}'
        )
        left = len(one["left_out"])
        items = f"{len(one['items'])}{f' ({left} left out)' if left else ''}"
        time = "" if one["seconds"] is None else lasted(one["seconds"])
        rows.append([link, *(str(one["counts"][kind]) for kind in Verdict), items, str(one["done"]), time])
    every = found.values()
    sums = [str(sum(one["counts"][kind] for one in every)) for kind in Verdict]
    drawn, runs = (
        str(sum(counts)) for counts in ([len(one["items"]) for one in every], [one["done"] for one in every])
    )
    rows.append(["<b>All</b>", *(f"<b>{count}</b>" for count in sums), drawn, runs, ""])
    ours = {kind: sum(one["counts_beyond"][kind] for one in every) for kind in Verdict}
    beyond = ", ".join(f"{count} {kind}" for kind, count in ours.items() if count)
    note = f"<p>Claims of our own, beyond the papers, are not counted here: {beyond}.</p>" if beyond else ""
    return f'<h2>How many claims hold</h2><div class="wide">{_table(rows, "tall summary")}</div>{note}'


def _table(rows: Sequence[Sequence[str]], kind: str) -> str:
    head, *body = rows
    lines = [
        "".join(f"<th>{cell}</th>" for cell in head),
        *("".join(f"<td>{cell}</td>" for cell in row) for row in body),
    ]
    return f'<table class="{kind}">{"".join(f"<tr>{line}</tr>" for line in lines)}</table>'


def _claims(found: Mapping[str, Document]) -> str:
    rows = "".join(_claim(folder, one, claim) for folder, one in found.items() for claim in one["claims"])
    papers = _choice("paper", "all papers", [one["paper"] for one in found.values()])
    verdicts = _choice("verdict", "all verdicts", list(Verdict))
    whose = _choice("whose", "the papers' and ours", ["the papers'", "ours"])
    return (
        f'<h2>Claims</h2><div class="choose">{papers}{verdicts}{whose}<span id="count"></span></div>'
        '<table class="said" id="all"><thead><tr><th>Claim</th><th>What it says</th><th>Why it came out so</th></tr>'
        f"</thead><tbody>{rows}</tbody></table>"
    )


def _choice(name: str, every: str, values: Iterable[str]) -> str:
    options = "".join(f'<option value="{html.escape(value)}">{html.escape(value)}</option>' for value in values)
    return f'<label>{name} <select name="{name}"><option value="">{every}</option>{options}</select></label>'


def _claim(folder: str, one: Document, claim: Document) -> str:
    link = html.escape(f"{folder}/report.html#claim-{claim['claim']}")
    whose = "ours" if claim["beyond"] else "the papers'"
    chosen = {"paper": one["paper"], "verdict": claim["verdict"], "whose": whose}
    data = " ".join(f'data-{key}="{html.escape(value)}"' for key, value in chosen.items())
    return (
        f"<tr {data}>"
        f'<td><a class="name" href="{link}">{html.escape(one["paper"])}: {html.escape(claim["claim"])}</a><br>'
        f'{ruled(claim)}<br><span class="where">{html.escape(claim["where"])}</span></td>'
        f'<td>{html.escape(claim["text"])}</td><td class="why">{html.escape(claim["why"])}{_number(claim)}</td></tr>'
    )


def _number(claim: Document) -> str:
    told = decisive(claim["checks"])
    return f'<p class="small"><b>Decided by</b> {html.escape(told)}</p>' if told and not undecided(claim) else ""
