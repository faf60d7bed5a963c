"""Figure 1, the procedures as run; the queue-independent mode, a static alpha, and the period of measurement."""

from collections.abc import Iterator

import polars

from aqmlab_papers import Axis, Curve, Panel, Runs, figure, table
from aqmlab_papers.raqm.measures import FLOWS, at, input_rate, spread_of_p, spread_of_rate
from aqmlab_papers.raqm.theory import FOLLOWED, followed
from aqmlab_papers.run.sketch import cells

TIME = Axis("Time (s)", 0, 200)
P_K = Axis("p_k", 1e-6, 1, log=True)


@figure(
    [Panel("a", "Case 1, 40 flows", TIME, P_K), Panel("b", "Case 1, 400 flows", TIME, P_K)],
    caption="The paper's figure is the pseudocode. Its lines 1 to 5 are computed here from the arrivals of each second "
    f"of a run from {FOLLOWED:g} s on, beside p_k of the run itself; the exponent has the alpha of (3), which the "
    "pseudocode lacks.",
)
def fig1(case1: Runs) -> Iterator[Curve]:
    """RAQM procedures, followed in two runs."""
    for panel, flows in zip("ab", (case1.points(FLOWS)[0], case1.points(FLOWS)[-1]), strict=True):
        yield case1.over_time(panel, case1.hero, quantity="p_1.mean", at=at(flows), name="p_k of the run")
        frame = case1.series(case1.hero, at(flows))
        times, p, _ = followed(frame.rename({name: name.removeprefix("bottleneck.") for name in frame.columns}))
        yield Curve(panel, "p_k by Figure 1 from the run's arrivals", times, p, style="dashed")


@figure(
    [Panel(case, f"Case {n}", TIME, Axis("r_k / r_0", 0.5, 1.5)) for n, case in enumerate("abc", 1)],
    across=3,
    caption="The first seed. The paper describes the mode and does not run it.",
    beyond=True,
)
def rate_mode(case1_rate: Runs, case2_rate: Runs, case3_rate: Runs) -> Iterator[Curve]:
    """The rate of arrivals in the queue-independent mode."""
    for panel, runs in zip("abc", (case1_rate, case2_rate, case3_rate), strict=True):
        for flows in reversed(runs.points(FLOWS)):
            yield runs.over_time(panel, runs.hero, quantity="r.mean", at=at(flows), bin=1.0, name=f"{flows:g} flows")
        yield Curve(panel, "r_0", [0.0, 200.0], [1.0, 1.0], style="dashed")


@figure(
    [
        Panel("a", "p_k over time", TIME, P_K),
        Panel("b", "Its oscillation in the last 100 s", Axis("alpha r0", 0, 10), Axis("Deviation of ln p_k", 0, 2)),
    ],
    caption="Case 1 with 40 flows; panel a has the first seed. Below alpha r0 = 2 the deviation is that of a p_k still "
    "on its way.",
    beyond=True,
)
def static(static: Runs) -> Iterator[Curve]:
    """A static alpha in the queue-independent mode."""
    gains = static.points("aqm.m")
    for m in sorted({gains[0], 2, gains[-1]}):
        where = {"aqm.m": m}
        yield static.over_time("a", "static", quantity="p_1.mean", at=where, bin=1.0, name=f"alpha r0 = {m:g}")
    spread = [static.from_series("static", spread_of_p, {"aqm.m": m}).mean for m in gains]
    yield Curve("b", "standard deviation of ln p_k", gains, spread)


@table(
    caption="Case 3 with 100 flows, the last 300 s of 600; the deviation is that of the arrivals of a second.",
    digits=3,
    beyond=True,
)
def periods(period: Runs) -> polars.DataFrame:
    """The period of measurement in the queue-independent mode."""
    rows = []
    for length in period.points("aqm.period"):
        where = {"aqm.period": length}
        rate = period.per_seed(input_rate(), period.hero, where)
        spread = period.from_series(period.hero, spread_of_rate, where)
        queue = period.per_seed("queue_mean", period.hero, where).summary
        rows.append(
            {"T (s)": length, **cells("r / r0", rate), **cells("its deviation", spread), "mean queue": queue.mean}
        )
    return polars.DataFrame(rows, schema_overrides={"r / r0 ±": polars.Float64, "its deviation ±": polars.Float64})
