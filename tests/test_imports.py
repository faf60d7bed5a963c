"""Who may import whom, and nothing before it is needed."""

import ast
import json
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from conftest import Cli

PACKAGE = Path(__file__).parents[1] / "python" / "aqmlab"

# Of aqmlab's own modules, what each may import. A new module takes its place here.
MAY_IMPORT = {
    "__init__": {
        "_core",
        "analysis",
        "cluster",
        "comparison",
        "fluid_engine",
        "metrics",
        "replication",
        "result",
        "scenario",
        "summary",
        "sweeping",
        "sweeps",
    },
    "__main__": {"cli"},
    "analysis": {"files", "plot_analysis", "scenario", "settling", "table", "theory"},
    "cli": {
        "cli_analyse",
        "cli_design",
        "cli_command",
        "cli_fluid",
        "cli_reproduce",
        "cli_sweep",
        "comparison",
        "files",
        "listing",
        "plot",
        "replication",
        "report",
        "scenario",
        "sweeping",
        "terminal",
    },
    "cli_analyse": {"_core", "analysis", "files", "scenario", "terminal"},
    "cli_command": set(),
    "cli_design": {"_core", "cli_command", "files", "terminal", "theory"},
    "cli_fluid": {
        "comparison",
        "files",
        "fluid_engine",
        "plot",
        "plot_fluid",
        "replication",
        "report",
        "scenario",
        "terminal",
    },
    "cli_reproduce": {"files", "local", "papers", "replication", "terminal"},
    "cli_sweep": {"files", "plot_sweep", "report_sweep", "scenario", "sweeping", "sweeps", "terminal"},
    "cluster": {"_core", "files", "local", "scenario", "task"},
    "comparison": {"files", "plot", "result", "scenario", "sealed", "table"},
    "design": {"_core", "scenario"},
    "distribution": {"metrics", "result"},
    "files": set(),
    "fluid_engine": {"_core", "recording", "replication", "result", "scenario", "task"},
    "journal": set(),
    "listing": {"scenario"},
    "local": {"task"},
    "metrics": set(),
    "pages": {"files", "listing", "metrics", "scenario"},
    "plot": {"distribution", "files", "metrics", "result", "table"},
    "plot_analysis": {"analysis", "files", "plot", "table", "theory"},
    "plot_fluid": {"plot", "result", "table"},
    "plot_sweep": {"files", "metrics", "plot", "sweeps", "table", "table_sweep"},
    "plot_theory": {"plot"},
    "recording": {"_core", "files", "sealed"},
    "replication": {"_core", "comparison", "local", "recording", "result", "scenario", "task"},
    "report": {"distribution", "files", "metrics", "plot", "result", "table"},
    "report_sweep": {"files", "metrics", "plot", "plot_sweep", "report", "sweeps", "table", "table_sweep"},
    "result": {"distribution", "plot", "recording", "scenario", "sealed", "summary", "table"},
    "scenario": {"_core"},
    "sealed": {"files"},
    "settling": {"table", "theory"},
    "store": {"files", "journal", "metrics", "sealed", "task"},
    "student": set(),
    "study": {"_core", "design", "listing", "replication", "scenario", "store", "sweeps", "task"},
    "summary": {"student"},
    "sweeping": {"_core", "cluster", "local", "replication", "scenario", "store", "study", "sweeps", "task"},
    "sweeps": {"design", "files", "metrics", "plot_sweep", "scenario", "sealed", "student", "table_sweep"},
    "table": {"metrics", "result", "summary"},
    "table_sweep": {"metrics", "summary", "sweeps", "table"},
    "task": {"_core", "files", "scenario"},
    "terminal": {"_core", "files", "scenario", "table"},
}
# Of the modules of aqmlab.papers, what each may import of aqmlab's others and, after a dot, of its own.
PAPERS_MAY_IMPORT = {
    "__init__": {".description", ".evidence", ".verdict"},
    "description": {".evidence", ".verdict", "scenario"},
    "document": {"_core", ".description", ".evidence", ".judging", ".showing", ".texts", "study"},
    "estimate": {"_core", ".description", ".running", "scenario", "store", "study"},
    "evidence": {".description", "store", "study", "summary", "sweeps"},
    "interactive": {".description", ".showing", "report"},
    "judging": {".description", ".evidence", ".running", ".verdict"},
    "library": {".description"},
    "overview": {".document", ".printing", ".report", ".texts", ".verdict", "files", "report"},
    "pages": {".printing", ".texts", ".verdict", "files", "pages", "sealed", "table_sweep"},
    "plot": {".description", ".showing", "plot", "table"},
    "printing": {".estimate", ".reproducing", ".texts", ".verdict"},
    "report": {".document", ".interactive", ".showing", ".texts", ".verdict", "files", "report", "table_sweep"},
    "reproducing": {
        "_core",
        ".description",
        ".document",
        ".judging",
        ".running",
        ".texts",
        ".writing",
        "local",
        "sealed",
        "sweeping",
    },
    "running": {".description", ".evidence", "scenario", "store", "study", "sweeping", "sweeps"},
    "showing": {".description", ".evidence", ".judging", ".texts", "plot", "plot_sweep", "table", "table_sweep"},
    "sketch": {".description", ".evidence", "summary"},
    "texts": {".description", ".evidence", ".verdict", "table_sweep"},
    "verdict": {"summary"},
    "writing": {
        ".description",
        ".document",
        ".interactive",
        ".judging",
        ".plot",
        ".report",
        ".showing",
        ".texts",
        "files",
        "plot",
        "sealed",
    },
}
ONLY_THERE = {
    "distributed": {"cluster"},
    "typer": {"cli", "cli_analyse", "cli_command", "cli_design", "cli_fluid", "cli_reproduce", "cli_sweep", "terminal"},
    "rich": {"terminal"},
    "matplotlib": {
        "analysis",
        "comparison",
        "plot",
        "plot_analysis",
        "plot_fluid",
        "plot_sweep",
        "plot_theory",
        "result",
        "sweeps",
    },
    "plotly": {"report", "report_sweep"},
}
HEAVY = {
    "control",
    "dask",
    "distributed",
    "matplotlib",
    "numpy",
    "pandas",
    "plotly",
    "polars",
    "pydantic",
    "rich",
    "scipy",
}


