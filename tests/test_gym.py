"""The environments: Gymnasium's contract, determinism, what an action does, and what a wrong argument is told."""

import os
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import gymnasium
import numpy as np
import pytest
from conftest import ROOT, SMALL
from gymnasium.error import ResetNeeded
from gymnasium.utils.env_checker import check_env
from gymnasium.vector import AsyncVectorEnv, SyncVectorEnv

import aqmlab
from aqmlab.gym import MEASURED, OBSERVED, AqmEnv, AqmVectorEnv, score

SCENARIO = aqmlab.Scenario.parse(SMALL).with_(aqm="droptail")
SHORT = {"duration": "1.2 s", "warmup": "0 s"}
VARY = {"dumbbell.rate": "log(1 Mbit/s, 8 Mbit/s)", "traffic.long.count": "uniform(2, 9)"}

Episode = list[tuple[Any, ...]]


def episode(env: AqmEnv, seed: int, actions: Iterator[float] | None = None) -> Episode:
    """Play an episode with random actions, or the given ones; return everything that the environment returns."""
    random = np.random.default_rng(seed)
    steps: Episode = [env.reset(seed=seed)]
    over = False
    while not over:
        steps.append(env.step([next(actions) if actions else random.random() * 0.4]))
        over = steps[-1][3]
    return steps


def total(steps: Episode, name: str) -> float:
    return sum(step[-1][name] for step in steps)


def constant(action: float) -> Iterator[float]:
    while True:
        yield action


def test_it_keeps_the_contract_of_gymnasium() -> None:
    env = gymnasium.make("aqmlab/Aqm-v0", scenario=SCENARIO, settings=SHORT, vary=VARY)
    check_env(env.unwrapped)  # its warnings are errors here
    check_env(gymnasium.make("aqmlab/Aqm-v0").unwrapped)


def test_observations_are_in_their_space_and_info_has_every_measurement() -> None:
    env = AqmEnv(SCENARIO)
    for observation, *_, info in episode(env, 1):
        assert observation.dtype == np.float32
        assert env.observation_space.contains(observation)
        assert [*info][: len(MEASURED)] == [quantity.name for quantity in MEASURED]
    assert env.observation_space.shape == (len(OBSERVED),)


def test_the_guide_describes_the_observation_as_the_engine_does() -> None:
    page = (ROOT / "docs/guide/learning.md").read_text(encoding="utf-8").replace("\N{MINUS SIGN}", "-")
    rows = re.findall(r"^\| `(\w+)` \| (-?\d+) to (\d+) \| ?(.*?) ?\|", page, re.MULTILINE)
    assert rows == [(one.name, f"{one.low:g}", f"{one.high:g}", one.unit) for one in OBSERVED]


def test_equal_actions_give_equal_bits() -> None:
    first, second = (repr(episode(AqmEnv(SCENARIO, vary=VARY), 5)) for _ in range(2))
    assert first == second
    assert first != repr(episode(AqmEnv(SCENARIO, vary=VARY), 6))


def test_without_drops_it_is_drop_tail() -> None:
    env = AqmEnv(SCENARIO)
    steps = episode(env, 3, constant(0.0))
    run = aqmlab.run(SCENARIO, seeds=[3]).runs[0]
    assert env.results()["metrics"] == run.metrics
    assert total(steps, "drops_overflow") > total(steps, "drops_early") == 0


def test_packets_are_conserved() -> None:
    queue = 0.0
    for *_, info in episode(AqmEnv(SCENARIO), 4)[1:]:
        queue += info["arrivals"] - info["departures"] - info["drops_early"] - info["drops_overflow"]
        assert queue == info["queue"]


def test_it_marks_where_packets_are_ecn_capable() -> None:
    ecn = SCENARIO.with_({"traffic.long.tcp": "rfc5681:ecn=true"})
    marked = episode(AqmEnv(ecn, mark=True), 2, constant(0.3))
    dropped = episode(AqmEnv(ecn), 2, constant(0.3))
    assert total(marked, "marks") > 10 > total(dropped, "marks") == 0
    assert total(marked, "drops_early") < total(dropped, "drops_early")


def test_the_action_is_the_root_of_the_probability() -> None:
    steps = episode(AqmEnv(SCENARIO), 2, constant(0.3))
    ratio = total(steps, "drops_early") / total(steps, "arrivals")
    assert abs(ratio - 0.09) < 4 * (0.09 * 0.91 / total(steps, "arrivals")) ** 0.5
    assert {float(step[0][-1]) for step in steps[1:]} == {float(np.float32(0.3))}


