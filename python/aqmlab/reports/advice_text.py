"""The answer of `aqmlab advise` as plain text: what to do, the ranking, and the lines that do it."""

from __future__ import annotations

import textwrap
from typing import TYPE_CHECKING

from aqmlab import _core
from aqmlab.advice.answer import WORTH, Advice, Standing, Verdict, helps
from aqmlab.advice.candidate import DEFAULT, YOU, yours
from aqmlab.advice.candidates import SHARE
from aqmlab.advice.configuration import AccessPoint
from aqmlab.advice.devices import HOW
from aqmlab.advice.race import FEWEST
from aqmlab.reports.text import WIDTH, Column, Table, laid_out
from aqmlab.text import printable

if TYPE_CHECKING:
    from collections.abc import Iterator

    from aqmlab.advice.configuration import Configuration
    from aqmlab.advice.routers import Router

_COLUMNS = (
    Column("Seeds"),
    Column("Score"),
    Column("95 %"),
    Column("Calls", "ms"),
    Column("lost", "%"),
    Column("Video", "ms"),
    Column("lost", "%"),
    Column("Pages", "s"),
    Column("Downloads", "%"),
    Column("Uploads", "%"),
)

SOONER = "; a faster machine gets further, and --within sets the time"
"""Follows the end of a search whose time was over."""

BURST = 64_000
"""Bytes of the largest packet that offloads merge."""

LONG = 0.005
"""The time in s of such a packet from which it matters."""

LOSSY = 1.0
"""The percentage of lost packets of voice or of video above which the first sentence has it."""

_EXPLAINED = (
    "Score: how many times better than the default, the geometric mean over loads and measures, of which goodput "
    "counts twice. 95 %: of each row alone; the first sentence is corrected for choosing the best and for the rounds, "
    "too. Calls, of voice and games, and video calls: p95 of the one-way delay, and the packets lost, of the worst "
    "call in the worst load. Pages: mean time, in the worst load. Downloads, uploads: goodput over the default's. x: "
    "left the race, as worse than the best by 2 % or more. The order is that of the distances from the best on the "
    "seeds that both have: a score of fewer seeds may stand out of it."
)


def text(advice: Advice) -> str:
    """Lay out advice: the answer in words, the table, remarks and, unless the default is kept, the configuration."""
    seeds = len(advice.present.gains)
    made = f"seeds 1 to {seeds}" if seeds > 1 else "seed 1"
    head = f"{printable(advice.link.named)}; {advice.link.users} ({made}; aqmlab {_core.__version__})"
    lines = [*textwrap.wrap(answer(advice), WIDTH), "", head, "", laid_out(table(advice)), ""]
    for remark in remarks(advice):
        lines += textwrap.wrap(remark, WIDTH, subsequent_indent="  ")
    if configuration := advice.configuration:
        lines += ["", *(elsewhere(advice.router, configuration) if advice.router else configured(configuration))]
    return "\n".join(lines)


def answer(advice: Advice) -> str:
    """Return what to do, in a sentence or two."""
    best, present = advice.best, advice.present
    if advice.verdict is Verdict.USE:
        return (
            f"Use {best.label}: voice calls take {_ms(best)} ms instead of {_ms(present)} ms with {baseline(advice)} "
            "(p95, one way, worst load)"
            f"{_losses(best, present)}, "
            f"pages {best.worst('pages'):.2g} s instead of {present.worst('pages'):.2g} s, and downloads have "
            f"{100 * best.share('downloads', present):.0f} % of the goodput there."
        )
    leads = f"{best.label} comes closest, with a score of {best.score:.2f}{_interval(best, ' ({:.2f} to {:.2f})')}"
    worth = f"{100 * WORTH:.0f} %"
    if advice.verdict is Verdict.UNDECIDED:
        seeds = len(best.gains)
        if seeds < FEWEST:
            return f"Undecided: {seeds} of the {FEWEST} seeds that a decision needs were run. {leads}."
        return f"Undecided: {seeds} seeds do not show with certainty that one is better by {worth}. {leads}."
    return f"Keep {_named(advice, present)}: nothing that was tried is better by {worth} with certainty. {leads}."


def table(advice: Advice) -> Table:
    """Return the ranking as a table."""
    rows, labels = [], []
    for place, one in enumerate(advice.standings, 1):
        labels.append(f"{place:>2} {_named(advice, one)}{' x' if one.worse else ''}")
        rows.append(
            [
                str(len(one.gains)),
                f"{one.score:.2f}",
                "-" if one.label == DEFAULT else _interval(one, "{:.2f} to {:.2f}") or "-",
                _ms(one),
                f"{100 * one.lost():.1f}",
                f"{one.late * 1e3:.0f}" if one.late else "-",
                f"{100 * one.lost(video=True):.1f}" if one.late else "-",
                f"{one.worst('pages'):.2f}",
                *(f"{100 * one.share(kind, advice.present):.0f}" for kind in ("downloads", "uploads")),
            ]
        )
    return Table(_COLUMNS, labels, rows, _EXPLAINED)


