"""Claims on all six disciplines: sections 2 and 3 (Table 1), and the paper's abstract."""

import polars

from aqmlab_papers import At, Check, Effect, Evidence, Judgement, Runs, Tolerance, claim, tolerance
from aqmlab_papers.describe.thresholds import LOSS
from aqmlab_papers.run.complexity import complexity
from aqmlab_papers.survey.claims.rem import FORMS
from aqmlab_papers.survey.experiments import CONFIGURATIONS, GUARANTEES
from aqmlab_papers.survey.measures import HOSTS, LOST, NODES, range_of, suiting

EARLY = polars.col("drops_early") + polars.col("marks")


@claim(
    "AQM Schemes described section 2 have mainly focused on seven issues: 1) avoid congestion",
    "Section 3, issue 1; Table 1, column Avoidance",
    "table1",
)
@tolerance(50, "%", "a scheme that acts before an overflow gives most of its signals before")
def avoidance(schemes: Runs, *, tolerance: Tolerance) -> Judgement:
    """RED, BLUE, REM, PI and JoBS avoid congestion: they act before it."""
    share = 100 * EARLY / (EARLY + polars.col("drops_overflow"))
    checks = [
        Effect(f"signals given while there is room, {label}").of(
            schemes.per_seed(share, label, unit="%"), least=tolerance.value
        )
        for label in schemes.labels
        if label != "DropTail"
    ]
    return Judgement(
        checks,
        "RED acts by its average queue at once. PI first has to learn its probability, which takes longer than these "
        "20 s: until then the buffer overflows, and overflows are most of PI's signals.",
    )


@claim(
    "sources reduce their transmission rates only after detecting packet loss due to queue overflow",
    "Section 4.2",
    "table1",
    arithmetic=True,
)
def droptail_late(schemes: Runs) -> Judgement:
    """Drop tail acts on overflow alone."""
    return Judgement(
        [Effect("early signals").of(schemes.per_seed(EARLY, "DropTail", unit="packets"), most=0)], "By definition."
    )


@claim("achieve fairness among different traffic types", "Section 3, issue 4; abstract", "schemes")
@tolerance(5, "%", "a twentieth of a flow's share; the distance of a ratio of rates from 1 is 100 |ln ratio|")
def fairness(settled: Runs, evidence: Evidence, *, tolerance: Tolerance) -> Judgement:
    """AQM attains the fairness that it aims at: a TCP flow's rate is nearer to a UDP source's than with drop tail."""
    rate = {
        name: polars.col(f"classes.{name}.throughput") / polars.col(f"classes.{name}.flows") for name in ("ftp", "udp")
    }
    ratio = rate["ftp"] / rate["udp"]
    apart = 100 * ratio.log().abs()
    name = "distance of TCP's from UDP's rate"

    def nearer(runs: Runs, at: At | None = None, where: str = "") -> list[Check]:
        return [
            check
            for label in settled.labels
            if label != "DropTail"
            for check in runs.compare(
                apart, label, ["DropTail"], better="lower", tolerance=tolerance, at=at, unit="%", name=f"{name}{where}"
            )
        ]

    others = suiting(evidence)
    ratios = [settled.per_seed(ratio, "DropTail"), *(load.per_seed(ratio, "DropTail", at) for load, at in others)]
    nodes = ", ".join(str(count) for count in (NODES, *(at[HOSTS] for _, at in others)))
    return Judgement(
        nearer(settled),
        "RED, BLUE and PI drop UDP as often as they mark TCP, so that TCP gains; REM and JoBS only mark, and leave UDP "
        "what it has. Who is fairer so hangs on how far a TCP flow is behind a UDP source with drop tail, and thus on "
        f"the number of nodes, which is our choice: it has {', '.join(f'{one:.2f}' for one in ratios)} of its rate "
        f"with {nodes} nodes. Where it is ahead (beside), those gain that only mark.",
        [check for load, at in others for check in nearer(load, at, f", {at[HOSTS]} nodes, from the start,")],
    )


