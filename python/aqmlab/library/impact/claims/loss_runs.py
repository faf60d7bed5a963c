"""Claims on losses in a row with tail drop and RED: section III-A part 4 (Fig. 6, right)."""

from __future__ import annotations

import math

import numpy as np

from aqmlab.library.impact.measures import (
    CLOSE,
    LAST_BIN,
    LENGTHS,
    MIXED,
    POINTS,
    RED,
    TD,
    TITLES,
    at_least,
    counted,
    longest,
    lost,
    mean_difference,
    orders,
    present,
    present_splits,
    udp_loss,
    waits,
)
from aqmlab.library.impact.theory import FLOWS, LOAD, in_model
from aqmlab.papers import Check, Claim, Evidence, Judgement
from aqmlab.papers.run.seeds import mean, ratio

# An order of magnitude, rounded: from 10^0.5 on.
ORDER = 0.5


def more_than_five(evidence: Evidence) -> Judgement:
    """Compare how often a UDP flow loses more than 5 packets in a row."""
    runs = evidence["mixed"]
    at = MIXED["Exp6"]
    counts = {label: counted(runs, label, at) for label in (RED, TD)}
    simulated = orders(
        "simulated, Exp6: P(> 5 in a row) of RED over tail drop's", counts[RED], counts[TD], 6, least=ORDER
    )
    modelled = in_model(
        f"open-loop model, load {LOAD}, a flow of {FLOWS}: the same", RED, TD, 6, FLOWS, evidence.quick, least=ORDER
    )
    loss = {label: mean(udp_loss(runs, label, at)) for label in (RED, TD)}
    alone = 5 * math.log10(loss[RED] / loss[TD])
    whole = 100 * float(np.nan_to_num(at_least(counted(runs, RED, at, "bottleneck"))[14]))
    most = longest(runs, RED, at, "bottleneck")
    return Judgement(
        [simulated, modelled],
        f"Of RED's runs of losses of all packets {whole:.2g} % are of 15 and more, the longest of "
        f"{_counted_up_to(most)}; but a hundred packets of others pass between two of this flow. Losses of "
        f"{loss[RED]:.0f} and {loss[TD]:.0f} % that knew nothing of each other would make {alone:.1f} orders of "
        "magnitude; the model's sources never slow down, so that its average swings across the step.",
    )


def longest_runs(evidence: Evidence) -> Judgement:
    """Judge the longest loss runs of a UDP flow."""
    runs = evidence["mixed"]
    at = MIXED["Exp6"]
    found = {label: longest(runs, label, at) for label in (RED, TD)}
    every = longest(runs, RED, at, "bottleneck")
    flows = int(runs.of(RED, at)["classes.udp.flows"].sum())
    minutes = (runs.duration - runs.study.scenario.warmup) / 60
    seen = f"in {flows * minutes:.0f} min of a flow"
    return Judgement(
        [
            Check.exact(f"longest run of a UDP flow with RED, {seen}", found[RED], unit="packets", least=16),
            Check.exact(f"longest run of a UDP flow with tail drop, {seen}", found[TD], unit="packets", most=7),
        ],
        "The longer one looks the longer the longest. A UDP flow of 12.5 packets a second loses 16 in a row only if "
        f"all is dropped for more than a second, or by chance. The longest run of all packets with RED is "
        f"{_counted_up_to(every)}; a hundred pass between two of a UDP flow.",
    )


def red_drops_more(evidence: Evidence) -> Judgement:
    """Compare the loss of all packets."""
    checks = []
    for experiment, title in TITLES.items():
        runs = evidence[experiment]
        each = mean_difference(runs, present(runs, POINTS[experiment]).values(), lost, RED, TD)
        checks.append(Check.of(f"loss of all with RED minus tail drop's, {title}", each, unit="points", least=0))
    return Judgement(
        checks,
        "The paper blames the average, which is slow. What a queue drops in the long run is what TCP must lose to "
        f"share the link, which is more if the queue is shorter: {waits(evidence, TD)} with tail drop, "
        f"{waits(evidence, RED)} with RED (testbed's traffic and greedy TCP).",
    )


def alike(evidence: Evidence) -> Judgement:
    """Compare loss runs of UDP and TCP."""
    runs = evidence["mixed"]
    at = MIXED["Exp6"]
    checks = [
        Check.of(
            f"{label}: mean run of losses of FTP over UDP's",
            ratio(
                runs.values("classes.ftp.loss_run_mean", label, at), runs.values("classes.udp.loss_run_mean", label, at)
            ),
            least=1 - CLOSE,
            most=1 + CLOSE,
        )
        for label in (TD, RED)
    ]
    return Judgement(
        checks,
        "A full buffer takes several packets of a burst of TCP at once, and of UDP, whose packets come singly, one. "
        "RED draws a packet here and there, unless its average is above max_th.",
    )


