"""The description of an archive by RO-Crate, https://www.researchobject.org/ro-crate/."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from datetime import UTC, datetime
from pathlib import PurePosixPath
from typing import TYPE_CHECKING, Any
from urllib.parse import unquote

from aqmlab.archive import LICENSE
from aqmlab.archive.layout import CRATE, HEAD, PREVIEW
from aqmlab.archive.people import Party
from aqmlab.files import json_text

if TYPE_CHECKING:
    from rocrate.rocrate import ROCrate

PROFILE = "1.2"
"""The version of RO-Crate."""

_TYPES = {
    ".csv": ("text/csv", "A table, for people and other programs."),
    ".html": ("text/html", "A page that opens in a browser."),
    ".json": ("application/json", "The content of a report, or of a result, as data."),
    ".parquet": ("application/vnd.apache.parquet", "A table of runs, or of what a figure shows or a run recorded."),
    ".pcap": ("application/vnd.tcpdump.pcap", "A recording that a scenario replays."),
    ".png": ("image/png", "A figure."),
    ".py": ("text/x-python", "A queue discipline of the author's."),
    ".svg": ("image/svg+xml", "A figure."),
    ".toml": ("application/toml", "The scenario of a run."),
}
"""The type of each kind of file, and a sentence on it."""

_OTHER = "Part of the results."
_SOFTWARE = "#aqmlab"


def metadata(head: Mapping[str, Any], sizes: Mapping[str, int]) -> bytes:
    """Return the content of ``ro-crate-metadata.json`` for an archive with this head and these files.

    Raise ImportError without the library, and ValueError for an author without a name.
    """
    try:
        from rocrate.model.contextentity import ContextEntity
        from rocrate.rocrate import ROCrate
    except ImportError as error:
        raise ImportError("seal needs rocrate: pip install 'aqmlab[archive]'", name="rocrate") from error

    crate = ROCrate(version=PROFILE)
    root = crate.root_dataset
    root["name"] = head["title"]
    root["description"] = describing(head)
    root["datePublished"] = head["date"]
    root["license"] = _license(crate, head["license"])
    if authors := [_person(crate, Party.parse(text)) for text in head["authors"]]:
        root["author"] = authors if len(authors) > 1 else authors[0]
    if head["publisher"]:
        root["publisher"] = _organisation(crate, Party.parse(head["publisher"]))
    for name, size in sorted(sizes.items()):
        if name == PREVIEW:  # part of the description, not of what is described
            continue
        form, about = _TYPES.get(PurePosixPath(name).suffix, ("application/octet-stream", _OTHER))
        properties = {"name": PurePosixPath(name).name, "description": about}
        properties |= {"contentSize": str(size), "encodingFormat": form}
        if name in head["files"]:
            properties["sha256"] = head["files"][name]
        crate.add_file(dest_path=name, properties=properties)
    software = ContextEntity(
        crate,
        _SOFTWARE,
        properties={
            "@type": "CreativeWork",
            "name": "aqmlab",
            "version": head["version"],
            "description": "A laboratory for Active Queue Management.",
            "license": {"@id": _address(LICENSE)},
        },
    )
    crate.add(software)
    action = ContextEntity(
        crate,
        "#runs",
        properties={
            "@type": "CreateAction",
            "name": head["command"] or f"{head['kind']} of aqmlab",
            "instrument": {"@id": _SOFTWARE},
            "result": {"@id": head["head"]},
            "endTime": head["date"],
            "description": f"{head['runs']} runs.",
        },
    )
    crate.add(action)
    root["mentions"] = action
    return json_text(crate.metadata.generate()).encode()


def describing(head: Mapping[str, Any]) -> str:
    """Describe an archive in a few sentences."""
    parts = [f"{head['kind'].capitalize()} of aqmlab {head['version']}: {head['runs']} runs."]
    if head["source"]:
        parts.append(f"Source: {head['source']}.")
    if head["verdicts"]:
        parts.append("Verdicts: " + ", ".join(f"{count} {name}" for name, count in head["verdicts"].items()) + ".")
    parts.append(f"{HEAD} has the SHA-256 of every file, {PREVIEW} is the page for readers.")
    return " ".join(parts)


def require(parties: Iterable[str], license_: str) -> None:
    """Raise ValueError for an author, a publisher or a licence that is not as it should be."""
    for text in parties:
        Party.parse(text)
    if not re.fullmatch(r"[A-Za-z0-9.+-]+|https?://\S+", license_):
        raise ValueError(f"{license_!r}: a licence is an SPDX identifier, as CC-BY-4.0, or the address of its text")


def _person(crate: ROCrate, party: Party) -> Any:
    from rocrate.model.person import Person

    person = crate.add(Person(crate, party.id, properties={"name": party.name}))
    if party.mail:
        person["email"] = party.mail
        person["contactPoint"] = _contact(crate, party)
    if party.affiliation:
        person["affiliation"] = _organisation(crate, Party(party.affiliation))
    return person


def _organisation(crate: ROCrate, party: Party) -> Any:
    from rocrate.model.contextentity import ContextEntity

    properties = {"@type": "Organization", "name": party.name}
    organisation = crate.add(ContextEntity(crate, party.id, properties=properties))
    if party.mail:
        organisation["contactPoint"] = _contact(crate, party)
    return organisation


def _contact(crate: ROCrate, party: Party) -> Any:
    from rocrate.model.contextentity import ContextEntity

    properties = {"@type": "ContactPoint", "contactType": "author", "email": party.mail}
    return crate.add(ContextEntity(crate, f"mailto:{party.mail}", properties=properties))


def _license(crate: ROCrate, text: str) -> Any:
    from rocrate.model.contextentity import ContextEntity

    properties = {"@type": "CreativeWork", "name": text, "description": f"The licence {text}."}
    return crate.add(ContextEntity(crate, _address(text), properties=properties))


def _address(text: str) -> str:
    """Return the address of a licence, given that or its SPDX identifier."""
    return text if "://" in text else f"https://spdx.org/licenses/{text}"


def require_same(document: Mapping[str, Any], head: Mapping[str, Any]) -> None:
    """Refuse a description whose title, date, licence or authors are not those of the head."""
    entities = {one["@id"]: one for one in document["@graph"]}
    root = entities["./"]
    authors = root.get("author", [])
    names = [entities[one["@id"]]["name"] for one in (authors if isinstance(authors, list) else [authors])]
    found = {
        "title": root["name"],
        "date": root["datePublished"],
        "license": entities[root["license"]["@id"]]["name"],
        "authors": names,
    }
    wanted = {name: head[name] for name in found} | {"authors": [Party.parse(text).name for text in head["authors"]]}
    for name, value in found.items():
        if value != wanted[name]:
            raise ValueError(f"{CRATE}: {name} = {value!r}: {HEAD} has {wanted[name]!r}")


def checksums(document: Mapping[str, Any]) -> dict[str, str]:
    """Return the SHA-256 that ``ro-crate-metadata.json`` states of files, by name."""
    return {unquote(one["@id"]): one["sha256"] for one in document["@graph"] if "sha256" in one}


def when(seconds: float) -> str:
    """Return a time as RO-Crate has it."""
    return datetime.fromtimestamp(int(seconds), UTC).isoformat()
