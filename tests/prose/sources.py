"""The passages of English in the project: pages, docstrings and help texts in Python, documentation in Rust."""

import ast
import inspect
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).parents[2]

# Pages made from data or from Rust are checked where their text is written.
GENERATED = (
    "docs/reference/",
    "docs/papers/",
    "docs/evaluation/all.md",
    "docs/evaluation/papers.md",
    "docs/evaluation/l4s.md",
)

FILES = [
    *(
        file
        for pattern in ("*.md", "docs/**/*.md")
        for file in sorted(ROOT.glob(pattern))
        if not file.relative_to(ROOT).as_posix().startswith(GENERATED)
    ),
    *sorted(ROOT.glob("python/aqmlab/**/*.py")),
    *sorted(ROOT.glob("papers/**/*.py")),
    *sorted(ROOT.glob("papers/**/page.md")),
    ROOT / "js" / "README.md",
    *sorted(ROOT.glob("crates/**/*.rs")),
]


@dataclass(frozen=True)
class Passage:
    """A text in Markdown, and the line of its file at which it begins."""

    file: str
    line: int
    text: str


def passages(file: Path) -> Iterator[Passage]:
    name = file.relative_to(ROOT).as_posix()
    text = file.read_text(encoding="utf-8")
    if file.suffix == ".md":
        yield Passage(name, 1, page(text))
    elif file.suffix == ".py":
        for line, part in docstrings(text):
            yield Passage(name, line, docstring(part))
    elif file.suffix == ".rs":
        for line, part in doc_comments(text):
            yield Passage(name, line, page(part))


def docstrings(source: str) -> Iterator[tuple[int, str]]:
    """Yield each docstring of modules, classes, functions and attributes, and each ``help=`` text, with its line."""
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant) and isinstance(node.value.value, str):
            yield node.lineno, node.value.value
        elif isinstance(node, ast.Call):
            for keyword in node.keywords:
                if keyword.arg == "help":
                    # Of an f-string its constant parts, with a name in each gap.
                    parts = keyword.value.values if isinstance(keyword.value, ast.JoinedStr) else [keyword.value]
                    text = (str(part.value) if isinstance(part, ast.Constant) else "`x`" for part in parts)
                    yield keyword.value.lineno, "".join(text)


_DOC_COMMENT = re.compile(r"^[ \t]*(//[!/])(?!/).*\n(?:[ \t]*\1(?!/).*\n)*", re.MULTILINE)
_MARKER = re.compile(r"^[ \t]*//[!/] ?", re.MULTILINE)
_DOC_FIELD = re.compile(r'\bdoc: "((?:[^"\\]|\\.)*)"')
_NO_PROSE = re.compile(
    r"^```.*?^```$|^# Sources\n.*?(?=^# |\Z)|^Sources: .*?(?=\n\n|\Z)", re.MULTILINE | re.DOTALL
)  # code; names and titles


# A span of code, or an identifier, a file or a quoted value outside one.
_CODE = re.compile(r'`[^`]*`|\b\w*_\w*|[\w/.-]+\.(?:cc|[ch]|rs|ned)\b|\b\w+(?:::\w+)+|"[\w.-]+"')


def doc_comments(source: str) -> Iterator[tuple[int, str]]:
    """Yield each documentation comment of a Rust source, and each ``doc: "…"`` of a signal, with its line."""
    for match in _DOC_COMMENT.finditer(source):
        text = _NO_PROSE.sub(lambda found: "\n" * found[0].count("\n"), _MARKER.sub("", match[0]))
        yield source.count("\n", 0, match.start()) + 1, _CODE.sub(lambda found: f"`{found[0].strip('`')}`", text)
    for match in _DOC_FIELD.finditer(source):
        yield source.count("\n", 0, match.start()) + 1, re.sub(r"\\\n\s*", "", match[1])


_MATHS = re.compile(r"\$\$.*?\$\$|\$[^$\n]+\$", re.DOTALL)
# What commands print is checked where the text is written.
_OUTPUT = re.compile(r"^```console\n.*?^```$|^<!-- printed: .*?^```$", re.DOTALL | re.MULTILINE)
# A page's gap, which findings fill.
_GAP = re.compile(r"{{.*?}}", re.DOTALL)
_TARGET = re.compile(r"(?<=\])\([^)\s]*\)")
_NUMPYDOC = re.compile(
    r"^(Parameters|Returns|Yields|Raises|Attributes|Notes|References|Examples)\n-+$"  # a section's title
    r"|^[*\w][\w*, .]* : .*$"  # a parameter and its type
    r"|^[\w.,| \[\]]+$(?=\n {4})"  # a type alone, as under Returns and Raises
    r"|^(>>>|\.\.\.) .*$",
    re.MULTILINE,
)


def page(text: str) -> str:
    """Return a page with its mathematics as code, which Harper skips, and without outputs and the targets of links."""
    text = _GAP.sub(lambda found: "`x`" + "\n" * found[0].count("\n"), _TARGET.sub("", text))
    text = _OUTPUT.sub(lambda found: "\n" * found[0].count("\n"), text)
    return _MATHS.sub(lambda found: f"`{found[0][1:-1]}`", text)


def docstring(text: str) -> str:
    """Return a docstring as Markdown: numpydoc's titles, names and types are blank, descriptions are not indented."""
    text = _NUMPYDOC.sub(lambda found: "\n" * found[0].count("\n"), inspect.cleandoc(text))
    return page(re.sub(r"^ {4}", "", text, flags=re.MULTILINE))
