"""Live models of other engines as one side of a comparison.

Torques come from the engine itself. Where its numbers can be read, a Robot is rebuilt from them; it is used only if its
torques agree with the engine's own at random states.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np

from armdyn.algebra import CentralInertia, Mat3, Vec3, rpy_of
from armdyn.algebra.poses import rot_quaternion
from armdyn.doctor.sides import Side
from armdyn.doctor.variant import States, Variant, random_states, uniform
from armdyn.robot.compounds import expanded
from armdyn.robot.engines import forces_from_mujoco, to_mujoco, to_pinocchio
from armdyn.robot.parts import (
    Body,
    CompoundKind,
    FreeTransform,
    Friction,
    Joint,
    Kind,
    Limits,
    Placement,
    Rotor,
    Spring,
)
from armdyn.robot.robot import Robot
from armdyn.typing import Floats

AGREES = 1e-7
"""Relative difference of torques up to which the rebuilt robot stands for the engine's model."""


def _module(model: Any) -> str:
    return type(model).__module__.split(".")[0]


def _placement(R: Any, p: Any) -> Placement:
    angles = rpy_of(np.asarray(R, float))
    return Placement(Vec3(*map(float, p)), Vec3(*(0.0 if abs(a) < 1e-15 else a for a in angles)))


def _tensor(I: Any) -> Mat3:
    I = np.asarray(I, float)
    I = (I + I.T) / 2
    return Mat3(tuple(tuple(float(x) for x in row) for row in I))


def _checked(
    name: str, joints: tuple[str, ...], torques: Callable[[States], Floats], robot: Robot | None, notes: tuple[str, ...]
) -> Side:
    """The side, with the rebuilt robot if it gives the engine's own torques."""
    if robot is not None:
        states = random_states(robot, 8, seed=1)
        own = torques(states)
        apart = np.abs(Variant(robot).torques(states) - own).max() / max(float(np.abs(own).max()), 1e-12)
        if not apart <= AGREES:
            robot = None
            notes += (f"the parameters of {name} were not used: a robot rebuilt from them gives other torques",)
    return Side(name, joints, torques, robot, notes=notes)


# Pinocchio -----------------------------------------------------------------------------------------------------------


def pinocchio_side(model: Any, name: str) -> Side | None:
    """A `pinocchio.Model`: torques by rnea."""
    if _module(model) != "pinocchio" or not hasattr(model, "jointPlacements"):
        return None
    import pinocchio as pin

    robot = _from_pinocchio(model)
    data = model.createData()
    joints = tuple(joint.name for joint in robot.joints) if robot else tuple(model.names)[1:]

    def torques(states: States) -> Floats:
        q = _unbounded(model, to_pinocchio(robot, states.q)) if robot is not None else states.q
        rows = zip(q, states.qd, states.qdd, strict=True)
        return np.array([pin.rnea(model, data, a, b, c).copy() for a, b, c in rows])

    notes = []
    if np.any(model.damping) or np.any(model.friction):
        notes.append("Pinocchio's rnea leaves out the damping and friction that its model holds")
    return _checked(name or f"{model.name} in Pinocchio", joints, torques, robot and uniform(robot), tuple(notes))


def _unbounded(model: Any, q: Floats) -> Floats:
    """Positions with continuous joints as Pinocchio has them: (cos, sin)."""
    columns, at = [], 0
    for joint in list(model.joints)[1:]:
        size = 1 if (joint.nq, joint.nv) == (2, 1) else joint.nq
        part = q[..., at : at + size]
        columns.append(part if size == joint.nq else np.concatenate([np.cos(part), np.sin(part)], axis=-1))
        at += size
    return np.concatenate(columns, axis=-1)


