"""Rotations about given axes that bring points where they are wanted: the parts of which closed forms consist.

Each function is arithmetic over any scalar, without branches. Angles are carried as cosine and sine; what cannot be
reached is told by a condition, which is negative then, and never by a number that is none. Paden and Kahan's
subproblems are special cases: the first is `turn`, the second, third and fourth are `on_line` with other coefficients,
the fifth and sixth are `on_conic`.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

from armdyn.algebra import Vec3, ops
from armdyn.algebra.ops import Scalar

FREE = 1e-13
"""Lever arm, as a share of the arm's size, up to which an angle moves nothing and keeps the value it had: the error of
the pose that is accepted in exchange. Rounding leaves 1e-15 of an exact zero."""
REACH = 1e-11
"""How far a point may lie beyond a circle, as a share of its size, and still count as on it: the error of the pose that
is accepted in exchange. Below it, poses at the border of the workspace would come and go with rounding."""


class Angle(NamedTuple):
    """An angle as its cosine and sine.

    A joint's unknown angle is given to the subproblems as the one that it keeps where it is free (`held`). What they
    find passes through its `found`, and the vectors that its equation is made of through its `vector`: a derivation
    writes them down there and goes on with symbols.
    """

    cos: Scalar
    sin: Scalar

    def __neg__(self) -> Angle:
        return Angle(self.cos, -self.sin)

    def half_turn(self) -> Angle:
        """The angle half a turn away."""
        return Angle(-self.cos, -self.sin)

    def plus(self, other: Angle) -> Angle:
        """The sum of two angles."""
        return Angle(self.cos * other.cos - self.sin * other.sin, self.sin * other.cos + self.cos * other.sin)

    def vector(self, v: Vec3) -> Vec3:
        """A vector from which the angle follows, as the subproblems see it."""
        return v

    def found(self, equation: Equation, choices: list[Choice]) -> list[Choice]:
        """The solutions of an equation for this angle, as the subproblems that follow see them."""
        return choices


class Choice(NamedTuple):
    """One of several angles, and a condition that is negative where it does not exist."""

    angle: Angle
    exists: Scalar


class Direction(NamedTuple):
    """The equation of an angle whose cosine and sine are in the ratio of two numbers."""

    cos: Scalar
    sin: Scalar


class Line(NamedTuple):
    """The equation a + b cos + d sin = 0."""

    a: Scalar
    b: Scalar
    d: Scalar


class Conic(NamedTuple):
    """The equation (1, cos, sin) Q (1, cos, sin)^T = 0."""

    Q: list[list[Scalar]]


Equation = Direction | Line | Conic


@dataclass(frozen=True)
class Axis:
    """A joint axis at q = 0: direction h (unit vector, or that of a prismatic joint) and a point p on it, m."""

    h: Vec3
    p: Vec3

    def turned(self, angle: Angle, v: Vec3) -> Vec3:
        """Return a direction, rotated (Rodrigues)."""
        along = self.h * self.h.dot(v)
        turned: Vec3 = along + (v - along) * angle.cos + self.h.cross(v) * angle.sin
        return turned

    def moved(self, angle: Angle, x: Vec3) -> Vec3:
        """Return a point, rotated about the axis."""
        return self.p + self.turned(angle, x - self.p)

    def across(self, v: Vec3) -> Vec3:
        """Return the part of a vector perpendicular to the axis."""
        rest: Vec3 = v - self.h * self.h.dot(v)
        return rest

    def reversed(self) -> Axis:
        """Return the axis with its direction turned round."""
        return Axis(-self.h, self.p)

    def crossing(self, other: Axis) -> Vec3:
        """Return the point of this axis that is nearest to another, which is not parallel."""
        normal = self.h.cross(other.h)
        along = (other.p - self.p).cross(other.h).dot(normal)
        point: Vec3 = self.p + self.h * ops.div(along, normal.dot(normal))
        return point


def select(condition: Scalar, a: Angle, b: Angle) -> Angle:
    """Return a where the condition is not negative, else b."""
    return Angle(ops.select(condition, a.cos, b.cos), ops.select(condition, a.sin, b.sin))


def both(a: Scalar, b: Scalar) -> Scalar:
    """Return a condition that is negative if one of two is."""
    return ops.select(a, b, a)


def turn(axis: Axis, start: Vec3, end: Vec3, held: Angle, size: Scalar = 1) -> Angle:
    """Return the angle about the axis that takes a direction to another. Paden-Kahan 1

    The length of both need not be the same. held: the angle where it is free. size: length of the vectors at most.
    """
    cos, sin = axis.across(start).dot(end), axis.h.cross(start).dot(end)
    square = cos * cos + sin * sin
    # Divided by its own length, and not by that of the vectors: the angle is then exact where these are rounded.
    fixed = square - (FREE * size) ** 4
    scale = 1 / ops.sqrt(ops.select(fixed, square, 1))
    angle = select(fixed, Angle(cos * scale, sin * scale), held)
    return held.found(Direction(cos, sin), [Choice(angle, 1)])[0].angle


def turn_of(axis: Axis, across: Vec3, image: Vec3, held: Angle) -> Angle:
    """Return the angle of a rotation about the axis that takes a unit vector perpendicular to it to its image."""
    angle = Angle(across.dot(image), axis.h.cross(across).dot(image))
    return held.found(Direction(*angle), [Choice(angle, 1)])[0].angle


def on_line(a: Scalar, b: Scalar, d: Scalar, discriminant: Scalar, held: Angle, size: Scalar = 1) -> list[Choice]:
    """Return the two angles with a + b cos + d sin = 0.

    discriminant: b^2 + d^2 - a^2, which the caller knows without cancellation. size: of b and d at most.
    """
    square = b * b + d * d
    fixed = square - (FREE * size) ** 2
    inverse = 1 / ops.select(fixed, square, 1)
    root = ops.sqrt(ops.select(discriminant, discriminant, 0))
    off = FREE * size
    exists = ops.select(fixed, discriminant + REACH * square, ops.select(off * off - a * a, 1, -1))
    choices = []
    for sign in (1, -1):
        angle = Angle((d * (sign * root) - a * b) * inverse, (-(b * (sign * root)) - a * d) * inverse)
        choices.append(Choice(select(fixed, angle, held), exists))
    return held.found(Line(a, b, d), choices)


def to_height(axis: Axis, g: Vec3, v: Vec3, height: Scalar, held: Angle, size: Scalar = 1) -> list[Choice]:
    """Return the two angles about the axis after which a vector has this component along g."""
    across = axis.across(v)
    a, b, d = g.dot(axis.h) * axis.h.dot(v) - height, g.dot(across), g.dot(axis.h.cross(v))
    longest = ops.sqrt(across.dot(across)) * ops.sqrt(axis.across(g).dot(axis.across(g)))
    return on_line(a, b, d, (longest - a) * (longest + a), held, size)


def to_direction(axis: Axis, g: Vec3, v: Vec3, wanted: Vec3, held: Angle) -> list[Choice]:
    """Return the two angles about the axis after which the unit vector v has g.v = g.wanted; g, wanted unit vectors.

    The discriminant is the Gram determinant of axis, g and wanted, written so that nothing cancels where wanted lies
    along g: a square root of a difference of ones would lose half of the digits at singular wrists.
    """
    k, along = axis.h, g.dot(axis.h)
    a = along * k.dot(v) - g.dot(wanted)
    b, d = g.dot(axis.across(v)), g.dot(k.cross(v))
    side, plane = g.cross(wanted), g.cross(k)
    rest = k.dot(v) - along * g.dot(wanted)
    return on_line(a, b, d, plane.dot(plane) * side.dot(side) - rest * rest, held)


def to_distance(axis: Axis, v: Vec3, center: Vec3, square: Scalar, held: Angle, size: Scalar = 1) -> list[Choice]:
    """Return the two angles about the axis after which |v - center|^2, across the axis, is `square`.

    v, center: from a point of the axis. The discriminant is Heron's formula for the triangle across the axis.
    """
    arm, base = axis.across(v), axis.across(center)
    arm_square, base_square = arm.dot(arm), base.dot(base)
    a = (square - arm_square - base_square) / 2
    b, d = base.dot(arm), base.dot(axis.h.cross(v))
    l1, l2 = ops.sqrt(arm_square), ops.sqrt(base_square)
    shorter, longer = l1 - l2, l1 + l2
    heron = (square - shorter * shorter) * (longer * longer - square) / 4
    return on_line(a, b, d, heron, held, size * size)


# A conic section and the unit circle ----------------------------------------------------------------------------------

Affine = tuple[Scalar, Scalar, Scalar]
"""Coefficients of (1, cos, sin)."""
ONE: Affine = (1, 0, 0)


def affine(axis: Axis, g: Vec3, v: Vec3, constant: Scalar = 0) -> Affine:
    """Return g . v as a function of the angle by which v is turned about the axis, plus a constant."""
    return g.dot(axis.h) * axis.h.dot(v) + constant, g.dot(axis.across(v)), g.dot(axis.h.cross(v))


def scaled(f: Affine, factor: Scalar) -> Affine:
    """Return a multiple."""
    return f[0] * factor, f[1] * factor, f[2] * factor


def summed(f: Affine, g: Affine) -> Affine:
    """Return the sum."""
    return f[0] + g[0], f[1] + g[1], f[2] + g[2]


HALLEY_STEPS = 10
"""Towards the degenerate conic: each halves the distance while it is far and triples the digits when it is near."""
NEWTON_STEPS = 2
"""On the angle: they repair what the degenerate conic loses where two solutions are near one another."""


def on_conic(products: list[tuple[Scalar, Affine, Affine]], held: Angle) -> list[Choice]:
    """Return the four angles at which a sum of products of a factor and two affine functions vanishes.

    b^T Q b = 0 with b = (1, cos, sin). Of the conics Q + t diag(-1, 1, 1), all of which meet the circle in the same
    points, one is a pair of lines; each line meets the circle twice.
    """
    half = [(factor / 2, f, g) for factor, f, g in products]
    raw = [[ops.total(k * (f[i] * g[j] + f[j] * g[i]) for k, f, g in half) for j in range(3)] for i in range(3)]
    norm = ops.sqrt(ops.total(raw[i][j] * raw[i][j] for i in range(3) for j in range(3)))
    unit = 1 / norm
    Q = [[raw[i][j] * unit for j in range(3)] for i in range(3)]
    t = _degenerate(Q)
    D = [[Q[0][0] - t, Q[0][1], Q[0][2]], [Q[1][0], Q[1][1] + t, Q[1][2]], [Q[2][0], Q[2][1], Q[2][2] + t]]
    lines, real = _lines(D)
    choices = []
    for a, b, d in lines:
        for choice in on_line(a, b, d, b * b + d * d - a * a, Angle(1, 0)):
            angle = choice.angle
            for _ in range(NEWTON_STEPS):
                angle = _improved(Q, angle)
            choices.append(Choice(angle, both(_close(Q, angle), real)))
    return held.found(Conic(raw), choices)


ON_CONIC = 1e-13
"""Largest |b^T Q b|, with |Q| = 1, of an angle that is a solution: rounding leaves 1e-15, also at double roots, which
are known to half of the digits; the error of the pose is of this order."""


def _close(Q: list[list[Scalar]], angle: Angle) -> Scalar:
    value, _ = _value_and_slope(Q, angle)
    return ON_CONIC**2 - value * value


def _value_and_slope(Q: list[list[Scalar]], angle: Angle) -> tuple[Scalar, Scalar]:
    b, db = (1, angle.cos, angle.sin), (0, -angle.sin, angle.cos)
    image = [Q[i][0] + Q[i][1] * b[1] + Q[i][2] * b[2] for i in range(3)]
    return image[0] + image[1] * b[1] + image[2] * b[2], 2 * (image[1] * db[1] + image[2] * db[2])


LONGEST_NEWTON_STEP = 0.05
"""Of an angle, rad: a step beyond it comes from a slope near zero, at a double root, and would lead away."""


def _improved(Q: list[list[Scalar]], angle: Angle) -> Angle:
    """One step of Newton's method along the circle, and back onto it."""
    value, slope = _value_and_slope(Q, angle)
    longest = LONGEST_NEWTON_STEP * LONGEST_NEWTON_STEP * slope * slope - value * value
    step = ops.select(longest, -value / ops.select(longest, slope, 1), 0)
    cos, sin = angle.cos - step * angle.sin, angle.sin + step * angle.cos
    scale = 1 / ops.sqrt(cos * cos + sin * sin)
    return Angle(cos * scale, sin * scale)


