"""The bibliography, and the rule by which prose names its entries."""

from __future__ import annotations

import functools
import re
import tomllib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

AQMLAB = "aqmlab"
"""The key of aqmlab itself."""

_FIELDS = (
    *("journal", "booktitle", "series", "institution", "publisher"),
    *("volume", "number", "pages", "howpublished", "year", "version", "doi", "eprint", "url"),
)
"""The fields of an entry after author and title, in the order of the output."""

_RFC = re.compile(r"\bRFC (\d{4})((?:(?:,| and) \d{4})*)(?!\d)")
_DRAFT = re.compile(r"\bdraft-[a-z0-9-]*[a-z0-9]")
_QUOTED = re.compile(r'"([^"]+)"')

# The letters that the bibliography has beyond ASCII; a test writes all entries.
_TEX = {"&": r"\&", "_": r"\_", "ä": r"{\"a}", "ö": r"{\"o}", "é": r"{\'e}", "ø": r"{\o}", "ł": r"{\l}"}


@dataclass(frozen=True, kw_only=True)
class Entry:
    """A source: its fields in BibTeX, the phrases by which prose names it, and the folder of its scenarios if any."""

    key: str
    author: tuple[str, ...]
    title: str
    type: str = "misc"
    journal: str = ""
    booktitle: str = ""
    series: str = ""
    institution: str = ""
    publisher: str = ""
    volume: int | None = None
    number: int | str | None = None
    pages: str = ""
    howpublished: str = ""
    year: int | None = None
    version: str = ""
    doi: str = ""
    eprint: str = ""
    url: str = ""
    draft: str = ""
    named: tuple[str, ...] = ()
    paper: str = ""

    @property
    def rfc(self) -> str:
        """The number of an RFC; empty for anything else."""
        return self.key.removeprefix("rfc") if re.fullmatch(r"rfc\d{4}", self.key) else ""

    @property
    def fields(self) -> dict[str, str]:
        """The fields after author and title that are known, as text."""
        found = {name: str(value) for name in _FIELDS if (value := getattr(self, name))}
        if self.rfc:
            found |= {"howpublished": f"RFC {self.rfc}", "doi": f"10.17487/RFC{self.rfc}"}
        elif self.draft:
            address = f"https://datatracker.ietf.org/doc/{self.draft}/"
            found |= {"howpublished": f"Internet-Draft {self.draft}", "url": address}
        return {name: found[name] for name in _FIELDS if name in found}

    @property
    def surnames(self) -> list[str]:
        """The surnames of the authors."""
        return [name.partition(",")[0] for name in self.author]

    def bibtex(self) -> str:
        """Return the entry in BibTeX, in ASCII."""
        # A second pair of braces keeps capitals, and an organisation whole.
        authors = (_tex(name) if "," in name else f"{{{_tex(name)}}}" for name in self.author)
        fields = {"author": " and ".join(authors), "title": f"{{{_tex(self.title)}}}"}
        for name, value in self.fields.items():
            # Packages print the fields doi, eprint and url as they are.
            fields[name] = value if name in ("doi", "eprint", "url") else _tex(value)
            if name == "eprint":
                fields["archiveprefix"] = "arXiv"
        lines = [f"  {name} = {{{value}}}" for name, value in fields.items()]
        return f"@{self.type}{{{self.key},\n" + ",\n".join(lines) + "\n}"

    def text(self) -> str:
        """Return the entry as in a list of references."""
        return self._text(f'"{self.title}"')

    @property
    def origin(self) -> str:
        """The authors, the place and the year, as in a list of references: all but the title."""
        return self._text("")

    def _text(self, title: str) -> str:
        fields = self.fields
        venue = fields.get("journal") or fields.get("booktitle") or fields.get("institution") or ""
        number = fields.get("number", "")
        if series := fields.get("series"):
            venue += f", {series} {fields['volume']}"
        elif "volume" in fields:
            venue += f" {fields['volume']}" + (f"({number})" if number else "")
        elif number:
            venue += f", {number}"
        parts = [", ".join(map(_initials, self.author)), title, venue]
        parts += [fields.get("howpublished", ""), f"version {self.version}" if self.version else ""]
        parts += [f"pp. {fields['pages'].replace('--', '-')}" if "pages" in fields else "", fields.get("year", "")]
        parts += [f"doi:{fields['doi']}" if "doi" in fields else fields.get("url", "")]
        parts += [f"arXiv:{fields['eprint']}"] if "eprint" in fields else []
        return ", ".join(filter(None, parts))


