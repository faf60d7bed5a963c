"""The licences of all that is built into a wheel and not ours: ``python -m release.licences`` collects them.

Wheels have the file, so it is one of the repository: a build needs neither npm nor the archives of the crates.
`make licences` fetches them, and writes it.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

from release import ROOT
from release.parts import Part, parts

FILE = ROOT / "THIRD-PARTY.txt"

_HEAD = """\
Packages of others in the wheels of aqmlab
==========================================

Crates are compiled into the engine, into the programs aqmlab-router and aqmlab-traffic, and into the playground, and
the packages of npm into the playground; figures in a browser use the uPlot of this list. Where a package leaves the
choice of a licence, MIT is chosen if it is one of them. The standard library of Rust is compiled in, too: MIT OR
Apache-2.0, Copyright (c) The Rust Project Contributors. The packages of Python that aqmlab needs are no part of its
wheels: pip installs them, with their licences.

"""

_NAMES = re.compile(r"(UN)?LICEN[CS]E.*|COPYING.*|COPYRIGHT.*|NOTICE.*", re.IGNORECASE)
_RULE = f"\n{'-' * 100}\n"

_MIT = """\
Permission is hereby granted, free of charge, to any person obtaining a copy of this software and associated
documentation files (the "Software"), to deal in the Software without restriction, including without limitation the
rights to use, copy, modify, merge, publish, distribute, sublicense, and/or sell copies of the Software, and to permit
persons to whom the Software is furnished to do so, subject to the following conditions:

The above copyright notice and this permission notice shall be included in all copies or substantial portions of the
Software.

THE SOFTWARE IS PROVIDED "AS IS", WITHOUT WARRANTY OF ANY KIND, EXPRESS OR IMPLIED, INCLUDING BUT NOT LIMITED TO THE
WARRANTIES OF MERCHANTABILITY, FITNESS FOR A PARTICULAR PURPOSE AND NONINFRINGEMENT. IN NO EVENT SHALL THE AUTHORS OR
COPYRIGHT HOLDERS BE LIABLE FOR ANY CLAIM, DAMAGES OR OTHER LIABILITY, WHETHER IN AN ACTION OF CONTRACT, TORT OR
OTHERWISE, ARISING FROM, OUT OF OR IN CONNECTION WITH THE SOFTWARE OR THE USE OR OTHER DEALINGS IN THE SOFTWARE.
"""
"""For packages that name the licence and have no file with it."""


def collected() -> str:
    """Return the text: each licence once, below the packages that have it."""
    owners: dict[str, list[str]] = {}
    for part in parts():
        for text in texts(part):
            owners.setdefault(text, []).append(head(part))
    return _HEAD + "".join("\n".join([*names, "", text, _RULE, ""]) for text, names in owners.items())


def head(part: Part) -> str:
    """Return the line that names a package."""
    return f"{part.registry} {part.name} {part.version}: {part.licence}"


def texts(part: Part) -> Iterator[str]:
    """Yield the texts of the licence of a package, and its notices."""
    if not part.folder.is_dir():
        raise SystemExit(f"{part.folder}: {part.name} is missing: run `make licences`")
    files = sorted(file for file in part.folder.iterdir() if file.is_file() and _NAMES.fullmatch(file.name))
    if _offers_mit(part):
        mit = [file for file in files if "MIT" in file.name.upper()]
        notices = [file for file in files if file.name.upper().startswith("NOTICE")]
        files = [*mit, *notices] if mit else files
    for file in files:
        yield "\n".join(line.rstrip() for line in file.read_text(encoding="utf-8").strip().splitlines())
    if not files:
        yield f"Copyright (c) the authors of {part.name}\n\n{_MIT}" if _offers_mit(part) else _own()


def _offers_mit(part: Part) -> bool:
    return "MIT" in re.split(r" OR ", part.licence)


def _own() -> str:
    """Return the text of Apache-2.0, which is also our licence."""
    return (ROOT / "LICENSE").read_text(encoding="utf-8").strip()


def main(file: Path = FILE) -> None:
    """Write the licences."""
    file.write_text(collected(), encoding="utf-8")


if __name__ == "__main__":
    main()
