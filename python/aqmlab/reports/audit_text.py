"""The answer of `aqmlab audit` as plain text."""

from __future__ import annotations

import textwrap
from collections.abc import Iterator

from aqmlab.audit.audit import Audit
from aqmlab.audit.findings import Cost, Finding, Grade
from aqmlab.audit.router import CLASSES, Lane, shown
from aqmlab.reports.text import WIDTH
from aqmlab.results.summary import Summary
from aqmlab.text import printable

MOST_LINES = 4
"""The places of one finding that are shown; --json has all."""


def text(audit: Audit) -> str:
    """Lay out an audit: the number of findings, each with evidence, cost and cure, and the open questions."""
    lines = [*textwrap.wrap(head(audit), WIDTH), *queues(audit)]
    for number, one in enumerate(audit.findings, 1):
        lines += ["", *_finding(f"{number}. {one.grade.value}: ", one)]
    for heading, others in (("To know:", audit.notes), ("What these files cannot tell:", audit.untold)):
        if others:
            lines += ["", heading]
            for one in others:
                lines += _wrapped("- ", one.title, more="  ")
    if audit.unread:
        lines += ["", f"Not understood: {len(audit.unread)} of the words in these files; --json has them."]
    return "\n".join(lines)


def head(audit: Audit) -> str:
    """Return the answer in a sentence."""
    counts = [
        (sum(one.grade is grade for one in audit.findings), noun)
        for grade, noun in ((Grade.WRONG, "fault"), (Grade.DOUBTFUL, "doubt"))
    ]
    told = [f"{count} {noun}{'' if count == 1 else 's'}" for count, noun in counts if count]
    if not told:
        if audit.untold:
            return "Nothing was found wrong; these files do not tell all, as the end says."
        return "Nothing is wrong with these queues, as far as these files tell."
    return f"{' and '.join(told)} found."


def queues(audit: Audit) -> Iterator[str]:
    """Yield a line for each queue that was understood."""
    for one in audit.lanes:
        bare = "its rate is in classes that are not here" if one.root.kind in CLASSES else "shapes nothing"
        rate = f"shapes to {shown(one.rate)}" if one.rate else bare
        yield from _wrapped(
            f"  {one.way:<4} ", f"{one.device}: {one.root.kind}, {rate}{_seen(audit, one)}", more=" " * 9
        )


def _seen(audit: Audit, one: Lane) -> str:
    """Return what the counters of a queue say, as the next part of a sentence."""
    if not one.root.shown:
        return "; as configured: whether it runs is not in these files"
    held, sent = audit.router.held(one)
    if sent is None:
        return "; runs"
    if one.rate is None or held is None:
        return f"; runs, and has sent {sent:,} packets"
    return f"; runs, and has held packets back {held:,} times in {sent:,}"


def _finding(label: str, one: Finding) -> Iterator[str]:
    yield from _wrapped(label, one.title)
    for each in one.evidence[:MOST_LINES]:
        yield from _wrapped("   ", f"{each.place}: {each.words}", more="     ")
    if len(one.evidence) > MOST_LINES:
        yield f"   and {len(one.evidence) - MOST_LINES} more lines"
    if isinstance(one.cost, Cost):
        yield from _wrapped("   cost: ", cost(one.cost))
    elif one.cost:
        yield from _wrapped("   cost: ", one.cost)
    if one.assumed:
        yield from _wrapped("   assumed: ", "; ".join(one.assumed))
    for tool, lines in (one.mends or {}).items():
        yield f"   to mend it ({tool}):"
        for line in lines.splitlines():
            yield f"     {printable(line)}"


def cost(one: Cost) -> str:
    """Return a cost in words."""
    kind = "downloads" if one.way == "down" else "uploads"
    return (
        f"p95 of the one-way delay of voice calls {_each(one.delay, 1e3, 'ms')}; "
        f"goodput of {kind} {_each(one.goodput, 1e-6, 'Mbit/s')} "
        f"({one.link}; {one.seeds} seeds)"
    )


def _each(three: tuple[Summary, Summary, Summary], factor: float, unit: str) -> str:
    present, mended, more = ((one.mean or 0.0) * factor for one in three)
    half = three[2].ci95
    interval = f" ± {_number(half * factor)}" if half is not None else ""
    sign = "+" if more >= 0 else ""
    return f"{_number(present)} {unit} instead of {_number(mended)} ({sign}{_number(more)}{interval})"


def _number(value: float) -> str:
    return f"{value:.0f}" if abs(value) >= 100 else f"{round(value, 2):.3g}"


def _wrapped(label: str, words: str, more: str = "   ") -> list[str]:
    return textwrap.wrap(
        printable(words),
        WIDTH,
        initial_indent=label,
        subsequent_indent=more,
        break_on_hyphens=False,
        break_long_words=False,
    )
