"""Steps of recipes of looped kernels: those of the formulations of mechanics, at a link whose numbers are in a table.

Robots whose joints all turn have recipes of their own; others have one for both kinds, with the factors of Khalil's
sigma: `turning` is 1 for a revolute joint and 0 for a prismatic one, `sliding` the opposite.

A robot on a free joint is described in the axes of the body that this joint moves, the base, which stands in the place
of the world: it moves with the velocity and acceleration of the joint, and gravity turns. The six links of the joint
stand still on it; forces and axes along them are those along the joint's velocities.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple

from armdyn.algebra import ZERO, Inertia, Mat3, Pose, Scalar, Vec3, cross, ops, rot_quaternion, rot_x, rot_z
from armdyn.algebra.ops import add, mul
from armdyn.graph import Node
from armdyn.kernels.looped.recursion import Kind, Recipe, Site, Stage
from armdyn.mechanics import newton_euler
from armdyn.mechanics.angle_pair import AnglePair
from armdyn.mechanics.newton_euler import LinkMotion, rate_matrix
from armdyn.robot.links import WORLD, Link

PLACEMENT = ("R00", "R01", "R02", "R10", "R11", "R12", "R20", "R21", "R22", "Px", "Py", "Pz")
ALIGNED = ("ca", "sa", "Px", "Py", "Pz", "d", "reach")
"""The same where links are placed by a turn about x, see `chains`.

d: from the common normal with the axis before along the joint's axis. reach: from there along x to the next axis."""
AHEAD = ("cg", "sg")
"""Cosine and sine of what is added to the joint's angle there."""
INERTIA = ("XX", "XY", "XZ", "YY", "YZ", "ZZ", "MX", "MY", "MZ", "M")
GROUPED = tuple(name for name in INERTIA if name not in ("YY", "MZ", "M"))
"""What is left of it for torques where all joints turn, [G-1]."""
SIGMA = ("turning", "sliding")
JOINT = ("Ia", "Fv", "Fc", "stiffness", "off")
"""What a joint adds to the torque: Ia qdd + Fv qd + Fc sign(qd) + stiffness q + off, its spring's rest in `off`."""
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
    aligned: placements have the numbers of ALIGNED and AHEAD; the robot is a chain of revolute joints.
    """

    mixed: bool
    terms: bool
    floating: bool = False
    grouped: bool = False
    aligned: bool = False


@dataclass(frozen=True, slots=True)
class MixedLink(Link):
    """A link on a revolute or a prismatic joint: which of them is a matter of numbers."""

    turning: Scalar = 1
    sliding: Scalar = 0

    def pose(self, q: Scalar) -> Pose:
        angle, distance = q
        R, p = self.placement
        return Pose(R @ rot_z(angle), p + mul(self.sliding, distance) * R.column(2))

    def spin(self, rate: Scalar) -> Vec3:
        return Vec3(0, 0, mul(self.turning, rate))

    def slide(self, rate: Scalar) -> Vec3:
        return Vec3(0, 0, mul(self.sliding, rate))

    def along(self, force: Vec3, moment: Vec3) -> Scalar:
        return add(mul(self.turning, moment.z), mul(self.sliding, force.z))


def link_of(site: Site) -> Link:
    """The link at a site."""
    numbers = site.recipe.numbers
    placement = Pose(_orientation(site), Vec3(*site.numbers("Px Py Pz")))
    body = Inertia.from_parameters(*(site.number_if_any(name) for name in INERTIA))
    plain = Link(0, "", WORLD, "revolute", placement, 0, body)
    if "turning" not in numbers:
        return plain
    parts = (plain.index, plain.name, plain.parent, plain.kind, placement, 0, body, None)
    return MixedLink(*parts, *map(site.number, SIGMA))


def _orientation(site: Site) -> Mat3:
    """Of a link in its parent where the joint is at zero."""
    if "ca" in site.recipe.numbers:
        c, s = site.numbers("ca sa")
        return rot_x(AnglePair(c, s))
    R = site.numbers(" ".join(PLACEMENT[:9]))
    return Mat3((R[:3], R[3:6], R[6:]))


def position(site: Site) -> Any:
    """What `pose` of the link takes."""
    angle = AnglePair(site.own("cosine"), site.own("sine"))
    return angle if site.recipe.turning is None else (angle, site.joint("q"))


def pose_of(site: Site) -> Pose:
    """The pose in the parent, once its rotation is known."""
    mixed = site.recipe.turning is not None
    return Pose(site.own("R"), site.own("P") if mixed else Vec3(*site.numbers("Px Py Pz")))


class Factored(Mat3):
    """A rotation after a turn about z, which moves vectors by one after the other."""

    def __init__(self, first: Mat3, turn: Mat3, *, back: bool = False) -> None:
        self.first, self.turn, self.back = first, turn, back
        product = first @ turn
        super().__init__((product.T if back else product).rows)

    @property
    def T(self) -> Mat3:
        return Factored(self.first, self.turn, back=not self.back)

    def __matmul__(self, other: Any) -> Any:
        return self.turn.T @ (self.first.T @ other) if self.back else self.first @ (self.turn @ other)


def pose_in_factors(site: Site) -> Pose:
    """The same, without a rotation to compute and to keep in batches: only cosine and sine are there on the way back.

    Turning three vectors outwards by factors takes as many operations as computing the rotation and turning them by it.
    """
    if not site.fused:
        return pose_of(site)
    turn = rot_z(AnglePair(site.own("cosine"), site.own("sine")))
    P = site.own("P") if site.recipe.turning is not None else Vec3(*site.numbers("Px Py Pz"))
    return Pose(Factored(link_of(site).placement.R, turn), P)


def posed(site: Site) -> None:
    pose = link_of(site).pose(position(site))
    site.put(R=pose.R, **({} if site.recipe.turning is None else {"P": pose.p}))


def joint_terms(site: Site, *, motion: bool = True) -> Scalar:
    """What rotor, friction, offset and spring ask of the actuator; motion: with the rotor's acceleration."""
    if "Ia" not in site.recipe.numbers:
        return 0
    q, qd = site.joint("q"), site.joint("qd")
    friction = add(mul(site.number("Fv"), qd), mul(site.number("Fc"), ops.sign(qd)))
    held = add(add(friction, mul(site.number("stiffness"), q)), site.number("off"))
    return add(held, mul(site.number("Ia"), site.joint("qdd"))) if motion else held


