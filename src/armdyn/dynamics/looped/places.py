"""Recipes of places and sums over the links: pose and Jacobian of a frame, energies, centre of mass, momentum.

For robots on a fixed base. The frame is fixed in the link that recipes call chosen; its pose there is among the numbers
of the robot, and a number of each link, `on_path`, says whether its joint carries the frame. Sums over the links end in
the record of the world.
"""

from __future__ import annotations

from typing import Any

from armdyn.algebra import Mat3, Pose, Scalar, Screw, Vec3, cross, momentum, ops
from armdyn.algebra.ops import add, half, mul
from armdyn.dynamics.looped.links import (
    GRAVITY,
    IN_PARENT,
    IN_WORLD,
    SIGMA,
    Shape,
    link_of,
    pose_of,
    propagate,
    recipe,
    sum_inwards,
    weightless_base,
)
from armdyn.kernels.looped.recursion import Ending, Kind, Recipe, Site, Stage
from armdyn.mechanics.steps.newton_euler import propagate_velocity

FRAME = tuple(f"frame_{name}" for name in ("xx", "xy", "xz", "yx", "yy", "yz", "zx", "zy", "zz", "px", "py", "pz"))
"""Numbers of the robot: the frame's pose in its link."""
PATH = "on_path"
"""Number of a link: 1 if its joint carries the frame, else 0."""
MASS = "mass"
"""Number of the robot: the mass of all links."""
TWIST = ("vx", "vy", "vz", "wx", "wy", "wz")
PLACED: dict[str, Kind] = {"T": "matrix", "p": "vector"}
MOMENT: dict[str, Kind] = {**PLACED, "h": "vector"}


def _of_sum(name: str, shape: Shape, own: dict[str, Kind], **parts: Any) -> Recipe:
    return recipe(name, shape, own, weightless_base, **parts)


def _of_frame(name: str, shape: Shape, own: dict[str, Kind], **parts: Any) -> Recipe:
    return _of_sum(name, shape._replace(terms=False), own, robot=FRAME, **parts)


# Of a frame -----------------------------------------------------------------------------------------------------------


def _frame_in_link(site: Site) -> Pose:
    numbers = [site.robot(name) for name in FRAME]
    return Pose(Mat3((numbers[:3], numbers[3:6], numbers[6:9])), Vec3(*numbers[9:]))


def pose(shape: Shape) -> Recipe:
    """Poses multiplied outwards."""

    def ending(site: Site) -> list[Scalar]:
        R, p = Pose(site.chosen("T"), site.chosen("p")) @ _frame_in_link(site)
        return [entry for row, x in zip(R.rows, p, strict=True) for entry in (*row, x)] + [0, 0, 0, 1]

    return _of_frame("pose", shape, PLACED, inputs=("q",), stages=IN_WORLD, ending=Ending((4, 4), ending))


def jacobian(shape: Shape) -> Recipe:
    """Columns z x (p_frame - p), z, or z, 0 for a prismatic joint. Siciliano (7.16)-(7.19)"""

    def column(site: Site) -> None:
        point = site.chosen("p") + site.chosen("T") @ _frame_in_link(site).p
        z = site.number(PATH) * site.own("T").column(2)
        linear = cross(z, point - site.own("p"))
        if shape.mixed:
            turning, sliding = map(site.number, SIGMA)
            linear, z = turning * linear + sliding * z, turning * z
        for name, value in zip(TWIST, (*linear, *z), strict=True):
            site.result(name, value)

    stages = (*IN_WORLD, Stage("each", column, alone=True))
    return _of_frame(
        "jacobian", shape, PLACED, numbers=(PATH,), inputs=("q",), results=TWIST, stages=stages, grid="rows"
    )


