"""The fluid model of a scenario: against the reference integrator and the packet engine, and its command."""

import json
from pathlib import Path

import numpy as np
import pytest
from conftest import Cli
from matplotlib.figure import Figure
from numpy.typing import NDArray
from oracle import dde

import aqmlab
from aqmlab import Comparison, Progress, Result, Scenario, ScenarioError, _core
from aqmlab.figures import matplotlib, runs

Array = NDArray[np.float64]


def scenario(aqm: str = "lred:q0=100") -> Scenario:
    return Scenario.load("load-step").with_(aqm=aqm)


def seconds(result: Result, quantity: str) -> Array:
    """Return the mean of each second of each run, shape (runs, seconds)."""
    count = round(result.scenario.duration)
    series = [result.series_of(seed)[f"{result.link}.{quantity}.mean"].to_numpy() for seed in result.seeds]
    return np.array([one.reshape(count, -1).mean(axis=1) for one in series])


# The reference has no slow start, and its flows begin at once. Where the queue leaves zero or its limit, the engine is
# accurate to first order only: where the buffer fills, a fifth of a packet may remain at steps of 1 ms (up to one at 5
# ms), where the queue begins to build up less. Later they agree to 0.01.
@pytest.mark.parametrize(
    ("aqm", "law", "thinned", "buffer"),
    [
        ("lred:q0=100", dde.lred(100), True, 250),
        ("lred:q0=100", dde.lred(100), False, 250),
        ("pi:q_ref=100,a=2e-4,b=1.96e-4,frequency='10 Hz'", dde.pi(100, 2e-4, 1.96e-4, 0.1), True, 2000),
        ("rem:b_star=100,gamma=0.2,alpha=0.02,interval='100 ms'", dde.rem(100, 1.001, 0.2, 0.02, 0.1), True, 2000),
    ],
    ids=["lred", "lred-not-thinned", "pi", "rem"],
)
def test_the_engine_and_the_reference_agree(aqm: str, law: dde.Timed, thinned: bool, buffer: int) -> None:
    settings = {"duration": "20 s", "warmup": "1 s", "record.step": "20 ms", "traffic.long.start": "0 s"}
    chosen = scenario(aqm).with_({**settings, "traffic.udp.count": 0, "traffic.udp.active": ["5 s", "20 s"]})
    chosen = chosen.with_({"dumbbell.buffer": f"{buffer} packets"})
    model = json.loads(chosen._core.fluid_model())
    result = aqmlab.fluid(chosen, tcp="square-root", slow_start=False, thinned=thinned, step=0.001)
    classes = model["classes"]
    path = dde.trajectory(
        [one["flows"] for one in classes],
        [one["rtt"] for one in classes],
        model["capacity"],
        law,
        Q=model["buffer"],
        end=20,
        step=0.025,
        w=classes[0]["initial_window"],
        thinned=thinned,
    )
    difference = np.abs(seconds(result, "queue")[0] - path.bin_means())
    assert path.q.max() > 150
    assert (path.q.max() == buffer) == (buffer == 250)
    assert difference.max() < (0.5 if buffer == 250 else 0.1)
    assert difference[10:].max() < 0.01


@pytest.mark.parametrize("aqm", ["lred", "pi:q0=100"])
def test_a_packet_is_lost_once_where_losses_do_not_thin_the_arrivals(aqm: str) -> None:
    tcp = {"preset": "ns2-2002", "flavour": "reno", "delayed_ack": True}
    changes = {"traffic.long.count": 800, "duration": "100 s", **{f"traffic.long.tcp.{key}": tcp[key] for key in tcp}}
    heavy = Scenario.load("lred/exp1").with_({**changes, "aqm": aqm})
    found = aqmlab.fluid(heavy, tcp="square-root", slow_start=False, thinned=False).metrics
    lost = found["drops_early"] + found["drops_overflow"]
    assert 0.4 * found["arrivals"] < lost <= found["arrivals"]
    assert found["loss_ratio"] == pytest.approx(lost / found["arrivals"], rel=1e-3)


