"""Parameters that the study does not state: our values, and other values for the sensitivity table."""

from __future__ import annotations

from aqmlab.papers import Choice, Variant

CHOICES = [
    Choice(
        "RED's thresholds, max_p and w",
        "lost in our copy; those of Cisco's documents and of Floyd's note of 1997",
        "30 and 90 packets, 0.1, 0.002",
        "what these texts recommend, scaled to the buffer; below 130, which is called a higher value. Varied below.",
    ),
    Choice(
        "GRED in simulation",
        "the testbed's is sharp RED with max_p = 1 and max_th = 130; the simulated GRED is not stated",
        "both that and true gentle RED: 0.1 at 90, 1 at 180 packets",
        "the two differ by more than either does from RED",
    ),
    Choice(
        "GRED-I's min_th", "lost in our copy", "30 packets, as RED's", "only max_th is stated to differ, 200 packets"
    ),
    Choice(
        "spacing of RED's and GRED's drops",
        "",
        "that of RED's text of 1993; GRED-I's are independent",
        "Most figures are of routers, which implement that text; how they space drops is not documented. At max_th it "
        "drops 18 % of the packets, ns-2 of 2000, which the paper's simulations were made with, 7 %, and independent "
        "drops, which its model has, 10 %. What RED's average queue does hangs on that. Both are varied below.",
    ),
    Choice(
        "sources of the testbed",
        "scripts of Chariot for HTTP and FTP",
        "each fetches a file, then the next at once, over a new connection",
        "the scripts repeat transactions; pauses are not stated",
    ),
    Choice(
        "sizes of HTTP objects",
        "text, small and large pictures",
        "1 kB and 10 kB, as many sources of each",
        "a text and a picture of the time; FTP's 100 kB are stated",
    ),
    Choice(
        "shares of traffic",
        "80 % large transfers (Exp1 to 5), 20 % of the TCP traffic FTP (Exp6 to 8), elsewhere 20 % of the flows",
        "of the sources",
        "the number of sources is what the experiments are defined by",
    ),
    Choice(
        "UDP flows",
        "10 or 5 % of the link in all",
        "10 or 5 of 100 kbit/s, packets of 1000 B, beside the TCP sources",
        "decides the runs of losses of a flow: see the figure beyond the paper",
    ),
    Choice(
        "gaps between UDP packets",
        "constant rate (simulation); nothing of the testbed's",
        "40 to 120 ms at random, 80 ms on average, as of ns-2's CBR with its random_ set",
        "at a strictly constant rate a packet comes every 100 times that the link needs for one, so that its place "
        "in the pattern of a full buffer lasts the whole run: over five seeds UDP loses 14.6 ± 2.1 % with tail drop "
        "beside the testbed's traffic, and 14.3 ± 0.1 % with random gaps. Varied below.",
    ),
    Choice(
        "the testbed's delays",
        "10 to 200 ms for different links",
        "round trips of 10 to 200 ms, evenly over 8 links",
        "whether the delay box delays one way or both is not stated; 200 packets, which it calls the bandwidth-delay "
        "product, are 160 ms. Varied below.",
    ),
    Choice(
        "access links of the testbed",
        "10 Mbit/s, half duplex",
        "10 Mbit/s, full duplex",
        "the engine has no collisions",
    ),
    Choice(
        "TCP of the testbed",
        "Linux 2.2 and Windows NT with NewReno",
        "NewReno, delayed ACKs, least time-out 0.2 s, first one 3 s, initial window 2",
        "a Linux of the time",
    ),
    Choice(
        "TCP in simulation",
        "NewReno of ns 2.0, modified",
        "the preset ns2-2002 (least time-out 1 s, clock 100 ms), window up to 1000",
        "the defaults of that time, but for the window of 20, which is varied below",
    ),
    Choice(
        "round trips in simulation",
        "120 to 220 ms, by the links to the sources",
        "without queues; each of 32 links draws its own, again for each seed",
        "whether queueing is counted in is not stated",
    ),
    Choice(
        "the model's offered load", "lost in our copy", "1.2", "the lightest load at which RED's step makes itself felt"
    ),
    Choice(
        "the peak after which RED is claimed to go on dropping",
        "a link failure, described without numbers",
        "UDP of 5 Mbit/s for 10 s beside 50 greedy TCP sources",
        "a load that doubles, and goes",
    ),
    Choice(
        "the target of PIE, CoDel and DualPI2",
        "",
        "45 ms",
        "about the delay of GRED-I with 200 greedy sources: who holds a shorter queue loses more, by TCP's law alone",
    ),
    Choice(
        "how synchronised flows are",
        "seen in the queue",
        "the share of active flows that lose packets within 0.3 s; synchronised is a half and more",
        "0.3 s is a round trip with its queue; of flows in step most lose in the same one",
    ),
    Choice(
        "which losses in a row are compared",
        "more than 5 in Section III-A.4, elsewhere curves",
        "more than one and more than 5",
        "whether they are frequent, and whether they are long; the two may differ, and then a claim holds in part",
    ),
    Choice(
        "length of runs",
        "10 minutes, 10 times; more than 200 s in simulation",
        "10 minutes and 200 s; the first 60 and 20 s do not count",
        "start-up is not to count, as in the paper",
    ),
]

BED = ("tcp", "mixed")

# The data path has 10 to 200 ms including the other links; ACKs take as long.
ONE_WAY = [f"{8 + round(190 / 7 * place)} ms" for place in range(8)]

VARIANTS = [
    Variant(
        "the other least time-out (simulation 0.2 s, testbed 1 s)",
        {"traffic.*.tcp.min_rto": "200 ms"},
        only={name: {"traffic.*.tcp.min_rto": "1 s"} for name in BED},
    ),
    Variant("SACK", {"traffic.*.tcp.flavour": "sack"}),
    Variant("window limit 20", {"traffic.*.tcp.max_window": 20}),
    Variant(
        "the other ACKs (simulation delayed, testbed each)",
        {"traffic.*.tcp.delayed_ack": True},
        only={name: {"traffic.*.tcp.delayed_ack": False} for name in BED},
    ),
    Variant("drops spaced as in ns-2", {"aqm.spacing": "wait"}),
    Variant("independent drops", {"aqm.spacing": "none"}),
    Variant(
        "UDP at a strictly constant rate",
        {"traffic.udp.rate": "100 kbit/s", "traffic.udp.on": "80 ms", "traffic.udp.off": "0 s"},
        only={"tcp": {}},
    ),
    Variant("RED's thresholds 5 and 15", {"aqm.min_th": 5, "aqm.max_th": 15}),
    Variant(
        "delays of the testbed one way",
        {},
        only={name: {"dumbbell.sender_delay": ONE_WAY} for name in BED},
    ),
]
