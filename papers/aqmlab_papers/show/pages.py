"""Write the short pages on papers from their findings: ``python -m aqmlab_papers.show.pages FOLDER DOCS``.

The report beside the findings has all that a page leaves out: numbers, reasons, figures, tables and parameters.
"""

import re
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from aqmlab.files import write_text
from aqmlab.kinds import FINDINGS as KIND
from aqmlab.reports.pages import table
from aqmlab.sealed import unsealed
from aqmlab_papers.describe.verdict import Verdict
from aqmlab_papers.show import texts
from aqmlab_papers.show.terminal import counted
from aqmlab_papers.show.texts import FINDINGS

Document = Mapping[str, Any]


def write(folder: Path, docs: Path) -> list[str]:
    """Write a page for each reproduced paper, and an index; return the names of the papers.

    ``folder`` has the output of ``aqmlab reproduce all --out``, or of one paper. The pages are ``README.md`` and
    ``NAME.md`` in ``docs``. Findings of another engine than the packet engine make ``NAME-ENGINE.md``, and no index.
    Raises `ValueError` if ``folder`` has no findings, or if the findings of a paper are incomplete.
    """
    cure = f"aqmlab reproduce all --out {folder}"
    files = sorted([*folder.glob(f"*/{FINDINGS}"), *folder.glob(FINDINGS)])
    if not files:
        raise ValueError(f"{folder}: no {FINDINGS} there; {cure} makes them")
    found = {file.parent: unsealed(file, KIND, cure) for file in files}
    for own, document in found.items():
        lacking = [] if document["measured"] else [*document["left_out"], *document["not_judged"]]
        if document["only"] or document["interrupted"] or lacking:
            raise ValueError(f"{own}: not all of {document['paper']} was done; aqmlab reproduce does the rest")
    for document in found.values():
        write_text(docs / f"{_name(document)}.md", page(document))
    if simulated := [document for document in found.values() if not document["measured"]]:
        listed = [document["paper"] for document in simulated if (docs / f"items/{document['paper']}.md").is_file()]
        measured = sorted(file.stem for document in simulated for file in docs.glob(f"{document['paper']}-*.md"))
        write_text(docs / "README.md", index(simulated, listed, measured))
    return [_name(document) for document in found.values()]


def _name(document: Document) -> str:
    """Return the name of a paper's page."""
    engine, _, _ = document["engine_name"].partition(":")
    return f"{document['paper']}-{engine}" if document["measured"] else str(document["paper"])


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
    lines = [
        f"- [{document['paper']}]({document['paper']}.md): {claim['text']} *{claim['where']}.* {claim['why']}"
        for document in documents
        for claim in document["claims"]
        if claim["verdict"] == Verdict.CONTRADICTED and not claim["beyond"]
    ]
    if lines:
        parts += ["## What does not hold", "\n".join(lines)]
    return "\n\n".join(parts) + "\n"


def page(document: Document) -> str:
    """Write the page on a paper, as Markdown: what the paper proposes, and the verdict on each of its claims."""
    document = _escaped(document)
    claims, measured = document["claims"], document["measured"]
    engine = f" --engine {document['engine_name']}" if measured else ""
    quick = ", quick: fewest points" if document["quick"] else ""
    own = [claim for claim in claims if not (claim["beyond"] or claim["arithmetic"])]
    parts = [
        f"# {document['title']}{', measured' if measured else ''}",
        f"*Generated from findings by `{'aqmlab reproduce' if measured else 'make reproduce'}`: "
        f"aqmlab {document['version']}, {texts.repeated(document)}{quick}.*",
        document["source"],
        measured["why"] if measured else document["about"],
        f"{counted(claims)}. [What the verdicts mean](README.md).",
        f"`aqmlab reproduce {document['paper']}{engine}` makes the report: the numbers, effect size and reason of each "
        "verdict, the figures and tables below, and every parameter, with our choice where the paper is silent.",
        "## Claims",
        table(["claim", "what it says", "verdict"], [[one["claim"], one["text"], one["verdict"]] for one in own]),
        "## Figures and tables",
        "\n".join(f"- {item['heading']}: {item['title']}" for item in document["items"]),
    ]
    if document["elsewhere"] and not measured:
        parts += ["## Left for later", document["elsewhere"]]
    return "\n\n".join(part for part in parts if part) + "\n"


if __name__ == "__main__":
    print(f"written: {', '.join(write(Path(sys.argv[1]), Path(sys.argv[2])))}")
