"""Sources of mutations: every shipped scenario, every example of the pages, and every word of the schema."""

import functools
import re
from dataclasses import dataclass
from pathlib import Path

from aqmlab import Scenario, catalogue, shipped

ROOT = Path(__file__).parents[2]
PAGES = ("README.md", "CONTRIBUTING.md", "docs/reference/*.md", "docs/guide/*.md")


@functools.cache
def texts() -> list[str]:
    """Return every scenario, and every block of TOML in the pages."""
    places = (ROOT / "python/aqmlab/library", ROOT / "papers/aqmlab_papers")
    files = sorted(file for place in places for file in place.rglob("*.toml"))
    pages = [file for pattern in PAGES for file in sorted(ROOT.glob(pattern))]
    blocks = [re.findall(r"```toml\n(.*?)```", page.read_text(encoding="utf-8"), re.DOTALL) for page in pages]
    # Comments are a third of the shipped text, and irrelevant to a parser.
    whole = [re.sub(r"(?m)^#.*\n", "", file.read_text(encoding="utf-8")) for file in files]
    # A text extends nothing.
    whole += [scenario.to_toml() for scenario in map(Scenario.load, shipped()) if scenario._extension]
    return whole + [block for found in blocks for block in found]


@functools.cache
def lines() -> list[str]:
    """Return their distinct lines."""
    return sorted({line for text in texts() for line in text.splitlines() if line.strip()})


@functools.cache
def values() -> list[str]:
    """Return their distinct values, those after an equals sign."""
    return sorted({line.split("=", 1)[1].split(" #")[0].strip() for line in lines() if "=" in line})


@dataclass(frozen=True, order=True)
class Key:
    """A parameter of the catalogue: its key and its allowed values."""

    key: str
    allowed: str


def _keys(parameters: list[dict[str, str]]) -> list[Key]:
    return [Key(one["name"], one["allowed"]) for one in parameters]


@functools.cache
def tables() -> dict[str, list[Key]]:
    """Return the keys of each table."""
    return {name: _keys(parameters) for name, parameters in catalogue()["tables"].items()}


@functools.cache
def algorithms() -> dict[str, list[Key]]:
    """Return the keys of each queue discipline."""
    return {one["name"]: _keys(one["parameters"]) for one in catalogue()["aqms"]}


@functools.cache
def presets() -> dict[str, list[str]]:
    """Return the presets of each queue discipline."""
    return {one["name"]: [preset["name"] for preset in one["presets"]] for one in catalogue()["aqms"]}


@functools.cache
def senders() -> dict[str, list[Key]]:
    """Return the keys of each TCP."""
    return {one["name"]: _keys(one["parameters"]) for one in catalogue()["tcps"]}


@functools.cache
def traffic() -> dict[str, list[Key]]:
    """Return the keys of each kind of traffic."""
    return {one["name"]: _keys(one["parameters"]) for one in catalogue()["traffic"]}


@functools.cache
def every_key() -> list[Key]:
    """Return all keys."""
    parts = [tables(), algorithms(), senders(), traffic()]
    return sorted({key for part in parts for keys in part.values() for key in keys})


@functools.cache
def named() -> dict[str, list[Key]]:
    """Return all keys by name."""
    return {key.key: [one for one in every_key() if one.key == key.key] for key in every_key()}


def write(folder: Path) -> None:
    """Write libFuzzer's initial corpus: `seeds` and `words`."""
    (folder / "seeds").mkdir(parents=True, exist_ok=True)
    for i, text in enumerate(texts()):
        (folder / "seeds" / f"{i}.toml").write_text(text, encoding="utf-8")
    keys = {key.key for key in every_key()} | algorithms().keys() | senders().keys() | traffic().keys()
    (folder / "words").write_text("".join(f'"{key}"\n' for key in sorted(keys)), encoding="utf-8")


if __name__ == "__main__":
    write(ROOT / "out" / "guided")
