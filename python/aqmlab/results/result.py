"""The result of a scenario: its replications and their statistics."""

from __future__ import annotations

import os
import re
import shlex
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self

from aqmlab.files import parquet
from aqmlab.kinds import FLOWS, RESULT
from aqmlab.results import distribution, frames
from aqmlab.results.series import NAMES, Recording, averaged
from aqmlab.results.summary import Summary
from aqmlab.results.views import Shown
from aqmlab.scenario import Scenario, portable
from aqmlab.sealed import Saved, Saving

if TYPE_CHECKING:
    import polars

Metrics = dict[str, float | None]
Distributions = dict[str, dict[str, dict[str, list[float]]]]

PACKET = "packet"
"""The name of the engine that simulates packets; results that are saved without a name are from it."""

KERNEL = "kernel:"
"""Begins the name of a queue discipline of Linux, which tc's words follow."""


class NoSuchMetric(ValueError):  # noqa: N818  the name is at fault, not the run
    """Raised when a result has no metric of a name; the message gives the reason and near names."""


FILES = re.compile(rf"result\.json|scenario\.toml|.+-[0-9a-f]{{8}}\.py|{NAMES}|program-\d+-.+\.std(out|err)")
"""The names of a result's files."""


@dataclass(frozen=True)
class Run:
    """One replication.

    Parameters
    ----------
    seed : int
        The seed of the run.
    metrics : dict
        Metrics of the observed queue and all flows; `aqmlab.METRICS` defines each.
    classes : dict
        Metrics of each traffic entry, by its name.
    links : dict
        Metrics of each managed link, by its name.
    distributions : dict
        Under ``classes`` and ``links``, by name, the whole distributions of each; `aqmlab.DISTRIBUTIONS` defines them.
        A distribution without values is empty.
    engine : dict
        ``packets``, ``events`` and ``cpu_seconds`` of the run; of the linux engine also ``timing_error_p50``, ``_p99``
        and ``_max`` in s.
    lanes : dict
        Metrics of each queue of the managed links whose discipline names its queues, by ``LINK.LANE``.
    counters : dict
        Of each managed link whose discipline has more numbers, as CAKE's tins have, these by its source's names: counts
        of the measurement window, other values as they were at the end of the run.
    elsewhere : dict or None
        If the observed queue never filled because another link on the same paths was the bottleneck, the name of that
        ``link`` and its ``utilisation``.
    programs : list
        Each program that traffic of kind ``program`` has run, with its ``words``, exit ``status`` and output.
    """

    seed: int
    metrics: Metrics
    classes: dict[str, Metrics]
    links: dict[str, Metrics]
    lanes: dict[str, Metrics] = field(kw_only=True)
    distributions: Distributions
    engine: Metrics
    counters: dict[str, dict[str, float]] = field(default_factory=dict, kw_only=True)
    elsewhere: dict[str, Any] | None = field(default=None, kw_only=True)
    programs: list[dict[str, Any]] = field(default_factory=list, kw_only=True)

    def document(self) -> dict[str, Any]:
        """Return the run as a dictionary for JSON.

        Returns
        -------
        dict
            ``seed``, ``metrics``, ``classes``, ``links``, ``lanes``, ``distributions``, ``engine``, and ``counters``,
            ``elsewhere`` and ``programs`` unless they are empty.
        """
        document = {name: getattr(self, name) for name in self.__dataclass_fields__}
        optional = ("counters", "elsewhere", "programs")
        return {name: value for name, value in document.items() if name not in optional or value}


def _written(run: Run) -> Iterator[tuple[str, bytes]]:
    """Yield the name and the content of a file for each stream of each program that has written something."""
    for one in run.programs:
        for stream in ("stdout", "stderr"):
            if text := one[stream]:
                yield f"program-{run.seed}-{one['entry']}.{one['key']}-{one['number']}.{stream}", text.encode()


