"""FreeBSD's dummynet, of OPNsense and pfSense: whether it runs as it is configured, and whether packets reach it."""

from __future__ import annotations

import re
from collections.abc import Iterator

from aqmlab.audit.findings import Change, Evidence, Finding, Grade, Queue
from aqmlab.audit.router import Lane, Router, count, sections, shown
from aqmlab.audit.rules.place import LONG, SHORT
from aqmlab.foreign.disciplines import FRAME
from aqmlab.foreign.dummynet import OWN, rate
from aqmlab.foreign.model import Filter, Qdisc, Section

FAIR = ("fq_codel", "fq_pie")
AQMS = ("codel", "pie")

MANY = 10_000

_AGAIN = "dnctl -q flush && configctl ipfw reload  # the flowset is free after a flush: it takes the discipline then"


def lanes(router: Router) -> Iterator[Lane]:
    """Yield the pipes as lanes, each with its scheduler."""
    for pipe in router.state.qdiscs:
        if pipe.kind == "pipe":
            number = pipe.handle[:-1]
            yield Lane(
                pipe.device,
                _way(router, int(number)),
                _shown(router, f"s{number}:") or pipe,
                pipe.options.get("bandwidth"),
                pipe.place,
            )


def _shown(router: Router, handle: str) -> Qdisc | None:
    return next(
        (each for each in router.state.qdiscs if each.handle == handle and each.device.startswith("pipe ")), None
    )


def _scheduled(pipe: str, words: str) -> str:
    """Return the line that gives a pipe a scheduler."""
    return f"dnctl sched {pipe} config pipe {pipe} type {words}"


def _fine(bits: float) -> Queue:
    return Queue("fq_codel", {"ecn": True}, bits)


def _wanted(section: Section) -> str:
    return next((name for name in AQMS if name in section.options), "")


def _words(section: Section) -> Evidence:
    said = " ".join(f"{name} {value}".strip() for name, value in section.options.items())
    return Evidence(section.place, f"{section.kind.partition('.')[2]} {section.name} config {said}")


def _slot_time(queue: Qdisc, pipe: Qdisc | None) -> tuple[float, float]:
    """Return how long a full queue takes at its pipe's rate, and the packets in it."""
    bits = pipe.options.get("bandwidth") if pipe else None
    packets = queue.options.get("limit", queue.options.get("limit_bytes", 0) / FRAME)
    return (packets * FRAME * 8 / bits if bits else 0.0), packets


def _way(router: Router, number: int) -> str:
    """Return the direction of a pipe, by the rules that hand packets to it or to a queue of it."""
    targets = {f"pipe {number}", f"queue {number}"}
    targets |= {
        f"queue {each.name}" for each in sections(router, "dummynet.queue") if each.options.get("pipe") == str(number)
    }
    words = " ".join(each.text for each in router.state.filters if each.target in targets)
    return "up" if re.search(r"\bout\b|\bxmit\b", words) and not re.search(r"\bin\b|\brecv\b", words) else "down"


def _change(router: Router, queue: Qdisc, pipe: Qdisc | None) -> Change | None:
    _, packets = _slot_time(queue, pipe)
    bits = pipe.options.get("bandwidth") if pipe else None
    if not bits:
        return None
    way = _way(router, int(queue.device.removeprefix("pipe ")))
    return Change(way, Queue("pfifo", {"limit": round(packets)}, bits), _fine(bits))


def not_applied(router: Router) -> Iterator[Finding]:
    """Find an AQM that was configured for a queue or a pipe, and does not run."""
    busy = [Evidence(each.place, each.options["words"]) for each in sections(router, "dummynet.busy")]
    told = False
    for section in (*sections(router, "dummynet.queue"), *sections(router, "dummynet.pipe")):
        wanted = _wanted(section)
        is_pipe = section.kind == "dummynet.pipe"
        if not wanted or (is_pipe and section.options.get("type", "").lower() in FAIR):
            continue
        number = int(section.name) + (2 * OWN if is_pipe else 0)
        running = _shown(router, f"q{number}:")
        if running is None or running.options.get("aqm") == wanted:
            continue
        told = True
        has = running.options.get("aqm") or "no AQM"
        yield Finding(
            "aqm-not-applied",
            Grade.WRONG,
            f"{'Pipe' if is_pipe else 'Queue'} {section.name} is to run {wanted}, and has {has}: the kernel refuses an "
            "AQM for a queue that is in use, and dnctl does not tell.",
            (_words(section), Evidence.of(running), *busy[:1]),
            {"shell": _AGAIN},
            (),
            _change(router, running, _shown(router, f"{running.device.removeprefix('pipe ')}:")),
        )
    if busy and not told:
        yield Finding(
            "aqm-not-applied",
            Grade.WRONG,
            f"The kernel has refused an AQM {len(busy)} times, because its queue was in use: those drop at the tail.",
            tuple(busy[:3]),
            {"shell": _AGAIN},
        )


