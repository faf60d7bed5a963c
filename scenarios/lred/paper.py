"""LRED, an AQM by measured loss ratio: what its paper shows and claims."""

from aqmlab.papers import Choice, Paper, Variant
from aqmlab.scenarios.lred import extreme, response, steady, theory, udp

PAPER = Paper(
    name="lred",
    title="LRED: A Robust and Responsive AQM Algorithm Using Packet Loss Ratio Measurement",
    source="",
    about="",
    hero="LRED",
    experiments=[*response.EXPERIMENTS, *extreme.EXPERIMENTS, *steady.EXPERIMENTS, *udp.EXPERIMENTS],
    items=[*response.FIGURES, *extreme.FIGURES, *steady.FIGURES, *udp.FIGURES, *theory.ITEMS],
    claims=[*theory.CLAIMS, *response.CLAIMS, *extreme.CLAIMS, *steady.CLAIMS, *udp.CLAIMS, *theory.BEYOND, *response.BEYOND],
    choices=[Choice("R1-R2 delay", "", "2.5 ms", "fits both stated maxima of the round trip")],
    variants=[Variant("window limit 20", {"traffic.*.tcp.max_window": 20})],
)
