"""A link of looped code: the steps of `mechanics` at a link whose numbers are in a table.

Robots whose joints are all revolute have recipes of their own; others have one for both kinds, with the factors of
Khalil's sigma: `turning` is 1 for a revolute joint and 0 for a prismatic one, `sliding` the opposite.

The orientation of a link in its parent is Rz(gamma) Rx(alpha) Rz(theta + q): three rotations in a plane take fewer
operations than a matrix. Frames can be turned about their joint axes so that gamma or theta is
zero for all links; recipes are then made without it.

A robot on a free joint is described in the axes of the body that this joint moves, the base, which stands in the place
of the world: it moves with the velocity and acceleration of the joint, and gravity turns. The six links of the joint
stand still on it; forces and axes along them are those along the joint's velocities.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple

from armdyn.algebra import (
    Z_AXIS,
    ZERO,
    Inertia,
    Mat3,
    Pose,
    Scalar,
    Screw,
    Vec3,
    cross,
    ops,
    rot_quaternion,
    rot_x,
    rot_z,
)
from armdyn.algebra.ops import add, mul
from armdyn.dynamics.looped.robots import JOINT
from armdyn.graph import Node
from armdyn.kernels.looped.recursion import Kind, Recipe, Site, Stage
from armdyn.mechanics.angle_pair import AnglePair
from armdyn.mechanics.steps.newton_euler import LinkMotion, propagate_motion, rate_matrix
from armdyn.robot.links import WORLD, Link

GAMMA, ALPHA, THETA = ("cg", "sg"), ("ca", "sa"), ("ct", "st")
"""Cosine and sine of the angles of a link's orientation."""
POSITION = ("Px", "Py", "Pz")
INERTIA = ("XX", "XY", "XZ", "YY", "YZ", "ZZ", "MX", "MY", "MZ", "M")
GROUPED = tuple(name for name in INERTIA if name not in ("YY", "MZ", "M"))
"""What is left of it for torques where all joints are revolute, [G-1]."""
SIGMA = ("turning", "sliding")
GRAVITY = ("gx", "gy", "gz")
BASE = {"q": 7, "qd": 6, "qdd": 6}
"""Entries of a free joint at the root."""

Start = Callable[[Mapping[str, Node]], Mapping[str, Any]]


class Shape(NamedTuple):
    """What recipes are made for.

    mixed: prismatic joints are among the robot's.
    terms: some joint has a rotor, friction, an offset or a spring.
    floating: the robot stands on a free joint, whose six links are its first.
    grouped: inertias have the numbers of GROUPED.
    angles: those of the links' orientations that are not zero, of GAMMA, ALPHA, THETA.
    """

    mixed: bool
    terms: bool
    floating: bool = False
    grouped: bool = False
    angles: tuple[tuple[str, str], ...] = (GAMMA, ALPHA, THETA)

    @property
    def inertia(self) -> tuple[str, ...]:
        return GROUPED if self.grouped else INERTIA


@dataclass(frozen=True, slots=True)
class AxisLink(Link):
    """A link whose joint's axis is a matter of numbers: revolute or prismatic, and in any axes."""

    axis: Screw = Screw(ZERO, Z_AXIS)

    def spin(self, rate: Scalar) -> Vec3:
        spin: Vec3 = self.axis.angular * rate
        return spin

    def slide(self, rate: Scalar) -> Vec3:
        slide: Vec3 = self.axis.linear * rate
        return slide

    def along(self, force: Vec3, moment: Vec3) -> Scalar:
        return self.axis.dot(Screw(force, moment))


def link_about(axis: Screw, body: Inertia) -> Link:
    """A link without a placement; see `pose_of`."""
    return AxisLink(0, "", WORLD, "revolute", Pose.identity(), 0, body, None, axis)


def link_of(site: Site) -> Link:
    """The link at a site, in its own frame."""
    return link_about(axis_of(site), Inertia.from_parameters(*(site.number_if_any(name) for name in INERTIA)))


def axis_of(site: Site) -> Screw:
    """The joint's axis in the link's frame."""
    if site.recipe.turning is None:
        return Screw(ZERO, Z_AXIS)
    turning, sliding = map(site.number, SIGMA)
    return Screw(Z_AXIS * sliding, Z_AXIS * turning)


# Where a link is ------------------------------------------------------------------------------------------------------


class Turns(Mat3):
    """A rotation as a product of rotations about x and z, which turn vectors one after the other."""

    def __init__(self, *turns: Mat3) -> None:
        self.turns = turns
        product = Mat3.identity()
        for turn in turns:
            product = product @ turn
        super().__init__(product.rows)

    @property
    def T(self) -> Mat3:
        return Turns(*(turn.T for turn in reversed(self.turns)))

    def __matmul__(self, other: Any) -> Any:
        for turn in reversed(self.turns):
            other = turn @ other
        return other


def turns_of(site: Site) -> Turns:
    """The orientation of a link in its parent."""
    gamma, alpha, theta = (
        AnglePair(site.number(c), site.number(s)) if c in site.recipe.numbers else None
        for c, s in (GAMMA, ALPHA, THETA)
    )
    angle = AnglePair(site.own("cosine"), site.own("sine"))
    placed = [turn(pair) for turn, pair in ((rot_z, gamma), (rot_x, alpha)) if pair is not None]
    return Turns(*placed, rot_z(angle if theta is None else angle + theta))


