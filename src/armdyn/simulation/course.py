"""The reference, sampled at the times of a simulation."""

from __future__ import annotations

from typing import Any

import numpy as np

from armdyn.control.base import Desired
from armdyn.errors import ArmdynError, ShapeError
from armdyn.typing import Array

TASK = ("pose", "velocity", "acceleration")
"""Methods of a trajectory of the tool (`armdyn.trajectory.cartesian`)."""


class Hold:
    """A constant reference, for position control."""

    def __init__(self, q: Any, n: int | None = None) -> None:
        self.q = np.array(q, dtype=float)
        self.velocities = 6 if self.q.shape == (4, 4) else self.q.shape if n is None else (n,)

    def __call__(self, t: Any, order: int = 0) -> Array:
        value = self.q if order == 0 else np.zeros(self.velocities)
        return np.broadcast_to(value, (*np.shape(t), *value.shape))


class Course:
    """Any callable ref(t), ref(t, 1), ref(t, 2) as tables of position, velocity and acceleration.

    A reference may take arrays of times or single times only. An array in place of a callable is a constant reference:
    a configuration (nq,), or for laws in the task space a position (3,) or a pose (4, 4).
    """

    def __init__(self, reference: Any, n: int | None, nq: int | None = None) -> None:
        moves = callable(reference) or all(hasattr(reference, name) for name in TASK)
        self.reference = reference if moves else Hold(reference, n)
        start, size = self.at(0.0), n if nq is None else nq
        if n is not None and start.q.shape != (size,):
            raise ShapeError(
                f"the reference at t = 0 has shape {start.q.shape}", expected=f"one value per joint: ({size},)"
            )
        self.start = start

    @property
    def duration(self) -> float | None:
        """Duration of the reference, s; None if it has none."""
        value = getattr(self.reference, "duration", None)
        return None if value is None else float(value)

    def at(self, t: float) -> Desired:
        """The desired state at one time."""
        return Desired(*(self._value(t, order) for order in range(3)))

    def table(self, times: Array) -> Desired:
        """The desired states at many times; the first axis is time."""
        return Desired(*(self._column(times, order) for order in range(3)))

    def _value(self, t: Any, order: int) -> Array:
        if not callable(self.reference):  # a motion of the tool
            return np.asarray(getattr(self.reference, TASK[order])(t), dtype=float)
        try:
            return np.asarray(self.reference(t, order) if order else self.reference(t), dtype=float)
        except TypeError as error:
            if order == 0 or "argument" not in str(error):
                raise
            raise ArmdynError(
                "the reference does not take an order of derivative",
                expected="a callable ref(t), ref(t, 1), ref(t, 2): position, velocity, acceleration",
                advice="Use armdyn.point_to_point, or define ref(t, order=0).",
            ) from error

    def _column(self, times: Array, order: int) -> Array:
        first, last = self._value(float(times[0]), order), self._value(float(times[-1]), order)
        column: Array | None
        try:
            column = self._value(times, order)
        except (TypeError, ValueError):  # a reference for single times
            column = None
        if (
            column is None
            or column.shape != (len(times), *first.shape)
            or not np.allclose(column[0], first, rtol=1e-12, atol=1e-12)
            or not np.allclose(column[-1], last, rtol=1e-12, atol=1e-12)
        ):
            column = np.array([self._value(float(t), order) for t in times])
        bad = ~np.isfinite(column.reshape(len(times), -1)).all(axis=1)
        if bad.any():
            raise ArmdynError(
                f"derivative {order} of the reference is not finite at t = {times[bad.argmax()]:.6g} s",
                expected="finite positions, velocities and accelerations",
            )
        return np.ascontiguousarray(column)
