"""Translates a method of a class to a function in C, statement by statement.

The methods `visit_…` are the list of the constructs that are translated. Everything else is refused, with the line and
the cure.
"""
# ruff: noqa: N802  the names of the methods are those of the constructs

from __future__ import annotations

import ast
import math
import re
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from aqmlab.own import algorithm
from aqmlab.own.kinds import NOTHING, REAL, SWITCH, VERDICT, WHOLE, NotCompiled
from aqmlab.workshop.expressions import Expressions, Made
from aqmlab.workshop.terms import (
    CONTEXT,
    OR,
    STATEMENTS,
    Elements,
    Term,
    Text,
    as_kind,
    call,
    constant,
    inside,
    joined,
    of_member,
    type_of,
    words,
)

if TYPE_CHECKING:
    pass

_WIDTH = 118

TURNS = 1024
"""The most turns of a loop."""


class Translation(Expressions):
    """A method on its way to C."""

    def function(self, name: str) -> Made:
        """Write the function, with this name."""
        self._most = 0
        self._declared: dict[str, str] = {}
        self._read = {
            one.id for one in ast.walk(self._source) if isinstance(one, ast.Name) and isinstance(one.ctx, ast.Load)
        }
        for argument, kind in self._arguments.items():
            self._unit.widened(self._name, argument, kind)
        lines, ended = self._block(self._source.body, "    ")
        kind = NOTHING if self._event else self._unit.kinds.get((self._name, ""), NOTHING)
        if not ended and (self._decides or kind != NOTHING):
            if self._unit.widened(self._name, "", NOTHING) is None:
                raise self.refused(f"{self._source.name} may end without `return`: return a value on every way")
            lines.append(f"    return {'PASS' if self._decides else '0'};")
        first = [f"    {one} = 0;" for one in self._declared.values() if one]
        given = []
        for argument, of in self._arguments.items():
            if of in ("packet", "queue", "port"):
                continue
            c, now = self._c(argument), self._kind(argument)
            if now != of:
                given.append(f"s64 given_{c}")
                first.insert(0, f"    s64 {c} = {as_kind(Term(f'given_{c}', of), now).text};")
            else:
                given.append(f"{type_of(of)} {c}")
        head = self._unit.head(self._event, name, type_of(kind), sorted(self._uses, key=list(CONTEXT).index), given)
        lines = [*self._unit.before(self._event, self._uses), *first, *lines]
        text = "\n".join([head, "{", *map(_broken, lines), "}"])
        return Made(name, text, kind, frozenset(self._uses), max(self._draws, self._most))

    @property
    def _decides(self) -> bool:
        return self._event in ("on_enqueue", "on_dequeue")

    # Statements.

    def _block(self, statements: Sequence[ast.stmt], indent: str) -> tuple[list[str], bool]:
        lines: list[str] = []
        for statement in statements:
            self._node = statement
            if type(statement) in STATEMENTS:
                raise self.refused(": ".join(STATEMENTS[type(statement)]))
            write = getattr(self, f"visit_{type(statement).__name__}", None)
            if write is None:
                raise self.refused(f"`{ast.unparse(statement).splitlines()[0]}` is not carried over: leave it out")
            more, ended = write(statement, indent)
            lines += more
            if ended:
                return lines, True
        return lines, False

    def visit_Pass(self, node: ast.Pass, indent: str) -> tuple[list[str], bool]:
        """Translate a statement that does nothing."""
        return [], False

    def visit_Break(self, node: ast.Break, indent: str) -> tuple[list[str], bool]:
        """Translate the end of a loop."""
        return [f"{indent}break;"], True

    def visit_Continue(self, node: ast.Continue, indent: str) -> tuple[list[str], bool]:
        """Translate the next turn of a loop."""
        return [f"{indent}continue;"], True

    def visit_Expr(self, node: ast.Expr, indent: str) -> tuple[list[str], bool]:
        """Translate a call as a statement."""
        if isinstance(node.value, ast.Constant):
            return [], False  # a docstring
        return self._done(self._value(node.value), indent), False

    def _done(self, value: Term, indent: str) -> list[str]:
        """Write what computing a value does, if it does anything."""
        return [f"{indent}{value.text};"] if "(s, k" in value.text else []

    def visit_Return(self, node: ast.Return, indent: str) -> tuple[list[str], bool]:
        """Translate a verdict, or the value of a method."""
        given = Term("0", NOTHING) if node.value is None else self._value(node.value)
        self._most = max(self._most, self._draws)
        if self._decides:
            if given.kind not in (NOTHING, WHOLE, VERDICT):
                raise self.refused(f"returns {words(given.kind)}: return aqmlab.PASS, aqmlab.MARK or aqmlab.DROP")
            return [f"{indent}return {self._verdict(node.value, given)};"], True
        if self._event:  # whatever it returns is ignored
            return [*self._done(given, indent), f"{indent}return;"], True
        if isinstance(given.kind, Elements | Text | tuple):
            raise self.refused(f"returns {words(given.kind)}: return one number, and set attributes for others")
        kind = self._unit.widened(self._name, "", given.kind)
        if kind is None:
            other = words(self._kind(""))
            raise self.refused(f"returns {words(given.kind)}, and elsewhere {other}: return one type")
        return [f"{indent}return{'' if kind == NOTHING else f' {as_kind(given, kind).text}'};"], True

    def _verdict(self, node: ast.expr | None, given: Term) -> str:
        """Write a verdict; a packet that is not ECN-capable is dropped in place of marked."""
        if isinstance(node, ast.IfExp):
            test, then, other = self._parts[node]
            return f"{inside(test, OR)} ? {self._verdict(node.body, then)} : {self._verdict(node.orelse, other)}"
        if given.kind == NOTHING or given.value == algorithm.PASS:
            return "PASS"
        if given.value == algorithm.DROP:
            return "DROP"
        self._uses.add("packet")
        return "signal(packet->ect)" if given.value == algorithm.MARK else call("judged", given, Term("packet", ""))

    def visit_If(self, node: ast.If, indent: str) -> tuple[list[str], bool]:
        """Translate a condition."""
        test, before = self._truth(node.test), set(self._assigned)
        drawn = self._draws
        then, then_ended = self._block(node.body, f"{indent}    ")
        after, self._assigned = self._assigned, set(before)
        drawn_then, self._draws = self._draws, drawn
        other, other_ended = self._block(node.orelse, f"{indent}    ")
        # A name has a value afterwards if it has one at each end from which the next statement is reached.
        if other_ended:
            self._assigned = after
        elif not then_ended:
            self._assigned &= after
        self._draws = drawn_then if other_ended else self._draws if then_ended else max(drawn_then, self._draws)
        if not node.orelse and len(then) == 1:
            return [f"{indent}if ({test.text})", *then], False
        lines = [f"{indent}if ({test.text}) {{", *then]
        if (
            len(node.orelse) == 1
            and isinstance(node.orelse[0], ast.If)
            and other
            and other[0].startswith(f"{indent}    if")
        ):
            other = [line[4:] for line in other]
            lines += [f"{indent}}} else {other[0].lstrip()}", *other[1:]]
        else:
            lines += [f"{indent}}} else {{", *other, f"{indent}}}"] if other else [f"{indent}}}"]
        return lines, then_ended and other_ended

    def visit_For(self, node: ast.For, indent: str) -> tuple[list[str], bool]:
        """Translate a loop over numbers, or over the elements of an array."""
        if node.orelse:
            raise self.refused("has a loop with `else`: set a name before `break`")
        turn, before_loop = self._new(), list[str]()
        called = node.iter.func if isinstance(node.iter, ast.Call) else None
        if isinstance(called, ast.Name) and called.id == "range" and self._is_builtin("range"):
            assert isinstance(node.iter, ast.Call)
            head, value = self._range(node.iter, turn, before_loop, indent), Term(turn, WHOLE)
        else:
            through = self._value(node.iter)
            if not isinstance(through.kind, Elements) or len(through.kind.shape) != 1:
                raise self.refused(f"loops over {ast.unparse(node.iter)}: write `for i in range(8):`")
            head = f"for (u32 {turn} = 0; {turn} < {through.kind.shape[0]}; {turn}++)"
            value = Term(f"{through.text}[{turn}]", through.kind.kind)
        before = set(self._assigned)
        self._loops += 1
        first = [] if ast.unparse(node.target) == "_" else self._set(node.target, value, f"{indent}    ")
        body, _ = self._block(node.body, f"{indent}    ")
        self._loops -= 1
        self._assigned = before
        return [*before_loop, f"{indent}{head} {{", *first, *body, f"{indent}}}"], False

    def _range(self, node: ast.Call, turn: str, lines: list[str], indent: str) -> str:
        """Write the head of a loop over a range, whose number of turns has a bound that is known.

        As in Python, the range is computed once, in `lines` before the loop.
        """
        bounds = [self._value(one) for one in node.args]
        if any(one.kind != WHOLE for one in bounds) or not 1 <= len(bounds) <= 3 or node.keywords:
            raise self.refused(f"{ast.unparse(node)}: give it whole numbers")
        low, high = (Term("0", WHOLE, value=0), bounds[0]) if len(bounds) == 1 else bounds[:2]
        step = bounds[2].value if len(bounds) == 3 else 1
        most = self._most_of(node.args[0 if len(bounds) == 1 else 1])
        if not step or low.value is None or most is None or (step < 0 and high.value is None):
            raise self.refused(
                f"the turns of {ast.unparse(node)} have no bound that is known: write "
                "`for i in range(64):` with `if i >= …: break`, or range(min(…, 64))"
            )
        turns = len(range(low.value, most, step))
        if turns > TURNS:
            raise self.refused(f"{ast.unparse(node)} has {turns} turns: at most {TURNS} are possible")
        sign, change = ("<", f"{turn} += {step}") if step > 0 else (">", f"{turn} -= {-step}")
        change = {1: f"{turn}++", -1: f"{turn}--"}.get(step, change)
        end = f"{turn} {sign} {most}"
        if high.value is None:
            end += f" && {turn} {sign} {self._kept(high, lines, indent).text}"
        return f"for (s64 {turn} = {low.text}; {end}; {change})"

    def _most_of(self, node: ast.expr) -> int | None:
        """Return the largest value that an expression can have, None if it is not known."""
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "min":
            known = [most for one in node.args if (most := self._most_of(one)) is not None]
            return min(known, default=None)
        if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Mod):
            divisor = self._value(node.right).value
            return divisor - 1 if isinstance(divisor, int) and divisor > 0 else None
        if self._is_own(node) and (one := self._unit.parameters.get(node.attr)) and not self._unit.changes(node.attr):  # type: ignore[attr-defined]
            return int(one.range[2]) if math.isfinite(one.range[2]) else None
        value = self._value(node).value
        return value if isinstance(value, int) else None

    def visit_Assign(self, node: ast.Assign, indent: str) -> tuple[list[str], bool]:
        """Translate an assignment."""
        if len(node.targets) == 1 and not isinstance(node.targets[0], ast.Tuple | ast.List):
            return self._set(node.targets[0], self._assigned_value(node.targets[0], node.value), indent), False
        if len(node.targets) > 1:
            return self._chain(node, indent), False
        [target] = node.targets
        assert isinstance(target, ast.Tuple | ast.List)
        values = node.value.elts if isinstance(node.value, ast.Tuple | ast.List) else []
        if len(target.elts) != len(values):
            raise self.refused(f"unpacks {ast.unparse(node.value)}: give each name its value")
        self._plain(*values)
        pairs = [(one, self._assigned_value(one, value)) for one, value in zip(target.elts, values, strict=True)]
        lines: list[str] = []
        # As in Python, all values are known before the first name is set.
        for place, (one, value) in enumerate(pairs):
            earlier = [self._root(other) for other, _ in pairs[:place]]
            if earlier and (
                "(s, k" in value.text or any(re.search(rf"(?<!\w){root}(?!\w)", value.text) for root in earlier)
            ):
                pairs[place] = one, self._kept(value, lines, indent)
        return lines + [line for one, value in pairs for line in self._set(one, value, indent)], False

    def _chain(self, node: ast.Assign, indent: str) -> list[str]:
        """Write an assignment to several targets, one after the other."""
        value, lines = self._value(node.value), list[str]()
        if value.value is None:
            value = self._kept(value, lines, indent)
        for target in node.targets:
            if isinstance(target, ast.Tuple | ast.List):
                raise self.refused(f"unpacks {ast.unparse(node.value)}: give each name its value")
            lines += self._set(target, value, indent)
        return lines

    def _kept(self, value: Term, lines: list[str], indent: str) -> Term:
        """Write that a value is kept in a name of its own."""
        if value.kind not in (SWITCH, WHOLE, REAL):
            raise self.refused(f"keeps {words(value.kind)}: keep numbers, and true or false")
        name = self._new()
        lines.append(f"{indent}{type_of(value.kind)} {name} = {value.text};")
        return Term(name, value.kind)

    def _root(self, target: ast.expr) -> str:
        """Return what a target begins with in C."""
        while isinstance(target, ast.Subscript):
            target = target.value
        return re.escape(
            f"s->{of_member(target.attr)}" if isinstance(target, ast.Attribute) else self._c(ast.unparse(target))
        )

    def _assigned_value(self, target: ast.expr, node: ast.expr) -> Term:
        """Return the part that is assigned; in start(), an attribute may become an array."""
        if self._event == "start" and self._is_own(target) and isinstance(node, ast.Call):
            kind = self._unit.attributes.get(target.attr)  # type: ignore[attr-defined]
            if isinstance(kind, Elements):
                return Term("", (kind, node))
        found: Term = self._value(node)
        return found

    def visit_AnnAssign(self, node: ast.AnnAssign, indent: str) -> tuple[list[str], bool]:
        """Translate an assignment with a type."""
        if node.value is None:
            return [], False
        return self._set(node.target, self._assigned_value(node.target, node.value), indent), False

    def visit_AugAssign(self, node: ast.AugAssign, indent: str) -> tuple[list[str], bool]:
        """Translate an assignment with an operation."""
        self._plain(node.value)
        read: ast.expr = ast.parse(ast.unparse(node.target), mode="eval").body
        for one in ast.walk(read):
            ast.copy_location(one, node)
        return self._set(
            node.target, self._operation(node.op, self._value(read), self._value(node.value)), indent
        ), False

    def _set(self, target: ast.expr, value: Term, indent: str) -> list[str]:
        """Write that a target gets a value."""
        if isinstance(value.kind, tuple):
            of, made = value.kind
            return self._array(target, of, made, indent)
        if isinstance(value.kind, Text | Elements) or value.kind in ("packet", "queue", "port", VERDICT):
            raise self.refused(f"keeps {words(value.kind)} in {ast.unparse(target)}: keep numbers, and true or false")
        if value.kind == NOTHING:
            raise self.refused(f"sets {ast.unparse(target)} to None: use a number, such as -1")
        if isinstance(target, ast.Name) and target.id != self._own:
            both = self._unit.widened(self._name, target.id, value.kind)
            if both is None:
                raise self._changes(target.id, self._kind(target.id), value.kind)
            if target.id not in self._read:
                return self._done(value, indent)
            known = target.id in self._declared or target.id in self._arguments
            self._assigned.add(target.id)
            here = not known and indent == "    "
            if not known:
                self._declared[target.id] = "" if here else f"{type_of(both)} {self._c(target.id)}"
            start = f"{type_of(both)} " if here else ""
            return [f"{indent}{start}{self._c(target.id)} = {as_kind(value, both).text};"]
        if isinstance(target, ast.Subscript):
            place = self._element(target)
            if joined(place.kind, value.kind) != place.kind:
                raise self.refused(
                    f"sets an element of an array of {words(place.kind)}s to {words(value.kind)}: "
                    "make it an array of floats in start(), as np.zeros(8)"
                )
            return [f"{indent}{place.text} = {as_kind(value, place.kind).text};"]
        if not self._is_own(target):
            raise self.refused(f"sets {ast.unparse(target)}: only names and attributes of self can be set")
        assert isinstance(target, ast.Attribute)
        name = target.attr
        if name not in self._unit.state:
            raise self.refused(f"sets self.{name}, which start() does not: set it there, too")
        both = self._unit.becomes(name, value.kind)
        if both is None:
            raise self._changes(f"self.{name}", self._unit.attributes[name], value.kind)
        return [f"{indent}s->{of_member(name)} = {as_kind(value, both).text};"]

    def _changes(self, name: str, before: Any, now: Any) -> NotCompiled:
        return self.refused(f"{name} is {words(now)}, and elsewhere {words(before)}: give it one type")

    def _array(self, target: ast.expr, of: Elements, node: ast.Call, indent: str) -> list[str]:
        """Write that an attribute becomes an array, as numpy makes it. The state is zero at the beginning."""
        assert isinstance(target, ast.Attribute)
        name = ast.unparse(node.func).rpartition(".")[2]
        size = node.args[0] if node.args else node
        lengths = size.elts if isinstance(size, ast.Tuple) else [size]
        if name in ("zeros", "ones", "full") and all(self._value(one).value is not None for one in lengths):
            if name == "zeros":
                return []
            fill = constant(1) if name == "ones" else self._value(node.args[1])
            lines, place, inner = [], f"s->{of_member(target.attr)}", indent
            for length in of.shape:
                turn = self._new()
                lines.append(f"{inner}for (u32 {turn} = 0; {turn} < {length}; {turn}++)")
                place, inner = f"{place}[{turn}]", f"{inner}    "
            return [*lines, f"{inner}{place} = {as_kind(fill, of.kind).text};"]
        raise self.refused(
            f"makes self.{target.attr} by {ast.unparse(node)}: use np.zeros, np.ones or np.full with sizes that are "
            "constant, and set elements one by one"
        )


def _broken(line: str) -> str:
    """Break a long line where an operation or an argument ends."""
    if len(line) <= _WIDTH:
        return line
    places = [one.end() for one in re.finditer(r", |&& |\|\| |\? | : ", line[:_WIDTH])]
    indent = len(line) - len(line.lstrip())
    if not places or places[-1] < _WIDTH // 2:
        return line
    rest = " " * (indent if line[:indent].endswith(" " * 12) else indent + 8) + line[places[-1] :]
    return f"{line[: places[-1]].rstrip()}\n{_broken(rest)}"
