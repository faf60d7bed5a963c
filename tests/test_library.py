"""The algorithms in other programs: the size of one alone, and the library for C as it is installed."""

import os
import re
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent


def run(*command: str | Path, **environment: str) -> str:
    # A developer's settings of the profile would give another size.
    own = {key: value for key, value in os.environ.items() if not key.startswith("CARGO_PROFILE_")}
    done = subprocess.run(command, cwd=ROOT, env=own | environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


@pytest.mark.timeout(600)
def test_codel_alone_needs_no_standard_library_and_is_ten_kilobytes_of_code() -> None:
    target = ROOT / "target" / "bare"
    run("cargo", "build", "--quiet", "--release", "--manifest-path", "tests/bare/Cargo.toml", "--target-dir", target)
    sizes = run("size", "-A", target / "release" / "libbare.so")
    code = re.search(r"^\.text +(\d+)", sizes, re.MULTILINE)
    assert code is not None
    assert 3000 < int(code[1]) < 10_000


@pytest.mark.timeout(600)
def test_an_example_finds_the_installed_library(tmp_path: Path) -> None:
    installed = tmp_path / "installed"
    run("make", "c-library", f"PREFIX={installed}")
    found = {"PKG_CONFIG_PATH": str(installed / "lib" / "pkgconfig")}
    flags = run("pkg-config", "--cflags", "--libs", "aqm", **found).split()
    run("cc", "examples/c/codel.c", *flags, "-o", tmp_path / "codel")
    assert "sent" in run(tmp_path / "codel", LD_LIBRARY_PATH=str(installed / "lib"))
    assert re.fullmatch(r"\d+\.\d+\.\d+\n", run("pkg-config", "--modversion", "aqm", **found))
