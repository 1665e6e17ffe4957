"""Rotations and rigid displacements, over any scalar."""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np

from armdyn.algebra.ops import Scalar, cos_sin, is_zero, tidy
from armdyn.algebra.vectors import ZERO, Mat3, Vec3


class Pose(NamedTuple):
    """T_ab = (R_ab, p_ab): takes coordinates in frame b to frame a.

    >>> Pose.translation(0, 0, 2).apply(Vec3(1, 0, 0))
    Vec3(1, 0, 2)
    """

    R: Mat3
    p: Vec3

    @staticmethod
    def identity() -> Pose:
        return Pose(Mat3.identity(), ZERO)

    @staticmethod
    def translation(x: Scalar, y: Scalar, z: Scalar) -> Pose:
        return Pose(Mat3.identity(), Vec3(x, y, z))

    @staticmethod
    def rotation(R: Mat3) -> Pose:
        return Pose(R, ZERO)

    def __matmul__(self, other: Pose) -> Pose:
        return Pose(self.R @ other.R, self.R @ other.p + self.p)

    def apply(self, v: Vec3) -> Vec3:
        """Coordinates in a of the point whose coordinates in b are v."""
        return self.R @ v + self.p

    def inverse(self) -> Pose:
        back = self.R.T
        return Pose(back, -(back @ self.p))

    def array(self) -> np.ndarray[Any, Any]:
        """(..., 4, 4) homogeneous matrix."""
        entries = [a for row, p in zip(self.R.rows, self.p, strict=True) for a in (*row, p)]
        flat = np.broadcast_arrays(*entries, 0.0, 0.0, 0.0, 1.0)
        return np.stack(flat, axis=-1).reshape(*flat[0].shape, 4, 4)


def rot_x(angle: Scalar) -> Mat3:
    if is_zero(angle):
        return Mat3.identity()
    c, s = cos_sin(angle)
    return Mat3(((1, 0, 0), (0, c, -s), (0, s, c)))


def rot_y(angle: Scalar) -> Mat3:
    if is_zero(angle):
        return Mat3.identity()
    c, s = cos_sin(angle)
    return Mat3(((c, 0, s), (0, 1, 0), (-s, 0, c)))


def rot_z(angle: Scalar) -> Mat3:
    if is_zero(angle):
        return Mat3.identity()
    c, s = cos_sin(angle)
    return Mat3(((c, -s, 0), (s, c, 0), (0, 0, 1)))


def rot_rpy(roll: Scalar, pitch: Scalar, yaw: Scalar) -> Mat3:
    """Rz(yaw) Ry(pitch) Rx(roll), the order of URDF."""
    return rot_z(yaw) @ rot_y(pitch) @ rot_x(roll)


def rot_quaternion(w: Scalar, x: Scalar, y: Scalar, z: Scalar) -> Mat3:
    """The rotation of a quaternion of any length but zero: exactly orthogonal over exact scalars.

    >>> rot_quaternion(3.0, 0.0, 0.0, 3.0).column(0)
    Vec3(0.0, 1.0, 0.0)
    """
    s = 2 / (w * w + x * x + y * y + z * z)
    sx, sy, sz = s * x, s * y, s * z
    wx, wy, wz, xx, xy, xz = sx * w, sy * w, sz * w, sx * x, sx * y, sx * z
    yy, yz, zz = sy * y, sy * z, sz * z
    return Mat3(
        ((1 - (yy + zz), xy - wz, xz + wy), (xy + wz, 1 - (xx + zz), yz - wx), (xz - wy, yz + wx, 1 - (xx + yy)))
    )


def rpy_of(R: np.ndarray[Any, Any]) -> tuple[float, float, float]:
    """(roll, pitch, yaw) of a numeric rotation matrix; roll is 0 where only yaw -+ roll is determined.

    Near pitch = +-pi/2 roll and yaw are badly determined one by one; yaw is therefore taken from what is left after
    the roll found is undone, so that the matrix rebuilt from the angles agrees with R to rounding. Angles that miss a
    quarter turn by rounding alone are that quarter turn.
    """
    pitch = _turned(-R[2, 0], math.hypot(R[2, 1], R[2, 2]))
    roll = _turned(R[2, 1], R[2, 2]) if math.hypot(R[2, 1], R[2, 2]) > 1e-15 else 0.0
    c, s = cos_sin(roll)
    yaw = _turned(s * R[0, 2] - c * R[0, 1], c * R[1, 1] - s * R[1, 2])
    return roll, pitch, yaw


def _turned(y: float, x: float) -> float:
    """The angle of (x, y)."""
    angle = math.atan2(y, x)
    quarter = round(angle / (math.pi / 2)) * math.pi / 2
    return quarter if abs(angle - quarter) < 1e-15 else angle


def align_z(axis: Vec3) -> Mat3:
    """A rotation whose third column is the unit vector `axis` (numbers, not symbols); free of square roots.

    With the quaternion (1 + z, -y, x, 0), which turns z into the axis the short way, all entries are rational in
    the axis: the result is exactly orthogonal over exact scalars. An axis pointing down is turned over about x first.

    >>> align_z(Vec3(1, 0, 0)).column(2), align_z(Vec3(0, 0, -1)).column(2)
    (Vec3(1, 0, 0), Vec3(0, 0, -1))
    """
    x, y, z = axis
    if is_zero(x) and is_zero(y) and z == 1:
        return Mat3.identity()
    if z < 0:
        return rot_x(math.pi) @ align_z(Vec3(x, -y, -z))
    w, i, j = 1 + z, -y, x
    norm = w * w + i * i + j * j
    rows = (
        (w * w + i * i - j * j, 2 * i * j, 2 * w * j),
        (2 * i * j, w * w - i * i + j * j, -2 * w * i),
        (-2 * w * j, 2 * w * i, w * w - i * i - j * j),
    )
    return Mat3([[tidy(entry / norm) for entry in row] for row in rows])
