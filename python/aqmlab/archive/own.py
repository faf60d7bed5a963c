"""The names of queue disciplines in files of the user's own: ``FILE:CLASS`` with its parameters."""

from __future__ import annotations

_END = ".py"


def file_of(label: str) -> str:
    """Return the file of a label."""
    return label[: label.rindex(_END) + len(_END)]


def moved(label: str, file: str) -> str:
    """Return a label with another file."""
    return file + label[len(file_of(label)) :]
