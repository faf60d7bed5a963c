"""Write the pages on papers from their findings: ``python -m aqmlab_papers.show.pages FOLDER DOCS``.

For each paper ``DOCS/NAME.md`` is what a person wrote in its ``page.md``, with the verdicts and numbers filled in, and
``DOCS/claims/NAME.md`` has all claims. The report beside the findings has the rest: figures, tables and parameters.
"""

import csv
import re
import shutil
import sys
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import Any

import jinja2

from aqmlab.files import write_text
from aqmlab.kinds import FINDINGS as KIND
from aqmlab.reports.pages import table
from aqmlab.sealed import unsealed
from aqmlab_papers.describe import library
from aqmlab_papers.describe.check import Outcome
from aqmlab_papers.describe.verdict import Verdict
from aqmlab_papers.show import texts
from aqmlab_papers.show.terminal import counted
from aqmlab_papers.show.texts import FINDINGS

Document = Mapping[str, Any]

PAGE = "page.md"
"""The file of a paper's page, as its author writes it: Markdown with calls of the functions of `filled`."""


def write(folder: Path, docs: Path) -> list[str]:
    """Write the pages of each reproduced paper, and the indexes; return the names of the pages.

    ``folder`` has the output of ``aqmlab reproduce all --out``, or of one paper. Findings of another engine than the
    packet engine make ``claims/NAME-ENGINE.md``, and no index. Raises `ValueError` if ``folder`` has no findings, or if
    the findings of a paper are incomplete.
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
    opened = []
    for own, document in sorted(found.items(), key=lambda one: not one[1]["measured"]):
        beside = {} if document["measured"] else _on_real_hosts(docs, document["paper"])
        write_text(docs / "claims" / f"{_name(document)}.md", claims(document, beside))
        template = library.folder(document["paper"]) / PAGE
        if not document["measured"] and template.is_file():
            text = filled(template, Filling(document, beside, own))
            write_text(docs / f"{document['paper']}.md", text)
            opened.append((document, text))
            for figure in re.findall(r"\]\(([\w-]+\.png)\)", text):
                shutil.copyfile(own / figure.removeprefix(f"{document['paper']}-"), docs / figure)
    if opened:
        write_text(docs / "README.md", index(opened))
        # Those of other engines are there from runs of their own.
        pages = {file.stem for file in (docs / "claims").glob("*.md")} - {"README"}
        write_text(docs / "claims" / "README.md", _meaning(pages))
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


class Filling:
    """The functions that fill the gaps of a paper's page from its findings; an unknown name is a `KeyError`."""

    def __init__(self, document: Document, beside: Mapping[str, str], folder: Path) -> None:
        self._document = _escaped(document)
        self._claims = {claim["claim"]: claim for claim in self._document["claims"]}
        self._items = {item["name"]: item for item in self._document["items"]}
        self._elsewhere = beside
        self._folder = folder

    def source(self) -> str:
        """Return the authors and the place of publication."""
        return str(self._document["source"])

    def counts(self) -> str:
        """Return the number of claims with each verdict, and where to read what these words mean."""
        return f"{counted(self._document['claims'])} ([verdicts, parts, robust, ± explained](claims/README.md))"

    def headline(self, name: str) -> str:
        """Return a claim in the paper's words, with its place, its verdict, and how far and how robustly it holds."""
        claim = self._claims[name]
        known = {"robust": robust(self._document, name), "on real hosts": self._elsewhere.get(name, "")}
        more = "".join(f"; {words} {text}" for words, text in known.items() if text)
        if len(claim["checks"]) > 1:
            unsure = [check for check in claim["checks"] if check["outcome"] == Outcome.OPEN]
            more = f": {self.parts(name)} parts hold{f', {len(unsure)} open' if unsure else ''}{more}"
        return f"> {claim['quote']} ({claim['where']})\n\n**{claim['verdict'].capitalize()}**{more}."

    def parts(self, name: str, outcome: str = "holds") -> str:
        """Return how many parts of a claim have an outcome: ``9 of 10``."""
        checks = self._claims[name]["checks"]
        return f"{sum(check['outcome'] == outcome for check in checks)} of {len(checks)}"

    def part(self, name: str, effect: str, beside: bool = False) -> str:
        """Return the number of the part of a claim with this name, or of the one whose name has these words.

        It comes with its interval and unit.
        """
        return texts.estimate(self._check(name, effect, beside))

    def varied(self, variant: str, name: str, effect: str) -> str:
        """Return the number of the part of a claim in a variant."""
        rulings = {found["variant"]: found["claims"] for found in self._document["sensitivity"]}[variant]
        return texts.estimate(_part({ruling["claim"]: ruling["checks"] for ruling in rulings}[name], name, effect))

    def times(self, name: str, effect: str, beside: bool = False) -> str:
        """Return a part in orders of magnitude as the factor that it is."""
        return texts.number(10 ** self._check(name, effect, beside)["value"], 2)

    def _check(self, name: str, effect: str, beside: bool) -> Document:
        return _part(self._claims[name]["beside" if beside else "checks"], name, effect)

    def cell(self, table: str, row: str, column: str) -> str:
        """Return the number in a table of the report, in the row that begins with these words."""
        text = (self._folder / f"{table}.csv").read_text(encoding="utf-8")
        rows = {next(iter(one.values())): one for one in csv.DictReader(text.splitlines())}
        return texts.number(float(rows[row][column]), 3)

    def drawn(self, figure: str, curve: str, number: int, panel: str = "") -> str:
        """Return the height of a point in a figure of the report, by its place on the curve: 0 the first, -1 the last.

        A curve that has no such point is a `KeyError`.
        """
        text = (self._folder / f"{figure}.csv").read_text(encoding="utf-8")
        rows = csv.DictReader(text.splitlines())
        found = [row["y"] for row in rows if (row["panel"], row["curve"]) == (panel, curve)]
        if not -len(found) <= number < len(found):
            raise KeyError(f"{figure}: {curve} has {len(found)} points in panel {panel!r}, not {number}")
        return texts.number(float(found[number]), 3)

    def figure(self, name: str, words: str) -> str:
        """Return a figure of the report, with words about it."""
        return f"![{words}]({self._document['paper']}-{self._items[name]['name']}.png)"


