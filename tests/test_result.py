"""Results: their parts are consistent, and survive being saved."""

import errno
import os
import shutil
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any

import polars
import pytest
from damaged import damaged
from polars.testing import assert_frame_equal

import aqmlab
from aqmlab import DISTRIBUTIONS, METRICS, Comparison, Result, Scenario, Summary, files
from aqmlab.execute.engine import PACKETS
from aqmlab.sealed import sealed


@pytest.fixture
def result(small: Scenario) -> Result:
    return aqmlab.run(small, seeds=2)


@pytest.fixture
def comparison(small: Scenario) -> Comparison:
    return aqmlab.compare(small, aqms=["lred", "pi:q_ref=9"])


def test_every_metric_is_defined_and_every_definition_used(result: Result) -> None:
    of_classes, of_links = result.owned("classes"), result.owned("links")
    assert (list(of_classes), list(of_links)) == (["long"], ["bottleneck"])
    brief = {"duration": "2 s", "warmup": "1 s"}
    tfrc = aqmlab.run(Scenario.load("traffic/tfrc").with_(brief)).owned("classes")["tfrc"]
    shared = aqmlab.run(Scenario.load("lred/exp1").with_({**brief, "dumbbell.access_half_duplex": "0.5 us"}))
    ethernet = shared.owned("links")["sender1"]
    others = {"wifi": "wlan-near", "5g": "cell-phone", "cable": "cable-home"}
    media = [aqmlab.run(Scenario.load(f"links/{of}").with_(brief)).owned("links")[link] for of, link in others.items()]
    owners = (of_classes["long"], of_links["bottleneck"], tfrc, ethernet, *media)
    assert set(METRICS) == {*result.metrics, *(name for owner in owners for name in owner)}


def test_every_distribution_is_defined_and_every_definition_used(result: Result) -> None:
    given = result.distributions
    assert set(DISTRIBUTIONS) == {*given["classes"]["long"], *given["links"]["bottleneck"]}


def test_queues_with_names_are_told_apart(small: Scenario, tmp_path: Path) -> None:
    result = aqmlab.run(small.with_(aqm="redtail:key=flow,n=9"), seeds=2)
    lanes = result.owned("lanes")
    assert list(lanes) == ["bottleneck.long", "bottleneck.short"]
    for name in ("arrivals", "drops_early", "throughput", "queue_mean"):
        assert sum(lane[name].mean or 0 for lane in lanes.values()) == pytest.approx(result.metrics[name])
    assert set(METRICS) > {name for lane in lanes.values() for name in lane}
    queues = [result.series[f"bottleneck.lane.{lane}.queue.mean"] for lane in ("short", "long")]
    assert (queues[0] + queues[1]).to_list() == pytest.approx(result.series["bottleneck.queue.mean"].to_list())
    assert result.signals == ["p", "c1", "demand", "r", "pairs", "turned"]
    result.save(tmp_path)
    assert Result.load(tmp_path) == result


def test_distributions_are_means_of_the_runs(result: Result) -> None:
    # Each loss is in one run of its flow: all run lengths add up to the drops.
    for name in ("loss_runs", "loss_bursts"):
        counts = result.distributions["links"]["bottleneck"][name]
        drops = (result.metrics["drops_early"] or 0) + (result.metrics["drops_overflow"] or 0)
        assert sum(length * count for length, count in enumerate(counts, start=1)) == pytest.approx(drops)
    delays = [run.distributions["classes"]["long"]["delay"] for run in result.runs]
    assert all(len(numbers) == 101 and sorted(numbers) == numbers for numbers in delays)
    medians = [numbers[50] for numbers in delays]
    assert medians == [run.metrics["delay_p50"] for run in result.runs]
    assert result.distributions["classes"]["long"]["delay"][50] == pytest.approx(result.metrics["delay_p50"])
    assert result.distributions["classes"]["long"]["completion_time"] == []


