"""Claims on JoBS: sections 3 and 4.2."""

from __future__ import annotations

from collections.abc import Mapping

import polars

from aqmlab.library.survey import measures, theory
from aqmlab.library.survey.claims.red import START, VISIBLE_LOSS
from aqmlab.library.survey.measures import mean_of
from aqmlab.papers import Check, Claim, Evidence, Judgement

VISIBLE = 0.02
"""A visible fraction of the link in Fig. 2a, used for every claim of low utilisation."""


def jobs_loses_nothing(evidence: Evidence) -> Judgement:
    """Count JoBS's losses, and compare them with those of the other disciplines."""
    runs, settled = evidence["schemes"], evidence["settled"]
    dropped = polars.col("drops_overflow") + polars.col("drops_early")
    later = mean_of(dropped, settled, settled.hero)
    beaten = [measures.difference(runs, measures.LOST_OF_ALL, other, runs.hero) for other in runs.others]
    checks = [
        Check.of("packets dropped in 20 s", runs.each(dropped, runs.hero).values(), unit="packets", most=0),
        Check.of(
            f"loss of TCP packets, {START}",
            settled.each(measures.LOST, runs.hero).values(),
            most=VISIBLE_LOSS,
        ),
        *(
            Check.of(
                f"loss of TCP packets, {other} minus {runs.hero}",
                measures.difference(runs, measures.LOST, other, runs.hero),
                least=0,
            )
            for other in runs.others
        ),
        Check.of(
            f"loss of all packets, the least of the others minus {runs.hero}",
            [min(column) for column in zip(*beaten, strict=True)],
            least=0,
        ),
    ]
    return Judgement(
        checks,
        f"Of the {checks[0].value:.0f} packets {100 * (1 - later / max(checks[0].value, 1.0)):.0f} % are lost in the "
        "first 5 s: the projection needs two flights of a flow to know its round trip, and until then slow start is "
        "unseen. A mark takes a round trip to be obeyed, and bursts of UDP in that time are not foreseen. Our JoBS "
        "is a reconstruction.",
    )


def jobs_shortest(evidence: Evidence) -> Judgement:
    """Compare JoBS's mean wait with those of the other disciplines."""
    runs = evidence["schemes"]
    checks = [
        Check.of(
            f"mean wait, {other} minus {runs.hero}",
            measures.difference(runs, measures.WAIT * 1e3, other, runs.hero),
            unit="ms",
            least=0,
        )
        for other in runs.others
    ]
    shorter = [check.effect.removeprefix("mean wait, ").split(" minus")[0] for check in checks if check.value < 0]
    wait = mean_of(measures.WAIT * 1e3, runs, runs.hero)
    return Judgement(
        checks,
        f"JoBS waits {wait:.1f} ms on average: it lets the queue grow to wherever the projection stays within the "
        "buffer. " + (f"{' and '.join(shorter)} steer lower." if shorter else "No other has less."),
    )


def jobs_utilisation(evidence: Evidence) -> Judgement:
    """Compare JoBS's utilisation with those of the other disciplines."""
    runs = evidence["schemes"]
    used = polars.col("utilisation")
    flows = mean_of(polars.col("classes.ftp.flows"), runs, runs.hero)
    checks = [
        # "relatively low": a visible difference; otherwise a ten-thousandth of the link would count
        Check.of(
            f"utilisation, {other} minus {runs.hero}", measures.difference(runs, used, other, runs.hero), least=VISIBLE
        )
        for other in runs.others
    ]
    return Judgement(
        checks,
        f"JoBS uses {100 * mean_of(used, runs, runs.hero):.1f} % of the link, which has {theory.CAPACITY / flows:.0f} "
        f"packets a second for each of {flows:.0f} flows. The more flows, the less it takes to keep it busy, as the "
        "figure over the nodes has it.",
    )


def untested(_: Evidence) -> Judgement:
    """State why the claim is not tested."""
    return Judgement(
        [],
        "The survey runs nothing with classes of service. PI as published has one queue and one probability; JoBS's "
        "scheduler is `jobs`, which this experiment leaves out.",
    )


def fewer_nodes(evidence: Evidence) -> Judgement:
    """Compare JoBS with the others at all numbers of nodes below the scenario's."""
    runs = evidence["load"]
    checks, means = [], []
    for nodes in runs.points("dumbbell.hosts"):
        if nodes >= measures.NODES:
            continue
        at = {"dumbbell.hosts": nodes}
        wait, used = (
            {label: runs.each(value, label, at) for label in runs.labels}
            for value in (1e3 * measures.WAIT, polars.col("utilisation"))
        )

        def gaps(values: Mapping[str, Mapping[int, float]], label: str) -> list[float]:
            return [one - values["JoBS"][seed] for seed, one in values[label].items() if seed in values["JoBS"]]

        checks += [
            Check.of(f"mean wait, {label} minus JoBS, {nodes} nodes", gaps(wait, label), unit="ms", least=0)
            for label in runs.labels
            if label != "JoBS"
        ]
        effect = f"utilisation, DropTail minus JoBS, {nodes} nodes"
        checks.append(Check.of(effect, gaps(used, "DropTail"), least=VISIBLE))
        lost = mean_of(measures.LOST, runs, "DropTail", at)
        share = mean_of(polars.col("utilisation"), runs, "JoBS", at)
        means.append(
            f"with {nodes:g} nodes JoBS uses {100 * share:.1f} % of the link and drop tail loses {100 * lost:.1f} % of "
            "TCP's packets"
        )
    return Judgement(
        checks,
        f"Exploratory: that 40 nodes would suit the paper was seen in the runs first. In them, {'; '.join(means)}. "
        "A flow of larger windows has gaps between its flights that JoBS can measure; with windows of two packets its "
        "estimates are worth little.",
    )


CLAIMS = (
    Claim(
        name="jobs-loses-nothing",
        text="JoBS avoids packet losses completely.",
        where="Section 4.2, Fig. 2c",
        judge=jobs_loses_nothing,
        needs=["schemes", "settled"],
        shown=["fig2", "schemes"],
        sensitive=True,
        comparative=True,
    ),
    Claim(
        name="jobs-shortest",
        text="JoBS has the shortest queue.",
        where="Section 4.2, Fig. 2b",
        judge=jobs_shortest,
        needs=["schemes"],
        shown=["fig2", "schemes"],
        sensitive=True,
        comparative=True,
    ),
    Claim(
        name="jobs-utilisation",
        text="JoBS's utilisation is relatively low.",
        where="Section 4.2, Fig. 2a",
        judge=jobs_utilisation,
        needs=["schemes"],
        shown=["fig2", "schemes"],
        sensitive=True,
        comparative=True,
    ),
    Claim(
        name="differentiation",
        text="PI and JoBS enhance the earlier proposals to differentiate services.",
        where="Section 3",
        judge=untested,
    ),
)

BEYOND = (
    Claim(
        name="jobs-with-fewer-nodes",
        text="With 20 or 40 nodes JoBS has the shortest queue and leaves some of the link, as the paper says.",
        where="ours",
        judge=fewer_nodes,
        needs=["load"],
        shown=["load"],
        beyond=True,
    ),
)
