"""The inertia of a rigid body, in the two ways engineers write it, over any scalar."""

from __future__ import annotations

from dataclasses import dataclass

from armdyn.algebra.ops import Scalar, is_zero, mul
from armdyn.algebra.poses import Pose
from armdyn.algebra.vectors import ZERO, Mat3, Vec3, cross, outer


@dataclass(frozen=True, slots=True)
class Inertia:
    """Ten parameters that enter the equations of motion linearly.

    mass: m, kg.
    moment: m c, kg m (first moment).
    tensor: I about the frame's origin, kg m^2.
    All in the axes of one frame fixed in the body.
    """

    mass: Scalar
    moment: Vec3
    tensor: Mat3

    @staticmethod
    def zero() -> Inertia:
        return Inertia(0, ZERO, Mat3.zero())

    def at_origin(self) -> Inertia:
        return self

    def about_com(self) -> CentralInertia:
        """The same body by its centre of mass. A body without mass has none: the origin is taken."""
        if is_zero(self.mass) or (isinstance(self.mass, float) and self.mass == 0.0):
            return CentralInertia(self.mass, ZERO, self.tensor)
        com = Vec3(*(c if is_zero(c) else c / self.mass for c in self.moment))
        return CentralInertia(self.mass, com, self.tensor - parallel_axis(self.mass, com))

    def seen_from(self, T_ab: Pose) -> Inertia:
        """The same body in frame a, given in frame b: Khalil (7.49) and its transfer formula, Siciliano (7.60)."""
        R, p = T_ab
        moment = R @ self.moment
        mixed = Mat3.identity() * (mul(2, p.dot(moment))) - outer(p, moment) - outer(moment, p)
        tensor = R @ self.tensor @ R.T + mixed + parallel_axis(self.mass, p)
        return Inertia(self.mass, moment + self.mass * p, tensor)

    def __add__(self, other: Inertia) -> Inertia:
        return Inertia(self.mass + other.mass, self.moment + other.moment, self.tensor + other.tensor)

    def wrench(self, w: Vec3, wd: Vec3, a: Vec3) -> tuple[Vec3, Vec3]:
        """Force and moment about the frame's origin that give the body this motion.

        w, wd: angular velocity and acceleration; a: acceleration of the frame's origin, gravity subtracted.
        """
        s = self.moment
        force = self.mass * a + cross(wd, s) + cross(w, cross(w, s))
        moment = self.tensor @ wd + cross(w, self.tensor @ w) + cross(s, a)
        return force, moment

    def parameters(self) -> tuple[Scalar, ...]:
        """(XX, XY, XZ, YY, YZ, ZZ, MX, MY, MZ, M)."""
        return (*self.tensor.upper(), *self.moment, self.mass)

    @staticmethod
    def from_parameters(
        XX: Scalar,
        XY: Scalar,
        XZ: Scalar,
        YY: Scalar,
        YZ: Scalar,
        ZZ: Scalar,
        MX: Scalar,
        MY: Scalar,
        MZ: Scalar,
        M: Scalar,
    ) -> Inertia:
        return Inertia(M, Vec3(MX, MY, MZ), Mat3.symmetric(XX, XY, XZ, YY, YZ, ZZ))


@dataclass(frozen=True, slots=True)
class CentralInertia:
    """Mass, centre of mass in the body frame, tensor about the centre of mass in axes parallel to the body frame."""

    mass: Scalar
    com: Vec3
    tensor: Mat3

    def at_origin(self) -> Inertia:
        """The same body by first moments and the tensor about the frame's origin (Steiner)."""
        return Inertia(self.mass, self.mass * self.com, self.tensor + parallel_axis(self.mass, self.com))

    def about_com(self) -> CentralInertia:
        return self


def parallel_axis(mass: Scalar, c: Vec3) -> Mat3:
    """What a mass at c adds to the tensor about the origin: m (c.c 1 - c c^T)."""
    tensor: Mat3 = mass * (Mat3.identity() * c.dot(c) - outer(c, c))
    return tensor
