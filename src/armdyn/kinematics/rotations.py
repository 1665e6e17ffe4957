"""Rotations in numbers: axis and angle, Euler angles z-x-z. Arrays (..., 3, 3); leading axes broadcast."""

from __future__ import annotations

from typing import Any

import numpy as np

from armdyn.errors import ShapeError
from armdyn.typing import Array

ORTHOGONAL = 1e-6
"""How far from orthogonal a given rotation matrix may be: four to six printed decimals."""


def skew(v: Array) -> Array:
    """The matrix of the cross product with v."""
    x, y, z = v[..., 0], v[..., 1], v[..., 2]
    o = np.zeros_like(x)
    return np.stack([o, -z, y, z, o, -x, -y, x, o], axis=-1).reshape(*v.shape[:-1], 3, 3)


def rot(u: Array, angle: Any) -> Array:
    """rot(u, angle): rotation by an angle about the unit vector u (Rodrigues)."""
    K = skew(np.asarray(u, dtype=float))
    a = np.asarray(angle)[..., None, None]
    turned: Array = np.eye(3) + np.sin(a) * K + 2 * np.sin(a / 2) ** 2 * (K @ K)
    return turned


def rotation_vector(R: Array) -> Array:
    """alpha u with rot(u, alpha) = R and 0 <= alpha <= pi: (..., 3). Khalil (8.51)

    By way of a unit quaternion, so it is good to rounding everywhere: (8.51) divides by sin(alpha), which loses the
    axis near alpha = 0 and alpha = pi. At exactly pi one of the two axes is taken.
    """
    # The largest of the four components is found without cancellation; the others follow from it.
    t = np.trace(R, axis1=-2, axis2=-1)
    d = np.diagonal(R, axis1=-2, axis2=-1)
    squares = np.concatenate([(1 + t)[..., None], 1 + 2 * d - t[..., None]], axis=-1)  # 4 w^2, 4 x^2, 4 y^2, 4 z^2
    s = np.stack([R[..., 2, 1], R[..., 0, 2], R[..., 1, 0]], axis=-1)
    o = np.stack([R[..., 1, 2], R[..., 2, 0], R[..., 0, 1]], axis=-1)
    minus, plus = s - o, s + o  # 4 w (x, y, z) and 4 (yz, xz, xy)
    xx, yz = squares, plus
    rows = np.stack(
        [
            np.stack([xx[..., 0], minus[..., 0], minus[..., 1], minus[..., 2]], axis=-1),
            np.stack([minus[..., 0], xx[..., 1], yz[..., 2], yz[..., 1]], axis=-1),
            np.stack([minus[..., 1], yz[..., 2], xx[..., 2], yz[..., 0]], axis=-1),
            np.stack([minus[..., 2], yz[..., 1], yz[..., 0], xx[..., 3]], axis=-1),
        ],
        axis=-2,
    )
    best = squares.argmax(axis=-1)[..., None, None]
    quaternion = np.take_along_axis(rows, best, axis=-2)[..., 0, :]
    quaternion = quaternion / np.linalg.norm(quaternion, axis=-1, keepdims=True)
    quaternion = np.where(quaternion[..., :1] < 0, -quaternion, quaternion)
    w, v = quaternion[..., :1], quaternion[..., 1:]
    length = np.linalg.norm(v, axis=-1, keepdims=True)
    angle = 2 * np.arctan2(length, w)
    tiny = length < 1e-150
    vector: Array = np.where(tiny, 2 * v, v * (angle / np.where(tiny, 1.0, length)))
    return vector


def axis_angle(R: Array) -> tuple[Array, float]:
    """(u, alpha) of one rotation; u is z where there is no rotation."""
    vector = rotation_vector(R)
    alpha = float(np.linalg.norm(vector))
    return (vector / alpha, alpha) if alpha > 0 else (np.array([0.0, 0.0, 1.0]), 0.0)


def euler_zxz(R: Array) -> tuple[float, float, float]:
    """(phi, theta, psi) with R = rot(z, phi) rot(x, theta) rot(z, psi), theta in [0, pi].

    psi = 0 where only phi + psi (theta = 0) or phi - psi (theta = pi) is determined.
    """
    theta = np.arctan2(np.hypot(R[0, 2], R[1, 2]), R[2, 2])
    if np.hypot(R[0, 2], R[1, 2]) < 1e-12:
        return float(np.arctan2(R[1, 0], R[0, 0])), float(theta), 0.0
    return float(np.arctan2(R[0, 2], -R[1, 2])), float(theta), float(np.arctan2(R[2, 0], R[2, 1]))


def checked_pose(name: str, pose: Any) -> Array:
    """A pose (4, 4) or poses (..., 4, 4): finite, a proper rotation, the last row 0 0 0 1."""
    T = np.asarray(pose, dtype=float)
    if T.shape[-2:] != (4, 4) or not np.isfinite(T).all():
        raise ShapeError(f"{name} has shape {T.shape}", expected="(..., 4, 4) finite numbers")
    R = T[..., :3, :3]
    off = np.abs(np.swapaxes(R, -1, -2) @ R - np.eye(3)).max(initial=0.0)
    if off > ORTHOGONAL or (np.linalg.det(R) < 0).any() or np.abs(T[..., 3, :] - [0, 0, 0, 1]).max(initial=0.0) > 0:
        raise ShapeError(f"{name} is not a pose (rotation off by {off:.3g})", expected="[R p; 0 0 0 1] with R^T R = 1")
    return T