def _from_pinocchio(model: Any) -> Robot | None:
    tree: list[Joint] = []
    bodies = ["world"]
    for k in range(1, model.njoints):
        joint, placement, inertia = model.joints[k], model.jointPlacements[k], model.inertias[k]
        if (joint.nq, joint.nv) not in ((1, 1), (2, 1), (7, 6), (4, 3)):
            return None
        load = CentralInertia(float(inertia.mass), Vec3(*map(float, inertia.lever)), _tensor(inertia.inertia))
        bodies.append(f"{model.names[k]}_body")
        part = Joint(
            model.names[k],
            "fixed",
            FreeTransform(_placement(placement.rotation, placement.translation)),
            bodies[model.parents[k]],
            Body(bodies[k], load),
        )
        if joint.nv > 1:
            several: CompoundKind = "free" if joint.nv == 6 else "ball"
            tree += expanded(part, several)
            continue
        if joint.idx_v != len([j for j in tree if j.kind != "fixed"]):
            return None
        S = _motion(joint)
        kind: Kind = "revolute" if np.abs(S[3:]).max() > 0 else "prismatic"
        axis = S[3:] if kind == "revolute" else S[:3]
        armature = float(model.armature[joint.idx_v])
        ends = (model.lowerPositionLimit, model.upperPositionLimit) if joint.nq == 1 else ()
        limits = Limits(*(_finite(x[joint.idx_q]) for x in ends))
        tree.append(
            replace(
                part,
                kind=kind,
                geometry=replace(part.geometry, axis=Vec3(*map(float, axis))),  # type: ignore[arg-type]
                rotor=Rotor(inertia=armature) if armature else None,
                limits=limits,
            )
        )
    gravity = Vec3(*map(float, model.gravity.linear))
    return Robot(model.name or "model", tuple(tree), gravity=gravity, root=Body("world"))


def _motion(joint: Any) -> Floats:
    """(6,) the motion of a joint of one degree of freedom in its frame: linear, angular."""
    data = joint.createData()
    joint.calc(data, np.zeros(joint.idx_q + joint.nq))
    return np.asarray(data.S, float).reshape(6)


def _finite(x: Any) -> float | None:
    return float(x) if abs(float(x)) < 1e6 else None


# MuJoCo --------------------------------------------------------------------------------------------------------------


def mujoco_side(model: Any, name: str) -> Side | None:
    """A `mujoco.MjModel`: torques M qacc + bias - passive forces; contacts, limits and dry friction are constraints."""
    if _module(model) != "mujoco" or not hasattr(model, "body_ipos"):
        return None
    import mujoco

    robot = _from_mujoco(model)
    data = mujoco.MjData(model)

    def torques(states: States) -> Floats:
        motion = (
            to_mujoco(robot, states.q, states.qd, states.qdd)
            if robot is not None
            else (states.q, states.qd, states.qdd)
        )
        rows = np.empty_like(states.qd)
        for k, (q, qd, qdd) in enumerate(zip(*motion, strict=True)):
            data.qpos[:], data.qvel[:] = q, qd
            mujoco.mj_forward(model, data)
            mujoco.mj_mulM(model, data, rows[k], np.ascontiguousarray(qdd))
            rows[k] += data.qfrc_bias - data.qfrc_passive
        return forces_from_mujoco(robot, motion[0], rows) if robot is not None else rows

    notes: tuple[str, ...] = (
        ("MuJoCo treats frictionloss as a constraint: it is not among the torques",)
        if np.any(model.dof_frictionloss)
        else ()
    )
    joints = tuple(j.name for j in robot.joints) if robot else tuple(model.joint(k).name for k in range(model.njnt))
    if model.neq or model.ntendon:
        notes += ("forces of MuJoCo's equality constraints and tendons are not among the torques",)
    own = model.names.split(bytes(1))[0].decode()
    return _checked(name or f"{own or 'model'} in MuJoCo", joints, torques, robot and uniform(robot), notes)


def _from_mujoco(model: Any) -> Robot | None:
    tree: list[Joint] = []
    names = ["world"] + [model.body(k).name or f"body{k}" for k in range(1, model.nbody)]
    if model.neq or model.ntendon or model.opt.density or model.opt.viscosity:
        return None
    for b in range(1, model.nbody):
        R = np.asarray(rot_quaternion(*map(float, model.body_quat[b])).array(), float)
        pose, parent = (R, model.body_pos[b].copy()), names[model.body_parentid[b]]
        joints = list(range(model.body_jntadr[b], model.body_jntadr[b] + model.body_jntnum[b]))
        R_i = np.asarray(rot_quaternion(*map(float, model.body_iquat[b])).array(), float)
        tensor = _tensor(R_i @ np.diag(model.body_inertia[b]) @ R_i.T)
        load = CentralInertia(float(model.body_mass[b]), Vec3(*map(float, model.body_ipos[b])), tensor)
        body = Body(names[b], load, float(model.body_gravcomp[b]) or 0)
        for j in joints:
            part = _mujoco_joint(model, j, pose, parent, f"{names[b]} {model.joint(j).name or j}")
            if part is None:
                return None
            tree += part
            anchor = model.jnt_pos[j] if model.jnt_type[j] > 1 else np.zeros(3)
            pose, parent = (np.eye(3), -anchor), part[-1].body.name
        tree.append(Joint(f"{names[b]} body", "fixed", FreeTransform(_placement(*pose)), parent, body))
    gravity = Vec3(*map(float, model.opt.gravity))
    return Robot("model", tuple(tree), gravity=gravity, root=Body("world"))


