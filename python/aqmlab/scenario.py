"""The scenario: a thin, typed wrapper around the one schema, which is in crates/scenario."""

from __future__ import annotations

import functools
import json
import os
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence, Set
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias

from aqmlab import _core, plugins
from aqmlab.presenters import presented

if TYPE_CHECKING:
    from anywidget import AnyWidget

    from aqmlab.own.algorithm import AQM

Value: TypeAlias = bool | int | float | str | Sequence["Value | Settings"]
Settings: TypeAlias = Mapping[str, "Value | Settings"]

_SHIPPED = Path(__file__).parent / "library"


class Scenario:
    """A scenario of a simulation: the network, its traffic, its queue disciplines, and the measurements.

    A scenario is immutable; `with_` returns a new one. Create one with `Scenario.load`, `Scenario.parse` or
    `Scenario.from_dict`. Syntax is checked at once. `check` checks everything; so does any operation that needs the
    values. The first such operation reads the recordings of traffic and rates, and the scenario keeps their content;
    runs, comparisons and sweeps read them again.

    Parameters
    ----------
    core : aqmlab._core.Scenario
        The engine's scenario object.
    based_on : str or Path
        The shipped scenario that it was, before any changes, by its name or its file; by default the first that its
        file extends.
    """

    __slots__ = ("_based_on", "_core")

    def __init__(self, core: _core.Scenario, based_on: str | Path = "") -> None:
        if not isinstance(core, _core.Scenario):
            raise TypeError(
                f"Scenario(…) of a {type(core).__name__}: call Scenario.load(FILE), Scenario.parse(TEXT) or "
                "Scenario.from_dict(MAPPING)"
            )
        self._core = core
        self._based_on = based_on

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> Scenario:
        """Read a scenario file.

        Parameters
        ----------
        path : str or PathLike
            A TOML file or, if there is no such file, the name of a shipped scenario: ``lred/exp1``.

        Returns
        -------
        Scenario
            The scenario, not yet checked.

        Raises
        ------
        ScenarioError
            If there is no such file or shipped scenario, or the file is not TOML.
        """
        if not os.fspath(path).strip():
            raise _core.ScenarioError(f"{os.fspath(path)!r}: must be the name of a file or of a shipped scenario")
        found = Path(path)
        if not os.path.isfile(found):
            name = os.fspath(path).removesuffix(".toml")
            found = _library().get(name) or shipped().get(name, found)
        try:
            core = _resting_on_shipped(lambda scenarios: _core.Scenario.load(found, scenarios))
        except _core.ScenarioError as error:
            if os.path.lexists(found):
                raise
            listed = f"{error}; `aqmlab list scenarios` lists those that are shipped"
            if not plugins.entries("aqmlab.scenarios"):
                listed += "; " + plugins.missing("papers", "a paper's scenario")
            raise worded(error, listed) from None
        return cls(core, found)

    @classmethod
    def parse(cls, text: str, name: str = "<text>") -> Scenario:
        """Parse a scenario from a string.

        Parameters
        ----------
        text : str
            The scenario as TOML; it may extend a shipped scenario.
        name : str
            The name of the text in messages.

        Returns
        -------
        Scenario
            The scenario, not yet checked.
        """
        return cls(_resting_on_shipped(lambda scenarios: _core.Scenario.parse(text, name, scenarios)))

    @classmethod
    def from_dict(cls, tables: Settings) -> Scenario:
        """Make a scenario of the keys and values of a scenario file, as `tomllib` reads one or a program makes them.

        Parameters
        ----------
        tables : mapping
            The keys of the file: ``{"dumbbell": {"rate": "5 Mbit/s"}, "traffic": [{"count": 3}]}``. It may extend a
            shipped scenario. A number of a quantity is in s, bit/s, bytes or Hz.

        Returns
        -------
        Scenario
            The scenario, not yet checked.

        Raises
        ------
        ScenarioError
            If it extends an unknown scenario, or is nested too deeply.
        TypeError
            If it is no mapping, or a value in it is none that a file can have.

        Examples
        --------
        >>> scenario = Scenario.from_dict({"duration": 10, "dumbbell": {}, "traffic": [{"count": 3}]})
        >>> scenario.duration
        10.0
        """
        return cls(_resting_on_shipped(lambda scenarios: _core.Scenario.of(tables, "<dict>", scenarios)))

    def with_(self, settings: Settings | None = None, /, **top: Value | Settings) -> Scenario:
        """Return a copy with some values changed.

        Parameters
        ----------
        settings : mapping
            Values by dotted path, or nested: ``{"traffic.long.count": 100, "dumbbell": {"rate": "5 Mbit/s"}}``. A
            number of a quantity is in s, bit/s, bytes or Hz: ``{"dumbbell.rate": 5e6}``.
        **top : value or mapping
            Further settings whose path has no dot: ``duration="50 s"``, ``seed=3``. A string for ``aqm`` is ``name`` or
            ``name:key=value,key=value``; parameters not listed take their defaults, whatever the scenario has, but its
            target queue (q0) is kept. A class of one's own, a subclass of `AQM` in a file, is named ``FILE:CLASS``, or
            stands for itself.

        Returns
        -------
        Scenario
            The changed scenario, not yet checked.

        Raises
        ------
        ScenarioError
            If a path cannot exist.

        Examples
        --------
        >>> exp1 = Scenario.load("lred/exp1")
        >>> exp1.with_(aqm="pi:q_ref=60", seed=7).aqm
        'pi'
        >>> exp1.with_({"traffic.long.count": 100}) == exp1
        False
        """
        changes = {**(settings or {}), **top}
        core = self._core
        # Set the algorithm first: the other settings may be its parameters.
        if isinstance(spec := changes.get("aqm"), str | type):
            core = core.with_aqm(_named(spec))
            del changes["aqm"]
        for path, value in _paths(changes):
            core = core.with_value(path, value)
        return Scenario(core, self._based_on)

    def _with_text(self, path: str, text: str) -> Scenario:
        """Return a copy with a value as ``--set PATH=VALUE`` writes it: the quotes around a string may be omitted."""
        return Scenario(self._core.with_text(path, text), self._based_on)

    def play(self, aqms: Iterable[str] = (), height: int = 640) -> AnyWidget:
        """Show the scenario in the playground, in a cell of a notebook: a queue that reacts while you move sliders.

        Parameters
        ----------
        aqms : iterable of str
            At most three disciplines to show beside each other, each ``name`` or ``name:key=value,key=value``; by
            default that of the scenario.
        height : int
            The height of the widget, in CSS pixels.

        Returns
        -------
        anywidget.AnyWidget
            The widget, for Jupyter and marimo.

        Raises
        ------
        ScenarioError
            If the scenario is not valid, or a page cannot simulate it: it has a recording, or a discipline of your own.
        ImportError
            If anywidget is not installed; ``pip install 'aqmlab[notebook]'`` installs it.
        FileNotFoundError
            If the playground is not built.
        """
        widget: AnyWidget = presented("scenario.player", self, aqms, height)
        return widget

    def check(self) -> None:
        """Check every value.

        Raises
        ------
        ScenarioError
            If anything is wrong: one line per problem, with the file, line, key, value and allowed values.
        """
        self._core.check()

    def to_toml(self) -> str:
        """Write the scenario as TOML.

        Returns
        -------
        str
            The text of a scenario file, which `parse` reads back.
        """
        return self._core.to_toml()

    @property
    def resolved(self) -> dict[str, Any]:
        """Every value that the run will use, with every default filled in."""
        resolved: dict[str, Any] = json.loads(self._core.to_json())
        return resolved

    @property
    def _study(self) -> dict[str, Any] | None:
        """The `[sweep]` table with every default filled in, or None. ``vary`` lists each path, value and origin."""
        table = self._core.sweep()
        return None if table is None else json.loads(table)

    @property
    def _extension(self) -> dict[str, Any] | None:
        """What the scenario's file extends, or None.

        ``files`` has the extended file, the file that this one extends, and so on. ``changes`` has the ``path`` of each
        value that differs from the first of them, with ``old`` and ``new`` as text; None stands for no value.
        """
        extension = self._core.extension()
        return None if extension is None else json.loads(extension)

    def _reloaded(self) -> Scenario:
        """Return a copy that will read the scenario's recordings again."""
        return Scenario(self._core.anew(), self._based_on)

    @property
    def based_on(self) -> str:
        """The name of the shipped scenario that it is, or on which it is based; empty without."""
        if self._based_on and isinstance(self._based_on, str):
            return self._based_on
        files = map(Path, filter(None, [self._based_on, *(self._extension or {"files": []})["files"]]))
        return next((name for file in files if (name := _name(file))), "")

    @property
    def _base(self) -> Scenario:
        """The scenario without its `[sweep]`."""
        return Scenario(self._core.base(), self._based_on)

    @property
    def title(self) -> str:
        """The name of the run in tables and figures."""
        return self._core.title

    @property
    def aqm(self) -> str:
        """The name of the observed link's queue discipline, as the scenario writes it: ``fq_codel``, not ``fq``."""
        return self._core.aqm

    @property
    def buffer(self) -> str:
        """The limit of the observed queue in packets or bytes, also if the scenario has a time or ``2 BDP``."""
        return self._core.buffer

    @property
    def target(self) -> float | None:
        """The queue length in packets to which the observed queue is steered, or None."""
        return self._core.target

    @property
    def duration(self) -> float:
        """Simulated time in seconds."""
        return self._core.duration

    @property
    def warmup(self) -> float:
        """The time at the start, in seconds, that the metrics exclude."""
        return self._core.warmup

    @property
    def seed(self) -> int:
        """The seed of a run, unless the call sets another."""
        return self._core.seed

    @property
    def _memory(self) -> int:
        """The estimated memory of one run in bytes; the beginning of a run is tried for it."""
        return self._core.memory_estimate

    @property
    def _known_memory(self) -> int:
        """The bytes of it that are known without a trial: flows that exist from the start, and series."""
        return self._core.known_memory

    @property
    def nodes(self) -> list[str]:
        """The names of the nodes, in the order of their numbers."""
        return self._core.nodes

    @property
    def managed_links(self) -> list[str]:
        """The names of the links with a queue discipline."""
        return self._core.managed_links

    @property
    def _packets(self) -> float:
        """The estimated number of packets that one run carries."""
        return self._core.packet_estimate

    @property
    def _slots(self) -> float:
        """The estimated number of slots of cells and intervals of cables in one run, if each has something to do."""
        return self._core.slot_estimate

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Scenario) and self.to_toml() == other.to_toml()

    def __hash__(self) -> int:
        return hash(self.to_toml())

    def __deepcopy__(self, memo: dict[int, Any]) -> Scenario:
        return self  # immutable; gymnasium copies the arguments of an environment

    def __repr__(self) -> str:
        try:
            return f"<Scenario {self.title!r}: {self.aqm}, {self.duration:g} s, seed {self.seed}>"
        except _core.ScenarioError as error:
            return f"<Scenario with problems: {error}>"

    def _repr_html_(self) -> str:
        return str(presented("scenario.html", self))


