"""What the abstracts do not state, our choices, and other values."""

from aqmlab_papers import Choice, Variant

CHOICES = [
    Choice("The text", "", "not at hand").because(
        "The two abstracts were; what a claim says without a number has bounds of ours."
    ),
    Choice("Network", "fully wireless", "one access point, two stations").because(
        "What one station sends reaches the other through the access point, whose queue is then the longest."
    ),
    Choice("Round trip", "", "1 and 20 ms and the air").because(
        "A testbed in one room has the first; the abstract speaks of Internet traffic, too. Both are judged."
    ),
    Choice("Uplink", "beside downlink", "left out").because(
        "Two stations of one rate make it the mirror image of a downlink. A claim of ours has a wired server."
    ),
    Choice("Rates", "Wi-Fi 6", "80 MHz, two streams, MCS 7").because(
        "A common access point and laptop in one room. There is no OFDMA here, and rates are fixed."
    ),
    Choice("Flows", "", "one of each").because("Four of each are in the sensitivity table."),
    Choice("Limit of the FIFO", "", "1000 packets").because("Linux's default; 200 are in the sensitivity table."),
    Choice("Limits of FQ-CoDel and CAKE", "", "10,240 packets and 15.5 MB").because("Linux's defaults."),
    Choice("CAKE's shaper", "", "none").because("Nothing limits the rate but the air."),
    Choice("Driver", "", "takes frames when it sends").because(
        "Then all packets wait where the discipline is. With airtime queue limits many wait behind it."
    ),
    Choice("Errors on the air", "", "none").because("The testbed's are not known."),
    Choice("Hosts", "", "no segmentation offload and no small-queue limits").because("The engine has neither."),
    Choice("Probes", "", "pace 15 % above the median of 2 s").because(
        "A probe raises BBR's pace by 25 %. The pace is the highest rate of 10 ms in 0.1 s, seen on the sender's wire."
    ),
    Choice("Bounds of claims", "", "set after first runs, before the verdicts").because(
        "Those of pace and probe had to be tried on runs; all others are from the words of the claims."
    ),
]

VARIANTS = [
    Variant("four flows of each", {"traffic.bbr.count": 4, "traffic.cubic.count": 4}),
    Variant("a FIFO of 200 packets", {"wifi.wlan.buffer": "200 packets"}),
    Variant("airtime queue limits", {"wifi.wlan.aql": True}),
]
