"""Edits that make a new robot from an old one."""

from __future__ import annotations

import operator
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from armdyn.algebra import ZERO, CentralInertia, Inertia, Mat3, Pose, Scalar, Vec3, ops, rpy_of
from armdyn.errors import ArmdynError, RobotError, unknown_name
from armdyn.graph import Node, to_float
from armdyn.robot.compounds import expanded
from armdyn.robot.features import (
    has_asymmetric_friction,
    has_dry_friction,
    has_friction_law,
    has_load_friction,
    has_presliding,
    has_static_friction,
    is_dry,
)
from armdyn.robot.links import inertia_at_rest
from armdyn.robot.parts import (
    Body,
    FreeTransform,
    Friction,
    Geometry,
    Joint,
    Kind,
    ModifiedDH,
    Placement,
    StandardDH,
)
from armdyn.robot.robot import Robot


def add_payload(robot: Robot, load: CentralInertia, on: str | None) -> Robot:
    """A fixed body at the tool frame (or in the frame of body `on`); the tool stays where it was."""
    tool_on = robot.tool_body
    if on is not None:
        body_named(robot, on)
    taken = {joint.body.name for joint in robot.tree} | {joint.name for joint in robot.tree}
    name = next(n for n in ("payload", *(f"payload{i}" for i in range(2, 1000))) if n not in taken)
    placement = robot.tool if on is None else Placement()
    joint = Joint(name, "fixed", FreeTransform(placement), on or tool_on, Body(name, load))
    return replace(robot, tree=(*robot.tree, joint), tool_on=tool_on, payloads=(*robot.payloads, name))


def remove(robot: Robot, parts: Sequence[str]) -> Robot:
    """The robot without the named parts or features; those that it had are noted in `left_out`."""
    for part in parts:
        bare = _without(robot, part)
        if bare is not robot and part not in robot.left_out:
            bare = replace(bare, left_out=(*bare.left_out, part))
        robot = bare
    return robot


def _without(robot: Robot, part: str) -> Robot:
    if part == "gravity":
        return robot if robot.gravity == ZERO else replace(robot, gravity=ZERO)
    if part == "loops":
        return replace(robot, loops=()) if robot.loops else robot
    if part == "coupling":
        return replace(robot, coupling=()) if robot.coupling else robot
    if part == "free_joints":
        return welded(robot) if any(joint.compound for joint in robot.tree) else robot
    if part == "payload":
        return _unloaded(robot) if robot.payloads else robot
    tree = tuple(_bare(joint, part) for joint in robot.tree)
    if all(map(operator.is_, tree, robot.tree)):
        return robot
    bare = replace(robot, tree=tree)
    # Without `rotors_on_links` the carriers no longer feel the spin of the rotors, but still carry them.
    return with_resting_rotors(bare, robot.tree) if part == "rotors_on_links" else bare


def with_resting_rotors(robot: Robot, stopped: Sequence[Joint]) -> Robot:
    """The robot with the rotors of some joints as parts of the bodies that carry them.

    A rotor of the full model is a body with mass. Where its joint is locked, fixed or left out it no longer spins on
    its carrier, but it is still carried.
    """
    loads: dict[str, Inertia] = {}
    for joint, rotor in ((joint, joint.rotor) for joint in stopped):
        if rotor is not None and rotor.model == "full":
            load, on = inertia_at_rest(rotor, Pose.identity()).at_origin(), rotor.on or joint.parent
            loads[on] = loads[on] + load if on in loads else load

    # A counterbalance lifts its body and not the rotor, which then stays a body of its own.
    lifted = {joint.body.name for joint in robot.tree if not ops.is_zero(joint.body.gravity_compensation)}
    beside = [
        Joint(f"{name}_rotors", "fixed", FreeTransform(), name, Body(f"{name}_rotors", load))
        for name, load in loads.items()
        if name in lifted
    ]

    def loaded(body: Body) -> Body:
        if body.name not in loads or body.name in lifted:
            return body
        return replace(body, inertia=body.inertia.at_origin() + loads[body.name])

    tree = tuple(replace(joint, body=loaded(joint.body)) for joint in robot.tree) if loads else robot.tree
    return replace(robot, tree=(*tree, *beside), root=loaded(robot.root))


def welded(robot: Robot) -> Robot:
    """The robot with its free and ball joints held where they are the identity."""
    tree = tuple(_held(joint, 0) if joint.compound else joint for joint in robot.tree)
    return replace(robot, tree=tree)


def floated(robot: Robot) -> Robot:
    """The robot on a free joint, unless it stands on one already."""
    fixed = {robot.root.name}
    for joint in robot.tree:
        if joint.parent in fixed and joint.compound is not None and joint.compound.kind == "free":
            return robot
        if joint.parent in fixed and joint.kind == "fixed":
            fixed.add(joint.body.name)
    taken = {name for joint in robot.tree for name in (joint.name, joint.body.name)} | {robot.root.name}
    world, name = (
        next(f"{word}{k}" for k in ("", *range(2, 99)) if f"{word}{k}" not in taken) for word in ("world", "root_joint")
    )
    joint = Joint(name, "fixed", FreeTransform(), world, robot.root)
    return replace(robot, tree=(*expanded(joint, "free"), *robot.tree), root=Body(world))


