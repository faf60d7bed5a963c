"""Tables of a scenario as TOML."""

from collections.abc import Mapping
from typing import Any


def entry(table: str, keys: Mapping[str, Any]) -> str:
    """One of an array of tables."""
    return f"[[{table}]]\n" + "".join(f"{key} = {value(each)}\n" for key, each in keys.items())


def value(given: Any) -> str:
    match given:
        case bool():
            return str(given).lower()
        case str():
            return f'"{given}"'
        case list():
            return f"[{', '.join(value(each) for each in given)}]"
        case dict():
            return f"{{ {', '.join(f'{key} = {value(each)}' for key, each in given.items())} }}"
    return str(given)
