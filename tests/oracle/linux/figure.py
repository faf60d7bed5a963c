"""The figure of a live comparison: windows, round trips and the queue over time."""

from collections.abc import Mapping

import matplotlib as mpl
import polars as pl
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from aqmlab.figures.matplotlib import STYLE
from aqmlab.figures.model import COLOURS
from oracle.linux.traces import Trace

FEW = 4
"""Flows up to which each has a panel with both windows; more share a panel for each program."""

SHADES = {"recovery": "#0072b2", "loss": "#cc0000", "cwr": "#009e73"}
"""Of the kernel's congestion states that are shown."""

ONE = {"Linux": COLOURS[0], "aqmlab": COLOURS[1]}
DASHES = {"Linux": "solid", "aqmlab": (0, (4, 1.5))}


def draw(title: str, runs: Mapping[str, Trace], between: tuple[float, float]) -> Figure:
    """Draw one run of each program over the same time."""
    shown = {name: _cut(run, between) for name, run in runs.items()}
    flows = list(shown["Linux"].flows)
    few = len(flows) <= FEW
    panels = (len(flows) if few else len(shown)) + 2
    with mpl.rc_context(STYLE):
        figure = Figure(figsize=(14, 2.2 * panels + 0.6), layout="constrained")
        figure.suptitle(f"{title}: the Linux kernel and aqmlab, one run of each", fontsize=12, parse_math=False)
        axes = figure.subplots(panels, 1, sharex=True)
        if few:
            for panel, flow in zip(axes, flows, strict=False):
                _window(panel, flow, shown)
        else:
            for panel, (name, run) in zip(axes, shown.items(), strict=False):
                _windows(panel, name, run)
            axes[1].sharey(axes[0])
        _round_trips(axes[-2], shown)
        _queue(axes[-1], shown)
        axes[-1].set_xlim(between)
        axes[-1].set_xlabel("Time (s)")
    return figure


def _cut(run: Trace, between: tuple[float, float]) -> Trace:
    inside = pl.col("t").is_between(*between)
    return Trace({name: frame.filter(inside) for name, frame in run.flows.items()}, run.queue.filter(inside))


def _window(axes: Axes, flow: str, runs: Mapping[str, Trace]) -> None:
    """Both windows of a flow, thin lines for ssthresh, shaded where the kernel is in recovery or after a time-out."""
    top = 1.0
    for name, run in runs.items():
        frame = run.flows[flow]
        axes.step(frame["t"], frame["cwnd"], where="post", color=ONE[name], linewidth=1.0, label=name)
        axes.step(frame["t"], frame["ssthresh"], where="post", color=ONE[name], linewidth=0.6, linestyle=":")
        top = max(top, float(frame["cwnd"].max() or 1.0))  # type: ignore[arg-type]
    linux = runs["Linux"].flows[flow]
    for state, colour in SHADES.items():
        within = (linux["state"] == state).to_numpy()
        axes.fill_between(
            linux["t"],
            0,
            1.08 * top,
            where=within,
            step="post",
            color=colour,
            alpha=0.13,
            linewidth=0,
            label=f"{state} (Linux)",
        )
    axes.set_ylim(0, 1.08 * top)
    axes.set_ylabel(f"{flow.replace('_', ', ')}\ncwnd, ssthresh (segments)")
    axes.legend(loc="upper right", ncols=5, fontsize=7)


def _windows(axes: Axes, name: str, run: Trace) -> None:
    for i, (flow, frame) in enumerate(run.flows.items()):
        label = flow.replace("_", ", ") if len(run.flows) <= len(COLOURS) else None
        axes.step(frame["t"], frame["cwnd"], where="post", color=COLOURS[i % len(COLOURS)], linewidth=0.8, label=label)
    axes.set_ylabel(f"{name}\ncwnd (segments)")
    if len(run.flows) <= len(COLOURS):
        axes.legend(loc="upper right", ncols=len(COLOURS), fontsize=7)


def _round_trips(axes: Axes, runs: Mapping[str, Trace]) -> None:
    several = len(runs["Linux"].flows) > 1
    for name, run in runs.items():
        for i, frame in enumerate(run.flows.values()):
            colour = COLOURS[i % len(COLOURS)] if several else ONE[name]
            label = {"Linux": "Linux, smoothed by TCP", "aqmlab": "aqmlab, by the queue"}[name] if i == 0 else None
            axes.plot(frame["t"], frame["rtt"], color=colour, linestyle=DASHES[name], linewidth=0.8, label=label)
    axes.set_ylabel("Round trip (ms)")
    axes.legend(loc="upper right", ncols=2, fontsize=7)


def _queue(axes: Axes, runs: Mapping[str, Trace]) -> None:
    """The queues, and a tick for every sample in which packets were dropped."""
    top = max(1.0, *(float(run.queue["packets"].max() or 0.0) for run in runs.values()))  # type: ignore[arg-type]
    for i, (name, run) in enumerate(runs.items()):
        axes.plot(run.queue["t"], run.queue["packets"], color=ONE[name], linewidth=0.8, label=name)
        dropping = run.queue.filter(pl.col("drops").diff() > 0)["t"]
        axes.plot(dropping, [top * (1.06 + 0.06 * i)] * len(dropping), "|", color=ONE[name], label=f"{name}: drops")
    axes.set_ylim(0, top * 1.2)
    axes.set_ylabel("Queue (packets)")
    axes.legend(loc="lower right", ncols=4, fontsize=7)
