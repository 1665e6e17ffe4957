"""Looped kernels of robots: which robots have them, and a robot's numbers as tables."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np

from armdyn.algebra import Pose, Vec3, rot_z
from armdyn.algebra.ops import is_zero, mul
from armdyn.dynamics.graphs import some_configuration
from armdyn.dynamics.looped.chains import Chain, along_normals, is_chain
from armdyn.dynamics.looped.links import GROUPED, INERTIA, Shape
from armdyn.dynamics.looped.places import FRAME, MASS, PATH
from armdyn.dynamics.looped.recipes import RECIPES
from armdyn.graph import Node
from armdyn.kernels import Kernel, jit, sources
from armdyn.kernels.looped.kernel import SMALLEST, Tables, build_looped
from armdyn.kernels.looped.recursion import FREE, Recipe
from armdyn.mechanics import articulated_body
from armdyn.mechanics.friction import GENERAL, is_own_law
from armdyn.mechanics.moving_axes import charted
from armdyn.parameters import parameter_names
from armdyn.parameters.grouping import without_axes
from armdyn.robot import Robot
from armdyn.robot.coordinates import coordinates
from armdyn.robot.links import WORLD, Link
from armdyn.robot.parts import Friction, Joint
from armdyn.typing import Array

FOLDERS = ("algebra", "graph", "robot", "mechanics", "dynamics")
"""Where the code is that makes recipes."""
EPS = 1e-15
"""Rounding of numbers that stand for 0 and 1."""
LINEAR_LAWS = ("viscous", "coulomb", GENERAL)


CERTAIN = 64
"""Joints from which looped code is taken without counting operations."""
MANY, CLEARLY = 24, 0.8
"""Joints from which it is taken for quantities that are not measured, and for others unless straight-line code takes
less than this share of its time: counting operations, and finding few of them, takes seconds for general chains."""
PER_JOINT, PER_NUMBER = 45, 6.2
"""Operations of inverse dynamics, about: for every joint, and for every number of its link that is not 0, 1 or -1."""
LONGEST = 14_000
"""Operations up to which straight-line code compiles in a fraction of a second, and is mostly kept decoded."""
MIXED = 1.25
"""Time of looped code that takes prismatic joints too, against revolute ones alone."""
OPERATION = 0.16
"""ns of an operation of straight-line code, in one call; in a batch, a third of it."""


class Measure(NamedTuple):
    """What decides between straight-line and looped code, by the number of joints n, as measured on general chains.

    share: (a, b), straight-line code has about (a + b n) times the operations of inverse dynamics. In trees n is the
        length of a chain with as many pairs of a link and one that it carries per joint.
    call: (c, d), up to about c + d n ns for one call straight-line code is the better choice: as long as one call of
        looped code takes, and a quarter more for matrices, because batches of them gain most.
    """

    share: tuple[float, float]
    call: tuple[float, float]


MEASURED = {
    "inverse_dynamics": Measure((1.0, 0.0), (80, 22.5)),
    "coriolis": Measure((0.9, 0.0), (80, 22.5)),
    "gravity": Measure((0.4, 0.0), (40, 11)),
    "forward_dynamics": Measure((2.5, 0.0), (60, 61)),
    "mass_matrix": Measure((0.0, 0.12), (50, 34)),
    "coriolis_matrix": Measure((2.6, 0.1), (75, 65)),
    "inverse_dynamics_derivatives": Measure((4.5, 0.2), (110, 100)),
    "regressor": Measure((1.4, 0.35), (200, 105)),
}
TORQUES = ("inverse_dynamics", "coriolis", "gravity", "forward_dynamics", "mass_matrix", "coriolis_matrix",
           "inverse_dynamics_derivatives")  # fmt: skip
"""Quantities that are the same for grouped parameters."""
ALIGNED = ("inverse_dynamics", "coriolis", "gravity", "forward_dynamics", "mass_matrix")
"""Quantities that chains have faster code for."""
FRAMES = ("pose", "jacobian", "jacobian_dot_qd")
"""Quantities of a frame."""
FIXED_BASE = (*FRAMES, "kinetic_energy", "potential_energy", "center_of_mass", "centroidal_momentum", "joint_reactions")


def pays(name: str, robot: Robot, operations: Callable[[], int], frame: str = "tool") -> bool:
    """Whether looped code is the better choice. operations: of straight-line inverse dynamics."""
    if name not in MEASURED:
        return (len(robot.path(robot.frame(frame).link)) if name in FRAMES else robot.n) >= MANY
    if robot.n >= CERTAIN:
        return True
    (a, b), (c, d) = MEASURED[name]
    straight = (a + b * _length(robot)) * (operations() if robot.n < MANY else estimated_operations(robot))
    call = (c + d * robot.n) * (1 if all(link.revolute for link in robot.links) else MIXED)
    return straight > LONGEST or OPERATION * straight > call * (1 if robot.n < MANY else CLEARLY)


def estimated_operations(robot: Robot) -> float:
    """Of straight-line inverse dynamics."""
    found = recipe_and_tables(robot, "inverse_dynamics", aligned=False)
    if found is None:
        return math.inf
    numbers = np.abs(found[1].links)
    return PER_JOINT * robot.n + PER_NUMBER * int(((numbers > EPS) & (np.abs(numbers - 1) > EPS)).sum())


def _length(robot: Robot) -> float:
    """Of a chain with as many pairs of a link and one that it carries per joint; a free base carries all at no cost."""
    base = FREE if robot.compounds and floats(robot) else 0
    depths = [len(robot.path(link.index)) - base for link in robot.links[base:]]
    return 2 * sum(depths) / len(depths) - 1


def can_be_looped(robot: Robot, name: str) -> bool:
    """Whether there is looped code of a quantity for this robot."""
    if name not in RECIPES or robot.n < SMALLEST or not jit.available():
        return False
    if robot.constrained or coordinates(robot).doubled:
        return False
    if robot.compounds and (name in FIXED_BASE or not floats(robot)):
        return False
    if name == "potential_energy" and any(joint.spring for joint in robot.joints):
        return False
    if name in ("center_of_mass", "centroidal_momentum") and not _mass(robot):
        return False
    return joint_numbers(robot) is not None and (name != "regressor" or _usual_columns(robot))


def floats(robot: Robot) -> bool:
    """Whether the robot stands on a free joint without friction that carries all of it, and has no other such joint."""
    kinds = [(span.compound.kind, span.joint) for span in robot.compounds]
    if kinds != [("free", 0)] or robot.n < FREE + SMALLEST:
        return False
    if any(link.parent == WORLD for link in robot.links[1:]) or any(
        link.parent < FREE - 1 for link in robot.links[FREE:]
    ):
        return False
    terms = joint_numbers(robot)
    return terms is not None and not terms[:FREE].any()


def looped(robot: Robot, name: str, frame: str = "tool", *, cache: bool = True) -> Kernel | None:
    """The looped kernel of a quantity, or of one of a frame; None if there is none for it or for this robot."""
    found = recipe_and_tables(robot, name, frame)
    return None if found is None else build_looped(*found, name, sources.version(*FOLDERS), cache=cache)


def recipe_and_tables(
    robot: Robot, name: str, frame: str = "tool", *, plain: bool = False, aligned: bool = True
) -> tuple[Recipe, Tables] | None:
    """What looped code of a quantity is made of: a recipe, and the robot's numbers; None if there is none.

    plain: with the parameters of the robot as they are. aligned: chains may be described in frames of our own.
    """
    terms = joint_numbers(robot) if can_be_looped(robot, name) else None
    if terms is None:
        return None
    if name == "forward_dynamics":
        _require_inertia(robot)
    links, gravity = robot.links, robot.gravity
    shape = Shape(any(not link.revolute for link in links), bool(terms.any()), bool(robot.compounds))
    chain = along_normals(links) if name in ALIGNED and aligned and not plain and is_chain(links) else None
    if chain is not None:
        links, gravity, shape = chain.links, chain.base.T @ gravity, shape._replace(aligned=True)
    if name in TORQUES and not plain and not shape.mixed:
        links = tuple(replace(link, inertia=body) for link, body in zip(links, without_axes(links), strict=True))
        shape = shape._replace(grouped=True)
    recipe = RECIPES[name](shape)
    shape = shape._replace(terms="Ia" in recipe.numbers)
    chosen = robot.frame(frame).link if FRAME[0] in recipe.robot else WORLD
    path = [np.isin(np.arange(robot.n), robot.path(chosen))[:, None]] if PATH in recipe.numbers else []
    numbers = [
        _link_numbers(links, shape, chain),
        *([terms] if shape.terms else []),
        *_carried(robot, recipe.numbers),
        *path,
    ]
    parents = tuple(link.parent for link in links)
    return recipe, Tables(parents, np.hstack(numbers), _own_numbers(robot, gravity, recipe, frame), chosen)


def varying_numbers(robot: Robot, recipe: Recipe) -> dict[tuple[int, int], Node] | None:
    """Inertial numbers that depend on named parameters, by row and column of the table of links.

    None if the recipe has numbers that are sums of those.
    """
    if "MC" in recipe.numbers or MASS in recipe.robot:
        return None
    first = recipe.numbers.index("XX")
    return {
        (link.index, first + k): number
        for link in robot.symbolic.links
        for k, number in enumerate(link.inertia.parameters())
        if isinstance(number, Node)
    }


def _own_numbers(robot: Robot, gravity: Vec3, recipe: Recipe, frame: str) -> tuple[float, ...]:
    """Of the robot: gravity, the pose of a frame, the mass, as far as the recipe asks for them."""
    gravity = _stands(robot).R.T @ gravity if recipe.base else gravity
    found = [float(x) for x in gravity]
    if FRAME[0] in recipe.robot:
        R, p = robot.frame(frame).pose
        found += [float(entry) for row in (*R.rows, p) for entry in row]
    return (*found, _mass(robot)) if MASS in recipe.robot else tuple(found)


def _mass(robot: Robot) -> float:
    return sum(float(link.inertia.mass) for link in robot.links)


def _require_inertia(robot: Robot) -> None:
    """Raise PhysicsError if a joint moves nothing, found at one fixed configuration, at a cost linear in the joints."""
    view, placed = charted(robot, {"q": some_configuration(robot)})
    articulated_body.forward_dynamics.formula(view, placed["q"], [0.0] * robot.n, [0.0] * robot.n)


def _stands(robot: Robot) -> Pose:
    """Where the base of a floating robot is if its joint is at the identity."""
    first = robot.links[0]
    assert first.compound is not None
    return first.placement @ first.compound.inverse()


def _link_numbers(links: Sequence[Link], shape: Shape, chain: Chain | None) -> Array:
    """(n, k) placements, inertias, kinds; a constant offset of the joint's position is part of the placement."""
    rows = []
    for link in links:
        body = dict(zip(INERTIA, link.inertia.parameters(), strict=True))
        R, p = _placed(link)
        if chain is None:
            numbers = [*(entry for row in R.rows for entry in row), *p]
        else:
            numbers = [R.rows[1][1], R.rows[2][1], *p, *chain.steps[link.index], *chain.ahead[link.index]]
        numbers += [body[name] for name in (GROUPED if shape.grouped else INERTIA)]
        rows.append(numbers + [int(link.revolute), int(not link.revolute)] * shape.mixed)
    return np.array(rows, dtype=float)


