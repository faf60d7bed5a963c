"""Train a small policy with CMA-ES, and compare it with PIE on links that it knows and on links that it does not.

``python examples/train.py`` takes about three minutes on two cores and writes two figures and the policies to
``out/train``; ``--quick`` takes seconds, and shows only that it works. Ctrl-C ends a training; what was best so far is
tested. docs/guide/learning.md discusses the outcome.

Everything is scored alike: the mean over all intervals after the warm-up of `aqmlab.gym.score`, utilisation minus delay
over 100 ms, of runs of one length with the same scenarios and seeds, disjoint for training, selection and test.
"""

import argparse
import json
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

import matplotlib.pyplot as plt
import numpy as np
from scipy import stats

import aqmlab
from aqmlab.gym import OBSERVED, AqmVectorEnv

INPUTS = [[one.name for one in OBSERVED].index(name) for name in ("delay", "drain", "change", "utilisation", "action")]
GAINS = np.array([10, 10, 10, 1, 3])  # a delay of 10 ms is 1
HIDDEN = 4
SIZE = HIDDEN * (len(INPUTS) + 2) + 1  # numbers that make a policy
MOST_CHANGE = 0.05  # of an action from one interval to the next


class Link(NamedTuple):
    """A bottleneck: its rate in Mbit/s, the round-trip time without a queue in ms, and its greedy TCP flows."""

    rate: float
    rtt: float
    flows: int

    def scenario(self, duration: float) -> aqmlab.Scenario:
        """Return the scenario of this link for `duration` seconds, with a buffer of 200 ms."""
        delays = {"delay": f"{self.rtt / 4} ms", "sender_delay": f"{self.rtt / 8} ms"}
        dumbbell = {"rate": f"{self.rate} Mbit/s", "buffer": "200 ms", "receiver_delay": f"{self.rtt / 8} ms", **delays}
        flows = {"count": self.flows, "start": "uniform(0 s, 1 s)"}
        settings = {"dumbbell": dumbbell, "traffic": {"flows": flows}, "duration": f"{duration} s", "warmup": "3 s"}
        return aqmlab.Scenario.load("quickstart").with_(settings)


OWN = Link(10, 40, 5)
UNSEEN = [
    *(Link(rate, 40, 5) for rate in (2, 5, 20, 50, 100)),
    *(Link(10, rtt, 5) for rtt in (10, 80, 160)),
    *(Link(10, 40, flows) for flows in (1, 2, 20, 50)),
]


def drawn(random: np.random.Generator, count: int) -> list[Link]:
    """Draw links to train on: 4 to 40 Mbit/s, 15 to 100 ms, 2 to 30 flows, with uniform logarithms."""
    low, high = np.log([4, 15, 2]), np.log([40, 100, 30])
    values = np.exp(random.uniform(low, high, (count, 3)))
    return [Link(round(rate, 2), round(rtt, 2), round(flows)) for rate, rtt, flows in values]


def act(policies: np.ndarray, seen: np.ndarray) -> np.ndarray:
    """Return the actions of policies, shape (n, SIZE), on observations, shape (n, 8): a network changes the last."""
    count, inputs = len(policies), len(INPUTS)
    into, bias, out, last = np.split(policies, np.cumsum([HIDDEN * inputs, HIDDEN, HIDDEN]), axis=1)
    x = np.clip(seen[:, INPUTS] * GAINS, -5, 5)
    hidden = np.tanh(np.einsum("nhi,ni->nh", into.reshape(count, HIDDEN, inputs), x) + bias)
    change = np.tanh((hidden * out).sum(1) + last[:, 0])
    return np.clip(seen[:, INPUTS[-1]] + MOST_CHANGE * change, 0, 1)[:, None]


def scores(links: Sequence[Link], seeds: Sequence[int], policies: np.ndarray | None, aqm: str | None, duration: float):
    """Return the score, utilisation and delay in ms of a run for each link, with its seed and its policy or discipline.

    The result has shape (runs, 3).
    """
    env = AqmVectorEnv(len(links), aqm=aqm)
    made = {link: link.scenario(duration) for link in dict.fromkeys(links)}
    seen, _ = env.reset(seed=list(seeds), options={"scenarios": [made[link] for link in links]})
    sums, count, over = np.zeros((len(links), 3)), 0, False
    idle = np.zeros((len(links), 1))
    while not over:
        seen, reward, _, truncated, info = env.step(idle if policies is None else act(policies, seen))
        if info["time"][0] > 3:
            sums += np.column_stack([reward, info["utilisation"], info["delay"] * 1e3])
            count += 1
        over = bool(truncated[0])
    return sums / count


