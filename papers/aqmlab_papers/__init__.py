"""Papers: every figure, table and claim of a paper, from one description.

A paper is a folder of scenarios with a ``paper.py`` that describes experiments, figures, tables and claims in the
vocabulary of `aqmlab_papers.describe.paper`. ``aqmlab reproduce`` takes it by the name of its entry point in the group
``aqmlab.papers``, as those of this package are, or by its path. CONTRIBUTING.md shows how to write one, and
what each file of those here has.
"""

import lazy_loader

# `__init__.pyi` lists the names. Each is imported when first used: the commands need none of them.
__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