def worded(error: _core.ScenarioError, text: str) -> _core.ScenarioError:
    """Return an error with another text and the same attributes."""
    found = _core.ScenarioError(text)
    for name in ("problems", "kind", "path", "file", "line"):
        setattr(found, name, getattr(error, name))
    return found


def _paths(settings: Settings, prefix: str = "") -> Iterator[tuple[str, Value | Settings]]:
    """Flatten nested settings into dotted paths; those nested too deeply, or in themselves, are left to the engine."""
    for key, value in settings.items():
        path = f"{prefix}{key}"
        if isinstance(value, Mapping) and path.count(".") < _core.deepest:
            yield from _paths(value, f"{path}.")
        else:
            yield path, value


def shipped() -> dict[str, Path]:
    """List the scenarios shipped with aqmlab, and those of other distributions that are installed.

    Returns
    -------
    dict
        The file of each scenario, by its name: ``lred/exp1``.
    """
    return dict(_shipped())


@functools.cache
def _shipped() -> Mapping[str, Path]:
    added = {
        f"{name}/{file}": path
        for name, package in plugins.entries("aqmlab.scenarios").items()
        if (place := plugins.folder(package))
        for file, path in _scenarios(place)
    }
    return dict(sorted({**_library(), **added}.items()))


@functools.cache
def _library() -> Mapping[str, Path]:
    """List aqmlab's own scenarios: to look for those of other distributions takes 20 ms."""
    return dict(_scenarios(_SHIPPED))


