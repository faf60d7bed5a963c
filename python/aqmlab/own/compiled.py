"""Compiles a user's own discipline or congestion control to machine code, if numba is installed and can compile it.

The methods become functions of records: the state, which has the object's attributes, the packet and the queue, or the
flow. So ``self.p`` reads and writes a field of the state, and ``self.method(x)`` calls a function with the state as its
first argument. The verdicts are those of Python bit for bit: see `aqmlab.own.rewrite`.
"""

from __future__ import annotations

import math
import threading
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

from aqmlab.own.algorithm import Declares
from aqmlab.own.kinds import COUNT, FIELDS, RANDOM, REAL, Array, Kind, NotCompiled
from aqmlab.own.rewrite import Translation, translated
from aqmlab.own.running import connected, started
from aqmlab.own.source import Declared, declared

if TYPE_CHECKING:
    import numpy

_WORTH = 1_000_000
"""Packets that take Python as long as it takes to compile a class; fewer are cheaper without."""


class Code:
    """The machine code of a class.

    Parameters
    ----------
    layout : numpy.dtype
        The record of the state.
    functions : dict
        The compiled function of each event that the class wants to know of.
    translation : Translation
        The text that was compiled.
    """

    def __init__(self, layout: numpy.dtype[Any], functions: dict[str, Any], translation: Translation) -> None:
        self._layout = layout
        self._functions = functions
        self._translation = translation

    def address(self, method: str) -> int:
        """Return the address of the function for an event, 0 if the class ignores it."""
        return self._functions[method].address if method in self._functions else 0

    def field(self, name: str) -> tuple[int, str]:
        """Return the offset and the type of an attribute in the state."""
        dtype, offset = self._layout.fields[name][:2]  # type: ignore[index]
        return offset, dtype.name

    def state(self, made: Declares) -> bytes | None:
        """Return the state of an object, None if it, or a value that it uses, has changed since it was compiled."""
        import numpy as np

        try:
            if _layout(made) != self._layout or not self._translation.is_current():
                return None
        except NotCompiled:
            return None
        state = np.zeros((), self._layout)
        for name in self._layout.names or ():
            if name != RANDOM:
                state[name] = vars(made)[name]
        return state.tobytes()


_reasons: dict[str, str] = {}


def reason(declared: Declared) -> str:
    """Return why a class could not be compiled: file, line and reason; empty if nothing is known against it."""
    return _reasons.get(_name(declared), "")


def _name(declared: Declared) -> str:
    return f"{declared.source}:{declared.cls.__name__}"


_codes: dict[str, Code | None] = {}
_compiling = threading.Lock()


def compiled(declared: Declared) -> Code | None:
    """Return the machine code of a class, or None if numba is not installed or cannot compile it; see `reason`."""
    with _compiling:
        name = _name(declared)
        if name not in _codes:
            try:
                _codes[name] = _code(declared)
            except NotCompiled as error:
                _codes[name], _reasons[name] = None, str(error)
            except Exception as error:  # the class's own, in start(), or one of numba's many
                _codes[name], _reasons[name] = None, f"{type(error).__name__}: {error}"
        return _codes[name]


def give_up(declared: Declared) -> None:
    """Let a class run in Python from now on: its compiled code met something that Python decides."""
    with _compiling:
        _codes[_name(declared)] = None
        _reasons[_name(declared)] = "its compiled code left the whole numbers of 64 bits, or the real numbers"


_interpreted = 0.0


def interpreted(algorithms: Iterable[tuple[str, str]], packets: float) -> bool:
    """Return whether a run with these algorithms, references and digests, should call them in Python.

    `packets` is the length of the run. Both ways have the same result. Python is the faster one for short runs; when
    runs of this process have become long together, the classes are compiled.
    """
    global _interpreted
    classes = [declared(*one) for one in algorithms]
    if not all(_name(one) in _codes for one in classes):
        _interpreted += packets
        if _interpreted < _WORTH:
            return True
    return None in [compiled(one) for one in classes]


