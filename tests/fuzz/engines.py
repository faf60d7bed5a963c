"""Scenarios drawn at random, on the packet engine and on the Linux engine: no run fails, and no number is far off."""

from pathlib import Path

from oracle.linux.drawn.agreement import judged
from oracle.linux.drawn.scenarios import draw
from oracle.verdict import far

from aqmlab.execute.engine import Engine

TESTED = 0
LIMIT = 1200.0

SEED = 0
"""Of the draws: `make engines-random SEED=0 ONE=K` has the table of attack K, and shrinks it."""


def ready() -> None:
    """Raise an `EngineUnavailable` if the Linux engine's programs or its kernel are missing."""
    _ = Engine("linux").version


def attack(seed: int, folder: Path) -> str:
    name = f"{SEED}:{seed}"
    found = judged({name: draw(SEED, seed)}, folder)[name]
    assert not found.errors, f"{found.drawn}: {found.errors}"
    beyond = far(found.checks)
    assert not beyond, f"{found.drawn}: " + ", ".join(
        f"{check.metric} {check.units:.1f} tolerances" for check in beyond
    )
    return "some numbers differ" if found.differing else "agree"
