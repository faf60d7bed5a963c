"""Translates the expressions of a class's methods to C.

The methods `visit_…` are the list of the constructs that are translated. Everything else is refused, with the line and
the cure.
"""
# ruff: noqa: N802  the names of the methods are those of the constructs

from __future__ import annotations

import ast
import inspect
import operator
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from types import BuiltinFunctionType, FunctionType, ModuleType
from typing import TYPE_CHECKING, Any

from aqmlab.own import algorithm
from aqmlab.own.kinds import NOTHING, REAL, SWITCH, VERDICT, WHOLE
from aqmlab.own.scope import Scope
from aqmlab.workshop.terms import (
    AND,
    BITS_OF,
    CALLS,
    CHOICE,
    COMPARISON,
    CONTEXT,
    EXPRESSIONS,
    NUMBERS,
    OR,
    OTHER_CALLS,
    PRODUCT,
    SUM,
    UNARY,
    Elements,
    Refusal,
    Term,
    Text,
    as_kind,
    call,
    constant,
    inside,
    joined,
    of_local,
    of_member,
    words,
)

if TYPE_CHECKING:
    from aqmlab.workshop.law import Law

_FIELDS = {
    ("packet", "size"): ("(s64)packet->size", WHOLE, "packet"),
    ("packet", "flow"): ("(s64)packet->flow", WHOLE, "packet"),
    ("packet", "ect"): ("packet->ect", SWITCH, "packet"),
    ("packet", "udp"): ("packet->udp", SWITCH, "packet"),
    ("packet", "sojourn"): ("seconds(sojourn)", REAL, "sojourn"),
    ("packet", "sojourn_ns"): ("(s64)sojourn", WHOLE, "sojourn"),
    ("queue", "packets"): ("(s64)queue->packets", WHOLE, "queue"),
    ("queue", "bytes"): ("(s64)queue->bytes", WHOLE, "queue"),
    ("queue", "full"): ("queue->full", SWITCH, "queue"),
    ("queue", "delay"): ("fx_div(8 * (s64)queue->bytes, k->port_rate)", REAL, "queue"),
    ("queue", "now"): ("seconds(now)", REAL, "now"),
    ("queue", "now_ns"): ("(s64)now", WHOLE, "now"),
    ("port", "rate"): ("k->port_rate", WHOLE, ""),
    ("port", "buffer"): ("k->port_buffer", REAL, ""),
    ("port", "packet"): ("k->port_packet", WHOLE, ""),
}

_KNOWN = {
    "packet": "size, ect, udp, flow, sojourn and sojourn_ns",
    "queue": "packets, bytes, delay, full, now and now_ns",
    "port": "rate, buffer and packet, and no delay: declare a parameter in s",
}

_OPERATIONS: dict[type[ast.operator], Callable[[Any, Any], Any]] = {
    ast.Add: operator.add, ast.Sub: operator.sub, ast.Mult: operator.mul, ast.Div: operator.truediv,
    ast.FloorDiv: operator.floordiv, ast.Mod: operator.mod, ast.Pow: operator.pow, ast.LShift: operator.lshift,
    ast.RShift: operator.rshift, ast.BitAnd: operator.and_, ast.BitOr: operator.or_, ast.BitXor: operator.xor,
}  # fmt: skip

_BITS = {ast.LShift: "<<", ast.RShift: ">>", ast.BitAnd: "&", ast.BitOr: "|", ast.BitXor: "^"}
_COMPARISONS = {ast.Lt: "<", ast.LtE: "<=", ast.Gt: ">", ast.GtE: ">=", ast.Eq: "==", ast.NotEq: "!="}
_ROUNDINGS = {"int": "fx_int", "floor": "fx_floor", "ceil": "fx_ceil", "trunc": "fx_int", "round": "fx_round"}
_OF_REALS = {"sqrt": "fx_sqrt", "exp": "fx_exp", "log": "fx_log", "fabs": "abs_of"}