def test_means_are_of_the_runs(result: Result) -> None:
    first, second = result.runs
    for name in ("goodput", "queue_mean", "arrivals"):
        values = [first.metrics[name], second.metrics[name]]
        assert result[name] == Summary.of(values)
        assert result.metrics[name] == result[name].mean
    assert result["classes.long.goodput"] == Summary.of([run.classes["long"]["goodput"] for run in result.runs])
    assert result.engine["packets"] == first.engine["packets"] + second.engine["packets"]


def test_series_have_the_least_below_the_mean_below_the_greatest(result: Result) -> None:
    series = result.series
    assert isinstance(series, polars.DataFrame)
    assert series["t"].is_sorted()
    for quantity in ("queue", *result.signals):
        low, mean, high = (series[f"bottleneck.{quantity}.{which}"] for which in ("min", "mean", "max"))
        slack = 1e-9 * high.abs() + 1e-12
        assert (low <= mean + slack).all()
        assert (mean <= high + slack).all()
    assert series["bottleneck.queue.max"].max() > 0
    assert series["bottleneck.arrivals"].sum() > 0


def test_series_of_the_classes_add_up_to_the_links(small: Scenario) -> None:
    udp = '\n[[traffic]]\nname = "udp"\nkind = "cbr"\nrate = "50 kbit/s"\nstart = "1 s"\n'
    result = aqmlab.run(Scenario.parse(small.to_toml() + udp, "two.toml").with_(warmup="0 s"))
    series = result.series
    for quantity in ("arrivals", "drops"):
        of_classes = series[f"bottleneck.long.{quantity}"] + series[f"bottleneck.udp.{quantity}"]
        assert of_classes.equals(series[f"bottleneck.{quantity}"])
    for name, metrics in result.runs[0].classes.items():
        assert series[f"bottleneck.{name}.arrivals"].sum() == metrics["arrivals"]
        assert series[f"bottleneck.{name}.throughput"].mean() == pytest.approx(metrics["throughput"], rel=0.02)
    delays = series["bottleneck.udp.delay"]
    assert delays.head(100).null_count() == 100, "before the first datagram there is no delay"
    assert delays.is_nan().sum() == 0
    assert "udp" not in " ".join(result.signals)


def test_series_are_of_the_seed_asked_for(result: Result) -> None:
    assert_frame_equal(result.series, result.series_of(7))
    assert not result.series_of(8).equals(result.series_of(7))
    with pytest.raises(LookupError):
        result.series_of(9)


def test_what_was_not_recorded_says_how_to_record_it(small: Scenario) -> None:
    result = aqmlab.run(small.with_({"record.series": False}))
    with pytest.raises(LookupError, match=r"record\.series = true"):
        _ = result.series
    with pytest.raises(LookupError, match=r"record\.cwnd"):
        result.cwnd_of(7)


def test_congestion_windows_are_recorded_on_request(small: Scenario) -> None:
    windows = aqmlab.run(small.with_({"record.cwnd": "100 ms"})).cwnd_of(7)
    assert windows.columns == ["t", "flow", "class", "cwnd", "ssthresh"]
    assert windows["flow"].n_unique() == 10
    assert windows["class"].unique().to_list() == ["long"]
    assert windows["cwnd"].min() >= 1


def test_a_saved_result_is_loaded_as_it_was(result: Result, tmp_path: Path) -> None:
    result.save(tmp_path / "out")
    loaded = Result.load(tmp_path / "out")
    assert loaded == result
    assert loaded.document() == result.document()
    assert loaded.version == aqmlab.__version__
    assert loaded.engine_version == PACKETS.version
    for seed in result.seeds:
        assert_frame_equal(loaded.series_of(seed), result.series_of(seed))


def test_a_saved_comparison_is_loaded_as_it_was(comparison: Comparison, tmp_path: Path) -> None:
    comparison.save(tmp_path)
    loaded = Comparison.load(tmp_path)
    assert list(loaded) == ["lred", "pi:q_ref=9"]
    assert loaded.document() == comparison.document()
    assert not list(tmp_path.rglob(".*")), "temporary files are left"


