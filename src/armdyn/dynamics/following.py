"""Closed configurations along a batch that is a trajectory: each sample begins where the one before has ended."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from armdyn.dynamics.graphs import Near
from armdyn.errors import unknown_name
from armdyn.mechanics.dependent_joints import dependent_joints
from armdyn.typing import Array

if TYPE_CHECKING:
    from armdyn.dynamics.facade import Dynamics


def followed(dynamics: Dynamics, q: Any, choice: str) -> Array:
    """Closed configurations (..., N, all) for `near`, along positions (..., N, n) of the independent joints.

    choice: "previous". The first sample of every trajectory is reached from the assembly.

    Raises PhysicsError, with the loop, where the loops cannot be closed on the way.
    """
    if choice != "previous":
        raise unknown_name("choice of near=", choice, ["previous"], where=f"robot {dynamics.robot.name!r}")
    chain, close = dependent_joints(dynamics.robot), dynamics.program("closed", Near(None))
    positions = np.asarray(q, dtype=float)
    found = np.empty((*positions.shape[:-1], len(chain.tree.joints)))
    courses = positions.reshape(-1, *positions.shape[-2:]) if positions.ndim > 1 else positions[None, None]
    for course, configurations in zip(courses, found.reshape(len(courses), courses.shape[1], -1), strict=True):
        before = np.array(chain.continued(course[0].tolist()))
        for k, place in enumerate(course):
            here = np.asarray(close(place, before))
            if not np.isfinite(here).all():
                here = np.array(chain.continued(place.tolist(), before.tolist()))
            configurations[k] = before = here
    return found
