"""The claims: the cases of the draft's Appendix A, in its order, each with a part for either version of BBR."""

from dataclasses import dataclass

import numpy as np

from aqmlab_papers import At, Check, Claim, Effect, Evidence, Judgement, Runs, claim
from aqmlab_papers.bbr_tests.experiments import TCPS
from aqmlab_papers.bbr_tests.measures import MARGIN, Path, Phases, Reading, Seen, reading

PATH = Path()
LIMITED = Path(20e6, 0.2)
SLOW = Path(10e6, 0.04)
SMALL = Path(64e3, 0.04)
LONG = Path(100e6, 1)


@dataclass(frozen=True)
class Part:
    """A number of a case: its name, the experiment, how it is read, bounds, unit, path; the point, if several."""

    effect: str
    experiment: str
    read: Reading
    least: float = -np.inf
    most: float = np.inf
    unit: str = ""
    path: Path = PATH
    at: At | None = None

    def judged(self, runs: Runs, tcp: str) -> Check:
        """Check the number of a version of BBR."""
        values = reading(runs, tcp, self.read, self.path, self.at, self.unit)
        return Effect(f"{self.effect}, {tcp}").of(values, least=self.least, most=self.most)


def case(number: int, name: str, text: str, quote: str, why: str, *parts: Part, shown: str = "") -> Claim:
    """Return the claim that both versions pass a case; without parts it is not testable."""

    def judged(evidence: Evidence) -> Judgement:
        return Judgement([part.judged(evidence[part.experiment], tcp) for part in parts for tcp in TCPS], why)

    runs = list(dict.fromkeys(part.experiment for part in parts))
    return claim(quote, f"Appendix A.{number}", shown, text=text, name=name, runs=runs)(judged)


def _bandwidth(seen: Seen) -> float:
    """By its pace in round trips after STARTUP and before PROBE_RTT, most of which are of neither UP nor DOWN."""
    return seen.median(seen.over(seen.sent, PATH.rtt), Phases.of(seen).cruise + 0.1, 4) / MARGIN


def _startup_rounds(seen: Seen) -> float:
    found = Phases.of(seen)
    return seen.rounds(found.full, found.drain)


def _drain_gain(seen: Seen) -> float:
    found = Phases.of(seen)
    return seen.median(seen.pace, found.drain + 0.02, found.cruise - 0.01) / MARGIN


def _drain_flight(seen: Seen) -> float:
    return seen.at(seen.flight, Phases.of(seen).cruise)


def _drain_rounds(seen: Seen) -> float:
    found = Phases.of(seen)
    return seen.rounds(found.drain, found.cruise)


def _deep_drain_rounds(seen: Seen) -> float:
    """Count round trips until it sends less than the rest of the link, 0.3: until then DRAIN has filled it."""
    drain = Phases.of(seen).drain
    return seen.rounds(drain, seen.when(seen.over(seen.sent, PATH.rtt) < 0.2, drain))


def _up_rounds(seen: Seen) -> float:
    up = Phases.of(seen).up
    return seen.rounds(up, seen.when(seen.pace < 1.1, up + 0.02))


def _down_gain(seen: Seen) -> float:
    found = Phases.of(seen)
    return seen.median(seen.pace, found.down + 0.01, found.end - 0.02) / MARGIN


def _down_flight(seen: Seen) -> float:
    return seen.at(seen.flight, Phases.of(seen).end)


def _down_time(seen: Seen) -> float:
    found = Phases.of(seen)
    return found.end - found.down


def _probe_rtt(seen: Seen) -> float:
    return seen.when(seen.flight < 0.6, 1)


def _until_probe_rtt(seen: Seen) -> float:
    return _probe_rtt(seen) - seen.when(seen.sent > 0)


def _probe_rtt_flight(seen: Seen) -> float:
    start = _probe_rtt(seen)
    return seen.median(seen.flight, start + 0.05, start + 0.2)


def _probe_rtt_time(seen: Seen) -> float:
    start = _probe_rtt(seen)
    return seen.when(seen.flight > 0.6, start + 0.05) - start


