"""The queue over time: the guest's kernel beside the packet engine."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

import aqmlab
from aqmlab.figures.model import COLOURS, GREY, Axis, Curve, Figure, Grid, Guide, Panel, Shape
from oracle.linux import dumbbell, ours

BIN = 0.2
"""Seconds of which the mean is drawn."""

TITLES = {
    "lred": "LRED, experiment 1 of its paper with 40 flows of five round-trip times",
    "droptail": "Drop-tail, the same network",
    "redtail": "RED+Tail: 10 long flows, files of 20 kB at 2.8 Mbit/s, UDP",
    "raqm": "RAQM, case 1 of its paper: 40 flows of one round-trip time",
}


def queues(runs: Sequence[Mapping[str, Any]]) -> Figure:
    """A panel for each run, over which each has its target as a line."""
    panels = [_panel(run) for run in runs]
    explained = f"means of {BIN * 1000:.0f} ms; one run of each; both programs have 10 Mbit/s and packets of 500 bytes"
    grid = Grid(panels=panels, height=1.9)
    return Figure(
        title="The same disciplines in Linux's kernel, compiled to BPF, and in the packet engine",
        rows=[[grid]],
        legend=True,
        small_print=explained,
    )


def _panel(run: Mapping[str, Any]) -> Panel:
    conf = {**run["conf"], "seed": run["seed"]}
    result = aqmlab.run(dumbbell.closed(run["name"], conf))
    simulated = ours.backlog(conf, result, begin=0.0)["packets"].to_numpy()
    kernel = np.array(run["result"]["queue"]["packets_sampled"], float)
    target = conf.get("aqm", {}).get("q0")
    shapes: list[Shape] = [Guide(value=target, colour=GREY)] if target else []
    for name, values, colour in (
        ("packet engine", simulated, COLOURS[1]),
        ("Linux's kernel", kernel, COLOURS[0]),
    ):
        each = round(len(values) / conf["dur"] * BIN)
        means = values[: len(values) // each * each].reshape(-1, each).mean(axis=1)
        times = (np.arange(len(means)) + 0.5) * BIN
        shapes.append(Curve(x=times, y=means, name=name, colour=colour, width=0.9))
    return Panel(
        title=TITLES[run["name"]],
        x=Axis("Time (s)", 0.0, conf["dur"]),
        y=Axis("Queue (packets)", 0.0),
        shapes=shapes,
    )
