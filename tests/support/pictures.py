"""What a picture shows, judged by its pixels."""

from __future__ import annotations

from pathlib import Path

import numpy as np
from matplotlib.image import imread

FEWEST = 40
"""Pixels of one colour that count as drawn; the rim of a letter or a line has fewer of any blend."""


def colors_in(picture: Path) -> set[str]:
    """The colours of a PNG that are not the edge of something, as "#3b6fd4"; pure white is the paper."""
    pixels = np.round(255 * imread(picture)[..., :3]).astype(int)
    colors, counts = np.unique(pixels.reshape(-1, 3), axis=0, return_counts=True)
    drawn = {"#" + "".join(f"{part:02x}" for part in color) for color in colors[counts >= FEWEST]}
    return drawn - {"#ffffff"}
