"""The end of the warm-up in a series: the marginal standard error rule, MSER-5.

# Sources
White, "An effective truncation heuristic for bias reduction in simulation output", Simulation 69(6), 1997; White,
Cobb and Spratt, "A comparison of five steady-state truncation heuristics for simulation", Winter Simulation
Conference, 2000.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

    import numpy as np
    from numpy.typing import NDArray

BATCH = 5
"""The values in a batch: the 5 of MSER-5."""

_LEFT = 5
"""The least number of batches that are left: fewer may be alike at random."""


def mser5(series: Sequence[float] | NDArray[np.float64]) -> int | None:
    """Return the number of values at the start of a series that belong to its warm-up, a multiple of `BATCH`.

    Of the batches' means Y_1 … Y_n the first d are cut, where d minimises the squared standard error of the mean of
    the others, sum (Y_i - mean)^2 / (n - d)^2. None if that is more than half of them: the series is then too short to
    tell (White et al., 2000), as is one of fewer than ten batches.
    """
    import numpy as np

    values = np.asarray(series, float)
    batches = len(values) // BATCH
    if batches < 2 * _LEFT:
        return None
    means = values[: batches * BATCH].reshape(batches, BATCH).mean(axis=1)
    means = means - means.mean()  # a large mean would cancel the digits of the variance
    left = np.arange(batches, 0, -1)
    sums, squares = (np.cumsum(one[::-1])[::-1] for one in (means, means**2))
    errors = (np.maximum(squares - sums**2 / left, 0.0) / left**2)[: batches - _LEFT + 1]
    # Rounding may make one of equal errors the smallest: of a constant series nothing is cut.
    cut = int(np.argmax(errors <= errors.min() + 1e-12 * errors[0]))
    return cut * BATCH if cut <= batches // 2 else None
