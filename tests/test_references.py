"""The bibliography: every source that a head names is in it, every entry is named, and its BibTeX is BibTeX."""

import re
import tomllib
import unicodedata
from collections.abc import Iterator
from pathlib import Path

import pytest
import yaml

from aqmlab.execute.engine import ENGINES
from aqmlab.references.bibliography import AQMLAB, bibliography, named
from aqmlab.references.used import NEEDS, heads, sources
from aqmlab.results.metrics import METRICS
from aqmlab.scenario import catalogue

ROOT = Path(__file__).parents[1]
NETSIM = ROOT / "crates/netsim/src"

# The Rust files whose heads the catalogue does not include, by their kind and name in heads.toml.
FILES = {
    ("traffic", "dash"): ["traffic/player.rs"],
    ("traffic", "fgn"): ["traffic/noise.rs"],
    ("traffic", "tfrc"): ["tfrc.rs"],
    ("flavour", "rack"): [
        "tcp/rack.rs",
        *(f"tcp/rack/{name}.rs" for name in ("accurate", "rate", "receiver", "rtt")),
    ],
    ("engine", "fluid"): ["../../fluid/src/engine.rs"],
    **{
        ("congestion", file.stem): [f"tcp/congestion/{file.name}"]
        for file in sorted((NETSIM / "tcp/congestion").glob("*.rs"))
        if file.stem != "user_defined"
        if file.stem not in ("classic", "control", "growth")  # what several of them have in common
    },
}

# Capitals in prose that are no sources: beginnings of sentences, terms of the field, numbers of sections.
TERMS = """
Tested Each Whole The Fast Selective Losses Otherwise III VII ECN ECT ACK ACKs TCP SACK BBR CUBIC DCTCP
LEDBAT HyStart NewReno RACK-TLP F-RTO PRR Prague Accurate PI COBALT Fractional Gaussian Runge-Kutta Tp N_R
R_R RED GRED GRED-I NLRED RedDropper Steps For By With ToN ONR E-model Ie Bpl Voice Mean Responsiveness None
Of Quality Mbit
"""


def head(file: str) -> str:
    """Return the comment at the head of a Rust file."""
    lines = (NETSIM / file).read_text(encoding="utf-8").splitlines()
    return "\n".join(line[3:].strip() for line in lines if line.startswith("//!"))


def named_sources(text: str) -> str:
    """Return the paragraph on sources of a head; the whole head if it has none."""
    found = re.search(r"(?:# Sources|Sources?:|Read for facts:)(.*?)(?:\n\n|\n# |\Z)", text, re.DOTALL)
    return found[1] if found else text


def prose() -> Iterator[tuple[str, str]]:
    """Yield every text from which `aqmlab cite` reads sources, with its place."""
    listed = catalogue()
    for one in listed["aqms"]:
        yield f"queue discipline {one['name']}", sources(one["doc"])
    for one in listed["tcps"]:
        yield f"tcp {one['name']}", one["summary"]
    for name in NEEDS:
        yield f"metric {name}", METRICS[name].definition
    for (kind, name), files in FILES.items():
        for file in files:
            yield f"{kind} {name}, {file}", named_sources(head(file))


PROSE = dict(prose())


def unknown(text: str) -> list[str]:
    """List what looks like a source in prose and belongs to no entry that the prose names.

    The rule is another than that of `named`: years, quoted titles, and any word with a capital.
    """
    entries = [bibliography()[key] for key in named(text)]
    text = re.sub(r"```.*?```|`[^`]*`", "", " ".join(text.split()))
    for phrase in sorted((phrase for entry in entries for phrase in entry.named), key=len, reverse=True):
        text = text.replace(phrase, " ")
    quoted = re.findall(r'"([^"]*)"', text)
    titles = [entry.title.casefold() for entry in entries]
    found = [one for one in quoted if not any(title.startswith(one.casefold()) for title in titles)]
    text = re.sub(r'"[^"]*"|draft-[\w-]*\w|bbrv3-[\d-]+', " ", text)
    numbers = {entry.rfc for entry in entries} | {str(entry.year) for entry in entries} | {"1000"}
    found += [number for number in re.findall(r"\b\d{4}\b", text) if number not in numbers]
    venues = " ".join(word for entry in entries for word in [*entry.author, *entry.fields.values()])
    known = set(TERMS.split()) | set(re.findall(r"[\w-]+", plain(venues)))
    return found + [word for word in re.findall(r"(?<![\w.])[A-Z][\w-]+", plain(text)) if word not in known]


