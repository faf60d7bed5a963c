"""Parameters that neither the README nor the batch states, our choices, and other values."""

from aqmlab_papers import Choice, Variant

CHOICES = [
    Choice("Prague", "a kernel of August 2020", "version 0.7, its virtual round trip shorter than any").because(
        "The README finds no less dependence on round trips; Prague as it is now is in `prague-now`."
    ),
    Choice("Prague's alpha at the start", "", "1").because(
        "Version 0.6's, with which slow start ends as in captures of these tests; 0.7 begins with 0. What counts "
        "begins after 118 s, in shared queues after 18 s."
    ),
    Choice("DualPI2", "its defaults of 2020", "those of Linux 7.2, min_qlen_step = 2").because(
        "All versions of sch_dualpi2.c from 2019 to 2021 that we found mark by the step only what has found two "
        "packets of L4S at its arrival. At 10 Mbit/s a packet takes longer than the step of 1 ms. Linux 7.2 has a "
        "parameter for it, 0 by default: `least-queue`."
    ),
    Choice("CodelAF (cnq_codel_af)", "considers each flow's part of the queue", "FQ-CoDel").because(
        "The README calls the results of both very similar, and says no more of CodelAF's rules."
    ),
    Choice("PIE, RED, FQ-CoDel, CoDel", "a kernel of 2020", "those of Linux 7.2").because(
        "PIE has since measured delays by timestamps, not by departures."
    ),
    Choice("RED's average while the queue is empty", "under HTB", "kept").because(
        "HTB does not ask an empty queue, so that RED does not note that it idles."
    ),
    Choice("CUBIC and Reno with ECN", "tcp_ecn = 3: Accurate ECN", "RFC 3168").because(
        "Both respond once in a round trip, whichever way they hear of it. Without ECN the middlebox clears the field."
    ),
    Choice("Start of the flows", "at the same time", "within 0.1 s").because(
        "Two programs do not start in the same microsecond; within 1 s in the sensitivity table."
    ),
    Choice("Windows", "three minutes; the last but 2 s", "scenario 6: one minute, of which 40 s count").because(
        "The batch gives scenario 1 a length of 180 s and scenario 6 none, whose default is 60 s."
    ),
    Choice("Goodput", "TCP's delivery rate, sampled", "bytes that arrive in order, over the window").because(
        "Shares are judged, not rates: the sampled rates of two flows need not add up to that of the link."
    ),
]

VARIANTS = [
    Variant("start within 1 s", {"traffic.*.start": "uniform(0 s, 1 s)"}),
    Variant("hosts wait up to 0.1 ms", {"traffic.*.send_jitter": "100 us"}),
]
