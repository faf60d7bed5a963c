"""Theory: models, laws and design rules, as functions of plain numbers and numpy arrays.

>>> from aqmlab.theory import pi  # doctest: +SKIP
>>> round(pi.design(N_min=100, R_max=0.45, C=2500).a * 1e5, 3)  # doctest: +SKIP
2.857

One module per model; `docs/theory/index.md` has the equations, the errors in the printed papers, and the evidence.
Nothing here imports the packet engine: only tests compare the two. Symbols are the papers': N flows, C packets/s, R a
round-trip time in seconds with the queue, q and Q queue and buffer in packets, p a drop probability.
"""
