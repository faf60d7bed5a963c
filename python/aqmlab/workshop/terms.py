"""The words of a translation to C: its numbers, its names, and what it refuses, with the cure."""

from __future__ import annotations

import ast
import math
import re
from collections import deque
from dataclasses import dataclass
from typing import Any, NamedTuple

from aqmlab.own.kinds import NOTHING, REAL, SWITCH, VERDICT, WHOLE, in_words

BITS = 32
"""Binary digits after the point of a number with a fraction."""

_LEAST, _MOST = 2.0**-22, 2.0**31
"""The range of constants with a fraction: the least one has ten binary digits."""

NUMBERS = frozenset((WHOLE, REAL))


@dataclass(frozen=True)
class Elements:
    """A numpy array: the kind of its elements, and its shape."""

    kind: str
    shape: tuple[int, ...]


@dataclass(frozen=True)
class Text:
    """A text: a constant, or the parameter that has it."""

    value: str = ""
    parameter: str = ""


class Term(NamedTuple):
    """An expression in C, its kind, its rank among operations (0 needs no parentheses), and its value if constant."""

    text: str
    kind: Any
    rank: int = 0
    value: Any = None


ATOM, UNARY, PRODUCT, SUM, BITS_OF, COMPARISON, AND, OR, CHOICE = range(9)
"""The ranks."""


def inside(term: Term, rank: int) -> str:
    """Write a term as a part of an operation of a rank."""
    return f"({term.text})" if term.rank > rank else term.text


def call(function: str, *terms: Term) -> str:
    """Write a call."""
    return f"{function}({', '.join(term.text for term in terms)})"


def joined(a: Any, b: Any) -> Any:
    """Return the kind of what may be of the one kind or the other; None if they have none in common."""
    if a == b:
        return a
    both = {a, b}
    if both <= {NOTHING, WHOLE, VERDICT}:
        return VERDICT
    return REAL if both <= NUMBERS else None


def as_kind(term: Term, wanted: Any) -> Term:
    """Write a value of one kind as a value of a wider kind."""
    if term.kind == wanted or wanted != REAL:
        return term
    if term.value is not None and not isinstance(term.value, bool) and abs(term.value) < _MOST:
        return Term(f"Q({float(term.value)!r})", REAL, value=term.value)
    return Term(call("fx", term), REAL)


class Refusal(Exception):  # noqa: N818  a class outside of the subset is no error of the program
    """What cannot be translated, and the cure."""


def constant(value: Any) -> Term:
    """Write a constant. A number without a fraction is whole, whatever its type: its value is the same."""
    if isinstance(value, bool):
        return Term(str(value).lower(), SWITCH, value=value)
    if isinstance(value, int | float):
        if not math.isfinite(value):
            raise Refusal(f"{value} is no number in fixed point: use one that is large enough, such as 1e9")
        if value == int(value):
            if abs(value) >= 2**63:
                raise Refusal(f"{value:g} is beyond 64 bits: use a smaller number")
            text = f"{int(value)}{'LL' if abs(value) >= 2**31 else ''}"
            return Term(text, WHOLE, UNARY if value < 0 else ATOM, int(value))
        if abs(value) < _LEAST:
            raise Refusal(
                f"{value:g} has less than ten binary digits in Q 32.32: divide by {1 / value:.10g}, or use another unit"
            )
        if abs(value) >= _MOST:
            raise Refusal(f"{value:g} is beyond the range of Q 32.32, 2^31: use a whole number, or another unit")
        return Term(f"Q({value!r})", REAL, value=value)
    if value is None:
        return Term("0", NOTHING)
    if isinstance(value, str):
        return Term("", Text(value))
    raise Refusal(f"{type(value).__name__}: {cure_of(value)}")


def cure_of(value: Any) -> str:
    """Return what to use in place of a value that is no number."""
    if isinstance(value, dict | set | frozenset):
        return "use a numpy array, made in start(), with an element for each packet.flow % 1024"
    if isinstance(value, list | tuple | deque):
        return "use a numpy array of a fixed size, made in start(), and an index"
    if isinstance(value, str):
        return "use a number, or a parameter with choices"
    if value is None:
        return "start it as a number, such as -1"
    return "only numbers, true and false, and numpy arrays of a fixed size can be carried over"


_MATH = "only `math` has functions that can be carried over: write it with them"
_ARRAY = "use a numpy array of a fixed size, made in start(), and loops"

STATEMENTS: dict[type[ast.stmt], tuple[str, str]] = {
    ast.While: ("has a `while`, whose end is not certain", "write `for _ in range(64):` with `if …: break`"),
    ast.Try: ("catches exceptions", "the kernel has none: test for the case with `if` before"),
    ast.Raise: ("raises an exception", "the kernel has none: leave it out, or return a verdict"),
    ast.Assert: ("asserts", "the kernel has no exceptions: leave it out"),
    ast.With: ("has `with`", "leave it out"),
    ast.Import: ("imports inside a method", "import at the top of the file; only `math` has functions to carry over"),
    ast.ImportFrom: ("imports inside a method", "import at the top of the file"),
    ast.FunctionDef: ("defines a function inside a method", "make it a method"),
    ast.ClassDef: ("defines a class inside a method", "put its numbers into attributes"),
    ast.Delete: ("deletes something", "set it to 0"),
    ast.Global: ("has global names", "use attributes of self, set in start()"),
    ast.Nonlocal: ("has names of another function", "use attributes of self"),
    ast.Match: ("has `match`", "write `if` and `elif`"),
}

