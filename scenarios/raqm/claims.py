"""What RAQM's section 3 claims, judged by the runs."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import polars

from aqmlab.papers import Check, Claim, Evidence, Judgement, Runs
from aqmlab.scenarios.raqm.reading import (
    BAND,
    BIN,
    FLOWS,
    FULL,
    Q0,
    TARGET,
    at,
    at_equal_queue,
    by_seed,
    distance,
    less,
    outside,
    overshoot,
    slope,
    told,
)
from aqmlab.summary import Summary

Judge = Callable[[Evidence], Judgement]


def balance(runs: Runs, flows: float) -> str:
    """Tell where the queue rests, and the bytes' balance there."""
    hero = runs.hero
    queue, loss, used = (runs.mean(name, hero, at(flows)).mean for name in ("queue_mean", "loss_ratio", "utilisation"))
    if queue is None or loss is None or used is None:
        return f"{flows:g} flows: -"
    return f"{flows:g} flows: {told(queue)} packets, l q0 = {told(loss * Q0)}, U + l = {used + loss:.3f}"


def regulated(case: str) -> Judge:
    """Make a judge of whether the queue is held at the target in a case."""

    def judge(evidence: Evidence) -> Judgement:
        """Compare the mean queue with the target."""
        runs = evidence[case]
        checks = [
            Check.of(
                f"mean queue of {runs.hero}, {flows:g} flows",
                runs.values("queue_mean", runs.hero, at(flows)),
                unit="packets",
                least=Q0 * (1 - BAND),
                most=Q0 * (1 + BAND),
            )
            for flows in runs.points(FLOWS)
        ]
        states = "; ".join(balance(runs, flows) for flows in runs.points(FLOWS))
        return Judgement(
            checks,
            "The law rests where arrivals, lost ones included, have the link's rate, whatever the queue: with losses "
            f"that is U + l = 1, or p_k = 1 with q = l q0. {states}.",
        )

    return judge


def faster(case: str) -> Judge:
    """Make a judge of whether RAQM is at the target first in a case."""

    def judge(evidence: Evidence) -> Judgement:
        """Compare the response times; a queue that never settles counts as the whole run."""
        runs = evidence[case]
        checks = [
            Check.of(
                f"response time of {runs.hero} less that of {other}, {flows:g} flows",
                runs.differences("response_time", runs.hero, other, at(flows), fill=runs.duration),
                unit="s",
                most=-BIN,  # sooner by a bin at least; two that never settle are not different
            )
            for flows in runs.points(FLOWS)
            for other in runs.others
        ]
        means = "; ".join(
            f"{flows:g} flows: "
            + ", ".join(
                f"{label} {told(runs.mean('response_time', label, at(flows), fill=runs.duration).mean)} s"
                for label in runs.labels
            )
            for flows in runs.points(FLOWS)
        )
        return Judgement(
            checks,
            f"{means} ({told(runs.duration)} s: never within 20 % for 20 s). Where p_k rests off the target, the queue "
            "is never settled there, however soon it rests.",
        )

    return judge


def steadier(case: str) -> Judge:
    """Make a judge of whether RAQM's queue is the steadiest in a case."""

    def judge(evidence: Evidence) -> Judgement:
        """Compare the deviation from the own mean, and the distance from the target."""
        runs = evidence[case]
        kinds = (("standard deviation", polars.col("queue_std")), ("root mean square distance from q0", distance()))
        checks = [
            Check.of(
                f"{kind} of {runs.hero} less that of {other}, {flows:g} flows",
                less(by_seed(runs, runs.hero, value, at(flows)), by_seed(runs, other, value, at(flows))),
                unit="packets",
                most=0,
            )
            for kind, value in kinds
            for flows in runs.points(FLOWS)
            for other in runs.others
        ]
        means = "; ".join(balance(runs, flows) for flows in runs.points(FLOWS))
        return Judgement(
            checks,
            "A queue next to empty has little room to vary, so that the deviation from its own mean alone says little. "
            f"{runs.hero}, {means}.",
        )

    return judge


