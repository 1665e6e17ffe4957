"""Recipes of places and sums over the links: pose and Jacobian of a frame, energies, centre of mass, momentum.

For robots on a fixed base. The frame is fixed in the link that recipes call chosen; its pose there is among the numbers
of the robot, and a number of each link, `on_path`, says whether its joint carries the frame. Sums over the links end in
the record of the world.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from armdyn.algebra import ZERO, Mat3, Pose, Scalar, Screw, Vec3, cross, momentum, ops
from armdyn.algebra.ops import add, half, mul
from armdyn.dynamics.looped.links import (
    GRAVITY,
    PLACEMENT,
    POSING,
    SIGMA,
    Shape,
    link_of,
    moved,
    pose_of,
    posed,
    standard,
    summed,
    weightless,
    with_position,
)
from armdyn.graph import Node
from armdyn.kernels.looped.recursion import Ending, Kind, Recipe, Site, Stage

FRAME = tuple(f"frame_{name}" for name in PLACEMENT)
"""Numbers of the robot: the frame's pose in its link."""
PATH = "on_path"
"""Number of a link: 1 if its joint carries the frame, else 0."""
MASS = "mass"
"""Number of the robot: the mass of all links."""
TWIST = ("vx", "vy", "vz", "wx", "wy", "wz")
POSED: dict[str, Kind] = {"R": "matrix", "T": "matrix", "p": "vector"}


def _made(name: str, shape: Shape, robot: tuple[str, ...], own: dict[str, Kind], **parts: Any) -> Recipe:
    made = standard(name, shape, own=with_position(own, shape), start=_fixed, **parts)
    kept = {*made.own}

    def start(given: Mapping[str, Node]) -> Mapping[str, Any]:
        return {name: value for name, value in _fixed(given).items() if name in kept}

    return replace(made, robot=(*GRAVITY, *robot), start=start)


def _fixed(given: Mapping[str, Node]) -> Mapping[str, Any]:
    """The world, which stands still; no sum has begun."""
    vectors = dict.fromkeys(("p", "v", "h", "linear", "angular"), ZERO)
    return {**weightless(given), "T": Mat3.identity(), "E": 0, **vectors}


def _frame(site: Site) -> Pose:
    """The frame in the world."""
    R, p = _frame_in_link(site)
    T = site.chosen("T")
    return Pose(T @ R, site.chosen("p") + T @ p)


def _frame_in_link(site: Site) -> Pose:
    numbers = [site.robot(name) for name in FRAME]
    return Pose(Mat3((numbers[:3], numbers[3:6], numbers[6:9])), Vec3(*numbers[9:]))


# Of a frame -----------------------------------------------------------------------------------------------------------


def pose(shape: Shape) -> Recipe:
    """Poses multiplied outwards."""

    def ending(site: Site) -> list[Scalar]:
        R, p = _frame(site)
        return [entry for row, x in zip(R.rows, p, strict=True) for entry in (*row, x)] + [0, 0, 0, 1]

    return _made("pose", shape._replace(terms=False), FRAME, POSED, inputs=("q",), stages=POSING,
                 ending=Ending((4, 4), ending))  # fmt: skip


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

    stages = (*POSING, Stage("each", column, alone=True))
    made = _made("jacobian", shape._replace(terms=False), FRAME, POSED, inputs=("q",), results=TWIST, stages=stages,
                 grid="rows")  # fmt: skip
    return replace(made, numbers=(*made.numbers, PATH))


def jacobian_dot_qd(shape: Shape) -> Recipe:
    """The acceleration of the frame at accelerations zero of the joints. Khalil (7.53), (7.54)"""
    own: dict[str, Kind] = {**POSED, "w": "vector", "wd": "vector", "U": "matrix", "a": "vector"}

    def ending(site: Site) -> list[Scalar]:
        T, p = site.chosen("T"), _frame_in_link(site).p
        return [*(T @ (site.chosen("a") + site.chosen("U") @ p)), *(T @ site.chosen("wd"))]

    return _made("jacobian_dot_qd", shape._replace(terms=False), FRAME, own, inputs=("q", "qd"),
                 stages=(*POSING, Stage("outward", moved)), ending=Ending((6,), ending))  # fmt: skip


