"""The account of a release: what was made, what was checked and held, what failed, what was left out."""

from __future__ import annotations

import time
from dataclasses import dataclass, field


@dataclass
class Account:
    """Printed line by line while the release is made; `summary` repeats what went wrong and what was left out."""

    failures: list[str] = field(default_factory=list)
    omissions: list[str] = field(default_factory=list)
    held: int = 0
    since: float = field(default_factory=time.monotonic)

    def note(self, text: str) -> None:
        """Print a line with the minutes since the beginning."""
        seconds = round(time.monotonic() - self.since)
        print(f"{seconds // 60:3}:{seconds % 60:02} {text}", flush=True)

    def check(self, claim: str, wrong: str) -> None:
        """Enter a claim that was checked, and what is wrong with it; empty if it holds."""
        if wrong:
            self.failures.append(f"{claim}: {wrong}")
            self.note(f"FAILED  {claim}: {wrong}")
        else:
            self.held += 1
            self.note(f"checked {claim}")

    def omit(self, part: str, reason: str) -> None:
        """Enter a part that cannot be done here."""
        self.omissions.append(f"{part}: {reason}")
        self.note(f"LEFT OUT {part}: {reason}")

    def summary(self) -> str:
        """Return the last lines: how many checks held, which failed, what was left out."""
        lines = [f"{self.held} checks held, {len(self.failures)} failed, {len(self.omissions)} parts were left out"]
        lines += [f"  failed: {line}" for line in self.failures]
        lines += [f"  left out: {line}" for line in self.omissions]
        return "\n".join(lines)
