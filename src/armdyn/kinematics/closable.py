"""Configurations of closed chains that can be assembled: not every position of the independent joints can."""

from __future__ import annotations

import numpy as np

from armdyn.dynamics import Dynamics
from armdyn.errors import PhysicsError
from armdyn.mechanics.dependent_joints import dependent_joints
from armdyn.typing import Array

HALVINGS = 20
"""Largest number of times that the way from the assembly configuration is halved."""
CLEAR = 0.2
"""Smallest singular value of the loops' Jacobian in a configuration that counts as clear of singular ones, as a share
of that in the assembly: where dependent joints turn many times as far as the independent ones, inertias seen by these
grow without bound. Linkages are designed for transmission angles beyond 40 degrees, far from this."""


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


def clear(dyn: Dynamics, q: Array) -> Array:
    """Return which closed configurations q (k, n) are clear of singular ones of the loops, (k,) bool."""
    chain = dependent_joints(dyn.robot)
    home = [chain.assembly[k] for k in chain.independent]
    q_all = dyn.program("closed")(np.vstack([home, q]))
    found = np.ones(len(q), dtype=bool)
    for stage in chain.stages:
        rows, _ = chain.stacked(stage, list(q_all.T))
        J = np.zeros((len(q_all), len(rows), len(stage.joints)))
        for i, row in enumerate(rows):
            for j, joint in enumerate(stage.joints):
                J[:, i, j] = row.get(joint, 0.0)
        smallest = np.linalg.svd(J, compute_uv=False)[:, -1]
        found &= smallest[1:] >= CLEAR * smallest[0]
    return found


def pulled_in(dyn: Dynamics, q: Array, *, well: bool = False) -> Array:
    """Return configurations (..., n) that close: q, moved halfway to the assembly as often as it takes.

    well: and are clear of singular ones (default: no); then q is (k, n).
    """
    if not dyn.robot.loops:
        return q
    chain, q = dependent_joints(dyn.robot), np.array(q, dtype=float)
    home = np.array([chain.assembly[k] for k in chain.independent])
    for _ in range(HALVINGS):
        closed = closable(dyn, q, quick=True)
        if well:
            closed[closed] = clear(dyn, q[closed])
        if closed.all():
            break
        q[~closed] = (q[~closed] + home) / 2
    return q


__all__ = ["clear", "closable", "pulled_in"]
