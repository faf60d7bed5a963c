"""Table 1, and tables of the runs."""

from collections.abc import Mapping

import numpy as np
import polars

from aqmlab_papers import At, Runs, table
from aqmlab_papers.run.complexity import complexity
from aqmlab_papers.run.sketch import cells
from aqmlab_papers.survey import measures
from aqmlab_papers.survey.claims.schemes import EARLY, NAMES
from aqmlab_papers.survey.experiments import EVERY, POINTS
from aqmlab_papers.survey.measures import BACKLOG, LOST, NOTHING, READINGS, WAIT, locked_out

Metrics = Mapping[str, str | polars.Expr]

DEFINITIONS = {
    "DropTail": ("control", "none", "global", "arrival; queue", "acts on a full buffer alone"),
    "RED": ("avoidance", "global", "global", "arrival; average queue", "two thresholds on an average"),
    "BLUE": ("avoidance", "none", "global", "arrival; overflows, idle link", "one probability"),
    "REM": ("avoidance", "none", "global", "departure (ns-2); queue, rate", "a price; b* is a target"),
    "PI": ("avoidance", "none", "global", "arrival; queue", "one probability; Q_ref is a target"),
    "JoBS": ("avoidance", "global", "per connection", "arrival; windows, round trips", "B_lim; each flow's window"),
}
"""Of each scheme by definition: congestion, thresholds, state; when it decides and on what information."""


def _row(runs: Runs, label: str, metrics: Metrics, at: At | None = None) -> dict[str, float | None]:
    """Return the means of metrics with half their intervals."""
    row: dict[str, float | None] = {}
    for name, metric in metrics.items():
        row |= cells(name, runs.per_seed(metric, label, at))
    return row


BRIEF: Metrics = {
    "utilisation %": "utilisation",
    "wait (ms)": WAIT,
    "lost of TCP %": LOST,
    "lost of all %": "loss_ratio",
}
WHOLE: Metrics = {
    "utilisation %": "utilisation",
    "wait (ms)": WAIT,
    "end to end (ms)": "delay_mean",
    "backlog (kB)": BACKLOG,
    "lost of TCP %": LOST,
    "lost of all %": "loss_ratio",
    "lost of bytes %": READINGS["bytes"],
    "marked of TCP %": "classes.ftp.mark_ratio",
    "time-outs": "timeouts",
    "Jain, TCP": "classes.ftp.jain",
    "TCP (Mbit/s)": "classes.ftp.throughput",
    "UDP (Mbit/s)": "classes.udp.throughput",
}


@table(
    beyond=True,
    caption="As counted by valgrind (`make counts RECORD=1`), for a link and flows of its own. JoBS with K = 10.",
)
def costs() -> polars.DataFrame:
    """Instructions a packet beyond the queue's, and state."""
    found = complexity()
    rows = [{"scheme": "DropTail (the queue)", **{f"instructions, {n} flows": cost for n, cost in found.queue.items()}}]
    for label, name in NAMES.items():
        more = {f"instructions, {n} flows": cost for n, cost in found[name].instructions.items()}
        rows.append({"scheme": label, **more, "state (bytes)": found[name].bytes})
    return polars.DataFrame(rows)


@table(
    caption="The printed table has dots in seven columns, 18 of them; our copy of the text has kept how many stand in "
    "a row but not their columns: three a row for BLUE, REM, PI and JoBS, six for drop tail and RED together, one for "
    "each of congestion, thresholds and state, as here. Control: it acts when the buffer is full; avoidance: before. A "
    "threshold is a length of the queue at which a packet begins to be treated otherwise; a target that enters an "
    "equation is none. BLUE rises by overflows alone, and could stand under control. The further columns are the "
    "criteria of the two classifications that Section 3 quotes: when and by what information a packet is taken, "
    "network, and whether the queue's space is static. Early: packets that a run drops or marks while there is room."
)
def table1(schemes: Runs) -> polars.DataFrame:
    """Classification of the schemes, by their definitions."""
    names = ("congestion", "thresholds", "state", "decides at; by", "why")
    return polars.DataFrame(
        [
            {
                "scheme": label,
                "dots (paper)": {"DropTail": "6 with RED's", "RED": "6 with drop tail's"}.get(label, "3"),
                **dict(zip(names, entries, strict=True)),
                "network": "IP",
                "queue": "static",
                "early (packets)": schemes.per_seed(EARLY, label).mean,
            }
            for label, entries in DEFINITIONS.items()
        ]
    )


@table(
    beyond=True,
    caption="Backlog: mean wait times the rate. UDP cannot be marked: what would mark it drops it. The last three "
    "rows are other readings of JoBS's K and alpha.",
)
def schemes(schemes: Runs, readings: Runs) -> polars.DataFrame:
    """The six over 20 s."""
    both = schemes | readings
    return polars.DataFrame([{"scheme": label} | _row(both, label, WHOLE) for label in both.labels])


@table(
    name="lock-out",
    beyond=True,
    caption="Goodputs in 20 s, in parts of their mean. Below: the share of the 210 flows that get less than that part.",
)
def goodputs(flows: Runs) -> polars.DataFrame:
    """Goodputs of single TCP flows."""
    return polars.DataFrame(
        [
            {"scheme": label}
            | {
                name: value
                for share in (NOTHING, 0.25, 0.5)
                for name, value in cells(f"below {share:g} %", locked_out(flows, label, share)).items()
            }
            | cells("least", measures.goodputs(flows, label, np.min))
            | cells("greatest", measures.goodputs(flows, label, np.max))
            | _row(flows, label, {"Jain": "classes.ftp.jain"})
            for label in flows.labels
        ]
    )


@table(
    beyond=True,
    caption="Class 1, UDP, is to wait for 5 ms at most and lose 0.5 % at most; class 3 is to wait and lose twice as "
    "much as class 2, class 4 twice as much as class 3. JoBS here is `jobs`, its published form with classes; stricter "
    "are 2 ms, 0.4 % and factors of 1.5, wider the same with factors of 3.",
)
def classes(classes: Runs) -> polars.DataFrame:
    """Four classes of service at the core router."""
    rows = []
    for label in classes.labels:
        for name in ("first", "second", "third", "fourth"):
            metrics = {
                "wait (ms)": f"classes.{name}.queue_delay_mean",
                "longest (ms)": f"classes.{name}.queue_delay_max",
                "lost %": f"classes.{name}.loss_ratio",
                "Mbit/s": f"classes.{name}.throughput",
            }
            rows.append({"scheme": label, "class": name} | _row(classes, label, metrics))
    return polars.DataFrame(rows)


@table(beyond=True)
def configuration(configuration: Runs) -> polars.DataFrame:
    """One parameter changed."""
    return polars.DataFrame([{"scheme": label} | _row(configuration, label, BRIEF) for label in configuration.labels])


@table(
    beyond=True, caption=f"70 nodes and a buffer of 100 000 bytes throughout. {EVERY}: a projection at every arrival."
)
def conditions(conditions: Runs) -> polars.DataFrame:
    """Other round trips, shares of UDP and rates."""
    return polars.DataFrame(
        [
            {"condition": name, "scheme": label} | _row(conditions, label, BRIEF, at)
            for name, at in POINTS.items()
            for label in conditions.labels
        ]
    )