# With windows of 6 packets Padhye's law is accurate to about 10 % in p: NewReno times out less often than his Reno. The
# mean of 20 runs has a standard error of 3 to 5 packets in a bin of one second: 16 packets are four of them. In the two
# seconds after the step, losses of packets are clustered, first too late and then too many. The slow starts of the
# first 40 s, also clustered, are left out.
def test_lred_meets_a_load_step_as_twenty_packet_runs_do_in_the_mean() -> None:
    fluid, packet = aqmlab.fluid(scenario()), aqmlab.run(scenario(), seeds=20)
    (queue, queues), (p, ps) = (
        (seconds(fluid, name)[0], seconds(packet, name).mean(axis=0)) for name in ("queue", "p")
    )
    off = np.abs(queue - queues)
    assert max(off[40:60].max(), off[62:].max()) < 16
    assert off[60:62].max() < 30
    assert off[40:].mean() < 5
    np.testing.assert_allclose(p[40:], ps[40:], rtol=0.2)
    for start, end in ((40, 60), (70, 100)):
        assert queue[start:end].mean() == pytest.approx(queues[start:end].mean(), abs=4)
        assert p[start:end].mean() == pytest.approx(ps[start:end].mean(), rel=0.12)
    # The step has a visible effect: the queue rises, and the loss is higher by a third at the end.
    assert queue[60:65].mean() > 112
    assert queues[60:65].mean() > 112
    assert ps[80:].mean() > 1.25 * ps[40:60].mean()


# The same for laws controlled by the queue alone: it ends at the target, with TCP's p, to the same 12 %.
@pytest.mark.parametrize("aqm", ["pistar:design={n=100, rtt='450 ms'}", "rem:b_star=100"])
def test_pi_and_rem_end_where_packets_do(aqm: str) -> None:
    chosen = scenario(aqm).with_({"traffic.udp.active": ["0 s", "160 s"], "duration": "160 s", "record.step": "0.1 s"})
    fluid, packet = aqmlab.fluid(chosen), aqmlab.run(chosen, seeds=4)
    last = slice(110, 160)
    (queue,), queues = (seconds(one, "queue")[:, last].mean(axis=1) for one in (fluid, packet))
    (p,), ps = (seconds(one, "p")[:, last].mean(axis=1) for one in (fluid, packet))
    assert queue == pytest.approx(100, abs=1)
    assert queues.mean() == pytest.approx(queue, abs=5)
    assert ps.mean() == pytest.approx(p, rel=0.12)


def test_a_result_has_the_form_of_a_run_and_says_what_is_not_modelled(small: Scenario, tmp_path: Path) -> None:
    done: list[Progress] = []
    result = aqmlab.fluid(small, progress=done.append)
    simulated = aqmlab.run(small)
    assert done[-1] == Progress(1.0, 1, 1)
    assert list(result.metrics) == list(simulated.metrics)
    assert result.series.columns == simulated.series.columns
    assert result.metrics["timeouts"] is None
    assert result.not_modelled
    assert simulated.not_modelled is None
    document = result.document()
    assert set(document) - set(simulated.document()) == {"not_modelled"}
    assert "Not modelled: packets" in repr(result)
    assert "fluid model" in repr(result).splitlines()[0]
    assert result.engine_version == _core.fluid_version
    assert aqmlab.fluid(small, step=0.01).engine_version == f"{_core.fluid_version},step=0.01"
    result.save(tmp_path)
    assert Result.load(tmp_path) == result
    assert result.plot(Figure()).get_axes()


def test_results_do_not_depend_on_how_often_it_looks_up(small: Scenario) -> None:
    first, again = aqmlab.fluid(small), aqmlab.fluid(small, progress=lambda _: None)
    assert first.metrics == again.metrics
    assert first.series.equals(again.series)


# Where the equations deviate from packets, a note beneath the table reports it.
def test_what_chance_does_is_told_where_it_matters(small: Scenario) -> None:
    assert "flows that a full buffer hits" in repr(aqmlab.fluid(small.with_(aqm="droptail")))


