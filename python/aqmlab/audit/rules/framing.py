"""Whether a shaper counts what the link adds to each packet."""

from __future__ import annotations

import math
import re
from collections.abc import Iterator
from dataclasses import replace
from typing import NamedTuple

from aqmlab import _core
from aqmlab.advice.candidates import PTM
from aqmlab.audit.findings import Change, Evidence, Finding, Grade
from aqmlab.audit.mends import named, rate_lines
from aqmlab.audit.router import ETHERNET, SHARE, Lane, Router, sections, shown
from aqmlab.audit.rules.shaping import too_fast
from aqmlab.foreign.model import Section

SHORT = 8
"""Bytes that may lack where the rate of the link is not known: two words for one link differ by as much."""

SMALL, FULL = 64, 1500
"""Bytes of a small packet and of a full one, with their IP headers."""

ROOM = 1.02
"""How much more than a shaper counts a link may need without a word, if there is room for it."""

LEAST_OF_PPPOE = 22
"""Bytes that PPPoE adds at least: 8 of its own, and 14 of Ethernet."""


class Counted(NamedTuple):
    """The bytes that count besides IP, cells (``atm``, ``ptm`` or an empty text), and the least length of a packet."""

    overhead: int
    cells: str = ""
    least: int = 0

    def of(self, length: int) -> float:
        """Return the bytes that an IP packet of a length counts for."""
        framed = max(length + self.overhead, self.least)
        if self.cells == "atm":
            return math.ceil(framed / 48) * 53
        return framed / PTM if self.cells == "ptm" else framed

    def __str__(self) -> str:
        more = {"atm": " and fills cells of 48 bytes", "ptm": " and a 64th"}.get(self.cells, "")
        return f"{self.overhead}{more}"


def read(words: str, bare: int = ETHERNET) -> Counted:
    """Return what tc's words for CAKE count; without an overhead that is the header of the device."""
    found = _core.framing(words)
    assert found
    overhead, raw, least, cells = found
    own = bare if overhead is None or (raw and not overhead) else overhead
    return Counted(own, "" if cells in (None, "noatm") else cells, least)


def counted(router: Router, lane: Lane) -> Counted:
    """Return what the shaper of a lane counts."""
    bare = router.header(lane.device)
    cake = lane.root.kind in ("cake", "cake_mq")
    words = lane.root.options.get("framing", "") if cake else router.counted(lane)
    return read(words, bare) if words and _core.framing(words) else Counted(bare)


def misfit(router: Router) -> Iterator[Finding]:
    """Find an overhead, or cells, that are not those of the link."""
    untold = []
    for lane in router.shapers():
        if lane.root.kind not in ("cake", "cake_mq", "htb", "hfsc", "tbf"):
            continue
        if router.given.layer:
            layer, sure = router.given.layer, True
            assumed: tuple[str, ...] = ()
        elif (guessed := _guessed(router, lane.device)) is not None:
            layer, why = guessed
            assumed, sure = (why,), False
        else:
            untold.append(lane)
            continue
        found = _compared(router, lane, layer, sure)
        if found is None:
            untold += [] if sure else [lane]
            continue
        told, grade = found
        if grade is Grade.NOTE:
            yield Finding("overhead", grade, f"The shaper of {lane.device} {told}.", (Evidence.of(lane.root),))
            continue
        yield Finding(
            "overhead",
            grade,
            f"The shaper of {lane.device} {told}.",
            (Evidence.of(lane.root, *_words(lane)),),
            *_mended(router, lane, layer, sure, assumed),
        )
    if untold:
        told = " and ".join(f"{lane.device} ({counted(router, lane)} bytes on an IP packet)" for lane in untold)
        yield Finding(
            "overhead",
            Grade.UNKNOWN,
            f"Whether the shaper counts what the link adds to packets: {told}. Give --link-layer.",
            tuple(Evidence.of(lane.root) for lane in untold),
        )


def _compared(router: Router, lane: Lane, layer: str, sure: bool) -> tuple[str, Grade] | None:
    """Compare what a shaper counts with what the link needs: the fault, and its grade; None if there is none."""
    has, needs = counted(router, lane), read(layer)
    if has.cells == "atm" != needs.cells and sure:
        return f"counts ATM's cells, which the link ({layer}) does not have: a tenth of it is lost", Grade.WRONG
    if needs.cells == "atm" != has.cells:
        told = f"does not count the cells of the link ({layer}): small packets take far more than it thinks"
        return told, Grade.WRONG if sure else Grade.DOUBTFUL
    told = f"counts {has} bytes on an IP packet where the link ({layer}) adds {needs}"
    if not sure:
        few = has.overhead < min(needs.overhead, LEAST_OF_PPPOE)
        return (f"{told}: small packets overfill it", Grade.DOUBTFUL) if few else None
    if has.overhead >= needs.overhead + ETHERNET:
        return f"{told}: goodput is given away", Grade.DOUBTFUL
    if all(has.of(size) >= needs.of(size) for size in (SMALL, FULL)):
        return None
    link = router.given.rate(lane.way)
    if link is None or lane.rate is None:
        few = has.overhead < needs.overhead - SHORT
        return (f"{told}: small packets overfill it", Grade.WRONG) if few else None
    # A rate that is too high has a finding of its own: this one is about the rate that mends it.
    rate = SHARE * link if too_fast(lane, link) else lane.rate
    small, full = (rate * needs.of(size) / has.of(size) for size in (SMALL, FULL))
    of = f"at {shown(rate)} packets of {SMALL} bytes take {shown(small)} of the link's {shown(link)} {lane.way}"
    if full > link:
        return (
            f"{told}: even full packets take {shown(full)} at {shown(rate)}, and the link has {shown(link)}",
            Grade.WRONG,
        )
    if small > link:
        return f"{told}: {of}, full ones {shown(full)}", Grade.DOUBTFUL
    if max(small, full) < ROOM * rate:
        return None
    return f"{told}; the margin of its rate covers that: {of}", Grade.NOTE