def plain(text: str) -> str:
    """Leave out accents, as some heads do."""
    return unicodedata.normalize("NFD", text).encode("ascii", "ignore").decode()


@pytest.mark.parametrize("place", PROSE)
def test_every_source_that_a_head_names_is_in_the_bibliography(place: str) -> None:
    assert unknown(PROSE[place]) == []


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("RFC 8033; OPNET, red.c.", ["OPNET"]),
        ("RFC 8033; RFC 1149.", ["1149"]),
        ('Doe, "On queues", INFOCOM 2031; Linux 7.2.', ["On queues", "2031", "Doe", "INFOCOM"]),
        ('Floyd, Jacobson, "Random early detection gateways", 1993, and Doe, 1994.', ["1994", "Doe"]),
    ],
)
def test_a_source_without_an_entry_is_found(text: str, found: list[str]) -> None:
    assert unknown(text) == found


def test_every_entry_is_used() -> None:
    used = {key for text in PROSE.values() for key in named(text)}
    parameters = [one for tcp in catalogue()["tcps"] for one in tcp["parameters"]]
    used |= {key for one in parameters for key in named(one["doc"])}
    used |= {key for kind in ENGINES.values() for key in named(kind.summary)}
    papers = {key for key, entry in bibliography().items() if entry.paper}
    assert bibliography().keys() - used - papers == {AQMLAB}


def test_the_keys_of_heads_are_those_that_the_heads_name() -> None:
    listed = {(kind, name): list(keys) for kind, table in heads().items() for name, keys in table.items()}
    assert listed.keys() == FILES.keys()
    for place, files in FILES.items():
        keys = [key for file in files for key in named(named_sources(head(file)))]
        assert sorted(listed[place]) == sorted(set(keys)), place


def test_every_discipline_has_sources() -> None:
    for one in catalogue()["aqms"]:
        assert named(sources(one["doc"])), one["name"]


def test_every_congestion_control_has_sources() -> None:
    (allowed,) = {
        one["allowed"] for tcp in catalogue()["tcps"] for one in tcp["parameters"] if one["name"] == "congestion"
    }
    assert set(allowed.removeprefix("one of ").split(", ")) == heads()["congestion"].keys()


def test_metrics_need_the_traffic_that_their_definitions_name() -> None:
    kinds = {one["name"] for one in catalogue()["traffic"]}
    for name, needs in NEEDS.items():
        assert set(re.findall(r"`(\w+)`", METRICS[name].definition)) & kinds == set().union(*needs)


@pytest.mark.parametrize(
    ("text", "keys"),
    [
        ("RFC 8289, 2018; RFC 2018.", ["rfc8289", "rfc2018"]),  # the year of the one is the number of the other
        ("RFC 9438, 8985 and 5681", ["rfc5681", "rfc8985", "rfc9438"]),
        ("Linux of L4STeam, tcp_prague.c", ["l4steam-linux"]),
        ("Linux 7.2, sch_red.c; ns-2's red.cc, ns-3's too", ["linux", "ns2", "ns3"]),
        ("Fast retransmit (Jacobson 1988)", ["jacobson1988congestion"]),
        ('Ha, Rhee, Xu, "CUBIC", 2008', ["ha2008cubic"]),
        ('the preset "linux"', []),
        ("Jacobson worked on it. It was 1988.", []),
        ("the preset linux, and subns-2", []),
    ],
)
def test_prose_names_entries(text: str, keys: list[str]) -> None:
    assert named(text) == keys


