"""The engine's declarations of metrics and the presentations of Python belong together."""

from aqmlab import DISTRIBUTIONS, METRICS
from aqmlab.results import metrics


def test_every_presentation_is_of_a_declared_metric() -> None:
    assert set(metrics._METRICS) <= set(METRICS)
    assert set(metrics._DISTRIBUTIONS) <= set(DISTRIBUTIONS)
    assert set(metrics._COUNTED) <= set(DISTRIBUTIONS)


def test_a_metric_without_a_presentation_comes_last_and_is_labelled_by_its_name() -> None:
    declared = [{"name": name, "unit": "s", "doc": "A time."} for name in ("setup_time", "jitter")]
    jitter, setup = (metrics.Metric(**fields) for fields in metrics._presented(declared, metrics._METRICS))
    assert jitter == metrics.Metric("jitter", "Jitter", "s", "A time.", "ms", 1e3, 2, "less")
    assert setup == metrics.Metric("setup_time", "Setup time", "s", "A time.", "ms", 1e3, 1)
