"""Forbidden in the engine's sources: functions whose last digit depends on the platform."""

import re
from pathlib import Path

import pytest

CRATES = Path(__file__).parent.parent / "crates"

# IEEE 754 defines a square root to the last bit; for these functions it does not, and C libraries differ.
OWN = re.compile(
    r"\.(a?sinh?|a?cosh?|a?tanh?|atan2|exp|exp2|exp_m1|ln|ln_1p|log|log2|log10|powf|powi|cbrt|hypot|sin_cos|mul_add|gamma)\("
)


def code(file: Path) -> list[str]:
    """Return the lines of a file above its tests, without comments."""
    text = re.split(r"(?m)^#\[cfg\(test\)\]", file.read_text(encoding="utf-8"))[0]
    return [line.split("//")[0] for line in text.splitlines()]


def test_no_function_differs_between_platforms() -> None:
    files = [file for file in sorted(CRATES.glob("*/src/**/*.rs")) if file.name != "tests.rs"]
    assert len(files) > 100
    found = [f"{file}: {line.strip()}" for file in files for line in code(file) if OWN.search(line)]
    assert found == [], "the crate libm has it, the same everywhere"


@pytest.mark.parametrize("tests", sorted(CRATES.glob("*/tests")), ids=lambda folder: folder.parent.name)
def test_the_one_binary_has_the_tests_of_every_file(tests: Path) -> None:
    named = set(re.findall(r"^mod (\w+);$", (tests / "all.rs").read_text(encoding="utf-8"), re.MULTILINE))
    alone = set(
        re.findall(r'^name = "(\w+)"$', (tests.parent / "Cargo.toml").read_text(encoding="utf-8"), re.MULTILINE)
    )
    assert {file.stem for file in tests.glob("*.rs")} - alone <= named