EXPRESSIONS: dict[type[ast.expr], tuple[str, str]] = {
    ast.Dict: ("makes a dictionary", cure_of({})),
    ast.DictComp: ("makes a dictionary", cure_of({})),
    ast.Set: ("makes a set", cure_of({})),
    ast.SetComp: ("makes a set", cure_of({})),
    ast.List: ("makes a list", _ARRAY),
    ast.Tuple: ("makes a tuple", "use a name for each of its parts"),
    ast.ListComp: ("makes a list", _ARRAY),
    ast.GeneratorExp: ("has a comprehension", "write a loop: `for i in range(8):`"),
    ast.Lambda: ("has a lambda", "make it a method"),
    ast.JoinedStr: ("makes a text", "leave it out: the kernel has numbers only"),
    ast.NamedExpr: ("has `:=`", "assign on a line of its own"),
    ast.Slice: ("takes several elements at once", "write a loop: `for i in range(8):`"),
    ast.Starred: ("has `*`", "write the arguments one by one"),
}

CALLS = {
    "print": "leave it out; `aqmlab.signal` declares what can be watched",
    "super": "call or copy the lines of the base's method under another name",
    "getattr": "write self.NAME",
    "setattr": "write self.NAME = …",
    "hasattr": "set the attribute in start()",
    "isinstance": "give each name one type",
    "sum": "add in a loop: `for i in range(8):`",
    "any": "test in a loop: `for i in range(8):`",
    "all": "test in a loop: `for i in range(8):`",
    "sorted": "keep an array in order by loops",
    "divmod": "use // and %",
    "enumerate": "write `for i in range(8):`",
    "zip": "write `for i in range(8):`",
    "len": "use len() of a numpy array, or a number",
    "range": "use it in `for … in range(8):` only",
    "dict": cure_of({}),
    "set": cure_of({}),
    "list": cure_of([]),
    "tuple": cure_of([]),
    "str": "leave it out: the kernel has numbers only",
    "open": "leave it out: the kernel has no files",
}
"""The cures for calls of Python's own functions."""

OTHER_CALLS = {"numpy": f"write a loop, `for i in range(8):`; {_MATH}", "math": "use sqrt, exp, log or pow"}
"""The cures for calls of a module's functions."""

CONTEXT = {
    "now": "u64 now",
    "packet": "const struct packet *packet",
    "queue": "const struct backlog *queue",
    "sojourn": "u64 sojourn",
    "random": "u32 random",
}
"""What an event knows, and a function may be given, besides the state and the parameters."""

_WORDS_OF_C = frozenset(
    re.findall(
        r"\w+",
        """
    asm auto break case char const continue default do double else enum extern float for goto if inline int long
    register restrict return short signed sizeof static struct switch typedef typeof union unsigned void volatile
    while bool true false linux unix Q ONE NAME PARAM PARAMS SIGNALS PERIODS SATURATED GLOBAL INLINE EXPORT LANES
    LN2_Q32 LOG2_E_Q32 S64_MAX U64_MAX AQM_FIELD AQM_TEXT LAW_PERIOD LAW_EVERY LAW_IDLES LAW_BEGINS_IDLE LAW_DEQUEUES
""",
    )
)
"""Words of C, and macros of the headers."""

_USED = frozenset(
    re.findall(
        r"\w+",
        """
    u8 u16 u32 u64 s64 s k now packet queue sojourn random min_of max_of abs_of mul floor_div floor_mod whole_power fx
    fx_add fx_sub fx_mul fx_div fx_div_whole whole_div_fx fx_floor fx_ceil fx_int fx_round fx_power fx_sqrt fx_log
    fx_exp fx_pow nanoseconds seconds at judged signal PASS MARK DROP
""",
    )
)
"""Names that functions use beside those of the class."""


def of_member(name: str) -> str:
    """Return the name of an attribute in C."""
    return f"{name}_" if name in _WORDS_OF_C else name


def of_local(name: str) -> str:
    """Return the name of a local in C."""
    return f"{name}_" if name in _WORDS_OF_C | _USED else name


def type_of(kind: Any) -> str:
    """Return the type in C."""
    return {SWITCH: "bool", NOTHING: "void"}.get(kind, "s64")


def words(kind: Any) -> str:
    """Return a kind in words."""
    if isinstance(kind, Elements):
        return "an array"
    if isinstance(kind, Text):
        return "a text"
    return in_words(kind) if isinstance(kind, str) and len(kind) == 1 else f"a {kind}"
