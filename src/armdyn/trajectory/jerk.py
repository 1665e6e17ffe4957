"""Time-optimal motion with limited jerk, by Ruckig."""

from __future__ import annotations

from typing import Any

import numpy as np

from armdyn.errors import ArmdynError, MissingExtra
from armdyn.robot.limits import joint_vector, limit_vector
from armdyn.trajectory.piecewise import PiecewisePolynomial
from armdyn.typing import Array


def jerk_limited(
    q0: Any,
    q1: Any,
    *,
    v_max: Any,
    a_max: Any,
    j_max: Any,
    qd0: Any = 0.0,
    qd1: Any = 0.0,
    qdd0: Any = 0.0,
    qdd1: Any = 0.0,
) -> PiecewisePolynomial:
    """Return the fastest motion from q0 to q1 within velocity, acceleration and jerk limits.

    The joints arrive together; the path is not a straight line in joint space. Needs the package `ruckig`
    (`pip install 'armdyn[jerk]'`).

    Args:
        q0:    (n,) start, rad or m.
        q1:    (n,) goal, rad or m.
        v_max: velocity limits, rad/s or m/s, (n,) or one number.
        a_max: acceleration limits, rad/s^2 or m/s^2, (n,) or one number.
        j_max: jerk limits, rad/s^3 or m/s^3, (n,) or one number.
        qd0:   (n,) initial velocity (default: 0).
        qd1:   (n,) final velocity (default: 0).
        qdd0:  (n,) initial acceleration (default: 0).
        qdd1:  (n,) final acceleration (default: 0).
    """
    try:
        import ruckig
    except ImportError:
        raise MissingExtra(
            "jerk-limited motion needs the package 'ruckig'",
            advice="Install it: pip install 'armdyn[jerk]'. Profile 'smooth' limits jerk without it.",
        ) from None
    start = joint_vector("q0", q0)
    n = start.size
    task = ruckig.InputParameter(n)
    task.current_position = start.tolist()
    task.target_position = joint_vector("q1", q1, n).tolist()
    ends = {"current_velocity": qd0, "target_velocity": qd1, "current_acceleration": qdd0, "target_acceleration": qdd1}
    for name, value in ends.items():
        setattr(task, name, joint_vector(name, value, n).tolist())
    for name, value in {"max_velocity": v_max, "max_acceleration": a_max, "max_jerk": j_max}.items():
        limit = limit_vector(name, value, n)
        if np.isinf(limit).any():
            raise ArmdynError(f"{name} is not given for every joint", expected="finite limits")
        setattr(task, name, limit.tolist())
    motion = ruckig.Trajectory(n)
    try:
        result = ruckig.Ruckig(n).calculate(task, motion)
    except RuntimeError as error:
        raise ArmdynError(f"Ruckig reports: {error}", expected="end states within the limits") from None
    if result not in (ruckig.Result.Working, ruckig.Result.Finished):
        raise ArmdynError(f"Ruckig finds no motion ({result})", advice="Check that the end states are within limits.")
    return _pieces(motion)


def _pieces(motion: Any) -> PiecewisePolynomial:
    """Ruckig's result as polynomials: between two switching times of any joint all jerks are constant."""
    switches = [0.0, motion.duration]
    for profile in motion.profiles[0]:
        brake = sum(profile.brake.t[:2]) if profile.brake.duration > 0 else 0.0
        switches += list(brake + np.cumsum([0.0, *profile.t]))
        switches += [profile.brake.t[0]] if brake else []
    knots = np.unique(np.clip(switches, 0.0, motion.duration))
    knots = knots[np.append(True, np.diff(knots) > 1e-12)]
    if len(knots) == 1:
        knots = np.array([0.0, motion.duration])
    knots[-1] = motion.duration
    states: Array = np.array([motion.at_time(t)[:3] for t in knots])  # (k, 3, n): position, velocity, acceleration
    span = np.diff(knots)[:, None]
    jerk = np.diff(states[:, 2], axis=0) / np.where(span > 0, span, 1.0)
    return PiecewisePolynomial(knots, np.stack([states[:-1, 0], states[:-1, 1], states[:-1, 2] / 2, jerk / 6], axis=1))