@dataclass(frozen=True)
class Made:
    """A function in C: its text, the kind of its result, its part of `CONTEXT`, and the count of its random numbers."""

    name: str
    text: str
    kind: Any
    uses: frozenset[str]
    draws: int


class Expressions(Scope):
    """A method with its expressions in C."""

    _unit: Law

    def __init__(self, *given: Any) -> None:
        super().__init__(*given)
        self._uses: set[str] = set()
        self._draws, self._loops = 0, 0
        self._parts: dict[ast.IfExp, tuple[Term, Term, Term]] = {}

    def _c(self, name: str) -> str:
        """Return the name of a local in C."""
        found = of_local(name)
        while found != name and found in self._locals:
            found += "_"
        return found

    def _new(self) -> str:
        """Return a name that no local has."""
        while (name := self._temporary()) in self._locals:
            pass
        return name

    def _use(self, what: str, node: ast.AST) -> None:
        """Note that the function is given a part of `CONTEXT`."""
        if what == "random" and self._unit.current not in ("on_enqueue", "on_dequeue"):
            raise self.refused("draws outside of on_enqueue and on_dequeue: draw there", node)
        self._uses.add(what)

    def _value(self, node: ast.expr) -> Any:
        if type(node) in EXPRESSIONS:
            raise self.refused(": ".join(EXPRESSIONS[type(node)]), node)
        write = getattr(self, f"visit_{type(node).__name__}", None)
        if write is None:
            raise self.refused(f"`{ast.unparse(node)}` is not carried over: write it with arithmetic", node)
        return write(node)

    def _plain(self, *nodes: ast.expr) -> None:
        """Refuse methods that set attributes among operands, which C computes in any order."""
        for node in nodes:
            for one in ast.walk(node):
                if isinstance(one, ast.Call) and self._is_own(one.func):
                    name = one.func.attr  # type: ignore[attr-defined]
                    if name != "random" and self._unit.sets(name):
                        raise self.refused(
                            f"calls self.{name}(), which sets attributes, in the midst of an expression: "
                            "assign its value to a name first",
                            one,
                        )

    def _number(self, node: ast.expr) -> Term:
        """Translate an operand: a number, or true or false as one."""
        term = _as_number(self._value(node))
        if term.kind not in NUMBERS:
            raise self.refused(f"computes with {words(term.kind)}: {ast.unparse(node)} must be a number", node)
        return term

    def _truth(self, node: ast.expr) -> Term:
        """Translate a condition."""
        if isinstance(node, ast.BoolOp):
            return _logical(node.op, [self._truth(one) for one in node.values])
        term: Term = self._value(node)
        if term.kind == SWITCH:
            return term
        if term.kind in NUMBERS or term.kind in (NOTHING, VERDICT):
            return Term(f"{inside(term, BITS_OF)} != 0", SWITCH, COMPARISON)
        raise self.refused(f"takes {ast.unparse(node)}, {words(term.kind)}, for true or false: compare it", node)

    def _constant(self, value: object, node: ast.expr) -> Term:
        try:
            return constant(value)
        except Refusal as error:
            raise self.refused(f"{ast.unparse(node)}: {error}", node) from None

    def visit_Constant(self, node: ast.Constant) -> Term:
        """Translate a constant."""
        return self._constant(node.value, node)

    def visit_Name(self, node: ast.Name) -> Term:
        """Translate a name."""
        if node.id == self._own:
            raise self.refused(f"uses {node.id} as a whole: use its attributes one by one", node)
        if node.id in self._locals:
            if node.id not in self._assigned:
                raise self.refused(f"{node.id} may have no value here: give it one before", node)
            kind = self._kind(node.id)
            return Term(self._c(node.id), kind)
        if node.id not in self._unit.module:
            raise self.refused(f"uses {node.id}: only names of this file can be used", node)
        return self._constant(self._global(node), node)

    def visit_Attribute(self, node: ast.Attribute) -> Term:
        """Translate an attribute."""
        if self._is_own(node):
            return self._attribute(node)
        value = self._global(node)
        if value is not None:
            term = self._constant(value, node)
            if node.attr in ("PASS", "MARK", "DROP") and getattr(algorithm, node.attr) is value:
                return term._replace(text=node.attr)
            return term
        of = self._value(node.value).kind
        if of not in _KNOWN:
            raise self.refused(f"uses {ast.unparse(node)}: only numbers of this file can be used", node)
        if (of, node.attr) not in _FIELDS:
            raise self.refused(f"uses {ast.unparse(node)}: the kernel's program knows {_KNOWN[of]} only", node)
        text, kind, uses = _FIELDS[of, node.attr]
        if "k->port_" in text:
            self._unit.of_port.add(text[text.index("port_") :].rstrip(")"))
        if uses:
            self._use(uses, node)
        return Term(text, kind, UNARY if text.startswith("(") else 0)

    def _attribute(self, node: ast.Attribute) -> Term:
        name = node.attr
        if name in self._unit.state:
            return Term(f"s->{of_member(name)}", self._unit.attributes.get(name, WHOLE))
        if name in self._unit.parameters:
            return self._unit.parameter(name)
        value = inspect.getattr_static(self._unit.declared.cls, name, None)
        if isinstance(value, FunctionType):
            raise self.refused(f"uses the method {name} without calling it: call it", node)
        if value is None:
            raise self.refused(f"uses self.{name}, which start() does not set: set it there", node)
        return self._constant(value, node)

    def visit_Subscript(self, node: ast.Subscript) -> Term:
        """Translate an element."""
        found: Term = self._element(node)
        return found

    def _element(self, node: ast.Subscript) -> Any:
        base = self._value(node.value)
        if not isinstance(base.kind, Elements):
            raise self.refused(f"takes an element of {words(base.kind)}: use a numpy array, made in start()", node)
        parts = node.slice.elts if isinstance(node.slice, ast.Tuple) else [node.slice]
        indices = [self._value(one) for one in parts]
        if len(indices) != len(base.kind.shape) or any(one.kind != WHOLE for one in indices):
            raise self.refused(f"{ast.unparse(node)} is not one element of an array: give whole numbers", node)
        text = base.text
        for index, length in zip(indices, base.kind.shape, strict=True):
            known = index.value is not None and 0 <= index.value < length
            text += f"[{index.text if known else f'at({index.text}, {length})'}]"
        return Term(text, base.kind.kind)

    def visit_IfExp(self, node: ast.IfExp) -> Term:
        """Translate a conditional expression."""
        test = self._truth(node.test)
        drawn = self._draws
        then = self._value(node.body)
        drawn_then, self._draws = self._draws, drawn
        other = self._value(node.orelse)
        self._draws = max(drawn_then, self._draws)
        self._parts[node] = test, then, other
        kind = joined(then.kind, other.kind)
        if kind is None or isinstance(kind, Text | Elements):
            raise self.refused(
                f"{ast.unparse(node)} is {words(then.kind)} or {words(other.kind)}: give it one type", node
            )
        texts = [inside(as_kind(one, kind), OR) for one in (then, other)]
        return Term(f"{inside(test, OR)} ? {texts[0]} : {texts[1]}", kind, CHOICE)

    def visit_BoolOp(self, node: ast.BoolOp) -> Term:
        """Translate a logical operation."""
        terms = [self._value(one) for one in node.values]
        if any(one.kind != SWITCH for one in terms):
            raise self.refused(f"{ast.unparse(node)} is one of its parts: write `a if a else b`", node)
        return _logical(node.op, terms)

    def visit_Compare(self, node: ast.Compare) -> Term:
        """Translate a comparison."""
        given = [node.left, *node.comparators]
        self._plain(*given)
        if isinstance(node.ops[0], ast.In | ast.NotIn) and len(given) == 2:
            if not isinstance(given[1], ast.Tuple | ast.List | ast.Set) or not given[1].elts:
                raise self.refused(f"{ast.unparse(node)}: list the values, as in x in (1, 2)", node)
            terms = [self._value(given[0]), *map(self._value, given[1].elts)]
            equal = [self._compared(ast.Eq(), terms[0], one, node) for one in terms[1:]]
            text = " || ".join(one.text for one in equal)
            if isinstance(node.ops[0], ast.In):
                return Term(text, SWITCH, OR if len(equal) > 1 else COMPARISON)
            return Term(f"!({text})", SWITCH, UNARY)
        terms = [self._value(one) for one in given]
        pairs = zip(node.ops, terms, terms[1:], strict=False)
        parts = [self._compared(op, left, right, node) for op, left, right in pairs]
        return parts[0] if len(parts) == 1 else Term(" && ".join(one.text for one in parts), SWITCH, AND)

    def _compared(self, op: ast.cmpop, left: Term, right: Term, node: ast.Compare) -> Term:
        sign = _COMPARISONS.get(type(op))
        if sign is None:
            raise self.refused(f"{ast.unparse(node)}: compare numbers by ==, <, …", node)
        if isinstance(left.kind, Text) or isinstance(right.kind, Text):
            return self._chosen(sign, left, right, node)
        if left.kind != right.kind:
            left, right = _as_number(left), _as_number(right)
        kind = joined(left.kind, right.kind)
        if kind not in (SWITCH, WHOLE, REAL):
            raise self.refused(f"compares {words(left.kind)} with {words(right.kind)}: compare numbers", node)
        a, b = (inside(as_kind(one, kind), BITS_OF) for one in (left, right))
        return Term(f"{a} {sign} {b}", SWITCH, COMPARISON)

    def _chosen(self, sign: str, left: Term, right: Term, node: ast.Compare) -> Term:
        """Compare a parameter with one of its choices."""
        texts = [one.kind for one in (left, right) if isinstance(one.kind, Text)]
        of = next((one.parameter for one in texts if one.parameter), "")
        value = next((one.value for one in texts if not one.parameter), None)
        if sign not in ("==", "!=") or len(texts) != 2 or not of or value is None:
            raise self.refused(f"{ast.unparse(node)}: a parameter can be compared with one of its choices only", node)
        choices = self._unit.parameters[of].choices
        if value not in choices:
            raise self.refused(f"{value!r} is no choice of {of}: it has {', '.join(choices)}", node)
        return Term(f"k->{of} {sign} {self._unit.choice(of, value)}", SWITCH, COMPARISON)

    def visit_UnaryOp(self, node: ast.UnaryOp) -> Term:
        """Translate an operation on one value."""
        if isinstance(node.op, ast.Not):
            term = self._truth(node.operand)
            if term.text.endswith(" != 0") and term.rank == COMPARISON:
                return term._replace(text=f"{term.text.removesuffix(' != 0')} == 0")
            return Term(f"!{inside(term, UNARY)}", SWITCH, UNARY)
        term = self._number(node.operand)
        if isinstance(node.op, ast.UAdd):
            return term
        if isinstance(node.op, ast.Invert):
            if term.kind != WHOLE:
                raise self.refused(f"{ast.unparse(node)}: only a whole number has bits", node)
            return Term(f"~{inside(term, UNARY)}", WHOLE, UNARY)
        if term.value is not None:
            return self._constant(-term.value, node)
        text = inside(term, UNARY)
        return Term(f"-({text})" if text.startswith("-") else f"-{text}", term.kind, UNARY)

    def visit_BinOp(self, node: ast.BinOp) -> Term:
        """Translate an operation on two values."""
        self._plain(node.left, node.right)
        return self._operation(node.op, self._number(node.left), self._number(node.right))

    def _operation(self, op: ast.operator, left: Term, right: Term) -> Term:
        """Write an operation on two numbers."""
        large = isinstance(op, ast.Pow | ast.LShift) and right.value is not None and abs(right.value) > 63
        if left.value is not None and right.value is not None and type(op) in _OPERATIONS and not large:
            try:
                return constant(_OPERATIONS[type(op)](left.value, right.value))
            except (ArithmeticError, ValueError, TypeError, Refusal) as error:
                sign = f"{type(op).__name__} of {left.value} and {right.value}"
                raise self.refused(f"{sign}: {error}: use other constants") from None
        left, right = _as_number(left), _as_number(right)
        whole = {left.kind, right.kind} == {WHOLE}
        if not {left.kind, right.kind} <= NUMBERS:
            raise self.refused(f"computes with {words(left.kind)} and {words(right.kind)}: use numbers")
        real = [as_kind(one, REAL) for one in (left, right)]
        match op:
            case ast.Add() | ast.Sub():
                if not whole:
                    return Term(call("fx_add" if isinstance(op, ast.Add) else "fx_sub", *real), REAL)
                sign, rank = ("+", SUM) if isinstance(op, ast.Add) else ("-", PRODUCT)
                return Term(f"{inside(left, SUM)} {sign} {inside(right, rank)}", WHOLE, SUM)
            case ast.Mult():
                if REAL == left.kind == right.kind:
                    return Term(call("fx_mul", left, right), REAL)
                if whole and any(one.value is not None and abs(one.value) < 2**16 for one in (left, right)):
                    return Term(f"{inside(left, PRODUCT)} * {inside(right, UNARY)}", WHOLE, PRODUCT)
                return Term(call("mul", left, right), WHOLE if whole else REAL)
            case ast.Div():
                if left.kind == WHOLE and right.kind == REAL and (left.value is None or abs(left.value) >= 2**31):
                    return Term(call("whole_div_fx", left, right), REAL)
                if left.kind == REAL and right.kind == WHOLE:
                    return Term(call("fx_div_whole", left, right), REAL)
                return Term(call("fx_div", *((left, right) if whole else real)), REAL)
            case ast.FloorDiv():
                text = call("floor_div", *((left, right) if whole else real))
                return Term(text, WHOLE)
            case ast.Mod():
                return Term(call("floor_mod", *((left, right) if whole else real)), WHOLE if whole else REAL)
            case ast.Pow():
                return self._power(left, right)
        if type(op) in _BITS and whole:
            if isinstance(op, ast.LShift | ast.RShift) and not (right.value is not None and 0 <= right.value < 63):
                raise self.refused("shifts by a number that is not constant: shift by a constant below 63")
            return Term(f"({inside(left, 0)} {_BITS[type(op)]} {inside(right, 0)})", WHOLE)
        raise self.refused(f"{type(op).__name__} of {words(left.kind)} and {words(right.kind)}: use + - * / // % **")

    def _power(self, base: Term, exponent: Term) -> Term:
        of = exponent.value
        if of == 0.5:
            return Term(call("fx_sqrt", as_kind(base, REAL)), REAL)
        if isinstance(of, int) and abs(of) < 64:
            steps = Term(str(abs(of)), WHOLE)
            if of >= 0:
                return Term(call("whole_power" if base.kind == WHOLE else "fx_power", base, steps), base.kind)
            found = Term(call("fx_power", as_kind(base, REAL), steps), REAL)
            return Term(call("fx_div", as_kind(constant(1), REAL), found), REAL)
        if base.kind == exponent.kind == WHOLE:
            raise self.refused("a whole number to the power of one that varies: use a constant exponent below 64")
        return Term(call("fx_pow", as_kind(base, REAL), as_kind(exponent, REAL)), REAL)

    # Calls.

    def visit_Call(self, node: ast.Call) -> Term:
        """Translate a call."""
        self._plain(*node.args, *(one.value for one in node.keywords))
        if self._is_own(node.func):
            return self._method(node, node.func.attr)  # type: ignore[attr-defined]
        name = ast.unparse(node.func)
        builtin = isinstance(node.func, ast.Name) and self._is_builtin(name)
        function = None if builtin else self._global(node.func)
        if isinstance(function, FunctionType) and function is not algorithm.ns:
            return self._given(node, function, own=False)
        module = getattr(function, "__module__", "") or ""
        last = name.rpartition(".")[2]
        known = builtin or (isinstance(function, BuiltinFunctionType) and module == "math") or function is algorithm.ns
        found = (
            self._function(node, "ns" if function is algorithm.ns else last) if known and not node.keywords else None
        )
        if found is None:
            owner = self._global(node.func.value) if isinstance(node.func, ast.Attribute) else None
            room = owner.__name__.partition(".")[0] if isinstance(owner, ModuleType) else module.partition(".")[0]
            cure = CALLS.get(name) if builtin else OTHER_CALLS.get(room)
            raise self.refused(f"calls {name}(): {cure or 'write it with arithmetic, min, max, abs and math'}", node)
        return found

    def _function(self, node: ast.Call, name: str) -> Term | None:
        """Translate a function of Python or of `math`."""
        if name == "len" and len(node.args) == 1:
            kind = self._value(node.args[0]).kind
            return constant(kind.shape[0]) if isinstance(kind, Elements) else None
        if name == "bool" and len(node.args) == 1:
            return self._truth(node.args[0])
        if name not in {"min", "max", "abs", "float", "pow", "ns", *_ROUNDINGS, *_OF_REALS}:
            return None
        terms = [self._number(one) for one in node.args]
        if name in ("min", "max") and len(terms) > 1:
            kind = REAL if any(one.kind == REAL for one in terms) else WHOLE
            found, *rest = (as_kind(one, kind) for one in terms)
            for one in rest:
                found = Term(call(f"{name}_of", found, one), kind)
            return found
        if name == "pow" and len(terms) == 2:
            return self._operation(ast.Pow(), *terms)
        if len(terms) != 1:
            return None
        [term] = terms
        if name == "ns":
            seconds = (
                term.text.removeprefix("seconds(").removesuffix(")") if term.text.startswith("seconds(k->") else ""
            )
            return Term(seconds or call("nanoseconds", as_kind(term, REAL)), WHOLE)
        if name in _ROUNDINGS:
            return term if term.kind == WHOLE else Term(call(_ROUNDINGS[name], term), WHOLE)
        if name == "float":
            return term
        if name in ("abs", "fabs"):
            return Term(call("abs_of", term), term.kind)
        return Term(call(_OF_REALS[name], as_kind(term, REAL)), REAL)

    def _method(self, node: ast.Call, name: str) -> Term:
        if name == "random":
            self._use("random", node)
            self._draw(1, node)
            return Term("(s64)random", REAL, UNARY)
        function = None if name in self._unit.state else self._unit.method(name)
        if function is None:
            raise self.refused(f"calls self.{name}(), which is no method of this file: write it there", node)
        return self._given(node, function, own=True)

    def _draw(self, count: int, node: ast.AST) -> None:
        if count and (self._draws + count > 1 or self._loops):
            raise self.refused(
                "draws a second random number for one packet, and the kernel's program has one of 32 bits: "
                "draw once, `u = self.random()`, and compare u with the product of the probabilities",
                node,
            )
        self._draws += count

    def _given(self, node: ast.Call, function: FunctionType, *, own: bool) -> Term:
        given = [self._value(one) for one in node.args]
        named = {str(one.arg): self._value(one.value) for one in node.keywords}
        made, terms = self._unit.called(function, given, named, own=own)
        self._draw(made.draws, node)
        for one in made.uses:
            self._use(one, node)
        passed = [one for one in terms if one.kind not in ("packet", "queue", "port")]
        context = [name for name in CONTEXT if name in made.uses]
        text = f"{made.name}({', '.join(['s', 'k', *context, *(one.text for one in passed)])})"
        return Term(text, made.kind)


def _as_number(term: Term) -> Term:
    """Return true or false as 1 or 0, and anything else as it is."""
    if term.kind != SWITCH:
        return term
    return constant(int(term.value)) if term.value is not None else Term(f"(s64){inside(term, UNARY)}", WHOLE, UNARY)


def _logical(op: ast.boolop, terms: Sequence[Term]) -> Term:
    rank, word = (AND, " && ") if isinstance(op, ast.And) else (OR, " || ")
    # Compilers want parentheses in `a && b || c`.
    return Term(word.join(inside(one, COMPARISON) for one in terms), SWITCH, rank)
