"""The experiments: BBRv3 and CUBIC through an access point, one way and both, and an upload to a wired server."""

from functools import partial

from aqmlab.scenario import Settings
from aqmlab_papers import Aqms, Experiment
from aqmlab_papers.wifi_bbr.measures import DELAYS, PATHS, QUEUES

BACK: Settings = {"traffic.bbr-back.count": 1, "traffic.cubic-back.count": 1}

STATIONS: Aqms = {
    **{name: QUEUES[name] for name in ("FIFO", "FQ-CoDel", "CAKE")},
    "FIFO in the station": {"wifi.wlan.reverse_aqm": "droptail", "wifi.wlan.reverse_buffer": "1000 packets"},
}
"""What the access point has while stations have mac80211's queues, and a FIFO in both."""

Home = partial(
    Experiment,
    scenario="wifi-bbr/home",
    vary={path: [f"{1e3 * delay:g} ms" for delay in DELAYS.values()] for path in PATHS},
    method="paired",
    rivals={},
)

EXPERIMENTS = [
    Home("one-way", "From one station to the other", QUEUES, series=True),
    Home("both-ways", "In both directions at once", QUEUES, settings=BACK, series=True),
    Home(
        "upload",
        "An upload to a wired server",
        STATIONS,
        settings={
            **BACK,
            "traffic.bbr.count": 0,
            "traffic.cubic.count": 0,
            "link.bbr-wire.to": "ap",
            "link.cubic-wire.to": "ap",
            "wifi.wlan.stations": ["client"],
        },
    ),
]
