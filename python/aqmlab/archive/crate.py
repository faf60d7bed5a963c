"""The description of an archive by RO-Crate, https://www.researchobject.org/ro-crate/."""

from __future__ import annotations

import re
from collections.abc import Mapping
from datetime import UTC, datetime
from pathlib import PurePosixPath
from typing import TYPE_CHECKING, Any

from aqmlab.archive.layout import CRATE, HEAD, PREVIEW
from aqmlab.files import json_text

if TYPE_CHECKING:
    from rocrate.rocrate import ROCrate

PROFILE = "1.2"
"""The version of RO-Crate."""

_TYPES = {
    ".csv": "text/csv",
    ".html": "text/html",
    ".json": "application/json",
    ".parquet": "application/vnd.apache.parquet",
    ".pcap": "application/vnd.tcpdump.pcap",
    ".png": "image/png",
    ".py": "text/x-python",
    ".svg": "image/svg+xml",
    ".toml": "application/toml",
}
_AUTHOR = re.compile(r"(?P<name>[^<>]*[^<>\s])\s*(?:<(?P<at>[^<>\s]+)>)?")
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
    crate.metadata.extra_terms["sha256"] = "https://schema.org/sha256"
    root = crate.root_dataset
    root["name"] = head["title"]
    root["description"] = describing(head)
    root["datePublished"] = head["date"]
    root["license"] = _license(crate, head["license"])
    root["author"] = [_author(crate, text) for text in head["authors"]]
    for name, size in sorted(sizes.items()):
        properties: dict[str, Any] = {"name": PurePosixPath(name).name, "contentSize": str(size)}
        if form := _TYPES.get(PurePosixPath(name).suffix):
            properties["encodingFormat"] = form
        if name in head["files"]:
            properties["sha256"] = head["files"][name]
        crate.add_file(dest_path=name, properties=properties)
    software = ContextEntity(
        crate,
        _SOFTWARE,
        properties={
            "@type": "SoftwareApplication",
            "name": "aqmlab",
            "softwareVersion": head["version"],
            "description": "A laboratory for Active Queue Management.",
            "license": {"@id": "https://spdx.org/licenses/Apache-2.0"},
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
            "description": f"{head['runs']} runs; {head['platform']}.",
        },
    )
    crate.add(action)
    root["mentions"] = [action]
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


def require(authors: list[str], license_: str) -> None:
    """Raise ValueError for an author or a licence that is not as it should be."""
    for text in authors:
        if not _AUTHOR.fullmatch(text):
            raise ValueError(f"{text!r}: an author is a name, or a name and an address: 'Ada <https://orcid.org/…>'")
    if not re.fullmatch(r"[A-Za-z0-9.+-]+|https?://\S+", license_):
        raise ValueError(f"{license_!r}: a licence is an SPDX identifier, as CC-BY-4.0, or the address of its text")


def _author(crate: ROCrate, text: str) -> Any:
    from rocrate.model.person import Person

    found = _AUTHOR.fullmatch(text)
    assert found  # as `require` has checked
    place = f"#{'-'.join(found['name'].split())}"
    return crate.add(Person(crate, found["at"] or place, properties={"name": found["name"]}))


def _license(crate: ROCrate, text: str) -> Any:
    from rocrate.model.contextentity import ContextEntity

    address = text if "://" in text else f"https://spdx.org/licenses/{text}"
    properties = {"@type": "CreativeWork", "name": text, "description": f"The licence {text}."}
    return crate.add(ContextEntity(crate, address, properties=properties))


def checksums(document: Mapping[str, Any]) -> dict[str, str]:
    """Return the SHA-256 that ``ro-crate-metadata.json`` states of files, by name."""
    return {one["@id"]: one["sha256"] for one in document["@graph"] if "sha256" in one}


def when(seconds: float) -> str:
    """Return a time as RO-Crate has it."""
    return datetime.fromtimestamp(int(seconds), UTC).isoformat()
