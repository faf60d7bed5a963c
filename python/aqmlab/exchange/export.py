"""Saved results as files for other programs: CSV, JSON lines, Parquet, NetCDF and HDF5."""

from __future__ import annotations

import io
import os
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from aqmlab import _core
from aqmlab.exchange.table import Table, tabulated
from aqmlab.files import parquet, replacing
from aqmlab.kinds import EXPORT
from aqmlab.results.comparison import Comparison
from aqmlab.results.result import Result
from aqmlab.runs.folder import head, load
from aqmlab.runs.swept import Sweep

if TYPE_CHECKING:
    import numpy as np
    import polars


def export(
    found: Result | Comparison | Sweep | str | os.PathLike[str],
    file: str | os.PathLike[str],
    table: str = "runs",
) -> int:
    """Write a table of results to a file for other programs.

    Parameters
    ----------
    found : Result, Comparison, Sweep, str or PathLike
        The results, or the folder to which ``--out`` or `save` wrote them.
    file : str or PathLike
        The file. Its ending is the format: ``.csv``, ``.jsonl`` (JSON lines), ``.parquet``, ``.nc`` (NetCDF 3) or
        ``.h5`` (HDF5). An earlier file is replaced.
    table : str
        ``runs``, the metrics of each run, ``series``, ``cwnd`` or ``flows``.

    Returns
    -------
    int
        The number of rows.

    Raises
    ------
    ValueError
        If the ending is another one, there is something other than a file in its place, or the results are damaged or
        of a later version of aqmlab.
    LookupError
        If the results do not have the table.
    FileNotFoundError
        If there are no results at the path.
    ImportError
        If HDF5 is asked for and h5py is not installed; ``pip install 'aqmlab[hdf5]'`` installs it.
    """
    path = Path(file)
    write = _writer(path)
    if isinstance(found, Result | Comparison | Sweep):
        results = found
    else:
        results = load(Path(found))
        if path.suffix == ".parquet" and head(Path(found)).parent.resolve() in path.resolve().parents:
            raise ValueError(f"{file}: the results have Parquet files of their own there; choose another folder")
    chosen = tabulated(results, table)
    data = write(chosen)
    with replacing(path) as temporary:
        temporary.write_bytes(data)
    return len(chosen.frame)


def _writer(file: Path) -> Callable[[Table], bytes]:
    """Return the function that writes a table in the format of a file; refuse a file that cannot be written."""
    if file.suffix not in WRITERS:
        *others, last = WRITERS
        raise ValueError(f"{file}: must end in {', '.join(others)} or {last}, which is the format")
    if os.path.lexists(file) and not file.is_file():
        raise ValueError(f"{file}: not a file; choose another name, or move it")
    if file.suffix == ".h5":
        _require_h5py()
    return WRITERS[file.suffix]


def _require_h5py() -> None:
    try:
        import h5py  # noqa: F401
    except ImportError as error:
        raise ImportError("HDF5 needs h5py: pip install 'aqmlab[hdf5]'", name="h5py") from error


def _netcdf(one: Table) -> bytes:
    """Write NetCDF 3, which every library of NetCDF reads: a dimension ``row``, a variable for each column."""
    import numpy as np
    from scipy.io import netcdf_file

    buffer = io.BytesIO()
    with netcdf_file(buffer, "w", version=2) as file:
        _set_attributes(file, {name: str(text).encode() for name, text in _about(one).items()})
        file.createDimension("row", len(one.frame))
        for name, values in _arrays(one.frame):
            latin = name.encode().decode("latin1")  # scipy encodes names so; the format has them in UTF-8
            dimensions = ["row"]
            data, code = values, values.dtype.char
            if values.dtype.kind == "O":
                texts = np.array([text.encode() for text in values], dtype=bytes)
                length = max(texts.dtype.itemsize, 1)
                dimensions.append(f"length_{latin}")
                file.createDimension(dimensions[-1], length)
                data, code = np.frombuffer(texts.tobytes(), "S1").reshape(-1, length), "c"
            variable = file.createVariable(latin, code, dimensions)
            variable[:] = data
            _set_attributes(variable, {key: text.encode() for key, text in _described(one, name).items()})
            if code == "c":
                variable._Encoding = b"utf-8"
        file.flush()
        return buffer.getvalue()


def _set_attributes(thing: Any, attributes: Mapping[str, bytes]) -> None:
    for name, value in attributes.items():
        setattr(thing, name, value)


def _hdf5(one: Table) -> bytes:
    """Write HDF5: a data set for each column."""
    import h5py

    buffer = io.BytesIO()
    with h5py.File(buffer, "w") as file:
        file.attrs.update(_about(one))
        for name, values in _arrays(one.frame):
            text = values.dtype.kind == "O"
            column = file.create_dataset(name, data=values, dtype=h5py.string_dtype() if text else values.dtype)
            column.attrs.update(_described(one, name))
    return buffer.getvalue()


def _about(one: Table) -> dict[str, str | int]:
    """Return the attributes of a file."""
    about = {name: text for name, text in one.about.items() if text}
    return {**about, "source": f"aqmlab {_core.__version__}", "schema": EXPORT.version, "table": one.name}


def _described(one: Table, name: str) -> dict[str, str]:
    """Return the attributes of a column; the unit of a pure number is 1, and a text has none."""
    import polars

    known = one.columns.get(name)
    units = {} if one.frame.schema[name] == polars.String else {"units": (known.unit if known else "") or "1"}
    return {**units, "long_name": known.meaning if known else name}


def _arrays(frame: polars.DataFrame) -> Iterator[tuple[str, np.ndarray[Any, Any]]]:
    """Yield each column as an array: texts as objects, whole numbers of 32 bits, and all other numbers as doubles.

    Null is NaN, or an empty text: neither format has null, and NetCDF 3 has no larger whole numbers.
    """
    import numpy as np
    import polars

    limits = np.iinfo(np.int32)
    for column in frame.iter_columns():
        if column.dtype == polars.String:
            yield column.name, column.fill_null("").to_numpy().astype(object)
            continue
        whole = column.dtype.is_integer() and column.null_count() == 0
        if whole and column.cast(polars.Int64).is_between(limits.min, limits.max).all():
            yield column.name, column.cast(polars.Int32).to_numpy()
        else:
            yield column.name, column.cast(polars.Float64).to_numpy()


WRITERS: Mapping[str, Callable[[Table], bytes]] = {
    ".csv": lambda one: one.frame.write_csv().encode(),
    ".jsonl": lambda one: one.frame.write_ndjson().encode(),
    ".nc": _netcdf,
    ".h5": _hdf5,
    ".parquet": lambda one: parquet(one.frame, EXPORT),
}
"""The formats, by the ending of a file."""