def _mujoco_joint(model: Any, j: int, pose: Any, parent: str, body: str) -> list[Joint] | None:
    R, p = pose
    name, kind, dof = model.joint(j).name or f"joint{j}", int(model.jnt_type[j]), int(model.jnt_dofadr[j])
    if kind <= 1:  # free, ball
        if np.any(model.dof_damping[dof : dof + (6 if kind == 0 else 3)]) or np.any(model.jnt_pos[j]):
            return None
        place = FreeTransform() if kind == 0 else FreeTransform(_placement(R, p))
        return expanded(Joint(name, "fixed", place, parent, Body(body)), "free" if kind == 0 else "ball")
    at, stiffness = int(model.jnt_qposadr[j]), float(model.jnt_stiffness[j])
    geometry = FreeTransform(
        _placement(R, p + R @ model.jnt_pos[j]), Vec3(*map(float, model.jnt_axis[j])), -float(model.qpos0[at])
    )
    armature, damping = float(model.dof_armature[dof]), float(model.dof_damping[dof])
    limits = Limits(*map(float, model.jnt_range[j])) if model.jnt_limited[j] else None
    return [
        Joint(
            name,
            "revolute" if kind == 3 else "prismatic",
            geometry,
            parent,
            Body(body),
            rotor=Rotor(inertia=armature) if armature else None,
            friction=Friction(viscous=damping) if damping else None,
            spring=Spring(stiffness, float(model.qpos_spring[at])) if stiffness else None,
            limits=limits,
        )
    ]


# Robotics Toolbox ----------------------------------------------------------------------------------------------------


def toolbox_side(model: Any, name: str) -> Side | None:
    """A `roboticstoolbox.DHRobot`: torques by rne."""
    if not hasattr(model, "rne") or not hasattr(model, "links") or not hasattr(model, "n"):
        return None
    joints = tuple(link.name or f"joint{k + 1}" for k, link in enumerate(model.links) if getattr(link, "isjoint", True))

    def torques(states: States) -> Floats:
        rows = zip(states.q, states.qd, states.qdd, strict=True)
        return np.array([np.asarray(model.rne(q, qd, qdd), float).reshape(model.n) for q, qd, qdd in rows])

    title = name or f"{model.name or 'model'} in the Robotics Toolbox"
    robots = [_from_toolbox(model, sign) for sign in (1.0, -1.0)] if hasattr(model, "mdh") else []
    sides = [_checked(title, joints, torques, uniform(robot), ()) for robot in robots]  # versions differ in the sign
    return next((side for side in sides if side.robot is not None), Side(title, joints, torques))


def _from_toolbox(model: Any, sign: float) -> Robot:
    rows: list[dict[str, Any]] = []
    for k, link in enumerate(model.links):
        gear = float(link.G) or 1.0
        revolute = link.isrevolute
        I = np.asarray(link.I, float)
        key, constant = ("theta", float(link.offset)) if revolute else ("d", float(link.offset))
        other = {"d": float(link.d)} if revolute else {"theta": float(link.theta)}
        row = {
            "name": link.name or f"joint{k + 1}",
            "type": "revolute" if revolute else "prismatic",
            key: constant,
            "a": float(link.a),
            "alpha": float(link.alpha),
            "mass": float(link.m),
            "com": [*map(float, link.r)],
            "inertia": [float(I[p]) for p in ((0, 0), (0, 1), (0, 2), (1, 1), (1, 2), (2, 2))],
        } | other
        if link.Jm:
            row["rotor"] = {"inertia": float(link.Jm), "ratio": abs(gear)}
        forth, back = (abs(gear) * x for x in np.broadcast_to(np.asarray(link.Tc, float).ravel(), 2))  # Tc+ and Tc-
        if link.B or forth or back:
            row["friction"] = {
                "viscous": float(np.ravel(link.B)[0]) * gear**2,
                "coulomb": float(forth - back) / 2,
                "offset": float(forth + back) / 2,
            }
        rows.append(row)
    gravity = tuple(sign * float(x) for x in np.ravel(model.gravity))
    return Robot.from_dh(
        rows,
        "modified" if model.mdh else "standard",
        gravity=gravity,
        base=np.asarray(model.base.A, float),
        name=model.name or "robot",
    )


ENGINES = (pinocchio_side, mujoco_side, toolbox_side)
"""Functions that recognise a live model."""
