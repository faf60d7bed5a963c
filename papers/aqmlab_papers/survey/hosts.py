"""The survey's core router between real hosts, as the Linux engine runs it."""

from aqmlab_papers import LINUX_TCP, Choice, Measurement
from aqmlab_papers.survey.figures import router, tables

HOSTS = Measurement(
    engine="linux",
    experiments={"schemes": False, "readings": False, "fixed": True, "configuration": True},
    settings=LINUX_TCP.settings,
    quick={"dumbbell.hosts": 20, "traffic.ftp.count": 60, "traffic.udp.count": 20},
    seeds=3,
    full_seeds=20,
    items=(router.fig2, tables.schemes),
    choices=[
        Choice("TCP", "NewReno of ns-2", "that of the engine's Linux kernel with Reno").because(
            "Loss detection, SACK, delayed ACKs and time-outs are the kernel's own."
        ),
        Choice("Number of runs", "", "3").because("A run of 280 hosts takes half a minute; `--full` has twenty."),
    ],
    why="The survey simulated. Here real Linux hosts send through a router that has the disciplines of this package, "
    "to tell which of the verdicts are due to the simulator's TCP.",
)
"""The six schemes by the Linux engine; with ``--full`` also fixed probabilities and other parameters."""