# All flows that are there for the whole window share one index, as in a run: datagram flows get less than TCP's here.
# The bounds are loose because packets spread the goodputs of TCP flows by about 0.05.
def test_fairness_is_between_all_flows() -> None:
    udp = {"count": 50, "rate": "40 kbit/s", "start": "0 s", "active": "auto", "stop": "auto"}
    chosen = scenario().with_({f"traffic.udp.{key}": value for key, value in udp.items()}).with_({"duration": "70 s"})
    fluid, packet = (run.metrics["jain"] for run in (aqmlab.fluid(chosen), aqmlab.run(chosen)))
    long = aqmlab.fluid(chosen).runs[0].classes["long"]["jain"]
    assert fluid is not None
    assert long is not None
    assert fluid == pytest.approx(packet, abs=0.06)
    assert fluid < long - 0.04


# The first overflow is located to first order: within a step, in which 2 packets arrive.
def test_half_the_step_changes_next_to_nothing(small: Scenario) -> None:
    longer = small.with_({"duration": "20 s"})
    coarse, fine = (seconds(aqmlab.fluid(longer, step=step), "queue")[0] for step in (0.004, 0.002))
    assert np.abs(coarse - fine).max() < 1
    assert np.abs(coarse - fine)[10:].max() < 0.001


@pytest.mark.parametrize(
    ("settings", "options", "message"),
    [
        ({"aqm": "codel"}, {}, 'aqm.name = "codel": the fluid model has laws for droptail, lred'),
        ({}, {"step": -1.0}, "step = -1: must be in"),
        ({}, {"step": float("nan")}, "step = nan: must be in"),
        ({}, {"tcp": "guess"}, "guess"),
    ],
)
def test_what_the_equations_cannot_say_is_refused_with_the_reason(
    small: Scenario, settings: dict[str, str], options: dict[str, object], message: str
) -> None:
    with pytest.raises(ScenarioError, match=message):
        aqmlab.fluid(small.with_(settings), **options)  # type: ignore[arg-type]
    with pytest.raises(TypeError, match=r"load it with Scenario\.load"):
        aqmlab.fluid("lred/exp1")  # type: ignore[arg-type]


def test_both_are_drawn_in_one_figure(small: Scenario) -> None:
    for aqm, title in (("lred:q0=20", "Drop probability (%)"), ("droptail", "Dropped (%)")):
        chosen = small.with_(aqm=aqm)
        both = {"fluid": aqmlab.fluid(chosen), "packet": aqmlab.run(chosen, seeds=2)}
        figure = matplotlib.draw(runs.comparison(both), Figure())
        queue, loss, *bars = figure.get_axes()
        assert loss.get_title(loc="left") == title
        assert len(bars) == 4
        labels = [line.get_label() for line in queue.lines]
        assert labels[:2] == ["packets, mean of 2 seeds; band: least to greatest", "fluid model"]
        drawn = np.asarray(queue.lines[1].get_ydata())
        assert drawn.mean() == pytest.approx(aqmlab.fluid(chosen).series["bottleneck.queue.mean"].mean())


def test_the_command_writes_what_run_writes(quick_cli: Cli, small_file: Path, tmp_path: Path) -> None:
    done = quick_cli(
        "fluid", small_file, "--aqm", "pi:q_ref=20", "--set", "duration=6 s", "--json", "--out", tmp_path / "out"
    )
    assert done.returncode == 0, done.stderr
    document = json.loads(done.stdout)
    assert document["not_modelled"]
    assert document["scenario"]["duration"] == "6 s"
    written = json.loads((tmp_path / "out" / "result.json").read_text())
    assert {key: written[key] for key in written.keys() - {"files", "sha256"}} == document
    assert {"figure.png", "figure.svg", "report.html"} <= {file.name for file in (tmp_path / "out").iterdir()}
    assert "written to" in done.stderr


def test_the_command_sets_packets_beside(quick_cli: Cli, small_file: Path, tmp_path: Path) -> None:
    done = quick_cli("fluid", small_file, "--packet-seeds", "2", "--jobs", "1", "--out", tmp_path / "out")
    assert done.returncode == 0, done.stderr
    assert "(seeds 7, 8; aqmlab" in done.stdout
    rows = [line.split()[0] for line in done.stdout.splitlines() if line]
    assert {"fluid", "packet"} <= set(rows)
    saved = Comparison.load(tmp_path / "out")
    assert list(saved) == ["fluid", "packet"]
    assert len(saved["packet"].runs) == 2
    alone = json.loads(quick_cli("run", small_file, "--seeds", "2", "--json").stdout)
    assert saved["packet"].metrics == alone["metrics"]
