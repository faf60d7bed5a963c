"""The command ``aqmlab probe-plan``."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from aqmlab.cli import completion, options
from aqmlab.cli.scenarios import loaded
from aqmlab.cli.terminal import BAD_USAGE, progress_bar, stop

if TYPE_CHECKING:
    from aqmlab.calibrate.plan import Plan


def probe_plan(
    link: Annotated[
        str | None,
        typer.Argument(
            metavar="[LINK]",
            autocompletion=completion.scenario,
            help="A scenario's file or name, whose [dumbbell] is the link. Or describe it by --rate and --rtt.",
        ),
    ] = None,
    rate: Annotated[
        str | None, typer.Option("--rate", metavar="RATE", help="Rate of the link: '100 Mbit/s' or 100mbit.")
    ] = None,
    rtt: options.Rtt = None,
    buffer: Annotated[
        str | None,
        typer.Option("--buffer", metavar="SIZE", help="The buffer if it is known, '250 kB' or '100 packets'."),
    ] = None,
    seed: Annotated[int, typer.Option("--seed", metavar="N", min=0, help="Seed of the links that are tried.")] = 1,
    jobs: options.Jobs = None,
    json: options.Json = False,
) -> None:
    """Find the measurement that identifies a queue discipline.

    Links of every kind at this rate and round trip are simulated, and looked at as irtt and iperf3 would with several
    sets of options. The table has the mean probability that each family gets where it is the true one, and so how far
    aqmlab calibrate could tell it.
    """
    from aqmlab.advice.bad_link import BadLink
    from aqmlab.advice.link import Link
    from aqmlab.calibrate.plan import plan
    from aqmlab.cli.delivery import deliver

    try:
        if link is None and (rate is None or rtt is None):
            missing = "--rate" if rate is None else "--rtt"
            raise BadLink(missing, "missing: give it, as in --rate 100mbit --rtt '40 ms', or the file of a link")
        if link is not None and (rate or rtt):
            raise BadLink("--rate" if rate else "--rtt", f"not allowed with {link}, which has it: omit one of them")
        chosen = Link.of(loaded(link), link, "home") if link else Link.given(rate or "", rate or "", rtt or "", "home")
        if chosen.medium:
            problem = f"[[{chosen.medium.table}]]: the plan is for a link of a steady rate: give --rate and --rtt"
            raise BadLink(link or "", problem)
        known = _bytes(buffer, chosen.queues.down.rate) if buffer else None
    except BadLink as error:
        if error.where.startswith("--"):
            where = "--rate" if error.where in ("--down", "--up") else error.where
            raise typer.BadParameter(error.problem, param_hint=where) from None
        stop(BAD_USAGE, str(error))
    with progress_bar() as show:
        found: Plan = plan(chosen.queues.down.rate, chosen.rtt, known, seed=seed, jobs=jobs, progress=show)
    deliver(found, json, None, lambda _: [])


_AROUND = 1.2
"""A known buffer is known up to this factor."""


def _bytes(text: str, rate: float) -> tuple[float, float]:
    from aqmlab._core import in_base_unit

    found = in_base_unit(text)
    sizes = {"bytes": 1.0, "packets": 1500.0, "s": rate / 8}
    if found is None or found[1] not in sizes or not found[0] > 0:
        raise typer.BadParameter(f"{text}: must be a quantity like '250 kB'", param_hint="--buffer")
    size = found[0] * sizes[found[1]]
    return size / _AROUND, size * _AROUND