def shorter(case: str) -> Judge:
    """Make a judge of whether RAQM's overshoot is the shortest in a case."""

    def judge(evidence: Evidence) -> Judgement:
        """Compare how long the queue is above the target's band, and see how far RAQM's is."""
        runs = evidence[case]
        checks, means = [], []
        for flows in runs.points(FLOWS):
            found = {label: overshoot(runs, label, at(flows)) for label in runs.labels}
            long = {label: {seed: length for seed, (length, _) in one.items()} for label, one in found.items()}
            checks += [
                Check.of(
                    f"time above the target, {runs.hero} less {other}, {flows:g} flows",
                    less(long[runs.hero], long[other]),
                    unit="s",
                    most=-BIN,
                )
                for other in runs.others
            ]
            checks.append(
                Check.of(
                    f"height of the overshoot of {runs.hero}, {flows:g} flows",
                    [height for _, height in found[runs.hero].values()],
                    unit="packets",
                    most=Q0 / 2,  # "small": no more than half of what the buffer leaves above the target
                )
            )
            lengths = ", ".join(f"{label} {told(sum(one.values()) / len(one))} s" for label, one in long.items() if one)
            means.append(f"{flows:g} flows: {lengths}")
        return Judgement(
            checks,
            f"{'; '.join(means)}. Until p_k counts the buffer overflows, arrivals exceed the link by the part "
            "l / (1 - l), and ln p_k grows by 4 eps times that a period: fast where many flows lose much, slowly where "
            "few lose little.",
        )

    return judge


def back_soonest(evidence: Evidence) -> Judgement:
    """Compare the overshoot as short flows and UDP come, and how long the queue is off target while they are there."""
    runs = evidence["case4"]
    come, go = 50.0, 150.0
    checks, means = [], []
    for flows in runs.points(FLOWS):
        long = {
            label: {seed: length for seed, (length, _) in overshoot(runs, label, at(flows), come).items()}
            for label in runs.labels
        }
        away = {label: outside(runs, label, at(flows), come, go) for label in runs.labels}
        for effect, found in (("time above the target after 50 s", long), ("time off the target", away)):
            checks += [
                Check.of(
                    f"{effect} of {runs.hero} less that of {other}, {flows:g} flows",
                    less(found[runs.hero], found[other]),
                    unit="s",
                    most=-BIN,
                )
                for other in runs.others
            ]
        times = ", ".join(f"{label} {told(sum(one.values()) / len(one))} s" for label, one in away.items())
        means.append(f"{flows:g} flows: {times}")
    return Judgement(
        checks,
        f"Off the target by more than 20 % for, of {go - come:g} s: {'; '.join(means)}. A queue far below the target "
        "has no overshoot, and is not at the target either.",
    )


def worse_with_many(evidence: Evidence) -> Judgement:
    """Compare the others' overshoot and response at many flows with those at few."""
    runs = evidence["case1"]
    few, many = runs.points(FLOWS)[0], runs.points(FLOWS)[-1]
    checks, means = [], []
    for other in runs.others:
        lengths = {
            flows: {seed: length for seed, (length, _) in overshoot(runs, other, at(flows)).items()}
            for flows in (few, many)
        }
        checks.append(
            Check.of(
                f"time above the target, {other}, at {many:g} flows less at {few:g}",
                less(lengths[many], lengths[few]),
                unit="s",
                least=BIN,
            )
        )
        means.append(
            f"{other} {told(sum(lengths[few].values()) / max(1, len(lengths[few])))} s at {few:g} flows and "
            f"{told(sum(lengths[many].values()) / max(1, len(lengths[many])))} s at {many:g}"
        )
    return Judgement(
        checks,
        f"{'; '.join(means)}. Their p climbs by a fixed step for each packet above the target and period, and more "
        "flows need a higher p.",
    )


def out_of_control(evidence: Evidence) -> Judgement:
    """See how far REM's queue is spread, and RAQM's beside it."""
    runs = evidence["case2"]
    few = runs.points(FLOWS)[0]
    # A queue spread evenly over the whole buffer, as one that nobody steers, has 29 packets.
    least = 25.0
    spreads = {label: runs.values("queue_std", label, at(few)) for label in runs.labels}
    hero = runs.hero
    checks = [
        Check.of(f"standard deviation of REM, {few:g} flows", spreads["REM"], unit="packets", least=least),
        Check.of(f"standard deviation of {hero}, {few:g} flows", spreads[hero], unit="packets", most=least),
    ]
    losses = ", ".join(
        f"{label} {told(runs.mean('loss_ratio', label, at(few), scale=100).mean)} %" for label in runs.labels
    )
    used = ", ".join(
        f"{label} {told(runs.mean('utilisation', label, at(few), scale=100).mean)} %" for label in runs.labels
    )
    return Judgement(
        checks,
        f"Loss {losses}; utilisation {used}. Where a link idles part of the time the flows halve together after an "
        "overflow, and disciplines that see no lasting excess do not part them.",
    )


