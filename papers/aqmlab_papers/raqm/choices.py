"""Parameters that RAQM's paper does not state: our values, their calibration, and other values."""

from aqmlab_papers import Calibration, Choice, PerSeed, Printed, Runs, Variant
from aqmlab_papers.raqm.measures import TARGET, good

CHOICES = [
    Choice("Delays of R1-R2 and of the servers' links", "in Figure 3, which our copy lacks", "2.5 ms each").because(
        "As in the LRED paper by the same authors on the same topology."
    ),
    Choice(
        "Access links", "10 Mbit/s on every link, buffers of 100 packets, and one congested link only", "the first two"
    ).because(
        "Not all three can be: with many flows in step a host's own link loses packets too. A variant has 100 Mbit/s "
        "and 5000 packets."
    ),
    Choice("TCP flavour", "", "Reno").because("That of the paper's model of TCP, and by the calibration."),
    Choice("Least time-out and clock of TCP", "", "1 s and 100 ms").because(
        "ns-2's of its time (the latest reference is of October 2003), and by the calibration."
    ),
    Choice("Window limit", "", "20 packets").because("ns-2's default; a variant has none that binds."),
    Choice("Delayed ACKs", "", "none").because("ns-2's default sink; a variant has them."),
    Choice("Packet size", "500 bytes", "500 bytes on the wire").because(
        "2500 packets a second; 460 bytes are payload."
    ),
    Choice("Starts of the flows", "", "uniform in 0 to 1 s").because("All at once would have them slow-start in step."),
    Choice("What is averaged", "", "the last 100 s; in case 4 from 50 s on").because(
        "All disciplines start far from their place. A variant has 20 s on."
    ),
    Choice("Goodput's unit", "about 0.96", "part of the goodput of a full link").because(".96 cannot be Mbit/s of 10."),
    Choice("Exponent of p_k", "e^mismatch in the pseudocode, e^(alpha mismatch) in (3)", "(3)").because(
        "A rate in bytes/s would overflow the former."
    ),
    Choice(
        "Which alpha p_k takes", "Fig. 1 does not show where alpha is computed", "that of the present rate, alpha^(r_k)"
    ).because("Theorem 1 has it so. The rate before (`lagged`) differs by under 2 % near r0."),
    Choice("eps", "smaller than 1 but close to it", "0.9").because("Close to 1; figure `start` has others."),
    Choice(
        "alpha^ at rates from 2 r0 on", "not defined there", "its lower bound, 4 / r0; nowhere above 20 / r0"
    ).because("Theorem 1 lets V fall at any gain up to 4 / r0, there too."),
    Choice("Floor of p_k", "0", "1e-6").because("p_k = 0 would stay 0, the law being a product."),
    Choice("What r counts", "every arrival, by (1) and line 1 of Fig. 1; 'input rate'", "every arrival").because(
        "The other reading, what is not dropped early, is `counts = unshed`, or `r0 = corrected`: table `readings`."
    ),
    Choice("Gains of PI", "a and b of ns-2, 170 Hz", "the same").because("q_ref is set to q0."),
    Choice(
        "Form of REM", "'default value in NS2': phi, alpha, gamma; 2 ms", "ns-2's, for packets of 500 bytes"
    ).because(
        "Those are ns-2's words and values. Its default of 1000-byte packets would leave REM far below "
        "the target; table `rem-forms` has both, and the form of REM's paper."
    ),
    Choice(
        "Load of the claims on the gain and the period",
        "",
        "40 flows of case 1, for the gain also 400; T: 100 of case 3",
    ).because("By the rate alone, as sections 2.1 to 2.4 have no queue; the gain with 40 flows by the whole law."),
    Choice("Long flows in case 4", "other parameters the same as in case 3", "40, 100 and 400").because(
        "Case 3 has all three."
    ),
    Choice("UDP while on", "40 kbit/s on average", "80 kbit/s").because("The on and off times have the same length."),
    Choice(
        "Losses in the same event", "", "within a round trip with the target queue: 70 ms, or 250 ms on average"
    ).because("Flows are in step if they lose in the same round trip."),
    Choice(
        "Response time, overshoot", "", "four means of 5 s within 20 % of q0; how long such means are above that band"
    ).because(
        "The queue varies by half its target: shorter means would be noise, and a queue that passes is not there. The "
        "height of an overshoot is that of means of .5 s, as plotted."
    ),
]

RTO = {"traffic.*.tcp.min_rto": "200 ms", "traffic.*.tcp.tick": "10 ms"}
LINKS = {"dumbbell.access_rate": "100 Mbit/s", "dumbbell.access_buffer": "5000 packets"}

VARIANTS = [
    Variant("min RTO 0.2 s", RTO),
    Variant("NewReno", {"traffic.*.tcp.flavour": "newreno"}),
    Variant("SACK", {"traffic.*.tcp.flavour": "sack"}),
    Variant("windows up to 1000", {"traffic.*.tcp.max_window": 1000}),
    Variant("delayed ACKs", {"traffic.*.tcp.delayed_ack": True}),
    Variant("access 100 Mbit/s", LINKS),
    Variant("R1-R2 20 ms", {"dumbbell.delay": "20 ms"}),
    Variant("averaged from 20 s", {"warmup": "20 s"}),
]


def _goodput(runs: Runs) -> PerSeed:
    return runs.per_seed(good(), runs.hero, {TARGET: 20}, unit="%")


CALIBRATION = Calibration(
    printed=[
        Printed("goodput of a full link's, 100 flows, q0 = 20", 96, "%", "Section 3.3, Fig. 7a", "case3b", _goodput)
    ],
    tried=[
        *VARIANTS,
        Variant("starts over 10 s", {"traffic.long.start": "uniform(0 s, 10 s)"}),
        Variant("windows and access as before", {"traffic.*.tcp.max_window": 1000, **LINKS}),
    ],
    why="Its only number is a goodput of .96, at an average queue of 20. Reno with 1 s has it to two digits; NewReno, "
    "SACK, .2 s and late starts have not. Windows and links hardly show: they are ns-2's default and what the paper "
    "states. The queue of 20 is RAQM's claim and is not fitted.",
)
