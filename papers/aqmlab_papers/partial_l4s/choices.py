"""Parameters that the paper and its notebooks do not state, our choices, and other values."""

from aqmlab_papers import Choice, Variant

CHOICES = [
    Choice("Prague", "a build of Linux 5.15 for tests", "version 0.7").because(
        "Its version is not stated. A version 0.6 that we found replaces its round trip by the virtual one of 25 ms "
        "only 500 round trips after slow start, not 4: the claim `older` has it. It begins with alpha = 1, not 0."
    ),
    Choice("BBRv2", "beside Prague, with ECN and without", "left out").because(
        "There is no BBRv2 here. BBRv3 and the queues that only drop are from the authors' second paper, of 2025."
    ),
    Choice("FIFO+ECN and FQ", "sch_fq with ce_threshold", "a step of 5 ms; FQ by deficit round robin").because(
        "Both mark what has waited for longer and can be marked. As in sch_fq all else passes until the buffer, which "
        "the flows share, refuses the arrival; its quantum is two packets."
    ),
    Choice("Buffer", "packets; of the FIFO bytes", "packets: 42, 84, 167, 334, 667").because(
        "The notebooks compute them from packets of 1500 bytes. The FIFO's bytes are one to seven packets less."
    ),
    Choice("DualPI2's buffer", "0.5 to 8 BDP in the heat maps", "10,000 packets").because(
        "The authors note in their repository that they left this default; their columns are averaged."
    ),
    Choice("Other parameters of queues", "a kernel of 2022", "those of Linux 7.2").because(
        "PIE, CoDel and FQ-CoDel have their defaults and the target of 5 ms; DualPI2's step is 1 ms in both."
    ),
    Choice("Start of the flows", "at the same time", "within 0.1 s").because(
        "Two hosts do not start in the same microsecond; within 1 s in the sensitivity table."
    ),
    Choice("Throughput", "iperf3's, received in 60 s", "bytes that arrive in order in 60 s").because(
        "Slow start is a part of both."
    ),
    Choice("Hosts", "virtual machines, no segmentation offload", "without jitter").because(
        "How irregularly they send is not known. Jitter is in the sensitivity table, and of BBR in `noise`."
    ),
]

VARIANTS = [
    Variant("start within 1 s", {"traffic.*.start": "uniform(0 s, 1 s)"}),
    Variant("hosts wait up to 0.5 ms", {"traffic.*.send_jitter": "500 us"}),
]
