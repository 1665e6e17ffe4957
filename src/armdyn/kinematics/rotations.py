"""Rotations in numbers: axis and angle, Euler angles z-x-z. Arrays (..., 3, 3); leading axes broadcast."""

from __future__ import annotations

from typing import Any

import numpy as np

from armdyn.errors import ShapeError
from armdyn.typing import Array

ORTHOGONAL = 1e-6
"""How far from orthogonal a given rotation matrix may be: four to six printed decimals."""


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

    R: (..., 3, 3) rotation matrices.
    """
    products = (R.reshape(*R.shape[:-2], 9) @ _PRODUCTS).reshape(*R.shape[:-2], 4, 4) + np.eye(4)
    # The row of the largest component is free of cancellation. Its length does not matter below.
    best = np.diagonal(products, axis1=-2, axis2=-1).argmax(axis=-1)[..., None, None]
    quaternion = np.take_along_axis(products, best, axis=-2)[..., 0, :]
    w, v = quaternion[..., :1], quaternion[..., 1:]
    length = np.sqrt((v * v).sum(axis=-1, keepdims=True))
    tiny = length < 1e-150  # squares of smaller components underflow, but then alpha u = 2 v / w
    factor = np.where(tiny, 1.0, 2 * np.arctan2(length, np.abs(w))) / np.where(tiny, 0.5 * w, length)
    vector: Array = v * np.where((w < 0) & ~tiny, -factor, factor)
    return vector


def _quaternion_products() -> Array:
    """(9, 16) with 4 (w, x, y, z)^T (w, x, y, z) = R (9,) @ this + identity, where the quaternion is that of R."""
    table = np.zeros((3, 3, 4, 4))
    for i in range(3):
        j, k = (i + 1) % 3, (i + 2) % 3
        table[i, i] = np.diag([1.0 if entry in (0, i + 1) else -1.0 for entry in range(4)])
        for a, b in ((0, i + 1), (i + 1, 0)):  # 4 w x = R_zy - R_yz
            table[k, j, a, b], table[j, k, a, b] = 1.0, -1.0
        for a, b in ((j + 1, k + 1), (k + 1, j + 1)):  # 4 y z = R_zy + R_yz
            table[k, j, a, b] = table[j, k, a, b] = 1.0
    return table.reshape(9, 16)


_PRODUCTS = _quaternion_products()


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


def checked_pose(name: str, pose: Any) -> Array:
    """Return poses (..., 4, 4) as an array; ShapeError if one is not finite or not a rigid-body pose."""
    T = np.asarray(pose, dtype=float)
    if T.shape[-2:] != (4, 4) or not np.isfinite(T).all():
        raise ShapeError(f"{name} has shape {T.shape}", expected="(..., 4, 4) finite numbers")
    R = T[..., :3, :3]
    off = np.abs(np.swapaxes(R, -1, -2) @ R - np.eye(3)).max(initial=0.0)
    if off > ORTHOGONAL or (np.linalg.det(R) < 0).any() or np.abs(T[..., 3, :] - [0, 0, 0, 1]).max(initial=0.0) > 0:
        raise ShapeError(f"{name} is not a pose (rotation off by {off:.3g})", expected="[R p; 0 0 0 1] with R^T R = 1")
    return T