def _part(checks: list[Document], name: str, effect: str) -> Document:
    """Return the part of a claim with this name, or the one whose name has these words."""
    # A whole name goes first: "… over PI" is also a part of "… over PI*".
    found = [check for check in checks if check["effect"] == effect] or [
        check for check in checks if effect in check["effect"]
    ]
    if len(found) != 1:
        raise KeyError(f"{name}: {len(found)} parts have {effect!r}: {[check['effect'] for check in checks]}")
    return found[0]


def filled(template: Path, filling: object) -> str:
    """Fill the gaps of a page with the public methods of an object such as `Filling`."""
    strict = jinja2.Environment(undefined=jinja2.StrictUndefined, keep_trailing_newline=True, autoescape=False)
    functions: dict[str, Callable[..., str]] = {
        name: getattr(filling, name) for name in vars(Filling) if not name.startswith("_")
    }
    return strict.from_string(template.read_text(encoding="utf-8")).render(functions)


def index(opened: Iterable[tuple[Document, str]]) -> str:
    """Write the index of all papers, as Markdown, from their findings and pages."""
    parts = [
        "# Papers",
        "Every figure, table and claim of these papers, run again. `aqmlab reproduce` lists them, `aqmlab reproduce "
        "NAME` does one. [What the verdicts mean](claims/README.md).",
    ]
    for document, page in opened:
        name, short = document["paper"], page.split("\n\n")[1].replace("\n", " ")
        parts.append(
            f"**[{_escaped(document['title'])}]({name}.md)**: {short} *{counted(document['claims'])}* "
            f"([all claims](claims/{name}.md), [checklist](items/{name}.md))."
        )
    return "\n\n".join(parts) + "\n"


def _meaning(names: Iterable[str]) -> str:
    links = ", ".join(f"[{name}]({name}.md)" for name in sorted(names))
    head = ["# Claims", "*Generated from findings by `make reproduce`.*", f"All claims of {links}."]
    return "\n\n".join([*head, texts.MEANING, texts.ROBUST]) + "\n"