def _scenarios(place: Path) -> Iterator[tuple[str, Path]]:
    # Files whose names begin with _ are no scenarios, but what some of them extend.
    for file in place.rglob("[!_]*.toml"):
        yield file.relative_to(place).with_suffix("").as_posix(), file


def _resting_on_shipped(make: Callable[[Mapping[str, Path]], _core.Scenario]) -> _core.Scenario:
    """Return the scenario that `make` makes, which extends one of aqmlab's own or, if that fails, any shipped one."""
    try:
        return make(_library())
    except _core.ScenarioError:
        return make(_shipped())


def _name(file: Path) -> str:
    scenarios = _library() if file.is_relative_to(_SHIPPED) else _shipped()
    return next((name for name, path in scenarios.items() if path == file), "")


def catalogue() -> dict[str, Any]:
    """List everything that a scenario can name: queue disciplines, TCPs, traffic, and every table with its parameters.

    Returns
    -------
    dict
        ``aqms``, ``variants``, ``tcps``, ``traffic`` (lists of entries with a ``name`` and a ``summary``) and
        ``tables``. If an entry has ``parameters``, each has ``name``, ``doc``, ``unit``, ``default``, ``allowed`` and
        ``aliases``. A queue discipline has its ``doc``, its ``signals``, its ``presets`` with the ``values`` that
        differ from the defaults, whether it drops at ``random``, and the quantity that it ``steers`` to a target:
        ``length``, ``delay`` or None. A variant is a name for the ``preset`` ``of`` a discipline.

    Examples
    --------
    >>> red = next(entry for entry in catalogue()["aqms"] if entry["name"] == "red")
    >>> [preset["values"] for preset in red["presets"] if preset["name"] == "floyd1997"]
    [{'min_th': 5.0, 'max_th': 15.0, 'w_q': 0.002, 'gentle': False}]
    """
    listed: dict[str, Any] = json.loads(_core.catalogue())
    return listed


