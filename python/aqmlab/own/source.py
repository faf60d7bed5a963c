"""The files of a user's own disciplines and congestion controls: reading them, and telling their versions apart."""

from __future__ import annotations

import ast
import hashlib
import inspect
import io
import linecache
import os
import sys
import traceback
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager, suppress
from contextvars import ContextVar
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path
from types import ModuleType
from typing import Any

from aqmlab import _core
from aqmlab.files import read_whole
from aqmlab.own.algorithm import AQM, Declares, Parameter, Signal, base_of, has, param, signal
from aqmlab.own.control import CongestionControl


@dataclass(frozen=True)
class Declared:
    """A class as it declares itself; `source` is the digest of its file, and `text` the file's content."""

    file: str
    cls: type[Any]
    source: str
    text: str

    @property
    def is_control(self) -> bool:
        """Whether it is a congestion control, and no queue discipline."""
        return issubclass(self.cls, CongestionControl)

    @property
    def doc(self) -> str:
        """Its docstring; the first paragraph is the summary."""
        return inspect.cleandoc(vars(self.cls).get("__doc__") or "") or f"{self.cls.__name__}, which has no docstring."

    @property
    def parameters(self) -> list[Parameter]:
        """Its parameters in their order, those of its bases first."""
        found = _attributes(self.cls).items()
        return [replace(one, name=name) for name, one in found if isinstance(one, Parameter)]

    @property
    def signals(self) -> list[Signal]:
        """Its signals in their order; a signal p comes first."""
        declared = _attributes(self.cls).items()
        found = [replace(one, name=name) for name, one in declared if isinstance(one, Signal)]
        return sorted(found, key=lambda signal: signal.name != "p")

    @property
    def methods(self) -> list[str]:
        """The events that it wants to know of."""
        return [method for method in base_of(self.cls)._events if has(self.cls, method)]

    @property
    def has_law(self) -> bool:
        """Whether it declares the law of its drop probability."""
        return has(self.cls, "rate")

    @property
    def law_of_change(self) -> bool:
        """Whether the law also takes the derivative of the queue."""
        return self.has_law and len(inspect.signature(self.cls.rate).parameters) > 3

    @property
    def period(self) -> float | None:
        """The period of its updates in seconds, by default; None if it has none."""
        if not has(self.cls, "on_period"):
            return None
        period = _attributes(self.cls).get("period")
        if isinstance(period, Parameter) and period.unit == "s":
            period = period.default
        if isinstance(period, bool) or not isinstance(period, int | float) or not 1e-9 <= period <= 1e9:
            raise ValueError(
                f"{where(self.file, line_of(self.cls))}: {self.cls.__name__} has on_period and needs a period: "
                'period = 0.02, in seconds, or period = aqmlab.param(0.02, "s", "…")'
            )
        return float(period)


def _attributes(cls: type[Declares]) -> dict[str, object]:
    """Return the attributes of a class and its bases, those of the bases first."""
    found: dict[str, object] = {}
    for base in reversed(cls.__mro__):
        found |= vars(base)
    return found


def line_of(cls: type) -> int:
    """Return the line at which a class begins in its file."""
    tree = ast.parse("".join(linecache.getlines(file_of(cls))))
    lines = (node.lineno for node in ast.walk(tree) if isinstance(node, ast.ClassDef) and node.name == cls.__name__)
    return next(lines, 1)


def shown(file: str) -> str:
    """Return the path of a file for messages, relative to the current folder if that is shorter."""
    return min(file, os.path.relpath(file), key=len)


def where(file: str, line: int) -> str:
    """Return a place in a file for messages."""
    return f"{shown(file)}:{line}"


_known: dict[str, str] = {}
"""The files' contents that were read here, or sent here with a task, by digest."""


def digest_of(text: str) -> str:
    """Return the digest of a file's content."""
    return hashlib.sha256(text.encode()).hexdigest()[:32]


@cache
def interface() -> str:
    """Return the digest of the code that runs classes; runs of another are not read."""
    files = sorted(Path(__file__).parent.glob("*.py"))
    return hashlib.sha256(_core.own_version.encode() + b"".join(file.read_bytes() for file in files)).hexdigest()[:16]


