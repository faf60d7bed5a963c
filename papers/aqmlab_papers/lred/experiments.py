"""The experiments of the LRED paper, and those on what it states without one."""

from collections.abc import Sequence
from dataclasses import replace
from functools import partial

from aqmlab.scenario import Settings
from aqmlab_papers import Experiment
from aqmlab_papers.describe.paper import Aqms
from aqmlab_papers.lred import measures as m
from aqmlab_papers.lred.choices import NS2_35, TCP

RIVALS: Aqms = {"PIE": "pie:target=40 ms", "CoDel": "codel:target=40 ms", "DualPI2": "dualpi2:target=40 ms"}
"""Later disciplines, whose target is the delay of 100 packets of 0.4 ms."""

REMS: Aqms = {"REM": "rem:q0=100,form=ns2", "REM (36)": "rem:q0=100"}
"""REM as in ns-2, on which the paper's simulations ran, and by the equation that it prints."""


def _four(count: int, trip: str) -> dict[str, str | Settings]:
    """Return the paper's four disciplines, with PI* designed for a load."""
    pistar = f"pistar:q0=100,design={{n={count}, rtt='{trip}'}}"
    return {"LRED": "lred", "PI": "pi:q0=100", "PI*": pistar, "REM": REMS["REM"]}


def _five(count: int, trip: str) -> dict[str, str | Settings]:
    """Return the paper's four disciplines, and REM by (36)."""
    return {**_four(count, trip), **REMS}


Run = partial(Experiment, scenario="lred/exp1", rivals={})


def _designs(counts: Sequence[int]) -> dict[str, Sequence[object]]:
    """Return PI*'s design for each load."""
    trips = [f"{m.ROUND_TRIPS[count] * 1000:.0f} ms" for count in counts]
    return {m.COUNT: counts, "aqm.design.n": counts, "aqm.design.rtt": trips}


def _pareto(rate: float, *shapes: float) -> dict[str, Sequence[object]]:
    """Return gaps and lifetimes of Pareto's law with the means of the Poisson arrivals, by shape."""
    return {
        "traffic.short.interarrival": [f"pareto({1000 / rate:g} ms, {shape})" for shape in shapes],
        "traffic.short.lifetime": [f"pareto(1.5 s, {shape})" for shape in shapes],
    }


FIVE_HOSTS: Settings = {"dumbbell.hosts": 5}
"""Where all delays are equal; else there is a host for each delay."""
SETTLING: Settings = {"response.target": 100}
PI_400: Settings = {"aqm": "pi:q0=100", "duration": "400 s"}
ENDS = [100, 800]

AVQS: Aqms = {
    **{f"AVQ {alpha:g}": f"avq:form=ns2,alpha={alpha:g},initial=1" for alpha in (0.01, 0.05, 0.1, 0.15)},
    **{f"AVQ {alpha:g} from 0.8 C": f"avq:form=ns2,alpha={alpha:g}" for alpha in (0.01, 0.15)},
    **{f"AVQ {alpha:g}, its paper's form": f"avq:alpha={alpha:g},initial=1" for alpha in (0.01, 0.15)},
}
"""AVQ by alpha: ns-2's code from a virtual capacity of C; at both ends also from ns-2's 0.8 C, and by its paper."""

_AROUND = {
    f"{low} to {high}": f"min_th={low},max_th={high},w_q=0.002" for low, high in ((20, 100), (50, 150), (90, 110))
}
RED_SETTINGS: Aqms = {
    **{f"RED, {name}, max_p = {p}": f"red:{th},max_p={p}" for name, th in _AROUND.items() for p in (0.02, 0.1, 0.5)},
    **{f"RED, 50 to 150, w_q = {w_q}": f"red:min_th=50,max_th=150,w_q={w_q}" for w_q in (0.0002, 0.02)},
    **{f"ARED, {name}": f"ared:{th}" for name, th in _AROUND.items()},
    **{f"ARED, {name}, beta = 0.5": f"ared:{th},alpha=0.05,beta=0.5" for name, th in _AROUND.items()},
}
"""RED and Adaptive RED with thresholds around and below 100 packets; Adaptive RED also with larger steps."""

EXP3 = Run(
    "exp3",
    "Experiment 3: the target queue",
    _five(400, "450 ms"),
    {m.TARGET: [10, 20, 30, 40, 60, 80, 100, 120, 140, 160]},
    {m.TARGET: [20, 100]},
    scenario="lred/exp3",
    rivals=RIVALS,
)
EXP4 = Run(
    "exp4",
    "Experiment 4: UDP that takes 0.1 to 0.9 of the link",
    _four(100, "450 ms"),
    {m.UDP_RATE: [m.udp_rate(density) for density in m.DENSITIES]},
    {m.UDP_RATE: [m.udp_rate(density) for density in (0.1, 0.9)]},
    scenario="lred/exp4",
    series=True,
    rivals=RIVALS,
)

