"""Writes a function anew, statement by statement.

The methods of `Body` are a list of the constructs that are compiled. Each construct, operation and function decides as
Python does, or raises an exception, after which the run is repeated in Python. Everything else refuses the class, which
then runs in Python. So a name has one kind in a function, and an attribute one in a class; that one may be `MIXED`.
"""
# ruff: noqa: N802  the names of the methods are those of the constructs

from __future__ import annotations

import ast
import inspect
from collections.abc import Sequence
from dataclasses import dataclass
from types import BuiltinFunctionType, FunctionType
from typing import Any

from aqmlab.own import algorithm
from aqmlab.own.kinds import (
    ARGUMENTS,
    COUNT,
    FIELDS,
    MIXED,
    NOTHING,
    NUMBERS,
    RANDOM,
    REAL,
    SWITCH,
    VERDICT,
    WHOLE,
    WHOLES,
    Array,
    Kind,
    Term,
    in_words,
    joined,
    kind_of,
    written,
)
from aqmlab.own.scope import Scope

LIBM = ("exp", "expm1", "log", "log1p", "log10", "sin", "cos", "tan", "atan", "tanh")
"""Functions of one number that `math` takes from the C library, and so does compiled code."""

_ROUNDING = ("floor", "ceil", "trunc")
_TESTS = ("isfinite", "isinf", "isnan")

_OPERATIONS = {
    ast.Add: ("+", "add"), ast.Sub: ("-", "sub"), ast.Mult: ("*", "mul"), ast.Div: ("/", "div"),
    ast.FloorDiv: ("//", "floordiv"), ast.Mod: ("%", "mod"), ast.Pow: ("**", "pow"), ast.LShift: ("<<", "lshift"),
    ast.RShift: (">>", "rshift"), ast.BitAnd: ("&", ""), ast.BitOr: ("|", ""), ast.BitXor: ("^", ""),
}  # fmt: skip
"""The sign of each operation, and the end of the names of its functions in `aqmlab.own.machine`."""

_BUILTINS = ("abs", "bool", "float", "int", "len", "max", "min", "pow", "round")

_COMPARISONS = {ast.Lt: "<", ast.LtE: "<=", ast.Gt: ">", ast.GtE: ">=", ast.Eq: "==", ast.NotEq: "!="}

_EXACT = 2**53


@dataclass(frozen=True)
class Made:
    """A function for arguments of certain kinds: its text, and the kind that it returns."""

    text: str
    kind: Any


