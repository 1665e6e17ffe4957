"""Trajectories in joint space and task space.

A trajectory is an object: `traj(t)`, `traj(t, 1)`, `traj(t, 2)`, `traj.duration`; see `Trajectory`. It is returned by
`point_to_point`, `via_points`, `fourier`, `from_samples`, `jerk_limited`, `follow_target`, or, from a path in space
(`line`, `circle`, `arc`, `via_poses`, `task_curve`), by `follow`.
"""

from armdyn.public import attach

attach(__name__)
