"""Parameters that the survey does not state: our values, and other values for the sensitivity table."""

from __future__ import annotations

from aqmlab.papers import Choice, Variant

CHOICES = [
    Choice(
        "Edge nodes",
        "",
        "70 on each side: 210 FTP flows, 70 UDP sources",
        "Drop tail loses some 12 %. Of TCP's packets it does at 70 nodes if a time-out is at least 1 s, at some 55 "
        "if 0.2 s. Frozen for all six.",
    ),
    Choice(
        "What a loss rate counts",
        "",
        "TCP's packets",
        "It speaks of TCP's reaction to losses. Of all packets no number of nodes makes drop tail lose 12 % of "
        "them in a buffer of bytes. Both are shown.",
    ),
    Choice(
        "Delay",
        "at the core router; axis to 80 ms",
        "wait in the core's queue; end to end beside it",
        "100 000 bytes at 45 Mbit/s are 17.8 ms.",
    ),
    Choice("Least time-out, clock", "", "1 s, 100 ms", "ns-2's, before 2004; 0.2 s in the sensitivity table."),
    Choice("Start of the flows", "", "uniform in the first second", "At once, all would start in the same round trip."),
    Choice("Packet sizes", "1000 and 100 bytes", "on the wire, headers included", "As ns-2 counts them."),
    Choice("UDP's ON time", "peak 1 Mbit/s, average 200 kbit/s, OFF 80 ms", "20 ms", "It follows."),
    Choice("Edge delays", "random, 5 to 20 ms", "uniform, drawn for each host and run", "Either side its own."),
    Choice(
        "Queue of RED and PI", "thresholds and target in bytes", "bytes over 1000", "As ns-2 has them in byte mode."
    ),
    Choice(
        "What a full buffer lets in",
        "",
        "RED and PI: a packet before which less than the limit waits; the others: one that fits",
        "As ns-2 has them. Where a packet has to fit, one of 100 bytes mostly does.",
    ),
    Choice("RED", "", "gentle, ns-2's spacing of drops, marks below probability 1", "ns-2's of 2002 and later."),
    Choice(
        "REM",
        "phi, alpha, gamma, b* = 20",
        "ns-2's rate form, packets, every 2 ms, marks as packets leave",
        "ns-2's.",
    ),
    Choice(
        "JoBS",
        "K = 10, alpha = 0.9",
        "a reconstruction: K arrivals to a projection, alpha the weight of the old in means, B_lim the buffer",
        "The paper cited and ns-2's program have no projection of TCP.",
    ),
    Choice(
        "Figure of PI's losses",
        "the text has Fig. 2b show PI's losses",
        "Fig. 2c",
        "Fig. 2b is the delay.",
    ),
]

VARIANTS = [
    Variant("min RTO 0.2 s", {"traffic.*.tcp.min_rto": "200 ms"}),
    Variant(
        "min RTO 0.2 s, 55 nodes",
        {
            "traffic.*.tcp.min_rto": "200 ms",
            "dumbbell.hosts": 55,
            "traffic.ftp.count": 165,
            "traffic.udp.count": 55,
        },
    ),
    Variant("40 nodes", {"dumbbell.hosts": 40, "traffic.ftp.count": 120, "traffic.udp.count": 40}),
    Variant("Reno", {"traffic.*.tcp.flavour": "reno"}),
    Variant("SACK", {"traffic.*.tcp.flavour": "sack"}),
    Variant("window limit 20", {"traffic.*.tcp.max_window": 20}),
    Variant("delayed ACKs", {"traffic.*.tcp.delayed_ack": True}),
    Variant("buffer of 100 packets", {"dumbbell.buffer": "100 packets"}),
]