def disciplines() -> list[str]:
    """List the names of all queue disciplines, each followed by its variants.

    Returns
    -------
    list of str
        The names that ``--aqm all`` stands for, in the order of the catalogue.

    Examples
    --------
    >>> disciplines()[0]
    'droptail'
    """
    listed = catalogue()
    names = []
    for entry in listed["aqms"]:
        names += [entry["name"], *(variant["name"] for variant in listed["variants"] if variant["of"] == entry["name"])]
    return names


def schema() -> dict[str, Any]:
    """Return the JSON Schema of a scenario file, for editors and other programs.

    Returns
    -------
    dict
        The schema.
    """
    document: dict[str, Any] = json.loads(_core.schema())
    return document


def described(reference: str, source: str | None = None) -> dict[str, Any]:
    """Describe a queue discipline, also one of the user's own, ``FILE:CLASS``, as `catalogue` describes all.

    With the digest `source` it is that of the file's content with this digest.

    Raise ValueError with the file, the line and the reason if there is none.
    """
    entry: dict[str, Any] = json.loads(_core.described(reference, source))
    return entry


def portable(scenario: Scenario, changes: Settings | None = None) -> tuple[str, dict[str, bytes]]:
    """Write a scenario as TOML that names the user's own disciplines by files beside it; return those files as well.

    The text has `changes`, which may name recordings that are not there yet. Two scenarios with the same text are the
    same, wherever the files of their disciplines were.
    """
    from aqmlab.own.source import text_of

    text, files = (scenario.with_(changes) if changes else scenario).to_toml(), {}
    for reference, source in sorted(scenario._core.own_algorithms):
        path, _, name = reference.rpartition(":")
        file = f"{Path(path).stem.removesuffix(f'-{source[:8]}')}-{source[:8]}.py"
        files[file] = text_of(source).encode()
        text = text.replace(reference, f"{file}:{name}")
    return text, files


