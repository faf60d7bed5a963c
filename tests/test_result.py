"""Results: their parts fit together, and survive being saved."""

import errno
import json
from pathlib import Path

import polars
import pytest
from polars.testing import assert_frame_equal

import aqmlab
from aqmlab import DISTRIBUTIONS, METRICS, Comparison, Result, Scenario, Summary


@pytest.fixture
def result(small: Scenario) -> Result:
    return aqmlab.run(small, seeds=2)


@pytest.fixture
def comparison(small: Scenario) -> Comparison:
    return aqmlab.compare(small, ["lred", "pi:q_ref=9"])


def test_every_metric_is_defined_and_every_definition_used(result: Result) -> None:
    of_classes, of_links = result.classes["long"], result.links["bottleneck"]
    assert set(METRICS) == {*result.metrics, *of_classes, *of_links}
    assert list(result.classes) == ["long"]
    assert list(result.links) == ["bottleneck"]


def test_every_distribution_is_defined_and_every_definition_used(result: Result) -> None:
    given = result.distributions
    assert set(DISTRIBUTIONS) == {*given["classes"]["long"], *given["links"]["bottleneck"]}


def test_queues_with_names_are_told_apart(small: Scenario, tmp_path: Path) -> None:
    result = aqmlab.run(small.with_(aqm="redtail:key=flow,n=9"), seeds=2)
    assert list(result.lanes) == ["bottleneck.long", "bottleneck.short"]
    for name in ("arrivals", "drops_early", "throughput", "queue_mean"):
        assert sum(lane[name] or 0 for lane in result.lanes.values()) == pytest.approx(result.metrics[name])
    assert set(METRICS) > {name for lane in result.lanes.values() for name in lane}
    queues = [result.series[f"bottleneck.lane.{lane}.queue.mean"] for lane in ("short", "long")]
    assert (queues[0] + queues[1]).to_list() == pytest.approx(result.series["bottleneck.queue.mean"].to_list())
    assert result.signals == ["p", "c1", "demand", "r"]
    result.save(tmp_path)
    assert Result.load(tmp_path) == result


def test_a_result_from_before_queues_had_names_has_none(result: Result, tmp_path: Path) -> None:
    result.save(tmp_path)
    document = result.document()
    for part in (document, *document["runs"]):
        assert part.pop("lanes") == {}
    (tmp_path / "result.json").write_text(json.dumps(document))
    assert Result.load(tmp_path) == result


def test_distributions_are_means_of_the_runs(result: Result) -> None:
    # Each loss is in one run of its flow: the lengths of all add up to the drops.
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
        assert result.summary[name] == Summary.of(values)
        assert result.metrics[name] == result.summary[name].mean
    assert result.classes["long"]["goodput"] == pytest.approx(
        Summary.of([run.classes["long"]["goodput"] for run in result.runs]).mean
    )
    assert result.engine["packets"] == first.engine["packets"] + second.engine["packets"]


def test_one_seed_is_reported_as_it_is(small: Scenario) -> None:
    result = aqmlab.run(small)
    assert result.metrics == result.runs[0].metrics
    assert result.summary["goodput"].std is None


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
    for name, metrics in result.classes.items():
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
    for seed in result.seeds:
        assert_frame_equal(loaded.series_of(seed), result.series_of(seed))


def test_a_saved_comparison_is_loaded_as_it_was(comparison: Comparison, tmp_path: Path) -> None:
    comparison.save(tmp_path)
    loaded = Comparison.load(tmp_path)
    assert list(loaded) == ["lred", "pi:q_ref=9"]
    assert loaded.document() == comparison.document()
    assert not list(tmp_path.rglob(".*")), "temporary files are left"


@pytest.mark.parametrize("missing", ["runs", "version", "distributions"])
def test_a_result_of_another_version_is_refused_with_the_way_to_make_it_anew(
    result: Result, tmp_path: Path, missing: str
) -> None:
    result.save(tmp_path)
    document = result.document()
    for part in (document, *document["runs"]):
        part.pop(missing, None)
    (tmp_path / "result.json").write_text(json.dumps(document))
    with pytest.raises(ValueError, match=rf"result\.json: of another version.*{missing}.*aqmlab run .*scenario\.toml"):
        Result.load(tmp_path)


@pytest.mark.parametrize("text", ["{", "[]", "\x00"])
def test_a_broken_document_is_refused_by_name(comparison: Comparison, tmp_path: Path, text: str) -> None:
    comparison.save(tmp_path)
    for kind, file in ((Result, tmp_path / "lred/result.json"), (Comparison, tmp_path / "comparison.json")):
        file.write_text(text)
        with pytest.raises(ValueError, match=f"{file.name}: not "):
            kind.load(file.parent)
    (tmp_path / "comparison.json").write_text("{}")
    with pytest.raises(ValueError, match=r"comparison\.json: not a comparison"):
        Comparison.load(tmp_path)


def test_labels_that_look_alike_get_folders_of_their_own(comparison: Comparison, tmp_path: Path) -> None:
    alike = Comparison({"a:b": comparison["lred"], "a/b": comparison["pi:q_ref=9"]})
    alike.save(tmp_path)
    assert Comparison.load(tmp_path).document() == alike.document()


def test_the_document_is_json_without_nan(result: Result) -> None:
    json.dumps(result.document(), allow_nan=False)


def test_a_comparison_is_a_mapping_with_a_table(comparison: Comparison) -> None:
    table = comparison.table
    assert table["label"].to_list() == list(comparison)
    assert table["goodput"].to_list() == [result.metrics["goodput"] for result in comparison.values()]


def test_representations_are_small_tables(result: Result, comparison: Comparison) -> None:
    assert repr(result).splitlines()[0] == f"Small (seeds 7, 8; aqmlab {aqmlab.__version__})"
    assert "±" in repr(result)
    assert [line.split()[0] for line in repr(comparison).splitlines()[4:]] == list(comparison)
    assert repr(Comparison({})) == "<Comparison of nothing>"


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