def best_at_equal_queue(metric: str, what: str, sign: int) -> Judge:
    """Make a judge of a metric of figure 7 at the same average queue: sign 1 if more is better, -1 if less is."""

    def judge(evidence: Evidence) -> Judgement:
        """Compare with each other at RAQM's mean queues, between the other's points."""
        runs = evidence["case3b"]
        further = evidence["case3b-low"] if evidence.has(["case3b-low"]) else None
        scale = 100 / FULL if metric == "goodput" else 100
        checks = []
        for other in runs.others:
            found = [None if one is None else one * scale for one in at_equal_queue(runs, further, metric, other)]
            bounds = {"least": 0.0} if sign > 0 else {"most": 0.0}
            checks.append(
                Check.of(f"{what} of {runs.hero} less that of {other}, same mean queue", found, unit="%", **bounds)
            )
        queues = ", ".join(f"{label} {_span(runs, label)}" for label in runs.labels)
        spreads = {other: at_equal_queue(runs, further, "queue_std", other) for other in runs.others}
        spread = ", ".join(f"{other} {told(Summary.of(one).mean)}" for other, one in spreads.items())
        return Judgement(
            checks,
            f"Mean queues over the targets, in packets: {queues}. At the same queue the standard deviation of "
            f"{runs.hero}'s less the other's is, in packets: {spread}. Its p follows every packet of the queue, and a "
            "short queue that varies less is empty more rarely.",
        )

    return judge


def _span(runs: Runs, label: str) -> str:
    """Tell the least and the greatest mean queue of a discipline."""
    found = [runs.mean("queue_mean", label, {TARGET: q0}).mean for q0 in runs.points(TARGET)]
    known = [one for one in found if one is not None]
    return f"{told(min(known))} to {told(max(known))}" if known else "-"


def goodput_at_twenty(evidence: Evidence) -> Judgement:
    """See where RAQM's points of figure 7 are: the average queue, and the goodput."""
    runs = evidence["case3b"]
    queue = runs.values("queue_mean", runs.hero)
    checks = [
        # "High" and "about .96" of the printed axis: to a hundredth.
        Check.of(
            "goodput over a full link's", runs.values("goodput", runs.hero, scale=1 / FULL), least=0.95, most=0.97
        ),
        Check.of("average queue there", queue, unit="packets", least=15, most=25),
    ]
    return Judgement(
        checks,
        "Goodput is what the conservation of bytes leaves, 1 - l of the link, with l the loss that 100 flows need: "
        f"1 - l = {told(1 - (runs.mean('loss_ratio', runs.hero).mean or 0.0))}. The queue is whatever idles the link "
        f"so long: {told(runs.mean('queue_mean', runs.hero).mean)} packets.",
    )


def falls(evidence: Evidence) -> Judgement:
    """Compare PI's and REM's goodput at the longest target with that at 60 packets."""
    runs = evidence["case3b"]
    return _beyond_sixty(runs, runs.others, least=None)


def falls_not(evidence: Evidence) -> Judgement:
    """Compare RAQM's goodput at the longest target with that at 60 packets."""
    runs = evidence["case3b"]
    return _beyond_sixty(runs, [runs.hero], least=-0.2)


def _beyond_sixty(runs: Runs, labels: Sequence[str], least: float | None) -> Judgement:
    top, knee = runs.points(TARGET)[-1], 60
    checks, means = [], []
    for label in labels:
        found = less(
            by_seed(runs, label, polars.col("goodput") * (100 / FULL), {TARGET: top}),
            by_seed(runs, label, polars.col("goodput") * (100 / FULL), {TARGET: knee}),
        )
        effect = f"goodput of {label} at q0 = {top:g} less that at {knee}"
        # "Not observed": a fall of up to .2 % of the link, a fraction of what PI's and REM's is, counts as none.
        bounds = {"most": 0.0} if least is None else {"least": least}
        checks.append(Check.of(effect, found, unit="%", **bounds))
        full, used, good = (
            [runs.mean(metric, label, {TARGET: q0}, scale=scale).mean for q0 in (knee, top)]
            for metric, scale in (("queue_full", 100), ("utilisation", 100), ("goodput", 100 / FULL))
        )
        means.append(
            f"{label}: full for {told(full[0])} and {told(full[1])} % of the time, utilisation {told(used[0], 4)} and "
            f"{told(used[1], 4)} %, goodput {told(good[0], 4)} and {told(good[1], 4)} %"
        )
    return Judgement(
        checks,
        f"At q0 = {knee} and {top:g}: {'; '.join(means)}. An overflow takes packets in bursts; what goodput loses and "
        "utilisation does not was sent twice.",
    )


