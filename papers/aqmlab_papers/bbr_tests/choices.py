"""Parameters that the draft does not state, our choices, and another value."""

from aqmlab_papers import Choice, Variant

CHOICES = [
    Choice("The path", "any: < 1 ms to 1 s, 64 kbit/s to 10 Gbit/s", "100 Mbit/s, 40 ms, a buffer of 20 BDP").because(
        "The draft's own example of a bandwidth is 100 Mbit/s, too; a BDP of 333 packets shows a pace to within 2 %."
    ),
    Choice("`bbr`", "the draft describes version 3", "Linux's version 1").because(
        "What version 1 fails is what version 3 and the draft have added."
    ),
    Choice("Variables", "verified by name", "read off packets").because(
        "The simulator shows no variables of a sender. Sent and acknowledged packets have the pace and the flight, "
        "and by them the phases; where they do not, the case is not testable."
    ),
    Choice("A limited application", "", "200 packets each 0.5 s, at a round trip of 200 ms").because(
        "Less than a round trip's worth, so that each sample is limited; 5 % losses are ten of a chunk, where the "
        "rule asks for six."
    ),
    Choice("Aggregation", "e.g., cellular", "60 of 65 ms without acknowledgements").because(
        "Twice the BDP lasts 40 ms longer than a round trip: a window without more would stall."
    ),
    Choice("Spurious time-outs", "by reordering", "by a standstill of 1 s").because("No link reorders packets here."),
    Choice(
        "Round trips that are reasonable", "O(log(BDP))", "twice those in which a quarter each makes ten times"
    ).because("The order of a growth is not a number."),
    Choice("DRAIN with less bandwidth", "10 % less", "also 70 % less").because(
        "With 10 % less, a gain of 0.5 and of 0.35 drain the queue within three round trips."
    ),
]

VARIANTS = [Variant("hosts wait up to 0.1 ms", {"traffic.*.send_jitter": "100 us"})]
