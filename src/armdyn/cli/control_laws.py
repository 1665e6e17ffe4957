"""The control laws of `armdyn simulate`, by name, with their gains."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any, cast

import typer

from armdyn.cli import parse

if TYPE_CHECKING:
    from collections.abc import Callable

    from armdyn.control import Law
    from armdyn.dynamics import Dynamics

ERRORS = ("mass", "com", "inertia", "rotor", "friction")
"""Errors of the model that a law takes into account: arguments of `parameter_errors`."""
CONTROLLERS: dict[str, tuple[str, ...]] = {
    "computed_torque": ("kp", "kd", "ki"),
    "predictive": ("kp", "kd"),
    "pd_gravity": ("frequency",),
    "pid": ("frequency",),
    "feedforward": ("kp", "kd"),
    "sliding_mode": ("rate", "gain", "layer"),
    "robust": ("rate", "kd", "layer", *ERRORS),
    "adaptive": ("rate", "kd", "adaptation"),
    "elastic_pd": ("frequency",),
    "task_pid": ("frequency", "kp", "kd", "ki", "joint_damping"),
    "resolved_acceleration": ("kp", "kd", "damping", "posture_kd"),
    "operational_space": ("kp", "kd", "damping", "posture_kd"),
    "impedance": ("stiffness", "damping", "joint_damping"),
    "admittance": ("mass", "stiffness", "damping", "kp", "kd"),
    "none": (),
}
"""Control laws and their gains; the laws have defaults."""
TOOL = "tool"
"""The frame of the force sensor."""
TASK_LAWS = ("task_pid", "resolved_acceleration", "operational_space", "impedance", "admittance")
"""Laws whose reference moves the tool: on a straight line between the poses of the two configurations."""


def gains_of(given: list[str] | None, controller: str) -> dict[str, float]:
    """Gains of the control law that the user gave."""
    if controller not in CONTROLLERS:
        raise typer.BadParameter(
            f"{controller!r} is unknown; known: {', '.join(CONTROLLERS)}", param_hint="--controller"
        )
    return named_numbers(given, CONTROLLERS[controller], f"a gain of {controller}", "--gain", "kp=200")


def named_numbers(
    given: list[str] | None, known: tuple[str, ...], what: str, option: str, example: str
) -> dict[str, float]:
    """Numbers by name, from NAME=VALUE."""
    numbers = {}
    for pair in given or ():
        name, value = parse.numeric_pair(pair, option, example)
        if name not in known:
            raise typer.BadParameter(f"{name!r} is not {what}; known: {', '.join(known) or 'none'}", param_hint=option)
        numbers[name] = value
    return numbers


def joint_law(dyn: Dynamics, controller: str, gains: dict[str, float]) -> Law:
    """A law in the joint space."""
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
        parameter_errors,
    )

    if controller == "none":
        return NoControl(dyn.robot.n)
    errors = {name: gains[name] for name in ERRORS if name in gains}
    makers: dict[str, Callable[..., Law]] = {
        "computed_torque": ComputedTorque,
        "predictive": partial(ComputedTorque, predictive=True),
        "pd_gravity": partial(PDGravity.designed, follow=True),
        "pid": PID.designed,
        "feedforward": Feedforward,
        "sliding_mode": SlidingMode,
        "robust": lambda dyn, **gains: RobustPassivity(dyn, errors=parameter_errors(dyn, **errors), **gains),
        "adaptive": SlotineLi,
        "elastic_pd": partial(ElasticPD.designed, follow=True),
    }
    return makers[controller](dyn, **{name: value for name, value in gains.items() if name not in errors})


def task_law(
    dyn: Dynamics, controller: str, gains: dict[str, float], motion: Any, rows: str | None, push: Any
) -> tuple[Law, Any]:
    """A law in the task space, and a straight line of the tool between the ends of a motion of the joints.

    push: wrenches that the arm exerts by frame, a function of (t, q, qd): what a force sensor at the tool measures.
    """
    from dataclasses import replace

    from armdyn.control import Admittance, Impedance, OperationalSpace, ResolvedAcceleration, TaskPID
    from armdyn.kinematics.task_rows import ROWS, own_rows
    from armdyn.trajectory import line

    start, goal = (dyn.pose(motion(t)) for t in (0.0, motion.duration))
    path = line(start, goal, "quintic", duration=motion.duration)
    rows = rows or " ".join(ROWS[i] for i in own_rows(dyn))
    if controller in ("resolved_acceleration", "operational_space"):
        kind = ResolvedAcceleration if controller == "resolved_acceleration" else OperationalSpace
        return kind(dyn, rows=rows, **gains), path
    if controller == "admittance":
        rows = " ".join(row for row in rows.split() if not row.startswith("r"))
        if push is None or TOOL not in push(0.0, None, None):
            raise typer.BadParameter("admittance yields to forces that a sensor at the tool measures: give --push "
                                     f"{TOOL}=FX,FY,FZ@T1,T2", param_hint="--controller")  # fmt: skip

    def sensor(t: float, q: Any, qd: Any) -> Any:
        return push(t, q, qd)[TOOL]

    makers: dict[str, tuple[str, Callable[..., Law]]] = {  # what the design needs; other gains replace those it found
        "task_pid": ("frequency", TaskPID.designed),
        "impedance": ("stiffness", Impedance.designed),
        "admittance": ("stiffness", partial(Admittance.designed, force=sensor)),
    }
    name, make = makers[controller]
    design = {name: gains[name]} if name in gains else {}
    return replace(cast(Any, make(dyn, **design, rows=rows)), **{k: x for k, x in gains.items() if k != name}), path
