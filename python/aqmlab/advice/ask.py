"""Advice for a link from Python: what the command line offers, as one function."""

from __future__ import annotations

import tempfile
from pathlib import Path

from aqmlab import _core
from aqmlab.advice.advise import WITHIN
from aqmlab.advice.advise import advise as race
from aqmlab.advice.answer import Advice
from aqmlab.advice.bad_link import BadLink
from aqmlab.advice.link import Link
from aqmlab.advice.race import MOST
from aqmlab.advice.routers import ROUTERS
from aqmlab.scenario import Scenario


def advise(
    scenario: Scenario | None = None,
    *,
    down: str = "",
    up: str = "",
    rtt: str = "",
    users: str = "home",
    link_layer: str = "",
    router: str = "linux",
    every: bool = False,
    within: str = f"{WITHIN:g} s",
    most_seeds: int = MOST,
    jobs: int | None = None,
    out: Path | str | None = None,
) -> Advice:
    """Find the queue discipline for a link, and the lines that set it up.

    Parameters
    ----------
    scenario : Scenario, optional
        Its ``[dumbbell]``, ``[[wifi]]``, ``[[cell]]`` or ``[[cable]]`` is the link, and its disciplines are the default
        to beat.
    down : str, optional
        The rate of the downlink of a link without a scenario: ``"100 Mbit/s"``.
    up : str, optional
        That of its uplink; by default that of the downlink.
    rtt : str, optional
        Its round-trip times without queueing: ``"15-80ms"``.
    users : str, optional
        ``"home"``, ``"office"``, ``"cellular"``, or numbers: ``"4 people, 2 calls, 1 game"``.
    link_layer : str, optional
        What the modem adds to packets, in tc's words for CAKE: ``"pppoe-ptm"``.
    router : str, optional
        ``"linux"``, ``"freebsd"``, ``"mikrotik"``, ``"cisco"`` or ``"junos"``: whose disciplines race.
    every : bool, optional
        Try the disciplines too that no router has.
    within : str, optional
        The time that the race may take.
    most_seeds : int, optional
        The most runs of each load of a configuration.
    jobs : int, optional
        Runs at a time; by default one for each processor.
    out : path, optional
        The folder in whose ``store`` the finished runs are kept, from which the same call goes on.

    Returns
    -------
    Advice
        The ranking and what to do: ``verdict``, ``best``, ``standings``, ``configuration`` with its lines, ``frame``
        with all metrics, and ``document()`` for JSON.

    Raises
    ------
    ValueError
        If the link cannot be, or both a scenario and parts of a link are given.
    """
    if bool(down or up or rtt) if scenario is not None else not (down and rtt):
        raise ValueError("give a scenario, or down, rtt and perhaps up")
    if router not in ("linux", *ROUTERS):
        raise BadLink("router", f"{router}: must be one of linux, {', '.join(ROUTERS)}")
    if scenario is not None:
        link = Link.of(scenario, scenario.title or "the scenario", users, link_layer)
    else:
        link = Link.given(down, up or down, rtt, users, link_layer)
    seconds = _core.in_base_unit(within)
    if seconds is None or seconds[1] != "s":
        raise BadLink("within", f"{within}: must be a time, such as '90 s'")
    with tempfile.TemporaryDirectory() as own:
        store = Path(out) / "store" if out is not None else Path(own)
        return race(link, store, seconds[0], most_seeds, jobs, every, router=router if router in ROUTERS else None)
