"""auditwheel's judgement of a wheel: on which glibc it runs, and whether it brings all other libraries with it."""

from __future__ import annotations

import json
import re
import subprocess
from pathlib import Path
from typing import Any

from release import TOOLS
from release.archive import platforms


def audit(wheel: Path) -> str:
    """Ask auditwheel; return what is wrong, or an empty text."""
    command = [str(TOOLS / "bin" / "auditwheel"), "show", "--json", str(wheel)]
    told = subprocess.run(command, capture_output=True, text=True, check=False)
    if told.returncode != 0:
        return f"auditwheel: {told.stderr.strip()}"
    return judged(json.loads(told.stdout), platforms(wheel))


def judged(report: dict[str, Any], promised: set[str]) -> str:
    """Return how auditwheel's report contradicts the platforms that a wheel's name promises; empty if it does not.

    A wheel keeps its promise if it runs on the platform that auditwheel finds or on an older one.
    """
    found = report["overall_tag"]
    if report["external_libs"]:
        return f"it needs libraries that no Linux is sure to have: {', '.join(sorted(report['external_libs']))}"
    if report["unsupported_isa"]:
        return "it needs a processor with more instructions than the first of its kind"
    if not any(_runs(found, on) for on in promised):
        symbols = "; ".join(f"{name} {', '.join(of)}" for name, of in report["versioned_symbols"].items())
        return f"its name promises {', '.join(sorted(promised))}, auditwheel finds {found}: {symbols}"
    return ""


def _runs(tag: str, on: str) -> bool:
    """Return whether what has a platform tag also runs on the platform of another: one processor, a glibc no older."""
    pattern = r"manylinux_(\d+)_(\d+)_(\w+)"
    parts, others = re.fullmatch(pattern, tag), re.fullmatch(pattern, on)
    if parts is None or others is None or parts[3] != others[3]:
        return False
    return (int(parts[1]), int(parts[2])) <= (int(others[1]), int(others[2]))
