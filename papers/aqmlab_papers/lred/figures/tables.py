"""Tables: the parameters of figure 3, the links of figure 4, printed numbers, and the gains of each experiment."""

import polars

from aqmlab import Scenario
from aqmlab.theory import pi
from aqmlab_papers import Runs, table
from aqmlab_papers.lred.claims.background import off
from aqmlab_papers.lred.measures import COUNT
from aqmlab_papers.lred.theory import BETA, EXAMPLE, FREQUENCY, LOADS, C
from aqmlab_papers.run.complexity import complexity
from aqmlab_papers.run.sketch import cells
from aqmlab_papers.theory import lred

_FLOATS = dict.fromkeys(("Value (paper)", "Value", "Value ±"), polars.Float64)


def _plain(value: object) -> str:
    return f"{value:g}" if isinstance(value, int | float) else str(value)


@table(caption="L starts at 0 in both.")
def fig3() -> polars.DataFrame:
    """The pseudocode's parameters."""
    resolved = Scenario.load("lred/exp1").with_(aqm="lred").resolved["aqm"]
    printed = {"q0": "100", "window": "4", "weight": "0.1", "beta": "0.001", "period": "1 s"}
    rows = [
        {"Parameter": f"{name} ({symbol})", "Value (paper)": printed[name], "Value": _plain(resolved[name])}
        for name, symbol in (("q0", "q0"), ("window", "M"), ("weight", "m_w"), ("beta", "beta"), ("period", "m_t"))
    ]
    return polars.DataFrame(rows)


@table(caption="Five hosts on each side.")
def fig4() -> polars.DataFrame:
    """The dumb-bell's links."""
    found = Scenario.load("lred/exp1").resolved["dumbbell"]
    rows = [
        ("rate of the bottleneck", "10 Mbit/s", found["rate"]),
        ("delay of the bottleneck", "", found["delay"]),
        ("its buffer", "200 packets", found["buffer"]),
        ("rate of the other links", "10 Mbit/s", found["access_rate"]),
        ("delay of a server's link", "2.5 ms", ", ".join(found["sender_delay"])),
        ("delays of the clients' links, experiment 1", "10, 50, 100, 150, 200 ms", ", ".join(found["receiver_delay"])),
    ]
    return polars.DataFrame(rows, schema=["Link", "Value (paper)", "Value"], orient="row")


@table(
    digits=3,
    beyond=True,
    caption="Processor instructions a packet beyond those of a drop-tail queue, and bytes of state.",
)
def costs() -> polars.DataFrame:
    """Counted cost of the disciplines."""
    found = complexity()
    return polars.DataFrame(
        [
            {
                "Discipline": label,
                **{f"Instructions, {flows} flows": count for flows, count in found[name].instructions.items()},
                "State (bytes)": found[name].bytes,
            }
            for label, name in (("LRED", "lred"), ("PI", "pi"), ("REM", "rem"), ("AVQ", "avq"))
        ]
    )


@table(
    digits=3,
    beyond=True,
    caption="The TCP is calibrated to the first two, the load of figure 2 is chosen by its number; beta* is found.",
)
def numbers(p0_light: Runs, p0_heavy: Runs, fig2: Runs) -> polars.DataFrame:
    """The numbers that the paper prints, and ours."""
    rows: list[dict[str, str | float | None]] = []
    for name, value, runs in (
        ("Loss ratio, experiment 2, light", 0.0025, p0_light),
        ("Loss ratio, experiment 2, heavy", 0.165, p0_heavy),
        ("Loss ratio, figure 2", 0.12, fig2),
    ):
        ours = runs.per_seed("loss_ratio", "LRED", unit="fraction").summary
        rows.append({"Number": name, "Value (paper)": value, "Value": ours.mean, "Value ±": ours.ci95})
    star = float(lred.beta_star(EXAMPLE.N, EXAMPLE.R, C))
    rows.append({"Number": "beta* of the example", "Value (paper)": BETA, "Value": star, "Value ±": None})
    return polars.DataFrame(rows, schema_overrides=_FLOATS)


@table(
    name="red-settings",
    digits=3,
    beyond=True,
    caption="Thresholds in packets; max_p is 0.1 and w_q 0.002 unless stated. Off: deviation of the queue and distance "
    "of its mean from 100 packets, together. beta = 0.5: with alpha = 0.05, in place of 0.9 and 0.01.",
)
def settings(red_settings: Runs) -> polars.DataFrame:
    """RED and Adaptive RED by setting and number of flows."""
    rows = []
    for label in red_settings.labels:
        row: dict[str, str | float | None] = {"Setting": label}
        for count in red_settings.points(COUNT):
            row |= cells(f"off, {count} flows", off(red_settings, label, count))
            row[f"goodput (Mbit/s), {count}"] = red_settings.per_seed("goodput", label, {COUNT: count}).mean
        rows.append(row)
    return polars.DataFrame(rows)


@table(
    digits=3,
    beyond=True,
    caption="Margins of the paper's plant, and of Hollot's with the queue's pole. p0 has a dash where (6) gives more "
    "than 1, which is no probability; what follows from it there is meaningless.",
)
def gains() -> polars.DataFrame:
    """The gain 0.001 against Theorem 2 in each experiment, and PI*'s gains there."""
    rows = []
    for load in (EXAMPLE, *LOADS):
        a, b = pi.tustin(*pi.rule(load.N, load.R, C), FREQUENCY)
        found = lred.design(N_min=load.N, R_max=load.R, C=C, beta=BETA)
        rows.append(
            {
                "Experiment": load.name,
                "N-": load.N,
                "R+ (s)": load.R,
                "p0 by (6)": found.p0 if found.p0 <= 1 else None,
                "beta* (paper)": BETA if load is EXAMPLE else None,
                "beta*": found.beta_star,
                "0.001 / beta*": BETA / found.beta_star,
                "Margin (degrees)": found.phase_margin_deg,
                "with queue pole (degrees)": found.phase_margin_queue_pole_deg,
                "R+ C / N-": load.R * C / load.N,
                "PI* a": a,
                "PI* b": b,
            }
        )
    return polars.DataFrame(rows, schema_overrides={"beta* (paper)": polars.Float64})