@dataclass(frozen=True, repr=False)
class Result(Shown):
    """The replications of one scenario, with the scenario and the version that made them.

    Parameters
    ----------
    scenario : Scenario
        The scenario that was simulated.
    runs : sequence of Run
        The replications, in the order of their seeds as given.
    recordings : mapping
        The series of each run, by its seed.
    version : str
        The version of aqmlab that made the result.
    not_modelled : sequence of str or None
        The parts of the scenario that the equations of `aqmlab.fluid` leave out or simplify; None if packets were
        simulated.
    engine_name : str
        The engine that performed the runs, as for `aqmlab.run`: ``packet``, ``fluid``, ``linux:clock=real``.
    batches : mapping
        Of one long run, the statistics of the metrics that have an interval by batch means: `Summary.n` is the number
        of batches.
    engine_version : str or None
        The version of that engine, which identifies all that determines the runs except scenario and seeds; None of a
        result that was saved without it.
    """

    scenario: Scenario
    runs: Sequence[Run]
    recordings: Mapping[int, Recording] = field(compare=False)
    version: str
    not_modelled: Sequence[str] | None = None
    engine_name: str = PACKET
    batches: Mapping[str, Summary] = field(default_factory=dict)
    engine_version: str | None = field(default=None, kw_only=True)

    @property
    def discipline(self) -> str:
        """The queue discipline at the observed link: the scenario's, or Linux's own as in ``kernel:pie limit 1000``."""
        _, _, words = self.engine_name.partition("qdisc=")  # the last of the options
        return f"{KERNEL}{words}" if words else self.scenario.aqm

    @property
    def seeded(self) -> bool:
        """Whether the runs depend on their seeds; the single run of the fluid model does not."""
        return self.not_modelled is None

    @property
    def seeds(self) -> list[int]:
        """The seeds of the runs."""
        return [run.seed for run in self.runs]

    @cached_property
    def summaries(self) -> Mapping[str, Summary]:
        """Mean, standard deviation and 95 % interval of every metric over the seeds, or by batch means, by its column.

        The columns are those of `frame`: ``queue_mean``, ``classes.NAME.goodput``.
        """
        return {name: self[name] for name in self._values}

    @cached_property
    def _values(self) -> dict[str, list[float | None]]:
        """The values of every metric, by its column, in the order of the runs."""
        rows = [dict(frames.flat(run.document())) for run in self.runs]
        return {name: [row[name] for row in rows] for name in rows[0]}

    def __iter__(self) -> Iterator[str]:
        return iter(self._values)

    def __getitem__(self, metric: str) -> Summary:
        if metric not in self._values:
            raise NoSuchMetric(f"{metric}: {self._lacking(metric)}")
        # Not from `summaries`: between the stages of `until`, one metric of thousands of runs is wanted.
        return self.batches.get(metric) or Summary.of(self._values[metric])

    def _lacking(self, metric: str) -> str:
        """Explain why there is no metric of this name."""
        names = [one for one in self if not one.startswith("engine.")]
        owner, _, last = metric.rpartition(".")
        having = [one for one in names if one.endswith(f".{last}")]
        if any(one.startswith(f"{owner}.") for one in names):
            return f"{owner} has no {last}" + (f": {_listed(having)} has" if having else "")
        scope = owner.partition(".")[0]
        there = dict.fromkeys(one.rpartition(".")[0] for one in names if one.startswith(f"{scope}."))
        return f"there is no {owner}; known: {', '.join(there) or 'none'}" if owner else f"{self.discipline} has none"

    def owned(self, scope: str) -> dict[str, dict[str, Summary]]:
        """Return the statistics of each owner of metrics in a scope, by its name and the metric's.

        Parameters
        ----------
        scope : str
            ``classes`` for traffic entries, ``links`` for managed links, ``lanes`` for queues that a discipline names.

        Returns
        -------
        dict
            The `Summary` of each metric of each owner.
        """
        found: dict[str, dict[str, Summary]] = {}
        for column, summary in self.summaries.items():
            where, owner, metric = frames.parts(column)
            if where == scope:
                found.setdefault(owner, {})[metric] = summary
        return found

    @property
    def metrics(self) -> Metrics:
        """The mean over the seeds of every metric of the observed queue and all flows."""
        return {name: summary.mean for name, summary in self.summaries.items() if "." not in name}

    @property
    def summary(self) -> polars.DataFrame:  # noqa: D102  `View` has it
        return frames.summarised({"aqm": self.discipline, "engine": self.engine_name}, self.summaries)

    @cached_property
    def elsewhere(self) -> dict[str, float]:
        """The links that were the bottleneck in place of the observed one, each with its mean utilisation.

        It is empty if the observed queue filled in some run, or nothing else limited the flows.
        """
        found = [run.elsewhere for run in self.runs]
        shares: dict[str, list[float]] = {}
        for one in found:
            if one is None:
                return {}
            shares.setdefault(one["link"], []).append(one["utilisation"])
        return {link: sum(share) / len(share) for link, share in shares.items()}

    @cached_property
    def distributions(self) -> Distributions:
        """The distributions of each traffic entry and managed link, averaged over the seeds number by number."""
        runs = [run.distributions for run in self.runs]
        return {
            kind: {
                owner: {name: distribution.mean(name, [run[kind][owner][name] for run in runs]) for name in names}
                for owner, names in owners.items()
            }
            for kind, owners in runs[0].items()
        }

    @cached_property
    def engine(self) -> Metrics:
        """The packets, events and CPU seconds of the runs, added up; of timing errors, the greatest."""
        return {
            name: (max if name.startswith("timing") else sum)(run.engine[name] or 0 for run in self.runs)
            for name in self.runs[0].engine
        }

    @property
    def link(self) -> str:
        """The observed link, which metrics and figures describe."""
        return str(self.scenario.resolved["observe"])

    @property
    def signals(self) -> list[str]:
        """The names of the discipline's signals in the series of the observed link."""
        names = (column.removeprefix(f"{self.link}.") for column in self.series.columns)
        signals = (name.removesuffix(".mean") for name in names if name.endswith(".mean"))
        return [name for name in signals if name != "queue" and "." not in name]

    @property
    def series(self) -> polars.DataFrame:
        """Queues and signals over time of the first run; see `series_of`."""
        return self.series_of(self.seeds[0])

    def series_of(self, seed: int) -> polars.DataFrame:
        """Return queues and signals over time of one run.

        Parameters
        ----------
        seed : int
            The seed of the run.

        Returns
        -------
        polars.DataFrame
            ``t``, the start of each bin in seconds. For each managed link and each quantity of it (the queue in
            packets, and the discipline's signals) ``link.quantity.min``, ``.mean`` and ``.max`` over the bin, and
            the counts ``link.arrivals`` and ``link.drops``. For each traffic entry at the observed link
            ``link.class.arrivals``, ``.drops`` and ``.departures``, ``.throughput`` in bit/s, and ``.delay``, the mean
            wait in seconds of the packets sent in the bin, null if there were none. For each queue that its discipline
            names ``link.lane.LANE.`` followed by the queue or one of these five. For each `ping` ``CLASS.rtt``, the
            mean round trip in seconds; for each managed link whose delay varies ``link.travel``, the mean delay of a
            packet there. The frame uses the engine's memory, not a copy.

        Raises
        ------
        LookupError
            If there is no such run, or it recorded no series.
        """
        return self.recordings[seed].queue_frame

    @property
    def mean_series(self) -> polars.DataFrame:
        """The series of all runs, averaged over the seeds.

        ``t``, and for each other column ``COLUMN`` of `series_of`: under the same name its mean over the runs;
        ``COLUMN.least`` and ``COLUMN.greatest``; and ``COLUMN.ci95``, half the 95 % confidence interval of the mean in
        that bin (Student's t), null for fewer than two runs. A run in which a value is null does not count there.

        Raises `LookupError` if a run recorded no series.
        """
        return averaged([self.series_of(seed) for seed in self.seeds])

    def cwnd_of(self, seed: int) -> polars.DataFrame:
        """Return every flow's congestion window over time of one run.

        Parameters
        ----------
        seed : int
            The seed of the run.

        Returns
        -------
        polars.DataFrame
            ``t`` in seconds, ``flow`` by its number, ``class`` by its name, ``cwnd`` and ``ssthresh`` in segments.

        Raises
        ------
        LookupError
            If there is no such run, or it recorded no windows (`record.cwnd` requests them).
        """
        import polars

        names = dict(enumerate(entry["name"] for entry in self.scenario.resolved["traffic"]))
        number = polars.col("flow", "class").cast(polars.UInt32)
        frame = self.recordings[seed].cwnd_frame.with_columns(number)
        return frame.with_columns(polars.col("class").replace_strict(names, return_dtype=polars.String))

    @cached_property
    def flows(self) -> polars.DataFrame:
        """A row for each flow and each transfer of all runs, over its whole life, the warm-up included.

        ``seed``, ``class`` (the traffic entry), ``flow`` (its number there, of a ``web`` object that of the client),
        ``from`` and ``to`` (nodes), ``start`` and ``end`` (s), ``bytes``, ``goodput`` (bit/s), ``rtt_min``,
        ``rtt_mean``, ``rtt_p95`` and ``rtt_max`` (s), ``losses`` and ``marks`` (packets), ``retransmits``,
        ``timeouts``, ``completion_time`` (s). The page on results defines them. What a flow does not have is null.

        Raises `LookupError` if the runs recorded no flows (`record.flows` requests them).
        """
        import polars

        return polars.concat([self._flows_of(seed) for seed in self.seeds])

    def _flows_of(self, seed: int) -> polars.DataFrame:
        import polars

        recorded = self.recordings[seed].flows_frame
        if "goodput" in recorded.columns:
            return recorded  # as `add_to` wrote it
        names = dict(enumerate(entry["name"] for entry in self.scenario.resolved["traffic"]))
        nodes = dict(enumerate(self.scenario.nodes))
        count = polars.col("class", "flow", "from", "to", "bytes", "losses", "marks", "retransmits", "timeouts")
        frame = recorded.with_columns(count.cast(polars.Int64))
        until = polars.col("end").fill_null(self.scenario.duration)
        return frame.select(
            polars.lit(seed).alias("seed"),
            polars.col("class").replace_strict(names, return_dtype=polars.String),
            "flow",
            polars.col("from", "to").replace_strict(nodes, return_dtype=polars.String),
            "start",
            "end",
            "bytes",
            (polars.col("bytes") * 8 / (until - polars.col("start"))).alias("goodput"),
            polars.exclude("class", "flow", "from", "to", "start", "end", "bytes"),
        )

    def document(self) -> dict[str, Any]:
        """Return everything but the series as a dictionary for JSON.

        Returns
        -------
        dict
            ``schema``, ``version``, ``engine_name``, ``engine_version``, ``based_on`` (a shipped scenario),
            ``scenario`` (every default filled in), ``seeds``, ``metrics``, ``classes``, ``links``, ``lanes``,
            ``distributions``, ``engine``, ``summary`` and ``runs``; also ``not_modelled`` if it is from the fluid
            model, and ``batches`` of one long run.
        """
        more: dict[str, Any] = {} if self.not_modelled is None else {"not_modelled": list(self.not_modelled)}
        if self.batches:
            more["batches"] = {name: summary.document() for name, summary in self.batches.items()}
        return {
            "schema": RESULT.version,
            "version": self.version,
            "engine_name": self.engine_name,
            "engine_version": self.engine_version,
            "based_on": self.scenario.based_on,
            "scenario": self.scenario.resolved,
            "seeds": self.seeds,
            "metrics": self.metrics,
            **{scope: _means(self.owned(scope)) for scope in ("classes", "links", "lanes")},
            "distributions": self.distributions,
            "engine": self.engine,
            "summary": {name: self.summaries[name].document() for name in self.metrics},
            "runs": [run.document() for run in self.runs],
            **more,
        }

    @property
    def frame(self) -> polars.DataFrame:
        """The metrics of all runs as a polars frame, a row for each run.

        ``seed``, the metrics, and as ``classes.NAME.goodput`` those of each traffic entry, and likewise of each link
        (``links``), queue (``lanes``) and the engine (``engine``). They are in s, bit/s, bytes, packets and fractions;
        `aqmlab.METRICS` has the unit of each. A metric that is not defined is null.
        """
        return frames.of_runs([run.document() for run in self.runs])

    @property
    def _headed(self) -> polars.DataFrame:
        import polars

        heads = polars.lit(self.discipline).alias("aqm"), polars.lit(self.engine_name).alias("engine")
        return self.frame.select(*heads, polars.all())

    @property
    def _results(self) -> Mapping[str, Result]:
        return {self.discipline: self}

    def save(self, folder: str | os.PathLike[str]) -> None:
        """Write result.json, scenario.toml and the series of each run; `load` reads them.

        Parameters
        ----------
        folder : str or PathLike
            The folder to write to; a result saved there before is removed, other files are kept.
        """
        with Saving(Path(folder), {"": FILES}) as saving:
            self.add_to(saving)

    def add_to(self, saving: Saving, below: str = "") -> None:
        """Write the same files as `save`, together with other results.

        Parameters
        ----------
        saving : Saving
            The context manager that writes the files.
        below : str
            The subfolder to write to, with a trailing slash; empty for none.
        """
        for seed, recording in self.recordings.items():
            for name, data in recording.files(seed):
                saving.add(f"{below}{name}", data)
            if recording.flows is not None:
                saving.add(f"{below}flows-{seed}.parquet", parquet(self._flows_of(seed), FLOWS))
        for name, data in (file for run in self.runs for file in _written(run)):
            saving.add(f"{below}{name}", data)
        text, own = portable(self.scenario)
        for name, data in own.items():
            saving.add(f"{below}{name}", data)
        saving.add(f"{below}scenario.toml", text.encode())
        saving.seal(f"{below}{RESULT.head}", self.document())

    @classmethod
    def load(cls, folder: str | os.PathLike[str]) -> Self:
        """Read a result that `save` wrote.

        Parameters
        ----------
        folder : str or PathLike
            The folder that it was written to.

        Returns
        -------
        Result
            The same result.

        Raises
        ------
        ValueError
            If a file is damaged or not of this result, or another version of aqmlab wrote files that this version
            cannot read.
        """
        folder = Path(folder)
        remedy = f"repeat the call that wrote it, with --out {shlex.quote(os.fspath(folder))}"
        saved = Saved.load(folder / RESULT.head, RESULT, remedy)
        saved.check()
        try:
            runs = [Run(**run) for run in saved.document["runs"]]
            version = saved.document["version"]
            batches = {name: Summary(**one) for name, one in saved.document.get("batches", {}).items()}
        except (KeyError, TypeError) as error:
            raise saved.unusable(str(error)) from error
        if sources := [saved.text(name) for name in saved.files if name.endswith(".py")]:
            from aqmlab.own.source import keep

            keep(sources)
        not_modelled = saved.document.get("not_modelled")
        return cls(
            scenario=Scenario(
                Scenario.parse(saved.text("scenario.toml"), os.fspath(folder / "scenario.toml"))._core,
                saved.document.get("based_on", ""),
            ),
            runs=runs,
            recordings={run.seed: Recording.of(saved.files, run.seed) for run in runs},
            version=version,
            not_modelled=None if not_modelled is None else tuple(not_modelled),
            engine_name=saved.document.get("engine_name", PACKET if not_modelled is None else "fluid"),
            batches=batches,
            engine_version=saved.document.get("engine_version"),
        )


def _listed(names: Sequence[str]) -> str:
    return ", ".join(names[:4]) + (", …" if len(names) > 4 else "")


def _means(owners: Mapping[str, Mapping[str, Summary]]) -> dict[str, Metrics]:
    return {owner: {name: summary.mean for name, summary in of.items()} for owner, of in owners.items()}