_EVERY = (
    Run(
        "fig2",
        "Figure 2: LRED's estimate and drop probability, at a load that loses 12 %",
        {"LRED": "lred"},
        settings={m.COUNT: 450, "record.step": "20 ms"},
        series=True,
    ),
    Run(
        "exp1",
        "Experiment 1: response times, 100 to 1000 flows",
        {"LRED": "lred", "PI": PI_400, **REMS},
        {m.COUNT: list(m.ROUND_TRIPS)},
        {m.COUNT: ENDS},
        settings=SETTLING,
        rivals=RIVALS,
    ),
    Run(
        "exp1-pistar",
        "Experiment 1: PI*, designed for each load",
        {"PI*": "pistar:design={n=100, rtt='450 ms'}"},
        _designs(list(m.ROUND_TRIPS)),
        _designs(ENDS),
        settings=SETTLING,
        method="paired",
    ),
    Run("p0-light", "Experiment 2, light: LRED", {"LRED": "lred"}, scenario="lred/exp2-light", settings=FIVE_HOSTS),
    Run(
        "p0-heavy",
        "Experiment 2, heavy: LRED",
        {"LRED": "lred"},
        scenario="lred/exp2-heavy",
        settings={**SETTLING, **FIVE_HOSTS},
    ),
    Run(
        "exp2-light",
        "Experiment 2, light: 80 flows of 550 ms",
        _five(80, "550 ms"),
        scenario="lred/exp2-light",
        settings=FIVE_HOSTS,
        series=True,
    ),
    Run(
        "exp2-heavy",
        "Experiment 2, heavy: 800 flows of 70 ms",
        {**_five(800, "100 ms"), "PI* (0.7 s)": "pistar:q0=100,design={n=800, rtt='700 ms'}"},
        scenario="lred/exp2-heavy",
        settings={**SETTLING, **FIVE_HOSTS},
        series=True,
        rivals=RIVALS,
    ),
    EXP3,
    replace(EXP3, name="exp3-time", vary={m.TARGET: [20, 160]}, quick={}, series=True, most_seeds=1, rivals={}),
    replace(
        EXP3,
        name="exp3-settled",
        title="Experiment 3 after PI has settled: from 300 s to 500 s",
        aqms=_four(400, "450 ms"),
        settings={"duration": "500 s", "warmup": "300 s"},
        vary={m.TARGET: [20, 40, 100]},
        quick={m.TARGET: [20, 100]},
        rivals={},
        varied=False,
    ),
    EXP4,
    replace(
        EXP4,
        name="exp4-peak",
        title="Experiment 4 with the density of UDP while it is on, half of it on average",
        vary={m.UDP_RATE: [m.udp_rate(density / 2) for density in (0.1, 0.5, 0.9)]},
        quick={m.UDP_RATE: [m.udp_rate(density / 2) for density in (0.1, 0.9)]},
        series=False,
        rivals={},
        varied=False,
    ),
    Run(
        "exp5",
        "Experiment 5: short flows between 100 long ones",
        _four(100, "450 ms"),
        {m.ARRIVALS: [f"{rate} /s" for rate in m.RATES]},
        {m.ARRIVALS: ["100 /s"]},
        scenario="lred/exp5",
        series=True,
        rivals=RIVALS,
    ),
    Run(
        "exp5-avq",
        "Experiment 5: AVQ, and LRED with targets as short as AVQ's queue",
        {"LRED q0 = 10": "lred:q0=10", "LRED q0 = 20": "lred:q0=20", **AVQS},
        {m.ARRIVALS: [f"{rate} /s" for rate in (10, 30, 60, 100)]},
        {m.ARRIVALS: ["60 /s"]},
        scenario="lred/exp5",
    ),
    Run(
        "exp5-pareto",
        "Experiment 5: arrivals and lifetimes by Pareto's law, a hundred flows a second",
        _four(100, "450 ms"),
        _pareto(100, 1.2, 1.5, 1.9),
        _pareto(100, 1.5),
        scenario="lred/exp5",
        settings={m.ARRIVALS: "auto", "traffic.short.interarrival": "pareto(10 ms, 1.5)"},
        method="paired",
        series=True,
    ),
    Run(
        "exp6",
        "Experiment 6: congestion both ways",
        {label: {"aqm": spec, "reverse_aqm": spec} for label, spec in _five(200, "600 ms").items()},
        {m.BUFFER: ["200 packets", "400 packets"]},
        scenario="lred/exp6",
        series=True,
    ),
    Run(
        "exp6-one-way",
        "Experiment 6 without its reverse traffic",
        _four(200, "600 ms"),
        settings={m.COUNT: 300, "duration": "100 s"},
        series=True,
    ),
    Run(
        "beta10",
        "LRED with beta = 10, and a drop-tail buffer of its target",
        {"LRED": "lred:beta=10", "drop-tail": {"aqm": "droptail", "dumbbell.buffer": "100 packets"}},
        settings={"record.step": "20 ms"},
        series=True,
    ),
    Run(
        "beta10-fine",
        "LRED with beta = 10, arrival by arrival",
        {"LRED": "lred:beta=10"},
        settings={"duration": "30 s", "record.step": "100 us"},
        series=True,
    ),
    Run(
        "laws",
        "Laws that LRED's authors did not take, over the loads of experiment 1",
        m.LAWS,
        {m.COUNT: [100, 400, 700, 1000]},
        {m.COUNT: ENDS},
    ),
    Run(
        "related",
        "The disciplines of section 2, over the loads of experiment 1",
        {
            "LRED": "lred",
            "RED": "red",
            "ARED": "ared",
            "S-RED": "feng",
            "BLUE": "blue",
            "AVQ": "avq:form=ns2,initial=1",
        },
        {m.COUNT: [100, 400, 1000]},
        {m.COUNT: ENDS},
    ),
    Run(
        "red-settings",
        "Settings of RED and of Adaptive RED, over the loads of experiment 1",
        RED_SETTINGS,
        {m.COUNT: [100, 200, 400, 1000]},
        {m.COUNT: ENDS},
        settings={"duration": "100 s"},
        varied=False,
    ),
    Run(
        "buffers",
        "Buffers of 25 to 800 packets, 100 flows",
        {"LRED": "lred", "drop-tail": "droptail"},
        {m.BUFFER: [f"{size} packets" for size in (25, 50, 100, 200, 400, 800)]},
        {m.BUFFER: ["25 packets", "200 packets", "800 packets"]},
        settings={m.COUNT: 100, "record.loss_event": "500 ms"},
    ),
    Run(
        "small-buffers",
        "Response times over the buffer, 400 flows",
        {"LRED": "lred", "PI": PI_400, **REMS},
        {m.BUFFER: [f"{size} packets" for size in (150, 200, 400)]},
        {m.BUFFER: ["150 packets", "400 packets"]},
        settings=SETTLING,
        varied=False,
    ),
    Run(
        "steps",
        "Long flows that join a hundred at 70 s and leave at 140 s",
        _five(100, "450 ms"),
        {m.JOINS: [100, 300, 700]},
        {m.JOINS: [300]},
        scenario="lred/steps",
        series=True,
    ),
    Run(
        "period",
        "LRED's measurement period",
        {"LRED": "lred"},
        {m.PERIOD: ["100 ms", "300 ms", "1 s", "3 s", "10 s"], m.COUNT: ENDS},
        {m.PERIOD: ["100 ms", "1 s", "10 s"]},
        settings=SETTLING,
        series=True,
    ),
    Run(
        "weight",
        "LRED's measurement weight",
        {"LRED": "lred"},
        {m.WEIGHT: [0.01, 0.1, 0.5, 0.9], m.COUNT: ENDS},
        {m.WEIGHT: [0.1, 0.9]},
        settings=SETTLING,
        series=True,
    ),
    Run(
        "sizes",
        "Packets of 250 and of 1000 bytes",
        {"LRED": "lred", "LRED in bytes": "lred:bytes=true,mean_packet=625 B"},
        scenario="lred/sizes",
    ),
    Run(
        "marks",
        "Marks instead of drops",
        {"LRED": "lred:ecn=false", "LRED, marks": "lred:ecn=true", "PI, marks": "pi:q0=100,ecn=true"},
        {m.COUNT: [100, 200, 400, 800]},
        {m.COUNT: [100, 800]},
        scenario="lred/ecn",
        rivals=RIVALS,
    ),
    Run(
        "fgn",
        "Fractional Gaussian noise",
        _four(100, "450 ms"),
        {m.HURST: [0.5, 0.7, 0.9]},
        {m.HURST: [0.5, 0.9]},
        scenario="lred/fgn",
        rivals=RIVALS,
    ),
    Run(
        "trace",
        "A recorded trace",
        # The recording's packets are larger; the gains are those for packets of the long flows.
        {
            **_four(100, "450 ms"),
            "PI*": "pistar:q0=100,design={n=100, rtt='450 ms', packet='500 B'}",
            "REM": "rem:q0=100,form=ns2,mean_packet=500 B",
        },
        scenario="lred/trace",
        rivals=RIVALS,
    ),
    Run(
        "priorities",
        "Priorities",
        {label: f"lred:weights=[{', '.join(map(str, weights))}]" for label, weights in m.WEIGHTS.items()},
        scenario="lred/priorities",
    ),
    Run(
        "short-model",
        "Experiment 5 with the TCP of the model of short flows",
        {"LRED": "lred"},
        {m.ARRIVALS: [f"{rate} /s" for rate in m.RATES]},
        {m.ARRIVALS: ["30 /s", "100 /s"]},
        scenario="lred/exp5",
        settings={**NS2_35, "duration": "150 s", "warmup": "55 s"},
    ),
)

EXPERIMENTS = tuple(replace(one, settings={**TCP, **one.settings}) for one in _EVERY)
"""All have the calibrated TCP, of which some set other values."""
