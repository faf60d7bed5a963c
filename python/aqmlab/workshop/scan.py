"""What the text of a class shows without running it: what makes runs depend on more than scenario and seed."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass

from aqmlab.own.source import Declared, where

_FOREIGN = {
    "random": "draws numbers that the seed does not decide: use self.random()",
    "numpy.random": "draws numbers that the seed does not decide: use self.random()",
    "secrets": "draws numbers that the seed does not decide: use self.random()",
    "time": "reads the clock of the machine: use queue.now",
    "datetime": "reads the clock of the machine: use queue.now",
    "socket": "uses the network",
    "requests": "uses the network",
    "urllib": "uses the network",
    "http": "uses the network",
    "subprocess": "starts other programs",
    "threading": "starts threads",
    "multiprocessing": "starts processes",
    "asyncio": "waits for the outside",
}
"""Modules that a class has no use for, and why."""

_CALLS = {"open": "reads or writes files", "input": "waits for the keyboard", "print": "prints at every packet"}
"""Functions that a class has no use for, and why."""


_READERS = ("load", "loadtxt", "genfromtxt", "fromfile", "memmap", "read_csv", "read_text", "read_bytes", "open")
"""Methods and functions of libraries that read files."""


@dataclass(frozen=True, slots=True)
class Remark:
    """A place in the file, as ``FILE:LINE``, and the fault there."""

    place: str
    text: str

    def __str__(self) -> str:
        return f"{self.place}: {self.text}"


def remarks(declared: Declared) -> list[Remark]:
    """Return what the file of a class does that a run must not depend on, in the order of its lines."""
    tree = ast.parse(declared.text)
    found = [*_imports(tree), *_calls(tree), *_shared(tree, declared)]
    if declared.is_control:  # which has neither random numbers nor a queue
        found = [
            (line, text.replace(": use self.random()", "").replace("queue.now", "flow.now")) for line, text in found
        ]
    return [Remark(where(declared.file, line), text) for line, text in sorted(set(found))]


def _imports(tree: ast.Module) -> Iterator[tuple[int, str]]:
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            names = [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom) and node.module:
            names = [node.module]
        else:
            continue
        for name in names:
            if reason := _FOREIGN.get(name.partition(".")[0]) or _FOREIGN.get(name):
                yield node.lineno, f"imports {name}, which {reason}"


def _calls(tree: ast.Module) -> Iterator[tuple[int, str]]:
    for node in ast.walk(tree):
        if not isinstance(node, ast.Call):
            continue
        if isinstance(node.func, ast.Name) and (reason := _CALLS.get(node.func.id)):
            yield node.lineno, f"calls {node.func.id}, which {reason}"
        if isinstance(node.func, ast.Attribute) and node.func.attr in _READERS:
            yield node.lineno, f"calls {node.func.attr}, which reads a file: a class travels with its own file alone"
        if isinstance(node.func, ast.Attribute) and isinstance(node.func.value, ast.Attribute):
            owner = node.func.value
            if owner.attr == "random" and isinstance(owner.value, ast.Name) and owner.value.id in ("np", "numpy"):
                yield node.lineno, "draws from numpy.random, which the seed does not decide: use self.random()"


def _shared(tree: ast.Module, declared: Declared) -> Iterator[tuple[int, str]]:
    """Yield what outlives a run: module and class variables that methods change."""
    classes = {node.name: node for node in tree.body if isinstance(node, ast.ClassDef)}
    own = [classes[base.__name__] for base in declared.cls.__mro__ if base.__name__ in classes]
    for node in tree.body:
        if isinstance(node, ast.Assign | ast.AnnAssign) and _is_mutable(node.value):
            yield (
                node.lineno,
                "a variable of the file that can change outlives a run: keep it in self, set it in start()",
            )
    for cls in own:
        for statement in cls.body:
            if isinstance(statement, ast.Assign | ast.AnnAssign) and _is_mutable(statement.value):
                yield (
                    statement.lineno,
                    "a variable of the class that can change is shared by all runs: set it in start(), as self's",
                )
        for inner in ast.walk(cls):
            if isinstance(inner, ast.Global | ast.Nonlocal):
                yield inner.lineno, f"changes {', '.join(inner.names)}, which outlives the run: keep it in self"
            for target in _targets(inner):
                if isinstance(target, ast.Attribute) and _is_class(target.value, set(classes)):
                    yield target.lineno, f"sets {target.attr} of the class, which all runs share: set it in self"


def _is_mutable(value: ast.expr | None) -> bool:
    if isinstance(value, ast.List | ast.Dict | ast.Set | ast.ListComp | ast.DictComp | ast.SetComp):
        return True
    makers = ("list", "dict", "set", "deque", "defaultdict", "Counter", "zeros", "ones", "empty", "array")
    if isinstance(value, ast.Call):
        function = value.func
        name = function.id if isinstance(function, ast.Name) else getattr(function, "attr", "")
        return name in makers
    return False


def _targets(node: ast.AST) -> list[ast.expr]:
    if isinstance(node, ast.Assign):
        return node.targets
    return [node.target] if isinstance(node, ast.AugAssign | ast.AnnAssign) else []


def _is_class(node: ast.expr, classes: set[str]) -> bool:
    """Return whether an expression is a class: its name, ``type(self)`` or ``self.__class__``."""
    if isinstance(node, ast.Call):
        return isinstance(node.func, ast.Name) and node.func.id == "type"
    return (isinstance(node, ast.Name) and node.id in classes) or (
        isinstance(node, ast.Attribute) and node.attr == "__class__"
    )
