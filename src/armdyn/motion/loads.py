"""Actuator sizing: peak and rms torques, speeds, powers, energies and heating along a motion."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

from armdyn.dynamics import Dynamics
from armdyn.dynamics.holding import holding_torques
from armdyn.errors import ArmdynError, unknown_name
from armdyn.mechanics.coupling import coupling_matrix
from armdyn.motion.sampling import checked_motion, dynamics_of, integral, sample_times, states
from armdyn.robot.features import CLOSED, TREE, takes
from armdyn.robot.limits import continuous_torques, joint_names, limit_vector
from armdyn.robot.robot import Robot
from armdyn.typing import Array

COLUMNS = (
    ("peak_torque", "peak torque"),
    ("rms_torque", "rms torque"),
    ("peak_speed", "peak speed"),
    ("rms_speed", "rms speed"),
    ("peak_power", "peak power"),
    ("peak_braking", "peak braking"),
    ("energy_given", "J delivered"),
    ("energy_returned", "J returned"),
    ("heat", "heat"),
)


@dataclass(frozen=True, eq=False)
class Sizing:
    """Loads of the actuators over one cycle, (n,) each.

    robot:           the robot.
    side:            "joint" or "motor" side of the gears.
    cycle:           duration of motion and rest, s.
    peak_torque:     N m or N.
    rms_torque:      N m or N; its square heats a motor.
    peak_speed:      rad/s or m/s.
    rms_speed:       rad/s or m/s.
    peak_power:      largest mechanical power delivered to the joint, W.
    peak_braking:    largest mechanical power absorbed from the joint, W.
    energy_given:    energy delivered to the joint, J per cycle.
    energy_returned: energy absorbed from the joint, J per cycle; the drive recovers at most this.
    continuous:      continuous torque of the actuator, N m or N; infinite if not given.
    """

    robot: Robot
    side: str
    cycle: float
    peak_torque: Array
    rms_torque: Array
    peak_speed: Array
    rms_speed: Array
    peak_power: Array
    peak_braking: Array
    energy_given: Array
    energy_returned: Array
    continuous: Array

    @property
    def heat(self) -> Array:
        """(n,) thermal load (rms torque / continuous torque)^2; above 1 the actuator overheats; NaN if not given."""
        share: Array = (self.rms_torque / self.continuous) ** 2
        return np.where(np.isfinite(self.continuous), share, np.nan)

    @property
    def on_time(self) -> Array:
        """(n,) largest duty cycle, from 0 to 1, if the actuator rests without torque between motions: 1/heat."""
        return np.minimum(1.0, 1.0 / np.maximum(self.heat, 1e-300))

    @property
    def mean_power(self) -> float:
        """Mean power delivered to all joints over the cycle, W, without recovery."""
        return float(self.energy_given.sum() / self.cycle)

    def __str__(self) -> str:
        lines = [
            f"{self.robot.name}: loads of the {self.side}s over a cycle of {self.cycle:.5g} s (SI units)",
            f"{self.side:<18}" + "".join(f"{title:>14}" for _, title in COLUMNS),
        ]
        for i, joint in enumerate(joint_names(self.robot)):
            cells = (getattr(self, field)[i] for field, _ in COLUMNS)
            lines.append(f"{joint:<18}" + "".join(f"{x:14.5g}" if np.isfinite(x) else f"{'-':>14}" for x in cells))
        return "\n".join(lines)


@takes(*CLOSED, *TREE)
def sizing(
    model: Robot | Dynamics,
    motion: Any,
    *,
    side: Literal["joint", "motor"] = "joint",
    continuous: Any = None,
    rest: float = 0.0,
    dt: float | None = None,
) -> Sizing:
    """Return the loads of the actuators along a motion.

    Args:
        model:      robot or its dynamics.
        motion:     motion(t), motion(t, 1), motion(t, 2), motion.duration.
        side:       "joint" (default), or "motor": behind the gears, Khalil (7.31)-(7.33).
        continuous: continuous torque of the actuators on that side, N m or N, (n,) or one number (default: on the joint
                    side the robot's, else unknown).
        rest:       time after the motion, s, in which the last configuration is held against gravity; it counts for rms
                    values and heat (default: 0).
        dt:         sampling interval, s (default: 1/2000 of the duration).

    >>> import armdyn
    >>> move = armdyn.point_to_point([0.0], [1.0], "bang_bang", duration=1.0)
    >>> loads = sizing(armdyn.load("pendulum").without("gravity", "friction"), move)
    >>> bool((loads.energy_given > 0).all())
    True
    """
    dyn = dynamics_of(model)
    checked_motion(dyn, motion)
    if side not in ("joint", "motor"):
        raise unknown_name("side", side, ("joint", "motor"), where="sizing")
    t = sample_times(motion, dt)
    if not (np.isfinite(rest) and rest >= 0) or t[-1] + rest == 0:
        raise ArmdynError(f"rest = {rest} after {t[-1]} s", expected="a cycle of positive duration, s")
    q, qd, qdd = states(motion, t)
    tau, held = dyn.inverse_dynamics(q, qd, qdd), holding_torques(dyn, q[-1])
    if side == "motor":
        J = np.asarray(coupling_matrix(dyn.robot), dtype=float)
        tau, held, qd = tau @ J, held @ J, qd @ np.linalg.inv(J).T
    cycle = float(t[-1]) + rest
    power = tau * qd
    return Sizing(
        robot=dyn.robot,
        side=side,
        cycle=cycle,
        peak_torque=np.maximum(np.abs(tau).max(axis=0), np.abs(held) * (rest > 0)),
        rms_torque=np.sqrt((integral(t, tau**2) + rest * held**2) / cycle),
        peak_speed=np.abs(qd).max(axis=0),
        rms_speed=np.sqrt(integral(t, qd**2) / cycle),
        peak_power=np.maximum(power.max(axis=0), 0.0),
        peak_braking=np.maximum(-power.min(axis=0), 0.0),
        energy_given=integral(t, np.maximum(power, 0.0)),
        energy_returned=integral(t, np.maximum(-power, 0.0)),
        continuous=continuous_torques(dyn.robot)
        if continuous is None and side == "joint"
        else limit_vector("continuous", continuous, dyn.n),
    )
