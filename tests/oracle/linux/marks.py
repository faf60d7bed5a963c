"""Scenarios of `make engines-agree` whose senders are ECN-capable."""

from collections.abc import Mapping

import aqmlab
from aqmlab.results.result import Run
from aqmlab.scenario import Settings
from oracle.linux.check import Tolerance

_NETWORK = """\
duration = "6 s"
warmup = "1 s"

[dumbbell]
rate = "20 Mbit/s"
delay = "2 ms"
buffer = "250 packets"
sender_delay = ["2 ms"]
receiver_delay = ["1 ms"]
access_rate = "1 Gbit/s"
access_buffer = "100000 packets"
"""

_DOWN, _UP = ('from = "senders"\nto = "receivers"', 'from = "receivers"\nto = "senders"')


def _entry(name: str, tcp: str, *keys: str) -> str:
    return "\n".join(["\n[[traffic]]", f'name = "{name}"', f'tcp = "{tcp}"', *keys, ""])


def _long(tcp: str, count: int = 4, name: str = "") -> str:
    """Flows for the whole run, in both directions."""
    more = (f"count = {count}", 'start = "uniform(0 s, 100 ms)"')
    return _entry(f"{name}down", tcp, _DOWN, *more) + _entry(f"{name}up", tcp, _UP, *more)


def _down(tcp: str, count: int = 4) -> str:
    """Flows for the whole run, in one direction."""
    return _entry("down", tcp, _DOWN, f"count = {count}", 'start = "uniform(0 s, 100 ms)"')


def _short(tcp: str, arrival_rate: str = "20 Hz") -> str:
    return _entry("short", tcp, 'kind = "short"', f'arrival_rate = "{arrival_rate}"', 'size = "20 kB"')


def _pages(tcp: str) -> str:
    """Each page opens two connections: handshakes, requests, answers."""
    more = ("count = 20", "connections = 2", "objects = 4", 'size = "10 kB"', 'think = "200 ms"')
    return _entry("pages", tcp, 'kind = "web"', *more)


DCTCP, CUBIC = "dctcp", "cubic:ecn=true"
ACCURATE = "ecn_feedback=accurate"

_STEP = "step:k=20"


def _hole(ecn_path: str) -> Settings:
    return {"dumbbell.ecn_path": ecn_path, "dumbbell.reverse_ecn_path": ecn_path}


