"""Files of a router or of a measurement, which a reader of the playground opens, as a scenario that the page runs."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

COLUMNS = 80
"""Of the description of a link, beside its picture."""


def opened(files: Mapping[str, bytes], progress: Callable[[float], None] | None = None) -> dict[str, Any]:
    """Make a scenario of files: that of the calibrated link if all are measurements, otherwise of what they state.

    Parameters
    ----------
    files : mapping of str to bytes
        The content of each file by its name.
    progress : callable
        Called from time to time with the part that is done.

    Returns
    -------
    dict
        ``name`` and ``toml`` of the scenario; for measurements also ``words``, a description of the link, and
        ``picture``, an SVG of measurement and simulation.

    Raises
    ------
    OSError
        If the files do not fit on the disk, beside which they are read.
    ValueError
        If a file cannot be read, or says too little; the text names the file, and what to give or record instead.
    """
    with TemporaryDirectory(prefix="aqmlab-opened-") as folder:
        paths = {Path(folder, str(number), Path(name).name or "file"): name for number, name in enumerate(files)}
        for path, name in paths.items():
            path.parent.mkdir()
            path.write_bytes(files[name])
        are_measured = all(map(_is_measured, paths))
        try:
            return _calibrated(list(paths), progress) if are_measured else _imported(list(paths))
        except ValueError as error:
            sought, command = (" --direction", "calibrate") if are_measured else (" --", "import")
            option = f", an option of `aqmlab {command}`, whose scenario opens here" if sought in str(error) else ""
            raise ValueError(_named(str(error), paths) + option) from None


def _named(text: str, paths: Mapping[Path, str]) -> str:
    """Return a text with the readers' names of the files."""
    for path in paths:
        text = text.replace(str(path), path.name)
    return text


def _is_measured(path: Path) -> bool:
    from aqmlab.exchange import measured
    from aqmlab.exchange.measured import captured

    try:
        return captured.is_capture(path) or bool(measured.read(path))
    except ValueError:
        return False


def _calibrated(paths: list[Path], progress: Callable[[float], None] | None) -> dict[str, Any]:
    from aqmlab.calibrate import calibrate
    from aqmlab.figures import calibration, matplotlib
    from aqmlab.reports.calibration_text import text

    found = calibrate(paths, progress=progress)
    picture = matplotlib.images(calibration.figure(found, found.simulated()), ["svg"])["svg"]
    words = _named(text(found, COLUMNS), {path: path.name for path in paths})
    return {"name": "calibrated.toml", "toml": found.scenario().to_toml(), "words": words, "picture": picture.decode()}


def _imported(paths: list[Path]) -> dict[str, Any]:
    from aqmlab.foreign.read import read
    from aqmlab.foreign.scenario import scenario

    made = _named(scenario(read(paths)), {path: path.name for path in paths})
    return {"name": f"{paths[0].stem}.toml", "toml": made}