def _after_probe_rtt(seen: Seen) -> float:
    start = _probe_rtt(seen)
    return seen.median(seen.pace, start + 0.3, start + 0.5) / MARGIN


def _late_pace(seen: Seen) -> float:
    return float(seen.during(seen.pace, 10, 20).max())


def _after_idle(seen: Seen) -> float:
    """From 60 to 300 ms after the pause: PROBE_RTT would begin with the first acknowledgement, and last for 200 ms."""
    restart = seen.when(np.diff(seen.sent, prepend=0) > 0, 10)
    return float(seen.during(seen.flight, restart + 0.06, restart + 0.3).min())


BURST = 0.065
"""The period (s) of the acknowledgements' bursts."""


def _startup_aggregated(seen: Seen) -> float:
    return float(seen.during(seen.over(seen.gone, BURST), 0, 2).max())


def _startup_flight(seen: Seen) -> float:
    return float(seen.during(seen.flight, 0, 1.5).max())


def _aggregated_flight(seen: Seen) -> float:
    return seen.often(seen.flight, 3, 22)


def _aggregated(seen: Seen) -> float:
    return seen.median(seen.over(seen.gone, BURST), 3, 22)


def _faster_rounds(seen: Seen) -> float:
    since = seen.when(seen.over(seen.sent, PATH.rtt) > 0.108, 5.05)
    return seen.rounds(since, seen.when(seen.over(seen.gone, PATH.rtt) > 0.98, since))


def _first_dip(seen: Seen) -> float:
    """Return when the flight has first been taken back."""
    return seen.when(seen.flight < 0.6 * np.maximum.accumulate(seen.flight), 4.5)


def _before_probe_rtt(seen: Seen) -> float:
    return float(seen.during(seen.over(seen.gone, LONG.rtt), 0, _first_dip(seen)).max())


def _startup_again(seen: Seen) -> float:
    return float(seen.during(seen.over(seen.sent, 0.25), _first_dip(seen), np.inf).max())


def _heavy_loss(seen: Seen) -> float:
    """Return the first time after STARTUP at which a round trip has lost more than 2 % of the flight."""
    lost = np.cumsum(seen.drops)
    recent = lost - np.interp(seen.t - seen.rtt, seen.t, lost)
    return seen.when(recent > 0.02 * seen.flight * seen.bdp, Phases.of(seen).up)


def _loss_rounds(seen: Seen) -> float:
    loss = _heavy_loss(seen)
    return seen.rounds(loss, seen.when(seen.pace < 0.92, loss))