# Sums over the links --------------------------------------------------------------------------------------------------


def kinetic_energy(shape: Shape) -> Recipe:
    """1/2 V^T I V of the links, 1/2 Ia qd^2 of rotors. Khalil (7.9), (7.19)"""

    def energy(site: Site) -> None:
        V, qd = Screw(site.own("v"), site.own("w")), site.joint("qd")
        twice = V.dot(momentum(link_of(site).inertia, V))
        rotor = mul(site.number("Ia"), mul(qd, qd)) if shape.terms else 0
        site.put(E=half(add(twice, rotor)))

    own: dict[str, Kind] = {"R": "matrix", "v": "vector", "w": "vector", "E": "scalar"}
    stages = (Stage("each", posed), Stage("outward", _velocity), Stage("each", energy), summed("E"))
    return _made("kinetic_energy", shape, (), own, inputs=("q", "qd"), stages=stages,
                 ending=Ending((), lambda site: [site.chosen("E")]))  # fmt: skip


def _velocity(site: Site) -> None:
    """Of the origin and of rotation, in the link's axes. Khalil (7.17), (7.18)"""
    link, (R, P), qd = link_of(site), pose_of(site), site.joint("qd")
    v, w = site.parent("v"), site.parent("w")
    site.put(v=R.T @ (v + cross(w, P)) + link.slide(qd), w=R.T @ w + link.spin(qd))


def _first_moment(site: Site) -> None:
    body = link_of(site).inertia
    site.put(h=body.mass * site.own("p") + site.own("T") @ body.moment)


MOMENT: dict[str, Kind] = {**POSED, "h": "vector"}


def potential_energy(shape: Shape) -> Recipe:
    """-g . (sum of first moments). Khalil (7.24), (7.25)"""

    def ending(site: Site) -> list[Scalar]:
        return [-Vec3(*map(site.robot, GRAVITY)).dot(site.chosen("h"))]

    stages = (*POSING, Stage("each", _first_moment), summed("h"))
    return _made("potential_energy", shape._replace(terms=False), (), MOMENT, inputs=("q",), stages=stages,
                 ending=Ending((), ending))  # fmt: skip


def center_of_mass(shape: Shape) -> Recipe:
    """The sum of first moments over the mass."""
    stages = (*POSING, Stage("each", _first_moment), summed("h"))
    return _made("center_of_mass", shape._replace(terms=False), (MASS,), MOMENT, inputs=("q",), stages=stages,
                 ending=Ending((3,), lambda site: list(_center(site))))  # fmt: skip


def _center(site: Site) -> Vec3:
    return Vec3(*(ops.div(x, site.robot(MASS)) for x in site.chosen("h")))


def centroidal_momentum(shape: Shape) -> Recipe:
    """Momenta of the links about the world's origin, then about the centre of mass. Khalil (7.21)"""

    def share(site: Site) -> None:
        T = site.own("T")
        own = momentum(link_of(site).inertia, Screw(site.own("v"), site.own("w")))
        linear = T @ own.linear
        site.put(linear=linear, angular=T @ own.angular + cross(site.own("p"), linear))

    def ending(site: Site) -> list[Scalar]:
        linear = site.chosen("linear")
        return [*linear, *(site.chosen("angular") - cross(_center(site), linear))]

    own: dict[str, Kind] = {**MOMENT, **dict.fromkeys(("v", "w", "linear", "angular"), "vector")}
    stages = (*POSING, Stage("outward", _velocity), Stage("each", _first_moment), Stage("each", share),
              summed("h", "linear", "angular"))  # fmt: skip
    return _made("centroidal_momentum", shape._replace(terms=False), (MASS,), own, inputs=("q", "qd"), stages=stages,
                 ending=Ending((6,), ending))  # fmt: skip
