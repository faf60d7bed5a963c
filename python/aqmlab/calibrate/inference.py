"""Approximate Bayesian computation: links are drawn and simulated, and count by how like the recording they are.

Each kind of queue is a unit cube in which the prior is uniform. The first links are drawn from it; later ones around
those that were most alike, and count for less where many were drawn (population Monte Carlo). A difference counts in
units of the scatter that the statistic has between seeds, together with what a simulator may be wrong by.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import minimize
from scipy.special import log_softmax, softmax

from aqmlab.calibrate.hypothesis import FAMILIES, KINDS, Load, prior
from aqmlab.calibrate.view import statistics
from aqmlab.runs.replication import compare_scenarios

Array = NDArray[np.float64]

FIRST, EACH = 40, 160
"""Links of each kind drawn from the prior, and links of all kinds in each later round."""

WIDTHS = (0.15, 0.1, 0.07, 0.05)
"""Of each later round, the standard deviation of the steps by which links are drawn around others in the unit cube."""

PACKETS = 5e7
"""Packets that may be simulated in all; where a run has many there are fewer runs."""

BEST, SEEDS = 6, 4
"""From how many of the most alike links, and how many seeds of each, the scatter is taken."""

AGAIN = 4
"""The number of the most alike links of each kind that run with all seeds in the end: one seed may be lucky."""

MODEL = 0.08
"""What a statistic may be off by in the simulator, beside the scatter."""

FINER = {"rate": 0.02, "used": 0.04}
"""The same of some statistics, and of those that begin with one of these and a dot."""

EFFECTIVE = 3.0
"""As many independent statistics the differences count for: they overlap."""

LEAST = 10.0
"""The least number of links of a kind that its values rest on; with fewer, less alike ones count too."""

NEAR = 0.4
"""The share of all runs, those most alike, from which the kinds' probabilities are."""

RIDGE = 0.1
"""What holds the coefficients of these probabilities down, one for each statistic and kind."""

FARTHEST = 5.0
"""The difference of a statistic, in units of its scatter, beyond which it counts no more."""

BATCH = 48


@dataclass(eq=False)
class Cloud:
    """The links of a kind that were simulated: points, statistics, and from where they were drawn."""

    points: list[Array] = field(default_factory=list)
    statistics: list[Mapping[str, float]] = field(default_factory=list)
    seeds: list[int] = field(default_factory=list)
    """Those with which the points were run for the statistics."""
    centres: list[tuple[Array, float, float]] = field(default_factory=list)
    uniform: int = 0
    again: dict[int, list[Mapping[str, float]]] = field(default_factory=dict)
    """Statistics of some points with further seeds."""

    def shares(self) -> Array:
        """Return how much each point counts for all to be as if drawn from the prior: less where many were drawn."""
        points = np.array(self.points)
        density = np.full(len(points), float(self.uniform))
        for centre, width, count in self.centres:
            density += count * np.prod(_bell(points, centre, width), axis=1)
        return 1 / density


@dataclass(frozen=True, eq=False)
class Posterior:
    """Links, the probability of each, and the run that is most alike."""

    load: Load
    kinds: Sequence[str]
    points: Sequence[Array]
    weights: Array
    distances: Array
    seed: int
    found: Sequence[Mapping[str, float]]
    seeds: Sequence[int]

    def probability(self, of: Callable[[str], bool]) -> float:
        """Return the probability of the kinds that a function chooses."""
        return float(sum(w for kind, w in zip(self.kinds, self.weights, strict=True) if of(kind)))


def infer(
    load: Load,
    seen: Mapping[str, float],
    seed: int,
    jobs: int | None = None,
    progress: Callable[[float], None] | None = None,
) -> Posterior:
    """Find which links are like a recording with the statistics `seen`."""
    rng = np.random.default_rng(seed)
    packets = load.rate * load.seconds / 8 / load.hosts[0].packet * 2
    share = float(np.clip(PACKETS / packets / (len(KINDS) * FIRST + len(WIDTHS) * EACH), 0.35, 1.0))
    first, each = max(8, round(FIRST * share)), round(EACH * share)
    total = len(KINDS) * first + len(WIDTHS) * each + (BEST + AGAIN * len(KINDS)) * SEEDS
    clouds = {name: Cloud() for name in KINDS}
    simulate = _Simulator(load, seed, jobs, total, progress)
    for name, cloud in clouds.items():
        cloud.points += list(rng.random((first, KINDS[name].size)))
        cloud.uniform = first
    simulate.missing(clouds)
    names = [name for name in seen if all(name in one for cloud in clouds.values() for one in cloud.statistics)]
    scale = 4 * tolerance(names)
    for number, width in enumerate(WIDTHS):
        distances = {name: _distances(cloud.statistics, seen, names, scale) for name, cloud in clouds.items()}
        if number == 1:
            scale = _scatter(simulate, clouds, distances, names)
            distances = {name: _distances(cloud.statistics, seen, names, scale) for name, cloud in clouds.items()}
        _refine(clouds, distances, each, width, rng)
        simulate.missing(clouds)
    for name, cloud in clouds.items():
        for place in np.argsort(_distances(cloud.statistics, seen, names, scale))[:AGAIN]:
            cloud.again[int(place)] = simulate.seeds(name, cloud.points[place], SEEDS - 1)
    return _weighed(load, clouds, seen, names, scale, seed)


