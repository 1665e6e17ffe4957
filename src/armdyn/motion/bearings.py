"""Bearing loads: what the joints transmit besides the torques of their actuators, along a motion."""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import Any

import numpy as np

from armdyn.dynamics import Dynamics
from armdyn.motion.sampling import checked_motion, dynamics_of, sample_times, states
from armdyn.robot.features import TREE, takes
from armdyn.robot.limits import joint_names
from armdyn.robot.robot import Robot
from armdyn.tables import Column, Section
from armdyn.typing import Array


@dataclass(frozen=True, eq=False)
class BearingLoads:
    """Largest loads of the bearings and guides along a motion, (n,) each, in the joint's frame with z on its axis.

    radial_force:    across the axis, N.
    axial_force:     along the axis of a revolute joint, N; NaN for a prismatic joint, whose drive bears it.
    tilting_moment:  across the axis, about the joint's origin, N m.
    twisting_moment: about the axis of a prismatic joint, N m; NaN for a revolute joint, whose drive bears it.
    """

    robot: Robot
    radial_force: Array
    axial_force: Array
    tilting_moment: Array
    twisting_moment: Array

    def record(self) -> dict[str, dict[str, float]]:
        """Joint -> its loads by name, N and N m."""
        names = [field.name for field in fields(self) if field.name != "robot"]
        rows = zip(*(getattr(self, name).tolist() for name in names), strict=True)
        loads = ({name: x for name, x in zip(names, row, strict=True) if np.isfinite(x)} for row in rows)
        return dict(zip(joint_names(self.robot), loads, strict=True))

    def section(self) -> Section:
        """The loads as a table."""
        loads = self.record()
        names = dict.fromkeys(name for each in loads.values() for name in each)
        columns = (
            Column("joint"),
            *(Column(name.replace("_", " "), "N" if "force" in name else "N m") for name in names),
        )
        rows = [
            (joint, *(f"{each[name]:.4g}" if name in each else "" for name in names)) for joint, each in loads.items()
        ]
        note = (
            "Moments about the origins of the joints' frames. What acts along a joint axis and is carried by the drive "
            "is not included."
        )
        return Section("Largest bearing loads", columns, tuple(rows), note)


@takes(*TREE)
def bearing_loads(model: Robot | Dynamics, motion: Any, *, dt: float | None = None) -> BearingLoads:
    """Return the largest loads of the bearings and guides along a motion. [BL-1]

    model:  robot or its dynamics; an open chain or tree.
    motion: motion(t), motion(t, 1), motion(t, 2), motion.duration.
    dt:     sampling interval, s (default: 1/2000 of the duration).
    """
    dyn = dynamics_of(model)
    checked_motion(dyn, motion)
    return loads_of(dyn.robot, dyn.joint_reactions(*states(motion, sample_times(motion, dt))))


def loads_of(robot: Robot, reactions: Array) -> BearingLoads:
    """Return the largest loads of reactions, (..., n, 6): forces, then moments, in joint frames."""
    fx, fy, fz, mx, my, mz = np.moveaxis(reactions, -1, 0).reshape(6, -1, robot.n)
    revolute = np.array([joint.kind == "revolute" for joint in robot.joints])
    return BearingLoads(
        robot,
        radial_force=np.hypot(fx, fy).max(axis=0),
        axial_force=np.where(revolute, np.abs(fz).max(axis=0), np.nan),
        tilting_moment=np.hypot(mx, my).max(axis=0),
        twisting_moment=np.where(revolute, np.nan, np.abs(mz).max(axis=0)),
    )
