"""What no source of the engine may have: functions whose last digit is the platform's own."""

import re
from pathlib import Path

CRATES = Path(__file__).parent.parent / "crates"

# IEEE 754 says what a square root is, to the last bit; of these it does not, and each C library has its own.
OWN = re.compile(
    r"\.(a?sinh?|a?cosh?|a?tanh?|atan2|exp|exp2|exp_m1|ln|ln_1p|log|log2|log10|powf|powi|cbrt|hypot|sin_cos|mul_add|gamma)\("
)


def code(file: Path) -> list[str]:
    """The lines of a file above its tests, without comments."""
    text = re.split(r"(?m)^#\[cfg\(test\)\]", file.read_text(encoding="utf-8"))[0]
    return [line.split("//")[0] for line in text.splitlines()]


def test_no_function_differs_between_platforms() -> None:
    files = [file for file in sorted(CRATES.glob("*/src/**/*.rs")) if file.name != "tests.rs"]
    assert len(files) > 100
    found = [f"{file}: {line.strip()}" for file in files for line in code(file) if OWN.search(line)]
    assert found == [], "the crate libm has it, the same everywhere"
