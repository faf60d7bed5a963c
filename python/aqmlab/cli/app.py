"""The program: its commands, and the exit statuses of errors.

Only typer is imported at the start, and then the module of the command, to let the program answer at once.
"""

from __future__ import annotations

import errno
import os
from typing import Annotated, Any

import typer
from typer.core import TyperGroup

from aqmlab.cli import versions
from aqmlab.cli.command import Commands, Modules, headings
from aqmlab.cli.terminal import BAD_USAGE, FAILED, interrupted_status, shown_warnings, stop

COMMANDS = (
    "run",
    "shell",
    "compare",
    "playground",
    "fluid",
    "sweep",
    "diff",
    "export",
    "reproduce",
    "evaluate",
    "seal",
    "verify",
    "import",
    "calibrate",
    "probe-plan",
    "advise",
    "audit",
    "tune",
    "analyse",
    "design",
    "list",
    "show",
    "validate",
    "check",
    "port",
    "kernel",
    "cite",
    "schema",
    "doctor",
)
"""The commands in the order of the help: modules beside this one."""


class Program(TyperGroup):
    """The group of commands; the single place that turns errors into messages and exit statuses."""

    def __init__(self, **settings: Any) -> None:
        super().__init__(**settings)
        self.commands = Modules(COMMANDS)  # type: ignore[assignment]

    def _main_shell_completion(self, *arguments: Any, **settings: Any) -> None:
        if "_AQMLAB_COMPLETE" in os.environ:  # by which the scripts of typer ask
            from aqmlab.cli import completion

            completion.shells()
        super()._main_shell_completion(*arguments, **settings)

    def list_commands(self, ctx: Any) -> list[str]:
        """Return the names of the commands, of which none is imported."""
        return list(self.commands)

    def format_commands(self, ctx: Any, formatter: Any) -> None:
        """List the commands with their summaries."""
        headings(COMMANDS).format_commands(ctx, formatter)

    def invoke(self, ctx: Any) -> Any:
        """Call the requested command."""
        refused: tuple[type[Exception], ...] = (MemoryError,)
        try:
            from aqmlab import ScenarioError

            refused += (ScenarioError,)
        except ImportError:
            pass  # the extension module does not load: `aqmlab doctor` reports that
        try:
            with shown_warnings():
                return super().invoke(ctx)
        except refused as error:
            stop(BAD_USAGE, str(error))
        except BrokenPipeError:
            raise  # the reader of the output has left; typer exits quietly
        except OSError as error:
            full = "the standard output" if error.errno == errno.ENOSPC else None  # errors in files carry a filename
            where = error.filename or full
            stop(FAILED, f"{where}: {error.strerror}" if where else str(error))
        except KeyboardInterrupt:
            stop(interrupted_status(), "interrupted")


app = Commands(
    cls=Program,
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
    context_settings={"help_option_names": ["-h", "--help"]},
    epilog="Exit status: 0 on success; 1 if a run failed; 2 for bad usage or a bad scenario; "
    "3 if finished runs were lost from the store; 4 if a limit came before the precision of --until; "
    "5 if figures of an archive were not made again; 6 if a difference is beyond a limit of diff --fail; "
    "7 if audit has found a fault; "
    "127 if the command of shell does not exist, whose status is otherwise the command's; "
    "130 after Ctrl-C, 143 after SIGTERM, 129 after SIGHUP.",
)


@app.callback(invoke_without_command=True)
def program(
    ctx: typer.Context,
    version: Annotated[
        bool, typer.Option("--version", help="Print the versions that a report of a problem needs, and exit.")
    ] = False,
) -> None:
    """Simulate queues packet by packet: a laboratory for Active Queue Management."""
    if version:
        typer.echo(versions())
        raise typer.Exit
