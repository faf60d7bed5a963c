"""LRED, an AQM by measured loss ratio: what its paper shows and claims."""

from aqmlab.papers import Choice, Paper, Variant
from aqmlab.scenarios.lred import response, theory

PAPER = Paper(
    name="lred",
    title="LRED: A Robust and Responsive AQM Algorithm Using Packet Loss Ratio Measurement",
    source="",
    about="",
    hero="LRED",
    experiments=[*response.EXPERIMENTS],
    items=[*response.FIGURES, *theory.ITEMS],
    claims=[*theory.CLAIMS, *response.CLAIMS, *theory.BEYOND, *response.BEYOND],
    choices=[Choice("R1-R2 delay", "", "2.5 ms", "fits both stated maxima of the round trip")],
    variants=[Variant("window limit 20", {"traffic.*.tcp.max_window": 20})],
)
