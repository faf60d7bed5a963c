"""The images of the pages, made from the figures that the pages' commands write."""

from pathlib import Path

from PIL import Image, ImageChops, ImageStat

WIDTH = 1200
COLOURS = (256, 128, 64)
"""As many as the size allows: with fewer, curves of few pixels take the colours of others."""

LARGEST = 130_000
"""The most bytes of an image."""


def save(source: Path, target: Path) -> None:
    """Write a figure as a small image."""
    figure = Image.open(source).convert("RGB")
    small = figure.resize((WIDTH, round(figure.height * WIDTH / figure.width)), Image.Resampling.LANCZOS)
    for colours in COLOURS:
        small.quantize(colours, dither=Image.Dither.NONE).save(target, optimize=True)
        if target.stat().st_size < LARGEST:
            return


def difference(one: Path, other: Path) -> float:
    """Return the mean difference of two images' grey levels, 0 to 255; infinity if their sizes differ."""
    first, second = (Image.open(file).convert("L") for file in (one, other))
    if first.size != second.size:
        return float("inf")
    return ImageStat.Stat(ImageChops.difference(first, second)).mean[0]
