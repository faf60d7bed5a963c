"""Both programs side by side on any dumbbell that the guest can have: a table, and a figure over time."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from aqmlab.cli.terminal import progress_bar
from aqmlab.runs.replication import compare_scenarios
from oracle.linux import check, figure, kernel, ours, points, traces
from oracle.linux.reference import Point, over_seeds
from oracle.verdict import table

OUT = Path("out/oracle-linux")

KEYS = {
    "POINT": "",
    "N": "1",
    "CC": "cubic",
    "RTT": "40",
    "GROUPS": "",
    "RATE": "10",
    "QDISC": "pfifo limit 100",
    "NETEM": "",
    "OFFLOAD": "",
    "FQ": "",
    "RECEIVE_US": "",
    "ECN": "",
    "HYSTART": "",
    "DUR": "60",
    "WARM": "10",
    "SEEDS": "1",
    "TRACE": "10",
    "FROM": "",
    "TO": "",
}
"""What can be asked for, and what is taken if it is not; README.md says what each means."""

_OF_POINTS = ("N", "CC", "RTT", "GROUPS", "RATE", "QDISC", "NETEM", "OFFLOAD", "FQ", "RECEIVE_US", "ECN")


_NUMBERS = ("ECN", "HYSTART", "OFFLOAD", "FQ", "RECEIVE_US")


@dataclass(frozen=True)
class Asked:
    """What to run and to draw."""

    name: str
    conf: points.Conf
    seeds: Sequence[int]
    begin: float
    end: float


def asked(words: Sequence[str]) -> Asked:
    """Read `KEY=VALUE` words."""
    given = dict(KEYS)
    for word in words:
        key, equals, value = word.partition("=")
        if not equals or key not in KEYS:
            raise ValueError(f"{word}: must be KEY=VALUE with a key of these: {', '.join(KEYS)}")
        given[key] = value
    conf: dict[str, Any]
    if given["POINT"]:
        if given["POINT"] not in points.CLOSED:
            raise ValueError(f"POINT={given['POINT']}: no such point in points.py; one is fifo_cubic_10m_40ms_n2_100p")
        conf = dict(points.CLOSED[given["POINT"]])
        own = {word.partition("=")[0] for word in words} & set(_OF_POINTS)
        if own:
            raise ValueError(f"{', '.join(sorted(own))}: the point says that; leave POINT or these out")
    else:
        conf = points.dumbbell(given["QDISC"], *_groups(given), rate_mbit=_number("RATE", given["RATE"]))
        conf |= {"dur": _number("DUR", given["DUR"]), "warm": _number("WARM", given["WARM"])}
        conf |= {key.lower(): int(given[key]) for key in _NUMBERS if given[key]}
        if given["NETEM"] and given["RECEIVE_US"]:
            raise ValueError("NETEM and RECEIVE_US: both are what data waits for before the receiver; give one")
        conf |= {"path": given["NETEM"]} if given["NETEM"] else {}
    begin, end = _number("FROM", given["FROM"] or "0"), _number("TO", given["TO"] or str(conf["dur"]))
    if not begin < end:
        raise ValueError(f"FROM={begin} TO={end}: FROM must be earlier")
    conf["trace_ms"] = _number("TRACE", given["TRACE"])
    return Asked(given["POINT"] or _name(conf), conf, range(1, int(given["SEEDS"]) + 1), begin, end)


def _groups(given: dict[str, str]) -> Iterator[dict[str, Any]]:
    for words in (given["GROUPS"] or f"{given['N']} {given['CC']} {given['RTT']}").split(","):
        found = re.fullmatch(r"\s*(\d+)\s+(\w+)\s+([\d.]+)\s*", words)
        if not found:
            raise ValueError(f"GROUPS={given['GROUPS']}: must be like '2 cubic 40, 1 bbr 80': flows, TCP, RTT in ms")
        yield points.group(int(found[1]), found[2], float(found[3]))


def _number(key: str, text: str) -> float:
    try:
        value = float(text)
    except ValueError:
        raise ValueError(f"{key}={text}: must be a number") from None
    return int(value) if value.is_integer() else value


def _name(conf: points.Conf) -> str:
    """What files of a run are called: what it is."""
    groups = "_".join(f"{group['n']}{group['cc']}{group['rtt_ms']:g}" for group in conf["groups"])
    extra = "".join(f"_{key}{conf[key]}" for key in (*map(str.lower, _NUMBERS), "path") if key in conf)
    return re.sub(r"\W+", "_", f"{conf['qdisc']}_{conf['rate_mbit']:g}m_{groups}{extra}")


def main(words: Sequence[str]) -> int:
    """Run, print and draw."""
    what = asked(words)
    with progress_bar(lambda: "Linux") as progress:
        runs = kernel.run_all([{**what.conf, "seed": seed} for seed in what.seeds], progress)
    point = Point(what.name, what.conf, dict(zip(what.seeds, runs, strict=True)))
    step = f"{what.conf['trace_ms']} ms"
    with TemporaryDirectory() as folder:
        scenarios = ours.scenarios(point, what.seeds, Path(folder))
        results = list(
            compare_scenarios({s: one.with_({"record.cwnd": step}) for s, one in scenarios.items()}).values()
        )
    pairs = {
        "Linux": [traces.of_linux(run) for run in runs],
        "aqmlab": [traces.of_ours(what.conf, result) for result in results],
    }
    periods = {name: traces.period(of, what.conf["warm"]) for name, of in pairs.items()}
    measured = over_seeds([ours.closed(what.conf, result) for result in results])
    print(table(list(check.checks(point, point.metrics() | periods["Linux"], measured | periods["aqmlab"])), "Linux"))
    OUT.mkdir(parents=True, exist_ok=True)
    for name, (first, *_) in pairs.items():
        for flow, frame in first.flows.items():
            frame.write_csv(OUT / f"{what.name}-{name.lower()}-{flow}.csv")
        first.queue.write_csv(OUT / f"{what.name}-{name.lower()}-queue.csv")
    drawn = OUT / f"{what.name}-{what.begin:g}-{what.end:g}.png"
    figure.draw(what.name, {name: of[0] for name, of in pairs.items()}, (what.begin, what.end)).savefig(drawn, dpi=110)
    print(f"\n{drawn}; the series of seed {what.seeds[0]} beside it as CSV")
    return 0
