"""What is estimated beside rate, round trip, buffer and family, on links of the packet engine with a known truth.

`make calibrate-judge DIRECT=1`: in the cases with odd numbers the rate varies, the shaper lets a burst pass, and behind
one's own queue another one fills; in the others they do not.
"""

from __future__ import annotations

import math
import random
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from aqmlab import Result, Scenario, run
from aqmlab.calibrate.burst import burst
from aqmlab.calibrate.calibration import calibrated, known
from aqmlab.calibrate.elsewhere import OFTEN, Own, elsewhere
from aqmlab.calibrate.hypothesis import KINDS, LEAD, Load
from aqmlab.calibrate.interval import Interval
from aqmlab.calibrate.recording import Host, Recording
from aqmlab.calibrate.variation import Windows, spread
from aqmlab.calibrate.view import View
from oracle.verdict import aligned

Array = NDArray[np.float64]

DEVELOPED, KEPT = range(20), range(100, 120)
"""Numbers of the cases to develop with, and of those kept aside until the end."""

COVERED = 0.85
"""The least share of 90 % intervals that have the true value in them."""

SECONDS, FINE = 12, 0.005
"""The length of a load, and of the bins in which a capture would count arrivals, in s."""

OWN = ("fq_codel", "fq_codel", "cake", "codel", "droptail")


@dataclass(frozen=True)
class Answer:
    """An estimate, the true value, and why there is none."""

    true: float
    found: Interval | None
    because: str
    said: str = ""

    @property
    def covered(self) -> bool:
        return self.found is not None and self.found.low <= self.true <= self.found.high


def varies(number: int) -> Answer:
    """The ratio of the highest to the lowest rate that other traffic leaves, over the windows with a queue."""
    drawn = random.Random(f"varies/{number}")
    load = _load(drawn)
    steps = [(0.0, load.rate)]
    if number % 2:
        least, every, t = drawn.uniform(0.3, 0.85), _spread(drawn, 0.7, 5), 0.0
        while (t := t + drawn.expovariate(1 / every)) < load.seconds:
            steps.append((t, load.rate * drawn.uniform(least, 1)))
    kind = drawn.choice(list(KINDS))
    changes = [f"{LEAD + t:.3f} s: {rate:.0f} bit/s" for t, rate in steps[1:]]
    result = run(_link(load, kind, number).with_({"dumbbell.changes": changes} if changes else {}))
    view = load.view(result)
    found = calibrated(_recording(load, view))
    windows = Windows.of(found.view, found.base_rtt.value, load.hosts[0].packet)
    left = _trace(steps, len(view.rate), view.step) - _others(load, result, len(view.rate))
    true = windows.means(replace(found.view, rate=left))[windows.chosen(found.view)]
    said = {True: "varies", False: "constant", None: ""}[found.variation.varies]
    return Answer(math.exp(spread(true)) if len(true) else 1.0, found.variation.ratio, found.variation.because, said)


def bursts(number: int, fine: bool) -> Answer:
    """The burst of a shaper in bytes, from arrivals in short bins, as a capture has them, or from those of iperf3."""
    drawn = random.Random(f"burst/{number}")
    load = replace(_load(drawn), interval=FINE)
    kind = drawn.choice(("droptail", "codel", "fq_codel", "pie", "headdrop"))
    scenario, size = _link(load, kind, number, alone=True), 0.0
    if number % 2:
        size, peak = _spread(drawn, 0.02, 0.5) * load.rate / 8, drawn.choice((3, 10)) * load.rate
        shaper = {"name": "tbf", "rate": f"{load.rate:.0f} bit/s", "burst": f"{size:.0f} B", "aqm": kind}
        scenario = _replaced(scenario, {"rate": f"{peak:.0f} bit/s"}, shaper)
    result = run(scenario)
    view = load.view(result)
    octets = np.concatenate([[0.0], np.cumsum(_column(load, result, "bulk1.throughput")) * FINE / 8])
    arrivals = np.arange(len(octets)) * FINE, octets
    view, trip, _ = known(_recording(load, view))
    told = burst(view, arrivals if fine else None, trip.value, load.hosts[0].packet)
    return Answer(size, told.interval, told.because)


def waits(number: int) -> Answer:
    """The wait in s of one probe of ten in a provider's queue behind one's own, which is slower or faster."""
    drawn = random.Random(f"other/{number}")
    load = _load(drawn)
    rate = load.rate * (drawn.uniform(1.05, 1.5) if number % 2 else drawn.uniform(0.7, 0.95))
    name, product = drawn.choice(OWN), load.rate * load.base / 8 / load.hosts[0].packet
    packets = 1000 if name != "droptail" else max(10, round(product / 2))
    own = Own(f"{rate:.0f} bit/s", f"{packets} packets", {"name": name, "preset": "linux"})
    if name == "droptail":
        own = replace(own, aqm={"name": name})
    link = {"reverse_rate": "100 Gbit/s", "delay": "0 s"}
    mine = {"name": "own", "from": "home", "to": "modem", "rate": own.rate, "buffer": own.buffer, "aqm": dict(own.aqm)}
    theirs = {
        "name": "provider",
        "from": "modem",
        "to": "server",
        "rate": f"{load.rate:.0f} bit/s",
        "buffer": f"{max(20, round(_spread(drawn, 0.3, 4) * product))} packets",
        "aqm": "droptail",
    }
    plain = _link(load, "droptail", number, alone=True).resolved
    tables = {
        **{key: plain[key] for key in ("duration", "warmup", "seed", "record")},
        "link": [link | mine, link | theirs | {"delay": f"{load.base / 2:.6f} s"}],
        "traffic": [{**entry, "from": "home", "to": "server"} for entry in plain["traffic"]],
    }
    before, behind = (run(Scenario.from_dict({**tables, "observe": each})) for each in ("own", "provider"))
    view, first = load.view(behind), load.view(before)
    # Data wait in both queues, and may be lost in both.
    view = replace(view, tcp=view.tcp + np.nan_to_num(first.tcp), repeated=view.repeated + first.repeated)
    true = _column(load, behind, "probe.delay", np.nan)
    told = elsewhere(*known(_recording(load, view))[::2], own)
    return Answer(float(np.nanquantile(true, OFTEN)), told.interval, told.because)


