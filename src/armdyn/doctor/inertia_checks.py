"""Check-up of masses and inertia tensors: values that are unlikely for the size of their link."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from typing import NamedTuple

import numpy as np

from armdyn.algebra import Vec3
from armdyn.findings import Finding, Severity
from armdyn.robot.links import WORLD, Frame, Link
from armdyn.robot.parts import Joint
from armdyn.robot.physical import DUST, ROUNDING, GivenBody, given_bodies, invalid_body, is_consistent, steiner
from armdyn.robot.robot import Robot
from armdyn.typing import Array

AXIAL = 1e-9
"""Part of a link's inertia below which what it has about its joint axis is rounding of a zero."""
LIGHTEST = 15.0
"""kg/m^3. Density of foam; the links of real arms, taken as ellipsoids of the same inertia, have 50 to 8000."""
LONGEST = 2.0
"""Largest radius of gyration of such a light body, in lengths of its link (a bar as long as its link has 0.29)."""
DENSEST = 25_000.0
"""kg/m^3. More than osmium (22,600); mass in gram or a tensor a thousand times too small makes far more."""
COM_FARTHEST = 5.0
"""Largest distance of a centre of mass from the link's joints, in reaches of the robot (mm for m: 1000 times)."""
COM_OUTSIDE = (1.0, 2.0)
"""The same for a body with a tensor, in reaches, and in sizes of the body: its radius of gyration and the extent of its
joints together. A shifted decimal point exceeds both; in 70 files of real robots no body exceeds 0.75 reaches."""
PART_THAT_COUNTS = 0.01
"""Part of its link's mass or inertia from which on a body is checked; sensors and frames of a few grams are not."""
POINT_MASS_THAT_COUNTS = 0.2
"""Part of the moving mass that a link without tensor may carry before it is suspicious."""
MOVED_TENSOR = (0.5, 0.75)
"""From which values on a tensor is suspected to be about the frame's origin: radius of gyration in lengths of the link
(two masses at its ends, the extreme: 0.5), and centre of mass in radii of gyration (a bar about its end: 0.87)."""


MANY_POINTS = 100
"""Joints and frames of one link: more are compared by their outermost only."""


def inertia_findings(robot: Robot) -> Iterator[Finding]:
    """All findings on masses and tensors."""
    context = context_of(robot)
    for body in given_bodies(robot):
        broken = list(invalid_body(body))
        yield from broken
        if body.grouped and body.mass == 0:
            yield from _grouped(body)
        elif body.moving and not broken:
            yield from _suspicious(body, body.principal, context)
    yield from _singular(robot)


def _grouped(body: GivenBody) -> Iterator[Finding]:
    """Parameters grouped for the equations of motion: legitimate, although no body has them."""
    if body.com.any() or body.tensor.any():
        yield Finding(
            "grouped-parameters",
            "note",
            body.where,
            "moments of inertia without a mass",
            "a body with inertia has mass",
            0.0,
            "kg",
            "grouped (base) parameters, which give right torques although no body has them",
            "None needed, if that is meant; masses and energies of single links are then meaningless",
        )


# Values that are unlikely for the size of the link -----------------------------------------------------------------


class Context(NamedTuple):
    """What a body is compared with.

    reach: of the robot, m. clouds: per link, its joints and frames, in its own axes. frames: of the bodies. link: per
    body, (mass, largest central moment) of its whole link. turns: bodies that some revolute joint turns. free: bodies
    whose mass never acts. mass: all moving mass. tensors: some link has a tensor.
    """

    reach: float
    clouds: list[Array]
    frames: Mapping[str, Frame]
    link: dict[str, tuple[float, float]]
    turns: set[str]
    free: set[str]
    mass: float
    tensors: bool

    def points(self, name: str) -> Array:
        """The joints and frames of a body's link, in the body's axes."""
        frame = self.frames[name]
        R = np.array([[float(x) for x in row] for row in frame.pose.R.rows])
        return np.asarray((self.clouds[frame.link] - _floats(frame.pose.p)) @ R)


def _outermost(points: Array) -> Array:
    """The points, or of very many those that lie farthest out in some directions: the comparisons are coarse."""
    if len(points) <= MANY_POINTS:
        return points
    directions = np.random.default_rng(0).normal(size=(MANY_POINTS, 3))
    return np.asarray(points[np.unique(np.argmax(points @ directions.T, axis=0))])


