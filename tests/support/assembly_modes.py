"""Second assembly modes of the catalog's closed chains."""

from __future__ import annotations

import numpy as np

from armdyn.mechanics import closed_chain
from armdyn.mechanics.dependent_joints import dependent_joints
from armdyn.robot import Robot

STARTS = {
    "five_bar": {"left_elbow": 1.4, "right_elbow": -1.4},
    "bricard": {"joint2": -2.0, "joint4": -2.0},
    "delta": {"platform_z": 0.467, **{f"swing{k}": 0.615 for k in (1, 2, 3)}, **{f"tilt{k}": 3.14 for k in (1, 2, 3)}},
    "stewart": {"platform_z": -0.7, **{f"turn{k}": 3.0 for k in range(1, 7)}},
}
"""Other ways to put the mechanisms together: the elbows inwards, the platform on the other side."""


def another_mode(robot: Robot) -> np.ndarray:
    """The closed configuration of all joints in the other mode, at the same independent joints as the assembly."""
    chain = dependent_joints(robot)
    names = [joint.name for joint in robot.opened.joints]
    start = [STARTS[robot.name].get(joint, x) for joint, x in zip(names, chain.assembly, strict=True)]
    other = np.asarray(closed_chain.close(robot, np.array([chain.assembly[k] for k in chain.independent]), start))
    assert np.abs(other - chain.assembly).max() > 1
    return other
