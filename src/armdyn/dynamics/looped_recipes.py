"""Recipes of looped kernels: the steps of the formulations of mechanics, at a link whose numbers are in a table.

Robots whose joints all turn have recipes of their own; others have one for both kinds, with the factors of Khalil's
sigma: `turning` is 1 for a revolute joint and 0 for a prismatic one, `sliding` the opposite.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple

from armdyn.algebra import ZERO, Inertia, Mat3, Pose, Scalar, Vec3, ops, rot_z
from armdyn.algebra.ops import add, mul
from armdyn.graph import Node
from armdyn.kernels.link_loops import Kind, Recipe, Site, Stage
from armdyn.mechanics import newton_euler
from armdyn.mechanics.angle_pair import AnglePair
from armdyn.mechanics.newton_euler import LinkMotion, rate_matrix
from armdyn.robot.links import WORLD, Link

PLACEMENT = ("R00", "R01", "R02", "R10", "R11", "R12", "R20", "R21", "R22", "Px", "Py", "Pz")
INERTIA = ("XX", "XY", "XZ", "YY", "YZ", "ZZ", "MX", "MY", "MZ", "M")
SIGMA = ("turning", "sliding")
JOINT = ("Ia", "Fv", "Fc", "stiffness", "off")
"""What a joint adds to the torque: Ia qdd + Fv qd + Fc sign(qd) + stiffness q + off, its spring's rest in `off`."""
GRAVITY = ("gx", "gy", "gz")


class Shape(NamedTuple):
    """What recipes are made for.

    mixed: prismatic joints are among the robot's.
    terms: some joint has a rotor, friction, an offset or a spring.
    """

    mixed: bool
    terms: bool


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
    R = site.numbers(" ".join(PLACEMENT[:9]))
    placement = Pose(Mat3((R[:3], R[3:6], R[6:])), Vec3(*site.numbers("Px Py Pz")))
    body = Inertia.from_parameters(*map(site.number, INERTIA))
    plain = Link(0, "", WORLD, "revolute", placement, 0, body)
    if "turning" not in numbers:
        return plain
    parts = (plain.index, plain.name, plain.parent, plain.kind, placement, 0, body)
    return MixedLink(*parts, *map(site.number, SIGMA))


def position(site: Site) -> Any:
    """What `pose` of the link takes."""
    angle = AnglePair(site.own("cosine"), site.own("sine"))
    return angle if site.recipe.turning is None else (angle, site.joint("q"))


def pose_of(site: Site) -> Pose:
    """The pose in the parent, once its rotation is known."""
    mixed = site.recipe.turning is not None
    return Pose(site.own("R"), site.own("P") if mixed else Vec3(*site.numbers("Px Py Pz")))


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
    numbers = PLACEMENT + INERTIA + SIGMA * shape.mixed + JOINT * shape.terms
    label = f"{name}, {'revolute and prismatic' if shape.mixed else 'revolute'}{', with joint terms' * shape.terms}"
    return Recipe(label, numbers=numbers, robot=GRAVITY, turning="turning" if shape.mixed else None, **parts)


# Inverse dynamics -----------------------------------------------------------------------------------------------------


def inverse_dynamics(shape: Shape) -> Recipe:
    """Newton-Euler in link frames. Khalil (7.51)-(7.61)"""
    own: dict[str, Kind] = {"R": "matrix", "w": "vector", "wd": "vector", "U": "matrix", "a": "vector", "f": "vector",
                            "m": "vector"}  # fmt: skip
    stages = (
        Stage("each", posed),
        Stage("outward", _moved),
        Stage("each", _loaded),
        Stage("inward", _borne),
    )
    return standard("inverse_dynamics", shape, inputs=("q", "qd", "qdd"), own=_with_position(own, shape),
                    results=("tau",), outputs=1, start=_at_rest, stages=stages)  # fmt: skip


def _with_position(own: dict[str, Kind], shape: Shape) -> Mapping[str, Kind]:
    return {**own, "P": "vector"} if shape.mixed else own


def _at_rest(robot: Mapping[str, Node]) -> Mapping[str, Any]:
    """The world: it accelerates upwards instead of the bodies falling."""
    g = Vec3(*(robot[name] for name in GRAVITY))
    return {"w": ZERO, "wd": ZERO, "U": rate_matrix(ZERO, ZERO), "a": -g, "f": ZERO, "m": ZERO}


def _moved(site: Site) -> None:
    before = LinkMotion(*map(site.parent, ("w", "wd", "U", "a")))
    motion = newton_euler.moved(link_of(site), pose_of(site), site.joint("qd"), site.joint("qdd"), before)
    site.put(**motion._asdict())


def _loaded(site: Site) -> None:
    motion = LinkMotion(*map(site.own, ("w", "wd", "U", "a")))
    f, m = newton_euler.body_wrench(link_of(site), motion)
    site.put(f=f, m=m)


def _borne(site: Site) -> None:
    link, f, m = link_of(site), site.own("f"), site.own("m")
    site.result("tau", add(link.along(f, m), joint_terms(site)))
    force, moment = newton_euler.passed_on(link, pose_of(site), f, m)
    site.add_to_parent(f=force, m=moment.turned + moment.lever)


RECIPES = {"inverse_dynamics": inverse_dynamics}
"""By name of the quantity."""

__all__ = ["JOINT", "RECIPES", "Shape"]
