"""Theory from the papers: models, theorems and design rules, as functions of plain numbers and numpy arrays.

>>> from aqmlab_papers.theory import lred  # doctest: +SKIP
>>> round(lred.design(N_min=300, R_max=0.35, C=2500).beta_star, 6)  # doctest: +SKIP
0.000931

One module per model; `docs/theory/index.md` has the equations, the errors in the printed papers, and the evidence.
Nothing here imports the packet engine: only tests compare the two. Symbols are the papers': N flows, C packets/s, R a
round-trip time in seconds with the queue, q and Q queue and buffer in packets, p a drop probability.
"""
