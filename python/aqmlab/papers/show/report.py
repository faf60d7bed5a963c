"""The report of a paper: one HTML file with claims, figures, tables and all parameters, readable without a network."""

from __future__ import annotations

import html
import re
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from aqmlab.files import write_text
from aqmlab.papers.describe.verdict import Verdict
from aqmlab.papers.show import browser
from aqmlab.papers.show.document import Document
from aqmlab.papers.show.layout import Sheet
from aqmlab.papers.show.texts import PRINTED, estimate, lasted, number, table, told, undecided
from aqmlab.reports.html import page
from aqmlab.text import span

STYLE = """
.badge { display: inline-block; border-radius: 1em; padding: .05em .7em; font-size: 13px; font-weight: 600;
  white-space: nowrap; }
.reproduced { background: #d9f0de; color: #0f5b2a; }
.partly { background: #fff0c7; color: #6b4a00; }
.contradicted { background: #fbdcdc; color: #8f1313; }
.not-testable { background: #e6e8eb; color: #3f4753; }
.badges { display: flex; flex-wrap: wrap; gap: .5rem; padding: 0; list-style: none; }
.said { width: 100%; }
.said th, .said td { text-align: left; white-space: normal; vertical-align: top; position: static;
  padding: .5rem .6rem; }
.said tr:hover td { background: none; }
.said tr:target td { background: #fffbe6; }
.said td:first-child { width: 22%; }
.name { font-weight: 600; overflow-wrap: anywhere; }
.where, .small, .why { color: #555; font-size: 13.5px; }
.checks { margin: 0; padding-left: 0; list-style: none; font-size: 13.5px; }
.checks li { margin-bottom: .3rem; }
.checks b { white-space: nowrap; }
.holds::before { content: "\\2713\\00a0"; color: #0f5b2a; font-weight: 700; }
.fails::before { content: "\\2717\\00a0"; color: #8f1313; font-weight: 700; }
.open::before { content: "?\\00a0"; color: #6b4a00; font-weight: 700; }
.printed { background: #f3f5f7; }
.tall .text { text-align: left; white-space: normal; min-width: 7rem; max-width: 24rem; }
.warning { background: #fff0c7; border-left: 4px solid #e69f00; padding: .5rem .8rem; }
nav ul { columns: 18rem; padding-left: 1.1rem; }
nav li li { break-inside: avoid; }
nav li ul { columns: auto; }
details { margin: .4rem 0; }
summary { cursor: pointer; }
section { margin-bottom: 2.4rem; }
h1, h2, h3, p, code { overflow-wrap: anywhere; }
@media (max-width: 720px) {
  body { margin: 1rem auto; }
  .said, .said tbody, .said tr, .said td { display: block; }
  .said thead { display: none; }
  .said td { border: 0; padding: .15rem 0; }
  .said td:first-child { width: auto; }
  .said tr { border-bottom: 1px solid #ccc; padding: .6rem 0; display: block; }
}
"""
"""The CSS of a paper's pages, in addition to that of all reports."""

_MOST_CHECKS = 8
"""The number of a claim's checks that are visible at once."""

_MOST_VALUES = 40
"""The largest number of values listed for a parameter that varies."""


def save(found: Document, sheets: Mapping[str, Sheet], file: Path) -> None:
    """Write the report of a paper, from its document and the sheets of its figures by name, to an HTML file."""
    write_text(file, text(found, sheets))


def text(found: Document, sheets: Mapping[str, Sheet]) -> str:
    """Return the report of a paper as HTML; the arguments are as for `save`."""
    own, beyond = ([one for one in found["items"] if one["beyond"] == more] for more in (False, True))
    claims, ours = ([one for one in found["claims"] if one["beyond"] == more] for more in (False, True))
    names = {one["name"]: one["heading"] for one in found["items"]}
    parts = [
        ("claims", "Claims", _claims(claims, names, found)),
        ("figures", "Figures and tables", "".join(_item(one, sheets) for one in own)),
        ("beyond", "Beyond the paper", _claims(ours, names, found) + "".join(_item(one, sheets) for one in beyond)),
        ("sensitivity", "Sensitivity to what the paper does not say", _sensitivity(found)),
        ("later", "Against later disciplines", _later(found)),
        ("choices", "Choices where the paper is silent or wrong", _choices(found["choices"])),
        ("parameters", "Every parameter", "".join(_experiment(one) for one in found["experiments"])),
        ("missing", "Left out", _missing(found)),
        (
            "elsewhere",
            "Left to the live engine",
            f"<p>{html.escape(found['elsewhere'])}</p>" * bool(found["elsewhere"]),
        ),
    ]
    shown = [(key, title, body) for key, title, body in parts if body]
    body = _head(found) + _contents(shown, own, beyond)
    body += "".join(f'<section id="{key}"><h2>{title}</h2>{body}</section>' for key, title, body in shown)
    body += f"<script>{browser.SCRIPT}</script>" if sheets else ""
    made = f"{found['source']}. " if found["source"] else ""
    made += f"{_seeds(found['seeds'])}{', quick' if found['quick'] else ''}; {found['done']} runs"
    made += f", {lasted(found['seconds'])}" if found["seconds"] is not None else ""
    made += f"; aqmlab {found['version']}"
    style = STYLE + browser.STYLE
    return page(found["title"], made, found["command"], body, style, figures=bool(sheets))


