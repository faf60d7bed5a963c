"""Whether a shaper counts what the link adds to each packet."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace

from aqmlab import _core
from aqmlab.audit.findings import Change, Evidence, Finding, Grade
from aqmlab.audit.mends import named
from aqmlab.audit.router import ETHERNET, PPP, Lane, Router, sections
from aqmlab.foreign.model import Section

SHORT = 8
"""Bytes that a shaper may count too few: two words for one link differ by as much."""

LEAST_OF_PPPOE = 22
"""Bytes that PPPoE adds at least: 8 of its own, and 14 of Ethernet."""

Counted = tuple[int, str]
"""The bytes that are added to the length of an IP packet, and ``atm``, ``ptm`` or an empty text."""


def read(words: str) -> Counted:
    """Return what tc's words for CAKE count; without an overhead that is Ethernet's header."""
    found = _core.framing(words)
    assert found
    overhead, raw, _, cells = found
    return (ETHERNET if raw or overhead is None else overhead), "" if cells in (None, "noatm") else cells


def counted(router: Router, lane: Lane) -> Counted:
    """Return what the shaper of a lane counts."""
    bare = 0 if PPP.match(lane.device) else ETHERNET
    if lane.root.kind in ("cake", "cake_mq"):
        words = re.sub(r"\braw\b", "", lane.root.options.get("framing", "")).strip()
        found = _core.framing(words) if words else None
        if found is None or found[0] is None:
            return bare, "" if found is None or found[3] in (None, "noatm") else found[3]
        return (bare if "raw" in lane.root.options.get("framing", "") and not found[0] else found[0]), (
            "" if found[3] in (None, "noatm") else found[3]
        )
    stab = router.counted(lane)
    return read(stab) if stab else (bare, "")


def misfit(router: Router) -> Iterator[Finding]:
    """Find an overhead, or cells, that are not those of the link."""
    for lane in router.shapers():
        if lane.root.kind not in ("cake", "cake_mq", "htb", "hfsc", "tbf"):
            continue
        has, cells = counted(router, lane)
        if router.given.layer:
            needed, link_cells = read(router.given.layer)
            layer, sure = router.given.layer, True
            assumed: tuple[str, ...] = ()
        elif (guessed := _guessed(router, lane.device)) is not None:
            layer, why = guessed
            needed, link_cells = read(layer)
            assumed, sure = (why,), False
        else:
            continue
        least = needed if sure else min(needed, LEAST_OF_PPPOE)
        cells_differ = cells != link_cells and "atm" in ((cells, link_cells) if sure else (link_cells,))
        if cells_differ:
            told = (
                f"counts ATM's cells, which the link ({layer}) does not have: a tenth of it is lost"
                if cells == "atm"
                else f"does not count the cells of the link ({layer}): small packets take far more than it thinks"
            )
        elif has < least - (SHORT if sure else 0):
            told = (
                f"counts {has} bytes on an IP packet where the link ({layer}) adds {needed}: small packets overfill it"
            )
        elif sure and has >= needed + ETHERNET:
            told = f"counts {has} bytes on an IP packet where the link ({layer}) adds {needed}: goodput is given away"
        else:
            continue
        wrong = sure and (cells_differ or has < least)
        yield Finding(
            "overhead",
            Grade.WRONG if wrong else Grade.DOUBTFUL,
            f"The shaper of {lane.device} {told}.",
            (Evidence.of(lane.root, *_words(lane)),),
            _mend(router, lane, layer),
            (*lane.assumed, *assumed),
            _change(router, lane, layer) if sure else None,
        )


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


def _mend(router: Router, lane: Lane, layer: str) -> dict[str, str]:
    needed, cells = read(layer)
    if lane.root.kind in ("cake", "cake_mq") and router.section(lane.device) is None:
        # Words such as `ethernet` and `overhead 18` leave ATM's cells as they are.
        words = layer if cells or "noatm" in layer.split() else f"noatm {layer}"
        return {"tc": f"tc qdisc change dev {lane.device} root {lane.root.kind} {words}"}
    base = 0 if PPP.match(lane.device) else ETHERNET
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
