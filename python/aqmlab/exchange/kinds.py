"""The options and statistics of each discipline of Linux as tc prints them, from a discipline of ours and its result.

# Sources
The files ``q_*.c`` of iproute2 7.1 and ``sch_*.c`` of Linux 7.2.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from copy import copy
from typing import TYPE_CHECKING, Any

from aqmlab import _core

if TYPE_CHECKING:
    from aqmlab.results.result import Result

Options = Mapping[str, Any]

MEMORY_LIMIT = 32 << 20
"""Bytes that FQ-CoDel and FQ-PIE may use by default; their limit in packets comes first."""

MTU = 1514
"""Bytes of a full packet as Linux counts it."""


_NULL = ("split-gso",)
"""The flags that tc prints without a value."""


class Observed:
    """What a result knows of a link and its discipline; `limit` is the buffer in the discipline's unit."""

    def __init__(self, link: str, result: Result, limit: int | None) -> None:
        run, scenario = result.runs[0], result.scenario
        self.limit = limit
        self._link, self._metrics, self._lanes = link, run.links[link], run.lanes
        self._own = run.counters.get(link, {})
        recorded = result.recordings.get(result.seeds[0])
        self._series = result.series if recorded and recorded.queue is not None else None
        self._warmup = scenario.warmup
        seconds = scenario.duration - scenario.warmup
        self.sent_bytes: int | None = round((self._metrics["throughput"] or 0.0) * seconds / 8)
        self.early, self.overflow = self.count("drops_early"), self.count("drops_overflow")
        self.marks, self.dropped = self.count("marks"), self.early + self.overflow
        self.accepted = self.count("arrivals") - self.dropped

    def count(self, metric: str) -> int:
        """Return a metric of the link that counts packets."""
        return int(self._metrics[metric] or 0)

    def own(self, name: str) -> Any:
        """Return a number that the discipline itself shows, as tc prints numbers; None if there is none."""
        return _printed(self._own[name]) if name in self._own else None

    def exact(self, name: str) -> float | None:
        """Return such a number with all its digits."""
        return self._own.get(name)

    def tins(self) -> list[dict[str, Any]]:
        """Return the statistics of CAKE's tins, which the engine lists in Linux's order."""
        tins: dict[int, dict[str, Any]] = {}
        for path, value in self._own.items():
            group, _, rest = path.partition(".")
            if group == "tins":
                place, _, name = rest.partition(".")
                tins.setdefault(int(place), {})[name] = _printed(value)
        return [{name: tins[place][name] for name in _TIN} for place in sorted(tins)]

    def queue(self, number: int) -> Observed:
        """Return the part that concerns one transmit queue, which has a CAKE of its own."""
        one, prefix = copy(self), f"queues.{number}."
        one._own = {name.removeprefix(prefix): own for name, own in self._own.items() if name.startswith(prefix)}
        arrived, octets, one.dropped = (
            sum(tin[name] for tin in one.tins()) for name in ("sent_packets", "sent_bytes", "drops")
        )
        # A tin counts what comes to it, under another name, and not the bytes of what it drops.
        one.accepted, one.sent_bytes = arrived - one.dropped, None if one.dropped else octets
        return one

    def arrivals(self, lane: str) -> int | None:
        """Return the packets that joined a lane."""
        metrics = self._lanes.get(f"{self._link}.{lane}")
        return None if metrics is None else int(metrics["arrivals"] or 0)

    def longest(self) -> int | None:
        """Return the longest queue, in packets; None without series."""
        if self._series is None:
            return None
        greatest = self._series.filter(self._series["t"] >= self._warmup)[f"{self._link}.queue.max"].max()
        return None if greatest is None else int(float(str(greatest)))


def options(kind: str, discipline: Options, observed: Observed) -> dict[str, Any]:
    """Return the options of a kind as tc prints them; of one that Linux lacks, its limit."""
    inside = discipline.get("aqm")
    every = {**discipline, **inside, "name": discipline["name"]} if isinstance(inside, Mapping) else discipline
    found = _OPTIONS.get(kind, _limit)(every, observed)
    return {name: value for name, value in found.items() if value is not None or name in _NULL}


def statistics(kind: str, discipline: Options, observed: Observed) -> dict[str, Any]:
    """Return the statistics of a kind as tc prints them."""
    return _STATISTICS[kind](discipline, observed) if kind in _STATISTICS else {}


