"""Figure 3, the network; figures 4, 5, 6 and 8, the queue over time in the four cases."""

from collections.abc import Iterator
from dataclasses import replace

import polars

from aqmlab.scenario import Scenario
from aqmlab_papers import Axis, Curve, Figure, Panel, Runs, table
from aqmlab_papers.raqm.measures import FLOWS, Q0, at

TIME = Axis("Time (s)", 0, 200)
QUEUE = Axis("Queue length (packets)", 0, 100)
ROWS = {40: "a", 400: "b", 100: "c"}
"""The paper's letters by the number of flows; its figure 8 has none."""


@table(caption="The dumb-bell with five clients and five servers, as it is simulated.")
def fig3() -> polars.DataFrame:
    """Network topology."""
    frames = []
    for case in (1, 2, 3):
        dumbbell = Scenario.load(f"raqm/case{case}")._base.resolved["dumbbell"]
        frames.append(
            {
                "case": f"{case}",
                "c(i) to Router 1 (paper)": ", ".join(dumbbell["sender_delay"]),
                "c(i) to Router 1": ", ".join(dumbbell["sender_delay"]),
                "Router 1 to 2": f"{dumbbell['rate']}, {dumbbell['delay']}, {dumbbell['buffer']}",
                "Router 2 to s(i)": ", ".join(dumbbell["receiver_delay"]),
                "access links": f"{dumbbell['access_rate']}, {dumbbell['access_buffer']}",
            }
        )
    return polars.DataFrame(frames)


def _over_time(runs: Runs) -> Iterator[Curve]:
    """Draw the queue, a discipline and number of flows in each panel: its mean in half a second, and its range."""
    for flows in runs.points(FLOWS):
        for column, label in enumerate(runs.labels, 1):
            panel, frame = f"{ROWS[flows]}{column}", runs.series(label, at(flows))
            mean = runs.over_time(panel, label, at=at(flows))
            low, high = (frame[f"bottleneck.queue.{end}"].to_numpy() for end in ("min", "max"))
            yield replace(mean, name="queue", low=low, high=high)
            yield Curve(mean.panel, "q0", [0.0, 200.0], [Q0, Q0], style="dashed")


def _queues(number: int, case: int, title: str, loads: tuple[int, ...] = (40, 400), caption: str = "") -> Figure:
    return Figure(
        name=f"fig{number}",
        title=f"Queue length in case {case} with {title}",
        panels=[
            Panel(f"{ROWS[flows]}{column}", f"{label}, {flows} flows", TIME, QUEUE)
            for flows in loads
            for column, label in enumerate(("RAQM", "PI", "REM"), 1)
        ],
        curves=_over_time,
        needs=[f"case{case}"],
        across=3,
        caption=f"{caption}The first seed. The line is the mean of half a second, the band its least and greatest "
        "instantaneous queue; dashed: q0. The paper draws the three disciplines in one panel.",
    )


FIGURE_4 = _queues(4, 1, "small RTT")
FIGURE_5 = _queues(5, 2, "large RTT")
FIGURE_6 = _queues(6, 3, "diverse RTT")
FIGURE_8 = _queues(
    8,
    4,
    "hybrid traffics",
    (40, 400, 100),
    "Short flows and UDP from 50 s to 150 s. The paper has one panel, and does not state the number of long flows. ",
)
