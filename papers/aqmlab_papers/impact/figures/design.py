"""Figure 1 and Table 1, the drop functions; figures 2 and 3, the networks."""

from collections.abc import Iterator

import numpy as np
import polars

from aqmlab.scenario import Scenario
from aqmlab_papers import Axis, Curve, Panel, figure, table
from aqmlab_papers.impact.measures import APPROXIMATED, GENTLE, HERO, RED, TD
from aqmlab_papers.impact.theory import MODELLED
from aqmlab_papers.theory.drops import POLICIES, Policy

SHAPES = {
    "1993: max_p 0.02": Policy(30, 90, 0.02),
    "1997: max_p 0.1": Policy(30, 90, 0.1),
    "2000: gentle": Policy(30, 90, 0.1, gentle=True),
}
PRINTED = {
    TD: ("instantaneous", "sharp"),
    RED: ("average", "sharp"),
    APPROXIMATED: ("average", "smooth"),
    GENTLE: ("average", "smooth"),
    HERO: ("instantaneous", "smooth"),
}


def _network(scenario: str, hosts: str, access: str, bottleneck: str, trips: str) -> polars.DataFrame:
    """List the links of a scenario beside the printed ones."""
    network = Scenario.load(f"impact/{scenario}").resolved["dumbbell"]
    delays = ", ".join(network["sender_delay"])
    rows = (
        ("senders and receivers", hosts, str(network["hosts"])),
        ("links of the senders and receivers", access, network["access_rate"]),
        ("link between the routers", bottleneck, network["rate"]),
        ("buffer in front of it", "200 packets", network["buffer"]),
        ("delays", trips, f"{delays}; {network['delay']}; {network['receiver_delay'][0]}"),
    )
    return polars.DataFrame([{"part": part, "paper": printed, "ours": ours} for part, printed, ours in rows])


@figure(
    [Panel("", "Drop function", Axis("Average queue (packets)", 0, 200), Axis("Drop probability", 0, 1))],
    caption="Thresholds 30 and 90, which are not those of the printed sketches.",
    across=1,
)
def fig1() -> Iterator[Curve]:
    """The evolution of the RED dropping functions."""
    average = np.linspace(0, 200, 401)
    for name, policy in SHAPES.items():
        yield Curve("", name, average, policy.drop(average))


@table(
    caption="Ours is computed from the disciplines as they are run: a function is sharp if one more "
    "packet adds a tenth or more to the drop probability. The testbed's GRED is sharp RED in name only."
)
def table1() -> polars.DataFrame:
    """The design space."""
    rows = []
    for label, (queue, function) in PRINTED.items():
        policy = POLICIES[MODELLED[label]]
        # An edge: one more packet changes the probability by more than a tenth.
        jump = float(np.max(np.diff(policy.drop(np.arange(0.0, 202)))))
        rows.append(
            {
                "mechanism": label,
                "queue size (paper)": queue,
                "queue size": "average" if policy.w < 1 else "instantaneous",
                "dropping function (paper)": function,
                "dropping function": "sharp" if jump > 0.1 else "smooth",
                "weight w": policy.w,
                "largest step of p by one packet": jump,
            }
        )
    return polars.DataFrame(rows)


@table(caption="A sketch in print. Delays: of the senders' links, between the routers, of the receivers' links.")
def fig2() -> polars.DataFrame:
    """The testbed."""
    return _network("mixed", "20 PCs on both sides", "10 Mbit/s, half duplex", "10 Mbit/s, full duplex", "10 to 200 ms")


@table(caption="A sketch in print. Delays as in figure 2; each sender's link draws its own.")
def fig3() -> polars.DataFrame:
    """The network of the simulations."""
    return _network("simulation", "32 sources", "100 Mbit/s", "10 Mbit/s", "round trips of 120 to 220 ms")
