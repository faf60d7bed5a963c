"""What the stations of a wireless LAN, the users of a cell or cable modems get: share, goodput and delay."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

import numpy as np

from aqmlab.figures.model import Axis, Bars, Grid, Panel
from aqmlab.results.metrics import METRICS
from aqmlab.scenario import cables

if TYPE_CHECKING:
    from aqmlab.results.result import Result
    from aqmlab.results.summary import Summary

_SHARES = {"stations": "Airtime", "users": "Resources", "modems": "Rate in use"}
"""What a link has a share of, by the key of those at its end."""

_SHARE = 0.8
"""The part of a row that its bars take."""


def stations(results: Mapping[str, Result], colours: Mapping[str, str]) -> Grid | None:
    """Show the share of each station, user or modem, and goodput and delay of traffic entries, a bar for each result.

    Shares are airtime of a wireless LAN, resource blocks of a cell and the use of a modem's rates, to each and from
    each. Intervals are the 95 % confidence intervals. None if the scenario has none of them.
    """
    resolved = next(iter(results.values())).scenario.resolved
    named = {
        key: [name for name, table in cables(resolved).items() if key in table and name != table["name"]]
        for key in _SHARES
    }
    shown = [_SHARES[key] for key, names in named.items() if names]
    if not shown:
        return None
    links = [link for names in named.values() for name in names for link in (name, f"{name}:reverse")]
    entries = [entry["name"] for entry in resolved["traffic"]]
    panels = [
        _panel(", ".join(shown) + " (%)", "links", links, "utilisation", results, colours),
        _panel(METRICS["goodput"].axis, "classes", entries, "goodput", results, colours),
        _panel(METRICS["delay_p95"].axis, "classes", entries, "delay_p95", results, colours),
    ]
    rows = max(len(links), len(entries)) * len(results)
    return Grid(panels=panels, across=3, height=0.7 + 0.14 * rows)


def _panel(
    title: str,
    scope: str,
    owners: list[str],
    metric: str,
    results: Mapping[str, Result],
    colours: Mapping[str, str],
) -> Panel:
    """Show a metric of each owner that has it."""
    owned = {label: result.owned(scope) for label, result in results.items()}
    used = [owner for owner in owners if any(_mean(of[owner], metric) for of in owned.values())]
    scale, width = METRICS[metric].scale, _SHARE / len(results)
    shapes = []
    for place, (label, of) in enumerate(owned.items()):
        summaries = [of[owner].get(metric) for owner in used]
        values = np.array([np.nan if one is None or one.mean is None else one.mean * scale for one in summaries])
        halves = np.array([np.nan if one is None or one.ci95 is None else one.ci95 * scale for one in summaries])
        shapes.append(
            Bars(
                at=np.arange(len(used), dtype=np.float64) + width * (place + 0.5) - _SHARE / 2,
                value=values,
                colours=[colours[label]] * len(used),
                width=width,
                interval=None if np.isnan(halves).all() else (values - halves, values + halves),
                horizontal=True,
            )
        )
    rows = Axis("", categories=tuple(used), downwards=True)
    return Panel(title=title, x=Axis("", low=0.0), y=rows, shapes=shapes)


def _mean(summary: Mapping[str, Summary], metric: str) -> float:
    return (summary[metric].mean or 0.0) if metric in summary else 0.0
