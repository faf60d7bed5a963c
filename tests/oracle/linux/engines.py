"""`make engines-agree`: the packet engine beside the Linux engine, which has the same disciplines and another TCP."""

import sys
from argparse import ArgumentParser
from collections import Counter
from collections.abc import Iterator, Mapping
from fnmatch import fnmatch

import aqmlab
from aqmlab.cli.terminal import runs_bar
from aqmlab.execute.engine import PACKETS, Engine, EngineUnavailable
from aqmlab.results.result import Result, Run
from aqmlab.runs.replication import compare_scenarios
from oracle.linux import marks
from oracle.linux.check import CLOSED, FEW, FEWEST_DISCIPLINES, FEWEST_FIFO, OF_FEW_FLOWS
from oracle.linux.reference import Metrics, over_seeds
from oracle.verdict import Check, aligned, enough, table, totals

LINUX = Engine("linux")
SEEDS = 3

DISCIPLINES = {
    "droptail": "droptail",
    "red": "red:preset=linux,min_bytes=30000 B,max_bytes=90000 B,mean_packet=1500 B,burst=40,max_p=0.1,"
    "bandwidth=10 Mbit/s",
    "pie": "pie:preset=linux",
    "codel": "codel:preset=linux",
}
"""Those of `points`, without tc."""

_NETWORK = """\
duration = "60 s"
warmup = "10 s"

[dumbbell]
rate = "10 Mbit/s"
buffer = "100 packets"
delay = "5 ms"
sender_delay = ["10 ms"]
receiver_delay = ["5 ms"]
access_rate = "1 Gbit/s"
access_buffer = "100000 packets"

[[traffic]]
name = "long"
start = "uniform(0 s, 1 s)"
"""

LOADS = {
    "two": f"""{_NETWORK}count = 2
tcp = {{ preset = "linux", congestion = "cubic" }}
""",
    "mixed": f"""{_NETWORK}count = 10
tcp = {{ preset = "linux", congestion = "reno" }}

[[traffic]]
name = "short"
kind = "short"
arrival_rate = "5 Hz"
size = "pareto(15 kB, 1.5)"
tcp = "linux"

[[traffic]]
name = "udp"
kind = "poisson"
rate = "1 Mbit/s"
packet_size = "500 B"
""",
    "forty": f"""{_NETWORK}count = 40
tcp = {{ preset = "linux", congestion = "cubic" }}
""",
}

FLOWS = {"two": 2, "mixed": 10, "forty": 40}


def scenarios() -> dict[str, aqmlab.Scenario]:
    """Each discipline under each load, and those with ECN."""
    loads = {
        f"{aqm}_{load}": aqmlab.Scenario.parse(text, load).with_(aqm=spec)
        for aqm, spec in DISCIPLINES.items()
        for load, text in LOADS.items()
    }
    return loads | marks.scenarios()


def measured(run: Run) -> Metrics:
    """What `make oracle-linux` compares; the delay is that of the packets, which both engines measure."""
    value = {name: run.metrics[name] or 0.0 for name in run.metrics}
    return {
        "util": value["utilisation"],
        "drops": value["drops_early"] + value["drops_overflow"] + value["marks"],
        "q_mean": value["queue_mean"],
        "delay_p95": 1000 * value["queue_delay_p95"],
        "timeouts": value["timeouts"],
        "retransmits": value["retransmits"],
    }


def checks(name: str, linux: Result, packet: Result) -> Iterator[Check]:
    """Compare the two engines' means over the same seeds."""
    ecn = name.startswith("ecn_")
    measure = marks.measured if ecn else measured
    theirs, ours = (over_seeds([measure(run) for run in result.runs]) for result in (linux, packet))
    few = not ecn and FLOWS[name.partition("_")[2]] <= FEW
    tolerances = marks.TOLERANCES if ecn else CLOSED | (OF_FEW_FLOWS if few else {})
    for metric, mean in theirs.items():
        tolerance = tolerances.get(metric.rpartition(" ")[2])
        if tolerance and metric in ours:
            yield Check(name, metric, mean.mean, ours[metric].mean, tolerance.around(mean))


def verdict(found: Mapping[str, list[Check]]) -> int:
    """Print the totals with droptail, where the senders alone decide, with the other disciplines, and with ECN."""
    parts: dict[str, list[Check]] = {"droptail": [], "ecn": [], "": []}
    for name, each in found.items():
        parts[next(start for start in parts if name.startswith(start))] += each
    status = 0
    for title, fewest, part in (
        ("droptail", FEWEST_FIFO, parts["droptail"]),
        ("the other disciplines", FEWEST_DISCIPLINES, parts[""]),
        ("with ECN", FEWEST_FIFO, parts["ecn"]),
    ):
        if part:
            print(f"\n{title}:{totals(part, fewest)}")
            status |= not enough(part, fewest)
    return status


def overview(found: Mapping[str, list[Check]]) -> str:
    """A line for each scenario, as docs/internals/fidelity.md has it: Linux's value, and the packet engine's."""
    metrics = Counter(check.metric for each in found.values() for check in each)
    lines = [("scenario", *metrics)]
    for name, each in found.items():
        cells = {check.metric: f"{check.theirs:.4g}, {check.ours:.4g}{'' if check.passed else ' *'}" for check in each}
        lines.append((name, *(cells.get(metric, "") for metric in metrics)))
    return aligned(lines, set(lines[0]))


def main() -> int:
    parser = ArgumentParser(prog="make engines-agree", description=__doc__)
    parser.add_argument("--rows", default="*", help="patterns of scenarios' names, separated by spaces")
    parser.add_argument("--seeds", type=int, default=SEEDS, metavar="N")
    given = parser.parse_args()
    chosen = {n: s for n, s in scenarios().items() if any(fnmatch(n, pattern) for pattern in given.rows.split())}
    if not chosen:
        parser.error(f"--rows {given.rows}: no scenario is called so; there are {', '.join(scenarios())}")
    try:
        with runs_bar() as progress:
            results = compare_scenarios(chosen, given.seeds, progress=progress, engines=[PACKETS, LINUX])
    except EngineUnavailable as reason:
        sys.exit(str(reason))
    found = {n: list(checks(n, results[f"{n}, linux"], results[f"{n}, packet"])) for n in chosen}
    print(table([check for each in found.values() for check in each], "Linux"))
    print(f"\nLinux's, ours; * outside its tolerance\n{overview(found)}")
    return verdict(found)


if __name__ == "__main__":
    sys.exit(main())
