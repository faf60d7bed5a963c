"""The targets: every module of this package with `attack(seed, folder)`."""

import ast
import importlib
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType
from typing import Any

HERE = Path(__file__).parent


@dataclass(frozen=True)
class Target:
    """A target of attacks."""

    name: str
    module: ModuleType

    def _of(self, name: str, default: Any) -> Any:
        return getattr(self.module, name, default)

    @property
    def attack(self) -> Callable[[int, Path], str]:
        attack: Callable[[int, Path], str] = self.module.attack
        return attack

    @property
    def tested(self) -> int:
        """Return the number of seeds that `make test` tries."""
        return int(self._of("TESTED", 20))

    @property
    def limit(self) -> float:
        """Return the time limit of one attack in seconds."""
        return float(self._of("LIMIT", 60.0))

    @property
    def suffix(self) -> str:
        return str(self._of("SUFFIX", ".seed"))

    def ready(self) -> None:
        """Build what the attacks need."""
        self._of("ready", lambda: None)()

    def case(self, seed: int) -> bytes:
        """Return the input that a seed makes, or the seed if the target does not expose its inputs."""
        make: Callable[[int], bytes] | None = self._of("case", None)
        return str(seed).encode() if make is None else make(seed)

    def judge(self, case: bytes, folder: Path) -> str:
        """Try an input."""
        judge: Callable[[bytes, Path], str] | None = self._of("judge", None)
        return self.attack(int(case), folder) if judge is None else judge(case, folder)


def names() -> list[str]:
    """List the targets, without importing them."""

    def attacks(file: Path) -> bool:
        functions = ast.parse(file.read_text(encoding="utf-8")).body
        attacks = [one for one in functions if isinstance(one, ast.FunctionDef) and one.name == "attack"]
        return any([argument.arg for argument in one.args.args] == ["seed", "folder"] for one in attacks)

    return sorted(file.stem for file in HERE.glob("*.py") if attacks(file))


def target(name: str) -> Target:
    """Import a target; a name with a dot is a module's whole name."""
    return Target(name, importlib.import_module(name if "." in name else f"fuzz.{name}"))
