"""The papers' theory: models, theorems and design rules, as functions of plain numbers and numpy arrays.

>>> from aqmlab.theory import lred  # doctest: +SKIP
>>> round(lred.design(N_min=300, R_max=0.35, C=2500).beta_star, 6)  # doctest: +SKIP
0.000931

A module a model; `docs/theory/index.md` has the equations, what was wrong in print, and the evidence. Nothing here knows the
packet engine: tests alone hold the two against each other. Symbols are the papers': N flows, C packets a second,
R a round-trip time in seconds with the queue, q and Q queue and buffer in packets, p a drop probability.
"""