def jacobian_dot_qd(shape: Shape) -> Recipe:
    """The acceleration of the frame at accelerations zero of the joints. Khalil (7.53), (7.54)"""
    own: dict[str, Kind] = {**PLACED, "w": "vector", "wd": "vector", "U": "matrix", "a": "vector"}

    def ending(site: Site) -> list[Scalar]:
        T, p = site.chosen("T"), _frame_in_link(site).p
        return [*(T @ (site.chosen("a") + site.chosen("U") @ p)), *(T @ site.chosen("wd"))]

    return _of_frame(
        "jacobian_dot_qd",
        shape,
        own,
        inputs=("q", "qd"),
        stages=(*IN_WORLD, Stage("outward", propagate)),
        ending=Ending((6,), ending),
    )


# Sums over the links --------------------------------------------------------------------------------------------------


def kinetic_energy(shape: Shape) -> Recipe:
    """1/2 V^T I V of the links, 1/2 Ia qd^2 of rotors. Khalil (7.9), (7.19)"""

    def energy(site: Site) -> None:
        V, qd = Screw(site.own("v"), site.own("w")), site.joint("qd")
        twice = V.dot(momentum(link_of(site).inertia, V))
        rotor = mul(site.number("Ia"), mul(qd, qd)) if shape.terms else 0
        site.put(E=half(add(twice, rotor)))

    stages = (IN_PARENT, Stage("outward", _velocity), Stage("each", energy), sum_inwards("E"))
    return _of_sum(
        "kinetic_energy",
        shape,
        {"v": "vector", "w": "vector", "E": "scalar"},
        inputs=("q", "qd"),
        stages=stages,
        ending=Ending((), lambda site: [site.chosen("E")]),
    )


def _velocity(site: Site) -> None:
    parent = Screw(site.parent("v"), site.parent("w"))
    v, w = propagate_velocity(link_of(site), pose_of(site), site.joint("qd"), parent)
    site.put(v=v, w=w)


def _first_moment(site: Site) -> None:
    body = link_of(site).inertia
    site.put(h=body.mass * site.own("p") + site.own("T") @ body.moment)


def potential_energy(shape: Shape) -> Recipe:
    """-g . (sum of first moments). Khalil (7.24), (7.25)"""

    def ending(site: Site) -> list[Scalar]:
        return [-Vec3(*map(site.robot, GRAVITY)).dot(site.chosen("h"))]

    stages = (*IN_WORLD, Stage("each", _first_moment), sum_inwards("h"))
    return _of_sum(
        "potential_energy", shape._replace(terms=False), MOMENT, inputs=("q",), stages=stages, ending=Ending((), ending)
    )


def center_of_mass(shape: Shape) -> Recipe:
    """The sum of first moments over the mass."""
    stages = (*IN_WORLD, Stage("each", _first_moment), sum_inwards("h"))
    return _of_sum(
        "center_of_mass",
        shape._replace(terms=False),
        MOMENT,
        robot=(MASS,),
        inputs=("q",),
        stages=stages,
        ending=Ending((3,), lambda site: list(_center(site))),
    )


def _center(site: Site) -> Vec3:
    return Vec3(*(ops.div(x, site.robot(MASS)) for x in site.chosen("h")))


def centroidal_momentum(shape: Shape) -> Recipe:
    """Momenta of the links about the world's origin, then about the centre of mass. Khalil (7.21)"""

    def share(site: Site) -> None:
        own = momentum(link_of(site).inertia, Screw(site.own("v"), site.own("w")))
        linear, angular = own.wrench_seen_from(Pose(site.own("T"), site.own("p")))
        site.put(linear=linear, angular=angular)

    def ending(site: Site) -> list[Scalar]:
        linear = site.chosen("linear")
        return [*linear, *(site.chosen("angular") - cross(_center(site), linear))]

    own: dict[str, Kind] = {**MOMENT, **dict.fromkeys(("v", "w", "linear", "angular"), "vector")}
    stages = (
        *IN_WORLD,
        Stage("outward", _velocity),
        Stage("each", _first_moment),
        Stage("each", share),
        sum_inwards("h", "linear", "angular"),
    )
    return _of_sum(
        "centroidal_momentum",
        shape._replace(terms=False),
        own,
        robot=(MASS,),
        inputs=("q", "qd"),
        stages=stages,
        ending=Ending((6,), ending),
    )
