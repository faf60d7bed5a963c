"""Answers of design rules: named numbers with their meaning, and warnings about validity."""

from __future__ import annotations

import inspect
import re
from dataclasses import dataclass, fields
from math import isfinite
from typing import Any


@dataclass(frozen=True, kw_only=True)
class Answer:
    """Named numbers. Each subclass documents its fields, with units; tables are made from that documentation.

    Parameters
    ----------
    warnings : tuple of str
        Conditions of the formulas that fail here, and the consequence.
    """

    warnings: tuple[str, ...] = ()

    def document(self) -> dict[str, Any]:
        """Return the answer as a JSON object.

        It has every field by name, in the order of declaration, ``warnings`` last; infinite values and NaN become None.
        """
        values = {name: getattr(self, name) for name in self.meanings()}
        return {
            name: None if isinstance(value, float) and not isfinite(value) else value for name, value in values.items()
        }

    @classmethod
    def meanings(cls) -> dict[str, str]:
        """Return the documentation of each field by name, ``warnings`` last."""
        found: dict[str, str] = {}
        for one in reversed(cls.__mro__):
            found |= documented(one.__doc__ or "")
        names = [field.name for field in fields(cls) if field.name != "warnings"]
        return {name: found[name] for name in [*names, "warnings"]}

    def __str__(self) -> str:
        meanings = self.meanings()
        del meanings["warnings"]
        values = {name: _text(getattr(self, name)) for name in meanings}
        wide, deep = max(map(len, values)), max(map(len, values.values()))
        rows = [f"{name:{wide}}  {values[name]:>{deep}}  {meaning}" for name, meaning in meanings.items()]
        return "\n".join([*rows, *(f"warning: {text}" for text in self.warnings)])


def documented(doc: str) -> dict[str, str]:
    """Return the text of each name that ``doc`` documents, by numpydoc or in a list of ``* name: text``, in a line."""
    text = inspect.cleandoc(doc)
    found = re.findall(r"^(\w+) : .+\n((?: {4}.+\n?)+)", text, re.MULTILINE)
    found += re.findall(r"^\* (\w+): (.+(?:\n {2}.+)*)", text, re.MULTILINE)
    return {name: " ".join(meaning.split()) for name, meaning in found}


def _text(value: object) -> str:
    if isinstance(value, bool):
        return "yes" if value else "no"
    if value is None:
        return "-"
    return f"{value:.6g}" if isinstance(value, float) else str(value)