def remarks(advice: Advice) -> Iterator[str]:
    """Yield what a reader of the table needs to know."""
    if advice.equal:
        equal = ", ".join(advice.equal)
        yield f"No practical difference from {_named(advice, advice.leader)}, less than 2 %: {equal}."
    yield from _helpless(advice)
    if video := advice.link.video:
        rates = " and ".join(f"{rate / 1000:.0f} kbit/s {way}" for way, rate in video.items())
        yield f"Video calls have {rates} here, a third of the rate."
    yield from _place(advice)
    yield from _shares(advice)
    yield from _hosts(advice)
    if layer := advice.link.layer:
        yield f"The link adds to each packet what tc calls {layer}; shaper and lines count it."
    elif not advice.link.medium:
        yield (
            "Packets are taken to have 14 bytes besides IP on the link. On DSL or cable say what the modem adds: "
            "--link-layer pppoe-ptm (VDSL), pppoe-llcsnap (ADSL), docsis (cable); otherwise its queue may fill."
        )
    yield from _bursts(advice)
    if advice.router:
        yield f"Simulated are the disciplines in the form of Linux; those of {advice.router.title} may differ."
    yield f"The race ended {advice.ended}{SOONER if advice.ended.endswith(' s') else ''}."
    if unknown := [one.label for one in advice.standings if not (one.kernel or one.owner or one.label == DEFAULT)]:
        yield f"Without lines to paste: {', '.join(unknown)}."
    if advice.left_out:
        reasons = "; ".join(f"{name} ({reason})" for name, reason in advice.left_out.items())
        yield f"Not tried: {reasons}."
    yield "Lines of the others: --aqm NAME with a name of the table; --out writes all of them to advice.json."


def _helpless(advice: Advice) -> Iterator[str]:
    """Yield which configurations would not help, and which might, with the certainty of the race."""
    runners = len(advice.standings)
    others = [one for one in advice.standings if yours(one)]
    worth = f"better than {_named(advice, advice.present)} by {100 * WORTH:.0f} %"
    for found, said in ((Verdict.KEEP, "Would not help, not"), (Verdict.UNDECIDED, "Open whether it is")):
        if named := [one.label for one in others if helps(one.summary, runners) is found]:
            yield f"{said} {worth}: {', '.join(named)}."


def _place(advice: Advice) -> Iterator[str]:
    """Yield where the shapers are and what they cannot do, and who can set up the link's own queues."""
    link = advice.link
    rate, ways = ("mean rate", "what varies") if link.varies else ("rate", "downloads")
    shaper = f"have a shaper at {100 * SHARE:.0f} % of the {rate}, or the share in their name for {ways},"
    if not (medium := link.medium):
        yield f"All but your default {shaper} behind the queue of the provider and before that of the modem."
        if link.varies:
            yield "Where the rate falls below the shaper's, the queue is that of your default, whatever the router has."
        return
    place = "on the wired side of the access point" if medium.kind.shaper == medium.kind.hub else "behind the modem"
    yield f"Those without a device in their name {shaper} of a router {place}; the rates are those of the full link."
    if link.varies:
        yield "Where the link carries less than the shaper's rate, the queue is that of your default."
    if medium.table == "wifi":
        yield "Both directions share the air: at 50 % of each, both full together take what one takes alone."
    how = HOW[medium.table]
    if own := how.get(YOU):
        yield f"What you can set up besides a router: {own}."
    for owner, best in advice.elsewhere.items():
        found = helps(best.summary, len(advice.standings))
        sure = {Verdict.USE: "", Verdict.KEEP: "not ", Verdict.UNDECIDED: "not certainly "}[found]
        calls = f"voice calls {_ms(best)} ms instead of {_ms(advice.present)} ms"
        yield (
            f"What {owner} can set up, {how[owner]}: {best.label} is best, with a score of {best.score:.2f}"
            f"{_interval(best, ' ({:.2f} to {:.2f})')}, {calls}, and {sure}better than your default by "
            f"{100 * WORTH:.0f} %."
        )


