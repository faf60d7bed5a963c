"""The address of a view of the playground. Its fragment, the part after #, carries the scenario and every change."""

from __future__ import annotations

import base64
import binascii
import zlib
from dataclasses import dataclass
from typing import Self
from urllib.parse import parse_qsl, urlencode

from aqmlab import _core

MOST = 3
"""The most disciplines that the page shows at a time."""

_RAW = -15
"""The window of `zlib` for deflate without a header."""


@dataclass(frozen=True)
class Address:
    """A view of the playground; without a scenario the page begins with its own.

    Parameters
    ----------
    scenario : str
        The name of a shipped scenario, or
    toml : str
        the text of a scenario file,
    name : str
        and the name of that file in messages.
    aqms : tuple of str
        The disciplines, as ``--aqm`` has them; without any the page shows that of the scenario.
    settings : tuple of str
        Changes of the scenario, ``PATH=VALUE`` as ``--set`` has them.
    seed : int
        The seed, if not that of the scenario.
    lesson : str
        The guided experiment to open, by its name.
    embed : bool
        Whether the page is in a frame of another one, and leaves out its head.
    """

    scenario: str | None = None
    toml: str | None = None
    name: str | None = None
    aqms: tuple[str, ...] = ()
    settings: tuple[str, ...] = ()
    seed: int | None = None
    lesson: str | None = None
    embed: bool = False

    @property
    def fragment(self) -> str:
        """The part of the address after #."""
        packed = None if self.toml is None else _packed(self.toml)
        pairs = [("scenario", self.scenario), ("toml", packed), ("name", self.name)]
        pairs += [("aqm", spec) for spec in self.aqms]
        pairs += [("set", setting) for setting in self.settings]
        pairs += [("seed", None if self.seed is None else str(self.seed)), ("lesson", self.lesson)]
        # The safe ones need no escape in a fragment, and an address without escapes can be read.
        written = urlencode([(key, value) for key, value in pairs if value is not None], safe=":/=,", errors="replace")
        return "&".join([*filter(None, [written]), *(["embed"] if self.embed else [])])

    @classmethod
    def parse(cls, fragment: str) -> Self:
        """Read a fragment; raise ValueError with the key and the value if the page could not."""
        found: dict[str, list[str]] = {}
        for key, value in parse_qsl(fragment, keep_blank_values=True, errors="strict"):
            if key not in ("scenario", "toml", "name", "aqm", "set", "seed", "lesson", "embed"):
                raise ValueError(f"{key} = {value!r}: no such part of an address")
            if key in found and key not in ("aqm", "set"):
                raise ValueError(f"{key} = {value!r}: given twice; give it once")
            found.setdefault(key, []).append(value)
        one = {key: values[0] for key, values in found.items()}
        return cls(
            scenario=one.get("scenario"),
            toml=_unpacked(one["toml"]) if "toml" in one else None,
            name=one.get("name"),
            aqms=tuple(found.get("aqm", ())),
            settings=tuple(found.get("set", ())),
            seed=_seed(one["seed"]) if "seed" in one else None,
            lesson=one.get("lesson"),
            embed="embed" in one,
        )


def _packed(text: str) -> str:
    """Return the raw deflate of a text's UTF-8 in `base64url` without padding."""
    deflate = zlib.compressobj(9, zlib.DEFLATED, _RAW)
    data = deflate.compress(text.encode()) + deflate.flush()
    return base64.urlsafe_b64encode(data).decode().rstrip("=")


def _unpacked(packed: str) -> str:
    try:
        data = base64.b64decode(packed + "=" * (-len(packed) % 4), altchars=b"-_", validate=True)
        inflate = zlib.decompressobj(_RAW)
        text = inflate.decompress(data, _core.longest + 1)
        if not inflate.eof and len(text) <= _core.longest:
            raise ValueError("it is cut off")
        if len(text) > _core.longest:
            raise ValueError(f"the text has more than {_core.longest} bytes")
        return text.decode()
    except (binascii.Error, zlib.error, ValueError) as error:
        raise ValueError(f"toml = {packed[:20]!r}…: not the base64 of a deflated text: {error}") from None


def _seed(text: str) -> int:
    if not (text.isascii() and text.isdecimal()):
        raise ValueError(f"seed = {text!r}: must be a whole number")
    return int(text)
