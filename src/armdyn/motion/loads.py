"""What a motion asks of the actuators: peak and effective torques, speeds, powers, energies, heating."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

from armdyn.dynamics import Dynamics
from armdyn.errors import ArmdynError, unknown_name
from armdyn.mechanics.coupling import coupling_matrix
from armdyn.motion.sampling import checked_motion, dynamics_of, integral, sample_times, states
from armdyn.robot.limits import joint_names, limit_vector
from armdyn.robot.robot import Robot
from armdyn.typing import Array

COLUMNS = (
    ("peak_torque", "peak torque"),
    ("rms_torque", "rms torque"),
    ("peak_speed", "peak speed"),
    ("rms_speed", "rms speed"),
    ("peak_power", "peak power"),
    ("peak_braking", "peak braking"),
    ("energy_given", "J given"),
    ("energy_returned", "J returned"),
    ("heat", "heat"),
)


@dataclass(frozen=True, eq=False)
class Sizing:
    """What every actuator has to give over one cycle: (n,) each.

    peak_torque, rms_torque: N m or N; the square of the second is what heats a motor. peak_speed, rms_speed: rad/s or
    m/s. peak_power: W, given to the joint; peak_braking: W, taken from it. energy_given, energy_returned: J per cycle;
    the drive gets back at most the second. continuous: torque that may be held for ever. heat: (rms/continuous)^2, the
    share of its heating that an actuator uses; above 1 it grows too hot; NaN without `continuous`. on_time: the longest
    share of the time, up to 1, that the motion may be done with rests without torque between: 1/heat.
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
        share: Array = (self.rms_torque / self.continuous) ** 2
        return np.where(np.isfinite(self.continuous), share, np.nan)

    @property
    def on_time(self) -> Array:
        return np.minimum(1.0, 1.0 / np.maximum(self.heat, 1e-300))

    @property
    def mean_power(self) -> float:
        """W drawn by all joints over the cycle, nothing being given back."""
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


def sizing(
    model: Robot | Dynamics,
    motion: Any,
    *,
    side: Literal["joint", "motor"] = "joint",
    continuous: Any = None,
    rest: float = 0.0,
    dt: float | None = None,
) -> Sizing:
    """Loads of the actuators along a motion, for choosing them.

    Args:    side: "joint", or "motor": behind the gears (Khalil (7.31)-(7.33)). continuous: torque that may be held for
             ever, on that side, (n,) or one for all. rest: s after the motion, in which the posture reached is held
             against gravity; it counts for rms values and heat.

    >>> import armdyn
    >>> move = armdyn.point_to_point((0.0), (1.0), "bang_bang", duration=1.0)
    >>> sizing(armdyn.load("pendulum").without("gravity", "friction"), move).energy_given.round(6).tolist() != (0.0)
    True
    """
    dyn = dynamics_of(model)
    checked_motion(dyn, motion)
    if side not in ("joint", "motor"):
        raise unknown_name("side", side, ("joint", "motor"), where="sizing")
    t = sample_times(motion, dt)
    if not (np.isfinite(rest) and rest >= 0) or t[-1] + rest == 0:
        raise ArmdynError(f"rest = {rest} after {t[-1]} s", expected="a cycle that takes time, s")
    q, qd, qdd = states(motion, t)
    tau, held = dyn.inverse_dynamics(q, qd, qdd), dyn.gravity(q[-1])
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
        continuous=limit_vector("continuous", continuous, dyn.n),
    )
