"""The program: its commands, and the exit statuses of errors.

Only typer is imported at the start, to let ``aqmlab --help`` answer at once.
"""

from __future__ import annotations

import errno
from typing import Annotated, Any

import typer
from typer.core import TyperGroup

from aqmlab.cli.advise import advise
from aqmlab.cli.analyse import analyse
from aqmlab.cli.check import check
from aqmlab.cli.cite import cite
from aqmlab.cli.command import Commands
from aqmlab.cli.compare import compare
from aqmlab.cli.design import design
from aqmlab.cli.diff import diff
from aqmlab.cli.doctor import doctor
from aqmlab.cli.evaluate import evaluate
from aqmlab.cli.export import export
from aqmlab.cli.fluid import fluid
from aqmlab.cli.list import list_
from aqmlab.cli.playground import playground
from aqmlab.cli.port import port
from aqmlab.cli.reproduce import reproduce
from aqmlab.cli.run import run
from aqmlab.cli.schema import schema
from aqmlab.cli.seal import seal
from aqmlab.cli.show import show
from aqmlab.cli.sweep import sweep
from aqmlab.cli.terminal import BAD_USAGE, FAILED, catch_signals, interrupted_status, open_streams, shown_warnings, stop
from aqmlab.cli.tune import tune
from aqmlab.cli.validate import validate
from aqmlab.cli.verify import verify


class Program(TyperGroup):
    """The group of commands; the single place that turns errors into messages and exit statuses."""

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
    add_completion=False,
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
    context_settings={"help_option_names": ["-h", "--help"]},
    epilog="Exit status: 0 on success; 1 if a run failed; 2 for bad usage or a bad scenario; "
    "3 if finished runs were lost from the store; 4 if a limit came before the precision of --until; 130 after Ctrl-C, "
    "143 after SIGTERM, 129 after SIGHUP.",
)


@app.callback(invoke_without_command=True)
def program(
    ctx: typer.Context, version: Annotated[bool, typer.Option("--version", help="Print the version and exit.")] = False
) -> None:
    """Simulate queues packet by packet: a laboratory for Active Queue Management."""
    if version:
        from aqmlab import _core

        typer.echo(f"{_core.__version__} ({_core.build})" if _core.build else _core.__version__)
        raise typer.Exit


app.command()(run)
app.command()(compare)
app.command()(playground)
app.command()(fluid)
app.command()(sweep)
app.command()(diff)
app.command()(export)
app.command()(reproduce)
app.command()(evaluate)
app.command()(seal)
app.command()(verify)
app.command()(advise)
app.command()(tune)
app.command()(analyse)
app.add_typer(design)
app.command("list")(list_)
app.command()(show)
app.command()(validate)
app.command()(check)
app.command()(port)
app.command()(cite)
app.command()(schema)
app.command()(doctor)


def main() -> None:
    """Run the command line."""
    open_streams()
    catch_signals()
    app(prog_name="aqmlab")