def follows(evidence: Evidence) -> Judgement:
    """Fit a line to the mean queue over the target, and look at the longest target."""
    runs = evidence["case3b"]
    top = runs.points(TARGET)[-1]
    checks = [
        Check.of("packets of queue for each packet of target", slope(runs, runs.hero), least=1 - BAND, most=1 + BAND),
        Check.of(
            f"mean queue at q0 = {top:g}",
            runs.values("queue_mean", runs.hero, {TARGET: top}),
            unit="packets",
            least=top * (1 - BAND),
            most=top * (1 + BAND),
        ),
    ]
    return Judgement(
        checks,
        "Only p_k / q0 enters the drop probability. While p_k is below 1, twice the target is met by twice p_k, and "
        f"nothing else changes: mean queues of {_span(runs, runs.hero)} packets at targets of "
        f"{runs.points(TARGET)[0]:g} to {top:g}.",
    )


def same_buffer(evidence: Evidence) -> Judgement:
    """Compare the goodput over all targets."""
    runs = evidence["case3b"]
    checks = [
        Check.of(
            f"goodput of {runs.hero} less that of {other}, mean over the targets",
            runs.differences("goodput", runs.hero, other, scale=100 / FULL),
            unit="%",
            least=0,
        )
        for other in runs.others
    ]
    empty = ", ".join(f"{label} {told(runs.mean('queue_empty', label, scale=100).mean)} %" for label in runs.labels)
    return Judgement(checks, f"Nothing waits for this share of the time: {empty}. What idles is not made up for.")


def period(evidence: Evidence) -> Judgement:
    """Compare the queue and the goodput at a period of round trips with those at one below a round trip."""
    runs = evidence["period"]
    periods = runs.points("aqm.period")
    short, one = periods[0], 1.0
    checks = [
        Check.of(
            f"standard deviation of the queue at T = 1 s less that at {short:g} s",
            less(
                by_seed(runs, runs.hero, polars.col("queue_std"), {"aqm.period": one}),
                by_seed(runs, runs.hero, polars.col("queue_std"), {"aqm.period": short}),
            ),
            unit="packets",
            most=0,
        ),
        Check.of(
            "utilisation + loss ratio at T = 1 s",
            by_seed(
                runs, runs.hero, polars.col("utilisation") + polars.col("loss_ratio"), {"aqm.period": one}
            ).values(),
            least=0.997,
            most=1.003,
        ),
    ]
    spreads = ", ".join(f"{T:g} s {told(runs.mean('queue_std', runs.hero, {'aqm.period': T}).mean)}" for T in periods)
    return Judgement(
        checks,
        f"Round trips are .03 to .41 s without the queue. Standard deviation by T, in packets: {spreads}. Shorter than "
        "a round trip, the law multiplies p_k several times before the flows have answered.",
    )


def complexity(_: Evidence) -> Judgement:
    """Leave it: no run counts operations."""
    return Judgement([], "A count of operations, plain from the pseudocode: one rate and one p_k, whatever the flows.")


NAMES = {"case1": "1 (short round trips)", "case2": "2 (long round trips)", "case3": "3 (diverse round trips)"}
FIGURES = {"case1": "fig4", "case2": "fig5", "case3": "fig6"}


