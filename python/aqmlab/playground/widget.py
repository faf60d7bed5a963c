"""The playground in notebooks: a widget that shows a scenario, a result, or the disciplines of a comparison."""

from __future__ import annotations

import functools
import json
import warnings
from collections.abc import Iterable, Iterator, Mapping
from typing import TYPE_CHECKING, Any

from aqmlab.execute.task import by_algorithm
from aqmlab.playground.address import MOST, Address
from aqmlab.playground.built import WIDGET, built
from aqmlab.playground.limits import require_playable
from aqmlab.results.cases import discipline
from aqmlab.results.result import KERNEL
from aqmlab.scenario import cables

if TYPE_CHECKING:
    from anywidget import AnyWidget

    from aqmlab.results.result import Result
    from aqmlab.scenario import Scenario

NAME = "scenario.toml"
"""The name that the page gives to the text of a scenario."""


def scenario(shown: Scenario, aqms: Iterable[str], height: int, seed: int | None = None) -> AnyWidget:
    """Return a widget that shows a scenario with these disciplines, or with its own.

    Raise ScenarioError if one of them is not valid, or a page cannot simulate it; ImportError without anywidget, and
    `FileNotFoundError` without the built widget.
    """
    if isinstance(aqms, str):
        raise TypeError(f"aqms = {aqms!r}: must be a list of strings: [{aqms!r}]")
    specs = tuple(aqms)
    if len(specs) > MOST:
        raise ValueError(f"aqms = {list(specs)}: the playground shows at most {MOST} at a time: leave some out")
    for spec in specs:
        if spec.startswith(KERNEL):
            raise _only_linux(spec)
    for chosen in [shown.with_(aqm=spec) for spec in specs] or [shown]:
        require_playable(chosen, NAME)
    address = Address(toml=shown.to_toml(), name=NAME, aqms=specs, seed=None if seed == shown.seed else seed)
    return _widget(address, height)


def results(shown: Mapping[str, Result], height: int) -> AnyWidget:
    """Return a widget that shows the disciplines of results beside each other: the first three, if there are more.

    Raise as `scenario` does, and ValueError if the results have nothing in common, or there is none.
    """
    if not shown:
        raise ValueError("the comparison is empty: there is no scenario to show")
    disciplines: dict[str, Result] = {}
    for label, one in shown.items():
        disciplines.setdefault(discipline(label, one), one)
    chosen = dict(list(disciplines.items())[:MOST])
    if left_out := [label for label in disciplines if label not in chosen]:
        text = f"the playground shows {MOST} disciplines at a time: {', '.join(left_out)} left out"
        warnings.warn(text, stacklevel=4)
    for label, one in chosen.items():
        if one.discipline.startswith(KERNEL):
            raise _only_linux(label)
        require_playable(one.scenario, label)
    base = next(iter(chosen.values()))
    several = chosen.items() if len(chosen) > 1 else ()
    specs = [_spec(label, one.scenario, base.scenario) for label, one in several]
    return scenario(base.scenario, specs, height, base.seeds[0])


def _only_linux(label: str) -> ValueError:
    return ValueError(f"{label}: only the linux engine has the kernel's disciplines: choose another for the playground")


def _spec(label: str, wanted: Scenario, base: Scenario) -> str:
    """Return the text for ``--aqm`` that makes `base` the wanted scenario.

    It is the label if that does; otherwise the name of the discipline with the parameters that differ.
    """
    same = _content(wanted)
    for spec in _candidates(label, wanted, base):
        try:
            if _content(base.with_(aqm=spec)) == same:
                return spec
        except ValueError:
            continue
    raise ValueError(
        f"{label}: differs from {base.title!r} in more than its discipline: the playground shows disciplines of one "
        "scenario; show its result alone"
    )


def _candidates(label: str, wanted: Scenario, base: Scenario) -> Iterator[str]:
    yield label
    yield wanted.aqm
    try:
        given, default = _table(wanted), _table(base.with_(aqm=wanted.aqm))
    except ValueError:
        return  # its defaults are not valid here
    words = [f"{key}={value if isinstance(value, str) else json.dumps(value)}" for key, value in given.items()]
    yield f"{wanted.aqm}:{','.join(word for word, key in zip(words, given, strict=True) if given[key] != default[key])}"


def _table(scenario: Scenario) -> dict[str, Any]:
    """Return the discipline of the observed link, with every parameter."""
    resolved = scenario.resolved
    links = cables(resolved)
    table: dict[str, Any] = links.get(resolved["observe"], resolved).get("aqm") or resolved["aqm"]
    return table


def _content(scenario: Scenario) -> dict[str, Any]:
    return by_algorithm({**scenario.resolved, "seed": None})


@functools.cache
def _class() -> type[AnyWidget]:
    try:
        import anywidget
        import traitlets
    except ImportError as error:
        raise ImportError("play needs anywidget: pip install 'aqmlab[notebook]'", name="anywidget") from error

    class Playground(anywidget.AnyWidget):
        _esm = built(WIDGET)
        link = traitlets.Unicode().tag(sync=True)
        height = traitlets.Int().tag(sync=True)

    return Playground


def _widget(address: Address, height: int) -> AnyWidget:
    if height < 1:
        raise ValueError(f"height = {height}: must be at least 1, in CSS pixels")
    return _class()(link=address.fragment, height=height)