def _named(spec: str | type[AQM]) -> str:
    if isinstance(spec, str):
        return spec
    from aqmlab.own.source import reference

    return reference(spec)


def is_own(name: str) -> bool:
    """Return whether a queue discipline is a class in a file of Python."""
    return name.endswith(".py") or ".py:" in name


def discipline(name: str, scenario: Scenario) -> Mapping[str, Any]:
    """Describe a discipline that a scenario names, as `catalogue` does; of a variant, the one that it is `of`."""
    if not is_own(name):
        return _listed(name)
    own: list[tuple[str, str | None]] = [*sorted(scenario._core.own_algorithms)]
    tail = f"/{os.path.normpath(name)}"
    same = [one for one in own if one[0] == name or one[0].endswith(tail)]
    same += [one for one in own if Path(one[0]).name == Path(name).name]
    return described(*(same or [(name, None)])[0])


def parameter_names(scenario: Scenario) -> Set[str]:
    """Return the names of the parameters of a scenario's queue discipline, including aliases and ``preset``."""
    parameters = discipline(scenario.aqm, scenario)["parameters"]
    return {"preset"} | {name for p in parameters for name in (p["name"], *p["aliases"])}


def is_for(path: str, scenario: Scenario) -> bool:
    """Return whether a dotted path is a parameter of the scenario's discipline, or not of a discipline at all."""
    head, _, rest = path.partition(".")
    return head != "aqm" or rest.partition(".")[0] in parameter_names(scenario)


@functools.cache
def _listed(name: str) -> Mapping[str, Any]:
    return described(algorithms().get(name, name))


def algorithms() -> Mapping[str, str]:
    """Return the algorithm of each variant, by their names."""
    return _core.variants


LISTS = ("link", "wifi", "cell", "cable")
"""The keys of a scenario whose tables have links with queues."""


def cables(resolved: Mapping[str, Any]) -> dict[str, Mapping[str, Any]]:
    """Return the table of each `[[link]]`, `[[wifi]]`, `[[cell]]` and `[[cable]]` by its links one way."""
    tables = {link["name"]: link for link in resolved.get("link", ())}
    for wifi in resolved.get("wifi", ()):
        own = wifi
        if wifi["queues"] == "shared":
            tables[wifi["name"]] = wifi
            own = {**wifi, "aqm": {"name": "droptail"}, "buffer": f"{wifi['driver']} packets"}
        tables |= {f"{wifi['name']}-{station}": own for station in wifi["stations"]}
    for cell in resolved.get("cell", ()):
        tables |= {f"{cell['name']}-{user}": cell for user in cell["users"]}
    for cable in resolved.get("cable", ()):
        tables |= {f"{cable['name']}-{modem}": cable for modem in cable["modems"]}
    return tables


def require_scenario(scenario: object) -> None:
    """Raise TypeError if the argument is not a Scenario; for a string, explain how to load a scenario by name."""
    if not isinstance(scenario, Scenario):
        cure = f": load it with Scenario.load({scenario!r})" if isinstance(scenario, str) else ""
        raise TypeError(f"scenario = {scenario!r}: must be a Scenario{cure}")