def _of_case(case: str) -> list[Claim]:
    figure, where = FIGURES[case], f"Section 3.{case[-1]}, Fig. {FIGURES[case][-1]}"
    return [
        Claim(
            name=f"{case}-regulation",
            text=f"In case {NAMES[case]} RAQM holds the queue around q0 = 50, with 40 flows and with 400.",
            where=where,
            judge=regulated(case),
            needs=[case],
            shown=[figure, "balance"],
            sensitive=case == "case3",
        ),
        Claim(
            name=f"{case}-response",
            text=f"In case {NAMES[case]} RAQM brings the queue to q0 faster than PI and REM.",
            where=where,
            judge=faster(case),
            needs=[case],
            shown=[figure],
            sensitive=case == "case3",
            comparative=True,
        ),
        Claim(
            name=f"{case}-overshoot",
            text=f"In case {NAMES[case]} RAQM's overshoot is small, and much shorter than PI's and REM's.",
            where=where,
            judge=shorter(case),
            needs=[case],
            shown=[figure, "start"],
        ),
        Claim(
            name=f"{case}-stability",
            text=f"In case {NAMES[case]} RAQM's queue is steadier than PI's and REM's.",
            where=where,
            judge=steadier(case),
            needs=[case],
            shown=[figure],
            sensitive=case == "case3",
            comparative=True,
        ),
    ]


CLAIMS = [
    *_of_case("case1"),
    Claim(
        name="worse-with-many",
        text="PI and REM overshoot the more the more flows there are.",
        where="Section 3.1, Fig. 4",
        judge=worse_with_many,
        needs=["case1"],
        shown=["fig4"],
    ),
    *_of_case("case2"),
    Claim(
        name="rem-out-of-control",
        text="With long round trips and 40 flows REM is nearly out of control, RAQM is not.",
        where="Section 3.2, Fig. 5a",
        judge=out_of_control,
        needs=["case2"],
        shown=["fig5"],
    ),
    *_of_case("case3"),
    Claim(
        name="goodput-at-equal-queue",
        text="At the same average queue RAQM has the higher goodput.",
        where="Section 3.3, Fig. 7a",
        judge=best_at_equal_queue("goodput", "goodput", 1),
        needs=["case3b", "case3b-low"],
        shown=["fig7"],
        sensitive=True,
        comparative=True,
    ),
    Claim(
        name="drops-at-equal-queue",
        text="At the same average queue RAQM drops a smaller part of the packets.",
        where="Section 3.3, Fig. 7b",
        judge=best_at_equal_queue("loss_ratio", "drop ratio", -1),
        needs=["case3b", "case3b-low"],
        shown=["fig7"],
        comparative=True,
    ),
    Claim(
        name="goodput-at-twenty",
        text="Even at an average queue of about 20 packets RAQM has a goodput of about .96.",
        where="Section 3.3, Fig. 7a",
        judge=goodput_at_twenty,
        needs=["case3b"],
        shown=["fig7"],
        sensitive=True,
    ),
    Claim(
        name="goodput-falls",
        text="PI's and REM's goodput falls as their target grows beyond 60 packets.",
        where="Section 3.3, Fig. 7a",
        judge=falls,
        needs=["case3b"],
        shown=["fig7"],
    ),
    Claim(
        name="goodput-does-not-fall",
        text="RAQM's goodput does not fall there.",
        where="Section 3.3, Fig. 7a",
        judge=falls_not,
        needs=["case3b"],
        shown=["fig7"],
    ),
    Claim(
        name="follows-target",
        text="RAQM regulates the queue effectively even with a target close to the size of the buffer.",
        where="Section 3.3, Fig. 7",
        judge=follows,
        needs=["case3b"],
        shown=["fig7", "regulation"],
        sensitive=True,
    ),
    Claim(
        name="same-buffer",
        text="RAQM has a higher goodput than PI and REM with the same buffer.",
        where="Abstract",
        judge=same_buffer,
        needs=["case3b"],
        shown=["fig7"],
        comparative=True,
    ),
    Claim(
        name="case4-stability",
        text="With short flows and UDP RAQM's queue is steadier than PI's and REM's.",
        where="Section 3.4, Fig. 8",
        judge=steadier("case4"),
        needs=["case4"],
        shown=["fig8"],
        comparative=True,
    ),
    Claim(
        name="case4-response",
        text="With short flows and UDP RAQM responds faster than PI and REM.",
        where="Section 3.4, Fig. 8",
        judge=back_soonest,
        needs=["case4"],
        shown=["fig8"],
    ),
    Claim(
        name="period",
        text="A period of several round trips tracks the rate well.",
        where="Section 2.4",
        judge=period,
        needs=["period"],
        shown=["periods"],
    ),
    Claim(
        name="complexity",
        text="RAQM takes O(1) operations a packet, whatever the number of flows.",
        where="Abstract, Section 4",
        judge=complexity,
    ),
]