def listed(page: Path) -> dict[str, str]:
    """Read the verdicts from a page of `claims`, by the names of the claims."""
    rows = [line.split(" | ") for line in page.read_text(encoding="utf-8").splitlines() if line.startswith("| ")]
    return {row[0].removeprefix("| "): row[3] for row in rows if row[3] in {*Verdict}}


def _on_real_hosts(docs: Path, paper: str) -> dict[str, str]:
    """Return the verdicts of a paper's measurement on another engine, as its page has them; empty if there is none."""
    return {name: one for page in docs.glob(f"claims/{paper}-*.md") for name, one in listed(page).items()}


def _verdicts(document: Document) -> dict[str, str]:
    """Return the verdicts of findings by the names of the claims."""
    return {claim["claim"]: claim["verdict"] for claim in document["claims"]}


def robust(document: Document, name: str) -> str:
    """Return in how many of the other settings that decide a claim it has its verdict: ``7 of 9``.

    The chosen setting stands first in the sensitivity table, with the seeds and points of the others. Where it comes to
    another verdict with these, so may they, and nothing is counted. A setting that changes none of the claim's numbers
    does not count.
    """
    own = _verdicts(document)[name]
    chosen, *others = [_of(setting, name) for setting in document["sensitivity"]] or [None]
    differ = [one for one in others if one and (chosen is None or _numbers(one) != _numbers(chosen))]
    decided = [one["verdict"] for one in differ if one["verdict"] != Verdict.UNDECIDED]
    alike = chosen is None or chosen["verdict"] in (own, Verdict.UNDECIDED)
    judged = alike and own not in (Verdict.UNDECIDED, Verdict.NOT_TESTABLE)
    return f"{decided.count(own)} of {len(decided)}" if decided and judged else ""


def _of(setting: Document, name: str) -> Document | None:
    return next((claim for claim in setting["claims"] if claim["claim"] == name), None)


def _numbers(claim: Document) -> list[float | None]:
    return [check["value"] for check in claim["checks"]]


def claims(document: Document, beside: Mapping[str, str]) -> str:
    """Write all claims of a paper, as Markdown, with the verdicts of another engine ``beside`` those of this one."""
    document, measured = _escaped(document), document["measured"]
    engine = f" --engine {document['engine_name']}" if measured else ""
    quick = ", quick: fewest points" if document["quick"] else ""
    headings = {item["name"]: item["heading"] for item in document["items"]}
    columns: dict[str, Callable[[Document], str]] = {
        "claim": lambda one: one["claim"],
        "what it says": lambda one: one["text"],
        "where": lambda one: one["where"],
        "verdict": lambda one: one["verdict"],
    }
    if not measured:
        columns["robust"] = lambda one: robust(document, one["claim"])
    if beside:
        columns["on real hosts"] = lambda one: beside.get(one["claim"], "")
    columns["why"] = lambda one: one["why"]
    columns["shown by"] = lambda one: ", ".join(headings[name] for name in one["shown"] if name in headings)
    parts = [
        f"# {document['title']}: all claims{', on real hosts' if measured else ''}",
        f"*Generated from findings by `{'aqmlab reproduce' if measured else 'make reproduce'}`: "
        f"aqmlab {document['version']}, {texts.repeated(document)}{quick}.*",
        document["source"],
        measured["why"] if measured else document["about"],
        f"{counted(document['claims'])}. [What the verdicts mean](README.md).",
        f"`aqmlab reproduce {document['paper']}{engine}` makes the report: numbers, effect size and settings of each "
        "verdict, figures and tables, and every parameter, with our choice where the paper is silent.",
    ]
    own = [claim for claim in document["claims"] if not (claim["beyond"] or claim["arithmetic"])]
    for title, chosen in (("The paper's", own), ("Ours", [one for one in document["claims"] if one["beyond"]])):
        if chosen:
            rows = [[text(one) for text in columns.values()] for one in chosen]
            parts += [f"## {title}", table(list(columns), rows)]
    if document["elsewhere"] and not measured:
        parts += ["## Left for later", document["elsewhere"]]
    return "\n\n".join(part for part in parts if part) + "\n"


if __name__ == "__main__":
    print(f"written: {', '.join(write(Path(sys.argv[1]), Path(sys.argv[2])))}")
