"""Reference motions of the source texts, each for one robot of the catalog: functions of (t, order), as trajectories.

They are formulas rather than files, because a control law needs their velocities and accelerations exactly.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from armdyn.errors import ArmdynError
from armdyn.typing import Array

SCARA_START = np.array([0.1, -0.8, 1.9, -0.1, 0.284])
SCARA_RATE = np.array([0.1, 0.4, 0.0, -0.5, 0.1])
"""Initial state of the SCARA arm in El Baji sec. 5.3, which is not on the curve."""


@dataclass(frozen=True)
class ScaraCurve:
    """The motion (40) of El Baji in the joint space of the five-joint SCARA arm.

        x = 0.1 cos(t/2) cos t + 0.2,  y = 0.1 sin(t/2) cos t + 0.2,  z = 0.2,  phi = pi/3          El Baji (40)

    Joint positions by (38) with the sign of c_2 corrected (+ l3 s3 y': the printed one misses by up to 0.3 m);
    velocities and accelerations by Khalil (9.19), (9.20). The lift stays at 0.1 m, which is not in the text but fits
    its q(0): then d5 = l1 + d1 - l5 - z = 0.284. elbow: sign of s_3; q(0) fits +1.
    """

    l1: float = 0.524
    l2: float = 0.2
    l3: float = 0.2
    l4: float = 0.2
    l5: float = 0.14
    lift: float = 0.1
    elbow: int = 1
    duration: float = 10.0

    def __call__(self, t: Any, order: int = 0) -> Array:
        if order not in (0, 1, 2):
            raise ArmdynError(f"derivative of order {order}", where="ScaraCurve", expected="0, 1 or 2")
        t = np.asarray(t, dtype=float)
        x, y = (self.wrist(t, k) for k in (0, 1))
        c3 = (x[0] ** 2 + y[0] ** 2 - self.l2**2 - self.l3**2) / (2 * self.l2 * self.l3)
        s3 = self.elbow * np.sqrt(1 - c3**2)
        along, across = self.l2 + self.l3 * c3, self.l3 * s3
        th3 = np.arctan2(s3, c3)
        th2 = np.arctan2(y[0] * along - across * x[0], x[0] * along + across * y[0])  # c_2 with ElBaji-1 corrected
        zero = np.zeros_like(t)
        phi = np.pi / 3
        if order == 0:
            slide = self.l1 + self.lift - self.l5 - 0.2 + zero
            return np.stack([self.lift + zero, th2, th3, phi - th3 - th2, slide], axis=-1)
        J = np.stack([np.stack([-y[0], x[0]], -1), self.l3 * np.stack([-np.sin(th2 + th3), np.cos(th2 + th3)], -1)], -1)
        rate = np.linalg.solve(J, np.stack([x[1], y[1]], -1)[..., None])[..., 0]  # Khalil (9.19)
        if order == 2:
            w2, w23 = rate[..., 0], rate[..., 0] + rate[..., 1]
            centripetal = [self.l2 * f(th2) * w2**2 + self.l3 * f(th2 + th3) * w23**2 for f in (np.cos, np.sin)]
            pull = np.stack([x[2], y[2]], -1) + np.stack(centripetal, -1)
            rate = np.linalg.solve(J, pull[..., None])[..., 0]  # Khalil (9.20)
        return np.stack([zero, rate[..., 0], rate[..., 1], -rate[..., 0] - rate[..., 1], zero], axis=-1)

    def wrist(self, t: Array, axis: int) -> tuple[Array, Array, Array]:
        """Position of the last revolute axis along x (0) or y (1), and two derivatives."""
        f, df, sign = (np.cos, np.sin, -1) if axis == 0 else (np.sin, np.cos, 1)
        a, da, dda = f(t / 2), sign * df(t / 2) / 2, -f(t / 2) / 4
        b, db, ddb = np.cos(t), -np.sin(t), -np.cos(t)
        offset = 0.2 - self.l4 * (np.cos if axis == 0 else np.sin)(np.pi / 3)
        return 0.1 * a * b + offset, 0.1 * (da * b + a * db), 0.1 * (dda * b + 2 * da * db + a * ddb)

    def tool(self, t: Any) -> Array:
        """The desired positions of the tool: (..., 3)."""
        t = np.asarray(t, dtype=float)
        b = 0.1 * np.cos(t)
        return np.stack([np.cos(t / 2) * b + 0.2, np.sin(t / 2) * b + 0.2, 0.2 + np.zeros_like(t)], axis=-1)


class Swing:
    """The reference (73) of Truc: (1, 0.75, 0.5)(1 - cos 2 pi t)."""

    duration = 5.0
    size = np.array([1.0, 0.75, 0.5])

    def __call__(self, t: Any, order: int = 0) -> Array:
        if order not in (0, 1, 2):
            raise ArmdynError(f"derivative of order {order}", where="Swing", expected="0, 1 or 2")
        w = 2 * np.pi
        angle = w * np.asarray(t, dtype=float)[..., None]
        wave = (1 - np.cos(angle), w * np.sin(angle), w**2 * np.cos(angle))[order]
        return np.asarray(wave * self.size)


class TextCurve(NamedTuple):
    """A reference of a text.

    robot: name of the catalog robot it is for. make: the reference. start: q(0) and qd(0), if not on the reference.
    """

    robot: str
    make: Callable[[], Any]
    start: tuple[Array, Array] | None = None


CURVES = {
    "curve40": TextCurve("scara5", ScaraCurve, (SCARA_START, SCARA_RATE)),
    "swing": TextCurve("three_link", Swing),
}
"""The reference motions by name."""
