"""Import layers, and no import before it is needed."""

import ast
import json
import subprocess
import sys
import tomllib

import pytest
from conftest import ROOT, Cli

PACKAGE = ROOT / "python" / "aqmlab"
CONTRACTS = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["tool"]["importlinter"]["contracts"]

HEAVY = {
    "anywidget",
    "control",
    "dask",
    "distributed",
    "jinja2",
    "matplotlib",
    "numpy",
    "pandas",
    "polars",
    "pydantic",
    "rich",
    "rocrate",
    "scipy",
}


def test_a_room_imports_only_from_the_rooms_beneath_it() -> None:
    # pyproject.toml lists the layers.
    program = "import sys; from importlinter.cli import lint_imports; sys.exit(lint_imports(no_cache=True))"
    done = subprocess.run([sys.executable, "-c", program], cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr


def test_every_module_has_its_layer() -> None:
    named = {name for layer in CONTRACTS[0]["layers"] for name in layer.replace("aqmlab.", "").split(" | ")}
    rooms = {file.stem for file in PACKAGE.iterdir() if file.is_dir() or file.suffix == ".py"}
    assert rooms - {"__init__", "__main__", "__pycache__", "bin", "include", "library"} == named


def test_theory_knows_numbers_only() -> None:
    names = set()
    rooms = (PACKAGE / "theory", ROOT / "papers" / "aqmlab_papers" / "theory")
    for file in (file for room in rooms for file in room.rglob("*.py")):
        for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Import):
                names |= {alias.name for alias in node.names}
            elif isinstance(node, ast.ImportFrom):
                names.add(str(node.module))
    others = {name.split(".")[0] for name in names if not name.startswith(("aqmlab.theory", "aqmlab_papers.theory"))}
    assert others - set(sys.stdlib_module_names) == {"numpy", "scipy", "control"}


def modules_after(*arguments: str) -> set[str]:
    """Run a Python program and return the top-level modules it had imported at its end."""
    tell = "import atexit, json, sys; atexit.register(lambda: sys.stderr.write(json.dumps(sorted(sys.modules))))"
    program = f"{tell}\nsys.argv = {['aqmlab', *arguments]!r}\n"
    program += "from aqmlab.cli import main; main()" if arguments else "import aqmlab"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    return set(json.loads(done.stderr))


def test_importing_the_package_imports_nothing_else() -> None:
    modules = modules_after()
    assert not {name.split(".")[0] for name in modules} & HEAVY
    assert {name for name in modules if name.startswith("aqmlab")} == {"aqmlab"}


def test_help_needs_no_more_than_typer() -> None:
    modules = modules_after("--help")
    assert not {name.split(".")[0] for name in modules} & (HEAVY | {"psutil"})
    ours = {name for name in modules if name.startswith("aqmlab")}
    commands = {name for name in ours if name.startswith(("aqmlab.cli", "aqmlab_papers.commands"))}
    assert ours - commands == {"aqmlab", "aqmlab.archive", "aqmlab.files", "aqmlab.plugins", "aqmlab_papers"}
    # What a command needs to run, its module imports in its function.
    assert not {name for name in commands if name.endswith(("picture", "live"))}


def test_the_version_needs_the_extension_alone() -> None:
    modules = modules_after("--version")
    assert {name for name in modules if name.startswith(("aqmlab", "typer"))} == {
        "aqmlab",
        "aqmlab._core",
        "aqmlab.cli",
    }


def test_a_run_as_json_needs_no_numerical_library() -> None:
    modules = modules_after("run", "quickstart", "--seeds", "2", "--json")
    assert not {name.split(".")[0] for name in modules} & (HEAVY | {"psutil"})
    # Nor what other distributions add, the user's own classes, and what is printed or drawn.
    assert not {"importlib.metadata", "aqmlab.own", "aqmlab.reports", "aqmlab.cli.live", "tomllib"} & modules


def test_the_package_lists_what_it_has() -> None:
    import aqmlab

    assert sorted(aqmlab.__all__) == dir(aqmlab)
    for name in aqmlab.__all__:
        assert getattr(aqmlab, name) is not None
    with pytest.raises(AttributeError, match="nonsense"):
        _ = aqmlab.nonsense


def test_python_m_is_the_command(cli: Cli) -> None:
    assert cli("--help").stdout.startswith("Usage: aqmlab ")
