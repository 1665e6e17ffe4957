"""First derivatives of the inverse dynamics at one link, by composite bodies.

After the spatial-vector derivatives of Singh, Russell and Wensing (2022) and the Coriolis matrix of Echeandia and
Wensing (2021), written for joints with one axis. A joint j that turns a little carries all beyond it along as one rigid
body, so three things are enough to know: what the composite body beyond joint i weighs (I), how its mass moves
(p, A below), and the wrench f that it needs. With S the joint's axis as a screw (linear, angular), V and G the velocity
and acceleration of its link and x the product of screws

    Sd = V x S                   rate of the axis                                                             [D-1]
    Sdd = G x S + V x Sd         rate of the link's motion with q: rate of Sd                                 [D-2]
    B W = (w x p, (tr(A) 1 - A) w),   p = sum of m rd,  A = sum of m rd r^T,  W = (v, w)                      [D-3]

    dtau_i/dq_j  = S_i.(2 B_i Sd_j + I_i Sdd_j)                   joint j carries joint i, or is it           [D-4]
    dtau_j/dq_i  = S_j.(2 B_i Sd_i + I_i Sdd_i + S_i x* f_i)      joint j carries joint i, and is not it      [D-5]
    C_ij = S_i.(B_i S_j + I_i Sd_j),   C_ji = S_j.(B_i S_i + I_i Sd_i),   dtau/dqd = 2 C                      [D-6]

with I_i, B_i, f_i of all that joint i carries. B is linear in the angular part of a screw only: one 3x3 matrix and one
vector, where the sources have a 6x6 matrix. The sums run over particles with position r and velocity rd.
"""

from __future__ import annotations

from typing import NamedTuple

from armdyn.algebra import Inertia, Mat3, Pose, Screw, Vec3, cross, momentum, outer, skew
from armdyn.algebra.ops import half


class MassMotion(NamedTuple):
    """How the mass of a body moves: p = sum of m rd, A = sum of m rd r^T. [D-3]"""

    p: Vec3
    A: Mat3

    @staticmethod
    def of(body: Inertia, v: Vec3, w: Vec3) -> MassMotion:
        """With rd = v + w x r: A = v h^T + [w] S, where h is the first moment and S = sum of m r r^T."""
        spread = Mat3.identity() * half(body.tensor.trace) - body.tensor
        return MassMotion(body.mass * v + cross(w, body.moment), outer(v, body.moment) + skew(w) @ spread)

    def plus(self, other: MassMotion) -> MassMotion:
        return MassMotion(self.p + other.p, self.A + other.A)

    def seen_from(self, T_ab: Pose) -> MassMotion:
        R, P = T_ab
        p = R @ self.p
        return MassMotion(p, R @ self.A @ R.T + outer(p, P))

    def times(self, w: Vec3) -> Screw:
        """B W of [D-3]; only the angular part of W counts."""
        return Screw(cross(w, self.p), self.A.trace * w - self.A @ w)

    def row(self, S: Screw) -> Vec3:
        """S^T B: what it is multiplied with is the angular part of a screw."""
        v, w = S
        turned: Vec3 = self.A.trace * w - self.A.T @ w
        return cross(self.p, v) + turned


class AxisRates(NamedTuple):
    """A joint's axis and its rates [D-1], [D-2]."""

    S: Screw
    Sd: Screw
    Sdd: Screw

    def seen_from(self, T_ab: Pose) -> AxisRates:
        return AxisRates(*(screw.motion_seen_from(T_ab) for screw in self))


class CompositeResponse(NamedTuple):
    """How all that a joint carries responds to the joint, in wrenches.

    turning: S^T B (multiplies an angular velocity). inertial: S^T I (multiplies a screw). by_position: the bracket of
    [D-5]; by_rate: that of C_ji in [D-6].
    """

    turning: Vec3
    inertial: Screw
    by_position: Screw
    by_rate: Screw

    def seen_from(self, T_ab: Pose) -> CompositeResponse:
        return CompositeResponse(T_ab.R @ self.turning, *(wrench.wrench_seen_from(T_ab) for wrench in self[1:]))


def screw_product(V: Screw, S: Screw) -> Screw:
    """Return V x S: the rate of a screw S that moves with V. [D-1]"""
    v, w = V
    return Screw(cross(w, S.linear) + cross(v, S.angular), cross(w, S.angular))


def wrench_product(V: Screw, F: Screw) -> Screw:
    """Return V x* F: the rate of a wrench that moves with V. [D-5]"""
    v, w = V
    return Screw(cross(w, F.linear), cross(w, F.angular) + cross(v, F.linear))


def composite_response(axis: AxisRates, body: Inertia, B: MassMotion, f: Screw, own: Vec3) -> CompositeResponse:
    """Return how all that a joint carries responds to it; own: the angular part of Sd. [D-4]-[D-6]

    B, and Sd of the axis, may carry the factor 2 of [D-4] and [D-5]; by_rate has it then, too.
    """
    S, Sd, Sdd = axis
    by_position = B.times(own).plus(momentum(body, Sdd)).plus(wrench_product(S, f))
    by_rate = B.times(S.angular).plus(momentum(body, Sd))
    return CompositeResponse(B.row(S), momentum(body, S), by_position, by_rate)
