"""Other readings of the law, and what would make the paper's claims true; other forms of REM."""

from collections.abc import Iterator, Sequence

import polars

from aqmlab_papers import Axis, Curve, Evidence, Panel, Runs, figure, table
from aqmlab_papers.raqm.measures import BIN, BOTH, CASES, FLOWS, PLAIN, Q0, STILL, at

TIME = Axis("Time (s)", 0, 200)
QUEUE = Axis("Queue length (packets)", 0, 100)


@figure(
    [Panel("abcdef"[place], f"Case {place // 2 + 1}, {(40, 400)[place % 2]} flows", TIME, QUEUE) for place in range(6)],
    needs=[*CASES, *(f"{case}-readings" for case in CASES)],
    caption="The first seed, means of 5 s. In the other reading p_(k-1) of (3) is the mean of what was applied to the "
    "arrivals of the period, and r counts no packets that were dropped early; Figure 1 has neither.",
    beyond=True,
)
def saved(evidence: Evidence) -> Iterator[Curve]:
    """What would make it true: the queue as printed, and with the applied probability fed back."""
    letters = iter("abcdef")
    for case in CASES:
        printed, other = evidence[case], evidence[f"{case}-readings"]
        for flows in printed.points(FLOWS):
            panel = next(letters)
            yield printed.over_time(panel, PLAIN, at=at(flows), bin=BIN, name="as printed")
            for label in (BOTH, STILL):
                yield other.over_time(panel, label, at=at(flows), bin=BIN)
            yield Curve(panel, "q0", [0.0, 200.0], [Q0, Q0], style="dashed")


def _panels(evidence: Evidence, groups: Sequence[tuple[str, str]]) -> polars.DataFrame:
    """List the mean queue of disciplines in the panels of figures 4 to 6, with the response time in s."""
    rows = []
    for label, suffix in groups:
        row: dict[str, str] = {"discipline": label}
        for case in CASES:
            runs: Runs = evidence[f"{case}{suffix}"]
            for flows in runs.points(FLOWS):
                queue = runs.per_seed("queue_mean", label, at(flows)).mean
                settled = runs.per_seed("response_time", label, at(flows))
                after = f"{settled:.0f} s" if len(settled.known) == len(settled.values) else "-"
                row[f"{case[-1]}/{flows:g}"] = f"{queue:.0f} ({after})"
        rows.append(row)
    return polars.DataFrame(rows)


@table(
    needs=[f"{case}{suffix}" for suffix in ("", "-taildrop", "-readings") for case in CASES],
    caption="Packets in the last 100 s, target 50. In brackets the response time, - if some seed never settles.",
    beyond=True,
)
def readings(evidence: Evidence) -> polars.DataFrame:
    """The mean queue in the panels of figures 4 to 6 (case/flows), and the response time."""
    labels = [(label, "") for label in evidence["case1"].labels]
    labels += [(label, "-taildrop") for label in evidence["case1-taildrop"].labels]
    labels[1:1] = [(label, "-readings") for label in evidence["case1-readings"].labels]
    return _panels(evidence, labels)


@table(
    needs=[f"{case}{suffix}" for suffix in ("", "-rem") for case in CASES],
    caption="As in table readings. The paper takes ns-2's defaults; its default of 1000-byte packets would halve the "
    "capacity that REM computes with.",
    beyond=True,
)
def rem_forms(evidence: Evidence) -> polars.DataFrame:
    """REM in ns-2's form, as chosen, and in others."""
    return _panels(evidence, [("REM", ""), *((label, "-rem") for label in evidence["case1-rem"].labels)])
