"""One environment: an agent that sets the drop or mark probability of a queue."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

import gymnasium
import numpy as np
from gymnasium.error import ResetNeeded
from numpy.typing import NDArray

from aqmlab import _core
from aqmlab.gym.episodes import Episodes, Source, named
from aqmlab.gym.quantities import NAMES, OBSERVED, Reward, action_space, observation_space, probability, score
from aqmlab.scenario import Scenario, Settings


class AqmEnv(gymnasium.Env[NDArray[np.float32], NDArray[np.float32]]):
    """An agent sets the drop or mark probability of the observed queue of a scenario, once in each interval.

    An action is a number in [0, 1], of shape (1,). Its square is the probability with which each packet that comes to
    the queue in the interval is dropped or marked. So the small probabilities that matter have a good part of the
    range, and the rate of a Reno flow, which goes with one over the root of the probability, goes with one over the
    action (as in PI2). A packet that finds the buffer full is dropped in any case.

    An observation has shape (8,); `OBSERVED` describes it. ``info`` has the measurements of the interval, which
    `MEASURED` describes, and after a reset the ``seed`` of the run. An episode is a run of the scenario from its start,
    empty and without flows; it is truncated at its end. The same scenario, seed and actions give the same bits.

    Parameters
    ----------
    scenario : str, PathLike, Scenario or sequence of these
        A scenario, as the name of a shipped one, a file or an object; of several, each episode draws one.
    interval : float
        The control interval in seconds; by default 15 ms, the update interval of PIE (RFC 8033).
    mark : bool
        Mark ECN-capable packets instead of dropping them; others are dropped.
    settings : mapping, optional
        Values to change in each scenario, as for `Scenario.with_`.
    vary : mapping, optional
        Values that each episode draws, by dotted path, written as for a sweep that draws its points:
        ``{"dumbbell.rate": "log(5 Mbit/s, 50 Mbit/s)", "traffic.flows.count": "uniform(2, 20)"}``, or a list.
    reward : callable, optional
        Takes the measurements of an interval by name and returns the reward; by default `score`.
    aqm : str, optional
        A queue discipline, ``pie`` or ``pie:target=5ms``, that decides in place of the agent. It is measured as the
        agent is; actions have no effect.
    render_mode : None
        There is nothing to render.

    Raises
    ------
    ValueError
        If an argument is wrong; a ScenarioError if a scenario is.

    Examples
    --------
    >>> env = AqmEnv("quickstart", settings={"duration": "1 s", "warmup": "0 s"})
    >>> observation, info = env.reset(seed=1)
    >>> observation, reward, terminated, truncated, info = env.step([0.1])
    >>> f"{info['time']} s, p = {info['p']:.2f}"
    '0.015 s, p = 0.01'
    """

    metadata: dict[str, Any] = {"render_modes": []}  # noqa: RUF012 (as Gymnasium declares it)

    def __init__(
        self,
        scenario: Source | Sequence[Source] = "quickstart",
        *,
        interval: float = 0.015,
        mark: bool = False,
        settings: Settings | None = None,
        vary: Mapping[str, object] | None = None,
        reward: Reward = score,
        aqm: str | None = None,
        render_mode: None = None,
    ) -> None:
        if render_mode is not None:
            raise ValueError(f"render_mode = {render_mode!r}: must be None; there is nothing to render")
        self.render_mode = render_mode
        self.observation_space = observation_space()
        self.action_space = action_space()
        self._episodes = Episodes(scenario, interval, mark, settings, vary, aqm)
        self._reward = reward
        self._controls = _core.Controls(1, interval, 1)
        self._scenario: Scenario | None = None
        self._over = True

    @property
    def scenario(self) -> Scenario | None:
        """The scenario of this episode, with the values that were drawn; None before the first."""
        return self._scenario

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[NDArray[np.float32], dict[str, Any]]:
        """Begin an episode.

        Parameters
        ----------
        seed : int, optional
            The seed of the run and, from now on, of what episodes draw. Without it, the seed of the run is drawn.
        options : dict, optional
            ``{"scenario": …}`` is the scenario of this episode; nothing is drawn then.

        Returns
        -------
        observation : numpy.ndarray, shape (8,)
            Zeros: nothing has happened yet.
        info : dict
            The measurements, 0, and ``seed``, the seed of the run.
        """
        super().reset(seed=seed)
        given = named(options, "scenario")
        scenario = self._episodes.drawn(self.np_random) if given is None else self._episodes.prepared(given)
        seed = self._episodes.seed(seed, self.np_random)
        self._controls.begin(0, scenario._core, seed, self._episodes.agent)
        self._scenario, self._over = scenario, False
        return np.zeros(len(OBSERVED), np.float32), {**dict.fromkeys(NAMES, 0.0), "seed": seed}

    def step(self, action: Any) -> tuple[NDArray[np.float32], float, bool, bool, dict[str, Any]]:
        """Advance the run by one interval, with the probability that an action sets.

        Parameters
        ----------
        action : array_like, shape (1,)
            The square root of the probability.

        Returns
        -------
        observation : numpy.ndarray, shape (8,)
            What `OBSERVED` describes.
        reward : float
            The reward of the interval.
        terminated : bool
            False: nothing but its duration ends an episode.
        truncated : bool
            Whether the run is at its end.
        info : dict
            What `MEASURED` describes.
        """
        if self._over:
            which = "no episode has begun" if self._scenario is None else "this episode is over"
            raise ResetNeeded(f"{which}: call reset() first")
        measured, seen, over = self._controls.step([probability(action)], [])
        self._over = over[0]
        info = dict(zip(NAMES, np.frombuffer(measured).tolist(), strict=True))
        return np.frombuffer(seen, np.float32), float(self._reward(info)), False, self._over, info

    def results(self) -> dict[str, Any]:
        """Return the results of a run that is at its end.

        Returns
        -------
        dict
            The result document of the engine; its metrics are those of ``aqmlab run``, without the warm-up.
        """
        if self._scenario is None or not self._over:
            raise ResetNeeded("there are results only at the end of an episode")
        results: dict[str, Any] = json.loads(self._controls.results(0))
        return results
