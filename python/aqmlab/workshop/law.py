"""The translation of a class to a law of the kernel: a file in C against kernel/aqm.h, in fixed point."""

from __future__ import annotations

import ast
import re
import textwrap
from collections.abc import Mapping, Sequence
from functools import cached_property
from types import FunctionType
from typing import Any

from aqmlab.own.algorithm import Parameter
from aqmlab.own.compiled import OTHER_PORT, defaults, sample
from aqmlab.own.kinds import ARGUMENTS, NOTHING, REAL, SWITCH, WHOLE, NotCompiled
from aqmlab.own.rewrite import Unit
from aqmlab.own.source import Declared, line_of, where
from aqmlab.workshop.expressions import Made
from aqmlab.workshop.port import has_start, rust_name
from aqmlab.workshop.terms import (
    BITS,
    CALLS,
    CONTEXT,
    Elements,
    Refusal,
    Term,
    Text,
    constant,
    cure_of,
    joined,
    of_member,
)
from aqmlab.workshop.translation import Translation

_HEADS = {
    "on_enqueue": ("static enum verdict", ("now", "packet", "queue", "random")),
    "on_dequeue": ("static enum verdict", ("now", "packet", "queue", "sojourn", "random")),
    "on_idle": ("static void", ("now",)),
    "start": ("static void", ()),
}
"""The functions of the contract, kernel/aqm.h: the result and the arguments of each."""

_STATE = "struct state *s, const struct params *k"

_MOST = 2.0**30
"""The range of a parameter with a fraction: the loader's numbers have 62 bits."""

_LARGEST = 32 * 1024
"""The largest state in bytes."""


LONGEST = 11
"""Letters of a name: the kernel has 15 for a queue discipline's, which begins with aqm_."""


def law_name(declared: Declared) -> str:
    """Return the name of a class as a law: that of the class in lower case."""
    return rust_name(declared)[:LONGEST].rstrip("_")


