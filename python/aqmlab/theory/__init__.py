"""Theory: models, laws and design rules, as functions of plain numbers and numpy arrays.

>>> from aqmlab.theory import pi  # doctest: +SKIP
>>> round(pi.design(N_min=100, R_max=0.45, C=2500).a * 1e5, 3)  # doctest: +SKIP
2.857

One module per model; `docs/theory/index.md` has the equations, the errors in the printed papers, and the evidence.
Nothing here imports the packet engine: only tests compare the two. Array arguments broadcast, and results have their
common shape. An argument out of its range raises ValueError with its name, its value and the range; a result outside a
formula's validity issues `ValidityWarning`.

The symbols are the papers'. Each stands once, here or at the head of its module:

* N: flows, of each class or group where there are several; N_min: the fewest.
* R: round-trip time (s), the queue included; R_max: the longest; Tp: without the queue.
* C: capacity (packets/s).
* q, q0, Q: queue, its target, and the buffer (packets), Q above q0.
* p: probability that a packet is dropped or lost, in (0, 1); p0: that of the equilibrium.
* w, W: window of a flow (packets); W_max: the receiver's, at least 1, infinite for no limit.
* b: packets per ACK; eta: 3/(2b).
* T0: first time-out of data (s), which doubles up to 64 T0.
* rho: offered load, the arrival rate over the service rate.
* s: complex frequency (rad/s).
"""
