"""Rewrites the methods of a class as functions of its state, for numba."""

from __future__ import annotations

import ast
import copy
import inspect
import math
import random
import sys
from collections.abc import Iterable, Mapping, Set
from dataclasses import dataclass
from types import BuiltinFunctionType, FunctionType, ModuleType
from typing import Any

import aqmlab
from aqmlab.own import algorithm
from aqmlab.own.algorithm import AQM
from aqmlab.own.source import Declared, where


class NotCompiled(Exception):  # noqa: N818  not an error: the class runs in Python
    """Raised when a class cannot be compiled.

    Parameters
    ----------
    reason : str
        The reason, with file and line where there is one.
    """

    def __init__(self, reason: str) -> None:
        super().__init__(reason)


@dataclass(frozen=True)
class Rewritten:
    """The functions of a class: their tree, their names, and their globals."""

    tree: ast.Module
    names: list[str]
    space: dict[str, Any]


RANDOM = "_aqmlab_random"
"""The field of the state with the address of the random numbers."""

_NOT_FOR_EVENTS = ("start",)
"""The methods that events cannot call."""


def rewritten(declared: Declared, kinds: Mapping[str, str], arrays: Set[str]) -> Rewritten:
    """Rewrite the methods of a class and the functions of its file.

    `kinds` has the kind of each attribute of the state that is a number: numpy's letter. `arrays` are the attributes
    that are arrays. Raise NotCompiled if a construct cannot be rewritten.
    """
    module = sys.modules[declared.cls.__module__]
    functions = _functions(declared, module)
    methods = _methods(declared)
    plain = _Function(declared, module)
    for node in [*methods.values(), *functions.values()]:
        plain.refuse_side_effects(node)
    _refuse_recursion(declared, methods, functions)
    body: list[ast.stmt] = []
    for name, node in methods.items():
        if name not in _NOT_FOR_EVENTS:
            own = set(methods) - set(_NOT_FOR_EVENTS)
            body.append(_Method(declared, module, own, kinds, arrays).function(name, node))
    for name, node in functions.items():
        body.append(plain.renamed(node, name))
    names = [node.name for node in body if isinstance(node, ast.FunctionDef)]
    fixed = ast.fix_missing_locations(ast.Module(body, []))
    return Rewritten(fixed, names, dict(vars(module)))


def _methods(declared: Declared) -> dict[str, ast.FunctionDef]:
    """Return ``start`` and the methods that events call, also by way of others, by name."""
    known = _all_methods(declared)
    needed, found = ["start", *declared.methods], dict[str, ast.FunctionDef]()
    while needed:
        name = needed.pop()
        if name in known and name not in found:
            found[name] = _source_of(declared, known[name])
            needed += _called(found[name], known)
    return found


def _called(node: ast.FunctionDef, known: Iterable[str]) -> set[str]:
    """Return the names of the functions and methods that a function calls."""
    calls = (inner.func for inner in ast.walk(node) if isinstance(inner, ast.Call))
    return {getattr(call, "attr", getattr(call, "id", "")) for call in calls} & set(known)


def _all_methods(declared: Declared) -> dict[str, FunctionType]:
    """Return the methods that a class has: those of its bases too, unless it overrides them."""
    found: dict[str, FunctionType] = {}
    for base in declared.cls.__mro__:
        if base in (AQM, object):
            continue
        if base.__module__ != declared.cls.__module__:
            raise NotCompiled(f"{declared.cls.__name__} has a base, {base.__name__}, that is not in its file")
        for name, value in vars(base).items():
            if name not in found and isinstance(value, FunctionType):
                found[name] = value
    return found


def _functions(declared: Declared, module: ModuleType) -> dict[str, ast.FunctionDef]:
    """Return the functions of the file, by the name that they have when the file has been executed."""
    return {
        name: _source_of(declared, value)
        for name, value in vars(module).items()
        if isinstance(value, FunctionType) and value.__code__.co_filename == declared.file
    }


