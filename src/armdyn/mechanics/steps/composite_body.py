"""Composite bodies at one link: what a joint carries, as one rigid body, and the wrench that this body needs.

Source: method 3 of Walker and Orin (1982), to which Khalil sec. 7.6.1 refers ("composite links"). When joint j alone
accelerates, all that it carries moves as one rigid body. The wrench of its unit acceleration, I_j S_j, is what every
joint on the way to the root bears along its own axis: M_ij = S_i . (I_j S_j).
"""

from __future__ import annotations

from armdyn.algebra import Z_AXIS, ZERO, Inertia, Mat3, Scalar, Screw, momentum
from armdyn.algebra.ops import add, mul, sub
from armdyn.robot.links import Link


def joint_axis(link: Link) -> Screw:
    """Return S, the joint's unit motion in the link's frame: (0, z) if it is revolute, (z, 0) if it is prismatic."""
    return Screw(ZERO, Z_AXIS) if link.revolute else Screw(Z_AXIS, ZERO)


def unit_wrench(S: Screw, composite: Inertia) -> Screw:
    """Return I_j S_j: the wrench of a composite body whose joint accelerates by one. Walker and Orin (1982), method 3

    Khalil (7.55), (7.56) with wd = z or a = z and no velocity, in whatever frame S and the body are given.
    """
    return momentum(composite, S)


def projection(S: Screw, wrench: Screw) -> Scalar:
    """Return M_ij = S_i . (I_j S_j): what joint i bears of the wrench of joint j. Walker and Orin (1982), method 3"""
    return S.dot(wrench)


def turned_about_z(A: Mat3, c: Scalar, s: Scalar) -> Mat3:
    """Return Rz A Rz^T for a rotation about z with cosine c and sine s; 8 multiplications if A is symmetric.

    In the plane, with t = s (xx - yy) + c (xy + yx): xx' = xx - s t, yy' = yy + s t, xy' = c t - yx, yx' = c t - xy.
    """
    (xx, xy, xz), (yx, yy, yz), (zx, zy, zz) = A.rows
    t = add(mul(s, sub(xx, yy)), mul(c, add(xy, yx)))
    st, ct = mul(s, t), mul(c, t)
    return Mat3(
        (
            (sub(xx, st), sub(ct, yx), sub(mul(c, xz), mul(s, yz))),
            (sub(ct, xy), add(yy, st), add(mul(s, xz), mul(c, yz))),
            (sub(mul(c, zx), mul(s, zy)), add(mul(s, zx), mul(c, zy)), zz),
        )
    )
