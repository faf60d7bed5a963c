"""The view of the playground that each page on a queue discipline has.

The page shows it as a command, which the site turns into the playground itself.
"""

from __future__ import annotations

from collections.abc import Mapping

PLAIN = "quickstart"
"""The scenario of a discipline that `_SHOWN` does not list."""

_SHOWN: Mapping[str, tuple[str, ...]] = {
    "lred/exp1 --set traffic.long.count=100": ("lred", "pi", "pistar", "rem"),
    "raqm/case1": ("raqm",),
    "l4s": ("curvyred", "dualpi2", "lld", "pi2"),
    "quickstart --set traffic.flows.tcp=dctcp": ("step",),
    "quickstart --set traffic.flows.tcp=linux:ecn=true": ("jobs_ecn",),
    "rfc7928/unresponsive": ("blue", "choke", "cobalt", "fred", "sfb", "sred"),
    "traffic/voip-video": ("cake", "drr", "fq", "fq_codel", "fq_pie", "sfq"),
    "classes": ("wred",),
}
"""Scenarios that bring out what a discipline does, with their changes; short enough for a page."""

_OWN = {"jobs": "classes", "redtail": "redtail/prediction", "dtared": "redtail/dynamic"}
"""Scenarios whose own discipline has the parameters that it needs there."""


def command(name: str) -> str:
    """Return the command that shows a discipline in the playground, beside drop-tail."""
    if name in _OWN:
        return f"aqmlab playground {_OWN[name]}"
    scenario = next((scenario for scenario, names in _SHOWN.items() if name in names), PLAIN)
    base, *changes = scenario.split(" ", 1)
    disciplines = [f"--aqm {one}" for one in dict.fromkeys((name, "droptail"))]
    return " ".join(["aqmlab playground", base, *disciplines, *changes])


def line(name: str) -> str:
    """Return the line of a discipline's page, as Markdown."""
    return f"Try it: `{command(name)}` opens it in the [playground](../../guide/playground.md)."