def test_a_discipline_in_place_of_the_agent_is_the_discipline_itself() -> None:
    env = AqmEnv(SCENARIO, aqm="pie:target=5ms")
    steps = episode(env, 3)
    run = aqmlab.run(SCENARIO.with_(aqm="pie:target=5ms"), seeds=[3]).runs[0]
    assert env.results()["metrics"] == run.metrics
    assert total(steps, "drops_early") > 0
    assert total(steps, "p") == 0


def test_a_seed_is_the_seed_of_the_run_and_without_one_it_is_drawn() -> None:
    env = AqmEnv(SCENARIO, settings=SHORT)
    assert env.reset(seed=11)[1]["seed"] == 11
    drawn = [env.reset()[1]["seed"] for _ in range(3)]
    assert len(set(drawn)) == 3
    env.reset(seed=11)
    assert [env.reset()[1]["seed"] for _ in range(3)] == drawn


def test_an_episode_is_truncated_at_the_end_of_its_run() -> None:
    env = AqmEnv(SCENARIO, settings={"duration": "2 s"}, interval=0.6)
    steps = episode(env, 1)[1:]
    assert [step[-1]["time"] for step in steps] == [0.6, 1.2, 1.8, 2.0]
    assert [step[2:4] for step in steps] == [(False, False)] * 3 + [(False, True)]
    with pytest.raises(ResetNeeded, match="this episode is over: call reset"):
        env.step([0.1])


def test_episodes_draw_what_varies_and_an_option_sets_the_scenario() -> None:
    env = AqmEnv(SCENARIO, settings=SHORT, vary=VARY)
    rates = set()
    for seed in range(4):
        env.reset(seed=seed)
        assert env.scenario is not None
        resolved = env.scenario.resolved
        assert 2 <= resolved["traffic"][0]["count"] <= 9
        rates.add(resolved["dumbbell"]["rate"])
    assert len(rates) == 4
    env.reset(options={"scenario": "quickstart"})
    assert env.scenario.title == "Quick start"
    assert env.scenario.duration == 1.2
    several = AqmEnv(["quickstart", SCENARIO], settings=SHORT)
    titles = {several.reset(seed=seed) and several.scenario and several.scenario.title for seed in range(8)}
    assert titles == {"Quick start", "Small"}


def test_the_reward_is_the_score_or_the_users_own() -> None:
    for *_, info in (steps := episode(AqmEnv(SCENARIO), 1)[1:]):
        assert score(info) == info["utilisation"] - 10 * info["delay"]
    assert [step[1] for step in steps] == [score(step[-1]) for step in steps]
    own = episode(AqmEnv(SCENARIO, settings=SHORT, reward=lambda measured: -measured["queue"]), 1)[1:]
    assert [step[1] for step in own] == [-step[-1]["queue"] for step in own]


def as_bits(returned: tuple[Any, ...]) -> str:
    """Return everything that a vector environment returns as text, with its infos in an order of their own."""
    *arrays, infos = returned
    info = {key: np.asarray(infos[key], np.float64).tolist() for key in sorted(infos)}
    return repr([array.tolist() for array in arrays]) + repr(info)


@pytest.mark.parametrize("threads", [1, 3])
def test_the_vector_environment_equals_single_ones_bit_for_bit(threads: int) -> None:
    options: dict[str, Any] = {"settings": SHORT, "vary": VARY, "interval": 0.02, "reward": lambda now: now["p"] + 1}
    single = SyncVectorEnv([lambda: AqmEnv(SCENARIO, **options)] * 5)
    vector = AqmVectorEnv(5, SCENARIO, threads=threads, **options)
    assert as_bits(single.reset(seed=3)) == as_bits(vector.reset(seed=3))
    random = np.random.default_rng(1)
    for _ in range(140):  # two episodes, and resets between them
        actions = random.random((5, 1), np.float32) * np.float32(0.4)
        assert as_bits(single.step(actions)) == as_bits(vector.step(actions))
    assert single.observation_space == vector.observation_space
    assert single.action_space == vector.action_space


def test_it_works_in_the_processes_of_gymnasium() -> None:
    single = AsyncVectorEnv([lambda: AqmEnv("quickstart", settings=SHORT)] * 2, context="spawn")
    vector = gymnasium.make_vec("aqmlab/Aqm-v0", 2, "vector_entry_point", settings=SHORT)
    try:
        assert as_bits(single.reset(seed=3)) == as_bits(vector.reset(seed=3))
        actions = np.full((2, 1), 0.1, np.float32)
        for _ in range(3):
            assert as_bits(single.step(actions)) == as_bits(vector.step(actions))
    finally:
        single.close()