def parsed(text: str) -> dict[str, dict[str, str]]:
    """Parse BibTeX strictly, without any code of aqmlab: each field on a line of its own, in braces that balance."""
    entries: dict[str, dict[str, str]] = {}
    for entry in text.split("\n\n"):
        head, *lines, end = entry.split("\n")
        start = re.fullmatch(r"@(\w+)\{([a-z0-9-]+),", head)
        fields = [re.fullmatch(r"  (\w+) = \{(.*)\},?", line) for line in lines]
        assert start, head
        assert end == "}"
        assert all(one and one[2].count("{") == one[2].count("}") for one in fields), entry
        entries[start[2]] = {"type": start[1], **{one[1]: one[2] for one in fields if one}}
        assert len(entries[start[2]]) == 1 + len(fields), "no field twice"
    return entries


REQUIRED = {
    "article": {"author", "title", "journal", "year"},
    "inproceedings": {"author", "title", "booktitle", "year"},
    "techreport": {"author", "title", "institution", "year"},
    "misc": {"author", "title"},
}


def test_the_bibliography_is_bibtex() -> None:
    text = "\n\n".join(entry.bibtex() for entry in bibliography().values())
    assert text.isascii()
    entries = parsed(text)
    assert list(entries) == list(bibliography())
    for key, fields in entries.items():
        assert REQUIRED[fields["type"]] <= fields.keys(), key
        assert all(fields.values()), key
        assert re.fullmatch(r"\d{4}", fields.get("year", "2000")), key
        for name in fields.keys() - {"doi", "eprint", "url", "title", "author"}:
            assert not re.search(r"(?<!\\)[&%#_$~^]", fields[name]), f"{key}: {name}"


def test_keys_are_readable() -> None:
    for key, entry in bibliography().items():
        if entry.type != "misc":
            first = re.sub(r"\W", "", entry.surnames[0].split("-")[0].replace("ø", "o")).lower()
            assert re.fullmatch(rf"{first}{entry.year}[a-z0-9]+", key)


def test_the_version_of_linux_is_that_of_the_heads() -> None:
    (version,) = {version for text in PROSE.values() for version in re.findall(r"Linux (\d+\.\d+)", text)}
    assert bibliography()["linux"].title == f"Linux, version {version}"


def test_the_version_of_ns_2_is_that_of_the_heads() -> None:
    (version,) = {version for text in PROSE.values() for version in re.findall(r"ns-2\.(\d+)", text)}
    assert bibliography()["ns2"].title.endswith(f"version 2.{version}")


def test_papers_are_the_folders_of_the_library() -> None:
    from aqmlab_papers.describe.library import names

    assert {entry.paper for entry in bibliography().values()} - {""} == {*names(), "rfc7928", "rfc9743"}


@pytest.mark.parametrize("name", ["lred", "raqm", "survey"])  # our copies of the others have no title page
def test_a_paper_agrees_with_its_description(name: str) -> None:
    from aqmlab_papers.describe.library import load

    (entry,) = (entry for entry in bibliography().values() if entry.paper == name)
    paper = load(name)
    assert entry.title.casefold() == paper.title.casefold()
    assert str(entry.year) in paper.source
    assert all(surname in paper.source for surname in entry.surnames)


def test_citation_cff_has_the_facts_of_the_project() -> None:
    cff = yaml.safe_load((ROOT / "CITATION.cff").read_text(encoding="utf-8"))
    cargo = tomllib.loads((ROOT / "Cargo.toml").read_text(encoding="utf-8"))
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    ours = bibliography()[AQMLAB]
    assert cff["cff-version"] == "1.2.0"
    assert cff["version"] == cargo["workspace"]["package"]["version"]
    assert cff["license"] == project["license"]
    assert sorted(cff["keywords"], key=str.casefold) == sorted(project["keywords"], key=str.casefold)
    assert cff["abstract"] == f"{project['description']}."
    assert (cff["title"], [one["name"] for one in cff["authors"]]) == (ours.title, list(ours.author))
    # The keys of the standard that we use: others would need another look at its schema.
    assert cff.keys() == {
        *("cff-version", "message", "type", "title", "authors", "version", "license", "abstract", "keywords")
    }
