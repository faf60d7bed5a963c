"""Queue discs of ns-3 and of aqmlab in one dumbbell of ns-3, `examples/ns3/dumbbell.cc`: stored runs.

``python -m oracle.discs`` prints them as a table. ``--record``, with the names of rows or for all, runs ns-3, as
`oracle.wifi` does, and writes them anew.
"""

import csv
import json
import sys
from collections.abc import Sequence
from pathlib import Path
from statistics import fmean, stdev

from benches import ns3

STORED = Path(__file__).with_suffix(".csv")
SOURCE = ns3.DISCS
SEEDS = 5
LINK = ("--flows=10", "--rate=10Mbps", "--rtt=40", "--duration=25", "--warmup=5")
BUFFER = "MaxSize=200p"
RED = "MinTh=30|MaxTh=90|LInterm=10|QW=0.002|Gentle=true|MeanPktSize=1500|LinkBandwidth=10Mbps|LinkDelay=6.667ms"
COLUMNS = {"goodput": 1e-6, "wait": 1e3, "drops": 1.0}
"""What the program prints, with the factor to Mbit/s, ms and packets."""


def ours(discipline: str) -> list[str]:
    """The arguments of a discipline of aqmlab."""
    return ["--queue=AqmlabQueueDisc", f"--set=Discipline={discipline}|{BUFFER}|LinkDelay=6.667ms"]


def theirs(queue: str, more: str = "") -> list[str]:
    """The arguments of a queue disc of ns-3."""
    return [f"--queue={queue}", "--set=" + "|".join(filter(None, (BUFFER, more)))]


ROWS: dict[str, list[str]] = {
    "FifoQueueDisc": theirs("FifoQueueDisc"),
    "droptail": ours("droptail"),
    "CoDelQueueDisc": theirs("CoDelQueueDisc"),
    "codel:preset=ns3": ours("codel:preset=ns3"),
    "codel": ours("codel"),
    "PieQueueDisc": theirs("PieQueueDisc"),
    "pie:preset=ns3": ours("pie:preset=ns3"),
    "pie": ours("pie"),
    "RedQueueDisc": theirs("RedQueueDisc", RED),
    "red": ours("red:min_th=30,max_th=90,max_p=0.1,w_q=0.002,spacing=wait"),
    "FqCoDelQueueDisc": theirs("FqCoDelQueueDisc"),
    "fq_codel": ours("fq_codel"),
    "lred": ours("lred:q0=50"),
    "raqm": ours("raqm:q0=50"),
    "redtail": ours("redtail"),
    "rem": ours("rem:q0=50"),
    "pi": ours("pi:q0=50"),
}


def stored() -> dict[str, dict[str, str]]:
    """Return the means and standard deviations, by the name of the row."""
    with STORED.open(encoding="utf-8") as file:
        return {row["queue"]: row for row in csv.DictReader(file)}


def record(names: Sequence[str]) -> None:
    """Run ns-3, and write what it prints, for all rows or for some."""
    program = ns3.find(SOURCE)
    if isinstance(program, str):
        sys.exit(program)
    rows = stored() if STORED.exists() else {}
    for name, arguments in ROWS.items():
        if names and name not in names:
            continue
        found = [program.found([*LINK, *arguments, f"--seed={seed}"])[0] for seed in range(1, SEEDS + 1)]
        row = {"queue": name}
        for column, factor in COLUMNS.items():
            values = [run[column] * factor for run in found]
            row |= {column: f"{fmean(values):.4g}", f"{column}_sd": f"{stdev(values):.2g}"}
        rows[name] = row | {"runs": json.dumps([run["drops"] for run in found])}
        print(rows[name], flush=True)
        with STORED.open("w", encoding="utf-8", newline="") as file:
            writer = csv.DictWriter(file, [*row, "runs"], lineterminator="\n")
            writer.writeheader()
            writer.writerows(rows[each] for each in ROWS if each in rows)


def main() -> None:
    if sys.argv[1:2] == ["--record"]:
        record(sys.argv[2:])
    rows = list(stored().values())
    for row in [dict(zip(rows[0], rows[0], strict=True)), *rows]:
        print("".join(f"{row[column]:18}" for column in rows[0]))


if __name__ == "__main__":
    main()
