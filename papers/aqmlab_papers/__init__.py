"""Papers: every figure, table and claim of a paper, from one description.

A paper is a folder of scenarios with a ``paper.py`` that describes experiments, figures, tables and claims in the
vocabulary of `aqmlab_papers.describe.paper`. ``aqmlab reproduce`` takes it by the name of its entry point in the group
``aqmlab.papers``, as the five papers of this package are, or by its path. All papers here have one layout:

``paper.py``
    ``PAPER``: title, source, summary, and the parts below put together.
``experiments.py``
    ``EXPERIMENTS``: the runs, their scenarios, disciplines and varied parameters.
``choices.py``
    ``CHOICES`` and ``VARIANTS``: our values of the parameters that the paper does not state, and other values.
``measures.py``
    Labels, printed numbers, and the quantities that figures and claims read from the runs.
``theory.py``
    The paper's model as far as figures and claims need it; absent in a paper without one.
``figures/``
    One module for each subject with its figures and tables; ``ITEMS`` lists them in the paper's order.
``claims/``
    One module for each subject with its claims and their judges; ``CLAIMS`` lists them in the paper's order. Modules of
    the same name in ``figures`` and ``claims`` have the same subject.
``*.toml``
    The scenarios; ``_*.toml`` are no scenarios, but what several of them extend.
"""

import lazy_loader

# `__init__.pyi` lists the names. Each is imported when first used: the commands need none of them.
__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