@claim(
    "a wide range of relative, as well as absolute, per-class guarantees for loss and delay",
    "Section 2.6; issue 5 of Section 3; abstract",
    "classes",
)
@tolerance(
    20,
    "% of it",
    f"a ratio kept to a fifth; a wait is exact, a loss to {LOSS.value:g} %, as the start does not count",
)
def guarantees(classes: Runs, *, tolerance: Tolerance) -> Judgement:
    """JoBS guarantees delay and loss to classes, absolute and relative, in a wide range, without admission control or
    policing.
    """

    def kept(label: str) -> list[Check]:
        delay, loss, factor = GUARANTEES[label]
        found = {
            (metric, name): classes.per_seed(f"classes.{name}.{metric}", label)
            for metric in ("queue_delay_max", "queue_delay_mean", "loss_ratio")
            for name in ("first", "second", "third", "fourth")
        }
        bounds = {"queue_delay_max": float(delay.removesuffix(" ms")), "loss_ratio": LOSS.around(100 * loss)[1]}
        least, most = tolerance.around(factor)
        return [
            *(
                Effect(f"{text} of class 1, {label}").of(found[metric, "first"], most=bounds[metric])
                for metric, text in (("queue_delay_max", "longest wait"), ("loss_ratio", "loss"))
            ),
            *(
                Effect(f"{text} of the {worse} over the {better} class, {label}").of(
                    found[metric, worse] / found[metric, better], least=least, most=most
                )
                for metric, text in (("queue_delay_mean", "wait"), ("loss_ratio", "loss"))
                for worse, better in (("third", "second"), ("fourth", "third"))
            ),
        ]

    *judged, wider = GUARANTEES
    return Judgement(
        [check for label in judged for check in kept(label)],
        "The survey runs nothing with classes; this is JoBS as its authors published it (`jobs`), at the survey's core "
        "router, and two sets of guarantees of our choice, whose bounds drop tail breaks. The fourth class pays: it "
        f"loses {classes.per_seed('classes.fourth.loss_ratio', judged[0]):.0f} % with the first set. With factors of "
        "3, beside, it would have to lose so much that its flows hardly send, and its wait is not kept.",
        kept(wider),
    )


@claim(
    "[4] and [5] enhance these initial proposals in order to provide service differentiation", "Section 3", "classes"
)
@tolerance(20, "%", "classes whose waits or losses differ by less are treated alike")
def differentiation(classes: Runs, *, tolerance: Tolerance) -> Judgement:
    """PI and JoBS enhance the earlier proposals to differentiate services."""
    checks = []
    for label in ("PI", "JoBS"):
        for name, metric in (("wait", "queue_delay_mean"), ("loss", "loss_ratio")):
            fourth, second = (classes.per_seed(f"classes.{one}.{metric}", label) for one in ("fourth", "second"))
            checks.append(
                Effect(f"{name} of the fourth over the second class, {label}").of(
                    fourth / second, least=1 + tolerance.value / 100
                )
            )
    return Judgement(
        checks,
        "PI as published has one queue and one probability for all classes. JoBS has a queue for each class, and "
        "serves and drops by the classes' guarantees.",
    )


@claim("AQM parameter configuration has been a main design issue", "Section 4.2", "configuration")
@tolerance(100, "% of it", "the loss doubles within the range")
def configuration_matters(configuration: Runs, *, tolerance: Tolerance) -> Judgement:
    """The configuration of an AQM's parameters decides how it performs."""
    checks = [
        range_of([configuration.per_seed(LOST, label) for label in labels if label not in FORMS[1:]], name, tolerance)
        for name, labels in CONFIGURATIONS.items()
    ]
    return Judgement(
        checks,
        "One parameter is changed at a time, and the others are as printed; how far, mostly by a factor of ten, is our "
        "choice (see the table). REM's other forms are no values of a parameter, and are left out.",
    )


@claim("reduce the program complexity", "Section 3, issue 6; abstract", "costs")
@tolerance(100, "%", "of drop tail's instructions a packet: a simple scheme does not double the work")
def simple(*, tolerance: Tolerance) -> Judgement:
    """The schemes are simple: each takes less of a processor than the queue itself."""
    found, flows = complexity(), 100
    checks = [
        Effect(f"instructions over those of the queue, {flows} flows, {label}").exact(
            100 * found[name].instructions[flows] / found.queue[flows], unit="%", most=tolerance.value
        )
        for label, name in NAMES.items()
    ]
    return Judgement(
        checks,
        "Of a program's complexity its cost is judged, our reading, by our own programs against our own queue. JoBS "
        f"takes {checks[-1].value / 100:.1f} times the queue's instructions: it projects the arrivals of every flow, "
        "here once in ten arrivals, and keeps state for each (beside). The others compute one probability.",
        [
            Effect(f"state over a packet of 1000 bytes, {label}").exact(found[name].bytes / 1000, most=1.0)
            for label, name in NAMES.items()
        ],
    )


@claim("increase the scalability", "Section 3, issue 7; abstract", "costs")
@tolerance(100, "%", "a scheme without state by connection does not double its cost")
def scalable(*, tolerance: Tolerance) -> Judgement:
    """The schemes scale: with ten times the flows a packet costs about as much."""
    checks = []
    for label, name in NAMES.items():
        few, many = (complexity()[name].instructions[flows] for flows in (100, 1000))
        effect = f"instructions a packet, 1000 flows over 100, {label}"
        checks.append(Effect(effect).exact(many / few, most=1 + tolerance.value / 100))
    return Judgement(
        checks, "Only JoBS keeps state for each connection, and goes through all of it at each projection."
    )


NAMES = {"RED": "red", "BLUE": "blue", "REM": "rem", "PI": "pi", "JoBS": "jobs_ecn"}
"""The measured disciplines."""