def longer_of_all(evidence: Evidence) -> Judgement:
    """Compare loss runs over all packets with those of a UDP flow."""
    runs = evidence["mixed"]
    at = MIXED["Exp6"]
    checks = [
        orders(
            f"{label}: P(> {n - 1} in a row) of all packets over that of a UDP flow",
            counted(runs, label, at, "bottleneck"),
            counted(runs, label, at),
            n,
            least=0,
        )
        for label in (TD, RED)
        for n in LENGTHS
    ]
    share = {label: mean(udp_loss(runs, label, at)) for label in (TD, RED)}
    return Judgement(
        checks,
        "Packets that arrive one after the other find the same queue, full or not; those of a UDP flow are 80 ms "
        f"apart, and the next is lost nearly whatever became of the last ({share[TD]:.0f} % with tail drop, "
        f"{share[RED]:.0f} % with RED). Where drops are spaced, arrivals in a row are spared on purpose.",
    )


def averaging_lengthens(evidence: Evidence) -> Judgement:
    """Compare loss runs of RED with long averaging and without."""
    runs = evidence["averaging"]
    weights = runs.points("aqm.w_q")
    slow, at_once = ({"aqm.w_q": w} for w in (weights[0], weights[-1]))
    checks = [
        orders(
            f"{title}: P(> {n - 1} in a row) with w = {weights[0]:g} over that with w = {weights[-1]:g}",
            counted(runs, RED, slow, owner),
            counted(runs, RED, at_once, owner),
            n,
            least=0,
        )
        for title, owner in (("all packets", "bottleneck"), ("a UDP flow", "udp"))
        for n in LENGTHS
    ]
    most = {w: longest(runs, RED, {"aqm.w_q": w}, "bottleneck") for w in (weights[0], weights[-1])}
    return Judgement(
        checks,
        "Above max_th RED drops all that comes until its average has come down, for as long as it averages; without "
        "an average until one packet has left, as tail drop does. The longest run of all packets is "
        f"{_counted_up_to(most[weights[0]])} with w = {weights[0]:g} and {_counted_up_to(most[weights[-1]])} with w = "
        f"{weights[-1]:g}.",
    )


def _counted_up_to(length: float) -> str:
    """Write the length of a run; the last bin holds all longer ones."""
    return f"{length:.0f} or more" if length >= LAST_BIN else f"{length:.0f}"


def split_matters(evidence: Evidence) -> Judgement:
    """Judge the dependence of the longest runs on the rate of a UDP flow."""
    runs = evidence["split"]
    points = present_splits(runs)
    few, many = min(points), max(points)
    fast, slow = ({label: counted(runs, label, points[flows]) for label in (RED, TD)} for flows in (few, many))
    top = {label: longest(runs, label, points[few]) for label in (RED, TD)}
    return Judgement(
        [
            orders(f"RED: P(> 5 in a row) in {few} flow over that in {many}", fast[RED], slow[RED], 6, least=ORDER),
            orders(f"{few} flow: P(> 5 in a row) of RED over tail drop's", fast[RED], fast[TD], 6, least=ORDER),
        ],
        "The paper does not state into how many flows its UDP is split. A flow of 1 Mbit/s has a packet every 8 ms, of "
        f"which several fall into the time in which RED drops everything: its longest run is {top[RED]:.0f} packets, "
        f"and {top[TD]:.0f} with tail drop.",
    )


CLAIMS = (
    Claim(
        name="red-runs",
        text="A UDP flow loses more than 5 packets in a row ten times as often with RED as with tail drop.",
        where="Section III-A.4, Fig. 6 right",
        judge=more_than_five,
        needs=["mixed"],
        shown=["fig6", "runs"],
        sensitive=True,
    ),
    Claim(
        name="longest-runs",
        text="More than 15 losses in a row occur with RED, never more than 7 with tail drop.",
        where="Section III-A.4",
        judge=longest_runs,
        needs=["mixed"],
        shown=["fig6", "runs"],
    ),
    Claim(
        name="red-drops-more",
        text="RED drops more packets than tail drop.",
        where="Section III-A.4",
        judge=red_drops_more,
        needs=["mixed", "simulation"],
        shown=["metrics"],
    ),
    Claim(
        name="flows-alike",
        text="TCP and UDP flows lose in runs of the same lengths.",
        where="Section III-A.4",
        judge=alike,
        needs=["mixed"],
        shown=["fig6"],
    ),
    Claim(
        name="longer-of-all",
        text="Of all packets more are lost in a row than of a flow.",
        where="Section III-A.4",
        judge=longer_of_all,
        needs=["mixed"],
        shown=["runs"],
    ),
    Claim(
        name="averaging-lengthens",
        text="Averaging makes consecutive losses: RED that averages its queue loses more in a row than without.",
        where="Section III-A.4; abstract",
        judge=averaging_lengthens,
        needs=["averaging"],
        shown=["fig7"],
    ),
)

BEYOND = (
    Claim(
        name="runs-by-rate",
        text="How long runs of losses are depends on how fast a flow is: more than 5 are far likelier for one fast UDP "
        "flow than for many slow ones.",
        where="Beyond Section III-A.4",
        judge=split_matters,
        needs=["split"],
        shown=["split"],
        beyond=True,
    ),
)
