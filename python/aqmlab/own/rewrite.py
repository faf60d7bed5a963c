"""Writes the events of a class anew as functions of numbers whose kinds are known, for numba."""

from __future__ import annotations

import ast
import inspect
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from types import FunctionType
from typing import Any

from aqmlab.own.algorithm import Declares, base_of
from aqmlab.own.body import Body, Made
from aqmlab.own.kinds import ARGUMENTS, Kind, NotCompiled, Term, joined, kind_of, written
from aqmlab.own.source import Declared, where


@dataclass
class Translation:
    """A class as numba takes it: the text of its functions by name, and the name of that for each event.

    `constants` are the values outside of the state on which the text depends: owner, name and value.
    """

    functions: dict[str, str] = field(default_factory=dict)
    events: dict[str, str] = field(default_factory=dict)
    constants: list[tuple[Any, str, Any]] = field(default_factory=list)

    def is_current(self) -> bool:
        """Return whether the values outside of the state are still the same."""
        return all(
            (owner.get(name) if isinstance(owner, Mapping) else inspect.getattr_static(owner, name, None)) is value
            for owner, name, value in self.constants
        )


def translated(declared: Declared, attributes: Mapping[str, Kind]) -> Translation:
    """Write the events of a class anew; `attributes` has the kind that each has at the start.

    Raise NotCompiled if one has a construct that may decide otherwise than in Python.
    """
    unit = Unit(declared, dict(attributes))
    # A pass writes every method with the kinds that are known so far. A later statement, or another method, may give a
    # name a wider kind, and then what was written before it is wrong. So all is written again until a pass finds
    # nothing new. It ends, because kinds only become wider and are few.
    while True:
        unit.settled, unit.made, unit.done = True, {}, Translation()
        unit.done.events = {event: unit.event(event) for event in declared.methods}
        if unit.settled:  # nothing has become of a wider kind since it was read
            unit.done.functions = {name: one.text for name, one in unit.made.items()}
            return unit.done


