"""Write the documentation pages on papers from their findings: ``python -m aqmlab_papers.show.pages FOLDER DOCS``."""

from __future__ import annotations

import re
import shutil
import sys
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from aqmlab.files import write_text
from aqmlab.kinds import FINDINGS as KIND
from aqmlab.reports.image import small_copy
from aqmlab.reports.pages import table
from aqmlab.sealed import unsealed
from aqmlab.text import span
from aqmlab_papers.describe.verdict import Verdict
from aqmlab_papers.show import texts
from aqmlab_papers.show.terminal import counted
from aqmlab_papers.show.texts import FINDINGS, decisive

Document = Mapping[str, Any]

_UNJUDGED = "\N{EN DASH}"
"""The text for a claim that was not judged in a setting."""

_ROWS = 20
"""The largest number of rows of a table on a page."""

_MEANS = {
    Verdict.REPRODUCED: "What holds",
    Verdict.PARTLY: "What holds in part",
    Verdict.CONTRADICTED: "What does not hold",
    Verdict.UNDECIDED: "What stays undecided",
    Verdict.NOT_TESTABLE: "What no run can test",
}


def write(folder: Path, docs: Path) -> list[str]:
    """Write a page for each reproduced paper, and an index; return the names of the papers.

    ``folder`` has the output of ``aqmlab reproduce all --out``, or of one paper. The pages are ``README.md`` and
    ``NAME.md`` in ``docs``, with the figures in ``NAME/``. Findings of another engine than the packet engine make
    ``NAME-ENGINE.md``, and no index. Raises `ValueError` if ``folder`` has no findings, or if the findings of a paper
    are incomplete.
    """
    cure = f"aqmlab reproduce all --out {folder}"
    files = sorted([*folder.glob(f"*/{FINDINGS}"), *folder.glob(FINDINGS)])
    if not files:
        raise ValueError(f"{folder}: no {FINDINGS} there; {cure} makes them")
    found = [(file.parent, unsealed(file, KIND, cure)) for file in files]
    for own, document in found:
        lacking = [] if document["measured"] else [*document["left_out"], *document["not_judged"]]
        if document["only"] or document["interrupted"] or lacking:
            raise ValueError(f"{own}: not all of {document['paper']} was done; aqmlab reproduce does the rest")
    for own, document in found:
        name = _name(document)
        shutil.rmtree(docs / name, ignore_errors=True)
        figures = [item for item in document["items"] if item["kind"] == "figure"]
        images = {item["name"]: f"{name}/{_copied(item, own, docs / name)}" for item in figures}
        write_text(docs / f"{name}.md", page(document, images))
    simulated = [document for _, document in found if not document["measured"]]
    if not simulated:
        return [_name(document) for _, document in found]
    listed = [document["paper"] for document in simulated if (docs / f"items/{document['paper']}.md").is_file()]
    measured = sorted(file.stem for document in simulated for file in docs.glob(f"{document['paper']}-*.md"))
    write_text(docs / "README.md", index(simulated, listed, measured))
    return [_name(document) for _, document in found]


def _name(document: Document) -> str:
    """Return the name of a paper's page."""
    engine, _, _ = document["engine_name"].partition(":")
    return f"{document['paper']}-{engine}" if document["measured"] else str(document["paper"])


def _copied(item: Document, folder: Path, to: Path) -> str:
    """Copy the image of a figure with a palette: it is kept in the repository, and takes a third of the space."""
    name = f"{item['name']}.png"
    small_copy(folder / name, to / name)
    return name


def _escaped(found: Any) -> Any:
    """Escape the characters that Markdown would interpret: two ``PI*`` in a line must not start and end emphasis.

    What stands between backticks is code, in which Markdown interprets nothing.
    """
    if isinstance(found, str):
        return re.sub(r"(`[^`\n]+`)|([*<~\\]|&(?=#?\w+;))", lambda one: one[1] or f"\\{one[2]}", found)
    if isinstance(found, Mapping):
        return {key: _escaped(value) for key, value in found.items()}
    return [_escaped(value) for value in found] if isinstance(found, list) else found


