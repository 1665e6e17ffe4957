"""Mass and inertia of MJCF's primitive shapes, of a solid or of a thin shell, in the shape's own axes."""

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


def area(shape: str, size: Sequence[float]) -> float:
    """m^2; of an ellipsoid by the approximation of Thomsen, which MuJoCo uses."""
    if shape == "box":
        x, y, z = size
        return 8 * (x * y + y * z + z * x)
    if shape in ("sphere", "ellipsoid"):
        x, y, z = (a**1.6075 for a in (size if shape == "ellipsoid" else (*size, *size, *size)))
        return float(4 * math.pi * ((x * y + y * z + z * x) / 3) ** (1 / 1.6075))
    r, h = size
    return 2 * math.pi * r * (2 * h) + (4 if shape == "capsule" else 2) * math.pi * r**2


def shell_gyration(shape: str, size: Sequence[float]) -> tuple[float, float, float]:
    """Principal moments of inertia of a thin shell per unit of mass, m^2."""
    return _SHELL_GYRATION[shape](*size)


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


def _sphere_shell(r: float) -> tuple[float, float, float]:
    return (2 / 3 * r * r,) * 3


def _cylinder_shell(r: float, h: float) -> tuple[float, float, float]:
    """A tube and two discs."""
    tube, ends = 2 * h, r  # areas over 2 pi r
    across = (tube * (r * r / 2 + h * h / 3) + ends * (r * r / 4 + h * h)) / (tube + ends)
    return across, across, (tube * r * r + ends * r * r / 2) / (tube + ends)


def _capsule_shell(r: float, h: float) -> tuple[float, float, float]:
    """A tube between two half spheres, each of which has its centre of mass r/2 beyond the tube's end."""
    tube, ends = 2 * h, 2 * r  # areas over 2 pi r
    across = (tube * (r * r / 2 + h * h / 3) + ends * (2 / 3 * r * r + h * h + h * r)) / (tube + ends)
    return across, across, (tube * r * r + ends * 2 / 3 * r * r) / (tube + ends)


def _box_shell(x: float, y: float, z: float) -> tuple[float, float, float]:
    """Mean squares of the coordinates over the six faces."""
    faces = {0: y * z, 1: z * x, 2: x * y}
    total = sum(faces.values())
    xx, yy, zz = (a * a * (faces[i] + (total - faces[i]) / 3) / total for i, a in enumerate((x, y, z)))
    return yy + zz, zz + xx, xx + yy


def _ellipsoid_shell(x: float, y: float, z: float) -> tuple[float, float, float]:
    """What a solid gains when its three semi-axes grow by the same small length."""
    growth = 2 / (5 * (1 / x + 1 / y + 1 / z))
    a, b, c = _ellipsoid(x, y, z)
    return a + growth * (y + z), b + growth * (z + x), c + growth * (x + y)


_SHELL_GYRATION: dict[str, Callable[..., tuple[float, float, float]]] = {
    "sphere": _sphere_shell,
    "capsule": _capsule_shell,
    "cylinder": _cylinder_shell,
    "box": _box_shell,
    "ellipsoid": _ellipsoid_shell,
}
_GYRATION: dict[str, Callable[..., tuple[float, float, float]]] = {
    "sphere": _sphere,
    "capsule": _capsule,
    "cylinder": _cylinder,
    "box": _box,
    "ellipsoid": _ellipsoid,
}
