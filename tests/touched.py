"""Lint a change, and run the tests that it touches: `make check`.

A test file is touched if it changed or imports what changed; where no test imports a module, those count that import
its importers, and so on. Of Rust, the crates that changed are tested. `make test` has all others.
"""

import json
import subprocess
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path

Dependents = Mapping[str, Sequence[str]]
"""The files that import each file of Python."""


def lines(*command: str) -> list[str]:
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout.splitlines()


def changed(base: str) -> list[str]:
    """List the files that differ from a commit, and those that git does not know yet."""
    files = [*lines("git", "diff", "--name-only", base), *lines("git", "ls-files", "--others", "--exclude-standard")]
    return [file for file in files if Path(file).exists()]


def importers() -> Dependents:
    """Return the graph of imports, those inside functions included."""
    graph = [sys.executable, "-m", "ruff", "analyze", "graph", "--quiet", "--direction", "dependents"]
    found: Dependents = json.loads("\n".join(lines(*graph, "python", "papers", "tests")))
    return found


def touched(file: str, dependents: Dependents) -> set[str]:
    """Return the test files that a changed file touches."""
    reached, seen = {file}, set[str]()
    while reached:
        if tests := {one for one in reached if one.startswith("tests/test_")}:
            return tests
        seen |= reached
        reached = {one for each in reached for one in dependents.get(each, ())} - seen
    return set()


def commands(files: Sequence[str], dependents: Dependents) -> list[list[str]]:
    """Return the commands that check a change, the quickest first."""
    rust = [file for file in files if file.endswith(".rs")]
    python = [file for file in files if file.endswith((".py", ".pyi"))]
    crates = sorted({file.split("/")[1] for file in files if file.startswith("crates/")})
    packages = [part for crate in crates for part in ("--package", crate)]
    tests = sorted(set[str]().union(*(touched(file, dependents) for file in python)))
    found = []
    if rust:
        found.append(["rustfmt", "--check", "--edition", "2024", *rust])
    if python:
        found += [["ruff", "check", *python], ["ruff", "format", "--check", *python], ["mypy"]]
    if tests:
        found.append(["pytest", "-n", "logical", "--dist", "worksteal", *tests])
    if crates:
        found.append(["cargo", "test", "--quiet", *packages])
        found.append(["cargo", "clippy", "--quiet", "--all-targets", *packages, "--", "--deny", "warnings"])
    return found


if __name__ == "__main__":
    for command in commands(changed(sys.argv[1]), importers()):
        print(" ".join(command), flush=True)
        if status := subprocess.run(command, check=False).returncode:
            sys.exit(status)