def _words(lane: Lane) -> list[str]:
    stab = [f"{name} {value}" for name, value in lane.root.stab.items()]
    return stab or [f"framing {lane.root.options.get('framing', 'none')}"]


def _guessed(router: Router, device: str) -> tuple[str, str] | None:
    """Return the link layer by a device's name or by its interface, and the reason."""
    owner = router.owner(device) or device
    section = _interface(router, owner)
    proto = section.options.get("proto", "") if section else ""
    under = section.options.get("device", section.options.get("ifname", "")) if section else ""
    if re.match(r"(nas|atm)\d", owner) or re.match(r"(nas|atm)\d", under) or proto == "pppoa":
        return (
            "pppoe-llcsnap",
            f"the link of {owner} has ATM's cells, as its device or protocol says: give --link-layer",
        )
    if owner.startswith("pppoe-") or proto == "pppoe":
        return "pppoe-ptm", f"{owner} is PPPoE over a line that adds 30 bytes, as on VDSL: give --link-layer"
    return None


def _interface(router: Router, device: str) -> Section | None:
    return next(
        (
            each
            for each in sections(router, "network.interface")
            if device in (f"pppoe-{each.name}", f"pppoa-{each.name}", router.real(each.name))
            or device == each.options.get("device", "")
        ),
        None,
    )


def _mended(
    router: Router, lane: Lane, layer: str, sure: bool, assumed: tuple[str, ...]
) -> tuple[dict[str, str], tuple[str, ...], Change | None]:
    """Return the lines that mend a finding, its assumptions and its change."""
    has, needs, link = counted(router, lane), read(layer), router.given.rate(lane.way)
    said = (*lane.assumed, *assumed)
    by_words = lane.root.kind in ("cake", "cake_mq") and router.section(lane.device) is None
    enough = needs.overhead <= has.overhead < needs.overhead + ETHERNET and has.cells != "atm"
    if link and enough and needs.cells == "ptm" and not by_words:
        rate = SHARE * link * PTM  # neither sqm nor a size table has a word for it
        return rate_lines(router, lane, rate), said, router.change(lane, {}, rates=(lane.rate, rate))
    return _lines(router, lane, layer), said, _change(router, lane, layer) if sure else None


def _lines(router: Router, lane: Lane, layer: str) -> dict[str, str]:
    needed, cells, _ = read(layer)
    if lane.root.kind in ("cake", "cake_mq") and router.section(lane.device) is None:
        # Words such as `ethernet` and `overhead 18` leave ATM's cells as they are.
        words = layer if cells or "noatm" in layer.split() else f"noatm {layer}"
        return {"tc": f"tc qdisc change dev {lane.device} root {lane.root.kind} {words}"}
    base = router.header(lane.device)
    section = router.section(lane.device)
    if section is not None:
        name = named(section)
        own = needed if lane.root.kind in ("cake", "cake_mq") else needed - base
        kind = "atm" if cells == "atm" else "ethernet"
        return {
            "uci": f"uci set {name}.linklayer='{kind}'; uci set {name}.overhead='{own}'; uci commit sqm; "
            "/etc/init.d/sqm restart"
        }
    kind = "atm" if cells == "atm" else "ethernet"
    default = f" default {lane.root.options['default']}" if "default" in lane.root.options else ""
    return {
        "tc": f"tc qdisc del dev {lane.device} root\ntc qdisc add dev {lane.device} root handle 1: "
        f"stab overhead {needed - base} linklayer {kind} {lane.root.kind}{default}  # then its classes again"
    }


def _change(router: Router, lane: Lane, layer: str) -> Change:
    present = router.change(lane, {}).present
    if lane.root.kind in ("cake", "cake_mq"):
        return Change(lane.way, present, replace(present, options={**present.options, "framing": layer}))
    words = f"{'atm' if read(layer)[1] == 'atm' else 'noatm'} overhead {read(layer)[0]}"
    return Change(lane.way, present, replace(present, framing=words))


RULES = (misfit,)
