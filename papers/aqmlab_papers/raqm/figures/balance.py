"""The equilibrium: where RAQM rests, and the growth of p_k from its start."""

from collections.abc import Iterator

import polars

from aqmlab_papers import Axis, Curve, Evidence, Panel, figure, table
from aqmlab_papers.raqm.measures import CASES, FLOWS, Q0, at, mean_of
from aqmlab_papers.raqm.theory import at_rest


@table(
    needs=CASES,
    caption="The last 100 s. U + l = 1 in the unclipped regime, q = l q0 in the clipped one; in the idle one the flows "
    "rarely send more than the link's rate, and RAQM drops next to nothing.",
    digits=3,
    beyond=True,
)
def balance(evidence: Evidence) -> polars.DataFrame:
    """Where RAQM rests."""
    rows = []
    for case in CASES:
        runs = evidence[case]
        for flows in runs.points(FLOWS):
            queue = runs.per_seed("queue_mean", runs.hero, at(flows)).summary
            loss, busy = (
                runs.per_seed(name, runs.hero, at(flows), unit="fraction").mean
                for name in ("loss_ratio", "utilisation")
            )
            model = at_rest(case, flows)
            held = runs.from_series(runs.hero, mean_of("p_1.mean", runs.duration / 2, runs.duration), at(flows)).mean
            rows.append(
                {
                    "case": f"{case[-1]}, {flows:g} flows",
                    "p_k": held,
                    "regime": "clipped" if held > 0.9 else "idle" if held < 1e-4 else "unclipped",
                    "regime (model)": model.regime,
                    "q": queue.mean,
                    "q ±": queue.ci95,
                    "q (model)": model.q,
                    "l q0": loss * Q0,
                    "l": loss,
                    "l (model)": model.loss,
                    "U": busy,
                    "U (model)": model.U,
                    "U + l": busy + loss,
                }
            )
    return polars.DataFrame(rows, schema_overrides={"q ±": polars.Float64})


@figure(
    [
        Panel("a", "The cases", Axis("Time (s)", 0, 200), Axis("p_k", 1e-6, 1, log=True)),
        Panel("b", "Case 1, 40 flows, by the gain", Axis("Time (s)", 0, 200), Axis("p_k", 1e-6, 1, log=True)),
    ],
    needs=[*CASES, "gain"],
    caption="The first seed; p_k starts at 0.0002 and has a floor at 1e-6.",
    beyond=True,
)
def start(evidence: Evidence) -> Iterator[Curve]:
    """How p_k comes to its place."""
    for case in CASES:
        runs = evidence[case]
        for flows in runs.points(FLOWS):
            name = f"case {case[-1]}, {flows:g} flows"
            yield runs.over_time("a", runs.hero, quantity="p_1.mean", at=at(flows), bin=1.0, name=name)
    runs = evidence["gain"]
    for eps in runs.points("aqm.eps"):
        where = {"aqm.eps": eps}
        yield runs.over_time("b", runs.hero, quantity="p_1.mean", at=where, bin=1.0, name=f"eps = {eps:g}")