@pytest.mark.parametrize("missing", ["runs", "version", "distributions", "lanes"])
def test_a_result_of_another_version_is_refused_with_the_call_that_recreates_it(
    result: Result, tmp_path: Path, missing: str
) -> None:
    result.save(tmp_path)
    document = result.document()
    for part in (document, *document["runs"]):
        part.pop(missing, None)
    (tmp_path / "result.json").write_bytes(sealed(document))
    with pytest.raises(ValueError, match=rf"result\.json: from another version.*{missing}.*repeat the call"):
        Result.load(tmp_path)


@pytest.mark.parametrize("text", ["{", "[]", "\x00", "{}", '{\n  "version": "0.1.0"\n}\n'])
def test_a_document_that_has_no_checksum_is_refused_with_the_call_that_recreates_it(
    comparison: Comparison, tmp_path: Path, text: str
) -> None:
    comparison.save(tmp_path)
    for kind, file, remedy in (
        (Result, tmp_path / "lred/result.json", rf"repeat the call that wrote it, with --out {tmp_path}/lred$"),
        (Comparison, tmp_path / "comparison.json", rf"repeat the call that wrote it, with --out {tmp_path}$"),
    ):
        file.write_text(text)
        with pytest.raises(ValueError, match=f"{file.name}: no checksum at its end.*{remedy}"):
            kind.load(file.parent)
    (tmp_path / "comparison.json").write_bytes(sealed({"schema": 1}))
    with pytest.raises(ValueError, match=r"comparison\.json: from another version of aqmlab \(it has no results\)"):
        Comparison.load(tmp_path)


def test_of_a_result_that_is_saved_over_another_nothing_is_left(small: Scenario, tmp_path: Path) -> None:
    first = aqmlab.run(small.with_({"record.cwnd": "100 ms"}), seeds=2)
    second = aqmlab.run(small.with_({"record.series": False}, seed=8))
    notes = [tmp_path / name for name in ("report.html", "series-of-mine.parquet", "cwnd-7.csv")]
    for file in notes:
        file.write_text("not of the result")
    first.save(tmp_path)
    assert {file.name for file in tmp_path.glob("*-?.parquet")} == {
        f"{name}-{seed}.parquet" for name in ("series", "cwnd") for seed in (7, 8)
    }
    second.save(tmp_path)
    loaded = Result.load(tmp_path)
    assert loaded == second
    for ask in (loaded.series_of, loaded.cwnd_of):
        with pytest.raises(LookupError, match="recorded no"):
            ask(8)
    assert {file.name for file in tmp_path.iterdir()} == {
        "result.json",
        "scenario.toml",
        *(file.name for file in notes),
    }
    assert {file.read_text() for file in notes} == {"not of the result"}


def test_of_a_comparison_that_is_saved_over_another_nothing_is_left(comparison: Comparison, tmp_path: Path) -> None:
    comparison.save(tmp_path)
    (tmp_path / "lred/notes.txt").write_text("mine")
    Comparison({"pi:q_ref=9": comparison["pi:q_ref=9"]}).save(tmp_path)
    assert {file.name for file in tmp_path.iterdir()} == {"comparison.json", "lred", "pi_q_ref=9"}
    assert [file.name for file in (tmp_path / "lred").iterdir()] == ["notes.txt"]
    comparison.save(tmp_path)
    (tmp_path / "lred/notes.txt").unlink()
    Comparison({"pi:q_ref=9": comparison["pi:q_ref=9"]}).save(tmp_path)
    assert not (tmp_path / "lred").exists()
    assert list(Comparison.load(tmp_path)) == ["pi:q_ref=9"]