def overlimits(kind: str, observed: Observed) -> int | None:
    """Return how often a discipline has met its limits, as Linux counts them; None if that is not known."""
    if kind in ("red", "choke"):
        return observed.marks + _early(observed)
    if kind == "dualpi2":
        return observed.overflow
    unaware = ("pfifo", "bfifo", "pfifo_head_drop", "codel", "fq_codel", "pie", "fq_pie", "drr")
    return 0 if kind in unaware else None


def _printed(value: float) -> int | float:
    """Return a number as tc prints it: with six digits unless it is whole."""
    return int(value) if float(value).is_integer() else float(f"{value:g}")


def _base(text: Any) -> float | None:
    """Return a quantity in its base unit; None for one that is chosen automatically."""
    read = _core.in_base_unit(text)
    return None if read is None else read[0]


def _whole(text: Any, scale: float = 1.0) -> int | None:
    value = _base(text)
    # Times are whole nanoseconds: what is lost in floating point is far below one.
    return None if value is None else int(value * scale + 1e-6)


def _us(text: Any) -> int | None:
    return _whole(text, 1e6)


def _counted_us(text: Any, ns: int) -> int | None:
    """Return a time as a discipline prints it that counts in `ns`: CoDel in 1024, PIE in 64."""
    us = _us(text)
    return None if us is None else us * 1000 // ns * ns // 1000


