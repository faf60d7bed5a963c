"""Whether the router does what its configuration says: sections of sqm, and tools that stand in each other's way."""

from __future__ import annotations

import shlex
from collections.abc import Iterator

from aqmlab.audit.findings import Change, Evidence, Finding, Grade
from aqmlab.audit.mends import RESTART, named
from aqmlab.audit.router import CLASSES, IFB, SQM, Lane, Router, kbit, sections, shown
from aqmlab.foreign.configured import configured
from aqmlab.foreign.model import Qdisc, Section, State, Unreadable
from aqmlab.foreign.tc_options import options
from aqmlab.foreign.words import DIFFSERV, Unsaid

NEAR = 0.01
"""The part by which a running rate may differ from the configured one."""

EXPERT = ("iqdisc_opts", "eqdisc_opts", "itarget", "etarget", "ilimit", "elimit")
"""Options that sqm reads only with both flags of experts."""

LAYER = ("tcMTU", "tcTSIZE", "tcMPU")

WORDS = {"down": "iqdisc_opts", "up": "eqdisc_opts"}
"""The option with the words for the discipline of a direction."""


def _on(section: Section, option: str) -> bool:
    return section.options.get(option, "0") == "1"


def disabled(router: Router) -> Iterator[Finding]:
    """Find a section that is there and not enabled: nothing shapes, or nothing will after a restart."""
    enabled = {router.real(each.options.get("interface", "")) for each in router.sqm if _on(each, "enabled")}
    others = any(_on(each, "enabled") for each in sections(router, "qosmate.global"))
    for section in router.sqm:
        device = router.real(section.options.get("interface", ""))
        evidence = Evidence(section.at("enabled"), f"option enabled '{section.options.get('enabled', '')}'")
        mend = f"uci set {named(section)}.enabled='1'; uci commit sqm; "
        lanes = {way: _lane(router, device, way) for way in SQM}
        running = [
            lane
            for way, lane in lanes.items()
            if lane and lane.root.shown and lane.rate and _near(lane.rate, kbit(section, SQM[way]))
        ]
        if running and device not in enabled and not others:
            told = " and ".join(f"{lane.device} to {shown(lane.rate or 0.0)}" for lane in running)
            yield Finding(
                "not-enabled",
                Grade.DOUBTFUL,
                f"What the section of sqm for {device} says runs ({told}), but it is not enabled: it is gone after a "
                "restart.",
                (evidence, *(Evidence.of(lane.root) for lane in running)),
                {"uci": f"{mend}/etc/init.d/sqm enable"},
                ("no other program starts it",),
            )
        elif not enabled and not any(each.device == device for each in router.shapers()):
            yield Finding(
                "not-enabled",
                Grade.WRONG,
                f"The section of sqm for {device} is not enabled: nothing shapes.",
                (evidence,),
                {"uci": f"{mend}{RESTART}"},
                (),
                router.unshaped("up"),
            )


def _near(running: float, wanted: float) -> bool:
    return abs(running - wanted) <= NEAR * wanted


def not_running(router: Router) -> Iterator[Finding]:
    """Find an enabled section whose queue is not there, or is another one."""
    shown_ones = [each for each in router.state.qdiscs if each.shown]
    for section in router.sqm:
        if not _on(section, "enabled"):
            continue
        device = router.real(section.options.get("interface", ""))
        for way, option in SQM.items():
            wanted = kbit(section, option)
            if not wanted:
                continue
            evidence = Evidence(section.at(option), f"option {option} '{section.options[option]}'")
            if not shown_ones:
                if way == "up":
                    yield Finding(
                        "not-running",
                        Grade.UNKNOWN,
                        f"Whether sqm runs on {device} cannot be told: give what `tc -s -d qdisc show` prints.",
                        (evidence,),
                    )
                continue
            yield from _compared(router, section, device, way, wanted, evidence)


def _lane(router: Router, device: str, way: str) -> Lane | None:
    """Return the lane of a device that sqm has made for a direction."""
    for lane in router.lanes:
        if way == "up" and lane.device == device:
            return lane
        if way == "down" and lane.device in router.ifbs() and router.owner(lane.device) == device:
            return lane
        if way == "down" and IFB.match(lane.device) and f"ifb4{device}".startswith(lane.device):
            return lane
    return None