def _degenerate(Q: list[list[Scalar]]) -> Scalar:
    """Return a real t with det(Q + t diag(-1, 1, 1)) = 0: the outermost root on the side of the cubic's sign."""
    (f, d, e), (_, a, b), (_, _, c) = Q
    # det = -t^3 + ... written as t^3 + k2 t^2 + k1 t + k0
    k2 = a + c - f
    k1 = a * c - b * b - f * (a + c) + d * d + e * e
    k0 = -(f * (a * c - b * b) - d * (d * c - b * e) + e * (d * b - a * e))
    shift = k2 / 3
    p = k1 - k2 * shift
    q = 2 * shift * shift * shift - shift * k1 + k0
    # s^3 + p s + q = 0. Beyond its outermost root opposite to the sign of q the cubic has no turning point.
    side = ops.select(q, -1, 1)
    s = side * (ops.sqrt(abs(p)) + ops.select(abs(q) - 1e-6, 1.5, 0.02))
    for _ in range(HALLEY_STEPS):
        value, slope = (s * s + p) * s + q, 3 * s * s + p
        divisor = slope * slope - 3 * s * value
        safe = divisor * divisor - 1e-280
        s = s - ops.select(safe, value * slope, 0) / ops.select(safe, divisor, 1)
    return s - shift