def context_of(robot: Robot) -> Context:
    links, frames = robot.links, robot.frames
    points: list[list[Array]] = [[np.zeros(3)] for _ in links]
    along = [0.0] * len(links)
    for link in links:
        step = _floats(link.placement.p)
        if link.parent == WORLD:
            step = step - _floats(robot.base.xyz)
        else:
            points[link.parent].append(step)
        slide = 0.0 if link.revolute else abs(float(link.offset)) + travel(robot.joints[link.index])
        along[link.index] = (0.0 if link.parent == WORLD else along[link.parent]) + float(np.linalg.norm(step)) + slide
    for frame in frames.values():
        if frame.link != WORLD:
            points[frame.link].append(_floats(frame.pose.p))
    reach = max((along[i] + float(np.linalg.norm(p)) for i, some in enumerate(points) for p in some), default=0.0)
    whole = [_whole(link) for link in links]
    turning = [False] * len(links)
    for link in links:
        turning[link.index] = link.revolute or (link.parent != WORLD and turning[link.parent])
    context = Context(
        reach,
        [_outermost(np.array(some)) for some in points],
        frames,
        {},
        set(),
        set(),
        sum(mass for mass, _ in whole),
        any(moment > mass * DUST**2 for mass, moment in whole),
    )
    for joint in robot.tree:
        name, frame = joint.body.name, frames[joint.body.name]
        if frame.link == WORLD:
            continue
        context.link[name] = whole[frame.link]
        context.turns.update([name] if turning[frame.link] else [])
        context.free.update([name] if _weightless(robot, links[frame.link]) else [])
    return context


def _whole(link: Link) -> tuple[float, float]:
    """Mass and largest central moment of a whole link."""
    mass, moment = float(link.inertia.mass), _floats(link.inertia.moment)
    tensor = np.array([[float(x) for x in row] for row in link.inertia.tensor.rows])
    central = tensor - steiner(1 / mass, moment) if mass > np.finfo(float).tiny else tensor
    return mass, float(np.abs(np.diag(central)).max())


def _weightless(robot: Robot, link: Link) -> bool:
    """True for a link that only turns about a vertical axis that stands still: its mass never acts."""
    if link.parent != WORLD or not link.revolute:
        return False
    axis, gravity = _floats(link.placement.R.column(2)), _floats(robot.gravity)
    return bool(np.linalg.norm(np.cross(axis, gravity)) <= ROUNDING * np.linalg.norm(gravity))


def travel(joint: Joint) -> float:
    """Largest travel of a prismatic joint from its zero within its limits, m; 0 if there are none."""
    if joint.kind != "prismatic" or joint.limits is None:
        return 0.0
    return max((abs(float(end)) for end in (joint.limits.lower, joint.limits.upper) if end is not None), default=0.0)


def _floats(v: Vec3) -> Array:
    return np.array([float(x) for x in v])


def _suspicious(body: GivenBody, principal: Array, context: Context) -> Iterator[Finding]:
    if body.mass == 0:
        if body.tensor.any():
            yield _massless_tensor(body, context)
        return
    points = context.points(body.body.name)
    distance = float(np.linalg.norm(points - body.com, axis=1).min())
    if context.reach > 0 and distance > context.reach * _farthest(body, points, distance):
        yield Finding(
            "com-far",
            "suspicious",
            body.where,
            f"its centre of mass is {distance:.3g} m from the joints of "
            f"its link; the robot reaches {context.reach:.3g} m",
            "the centre of mass lies near the link",
            distance,
            "m",
            "millimetres instead of metres, a shifted decimal point, or coordinates in the base frame",
            "Give the centre of mass in metres, in the body's own frame",
        )
    if not body.tensor.any():
        yield from _point_mass(body, context)
    elif _counts(body, principal, context):
        yield from _gyration(body, principal, np.vstack([points, body.com]))


def _farthest(body: GivenBody, points: Array, distance: float) -> float:
    """Reaches of the robot that a centre of mass may be away from the joints of its link."""
    gyration = math.sqrt(max(float(np.trace(body.tensor)), 0.0) / 2 / body.mass)
    extent = float(np.ptp(points, axis=0).max())
    outside = gyration > 0 and distance > COM_OUTSIDE[1] * (gyration + extent)
    return COM_OUTSIDE[0] if outside else COM_FARTHEST


def _massless_tensor(body: GivenBody, context: Context) -> Finding:
    if float(body.principal[2]) < PART_THAT_COUNTS * context.link[body.body.name][1]:
        return Finding(
            "inertia-without-mass",
            "note",
            body.where,
            "it has a small inertia tensor but no mass",
            "a body with inertia has mass",
            0.0,
            "kg",
            "a frame, such as that of a tool, that an exporter gave a tensor",
            "None needed; omit the tensor if the body is only a frame",
        )
    if body.body.name in context.free:
        return Finding(
            "inertia-without-mass",
            "note",
            body.where,
            "it has an inertia tensor but no mass",
            "a body with inertia has mass",
            0.0,
            "kg",
            "only its inertia is known; it turns about a vertical axis, where its mass has no effect",
            "None needed; give the mass if energies or base forces matter",
        )
    return Finding(
        "inertia-without-mass",
        "suspicious",
        body.where,
        "it has an inertia tensor but no mass",
        "a body with inertia has mass",
        0.0,
        "kg",
        "the mass is missing, or this is the inertia of a rotor",
        "Give the mass; the inertia of a motor belongs to `rotor`",
    )


