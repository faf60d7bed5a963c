"""`python -m benches`: time the engine; see `make bench`."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

from aqmlab.files import write_text
from benches import figure, report
from benches.bench import Bench, names, prepare
from benches.measure import Failed


def main(arguments: list[str] | None = None) -> int:
    """Run the bench, print its tables, and write its files.

    Return the exit status: 0; 1 if something failed; 130 after Ctrl-C. Finished rows are shown and written in any case.
    ``arguments`` replace the command line's.
    """
    parser = argparse.ArgumentParser(prog="python -m benches", description="Time the engine, beside ns-2 and ns-3.")
    parser.add_argument("--quick", action="store_true", help="simulate little time: less than a minute in all")
    parser.add_argument(
        "--tables", nargs="+", choices=names(), default=names(), metavar="TABLE", help=", ".join(names())
    )
    parser.add_argument("--out", type=Path, default=Path("out/bench"), metavar="DIR")
    asked = parser.parse_args(arguments)
    bench = prepare(asked.quick, asked.tables)
    status = run(bench)
    text = report.markdown(bench)
    print(text)
    written = [asked.out / "bench.md", asked.out / "bench.json", *figure.save(bench, asked.out)]
    write_text(written[0], text)
    write_text(written[1], report.as_json(bench))
    print(f"Written: {', '.join(map(str, written))}")
    return status


def run(bench: Bench) -> int:
    """Run every step with a line of progress, and record failures; return the exit status."""
    steps = list(bench.steps())
    status = 0
    columns = [BarColumn(), MofNCompleteColumn(), TimeElapsedColumn(), TextColumn("{task.description}", markup=False)]
    with Progress(*columns, console=Console(stderr=True), transient=True) as progress:
        task = progress.add_task("", total=len(steps))
        for name, step in steps:
            progress.update(task, description=name)
            try:
                step()
            except Failed as failure:
                status = 1
                bench.note(str(failure))
            except KeyboardInterrupt:
                bench.note("Interrupted: only what had finished is here.")
                return 130
            progress.advance(task)
    return status


if __name__ == "__main__":
    sys.exit(main())