def test_a_save_that_is_killed_between_any_two_steps_leaves_the_old_the_new_or_nothing_that_loads(
    small: Scenario, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    class Killed(BaseException):
        pass

    first = aqmlab.run(small.with_({"record.cwnd": "100 ms"}), seeds=2)
    second = aqmlab.run(small.with_(aqm="pi"), seeds=[8, 9])
    outcomes: list[str] = []
    while outcomes[-1:] != ["new"]:
        folder, left = tmp_path / str(len(outcomes)), len(outcomes)
        first.save(folder)

        def step(change: Callable[..., Any]) -> Callable[..., Any]:
            def counted(*arguments: Any, **named: Any) -> Any:
                nonlocal left
                if left == 0:
                    raise Killed
                left -= 1
                return change(*arguments, **named)

            return counted

        with monkeypatch.context() as patch, suppress(Killed):
            for name in ("replace", "unlink", "mkdir", "open"):
                patch.setattr(Path, name, step(getattr(Path, name)))
            patch.setattr(shutil, "rmtree", lambda *_, **__: None)
            second.save(folder)
        try:
            loaded = Result.load(folder)
        except ValueError as error:
            outcomes.append("refused" if "to recreate it" in str(error) else str(error))
            continue
        same = first if loaded == first else second
        assert loaded == same
        for seed in same.seeds:
            assert_frame_equal(loaded.series_of(seed), same.series_of(seed))
        outcomes.append("old" if same is first else "new")
    assert list(dict.fromkeys(outcomes)) == ["old", "refused", "new"]
    assert outcomes.count("old") > 4, "all is written before anything is replaced"


def test_a_full_disk_leaves_the_old_result(result: Result, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    result.save(tmp_path)
    before = {file: file.read_bytes() for file in tmp_path.iterdir()}

    def full(_: int) -> None:
        if len(list(tmp_path.glob(".*/*"))) == 3:
            raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(files.os, "fsync", full)
    with pytest.raises(OSError, match=f"No space left on device: '{tmp_path}/scenario.toml'"):
        aqmlab.run(result.scenario.with_(aqm="pi"), seeds=2).save(tmp_path)
    assert {file: file.read_bytes() for file in tmp_path.iterdir()} == before


def test_what_a_save_left_that_was_killed_goes_in_time(result: Result, tmp_path: Path) -> None:
    for name, age in ((".new.unfinished", 60), (".old.unfinished", 7200)):
        (tmp_path / name).mkdir()
        (tmp_path / name / "series-7.parquet").write_bytes(b"PAR1")
        os.utime(tmp_path / name, (time.time() - age,) * 2)
    result.save(tmp_path)
    assert [file.name for file in tmp_path.glob(".*")] == [".new.unfinished"]


def test_whatever_of_a_result_is_damaged_is_refused_by_name(small: Scenario, tmp_path: Path) -> None:
    aqmlab.run(small.with_({"record.cwnd": "100 ms"})).save(tmp_path)
    for file in sorted(tmp_path.iterdir()):
        sound = file.read_bytes()
        for data in damaged(sound):
            file.write_bytes(data)
            with pytest.raises(ValueError, match=rf"{file.name}: .* to recreate it: repeat the call that wrote it"):
                Result.load(tmp_path)
        file.write_bytes(sound)
        if file.name != "result.json":
            file.unlink()
            with pytest.raises(ValueError, match=rf"{file.name}: missing; to recreate it: repeat the call"):
                Result.load(tmp_path)
            file.write_bytes(sound)
    Result.load(tmp_path)


def exchange(one: Path, other: Path) -> None:
    first, second = one.read_bytes(), other.read_bytes()
    assert first != second
    one.write_bytes(second)
    other.write_bytes(first)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("lred/series-7.parquet", "lred/series-8.parquet"),
        ("lred/series-7.parquet", "pi/series-7.parquet"),
        ("lred/scenario.toml", "pi/scenario.toml"),
        ("lred/result.json", "pi/result.json"),
    ],
)
def test_files_of_a_comparison_that_are_exchanged_are_refused(
    small: Scenario, tmp_path: Path, one: str, other: str
) -> None:
    aqmlab.compare(small, aqms=["lred", "pi"], seeds=2).save(tmp_path)
    exchange(tmp_path / one, tmp_path / other)
    with pytest.raises(ValueError, match="not the file that was saved"):
        Comparison.load(tmp_path)


