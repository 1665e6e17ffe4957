"""Check-up of masses and tensors: what no body can have, and what a link of this size hardly has."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np

from armdyn.algebra import Inertia, Vec3
from armdyn.robot.findings import Finding
from armdyn.robot.links import WORLD, Link
from armdyn.robot.parts import Body, Joint
from armdyn.robot.robot import Robot

Array = np.ndarray[Any, Any]

ROUNDING = 1e-6
"""Part of the largest moment by which a tensor may fail: files give about six digits (rods and plates lie on the
boundary, so rounding puts every second of them outside)."""
PUBLISHED = 2e-2
"""Part of the largest moment that rounding to two digits, as in printed tables, can explain."""
AXIAL = 1e-9
"""Part of a link's inertia below which what it has about its joint axis is rounding of a zero."""
GYRATION_LARGEST = 2.0
"""Largest radius of gyration in sizes of the robot. A rod has 0.29 of its length; mm for m makes it 1000 times."""
GYRATION_SMALLEST = 5e-4
"""Smallest radius of gyration in sizes of the robot: half a millimetre for an arm of one metre."""
COM_FARTHEST = 5.0
"""Largest distance of a centre of mass from its link's joints, in sizes of the robot; mm for m makes it 1000 times."""


class _Given(NamedTuple):
    """One body in numbers: as given, and about the centre of mass."""

    where: str
    body: Body
    moving: bool
    mass: float
    com: Array
    tensor: Array
    reduced: bool


def inertia_findings(robot: Robot) -> Iterator[Finding]:
    """All findings on masses and tensors."""
    bodies = [_given(body, moving) for body, moving in _bodies(robot)]
    tensors = np.array([body.tensor for body in bodies])
    finite = np.isfinite(tensors).all(axis=(1, 2)) & np.array([np.isfinite([b.mass, *b.com]).all() for b in bodies])
    moments = np.linalg.eigvalsh(np.where(finite[:, None, None], tensors, 0.0))
    sizes = _sizes(robot)
    tensor_given = any(body.moving and body.mass > 0 and body.tensor.any() for body in bodies)
    for body, principal, known in zip(bodies, moments, finite, strict=True):
        if not known:
            yield Finding("not-finite", "impossible", body.where, "its inertia is not made of finite numbers",
                          "finite numbers", advice="Give numbers")  # fmt: skip
            continue
        if body.reduced and body.mass == 0:
            yield from _reduced(body)
            continue
        broken = list(_impossible(body, principal))
        yield from broken
        if body.moving and not broken:
            yield from _doubtful(body, principal, sizes, tensor_given)
    yield from _singular(robot)


def _bodies(robot: Robot) -> Iterator[tuple[Body, bool]]:
    frames = robot.frames
    yield robot.root, False
    for joint in robot.tree:
        yield joint.body, frames[joint.body.name].link != WORLD


def _given(body: Body, moving: bool) -> _Given:
    inertia = body.inertia
    reduced = isinstance(inertia, Inertia)
    mass = float(inertia.mass)
    tensor = np.array([[float(x) for x in row] for row in inertia.tensor.rows])
    vector = np.array([float(x) for x in (inertia.moment if isinstance(inertia, Inertia) else inertia.com)])
    if reduced and mass != 0:
        vector = vector / mass
        tensor = tensor - _steiner(mass, vector)
    return _Given(f"body {body.name!r}", body, moving, mass, vector, tensor, reduced)


def _steiner(mass: float, c: Array) -> Array:
    return mass * (c @ c * np.eye(3) - np.outer(c, c))


def _reduced(body: _Given) -> Iterator[Finding]:
    """Parameters grouped for the equations of motion: no body, and legitimate."""
    if body.com.any() or body.tensor.any():
        yield Finding("grouped-parameters", "note", body.where, "moments of inertia without a mass",
                      "a body with inertia has mass", 0.0, "kg", "grouped (base) parameters, which give right torques "
                      "although no body has them", "Nothing, if that is meant; masses and energies of single links "
                      "then mean nothing")  # fmt: skip


# What no body can have --------------------------------------------------------------------------------------------


