"""Mass and inertia of MJCF's primitive shapes: of a solid of even density, in the shape's own axes."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence

SIZES = {"sphere": 1, "capsule": 2, "cylinder": 2, "box": 3, "ellipsoid": 3}
"""Shape -> how many numbers its size has: radius; radius and half length; half lengths or semi-axes."""


def volume(shape: str, size: Sequence[float]) -> float:
    """m^3."""
    if shape == "box":
        return 8 * math.prod(size)
    if shape in ("sphere", "ellipsoid"):
        x, y, z = size if shape == "ellipsoid" else (*size, *size, *size)
        return 4 / 3 * math.pi * x * y * z
    r, h = size
    ends = 4 / 3 * math.pi * r**3 if shape == "capsule" else 0.0
    return math.pi * r**2 * (2 * h) + ends


def gyration(shape: str, size: Sequence[float]) -> tuple[float, float, float]:
    """Principal moments of inertia per unit of mass, m^2."""
    return _GYRATION[shape](*size)


def _sphere(r: float) -> tuple[float, float, float]:
    return (0.4 * r * r,) * 3


def _cylinder(r: float, h: float) -> tuple[float, float, float]:
    across = r * r / 4 + h * h / 3
    return across, across, r * r / 2


def _capsule(r: float, h: float) -> tuple[float, float, float]:
    """A cylinder between two half balls, each of which has its centre of mass 3/8 r beyond the cylinder's end."""
    middle = math.pi * r**2 * (2 * h)
    ends = 4 / 3 * math.pi * r**3
    total = middle + ends
    across = (middle * (r * r / 4 + h * h / 3) + ends * (0.4 * r * r + h * h + 0.75 * h * r)) / total
    return across, across, (middle * r * r / 2 + ends * 0.4 * r * r) / total


def _box(x: float, y: float, z: float) -> tuple[float, float, float]:
    return (y * y + z * z) / 3, (z * z + x * x) / 3, (x * x + y * y) / 3


def _ellipsoid(x: float, y: float, z: float) -> tuple[float, float, float]:
    return (y * y + z * z) / 5, (z * z + x * x) / 5, (x * x + y * y) / 5


_GYRATION: dict[str, Callable[..., tuple[float, float, float]]] = {
    "sphere": _sphere,
    "capsule": _capsule,
    "cylinder": _cylinder,
    "box": _box,
    "ellipsoid": _ellipsoid,
}