def _lines(D: list[list[Scalar]]) -> tuple[list[Affine], Scalar]:
    """Return the two lines of a degenerate conic, and a condition that is negative if they are not real."""
    (a, b, c), (_, d, e), (_, _, f) = D
    # The adjugate is -x x^T, where x is the point in which the lines meet; the column of the largest entry is exact.
    columns = (
        (d * f - e * e, c * e - b * f, b * e - c * d),
        (c * e - b * f, a * f - c * c, b * c - a * e),
        (b * e - c * d, b * c - a * e, a * d - b * b),
    )
    best, largest = columns[0], -columns[0][0]
    for k in (1, 2):
        larger = -columns[k][k] - largest
        best = tuple(ops.select(larger, x, y) for x, y in zip(columns[k], best, strict=True))
        largest = ops.select(larger, -columns[k][k], largest)
    positive = largest - 1e-30
    scale = 1 / ops.sqrt(ops.select(positive, largest, 1))
    x, y, z = (ops.select(positive, entry * scale, 0) for entry in best)
    # D + [x] has rank one: its rows are multiples of one line, its columns of the other.
    M = ((a, b - z, c + y), (b + z, d, e - x), (c - y, e + x, f))
    row, column, most = M[0], tuple(M[i][0] for i in range(3)), abs(M[0][0])
    for i in range(3):
        for j in range(3):
            if i or j:
                larger = abs(M[i][j]) - most
                row = tuple(ops.select(larger, u, v) for u, v in zip(M[i], row, strict=True))
                column = tuple(ops.select(larger, M[k][j], column[k]) for k in range(3))
                most = ops.select(larger, abs(M[i][j]), most)
    return [row, column], largest + REACH
