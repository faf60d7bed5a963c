"""PI's open loop on the plant (1)."""

from collections.abc import Iterator

import numpy as np

from aqmlab.theory import laws
from aqmlab_papers import Axis, Curve, Panel, figure
from aqmlab_papers.survey.theory import CAPACITY, FLOWS_MIN, FREQUENCY, RTT_MAX, A, B, hollot, printed_plant, rule_gains


@figure(
    [
        Panel("a", "Gain", Axis("Frequency (rad/s)", 0.1, 30, log=True), Axis("Gain (dB)", -60, 60)),
        Panel("b", "Phase", Axis("Frequency (rad/s)", 0.1, 30, log=True), Axis("Phase (degrees)", -540, 0)),
    ],
    caption="60 flows, 180 ms, 5625 packets/s. (1) is the plant without the loop's delay.",
    beyond=True,
)
def plant() -> Iterator[Curve]:
    """PI's open loop on the plant (1)."""
    w = np.logspace(-1, np.log10(30), 200)
    s = 1j * w
    plant = hollot(FLOWS_MIN, RTT_MAX, CAPACITY)
    printed = laws.pi(A, B, FREQUENCY)
    cases = {
        "(1) as printed, printed gains": np.array([printed_plant(one, FLOWS_MIN, RTT_MAX, CAPACITY) for one in s])
        * printed(s),
        "with its delay, printed gains": plant(s) * printed(s),
        "with its delay, the rule's gains": plant(s) * laws.pi(*rule_gains(), FREQUENCY)(s),
    }
    for name, response in cases.items():
        yield Curve("a", name, w, 20 * np.log10(np.abs(response)))
        yield Curve("b", name, w, np.degrees(np.unwrap(np.angle(response))))
