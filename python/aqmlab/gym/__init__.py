"""Environments in which an agent sets the drop or mark probability of a queue, for Gymnasium.

`AqmEnv` is one environment, registered as ``aqmlab/Aqm-v0``; `AqmVectorEnv` steps many in the threads of the engine.
Both need gymnasium: ``pip install 'aqmlab[gym]'``.
"""

try:
    import gymnasium
except ModuleNotFoundError as error:
    raise ModuleNotFoundError(
        f"aqmlab.gym needs {error.name}: pip install 'aqmlab[gym]'", name=error.name, path=error.path
    ) from error

from aqmlab.gym.environment import AqmEnv
from aqmlab.gym.quantities import MEASURED, OBSERVED, Quantity, score
from aqmlab.gym.vector import AqmVectorEnv

__all__ = ["MEASURED", "OBSERVED", "AqmEnv", "AqmVectorEnv", "Quantity", "score"]

ID = "aqmlab/Aqm-v0"
"""The name of `AqmEnv` for ``gymnasium.make``, and of `AqmVectorEnv` for ``gymnasium.make_vec``."""

if ID not in gymnasium.registry:
    gymnasium.register(ID, "aqmlab.gym:AqmEnv", vector_entry_point="aqmlab.gym:AqmVectorEnv")
