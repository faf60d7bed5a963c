"""The experiments: one flow on the paths of the cases."""

from functools import partial

from aqmlab.scenario import Settings
from aqmlab_papers import Experiment

TCPS = ("bbr", "bbr3")


def _each(**more: Settings) -> dict[str, Settings]:
    """Return each version of BBR by its name, with settings of its own."""
    return {tcp: {"traffic.flow.tcp": tcp, **more.get(tcp, {})} for tcp in TCPS}


def _changed(start: str, **changes: list[str]) -> dict[str, Settings]:
    """Return them on a link whose rate changes when a phase of theirs begins, which their start therefore fixes."""
    return _each(**{tcp: {"dumbbell.changes": one, "traffic.flow.start": start} for tcp, one in changes.items()})


One = partial(Experiment, aqms=_each(), series=True, rivals={})
Flow = partial(One, scenario="bbr-tests/one-flow")
Moment = partial(Flow, varied=False)
"""A flow on a path that changes when one of its phases begins."""

EXPERIMENTS = [
    Flow("alone", "A flow alone"),
    Moment(
        "deeper-drain",
        "The link loses 70 % of its rate when DRAIN begins",
        aqms=_changed("uniform(0 s, 10 ms)", bbr=["750 ms: 30 Mbit/s"], bbr3=["535 ms: 30 Mbit/s"]),
        settings={"duration": "7 s"},
    ),
    Moment(
        "drain",
        "The link loses 10 % of its rate when DRAIN begins",
        aqms=_changed("uniform(0 s, 10 ms)", bbr=["750 ms: 90 Mbit/s"], bbr3=["535 ms: 90 Mbit/s"]),
        settings={"duration": "5 s"},
    ),
    Moment(
        "down",
        "The link loses 10 % of its rate when PROBE_DOWN begins",
        aqms=_changed("0 s", bbr=["1.11 s: 90 Mbit/s"], bbr3=["2.735 s: 90 Mbit/s"]),
        settings={"duration": "8 s"},
        most_seeds=1,  # with another start the phase begins at another time
    ),
    One(
        "limited",
        "An application that has little to send",
        vary={"dumbbell.loss": [0.0, 0.05]},
        scenario="bbr-tests/limited",
    ),
    One(
        "idle",
        "An application that pauses for more than 10 s",
        scenario="bbr-tests/limited",
        settings={
            "dumbbell.rate": "100 Mbit/s",
            "dumbbell.delay": "20 ms",
            "traffic.flow.bitrates": ["12 Mbit/s"],
            "traffic.flow.chunk": "13 s",
            "traffic.flow.playback_buffer": "13 s",
            "duration": "30 s",
        },
    ),
    One("aggregated", "Acknowledgements that come in bursts", scenario="bbr-tests/aggregated"),
    Flow(
        "small",
        "A BDP of 0.2 packets",
        settings={"dumbbell.rate": "64 kbit/s", "dumbbell.buffer": "100 packets", "duration": "60 s"},
    ),
    Flow(
        "faster",
        "Ten times the rate after 5 s",
        settings={
            "dumbbell.rate": "10 Mbit/s",
            "dumbbell.buffer": "4000 packets",
            "dumbbell.changes": ["5 s: 100 Mbit/s"],
        },
    ),
    Flow(
        "slower",
        "A tenth of the rate after 5 s",
        settings={"dumbbell.buffer": "1 BDP", "dumbbell.changes": ["5 s: 10 Mbit/s"], "duration": "30 s"},
    ),
    Flow(
        "outage",
        "The link stands still for a second",
        settings={"dumbbell.changes": ["6 s: 12 kbit/s", "7 s: 100 Mbit/s"], "duration": "10 s"},
    ),
    Flow(
        "long",
        "A round trip of 1 s",
        settings={"dumbbell.delay": "500 ms", "dumbbell.buffer": "40000 packets", "duration": "25 s"},
    ),
    Flow("shallow", "A buffer of 0.2 BDP", settings={"dumbbell.buffer": "0.2 BDP"}),
]
