"""A scenario: a thin, typed face on the one schema, which lives in crates/scenario."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, TypeAlias

from aqmlab import _core

Value: TypeAlias = bool | int | float | str | Sequence["Value"]
Settings: TypeAlias = Mapping[str, "Value | Settings"]

_SHIPPED = Path(__file__).parent / "library"


class Scenario:
    """What to simulate: a network, its traffic, its queue disciplines, and what to measure.

    A scenario never changes; `with_` gives a new one. Make one by `Scenario.load` or `Scenario.parse`.
    Syntax is checked at once; `check` checks everything, and so does whatever needs the values. The first of these
    reads the traces that it replays, and the scenario keeps what was read; runs, comparisons and sweeps read them anew.

    Parameters
    ----------
    core : aqmlab._core.Scenario
        The engine's own scenario.
    """

    __slots__ = ("_core",)

    def __init__(self, core: _core.Scenario) -> None:
        self._core = core

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> Scenario:
        """Read a scenario file.

        Parameters
        ----------
        path : str or PathLike
            A TOML file, or where there is no such file the name of a shipped scenario: ``lred/exp1``.

        Returns
        -------
        Scenario
            The scenario, not yet checked.

        Raises
        ------
        ScenarioError
            If there is no such file, or it is not TOML.
        """
        if not os.fspath(path).strip():
            raise _core.ScenarioError(f"{os.fspath(path)!r}: must be the name of a file, or of a shipped scenario")
        found = Path(path)
        if not os.path.isfile(found):
            found = shipped().get(os.fspath(path).removesuffix(".toml"), found)
        return cls(_core.Scenario.load(found))

    @classmethod
    def parse(cls, text: str, name: str = "<text>") -> Scenario:
        """Read a scenario from a text.

        Parameters
        ----------
        text : str
            The scenario as TOML.
        name : str
            What messages call the text.

        Returns
        -------
        Scenario
            The scenario, not yet checked.
        """
        return cls(_core.Scenario.parse(text, name))

    def with_(self, settings: Settings | None = None, /, **top: Value | Settings) -> Scenario:
        """Change some values.

        Parameters
        ----------
        settings : mapping
            Values by dotted path, or nested: ``{"traffic.long.count": 100, "dumbbell": {"rate": "5 Mbit/s"}}``.
        **top : value or mapping
            Further settings whose path has no dot: ``duration="50 s"``, ``seed=3``. A text for ``aqm`` is
            ``name`` or ``name:key=value,key=value``.

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
        given = {**(settings or {}), **top}
        core = self._core
        # The algorithm first: the settings may be parameters of the new one.
        if isinstance(spec := given.get("aqm"), str):
            core = core.with_aqm(spec)
            del given["aqm"]
        for path, value in _paths(given):
            core = core.with_value(path, value)
        return Scenario(core)

    def with_aqm(self, spec: str) -> Scenario:
        """Change the queue discipline.

        Parameters
        ----------
        spec : str
            ``name``, or ``name:key=value,key=value``; what is not named takes its default.

        Returns
        -------
        Scenario
            The changed scenario, not yet checked.
        """
        return Scenario(self._core.with_aqm(spec))

    def with_text(self, path: str, text: str) -> Scenario:
        """Change one value as ``--set PATH=VALUE`` does.

        Parameters
        ----------
        path : str
            A dotted path: ``traffic.long.count``.
        text : str
            The value as one would write it in a file; quotes round a string may be left out.

        Returns
        -------
        Scenario
            The changed scenario, not yet checked.
        """
        return Scenario(self._core.with_text(path, text))

    def check(self) -> None:
        """Check every value.

        Raises
        ------
        ScenarioError
            If anything is wrong: one line per problem, with file, line, key, value, and what is allowed.
        """
        self._core.check()

    def to_toml(self) -> str:
        """Write the scenario as a file would say it.

        Returns
        -------
        str
            TOML that `parse` reads back.
        """
        return self._core.to_toml()

    @property
    def resolved(self) -> dict[str, Any]:
        """Everything that the run will use, every default filled in."""
        resolved: dict[str, Any] = json.loads(self._core.to_json())
        return resolved

    @property
    def study(self) -> dict[str, Any] | None:
        """What its `[sweep]` says, every default filled in, and under ``vary`` each path, value and origin."""
        said = self._core.sweep()
        return None if said is None else json.loads(said)

    def anew(self) -> Scenario:
        """Take the files that it names, traces, as they are now.

        Returns
        -------
        Scenario
            The same scenario, which has not read them yet.
        """
        return Scenario(self._core.anew())

    @property
    def base(self) -> Scenario:
        """The same without its `[sweep]`."""
        return Scenario(self._core.base())

    @property
    def title(self) -> str:
        """What the run is called in tables and figures."""
        return self._core.title

    @property
    def aqm(self) -> str:
        """The name of the observed link's queue discipline."""
        return self._core.aqm

    @property
    def target(self) -> float | None:
        """The queue length in packets that the observed queue is steered to, if there is one."""
        return self._core.target

    @property
    def duration(self) -> float:
        """Simulated time in seconds."""
        return self._core.duration

    @property
    def warmup(self) -> float:
        """Time at the start, in seconds, that the metrics leave out."""
        return self._core.warmup

    @property
    def seed(self) -> int:
        """Where the randomness of a run starts from, unless the run is told another."""
        return self._core.seed

    @property
    def memory(self) -> int:
        """The bytes that one run will need, estimated."""
        return self._core.memory_estimate

    @property
    def packets(self) -> float:
        """The packets that one run will carry, estimated."""
        return self._core.packet_estimate

    @property
    def core(self) -> _core.Scenario:
        """The engine's own scenario."""
        return self._core

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Scenario) and self.to_toml() == other.to_toml()

    def __hash__(self) -> int:
        return hash(self.to_toml())

    def __repr__(self) -> str:
        try:
            return f"<Scenario {self.title!r}: {self.aqm}, {self.duration:g} s, seed {self.seed}>"
        except _core.ScenarioError as error:
            return f"<Scenario with problems: {error}>"


