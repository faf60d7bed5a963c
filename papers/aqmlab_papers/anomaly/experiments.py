"""The experiments: three stations, of which one is slow."""

from aqmlab.scenario import Settings
from aqmlab_papers import Experiment
from aqmlab_papers.anomaly.measures import QUEUES


def _three(name: str, title: str, settings: Settings) -> Experiment:
    return Experiment(name, title, QUEUES, scenario="anomaly/three", settings=settings, rivals={})


EXPERIMENTS = [
    _three("downloads", "A download of each of three stations", {}),
    _three("datagrams", "UDP to each of three stations", {"traffic.tcp.count": 0, "traffic.udp.count": 3}),
]