def place_in_parent(site: Site) -> None:
    """The pose of a link in its parent, where one call reads it."""
    turns, P = turns_of(site), Vec3(*map(site.number, POSITION))
    if site.recipe.turning is None:
        site.put(R=Mat3(turns.rows))
    else:
        site.put(R=Mat3(turns.rows), P=P + mul(site.number("sliding"), site.joint("q")) * turns.column(2))


def pose_of(site: Site) -> Pose:
    """The pose of a link in its parent.

    In batches only cosine and sine are kept of an orientation: to turn three vectors outwards by factors takes as many
    operations as to compute the matrix and to turn them by it. In one call operations of factors would wait for each
    other, and matrices of four links are computed at once.
    """
    P = Vec3(*map(site.number, POSITION)) if site.recipe.turning is None else site.own("P")
    return Pose(turns_of(site) if site.fused else site.own("R"), P)


def place_in_world(site: Site) -> None:
    """The pose in the world."""
    T, (R, P) = site.parent("T"), pose_of(site)
    site.put(T=(R.T @ T.T).T if site.fused else T @ R, p=site.parent("p") + T @ P)


IN_PARENT = Stage("each", place_in_parent)
IN_WORLD = (IN_PARENT, Stage("outward", place_in_world))


# How it moves ---------------------------------------------------------------------------------------------------------


class BaseMotion(NamedTuple):
    """How the base moves, in its own axes, and gravity there: zero but for gravity if it stands in the world."""

    v: Vec3
    w: Vec3
    vd: Vec3
    wd: Vec3
    gravity: Vec3

    @property
    def centripetal(self) -> Vec3:
        """What the acceleration of the origin has besides the rates of its velocity's components."""
        return cross(self.w, self.v)


def base_motion(given: Mapping[str, Node]) -> BaseMotion:
    """From what `start` of a recipe is given."""
    gravity = Vec3(*(given[name] for name in GRAVITY))
    if "q0" in given:
        gravity = rot_quaternion(*(given[f"q{k}"] for k in range(3, 7))).T @ gravity

    def part(name: str, first: int) -> Vec3:
        return Vec3(*(given[f"{name}{first + k}"] for k in range(3))) if f"{name}0" in given else ZERO

    return BaseMotion(part("qd", 0), part("qd", 3), part("qdd", 0), part("qdd", 3), gravity)


def base_state(given: Mapping[str, Node]) -> Mapping[str, Any]:
    """The base, which accelerates upwards instead of the bodies falling; no sum has begun."""
    base = base_motion(given)
    motion = {
        "v": base.v,
        "w": base.w,
        "wd": base.wd,
        "U": rate_matrix(base.w, base.wd),
        "a": base.vd + base.centripetal - base.gravity,
    }
    vectors = dict.fromkeys(("p", "f", "m", "x", "xd"), ZERO)
    tensors = dict.fromkeys(("A", "B", "D"), Mat3.zero())
    return {"T": Mat3.identity(), **motion, **vectors, **tensors}


def weightless_base(given: Mapping[str, Node]) -> Mapping[str, Any]:
    return {**base_state(given), "a": base_motion(given).centripetal}


def propagate(site: Site) -> None:
    """The motion of a link from that of its parent, at qdd = 0 if the recipe has no accelerations."""
    before = LinkMotion(*map(site.parent, LinkMotion._fields))
    qdd = site.joint("qdd") if "qdd" in site.recipe.inputs else 0
    motion = propagate_motion(link_of(site), pose_of(site), site.joint("qd"), qdd, before)
    site.put(**motion._asdict())


def joint_terms(site: Site, *, motion: bool = True) -> Scalar:
    """What rotor, friction, offset and spring ask of the actuator; motion: with the rotor's acceleration."""
    if "Ia" not in site.recipe.numbers:
        return 0
    q, qd = site.joint("q"), site.joint("qd")
    friction = add(mul(site.number("Fv"), qd), mul(site.number("Fc"), ops.sign(qd)))
    held = add(add(friction, mul(site.number("stiffness"), q)), site.number("off"))
    return add(held, mul(site.number("Ia"), site.joint("qdd"))) if motion else held


def sum_inwards(*names: str) -> Stage:
    """Sums over a link and all that it carries."""
    return Stage("inward", lambda site: site.add_to_parent(**{name: site.own(name) for name in names}))


# Recipes --------------------------------------------------------------------------------------------------------------


def recipe(
    name: str,
    shape: Shape,
    own: dict[str, Kind],
    start: Start = base_state,
    numbers: tuple[str, ...] = (),
    **parts: Any,
) -> Recipe:
    """A recipe with the usual numbers of links, and others after them.

    start: of it, quantities that are not the recipe's `own` are left out.
    """
    kept: Mapping[str, Kind] = {"R": "matrix", **own, **({"P": "vector"} if shape.mixed else {})}
    angles = tuple(number for pair in shape.angles for number in pair)
    usual = (*angles, *POSITION, *shape.inertia, *SIGMA * shape.mixed, *JOINT * shape.terms)
    base = {name: size for name, size in BASE.items() if shape.floating and name in parts["inputs"]}
    return Recipe(
        f"{name} {shape}",
        numbers=(*usual, *numbers),
        own=kept,
        robot=GRAVITY,
        base=base,
        start=lambda given: {name: value for name, value in start(given).items() if name in kept},
        turning="turning" if shape.mixed else None,
        **parts,
    )