def badge(verdict: str, count: int | None = None, tip: str = "") -> str:
    """Return a verdict as HTML, with a count if it stands for several claims; ``tip`` is shown under the pointer."""
    kind = verdict.replace(" ", "-")
    title = f' title="{html.escape(tip)}"' if tip else ""
    return f'<span class="badge {kind}"{title}>{"" if count is None else f"{count} "}{html.escape(verdict)}</span>'


def ruled(claim: Document, tip: str = "") -> str:
    """Return the verdict on a claim as HTML, with a note if it was tested and is undecided."""
    open_still = undecided(claim)
    return badge(claim["verdict"], tip=tip) + (f'<br><span class="small">{open_still}</span>' if open_still else "")


def badges(counts: Mapping[str, int]) -> str:
    """Return the number of verdicts of each kind, as HTML."""
    return f'<ul class="badges">{"".join(f"<li>{badge(one, counts[one])}</li>" for one in Verdict)}</ul>'


def _seeds(seeds: Sequence[int]) -> str:
    return f"Seed{'s' if len(seeds) > 1 else ''} {span(tuple(seeds))}" if seeds else "Nothing drawn by chance"


def _head(found: Document) -> str:
    parts = [f"<p>{html.escape(found['about'])}</p>" if found["about"] else "", badges(found["counts"])]
    if found["left_out"] or found["not_judged"]:
        told = "It was interrupted. " if found["interrupted"] else ""
        parts.append(
            f'<p class="warning">{told}{len(found["left_out"])} figures and tables and {len(found["not_judged"])} '
            'claims are <a href="#missing">left out</a>: here is why.</p>'
        )
    return "".join(parts)


def _contents(shown: Sequence[tuple[str, str, str]], own: Sequence[Document], beyond: Sequence[Document]) -> str:
    lines = []
    for key, title, _ in shown:
        items = {"figures": own, "beyond": beyond}.get(key, [])
        inner = "".join(
            f'<li><a href="#item-{html.escape(one["name"])}">{html.escape(one["heading"])}</a>: '
            f"{html.escape(one['title'])}</li>"
            for one in items
        )
        lines.append(f'<li><a href="#{key}">{title}</a>{f"<ul>{inner}</ul>" if inner else ""}</li>')
    return f"<nav><details open><summary>Contents</summary><ul>{''.join(lines)}</ul></details></nav>"


def _claims(claims: Sequence[Document], names: Mapping[str, str], found: Document) -> str:
    if not claims:
        return ""
    few = "" if len(found["seeds"]) > 1 else " With one seed there are no intervals: the number alone decides."
    head = "".join(f"<th>{name}</th>" for name in ("Claim", "What it says, and why it came out so", "Numbers"))
    rows = "".join(_claim(one, names) for one in claims)
    return (
        '<p class="small">Of each number that a claim is about: the mean and its 95 % confidence interval (Student), '
        "and what is claimed. It holds if the whole interval is where the claim has it, fails if none of it is, and is "
        "open otherwise. A claim is reproduced if all its numbers hold, partly so if only some hold, contradicted if "
        f"some fail and none holds, and not testable if it has none, or all are open: more seeds may decide "
        f"it then.{few}</p>"
        f'<table class="said"><thead><tr>{head}</tr></thead><tbody>{rows}</tbody></table>'
    )


def _claim(one: Document, names: Mapping[str, str]) -> str:
    name = html.escape(one["claim"])
    links = ", ".join(
        f'<a href="#item-{html.escape(item)}">{html.escape(names[item])}</a>' for item in one["shown"] if item in names
    )
    shown = f' <span class="small">Shown in {links}.</span>' if links else ""
    return (
        f'<tr id="claim-{name}"><td><span class="name">{name}</span><br>{ruled(one)}'
        f'<br><span class="where">{html.escape(one["where"])}</span></td>'
        f'<td>{html.escape(one["text"])}{shown}<p class="why">{html.escape(one["why"])}</p></td>'
        f"<td>{_checks(one['checks'])}</td></tr>"
    )