class CmaEs:
    """The CMA evolution strategy (Hansen, The CMA Evolution Strategy: A Tutorial, 2016), which maximises."""

    def __init__(self, mean: np.ndarray, sigma: float, population: int, random: np.random.Generator) -> None:
        self.mean, self.sigma, self.random, self.count = mean, sigma, random, population
        n = len(mean)
        weights = np.log(population / 2 + 0.5) - np.log(np.arange(1, population // 2 + 1))
        self.weights = weights / weights.sum()
        mu = 1 / (self.weights**2).sum()
        self.c_sigma, self.c_c = (mu + 2) / (n + mu + 5), (4 + mu / n) / (n + 4 + 2 * mu / n)
        self.c_1 = 2 / ((n + 1.3) ** 2 + mu)
        self.c_mu = min(1 - self.c_1, 2 * (mu - 2 + 1 / mu) / ((n + 2) ** 2 + mu))
        self.damping = 1 + 2 * max(0, np.sqrt((mu - 1) / (n + 1)) - 1) + self.c_sigma
        self.mu, self.norm = mu, np.sqrt(n) * (1 - 1 / (4 * n) + 1 / (21 * n * n))
        self.p_sigma, self.p_c, self.cov, self.generation = np.zeros(n), np.zeros(n), np.eye(n), 0

    def ask(self) -> np.ndarray:
        """Draw a population, shape (population, n)."""
        values, self.axes = np.linalg.eigh(self.cov)
        self.lengths = np.sqrt(np.maximum(values, 1e-20))
        self.steps = (self.random.standard_normal((self.count, len(self.mean))) * self.lengths) @ self.axes.T
        return self.mean + self.sigma * self.steps

    def tell(self, fitness: np.ndarray) -> None:
        """Move towards the better half of the population that was asked for."""
        self.generation += 1
        best = self.steps[np.argsort(-fitness)[: len(self.weights)]]
        step = self.weights @ best
        self.mean = self.mean + self.sigma * step
        whitened = self.axes @ ((self.axes.T @ step) / self.lengths)
        decay = 1 - self.c_sigma
        self.p_sigma = decay * self.p_sigma + np.sqrt(self.c_sigma * (2 - self.c_sigma) * self.mu) * whitened
        length = np.linalg.norm(self.p_sigma)
        h = length / np.sqrt(1 - decay ** (2 * self.generation)) < (1.4 + 2 / (len(step) + 1)) * self.norm
        self.p_c = (1 - self.c_c) * self.p_c + h * np.sqrt(self.c_c * (2 - self.c_c) * self.mu) * step
        kept = 1 - self.c_1 - self.c_mu + (1 - h) * self.c_1 * self.c_c * (2 - self.c_c)
        ranked = (best.T * self.weights) @ best
        self.cov = kept * self.cov + self.c_1 * np.outer(self.p_c, self.p_c) + self.c_mu * ranked
        self.sigma *= np.exp(self.c_sigma / self.damping * (length / self.norm - 1))


class Sizes(NamedTuple):
    """How much is computed; the length of runs in seconds."""

    generations: int = 60
    population: int = 16
    runs: int = 4  # of each policy in each generation
    every: int = 5  # generations from one selection to the next
    select: int = 12  # seeds of a selection
    test: int = 16  # seeds of the test
    train_duration: float = 10
    duration: float = 20


QUICK = Sizes(2, 4, 2, 1, 2, 2, 4, 4)

Row = tuple[int, float, np.ndarray]  # generation, mean score of the population, scores of the selection


def train(name: str, draws, select: Sequence[Link], sizes: Sizes, seed: int) -> tuple[np.ndarray, list[Row]]:
    """Train a policy; return the one that was best at a selection, and a row for each selection.

    `draws` takes a random generator and returns the links of a generation. All policies of a generation run on the same
    links with the same seeds, which no other generation has.
    """
    random = np.random.default_rng(seed)
    search = CmaEs(np.zeros(SIZE), 0.5, sizes.population, random)
    best, rows, started = search.mean, [], time.monotonic()

    def selected() -> np.ndarray:
        seeds = [1_000_000 + i for i in range(len(select))]
        return scores(select, seeds, np.tile(search.mean, (len(select), 1)), None, sizes.duration)[:, 0]

    try:
        for generation in range(1, sizes.generations + 1):
            policies = search.ask()
            links = draws(random) * sizes.population
            seeds = [generation * 1000 + i for i in range(sizes.runs)] * sizes.population
            found = scores(links, seeds, np.repeat(policies, sizes.runs, 0), None, sizes.train_duration)[:, 0]
            fitness = found.reshape(sizes.population, sizes.runs).mean(1)
            search.tell(fitness)
            if generation % sizes.every == 0 or generation == 1:
                row = (generation, float(fitness.mean()), selected())
                if not rows or row[2].mean() > max(old[2].mean() for old in rows):
                    best = search.mean.copy()
                rows.append(row)
                print(
                    f"\r{name}: generation {generation} of {sizes.generations}, score {row[2].mean():.3f}, "
                    f"{time.monotonic() - started:.0f} s",
                    end="",
                    flush=True,
                )
    except KeyboardInterrupt:
        print("\nended; the best policy so far is tested", end="")
    print()
    return best, rows


def interval(values: np.ndarray) -> tuple[float, float]:
    """Return the mean of values and the half width of its 95 % interval (Student)."""
    half = stats.t.ppf(0.975, len(values) - 1) * values.std(ddof=1) / np.sqrt(len(values))
    return float(values.mean()), float(half)


def tuned(select: Sequence[Link], sizes: Sizes) -> str:
    """Return PIE with the target that scores best at the selection of the policies."""
    seeds = [1_000_000 + i for i in range(len(select))]
    forms = [f"pie:target={target} ms" for target in (1, 2, 3, 4, 5, 6, 8, 10, 15)]
    return max(forms, key=lambda form: scores(select, seeds, None, form, sizes.duration)[:, 0].mean())


def tested(rivals: dict[str, np.ndarray | str], sizes: Sizes) -> Iterator[tuple[Link, dict[str, np.ndarray]]]:
    """Yield each link with what `scores` returns for each rival, a policy or a discipline, on the same seeds."""
    seeds = [2_000_000 + i for i in range(sizes.test)]
    for link in [OWN, *UNSEEN]:
        links, found = [link] * sizes.test, {}
        for name, rival in rivals.items():
            policies = None if isinstance(rival, str) else np.tile(rival, (sizes.test, 1))
            aqm = rival if isinstance(rival, str) else None
            found[name] = scores(links, seeds, policies, aqm, sizes.duration)
        yield link, found


def draw_learning(curves: dict[str, list[Row]], lines: dict[str, dict[str, np.ndarray]], path: Path) -> None:
    """Draw the score at each selection, with its 95 % interval, beside PIE's at the same selection."""
    figure, axes = plt.subplots(1, len(curves), figsize=(11, 4), sharey=True, layout="constrained")
    for place, (name, rows) in zip(axes, curves.items(), strict=True):
        generations = [row[0] for row in rows]
        mean, half = np.array([interval(row[2]) for row in rows]).reshape(-1, 2).T
        place.plot(generations, mean, color="C0", marker=".", label="the mean policy, at the selection")
        place.fill_between(generations, mean - half, mean + half, color="C0", alpha=0.25, lw=0)
        place.plot(generations, [row[1] for row in rows], color="0.6", lw=1, label="the population, in training")
        for colour, (rival, found) in zip(("C2", "C3"), lines[name].items(), strict=True):
            place.axhline(found.mean(), color=colour, ls="--", label=rival)
        place.set(title=name, xlabel="generation", ylim=(0.5, 1))
        place.legend(loc="lower right", fontsize=8)
    axes[0].set_ylabel("score: utilisation - delay / 100 ms")
    figure.savefig(path, dpi=110)


def draw_unseen(found: list[tuple[Link, dict[str, np.ndarray]]], reference: str, path: Path) -> None:
    """Draw the score of each rival on each link, and the paired differences from one of them, with 95 % intervals."""
    figure, axes = plt.subplots(1, 2, figsize=(11, 5.5), sharey=True, layout="constrained")
    names = list(found[0][1])
    for place in axes:
        place.axhspan(-0.5, 0.5, color="0.92", zorder=0)
    for which, name in enumerate(names):
        style = {"fmt": "o", "ms": 4, "color": f"C{which}", "label": name}
        rows = np.arange(len(found)) + 0.14 * (which - (len(names) - 1) / 2)
        mean, half = np.array([interval(values[name][:, 0]) for _, values in found]).T
        axes[0].errorbar(mean, rows, xerr=half, **style)
        if name != reference:
            less = [interval(values[name][:, 0] - values[reference][:, 0]) for _, values in found]
            mean, half = np.array(less).T
            axes[1].errorbar(mean, rows, xerr=half, **style)
    axes[1].axvline(0, color="0.4", lw=1)
    labels = [f"{link.rate:g} Mbit/s, {link.rtt:g} ms, {link.flows} flows" for link, _ in found]
    labels[0] = f"own link: {labels[0]}"
    axes[0].set_yticks(range(len(found)), labels)
    axes[0].invert_yaxis()
    axes[0].set_xlabel("score: utilisation - delay / 100 ms")
    axes[1].set_xlabel(f"score minus that of {reference}, paired")
    figure.legend(*axes[0].get_legend_handles_labels(), loc="outside upper center", ncols=len(names))
    figure.savefig(path, dpi=110)


def report(found: list[tuple[Link, dict[str, np.ndarray]]], references: Sequence[str]) -> None:
    """Print what each rival reached on each link, and the paired differences of the policies."""
    for link, values in found:
        print(f"\n{link.rate:g} Mbit/s, RTT {link.rtt:g} ms, {link.flows} flows{' (own link)' * (link == OWN)}")
        for name, one in values.items():
            (mean, half), (_, used, delay) = interval(one[:, 0]), one.mean(0)
            line = f"  {name:17} score {mean:.3f} ± {half:.3f}  utilisation {used:.3f}  delay {delay:5.1f} ms"
            if name.startswith("policy"):
                pairs = {reference: interval(one[:, 0] - values[reference][:, 0]) for reference in references}
                line += "  paired: " + ", ".join(f"{m:+.3f} ± {h:.3f} to {who}" for who, (m, h) in pairs.items())
            print(line)


def main() -> None:
    """Train, choose the rivals, test, draw."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--quick", action="store_true", help="a few seconds, to see that it works")
    parser.add_argument("--seed", type=int, default=1, help="the seed of the search, not of the runs")
    parser.add_argument("--out", type=Path, default=Path("out/train"), help="the folder of the figures")
    arguments = parser.parse_args()
    sizes = QUICK if arguments.quick else Sizes()
    arguments.out.mkdir(parents=True, exist_ok=True)
    draws = {
        "policy, own link": lambda _: [OWN] * sizes.runs,
        "policy, many links": lambda random: drawn(random, sizes.runs),
    }
    select = {
        "policy, own link": [OWN] * sizes.select,
        "policy, many links": drawn(np.random.default_rng(2), sizes.select),
    }
    rivals: dict[str, np.ndarray | str] = {}
    curves, lines = {}, {}
    for name in draws:
        rivals[name], curves[name] = train(name, draws[name], select[name], sizes, arguments.seed)
    rivals |= {"PIE": "pie", "PIE, tuned": tuned(select["policy, own link"], sizes), "CoDel": "codel"}
    print(f"PIE, tuned on the own link: {rivals['PIE, tuned']}")
    seeds = [1_000_000 + i for i in range(sizes.select)]
    for name, links in select.items():
        pies = ("PIE", "PIE, tuned")
        lines[name] = {who: scores(links, seeds, None, rivals[who], sizes.duration)[:, 0] for who in pies}
    draw_learning(curves, lines, arguments.out / "learning.png")
    found = list(tested(rivals, sizes))
    report(found, ["PIE", "PIE, tuned"])
    draw_unseen(found, "PIE, tuned", arguments.out / "unseen.png")
    policies = {name: rival.tolist() for name, rival in rivals.items() if not isinstance(rival, str)}
    (arguments.out / "policy.json").write_text(json.dumps(policies) + "\n")
    print(f"\nwritten to {arguments.out}: learning.png, unseen.png, policy.json")


if __name__ == "__main__":
    main()
