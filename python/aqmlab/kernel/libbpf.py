"""The needed part of libbpf, the library by which iproute2 itself speaks BPF, through ctypes."""

from __future__ import annotations

import ctypes
import os
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from functools import cache
from pathlib import Path
from typing import Any

_TCX_EGRESS = 47
"""BPF_TCX_EGRESS of <linux/bpf.h>, since Linux 6.6: before the queue discipline of a device."""

_DEBUG = 2
"""LIBBPF_DEBUG, the level of messages that say nothing to a user."""

_LINES = 40
"""The lines at the end of libbpf's messages that an error shows: the verifier's reason is last."""

_PRINT = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_int, ctypes.c_char_p, ctypes.c_void_p)


@cache
def library() -> Any:
    """Return libbpf.

    Raises
    ------
    OSError
        If it is not there.
    """
    found = ctypes.CDLL("libbpf.so.1", use_errno=True)
    for name in ("bpf_object__open_file", "bpf_object__find_map_by_name", "bpf_object__find_program_by_name"):
        getattr(found, name).restype = ctypes.c_void_p
    found.bpf_map__attach_struct_ops.restype = ctypes.c_void_p
    return found


@contextmanager
def _messages() -> Iterator[list[str]]:
    """Collect libbpf's messages, the verifier's among them, in place of the standard error."""
    libc, lines = ctypes.CDLL(None), list[str]()

    def collect(level: int, form: bytes, arguments: int) -> int:
        if level >= _DEBUG:
            return 0
        text = ctypes.create_string_buffer(1 << 24)  # the verifier's reason is at the end of a log of megabytes
        libc.vsnprintf(text, ctypes.c_size_t(len(text)), form, ctypes.c_void_p(arguments))
        lines.extend(text.value.decode(errors="replace").splitlines())
        return 0

    callback = _PRINT(collect)
    library().libbpf_set_print(callback)
    try:
        yield lines
    finally:
        library().libbpf_set_print(None)


def _failure(what: str, lines: list[str]) -> OSError:
    number = ctypes.get_errno()
    said = "\n".join(line for line in lines[-_LINES:] if line.strip())
    return OSError(f"{what}: {os.strerror(number)}" + (f"; the kernel says:\n{said}" if said else ""))


def register(file: Path, folder: Path, accepted: Callable[[], None]) -> None:
    """Load an object, keep its maps and its program `mark` in a folder of bpffs, and register its queue discipline.

    `accepted` is called when the kernel has accepted the programs, before anything is kept.

    Raises
    ------
    OSError
        With what the kernel and its verifier say. Then nothing is kept.
    """
    bpf = library()
    with _messages() as lines:
        loaded = ctypes.c_void_p(bpf.bpf_object__open_file(os.fsencode(file), None))
        if not loaded:
            raise _failure(str(file), lines)
        try:
            if bpf.bpf_object__load(loaded):
                raise _failure(str(file), lines)
            accepted()
            folder.mkdir(parents=True)
            for name in ("ops", "devices", "qdiscs", "marks"):
                found = ctypes.c_void_p(bpf.bpf_object__find_map_by_name(loaded, name.encode()))
                if bpf.bpf_map__pin(found, os.fsencode(folder / name)):
                    raise _failure(str(folder / name), lines)
            mark = ctypes.c_void_p(bpf.bpf_object__find_program_by_name(loaded, b"mark"))
            if bpf.bpf_program__pin(mark, os.fsencode(folder / "mark")):
                raise _failure(str(folder / "mark"), lines)
            ops = ctypes.c_void_p(bpf.bpf_object__find_map_by_name(loaded, b"ops"))
            link = ctypes.c_void_p(bpf.bpf_map__attach_struct_ops(ops))
            if not link:
                raise _failure(f"{file}: the queue discipline cannot be registered", lines)
            # It stays when this process ends.
            bpf.bpf_link__disconnect(link)
            bpf.bpf_link__destroy(link)
        except OSError:
            for path in folder.glob("*"):
                path.unlink()
            with suppress(OSError):
                folder.rmdir()
            raise
        finally:
            bpf.bpf_object__close(loaded)


@contextmanager
def _opened(path: Path) -> Iterator[int]:
    number = library().bpf_obj_get(os.fsencode(path))
    if number < 0:
        raise _failure(str(path), [])
    try:
        yield number
    finally:
        os.close(number)


class Map:
    """A map that is kept in bpffs, whose keys are whole numbers."""

    def __init__(self, path: Path) -> None:
        self._path = path

    def __setitem__(self, key: int, value: bytes) -> None:
        """Set an entry."""
        with _opened(self._path) as number:
            sizes = _sizes(number)
            if len(value) != sizes[1]:
                raise OSError(f"{self._path}: made by another version of aqmlab; unload it first")
            if library().bpf_map_update_elem(number, _key(key, sizes), value, ctypes.c_ulonglong(0)):
                raise _failure(str(self._path), [])

    def __delitem__(self, key: int) -> None:
        """Remove an entry, if it is there."""
        with _opened(self._path) as number:
            library().bpf_map_delete_elem(number, _key(key, _sizes(number)))

    def values(self) -> list[bytes]:
        """Return the values of all entries."""
        found, key = list[bytes](), None
        with _opened(self._path) as number:
            following, value = (ctypes.create_string_buffer(size) for size in _sizes(number))
            while not library().bpf_map_get_next_key(number, key, following):
                key = following.raw
                if not library().bpf_map_lookup_elem(number, key, value):
                    found.append(value.raw)
        return found


def _key(key: int, sizes: tuple[int, int]) -> bytes:
    return key.to_bytes(sizes[0], sys.byteorder)


def _sizes(number: int) -> tuple[int, int]:
    """Return the bytes of a key and of a value."""
    info, length = (ctypes.c_uint32 * 4)(), ctypes.c_uint32(16)  # type, id, key_size, value_size
    if library().bpf_obj_get_info_by_fd(number, info, ctypes.byref(length)):
        raise _failure("a map", [])
    return info[2], info[3]


def attach(program: Path, ifindex: int, link: Path) -> None:
    """Let a program see each packet before the queue discipline of a device, as long as `link` is there."""
    with _opened(program) as number:
        made = library().bpf_link_create(number, ifindex, _TCX_EGRESS, None)
        if made < 0:
            raise _failure(f"{program}", [])
        try:
            if library().bpf_obj_pin(made, os.fsencode(link)):
                raise _failure(str(link), [])
        finally:
            os.close(made)
