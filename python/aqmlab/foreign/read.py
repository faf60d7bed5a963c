"""Files of other programs, whose formats are found out by their content, as one `State`."""

from __future__ import annotations

import gzip
import json
import os
import re
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, TypeVar

from aqmlab.foreign import (
    cisco,
    dummynet,
    mahimahi,
    measured,
    ns2,
    ns3,
    routeros,
    shapers,
    tc_json,
    tc_script,
    tc_show,
    uci,
)
from aqmlab.foreign.model import Class, Filter, Place, Qdisc, Source, State, Unreadable

_COLOUR = re.compile(r"\x1b\[[0-9;?]*[A-Za-z]")
LARGEST = 20_000_000
"""Bytes of a file beyond which it is no configuration."""

Reader = tuple[str, Callable[[str], bool], Callable[[str, str], State]]

TEXTS: Sequence[Reader] = (
    ("dummynet's output", dummynet.is_dummynet, dummynet.read),
    ("a script of tc", tc_script.is_tc, tc_script.read),
    ("tc's output", tc_show.is_tc, tc_show.read),
    ("LibreQoS' circuits", shapers.is_circuits, shapers.circuits),
    ("cake-autorate's configuration", shapers.is_autorate, shapers.autorate),
    ("RouterOS' export", routeros.is_export, routeros.read),
    ("Cisco's policy maps", cisco.is_policy, cisco.read),
    ("a script of ns-2", ns2.is_script, ns2.read),
    ("ns-3's attributes", ns3.has_attributes, ns3.read),
    ("a command line of Mahimahi", mahimahi.is_line, mahimahi.read),
    ("OpenWrt's UCI", uci.is_uci, uci.read),
)
"""The formats that are text, in the order in which they are tried: name, how a text is recognized, and the reader."""

_KNOWN = ", ".join(
    [
        *("tc -s -d [-j] qdisc/class/filter show", "scripts of tc", "OpenWrt's sqm and qosmate", "cake-autorate"),
        *(
            "dnctl's output",
            "LibreQoS",
            "RouterOS' /queue export",
            "Cisco's policy maps",
            "scripts of ns-2",
            "attributes of ns-3",
        ),
        *("command lines of Mahimahi", "JSON of iperf3, irtt and flent"),
    ]
)
"""The formats, for messages."""


def read(paths: Sequence[str | os.PathLike[str]]) -> State:
    """Read files and join what they say.

    Parameters
    ----------
    paths : sequence of path
        The files, each of any format.

    Returns
    -------
    State
        What they say together; the devices of tc's classes, which tc does not print, are filled in.

    Raises
    ------
    Unreadable
        For a file that no reader knows, that its reader refuses, or that contradicts another.
    """
    whole = State()
    for path in paths:
        name, content = os.fspath(path), Path(path).read_bytes()
        whole = whole.joined(_one(name, content))
    return _agreed(_on_devices(whole))


def parse(name: str, text: str) -> State:
    """Read a text as the content of a file of this name."""
    return _on_devices(_one(name, text.encode(errors="surrogatepass")))


def _one(name: str, content: bytes) -> State:
    place = Place(name)
    if content[:2] == b"\x1f\x8b":
        try:
            content = gzip.decompress(content)
        except (EOFError, OSError, ValueError) as error:
            raise Unreadable(place, f"compressed by gzip, and torn ({error}): copy it again") from None
    if len(content) > LARGEST:
        raise Unreadable(place, f"{len(content)} bytes: no configuration is so large: one of {_KNOWN} is expected")
    try:
        text = content.decode("utf-8-sig")
    except UnicodeDecodeError:
        try:
            text = content.decode("utf-16") if content[:2] in (b"\xff\xfe", b"\xfe\xff") else content.decode("latin-1")
        except UnicodeDecodeError:
            raise Unreadable(place, f"no text: one of {_KNOWN} is expected") from None
    text = _COLOUR.sub("", text).replace("\r\n", "\n").replace("\r", "\n")
    if "\0" in text:
        raise Unreadable(place, f"no text: one of {_KNOWN} is expected")
    if not text.strip():
        raise Unreadable(
            place, "empty: save again what the program prints, and look whether it printed an error instead"
        )
    if text.lstrip()[0] in "[{" and not dummynet.is_dummynet(text):  # dmesg begins with a time in brackets
        return _json(name, text)
    for format_, known, reader in TEXTS:
        if known(text):
            return reader(name, text).joined(State(sources=(Source(place, format_),)))
    raise Unreadable(place, f"of no format that is known: one of {_KNOWN} is expected; it begins with {_begins(text)}")


def _begins(text: str) -> str:
    first = next(line.strip() for line in text.splitlines() if line.strip())
    return f"{first[:60]!r}"