@functools.cache
def bibliography() -> Mapping[str, Entry]:
    """Return all entries by their keys."""
    tables = tomllib.loads((Path(__file__).parent / "bibliography.toml").read_text(encoding="utf-8"))
    return {key: _entry(key, table) for key, table in tables.items()}


def _entry(key: str, table: dict[str, Any]) -> Entry:
    fields: dict[str, Any] = {name: tuple(value) if isinstance(value, list) else value for name, value in table.items()}
    return Entry(key=key, **fields)


def published(paper: str) -> Entry:
    """Return the entry of a shipped paper, given the name of its folder."""
    (found,) = (entry for entry in bibliography().values() if entry.paper == paper)
    return found


def named(prose: str) -> list[str]:
    """Return the keys of the entries that prose names, in the order in which it names them.

    It names an RFC or a draft by its number; a paper by the beginning of its title in quotes, or by its first author
    and the year; anything by a phrase of the entry's ``named``.
    """
    text = " ".join(prose.split())
    found: list[tuple[int, str]] = []
    for phrase, key in _phrases():
        for match in re.finditer(rf"(?<![\w-]){re.escape(phrase)}(?!\w)", text):
            found.append((match.start(), key))
            text = _without(text, match)  # "Linux of L4STeam" is not also "Linux"
    for matches in (_rfcs(text), _drafts(text), _titles(text), _authors(text)):
        found += matches
    return list(dict.fromkeys(key for _, key in sorted(found)))


def _rfcs(text: str) -> Iterator[tuple[int, str]]:
    entries = bibliography()
    for match in _RFC.finditer(text):
        before: Entry | None = None
        for number in [match[1], *re.findall(r"\d{4}", match[2])]:
            if before and str(before.year) == number:
                continue  # "RFC 8289, 2018": the year
            if before := entries.get(f"rfc{number}"):
                yield match.start(), before.key


def _drafts(text: str) -> Iterator[tuple[int, str]]:
    drafts = {entry.draft: key for key, entry in bibliography().items() if entry.draft}
    for match in _DRAFT.finditer(text):
        if match[0] in drafts:
            yield match.start(), drafts[match[0]]


def _titles(text: str) -> Iterator[tuple[int, str]]:
    for match in _QUOTED.finditer(text):
        quoted = match[1].casefold()
        end = r"(?!\w)" if " " in quoted else ":|$"  # a single word is a title, or all before its colon
        for key, entry in _papers():
            if re.match(re.escape(quoted) + f"(?:{end})", entry.title.casefold()):
                yield match.start(), key


def _authors(text: str) -> Iterator[tuple[int, str]]:
    for key, entry in _papers():
        if entry.year:
            for match in re.finditer(rf'\b{re.escape(entry.surnames[0])}\b[^;:()"]*?\b{entry.year}\b', text):
                if ". " not in match[0]:
                    yield match.start(), key


def _papers() -> list[tuple[str, Entry]]:
    """List the entries that have no number by which prose names them."""
    return [(key, entry) for key, entry in bibliography().items() if not (entry.rfc or entry.draft)]


@functools.cache
def _phrases() -> list[tuple[str, str]]:
    pairs = [(phrase, key) for key, entry in bibliography().items() for phrase in entry.named]
    return sorted(pairs, key=lambda pair: -len(pair[0]))


def _without(text: str, match: re.Match[str]) -> str:
    return text[: match.start()] + " " * len(match[0]) + text[match.end() :]


def _initials(name: str) -> str:
    """Write ``Floyd, Sally`` as ``S. Floyd``; keep an organisation."""
    last, comma, first = name.partition(", ")
    return " ".join([*(f"{part[0]}." for part in first.split()), last]) if comma else name


def _tex(text: str) -> str:
    """Write text in ASCII for TeX."""
    return "".join(_TEX.get(c, c) for c in text)
