"""Claims on goodput and loss with tail drop and RED: section III-A parts 1 and 2, and section III-C."""

from __future__ import annotations

from aqmlab.library.impact.measures import (
    MIXED,
    MUCH,
    POINTS,
    RED,
    SAME,
    TCP_ONLY,
    TD,
    TITLES,
    mean_difference,
    mean_excess,
    present,
    tcp_goodput,
    tcp_loss,
    udp_loss,
    waits,
)
from aqmlab.papers import At, Check, Claim, Evidence, Judgement, Runs
from aqmlab.papers.run.seeds import Values, mean, ratio


def many_sources(evidence: Evidence) -> Judgement:
    """Compare the goodput of tail drop with RED's at 32 and more sources."""
    runs = evidence["tcp"]
    points = {name: at for name, at in present(runs, TCP_ONLY).items() if name != "Exp5"}
    checks = [
        Check.of(
            f"{name}: goodput of tail drop minus RED's",
            mean_difference(runs, [at], tcp_goodput, TD, RED),
            unit="Mbit/s",
            least=0,
        )
        for name, at in points.items()
    ]
    sent = {
        label: 100
        * mean(
            ratio(
                tcp_goodput(runs, label, points["Exp1"]), runs.values("throughput", label, points["Exp1"], scale=1e-6)
            )
        )
        for label in (TD, RED)
    }
    use = {label: 100 * mean(runs.values("utilisation", label, list(points.values())[-1])) for label in (TD, RED)}
    return Judgement(
        checks,
        f"256 sources keep the link busy with either, and goodput is what is not sent in vain ({sent[TD]:.1f} % of the "
        f"bits with tail drop, {sent[RED]:.1f} % with RED, 96 % if nothing comes twice); with 32 the link is busy for "
        f"{use[TD]:.1f} and {use[RED]:.1f} %: a queue that runs empty costs more than that.",
    )


def few_sources(evidence: Evidence) -> Judgement:
    """Compare the goodput of RED with tail drop's at 16 sources."""
    runs = evidence["tcp"]
    at = TCP_ONLY["Exp5"]
    use = {label: 100 * mean(runs.values("utilisation", label, at)) for label in (TD, RED)}
    return Judgement(
        [
            Check.of(
                "Exp5: goodput of RED minus tail drop's",
                mean_difference(runs, [at], tcp_goodput, RED, TD),
                unit="Mbit/s",
                least=0,
            )
        ],
        f"The link is {use[RED]:.1f} % busy with RED and {use[TD]:.1f} % with tail drop: what 16 sources reach depends "
        "on whether the queue outlasts the windows' cuts, for which RED keeps fewer packets in store.",
    )


def tcp_comparable(evidence: Evidence) -> Judgement:
    """Compare the goodput of TCP beside UDP."""
    runs = evidence["mixed"]
    checks = [
        Check.of(
            f"{name}: TCP goodput of RED over tail drop's",
            mean_excess(runs, [at], tcp_goodput, RED, TD),
            unit="%",
            least=-SAME,
            most=SAME,
        )
        for name, at in present(runs, MIXED).items()
    ]
    return Judgement(checks, "The link is full with both; TCP has what UDP and useless retransmissions leave of it.")


def udp_loses_more(evidence: Evidence) -> Judgement:
    """Compare the loss of UDP."""
    checks = []
    for experiment, title in TITLES.items():
        runs = evidence[experiment]
        each = mean_excess(runs, present(runs, POINTS[experiment]).values(), udp_loss, RED, TD)
        checks.append(Check.of(f"UDP loss of RED over tail drop's, {title}", each, unit="%", least=0))
        if experiment == "mixed":
            checks.append(Check.of(f"the same, {title}: as much as claimed", each, unit="%", least=5, most=12))
    runs = evidence["simulation"]
    relative = {
        label: mean(ratio(udp_loss(runs, label), runs.values("loss_ratio", label, scale=100))) for label in (TD, RED)
    }
    return Judgement(
        checks,
        f"UDP loses {relative[TD]:.2f} times what all lose with tail drop and {relative[RED]:.2f} times with RED "
        "(greedy TCP): a full buffer cuts off bursts of TCP and lets packets that come singly slip in, while RED drops "
        "any packet; and its shorter round trips make TCP lose more.",
    )


def no_gain(evidence: Evidence) -> Judgement:
    """Compare the total goodput."""
    checks = []
    for experiment, title in TITLES.items():
        runs = evidence[experiment]
        each = mean_excess(runs, present(runs, POINTS[experiment]).values(), _goodput, RED, TD)
        checks.append(Check.of(f"goodput of all with RED over tail drop's, {title}", each, unit="%", most=0))
    return Judgement(
        checks, "Both keep the link full, so that only what is sent in vain tells them apart, in either direction."
    )


def _goodput(runs: Runs, label: str, at: At | None) -> Values:
    return runs.values("goodput", label, at)


def tcp_loses_as_much(evidence: Evidence) -> Judgement:
    """Compare the loss of TCP."""
    checks = []
    for experiment, title in TITLES.items():
        runs = evidence[experiment]
        each = mean_excess(runs, present(runs, POINTS[experiment]).values(), tcp_loss, RED, TD)
        checks.append(Check.of(f"TCP loss of RED over tail drop's, {title}", each, unit="%", least=-MUCH, most=MUCH))
    return Judgement(
        checks,
        f"The paper calls {MUCH:g} % more loss of UDP significant. TCP's loss and its round trip fix its rate: with a "
        f"queue of {waits(evidence, TD)} with tail drop and {waits(evidence, RED)} with RED (testbed's traffic and "
        "greedy TCP) the same sources share the same link at another loss.",
    )


CLAIMS = (
    Claim(
        name="tail-drop-for-many",
        text="With 32 and more TCP sources tail drop gives more goodput than RED.",
        where="Section III-A.1, Fig. 4, Exp1 to Exp4",
        judge=many_sources,
        needs=["tcp"],
        shown=["fig4"],
        sensitive=True,
    ),
    Claim(
        name="red-for-few",
        text="With 16 TCP sources RED gives more goodput than tail drop.",
        where="Section III-A.1, Fig. 4, Exp5",
        judge=few_sources,
        needs=["tcp"],
        shown=["fig4"],
        sensitive=True,
    ),
    Claim(
        name="tcp-as-good",
        text="Beside UDP, TCP's goodput with RED is comparable with that with tail drop.",
        where="Section III-A.2, Fig. 5",
        judge=tcp_comparable,
        needs=["mixed"],
        shown=["fig5"],
    ),
    Claim(
        name="red-drops-udp",
        text="UDP loses 5 to 12 % more with RED than with tail drop.",
        where="Section III-A.2, Fig. 5; III-C",
        judge=udp_loses_more,
        needs=["mixed", "simulation"],
        shown=["fig5", "fig10"],
        sensitive=True,
    ),
    Claim(
        name="tcp-loses-as-much",
        text="What TCP loses does not change much from tail drop to RED.",
        where="Section III-A.2",
        judge=tcp_loses_as_much,
        needs=["mixed", "simulation"],
        shown=["metrics"],
    ),
    Claim(
        name="red-gains-nothing",
        text="RED does not increase the goodput of the router's interface.",
        where="Section III-C",
        judge=no_gain,
        needs=["mixed", "simulation"],
        shown=["fig5", "fig10"],
    ),
)