_SCENARIOS: Mapping[str, tuple[str, str, Settings]] = {
    "dctcp_both_ways": (_STEP, _long(DCTCP), {}),
    "dctcp_both_ways_fast": (
        _STEP,
        _long(DCTCP),
        {
            "duration": "400 ms",
            "warmup": "100 ms",
            "dumbbell.rate": "1 Gbit/s",
            "dumbbell.delay": "10 us",
            "dumbbell.sender_delay": "20 us",
            "dumbbell.receiver_delay": "20 us",
            "dumbbell.access_rate": "10 Gbit/s",
        },
    ),
    "dctcp_both_ways_slow": (_STEP, _long(DCTCP, 2), {"duration": "20 s", "dumbbell.rate": "2 Mbit/s"}),
    "dctcp_beside_cubic": (_STEP, _long(DCTCP, 2, "dctcp-") + _long(CUBIC, 2, "cubic-"), {}),
    "dctcp_and_short": (_STEP, _long(DCTCP, 1) + _short(DCTCP), {}),
    "dctcp_pages_lost": (_STEP, _pages(DCTCP), {"dumbbell.loss": 0.05, "dumbbell.reverse_loss": 0.05}),
    "dctcp_pages_full": ("droptail", _pages(DCTCP), {"dumbbell.rate": "5 Mbit/s", "dumbbell.buffer": "20 packets"}),
    "dctcp_unmarked": ("step:k=20,ecn=false", _long(DCTCP), {}),
    "dctcp_dualpi2": ("dualpi2:preset=linux", _long(DCTCP), {}),
    "dctcp_red": (
        "red:preset=linux,min_bytes=30000 B,max_bytes=31500 B,mean_packet=1500 B,burst=21,max_p=1,ecn=true,"
        "bandwidth=20 Mbit/s",
        _long(DCTCP),
        {},
    ),
    "dctcp_cake": ("cake", _long(DCTCP), {}),
    "cubic_codel": ("codel:preset=linux,ecn=true", _long(CUBIC), {}),
    "cubic_fq_codel": ("fq_codel:preset=linux", _long(CUBIC), {}),
    "cubic_dualpi2": ("dualpi2:preset=linux", _long(CUBIC), {}),
    "cubic_pie": ("pie:preset=linux,ecn=true", _long(CUBIC), {}),
    "cubic_pie_dropped": ("pie:preset=linux,ecn=true", _long(CUBIC, 40), {}),
    "cubic_red": (
        "red:preset=linux,min_bytes=15000 B,max_bytes=45000 B,mean_packet=1500 B,burst=20,max_p=0.1,ecn=true,"
        "bandwidth=20 Mbit/s",
        _long(CUBIC),
        {},
    ),
    "cubic_red_dropped": (
        "red:preset=linux,min_bytes=15000 B,max_bytes=45000 B,mean_packet=1500 B,burst=20,max_p=0.1,ecn=true,"
        "hard_drop=true,bandwidth=20 Mbit/s",
        _long(CUBIC, 20),
        {},
    ),
    "cubic_and_short": ("codel:preset=linux,ecn=true", _long(CUBIC, 1) + _short(CUBIC), {}),
    "cubic_pages_lost": (_STEP, _pages(CUBIC), {"dumbbell.loss": 0.05, "dumbbell.reverse_loss": 0.05}),
    "cubic_pages_full": ("droptail", _pages(CUBIC), {"dumbbell.rate": "5 Mbit/s", "dumbbell.buffer": "20 packets"}),
    "cubic_video": (
        "fq_codel:preset=linux",
        _long(CUBIC, 1) + _entry("video", CUBIC, 'kind = "dash"', "count = 4", 'chunk = "1 s"'),
        {},
    ),
    "accurate_cubic": (_STEP, _long(f"{CUBIC},{ACCURATE}"), {}),
    "accurate_cubic_down": (_STEP, _down(f"{CUBIC},{ACCURATE}"), {"duration": "20 s"}),
    "accurate_dctcp": (_STEP, _long(f"{DCTCP}:{ACCURATE}"), {}),
    "accurate_cubic_codel": ("codel:preset=linux,ecn=true", _long(f"{CUBIC},{ACCURATE}"), {}),
    "accurate_cubic_cake": ("cake", _long(f"{CUBIC},{ACCURATE}"), {}),
    "hole_drop_cubic": (_STEP, _short(CUBIC, "5 Hz"), {"duration": "20 s", **_hole("drop")}),
    "hole_drop_dctcp": (_STEP, _long(DCTCP, 2, "dctcp-") + _long("cubic", 2, "cubic-"), _hole("drop")),
    "hole_refuse_cubic": (_STEP, _short(CUBIC), _hole("refuse")),
    "hole_refuse_dctcp": (_STEP, _short(DCTCP), _hole("refuse")),
    "hole_clear_cubic": (_STEP, _long(CUBIC), _hole("clear")),
    "hole_clear_dctcp": (_STEP, _long(DCTCP), _hole("clear")),
    "hole_marks_cubic": (_STEP, _long(CUBIC), _hole("clear-marks")),
    "hole_marks_dctcp": (_STEP, _long(DCTCP), _hole("clear-marks")),
}


def scenarios() -> dict[str, aqmlab.Scenario]:
    """Each of them by its name, which begins with `ecn_`."""
    made = {}
    for name, (aqm, traffic, changes) in _SCENARIOS.items():
        given: Settings = {**changes, "aqm": aqm, "reverse_aqm": aqm}
        made[f"ecn_{name}"] = aqmlab.Scenario.parse(_NETWORK + traffic, name).with_(given)
    return made


def measured(run: Run) -> dict[str, float]:
    """What the bottleneck did with the packets, and what each entry got: rates in Mbit/s, times in ms."""
    keys = {
        "goodput": ("goodput", 1e-6),
        "lost": ("path_loss_ratio", 1),
        "marked": ("mark_ratio", 1),
        "started": ("started", 1),
        "completed": ("completed", 1),
        "completion": ("completion_time_mean", 1000),
        "timeouts": ("timeouts", 1),
        "bitrate": ("video_bitrate", 1e-6),
    }
    found = {"delay_p95": 1000 * (run.metrics["queue_delay_p95"] or 0.0)}
    for entry, values in run.classes.items():
        for name, (key, factor) in keys.items():
            # Flows for the whole run have no beginnings and ends to compare.
            value = values[key]
            if value is not None and (values["completed"] or name not in ("started", "completed")):
                found[f"{entry} {name}"] = factor * value
    return found


_SHARE = Tolerance(0.20, 0.001, errors=3)
"""Of packets lost or marked: as for events in `check`, and one packet in a thousand is chance."""

_COUNT = Tolerance(0.05, errors=3)
"""Of values that hardly vary, because the link or the traffic decides them."""

TOLERANCES = {
    "goodput": _COUNT,
    "started": _COUNT,
    "completed": _COUNT,
    "bitrate": _COUNT,
    "lost": _SHARE,
    "marked": _SHARE,
    # Times have long tails, of a second for each SYN that is lost.
    "completion": Tolerance(0.10, errors=3),
    "timeouts": Tolerance(0.20, 2, errors=3),
    # As in `check`, without the amount in ms: the queues are short.
    "delay_p95": Tolerance(0.15, errors=3),
}