CLAIMS = [
    case(
        1,
        "startup-plateau",
        "STARTUP ends when three round trips bring no 25 % more, at the link's bandwidth.",
        "close (i.e., within 2%) to the simulated bandwidth",
        "Both fill the link, wait for three round trips without 25 % more, and drain. A sender hears of the full "
        "link a round trip late, so that 3 to 5 round trips pass. Version 1 compares the greatest bandwidth of ten "
        "round trips, which still grows in the first of them.",
        Part("bandwidth by the pace, over the link's", "alone", _bandwidth, 0.98, 1.02),
        Part("round trips from a full link to DRAIN", "alone", _startup_rounds, 3, 5),
        shown="phases",
    ),
    case(
        2,
        "startup-loss",
        "Losses of more than 2 % end STARTUP, also of a sender that its application limits.",
        "loss triggers the end of STARTUP even when bandwidth samples are application-limited",
        "A chunk of 200 packets in a round trip shows at most 0.6 of the link's rate: without STARTUP's gain it is "
        "sent at 0.75 of it or less. With 5 % losses both do, without losses neither (the seventh case). Version 1 "
        "has no rule for losses; which rule ended STARTUP cannot be seen from outside.",
        Part(
            "greatest pace over the link's rate, with losses",
            "limited",
            _late_pace,
            most=0.75,
            path=LIMITED,
            at={"dumbbell.loss": 0.05},
        ),
    ),
    case(
        3,
        "drain-inflight",
        "DRAIN paces at half of the bandwidth until a BDP is in flight.",
        "Verify `BBR.pacing_gain` is set to `BBR.DrainPacingGain` (0.5)",
        "Both leave DRAIN when a BDP is in flight, and version 1 allows three bursts more. Both drain at 0.35 of the "
        "bandwidth, as the sources of Linux and of the authors have it. The draft had that, too, and has 0.5 since "
        "version 05 (February 2026).",
        Part("pace of DRAIN over the bandwidth", "alone", _drain_gain, 0.49, 0.51),
        Part("in flight at the end of DRAIN", "alone", _drain_flight, most=1.08, unit="BDP"),
        shown="phases",
    ),
    case(
        4,
        "drain-time",
        "DRAIN ends after three round trips, if a BDP is still exceeded.",
        "after 3 round trips in DRAIN, the connection exits DRAIN",
        "The draft's 10 % less does not try the rule: both, and by its gain the draft's sender too, drain within "
        "three round trips. With 70 % less, DRAIN paces above the link's rate: version 1 ends it when it forgets the "
        "old bandwidth after ten round trips, version 3 by PROBE_RTT. The rule is younger than both sources (version "
        "05 of the draft, February 2026).",
        Part("round trips in DRAIN with 10 % less", "drain", _drain_rounds, most=4),
        Part("round trips in DRAIN with 70 % less", "deeper-drain", _deep_drain_rounds, most=4),
        shown="changes",
    ),
    case(
        5,
        "up-plateau",
        "PROBE_UP ends when three round trips bring no 25 % more.",
        "after 3 consecutive rounds where the delivery rate grows by less than 25%",
        "Version 3 sends at 1.25 of the bandwidth for three round trips, whose begin and end are seen to about half "
        "of one. Version 1 has no such phase: it sends so for a least round trip, or until 1.25 BDP are in flight.",
        Part("round trips at 1.25 of the bandwidth", "alone", _up_rounds, 2.5, 4),
        shown="phases",
    ),
    case(
        6,
        "up-loss",
        "Losses of more than 2 % end PROBE_UP, also of a sender that its application limits.",
        "regardless of the application-limited state",
        "A connection that was idle sends at the bandwidth for a round trip, whatever its phase: that of an "
        "application which has less than a round trip's worth to send never shows UP. No run can tell; a test of "
        "`bbr3` (`a_loss_of_what_the_application_limits_leaves_the_bound`) has the rule.",
    ),
    case(
        7,
        "limited-startup",
        "A sender that its application limits and that loses nothing stays in STARTUP or PROBE_UP.",
        "the connection stays in PROBE_UP (or STARTUP) indefinitely",
        "After 10 s of chunks, each less than a round trip's worth, both still pace them with the gain of STARTUP: "
        "the link is exceeded, which no other phase can by what the chunks show of it. UP is not seen, as in the "
        "sixth case.",
        Part(
            "greatest pace over the link's rate, without losses",
            "limited",
            _late_pace,
            least=0.75,
            path=LIMITED,
            at={"dumbbell.loss": 0.0},
        ),
    ),
    case(
        8,
        "down-inflight",
        "PROBE_DOWN paces at 0.9 of the bandwidth until a BDP is in flight.",
        "Verify that `BBR.pacing_gain` is set to `BBR.ProbeDownPacingGain` (0.90)",
        "Version 3 paces at 0.91 of the bandwidth until a BDP is in flight; its source has 0.91, within the 2 % to "
        "which a pace is known here. Version 1 drains at 0.75 for a least round trip at most, and three bursts may "
        "remain.",
        Part("pace of DOWN over the bandwidth", "alone", _down_gain, 0.882, 0.918),
        Part("in flight at the end of DOWN", "alone", _down_flight, most=1.08, unit="BDP"),
        shown="phases",
    ),
    case(
        9,
        "down-time",
        "If a BDP stays exceeded, PROBE_DOWN ends after 2 to 3 s, with PROBE_REFILL.",
        "transitions directly to PROBE_REFILL, bypassing PROBE_CRUISE",
        "With 10 % less bandwidth the queue of version 3 hardly drains. It stays in DOWN for 2 to 3 s, and then "
        "paces at the bandwidth with more than a BDP in flight, which CRUISE would not begin with: it is REFILL. The "
        "wait of version 1 is a least round trip.",
        Part("time in DOWN", "down", _down_time, 2, 3, "s"),
        Part("in flight at the end of DOWN", "down", _down_flight, least=1.08, unit="BDP"),
    ),
    case(
        10,
        "probe-rtt",
        "PROBE_RTT comes after 5 s and holds half a BDP in flight for 200 ms and a round trip.",
        "Wait for `BBR.ProbeRTTInterval` (5 seconds)",
        "Version 3 holds half a BDP in flight for 200 ms and the rest of a round trip, 5 s after the flow's begin, "
        "and goes on at the bandwidth. Version 1 does it after 10 s, with 4 packets in flight.",
        Part("time to the first PROBE_RTT", "alone", _until_probe_rtt, 5, 5.2, "s"),
        Part("in flight in PROBE_RTT", "alone", _probe_rtt_flight, 0.49, 0.51, "BDP"),
        Part("time in PROBE_RTT", "alone", _probe_rtt_time, 0.2, 0.28, "s"),
        Part("pace after it over the bandwidth", "alone", _after_probe_rtt, 0.98, 1.02),
        shown="phases",
    ),
    case(
        11,
        "idle",
        "A pause of the application takes the place of PROBE_RTT.",
        "the connection skips entering PROBE_RTT because `BBR.idle_restart` is `true`",
        "After a pause of more than 10 s, the interval of version 1, both fill the path at once and never hold less: "
        "in PROBE_RTT half a BDP or 4 packets would be in flight.",
        Part("least in flight after the pause", "idle", _after_idle, least=0.9, unit="BDP"),
    ),
    case(
        12,
        "aggregated-startup",
        "STARTUP finds the bandwidth of a link whose acknowledgements come in bursts, with more than 2 BDP in flight.",
        "still successfully doubles its sending rate to discover the full bottleneck bandwidth",
        "With acknowledgements that come in bursts of 60 ms, 1.5 round trips, both fill the link within 2 s. More "
        "than 2 BDP are in flight, as the draft wants; version 1 owes that to STARTUP's gain.",
        Part("greatest rate within 2 s, over the link's", "aggregated", _startup_aggregated, least=0.98),
        Part(
            "in flight at most in STARTUP",
            "aggregated",
            _startup_flight,
            least=2,
            unit="BDP",
        ),
    ),
    case(
        13,
        "aggregated-cruise",
        "A flow fills a link whose acknowledgements come in bursts, by a window that is larger by these.",
        "maintaining full utilization",
        "Acknowledgements aggregate from the begin on here, not from CRUISE on. The window is larger by what came at "
        "once, in both versions: more is in flight than two BDP and the three bursts for offload.",
        Part("median rate over the link's", "aggregated", _aggregated, least=0.98),
        Part(
            "in flight for a tenth of the time",
            "aggregated",
            _aggregated_flight,
            least=2.1,
            unit="BDP",
        ),
    ),
    case(
        14,
        "sub-packet",
        "A path of less than a packet is filled, with four packets as the least window.",
        "4-packet cwnd allows for delayed ACKs without stalling the pipeline",
        "At 64 kbit/s a BDP is 0.2 packets. Both keep some four packets in flight or more and the link busy.",
        Part(
            "rate over the link's",
            "small",
            lambda seen: float(seen.during(seen.over(seen.gone, 10), 20, 60).mean()),
            least=0.98,
            path=SMALL,
        ),
        Part(
            "in flight for a tenth of the time",
            "small",
            lambda seen: seen.bdp * seen.often(seen.flight, 15, 60),
            least=4,
            unit="packets",
            path=SMALL,
        ),
    ),
    case(
        15,
        "faster",
        "Ten times the bandwidth is found in O(log BDP) round trips.",
        "discovers the full 100 Mbit/s bandwidth within a reasonable number of round trips (O(log(BDP)))",
        "A probe adds a quarter in a round trip at best, and ten times need 10.3 of these; reasonable are twice as "
        "many here. Both add some 15 %, as a rate is measured over a round trip, in which it grows. The count begins "
        "with the first probe, for which version 3 waits up to 3 s.",
        Part("round trips of probing until the link is full", "faster", _faster_rounds, most=20.6),
        shown="changes",
    ),
    case(
        16,
        "slower",
        "Two cycles after the bandwidth has fallen to a tenth, it is what the sender takes it for.",
        "`BBR.max_bw` drops to the new 10 Mbit/s limit, matching the path's delivery rate",
        "Two cycles of version 3 last at most 12 s on the full buffer of 0.4 s. After them both pace at the new "
        "rate, and no more than the window's two BDP of the new path are in flight. How fast `BBR.bw_shortterm` "
        "falls is hidden by recovery.",
        Part(
            "pace 12 s later over the new bandwidth",
            "slower",
            lambda seen: seen.median(seen.over(seen.sent, 0.4), 17, 30) / MARGIN,
            0.98,
            1.02,
            path=SLOW,
        ),
        Part(
            "in flight 12 s later",
            "slower",
            lambda seen: seen.median(seen.flight, 17, 30),
            most=2,
            unit="BDP",
            path=SLOW,
        ),
        shown="changes",
    ),
    case(
        17,
        "policer",
        "Behind a token bucket policer the rate becomes the tokens'.",
        "a stable operating point that conforms to the token rate",
        "There is no policer here: a link has a queue of one packet at least, and no bucket.",
    ),
    case(
        18,
        "spurious-recovery",
        "A fast recovery that was spurious is undone.",
        "packet reordering on the network path that triggers a spurious Fast Recovery",
        "No link reorders packets here. A test of `bbr3` (`a_recovery_that_was_wrong_restores_the_bounds`) has the "
        "rule.",
    ),
    case(
        19,
        "spurious-timeout",
        "A time-out that was spurious is undone.",
        "seamlessly returns to its previous state",
        "No link reorders packets here. One that stands still for a second makes two time-outs, both spurious, and "
        "no loss. From 0.2 s after it both pace as before.",
        Part("packets lost by the link", "outage", lambda seen: float(seen.drops.sum()), most=0),
        Part(
            "pace after the standstill over that before",
            "outage",
            lambda seen: (
                seen.median(seen.over(seen.sent, PATH.rtt), 7.2, 8.2)
                / seen.median(seen.over(seen.sent, PATH.rtt), 5.4, 6)
            ),
            0.98,
            1.02,
        ),
    ),
    case(
        20,
        "probe-rtt-in-startup",
        "A PROBE_RTT that comes in STARTUP leads back to it.",
        "transitions back to STARTUP rather than PROBE_BW",
        "With a round trip of 1 s STARTUP is so slow that PROBE_RTT comes first, when the link is not yet full. "
        "Later the flow sends at more than 1.25 of the link's rate: with the gain of STARTUP, not of PROBE_BW.",
        Part(
            "rate before PROBE_RTT over the link's",
            "long",
            _before_probe_rtt,
            most=0.8,
            path=LONG,
        ),
        Part("pace at most after it over the link's rate", "long", _startup_again, least=1.3, path=LONG),
    ),
    case(
        21,
        "up-bound",
        "Losses of more than 2 % end PROBE_UP at the bound that earlier losses have set.",
        "aborts PROBE_UP and immediately transitions to PROBE_DOWN",
        "With a buffer of 0.2 BDP STARTUP has set the bound of version 3. Once a round trip has lost 2 % of the "
        "flight both slow down: version 1 since its phase ends with any loss after a least round trip. The bound "
        "itself is not seen.",
        Part("round trips from 2 % loss to a slower pace", "shallow", _loss_rounds, most=2),
    ),
    case(
        22,
        "limited-refill",
        "What an application limits in PROBE_REFILL does not lower the bandwidth.",
        "BBR does not update its max bandwidth estimate with these artificially low values",
        "No application here pauses when its sender enters a phase, and after an idle time the phase is not seen.",
    ),
]
