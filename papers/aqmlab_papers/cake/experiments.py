"""The experiments: one for each part of CAKE."""

from aqmlab.scenario import Settings
from aqmlab_papers import Aqms, Experiment
from aqmlab_papers.cake.measures import FILTERS, FLOWS, MODES

COUNT = "traffic.flows.count"
DELAY = "dumbbell.delay"
FRAMING = "link.shaped.aqm.framing"


def _counts(**counts: int) -> Settings:
    return {f"traffic.{name}.count": count for name, count in counts.items()}


def _each(key: str, *values: str) -> Aqms:
    """Return CAKE with each value of a parameter, by the value's name."""
    return {value: {key: value} for value in values}


def _hosts(name: str, title: str, modes: tuple[str, ...], settings: Settings) -> Experiment:
    return Experiment(name, title, _each("aqm.flowmode", *modes), scenario="cake/hosts", settings=settings, rivals={})


TO_TWO: Settings = {"traffic.two.from": "sender1", "traffic.two.to": "receiver2"}
"""The two flows are of the source of the one, and go to another destination."""

TINS: Aqms = _each("aqm.diffserv", "diffserv3")

EXPERIMENTS = [
    _hosts("sources", "One flow of a source, two of another", MODES, {}),
    _hosts("destinations", "One flow to a destination, two to another", MODES, TO_TWO),
    _hosts(
        "pairs", "One flow of a pair of hosts, two of another", ("triple-isolate",), {"traffic.two.to": "receiver2"}
    ),
    _hosts(
        "three-sources",
        "Three sources and two destinations, two flows of each pair",
        ("triple-isolate",),
        {**TO_TWO, **_counts(one=2, two=2, three=2, four=2)},
    ),
    Experiment(
        "modem",
        "A shaper before a modem for ADSL",
        {"cells": {FRAMING: "pppoa-vcmux"}, "packets": {FRAMING: "raw"}},
        scenario="cake/modem",
        rivals={},
    ),
    Experiment("tins", "TCP in three classes", TINS, scenario="cake/classes", rivals={}),
    *(
        Experiment(
            f"{alone}-alone",
            f"TCP in the class {alone} alone",
            TINS,
            scenario="cake/classes",
            settings=_counts(**{other: 0 for other in ("best", "bulk", "voice") if other != alone}),
            rivals={},
        )
        for alone in ("bulk", "voice")
    ),
    Experiment(
        "calls",
        "A call and a video of 1 Mbit/s beside 32 flows of TCP",
        _each("aqm.diffserv", "besteffort", "diffserv3"),
        scenario="cake/classes",
        settings=_counts(best=32, bulk=0, voice=0, call=1, video=1),
        rivals={},
    ),
    Experiment(
        "filter",
        "Acknowledgements filtered on 30 Mbit/s down and 1 up",
        _each("aqm.ack_filter", *FILTERS),
        {DELAY: ["0 s", "25 ms"]},
        scenario="cake/asymmetric",
        rivals={},
    ),
    Experiment(
        "gigabit",
        "Acknowledgements filtered on 1 Gbit/s down and 20 Mbit/s up, after 30 s",
        _each("aqm.ack_filter", *FILTERS),
        scenario="cake/asymmetric",
        settings={
            DELAY: "50 ms",
            "dumbbell.rate": "2 Gbit/s",
            "dumbbell.access_rate": "2 Gbit/s",
            "aqm.bandwidth": "20 Mbit/s",
            "reverse_aqm.bandwidth": "1 Gbit/s",
            "warmup": "25 s",
            "duration": "35 s",
        },
        rivals={},
    ),
    Experiment(
        "collisions",
        "Flows that share a queue",
        {"CAKE": "cake:flowmode=flows", "FQ-CoDel": "fq:preset=linux"},
        {COUNT: list(FLOWS)},
        scenario="cake/many",
        series=True,
        rivals={},
    ),
]