def _point_mass(body: GivenBody, context: Context) -> Iterator[Finding]:
    mass, moment = context.link[body.body.name]
    heavy = body.mass > POINT_MASS_THAT_COUNTS * context.mass and context.tensors and moment <= mass * DUST**2
    severity: Severity = "suspicious" if heavy and body.body.name in context.turns else "note"
    if body.mass < PART_THAT_COUNTS * mass:
        return
    yield Finding(
        "point-mass",
        severity,
        body.where,
        f"it has {body.mass:g} kg but no inertia tensor",
        "a body with mass has an inertia tensor",
        body.mass,
        "kg",
        "the tensor is missing: other links have one"
        if severity == "suspicious"
        else "a point mass, as in textbooks, or a tensor too small to be given",
        "Give the tensor at the centre of mass, if it is known",
    )


def _counts(body: GivenBody, principal: Array, context: Context) -> bool:
    mass, moment = context.link[body.body.name]
    return bool(body.mass >= PART_THAT_COUNTS * mass or principal[2] >= PART_THAT_COUNTS * moment)


def _gyration(body: GivenBody, principal: Array, points: Array) -> Iterator[Finding]:
    """The ellipsoid of the same mass and inertia must be neither lighter than foam nor denser than any metal."""
    length = float(np.linalg.norm(points[:, None] - points[None], axis=-1).max())
    gyration = math.sqrt(principal[2] / body.mass)
    squares = np.maximum(5 / body.mass * (principal.sum() / 2 - principal), 0.0)  # squared semi-axes
    least = body.mass / (4 / 3 * math.pi * math.sqrt(squares.sum() / 3) ** 3)  # of all shapes a ball fills most space
    volume = 4 / 3 * math.pi * math.sqrt(squares.prod())
    if body.mass < LIGHTEST * volume and gyration > LONGEST * length:
        yield Finding(
            "gyration-large",
            "suspicious",
            body.where,
            f"{body.mass:.3g} kg with a radius of gyration of "
            f"{gyration:.3g} m, on a link of {length:.3g} m: less dense than foam "
            f"({body.mass / volume:.2g} kg/m^3)",
            "mass and tensor match the size of the link",
            gyration,
            "m",
            "a tensor in kg mm^2, kg cm^2 or lb in^2, about another origin, or a placeholder",
            "Give kg and kg m^2, at the centre of mass",
        )
    elif least > DENSEST:
        yield Finding(
            "gyration-small",
            "suspicious",
            body.where,
            f"{body.mass:.3g} kg within a radius of gyration of "
            f"{1000 * gyration:.3g} mm: denser than any metal ({least:.2g} kg/m^3)",
            "mass and tensor match each other",
            1000 * gyration,
            "mm",
            "a placeholder instead of a tensor, a mass in grams, or a tensor in another unit",
            "Give kg and kg m^2, at the centre of mass",
        )
    elif not body.grouped and _about_origin(body, gyration, points):
        yield Finding(
            "tensor-about-origin",
            "note",
            body.where,
            f"its radius of gyration, {gyration:.3g} m, is large for a link of {length:.3g} m",
            "the tensor is about the centre of mass",
            gyration / length,
            "lengths of the link",
            "a tensor about the frame's origin: moved to the centre of mass, "
            f"{np.linalg.norm(body.com):.3g} m away, it would still be physically consistent",
            "Compare with the source; subtract m (c.c 1 - c c^T) if that is the case",
        )


def _about_origin(body: GivenBody, gyration: float, points: Array) -> bool:
    """True if the tensor is as large as one about the frame's origin. A link of unknown length tells nothing."""
    length = float(np.linalg.norm(points[:-1], axis=1).max())
    largest, farthest = MOVED_TENSOR
    if length == 0 or gyration < largest * length or np.linalg.norm(body.com) < farthest * gyration:
        return False
    return is_consistent(body.tensor - steiner(body.mass, body.com))


# What makes the mass matrix singular -------------------------------------------------------------------------------


def _singular(robot: Robot) -> Iterator[Finding]:
    """Ends of branches without inertia about (or mass along) their joint, fixed bodies merged."""
    carries = {link.index: False for link in robot.links}
    """Per link: whether one of its descendants has inertia."""
    for link in reversed(robot.links):
        massless = all(x == 0 for x in link.inertia.parameters())
        if not carries[link.index] and not _resists(link, robot.joints[link.index]):
            joint = robot.joints[link.index]
            why = "has neither mass nor inertia" if massless else "has no inertia about the axis of its joint"
            yield Finding(
                "massless-end",
                "suspicious",
                f"joint {joint.name!r}",
                f"the moving end {joint.body.name!r} {why}, nor has its motor: the mass matrix is singular",
                "the end of every branch has inertia about its joint",
                0.0,
                "kg m^2" if link.revolute else "kg",
                "a missing mass or tensor" if massless else "a point mass on the joint axis",
                "Give the body its inertia or the joint its rotor, or make the joint fixed",
            )
        if link.parent != WORLD and (carries[link.index] or not massless):
            carries[link.parent] = True


def _resists(link: Link, joint: Joint) -> bool:
    rotor = joint.rotor
    if rotor is not None and float(rotor.inertia) != 0 and float(rotor.ratio) != 0:
        return True
    inertia = link.inertia
    if not link.revolute:
        return float(inertia.mass) != 0
    scale = max(abs(float(x)) for x in inertia.tensor.upper())
    return abs(float(inertia.tensor.rows[2][2])) > AXIAL * scale
