"""The claims: those of the abstract, what the authors measured for their patch, and ours."""

from aqmlab_papers import Effect, Judgement, Runs, Tolerance, claim, ours, tolerance
from aqmlab_papers.anomaly.measures import (
    AFTER,
    BEFORE,
    STATIONS,
    airtime,
    fairness,
    over,
    received,
    together,
    wait,
)
from aqmlab_papers.describe.check import RELATIVE, Check

ABSTRACT = "Abstract"
PATCH = "The authors' patch for Linux, 63fefa050477"
FAIRER = Tolerance(0.001, "", "the last digit in print; set after the first results")
ONE_RUN = Tolerance(10, RELATIVE, "one run each, whose traffic is not stated; the total grows by 25 %")


@claim("an order of magnitude reduction in latency under load", ABSTRACT, "delays")
@tolerance(0, "", "an order of magnitude is ten times")
def latency(downloads: Runs, *, tolerance: Tolerance) -> Judgement:
    """With downloads, a ping to a fast station takes ten times as long behind a FIFO as with queues of stations."""

    def ratio(station: str, label: str) -> Check:
        times = over(wait(downloads, "FIFO", station), wait(downloads, label, station))
        return Effect(f"round trip of a ping to the {station} station, FIFO over {label}").of(times, least=10)

    return Judgement(
        [ratio("fast", "FQ-MAC"), ratio("fast", "Airtime")],
        "A FIFO of 1000 packets is drained at the rate of all stations together, which the slow one determines. A flow "
        "that sends little goes first in FQ-CoDel, and waits only for the transmission under way and the turns of the "
        "other stations.",
        beside=[
            Effect("round trip of a ping to the slow station, FIFO over Airtime").of(
                over(wait(downloads, "FIFO", "slow"), wait(downloads, "Airtime", "slow")), least=10
            ),
            Effect("round trip of a ping to the fast station, FIFO over FQ-CoDel").of(
                over(wait(downloads, "FIFO", "fast"), wait(downloads, "FQ-CoDel", "fast")), least=10
            ),
        ],
    )


@claim("nearly perfect airtime fairness for both TCP and downstream UDP traffic", ABSTRACT, "airtimes")
@tolerance(0.02, "", "'nearly perfect': an index within 0.02 of 1, set after the first results")
def fair(downloads: Runs, datagrams: Runs, *, tolerance: Tolerance) -> Judgement:
    """In turns of equal airtime, three stations have the same airtime with UDP and with downloads."""
    cases = {"downloads": downloads, "UDP": datagrams}
    return Judgement(
        [
            Effect(f"Jain's index of the airtimes, {name}").of(fairness(runs, "Airtime"), least=1 - tolerance.value)
            for name, runs in cases.items()
        ]
        + [
            Effect(f"Jain's index of the airtimes, {name}, Airtime over FQ-MAC").better(
                fairness(runs, "Airtime"), fairness(runs, "FQ-MAC"), "higher", FAIRER
            )
            for name, runs in cases.items()
        ],
        "A station whose transmissions took longer than its share waits for the turns of the others. What it sends "
        "counts as well.",
        beside=[
            Effect(f"part of the slow station, {name}, FIFO").of(airtime(runs, "FIFO", "slow"), least=0.4)
            for name, runs in cases.items()
        ],
    )


@claim("large improvements in multi-station throughput", ABSTRACT, "goodputs")
@tolerance(100, RELATIVE, "'large': not less than twice as much")
def throughput(downloads: Runs, datagrams: Runs, *, tolerance: Tolerance) -> Judgement:
    """In turns of equal airtime three stations together receive twice as much as behind a FIFO."""
    cases = {"downloads": (downloads, "tcp"), "UDP": (datagrams, "udp")}
    return Judgement(
        [
            Effect(f"goodput of all, {name}, Airtime over FIFO").better(
                together(runs, "Airtime", entry), together(runs, "FIFO", entry), "higher", tolerance
            )
            for name, (runs, entry) in cases.items()
        ],
        "The slow station gives up airtime, in which fast ones carry twenty times as much.",
    )


@claim(
    "Fast station 1: 19.17 / 25.09 Mbps; fast station 2: 19.83 / 25.21; slow station: 2.58 / 1.77", PATCH, "goodputs"
)
@tolerance(ONE_RUN)
def patch(downloads: Runs, *, tolerance: Tolerance) -> Judgement:
    """Turns of equal airtime change the download of each of three stations as measured with the patch."""
    return Judgement(
        [
            Effect(f"goodput of {name}, Airtime over FQ-MAC").near(
                over(received(downloads, "Airtime", name), received(downloads, "FQ-MAC", name)),
                round(after / before, 3),
                tolerance,
            )
            for name, before, after in zip(STATIONS, BEFORE, AFTER, strict=True)
        ],
        "Here turns of one transmission are nearly fair already: two packets to the slow station take 3.5 ms, and the "
        "32 to a fast one that ath9k sends at once 2.8 ms. On the testbed the slow station had more. How often it sent "
        "again, and at which rate, is not known.",
        beside=[
            Effect(f"goodput of {name}, {label}").near(received(downloads, label, name), printed, tolerance)
            for label, values in (("FQ-MAC", BEFORE), ("Airtime", AFTER))
            for name, printed in zip(STATIONS, values, strict=True)
        ],
    )


@claim("Total: 41.58 / 52.07 Mbps", PATCH, "goodputs")
@tolerance(ONE_RUN)
def total(downloads: Runs, *, tolerance: Tolerance) -> Judgement:
    """Turns of equal airtime change the downloads of three stations together as measured with the patch."""
    ratio = over(together(downloads, "Airtime"), together(downloads, "FQ-MAC"))
    printed = round(sum(AFTER) / sum(BEFORE), 3)
    return Judgement(
        [Effect("goodput of all, Airtime over FQ-MAC").near(ratio, printed, tolerance)],
        "As each station's: the slow one gives up less here.",
    )


@ours("What the discipline in front of the driver changes", "airtimes")
@tolerance(10, RELATIVE, "a tenth of the airtime is what a user may notice")
def driver(downloads: Runs, datagrams: Runs, *, tolerance: Tolerance) -> Judgement:
    """FQ-CoDel in front of the driver shortens the wait, and does not take the airtime from the slow station."""
    return Judgement(
        [
            Effect("round trip of a ping to the fast station, FQ-CoDel over FIFO").of(
                over(wait(downloads, "FQ-CoDel", "fast"), wait(downloads, "FIFO", "fast")), most=0.5
            ),
            Effect("airtime of the slow station, UDP, FQ-CoDel over FIFO").better(
                airtime(datagrams, "FQ-CoDel", "slow"), airtime(datagrams, "FIFO", "slow"), "not lower", tolerance
            ),
        ],
        "Packets of a flow leave FQ-CoDel in its turn, whatever the rate of its station. Behind it the driver's queue "
        "of the slow station is nearly always the longest.",
    )


CLAIMS = [latency, fair, throughput, patch, total, driver]
"""The claims of the abstract, of the patch, and ours."""