def _source_of(declared: Declared, function: FunctionType) -> ast.FunctionDef:
    """Return the source of a function, with its defaults as constants."""
    line = function.__code__.co_firstlineno
    if function.__code__.co_filename == declared.file:
        for node in ast.walk(ast.parse(declared.text)):
            if isinstance(node, ast.FunctionDef) and node.lineno == line:
                defaults = [*(function.__defaults__ or ()), *(function.__kwdefaults__ or {}).values()]
                if not all(one is None or type(one) in (bool, int, float) for one in defaults):
                    raise NotCompiled(f"{where(declared.file, line)}: {node.name} has a default that is no number")
                node.args.defaults = [ast.Constant(one) for one in function.__defaults__ or ()]
                kept = function.__kwdefaults__ or {}
                node.args.kw_defaults = [
                    ast.Constant(kept[one.arg]) if one.arg in kept else None for one in node.args.kwonlyargs
                ]
                return node
    raise NotCompiled(f"{where(declared.file, line)}: {function.__name__} is not a function of the file as written")


def _refuse_recursion(
    declared: Declared, methods: Mapping[str, ast.FunctionDef], functions: Mapping[str, ast.FunctionDef]
) -> None:
    """Refuse functions that call themselves, also by way of others: compiled code does not notice their depth."""
    known = {**functions, **methods}
    calls = {name: _called(node, known) for name, node in known.items()}

    def reached(name: str, seen: Set[str]) -> Set[str]:
        return (
            seen if name in seen else frozenset().union(seen, {name}, *(reached(c, seen | {name}) for c in calls[name]))
        )

    for name, node in known.items():
        if any(name in reached(called, frozenset()) for called in calls[name]):
            raise NotCompiled(f"{where(declared.file, node.lineno)}: {name} calls itself")


_OPERATIONS: Mapping[type[ast.operator], str] = {
    ast.Add: "_add",
    ast.Sub: "_sub",
    ast.Mult: "_mul",
    ast.Div: "_div",
    ast.Pow: "_pow",
    ast.LShift: "_shift",
}
"""Operations whose results differ from Python's, where whole numbers leave 64 bits or a power is no real number."""

_BUILTINS = {"int": "_int", "round": "_round", "pow": "_pow"}
"""Functions that need a check; those that are not here are numba's, except `_OTHERS`."""

_OTHERS = ("sum", "hash", "id", "eval", "exec", "sorted", "print")
"""Functions whose results or effects differ when compiled."""

MATH = ("sqrt", "exp", "expm1", "log", "log1p", "log10", "sin", "cos", "tan", "atan", "tanh", "floor", "ceil", "trunc")
"""Functions of `math` of one argument that the compiled code has; it refuses where Python raises an exception."""

_EXACT = ("isfinite", "isinf", "isnan", "fabs", "copysign", "pi", "e", "inf", "nan", "tau")
"""The rest of `math` whose compiled form is the same."""

_NUMPY = ("inf", "nan", "pi")
"""The names of numpy whose compiled form is the same: its functions have errors and an order of their own."""