class Law(Unit):
    """A class as the file of a law, `name`."""

    joined = staticmethod(joined)

    def __init__(self, declared: Declared, name: str) -> None:
        if not name.isascii():
            place = where(declared.file, line_of(declared.cls))
            raise NotCompiled(
                f"{place}: {name}: the kernel's names are ASCII: rename the class, or give --name to port"
            )
        self.name = name
        self.parameters = {one.name: one for one in declared.parameters}
        self.of_port: set[str] = set()
        self.current = ""
        self.made: dict[Any, Made] = {}  # type: ignore[assignment]
        super().__init__(declared, {})
        self.state = self._state()
        self.attributes = {name: kind for name, kind in self.state.items() if kind is not None}
        self.functions = self._translated()

    def _check(self) -> None:
        super()._check()
        for one in self.declared.parameters:
            self._check_parameter(one)
        for name in [*self.parameters, *(one.name for one in self.declared.signals)]:
            if of_member(name) != name:
                raise self._refused_at(name, f"{name} is a word of C or of the kernel's headers: give it another name")

    def _check_parameter(self, one: Parameter) -> None:
        value = defaults(self.declared)[one.name]
        if isinstance(one.default, str):
            if not one.choices:
                raise self._refused_at(one.name, f"the parameter {one.name} is a text: declare its choices")
        elif _bits(one) and abs(value) >= _MOST:  # type: ignore[arg-type]
            raise self._refused_at(
                one.name,
                f"{one.name} = {value:g} is beyond the range of Q 32.32, 2^30: declare it in a larger unit"
                + (", or in bit/s" if value >= 1e6 else ""),  # type: ignore[operator]
            )
        elif _bits(one) and 0 < abs(value) < 2.0**-22:  # type: ignore[arg-type]
            raise self._refused_at(
                one.name,
                f"{one.name} = {value:g} has less than ten binary digits in Q 32.32: declare it in a smaller unit",
            )

    def _refused_at(self, name: str, reason: str) -> NotCompiled:
        """Return the exception for the line that first sets a name: in the class, or as an attribute of self."""
        tree = ast.parse(self.declared.text)
        lines = [
            one.lineno
            for one in ast.walk(tree)
            if isinstance(one, ast.Name | ast.Attribute)
            and isinstance(one.ctx, ast.Store)
            and name in (getattr(one, "id", None), getattr(one, "attr", None))
        ]
        return NotCompiled(f"{where(self.declared.file, min(lines, default=line_of(self.declared.cls)))}: {reason}")

    def _state(self) -> dict[str, Any]:
        """Return the attributes that are state, each with its kind at the start; None if it is not known yet."""
        made, other = vars(sample(self.declared)), vars(sample(self.declared, OTHER_PORT))
        signals = {one.name for one in self.declared.signals}
        found: dict[str, Any] = {}
        for name, value in made.items():
            if name == "random" or (name in self.parameters and not self.changes(name)):
                continue
            kind = self._kind_of(name, value, other.get(name))
            # A signal is 0.0 until something sets it, which decides its kind.
            found[name] = None if name in signals or (kind == WHOLE and name not in self.parameters) else kind
        return dict(sorted(found.items(), key=lambda one: one[0] not in signals))

    def _kind_of(self, name: str, value: Any, other: Any) -> Any:
        import numpy as np

        if isinstance(value, np.ndarray):
            kind = {"f": REAL, "i": WHOLE, "b": SWITCH}.get(value.dtype.kind)
            if kind is None or value.shape != getattr(other, "shape", None) or not value.shape:
                raise self._refused_at(
                    name,
                    f"self.{name} is no array of numbers whose size is the same on every port: "
                    "make it large enough, as np.zeros(64), and use a part of it",
                )
            if value.size * 8 > _LARGEST:
                raise self._refused_at(name, f"self.{name} has {value.size} elements: at most {_LARGEST // 8} fit")
            return Elements(kind, value.shape)
        if isinstance(value, bool | np.bool_):
            return SWITCH
        if not isinstance(value, int | float | np.number):
            raise self._refused_at(name, f"self.{name} is {_a(value)}: {cure_of(value)}")
        return self.parameter(name).kind if name in self.parameters else WHOLE

    def _source(self, function: FunctionType) -> ast.FunctionDef:
        if "__class__" in function.__code__.co_freevars:
            first = function.__code__.co_firstlineno
            names = (one for one in ast.walk(ast.parse(self.declared.text)) if isinstance(one, ast.Name))
            line = min(one.lineno for one in names if one.lineno >= first and one.id in ("super", "__class__"))
            raise NotCompiled(f"{where(self.declared.file, line)}: {function.__name__} calls super(): {CALLS['super']}")
        return super()._source(function)

    @cached_property
    def _functions(self) -> dict[str, FunctionType]:
        """The methods that the file defines, by name."""
        found: dict[str, FunctionType] = {}
        for base in self.declared.cls.__mro__:
            if base.__module__ == self.declared.cls.__module__:
                found = {name: one for name, one in vars(base).items() if isinstance(one, FunctionType)} | found
        return found

    def _sets_of(self, function: FunctionType) -> tuple[set[str], set[str]]:
        """Return the attributes that a method sets, with elements, and the methods that it calls."""
        source = self._source(function)
        own = source.args.args[0].arg if source.args.args else ""
        sets, calls = set(), set()
        for node in ast.walk(source):
            place: Any = node
            while isinstance(place, ast.Subscript):
                place = place.value
            if isinstance(place, ast.Attribute) and isinstance(place.value, ast.Name) and place.value.id == own:
                if isinstance(getattr(node, "ctx", None), ast.Store):
                    sets.add(place.attr)
                calls.add(place.attr)
        return sets, calls & set(self._functions)

    def changes(self, name: str) -> bool:
        """Return whether a method sets an attribute."""
        return any(name in self._sets_of(one)[0] for one in self._functions.values())

    def sets(self, name: str, seen: frozenset[str] = frozenset()) -> bool:
        """Return whether a method, or one that it calls, sets an attribute."""
        if name not in self._functions or name in seen:
            return False
        sets, calls = self._sets_of(self._functions[name])
        return bool(sets) or any(self.sets(one, seen | {name}) for one in calls)

    # What translations ask.

    def becomes(self, name: str, kind: Any) -> Any:
        """Note that an attribute also has values of a kind; return as `widened` does."""
        before = self.attributes.get(name)
        both = kind if before is None else joined(before, kind)
        if both is not None and both != before:
            self.attributes[name] = both
            self.settled = False
        return both

    def parameter(self, name: str) -> Term:
        """Write a parameter."""
        one = self.parameters[name]
        if isinstance(one.default, str):
            return Term(f"k->{name}", Text(parameter=name))
        if isinstance(one.default, bool):
            return Term(f"k->{name}", SWITCH)
        if one.unit == "s":
            return Term(f"seconds(k->{name})", REAL)
        return Term(f"k->{name}", REAL if _bits(one) else WHOLE)

    def choice(self, name: str, value: str) -> str:
        """Return the constant of a choice."""
        words = [re.sub(r"\W", "_", one, flags=re.ASCII).upper() for one in self.parameters[name].choices]
        place = self.parameters[name].choices.index(value)
        return f"{name.upper()}_{words[place]}{place if words.count(words[place]) > 1 else ''}"

    def head(self, event: str, name: str, kind: str, uses: Sequence[str], given: Sequence[str]) -> str:
        """Write the head of a function."""
        returns, context = _HEADS.get(event, (f"static {kind}", tuple(uses)))
        parts = [_STATE, *(CONTEXT[one] for one in context), *given]
        start = f"{returns} {name}("
        lines = _filled([f"{one}," for one in parts[:-1]] + [f"{parts[-1]})"], 118 - len(start))
        return start + f"\n{' ' * len(start)}".join(lines)

    def before(self, event: str, uses: set[str]) -> list[str]:
        """Write the declarations at the beginning of an event, of facts that it is not given."""
        lines = []
        if event == "on_enqueue" and "sojourn" in uses:
            lines.append("    u64 sojourn = 0;")
        if event == "on_idle" and "queue" in uses:
            lines.append("    const struct backlog empty = {}, *queue = &empty;")
        if event == "start":
            changed = [one for one in self.parameters if one in self.state]
            lines += [f"    s->{one} = {self.parameter(one).text};" for one in changed]
        return lines

    def called(  # type: ignore[override]
        self, function: FunctionType, given: Sequence[Any], named: Mapping[str, Any], *, own: bool, event: str = ""
    ) -> tuple[Made, list[Term]]:
        """Return a function in C, which is written once for arguments of these kinds, and the arguments."""
        source = self._source(function)
        first, terms = self._passed(function, source, given, named, own=own)
        kinds = {name: term.kind for name, term in terms.items()}
        for kind in kinds.values():
            if isinstance(kind, Elements | Text) or kind == NOTHING:
                raise self.refused(function, f"{function.__name__} is given what is no number: give it numbers")
        key = (function, event, *kinds.items())
        if key not in self.made:
            count = sum(one[0] is function for one in self.made) + 1
            name = event if event in _HEADS else f"{self.name}_{function.__name__}{count if count > 1 else ''}"
            label = f"{name}:{kinds}"
            with self._entered(function):
                self.made[key] = Translation(self, label, source, function, first, kinds, event).function(name)
        return self.made[key], list(terms.values())

    def _default(self, value: Any) -> Any:
        try:
            return constant(value)
        except Refusal as error:
            raise NotCompiled(f"{where(self.declared.file, line_of(self.declared.cls))}: {error}") from None

    def refused(self, function: FunctionType, reason: str) -> NotCompiled:
        """Return the exception for a function."""
        return super().refused(function, reason if ": " in reason else f"{reason}: write it as a plain method")

    # The file.

    def _translated(self) -> list[str]:
        """Write every function again until nothing new is found of a kind; see `aqmlab.own.rewrite`."""
        events = [one for one in self.declared.methods if one != "on_overflow"]
        while True:
            self.settled, self.made, self.of_port = True, {}, set()
            if has_start(self.declared):
                self._event("start", "port")
            for event in events:
                self._event(event, *ARGUMENTS[event])
            for name in self.state:  # such as a signal that nothing sets
                if self.settled and name not in self.attributes:
                    self.becomes(name, WHOLE)
            if self.settled:
                return [one.text for one in self.made.values()]

    def _event(self, name: str, *given: str) -> None:
        function = self._functions.get(name)
        if function is None:
            cls = self.declared.cls
            raise NotCompiled(
                f"{where(self.declared.file, line_of(cls))}: {cls.__name__}.{name} is no method: write it with def"
            )
        self.current = name
        self.called(function, [Term("", one) for one in given], {}, own=True, event=name)

    @property
    def text(self) -> str:
        """The file."""
        events = self.declared.methods
        defined = {one.name for one in self.made.values()}
        parts = [self._head(), '#include "aqm.h"\n#include "ported.h"', self._defines(), *self._choices()]
        parts += [self._structs(), *self.functions]
        if "start" not in defined:
            body = "".join(f"{line}\n" for line in self.before("start", set()))
            parts.append(f"static void start({_STATE})\n{{\n{body}}}")
        if "on_enqueue" not in events:
            parts.append(f"{self.head('on_enqueue', 'on_enqueue', '', (), ())}\n{{\n    return PASS;\n}}")
        if "on_period" in events:
            parts.append(self._periods())
        return "\n\n".join([*parts, '#include "host.h"']) + "\n"

    @property
    def fields(self) -> dict[str, int]:
        """The numbers that the loader sets, each with its binary digits after the point."""
        own = {one.name: _bits(one) for one in self.declared.parameters}
        return own | {one: BITS if one == "port_buffer" else 0 for one in sorted(self.of_port)}

    @property
    def signals(self) -> dict[str, int]:
        """The signals in their order, each with its binary digits after the point."""
        return {one.name: BITS if self.attributes[one.name] == REAL else 0 for one in self.declared.signals}

    def _head(self) -> str:
        declared = self.declared
        summary = declared.doc.partition("\n\n")[0]
        lines = [
            *textwrap.wrap(f"{declared.cls.__name__}: {summary}", 114),
            *textwrap.wrap(
                f"Written by `aqmlab port --to bpf` from a class whose file has the digest {declared.source}.",
                114,
            ),
            "",
            *textwrap.wrap(
                "Departures: a number with a fraction is a Q 32 between -2^31 and 2^31, and each operation is rounded "
                "to the nearest 2^-32; random numbers have 32 bits"
                + (
                    "; periods are performed on the next event, and of more than 1024 without any event only the first "
                    "1024 are"
                    if "on_period" in declared.methods
                    else ""
                )
                + ("; on_overflow, which only fq calls, is left out" if "on_overflow" in declared.methods else "")
                + ".",
                114,
            ),
        ]
        inner = "\n".join(f" * {line}".rstrip().replace("*/", "* /") for line in lines)
        return f"/* SPDX-License-Identifier: GPL-2.0-only OR MIT */\n/*\n{inner}\n */"

    def _defines(self) -> str:
        lines = [f'#define NAME "{self.name}"']
        if "on_dequeue" in self.declared.methods:
            lines.append("#define LAW_DEQUEUES")
        if "on_idle" in self.declared.methods:
            lines += ["#define LAW_IDLES", "#define LAW_BEGINS_IDLE"]
        if (period := self.declared.period) is not None:
            fixed = "period" not in self.parameters
            lines.append(f"#define LAW_EVERY {round(period * 1e9)}" if fixed else "#define LAW_PERIOD period")
        for title, fields in (("PARAMS", self.fields), ("SIGNALS", self.signals)):
            entries = [f"X({name}, {bits})" for name, bits in fields.items()]
            lines.append(" \\\n    ".join([f"#define {title}(X)", *_filled(entries, 112)]))
        return "\n".join(lines)

    def _choices(self) -> list[str]:
        return [
            f"enum {{ {', '.join(self.choice(name, value) for value in one.choices)} }};"
            for name, one in self.parameters.items()
            if one.choices
        ]

    def _structs(self) -> str:
        signals = {one.name for one in self.declared.signals}
        lines = []
        for name, kind in self.attributes.items():
            if name in signals:
                if isinstance(kind, Elements):
                    raise self._refused_at(name, f"the signal {name} is an array: a signal is one number")
                continue
            of = kind.kind if isinstance(kind, Elements) else kind
            sizes = "".join(f"[{one}]" for one in kind.shape) if isinstance(kind, Elements) else ""
            lines.append(f"    {'bool' if of == SWITCH else 's64'} {of_member(name)}{sizes};")
        return "\n".join(
            ["struct params { PARAMS(AQM_FIELD) };", "", "struct state {", "    SIGNALS(AQM_FIELD)", *lines, "};"]
        )

    def _periods(self) -> str:
        made = next(one for key, one in self.made.items() if key[1] == "on_period")
        given = ", ".join(["u->s", "u->k", *(f"u->{one}" for one in CONTEXT if one in made.uses)])
        every = "LAW_EVERY" if "now" in made.uses else ""
        later = f"    u->now += {every};\n" if every else ""
        first = f"now - (n - 1) * {every}" if every else "now"
        return (
            f"static long update(u64 i, struct update *u)\n{{\n    {made.name}({given});\n{later}    return 0;\n}}\n\n"
            f"static void on_period({_STATE}, u64 now, const struct backlog *queue, u64 n)\n{{\n"
            f"    struct update u = {{s, k, {first}, queue}};\n    repeat(least(n, PERIODS), update, &u, 0);\n}}"
        )


def _bits(one: Parameter) -> int:
    """Return the binary digits after the point of a parameter: times are whole numbers of ns, rates of bit/s."""
    fraction = isinstance(one.default, float) and one.unit not in ("s", "bit/s", "bytes")
    return BITS if fraction or (one.unit == "Hz" and not isinstance(one.default, str)) else 0


def _filled(entries: Sequence[str], width: int) -> list[str]:
    """Return entries in lines of a width, none broken."""
    lines: list[str] = []
    for one in entries:
        if lines and len(lines[-1]) + len(one) < width:
            lines[-1] += f" {one}"
        else:
            lines.append(one)
    return lines


def _a(value: Any) -> str:
    return "None" if value is None else f"of the type {type(value).__name__}"
