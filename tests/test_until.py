"""Runs until intervals are narrow: the rule of the stages, its limits, and what is kept."""

import math
from collections.abc import Callable, Mapping
from pathlib import Path

import numpy as np
import pytest
from conftest import Cli
from intervals.cases import TCP, cases

import aqmlab
from aqmlab import Comparison, Interrupted, NotReached, Progress, Result, Run, RunFailed, Scenario, Summary, _core
from aqmlab.execute.progress import OnProgress
from aqmlab.execute.task import Task
from aqmlab.results.precision import conditions
from aqmlab.runs import until as rules
from aqmlab.runs import warmup
from aqmlab.runs.long_run import lengthened
from aqmlab.runs.stages import Until
from aqmlab.runs.until import Rule, reach

STEADY = Scenario.parse(TCP.format(duration=12, warmup=4)).with_({"record.series": True})
"""A scenario whose queue settles within its warm-up, which that of `small` does not."""

SMALL_RULE = Rule(conditions("queue_mean ±1"), least=20, most=1000, growth=(1.25, 2.0))


class Drawn:
    """Stages whose runs have a queue that is drawn; `amounts` notes each stage."""

    def __init__(self, scenario: Scenario, draw: Callable[[int], float | None]) -> None:
        self.scenario, self.draw = scenario, draw
        self.runs: dict[str, list[Run]] = {}
        self.amounts: list[dict[str, float]] = []

    def __call__(self, wanted: Mapping[str, float], progress: OnProgress) -> tuple[Comparison, BaseException | None]:
        self.amounts.append(dict(wanted))
        for label, amount in wanted.items():
            runs = self.runs.setdefault(label, [])
            for i in range(len(runs), int(amount)):
                runs.append(Run(i, {"queue_mean": self.draw(i)}, {}, {}, lanes={}, distributions={}, engine={}))
        progress(Progress(0.5, 0, 1))
        return Comparison({label: Result(self.scenario, runs, {}, "") for label, runs in self.runs.items()}), None


def spread(size: float) -> Callable[[int], float]:
    """Return values around 50 with this standard deviation, nearly."""
    return lambda i: 50.0 + size * (-1) ** i


# Half-widths: of 1.0, 0.48 after 20 runs. Of 2.11, 1.013 after 20, but a stage adds at least a quarter. Of 4.0, 1.92
# after 20, which asks for 74, but a stage at most doubles; 1.295 after 40, which asks for 68; 0.975 after 68.
@pytest.mark.parametrize(("size", "amounts"), [(1.0, [20]), (2.11, [20, 25]), (4.0, [20, 40, 68])])
def test_a_stage_is_as_large_as_the_interval_asks_for_within_bounds(
    small: Scenario, size: float, amounts: list[float]
) -> None:
    stage = Drawn(small, spread(size))
    results, error = reach(SMALL_RULE, ["a"], stage)
    assert error is None
    assert stage.amounts == [{"a": amount} for amount in amounts]
    if size == 1.0:
        assert results["a"]["queue_mean"].ci95 == pytest.approx(0.48, abs=0.01)


def test_each_label_stops_for_itself(small: Scenario) -> None:
    stage = Drawn(small, spread(4.0))
    stage.runs["b"] = [Run(0, {"queue_mean": 7.0}, {}, {}, lanes={}, distributions={}, engine={})] * 20
    results, _ = reach(SMALL_RULE, ["a", "b"], stage)
    assert stage.amounts == [{"a": 20, "b": 20}, {"a": 40}, {"a": 68}]
    assert [len(result.runs) for result in results.values()] == [20, 68]


def test_a_limit_that_cannot_be_met_ends_the_runs_at_once(small: Scenario) -> None:
    stage = Drawn(small, spread(200.0))  # about 150,000 runs
    results, error = reach(SMALL_RULE, ["a"], stage)
    assert isinstance(error, NotReached)
    assert stage.amounts == [{"a": 20}]
    assert len(results["a"].runs) == 20
    text = r"not reached with at most 1,000 seeds, after 20 seeds: queue_mean 50 ± 96\.03 packets \(asked: ±1\); "
    assert error.args[0].startswith(text.replace("\\", ""))
    assert error.args[0].endswith("about 210,000 seeds would do")
    assert error.needed == 210_000


