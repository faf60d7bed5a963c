"""Experiment 2 between real hosts, as the Linux engine runs it."""

from aqmlab_papers import LINUX_TCP, Choice, Measurement
from aqmlab_papers.lred.figures.queues import FIGURE_6

HOSTS = Measurement(
    engine="linux",
    experiments={"exp2-light": False, "exp2-heavy": False},
    settings=LINUX_TCP.settings,
    quick={"duration": "60 s"},
    seeds=2,
    full_seeds=10,
    items=[FIGURE_6],
    choices=[
        Choice("TCP", "Reno, newest version of ns-2", "that of the engine's Linux kernel with Reno").because(
            "Loss detection, SACK, delayed ACKs and time-outs are the kernel's own."
        ),
        Choice("Number of runs", "", "2").because("A run takes two minutes; `--full` has ten of each."),
    ],
    why="The paper simulated. Here real Linux hosts send through a router that has the disciplines of this package, "
    "to tell which of the verdicts on the lightest and the heaviest load are due to the simulator's TCP.",
)
"""Both extreme loads by the Linux engine."""
