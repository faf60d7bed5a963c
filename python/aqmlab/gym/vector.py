"""Many environments, which the engine steps in its threads."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from gymnasium.error import ResetNeeded
from gymnasium.utils import seeding
from gymnasium.vector import AutoresetMode, VectorEnv
from gymnasium.vector.utils import batch_space
from numpy.typing import NDArray

from aqmlab import _core
from aqmlab.execute.threads import cores
from aqmlab.gym.episodes import Episodes, Source, named
from aqmlab.gym.quantities import NAMES, OBSERVED, Reward, action_space, observation_space, probabilities, score
from aqmlab.scenario import Scenario, Settings

Step = tuple[NDArray[np.float32], NDArray[np.float64], NDArray[np.bool_], NDArray[np.bool_], dict[str, Any]]


class AqmVectorEnv(VectorEnv[NDArray[np.float32], NDArray[np.float32], NDArray[Any]]):
    """Many `AqmEnv` that are stepped together, in threads of the engine without the GIL.

    It returns bit for bit what a ``SyncVectorEnv`` of `AqmEnv` does. At the step after the end of its episode, an
    environment ignores its action and begins the next episode (``AutoresetMode.NEXT_STEP``).

    Parameters
    ----------
    num_envs : int
        The number of environments.
    scenario : str, PathLike, Scenario or sequence of these
        As for `AqmEnv`; each environment draws for itself.
    interval : float
        The control interval in seconds.
    mark : bool
        Mark ECN-capable packets instead of dropping them.
    settings : mapping, optional
        Values to change in each scenario.
    vary : mapping, optional
        Values that each episode draws, each environment for itself.
    reward : callable, optional
        As for `AqmEnv`, but it takes and returns arrays of shape (`num_envs`,).
    aqm : str, optional
        A queue discipline that decides in place of the agent.
    threads : int, optional
        The number of threads that advance the runs; by default that of the cores that the process may use.

    Raises
    ------
    ValueError
        If an argument is wrong; a ScenarioError if a scenario is.
    """

    metadata: dict[str, Any] = {  # noqa: RUF012 (as Gymnasium declares it)
        "render_modes": [],
        "autoreset_mode": AutoresetMode.NEXT_STEP,
    }

    def __init__(
        self,
        num_envs: int,
        scenario: Source | Sequence[Source] = "quickstart",
        *,
        interval: float = 0.015,
        mark: bool = False,
        settings: Settings | None = None,
        vary: Mapping[str, object] | None = None,
        reward: Reward = score,
        aqm: str | None = None,
        threads: int | None = None,
    ) -> None:
        for name, number in (("num_envs", num_envs), ("threads", cores() if threads is None else threads)):
            if number < 1:
                raise ValueError(f"{name} = {number}: must be at least 1")
        self.num_envs = num_envs
        self.single_observation_space, self.single_action_space = observation_space(), action_space()
        self.observation_space = batch_space(self.single_observation_space, num_envs)
        self.action_space = batch_space(self.single_action_space, num_envs)
        self._episodes = Episodes(scenario, interval, mark, settings, vary, aqm)
        self._reward = reward
        self._controls = _core.Controls(num_envs, interval, cores() if threads is None else threads)
        self._randoms = [seeding.np_random()[0] for _ in range(num_envs)]
        self._scenarios: list[Scenario] = []
        self._over: list[bool] = []
        self._all = np.ones(num_envs, np.bool_)

    @property
    def scenarios(self) -> list[Scenario]:
        """The scenarios of the present episodes, in the order of the environments; empty before the first reset."""
        return list(self._scenarios)

    def reset(
        self, *, seed: int | Sequence[int | None] | None = None, options: dict[str, Any] | None = None
    ) -> tuple[NDArray[np.float32], dict[str, Any]]:
        """Begin an episode in each environment.

        Parameters
        ----------
        seed : int or sequence of int, optional
            The seed of each environment, as for `AqmEnv`; a single number is that of the first, and the others follow.
        options : dict, optional
            ``{"scenarios": […]}`` has the scenario of each environment for this episode.

        Returns
        -------
        observations : numpy.ndarray, shape (n, 8)
            Zeros: nothing has happened yet.
        infos : dict
            The measurements, 0, and ``seed``, the seeds of the runs: arrays of shape (n,).
        """
        count = self.num_envs
        seeds = list(range(seed, seed + count)) if isinstance(seed, int) else list(seed or [None] * count)
        given = named(options, "scenarios") or [None] * count
        for name, sequence in (("seed", seeds), ("scenarios", given)):
            if len(sequence) != count:
                raise ValueError(f"{name} has {len(sequence)} entries: must have one for each of {count} environments")
        for place, one in enumerate(seeds):
            if one is not None:
                self._randoms[place] = seeding.np_random(one)[0]
        self._scenarios = [
            self._episodes.drawn(random) if source is None else self._episodes.prepared(source)
            for random, source in zip(self._randoms, given, strict=True)
        ]
        begun = [self._begin(place, one) for place, one in enumerate(seeds)]
        self._over = [False] * count
        infos = self._infos(np.zeros((count, len(NAMES))))
        infos |= {"seed": np.array(begun), "_seed": self._all.copy()}
        return np.zeros((count, len(OBSERVED)), np.float32), infos

    def _begin(self, place: int, seed: int | None) -> int:
        seed = self._episodes.seed(seed, self._randoms[place])
        self._controls.begin(place, self._scenarios[place]._core, seed, self._episodes.agent)
        return seed

    def _infos(self, measured: NDArray[np.float64]) -> dict[str, Any]:
        infos: dict[str, Any] = dict(zip(NAMES, measured.T, strict=True))
        return infos | {f"_{name}": self._all for name in NAMES}

    def step(self, actions: Any) -> Step:
        """Advance each run by one interval.

        Parameters
        ----------
        actions : array_like, shape (n, 1)
            The square roots of the probabilities.

        Returns
        -------
        observations : numpy.ndarray, shape (n, 8)
            What `OBSERVED` describes.
        rewards : numpy.ndarray, shape (n,)
            The rewards of the interval; 0 where an episode begins.
        terminations, truncations : numpy.ndarray, shape (n,)
            Whether episodes are over: none is terminated; it is truncated at the end of its run.
        infos : dict
            What `MEASURED` describes, in arrays of shape (n,), and the ``seed`` of an episode that begins.
        """
        if not self._over:
            raise ResetNeeded("no episode has begun: call reset() first")
        p = probabilities(actions, self.num_envs)
        resting = [place for place, over in enumerate(self._over) if over]
        seeds = {}
        for place in resting:
            self._scenarios[place] = self._episodes.drawn(self._randoms[place])
            seeds[place] = self._begin(place, None)
        measured, seen, self._over = self._controls.step(p, resting)
        infos = self._infos(np.frombuffer(measured).reshape(self.num_envs, -1))
        rewards = np.asarray(self._reward(infos), np.float64)
        if resting:
            rewards = rewards.copy()
            rewards[resting] = 0.0
            infos |= {"seed": np.zeros(self.num_envs, np.int64), "_seed": ~self._all}
            infos["seed"][resting], infos["_seed"][resting] = list(seeds.values()), True
        observations = np.frombuffer(seen, np.float32).reshape(self.num_envs, -1)
        return observations, rewards, np.zeros(self.num_envs, np.bool_), np.array(self._over), infos

    def results(self) -> list[dict[str, Any] | None]:
        """Return the results of the runs that are at their end, until the next step begins others.

        Returns
        -------
        list of dict
            The result document of each environment, as `AqmEnv.results` has it; None if its run is under way.
        """
        if not self._over:
            raise ResetNeeded("no episode has begun: call reset() first")
        return [json.loads(self._controls.results(place)) if over else None for place, over in enumerate(self._over)]