def _impossible(body: _Given, principal: Array) -> Iterator[Finding]:
    if body.mass < 0:
        yield Finding("negative-mass", "impossible", body.where, f"its mass is {body.mass:g} kg", "mass >= 0",
                      body.mass, "kg", _identified(body, "a sign, or a load taken away from a link"),
                      "Give the mass of the body")  # fmt: skip
    if body.mass == 0 and body.tensor.any():
        yield Finding("inertia-without-mass", "doubtful", body.where, "it has a tensor of inertia but no mass",
                      "a body with inertia has mass", 0.0, "kg", "the mass was left out, or the inertia of a rotor "
                      "was put here", "Give the mass; the inertia of a motor belongs to `rotor`")  # fmt: skip
    scale = float(np.abs(body.tensor).max())
    asymmetry = float(np.abs(body.tensor - body.tensor.T).max())
    if asymmetry > ROUNDING * scale:
        yield Finding("not-symmetric", "impossible", body.where, "its tensor of inertia is not symmetric", "I = I^T",
                      asymmetry, "kg m^2", "a mistyped entry", "Give xx xy xz yy yz zz")  # fmt: skip
    elif principal[0] < -ROUNDING * scale:
        yield Finding("not-positive", "impossible", body.where, "its tensor of inertia is not positive: smallest "
                      f"principal moment {principal[0]:.4g} kg m^2", "all principal moments >= 0",
                      float(principal[0]), "kg m^2", _cause(body, -principal[0] / scale), _ADVICE)  # fmt: skip
    elif (excess := principal[2] - principal[0] - principal[1]) > ROUNDING * principal[2]:
        yield Finding("triangle", "impossible", body.where, "its principal moments break the triangle inequality: "
                      f"{principal[2]:.4g} > {principal[0]:.4g} + {principal[1]:.4g} kg m^2 (by "
                      f"{100 * excess / principal[2]:.2g} %)", "the largest principal moment is at most the sum of "
                      "the others", float(excess), "kg m^2", _cause(body, excess / principal[2]), _ADVICE)  # fmt: skip


_ADVICE = "Compare with the source or the CAD data: six entries at the centre of mass, in axes of the body frame"


def _identified(body: _Given, otherwise: str) -> str:
    return "an identified or grouped parameter (the torques may still be right)" if body.reduced else otherwise


def _cause(body: _Given, part: float) -> str:
    """The first explanation that would make the tensor possible."""
    T = body.tensor
    if part < PUBLISHED:
        return "rounding in the source"
    if body.reduced:
        given = np.array([[float(x) for x in row] for row in body.body.inertia.tensor.rows])
        if _possible(given):
            return ("the tensor is given at the centre of mass instead of the frame's origin, or these are grouped or "
                    "identified parameters (then the torques may still be right)")  # fmt: skip
        return "grouped or identified parameters (then the torques may still be right)"
    zeros = [axis for axis, moment in zip("xyz", np.diag(T), strict=True) if moment == 0]
    if zeros:
        return f"a moment was left at zero: {' and '.join('I' + 2 * axis for axis in zeros)}"
    if _possible(2 * np.diag(np.diag(T)) - T):
        return "the products of inertia have the opposite sign (armdyn and URDF take I_xy = -integral of x y dm)"
    xx, yy, zz, xy, xz, yz = (T[0, 0], T[0, 1], T[0, 2], T[1, 1], T[1, 2], T[2, 2])
    if _possible(np.array([[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]])) and min(abs(yy), abs(zz)) > 0:
        return "the six entries are in the order xx yy zz xy xz yz; here they are xx xy xz yy yz zz"
    if body.com.any() and _possible(T + _steiner(body.mass, body.com)):
        return "the tensor was moved to the centre of mass twice, or the centre of mass is wrong"
    return "a mistyped entry, an entry in another unit, or values identified without physical constraints"


def _possible(tensor: Array) -> bool:
    moments = np.linalg.eigvalsh(tensor)
    scale = float(np.abs(moments).max())
    return bool(moments[0] >= -ROUNDING * scale and moments[2] - moments[0] - moments[1] <= ROUNDING * scale)


# What a link of this size hardly has ------------------------------------------------------------------------------


class _Sizes(NamedTuple):
    """reach: of the robot, m. points: per body, the joints of its link as seen from the body's frame."""

    reach: float
    points: dict[str, Array]