class _Function(ast.NodeTransformer):
    """Rewrites what compiled code finds elsewhere, and operations whose compiled form is not that of Python."""

    def __init__(self, declared: Declared, module: ModuleType) -> None:
        self._declared = declared
        self._module = module

    def refused(self, node: ast.AST, reason: str) -> NotCompiled:
        """Return the exception for a construct."""
        return NotCompiled(f"{where(self._declared.file, getattr(node, 'lineno', 1))}: {reason}")

    def _named(self, node: ast.AST, value: object) -> ast.expr | None:
        if value is algorithm.ns:
            return ast.copy_location(ast.Name("_ns", ast.Load()), node)
        return None

    def refuse_side_effects(self, function: ast.FunctionDef) -> None:
        """Refuse what reaches beyond the state: compiled code would not see it, or would see it once for all."""
        own = function.args.args[0].arg if function.args.args else ""
        local = {one.arg for one in ast.walk(function.args) if isinstance(one, ast.arg)}
        local |= {one.id for one in ast.walk(function) if isinstance(one, ast.Name) and isinstance(one.ctx, ast.Store)}
        for node in ast.walk(function):
            if isinstance(node, ast.Global | ast.Nonlocal):
                raise self.refused(node, f"changes {', '.join(node.names)}, which is not part of self")
            if isinstance(node, ast.Attribute | ast.Subscript) and not isinstance(node.ctx, ast.Load):
                base = node.value
                while isinstance(base, ast.Attribute | ast.Subscript):
                    base = base.value
                inside = isinstance(base, ast.Name) and base.id in local
                if not inside or (
                    isinstance(node, ast.Attribute) and not (isinstance(base, ast.Name) and base.id == own)
                ):
                    raise self.refused(node, "sets something that is not part of self")

    def renamed(self, node: ast.FunctionDef, name: str) -> ast.FunctionDef:
        """Return a function of the file, rewritten, under the name by which the file knows it."""
        if node.decorator_list:
            raise self.refused(node, f"{name} has a decorator")
        made = copy.copy(node)
        made.name, made.returns = name, None
        for argument in ast.walk(made.args):
            if isinstance(argument, ast.arg):
                argument.annotation = None
        visited = [self.visit(statement) for statement in node.body]
        made.body = [one for part in visited for one in (part if isinstance(part, list) else [part])]
        return made

    @staticmethod
    def _call(node: ast.AST, function: str, *arguments: ast.expr) -> ast.expr:
        """Return a call of a function of `aqmlab.own.machine`."""
        return ast.copy_location(ast.Call(ast.Name(function, ast.Load()), list(arguments), []), node)

    def visit_BinOp(self, node: ast.BinOp) -> ast.expr:
        self.generic_visit(node)
        function = _OPERATIONS.get(type(node.op))
        return self._call(node, function, node.left, node.right) if function else node

    def visit_UnaryOp(self, node: ast.UnaryOp) -> ast.expr:
        if isinstance(node.op, ast.Invert):
            raise self.refused(node, "inverts bits, which is not the same when compiled")
        self.generic_visit(node)
        return node

    def visit_AugAssign(self, node: ast.AugAssign) -> ast.AST | list[ast.stmt]:
        function = _OPERATIONS.get(type(node.op))
        calls = any(isinstance(inner, ast.Call) for inner in ast.walk(node.target))
        if function is None or calls:
            self.generic_visit(node)
            return node
        read = copy.deepcopy(node.target)
        read.ctx = ast.Load()
        value = self._call(node, function, self.visit(read), self.visit(node.value))
        return ast.copy_location(ast.Assign([self.visit(node.target)], value), node)

    def visit_Try(self, node: ast.Try) -> ast.AST:
        raise self.refused(node, "catches exceptions")

    def visit_Call(self, node: ast.Call) -> ast.expr:
        name = node.func.id if isinstance(node.func, ast.Name) else ""
        if name and vars(self._module).get(name) is None:  # not a name of the file
            if name in _OTHERS:
                raise self.refused(node, f"calls {name}(), which is not the same when compiled")
            if name == "round" and len(node.args) != 1:
                raise self.refused(node, "rounds to digits, which is not the same when compiled")
            if name in _BUILTINS and len(node.args) == (2 if name == "pow" else 1) and not node.keywords:
                return self._call(node, _BUILTINS[name], *map(self.visit, node.args))
        self.generic_visit(node)
        return node

    def visit_Name(self, node: ast.Name) -> ast.expr:
        if isinstance(node.ctx, ast.Load) and node.id in vars(self._module):
            value = vars(self._module)[node.id]
            if found := self._found(node, value):
                return found
            numbers = value if isinstance(value, tuple) else (value,)
            simple = all(type(one) in (bool, int, float) for one in numbers)
            if not simple and not isinstance(value, ModuleType | FunctionType):
                kind = type(value).__name__
                raise self.refused(node, f"uses {node.id}, a {kind} of the file: only numbers can be compiled")
        return node

    def _found(self, node: ast.expr, value: object) -> ast.expr | None:
        """Return the expression for a value of the file if it is one of a library; raise NotCompiled if it differs."""
        owner, name = getattr(value, "__module__", None), getattr(value, "__name__", "")
        if owner == "math" and isinstance(value, BuiltinFunctionType):
            if name in MATH:
                return ast.copy_location(ast.Name(f"_math_{name}", ast.Load()), node)
            if name == "pow":
                return ast.copy_location(ast.Name("_pow", ast.Load()), node)
            if name not in _EXACT:
                raise self.refused(node, f"uses math.{name}, which is not the same when compiled")
        if owner == "random" or isinstance(getattr(value, "__self__", None), random.Random):
            raise self.refused(node, "draws numbers that the seed does not decide: use self.random()")
        return self._named(node, value)

    def visit_Attribute(self, node: ast.Attribute) -> ast.expr:
        if isinstance(node.ctx, ast.Load) and isinstance(node.value, ast.Name):
            owner = vars(self._module).get(node.value.id)
            value = getattr(owner, node.attr, None)
            if isinstance(owner, ModuleType):
                if owner.__name__ == "numpy" and node.attr not in _NUMPY:
                    raise self.refused(node, f"uses numpy's {node.attr}, which is not the same when compiled")
                if owner is random:
                    raise self.refused(node, "draws numbers that the seed does not decide: use self.random()")
                if owner is aqmlab and isinstance(value, int | float):
                    return ast.copy_location(ast.Constant(value), node)
                return self._found(node, value) or node
        elif not isinstance(node.ctx, ast.Load):
            raise self.refused(node, f"sets an attribute {node.attr!r} of something that is not self")
        self.generic_visit(node)
        return node


