"""The command ``aqmlab design``: parameters by the papers' theory, computed by `aqmlab.theory`.

Options are checked before theory is imported: scipy takes a second to import, and a wrong option is reported at once.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Annotated

import typer

from aqmlab.cli.command import Commands
from aqmlab.cli.terminal import BAD_USAGE, stop

if TYPE_CHECKING:
    from collections.abc import Callable

    from aqmlab.theory.answer import Answer

design = Commands(
    name="design",
    no_args_is_help=True,
    rich_markup_mode=None,
    help="Print what theory requires of an algorithm's parameters: gains, bounds, margins, and their validity.",
)

Rate = Annotated[str, typer.Option("--rate", metavar="RATE", help="Rate of the link: '10 Mbit/s'.")]
Packet = Annotated[str, typer.Option("--packet", metavar="SIZE", help="Size of a packet: '500 B'.")]
FewestFlows = Annotated[float, typer.Option("--n-min", metavar="N", help="The fewest long-lived flows.")]
LongestRoundTrip = Annotated[
    str, typer.Option("--rtt-max", metavar="TIME", help="The longest round-trip time, the queue included: '350 ms'.")
]
Json = Annotated[bool, typer.Option("--json", help="Print one JSON document instead of a table.")]

OPTIONS = {
    "N_min": "--n-min",
    "R_max": "--rtt-max",
    "C": "--rate",
    "r0": "--rate",
    "r": "--at",
    "q0": "--target",
    "Q": "--buffer",
    "B": "--buffer",
    "P": "--loss",
    "W": "--window",
    "d": "--rtt",
    "S": "--period",
}
"""The options of theory's parameters, where the two names differ."""


@design.command()
def avq(
    rate: Rate,
    packet: Packet,
    n_min: FewestFlows,
    rtt_max: LongestRoundTrip,
    gamma: Annotated[float, typer.Option("--gamma", metavar="GAMMA", help="The desired utilisation.")] = 0.98,
    alpha: Annotated[
        float | None,
        typer.Option("--alpha", metavar="ALPHA", help="The alpha to judge, per second; the rule's own by default."),
    ] = None,
    json: Json = False,
) -> None:
    """AVQ: a working limit on alpha, and the limits of stability for each marking of the virtual queue."""
    capacity = _packets("--rate", rate, packet)
    longest = _base("--rtt-max", rtt_max, "s")

    from aqmlab.theory import avq

    _answer(lambda: avq.design(N_min=n_min, R_max=longest, C=capacity, gamma=gamma, alpha=alpha), json)


@design.command()
def lred(
    rate: Rate,
    packet: Packet,
    n_min: FewestFlows,
    rtt_max: LongestRoundTrip,
    beta: Annotated[
        float, typer.Option("--beta", metavar="BETA", help="The gain to judge, per packet; LRED's own by default.")
    ] = 0.001,
    json: Json = False,
) -> None:
    """LRED: beta0, the bound of Lemma 5, beta*, and the margins of a gain on both plants."""
    capacity = _packets("--rate", rate, packet)
    longest = _base("--rtt-max", rtt_max, "s")

    from aqmlab.theory import lred

    _answer(lambda: lred.design(N_min=n_min, R_max=longest, C=capacity, beta=beta), json)


@design.command()
def pi(
    rate: Rate,
    packet: Packet,
    n_min: FewestFlows,
    rtt_max: LongestRoundTrip,
    frequency: Annotated[float, typer.Option("--frequency", metavar="HZ", help="Updates a second.")] = 170.0,
    json: Json = False,
) -> None:
    """PI: the gains a and b by Hollot's rule (PI*), the validity of the rule, and the margins of the loop."""
    capacity = _packets("--rate", rate, packet)
    longest = _base("--rtt-max", rtt_max, "s")

    from aqmlab.theory import pi

    _answer(lambda: pi.design(N_min=n_min, R_max=longest, C=capacity, frequency=frequency), json)


@design.command()
def redtail(
    rate: Rate,
    packet: Packet,
    n: Annotated[float, typer.Option("--flows", "--n", metavar="N", help="Long-lived flows.")],
    rtt: Annotated[
        str, typer.Option("--rtt", metavar="TIME", help="Their round-trip time without the queue: '64 ms'.")
    ],
    loss: Annotated[
        float | None,
        typer.Option("--loss", metavar="P", help="The drop probability that the thresholds keep: 0.014."),
    ] = None,
    window: Annotated[
        float | None,
        typer.Option("--window", metavar="PACKETS", help="Their mean window W, instead of sqrt(3 / (2 P))."),
    ] = None,
    sigma: Annotated[
        str | None,
        typer.Option(
            "--sigma",
            metavar="RATE",
            help="Standard deviation of a flow's rate in a slot: '128490 bit/s', the paper's for 40 flows, is"
            " the default for more than 30; '77021 bit/s', the paper's for 20, for fewer (packets of 1000 B).",
        ),
    ] = None,
    buffer: Annotated[
        str, typer.Option("--buffer", metavar="SIZE", help="The buffer B: '800 packets', '800', '800 kB'.")
    ] = "800 packets",
    period: Annotated[
        str | None,
        typer.Option("--period", metavar="TIME", help="The model's slot S: '552 ms'; by default the round-trip time."),
    ] = None,
    json: Json = False,
) -> None:
    """RED+Tail: window, queue and round-trip time of the long flows, the spread of their queue, and its stability."""
    capacity = _packets("--rate", rate, packet)
    delay = _base("--rtt", rtt, "s")
    if loss is None and window is None:
        raise typer.BadParameter("give the drop probability or the mean window", param_hint="--loss, --window")
    deviation = None if sigma is None else _packets("--sigma", sigma, packet)
    slot = None if period is None else _base("--period", period, "s")
    room = _buffer("--buffer", buffer, packet)

    from aqmlab.theory import redtail

    _answer(
        lambda: redtail.design(C=capacity, d=delay, N=n, P=loss, W=window, sigma=deviation, B=room, S=slot),
        json,
    )