class Body(Scope):
    """A function on its way to text."""

    def made(self) -> Made:
        """Write the function."""
        for name, kind in self._arguments.items():
            self._unit.widened(self._name, name, kind)
        lines, ended = self._block(self._source.body, "    ")
        if not ended:
            lines.append(f"    return {self._return((written(None), NOTHING))}")
        wider = [name for name, kind in self._arguments.items() if self._kind(name) != kind]
        first = [f"    v_{one} = {self._as(f'g_{one}', self._arguments[one], self._kind(one))}" for one in wider]
        given = ", ".join(["s", *(f"g_{one}" if one in wider else f"v_{one}" for one in self._arguments)])
        return Made("\n".join([f"def {self._name}({given}):", *first, *lines]), self._kind(""))

    def _as(self, text: str, kind: Kind, wanted: Kind) -> str:
        """Write a value of one kind as a value of a wider kind."""
        if kind == wanted or wanted in (COUNT, VERDICT):
            return text
        if isinstance(kind, tuple) and isinstance(wanted, tuple):
            parts = [self._as(f"{text}[{i}]", *both) for i, both in enumerate(zip(kind, wanted, strict=True))]
            return f"({', '.join(parts)},)"
        return text if kind == REAL else self._exact((text, kind))

    def _exact(self, term: Term) -> str:
        """Write a number as a float that is equal to it."""
        text, kind = term
        if kind in (REAL, MIXED):
            return text
        if text.lstrip("-").isdigit() and abs(int(text)) <= _EXACT:
            return repr(float(int(text)))
        return f"_exact({text})"

    # Statements.

    def _block(self, statements: Sequence[ast.stmt], indent: str) -> tuple[list[str], bool]:
        """Write statements; return whether none that follows them is reached."""
        lines: list[str] = []
        for statement in statements:
            self._node = statement
            write = getattr(self, f"visit_{type(statement).__name__}", None)
            if write is None:
                raise self.refused(f"has a statement that is not compiled: {ast.unparse(statement).splitlines()[0]}")
            more, ended = write(statement, indent)
            lines += more
            if ended:
                return lines, True
        return lines or [f"{indent}pass"], False

    def visit_Pass(self, node: ast.Pass, indent: str) -> tuple[list[str], bool]:
        """Translate a statement that does nothing."""
        return [f"{indent}pass"], False

    def visit_Break(self, node: ast.Break, indent: str) -> tuple[list[str], bool]:
        """Translate the end of a loop."""
        return [f"{indent}break"], True

    def visit_Continue(self, node: ast.Continue, indent: str) -> tuple[list[str], bool]:
        """Translate the next turn of a loop."""
        return [f"{indent}continue"], True

    def visit_Raise(self, node: ast.Raise, indent: str) -> tuple[list[str], bool]:
        """Translate an exception."""
        return [f"{indent}raise ValueError"], True

    def visit_Assert(self, node: ast.Assert, indent: str) -> tuple[list[str], bool]:
        """Translate an assertion."""
        return [f"{indent}if not {self._truth(node.test)}:", f"{indent}    raise ValueError"], False

    def visit_Expr(self, node: ast.Expr, indent: str) -> tuple[list[str], bool]:
        """Translate an expression as a statement."""
        return ([] if isinstance(node.value, ast.Constant) else [f"{indent}{self._value(node.value)[0]}"]), False

    def visit_Return(self, node: ast.Return, indent: str) -> tuple[list[str], bool]:
        """Translate a verdict."""
        given = (written(None), NOTHING) if node.value is None else self._value(node.value)
        return [f"{indent}return {self._return(given)}"], True

    def _return(self, given: Term) -> str:
        if self._event and ARGUMENTS[self._event][:1] != ("packet",):
            given = (f"_nothing({given[0]})", NOTHING)  # whatever it returns is ignored
        if self._event and given[1] not in (NOTHING, WHOLE, VERDICT):
            raise self.refused(f"returns {in_words(given[1])}, which is no verdict")
        kind = self._unit.widened(self._name, "", given[1])
        if kind is None:
            raise self.refused(f"returns {in_words(given[1])}, and elsewhere {in_words(self._kind(''))}")
        return self._as(given[0], given[1], kind)

    def visit_If(self, node: ast.If, indent: str) -> tuple[list[str], bool]:
        """Translate a condition."""
        test, before = self._truth(node.test), set(self._assigned)
        then, then_ended = self._block(node.body, f"{indent}    ")
        after, self._assigned = self._assigned, set(before)
        other, other_ended = self._block(node.orelse, f"{indent}    ")
        # A name has a value afterwards if it has one at each end from which the next statement is reached.
        if other_ended:
            self._assigned = after
        elif not then_ended:
            self._assigned &= after
        return [f"{indent}if {test}:", *then, f"{indent}else:", *other], then_ended and other_ended

    def visit_While(self, node: ast.While, indent: str) -> tuple[list[str], bool]:
        """Translate a loop."""
        return self._loop(node, f"while {self._truth(node.test)}:", [], indent)

    def visit_For(self, node: ast.For, indent: str) -> tuple[list[str], bool]:
        """Translate a loop over numbers."""
        called = node.iter.func if isinstance(node.iter, ast.Call) else None
        if isinstance(called, ast.Name) and called.id == "range" and self._is_builtin("range"):
            assert isinstance(node.iter, ast.Call)
            bounds = [self._value(one) for one in node.iter.args]
            if node.iter.keywords or any(kind not in WHOLES for _, kind in bounds):
                raise self.refused("has a range of something that is not a whole number")
            # Between bounds that are far apart, 64 bits do not hold the length.
            through, kind = f"range({', '.join(f'_near_i({text})' for text, _ in bounds)})", WHOLE
        else:
            through, of = self._value(node.iter)
            if isinstance(of, Array) and of.dimensions == 1:
                kind = of.elements
            elif isinstance(of, tuple) and len(set(of)) == 1:
                kind = of[0]
            else:
                raise self.refused(f"loops over {ast.unparse(node.iter)}, which is neither a range nor an array")
        before, one = set(self._assigned), self._temporary()
        first = self._set(node.target, (one, kind), f"{indent}    ")
        found = self._loop(node, f"for {one} in {through}:", first, indent)
        self._assigned = before
        return found

    def _loop(self, node: ast.While | ast.For, head: str, first: list[str], indent: str) -> tuple[list[str], bool]:
        if node.orelse:
            raise self.refused("has a loop with else")
        before = set(self._assigned)
        body, _ = self._block(node.body, f"{indent}    ")
        self._assigned &= before
        return [f"{indent}{head}", *first, *body], False

    def visit_Assign(self, node: ast.Assign, indent: str) -> tuple[list[str], bool]:
        """Translate an assignment."""
        value = self._value(node.value)
        if len(node.targets) == 1 and not isinstance(node.targets[0], ast.Tuple | ast.List):
            return self._set(node.targets[0], value, indent), False
        name = self._temporary()
        lines = [f"{indent}{name} = {value[0]}"]
        for target in node.targets:
            lines += self._set(target, (name, value[1]), indent)
        return lines, False

    def visit_AnnAssign(self, node: ast.AnnAssign, indent: str) -> tuple[list[str], bool]:
        """Translate an assignment with a type."""
        return ([] if node.value is None else self._set(node.target, self._value(node.value), indent)), False

    def visit_AugAssign(self, node: ast.AugAssign, indent: str) -> tuple[list[str], bool]:
        """Translate an assignment with an operation."""
        if not isinstance(node.target, ast.Subscript):
            read: ast.expr = (
                ast.Name(node.target.id, ast.Load())
                if isinstance(node.target, ast.Name)
                else ast.Attribute(node.target.value, node.target.attr, ast.Load())
            )
            return self._set(
                node.target, self._operation(node.op, self._value(read), self._value(node.value)), indent
            ), False
        # As in Python, the element is found once, before the value.
        base, of, index = self._element(node.target)
        at, old = self._temporary(), self._temporary()
        lines = [f"{indent}{at} = {index}", f"{indent}{old} = {base}[{at}]"]
        value = self._operation(node.op, (old, of.elements), self._value(node.value))
        return [*lines, f"{indent}{base}[{at}] = {self._as_element(value, of)}"], False

    def _set(self, target: ast.expr, value: Term, indent: str) -> list[str]:
        """Write that a target gets a value, which must be a name if the target is a tuple."""
        text, kind = value
        if isinstance(target, ast.Tuple | ast.List):
            if not isinstance(kind, tuple) or len(kind) != len(target.elts):
                raise self.refused(f"unpacks {in_words(kind)} into {len(target.elts)} names")
            parts = [(f"{text}[{i}]", one) for i, one in enumerate(kind)]
            return [line for one, part in zip(target.elts, parts, strict=True) for line in self._set(one, part, indent)]
        if isinstance(target, ast.Name) and target.id != self._own:
            both = self._unit.widened(self._name, target.id, kind)
            if both is None:
                raise self.refused(f"{target.id} is {in_words(kind)}, and elsewhere {in_words(self._kind(target.id))}")
            self._assigned.add(target.id)
            return [f"{indent}v_{target.id} = {self._as(text, kind, both)}"]
        if isinstance(target, ast.Subscript):
            base, of, index = self._element(target)
            return [f"{indent}{base}[{index}] = {self._as_element(value, of)}"]
        if not self._is_own(target):
            raise self.refused(f"sets {ast.unparse(target)}, which is not part of self")
        assert isinstance(target, ast.Attribute)
        known = self._unit.attributes.get(target.attr)
        if known is None or isinstance(known, Array):
            why = "start() does not set" if known is None else "is an array: set its elements"
            raise self.refused(f"sets self.{target.attr}, which {why}")
        both = joined(known, kind)
        if both is None or (both == MIXED and known in WHOLES):
            fraction = known in WHOLES and kind in (REAL, MIXED)
            hint = ": start it as 0.0 if it is a number with a fraction" if fraction else ""
            raise self.refused(f"sets self.{target.attr}, which starts as {in_words(known)}, to {in_words(kind)}{hint}")
        if both != known:
            self._unit.attributes[target.attr] = both
            self._unit.settled = False
        return [f"{indent}s.{target.attr} = {self._as(text, kind, both)}"]

    def _element(self, node: ast.Subscript) -> tuple[str, Array, str]:
        """Return an array, its kind, and the index of an element."""
        base, of = self._value(node.value)
        if not isinstance(of, Array):
            raise self.refused(f"takes an element of {ast.unparse(node.value)}, which is {in_words(of)}")
        parts = node.slice.elts if isinstance(node.slice, ast.Tuple) else [node.slice]
        indices = [self._value(one) if not isinstance(one, ast.Slice) else ("", "") for one in parts]
        if len(indices) != of.dimensions or any(kind not in WHOLES for _, kind in indices):
            raise self.refused(f"{ast.unparse(node)} is not one element of an array")
        return base, of, ", ".join(text for text, _ in indices)

    def _as_element(self, value: Term, of: Array) -> str:
        text, kind = value
        if kind == of.elements or (kind in WHOLES and of.elements == COUNT):
            return text
        if of.elements == REAL and kind in NUMBERS:
            return f"float({text})"
        raise self.refused(f"sets an element of an array of {in_words(of.elements)} to {in_words(kind)}")

    # Expressions.

    def _value(self, node: ast.expr) -> Term:
        write = getattr(self, f"visit_{type(node).__name__}", None)
        if write is None or isinstance(node, ast.Starred):
            raise self.refused(f"has an expression that is not compiled: {ast.unparse(node)}", node)
        found: Term = write(node)
        return found

    def _truth(self, node: ast.expr) -> str:
        """Write a condition."""
        if isinstance(node, ast.BoolOp):
            word = " and " if isinstance(node.op, ast.And) else " or "
            return f"({word.join(self._truth(one) for one in node.values)})"
        text, kind = self._value(node)
        if kind == SWITCH:
            return text
        if kind in NUMBERS or kind in (NOTHING, VERDICT):
            return f"({text} != 0)"
        raise self.refused(f"takes {ast.unparse(node)}, which is {in_words(kind)}, for true or false", node)

    def _constant(self, value: object, node: ast.expr) -> Term:
        kind = kind_of(value)
        if kind is not None:
            return (f"({written(value)})" if written(value).startswith("-") else written(value)), kind
        if isinstance(value, tuple) and value and len({kind_of(one) for one in value}) == 1 and kind_of(value[0]):
            return f"({', '.join(map(written, value))},)", tuple(str(kind_of(one)) for one in value)
        words = "a whole number beyond 64 bits" if type(value) is int else f"a {type(value).__name__}"
        raise self.refused(f"uses {ast.unparse(node)}, {words}: only numbers can be compiled", node)

    def visit_Constant(self, node: ast.Constant) -> Term:
        """Translate a constant."""
        return self._constant(node.value, node)

    def visit_Name(self, node: ast.Name) -> Term:
        """Translate a name."""
        if node.id == self._own:
            raise self.refused(f"uses {node.id} as a whole, and not one of its attributes", node)
        if node.id in self._locals:
            if node.id not in self._assigned:
                raise self.refused(f"{node.id} may have no value here", node)
            return f"v_{node.id}", self._kind(node.id)
        if node.id not in self._unit.module:
            raise self.refused(f"uses {node.id}, which is not compiled", node)
        return self._constant(self._global(node), node)

    def visit_Attribute(self, node: ast.Attribute) -> Term:
        """Translate an attribute."""
        if not self._is_own(node):
            value = self._global(node)
            if value is not None:
                return self._constant(value, node)
            text, kind = self._value(node.value)
            fields = FIELDS.get(kind, {}) if isinstance(kind, str) else {}
            if node.attr in fields:
                return f"{text}.{node.attr}", {"i8": WHOLE, "f8": REAL, "?": SWITCH}[fields[node.attr]]
            raise self.refused(f"uses {ast.unparse(node)}, which is not compiled", node)
        if node.attr in self._unit.attributes:
            return f"s.{node.attr}", self._unit.attributes[node.attr]
        cls = self._unit.declared.cls
        value = inspect.getattr_static(cls, node.attr, None)
        if isinstance(value, FunctionType):
            raise self.refused(f"uses the method {node.attr} without calling it", node)
        if kind_of(value) is None or value is None:
            raise self.refused(f"uses self.{node.attr}, which start() does not set", node)
        return self._constant(self._unit.constant(cls, node.attr, value), node)

    def visit_Tuple(self, node: ast.Tuple) -> Term:
        """Translate a tuple."""
        terms = [self._value(one) for one in node.elts]
        return f"({', '.join(text for text, _ in terms)},)", tuple(kind for _, kind in terms)

    def visit_Subscript(self, node: ast.Subscript) -> Term:
        """Translate an element."""
        text, of = self._value(node.value)
        if isinstance(of, tuple) and len(set(of)) == 1:
            index, kind = self._value(node.slice)
            if kind == WHOLE and not (index.isdigit() and int(index) >= len(of)):
                return f"{text}[{index}]", of[0]
        base, array, index = self._element(node)
        return f"{base}[{index}]", array.elements

    def visit_IfExp(self, node: ast.IfExp) -> Term:
        """Translate a conditional expression."""
        test, then, other = self._truth(node.test), self._value(node.body), self._value(node.orelse)
        kind = joined(then[1], other[1])
        if kind is None:
            raise self.refused(f"{ast.unparse(node)} is {in_words(then[1])} or {in_words(other[1])}", node)
        return f"({self._as(*then, kind)} if {test} else {self._as(*other, kind)})", kind

    def visit_BoolOp(self, node: ast.BoolOp) -> Term:
        """Translate a logical operation."""
        terms = [self._value(one) for one in node.values]
        if any(kind != SWITCH for _, kind in terms):
            raise self.refused(f"{ast.unparse(node)} is one of its parts, not true or false", node)
        return self._truth(node), SWITCH

    def visit_Compare(self, node: ast.Compare) -> Term:
        """Translate a comparison."""
        given = [node.left, *node.comparators]
        if (
            isinstance(node.ops[0], ast.In | ast.NotIn)
            and len(given) == 2
            and isinstance(given[1], ast.Tuple | ast.List)
        ):
            # Compiled, the left side is computed for each element, and none after an equal one; and nan is no element.
            calls = any(isinstance(one, ast.Call) for one in ast.walk(given[0]))
            if calls or not given[1].elts or not all(map(self._is_plain, given[1].elts)):
                raise self.refused(f"{ast.unparse(node)}: is not compiled", node)
            equal = [self.visit_Compare(ast.Compare(given[0], [ast.Eq()], [one]))[0] for one in given[1].elts]
            text = f"({' or '.join(equal)})"
            return (text if isinstance(node.ops[0], ast.In) else f"(not {text})"), SWITCH
        terms = [self._value(one) for one in given]
        kinds = {kind for _, kind in terms}
        if any(type(op) not in _COMPARISONS for op in node.ops) or not (kinds <= NUMBERS or kinds == {SWITCH}):
            raise self.refused(f"compares {' with '.join(in_words(kind) for _, kind in terms)}", node)
        # Python compares a whole number with a float exactly.
        texts = [text if kinds <= WHOLES or kinds == {SWITCH} else self._exact((text, kind)) for text, kind in terms]
        signs = [_COMPARISONS[type(op)] for op in node.ops]
        return f"({texts[0]}{''.join(f' {sign} {text}' for sign, text in zip(signs, texts[1:], strict=True))})", SWITCH

    def _is_plain(self, node: ast.expr) -> bool:
        """Return whether an expression is a literal, or the name of a whole number."""
        is_name = ast.unparse(node).replace(".", "_").isidentifier()
        return isinstance(node, ast.Constant) or (is_name and self._value(node)[1] in WHOLES)

    def visit_UnaryOp(self, node: ast.UnaryOp) -> Term:
        """Translate an operation on one value."""
        if isinstance(node.op, ast.Not):
            return f"(not {self._truth(node.operand)})", SWITCH
        text, kind = self._value(node.operand)
        if kind in NUMBERS and isinstance(node.op, ast.UAdd):
            return text, kind
        if kind in NUMBERS and isinstance(node.op, ast.USub):
            return {REAL: f"(-{text})", MIXED: f"_mixed(-{text})"}.get(kind, f"_neg_i({text})"), kind
        if kind in WHOLES and isinstance(node.op, ast.Invert):
            return f"(~{text})", kind
        raise self.refused(f"{ast.unparse(node)}: its number is {in_words(kind)}", node)

    def visit_BinOp(self, node: ast.BinOp) -> Term:
        """Translate an operation on two values."""
        return self._operation(node.op, self._value(node.left), self._value(node.right))

    def _operation(self, op: ast.operator, left: Term, right: Term) -> Term:
        """Write an operation on two numbers."""
        (a, of_a), (b, of_b) = left, right
        sign, name = _OPERATIONS.get(type(op), ("@", ""))
        kinds = {of_a, of_b}
        if kinds == {SWITCH} and sign in "&|^":
            return f"({a} {sign} {b})", SWITCH
        if SWITCH in kinds and kinds <= {SWITCH, *NUMBERS} and kinds != {SWITCH}:
            # True is 1; with numpy's, a whole number becomes numpy's.
            left, right = ((f"int({text})", COUNT) if kind == SWITCH else (text, kind) for text, kind in (left, right))
            return self._operation(op, left, right)
        bits = sign in ("<<", ">>", "&", "|", "^")
        if not kinds <= (WHOLES if bits else NUMBERS) or sign == "@":
            raise self.refused(f"{sign} of {in_words(of_a)} and {in_words(of_b)} is not compiled")
        if kinds <= WHOLES:
            kind = REAL if sign == "/" else WHOLE if kinds == {WHOLE} else COUNT
            return (f"_{name}_i({a}, {b})" if name else f"({a} {sign} {b})"), kind
        if REAL in kinds and sign in "+-*/":
            return f"({a} {sign} {b})", REAL
        if REAL in kinds:
            return f"_{name}_f(float({a}), float({b}))", REAL
        a, b = self._exact(left), self._exact(right)
        if sign == "/":
            return f"({a} / {b})", REAL
        return f"_mixed({f'({a} {sign} {b})' if sign in '+-*' else f'_{name}_f({a}, {b})'})", MIXED

    # Calls.

    def visit_Call(self, node: ast.Call) -> Term:
        """Translate a call."""
        if self._is_own(node.func):
            assert isinstance(node.func, ast.Attribute)
            return self._own_call(node, node.func.attr)
        if isinstance(node.func, ast.Name) and self._is_builtin(node.func.id):
            return self._builtin(node, node.func.id)
        function = self._global(node.func)
        if isinstance(function, FunctionType) and function is not algorithm.ns:
            return self._passed(node, function, own=False)
        given = [self._value(one) for one in node.args]
        if not node.keywords and all(kind in NUMBERS for _, kind in given):
            if function is algorithm.ns and len(given) == 1:
                return f"_int_f({given[0][0]} * 1e9 + 0.5)", WHOLE
            if isinstance(function, BuiltinFunctionType) and function.__module__ == "math":
                found = self._math(function.__name__, given)
                if found is not None:
                    return found
        raise self.refused(f"calls {ast.unparse(node.func)}, which is not compiled", node)

    def _own_call(self, node: ast.Call, name: str) -> Term:
        if name == "random" and not node.args and not node.keywords:
            return f"_draw(s.{RANDOM})", REAL
        function = None if name in self._unit.attributes else self._unit.method(name)
        if function is None:
            raise self.refused(f"calls self.{name}, which is no method of this file", node)
        return self._passed(node, function, own=True)

    def _passed(self, node: ast.Call, function: FunctionType, *, own: bool) -> Term:
        if any(isinstance(one, ast.Starred) for one in node.args) or any(one.arg is None for one in node.keywords):
            raise self.refused(f"calls {ast.unparse(node.func)} with * or **", node)
        given = [self._value(one) for one in node.args]
        named = {str(one.arg): self._value(one.value) for one in node.keywords}
        return self._unit.called(function, given, named, own=own)

    def _builtin(self, node: ast.Call, name: str) -> Term:
        if name not in _BUILTINS:
            raise self.refused(f"calls {name}(), which is not the same when compiled", node)
        given = [self._value(one) for one in node.args]
        texts, kinds = [text for text, _ in given], [kind for _, kind in given]
        count = len(given) if not node.keywords else 0
        numbers = all(kind in NUMBERS for kind in kinds)
        if name in ("min", "max") and count > 1 and (numbers or set(kinds) == {SWITCH}):
            kind = kinds[0]
            for one in kinds[1:]:
                kind = joined(kind, one) or kind
            found, *rest = (self._as(*term, kind) for term in given)
            for text in rest:
                found = f"_{name}({found}, {text})"
            return found, kind
        if name == "pow" and count == 2:
            return self._operation(ast.Pow(), *given)
        if name == "bool" and count == 1:
            return self._truth(node.args[0]), SWITCH
        if name == "len" and count == 1 and isinstance(kinds[0], Array):
            return f"len({texts[0]})", WHOLE
        if name in ("int", "float") and count == 1 and kinds[0] == SWITCH:
            return f"{name}({texts[0]})", WHOLE if name == "int" else REAL
        if count == 1 and numbers:
            [text], [kind] = texts, kinds
            whole = kind in WHOLES
            known = {
                "abs": (f"_abs_i({text})" if whole else f"abs({text})", kind),
                "int": (text if whole else f"_int_f({text})", WHOLE),
                "float": (f"float({text})", REAL),
                "round": (text if whole else f"_round_f({text})", kind if whole else WHOLE),
            }
            if name in known:
                return known[name]
        raise self.refused(f"calls {name}() of {', '.join(map(in_words, kinds))}, which is not compiled", node)

    def _math(self, name: str, given: Sequence[Term]) -> Term | None:
        texts = [f"float({text})" for text, _ in given]
        if len(given) == 2 and name in ("pow", "copysign"):
            return f"{'_pow_f' if name == 'pow' else '_copysign'}({', '.join(texts)})", REAL
        if len(given) != 1:
            return None
        if name in _ROUNDING:
            # numpy's whole numbers become floats first.
            return f"_{name}_f({self._exact(given[0])})", WHOLE
        if name in _TESTS:
            return f"_{name}({texts[0]})", SWITCH
        known = {"sqrt": "_sqrt_f", "fabs": "abs"} | {one: f"_{one}_f" for one in LIBM}
        return (f"{known[name]}({texts[0]})", REAL) if name in known else None
