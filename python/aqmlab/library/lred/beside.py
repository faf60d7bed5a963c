"""LRED beside other disciplines: a check for each of them."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from aqmlab.papers import At, Check, Runs

Values = list[float | None]


def averaged(lists: Iterable[Values]) -> Values:
    """Average several quantities seed by seed.

    Parameters
    ----------
    lists : iterable of list
        Of each quantity its value for each seed.

    Returns
    -------
    list of float or None
        Of each seed the mean of those that it has.
    """
    found: Values = []
    for seed in zip(*lists, strict=True):
        told = [value for value in seed if value is not None]
        found.append(sum(told) / len(told) if told else None)
    return found


def less(one: Values, other: Values) -> Values:
    """Take a quantity from another, seed by seed.

    Parameters
    ----------
    one : list
        Of each seed.
    other : list
        What is taken from it.

    Returns
    -------
    list of float or None
        Of each seed the difference; none where either is not there.
    """
    return [
        None if first is None or second is None else first - second for first, second in zip(one, other, strict=True)
    ]


def off_target(runs: Runs, label: str, target: float = 100.0) -> Values:
    """Give how far mean queues are from their target.

    Parameters
    ----------
    runs : Runs
        Of the experiment.
    label : str
        Of which discipline.
    target : float
        The target, in packets.

    Returns
    -------
    list of float or None
        Of each seed the mean over the points, in packets.
    """
    import polars

    off = (polars.col("queue_mean") - target).abs().mean().alias("off")
    return runs.of(label).group_by("seed").agg(off).sort("seed")["off"].to_list()


def beside(
    runs: Runs,
    what: str,
    metric: str,
    *,
    more: bool = False,
    unit: str = "",
    scale: float = 1.0,
    at: Sequence[At] = (),
    fill: float | None = None,
    others: Sequence[str] | None = None,
) -> list[Check]:
    """Check that LRED has less of a metric than each other discipline, or more.

    Parameters
    ----------
    runs : Runs
        Of the experiment.
    what : str
        The metric in words: ``deviation``.
    metric : str
        Which.
    more : bool
        Whether LRED is to have more.
    unit : str
        The unit of the difference.
    scale : float
        What to multiply values with.
    at : sequence of mapping
        At which points; the differences there are averaged. By default at all.
    fill : float
        What stands for a run without a value.
    others : sequence of str
        Beside which; by default all.

    Returns
    -------
    list of Check
        Of each other the difference, which is claimed not to be negative.
    """
    points: Sequence[At | None] = at or (None,)
    checks = []
    for other in runs.others if others is None else others:
        pair = (runs.hero, other) if more else (other, runs.hero)
        found = averaged(runs.differences(metric, *pair, point, fill, scale) for point in points)
        checks.append(Check.of(f"{what} of {pair[0]} less that of {pair[1]}", found, unit=unit, least=0))
    return checks


def told(runs: Runs, metric: str, label: str, digits: int = 3, *, at: At | None = None, scale: float = 1.0) -> str:
    """Say the mean of a metric in a sentence.

    Parameters
    ----------
    runs : Runs
        Of the experiment.
    metric : str
        Which.
    label : str
        Of which discipline.
    digits : int
        Significant digits.
    at : mapping
        At which points; by default at all.
    scale : float
        What to multiply it with.

    Returns
    -------
    str
        It, or a dash where no run has one.
    """
    mean = runs.mean(metric, label, at, scale=scale).mean
    return "-" if mean is None else f"{mean:.{digits}g}"