class Unit:
    """The class, with the facts known of its attributes, names and functions."""

    joined: Callable[[Any, Any], Any] = staticmethod(joined)
    """What two kinds have in common."""

    def __init__(self, declared: Declared, attributes: dict[str, Any]) -> None:
        self.declared = declared
        self.attributes = attributes
        self.module = vars(sys.modules[declared.cls.__module__])
        self.kinds: dict[tuple[str, str], Kind] = {}
        self.made: dict[str, Made] = {}
        self.done = Translation()
        self.settled = True
        self._keys: dict[Any, str] = {}
        self._busy: list[FunctionType] = []
        self._check()

    def _check(self) -> None:
        """Refuse a class whose attributes are more than values."""
        cls = self.declared.cls
        if type(cls) is not type:
            raise NotCompiled(f"{cls.__name__} has a metaclass")
        for base in cls.__mro__:
            if base in (base_of(cls), Declares, object):
                continue
            if base.__module__ != cls.__module__:
                raise NotCompiled(f"{cls.__name__} has a base, {base.__name__}, that is not in its file")
            for name, value in vars(base).items():
                if name.startswith("__") and isinstance(value, FunctionType):
                    raise NotCompiled(f"{base.__name__} has a method {name}")
                if name in self.attributes and hasattr(type(value), "__set__"):
                    raise NotCompiled(f"{base.__name__}.{name} is of the type {type(value).__name__}")

    def refused(self, function: FunctionType, reason: str) -> NotCompiled:
        """Return the exception for a function."""
        return NotCompiled(f"{where(self.declared.file, function.__code__.co_firstlineno)}: {reason}")

    def widened(self, function: str, name: str, kind: Kind) -> Kind | None:
        """Note that a name also has values of a kind; return the kind of all, None if they have none in common."""
        before = self.kinds.get((function, name))
        both = kind if before is None else self.joined(before, kind)
        if both is not None and both != before:
            self.kinds[function, name] = both
            self.settled = False
        return both

    def constant(self, owner: Any, name: str, value: Any) -> Any:
        """Return a value outside of the state, and remember that the text depends on it."""
        self.done.constants.append((owner, name, value))
        return value

    def method(self, name: str) -> FunctionType | None:
        """Return a method that the file defines."""
        value = inspect.getattr_static(self.declared.cls, name, None)
        if (
            not isinstance(value, FunctionType)
            or name == "start"
            or value is vars(base_of(self.declared.cls)).get(name)
        ):
            return None
        self.constant(self.declared.cls, name, value)
        return value

    def event(self, name: str) -> str:
        """Write the method of an event; return the name of its function."""
        if (function := self.method(name)) is None:
            raise NotCompiled(f"{self.declared.cls.__name__}.{name} is not a plain method")
        given: list[Term] = [(one, one) for one in ARGUMENTS[name]]
        return self.called(function, given, {}, own=True, event=name)[0].partition("(")[0]

    def called(
        self, function: FunctionType, given: Sequence[Term], named: Mapping[str, Term], *, own: bool, event: str = ""
    ) -> Term:
        """Write a call of a function, and once for arguments of these kinds the function."""
        source = self._source(function)
        first, terms = self._passed(function, source, given, named, own=own)
        kinds = {name: term[1] for name, term in terms.items()}
        key = self._keys.setdefault((function, event, *kinds.items()), f"f{len(self._keys)}_{function.__name__}")
        if key not in self.made:
            with self._entered(function):
                self.made[key] = Body(self, key, source, function, first, kinds, event).made()
        return f"{key}({', '.join(['s', *(term[0] for term in terms.values())])})", self.made[key].kind

    @contextmanager
    def _entered(self, function: FunctionType) -> Iterator[None]:
        """Refuse a function that calls itself."""
        if function in self._busy:
            raise self.refused(
                function, f"{function.__name__} calls itself: write what it repeats as a loop, `for … in range(…)`"
            )
        self._busy.append(function)
        yield
        self._busy.remove(function)

    def _passed(
        self,
        function: FunctionType,
        source: ast.FunctionDef,
        given: Sequence[Term],
        named: Mapping[str, Term],
        *,
        own: bool,
    ) -> tuple[str, dict[str, Any]]:
        """Return the name of the object, empty without one, and the term for each other argument, in order."""
        names = [one.arg for one in (*source.args.posonlyargs, *source.args.args)]
        first = names.pop(0) if own and names else ""
        places = dict(zip(names, given, strict=False)) | dict(named)
        order = [*names, *(one.arg for one in source.args.kwonlyargs)]
        passed = [name for name in order if name in places]
        defaults = dict(zip(reversed(names), reversed(function.__defaults__ or ()), strict=False))
        defaults |= function.__kwdefaults__ or {}
        terms = {name: self._default(value) for name, value in defaults.items()} | places
        fits = len(given) <= len(names) and list(places) == passed and set(order) == set(terms) and (first or not own)
        if not fits or len(places) != len(given) + len(named):
            raise self.refused(function, f"{function.__name__} is not given its arguments in their order")
        return first, {name: terms[name] for name in order}

    def _default(self, value: Any) -> Any:
        """Write the default of an argument."""
        return written(value), kind_of(value)

    def _source(self, function: FunctionType) -> ast.FunctionDef:
        """Return the source of a function of the file."""
        code = function.__code__
        for node in ast.walk(ast.parse(self.declared.text)) if code.co_filename == self.declared.file else ():
            if isinstance(node, ast.FunctionDef) and (node.lineno, node.name) == (code.co_firstlineno, code.co_name):
                if node.args.vararg or node.args.kwarg or function.__closure__ or code.co_flags & inspect.CO_GENERATOR:
                    break
                defaults = [*(function.__defaults__ or ()), *(function.__kwdefaults__ or {}).values()]
                if any(kind_of(one) is None for one in defaults):
                    raise self.refused(function, f"{node.name} has a default that is no number")
                for one in ast.walk(node):
                    name = getattr(one, "id", getattr(one, "attr", "")) or ""
                    if name.startswith("__") and not name.endswith("__"):
                        raise self.refused(function, f"{node.name} uses {name}, which has another name inside a class")
                return node
        raise self.refused(function, f"{function.__name__} is not a plain function of the file as written")