def _refine(
    clouds: Mapping[str, Cloud],
    distances: Mapping[str, Array],
    count: int,
    width: float,
    rng: np.random.Generator,
) -> None:
    """Draw more links around the most alike of each kind, more of the kinds that are more alike."""
    best = {name: float(np.sort(each)[:3].mean()) for name, each in distances.items()}
    least = min(best.values())
    shares = {name: np.exp(-2 * (value - least)) + 0.05 for name, value in best.items()}
    whole = sum(shares.values())
    for name, cloud in clouds.items():
        number = max(4, round(count * shares[name] / whole))
        order = np.argsort(distances[name])[: max(3, len(cloud.points) // 10)]
        centres = [cloud.points[place] for place in order]
        for centre in centres:
            cloud.centres.append((centre, width, number / len(centres)))
        for place in range(number):
            centre = centres[place % len(centres)]
            step = rng.normal(size=len(centre)) * width
            cloud.points.append(_folded(centre + step))


def _folded(point: Array) -> Array:
    """Reflect a point at the sides of the cube."""
    folded: Array = 1 - np.abs(1 - np.mod(point, 2))
    return folded


def _bell(points: Array, centre: Array, width: float) -> Array:
    """Return the density of the steps along each coordinate, with those that were reflected."""
    reflected = np.stack([points, -points, 2 - points])
    bells: Array = np.exp(-(((reflected - centre) / width) ** 2) / 2) / (width * np.sqrt(2 * np.pi))
    density: Array = bells.sum(axis=0)
    return density


def _distances(
    found: Sequence[Mapping[str, float]], seen: Mapping[str, float], names: Sequence[str], scale: Array
) -> Array:
    """Return the mean squared difference of statistics, in units of the scatter."""
    own = np.array([[one[name] for name in names] for one in found])
    target = np.array([seen[name] for name in names])
    squares: Array = np.minimum(((own - target) / scale) ** 2, 25.0)
    means: Array = squares.mean(axis=1)
    return means


def _scatter(
    simulate: _Simulator, clouds: Mapping[str, Cloud], distances: Mapping[str, Array], names: Sequence[str]
) -> Array:
    """Return the scatter of each statistic between seeds, of the links that are most alike."""
    ranked = sorted((value, name, place) for name, each in distances.items() for place, value in enumerate(each))
    variances = []
    for _, name, place in ranked[:BEST]:
        runs = simulate.seeds(name, clouds[name].points[place], SEEDS)
        variances.append(np.var([[one[key] for key in names] for one in runs], axis=0, ddof=1))
    scale: Array = np.sqrt(np.mean(variances, axis=0) + tolerance(names) ** 2)
    return scale


def tolerance(names: Sequence[str]) -> Array:
    """Return what each statistic may be off by in the simulator."""
    return np.array([FINER.get(name.partition(".")[0], MODEL) for name in names])


def _weighed(
    load: Load,
    clouds: Mapping[str, Cloud],
    seen: Mapping[str, float],
    names: Sequence[str],
    scale: Array,
    seed: int,
) -> Posterior:
    """Weigh kinds by `_kinds`, and links within their kind by how alike they are."""
    distances = {name: _over_seeds(cloud, seen, names, scale) for name, cloud in clouds.items()}
    shares = _kinds(clouds, seen, names, scale)
    weights = [shares[name] * _weights(cloud, distances[name]) for name, cloud in clouds.items()]
    return Posterior(
        load,
        [name for name, cloud in clouds.items() for _ in cloud.points],
        [point for cloud in clouds.values() for point in cloud.points],
        np.concatenate(weights),
        np.concatenate(list(distances.values())),
        seed,
        [one for cloud in clouds.values() for one in cloud.statistics],
        [one for cloud in clouds.values() for one in cloud.seeds],
    )


def _kinds(
    clouds: Mapping[str, Cloud], seen: Mapping[str, float], names: Sequence[str], scale: Array
) -> dict[str, float]:
    """Return the probability of each kind at the statistics of the recording.

    Of the runs most alike, a logistic regression predicts the kind from the statistics (Beaumont, "Joint
    determination of topology, divergence time, and immigration in population trees", 2008): it learns which of them
    distinguish the kinds, where a distance counts all of them alike.
    """
    rows, kinds, weights = [], [], []
    for number, (name, cloud) in enumerate(clouds.items()):
        for place, (first, share) in enumerate(zip(cloud.statistics, cloud.shares(), strict=True)):
            runs = [first, *cloud.again.get(place, [])]
            rows += [[one[key] - seen[key] for key in names] for one in runs]
            kinds += [number] * len(runs)
            weights += [prior(name) * share / len(runs)] * len(runs)
    off = np.clip(np.array(rows) / scale, -FARTHEST, FARTHEST)
    distance = (off**2).mean(axis=1)
    # Epanechnikov's kernel: it ends at the farthest of those that count.
    near = np.maximum(0.0, 1 - distance / np.quantile(distance, NEAR)) * weights
    some = near > 0
    at = _regressed(off[some], np.eye(len(clouds))[np.array(kinds)[some]], near[some] / near.sum())
    # So few runs count that shares of them may be 0 or 1 by chance: one more for each family has its prior (Laplace).
    count, more = near.sum() ** 2 / (near**2).sum(), len(FAMILIES)
    shares = zip(clouds, at, strict=True)
    return {name: float(count * share + more * prior(name)) / (count + more) for name, share in shares}


def _regressed(off: Array, kinds: Array, weights: Array) -> Array:
    """Return the probabilities at 0 of a multinomial logistic regression; each run has a row of `kinds`, with one 1."""
    shape = kinds.shape[1], off.shape[1] + 1

    def loss(flat: Array) -> tuple[float, Array]:
        level, slopes = flat.reshape(shape)[:, 0], flat.reshape(shape)[:, 1:]
        logs = log_softmax(off @ slopes.T + level, axis=1)
        over = weights[:, None] * (np.exp(logs) - kinds)
        gradient = np.column_stack([over.sum(axis=0), over.T @ off + 2 * RIDGE * slopes])
        return float(RIDGE * (slopes**2).sum() - (weights[:, None] * kinds * logs).sum()), gradient.ravel()

    found = minimize(loss, np.zeros(shape[0] * shape[1]), jac=True, method="L-BFGS-B")
    at: Array = softmax(found.x.reshape(shape)[:, 0])
    return at


def _over_seeds(cloud: Cloud, seen: Mapping[str, float], names: Sequence[str], scale: Array) -> Array:
    """Return the distance of each link; of those with several seeds that of the mean likelihood."""
    distances = _distances(cloud.statistics, seen, names, scale)
    for place, others in cloud.again.items():
        each = np.append(_distances(others, seen, names, scale), distances[place])
        distances[place] = -2 / EFFECTIVE * np.log(np.exp(-each * EFFECTIVE / 2).mean())
    return distances


def _weights(cloud: Cloud, distances: Array) -> Array:
    """Return the probability of each link of a kind; less alike ones count more until enough count."""
    shares, warmth = cloud.shares(), 1.0
    while True:
        weights: Array = np.exp(-(distances - distances.min()) * EFFECTIVE / 2 / warmth) * shares
        weights /= weights.sum()
        if 1 / (weights**2).sum() >= LEAST or warmth > 1e3:
            return weights
        warmth *= 1.15


class _Simulator:
    """Simulates links in batches, each with a seed of its own."""

    def __init__(
        self, load: Load, seed: int, jobs: int | None, total: int, progress: Callable[[float], None] | None
    ) -> None:
        self._load, self._seed, self._jobs, self._total, self._progress = load, seed, jobs, total, progress
        self._done = 0

    def missing(self, clouds: Mapping[str, Cloud]) -> None:
        """Simulate the points without statistics."""
        wanted = [(name, point) for name, cloud in clouds.items() for point in cloud.points[len(cloud.statistics) :]]
        for (name, _), (seed, found) in zip(wanted, self._each(wanted), strict=True):
            clouds[name].statistics.append(found)
            clouds[name].seeds.append(seed)

    def seeds(self, name: str, point: Array, count: int) -> list[Mapping[str, float]]:
        """Simulate a point with several seeds."""
        return [found for _, found in self._each([(name, point)] * count)]

    def _each(self, wanted: Sequence[tuple[str, Array]]) -> Iterator[tuple[int, Mapping[str, float]]]:
        for at in range(0, len(wanted), BATCH):
            part = wanted[at : at + BATCH]
            seeds = [1000 * self._seed + self._done + place for place in range(len(part))]
            scenarios = {
                str(seed): self._load.scenario(name, point, seed)
                for seed, (name, point) in zip(seeds, part, strict=True)
            }
            for seed, result in zip(seeds, compare_scenarios(scenarios, jobs=self._jobs).values(), strict=True):
                yield seed, statistics(self._load.view(result), self._load.base, self._load.hosts[0].packet)
            self._done += len(part)
            if self._progress:
                self._progress(min(1.0, self._done / self._total))
