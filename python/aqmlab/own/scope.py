"""What the names in a function of a user's file stand for."""

from __future__ import annotations

import ast
from collections.abc import Mapping
from types import FunctionType, ModuleType
from typing import TYPE_CHECKING, Any

from aqmlab.own.kinds import NotCompiled
from aqmlab.own.source import where

if TYPE_CHECKING:
    from aqmlab.own.rewrite import Unit


class Scope:
    """A function of a user's file, which is written anew, with its names."""

    def __init__(
        self,
        unit: Unit,
        name: str,
        source: ast.FunctionDef,
        function: FunctionType,
        own: str,
        arguments: Mapping[str, Any],
        event: str,
    ) -> None:
        self._unit = unit
        self._name = name
        self._source = source
        self._own = own
        self._arguments = arguments
        self._event = event
        self._locals = {*function.__code__.co_varnames, *function.__code__.co_cellvars}
        self._assigned: set[str] = set(arguments)
        self._count = 0
        self._node: ast.AST = source

    def refused(self, reason: str, node: ast.AST | None = None) -> NotCompiled:
        """Return the error that names the line and the reason."""
        line = getattr(node or self._node, "lineno", self._source.lineno)
        return NotCompiled(f"{where(self._unit.declared.file, line)}: {reason}")

    def _kind(self, name: str) -> Any:
        return self._unit.kinds[self._name, name]

    def _temporary(self) -> str:
        self._count += 1
        return f"t{self._count}"

    def _is_builtin(self, name: str) -> bool:
        return name not in self._locals and name not in self._unit.module

    def _global(self, node: ast.expr) -> Any:
        """Return what a name of the file, or of a module that it imports, stands for; None if it is none of these."""
        if isinstance(node, ast.Name) and node.id not in self._locals and node.id in self._unit.module:
            return self._unit.constant(self._unit.module, node.id, self._unit.module[node.id])
        if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name):
            owner = self._global(node.value)
            if isinstance(owner, ModuleType):
                return getattr(owner, node.attr, None)
        return None

    def _is_own(self, node: ast.AST) -> bool:
        return isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name) and node.value.id == self._own != ""
