"""Translates a method of a class to a function in C, statement by statement.

The methods of `Translation` are the list of the constructs that are translated. Everything else is refused, with the
line and the cure.
"""
# ruff: noqa: N802  the names of the methods are those of the constructs

from __future__ import annotations

import ast
import inspect
import math
import operator
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from types import BuiltinFunctionType, FunctionType, ModuleType
from typing import TYPE_CHECKING, Any

from aqmlab.own import algorithm
from aqmlab.own.body import Body
from aqmlab.own.kinds import NOTHING, REAL, SWITCH, VERDICT, WHOLE, NotCompiled, in_words
from aqmlab.workshop.terms import (
    AND,
    BITS_OF,
    CALLS,
    CHOICE,
    COMPARISON,
    EXPRESSIONS,
    NUMBERS,
    OR,
    OTHER_CALLS,
    PRODUCT,
    STATEMENTS,
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
)

if TYPE_CHECKING:
    from aqmlab.workshop.law import Law

_WIDTH = 118

TURNS = 1024
"""The most turns of a loop."""

CONTEXT = {
    "now": "u64 now",
    "packet": "const struct packet *packet",
    "queue": "const struct backlog *queue",
    "sojourn": "u64 sojourn",
    "random": "u32 random",
}
"""What an event knows, and a function may be given, besides the state and the parameters."""

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
    ("port", "delay"): ("seconds(k->port_delay)", REAL, ""),
    ("port", "buffer"): ("k->port_buffer", REAL, ""),
    ("port", "packet"): ("k->port_packet", WHOLE, ""),
}

