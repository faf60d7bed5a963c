"""The images of the pages, made from the figures that the pages' commands write."""

from pathlib import Path

from PIL import Image, ImageChops, ImageStat

WIDTH = 1200
COLOURS = 256
"""With fewer, curves of few pixels take the colours of others."""


def save(source: Path, target: Path) -> None:
    """Write a figure as a small image."""
    figure = Image.open(source).convert("RGB")
    small = figure.resize((WIDTH, round(figure.height * WIDTH / figure.width)), Image.Resampling.LANCZOS)
    small.quantize(COLOURS, dither=Image.Dither.NONE).save(target, optimize=True)


def difference(one: Path, other: Path) -> float:
    """Return the mean difference of two images' grey levels, 0 to 255; infinity if their sizes differ."""
    first, second = (Image.open(file).convert("L") for file in (one, other))
    if first.size != second.size:
        return float("inf")
    return ImageStat.Stat(ImageChops.difference(first, second)).mean[0]