def test_a_limit_that_may_be_met_is_tried(small: Scenario) -> None:
    stage = Drawn(small, spread(10.0))  # about 400 runs
    rule = Rule(SMALL_RULE.asked, least=20, most=300, growth=SMALL_RULE.growth)
    _, error = reach(rule, ["a"], stage)
    assert isinstance(error, NotReached)
    assert [int(amount["a"]) for amount in stage.amounts] == [20, 40, 80, 160, 300]


def test_a_metric_without_a_value_ends_the_runs(small: Scenario) -> None:
    stage = Drawn(small, lambda _: None)
    _, error = reach(SMALL_RULE, ["a"], stage)
    assert str(error) == "not reached: a: queue_mean has no value (asked: ±1)"
    assert stage.amounts == [{"a": 20}]


def test_a_mean_of_zero_has_no_relative_width(small: Scenario) -> None:
    rule = Rule(conditions("queue_mean ±1 %"), least=20, most=100, growth=(1.25, 2.0))
    stage = Drawn(small, lambda _: 0.0)
    _, error = reach(rule, ["a"], stage)
    assert [int(amount["a"]) for amount in stage.amounts] == [20, 40, 80, 100]
    assert "a mean of 0 has no width in %" in str(error)


def test_the_progress_never_falls_and_ends_at_one(small: Scenario) -> None:
    seen: list[float] = []
    reach(SMALL_RULE, ["a"], Drawn(small, spread(4.0)), lambda now: seen.append(now.fraction))
    assert seen == sorted(seen)
    assert seen[-1] == 1.0
    assert 0 < seen[0] < 0.5


def test_the_intervals_contain_the_true_mean_as_often_as_they_should(small: Scenario) -> None:
    # `make coverage` has the whole table. These draws are always the same, and 94 % of 300 is 282 +- 4.
    covered, count = 0, 300
    for number in range(count):
        rng = np.random.default_rng([9, number])
        stage = Drawn(small, lambda _, rng=rng: 50.0 + 3.0 * rng.standard_normal())  # type: ignore[misc]
        results, _ = reach(SMALL_RULE, ["a"], stage)
        summary = results["a"]["queue_mean"]
        assert summary.mean is not None
        assert summary.ci95 is not None
        assert summary.ci95 <= 1.0
        covered += abs(summary.mean - 50.0) <= summary.ci95
    assert 0.92 <= covered / count <= 0.98


@pytest.mark.parametrize("row", [2, 6])
def test_the_trials_of_the_table_are_those_of_the_rule(row: int) -> None:
    case = cases()[row]
    truth = case.truth()
    trials = [case.trial(number) for number in range(10)]
    assert sum(one.contains(truth) for one in trials) >= 7
    assert all(one.summary.mean == pytest.approx(truth, rel=0.15) for one in trials)


def test_runs_have_the_seeds_from_that_of_the_scenario_on(small: Scenario) -> None:
    result = aqmlab.run(small, until="queue_mean ±8 %", seeds=10)
    assert len(result.runs) > 10, "the first stage must not be enough"
    assert result.seeds == list(range(7, 7 + len(result.runs)))
    half, mean = result["queue_mean"].ci95, result["queue_mean"].mean
    assert half
    assert mean
    assert half <= 0.08 / 1.08 * mean
    plain = aqmlab.run(small, seeds=len(result.runs))
    assert [run.metrics for run in plain.runs] == [run.metrics for run in result.runs]
    assert len(result.series_of(16))
    with pytest.raises(LookupError, match="recorded no series"):  # only the first stage records them
        result.series_of(17)
    assert set(result.recordings) == set(result.seeds)


def test_a_comparison_goes_on_with_those_that_need_it(small: Scenario, simulated: list[Task]) -> None:
    results = aqmlab.compare(small, aqms=["droptail", "lred"], until="queue_mean ±8 %", seeds=10)
    counts = {label: len(result.runs) for label, result in results.items()}
    assert counts["lred"] > counts["droptail"] == 10
    assert len(simulated) == sum(counts.values())


def test_the_fluid_model_runs_once_beside_the_seeds(small: Scenario) -> None:
    small = small.with_({"traffic.long.tcp": "newreno"})
    results = aqmlab.compare(small, engines=["packet", "fluid"], until="goodput ±10 %", seeds=10)
    packet, fluid = (len(result.runs) for result in results.values())
    assert packet >= 10
    assert fluid == 1
    with pytest.raises(ValueError, match="until: the fluid engine has one run, without randomness"):
        aqmlab.run(small, engine="fluid", until="goodput ±10 %")