def _compared(
    router: Router, section: Section, device: str, way: str, wanted: float, evidence: Evidence
) -> Iterator[Finding]:
    lane = _lane(router, device, way)
    script, kind = section.options.get("script", ""), section.options.get("qdisc", "")
    known = script.startswith(("simple", "simplest", "piece_of_cake", "layer_cake"))
    expected = "cake" if "cake" in script else "tbf" if "tbf" in script else "htb"
    if lane is None or (lane.rate is None and lane.root.kind not in CLASSES):
        there = f"has {lane.root.kind} without a rate" if lane else "has no queue of it"
        told = f"{device if way == 'up' else f'the IFB of {device}'} {there}"
        yield Finding(
            "not-running",
            Grade.WRONG,
            f"sqm is to shape {way}loads of {device} to {shown(wanted)}, and is not running: {told}.",
            (evidence, *([Evidence.of(lane.root)] if lane else [])),
            {"uci": RESTART},
            () if lane else ("the files have every device's queue",),
            router.unshaped(way),
        )
        return
    if known and lane.root.kind not in (expected, f"{expected}_mq"):
        yield Finding(
            "other-queue",
            Grade.WRONG,
            f"sqm is to run {script} on {device}, which has {lane.root.kind} in place of {expected}: another tool, or "
            "an earlier configuration, has left it there.",
            (evidence, Evidence.of(lane.root)),
            {"uci": RESTART},
        )
        return
    leaves = {each.kind for each in router.leaves(lane.root)}
    if known and expected != "cake" and kind and kind not in leaves and leaves - {lane.root.kind}:
        yield Finding(
            "other-queue",
            Grade.WRONG,
            f"sqm is to run {kind} on {device}, and {', '.join(sorted(leaves))} runs there.",
            (evidence, *map(Evidence.of, router.leaves(lane.root))),
            {"uci": RESTART},
        )
    autorate = any(each.least is not None and each.device == lane.device for each in router.state.shapers)
    if lane.rate is not None and not _near(lane.rate, wanted) and not autorate:
        yield Finding(
            "other-rate",
            Grade.DOUBTFUL,
            f"sqm is to shape {way}loads of {device} to {shown(wanted)}, and {lane.device} has {shown(lane.rate)}: the "
            "configuration was not taken over, or a program changes the rate.",
            (evidence, Evidence.of(lane.root)),
            {"uci": "/etc/init.d/sqm restart"},
        )


def ignored(router: Router) -> Iterator[Finding]:
    """Find options of experts that sqm does not read because a flag is missing."""
    for section in router.sqm:
        if not _on(section, "enabled"):
            continue
        expert = _on(section, "qdisc_advanced") and _on(section, "qdisc_really_really_advanced")
        missed = [] if expert else [each for each in EXPERT if section.options.get(each, "auto") not in ("", "auto")]
        flags = ["qdisc_advanced", "qdisc_really_really_advanced"] if missed else []
        if not _on(section, "linklayer_advanced") and section.options.get("linklayer", "none") != "none":
            layer = [each for each in LAYER if section.options.get(each, "0") not in ("", "0", "2047", "128")]
            missed += layer
            flags += ["linklayer_advanced"] if layer else []
        if not missed:
            continue
        lines = "; ".join(f"uci set {named(section)}.{flag}='1'" for flag in flags)
        yield Finding(
            "options-ignored",
            Grade.WRONG,
            f"sqm does not read {', '.join(missed)} of its section for {section.options.get('interface', '')}: "
            f"{' and '.join(flags)} must be 1.",
            tuple(Evidence(section.at(each), f"option {each} '{section.options[each]}'") for each in missed),
            {"uci": f"{lines}; uci commit sqm; /etc/init.d/sqm restart"},
            (),
            next((change for *_, change in _lacking(router, section) if change and not expert), None),
        )


def without(router: Router) -> Iterator[Finding]:
    """Find words for the discipline that the running one does not have."""
    for section in router.sqm:
        if not all(_on(section, each) for each in ("enabled", "qdisc_advanced", "qdisc_really_really_advanced")):
            continue
        for option, leaf, words, change in _lacking(router, section):
            yield Finding(
                "words-missing",
                Grade.WRONG,
                f"{leaf.kind} of {leaf.device} runs without {', '.join(words)}, which {option} asks for.",
                (Evidence(section.at(option), f"option {option} '{section.options[option]}'"), Evidence.of(leaf)),
                {"uci": "/etc/init.d/sqm restart; logread | grep SQM  # shows a word that tc refuses"},
                (),
                change,
            )