def _paths(settings: Settings, prefix: str = "") -> Iterator[tuple[str, Value | Settings]]:
    """Flatten nested settings into dotted paths; what is too deep, or in itself, is the engine's to refuse."""
    for key, value in settings.items():
        path = f"{prefix}{key}"
        if isinstance(value, Mapping) and path.count(".") < _core.deepest:
            yield from _paths(value, f"{path}.")
        else:
            yield path, value


def shipped() -> dict[str, Path]:
    """List the scenarios that come with aqmlab.

    Returns
    -------
    dict
        Their files by name: ``lred/exp1``.
    """
    files = sorted(_SHIPPED.rglob("*.toml"))
    return {file.relative_to(_SHIPPED).with_suffix("").as_posix(): file for file in files}


def catalogue() -> dict[str, Any]:
    """List what a scenario can name: queue disciplines, TCPs, traffic, and every table with its parameters.

    Returns
    -------
    dict
        ``aqms``, ``variants``, ``tcps``, ``traffic`` (lists of entries with a ``name`` and a ``summary``) and
        ``tables``. Where an entry has ``parameters`` each has ``name``, ``doc``, ``unit``, ``default``, ``allowed``
        and ``aliases``. A queue discipline has its ``doc``, its ``signals``, its ``presets`` with the ``values``
        that are not the defaults, whether it drops at ``random``, and what it ``steers`` to a target: ``length``,
        ``delay`` or None. A variant is a name for the ``preset`` ``of`` a discipline.

    Examples
    --------
    >>> red = next(entry for entry in catalogue()["aqms"] if entry["name"] == "red")
    >>> [preset["values"] for preset in red["presets"] if preset["name"] == "floyd1997"]
    [{'min_th': 5.0, 'max_th': 15.0, 'w_q': 0.002, 'gentle': False}]
    """
    listed: dict[str, Any] = json.loads(_core.catalogue())
    return listed


def disciplines() -> list[str]:
    """Name every queue discipline, each followed by its variants.

    Returns
    -------
    list of str
        What ``--aqm all`` stands for, in the order of the list.

    Examples
    --------
    >>> disciplines()[0]
    'droptail'
    """
    listed = catalogue()
    names = []
    for entry in listed["aqms"]:
        names += [entry["name"], *(one["name"] for one in listed["variants"] if one["of"] == entry["name"])]
    return names


def schema() -> dict[str, Any]:
    """Give the JSON Schema of a scenario file, for editors and other programs.

    Returns
    -------
    dict
        The schema.
    """
    given: dict[str, Any] = json.loads(_core.schema())
    return given


def parameter_names(aqm: str) -> set[str]:
    """Give the names of the parameters of a queue discipline, aliases included.

    Parameters
    ----------
    aqm : str
        Its name.

    Returns
    -------
    set of str
        The names.
    """
    parameters = next(entry["parameters"] for entry in catalogue()["aqms"] if entry["name"] == aqm)
    return {"preset"} | {name for p in parameters for name in (p["name"], *p["aliases"])}