def other_scheduler(router: Router) -> Iterator[Finding]:
    """Find a scheduler that was configured, and is another one."""
    for section in (*sections(router, "dummynet.pipe"), *sections(router, "dummynet.sched")):
        wanted, running = section.options.get("type", "").lower(), _shown(router, f"s{section.name}:")
        if not wanted:
            continue
        if running is not None and running.kind != wanted:
            yield Finding(
                "other-scheduler",
                Grade.WRONG,
                f"Scheduler {section.name} is to be {wanted}, and is {running.kind}.",
                (_words(section), Evidence.of(running)),
                {"shell": _scheduled(section.options.get("pipe", section.name), wanted)},
            )
        elif running is None and any(each.device == f"pipe {section.name}" for each in router.state.qdiscs):
            yield Finding(
                "other-scheduler",
                Grade.UNKNOWN,
                f"Whether scheduler {section.name} is {wanted} cannot be told: give what `dnctl sched show` prints.",
                (_words(section),),
            )


def at_the_tail(router: Router) -> Iterator[Finding]:
    """Find a long queue of a pipe that only drops what does not fit."""
    configured = {each.name for each in sections(router, "dummynet.queue") if _wanted(each)}
    pipes = {each.name for each in sections(router, "dummynet.pipe") if _wanted(each)}
    used = {each.target for each in router.state.filters}
    for queue in router.state.qdiscs:
        if queue.kind != "queue" or queue.options.get("aqm") not in ("droptail", ""):
            continue
        number = int(queue.handle[1:-1])
        own, pipe_number = number >= OWN, queue.device.removeprefix("pipe ")
        scheduler = _shown(router, f"s{queue.parent[1:].partition(':')[0]}:")
        fair = any(each.device == queue.device and each.kind in FAIR for each in router.state.qdiscs)
        if (scheduler is not None and scheduler.kind in FAIR) or str(number) in configured:
            continue  # FQ-CoDel has queues of its own, and does not use this one
        if own and (pipe_number in pipes or fair or (used and f"pipe {pipe_number}" not in used)):
            continue
        pipe = _shown(router, f"{pipe_number}:")
        seconds, packets = _slot_time(queue, pipe)
        if seconds <= SHORT or pipe is None:
            continue
        yield Finding(
            "unmanaged-queue",
            Grade.WRONG if seconds > LONG else Grade.DOUBTFUL,
            f"Queue {number} lets {packets:.0f} packets wait, which is {seconds * 1e3:.0f} ms at "
            f"{shown(pipe.options['bandwidth'])}, and drops none before it is full.",
            (Evidence.of(queue), Evidence.of(pipe)),
            {"shell": _scheduled(pipe_number, "fq_codel ecn")},
            (),
            _change(router, queue, pipe),
        )


