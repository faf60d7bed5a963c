"""Sections 5.2 and 5.3: beside other congestion controls, and in networks that are there."""

from aqmlab_papers.evaluation.describe import measure as m
from aqmlab_papers.evaluation.describe.guideline import Case, Guideline, Line, Plot
from aqmlab_papers.evaluation.describe.sender import BULK, at, marked_at
from aqmlab_papers.evaluation.senders.measures import starved

OTHERS = {"CUBIC": "cubic", "Reno": "linux:congestion=reno", "BBR": "bbr"}
"""The congestion controls of the others."""

STANDARD = [
    m.goodput("standard", "Goodput, others"),
    m.waiting("standard", "Delay, others"),
    m.loss("standard", "Loss, others"),
    starved("standard", 5.0, 20.0, "Others starved"),
]
"""The harm to others: less goodput, delay, loss, and seconds with less than a tenth of half of the link."""

MARKING = {"aqm": "pie:ecn=true"}
"""A router that marks."""


def _beside(other: str, size: float) -> Case:
    name = f"{other}, {size:g} BDP"
    return Case(
        name,
        "rfc9743/beside",
        STANDARD,
        [Plot.of(f"Others: {name}", "standard")],
        settings={"traffic.standard.tcp": OTHERS[other], "dumbbell.buffer": f"{size:g} BDP"},
        placement=BULK,
        x=size if other == "CUBIC" else None,
        series=True,
    )


GUIDELINES = [
    Guideline(
        "5.2.1",
        "Existing general-purpose congestion control",
        "must be evaluated",
        "Two long flows beside two of CUBIC (RFC 9438) in three buffers, of Reno (RFC 5681), and of BBR, which is "
        "widely deployed. What is measured is the others: compared with the reference, a verdict says whether they "
        "suffer more from the sender than from a standard one, which is the RFC's question. Starved are seconds with "
        "less than a tenth of half of the link.",
        [*(_beside("CUBIC", size) for size in (0.5, 1.0, 4.0)), _beside("Reno", 1.0), _beside("BBR", 1.0)],
        lines=[Line(STANDARD[0]), Line(STANDARD[2])],
        x_axis="Buffer (BDP), beside CUBIC",
        departures=["RFC 9002 (QUIC) is Reno's window with another repair of losses: Reno stands for it."],
    ),
    Guideline(
        "5.2.2",
        "Real-time congestion control",
        "should be considered",
        "Two long flows beside a call, a game and media of up to 1.5 Mbit/s that follow RFC 5348 (TFRC).",
        [
            Case(
                "",
                "rfc9743/realtime",
                [
                    m.voice("voice", "Voice"),
                    m.waiting("game", "Game delay p99", "p99"),
                    m.loss("game", "Game loss"),
                    m.goodput("media", "Media goodput"),
                    m.waiting("media", "Media delay p99", "p99"),
                ],
                [Plot.of("Media", "media"), Plot.of("Long flows", "bulk")],
                placement=BULK,
                distribution="game",
            )
        ],
        open=["Google's congestion control, NADA and SCReAM, which conferences have, are not modelled."],
    ),
    Guideline(
        "5.2.3",
        "Short and long flows",
        "must be evaluated",
        "As 5.1.5 with either kind of CUBIC: its short flows beside two long ones of the sender, and its long flows "
        "beside short ones of the sender.",
        [
            Case(
                "short flows of CUBIC",
                "rfc9743/short",
                [
                    m.completion("short", "Completion, others"),
                    m.slow_completion("short", "Completion p95, others"),
                    m.loss("short", "Loss, others"),
                ],
                [Plot.of("Short flows of CUBIC", "short")],
                placement=BULK,
            ),
            Case(
                "long flows of CUBIC",
                "rfc9743/short",
                [
                    m.goodput("bulk", "Goodput, others"),
                    m.waiting("bulk", "Delay, others"),
                    m.loss("bulk", "Loss, others"),
                    m.completion("short", "Completion"),
                ],
                [Plot.of("Long flows of CUBIC", "bulk")],
                placement=at("short"),
            ),
        ],
    ),
    Guideline(
        "5.3.1",
        "Differences with congestion control principles",
        "must be explained",
        "A text on what deviates from RFC 2914 and RFC 7141.",
        open=["It is for the authors of the sender to write; no run stands for it."],
    ),
    Guideline(
        "5.3.2",
        "Incremental deployment",
        "must be discussed",
        "Of equipment that is there, middleboxes that lose packets with ECN, or SYNs that ask for it, in front of a "
        "router with PIE that marks; compared with the same sender without the middlebox (7.1). For senders with ECN.",
        [
            Case(
                name,
                "rfc9743/long",
                # Where nothing passes nothing waits, which is no merit.
                [m.goodput("bulk")],
                settings={**MARKING, "dumbbell.ecn_path": treatment},
                placement=marked_at("bulk"),
                against=("7.1", "PIE"),
            )
            for name, treatment in (("SYNs lost", "refuse"), ("packets lost", "drop"))
        ],
        open=["Transparent proxies, accelerators and intrusion detection are not modelled."],
    ),
]
