"""Rotations in numbers: axis and angle, Euler angles z-x-z. Arrays (..., 3, 3); leading axes broadcast."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from armdyn.algebra import ops
from armdyn.algebra.ops import Scalar
from armdyn.errors import ShapeError
from armdyn.typing import Array

ORTHOGONAL = 1e-3
"""How far from orthogonal a given rotation matrix may be: that of one printed with four decimals is off by 2e-4."""
EXACTLY_ORTHOGONAL = 1e-12
"""Up to here a rotation matrix is off by rounding of doubles and is taken as it is."""


def skew(v: Array) -> Array:
    """Return the matrix of the cross product with v (..., 3)."""
    x, y, z = v[..., 0], v[..., 1], v[..., 2]
    o = np.zeros_like(x)
    return np.stack([o, -z, y, z, o, -x, -y, x, o], axis=-1).reshape(*v.shape[:-1], 3, 3)


def rot(u: Array, angle: Any) -> Array:
    """Return the rotation (..., 3, 3) by an angle, rad, about the unit vector u (..., 3) (Rodrigues)."""
    K = skew(np.asarray(u, dtype=float))
    a = np.asarray(angle)[..., None, None]
    turned: Array = np.eye(3) + np.sin(a) * K + 2 * np.sin(a / 2) ** 2 * (K @ K)
    return turned


def inverse_pose(T: Array) -> Array:
    """Return the inverse of a pose (4, 4)."""
    back = np.eye(4)
    back[:3, :3] = T[:3, :3].T
    back[:3, 3] = -T[:3, :3].T @ T[:3, 3]
    return back


def rotation_vector(R: Array) -> Array:
    """Return alpha u with rot(u, alpha) = R and 0 <= alpha <= pi: (..., 3), rad. Khalil (8.51)

    By way of a quaternion, so it is good to rounding everywhere: (8.51) divides by sin(alpha), which loses the axis
    near alpha = 0 and alpha = pi. At exactly pi one of the two axes is taken.

    R: (..., 3, 3) rotation matrices, of numbers or of symbols.
    """
    if R.ndim == 2:
        return np.array(_vector(R.tolist()), dtype=R.dtype)
    return np.stack(_vector([[R[..., i, j] for j in range(3)] for i in range(3)]), axis=-1)


HALVINGS = 3
"""How often the angle of a quaternion is halved before its series: alpha / 16 is then at most 0.2."""
ARCTANGENT = [(-1) ** k / (2 * k + 1) for k in range(12)]
"""arctan(x) / x as a polynomial in x^2; the next term is 7e-19 at x = 0.2."""


def _vector(r: Sequence[Sequence[Scalar]]) -> tuple[Scalar, Scalar, Scalar]:
    """alpha u of a rotation matrix over any scalar."""
    w, x, y, z = _quaternion(r)
    length = x * x + y * y + z * z
    for _ in range(HALVINGS):  # the quaternion (w, v) of half the angle is (w + |(w, v)|, v), up to its length
        w = w + ops.sqrt(w * w + length)
    square = length / (w * w)
    series: Scalar = 0.0
    for coefficient in reversed(ARCTANGENT):
        series = series * square + coefficient
    factor = 2 ** (HALVINGS + 1) * series / w  # alpha / 2^(k + 1) = arctan(|v| / w)
    return x * factor, y * factor, z * factor


def _quaternion(r: Sequence[Sequence[Scalar]]) -> tuple[Scalar, ...]:
    """Multiple (w, x, y, z) of the quaternion of a rotation matrix, w >= 0.

    The rows are those of 4 (w, x, y, z)^T (w, x, y, z); that of the largest component is free of cancellation.
    """
    (xx, xy, xz), (yx, yy, yz), (zx, zy, zz) = r
    rows = (
        (1 + xx + yy + zz, zy - yz, xz - zx, yx - xy),
        (zy - yz, 1 + xx - yy - zz, yx + xy, xz + zx),
        (xz - zx, yx + xy, 1 - xx + yy - zz, zy + yz),
        (yx - xy, xz + zx, zy + yz, 1 - xx - yy + zz),
    )
    best, largest = rows[0], rows[0][0]
    for k, row in enumerate(rows[1:], 1):
        larger = row[k] - largest
        best = tuple(ops.select(larger, a, b) for a, b in zip(row, best, strict=True))
        largest = ops.select(larger, row[k], largest)
    return tuple(ops.select(best[0], entry, -entry) for entry in best)


def axis_angle(R: Array) -> tuple[Array, float]:
    """Return (u, alpha) of one rotation (3, 3); u is z if it is the identity."""
    vector = rotation_vector(R)
    alpha = float(np.linalg.norm(vector))
    return (vector / alpha, alpha) if alpha > 0 else (np.array([0.0, 0.0, 1.0]), 0.0)


def euler_zxz(R: Array) -> tuple[float, float, float]:
    """Return (phi, theta, psi), rad, with R = rot(z, phi) rot(x, theta) rot(z, psi), theta in [0, pi].

    psi = 0 where only phi + psi (theta = 0) or phi - psi (theta = pi) is determined.
    """
    theta = np.arctan2(np.hypot(R[0, 2], R[1, 2]), R[2, 2])
    if np.hypot(R[0, 2], R[1, 2]) < 1e-12:
        return float(np.arctan2(R[1, 0], R[0, 0])), float(theta), 0.0
    return float(np.arctan2(R[0, 2], -R[1, 2])), float(theta), float(np.arctan2(R[2, 0], R[2, 1]))


def unorthogonality(R: Array) -> float:
    """Return the largest entry of |R^T R - 1| of matrices (..., 3, 3)."""
    return float(np.abs(np.swapaxes(R, -1, -2) @ R - np.eye(3)).max(initial=0.0))


def checked_pose(name: str, pose: Any) -> Array:
    """Return poses (..., 4, 4) as an array, their rotations made orthogonal if they were printed with few decimals.

    Raises ShapeError if one is not finite or not a rigid-body pose.
    """
    T = np.asarray(pose, dtype=float)
    if T.shape[-2:] != (4, 4) or not np.isfinite(T).all():
        raise ShapeError(f"{name} has shape {T.shape}", expected="(..., 4, 4) finite numbers")
    R = T[..., :3, :3]
    off = unorthogonality(R)
    if off > ORTHOGONAL or (np.linalg.det(R) < 0).any() or np.abs(T[..., 3, :] - [0, 0, 0, 1]).max(initial=0.0) > 0:
        raise ShapeError(f"{name} is not a pose (rotation off by {off:.3g})", expected="[R p; 0 0 0 1] with R^T R = 1")
    if off > EXACTLY_ORTHOGONAL:
        left, _, right = np.linalg.svd(R)  # the nearest rotation
        T = T.copy()
        T[..., :3, :3] = left @ right
    return T