def _json(name: str, text: str) -> State:
    place = Place(name)
    documents: list[Any] = []
    lines: list[int] = []
    decoder, at = json.JSONDecoder(), 0
    while at < len(text):
        # Several outputs of tc -j may follow each other in a file.
        if text[at].isspace():
            at += 1
            continue
        try:
            document, end = decoder.raw_decode(text, at)
        except (json.JSONDecodeError, RecursionError) as error:
            line = getattr(error, "lineno", 0)
            unknown = "Unknown qdisc" in text
            cure = (
                "this tc is older than the discipline: give `tc -s -d qdisc show` without -j"
                if unknown
                else "copy it whole"
            )
            raise Unreadable(Place(name, line), f"torn JSON: {cure}") from None
        number = text.count("\n", 0, at) + 1
        entries = document if isinstance(document, list) else [document]
        documents += entries
        lines += [number] * len(entries)
        at = end
    if not documents:
        raise Unreadable(place, "an empty list: the command found nothing: name a device that has a queue")
    if tc_json.is_tc(documents):
        state = tc_json.read(documents, lambda number: Place(name, lines[number]))
        return state.joined(State(sources=(Source(place, "tc's JSON"),)))
    if len(documents) == 1 and measured.is_measurement(documents[0]):
        return measured.read(name, documents[0]).joined(State(sources=(Source(place, "a measurement"),)))
    if len(documents) == 1 and shapers.is_network(documents[0]):
        return shapers.network(name, documents[0]).joined(State(sources=(Source(place, "LibreQoS' network"),)))
    raise Unreadable(place, f"JSON of no format that is known: one of {_KNOWN} is expected")


def _on_devices(state: State) -> State:
    """Fill in the devices that tc leaves out where a command names one, from the disciplines that have the handle."""
    by_handle: dict[str, set[str]] = {}
    for qdisc in state.qdiscs:
        if qdisc.handle and qdisc.device:
            by_handle.setdefault(qdisc.handle, set()).add(qdisc.device)
    only = {qdisc.device for qdisc in state.qdiscs if qdisc.device and qdisc.device != "lo"}
    ingress = {qdisc.device for qdisc in state.qdiscs if qdisc.is_ingress}

    def placed(each: Any) -> Any:
        if each.device:
            return each
        fits = set()
        if isinstance(each, Class):
            fits = by_handle.get(each.discipline, set())
        elif isinstance(each, Filter):
            fits = ingress if each.redirect else by_handle.get(each.parent, set())
        fits = fits or only
        if len(fits) == 1:
            return replace(each, device=next(iter(fits)))
        return each if only or not state.qdiscs else replace(each, device="dev")

    made = replace(
        state,
        qdiscs=tuple(map(placed, state.qdiscs)),
        classes=tuple(map(placed, state.classes)),
        filters=tuple(map(placed, state.filters)),
    )
    described: tuple[Qdisc | Class, ...] = (*made.qdiscs, *made.classes)
    for one in described:
        if not one.device:
            sort = "class" if isinstance(one, Class) else "qdisc"
            raise Unreadable(
                one.place,
                f"{one.kind}: of which device it is cannot be told: write the command above it, "
                f"as in `# tc -s -d {sort} show dev eth0`",
            )
    return made


def _agreed(state: State) -> State:
    """Keep what the kernel printed where a command was to set up something, which is then `State.wanted`.

    Raise `Unreadable` if two files print two things of the same place.
    """
    qdiscs, first = _once(state.qdiscs, lambda each: (each.device, "ffff:" if each.is_ingress else each.parent))
    classes, second = _once(state.classes, lambda each: (each.device, each.identity))
    return replace(state, qdiscs=qdiscs, classes=classes, wanted=(*first, *second))


_Placed = TypeVar("_Placed", Qdisc, Class)


def _once(
    described: Sequence[_Placed], where: Callable[[_Placed], tuple[str, str]]
) -> tuple[tuple[_Placed, ...], tuple[_Placed, ...]]:
    kept: dict[tuple[str, str], _Placed] = {}
    wanted: list[_Placed] = []
    for each in described:
        before = kept.setdefault(where(each), each)
        if before is each:
            continue
        if before.shown and each.shown:
            if before.kind != each.kind or before.options != each.options:
                raise Unreadable(
                    each.place,
                    f"{each.device} has {_described(each)} here and {_described(before)} in {before.place}: "
                    "give the state of one time",
                )
        elif each.shown:
            kept[where(each)] = each
            wanted.append(before)
        else:
            wanted.append(each)
    return tuple(kept.values()), tuple(wanted)


def _described(each: Qdisc | Class) -> str:
    return " ".join([each.kind, *(f"{name} {value}" for name, value in sorted(each.options.items()))])[:120]