def imported(module: Path) -> Iterator[str]:
    for node in ast.walk(ast.parse(module.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module == "aqmlab":
            # A name of the package itself is public; where it comes from is the package's affair.
            yield from (
                f"aqmlab.{a.name}"
                for a in node.names
                if (PACKAGE / f"{a.name}.py").exists() or a.name in ("_core", "theory")
            )
        elif isinstance(node, ast.ImportFrom) and node.module == "aqmlab.papers":
            yield from (f"aqmlab.papers.{a.name}" for a in node.names if (PACKAGE / f"papers/{a.name}.py").exists())
        elif isinstance(node, ast.ImportFrom):
            assert node.module, f"relative import in {module.name}"
            yield node.module


@pytest.mark.parametrize("module", sorted(PACKAGE.glob("*.py")), ids=lambda file: file.stem)
def test_modules_import_only_what_is_beneath_them(module: Path) -> None:
    names = set(imported(module))
    own = {name.split(".")[1] for name in names if name.startswith("aqmlab.")}
    assert own <= MAY_IMPORT[module.stem]
    for library, homes in ONLY_THERE.items():
        if any(name.split(".")[0] == library for name in names):
            assert module.stem in homes


@pytest.mark.parametrize("module", sorted((PACKAGE / "theory").glob("*.py")), ids=lambda file: file.stem)
def test_theory_knows_numbers_only(module: Path) -> None:
    roots = {
        ".".join(name.split(".")[:2]) if name.startswith("aqmlab") else name.split(".")[0] for name in imported(module)
    }
    assert roots - set(sys.stdlib_module_names) <= {"aqmlab.theory", "numpy", "scipy", "control"}


@pytest.mark.parametrize("module", sorted((PACKAGE / "papers").glob("*.py")), ids=lambda file: file.stem)
def test_papers_import_only_what_is_beneath_them(module: Path) -> None:
    names = set(imported(module))
    parts = [name.removeprefix("aqmlab.papers").split(".") for name in names if name.startswith("aqmlab.papers.")]
    own = {f".{part[1]}" for part in parts}
    own |= {name.split(".")[1] for name in names if name.startswith("aqmlab.") and name.split(".")[1] != "papers"}
    assert own <= PAPERS_MAY_IMPORT[module.stem]
    roots = {name.split(".")[0] for name in names}
    assert "plotly" not in roots
    assert "matplotlib" not in roots or module.stem == "plot"


def modules_after(*arguments: str) -> set[str]:
    """Run a Python program and tell which top-level modules it had imported at its end."""
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
    assert {name for name in modules if name.startswith("aqmlab")} == {
        "aqmlab",
        "aqmlab.cli",
        "aqmlab.cli.analyse",
        "aqmlab.cli.command",
        "aqmlab.cli.design",
        "aqmlab.cli.fluid",
        "aqmlab.cli.reproduce",
        "aqmlab.cli.sweep",
        "aqmlab.cli.terminal",
    }


def test_a_run_as_json_needs_no_numerical_library(small_file: Path) -> None:
    modules = modules_after("run", str(small_file), "--seeds", "2", "--json")
    assert not {name.split(".")[0] for name in modules} & HEAVY


def test_the_package_lists_what_it_has() -> None:
    import aqmlab

    assert sorted(aqmlab.__all__) == dir(aqmlab)
    for name in aqmlab.__all__:
        assert getattr(aqmlab, name) is not None
    with pytest.raises(AttributeError, match="nonsense"):
        _ = aqmlab.nonsense


def test_python_m_is_the_command(cli: Cli) -> None:
    assert cli("--help").stdout.startswith("Usage: aqmlab ")