def _unloaded(robot: Robot) -> Robot:
    tree = tuple(joint for joint in robot.tree if joint.body.name not in robot.payloads)
    return replace(robot, tree=tree, payloads=())


FIELDS = {
    "friction": "friction",
    "rotors": "rotor",
    "limits": "limits",
    "motors": "motor",
    "elastic": "elastic",
    "mimic": "mimic",
    "springs": "spring",
}
"""Which field of a joint holds a part that can be taken away."""


def _bare(joint: Joint, part: str) -> Joint:
    changes: dict[str, Any] = {}
    body = joint.body
    friction, motor, rotor = joint.friction, joint.motor, joint.rotor
    if part in FIELDS and getattr(joint, FIELDS[part]) is not None:
        changes[FIELDS[part]] = None
    if part == "friction" and motor is not None and not (ops.is_zero(motor.viscous) and ops.is_zero(motor.coulomb)):
        changes["motor"] = replace(motor, viscous=0, coulomb=0, width=0, values={})
    if part == "dry_friction" and has_dry_friction(joint):
        changes["motor"] = motor and replace(motor, coulomb=0, values=_without_values(motor.values, is_dry))
        changes["friction"] = friction and _without_dry(friction)
    if part == "static_friction" and has_static_friction(joint):
        changes["friction"] = friction and replace(friction, static=0)
    if part == "asymmetric_friction" and has_asymmetric_friction(joint):
        changes["friction"] = None
    if part == "friction_law" and has_friction_law(joint):
        changes["friction"] = None
        changes["motor"] = motor and replace(motor, width=0, values={})
    if part == "load_friction" and has_load_friction(joint):
        changes["friction"] = friction and replace(friction, values=_without_values(friction.values, "load".__eq__))
    if part == "presliding" and has_presliding(joint):
        for key, rubbing in (("friction", friction), ("motor", motor)):
            if rubbing is not None:
                changes[key] = replace(rubbing, values=_without_values(rubbing.values, _of_presliding))
    if part == "gravity_compensation" and not ops.is_zero(body.gravity_compensation):
        changes["body"] = replace(body, gravity_compensation=0)
    if part == "offsets" and friction is not None and not ops.is_zero(friction.offset):
        changes["friction"] = replace(friction, offset=0)
    if part == "rotors_on_links" and rotor is not None and rotor.model == "full":
        changes["rotor"] = replace(rotor, model="reflected", on=None)
    return replace(joint, **changes) if changes else joint


def _without_dry(friction: Friction) -> Friction:
    return replace(friction, coulomb=0, static=0, values=_without_values(friction.values, is_dry))


def _of_presliding(key: str) -> bool:
    return key.startswith(("presliding_", "distance_"))


def _without_values(values: Mapping[str, Scalar], left_out: Callable[[str], bool]) -> dict[str, Scalar]:
    """The further numbers of a friction without some of them."""
    return {name: value for name, value in values.items() if not left_out(name)}


def lock(robot: Robot, values: Mapping[str, Scalar]) -> Robot:
    """The named joints held at a position."""
    moving = [joint.name for joint in robot.movable]
    for name in values:
        if name not in moving:
            raise unknown_name("moving joint", name, moving, where=f"robot {robot.name!r}")
    values = _with_followers(robot, values)
    tree = tuple(_held(joint, values[joint.name]) if joint.name in values else joint for joint in robot.tree)
    held = [joint for joint in robot.tree if joint.name in values]
    return with_resting_rotors(replace(robot, tree=tree), held)


def _with_followers(robot: Robot, values: Mapping[str, Scalar]) -> Mapping[str, Scalar]:
    """The positions of the held joints and of the mimic joints that follow them."""
    laws = {joint.name: joint.mimic for joint in robot.movable if joint.mimic is not None}
    held = dict(values)
    while following := {name: law for name, law in laws.items() if law.joint in held and name not in held}:
        held |= {name: ops.add(ops.mul(law.ratio, held[law.joint]), law.offset) for name, law in following.items()}
    return held


def _held(joint: Joint, value: Scalar) -> Joint:
    geometry = shifted(joint.geometry, joint.kind, value)
    bare: dict[str, Any] = dict.fromkeys(FIELDS.values())
    return replace(joint, kind="fixed", geometry=geometry, passive=False, home=0, compound=None, **bare)