def index(documents: Sequence[Document], listed: Sequence[str] = (), measured: Sequence[str] = ()) -> str:
    """Write the index of all papers, as Markdown.

    Those that are ``listed`` have a checklist in ``items/``; ``measured`` are the names of pages on other engines.
    """
    documents = [_escaped(document) for document in documents]
    rows = []
    for document in documents:
        own = [claim["verdict"] for claim in document["claims"] if not (claim["beyond"] or claim["arithmetic"])]
        counts = [str(own.count(verdict)) for verdict in Verdict]
        ours = sum(claim["beyond"] for claim in document["claims"])
        rows.append([f"[{document['title']}]({document['paper']}.md)", str(len(own)), *counts, str(ours)])
    parts = [
        "# Papers",
        "*Generated from findings by `make reproduce`.*",
        "Every figure, table and claim of these papers, run again. `aqmlab reproduce` lists them, "
        "`aqmlab reproduce NAME` does one: a report with all figures, data, parameters and verdicts.",
        texts.MEANING,
        table(["paper", "claims", *Verdict, "ours beyond"], rows),
    ]
    if listed:
        links = ", ".join(f"[{name}](items/{name}.md)" for name in listed)
        parts.append(f"All that each paper describes, and where it is or why it is left out: {links}.")
    if measured:
        links = ", ".join(f"[{name}]({name}.md)" for name in measured)
        parts.append(f"The measurements of a paper, repeated by another engine: {links}.")
    for verdict in (Verdict.CONTRADICTED, Verdict.PARTLY):
        lines = [
            f"- [{document['paper']}]({document['paper']}.md): {claim['text']} *{claim['where']}.* {claim['why']}"
            for document in documents
            for claim in document["claims"]
            if claim["verdict"] == verdict and not claim["beyond"]
        ]
        if lines:
            parts += [f"## {_MEANS[verdict]}", "\n".join(lines)]
    return "\n\n".join(parts) + "\n"


def page(document: Document, images: Mapping[str, str]) -> str:
    """Write the page on a paper, as Markdown; ``images`` maps the names of figures to links from the page."""
    document = _escaped(document)
    claims, measured = document["claims"], document["measured"]
    engine = f" --engine {document['engine_name']}" if measured else ""
    quick = ", quick: fewest points" if document["quick"] else ""
    parts = [
        f"# {document['title']}{', measured' if measured else ''}",
        f"*Generated from findings by `{'aqmlab reproduce' if measured else 'make reproduce'}`: "
        f"aqmlab {document['version']}, {texts.repeated(document)}{quick}.*",
        document["source"],
        measured["why"] if measured else document["about"],
        f"`aqmlab reproduce {document['paper']}{engine}` makes all figures, tables and verdicts. {counted(claims)}. "
        "[What the verdicts mean](README.md).",
        table(
            ["claim", "where", "verdict", "what decides it"],
            [[_ours(claim), claim["where"], _ruled(claim), decisive(claim) or "no number"] for claim in claims],
        ),
    ]
    for verdict, heading in _MEANS.items():
        own = [claim for claim in claims if claim["verdict"] == verdict]
        if own:
            parts += [f"## {heading}", *(_claim(claim) for claim in own)]
    figures = [item for item in document["items"] if item["name"] in images]
    if figures:
        parts += ["## Figures", *(_figure(item, images[item["name"]]) for item in figures)]
    tables = [item for item in document["items"] if item["kind"] == "table" and len(item["rows"]) <= _ROWS]
    if tables:
        parts += ["## Tables", *(_tabled(item) for item in tables)]
    parts += _settings(document)
    parts += _calibration(document["calibration"])
    if document["choices"]:
        rows = [
            [choice["parameter"], choice["stated"] or "nothing", choice["ours"], choice["why"]]
            for choice in document["choices"]
        ]
        parts += ["## Unstated parameters", table(["parameter", "stated", "ours", "why"], rows)]
    if document["elsewhere"] and not measured:
        parts += ["## Left for later", document["elsewhere"]]
    return "\n\n".join(part for part in parts if part) + "\n"


def _ours(claim: Document) -> str:
    return f"{claim['claim']} (ours)" if claim["beyond"] else str(claim["claim"])


def _ruled(claim: Document) -> str:
    return ": ".join(part for part in (f"**{claim['verdict']}**", texts.certainty(claim)) if part)