def _shares(advice: Advice) -> Iterator[str]:
    """Yield what smaller shares of the downlink buy, for the first discipline that ran with them."""
    by = {one.label: one for one in advice.standings}
    for name in by:
        less = [by[one] for one in by if one.startswith(f"{name} at ")]
        if less:
            less.sort(key=lambda one: one.label, reverse=True)
            there = [f"{one.label.removeprefix(f'{name} at ')}: {_ms(one)} ms and " for one in less]
            parts = [f"{100 * SHARE:.0f} %: {_ms(by[name])} ms and ", *there]
            shown = [
                f"{part}{100 * one.share('downloads', advice.present):.0f} %"
                for part, one in zip(parts, [by[name], *less], strict=True)
            ]
            listed = "; at ".join(shown)
            yield f"Share of the downlink, with {name}: delay of calls and goodput of downloads are at {listed}."
            return


def _hosts(advice: Advice) -> Iterator[str]:
    """Yield what fairness among hosts buys: the goodput of a single download beside a host with many."""
    rates = {
        one.label: [measure.value for measure in one.means["hosts"] if measure.entry in ("single", "crowd")]
        for one in advice.standings
        if one.label in ("fq_codel", "cake by host") and "hosts" in one.means
    }
    if len(rates) == 2:
        shares = {label: 100 * single / (single + crowd) for label, (single, crowd) in sorted(rates.items()) if single}
        listed = ", with ".join(f"{label} {share:.0f} %" for label, share in shares.items())
        yield f"Of all downloads of a host with many and another with one, that one has: with {listed}."


def _bursts(advice: Advice) -> Iterator[str]:
    """Yield the rule for bursts that cards merge, which are not simulated, where one takes long."""
    way = (
        advice.link.queues.up if advice.link.queues.up.rate < advice.link.queues.down.rate else advice.link.queues.down
    )
    burst = BURST * 8 / way.rate
    if burst > LONG:
        yield (
            f"Not simulated: a router's card may merge packets to {BURST // 1000} kB, which take {burst * 1e3:.0f} ms "
            f"at the lower of the link's rates; that matters below {BURST * 8 / LONG / 1e6:.0f} Mbit/s, where they "
            f"take more than {LONG * 1e3:g} ms. CAKE splits them (split-gso, its default); with the others turn that "
            "off: ethtool -K DEVICE gro off gso off tso off, for each device."
        )


def elsewhere(router: Router, configuration: Configuration) -> Iterator[str]:
    """Yield the lines for another router, below a heading, and what to know of them."""
    found = router.lines(configuration)
    yield f"{router.title}, with the grammar of {router.manual}, and not tried on a device:"
    yield ""
    yield from (f"    {line}" for line in found.text.splitlines())
    yield ""
    for note in found.notes:
        yield from textwrap.wrap(note, WIDTH, subsequent_indent="  ")


def configured(configuration: Configuration) -> Iterator[str]:
    """Yield the lines of a configuration, each part below a heading."""
    yield "Linux, in a shell:"
    yield ""
    yield from (f"    {line}" for line in configuration.tc.splitlines())
    yield ""
    packages = f"package{'s' if len(configuration.packages) > 1 else ''} {', '.join(configuration.packages)}"
    if isinstance(configuration, AccessPoint):
        yield f"OpenWrt: the same lines ({packages})."
    elif configuration.uci:
        yield f"OpenWrt, in /etc/config/sqm ({packages}), then: service sqm restart"
        yield ""
        yield from (f"    {line.expandtabs(4)}" for line in configuration.uci.splitlines())
    else:
        yield f"OpenWrt: sqm-scripts cannot set up this discipline; use the lines above ({packages})."
    yield ""
    yield "The kernel's values (down, up):"
    yield ""
    rows = [[name, f"{down:.0f}", f"{up:.0f}", unit] for name, down, up, unit in configuration.values()]
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    for name, down, up, unit in rows:
        yield f"    {name.ljust(widths[0])}  {down.rjust(widths[1])}  {up.rjust(widths[2])}  {unit}"


def _named(advice: Advice, one: Standing) -> str:
    return f"{advice.link.yours}, your default" if one.label == DEFAULT else one.label


def baseline(advice: Advice) -> str:
    """Return what the best is compared with: a plain queue is that of the modem, before which nothing shapes."""
    plain = advice.link.yours == "droptail"
    return "droptail, without a shaper" if plain else _named(advice, advice.present)


def _losses(best: Standing, present: Standing) -> str:
    """Return the losses of voice and of video if they matter with either, as the next part of a sentence."""
    said = ""
    for video, start in ((False, " and lose"), (True, ", video calls lose")):
        lost = [100 * one.lost(video) for one in (best, present)]
        if max(lost) > LOSSY:
            said += f"{start} {lost[0]:.1f} % instead of {lost[1]:.1f} % of their packets"
    return said


def _ms(one: Standing) -> str:
    return f"{one.worst('calls') * 1e3:.0f}"


def _interval(one: Standing, form: str) -> str:
    return form.format(*one.interval) if one.interval else ""