def _lacking(router: Router, section: Section) -> Iterator[tuple[str, Qdisc, list[str], Change | None]]:
    """Yield what the running disciplines lack of a section's words: the option, the discipline, words and change."""
    device = router.real(section.options.get("interface", ""))
    for way, option in WORDS.items():
        lane, text = _lane(router, device, way), section.options.get(option, "")
        if not text or lane is None or lane.rate is None or not lane.root.shown:
            continue
        leaf = router.leaves(lane.root)[0]
        try:
            wanted, unread = options(leaf.kind, shlex.split(text))
        except (Unsaid, ValueError) as error:
            yield option, leaf, [str(error)], None
            continue
        missing = {
            name: value
            for name, value in wanted.items()
            if name != "framing" and not _like(value, leaf.options.get(name))
        }
        words = [*unread, *(name if value is True else f"{name} {value}" for name, value in missing.items())]
        if words:
            yield option, leaf, words, router.change(lane, missing, leaf) if missing else None


def otherwise(router: Router) -> Iterator[Finding]:
    """Note words of CAKE that sqm-scripts set by themselves, and that the running one has otherwise."""
    for section in router.sqm:
        if not _on(section, "enabled"):
            continue
        interface = section.options.get("interface", "")
        try:
            made = configured(State(sections=(section,)))
        except Unreadable:
            continue
        differing, evidence = [], []
        for way, option in WORDS.items():
            lane = _lane(router, router.real(interface), way)
            wanted = made.root(interface if way == "up" else f"ifb4{interface}")
            if not lane or not lane.root.shown or not wanted or {wanted.kind, lane.root.kind} - {"cake", "cake_mq"}:
                continue
            said = section.options.get(option, "").split()
            for runs, sets in zip(_own(lane.root), _own(wanted), strict=True):
                if runs != sets and not {runs, sets} & {*said}:
                    differing.append(f"{runs} in place of {sets} on {lane.device}")
                    evidence.append(Evidence.of(lane.root))
        if differing:
            yield Finding(
                "other-queue",
                Grade.NOTE,
                f"CAKE runs with {', '.join(differing)}, which sqm-scripts from February 2024 on set for this section: "
                "older ones have set it up, or a line of tc.",
                (*dict.fromkeys(evidence), Evidence(section.place, f"section {section.name}")),
            )


def _own(cake: Qdisc) -> Iterator[str]:
    """Yield the words that sqm-scripts choose for CAKE, in one order."""
    yield next((word for word in DIFFSERV if word in cake.options), "diffserv3")
    yield from (word if word in cake.options else f"no{word}" for word in ("nat", "wash"))


def _like(wanted: object, running: object) -> bool:
    if isinstance(wanted, float | int) and isinstance(running, float | int):
        return abs(wanted - running) <= NEAR * abs(wanted)
    return wanted == running


def two_tools(router: Router) -> Iterator[Finding]:
    """Two tools that both set the queues of one device."""
    enabled = [each for each in router.sqm if _on(each, "enabled")]
    for other in sections(router, "qosmate.global"):
        if enabled and _on(other, "enabled"):
            yield Finding(
                "two-tools",
                Grade.WRONG,
                "sqm and qosmate are both enabled: each replaces the queues of the other, and the last to start wins.",
                (
                    Evidence(enabled[0].at("enabled"), "option enabled '1'"),
                    Evidence(other.at("enabled"), "option enabled '1'"),
                ),
                {"uci": f"uci set {named(enabled[0])}.enabled='0'; uci commit sqm; /etc/init.d/sqm stop"},
            )


def no_state(router: Router) -> Iterator[Finding]:
    """Find shapers whose rate is in classes that the files lack."""
    for lane in router.lanes:
        if lane.root.kind in CLASSES and not router.classes(lane.root):
            yield Finding(
                "no-classes",
                Grade.UNKNOWN,
                f"The rate of {lane.root.kind} of {lane.device} is in its classes: give what "
                f"`tc -s -d class show dev {lane.device}` prints.",
                (Evidence.of(lane.root),),
            )


RULES = (disabled, not_running, ignored, without, otherwise, two_tools, no_state)