@design.command()
def rem(
    rate: Rate,
    packet: Packet,
    n_min: FewestFlows,
    rtt_max: LongestRoundTrip,
    phi: Annotated[float, typer.Option("--phi", metavar="PHI", help="Base of the exponential.")] = 1.001,
    gamma: Annotated[float, typer.Option("--gamma", metavar="GAMMA", help="Step of the price, per packet.")] = 0.001,
    alpha: Annotated[float, typer.Option("--alpha", metavar="ALPHA", help="Weight of the queue's error.")] = 0.1,
    frequency: Annotated[float, typer.Option("--frequency", metavar="HZ", help="Updates a second.")] = 500.0,
    target: Annotated[float, typer.Option("--target", metavar="PACKETS", help="Target queue.")] = 100.0,
    buffer: Annotated[float, typer.Option("--buffer", metavar="PACKETS", help="Buffer, above the target.")] = 200.0,
    json: Json = False,
) -> None:
    """REM: the least response time, the queue at equilibrium, the margins, and the largest stable gamma."""
    capacity = _packets("--rate", rate, packet)
    longest = _base("--rtt-max", rtt_max, "s")

    from aqmlab.theory import rem

    _answer(
        lambda: rem.design(
            N_min=n_min,
            R_max=longest,
            C=capacity,
            phi=phi,
            gamma=gamma,
            alpha=alpha,
            frequency=frequency,
            q0=target,
            Q=buffer,
        ),
        json,
    )


@design.command()
def raqm(
    rate: Rate,
    at: Annotated[
        str | None,
        typer.Option("--at", metavar="RATE", help="Rate of arrivals at which to take the gain; the link's by default."),
    ] = None,
    eps: Annotated[
        float, typer.Option("--eps", metavar="EPS", help="The adaptive gain as a part of the bound alpha^.")
    ] = 0.9,
    json: Json = False,
) -> None:
    """RAQM: the bound alpha^ and its least value 4/r0, the gains below it, and their speed of convergence."""
    expected = _base("--rate", rate, "bit/s") / 8
    found = None if at is None else _base("--at", at, "bit/s") / 8

    from aqmlab.theory import raqm

    _answer(lambda: raqm.design(r0=expected, r=found, eps=eps), json)


def _base(option: str, text: str, unit: str) -> float:
    """Parse a quantity and convert it to its base unit."""
    from aqmlab._core import in_base_unit

    found = in_base_unit(text)
    if found is None or found[1] != unit:
        example = {"s": "350 ms", "bit/s": "10 Mbit/s", "bytes": "500 B"}[unit]
        raise typer.BadParameter(f"{text}: must be a quantity like '{example}'", param_hint=option)
    return found[0]


def _packets(option: str, rate: str, packet: str) -> float:
    """Parse a rate and convert it to packets per second."""
    size = _base("--packet", packet, "bytes")
    if not size > 0:
        raise typer.BadParameter(f"{packet}: must be positive", param_hint="--packet")
    return _base(option, rate, "bit/s") / (8 * size)


def _buffer(option: str, buffer: str, packet: str) -> float:
    """Parse the size of a buffer and convert it to packets."""
    from aqmlab._core import in_base_unit

    found = in_base_unit(buffer)
    if found is not None and found[1] == "packets":
        return found[0]
    if found is not None and found[1] == "bytes":
        return found[0] / _base("--packet", packet, "bytes")
    try:
        return float(buffer)
    except ValueError:
        raise typer.BadParameter(f"{buffer}: must be like '800 packets' or '800 kB'", param_hint=option) from None


def _answer(ask: Callable[[], Answer], json: bool) -> None:
    """Print the answer, or exit with bad usage if theory refuses the parameters."""
    from aqmlab.files import json_text

    try:
        answer = ask()
    except ValueError as error:
        name = re.match(r"(\w+) = ", str(error))
        option = OPTIONS.get(name[1]) if name else None
        stop(BAD_USAGE, f"{option}: {error}" if option else str(error))
    if json:
        typer.echo(json_text(answer.document()), nl=False)
        for text in answer.warnings:
            typer.echo(f"warning: {text}", err=True)
    else:
        typer.echo(str(answer))
