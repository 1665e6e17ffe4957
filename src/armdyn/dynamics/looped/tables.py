"""Looped kernels of robots: their recipes, and a robot's numbers as the tables of a recipe."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import replace
from typing import NamedTuple

import numpy as np

from armdyn.algebra import Mat3, Pose, Vec3, rot_x, rot_z
from armdyn.dynamics.graphs import some_configuration
from armdyn.dynamics.looped import matrices, torques
from armdyn.dynamics.looped.links import ALPHA, GAMMA, INERTIA, POSITION, SIGMA, THETA, Shape
from armdyn.dynamics.looped.robots import JOINT, TORQUES, can_be_looped, joint_numbers
from armdyn.kernels import Kernel, sources
from armdyn.kernels.looped.kernel import Tables, build_looped
from armdyn.kernels.looped.recursion import FREE, Recipe
from armdyn.mechanics import articulated_body
from armdyn.mechanics.angle_pair import AnglePair
from armdyn.mechanics.moving_axes import charted
from armdyn.parameters.grouping import without_axes
from armdyn.robot import Robot
from armdyn.robot.links import WORLD, Link
from armdyn.typing import Array

FOLDERS = ("algebra", "graph", "robot", "mechanics", "dynamics")
"""Where the code is that makes recipes."""

RECIPES: dict[str, Callable[[Shape], Recipe]] = {
    "inverse_dynamics": torques.inverse_dynamics,
    "coriolis": torques.coriolis,
    "forward_dynamics": torques.forward_dynamics,
    "mass_matrix": matrices.mass_matrix,
    "coriolis_matrix": matrices.coriolis_matrix,
    "inverse_dynamics_derivatives": matrices.inverse_dynamics_derivatives,
    "regressor": matrices.regressor,
}
"""By quantity."""


def looped(robot: Robot, name: str, *, cache: bool = True) -> Kernel | None:
    """The looped kernel of a quantity; None if there is none for it or for this robot."""
    found = recipe_and_tables(robot, name)
    return None if found is None else build_looped(*found, name, sources.version(*FOLDERS), cache=cache)


def recipe_and_tables(robot: Robot, name: str, *, plain: bool = False) -> tuple[Recipe, Tables] | None:
    """What looped code of a quantity is made of: a recipe, and the robot's numbers; None if there is none.

    plain: with the frames and parameters of the robot as they are.
    """
    terms = joint_numbers(robot) if can_be_looped(robot, name) else None
    if terms is None:
        return None
    if name == "forward_dynamics":
        _require_inertia(robot)
    shape = Shape(any(not link.revolute for link in robot.links), bool(terms.any()), bool(robot.compounds))
    view = _plain_view(robot)
    if name in TORQUES and not plain:
        view = _turned_view(view)
        shape = shape._replace(grouped=not shape.mixed, angles=view.angles)
    if shape.grouped:
        bodies = zip(view.links, without_axes(view.links), strict=True)
        view = view._replace(links=tuple(replace(link, inertia=body) for link, body in bodies))
    recipe = RECIPES[name](shape)
    columns = _columns(robot, view) | dict(zip(JOINT, terms.T, strict=True))
    links = np.column_stack([columns[number] for number in recipe.numbers])
    parents = tuple(link.parent for link in view.links)
    return recipe, Tables(parents, links, tuple(map(float, view.gravity)))


# Frames ---------------------------------------------------------------------------------------------------------------


class View(NamedTuple):
    """Links as looped code sees them: their orientations in their parents are Rz(gamma) Rx(alpha) Rz(theta + q).

    links: with these orientations at q = 0 as placements; a constant offset of the joint's position is part of them.
    orientations: gamma, alpha, theta of each link.
    gravity: in the axes of the first frame.
    angles: those of GAMMA, ALPHA, THETA that are not zero for all links.
    """

    links: tuple[Link, ...]
    orientations: tuple[tuple[AnglePair, AnglePair, AnglePair], ...]
    gravity: Vec3
    angles: tuple[tuple[str, str], ...] = (GAMMA, ALPHA, THETA)


def _plain_view(robot: Robot) -> View:
    links, gravity = tuple(replace(link, placement=_placed(link), offset=0) for link in robot.links), robot.gravity
    if robot.compounds:  # the base stands for the world: where it is if its joint is at the identity
        first = robot.links[0]
        assert first.compound is not None
        gravity = (first.placement @ first.compound.inverse()).R.T @ gravity
    return View(links, tuple(_orientation(link.placement.R) for link in links), gravity)


def _placed(link: Link) -> Pose:
    R, p = link.placement if link.compound is None else link.compound  # a free joint's first link: seen from the base
    R = Mat3([[float(entry) for entry in row] for row in R.rows])
    if link.revolute:
        return Pose(R @ rot_z(float(link.offset)), p)
    return Pose(R, p + link.offset * R.column(2))


def _orientation(R: Mat3) -> tuple[AnglePair, AnglePair, AnglePair]:
    """gamma, alpha and theta of Rz(gamma) Rx(alpha) Rz(theta).

    The first two follow from the joint's axis, theta from what they leave, so the product is R to rounding even where
    axes are nearly parallel and gamma hardly known.
    """
    x, y, z = R.column(2)
    sine = math.hypot(x, y)
    gamma = AnglePair(-y / sine, x / sine) if sine else AnglePair(1.0, 0.0)
    alpha = AnglePair(z, sine)
    rest = rot_x(alpha).T @ (rot_z(gamma).T @ R)
    return gamma, alpha, AnglePair(rest.rows[0][0], rest.rows[1][0])


def _turned_view(view: View) -> View:
    """The same links in frames turned about their joint axes: torques do not change, and one angle fewer is needed.

    In a chain the x axis of a link is turned into the plane across its joint's axis and the next: gamma is zero. In a
    tree a link may have several next ones, and theta is made zero.
    """
    chain = all(link.parent == link.index - 1 and link.compound is None for link in view.links)
    none = AnglePair(1.0, 0.0)
    if chain:
        turns = [*(gamma for gamma, _, _ in view.orientations), none]
        orientations = [
            (none, alpha, theta + turn) for (_, alpha, theta), turn in zip(view.orientations, turns[1:], strict=True)
        ]
    else:
        turns = [none, *(-theta for _, _, theta in view.orientations)]
        orientations = [
            (gamma - turns[link.parent + 1], alpha, none)
            for link, (gamma, alpha, _) in zip(view.links, view.orientations, strict=True)
        ]
    links = []
    for link, (gamma, alpha, theta) in zip(view.links, orientations, strict=True):
        before, own = (rot_z(turns[k + 1]).T for k in (link.parent, link.index))
        placement = Pose(rot_z(gamma) @ rot_x(alpha) @ rot_z(theta), before @ link.placement.p)
        links.append(replace(link, placement=placement, inertia=link.inertia.seen_from(Pose.rotation(own))))
    gravity = rot_z(turns[0]).T @ view.gravity
    return View(tuple(links), tuple(orientations), gravity, (ALPHA, THETA) if chain else (GAMMA, ALPHA))


# Numbers --------------------------------------------------------------------------------------------------------------


def _columns(robot: Robot, view: View) -> dict[str, Array]:
    """(n,) numbers of the links, by name."""
    angles = {
        name: np.array([function(pairs[k]) for pairs in view.orientations])
        for k, names in enumerate((GAMMA, ALPHA, THETA))
        for name, function in zip(names, (AnglePair.cos, AnglePair.sin), strict=True)
    }
    rows = [[*link.placement.p, *link.inertia.parameters()] for link in view.links]
    numbers = dict(zip((*POSITION, *INERTIA), np.array(rows, dtype=float).T, strict=True))
    turning = np.array([link.revolute for link in view.links], dtype=float)
    others = {"MC": _carried_masses(robot), "inner": np.arange(robot.n) >= FREE}
    return {**angles, **numbers, **dict(zip(SIGMA, (turning, 1 - turning), strict=True)), **others}


def _carried_masses(robot: Robot) -> Array:
    """(n,) the mass of each link with all that it carries."""
    masses = np.array([float(link.inertia.mass) for link in robot.links])
    for link in robot.inward():
        if link.parent != WORLD:
            masses[link.parent] += masses[link.index]
    return masses


def _require_inertia(robot: Robot) -> None:
    """Raise PhysicsError if a joint moves nothing, found at one fixed configuration, at a cost linear in the joints."""
    view, placed = charted(robot, {"q": some_configuration(robot)})
    articulated_body.forward_dynamics.formula(view, placed["q"], [0.0] * robot.n, [0.0] * robot.n)