def keep(texts: Iterable[str]) -> None:
    """Keep files' contents, which were sent with a task: they are found by their digests, whatever the files hold."""
    _known.update((digest_of(text), text) for text in texts)


def text_of(source: str) -> str:
    """Return the content of the file with a digest, which must have been read here."""
    return _known[source]


def declared(reference: str, source: str | None = None) -> Declared:
    """Return the class that ``FILE:CLASS`` names, from the content with the digest `source` if that is given.

    Raise ValueError with file, line and reason if there is no such class, or if its file now has another content.
    """
    file, _, name = _split(reference)
    text = _known.get(source) if source else None
    if text is None:
        text = _read(file)
        found = digest_of(text)
        if source not in (None, found):
            raise ValueError(
                f"{shown(file)} has changed since: the digest of its content is {found}, and source = {source!r}; "
                "remove `source` to use its present content"
            )
        _known[found] = text
    digest = digest_of(text)
    classes = _outlines(file, digest) if _outlined.get() else _classes(file, digest)
    if name not in classes:
        raise ValueError(_missing(file, name, classes))
    return Declared(file, classes[name], digest, text)


def _read(file: str) -> str:
    """Read a file, which must be a regular one: a pipe would let the program wait for ever."""
    try:
        return io.TextIOWrapper(io.BytesIO(read_whole(Path(file))), encoding="utf-8-sig").read()
    except (OSError, UnicodeDecodeError) as error:
        reason = getattr(error, "strerror", None) or error
        raise ValueError(f"{shown(file)} cannot be read: {reason}") from None


def _split(reference: str) -> tuple[str, str, str]:
    end = reference.rfind(".py") + len(".py")
    return reference[:end], ":", reference[end:].removeprefix(":")


def _missing(file: str, name: str, classes: Mapping[str, type[Declares]]) -> str:
    if not classes:
        return f"{shown(file)} has no subclass of aqmlab.AQM or aqmlab.CongestionControl"
    if not name:
        return f"name the class as well, as in {Path(file).name}:{next(iter(classes))}"
    import difflib

    near = difflib.get_close_matches(name, classes, 1)
    hint = f"did you mean {near[0]}?" if near else f"it has {', '.join(classes)}"
    return f"{shown(file)} has no class {name!r}; {hint}"


def file_of(cls: type) -> str:
    """Return the file of a class."""
    return os.fspath(sys.modules[cls.__module__].__file__ or "")


def reference(cls: type[AQM]) -> str:
    """Return ``FILE:CLASS`` for a class; raise TypeError if it is not a discipline at the top of a file."""
    if not issubclass(cls, AQM):
        raise TypeError(f"aqm = {cls!r}: must be a subclass of aqmlab.AQM, or the name of a queue discipline")
    file = getattr(sys.modules.get(cls.__module__), "__file__", None)
    if file is None or not file.endswith(".py") or "." in cls.__qualname__:
        raise TypeError(
            f"aqm = {cls!r}: save the class at the top of a file, mine.py, and name it 'mine.py:{cls.__name__}'"
        )
    return f"{Path(file).resolve()}:{cls.__name__}"


def classes(file: str) -> list[str]:
    """Return the names of the disciplines and congestion controls in a file; raise ValueError as `declared` does."""
    try:
        declared(file)
    except ValueError as error:
        if not str(error).startswith("name the class"):
            raise
    return list(_classes(file, digest_of(_read(file))))


@cache
def _classes(file: str, digest: str) -> dict[str, type[Declares]]:
    """Execute a file's content; return the disciplines and congestion controls that it defines."""
    text = _known[digest]
    place = hashlib.sha256(file.encode()).hexdigest()[:8]
    module = ModuleType(f"aqmlab_own_{digest}_{place}")
    module.__file__ = file
    linecache.cache[file] = (len(text), None, text.splitlines(keepends=True), file)
    sys.modules[module.__name__] = module
    try:
        exec(compile(text, file, "exec"), module.__dict__)
    except KeyboardInterrupt:
        raise
    except BaseException as error:
        del sys.modules[module.__name__]
        raise ValueError(located(file, error)) from None
    try:
        _refuse_neighbours(file, text)
    except ValueError:
        del sys.modules[module.__name__]
        raise
    return {
        name: value
        for name, value in vars(module).items()
        if isinstance(value, type) and issubclass(value, Declares) and value.__module__ == module.__name__
    }


