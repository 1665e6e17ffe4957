"""The robot that code is generated from: the same torques as the user's, with fewer operations.

Frames: as they are, or re-expressed (robot.reframing); parameters: grouped (parameters.grouping). Whichever inverse
dynamics has the fewest operations is taken, so that neither can make anything worse.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

from armdyn.algebra import Inertia, Pose, Vec3, ops
from armdyn.graph import Graph, Operations, angle_folding, factored, folded_angles, split_angles, trace
from armdyn.mechanics import newton_euler
from armdyn.mechanics.moving_axes import charted
from armdyn.mechanics.quantity import nested
from armdyn.parameters.grouping import NEGLIGIBLE, Loads, regroup
from armdyn.parameters.standard import seen_at_joints, with_exact_links
from armdyn.robot import Robot
from armdyn.robot.coordinates import coordinates
from armdyn.robot.links import WORLD, Assembly, Link
from armdyn.robot.reframing import reframed, with_assembly

SMALL = 900
"""Operations up to which rewriting passes are tried; beyond it they take more time than they save."""
DIVISION, ANGLE = 5, 14
"""What a division and a sine or cosine cost, in multiplications: as measured in batches of samples."""

Formula = Callable[..., Any]


def cost(operations: Operations) -> int:
    """Operations at run time, weighted."""
    extra = (DIVISION - 1) * operations.divisions + (ANGLE - 1) * operations.trigonometric
    return operations.total + extra + DIVISION * operations.square_roots


def cheapest(graphs: Iterable[Graph]) -> Graph:
    """The graph that costs least; of equal ones the first."""
    first, *others = graphs
    return min([first, *others], key=lambda graph: cost(graph.operations)) if others else first


@dataclass(frozen=True)
class Bound:
    """A formula with its robot and options: what `trace` calls with symbols."""

    robot: Robot
    formula: Formula
    options: tuple[tuple[str, Any], ...] = ()
    inputs: tuple[str, ...] = ()
    """Their names, for a robot with free or ball joints."""

    def __call__(self, *values: Any) -> Any:
        robot, placed = charted(self.robot, dict(zip(self.inputs, values, strict=True)))
        result = self.formula(robot, *placed.values(), **dict(self.options))
        return result if isinstance(result, dict) else nested(result)


Kept = dict[tuple[Formula, tuple[tuple[str, Any], ...]], Graph]
"""Traces as they come, kept with one Dynamics: the choice of frames and the quantities ask for some of them twice."""


def _plain(formula: Formula, inputs: Mapping[str, Any], kept: Kept) -> Graph:
    key = formula, tuple(inputs.items())
    if key not in kept:
        kept[key] = trace(formula, inputs, fold_angles=False)
    return kept[key]


def traced(formula: Formula, inputs: Mapping[str, Any], kept: Kept | None = None) -> Graph:
    """The graph of a formula over scalars: sums of angles as they come or split up, common factors in or out."""
    plain = _plain(formula, inputs, {} if kept is None else kept)
    if plain.operations.total > SMALL:
        return plain
    with angle_folding(False):
        tried = [plain, plain.mapped(factored)]
        if _adds_angles(formula):
            split = plain.mapped(folded_angles).mapped(split_angles)
            tried += [split, split.mapped(factored)]
    return cheapest(tried)


def _adds_angles(formula: Formula) -> bool:
    """Whether sums of angles can occur: only then the two ways to write them differ."""
    robot = getattr(formula, "robot", None)
    return not isinstance(robot, Robot) or has_parallel_axes(robot)


def has_parallel_axes(robot: Robot) -> bool:
    """Whether the axes of two successive revolute joints are parallel."""
    revolute = [link for link in robot.links if link.revolute and link.parent != WORLD]
    cosines = [link.placement.R.rows[2][2] for link in revolute if robot.links[link.parent].revolute]
    return any(type(cosine) is int and abs(cosine) == 1 for cosine in cosines)


class Views(NamedTuple):
    """Views of one robot in the frames with the fewest operations.

    torques: for torques without wrenches, in a world turned to suit gravity.
    loaded: for torques with wrenches.
    places: for poses and potential energy, with parameters as they are.
    """

    torques: Robot
    loaded: Robot
    places: Robot


def cheapest_views(robot: Robot, known: Kept) -> Views:
    """The views with the fewest operations."""
    candidates = [robot, *_other_frames(robot)]
    pairs = [(grouped_view(each), each) for each in candidates]
    loaded, places = (
        pairs[0] if len(pairs) == 1 else min(pairs, key=lambda pair: cost(_inverse_dynamics(pair[0], known)))
    )
    worlds = [loaded, *_other_worlds(loaded)]
    torques = loaded if len(worlds) == 1 else min(worlds, key=lambda each: cost(_inverse_dynamics(each, known)))
    return Views(torques, loaded, places)


def _other_worlds(robot: Robot) -> list[Robot]:
    """The robot on a skew base, in a world whose z is the first joint's axis; and with gravity across its y too.

    Torques do not know how the world is turned, only where gravity points; frames fixed in the world are lost.
    """
    first, *others = (link for link in robot.links if link.parent == WORLD)
    down = first.placement.R.T @ robot.gravity
    if others or first.compound or not first.revolute or sum(type(x) is int and x == 0 for x in down) > 0:
        return []
    straight = replace(first, placement=Pose.identity())
    turn = math.atan2(float(down.y), float(down.x))
    turned = replace(straight, offset=ops.sub(first.offset, turn))
    across = Vec3(math.hypot(float(down.x), float(down.y)), 0, down.z)
    return [_standing(robot, link, gravity) for link, gravity in ((straight, down), (turned, across))]


def _standing(robot: Robot, first: Link, gravity: Vec3) -> Robot:
    links = tuple(first if link.index == first.index else link for link in robot.links)
    assembly = Assembly(links, dict(robot.frames), robot.spins)
    return with_assembly(replace(robot, gravity=gravity), assembly)


def _other_frames(robot: Robot) -> list[Robot]:
    found: list[Robot] = []
    known = [_frames(robot)]
    for level in (True, False):
        view = reframed(robot, level=level)
        if _frames(view) not in known:
            known.append(_frames(view))
            found.append(view)
    return found


def _frames(robot: Robot) -> list[Any]:
    return [(link.placement, link.offset) for link in robot.links]


def _inverse_dynamics(robot: Robot, kept: Kept) -> Operations:
    inputs = {"q": robot.nq, "qd": robot.n, "qdd": robot.n}
    bound = Bound(robot, newton_euler.inverse_dynamics.formula, inputs=tuple(inputs))
    return _plain(bound, inputs, kept).operations


def grouped_view(robot: Robot) -> Robot:
    """The robot with its inertial parameters grouped, in its present frames; rotors behind springs stay apart."""
    rotors = None if coordinates(robot).doubled else seen_at_joints(robot)
    loads = regroup(robot, Loads([link.inertia for link in robot.links], rotors))
    spins = [spin for spin in robot.spins if spin.joint not in loads.grouped_rotors]
    return with_exact_links(robot, [_tidy(body) for body in loads.inertias], spins)


def _tidy(body: Inertia) -> Inertia:
    """Parameters that are only the rounding of a sum that vanishes become the literal 0."""
    values = body.parameters()
    least = NEGLIGIBLE * max(abs(float(value)) for value in values)
    return Inertia.from_parameters(*(0 if abs(float(value)) <= least else ops.tidy(value) for value in values))