def test_one_long_run_has_intervals_by_batch_means(tmp_path: Path) -> None:
    result = aqmlab.run(STEADY, until="goodput ±2 %, queue_mean ±10 %", long_run=True)
    assert result.seeds == [1]
    assert result.scenario.duration > STEADY.duration
    summary = result["queue_mean"]
    assert summary.n == 40
    assert summary.mean == result.runs[0].metrics["queue_mean"]
    assert summary.ci95
    assert summary.ci95 <= 0.1 / 1.1 * result.metrics["queue_mean"]  # type: ignore[operator]
    alone = aqmlab.run(result.scenario)
    assert alone.runs[0].metrics == result.runs[0].metrics, "batches change no result"
    assert alone["queue_mean"].ci95 is None
    result.save(tmp_path)
    assert Result.load(tmp_path).batches == result.batches
    assert Result.load(tmp_path) == result


def test_a_batch_adds_up_to_the_metrics_of_the_run(small: Scenario) -> None:
    udp = '\n[[traffic]]\nname = "u"\nkind = "poisson"\nrate = "300 kbit/s"\n'
    web = '[[traffic]]\nname = "w"\nkind = "short"\narrival_rate = "5 /s"\nsize = "10 kB"\n'
    mixed = Scenario.parse(small.to_toml() + udp + web)
    simulation = _core.Simulation(mixed._core, 3)
    simulation.advance(mixed.warmup)
    before = simulation.delivered()
    simulation.advance(mixed.duration)
    after = simulation.delivered()
    assert before is not None
    assert after is not None
    goodput = aqmlab.run(mixed, seeds=[3]).metrics["goodput"]
    assert 8 * (after - before) / (mixed.duration - mixed.warmup) == pytest.approx(goodput)


def test_a_run_whose_batches_stay_correlated_grows_to_its_limit(small: Scenario) -> None:
    amounts = []

    def stage(wanted: Mapping[str, float], _: object) -> tuple[Comparison, None]:
        amounts.append(wanted["a"])
        run = Run(7, {"queue_mean": 50.0}, {}, {}, lanes={}, distributions={}, engine={})
        correlated = {"queue_mean": Summary(50.0, None, None, 40)}
        return Comparison({"a": Result(small, [run], {}, "", batches=correlated)}), None

    _, error = reach(Rule(conditions("queue_mean ±1"), 1, 5, (1.5, 4.0), long=True), ["a"], stage)
    assert amounts == [1, 2, 4, 5]
    assert "batches that are correlated have no interval: is the warm-up too short?" in str(error)


