"""Experiment 2 between real hosts, as the Linux engine runs it."""

from aqmlab_papers import LINUX_TCP, Choice, Measurement
from aqmlab_papers.lred.figures.queues import FIGURE_6, figure_6a

HOSTS = Measurement(
    engine="linux",
    experiments={"exp2-light": False, "exp2-heavy": True},
    settings={**LINUX_TCP.settings, "duration": "100 s"},
    full={"duration": "200 s"},
    quick={"duration": "60 s"},
    seeds=5,
    full_seeds=10,
    items=[figure_6a(), FIGURE_6],
    choices=[
        Choice("TCP", "Reno, newest version of ns-2", "that of the engine's Linux kernel with Reno").because(
            "Loss detection, SACK, delayed ACKs and time-outs are the kernel's own."
        ),
        Choice("Runs", "200 s", "5 of 100 s").because(
            "A run takes half a minute. `--full` has ten of 200 s, and the heavy load too."
        ),
    ],
    why="The paper simulated. Here real Linux hosts send through a router that has the disciplines of this package, "
    "to tell which verdicts on the light load, and with `--full` on the heavy one, are due to the simulator's TCP.",
)
"""The light load by the Linux engine; with ``--full`` also the heavy one."""