def _sizes(robot: Robot) -> _Sizes:
    links, frames = robot.links, robot.frames
    points: list[list[Array]] = [[np.zeros(3)] for _ in links]
    along = [0.0] * len(links)
    for link in links:
        step = _floats(link.placement.p)
        if link.parent == WORLD:
            step = step - _floats(robot.base.xyz)
        else:
            points[link.parent].append(step)
        slide = 0.0 if link.revolute else abs(float(link.offset)) + _travel(robot.joints[link.index])
        along[link.index] = (0.0 if link.parent == WORLD else along[link.parent]) + float(np.linalg.norm(step)) + slide
    for frame in frames.values():
        if frame.link != WORLD:
            points[frame.link].append(_floats(frame.pose.p))
    reach = max((along[i] + float(np.linalg.norm(p)) for i, some in enumerate(points) for p in some), default=0.0)
    seen = {}
    for joint in robot.tree:
        frame = frames[joint.body.name]
        if frame.link != WORLD:
            R = np.array([[float(x) for x in row] for row in frame.pose.R.rows])
            seen[joint.body.name] = (np.array(points[frame.link]) - _floats(frame.pose.p)) @ R
    return _Sizes(reach, seen)


def _travel(joint: Joint) -> float:
    if joint.limits is None:
        return 0.0
    return max((abs(float(end)) for end in (joint.limits.lower, joint.limits.upper) if end is not None), default=0.0)


def _floats(v: Vec3) -> Array:
    return np.array([float(x) for x in v])


def _doubtful(body: _Given, principal: Array, sizes: _Sizes, tensor_given: bool) -> Iterator[Finding]:
    if body.mass == 0:
        return
    distance = float(np.linalg.norm(sizes.points[body.body.name] - body.com, axis=1).min())
    if sizes.reach > 0 and distance > COM_FARTHEST * sizes.reach:
        yield Finding("com-far", "doubtful", body.where, f"its centre of mass is {distance:.3g} m off the joints "
                      f"of its link; the whole robot reaches {sizes.reach:.3g} m", "it lies near the link",
                      distance, "m", "millimetres instead of metres, or coordinates in the base frame",
                      "Give the centre of mass in metres, in the body's own frame")  # fmt: skip
    if not body.tensor.any():
        severity, cause = ("doubtful", "the tensor was left out: other links have one") if tensor_given else (
            "note", "a model of point masses")  # fmt: skip
        yield Finding("point-mass", severity, body.where, f"it has {body.mass:g} kg but no tensor of inertia",  # type: ignore[arg-type]
                      "a body with mass has a tensor of inertia", body.mass, "kg", cause,
                      "Give the tensor at the centre of mass, if it is known")  # fmt: skip
        return
    size = max(sizes.reach, float(np.linalg.norm(body.com)))
    gyration = math.sqrt(principal[2] / body.mass)
    if size > 0 and gyration > GYRATION_LARGEST * size:
        yield Finding("gyration-large", "doubtful", body.where, f"its radius of gyration is {gyration:.3g} m; the "
                      f"whole robot reaches {size:.3g} m", f"at most {GYRATION_LARGEST:g} times the robot's reach",
                      gyration / size, "times the reach", "a tensor in kg mm^2, kg cm^2 or lb in^2, or about another "
                      "origin; a placeholder such as 1 1 1", "Give kg and kg m^2, at the centre of mass")  # fmt: skip
    elif size > 0 and gyration < GYRATION_SMALLEST * size:
        yield Finding("gyration-small", "doubtful", body.where, f"its radius of gyration is {1000 * gyration:.3g} mm; "
                      f"the robot reaches {size:.3g} m", f"at least {GYRATION_SMALLEST:g} times the robot's reach",
                      gyration / size, "times the reach", "a mass in gram, or a tensor in another unit",
                      "Give kg and kg m^2, at the centre of mass")  # fmt: skip


# What makes the mass matrix singular ------------------------------------------------------------------------------


def _singular(robot: Robot) -> Iterator[Finding]:
    """Ends of branches that resist their joint in no way, fixed bodies merged."""
    carries = {link.index: False for link in robot.links}
    """Per link: something with inertia hangs on it."""
    for link in reversed(robot.links):
        massless = all(x == 0 for x in link.inertia.parameters())
        if not carries[link.index] and not _resists(link, robot.joints[link.index]):
            joint = robot.joints[link.index]
            why = "has neither mass nor inertia" if massless else "has no inertia about the axis of its joint"
            yield Finding("massless-end", "doubtful", f"joint {joint.name!r}", f"the moving end {joint.body.name!r} "
                          f"{why}, nor has its motor: the mass matrix is singular", "the end of every branch resists "
                          "its joint", 0.0, "kg m^2" if link.revolute else "kg",
                          "mass or tensor left out" if massless else "a point mass on the joint axis",
                          "Give the body its inertia or the joint its rotor, or make the joint fixed")  # fmt: skip
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
