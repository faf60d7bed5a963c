"""Parameters that RAQM's paper does not state: our values, and other values for the sensitivity table."""

from __future__ import annotations

from aqmlab.papers import Choice, Variant

CHOICES = [
    Choice(
        "Delays of R1-R2 and of the servers' links",
        "",
        "2.5 ms each",
        "As in the LRED paper by the same authors on the same topology, whose round trips they fit.",
    ),
    Choice(
        "Rate of the access links",
        "10 Mbit/s on every link, and one congested link only",
        "100 Mbit/s",
        "Both cannot be: a host that sends 10 Mbit/s keeps its windows in front of its own link, without losses if "
        "the buffer there is long: case 3 with 40 flows then has the bottleneck's buffer full for 100 s. A variant "
        "has 10 Mbit/s, and 100 packets.",
    ),
    Choice("Buffers beside the bottleneck", "100 packets everywhere", "5000 packets", "No loss but at the bottleneck."),
    Choice("TCP flavour", "", "Reno", "That of the paper's model of TCP; NewReno and SACK are variants."),
    Choice(
        "Least time-out and clock of TCP",
        "",
        "1 s and 100 ms",
        "ns-2's of its time: its latest reference is of October 2003. ns-2.35's 0.2 s is a variant.",
    ),
    Choice("Window limit", "", "1000 segments", "None that binds; ns-2's default of 20 is a variant."),
    Choice("Delayed ACKs", "", "none", "ns-2's default sink; a variant has them."),
    Choice("Packet size", "500 bytes", "500 bytes on the wire", "2500 packets a second; 460 bytes are payload."),
    Choice("Starts of the flows", "", "uniform in 0 to 1 s", "All at once would have them slow-start in step."),
    Choice(
        "What is averaged",
        "",
        "the last 100 s; in case 4 from 50 s on",
        "RAQM takes some 70 s from p(0) = .0002 to its place in case 1 with 40 flows, most of the run in case 3; "
        "PI and REM similarly. A variant has 20 s on.",
    ),
    Choice(
        "Goodput's unit",
        "about 0.96",
        "part of the goodput of a full link",
        "The text gives none; .96 cannot be Mbit/s of 10.",
    ),
    Choice(
        "Exponent of p_k",
        "e^mismatch in the pseudocode, e^(alpha mismatch) in (3)",
        "(3)",
        "A rate in bytes/s would overflow the former.",
    ),
    Choice(
        "Which alpha p_k takes",
        "Fig. 1 does not show where alpha is computed",
        "that of the present rate, alpha^(r_k)",
        "Theorem 1 has it so. The rate before (`lagged`) differs by under 2 % near r0.",
    ),
    Choice("eps", "smaller than 1 but close to it", "0.9", "Close to 1; figure `start` has others."),
    Choice(
        "alpha^ at rates from 2 r0 on",
        "not defined there",
        "its lower bound, 4 / r0; nowhere above 20 / r0",
        "Theorem 1 lets V fall at any gain up to 4 / r0, there too.",
    ),
    Choice("Floor of p_k", "0", "1e-6", "p_k = 0 would stay 0, the law being a product."),
    Choice("Gains of PI", "a and b of ns-2, 170 Hz", "the same", "q_ref is set to q0."),
    Choice(
        "Form of REM",
        "phi, alpha, gamma of ns-2, 2 ms",
        "REM's paper's, by the queue's change",
        "ns-2's counts lost packets and settles below its target.",
    ),
    Choice("Long flows in case 4", "", "40 and 400", "By `other parameters are the same to that in case 3`."),
    Choice("UDP while on", "40 kbit/s on average", "80 kbit/s", "The on and off times have the same length."),
    Choice(
        "Response time, overshoot",
        "",
        "four means of 5 s within 20 % of q0; how long such means are above that band, at first and in all",
        "The queue varies by half its target: shorter means would be noise, and a queue that passes is not there.",
    ),
]

VARIANTS = [
    Variant("min RTO 0.2 s", {"traffic.*.tcp.min_rto": "200 ms", "traffic.*.tcp.tick": "10 ms"}),
    Variant("NewReno", {"traffic.*.tcp.flavour": "newreno"}),
    Variant("SACK", {"traffic.*.tcp.flavour": "sack"}),
    Variant("window limit 20", {"traffic.*.tcp.max_window": 20}),
    Variant("delayed ACKs", {"traffic.*.tcp.delayed_ack": True}),
    Variant("access 10 Mbit/s", {"dumbbell.access_rate": "10 Mbit/s", "dumbbell.access_buffer": "100 packets"}),
    Variant("averaged from 20 s", {"warmup": "20 s"}),
]
