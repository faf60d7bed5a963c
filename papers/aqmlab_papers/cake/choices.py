"""Sources that we lack, our choices, and another value."""

from aqmlab_papers import Choice, Variant

CHOICES = [
    Choice("The evaluation", "Section IV or so", "not at hand").because(
        "Abstract, introduction and what the authors say elsewhere were: each claim names its source."
    ),
    Choice("CAKE", "a version of early 2018", "that of Linux 7.2").because(
        "Since 2019 only bulk flows count for the fairness of hosts; before, acknowledgements did too."
    ),
    Choice("TCP", "Linux 4.11: CUBIC; 5.10 in cake-flowiso", "that of Linux 7.2").because(
        "The page of the paper's data has the kernel; shares between queues do not depend on its details."
    ),
    Choice("Delays in Fig. 6", "none, as Morton remembers in 2020", "0 and 25 ms each way").because(
        "The page of the data has a machine that adds delay; what the filter brings depends on it."
    ),
    Choice("Loads of the classes", "", "4 flows each; 32 beside a call and a video; 10 Mbit/s, 40 ms").because(
        "Priorities, limits and borrowing are rules that do not depend on the load."
    ),
    Choice("The modem", "", "ADSL with 1 Mbit/s up, PPPoA with VC-MUX, a FIFO of 64 packets").because(
        "Cells make the greatest difference between the bytes of packets and those on the wire."
    ),
    Choice("Flows that collide", "a formula for hash tables", "those counted in CAKE's own queues").because(
        "UDP of ten times the link's rate or more keeps each queue in use."
    ),
    Choice("cake-flowiso's row fq_codel", "hashed by hosts with a filter", "left out").because(
        "FQ-CoDel hashes by flows here; `hosts` has the same numbers."
    ),
    Choice("Start of the flows", "at the same time", "within 0.1 s").because(
        "Two programs do not start in the same microsecond."
    ),
]

VARIANTS = [Variant("hosts wait up to 0.1 ms", {"traffic.*.send_jitter": "100 us"})]
