"""Parameters that the RED+Tail paper does not state: our values, and other values for the sensitivity table."""

from __future__ import annotations

from collections.abc import Mapping

from aqmlab.papers import Choice, Variant
from aqmlab.scenario import Settings

CHOICES = (
    Choice(
        "N, packets after which a connection is long",
        "",
        "64",
        "The initial slow-start threshold; with this T the smallest that takes fewer than 2 % of the connections for "
        "long ones, which the paper reports.",
    ),
    Choice(
        "T, silence after which it is new", "", "10 s", "Less than a reader thinks (50 s), more than a time-out takes."
    ),
    Choice(
        "What the counter belongs to",
        "source-destination pair",
        "a pair of hosts; UDP is always short",
        "By counting alone the CBR source would be long after 64 packets, and the paper has it in the short queue.",
    ),
    Choice(
        "C1min, C1max",
        "",
        "C min_th1/max_th1 = C/15; 0.9 C",
        "C1 has no step at min_th1; the long queue keeps a tenth.",
    ),
    Choice(
        "How one link serves two rates",
        "",
        "an account of bytes; a queue alone has the whole link",
        "The paper reports 100 % utilisation. See `aqmlab show redtail`.",
    ),
    Choice(
        "Duration of the web scenario",
        "",
        "500 s, numbers from 100 s on",
        "The axes of the figures are lost; 400 s have some 6000 files.",
    ),
    Choice(
        "TCP",
        "ns-2, initial ssthresh 64 kB; Tahoe and Reno are explained",
        "Reno as in ns-2 of 2002: time-outs of at least 1 s, at first 6 s; clock 0.1 s, initial window 1, no limited "
        "transmit",
        "That of Fig. 2 and Table I, whose delays tell it: with a least time-out of 0.2 s, delayed ACKs or NewReno "
        "they do not come out. NewReno of ns-2.35 is in the sensitivity table.",
    ),
    Choice(
        "KB",
        "Kbytes, KB",
        "1000 bytes",
        "The rates of each policy in Table III add up to 373.8 KB/s: of 375 with 1000 bytes, while 1024 leave 366.2. "
        "30 Kbytes at 3 Mbit/s are the paper's 80 ms so, too.",
    ),
    Choice(
        "Web sessions",
        "HTTP 1.1, one request, Pareto files",
        "one file in a session, a connection each; requests of 300 B",
        "With a mean of 10 kB and 50 s of thought 800 clients make the 1.2 Mbit/s that the paper states.",
    ),
    Choice(
        "Adaptive RED's weight",
        "",
        "0.00266 at 3 Mbit/s, 0.00133 at 6",
        "ns-2's automatic value, 1 - exp(-1/(10 rtt C)).",
    ),
    Choice(
        "Adaptive RED above max_th",
        "gentle: from Pmax to 1",
        "from the present max_p, moved by a timer of 0.5 s",
        "As the paper's text has it; ns-2's own code keeps the first Pmax.",
    ),
    Choice(
        "Delay and rate of Table III",
        "",
        "time in the router, mean over packets sent; bits sent",
        "The printed rates add up to C.",
    ),
    Choice(
        "How small files are measured",
        "",
        "20 files of one size at random times in [110, 470] s, 128 ms there and back",
        "Size by size they add 0.4 to 2.8 % to the load, so that the traffic stays what it is; the round trip is "
        "Fig. 2's.",
    ),
    Choice(
        "Delivery time",
        "",
        "from the SYN to the last acknowledgement",
        "Without the browser's request, which takes 64 ms more.",
    ),
    Choice("Buffer of Figs. 10 and 11", "", "800 kB", "40 flows that lose 1.4 % need some 370 packets of queue."),
    Choice(
        "When thresholds move",
        "average drop probability by EWMA",
        "every 0.5 s after max_p; weight 0.002 of each arrival's p",
        "As often as max_p, and as slowly as the averaged queue.",
    ),
    Choice(
        "How far they move",
        "",
        "min_th from 1 packet, max_th to 10 packets short of the buffer; in RED+Tail to 0.8 of it, or as far as the "
        "buffer lets it (no bound); Pmax from 0.005",
        "The short queue needs room, but whether P comes into its band depends on this bound: Table IV has both. With "
        "Pmax above 0.01 P cannot be brought below P_U.",
    ),
    Choice(
        "FTP's loss with moving thresholds",
        "0.988 % in the text, 0.899 % in Table IV",
        "Table IV's",
        "They contradict each other; the table's other numbers agree with the text.",
    ),
    Choice(
        "Mean of the long queue",
        "60 kB in section V, (20 + 80)/2 = 50 kB in section VI",
        "both tested",
        "The printed delay times rate is 38.5 kB.",
    ),
    Choice("Figs. 7 and 8", "captions lost", "Adaptive RED and RED+Tail", "In the order of the text."),
    Choice(
        "Later disciplines",
        "",
        "target 80 ms; FQ-CoDel as RFC 8290 has it",
        "max_th1/C is the delay that RED+Tail wants for short flows; flows of a queue of their own need no longer one.",
    ),
    Choice(
        "TCP of Table I",
        "packet 1 KB, initial ssthresh 64 KB; Tahoe and Reno are explained",
        "Reno of ns-2 of 2002, initial window 1, no delayed ACKs, time-out 6 s at first, at least 1 s then",
        "The column without loss needs an initial window of 1 and an ACK a packet; the others fit Tahoe and Reno "
        "alike, and neither a least time-out of 0.2 s nor delayed ACKs.",
    ),
    Choice(
        "What a delivery of Table I takes in",
        "",
        "two round trips besides those of the data",
        "SYN, request and last ACK: then the column without loss is met to the digit.",
    ),
    Choice("Drop probability of Figs. 17 to 20", "fixed; 0.014 in Fig. 11", "0.014", "The mean of Fig. 11."),
    Choice("Buffer of section VI", "", "800 packets", "As in Figs. 10 and 11; far from both queues."),
    Choice(
        "Deviation of a flow's rate",
        "77021 bit/s for 20 flows, 128490 for 40",
        "as printed; a claim of ours is that they look interchanged",
        "Fig. 21 is drawn with them.",
    ),
)

NOT_DYNAMIC: Mapping[str, Settings] = {"dynamic": {}}

VARIANTS = (
    Variant("least time-out 0.2 s", {"traffic.*.tcp.min_rto": "200 ms", "traffic.*.tcp.tick": "10 ms"}),
    Variant("Tahoe", {"traffic.*.tcp.flavour": "tahoe"}),
    Variant("NewReno", {"traffic.*.tcp.flavour": "newreno"}),
    Variant("NewReno of ns-2.35, all its defaults", {"traffic.*.tcp": "ns2.35:flavour=newreno,initial_ssthresh=64"}),
    Variant("window limit 20", {"traffic.*.tcp.max_window": 20}),
    Variant("delayed ACKs", {"traffic.*.tcp.delayed_ack": True}),
    Variant("no initial ssthresh", {"traffic.*.tcp.initial_ssthresh": "auto"}),
    Variant(
        "5 files a session, 250 s of thought",
        {"traffic.web.objects": 5, "traffic.web.think": "exponential(250 s)"},
        NOT_DYNAMIC,
    ),
    Variant("N = 20 packets", {"aqm.n": 20}, NOT_DYNAMIC),
    Variant("T = 100 s", {"aqm.t": "100 s"}, NOT_DYNAMIC),
    Variant("C1 at most C/2", {"aqm.c1_max": 0.5}, NOT_DYNAMIC),
)
