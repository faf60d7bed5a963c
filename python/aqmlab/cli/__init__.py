"""The command line, one module for each command."""

import gc
import sys

__all__ = ["main", "versions"]


def main() -> None:
    """Run the command line."""
    if sys.argv[1:] == ["--version"] and sys.stdout:
        try:
            return print(versions(), flush=True)  # without typer, which takes 40 ms
        except OSError:
            pass  # the program reports it as that of any command
    gc.set_threshold(50_000, 20, 100)  # imports make many objects, which are not garbage: it saves 20 ms
    from aqmlab.cli import app, terminal

    terminal.open_streams()
    terminal.catch_signals()
    app.app(prog_name="aqmlab")


def versions() -> str:
    """Return the version of aqmlab with its build, and in a line each, the engines, Python and the system."""
    import platform

    from aqmlab import _core

    version = f"{_core.__version__} ({_core.build})" if _core.build else _core.__version__
    python = f"{platform.python_version()} ({platform.python_implementation()})"
    facts = {
        "packet engine": _core.engine_version,
        "fluid engine": _core.fluid_version,
        "Python": python,
        "system": platform.platform(),
    }
    return "\n".join([version, *(f"{name}: {fact}" for name, fact in facts.items())])
