"""The authors and the publisher of an archive, as a user writes them."""

from __future__ import annotations

import re
from dataclasses import dataclass

_FORM = re.compile(r"(?P<name>[^<>()]*[^<>()\s])(?P<at>(?:\s*<[^<>\s]+>){0,2})\s*(?:\((?P<of>[^<>()]+)\))?")
_AT = re.compile(r"<([^<>\s]+)>")


@dataclass(frozen=True)
class Party:
    """A person or an organisation: the name, the address of a page on it, the mail address, and an affiliation.

    All but the name may be empty.
    """

    name: str
    page: str = ""
    mail: str = ""
    affiliation: str = ""

    @classmethod
    def parse(cls, text: str) -> Party:
        """Read ``Ada Lovelace <ada@example.org> <https://orcid.org/…> (University of London)``, or the name alone.

        Raise ValueError if it has another form.
        """
        found = _FORM.fullmatch(text.strip())
        places = _AT.findall(found["at"]) if found else []
        page, *pages = [one for one in places if re.match(r"https?://.", one)] or [""]
        mail, *mails = [one for one in places if re.fullmatch(r"[^@/]+@[^@/]+", one)] or [""]
        if not found or pages or mails or len(list(filter(None, [page, mail]))) < len(places):
            raise ValueError(
                f"{text!r}: must be a name, with a mail address, the address of a page and an affiliation if you "
                "like: 'Ada Lovelace <ada@example.org> <https://orcid.org/…> (University of London)'"
            )
        return cls(found["name"].strip(), page, mail, (found["of"] or "").strip())

    @property
    def id(self) -> str:
        """Its identifier in an RO-Crate."""
        return self.page or f"#{'-'.join(self.name.split())}"