_outlined: ContextVar[bool] = ContextVar("outlined", default=False)


@contextmanager
def outlined() -> Iterator[None]:
    """Read classes without executing their files: only the parameters and signals that literals declare are known."""
    token = _outlined.set(True)
    try:
        yield
    finally:
        _outlined.reset(token)


def _outlines(file: str, digest: str) -> dict[str, type[Declares]]:
    """Return a class for each at the top of a file, with what literals declare in it."""
    try:
        body = ast.parse(_known[digest]).body
    except (SyntaxError, ValueError, RecursionError) as error:
        raise ValueError(located(file, error)) from None
    return {node.name: _outline(node, file, digest) for node in body if isinstance(node, ast.ClassDef)}


def _outline(node: ast.ClassDef, file: str, digest: str) -> type[Declares]:
    found: dict[str, object] = {}
    for line in node.body:
        match line:
            case ast.Assign([ast.Name(name)], ast.Call(ast.Attribute(attr=kind) | ast.Name(kind)) as call) if kind in (
                "param",
                "signal",
            ):
                with suppress(TypeError, ValueError):
                    given = [ast.literal_eval(one) for one in call.args]
                    named = {str(one.arg): ast.literal_eval(one.value) for one in call.keywords}
                    found[name] = (param if kind == "param" else signal)(*given, **named)
    module = sys.modules.setdefault(f"aqmlab_outline_{digest}", ModuleType(f"aqmlab_outline_{digest}"))
    module.__file__ = file
    bases = [getattr(base, "attr", getattr(base, "id", "")) for base in node.bases]
    base = CongestionControl if CongestionControl.__name__ in bases else AQM
    return type(node.name, (base,), {**found, "__module__": module.__name__})


def located(file: str, error: BaseException) -> str:
    """Return an exception of a file as text: file, line, kind and message."""
    what = f"{type(error).__name__}: {error}" if str(error) else type(error).__name__
    if isinstance(error, SyntaxError) and error.filename == file:
        return f"{where(file, error.lineno or 1)}: {type(error).__name__}: {error.msg}"
    steps = traceback.walk_tb(error.__traceback__)
    lines = [line for frame, line in steps if frame.f_code.co_filename == file]
    return f"{where(file, lines[-1])}: {what}" if lines else f"{file}: {what}"


def _refuse_neighbours(file: str, text: str) -> None:
    """Refuse imports of modules that are not installed: neither the digest nor a task would have it."""
    for line, name in _imported(text):
        origin = getattr(sys.modules.get(name), "__file__", None)
        if origin and name.partition(".")[0] != "aqmlab" and not _is_installed(origin):
            raise ValueError(
                f"{where(file, line)}: imports {name}, which is not installed; put that into this file: a class "
                "travels with its file alone"
            )


def _imported(text: str) -> Iterator[tuple[int, str]]:
    """Yield the line and the name of each module that a file imports."""
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.Import):
            yield from ((node.lineno, alias.name) for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            base = node.module or ""
            yield node.lineno, base
            yield from ((node.lineno, f"{base}.{alias.name}".lstrip(".")) for alias in node.names)


def _is_installed(origin: str) -> bool:
    """Return whether a module is one of Python's own or of an installed package."""
    import site
    import sysconfig

    roots = {sysconfig.get_path(name) for name in ("stdlib", "platstdlib", "purelib", "platlib")}
    roots |= {*site.getsitepackages(), site.getusersitepackages()}
    return any(Path(origin).resolve().is_relative_to(Path(root).resolve()) for root in roots if root)


def packages(text: str) -> dict[str, str]:
    """Return the version of each installed package that a file imports, and of numba, which may compile it."""
    from importlib import metadata

    names = {name.partition(".")[0] for _, name in _imported(text)} | {"numba"}
    found = {}
    for name in sorted(names - set(sys.stdlib_module_names) - {"aqmlab", ""}):
        with suppress(metadata.PackageNotFoundError):
            found[name] = metadata.version(name)
    return found
