"""Findings as files, which `tests/test_fuzz.py` replays: tests/regressions/TARGET/WHAT-SEED.SUFFIX."""

import re
from pathlib import Path

from fuzz.harness import ROOT, Finding, judged, smaller
from fuzz.targets import Target

FOLDER = ROOT / "tests" / "regressions"


def kind(message: str) -> str:
    """Return the common part of findings with the same cause: the message's first line without numbers and names."""
    first = (message.splitlines() or [""])[0]
    return re.sub(r"""["'`].*?["'`]|\d+""", "", first)[:200]


def kept(target: Target, findings: list[Finding], folder: Path = FOLDER) -> list[Path]:
    """Write the input of one finding of each kind, the smallest that still shows it."""
    kinds = {kind(finding.message): finding for finding in reversed(findings)}
    return [_kept(target, finding, same, folder / target.name) for same, finding in kinds.items()]


def _kept(target: Target, finding: Finding, same: str, folder: Path) -> Path:
    case = target.case(finding.seed)
    if b"\n" in case:
        case = smaller(case, lambda fewer: kind(judged(target, fewer)) == same)
    words = "-".join(re.findall(r"[a-z]+", same.lower())[:8])
    file = folder / f"{words}-{finding.seed}{target.suffix}"
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_bytes(case)
    return file