_KNOWN = {
    "packet": "size, ect, udp, flow, sojourn and sojourn_ns",
    "queue": "packets, bytes, delay, full, now and now_ns",
    "port": "rate, delay, buffer and packet",
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

_RESERVED = frozenset(
    """
    asm auto break case char const continue default do double else enum extern float for goto if inline int long
    register restrict return short signed sizeof static struct switch typedef typeof union unsigned void volatile while
    bool true false linux unix u8 u16 u32 u64 s64 s k now packet queue sojourn random magnitude half min_of max_of
    abs_of mul floor_div floor_mod whole_power fx fx_add fx_sub fx_mul fx_div fx_div_whole whole_div_fx fx_floor fx_ceil
    fx_int fx_round fx_power fx_sqrt fx_log fx_exp fx_pow nanoseconds seconds at judged signal PASS MARK DROP Q ONE
    NAME CLASS PARAMS SIGNALS PERIODS SATURATED GLOBAL INLINE U64_MAX S64_MAX LN2_Q32 LOG2_E_Q32 PARAM
""".split()
)


def spelled(name: str) -> str:
    """Return a name that is none of C's or of the headers'."""
    return f"{name}_" if name in _RESERVED else name


@dataclass(frozen=True)
class Made:
    """A function in C: its text, the kind that it returns, what it is given of `CONTEXT`, and what it does."""

    name: str
    text: str
    kind: Any
    uses: frozenset[str]
    draws: int


class Translation(Body):
    """A method on its way to C."""

    _unit: Law  # type: ignore[assignment]

    def function(self, name: str) -> Made:
        """Write the function, with this name."""
        self._uses: set[str] = set()
        self._draws, self._most, self._loops = 0, 0, 0
        self._declared: dict[str, str] = {}
        self._read = {one.id for one in ast.walk(self._source) if isinstance(one, ast.Name) and _is_read(one)}
        self._parts: dict[ast.IfExp, tuple[Term, Term, Term]] = {}
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
                given.append(f"{_type(of)} {c}")
        head = self._unit.head(self._event, name, _type(kind), sorted(self._uses, key=list(CONTEXT).index), given)
        lines = [*self._unit.before(self._event, self._uses), *first, *lines]
        text = "\n".join([head, "{", *map(_broken, lines), "}"])
        return Made(name, text, kind, frozenset(self._uses), max(self._draws, self._most))

    @property
    def _decides(self) -> bool:
        return self._event in ("on_enqueue", "on_dequeue")

    def _c(self, name: str) -> str:
        """Return the name of a local in C."""
        found = spelled(name)
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

    # Statements.

    def _block(self, statements: Sequence[ast.stmt], indent: str) -> tuple[list[str], bool]:
        lines: list[str] = []
        for statement in statements:
            self._node = statement
            if type(statement) in STATEMENTS:
                raise self.refused(": ".join(STATEMENTS[type(statement)]))
            write = vars(Translation).get(f"visit_{type(statement).__name__}")
            if write is None:
                raise self.refused(f"`{ast.unparse(statement).splitlines()[0]}` is not carried over: leave it out")
            more, ended = write(self, statement, indent)
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
                raise self.refused(f"returns {_words(given.kind)}: return aqmlab.PASS, aqmlab.MARK or aqmlab.DROP")
            return [f"{indent}return {self._verdict(node.value, given)};"], True
        if self._event:  # whatever it returns is ignored
            return [*self._done(given, indent), f"{indent}return;"], True
        if isinstance(given.kind, Elements | Text | tuple):
            raise self.refused(f"returns {_words(given.kind)}: return one number, and set attributes for others")
        kind = self._unit.widened(self._name, "", given.kind)
        if kind is None:
            other = _words(self._kind(""))
            raise self.refused(f"returns {_words(given.kind)}, and elsewhere {other}: return one type")
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
        if len(node.orelse) == 1 and isinstance(node.orelse[0], ast.If) and other and other[0].startswith(f"{indent}    if"):
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
            if earlier and ("(s, k" in value.text or any(re.search(rf"(?<!\w){root}(?!\w)", value.text) for root in earlier)):
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
            raise self.refused(f"keeps {_words(value.kind)}: keep numbers, and true or false")
        name = self._new()
        lines.append(f"{indent}{_type(value.kind)} {name} = {value.text};")
        return Term(name, value.kind)

    def _root(self, target: ast.expr) -> str:
        """Return what a target begins with in C."""
        while isinstance(target, ast.Subscript):
            target = target.value
        return re.escape(f"s->{spelled(target.attr)}" if isinstance(target, ast.Attribute) else self._c(ast.unparse(target)))

    def _assigned_value(self, target: ast.expr, node: ast.expr) -> Term:
        """Return what is assigned; in start(), an attribute may become an array."""
        if self._event == "start" and self._is_own(target) and isinstance(node, ast.Call):
            kind = self._unit.attributes.get(target.attr)  # type: ignore[attr-defined]
            if isinstance(kind, Elements):
                return Term("", (kind, node))
        return self._value(node)

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
        return self._set(node.target, self._operation(node.op, self._value(read), self._value(node.value)), indent), False

    def _set(self, target: ast.expr, value: Term, indent: str) -> list[str]:
        """Write that a target gets a value."""
        if isinstance(value.kind, tuple):
            return self._array(target, *value.kind, indent)
        if isinstance(value.kind, Text | Elements) or value.kind in ("packet", "queue", "port", VERDICT):
            raise self.refused(f"keeps {_words(value.kind)} in {ast.unparse(target)}: keep numbers, and true or false")
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
                self._declared[target.id] = "" if here else f"{_type(both)} {self._c(target.id)}"
            start = f"{_type(both)} " if here else ""
            return [f"{indent}{start}{self._c(target.id)} = {as_kind(value, both).text};"]
        if isinstance(target, ast.Subscript):
            place = self._element(target)
            if joined(place.kind, value.kind) != place.kind:
                raise self.refused(
                    f"sets an element of an array of {_words(place.kind)}s to {_words(value.kind)}: "
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
        return [f"{indent}s->{spelled(name)} = {as_kind(value, both).text};"]

    def _changes(self, name: str, before: Any, now: Any) -> NotCompiled:
        return self.refused(f"{name} is {_words(now)}, and elsewhere {_words(before)}: give it one type")

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
            lines, place, inner = [], f"s->{spelled(target.attr)}", indent
            for length in of.shape:
                turn = self._new()
                lines.append(f"{inner}for (u32 {turn} = 0; {turn} < {length}; {turn}++)")
                place, inner = f"{place}[{turn}]", f"{inner}    "
            return [*lines, f"{inner}{place} = {as_kind(fill, of.kind).text};"]
        raise self.refused(
            f"makes self.{target.attr} by {ast.unparse(node)}: use np.zeros, np.ones or np.full with sizes that are "
            "constant, and set elements one by one"
        )

    # Expressions.

    def _value(self, node: ast.expr) -> Any:
        if type(node) in EXPRESSIONS:
            raise self.refused(": ".join(EXPRESSIONS[type(node)]), node)
        write = vars(Translation).get(f"visit_{type(node).__name__}")
        if write is None:
            raise self.refused(f"`{ast.unparse(node)}` is not carried over: write it with arithmetic", node)
        return write(self, node)

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
            raise self.refused(f"computes with {_words(term.kind)}: {ast.unparse(node)} must be a number", node)
        return term

    def _truth(self, node: ast.expr) -> Term:  # type: ignore[override]
        """Translate a condition."""
        if isinstance(node, ast.BoolOp):
            return _logical(node.op, [self._truth(one) for one in node.values])
        term: Term = self._value(node)
        if term.kind == SWITCH:
            return term
        if term.kind in NUMBERS or term.kind in (NOTHING, VERDICT):
            return Term(f"{inside(term, BITS_OF)} != 0", SWITCH, COMPARISON)
        raise self.refused(f"takes {ast.unparse(node)}, {_words(term.kind)}, for true or false: compare it", node)

    def _constant(self, value: object, node: ast.expr) -> Term:  # type: ignore[override]
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
                return Term(f"s->{spelled(name)}", self._unit.attributes.get(name, WHOLE))
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
        return self._element(node)

    def _element(self, node: ast.Subscript) -> Any:
        base = self._value(node.value)
        if not isinstance(base.kind, Elements):
            raise self.refused(f"takes an element of {_words(base.kind)}: use a numpy array, made in start()", node)
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
                f"{ast.unparse(node)} is {_words(then.kind)} or {_words(other.kind)}: give it one type", node
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
        parts = [self._compared(op, *pair, node) for op, *pair in zip(node.ops, terms, terms[1:], strict=False)]
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
            raise self.refused(f"compares {_words(left.kind)} with {_words(right.kind)}: compare numbers", node)
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

    def _operation(self, op: ast.operator, left: Term, right: Term) -> Term:  # type: ignore[override]
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
            raise self.refused(f"computes with {_words(left.kind)} and {_words(right.kind)}: use numbers")
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
        raise self.refused(f"{type(op).__name__} of {_words(left.kind)} and {_words(right.kind)}: use + - * / // % **")

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
        found = self._function(node, "ns" if function is algorithm.ns else last) if known and not node.keywords else None
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
            seconds = term.text.removeprefix("seconds(").removesuffix(")") if term.text.startswith("seconds(k->") else ""
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
        made, terms = self._unit.called(function, given, named, own=own)  # type: ignore[misc]
        self._draw(made.draws, node)
        for one in made.uses:
            self._use(one, node)
        passed = [one for one in terms if one.kind not in ("packet", "queue", "port")]
        context = [name for name in CONTEXT if name in made.uses]
        text = f"{made.name}({', '.join(['s', 'k', *context, *(one.text for one in passed)])})"
        return Term(text, made.kind)


def _type(kind: Any) -> str:
    """Return the type in C."""
    return {SWITCH: "bool", NOTHING: "void"}.get(kind, "s64")


def _words(kind: Any) -> str:
    """Return a kind in words."""
    if isinstance(kind, Elements):
        return "an array"
    if isinstance(kind, Text):
        return "a text"
    return in_words(kind) if isinstance(kind, str) and len(kind) == 1 else f"a {kind}"


def _is_read(node: ast.Name) -> bool:
    return isinstance(node.ctx, ast.Load)


def _as_number(term: Term) -> Term:
    """Return true or false as 1 or 0, and anything else as it is."""
    if term.kind != SWITCH:
        return term
    return constant(int(term.value)) if term.value is not None else Term(f"(s64){inside(term, UNARY)}", WHOLE, UNARY)


def _logical(op: ast.boolop, terms: Sequence[Term]) -> Term:
    rank, word = (AND, " && ") if isinstance(op, ast.And) else (OR, " || ")
    # Compilers want parentheses in `a && b || c`.
    return Term(word.join(inside(one, COMPARISON) for one in terms), SWITCH, rank)


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