def _claim(claim: Document) -> str:
    where = "" if claim["where"] == "ours" else f" ({claim['where']})"
    quote = f" \N{LEFT DOUBLE QUOTATION MARK}{claim['quote']}\N{RIGHT DOUBLE QUOTATION MARK}" if claim["quote"] else ""
    head = f"**{_ours(claim)}**{where}. {claim['text']}{quote} {claim['why']}"
    if claim["tolerance"]:
        head += f" Effect size {claim['tolerance']}."
    if claim["verdict"] == Verdict.REPRODUCED:
        return head
    return "\n".join([head, "", *(f"- {texts.check_line(check)}" for check in claim["checks"])]).rstrip()


def _figure(item: Document, image: str) -> str:
    small = " ".join(part for part in (item["caption"], f"({item['small']}.)" if item["small"] else "") if part)
    return f"![{item['title']}]({image})\n\n*{item['heading']}: {item['title']}.* {small}".rstrip()


def _tabled(item: Document) -> str:
    head, rows = texts.table(item["columns"], item["rows"], item["digits"])
    return f"*{item['heading']}: {item['title']}.* {item['caption']}".rstrip() + f"\n\n{table(head, rows)}"


def _settings(document: Document) -> list[str]:
    """Write the tables of verdicts in other settings."""
    parts = []
    varied = [one for one in document["sensitivity"] if one["claims"]]
    if varied:
        names = list(dict.fromkeys(claim["claim"] for one in varied for claim in one["claims"]))
        own = {claim["claim"]: claim["verdict"] for claim in document["claims"]}
        rows = [["as chosen", *(own[name] for name in names)]]
        for one in varied:
            verdicts = {claim["claim"]: claim["verdict"] for claim in one["claims"]}
            rows.append([one["variant"], *(verdicts.get(name, _UNJUDGED) for name in names)])
        parts += [
            "## Sensitivity",
            "The same claims with other values of parameters that the paper does not state. "
            f"{_extent(varied[0])} The first row is that of all runs; the others are compared with the second, which "
            "has the same seeds and points as they.",
            table(["", *names], rows),
            _moved(rows[1:], names),
        ]
    later = document["later"]
    if later["claims"]:
        rows = [[claim["claim"], _ruled(claim), decisive(claim)] for claim in later["claims"]]
        parts += [
            "## Later disciplines",
            f"The claims that compare, with {', '.join(later['rivals'])} in place of those that the paper compares "
            f"with. {_extent(later)}",
            table(["claim", "verdict", "what decides it"], rows),
        ]
    return parts


def _calibration(found: Document) -> list[str]:
    """Write the settings that were tried and their distances from the printed numbers."""
    if not found:
        return []
    printed = found["printed"]
    head = [
        "",
        *(f"{one['name']}{one['unit'] and ' (' + one['unit'] + ')'}, {one['where']}" for one in printed),
        "distance",
    ]
    rows = [["printed", *(texts.number(one["value"]) for one in printed), ""]]
    for one in found["tried"]:
        values = [
            texts.number(value, 3) + (f" ± {texts.number(half, 2)}" if half else "")
            for value, half in zip(one["values"], one["halves"], strict=True)
        ]
        rows.append([f"**{one['name']}**" if one["chosen"] else one["name"], *values, texts.distance(one)])
    return [
        "## Calibration",
        f"The distance is the root mean square of ln(ours / printed). {found['why']}",
        table(head, rows),
    ]


def _moved(rows: Sequence[Sequence[str]], names: Iterable[str]) -> str:
    """Name the claims with the same verdict in every setting, those whose verdict changes, and the others."""
    columns = {
        name: texts.depends([None if row[place] == _UNJUDGED else row[place] for row in rows])
        for place, name in enumerate(names, 1)
    }
    kinds = {
        False: "The same verdict everywhere",
        True: "It depends on the setting",
        None: "Undecided or not judged in some settings, and not seen to depend on them",
    }
    told = {text: ", ".join(name for name, found in columns.items() if found is kind) for kind, text in kinds.items()}
    return " ".join(f"{text}: {names}." for text, names in told.items() if names)


def _extent(setting: Document) -> str:
    seeds = f"Seed{'s' if len(setting['seeds']) > 1 else ''} {span(tuple(setting['seeds']))}"
    return f"{seeds}, fewer points than above." if setting["quick"] else f"{seeds}."


if __name__ == "__main__":
    print(f"written: {', '.join(write(Path(sys.argv[1]), Path(sys.argv[2])))}")
