"""The command ``aqmlab audit``."""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from aqmlab.cli import options
from aqmlab.cli.delivery import deliver
from aqmlab.cli.terminal import BAD_USAGE, FAILED, FOUND, interrupted_status, one_interrupt, progress_bar, stop

if TYPE_CHECKING:
    from aqmlab.audit.audit import Audit


def audit(
    files: Annotated[
        list[Path],
        typer.Argument(
            metavar="FILES",
            help="Files of the router: the output of tc, of OpenWrt the configuration of sqm, network and firewall, of "
            "FreeBSD that of dummynet. The guide lists the commands that print them.",
            show_default=False,
        ),
    ],
    down: options.Down = None,
    up: Annotated[str | None, typer.Option("--up", metavar="RATE", help="Rate of the uplink.")] = None,
    rtt: options.Rtt = None,
    link_layer: options.LinkLayer = None,
    no_cost: Annotated[bool, typer.Option("--no-cost", help="Do not simulate what a finding costs.")] = False,
    seeds: Annotated[int, options.seeds("Simulate each finding N times.")] = 5,
    jobs: options.Jobs = None,
    json: options.Json = False,
) -> None:
    """Find the faults in the queues of a router.

    Is the shaper below the link, and where the queue forms? Does it see the traffic, does it count what the link adds
    to packets, does ECN work, are limits hit, does that run which is configured?

    Each finding has its place in the files, what it costs a voice call and transfers in a simulation, and the line that
    mends it. The exit status is 7 if anything is wrong or doubtful, and 0 if not.
    """
    from aqmlab.advice.bad_link import BadLink
    from aqmlab.advice.runs import RunsFailed
    from aqmlab.audit.audit import audit as audited
    from aqmlab.audit.router import Given
    from aqmlab.foreign.model import Unreadable
    from aqmlab.foreign.read import read

    try:
        state = read(files)
        given = Given.of(down, up, rtt, link_layer or "")
    except BadLink as error:
        raise typer.BadParameter(error.problem, param_hint=error.where) from None
    except Unreadable as error:
        stop(BAD_USAGE, str(error))
    except OSError as error:
        raise typer.BadParameter(f"{error.filename!r}: {error.strerror}", param_hint="FILES") from None
    if not (state.qdiscs or state.sections or state.shapers):
        stop(BAD_USAGE, f"{files[0]}: no queue and no configuration of one: give what `tc -s -d qdisc show` prints")
    found = audited(state, given)
    found, reason = (found, None) if no_cost else _costed(found, seeds, jobs)
    deliver(found, json, None, lambda folder: [])
    if reason is not None:
        failed = isinstance(reason, RunsFailed)
        problem = str(reason) if failed else "interrupted: some costs are missing; --no-cost leaves all of them out"
        stop(FAILED if failed else interrupted_status(), problem)
    if found.findings:
        raise typer.Exit(FOUND)


def _costed(found: Audit, seeds: int, jobs: int | None) -> tuple[Audit, BaseException | None]:
    """Return an audit with costs, and the reason if some are missing: Ctrl-C, or a run that failed."""
    from aqmlab.audit.cost import costed

    with one_interrupt(), tempfile.TemporaryDirectory() as store, progress_bar(lambda: "simulating costs") as show:
        findings, reason = costed(found.findings, found.router, Path(store), seeds, jobs, show)
        return found.with_(findings), reason
