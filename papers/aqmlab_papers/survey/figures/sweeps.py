"""Figures over a parameter: fixed probabilities, PI's gains, loads."""

from collections.abc import Iterator

from aqmlab_papers import Axis, Curve, Figure, Panel, Runs, figure
from aqmlab_papers.run.sketch import mean_curve, over
from aqmlab_papers.survey import theory
from aqmlab_papers.survey.experiments import ROUND_TRIPS
from aqmlab_papers.survey.measures import HOSTS, LOST, WAIT

SIGNALS = Axis("Probability of a signal", 0, 0.65)
EDGES = Axis("Edge nodes", 0, 110)

FIXED = Figure(
    name="fixed",
    title="A fixed probability of signals",
    panels=[
        Panel("a", "Link utilisation", SIGNALS, Axis("Link utilisation (%)", 50, 102)),
        Panel("b", "Loss rate, TCP's packets", SIGNALS, Axis("Loss (%)", 0, 12)),
    ],
    curves=over("fixed", "aqm.p", {"a": ("utilisation", 100.0), "b": (LOST, 100.0)}),
    caption="Every packet is marked, or dropped if it cannot be, with this probability, from 5 s on.",
    beyond=True,
)


TRIPS = Axis("Round-trip time of PI's design (ms)", 0, 400)


@figure(
    [
        Panel("a", "Loss", TRIPS, Axis("Loss of TCP's packets (%)", 0, 14)),
        Panel("b", "Wait", TRIPS, Axis("Mean wait (ms)", 0, 18)),
    ],
    caption="For 60 flows at 2500 packets/s, for which the rule gives the printed gains at 180 ms. The runs' round "
    "trips are 88 ms with a full buffer.",
    beyond=True,
)
def gains(gains: Runs, schemes: Runs) -> Iterator[Curve]:
    """PI with its rule's gains."""
    places = {rtt: theory.rule_gains(theory.GAINS_FOR, rtt)[0] for rtt in ROUND_TRIPS}
    runs = {a: min(gains.points("aqm.a"), key=lambda one, a=a: abs(one - a)) for a in places.values()}  # type: ignore[misc]
    known = {rtt: runs[a] for rtt, a in places.items() if abs(runs[a] / a - 1) < 1e-3}
    for panel, metric in (("a", LOST), ("b", WAIT)):
        summaries = [gains.per_seed(metric, "PI", {"aqm.a": a}).summary for a in known.values()]
        yield mean_curve(panel, "PI", [1e3 * rtt for rtt in known], summaries)
        level = schemes.per_seed(metric, "DropTail").mean
        yield Curve(panel, "DropTail", [60, 360], [level, level], style="dashed")


SYNCHRONISATION = Figure(
    name="synchronisation",
    title="Synchronisation of losses, TCP alone and without ECN",
    panels=[
        Panel("a", "Flows hit by an event of 0.1 s", EDGES, Axis("Flows (%)", 0, 60)),
        Panel("b", "Fairness", EDGES, Axis("Jain's index", 0.5, 1)),
    ],
    curves=over(
        "synchronisation", HOSTS, {"a": ("links.bottleneck.loss_synchronisation", 100.0), "b": "classes.ftp.jain"}
    ),
    caption="RFC 7928's measure: of the flows that send, the share that loses in an event.",
    beyond=True,
)

LOAD = Figure(
    name="load",
    title="The six over the number of edge nodes",
    panels=[
        Panel("a", "Link utilisation", EDGES, Axis("Link utilisation (%)", 50, 102)),
        Panel("b", "Wait at the core", EDGES, Axis("Mean wait (ms)", 0, 18)),
        Panel("c", "Loss rate, TCP's packets", EDGES, Axis("Loss (%)", 0, 20)),
    ],
    curves=over("load", HOSTS, {"a": ("utilisation", 100.0), "b": (WAIT, 1e3), "c": (LOST, 100.0)}),
    across=3,
    beyond=True,
)