def _checks(checks: Sequence[Document]) -> str:
    lines = [
        f'<li class="{check["outcome"]}" title="{check["outcome"]}">{html.escape(check["effect"])}: '
        f'<b>{html.escape(estimate(check))}</b> <span class="small">claimed {_wanted(check)}</span></li>'
        for check in checks
    ]
    if not lines:
        return '<span class="small">none: it cannot be tested</span>'
    first, rest = lines[:_MOST_CHECKS], lines[_MOST_CHECKS:]
    more = f'<details><summary class="small">{len(rest)} more</summary>{_list(rest)}</details>' if rest else ""
    return _list(first) + more


def _list(lines: Iterable[str]) -> str:
    return f'<ul class="checks">{"".join(lines)}</ul>'


def _wanted(check: Document) -> str:
    return html.escape(
        str(check["wanted"]).replace(">=", "\N{GREATER-THAN OR EQUAL TO}").replace("<=", "\N{LESS-THAN OR EQUAL TO}")
    )


def _item(one: Document, sheets: Mapping[str, Sheet]) -> str:
    name = html.escape(one["name"])
    told = [f'<section id="item-{name}"><h3>{html.escape(one["heading"])}: {html.escape(one["title"])}</h3>']
    told.append(browser.embedded(sheets[one["name"]]) if one["kind"] == "figure" else _table(one))
    told.append(f"<p>{html.escape(one['caption'])}</p>" if one["caption"] else "")
    notes = [html.escape(one["small"])] if one.get("small") else []
    if one["claims"]:
        links = ", ".join(f'<a href="#claim-{html.escape(claim)}">{html.escape(claim)}</a>' for claim in one["claims"])
        notes.append(f"claims: {links}")
    notes.append(
        "files: " + ", ".join(f'<a href="{html.escape(file)}">{html.escape(file)}</a>' for file in one["files"])
    )
    told.append(f'<p class="small">{"; ".join(notes)}</p></section>')
    return "".join(told)


def _table(one: Document) -> str:
    head, rows = table(one["columns"], one["rows"], one["digits"])
    texts = [any(isinstance(row[one["columns"].index(name)], str) for row in one["rows"]) for name in head]
    kinds = [_class(printed=name.endswith(PRINTED), text=text) for name, text in zip(head, texts, strict=True)]
    lines = ["".join(f"<th{kind}>{html.escape(name)}</th>" for kind, name in zip(kinds, head, strict=True))]
    lines += [
        "".join(f"<td{kind}>{html.escape(cell)}</td>" for kind, cell in zip(kinds, row, strict=True)) for row in rows
    ]
    return f'<div class="wide"><table class="tall">{"".join(f"<tr>{line}</tr>" for line in lines)}</table></div>'


def _class(**wanted: bool) -> str:
    names = " ".join(name for name, is_so in wanted.items() if is_so)
    return f' class="{names}"' if names else ""


def _tip(one: Document) -> str:
    return "\n".join(told(check) for check in one["checks"])


def _sensitivity(found: Document) -> str:
    variants = found["sensitivity"]
    if not variants:
        return ""
    rulings = [{one["claim"]: one for one in variant["claims"]} for variant in variants]
    base = {one["claim"]: one for one in found["claims"]}
    claims = list(dict.fromkeys(name for each in rulings for name in each))
    head = "".join(f"<th>{html.escape(name)}</th>" for name in ("", "As above", *(one["variant"] for one in variants)))
    rows = []
    for claim in claims:
        cells = [ruled(each[claim], _tip(each[claim])) if claim in each else "" for each in [base, *rulings]]
        link = f'<a href="#claim-{html.escape(claim)}">{html.escape(claim)}</a>'
        rows.append(f"<td>{link}</td>" + "".join(f"<td>{cell}</td>" for cell in cells))
    lines = "".join(f"<tr>{row}</tr>" for row in (head, *rows))
    few = ", with the fewest points that judge each claim" if variants[0]["quick"] else ""
    return (
        f"<p>The claims judged again with other values of what the paper does not say. {_seeds(variants[0]['seeds'])}"
        f"{few}. Hold the pointer over a verdict for its numbers.</p>"
        f'<div class="wide"><table class="tall">{lines}</table></div>'
    )