def test_a_result_has_no_series_of_what_was_saved_there_since(small: Scenario, tmp_path: Path) -> None:
    aqmlab.run(small).save(tmp_path)
    loaded = Result.load(tmp_path)
    aqmlab.run(small.with_(aqm="pi")).save(tmp_path)
    with pytest.raises(ValueError, match=r"series-7\.parquet: not the file that was saved"):
        _ = loaded.series


def test_every_label_makes_a_folder_of_its_own_within_the_folder() -> None:
    from aqmlab.results.comparison import folders

    labels = ["..", ".", "", "a/b", "a:b", "A:B", "x" * 300, "x" * 299 + "y", "é" * 200, "figure.png", "\n\x1b", "pi"]
    names = folders(labels)
    assert len({name.casefold() for name in names}) == len(labels)
    assert max(len(name.encode()) for name in names) < 143, "what the smallest of file systems have room for"
    assert not {"", ".", "..", "figure.png"}.intersection(names)
    assert all(set("/\n\x1b").isdisjoint(name) for name in names)
    assert names[-1] == "pi"


def test_results_and_comparisons_have_the_same_tables(comparison: Comparison, result: Result) -> None:
    goodputs = comparison.summary.filter(metric="goodput", scope="all")
    assert goodputs["aqm"].to_list() == list(comparison)
    assert goodputs["mean"].to_list() == [one.metrics["goodput"] for one in comparison.values()]
    (long,) = result.summary.filter(metric="goodput", scope="classes").to_dicts()
    assert long == {
        **{"aqm": "lred", "engine": "packet", "scope": "classes", "name": "long", "metric": "goodput"},
        **result["classes.long.goodput"].document(),
    }
    values = result.long.filter(metric="goodput", scope="classes", name="long")
    assert values.columns == ["aqm", "engine", "seed", "scope", "name", "metric", "value"]
    assert values["value"].to_list() == [run.classes["long"]["goodput"] for run in result.runs]
    assert len(comparison.long) == sum(len(one.long) for one in comparison.values())
    empty = Comparison({})
    assert (empty.long.columns, empty.long.height) == (comparison.long.columns, 0)
    assert (empty.summary.columns, empty.summary.height) == (comparison.summary.columns, 0)


def test_representations_are_small_tables(result: Result, comparison: Comparison) -> None:
    assert repr(result).splitlines()[0] == f"Small (seeds 7, 8; aqmlab {aqmlab.__version__})"
    assert "±" in repr(result)
    means = repr(comparison).partition("\n\nDifferences")[0]
    assert [line.split()[0] for line in means.splitlines()[4:]] == list(comparison)
    assert repr(Comparison({})) == "<empty Comparison>"


def test_a_document_is_read_from_a_regular_file(tmp_path: Path) -> None:
    from aqmlab.files import read_json

    os.mkfifo(tmp_path / "pipe")
    with pytest.raises(OSError, match="must be a regular file"):
        read_json(tmp_path / "pipe")
    (tmp_path / "deep").write_text("[" * 100_000)
    with pytest.raises(ValueError, match="deep: nested too deeply"):
        read_json(tmp_path / "deep")


def test_a_failed_write_leaves_the_old_file(tmp_path: Path) -> None:
    from aqmlab.files import replacing, write_text

    file = tmp_path / "kept.txt"
    write_text(file, "old")

    def fail_half_way() -> None:
        with replacing(file) as temporary:
            temporary.write_text("half")
            raise OSError(errno.ENOSPC, "disk full")

    with pytest.raises(OSError, match=f"disk full: '{file}'"):
        fail_half_way()
    assert file.read_text() == "old"
    assert list(tmp_path.iterdir()) == [file]
