"""What the engine calls to run a user's own discipline or congestion control; see crates/py/src/own.rs."""

from __future__ import annotations

import copy
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from ctypes import c_ulong, py_object, pythonapi
from threading import get_ident
from typing import Any

from aqmlab.own.algorithm import AQM, DROP, MARK, PASS, Declares, Port, has
from aqmlab.own.control import WINDOW, CongestionControl, Connection
from aqmlab.own.source import Declared, declared, file_of, located, shown, where

__all__ = ["DROP", "MARK", "PASS", "copied", "explained", "has", "no_verdict", "started"]


class AqmError(RuntimeError):
    """Raised when a class of the user's own raises an exception, or sets no verdict or window, with file and line."""


_busy: set[int] = set()
"""The threads whose runs call classes in Python."""


@contextmanager
def interruptible() -> Iterator[None]:
    """Let `interrupt` end a run of this thread, also in a method that never returns."""
    _busy.add(get_ident())
    try:
        yield
    finally:
        _busy.discard(get_ident())


def interrupt(error: type[BaseException] = KeyboardInterrupt) -> None:
    """Raise an exception in the classes that are at work."""
    for thread in list(_busy):
        pythonapi.PyThreadState_SetAsyncExc(c_ulong(thread), py_object(error))


def discipline(reference: str, source: str | None = None) -> Declared:
    """Return the queue discipline that ``FILE:CLASS`` names; see `declared`."""
    found = declared(reference, source)
    if found.is_control:
        raise ValueError(f"{shown(found.file)}: {found.cls.__name__} is a congestion control: it is named as a `tcp`")
    return found


def control(reference: str, source: str | None = None) -> Declared:
    """Return the congestion control that ``FILE:CLASS`` names; see `declared`."""
    found = declared(reference, source)
    if not found.is_control:
        raise ValueError(f"{shown(found.file)}: {found.cls.__name__} is a queue discipline: it is named as an `aqm`")
    return found


def connected(
    declared: Declared,
    parameters: Mapping[str, Any],
    connection: tuple[int, int, int, bool, int, int],
    window: tuple[float, float, float],
) -> CongestionControl:
    """Return an object of a congestion control with its parameters, in its initial state."""
    made: CongestionControl = object.__new__(declared.cls)
    vars(made).update(parameters, **dict(zip(WINDOW, window, strict=True)))
    opened = Connection(*connection)
    try:
        made.start(opened)
        for name in WINDOW:  # real numbers, as the sender sets them before each event
            if isinstance(vars(made).get(name), int):
                vars(made)[name] = float(vars(made)[name])
    except BaseException as error:
        raise explained(made, "start", opened.now_ns / 1e9, error) from error
    return made


def started(
    declared: Declared,
    parameters: Mapping[str, Any],
    port: tuple[float, float, float, int],
    random: Callable[[], float],
) -> AQM:
    """Return an object of a class with its parameters, in its initial state."""
    made: AQM = object.__new__(declared.cls)
    vars(made).update(parameters)
    vars(made).update((signal.name, 0.0) for signal in declared.signals)
    made.random = random
    given = vars(made).get("random")
    try:
        made.start(Port(*port))
        if vars(made).get("random") is not given:
            raise TypeError("start() replaces self.random, the queue's own random numbers: give yours another name")
    except BaseException as error:
        raise explained(made, "start", 0.0, error) from error
    return made


def copied(made: Declares, random: Callable[[], float] | None = None) -> Declares:
    """Return a copy of an object in its present state, with other random numbers if it has any."""
    copied = object.__new__(type(made))
    state = {name: value for name, value in vars(made).items() if name != "random"}
    vars(copied).update(copy.deepcopy(state))
    if random is not None:
        vars(copied)["random"] = random
    return copied


def no_verdict(returned: object) -> TypeError:
    """Return the exception for a value that is no verdict."""
    return TypeError(f"returns {returned!r}: must be aqmlab.PASS, aqmlab.MARK, aqmlab.DROP or None")


def explained(made: Declares, method: str, now: float, error: BaseException) -> BaseException:
    """Return the exception that ends a run in which an object's method has raised `error`."""
    if isinstance(error, KeyboardInterrupt):
        return error  # the user's, not the class's
    cls = type(made)
    file = file_of(cls)
    text = located(file, error)
    if text.startswith(f"{file}: "):  # not raised in the file, but by what the engine did with its result
        function = getattr(cls, method, None)
        code = getattr(function, "__code__", None)
        line = code.co_firstlineno if code else 1
        text = f"{where(file, line)}: {text.removeprefix(f'{file}: ')}"
    at = "" if method == "start" and not now else f", at {now:.9g} s"
    explained = AqmError(f"{text} (in {cls.__name__}.{method}{at})")
    explained.__cause__ = error
    return explained
