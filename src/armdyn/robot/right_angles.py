"""Angles that narrowly miss a multiple of pi/2: rounded in a file, or left by arithmetic."""

from __future__ import annotations

import math

from armdyn.algebra import Scalar, ops

HAIR = 3e-3
"""rad. 1.57, 3.14 and 4.71 lie within 2.4e-3 of a multiple of pi/2; a calibrated angle may too, hence only a note."""
NOISE = 1e-6
"""rad. An angle this near to zero, but not zero, is what remains of rounding; real corrections start near 1e-4."""
ARITHMETIC = 1e-9
"""rad: what sums and products of sines leave; no instrument measures so small an angle."""
MOST_DECIMALS = 15
"""Decimals to which a double can give a multiple of pi/2 and still differ from the nearest one."""


def snap(angle: Scalar) -> float | None:
    """Return the multiple of pi/2 that an angle narrowly misses; None if it is exact or not near one.

    >>> snap(1.5708) == math.pi / 2, snap(math.pi), snap(1.5), snap(1e-3)
    (True, None, None, None)
    """
    value = float(angle)
    if value == 0 or value in ops.QUARTER_TURNS:
        return None
    quarters = round(value / (math.pi / 2))
    snapped = quarters * math.pi / 2
    distance = abs(value - snapped)
    return snapped if 0 < distance < (HAIR if quarters else NOISE) else None


def unrounded(angle: Scalar) -> Scalar:
    """The multiple of pi/2 of which an angle is the rounding, to some decimals; any other angle as it is.

    >>> unrounded(1.5708) == math.pi / 2, unrounded(1.5712)
    (True, 1.5712)
    """
    near = snap(angle)
    if near is None:
        return angle
    if abs(float(angle) - near) < ARITHMETIC:
        return near
    cut = [
        d
        for d in range(2, MOST_DECIMALS + 1)
        if abs(float(angle)) in (round(abs(near), d), math.floor(abs(near) * 10**d) / 10**d)
    ]
    return near if cut else angle


__all__ = ["snap", "unrounded"]
