"""The command ``aqmlab design``: parameters from the papers' theory, computed by `aqmlab.theory`.

Options are checked before theory is imported: scipy takes a second to import, and a wrong option is reported at once.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Annotated

import typer

from aqmlab.cli import options
from aqmlab.cli.command import Commands
from aqmlab.cli.terminal import BAD_USAGE, stop, warn

if TYPE_CHECKING:
    from collections.abc import Callable

    from aqmlab.theory.answer import Answer

design = Commands(
    name="design",
    add_completion=False,
    no_args_is_help=True,
    rich_markup_mode=None,
    short_help="Compute gains, bounds and margins from theory.",
    help="Compute gains, bounds and margins from theory, and state where they are valid.",
)

Rate = Annotated[str, typer.Option("--rate", metavar="RATE", help="Rate of the link: '10 Mbit/s'.")]
Packet = Annotated[str, typer.Option("--packet", metavar="SIZE", help="Size of a packet: '500 B'.")]
FewestFlows = Annotated[float, typer.Option("--n-min", metavar="N", help="Smallest number of long-lived flows.")]
LongestRoundTrip = Annotated[
    str, typer.Option("--rtt-max", metavar="TIME", help="Longest round-trip time, queueing delay included: '350 ms'.")
]
MostFlows = Annotated[
    float | None,
    typer.Option(
        "--n-max", metavar="N", help="Largest number of long-lived flows; default: those with windows of 2 packets."
    ),
]
ShortestRoundTrip = Annotated[
    str | None,
    typer.Option(
        "--rtt-min",
        metavar="TIME",
        help="Shortest round-trip time, queueing delay included; default: a tenth of the longest, above the target.",
    ),
]
TargetDelay = Annotated[str, typer.Option("--target", metavar="TIME", help="Target of the queueing delay: '15 ms'.")]
Update = Annotated[str, typer.Option("--t-update", metavar="TIME", help="Period of the update: '15 ms'.")]
ErrorGain = Annotated[
    float, typer.Option("--alpha", metavar="ALPHA", help="Gain to assess, on the difference of delay and target (Hz).")
]
ChangeGain = Annotated[
    float, typer.Option("--beta", metavar="BETA", help="Gain to assess, on the change of the delay in a period (Hz).")
]
PhaseMargin = Annotated[
    float, typer.Option("--phase-margin", metavar="DEG", help="Phase margin that the computed gains are to leave.")
]
Frequency = Annotated[float, typer.Option("--frequency", metavar="HZ", help="Updates per second.")]

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
    "N_max": "--n-max",
    "R_min": "--rtt-min",
    "phase_margin": "--phase-margin",
    "t_update": "--t-update",
    "alpha": "--alpha",
    "beta": "--beta",
    "target": "--target",
}
"""The options that set parameters of theory under another name."""


@design.command()
def avq(
    rate: Rate,
    packet: Packet,
    n_min: FewestFlows,
    rtt_max: LongestRoundTrip,
    gamma: Annotated[float, typer.Option("--gamma", metavar="GAMMA", help="Desired utilisation.")] = 0.98,
    alpha: Annotated[
        float | None,
        typer.Option(
            "--alpha", metavar="ALPHA", help="Value of alpha to assess, per second; default: that of the rule."
        ),
    ] = None,
    json: options.Json = False,
) -> None:
    """AVQ: limits on alpha.

    The limits are a practical one and, for each kind of marking by the virtual queue, that of stability.
    """
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
        float, typer.Option("--beta", metavar="BETA", help="Gain to assess, per packet; the default is LRED's.")
    ] = 0.001,
    json: options.Json = False,
) -> None:
    """LRED: bounds of the gain beta, and its margins.

    The bounds are beta0, the bound of Lemma 5, and beta*. The margins are those of one gain, on both plants.
    """
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
    frequency: Frequency = 170.0,
    json: options.Json = False,
) -> None:
    """PI: the gains a and b of Hollot's rule.

    The output also states whether the rule (PI*) is valid here, and has the margins of the loop.
    """
    capacity = _packets("--rate", rate, packet)
    longest = _base("--rtt-max", rtt_max, "s")

    from aqmlab.theory import pi

    _answer(lambda: pi.design(N_min=n_min, R_max=longest, C=capacity, frequency=frequency), json)


@design.command()
def pie(
    rate: Rate,
    packet: Packet,
    n_min: FewestFlows,
    rtt_max: LongestRoundTrip,
    n_max: MostFlows = None,
    rtt_min: ShortestRoundTrip = None,
    target: TargetDelay = "15 ms",
    t_update: Update = "15 ms",
    alpha: ErrorGain = 0.125,
    beta: ChangeGain = 1.25,
    timestamps: Annotated[
        bool, typer.Option("--timestamps", help="The delay is that of the packets that leave, as in Linux.")
    ] = False,
    phase_margin: PhaseMargin = 45.0,
    json: options.Json = False,
) -> None:
    """PIE: margins of its gains, and better gains.

    The output has the margins with the fewest flows at the longest round trip, the least ones over all flows and round
    trips, which include the loads where PIE's table of factors has its jumps, and gains for a wanted phase margin.
    """
    capacity = _packets("--rate", rate, packet)
    longest = _base("--rtt-max", rtt_max, "s")
    shortest = None if rtt_min is None else _base("--rtt-min", rtt_min, "s")
    wait, period = _base("--target", target, "s"), _base("--t-update", t_update, "s")

    from aqmlab.theory import pie

    _answer(
        lambda: pie.design(
            N_min=n_min,
            R_max=longest,
            C=capacity,
            target=wait,
            t_update=period,
            alpha=alpha,
            beta=beta,
            timestamps=timestamps,
            N_max=n_max,
            R_min=shortest,
            phase_margin=phase_margin,
        ),
        json,
    )


@design.command()
def pi2(
    rate: Rate,
    packet: Packet,
    n_min: FewestFlows,
    rtt_max: LongestRoundTrip,
    n_max: MostFlows = None,
    rtt_min: ShortestRoundTrip = None,
    target: TargetDelay = "20 ms",
    t_update: Update = "32 ms",
    alpha: ErrorGain = 0.3125,
    beta: ChangeGain = 3.125,
    phase_margin: PhaseMargin = 45.0,
    json: options.Json = False,
) -> None:
    """PI2: margins of its gains, and better gains.

    The output has the margins with the fewest flows at the longest round trip, the least ones over all flows and round
    trips, and gains for a wanted phase margin.
    """
    capacity = _packets("--rate", rate, packet)
    longest = _base("--rtt-max", rtt_max, "s")
    shortest = None if rtt_min is None else _base("--rtt-min", rtt_min, "s")
    wait, period = _base("--target", target, "s"), _base("--t-update", t_update, "s")

    from aqmlab.theory import pi2

    _answer(
        lambda: pi2.design(
            N_min=n_min,
            R_max=longest,
            C=capacity,
            target=wait,
            t_update=period,
            alpha=alpha,
            beta=beta,
            N_max=n_max,
            R_min=shortest,
            phase_margin=phase_margin,
        ),
        json,
    )


@design.command()
def redtail(
    rate: Rate,
    packet: Packet,
    n: Annotated[float, typer.Option("--flows", "--n", metavar="N", help="Number of long-lived flows.")],
    rtt: Annotated[
        str, typer.Option("--rtt", metavar="TIME", help="Round-trip time of the flows without queueing: '64 ms'.")
    ],
    loss: Annotated[
        float | None,
        typer.Option("--loss", metavar="P", help="Drop probability that the thresholds maintain: 0.014."),
    ] = None,
    window: Annotated[
        float | None,
        typer.Option("--window", metavar="PACKETS", help="Mean window W of the flows; default: sqrt(3 / (2 P))."),
    ] = None,
    sigma: Annotated[
        str | None,
        typer.Option(
            "--sigma",
            metavar="RATE",
            help="Standard deviation of a flow's rate in a slot; default: a value of the paper, for packets of 1000 B, "
            "'77021 bit/s' (stated for 20 flows) or, for more than 30 flows, '128490 bit/s' (stated for 40).",
        ),
    ] = None,
    buffer: Annotated[
        str, typer.Option("--buffer", metavar="SIZE", help="Size of the buffer: '800 packets', '800' or '800 kB'.")
    ] = "800 packets",
    period: Annotated[
        str | None,
        typer.Option("--period", metavar="TIME", help="Slot S of the model: '552 ms'; default: the round-trip time."),
    ] = None,
    json: options.Json = False,
) -> None:
    """RED+Tail: the queue of the long flows.

    The output has the window, queue and round-trip time of the flows, the spread of their queue, and its stability.
    """
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
    phi: Annotated[float, typer.Option("--phi", metavar="PHI", help="Base of the exponential function.")] = 1.001,
    gamma: Annotated[float, typer.Option("--gamma", metavar="GAMMA", help="Step of the price, per packet.")] = 0.001,
    alpha: Annotated[
        float, typer.Option("--alpha", metavar="ALPHA", help="Weight of the deviation of the queue.")
    ] = 0.1,
    frequency: Frequency = 500.0,
    target: Annotated[float, typer.Option("--target", metavar="PACKETS", help="Target of the queue.")] = 100.0,
    buffer: Annotated[
        float, typer.Option("--buffer", metavar="PACKETS", help="Size of the buffer; it must exceed the target.")
    ] = 200.0,
    json: options.Json = False,
) -> None:
    """REM: response time, equilibrium, margins.

    The output has the shortest response time, the queue at equilibrium, the margins, and the largest stable gamma.
    """
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
        typer.Option(
            "--at", metavar="RATE", help="Arrival rate at which the gain is taken; default: the rate of the link."
        ),
    ] = None,
    eps: Annotated[
        float, typer.Option("--eps", metavar="EPS", help="Adaptive gain as a fraction of its bound alpha^.")
    ] = 0.9,
    json: options.Json = False,
) -> None:
    """RAQM: the bound alpha^ of the gain.

    The output has the bound, its smallest value 4/r0, the gains below it, and their speed of convergence.
    """
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
        warn(answer.warnings)
    else:
        typer.echo(str(answer))
