"""The page on dependencies: ``python -m release.dependencies`` writes it, with the sizes of what is installed."""

from __future__ import annotations

import platform
import re
from collections.abc import Iterable, Mapping
from pathlib import Path

from packaging.utils import canonicalize_name

from release import ROOT
from release.environment import Package, declared, packages

FILE = ROOT / "docs" / "internals" / "dependencies.md"

USES = {
    "jinja2": "reports in HTML",
    "lazy-loader": "imports the names of `aqmlab` when they are used",
    "matplotlib": "figures",
    "numpy": "arrays of series, figures and theory",
    "polars": "tables: series, flows, sweeps, Parquet, CSV",
    "psutil": "free memory and the state of other processes, which decide the number of runs at a time",
    "rich": "the progress bar, and the display of `--watch`",
    "scipy": "quantiles for `--until` and `diff`, Sobol and Latin-hypercube samples for `sweep`, `tune` and `advise`, "
    "the tests of `evaluate`, NetCDF of `export`, roots and eigenvalues for `design` and `analyse`",
    "typer": "the command line",
    "aqmlab-papers": "`aqmlab reproduce` and `evaluate`, the papers and their scenarios",
    "anywidget": "`play` in notebooks",
    "control": "`transfer_function` of laws and plants",
    "cramjam": "Snappy of crusader's results",
    "cryptography": "keys for the jobs of SLURM",
    "dask-jobqueue": "jobs of SLURM",
    "distributed": "the workers of a cluster",
    "gymnasium": "environments of `aqmlab.gym`",
    "h5py": "HDF5 of `aqmlab export`",
    "msgpack": "MessagePack of crusader's results",
    "numba": "compiles disciplines of your own",
    "pandas": "`to_pandas`",
    "rocrate": "`aqmlab seal`",
    "xarray": "`to_xarray`",
}
"""The use of each direct requirement."""

_PAGE = """\
# Dependencies

*Generated from `pyproject.toml` and the installed packages by `make docs`.*

Sizes are those of the files in MB (10⁶ bytes), without the bytecode that Python compiles, on {system}.

## What `pip install aqmlab` installs

{count} packages, {total}, and aqmlab itself.

{required}

## Extras

`pip install 'aqmlab[NAME]'` adds an extra; its size is that of all packages which it adds. What needs an extra that is
not installed fails with one line, which has this command.

{extras}

## Choices

* **scipy** stays. It is a quarter of the whole, but `--until`, `diff`, `tune`, `advise`, `evaluate`, `design` and
  `analyse` need it, and so do random samples of `sweep`. As an extra it would be missing in half of the commands.
  `run` and `compare` with `--seeds` do not import it.
* **Theory** needs numpy and scipy, and nothing more. Its extra has python-control, to which laws and plants can be
  handed; no command needs that.
* **polars and matplotlib** stay. Every `--out` writes Parquet, CSV and figures. They are imported when a file is
  written or a figure is drawn, not before.
* **plotly** is gone. Figures in a browser are drawn by uPlot: two files of 53 kB in the wheel, read by no Python.
* **pandas** is an extra, because polars has the tables, and `to_pandas` is for programs that expect pandas.
* **pillow** is no requirement of ours. matplotlib installs it; we use it for the images of this documentation only.
* **typer** is kept below 0.29, which imports pydantic for every command. That takes 0.3 s, and start-up has a limit of
  0.2 s. Tests list the modules that `aqmlab --version`, `aqmlab --help` and `aqmlab run --json` may import.

## Built in

Crates and packages of npm are compiled into the wheel; nothing of them is installed. `THIRD-PARTY.txt`, in the wheel
too, has their names, versions and licences. `python -m release.sbom dist` writes a software bill of materials
(a file of CycloneDX) of them and of the packages above. Tests compare both with the lock files.
"""


def page() -> str:
    """Return the page."""
    base = packages()
    extras = [extra for extra in declared() if extra]
    system = f"{platform.system()} ({platform.machine()}) with Python {'.'.join(platform.python_version_tuple()[:2])}"
    return _PAGE.format(
        system=system,
        count=len(base),
        total=_mb(sum(one.size for one in base.values())),
        required=_table(["package", "version", "allowed", "MB", "for"], _required(base)),
        extras=_table(["extra", "packages", "MB", "for"], (_extra(extra, base) for extra in extras)),
    )


def _required(base: Mapping[str, Package]) -> Iterable[list[str]]:
    """Yield a row for each package, those of ours first, the largest first."""
    allowed = {canonicalize_name(one.name): str(one.specifier) for one in declared()[""]}
    for one in sorted(base.values(), key=lambda one: ("" not in one.through, -one.size)):
        others = [name for name in one.through if name]
        use = USES[one.name] if one.name in allowed else f"needed by {', '.join(f'`{name}`' for name in others)}"
        yield [f"`{one.name}`", one.version, allowed.get(canonicalize_name(one.name), ""), _mb(one.size, ""), use]


def _extra(extra: str, base: Mapping[str, Package]) -> list[str]:
    """Return the row of an extra."""
    more = {name: one for name, one in packages([extra]).items() if name not in base}
    own = [f"`{one.name}` {one.specifier}" for one in declared()[extra]]
    rest = len(more) - len(own)
    uses = "; ".join(USES[canonicalize_name(one.name)] for one in declared()[extra])
    names = ", ".join(own) + (f", and {rest} that they need" if rest else "")
    return [f"`{extra}`", names, _mb(sum(one.size for one in more.values()), ""), uses]


def _table(heads: list[str], rows: Iterable[list[str]]) -> str:
    """Return a table in Markdown; numbers are in a column named MB."""
    rule = ["--:" if head == "MB" else "---" for head in heads]
    return "\n".join(f"| {' | '.join(cells)} |" for cells in (heads, rule, *rows))


def _mb(size: int, unit: str = " MB") -> str:
    """Write a size in MB."""
    number = f"{size / 1e6:.1f}" if size < 10e6 else f"{size / 1e6:.0f}"
    return f"{re.sub(r'^0.0$', '< 0.1', number)}{unit}"


def main(file: Path = FILE) -> None:
    """Write the page."""
    file.write_text(page(), encoding="utf-8")


if __name__ == "__main__":
    main()