def bypassed(router: Router) -> Iterator[Finding]:
    """Packets that do not go through the scheduler: rules for the pipe itself, or no rules."""
    rules = [each for each in router.state.filters if each.kind == "ipfw"]
    for pipe in [each for each in router.state.qdiscs if each.kind == "pipe"]:
        number = pipe.handle[:-1]
        fair = next((each for each in router.state.qdiscs if each.device == pipe.device and each.kind in FAIR), None)
        queues = {
            each.name
            for each in sections(router, "dummynet.queue")
            if number in (each.options.get("pipe"), each.options.get("sched"))
        }
        queues |= {
            each.handle[1:-1]
            for each in router.state.qdiscs
            if each.kind == "queue" and each.parent.startswith(f"s{number}:")
        }
        direct = [each for each in rules if each.target == f"pipe {number}" and _matched(each)]
        fitting = [each for each in rules if each.target in {f"queue {name}" for name in queues}]
        line = f"dnctl queue {number} config sched {number}"
        mend = {"shell": f"{line}  # and in the rule: queue {number} in place of pipe {number}"}
        bits = pipe.options.get("bandwidth")
        if fair is not None and direct:
            yield Finding(
                "scheduler-bypassed",
                Grade.DOUBTFUL,
                f"A rule hands packets to pipe {number} itself, whose own scheduler is FIFO, and not to a queue of its "
                f"{fair.kind}.",
                (*map(Evidence.of, direct), Evidence.of(fair)),
                mend,
                ("a rule for a pipe uses the pipe's FIFO, as ipfw(8) has it",),
                Change(_way(router, int(number)), Queue("pfifo", {"limit": 50}, bits), _fine(bits)) if bits else None,
            )
        elif rules and not direct and not any(map(_matched, fitting)):
            yield Finding(
                "scheduler-bypassed",
                Grade.WRONG,
                f"No packet is handed to pipe {number}: "
                + ("its rules match none." if fitting else "no rule has it or a queue of it."),
                (Evidence.of(pipe), *map(Evidence.of, fitting)),
                mend,
                (),
                router.unshaped(_way(router, int(number))),
            )
        elif fair is not None and not count(fair.statistics, "packets") and not fair.options.get("active"):
            matched = sum(map(_matched, fitting))
            if matched >= MANY:
                yield Finding(
                    "scheduler-bypassed",
                    Grade.DOUBTFUL,
                    f"Rules have handed {matched} packets to pipe {number}, and its {fair.kind} has no flow.",
                    (Evidence.of(fair), *map(Evidence.of, fitting)),
                    {"shell": "run a download, and look at `dnctl sched show` while it runs"},
                    ("flows that are idle are forgotten: it counts only during a transfer",),
                    router.unshaped(_way(router, int(number))),
                )


def _matched(rule: Filter) -> int:
    found = re.match(r"\d+\s+(\d+)", rule.text)
    return int(found[1]) if found else 0


def without_ecn(router: Router) -> Iterator[Finding]:
    """Find a scheduler or a queue that drops where it could mark."""
    for each in router.state.qdiscs:
        if each.device.startswith("pipe ") and each.options.get("noecn"):
            what, pipe = each.options.get("aqm") or each.kind, each.device[len("pipe ") :]
            yield Finding(
                "ecn-off",
                Grade.DOUBTFUL,
                f"ECN is off in {what} of {each.device}: it drops packets of senders that would heed a mark.",
                (Evidence.of(each, "NoECN"),),
                {"shell": _marking(router, each) if each.kind == "queue" else _scheduled(pipe, f"{what} ecn")},
                ("some senders negotiate ECN",),
            )


def _marking(router: Router, queue: Qdisc) -> str:
    """Return the whole line of a queue that marks, for the configuration: a queue in use refuses another AQM."""
    number, aqm = int(queue.handle[1:-1]), queue.options.get("aqm", "codel")
    kind, name = ("pipe", number - 2 * OWN) if number >= 2 * OWN else ("queue", number)
    section = next((each for each in sections(router, f"dummynet.{kind}") if each.name == str(name)), None)
    words, more = [aqm, "ecn"], "  # and its other words, such as its mask and its weight"
    if section is not None:
        given = [f"{option} {value}".strip() for option, value in section.options.items()]
        words, more = [each for each in given if each not in ("ecn", "noecn")], ""
        words.insert(words.index(aqm) + 1 if aqm in words else len(words), "ecn")
    return f"{kind} {name} config {' '.join(words)}{more}\n{_AGAIN}"


def above_link(router: Router) -> Iterator[Finding]:
    """Find a pipe at the rate of the link or above."""
    pipes = [
        (each.handle[:-1], each.options.get("bandwidth"), Evidence.of(each))
        for each in router.state.qdiscs
        if each.kind == "pipe"
    ]
    known = {number for number, _, _ in pipes}
    pipes += [
        (each.name, rate(each.options.get("bw", "")), _words(each))
        for each in sections(router, "dummynet.pipe")
        if each.name not in known
    ]
    for number, bits, evidence in pipes:
        way = _way(router, int(number))
        link = router.given.rate(way)
        if link is None or bits is None or bits < link:
            continue
        yield Finding(
            "above-link",
            Grade.WRONG,
            f"Pipe {number} has {shown(bits)}, which is not below the link's {shown(link)} {way}: the queue forms "
            "behind it, where it has no say.",
            (evidence,),
            {"shell": f"dnctl pipe {number} config bw {link * 0.95 / 1000:.0f}Kbit/s"},
            (f"pipe {number} is for {way}loads, as its rules say, or because none says otherwise",),
            Change(way, Queue("fq_codel", {"ecn": True}, bits)),
        )


RULES = (not_applied, other_scheduler, at_the_tail, bypassed, without_ecn, above_link)