class _Method(_Function):
    """Rewrites a method as a function of the state."""

    def __init__(
        self,
        declared: Declared,
        module: ModuleType,
        methods: Set[str],
        kinds: Mapping[str, str],
        arrays: Set[str],
    ) -> None:
        super().__init__(declared, module)
        self._methods = methods
        self._kinds = kinds
        self._arrays = arrays
        self._self = ""
        self._count = 0
        self._decides = False

    def function(self, name: str, node: ast.FunctionDef) -> ast.FunctionDef:
        """Return the method as a function."""
        if node.decorator_list:
            raise self.refused(node, f"{name} has a decorator")
        if not node.args.args or node.args.vararg or node.args.kwarg:
            raise self.refused(node, f"{name} does not name its arguments")
        self._self = node.args.args[0].arg
        self._decides = name in ("on_enqueue", "on_dequeue")
        for argument in ast.walk(node.args):
            if isinstance(argument, ast.arg):
                argument.annotation = None
        body = [self._done(self.visit(statement)) for statement in node.body]
        made = copy.copy(node)
        made.name, made.returns = f"_own_{name}", None
        made.body = [one for part in body for one in part]
        return made

    @staticmethod
    def _done(visited: Any) -> list[ast.stmt]:
        return visited if isinstance(visited, list) else [visited]

    def visit_Name(self, node: ast.Name) -> ast.expr:
        if node.id == self._self:
            raise self.refused(node, f"uses {node.id} as a whole, and not one of its attributes")
        if node.id == "super":
            raise self.refused(node, "calls super()")
        return super().visit_Name(node)

    def visit_Return(self, node: ast.Return) -> ast.AST:
        if not self._decides or node.value is None:
            self.generic_visit(node)
            return node
        return ast.copy_location(ast.Return(self._verdict(node.value)), node)

    def _verdict(self, node: ast.expr) -> ast.expr:
        """Return an expression for a verdict that is checked where it is written."""
        if isinstance(node, ast.IfExp):
            branches = (self._verdict(node.body), self._verdict(node.orelse))
            return ast.copy_location(ast.IfExp(self.visit(node.test), *branches), node)
        if isinstance(node, ast.Subscript):
            raise self.refused(node, "returns an element of an array, which is no verdict in Python")
        if isinstance(node, ast.Constant) and node.value is None:
            return node
        return self._call(node, "_verdict", self.visit(node))

    def _is_own(self, node: ast.AST) -> bool:
        return isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name) and node.value.id == self._self

    def visit_Attribute(self, node: ast.Attribute) -> ast.expr:
        if not self._is_own(node):
            return super().visit_Attribute(node)
        if not isinstance(node.ctx, ast.Load):
            raise self.refused(node, f"sets self.{node.attr} in another way than by an assignment")
        if node.attr in self._kinds or node.attr in self._arrays:
            return node
        value = inspect.getattr_static(self._declared.cls, node.attr, None)
        if isinstance(value, bool | int) or (isinstance(value, float) and math.isfinite(value)):
            return ast.copy_location(ast.Constant(value), node)
        if isinstance(value, FunctionType):
            raise self.refused(node, f"uses the method {node.attr} without calling it")
        raise self.refused(node, f"uses self.{node.attr}, which start() does not set")

    def visit_Call(self, node: ast.Call) -> ast.expr:
        if isinstance(node.func, ast.Attribute) and self._is_array(node.func.value):
            raise self.refused(node, f"calls {node.func.attr} of an array, which is not the same when compiled")
        if not self._is_own(node.func):
            return super().visit_Call(node)
        assert isinstance(node.func, ast.Attribute)
        name = node.func.attr
        state: ast.expr = ast.copy_location(ast.Name(self._self, ast.Load()), node)
        if name == "random" and not node.args and not node.keywords:
            source = ast.Attribute(state, RANDOM, ast.Load())
            return ast.copy_location(ast.Call(ast.Name("_draw", ast.Load()), [source], []), node)
        if name not in self._methods:
            raise self.refused(node, f"calls self.{name}, which is no method of this file")
        arguments = [self.visit(argument) for argument in node.args]
        keywords = [ast.keyword(one.arg, self.visit(one.value)) for one in node.keywords]
        called = ast.Call(ast.Name(f"_own_{name}", ast.Load()), [state, *arguments], keywords)
        return ast.copy_location(called, node)

    def _is_array(self, node: ast.AST) -> bool:
        return self._is_own(node) and isinstance(node, ast.Attribute) and node.attr in self._arrays

    def _set(self, target: ast.expr, value: ast.expr) -> list[ast.stmt]:
        """Return the statements that assign a value, already rewritten, to a target as the source has it."""
        if isinstance(target, ast.Tuple | ast.List):
            names = [self._temporary(target) for _ in target.elts]
            stored: list[ast.expr] = [ast.Name(name, ast.Store()) for name in names]
            statements: list[ast.stmt] = [
                ast.copy_location(ast.Assign([ast.Tuple(stored, ast.Store())], value), target)
            ]
            for inner, name in zip(target.elts, names, strict=True):
                statements += self._set(inner, ast.copy_location(ast.Name(name, ast.Load()), inner))
            return statements
        if self._is_own(target):
            assert isinstance(target, ast.Attribute)
            if target.attr not in self._kinds:
                known = "is an array: set its elements" if target.attr in self._arrays else "start() does not set"
                raise self.refused(target, f"sets self.{target.attr}, which {known}")
            setter = ast.Name(f"_set_{self._kinds[target.attr]}", ast.Load())
            value = ast.copy_location(ast.Call(setter, [value], []), target)
            return [ast.copy_location(ast.Assign([target], value), target)]
        return [ast.copy_location(ast.Assign([self.visit(target)], value), target)]

    def _temporary(self, node: ast.AST) -> str:
        self._count += 1
        return f"_own{self._count}_{getattr(node, 'lineno', 0)}"

    def visit_Assign(self, node: ast.Assign) -> list[ast.stmt]:
        value = self.visit(node.value)
        if len(node.targets) == 1:
            return self._set(node.targets[0], value)
        name = self._temporary(node)
        statements: list[ast.stmt] = [ast.copy_location(ast.Assign([ast.Name(name, ast.Store())], value), node)]
        for target in node.targets:
            statements += self._set(target, ast.copy_location(ast.Name(name, ast.Load()), node))
        return statements

    def visit_AnnAssign(self, node: ast.AnnAssign) -> list[ast.stmt]:
        return self._set(node.target, self.visit(node.value)) if node.value else []

    def visit_AugAssign(self, node: ast.AugAssign) -> ast.AST | list[ast.stmt]:
        if not self._is_own(node.target):
            return super().visit_AugAssign(node)
        assert isinstance(node.target, ast.Attribute)
        read = ast.copy_location(ast.Attribute(node.target.value, node.target.attr, ast.Load()), node)
        operation = ast.copy_location(ast.BinOp(read, node.op, node.value), node)
        return self._set(node.target, self.visit(operation))