def standard(name: str, shape: Shape, **parts: Any) -> Recipe:
    """A recipe with the usual numbers of links."""
    placement = ALIGNED + AHEAD if shape.aligned else PLACEMENT
    numbers = placement + (GROUPED if shape.grouped else INERTIA) + SIGMA * shape.mixed + JOINT * shape.terms
    label = f"{name}, {'revolute and prismatic' if shape.mixed else 'revolute'}{', with joint terms' * shape.terms}"
    base = {name: size for name, size in BASE.items() if shape.floating and name in parts["inputs"]}
    label += ", floating" * shape.floating + ", grouped" * shape.grouped + ", aligned" * shape.aligned
    return Recipe(label, numbers=numbers, robot=GRAVITY,
                  turning="turning" if shape.mixed else None, base=base,
                  ahead=AHEAD if shape.aligned else (), **parts)  # fmt: skip


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


def with_position(own: dict[str, Kind], shape: Shape) -> Mapping[str, Kind]:
    return {**own, "P": "vector"} if shape.mixed else own


def at_rest(given: Mapping[str, Node]) -> Mapping[str, Any]:
    """The world: it accelerates upwards instead of the bodies falling."""
    base = base_motion(given)
    a = base.vd + base.centripetal - base.gravity
    return {"w": base.w, "wd": base.wd, "U": rate_matrix(base.w, base.wd), "a": a, "f": ZERO, "m": ZERO}


def weightless(given: Mapping[str, Node]) -> Mapping[str, Any]:
    return {**at_rest(given), "a": base_motion(given).centripetal}


def moved(site: Site, pose: Callable[[Site], Pose] = pose_of) -> None:
    before = LinkMotion(*map(site.parent, ("w", "wd", "U", "a")))
    qdd = site.joint("qdd") if "qdd" in site.recipe.inputs else 0
    motion = newton_euler.moved(link_of(site), pose(site), site.joint("qd"), qdd, before)
    site.put(**motion._asdict())


def placed(site: Site) -> None:
    """The pose in the world."""
    T, R = site.parent("T"), site.own("R")
    site.put(T=T @ R, p=site.parent("p") + T @ pose_of(site).p)


POSING = (Stage("each", posed), Stage("outward", placed))


def summed(*names: str) -> Stage:
    """Sums over a link and all that it carries."""
    return Stage("inward", lambda site: site.add_to_parent(**{name: site.own(name) for name in names}))