def _tick_us(text: Any) -> int | None:
    """Return a period as a kernel of 1000 Hz prints it."""
    us = _us(text)
    return None if us is None else -(-us // 1000) * 1000


def _if(value: Any) -> Any:
    """Return what tc prints only if it is not zero or false."""
    return value or None


def _codel(o: Options, seen: Observed) -> dict[str, Any]:
    return {
        "limit": seen.limit,
        "target": _counted_us(o["target"], 1024),
        "ce_threshold": _counted_us(o["ce_threshold"], 1024),
        "interval": _counted_us(o["interval"], 1024),
        "ecn": _if(o["ecn"]),
    }


def _fq_codel(o: Options, seen: Observed) -> dict[str, Any]:
    codel = _codel(o, seen)
    selected = o["ce_threshold_for"] == "l4s"
    return {
        "limit": codel["limit"],
        "flows": o["flows"],
        "quantum": seen.own("quantum"),
        "target": codel["target"],
        "ce_threshold": codel["ce_threshold"],
        "ce_threshold_selector": 1 if selected else None,
        "ce_threshold_mask": 3 if selected else None,
        "interval": codel["interval"],
        "memory_limit": _whole(o["memory_limit"]) or MEMORY_LIMIT,
        "ecn": codel["ecn"],
        "drop_batch": _if(o["drop_batch"]),
    }


def _pie(o: Options, seen: Observed) -> dict[str, Any]:
    return {
        "limit": seen.limit,
        "target": _counted_us(o["target"], 64),
        "tupdate": _tick_us(o["t_update"]),
        "alpha": _whole(o["alpha"], 16),
        "beta": _whole(o["beta"], 16),
        "ecn": _if(o["ecn"]),
        "bytemode": _if(o["by_size"]),
        "dq_rate_estimator": _if(o["delay"] == "departures"),
    }


def _fq_pie(o: Options, seen: Observed) -> dict[str, Any]:
    pie = _pie(o, seen)
    flags = {name: pie.pop(name) for name in ("ecn", "bytemode", "dq_rate_estimator")}
    return {
        "limit": pie.pop("limit"),
        "flows": o["flows"],
        **pie,
        "quantum": seen.own("quantum"),
        "memory_limit": _whole(o["memory_limit"]) or MEMORY_LIMIT,
        "ecn_prob": round(100 * o["mark_ecnth"]),
        **flags,
    }


def _red(o: Options, seen: Observed) -> dict[str, Any]:
    return {
        "limit": seen.limit,
        "min": seen.own("min"),
        "max": seen.own("max"),
        "ecn": o["ecn"],
        "harddrop": o["hard_drop"],
        "adaptive": o["name"] == "ared",
        "nodrop": o["nodrop"],
    }


def _sfb(o: Options, seen: Observed) -> dict[str, Any]:
    def part(value: float) -> float:
        """Return a probability as Linux has it, in units of 1/65535."""
        return _printed(int(value * 65535 + 0.5) / 65535) if o["form"] == "linux" else _printed(value)

    return {
        "rehash": _us(o["rehash"]),
        "db": _us(o["db"]),
        "limit": seen.limit,
        "max": o["max"],
        "target": o["bin_size"],
        "increment": part(o["increment"]),
        "decrement": part(o["decrement"]),
        "penalty_rate": _printed(o["penalty_rate"]),
        "penalty_burst": o["penalty_burst"],
    }


def _sfq(o: Options, seen: Observed) -> dict[str, Any]:
    plain = {
        "limit": seen.limit,
        "quantum": seen.own("quantum"),
        "depth": o["depth"],
        "headdrop": _if(o["headdrop"]),
        "divisor": o["divisor"],
    }
    if seen.own("ewma") is None:
        return plain
    return {
        **plain,
        "ewma": seen.own("ewma"),
        "min": seen.own("min"),
        "max": seen.own("max"),
        "probability": seen.own("probability"),
        "ecn": o["red_ecn"],
        "harddrop": o["red_hard_drop"],
        "adaptive": False,
        "nodrop": False,
    }


def _cake(o: Options, _: Observed) -> dict[str, Any]:
    found = _core.framing(o["framing"]) if o["framing"] != "auto" else None
    overhead, raw, mpu, cells = found or (None, False, 0, None)
    given = {key: None if o[key] == "auto" else o[key] for key in ("overhead", "mpu", "atm")}
    overhead = overhead if given["overhead"] is None else int(given["overhead"])
    raw = raw or overhead is None
    cells = given["atm"] or cells or "noatm"
    rate = _base(o["bandwidth"])
    return {
        "bandwidth": "unlimited" if rate is None else int(rate / 8),
        "autorate": "autorate-ingress" if o["autorate_ingress"] else None,
        "diffserv": o["diffserv"],
        "flowmode": o["flowmode"],
        "nat": False,
        "wash": False,
        "ingress": o["ingress"],
        "ack-filter": {"off": "disabled", "on": "enabled"}.get(o["ack_filter"], o["ack_filter"]),
        "split_gso": True,
        "rtt": _us(o["rtt"]),
        "raw": raw,
        "atm": None if raw and cells == "noatm" else cells,
        "overhead": overhead or 0,
        "mpu": _if(mpu if given["mpu"] is None else given["mpu"]),
        "memlimit": _whole(o["memlimit"]),
        "fwmark": "0",
    }


def _dualpi2(o: Options, seen: Observed) -> dict[str, Any]:
    return {
        "limit": seen.limit,
        "memory-limit": None if seen.limit is None else 2 * MTU * seen.limit,
        "target": _us(o["target"]),
        "tupdate": seen.own("tupdate"),
        "alpha": _gain(seen.exact("alpha")),
        "beta": _gain(seen.exact("beta")),
        "step-thresh-us": _us(o["min_th"]),
        "min-qlen-step": o.get("min_qlen_step", 0),
        "coupling": _printed(o["k"]),
        "drop-overload": "drop" if o["drop_on_overload"] else "overflow",
        "drop-early": "drop-dequeue",
        "c-protection": _printed(o["classic_protection"]),
        "ecn-mask": "any-ect" if o["any_ect"] else "l4s-ect",
        "split-gso": None,
    }


def _gain(hertz: float | None) -> float | None:
    """Return a gain as DualPI2 prints it, which rounds twice on its way to the kernel's unit and back."""
    if hertz is None:
        return None
    most = (1 << 32) - 1
    scaled = (int(hertz * 256) * most >> 2) // 10**9
    return _printed((scaled * 10**9 << 2) // most / 256)


def _none(_: Options, __: Observed) -> dict[str, Any]:
    return {}


def _limit(_: Options, seen: Observed) -> dict[str, Any]:
    return {"limit": seen.limit}


_OPTIONS: Mapping[str, Callable[[Options, Observed], dict[str, Any]]] = {
    "pfifo": _limit,
    "bfifo": _limit,
    "pfifo_head_drop": _limit,
    "drr": _none,
    "codel": _codel,
    "fq_codel": _fq_codel,
    "pie": _pie,
    "fq_pie": _fq_pie,
    "red": _red,
    "choke": _red,
    "sfb": _sfb,
    "sfq": _sfq,
    "cake": _cake,
    "cake_mq": _cake,
    "dualpi2": _dualpi2,
}


def _early(seen: Observed) -> int:
    """Return RED's own drops; CHOKe drops two packets for each match."""
    return max(0, seen.early - 2 * int(seen.own("matched") or 0))


def _of_codel(_: Options, seen: Observed) -> dict[str, Any]:
    late = seen.own("ce_mark") or 0
    dropping = bool(seen.own("dropping"))
    return {
        **{name: seen.own(name) for name in ("count", "lastcount", "ldelay")},
        # When it drops next is not known.
        **({"dropping": True} if dropping else {"drop_next": 0}),
        "maxpacket": seen.own("maxpacket"),
        "ecn_mark": seen.marks - late,
        "drop_overlimit": seen.overflow,
        **({"ce_mark": late} if late else {}),
    }


def _of_fq_codel(_: Options, seen: Observed) -> dict[str, Any]:
    late = seen.own("ce_mark") or 0
    return {
        "maxpacket": seen.own("maxpacket"),
        "drop_overlimit": seen.overflow,
        "new_flow_count": seen.own("new_flow_count"),
        "ecn_mark": seen.marks - late,
        **({"ce_mark": late} if late else {}),
        "new_flows_len": seen.own("new_flows_len"),
        "old_flows_len": seen.own("old_flows_len"),
    }


def _of_pie(_: Options, seen: Observed) -> dict[str, Any]:
    longest = seen.longest()
    return {
        "prob": seen.own("prob"),
        "delay": seen.own("delay"),
        "pkts_in": seen.accepted,
        "overlimit": seen.overflow,
        "dropped": seen.early,
        **({} if longest is None else {"maxq": longest}),
        "ecn_mark": seen.marks,
    }


def _of_fq_pie(_: Options, seen: Observed) -> dict[str, Any]:
    return {
        "pkts_in": seen.accepted,
        "overlimit": seen.overflow,
        "overmemory": 0,
        "dropped": seen.early,
        "ecn_mark": seen.marks,
        **{name: seen.own(name) for name in ("new_flow_count", "new_flows_len", "old_flows_len")},
    }


def _of_red(_: Options, seen: Observed) -> dict[str, Any]:
    matched = seen.own("matched")
    return {
        "marked": seen.marks,
        "early": _early(seen),
        "pdrop": seen.overflow,
        "other": 0,
        **({} if matched is None else {"matched": matched}),
    }


def _of_sfb(_: Options, seen: Observed) -> dict[str, Any]:
    return {
        **{name: seen.own(name) for name in ("earlydrop", "penaltydrop", "bucketdrop")},
        "queuedrop": seen.overflow,
        "childdrop": 0,
        **{name: seen.own(name) for name in ("marked", "maxqlen", "maxprob", "avgprob")},
    }


def _of_cake(_: Options, seen: Observed) -> dict[str, Any]:
    whole = {name: seen.own(name) for name in _CAKE}
    whole["active_queues"] = seen.own("active_queues") or 0
    return {**whole, "avg_hdr_offset": seen.own("avg_hdr_offset"), "tins": seen.tins()}


def _of_dualpi2(_: Options, seen: Observed) -> dict[str, Any]:
    longest = seen.longest()
    return {
        "prob": seen.own("prob"),
        "delay-c": seen.own("delay_c"),
        "delay-l": seen.own("delay_l"),
        "pkts-in-c": seen.arrivals("classic"),
        "pkts-in-l": seen.arrivals("l4s"),
        **({} if longest is None else {"maxq": longest}),
        "ecn-mark": seen.own("ecn_mark"),
        "step-mark": seen.own("step_marks"),
        "credit": seen.own("credit"),
        **({} if seen.limit is None else {"memory-limit": 2 * MTU * seen.limit}),
    }


_STATISTICS: Mapping[str, Callable[[Options, Observed], dict[str, Any]]] = {
    "codel": _of_codel,
    "fq_codel": _of_fq_codel,
    "pie": _of_pie,
    "fq_pie": _of_fq_pie,
    "red": _of_red,
    "choke": _of_red,
    "sfb": _of_sfb,
    "cake": _of_cake,
    "dualpi2": _of_dualpi2,
}

_CAKE = (
    *("memory_used", "memory_limit", "capacity_estimate"),
    *("min_network_size", "max_network_size", "min_adj_size", "max_adj_size"),
)
"""The statistics of CAKE before those of its tins, in tc's order."""

_TIN = (
    *("threshold_rate", "sent_bytes", "backlog_bytes", "target_us", "interval_us"),
    *("peak_delay_us", "avg_delay_us", "base_delay_us", "sent_packets"),
    *("way_indirect_hits", "way_misses", "way_collisions", "drops", "ecn_mark", "ack_drops"),
    *("sparse_flows", "bulk_flows", "unresponsive_flows", "max_pkt_len", "flow_quantum"),
)
"""Those of a tin."""
