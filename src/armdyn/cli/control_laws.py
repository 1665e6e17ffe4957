"""The control laws of `armdyn simulate`, by name, with their gains."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, cast

import typer

from armdyn.cli import parse
from armdyn.cli.console import compiled

if TYPE_CHECKING:
    from armdyn.control import Law
    from armdyn.dynamics import Dynamics

CONTROLLERS: dict[str, dict[str, float | None]] = {
    "computed_torque": {"kp": 400.0, "kd": 40.0, "ki": 0.0},
    "predictive": {"kp": 400.0, "kd": 40.0},
    "pd_gravity": {"frequency": 15.0},
    "pid": {"frequency": 20.0},
    "feedforward": {"kp": 0.0, "kd": 0.0},
    "sliding_mode": {"rate": 15.0, "gain": 30.0, "layer": 0.05},
    "robust": {"rate": 10.0, "kd": None, "layer": 0.05, "mass": 0.1, "com": 0.01, "inertia": 0.1, "friction": 0.3},
    "adaptive": {"rate": 10.0, "kd": None, "adaptation": None},
    "elastic_pd": {"frequency": 15.0},
    "task_pid": {"frequency": 10.0, "kp": None, "kd": None, "ki": None, "joint_damping": None},
    "resolved_acceleration": {"kp": 400.0, "kd": 40.0, "damping": 0.0, "posture_kd": 10.0},
    "operational_space": {"kp": 400.0, "kd": 40.0, "damping": 0.0, "posture_kd": 10.0},
    "impedance": {"stiffness": 1000.0, "damping": None, "joint_damping": None},
    "none": {},
}
"""Control laws and their default gains; None: chosen by the law."""
TASK_LAWS = ("task_pid", "resolved_acceleration", "operational_space", "impedance")
"""Laws whose reference moves the tool: on a straight line between the poses of the two configurations."""


def gains_of(given: list[str] | None, controller: str) -> dict[str, Any]:
    """Gains of the control law: the defaults, overridden by the user's."""
    if controller not in CONTROLLERS:
        raise typer.BadParameter(
            f"{controller!r} is unknown; known: {', '.join(CONTROLLERS)}", param_hint="--controller"
        )
    gains: dict[str, Any] = dict(CONTROLLERS[controller])
    for pair in given or ():
        name, value = parse.numeric_pair(pair, "--gain", "kp=200")
        if name not in gains:
            known = ", ".join(gains) or "none"
            raise typer.BadParameter(f"{name!r} is not a gain of {controller}; known: {known}", param_hint="--gain")
        gains[name] = value
    return gains


def joint_law(dyn: Dynamics, controller: str, gains: dict[str, Any]) -> Law:
    """A law in the joint space."""
    import numpy as np

    from armdyn.control import (
        PID,
        ComputedTorque,
        ElasticPD,
        Feedforward,
        NoControl,
        PDGravity,
        RobustPassivity,
        SlidingMode,
        SlotineLi,
        largest_inertias,
        parameter_errors,
    )

    if controller == "computed_torque":
        return ComputedTorque(dyn, gains["kp"], gains["kd"], gains["ki"])
    if controller == "predictive":
        return ComputedTorque(dyn, gains["kp"], gains["kd"], predictive=True)
    if controller == "pd_gravity":
        inertia, w = largest_inertias(dyn), gains["frequency"]
        return PDGravity(dyn, inertia * w**2, 2 * inertia * w, follow=True)
    if controller == "pid":
        return PID.designed(dyn, gains["frequency"])
    if controller == "feedforward":
        return Feedforward(dyn, gains["kp"], gains["kd"])
    if controller == "sliding_mode":
        return SlidingMode(dyn, gains["rate"], gains["gain"], gains["layer"])
    if controller == "robust":
        errors = parameter_errors(dyn, **{name: gains[name] for name in ("mass", "com", "inertia", "friction")})
        return RobustPassivity(dyn, gains["rate"], gains["kd"], errors, gains["layer"])
    if controller == "elastic_pd":
        inertia, w = largest_inertias(compiled(dyn.robot.without("elastic"))), gains["frequency"]
        kp = inertia * w**2
        least = ElasticPD.least_kp(dyn)
        kp = np.where(np.isfinite(least), np.maximum(kp, 2 * least), kp)  # stable by the law's condition
        return ElasticPD(dyn, kp, 2 * np.sqrt(inertia * kp), follow=True)
    if controller == "adaptive":
        return SlotineLi(dyn, gains["rate"], gains["kd"], gains["adaptation"])
    return NoControl(dyn.robot.n)


def task_law(dyn: Dynamics, controller: str, gains: dict[str, Any], motion: Any, rows: str | None) -> tuple[Law, Any]:
    """A law in the task space, and a straight line of the tool between the ends of a motion of the joints."""
    from dataclasses import replace

    from armdyn.control import Impedance, OperationalSpace, ResolvedAcceleration, TaskPID
    from armdyn.kinematics.task_rows import ROWS, own_rows
    from armdyn.trajectory import line

    start, goal = (dyn.pose(motion(t)) for t in (0.0, motion.duration))
    path = line(start, goal, "quintic", duration=motion.duration)
    rows = rows or " ".join(ROWS[i] for i in own_rows(dyn))
    if controller in ("resolved_acceleration", "operational_space"):
        kind = ResolvedAcceleration if controller == "resolved_acceleration" else OperationalSpace
        return kind(dyn, gains["kp"], gains["kd"], rows, gains["damping"], posture_kd=gains["posture_kd"]), path
    given = {name: value for name, value in gains.items() if name != "frequency" and value is not None}
    if controller == "impedance":
        law: Law = Impedance.designed(dyn, given.pop("stiffness"), rows=rows)
    else:
        law = TaskPID.designed(dyn, gains["frequency"], rows=rows)
    return replace(cast(Any, law), **given), path