def _later(found: Document) -> str:
    later = found["later"]
    if not later["claims"]:
        return ""
    rivals = later["rivals"]
    rows = []
    every = False
    for one in later["claims"]:
        by = {rival: [check for check in one["checks"] if _mentions(check["effect"], rival)] for rival in rivals}
        rest = [check for check in one["checks"] if not any(check in checks for checks in by.values())]
        every = every or bool(rest)
        cells = [_checks(checks) if checks else "" for checks in (*by.values(), rest)]
        name = html.escape(one["claim"])
        first = f'<a class="name" href="#claim-{name}">{name}</a><br>{ruled(one)}'
        rows.append([f"{first}<p class='why'>{html.escape(one['why'])}</p>", *cells])
    head = ["Claim", *(html.escape(rival) for rival in rivals), "Among all"]
    count = len(head) if every else len(head) - 1
    lines = "".join(f"<tr>{''.join(f'<td>{cell}</td>' for cell in row[:count])}</tr>" for row in rows)
    few = ", with the fewest points that judge each claim" if later["quick"] else ""
    return (
        f"<p>The claims that compare, judged again with {html.escape(found['hero'])} against disciplines that came "
        f'later. {_seeds(later["seeds"])}{few}.</p><table class="said"><thead><tr>'
        f"{''.join(f'<th>{name}</th>' for name in head[:count])}</tr></thead><tbody>{lines}</tbody></table>"
    )


def _mentions(effect: str, label: str) -> bool:
    """Check whether a text names a discipline, rather than one whose name contains it: CoDel is not FQ-CoDel."""
    return re.search(rf"(?<![\w*-]){re.escape(label)}(?![\w*-])", effect) is not None


def _choices(choices: Sequence[Document]) -> str:
    if not choices:
        return ""
    rows = "".join(
        f'<tr><td><span class="name">{html.escape(one["parameter"])}</span></td>'
        f"<td>{html.escape(one['stated']) or 'nothing'}</td><td>{html.escape(one['ours'])}</td>"
        f"<td>{html.escape(one['why'])}</td></tr>"
        for one in choices
    )
    head = "".join(f"<th>{name}</th>" for name in ("Parameter", "The paper says", "We take", "Why"))
    return f'<table class="said"><thead><tr>{head}</tr></thead><tbody>{rows}</tbody></table>'


def _experiment(one: Document) -> str:
    varied = "".join(
        f"<li><code>{html.escape(path)}</code>: {html.escape(_values(values))}</li>"
        for path, values in one["varies"].items()
    )
    settings = "".join(
        f"<tr><td>{html.escape(label)}</td><td><code>{html.escape(_settings(aqm))}</code></td></tr>"
        for label, aqm in one["aqms"].items()
    )
    return (
        f"<details><summary><b>{html.escape(one['name'])}</b>: {html.escape(one['title'])}</summary>"
        f"<p>{_seeds(one['seeds'])}; {one['done']} of {one['wanted']} runs; scenario "
        f"<code>{html.escape(one['scenario'])}</code></p>"
        + (f"<p>What varies:</p><ul>{varied}</ul>" if varied else "")
        + f'<table class="said"><tbody>{settings}</tbody></table>'
        f"<p>The whole scenario with {html.escape(one['first'])}, but for what varies:</p>"
        f"<pre>{html.escape(one['toml'])}</pre></details>"
    )


def _values(values: Sequence[object]) -> str:
    more = f", … ({len(values)} in all)" if len(values) > _MOST_VALUES else ""
    return ", ".join(number(value, 9) for value in values[:_MOST_VALUES]) + more


def _settings(aqm: Mapping[str, Any]) -> str:
    return ", ".join(f"{key} = {value}" for key, value in aqm.items())


def _missing(found: Document) -> str:
    lines = [f"{one['heading']}: {one['title']}: {one['missing']}" for one in found["left_out"]]
    lines += [f"{one['claim']}: {one['text']}: {one['missing']}" for one in found["not_judged"]]
    parts = [f"<ul>{''.join(f'<li>{html.escape(line)}</li>' for line in lines)}</ul>" if lines else ""]
    if found["failures"]:
        failed = "".join(f"<li>{html.escape(one)}</li>" for one in found["failures"][:_MOST_FAILURES])
        count = len(found["failures"])
        more = f"<p>{count - _MOST_FAILURES} more are in findings.json.</p>" if count > _MOST_FAILURES else ""
        parts.append(f"<p>What failed:</p><ul>{failed}</ul>{more}")
    return "".join(parts)


_MOST_FAILURES = 100
