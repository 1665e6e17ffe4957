"""Trajectories in joint space and task space.

A trajectory is an object: `traj(t)`, `traj(t, 1)`, `traj(t, 2)`, `traj.duration`; see `Trajectory`. It is returned by
`point_to_point`, `via_points`, `fourier`, `from_samples`, `jerk_limited`, `follow_target`, or, from a path in space
(`line`, `circle`, `arc`, `via_poses`, `task_curve`), by `follow`.
"""

from armdyn.kinematics.analytic_inverse import closed_form
from armdyn.kinematics.inverse import InverseKinematics, Status, Unreachable, all_solutions, inverse_kinematics
from armdyn.trajectory.cartesian import TaskTrajectory, arc, circle, line, task_curve
from armdyn.trajectory.compose import concatenate
from armdyn.trajectory.follow import follow
from armdyn.trajectory.fourier import fourier
from armdyn.trajectory.jerk import jerk_limited
from armdyn.trajectory.joint import follow_target, hold, point_to_point
from armdyn.trajectory.piecewise import PiecewisePolynomial
from armdyn.trajectory.profiles import PROFILES
from armdyn.trajectory.trajectory import Samples, Trajectory
from armdyn.trajectory.trajectory_files import read_trajectory
from armdyn.trajectory.via import from_samples, via_points
from armdyn.trajectory.via_poses import via_poses

__all__ = [
    "PROFILES",
    "InverseKinematics",
    "PiecewisePolynomial",
    "Samples",
    "Status",
    "TaskTrajectory",
    "Trajectory",
    "Unreachable",
    "all_solutions",
    "arc",
    "circle",
    "closed_form",
    "concatenate",
    "follow",
    "follow_target",
    "fourier",
    "from_samples",
    "hold",
    "inverse_kinematics",
    "jerk_limited",
    "line",
    "point_to_point",
    "read_trajectory",
    "task_curve",
    "via_points",
    "via_poses",
]