def shifted(geometry: Geometry, kind: Kind, value: Scalar) -> Geometry:
    """The constant geometry of a joint held at `value`."""
    if isinstance(geometry, StandardDH | ModifiedDH):
        key = "theta" if kind == "revolute" else "d"
        return replace(geometry, **{key: ops.add(getattr(geometry, key), value)})
    value, placement = ops.add(value, geometry.zero), geometry.placement
    if value == 0:
        return FreeTransform(placement)
    if kind == "prismatic":
        return FreeTransform(replace(placement, xyz=placement.xyz + value * (placement.pose().R @ geometry.axis)))
    # R = Rz(yaw) Ry(pitch) Rx(roll): a turn about x adds to the roll, one about y to the pitch if there is no roll, ...
    axis, rpy = list(geometry.axis), list(placement.rpy)
    for k in range(3):
        if all(map(ops.is_zero, (*rpy[:k], *axis[:k], *axis[k + 1 :]))):
            rpy[k] = ops.tidy(ops.add(rpy[k], ops.mul(axis[k], value)))
            return FreeTransform(replace(placement, rpy=Vec3(*rpy)))
    return FreeTransform(
        numeric_placement(Joint("", kind, FreeTransform(placement, geometry.axis), "", Body("")).pose(value))
    )


def numeric_placement(pose: Pose) -> Placement:
    """Position and roll-pitch-yaw of a pose whose rotation is given in numbers."""
    try:
        R = Mat3([[to_float(entry) if isinstance(entry, Node) else entry for entry in row] for row in pose.R.rows])
    except ArmdynError:
        raise RobotError(
            "a rotation with named parameters cannot be turned into roll, pitch, yaw",
            advice="Give the parameters numbers first.",
        ) from None
    return Placement(pose.p, Vec3(*map(ops.tidy, rpy_of(R.array()))))


def body_named(robot: Robot, name: str) -> str:
    """The body of that name, or the body of the joint of that name."""
    for joint in robot.tree:
        if name in (joint.body.name, joint.name):
            return joint.body.name
    if name == robot.root.name:
        return name
    names = [robot.root.name, *(joint.body.name for joint in robot.tree)]
    raise unknown_name("body", name, names, where=f"robot {robot.name!r}")


def sub_chain(robot: Robot, base: str | None, tip: str | None) -> Robot:
    """The subtree of body `base`; with `tip`, only the chain between the two (from the root, if there is no base)."""
    if tip is not None:
        robot = replace(robot, tool=Placement(), tool_on=body_named(robot, tip))
    if base is None and (tip is None or robot.loops):  # the way to a tip of a closed chain is not a chain
        return robot
    root = robot.root.name if base is None else body_named(robot, base)
    tree = _subtree(robot, root)
    if tip is not None:
        tree, dropped = _on_the_way(tree, root, robot.tool_on or "")
        if dropped:
            note = f"left out, not on the chain from {root} to {tip}: {', '.join(dropped)}"
            robot = replace(robot, notes=(*robot.notes, note))
    kept = {root, *(joint.body.name for joint in tree)}
    if robot.tool_on is not None and robot.tool_on not in kept:
        raise RobotError(f"the tip {tip!r} is not a descendant of the base {base!r}", where=f"robot {robot.name!r}")
    loops = tuple(loop for loop in robot.loops if {loop.first, loop.second} <= kept)
    body = next((joint.body for joint in robot.tree if joint.body.name == root), robot.root)
    movable = {joint.name for joint in tree if joint.kind != "fixed"}
    lost = [joint.name for joint in tree if joint.mimic is not None and joint.mimic.joint not in movable]
    if lost:
        note = f"independent, because the joint that they follow is left out: {', '.join(lost)}"
        tree = tuple(replace(joint, mimic=None) if joint.name in lost else joint for joint in tree)
        robot = replace(robot, notes=(*robot.notes, note))
    placed = robot.base if base is None else Placement()
    for joint in tree:
        if joint.rotor is not None and joint.rotor.on is not None and joint.rotor.on not in kept:
            tree = tuple(_bare(other, "rotors_on_links") if other is joint else other for other in tree)
            note = f"the rotor of {joint.name} is reflected, because the body that carries it is left out"
            robot = replace(robot, notes=(*robot.notes, note))
    names = {joint.name for joint in tree}
    gone = [
        joint
        for joint in robot.tree
        if joint.name not in names and joint.rotor is not None and (joint.rotor.on or joint.parent) in kept
    ]
    return with_resting_rotors(replace(robot, tree=tree, root=body, base=placed, loops=loops), gone)


def _subtree(robot: Robot, root: str) -> tuple[Joint, ...]:
    carried = {root}
    tree = []
    for joint in robot.tree:
        if joint.parent in carried:
            carried.add(joint.body.name)
            tree.append(joint)
    return tuple(tree)


def _on_the_way(tree: tuple[Joint, ...], root: str, tip: str) -> tuple[tuple[Joint, ...], list[str]]:
    """Joints from root to tip, and the bodies fixed to them; what moves beside them is left out and named."""
    by_body = {joint.body.name: joint for joint in tree}
    way: set[str] = set()
    body = tip
    while body in by_body:
        way.add(body)
        body = by_body[body].parent
    kept: set[str] = {root}
    chain, dropped = [], []
    for joint in tree:
        rigid = joint.kind == "fixed" and joint.parent in kept
        if joint.body.name in way or rigid:
            kept.add(joint.body.name)
            chain.append(joint)
        elif joint.kind != "fixed":
            dropped.append(joint.name)
    return tuple(chain), dropped