def _code(declared: Declared) -> Code:
    try:
        import numba  # noqa: F401
        import numpy as np
    except ModuleNotFoundError:
        raise NotCompiled("numba is not installed: pip install 'aqmlab[numba]'") from None
    from aqmlab.own import machine

    one, other = sample(declared), sample(declared, OTHER_PORT)
    layout = _layout(one)
    if _layout(other) != layout:
        on = "connection" if declared.is_control else "port"
        raise NotCompiled(f"{declared.cls.__name__} has attributes whose types or sizes depend on the {on}")
    for name in vars(one):
        if np.may_share_memory(vars(one)[name], vars(other)[name]):
            raise NotCompiled(f"{declared.cls.__name__}.{name} is one array for all queues")
    for signal in declared.signals:
        if layout[signal.name].shape:
            raise NotCompiled(f"{declared.cls.__name__}.{signal.name} is an array, and a signal is a number")
    translation = translated(declared, {name: _kind(layout[name]) for name in layout.names or () if name != RANDOM})
    about = ("flow",) if declared.is_control else ("packet", "queue")
    records = {"state": layout} | {name: np.dtype(list(FIELDS[name].items()), align=True) for name in about}
    return Code(layout, machine.made(translation, records), translation)


def _kind(field: numpy.dtype[Any]) -> Kind:
    """Return the kind of an attribute at the start."""
    if field.shape == ():
        return field.kind
    return Array(REAL if field.base.kind == REAL else COUNT, len(field.shape))


PORT = (1e7, 0.01, 100.0, 1000)
OTHER_PORT = (3e6, 0.003, 37.0, 700)
"""Two ports: rate in bit/s, delay in s, buffer in packets, usual packet in bytes."""


_CONNECTIONS = {PORT: (1448, 1500, 1_000_000, False, 0, 1), OTHER_PORT: (948, 1000, 4_000_000, True, 10**9, 9)}
"""In the place of each, a connection: see `aqmlab.own.control.Connection`."""


def sample(declared: Declared, port: tuple[float, float, float, int] = PORT) -> Declares:
    """Return an object with the defaults on a port, or of a congestion control on a connection."""
    if declared.is_control:
        return connected(declared, defaults(declared), _CONNECTIONS[port], (10.0, 65535.0, math.inf))

    def no_draws() -> float:
        raise RuntimeError("random() draws in on_enqueue and on_dequeue only")

    return started(declared, defaults(declared), port, no_draws)


def defaults(declared: Declared) -> dict[str, float | str]:
    """Return the default of every parameter, in base units and of the type that the engine passes."""
    given = {one.name: one.default for one in declared.parameters}
    for one in declared.parameters:
        if not isinstance(one.default, str | bool):
            if one.unit in ("s", "bit/s", "Hz"):
                given[one.name] = float(one.default)
            elif one.unit == "bytes":
                given[one.name] = int(one.default)
    return given


def _layout(made: Declares) -> numpy.dtype[Any]:
    """Return the record of an object's attributes."""
    import numpy as np

    fields: list[tuple[Any, ...]] = [(RANDOM, "i8")]  # the engine sets what comes first
    arrays: list[Any] = []
    for name, value in vars(made).items():
        if name == "random":
            continue
        if type(value) is bool:
            fields.append((name, "?"))
        elif type(value) is int and abs(value) < 2**63:
            fields.append((name, "i8"))
        elif type(value) is float:
            fields.append((name, "f8"))
        elif isinstance(value, np.ndarray) and value.dtype in (np.float64, np.int64) and value.size:
            if value.base is not None or any(np.shares_memory(value, other) for other in arrays):
                raise NotCompiled(f"{type(made).__name__}.{name} shares its elements with another array")
            if type(value) is not np.ndarray or not value.shape or not value.flags.writeable:
                raise NotCompiled(f"{type(made).__name__}.{name} is no plain array: not one that can be written to")
            arrays.append(value)
            fields.append((name, value.dtype, value.shape))
        else:
            kind = f"array of {value.dtype}" if isinstance(value, np.ndarray) else type(value).__name__
            hint = "; a numpy array of a fixed size can be compiled" if kind in ("list", "deque", "tuple") else ""
            raise NotCompiled(f"{type(made).__name__}.{name} is of the type {kind}{hint}")
    return np.dtype(fields, align=True)


__all__ = ["Code", "NotCompiled", "compiled", "defaults", "interpreted", "reason", "sample"]
