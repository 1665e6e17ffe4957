"""Configurations of closed chains that can be assembled: not every position of the independent joints can."""

from __future__ import annotations

import numpy as np

from armdyn.dynamics import Dynamics
from armdyn.errors import PhysicsError
from armdyn.mechanics.dependent_joints import dependent_joints
from armdyn.typing import Array

HALVINGS = 20
"""Largest number of times that the way from the assembly configuration is halved."""


def closable(dyn: Dynamics, q: Array, *, quick: bool = False) -> Array:
    """Return which configurations q (..., n) can be closed in the robot's assembly mode, (...) bool.

    quick: only those that a few Newton steps close from the assembly; the others are not looked at further.
    """
    flat = np.ascontiguousarray(q, dtype=float).reshape(-1, dyn.n)
    if not dyn.robot.loops:
        return np.ones(q.shape[:-1], dtype=bool)
    with np.errstate(all="ignore"):
        closed: Array = np.isfinite(dyn.program("closed")(flat)).all(axis=-1)
    chain = dependent_joints(dyn.robot)
    for k in np.flatnonzero(~closed) if not quick else ():
        try:
            chain.continued(flat[k].tolist())
            closed[k] = True
        except PhysicsError:
            pass
    return closed.reshape(q.shape[:-1])


def pulled_in(dyn: Dynamics, q: Array) -> Array:
    """Return configurations (..., n) that close: q, moved halfway to the assembly as often as it takes."""
    if not dyn.robot.loops:
        return q
    chain, q = dependent_joints(dyn.robot), np.array(q, dtype=float)
    home = np.array([chain.assembly[k] for k in chain.independent])
    for _ in range(HALVINGS):
        far = ~closable(dyn, q, quick=True)
        if not far.any():
            break
        q[far] = (q[far] + home) / 2
    return q


__all__ = ["closable", "pulled_in"]
