"""Claims on BLUE: sections 2.3 and 4.2."""

from aqmlab_papers import Effect, Judgement, PerSeed, Runs, Tolerance, claim, tolerance
from aqmlab_papers.describe import thresholds
from aqmlab_papers.survey import measures
from aqmlab_papers.survey.measures import HOSTS, IDLE, LOST, NO_LOSS, between


@claim(
    'allows BLUE to "learn" the correct rate it needs to send back congestion notification',
    "Section 2.3",
    "learning fixed",
)
@tolerance(NO_LOSS.value, NO_LOSS.unit, f"{NO_LOSS.reason}; {IDLE.value} % of utilisation: {IDLE.reason}")
def blue_learns(schemes: Runs, fixed: Runs) -> Judgement:
    """BLUE learns the correct rate of congestion notification: with it, neither TCP's loss nor an idle link shows."""
    points = fixed.points("aqm.p")
    lost, used = (
        {p: fixed.per_seed(metric, "fixed", {"aqm.p": p}) for p in points} for metric in (LOST, "utilisation")
    )
    low = max((p for p in points if lost[p].mean > NO_LOSS.value), default=points[0])
    high = min((p for p in points if used[p].mean < 100 - IDLE.value), default=points[-1])
    learnt, loses, uses = (
        schemes.from_series("BLUE", between(10, 20, one), unit=unit)
        for one, unit in ((measures.P, ""), (measures.LOST_NOW, "%"), (measures.USED_NOW, "%"))
    )
    half = [schemes.from_series("BLUE", between(*part, measures.P)) for part in ((10, 15), (15, 20))]
    return Judgement(
        [
            Effect("loss of TCP packets in the last 10 s").of(loses, most=NO_LOSS.value),
            Effect("utilisation in the last 10 s").of(uses, least=100 - IDLE.value),
        ],
        f"BLUE's p is {half[0]:.2f} on average from 10 to 15 s and {half[1]:.2f} from 15 to 20 s. A p that is fixed at "
        f"{low:g} is too low, as {lost[low]:.2g} % of TCP's packets are lost, and one of {high:g} is too high, as the "
        f"link idles for {100 - used[high]:.2g} % of the time. BLUE's moves with the load, and neither shows.",
        beside=[
            # The fixed probabilities are far apart: as limits they are too inexact to decide.
            Effect("p in the last 10 s").of(learnt, least=min(low, high), most=max(low, high)),
            Effect("p in the last 5 s over that in the 5 s before").of(half[1] / half[0], least=0.9, most=1.1),
        ],
    )


@claim("d1 is set significantly larger than d2", "Section 4.2", "configuration")
@tolerance(thresholds.LOSS)
def blue_steps(configuration: Runs, *, tolerance: Tolerance) -> Judgement:
    """BLUE loses more with a `d1` that is not well above `d2`."""
    checks = [
        Effect(f"loss of TCP packets, {label} over BLUE").better(
            configuration.per_seed(LOST, label), configuration.per_seed(LOST, "BLUE"), "higher", tolerance
        )
        for label in ("BLUE, d1 = d2 = 0.02", "BLUE, d1 and d2 exchanged")
    ]
    used = {label: configuration.per_seed("utilisation", label) for label in configuration.labels}
    return Judgement(
        checks,
        "A probability that falls faster than it rises has to be learnt anew by overflows. One that falls as fast as "
        "it rises costs little, since the link seldom idles and so seldom lowers it: the utilisation is "
        f"{used['BLUE']:.1f} % as printed, {used['BLUE, d1 = d2 = 0.02']:.1f} % with equal steps and "
        f"{used['BLUE, d1 and d2 exchanged']:.1f} % with exchanged ones.",
    )


@claim(
    "link utilization can occur when congestion management is either too conservative or to aggressive, but "
    "packet loss occurs only when congestion management is too conservative",
    "Section 4.2",
    "fixed",
)
@tolerance(NO_LOSS)
def blue_reason(fixed: Runs, synchronisation: Runs) -> Judgement:
    """The link is underused if congestion management is too timid or too eager; packets are lost only if it is too
    timid.
    """
    timid, eager = fixed.points("aqm.p")[0], fixed.points("aqm.p")[-1]

    def at(metric: str, p: float) -> PerSeed:
        return fixed.per_seed(metric, "fixed", {"aqm.p": p})

    idle = [p for p in fixed.points("aqm.p") if at("utilisation", p).mean < 100 - IDLE.value] or [eager]
    never = [synchronisation.per_seed("utilisation", "DropTail", {HOSTS: n}) for n in synchronisation.points(HOSTS)]
    checks = [
        Effect(f"loss of TCP packets, p = {timid:g}").of(at(LOST, timid), least=NO_LOSS.value),
        Effect(f"greatest loss of TCP packets, p from {idle[0]:g} on, where the link idles").of(
            PerSeed.most(at(LOST, p) for p in idle), most=NO_LOSS.value
        ),
        Effect(f"least utilisation, p = {timid:g} and no signals at all (drop tail, 10 to 100 nodes without ECN)").of(
            PerSeed.least([at("utilisation", timid), *never]), most=100 - IDLE.value
        ),
        Effect(f"utilisation, p = {eager:g}").of(at("utilisation", eager), most=100 - IDLE.value),
    ]
    return Judgement(
        checks,
        "Too few signals fill the buffer, and what overflows is lost. That the link can idle then holds for the "
        "fewest nodes alone, of which the sensitivity table has no runs: with many the buffer stays full and the link "
        "busy. TCP's packets are judged because they are marked, so that each loss is an overflow; UDP's "
        "are dropped by signals too.",
        beside=[Effect(f"loss of all packets, p = {eager:g}").of(at("loss_ratio", eager), most=NO_LOSS.value)],
    )
