"""Elementwise functions for control laws, on arrays of numbers and on arrays of symbols alike.

A law is written once: arrays of floats give torques, arrays of graph nodes make it part of the compiled loop.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from armdyn.algebra import ops
from armdyn.typing import Array


def where_not_negative(condition: Array, then: Any, otherwise: Any) -> Array:
    """`then` where the condition is >= 0, `otherwise` elsewhere."""
    if condition.dtype != object:
        return np.asarray(np.where(condition >= 0, then, otherwise))
    shape = condition.shape
    parts = (np.broadcast_to(np.asarray(part, dtype=object), shape).flat for part in (then, otherwise))
    chosen = np.empty(shape, dtype=object)
    for index, triple in enumerate(zip(condition.flat, *parts, strict=True)):
        chosen.flat[index] = ops.select(*triple)
    return chosen


def clipped(x: Array, limit: Any) -> Array:
    """Each entry saturated at plus and minus its limit."""
    bound = np.broadcast_to(np.asarray(limit, dtype=float), x.shape)
    if x.dtype != object:
        return np.clip(x, -bound, bound)
    cut = np.empty(x.shape, dtype=object)
    for index, (entry, b) in enumerate(zip(x.flat, bound.flat, strict=True)):
        b = float(b)
        cut.flat[index] = entry if np.isinf(b) else ops.select(entry - b, b, ops.select(entry + b, entry, -b))
    return cut


INCIPIENT = 1e-9
"""Velocity of a motion that begins, rad/s or m/s."""
NO_COMMAND = 1e-6
"""Commanded accelerations below this are rounding, rad/s^2 or m/s^2: the joint stays at rest."""


def incipient(qd: Array, qdd: Array) -> Array:
    """The velocities, with those of joints at rest replaced by the direction in which they shall accelerate.

    Dry friction at rest is whatever the model is told; a law that compensates it needs its value for the motion to
    come.
    """
    direction = where_not_negative(abs(qdd) - NO_COMMAND, sign(qdd), 0 * qdd)
    return where_not_negative(-abs(qd), INCIPIENT * direction, qd)


def sign(x: Array) -> Array:
    """-1, 0 or 1."""
    return np.sign(x) if x.dtype != object else np.array([ops.sign(entry) for entry in x], dtype=object)