JUDGED: Mapping[str, tuple[Callable[[int], Answer], float, str]] = {
    "highest to lowest rate": (varies, 1.0, ""),
    "burst, capture": (lambda number: bursts(number, fine=True), 1e3, "kB"),
    "burst, iperf3 -i 0.1": (lambda number: bursts(number, fine=False), 1e3, "kB"),
    "wait elsewhere": (waits, 1e-3, "ms"),
}


def judged(kept: bool, progress: Callable[[float], None]) -> tuple[str, bool]:
    """A line for each case, the shares, and whether these suffice."""
    lines, shares, met = [("estimate", "case", "true", "found", "")], [], True
    numbers = KEPT if kept else DEVELOPED
    for done, (name, (answer, unit, symbol)) in enumerate(JUDGED.items()):
        answers = []
        for place, number in enumerate(numbers):
            answers.append(one := answer(number))
            ends = "cannot tell"
            if one.found:
                ends = f"{one.found.low / unit:.4g} to {one.found.high / unit:.4g} {symbol}"
            mark = "!" if one.found and not one.covered else ""
            lines.append((name, str(number), f"{one.true / unit:.4g}", f"{mark}{ends}", one.said or one.because[:60]))
            progress((done + (place + 1) / len(numbers)) / len(JUDGED))
        told = [one for one in answers if one.found]
        share = sum(one.covered for one in told) / len(told) if told else 0.0
        met &= share >= COVERED
        there = sum(one.found is not None for one in answers[1::2])
        shares.append(
            f"{name:<24}covered in {share:6.1%} of {len(told)} of {len(answers)} (at least {COVERED:.0%}), "
            f"{there} of which have it"
        )
        if any(one.said for one in answers):
            right = [
                ("varies" if number % 2 else "constant", one.said) for number, one in zip(numbers, answers, strict=True)
            ]
            wrong = sum(said not in ("", true) for true, said in right)
            shares.append(f"{'':<24}said {sum(said == true for true, said in right)} times rightly, {wrong} wrongly")
    return aligned(lines, {"estimate", "found", ""}) + "\n\n" + "\n".join(shares), met


def _load(drawn: random.Random) -> Load:
    rate, base = _spread(drawn, 2e6, 1.5e7), _spread(drawn, 0.005, 0.1)
    product, host = rate * base / 8, Host(drawn.choice((1, 1, 2)), 1448, "cubic")
    return Load(
        base=base,
        rate=rate,
        fastest=rate,
        lowest=max(9000, 0.3 * product),
        highest=max(60000, 8 * product),
        hosts=[host],
        seconds=SECONDS,
        interval=0.02,
        step=0.1,
        sampled=True,
        counted=True,
    )


def _link(load: Load, kind: str, number: int, alone: bool = False) -> Scenario:
    point = np.random.default_rng(number).random(KINDS[kind].size)
    if alone:
        point[2] = 0.0
    return load.scenario(kind, point, number + 1)


def _replaced(scenario: Scenario, dumbbell: Mapping[str, Any], aqm: Mapping[str, Any]) -> Scenario:
    tables = dict(scenario.resolved)
    return Scenario.from_dict({**tables, "dumbbell": {**tables["dumbbell"], **dumbbell}, "aqm": dict(aqm)})


def _recording(load: Load, view: View) -> Recording:
    """What tools would have recorded."""
    return Recording(
        hosts=load.hosts,
        idle=np.full(50, load.base),
        times=view.times,
        rtt=view.delay + load.base,
        lost=view.lost,
        interval=load.interval,
        step=load.step,
        rate=view.rate,
        repeated=view.repeated,
        tcp=view.tcp + load.base,
        retransmits=float(view.repeated.sum()),
        up=True,
        start=True,
        names=["case"],
    )


def _column(load: Load, result: Result, name: str, lacking: float = 0.0) -> Array:
    values = result.series[f"{result.link}.{name}"].fill_null(lacking).to_numpy().astype(float)
    found: Array = values[round(LEAD / load.interval) :]
    return found


def _others(load: Load, result: Result, bins: int) -> Array:
    """The rate of the traffic that no tool reports."""
    if f"{result.link}.others.throughput" not in result.series.columns:
        return np.zeros(bins)
    per = round(load.step / load.interval)
    means: Array = _column(load, result, "others.throughput")[: bins * per].reshape(bins, per).mean(axis=1)
    return means


def _trace(steps: list[tuple[float, float]], bins: int, step: float) -> Array:
    """The mean rate in each bin, of a rate that has steps."""
    times, rates = np.array(steps).T
    edges = np.arange(bins + 1) * step
    carried = np.concatenate([[0.0], np.cumsum(np.diff(times) * rates[:-1])])
    at = np.searchsorted(times, edges, "right") - 1
    means: Array = np.diff(carried[at] + (edges - times[at]) * rates[at]) / step
    return means


def _spread(drawn: random.Random, low: float, high: float) -> float:
    return math.exp(drawn.uniform(math.log(low), math.log(high)))
