"""Figures on future work: bandwidth by a prediction of the web's demand, and the best."""

from collections.abc import Iterator

from aqmlab_papers import Axis, Curve, Panel, Runs, figure
from aqmlab_papers.redtail.claims.future import FTP_KEEPS, cost, kept
from aqmlab_papers.redtail.measures import (
    C1_MAX,
    HERO,
    INTERVALS,
    MAX_TH1,
    SHORT_DELAY,
    WEB_BEGIN,
    N,
    bound,
    forecast_rates,
    of,
)
from aqmlab_papers.run.sketch import mean_curve

_PANELS: dict[str, tuple[str, float]] = {
    "a": (SHORT_DELAY, 1e3),
    "b": ("classes.ftp.queue_delay_mean", 1e3),
    "c": ("classes.web.completion_time_mean", 1.0),
    "d": ("classes.web.loss_ratio", 100.0),
}


_X = Axis("max_th1 (kB)", 10, 80)
_TIME, _RATE = Axis("Time (s)", WEB_BEGIN, WEB_BEGIN + 20), Axis("Short packets (Mbit/s)", 0)


@figure(
    [
        Panel("a", "Short queue's delay", _X, Axis("Mean delay (ms)", 0)),
        Panel("b", "FTP's delay at the router", _X, Axis("Mean delay (ms)", 0)),
        Panel("c", "Web files", _X, Axis("Mean completion time (s)", 0)),
        Panel("d", "Web's loss ratio", _X, Axis("Packet loss ratio (%)", 0)),
    ],
    caption="The paper's web scenario, 200 s of it. The long mean is a prediction without a trend that remembers "
    "10 s instead of .3 s. Served first, the short queue has the whole link whenever it has a packet: more than any "
    "prediction could give it.",
    beyond=True,
)
def prediction(prediction: Runs) -> Iterator[Curve]:
    """The short queue's rate by its length, and by a prediction."""
    for panel, (metric, scale) in _PANELS.items():
        for label in prediction.labels:
            yield prediction.curve(panel, metric, label, MAX_TH1, scale=scale, x_scale=1e-3)
    sizes = prediction.points(MAX_TH1)
    yield Curve("a", "max_th1 / C", [size / 1e3 for size in sizes], [bound(size) for size in sizes], style="dashed")


@figure(
    [
        Panel(letter, f"Intervals of {interval}", _TIME, _RATE)
        for letter, interval in zip("abc", INTERVALS, strict=True)
    ],
    caption="The first 20 s with the web, of the first seed.",
    beyond=True,
)
def forecast(forecast: Runs) -> Iterator[Curve]:
    """Predicted and actual rates."""
    for panel, label in zip("abc", forecast.labels, strict=True):
        predicted, came = forecast_rates(forecast, label, forecast.study.seeds[0], WEB_BEGIN)
        step = INTERVALS[label]
        count = round(20 / step)
        t = [WEB_BEGIN + (k + 0.5) * step for k in range(count)]
        for name, rates in (("came", came), ("predicted", predicted)):
            yield Curve(panel, name, t, rates[:count] / 1e6, run=forecast.study.seeds[0])


_MOST = Axis("C1max / C", 0.4, 1)


@figure(
    [
        Panel("a", "Cost: web files", _MOST, Axis("Mean completion time (s)", 0, 3)),
        Panel("b", "FTP's rate over that with Adaptive RED", _MOST, Axis("Share (%)", 80, 120)),
        Panel("c", "FTP's time-outs", _MOST, Axis("Time-outs in 400 s", 0)),
    ],
    across=3,
    beyond=True,
)
def optimum(optimum: Runs, web: Runs) -> Iterator[Curve]:
    """The optimal allocation over N and C1max: cost and constraint."""
    shares = optimum.points(C1_MAX)
    for n in optimum.points(N):
        name, points = f"N = {n:g}", [{N: n, C1_MAX: share} for share in shares]
        yield mean_curve("a", name, shares, [cost(optimum, at).summary for at in points])
        yield mean_curve("b", name, shares, [kept(optimum, web, at).summary for at in points])
        yield optimum.curve("c", of("FTP", "timeouts"), HERO, C1_MAX, at={N: n}, name=name)
    yield Curve("b", "Required", [shares[0], shares[-1]], [FTP_KEEPS, FTP_KEEPS], style="dashed")
