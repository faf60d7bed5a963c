"""The study's figures and tables."""

from aqmlab.library.impact import curves
from aqmlab.library.impact.losses import LONGEST
from aqmlab.library.impact.measures import GREDS, HERO, RED, SURGE_BEGIN, SURGE_END, TD
from aqmlab.papers import Axis, Figure, Panel, Table

GOODPUT = "TCP goodput (Mbit/s)"
UDP = "UDP loss probability (%)"
TIME = Axis("Time (s)", *curves.WINDOW)
DELAY = Axis("Queueing delay (s)", 0, 0.2)
LENGTH = Axis("Consecutive losses n (packets)", 1, LONGEST)
CHANCE = Axis("P(at least n)", 1e-6, 1, log=True)
WEIGHT = Axis("Averaging w", 0.001, 1, log=True)
MODEL = (
    f"Dashed is the open-loop model: Poisson arrivals at {curves.LOAD} times what the link serves (the load is lost in "
    "print), buffer 200. Bands are of Poisson counts, and of the model's simulation."
)

ITEMS: list[Figure | Table] = [
    Figure(
        name="fig1",
        title="The evolution of the RED dropping functions",
        panels=[Panel("", "Drop function", Axis("Average queue (packets)", 0, 200), Axis("Drop probability", 0, 1))],
        curves=curves.functions,
        caption="Thresholds 30 and 90, which are not those of the printed sketches.",
        across=1,
    ),
    Table(
        name="table1",
        title="The design space",
        rows=curves.design_space,
        caption="Ours is computed from the disciplines as they are run: sharp is a function of which one packet more "
        "adds a tenth or more to the drop probability. The testbed's GRED is sharp RED in name only.",
    ),
    Figure(
        name="fig4",
        title="Aggregate goodput with RED and tail drop, experiments 1 to 5",
        needs=["tcp"],
        panels=[Panel("", "Goodput", Axis("Experiment"), Axis("Throughput (Mbit/s)", 9.0, 9.6))],
        curves=curves.goodput_and_loss("tcp", (TD, RED), loss=False),
        caption="The printed axis begins at 9.15. Most that there can be is 9.6: 40 of 1000 bytes are headers.",
        across=1,
    ),
    Figure(
        name="fig5",
        title="TCP goodput and UDP loss with RED and tail drop, experiments 6 to 8",
        needs=["mixed"],
        panels=[
            Panel("left", "TCP goodput", Axis("Experiment"), Axis(GOODPUT, 7, 8.6)),
            Panel("right", "UDP loss", Axis("Experiment"), Axis(UDP, 0, 38)),
        ],
        curves=curves.goodput_and_loss("mixed", (RED, TD)),
        caption="One chart with two axes in print, left and right: 7 to 8.4 Mbit/s, and 29 to 38 %. The testbed's "
        "level of loss is that of its own traffic and is not reached here: compare differences.",
    ),
    Figure(
        name="fig6",
        title="Queueing delay and consecutive losses with RED and tail drop",
        needs=["queue", "mixed"],
        panels=[
            Panel("left", "Queueing delay, 200 greedy sources", TIME, DELAY),
            Panel("right", "Losses in a row of a UDP flow, 400 sources", LENGTH, CHANCE),
        ],
        curves=curves.runs_of_a_flow,
        caption=f"{MODEL} It deals packets out to {curves.FLOWS} flows at random; the simulated flow is one of ten, "
        "and has a packet every 40 to 120 ms.",
    ),
    Figure(
        name="fig7",
        title="Impact of the averaging parameter on TCP goodput and UDP loss",
        needs=["averaging"],
        panels=[
            Panel("left", "TCP goodput", WEIGHT, Axis(GOODPUT, 8, 9)),
            Panel("right", "UDP loss", WEIGHT, Axis(UDP, 0, 20)),
        ],
        curves=curves.averaging,
        caption="One chart with two axes in print, which have no numbers.",
    ),
    Figure(
        name="fig8",
        title="TCP goodput and UDP loss with tail drop, RED and gentle RED, experiments 6 to 8",
        needs=["mixed"],
        panels=[
            Panel("left", "TCP goodput", Axis("Experiment"), Axis(GOODPUT, 7, 8.6)),
            Panel("right", "UDP loss", Axis("Experiment"), Axis(UDP, 0, 38)),
        ],
        curves=curves.goodput_and_loss("mixed", (TD, RED, *GREDS)),
        caption="Printed is the testbed's GRED: sharp RED from 0 at 30 packets to 1 at 130. Beside it true gentle RED.",
    ),
    Figure(
        name="fig9",
        title="The queue and consecutive losses with gentle RED",
        needs=["queue", "simulation"],
        panels=[
            Panel("left", "Queueing delay, 200 greedy sources", TIME, DELAY),
            Panel("right", "Losses in a row of all, 400 greedy sources", LENGTH, CHANCE),
        ],
        curves=curves.runs_of_all(GREDS),
        caption=MODEL,
    ),
    Figure(
        name="fig10",
        title="TCP goodput and UDP loss with tail drop, RED, GRED and GRED-I, simulation",
        needs=["simulation"],
        panels=[
            Panel("left", "TCP goodput", Axis("Experiment"), Axis(GOODPUT, 8, 9.4)),
            Panel("right", "UDP loss", Axis("Experiment"), Axis(UDP, 0, 30)),
        ],
        curves=curves.goodput_and_loss("simulation", (TD, RED, *GREDS, HERO)),
        caption="The paper does not say which GRED it simulated: both are here.",
    ),
    Figure(
        name="fig11",
        title="The queue and consecutive losses with GRED-I",
        needs=["queue", "simulation"],
        panels=[
            Panel("left", "Queueing delay, 200 greedy sources", TIME, DELAY),
            Panel("right", "Losses in a row of all, 400 greedy sources", LENGTH, CHANCE),
        ],
        curves=curves.runs_of_all((HERO,)),
        caption=MODEL,
    ),
    Figure(
        name="surge",
        title="A surge of UDP",
        needs=["surge"],
        panels=[
            Panel("left", "Queue", Axis("Time (s)", SURGE_BEGIN - 2, SURGE_END + 4), Axis("Queue (packets)", 0, 200)),
            Panel(
                "right", "Drops", Axis("Time (s)", SURGE_BEGIN - 2, SURGE_END + 4), Axis("Drops (packets in 50 ms)", 0)
            ),
        ],
        curves=curves.surge,
        caption=f"UDP of 5 Mbit/s from {SURGE_BEGIN} to {SURGE_END} s. The paper argues it without a figure.",
        beyond=True,
    ),
    Table(
        name="metrics",
        title="All metrics in simulation, 200 greedy TCP sources",
        needs=["simulation"],
        rows=curves.metrics,
        caption="With the metric that the paper names as missing: Jain's index of the TCP flows' goodputs.",
        beyond=True,
    ),
    Table(
        name="runs",
        title="Losses in a row, 400 sources: of a UDP flow, and of all packets whatever their flow",
        needs=["mixed", "simulation"],
        rows=curves.run_lengths,
        caption=f"P(run >= n); the model has the load {curves.LOAD}, and a flow has one packet in {curves.FLOWS}.",
        digits=2,
        beyond=True,
    ),
    Figure(
        name="split",
        title="How often a UDP flow loses more than 5 packets in a row, by how many flows UDP is split into",
        needs=["split"],
        panels=[
            Panel(
                "",
                "400 sources",
                Axis("UDP flows of 1 Mbit/s in all", 1, 40, log=True),
                Axis("P(> 5)", 1e-6, 1, log=True),
            )
        ],
        curves=curves.split,
        caption="The paper does not say how many there are; where a point is missing, no run was so long. Bands are of "
        "Poisson counts.",
        across=1,
        beyond=True,
    ),
]
