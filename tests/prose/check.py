"""What is wrong with a passage: Harper's findings and the banned phrases."""

import multiprocessing
import re
import tomllib
from collections.abc import Iterable, Sequence
from functools import cache
from pathlib import Path

import harper

from prose.sources import Passage

HERE = Path(__file__).parent
WORDS = HERE / "words.txt"

# Rules that misread technical prose: a sentence may begin with a symbol, s is a unit, i an index.
OFF = frozenset((HERE / "off.txt").read_text(encoding="utf-8").split())


@cache
def words() -> frozenset[str]:
    return frozenset(WORDS.read_text(encoding="utf-8").split())


@cache
def linter() -> harper.Linter:
    made = harper.Linter(harper.Dialect.BRITISH)
    rules = made.get_lint_config()
    assert set(rules) >= OFF, sorted(OFF - set(rules))
    made.set_lint_config({**rules, **dict.fromkeys(OFF, False)})
    made.import_words(sorted(words()))
    return made


@cache
def banned() -> list[tuple[re.Pattern[str], str]]:
    table = tomllib.loads((HERE / "banned.toml").read_text(encoding="utf-8"))
    return [(re.compile(entry["phrase"], re.MULTILINE), entry["instead"]) for entry in table["banned"]]


def violations(passages: Sequence[Passage]) -> list[str]:
    """Return each finding as a line: file, line, words, remedy."""
    with multiprocessing.Pool() as pool:
        found = pool.map(_of_one, passages, chunksize=8)
    return [line for lines in found for line in lines]


def _of_one(passage: Passage) -> list[str]:
    found = []
    for pattern, instead in banned():
        for match in pattern.finditer(passage.text):
            found.append((match.start(), match[0], f"write {instead}"))
    for lint in linter().lint(passage.text):
        # A genitive, a symbol before a full stop, or a word that Harper knows in other letters: kB.
        if re.sub(r"('s|\.)$", "", lint.problem_text) in words():
            continue
        found.append((lint.span.start, lint.problem_text, lint.message))
    lines = []
    for start, part, remedy in sorted(found):
        line = passage.line + passage.text.count("\n", 0, start)
        lines.append(f"{passage.file}:{line}: {' '.join(part.split())!r}: {remedy}")
    return lines


def unused_words(passages: Iterable[Passage]) -> list[str]:
    """Return the words of the dictionary that no passage has."""
    text = " ".join(passage.text for passage in passages)
    return [f"tests/prose/words.txt: {word} occurs nowhere" for word in sorted(words()) if word not in text]