def test_runs_of_a_vector_may_have_scenarios_and_disciplines_of_their_own() -> None:
    vector = AqmVectorEnv(2, SCENARIO, settings=SHORT, aqm="pie", interval=1.2)
    vector.reset(seed=[1, 9], options={"scenarios": ["quickstart", SCENARIO]})
    assert vector.results() == [None, None]
    *_, truncated, _ = vector.step(np.zeros((2, 1)))
    assert truncated.all()
    found = [result and result["metrics"] for result in vector.results()]
    scenarios = [aqmlab.Scenario.load("quickstart"), SCENARIO]
    runs = [
        aqmlab.run(one.with_(SHORT).with_(aqm="pie"), seeds=[seed]).runs[0]
        for one, seed in zip(scenarios, (1, 9), strict=True)
    ]
    assert found == [run.metrics for run in runs]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"interval": 0.0}, r"interval = 0: must be above 0 and at most the duration of the scenario, 5 s"),
        ({"interval": float("nan")}, r"interval = nan: must be above 0"),
        ({"interval": 6.0}, r"interval = 6: must be above 0 and at most the duration of the scenario, 5 s"),
        ({"scenario": "no/such"}, r"no/such"),
        ({"scenario": []}, r"scenario = \[\]: must have at least one"),
        ({"settings": {"dumbbell.rat": 1}}, r'dumbbell.rat: unknown key; did you mean "rate"'),
        ({"vary": {"dumbbell.rate": "uniform(5)"}}, r"dumbbell.rate"),
        ({"vary": {"seed": "uniform(1, 5)"}}, r"seed is the same at all points"),
        ({"vary": {"dumbbell.nothing": [1, 2]}}, r"dumbbell.nothing: unknown key"),
        ({"aqm": "pye"}, r"pye.*did you mean"),
        ({"render_mode": "human"}, r"render_mode = 'human': must be None"),
    ],
)
def test_wrong_arguments_are_refused(arguments: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        AqmEnv(**({"scenario": SCENARIO} | arguments))


@pytest.mark.parametrize("action", [float("nan"), -0.01, 1.01, float("inf")])
def test_actions_outside_the_range_are_refused(action: float) -> None:
    env = AqmEnv(SCENARIO)
    env.reset(seed=1)
    with pytest.raises(ValueError, match=r"action = .*: must be in \[0, 1\]; the probability is its square"):
        env.step([action])
    vector = AqmVectorEnv(2, SCENARIO)
    vector.reset(seed=1)
    with pytest.raises(ValueError, match=r"actions\[1\] = .*: must be in \[0, 1\]"):
        vector.step([[0.1], [action]])


def test_wrong_calls_are_refused() -> None:
    env, vector = AqmEnv(SCENARIO), AqmVectorEnv(2, SCENARIO)
    for one, actions in ((env, [0.1]), (vector, [0.1, 0.1])):
        with pytest.raises(ResetNeeded, match="no episode has begun: call reset"):
            one.step(actions)
        with pytest.raises(ResetNeeded):
            one.results()
        with pytest.raises(ValueError, match="options has scenery: must have only scenario"):
            one.reset(options={"scenery": 1})
        one.reset(seed=1)
        with pytest.raises(ValueError, match="shape"):
            one.step([0.1, 0.1, 0.1])
    with pytest.raises(ValueError, match="seed has 3 entries: must have one for each of 2"):
        vector.reset(seed=[1, 2, 3])
    with pytest.raises(ValueError, match="num_envs = 0: must be at least 1"):
        AqmVectorEnv(0)
    with pytest.raises(ValueError, match="threads = 0: must be at least 1"):
        AqmVectorEnv(1, threads=0)


def test_the_example_trains_reports_and_draws(tmp_path: Path) -> None:
    command = [sys.executable, str(ROOT / "examples" / "train.py"), "--quick", "--out", str(tmp_path / "out")]
    done = subprocess.run(command, capture_output=True, text=True, check=False, env={**os.environ, "MPLBACKEND": "Agg"})
    assert done.returncode == 0, done.stdout + done.stderr
    assert {file.name for file in (tmp_path / "out").iterdir()} == {"learning.png", "unseen.png", "policy.json"}
    assert "paired" in done.stdout
