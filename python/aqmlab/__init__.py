"""A laboratory for Active Queue Management.

>>> import aqmlab
>>> scenario = aqmlab.Scenario.load("lred/exp1").with_(duration="20 s", warmup="2 s")
>>> result = aqmlab.run(scenario, seeds=3)                              # doctest: +SKIP
>>> result["queue_mean"].mean, result.series                            # doctest: +SKIP
>>> aqmlab.compare(scenario, aqms=["lred", "pi:q_ref=100"]).plot()      # doctest: +SKIP

Quantities are in seconds, bit/s, bytes, packets and fractions.
"""

import lazy_loader

# `__init__.pyi` lists the names. Each is imported when first used: the command line starts in a tenth of a second.
__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
