"""What the joints can bear, and where a motion is looked at."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from armdyn.dynamics import Dynamics
from armdyn.dynamics import compile as compiled
from armdyn.errors import ArmdynError, ShapeError
from armdyn.robot.limits import limit_vector
from armdyn.robot.robot import Robot
from armdyn.trajectory.trajectory import grid
from armdyn.typing import Array

STEPS = 2000
"""Steps at which a motion is looked at where no `dt` is given."""
ROUNDING = 1e-12
"""Share of its largest velocity below which a joint stands."""
SIDE = 1e-9
"""How far beside a jump both sides of it are looked at, as a share of the duration."""


class Infeasible(ArmdynError):
    """A motion that no timing brings within the limits. joint, amount: who is too weak, and by how much (or None)."""

    joint: str | None = None
    amount: float | None = None

    def blaming(self, joint: str, amount: float) -> Infeasible:
        self.joint, self.amount = joint, amount
        return self


@dataclass(frozen=True, eq=False)
class MotionLimits:
    """Limits of all joints, (n,) each, infinite where there is none: rad, rad/s, rad/s^2, N m, W (or m, ..., N)."""

    lower: Array
    upper: Array
    velocity: Array
    acceleration: Array
    tau_min: Array
    tau_max: Array
    power: Array


def motion_limits(
    robot: Robot,
    *,
    v_max: Any = None,
    a_max: Any = None,
    tau_max: Any = None,
    tau_min: Any = None,
    p_max: Any = None,
) -> MotionLimits:
    """The robot's limits, or those given instead: (n,) or one for all; np.inf takes one away.

    Without them, the limits of the joints count, and of the motors behind their gears where there is no coupling.
    tau_min: -tau_max if not given. The robot's file knows no limit of power.
    """
    n = robot.n
    own = [joint.limits for joint in robot.joints]

    def field(name: str, missing: float) -> Array:
        values = [None if entry is None else getattr(entry, name) for entry in own]
        return np.array([missing if x is None else float(x) for x in values])

    torque, speed = field("torque", np.inf), field("velocity", np.inf)
    if not robot.coupling:
        for i, joint in enumerate(robot.joints):
            ratio = 1.0 if joint.rotor is None else abs(float(joint.rotor.ratio))
            if joint.motor is not None and joint.motor.torque is not None:
                torque[i] = min(torque[i], float(joint.motor.torque) * ratio)
            if joint.motor is not None and joint.motor.speed is not None and ratio > 0:
                speed[i] = min(speed[i], float(joint.motor.speed) / ratio)
    high = torque if tau_max is None else limit_vector("tau_max", tau_max, n)
    low = -high if tau_min is None else np.broadcast_to(np.asarray(tau_min, dtype=float), (n,)).copy()
    if np.isnan(low).any() or (low >= high).any():
        raise ShapeError(f"tau_min = {tau_min}", expected=f"{n} numbers below tau_max")
    return MotionLimits(
        lower=field("lower", -np.inf),
        upper=field("upper", np.inf),
        velocity=speed if v_max is None else limit_vector("v_max", v_max, n),
        acceleration=field("acceleration", np.inf) if a_max is None else limit_vector("a_max", a_max, n),
        tau_min=low,
        tau_max=high,
        power=limit_vector("p_max", p_max, n),
    )


def dynamics_of(model: Robot | Dynamics) -> Dynamics:
    """The compiled dynamics of a robot, or what is compiled already."""
    return compiled(model) if isinstance(model, Robot) else model


def checked_motion(dyn: Dynamics, motion: Any) -> None:
    n = np.shape(motion(0.0))[-1]
    if n != dyn.n:
        raise ShapeError(
            f"a motion of {n} joints", where=f"robot {dyn.robot.name!r}", expected=f"one of {dyn.n} joints"
        )


def look_at(motion: Any, dt: float | None = None) -> Array:
    """Times from 0 to the end, dt apart, and both sides of every time at which a derivative may jump."""
    duration = float(motion.duration)
    if duration == 0:
        return np.zeros(1)
    t = grid(duration, duration / STEPS if dt is None else dt)
    breaks = np.asarray(getattr(motion, "breaks", np.array([0.0, duration])))
    side = SIDE * duration
    return np.unique(np.clip(np.concatenate([t, breaks - side, breaks, breaks + side]), 0.0, duration))


def states(motion: Any, t: Array) -> tuple[Array, Array, Array]:
    """Positions, velocities and accelerations, (k, n) each. A velocity that is only rounding is none: the sign of
    friction would be that of the rounding.
    """
    q, qd, qdd = (np.ascontiguousarray(motion(t, order)) for order in range(3))
    moving = np.abs(qd) > ROUNDING * np.abs(qd).max(axis=0, initial=0.0)
    return q, np.where(moving, qd, 0.0), qdd


def names(robot: Robot) -> list[str]:
    return [joint.name for joint in robot.joints]


def units(robot: Robot) -> list[tuple[str, str, str, str]]:
    """Of position, velocity, acceleration and torque, by joint."""
    turning, sliding = ("rad", "rad/s", "rad/s²", "N m"), ("m", "m/s", "m/s²", "N")
    return [turning if joint.kind == "revolute" else sliding for joint in robot.joints]


def integral(t: Array, y: Array) -> Array:
    """Over time, (k,) and (k, ...), by trapezia; jumps lie between two times that are next to each other."""
    total: Array = np.tensordot(np.diff(t), 0.5 * (y[1:] + y[:-1]), axes=1)
    return total