def test_a_longer_run_has_the_same_warm_up(small: Scenario) -> None:
    longer = lengthened(small, 2.5)
    assert (longer.warmup, longer.duration) == (1.0, 11.0)
    assert lengthened(small, 1) == small


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"until": "godput ±1 %"}, r"until = 'godput ±1 %': godput: there is no such metric"),
        ({"until": "goodput ±1 %", "seeds": 9}, "seeds = 9: with until it must be at least 10"),
        ({"until": "goodput ±1 %", "seeds": [1, 2]}, "not a list of seeds"),
        ({"until": "goodput ±1 %", "most_seeds": 19}, r"most_seeds = 19: must be in \[20, 100000\]"),
        ({"until": "goodput ±1 %", "within": "1 Mbit/s"}, "within = '1 Mbit/s': must be a time above 0"),
        ({"until": "goodput ±1 %", "within": 0}, "within = 0: must be a time above 0"),
        ({"until": "classes.none.goodput ±1 %"}, r"there is no such \[\[traffic\]\]; known: long"),
        ({"until": "links.none.utilisation ±1 %"}, r"there is no links\.none; known: links\.bottleneck"),
        ({"until": "jain ±1 %", "long_run": True}, "jain: one long run has intervals of queue_mean, "),
        ({"until": "goodput ±1 %", "long_run": True, "seeds": 20}, "a long run has one seed"),
        ({"most_seeds": 100}, "most_seeds = 100: applies only with until"),
        ({"within": "2 min"}, "within = '2 min': applies only with until"),
        ({"long_run": True}, "long_run = True: applies only with until"),
        ({"warmup": "2 s"}, "warmup = '2 s': must be 'auto'"),
    ],
)
def test_arguments_that_do_not_fit_are_refused(small: Scenario, arguments: dict[str, object], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        aqmlab.run(small, **arguments)  # type: ignore[arg-type]


@pytest.fixture
def late(monkeypatch: pytest.MonkeyPatch) -> Callable[[], None]:
    """Return a function after whose call the time is over."""
    now = [0.0]
    monkeypatch.setattr(rules.time, "monotonic", lambda: now[0])

    def pass_() -> None:
        now[0] = 1e6

    return pass_


def test_the_time_ends_the_runs_and_keeps_the_finished_ones(
    small: Scenario, simulated: list[Task], late: Callable[[], None]
) -> None:
    def progress(_: Progress) -> None:
        if len(simulated) > 12:
            late()

    with pytest.raises(NotReached, match=r"not reached in 3600 s, after \d+ seeds: .* would do, in ") as stopped:
        aqmlab.run(small, until="queue_mean ±0.5 %", seeds=10, within="1 h", progress=progress, most_seeds=100_000)
    assert stopped.value.seconds
    assert len(stopped.value.finished["lred"].runs) >= 12
    assert stopped.value.finished["lred"].seeds[:12] == list(range(7, 19))


def test_an_interrupt_keeps_the_runs_of_all_stages(small: Scenario, simulated: list[Task]) -> None:
    def progress(_: Progress) -> None:
        if len(simulated) > 12:
            raise KeyboardInterrupt

    with pytest.raises(Interrupted, match=r"\d+ of 20 runs finished") as stopped:
        aqmlab.run(small, until="queue_mean ±0.5 %", seeds=10, jobs=1, progress=progress, most_seeds=100_000)
    assert stopped.value.finished["lred"].seeds[:12] == list(range(7, 19))


def test_a_failed_run_keeps_the_runs_of_all_stages(small: Scenario, monkeypatch: pytest.MonkeyPatch) -> None:
    from aqmlab.execute import threads
    from aqmlab.execute.task import Outcome

    real = threads.simulate

    def failing(task: Task, watch: Callable[[float], bool] | None = None) -> Outcome | None:
        return Outcome(error="out of luck") if task.seed == 20 else real(task, watch)

    monkeypatch.setattr(threads, "simulate", failing)
    with pytest.raises(RunFailed, match="lred, seed 20: out of luck") as failed:
        aqmlab.run(small, until="queue_mean ±0.5 %", seeds=10, most_seeds=100_000)
    assert failed.value.finished["lred"].seeds[:13] == list(range(7, 20))


FILLING = Scenario.parse(
    """
duration = "40 s"
[dumbbell]
rate = "1 Mbit/s"
buffer = "100 packets"
[[traffic]]
name = "late"
kind = "poisson"
rate = "2 Mbit/s"
packet_size = "500 B"
start = "3 s"
"""
)
"""A queue that is empty for 3 s, full after about 0.4 s more, and full from then on."""


def test_the_warm_up_is_found_in_the_series() -> None:
    result = aqmlab.run(FILLING, warmup="auto")
    assert 3.0 < result.scenario.warmup < 4.0
    assert result.scenario == FILLING.with_(warmup=f"{result.scenario.warmup:.9f} s")
    assert result.metrics["queue_mean"] == pytest.approx(99, abs=1)


def test_a_warm_up_that_is_replaced_may_be_longer_than_the_run() -> None:
    found = aqmlab.run(FILLING.with_(warmup="1 h"), warmup="auto")
    assert found.scenario == aqmlab.run(FILLING, warmup="auto").scenario


def test_disciplines_have_the_warm_up_of_the_slowest(small: Scenario, monkeypatch: pytest.MonkeyPatch) -> None:
    ends = {"lred": 2.0, "droptail": 2.5}
    monkeypatch.setattr(warmup, "warmups", lambda result: {"queue": ends[result.scenario.aqm]})
    together = aqmlab.compare(small, aqms=list(ends), warmup="auto")
    assert [result.scenario.warmup for result in together.values()] == [2.5, 2.5]


def test_a_run_that_does_not_settle_is_refused(small: Scenario) -> None:
    late = small.with_({"traffic.long.start": "4 s"})
    with pytest.raises(aqmlab.NotSettled, match=r"does not settle in the first half, 2\.5 s; set a longer duration"):
        aqmlab.run(late, warmup="auto")
    # Longer pilot runs tell when it does.
    with pytest.raises(aqmlab.NotSettled, match=r"in the first half, 2\.5 s, but by 3\.\d+ s; set a longer duration"):
        aqmlab.run(FILLING.with_(duration="5 s"), warmup="auto")


def test_the_command_says_what_was_reached(small_file: Path, quick_cli: Cli) -> None:
    done = quick_cli("run", small_file, "--until", "goodput +-30 %, queue_mean ±10 packets", "--seeds", "10")
    assert done.returncode == 0
    assert "reached with 10 seeds: goodput " in done.stdout
    assert "(asked: ±30 %); queue_mean" in done.stdout
    small_file.write_text(STEADY.to_toml(), encoding="utf-8")
    done = quick_cli("run", small_file, "--until", "goodput ±5 %", "--long-run", "--json")
    assert done.returncode == 0
    assert '"batches"' in done.stdout
    assert "reached with a run of " in done.stderr


def test_the_command_exits_4_with_the_remedy_and_keeps_the_runs(
    small_file: Path, quick_cli: Cli, tmp_path: Path
) -> None:
    done = quick_cli("run", small_file, "--until", "goodput ±0.01 %", "--seeds", "10", "--out", tmp_path / "out")
    assert done.returncode == 4
    assert "Small (seeds 7, 8" in done.stdout
    (line,) = done.stderr.splitlines()
    assert line.startswith("not reached with at most 1,000 seeds, after 10 seeds: goodput ")
    assert "seeds would do" in line
    assert len(Result.load(tmp_path / "out").runs) == 10


def test_the_command_names_the_option_that_would_do(small_file: Path, quick_cli: Cli) -> None:
    done = quick_cli("run", small_file, "--until", "queue_mean ±8 %", "--seeds", "10", "--most-seeds", "10")
    assert done.returncode == 4
    needed = int(done.stderr.partition("(--most-seeds ")[2].partition(")")[0])
    assert quick_cli("run", small_file, "--until", "queue_mean ±8 %", "--most-seeds", str(needed)).returncode == 0


def test_a_scenario_without_randomness_is_pointed_out(quick_cli: Cli) -> None:
    done = quick_cli("run", "quickstart", "--until", "goodput ±1 %", "--seeds", "10")
    assert done.returncode == 0
    assert "all seeds have the same value" in done.stdout


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--until", "goodput"], "Invalid value for --until"),
        (["--most-seeds", "9"], "Invalid value for --most-seeds: applies only with --until"),
        (["--until", "goodput ±1 %", "--within", "soon"], "must be a time above 0, such as '2 min'"),
        (["--until", "links.x.goodput ±1 %", "--seeds", "10"], "Invalid value for --until: links.x.goodput"),
        (["--until", "goodput ±1 %", "--engine", "fluid"], "Invalid value for --until: the fluid engine has one run"),
        (["--until", "goodput ±1 %", "--long-run", "--engine", "linux"], "Invalid value for --long-run"),
        (["--warmup", "2 s"], "2 s: must be auto; set a time with --set warmup='2 s'"),
        (["--warmup", "auto", "--set", "traffic.long.start=4 s"], "Invalid value for --warmup: warmup = 'auto'"),
        (["--warmup", "auto", "--set", "warmup=1 s"], "warmup=1 s: --warmup sets it too: omit one of them"),
        (["--seed", "0", "--set", "seed=2"], "seed=2: --seed sets it too: omit one of them"),
        (["--flows", "--set", "record.flows=false"], "record.flows=false: --flows sets it too: omit one of them"),
    ],
)
def test_options_that_do_not_fit_are_refused(
    small_file: Path, quick_cli: Cli, options: list[str], message: str
) -> None:
    done = quick_cli("run", small_file, *options)
    assert done.returncode == 2
    assert message in done.stderr


def test_a_rule_rounds_what_would_do_up() -> None:
    asked = Until.of("goodput ±1 %")
    assert asked
    assert (asked.rule.least, asked.rule.most, asked.rule.growth) == (20, 1000, (1.25, 2.0))
    assert math.isinf(Until.of("goodput ±1 %", within="1 h").within or math.inf) is False  # type: ignore[union-attr]
