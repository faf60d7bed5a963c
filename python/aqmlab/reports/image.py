"""Images for the documentation, which are kept in the repository."""

from pathlib import Path

from PIL import Image

from aqmlab.files import replacing

_COLOURS = 64
"""The number of colours in an image."""


def small_copy(image: Path, to: Path) -> None:
    """Copy an image with a palette, which takes a third of the space."""
    to.parent.mkdir(parents=True, exist_ok=True)
    with Image.open(image) as found:
        small = found.convert("RGB").quantize(_COLOURS, dither=Image.Dither.NONE)
    with replacing(to) as temporary:
        small.save(temporary, format="PNG", optimize=True)