def _usual_columns(robot: Robot) -> bool:
    """Whether the regressor has fourteen columns per joint, friction's being rate and sign."""
    linear = all(joint.friction is None or joint.friction.law in (None, "coulomb") for joint in robot.joints)
    return linear and len(parameter_names(robot)) == 14 * robot.n


def _carried(robot: Robot, numbers: tuple[str, ...]) -> list[Array]:
    """The mass of each link with all that it carries, and whether it is none of a free joint's, if they are wanted."""
    if "MC" not in numbers:
        return []
    masses = np.array([[float(link.inertia.mass)] for link in robot.links])
    for link in robot.inward():
        if link.parent != WORLD:
            masses[link.parent] += masses[link.index]
    return [masses, *([(np.arange(robot.n) >= FREE)[:, None]] if "inner" in numbers else [])]


def _placed(link: Link) -> Pose:
    R, p = link.placement if link.compound is None else link.compound  # a free joint's first link: seen from the base
    if link.revolute:
        return Pose(R @ rot_z(link.offset), p)
    return Pose(R, p + link.offset * R.column(2))


def joint_numbers(robot: Robot) -> Array | None:
    """(n, 5) the numbers of JOINT; None if they do not say all that joints and motors add."""
    numbers = np.zeros((robot.n, 5))
    for spin in robot.spins:
        if spin.others or (spin.axis is not None and spin.carrier != WORLD):
            return None
        numbers[spin.joint, 0] += float(mul(spin.ratio, mul(spin.ratio, spin.inertia)))
    if any(not is_zero(joint.body.gravity_compensation) for joint in robot.tree):
        return None
    for j, joint in enumerate(robot.joints):
        law = _linear_friction(joint)
        if law is None:
            return None
        numbers[j, 1:3] = float(law.viscous), float(law.coulomb)
        numbers[j, 4] = float(law.offset)
        if joint.spring is not None:
            numbers[j, 3] = float(joint.spring.stiffness)
            numbers[j, 4] -= float(joint.spring.stiffness) * float(joint.spring.rest)
    return numbers


def _linear_friction(joint: Joint) -> Friction | None:
    """The friction of a joint if it is linear in the rate and its sign, else None. Nor may the motor have its own."""
    motor: Any = joint.motor
    if motor is not None and not (is_zero(motor.viscous) and is_zero(motor.coulomb)):
        return None
    law = joint.friction or Friction()
    name = law.law or GENERAL
    if name not in LINEAR_LAWS or not is_own_law(law) or (name == GENERAL and not is_zero(law.static)):
        return None
    return Friction(law.viscous, 0 if name == "viscous" else law.coulomb, offset=law.offset)


__all__ = ["looped"]
