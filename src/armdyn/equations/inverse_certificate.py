"""Proof that a closed form of the inverse kinematics is right: every branch takes the pose, and none is missing.

The formulas run over exact numbers with square roots, at poses of random rational configurations. What is compared with
the pose is forward kinematics by the general formula, over the same numbers.

Chance of error. On its sheet of the roots, an entry of (forward kinematics of a branch) - (pose) is an algebraic
function of the half-tangents t in a field of degree 2^r over the rational functions, r the number of roots. Its height,
which bounds zeros and poles, is counted by running the formulas over heights: h(a + b), h(a b), h(a/b) <= h(a) + h(b),
h(sqrt(a)) = h(a)/2, h(t) = 1. If it is not zero, its norm is a rational function of degree at most 2^r h, which
vanishes at a random point of a grid of size |S| with probability at most 2^r h/|S| (Schwartz, Zippel).
"""

from __future__ import annotations

import random
from collections.abc import Iterator
from typing import Any, NamedTuple

from flint import fmpq

from armdyn.algebra import Mat3, Pose, Vec3
from armdyn.equations.surds import Field, Surd
from armdyn.graph import RationalAngle
from armdyn.kinematics.closed_form import ClosedForm, Geometry, geometry_of
from armdyn.kinematics.subproblems import Angle, Axis
from armdyn.mechanics.kinematics import frame_pose, link_poses
from armdyn.robot.exact import exact
from armdyn.robot.robot import Robot

GRID_BITS = 126
"""Half-tangents are drawn from 2^126 numbers between -1 and 1: angles from -90 to 90 degrees."""


class Height:
    """A scalar that is nothing but a bound on the height of an algebraic function; always positive where asked."""

    __array_ufunc__ = None

    def __init__(self, height: float) -> None:
        self.height = height

    def _joined(self, other: Any) -> Any:
        if isinstance(other, Vec3 | Mat3):
            return NotImplemented
        return Height(self.height + (other.height if isinstance(other, Height) else 0.0))

    __add__ = __radd__ = __sub__ = __rsub__ = __mul__ = __rmul__ = __truediv__ = __rtruediv__ = _joined

    def __neg__(self) -> Height:
        return self

    def __pow__(self, exponent: int) -> Height:
        return Height(self.height * exponent)

    def sqrt(self) -> Height:
        return Height(self.height / 2)

    def select(self, if_not_negative: Any, if_negative: Any) -> Any:
        return if_not_negative


class InverseCertificate(NamedTuple):
    """takes: every branch takes its pose. finds: every configuration is found again. branches: that were checked.

    error_probability: that takes holds by chance at all points.
    """

    takes: bool
    finds: bool
    branches: int
    error_probability: float


def reason_against(form: ClosedForm) -> str:
    """Why a closed form cannot be certified; empty if it can."""
    if form.conic:
        return "an angle is found by iteration on a conic"
    if not form.exact:
        return f"the arm is {form.off:.1g} off its family, and results are improved by iteration"
    return "some joints of the closed form are virtual" if form.virtual else ""


def certify_inverse(robot: Robot, form: ClosedForm, points: int, draws: random.Random) -> InverseCertificate:
    """Check a closed form at random points."""
    numbers = exact(robot)
    takes, finds, branches, roots = True, True, 0, 0
    for _ in range(points):
        field = Field()
        whole = [draws.getrandbits(GRID_BITS) - (1 << GRID_BITS - 1) for _ in robot.links]
        drawn = [field.number(fmpq(x, 1 << GRID_BITS - 1)) for x in whole]
        q = [RationalAngle(x) if link.revolute else x for x, link in zip(drawn, robot.links, strict=True)]
        wanted = _tool(numbers, q)
        found = list(_branches(form, _geometry(numbers, field), wanted, q))
        branches, roots = branches + len(found), max(roots, len(field.radicands))
        takes &= all(_same(_tool(numbers, each), wanted, form.rotation) for each in found)
        finds &= any(each == q for each in found)
    share = 2.0**roots * _height(robot, form) / 2.0**GRID_BITS
    return InverseCertificate(takes, finds, branches, min(1.0, share) ** points)


def _tool(robot: Robot, q: list[Any]) -> Pose:
    return frame_pose(link_poses(robot, q), robot.frame("tool"))


def _geometry(robot: Robot, field: Field) -> Geometry:
    """The axes of the arm over the numbers of a field; 0, 1 and -1 stay literals."""
    found = geometry_of(robot)
    assert found is not None
    return _mapped(found, lambda x: x if type(x) is int else int(x) if x in (0, 1, -1) else field.number(x))


def _mapped(arm: Geometry, change: Any) -> Geometry:
    def vector(v: Vec3) -> Vec3:
        return Vec3(*map(change, v))

    def pose(T: Pose) -> Pose:
        return Pose(Mat3([tuple(map(change, row)) for row in T.R.rows]), vector(T.p))

    axes = tuple(Axis(vector(axis.h), vector(axis.p)) for axis in arm.axes)
    return Geometry(arm.revolute, axes, tuple(map(vector, arm.across)), pose(arm.base), pose(arm.tool))


def _branches(form: ClosedForm, arm: Geometry, wanted: Pose, q: list[Any]) -> Iterator[list[Any]]:
    """The branches that exist, as joint positions; slides and the known joint are given."""
    held = [
        x if not turning else Angle(x.cos(), x.sin()) if k == form.known else Angle(1, 0)
        for k, (x, turning) in enumerate(zip(q, arm.revolute, strict=True))
    ]
    for angles, exists in form.solve(wanted, held, arm):
        if not isinstance(exists, Surd) or exists.sign() >= 0:
            yield [RationalAngle._at(x.cos, x.sin) if isinstance(x, Angle) else x for x in angles]


def _same(a: Pose, b: Pose, rotation: bool) -> bool:
    pairs = list(zip(a.p, b.p, strict=True))
    if rotation:
        pairs += [(x, y) for one, two in zip(a.R.rows, b.R.rows, strict=True) for x, y in zip(one, two, strict=True)]
    return all(x == y for x, y in pairs)


class _Turn(NamedTuple):
    """An angle whose cosine and sine are heights; a constant may be added."""

    c: Any
    s: Any

    def cos(self) -> Any:
        return self.c

    def sin(self) -> Any:
        return self.s

    def __add__(self, other: object) -> _Turn:
        return _Turn(self.c + self.s, self.c + self.s)


def _height(robot: Robot, form: ClosedForm) -> float:
    """The height of what is compared with zero, the largest of all branches and entries."""
    found = geometry_of(robot)
    assert found is not None
    arm = _mapped(found, lambda x: x if type(x) is int else Height(0.0))
    entry = Height(2.0 * robot.n)  # of cosines and sines of all angles, with one common denominator
    wanted = Pose(Mat3([(entry,) * 3] * 3), Vec3(entry, entry, entry))
    turn = Angle(Height(2.0), Height(2.0))
    held = [turn if turning else Height(1.0) for turning in arm.revolute]
    heights = []
    for angles, _ in form.solve(wanted, held, arm):
        T = _tool(robot, [_Turn(x.cos, x.sin) if isinstance(x, Angle) else x for x in angles])
        entries = [*T.p, *(x for row in T.R.rows for x in row)]
        heights += [x.height for x in entries if isinstance(x, Height)]
    return max(heights, default=0.0) + entry.height
