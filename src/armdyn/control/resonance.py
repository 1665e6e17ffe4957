"""Resonance frequencies of arms with elastic joints, at one configuration or over the workspace."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

from armdyn.control.extremes import largest
from armdyn.dynamics import Dynamics
from armdyn.errors import NotApplicable, unknown_name
from armdyn.robot.features import TREE, takes
from armdyn.robot.limits import working_range
from armdyn.typing import Array

Motors = Literal["locked", "free"]
MOTORS = ("locked", "free")


@takes("elastic", *TREE)
def resonances(dyn: Dynamics, q: Any, *, motors: Motors = "locked") -> Array:
    """Return the natural frequencies of the springs at configurations, (..., m) rad/s, ascending, m elastic joints.

    Locked motors: det(K - w^2 M_q) = 0 with the links' mass matrix M_q and the stiffnesses K: what one measures with
    the brakes on, and where a loop around the motor has its zeros. Free motors: the same with links and rotors, without
    the zeros of the motion as a whole: where that loop has its poles; higher. Springs across joints stiffen the links'
    side. Gravity, counterbalances and damping are left out.

    dyn:    compiled dynamics of a robot with elastic joints.
    q:      (..., n) joint positions, rad or m.
    motors: "locked" (default) or "free".
    """
    where = dyn.coordinates
    if not where.doubled:
        raise NotApplicable(
            "the robot has no elastic joint",
            where=f"robot {dyn.robot.name!r}",
            expected="elastic = {stiffness = ...} on a joint at least",
        )
    if motors not in MOTORS:
        raise unknown_name("state of the motors", motors, MOTORS, where="resonances")
    q = np.asarray(q, dtype=float)
    M = dyn.mass_matrix(np.stack(where.joined(np.moveaxis(q, -1, 0), np.moveaxis(q, -1, 0)), axis=-1))
    soft = [j for j, joint in enumerate(dyn.robot.joints) if joint.elastic is not None]
    k = np.array([float(joint.elastic.stiffness) for joint in dyn.robot.joints if joint.elastic is not None])
    across = np.zeros(where.size)
    across[: where.n] = [float(joint.spring.stiffness) if joint.spring else 0.0 for joint in dyn.robot.joints]
    if motors == "locked":
        M, K = M[..., soft, :][..., soft], np.diag(k + across[soft])
    else:
        stretch = np.zeros((len(soft), where.size))
        rows = np.arange(len(soft))
        stretch[rows, soft], stretch[rows, [where.motors[j] for j in soft]] = 1, -1
        K = stretch.T @ (k[:, None] * stretch) + np.diag(across)
    inverse = np.linalg.inv(np.linalg.cholesky(M))
    squares: Array = np.linalg.eigvalsh(inverse @ K @ np.swapaxes(inverse, -1, -2))[..., -len(soft) :]
    frequencies: Array = np.sqrt(np.maximum(squares, 0.0))
    return frequencies


@dataclass(frozen=True, eq=False)
class ResonanceRange:
    """Resonance frequencies over the workspace.

    lowest, highest: (m,) rad/s, of each mode, in ascending order of frequency.
    motors:          whether the motors were "locked" or "free".
    """

    lowest: Array
    highest: Array
    motors: Motors

    @property
    def first(self) -> float:
        """The lowest frequency anywhere, rad/s: what `PID.designed(resonance=...)` keeps away from."""
        return float(self.lowest[0])

    def __str__(self) -> str:
        pairs = zip(self.lowest, self.highest, strict=True)
        lines = [f"mode {k + 1}: {low:.4g} to {high:.4g} rad/s" for k, (low, high) in enumerate(pairs)]
        return "\n".join([f"Resonances over the workspace, motors {self.motors}", *lines])


@takes("elastic", *TREE)
def resonance_range(dyn: Dynamics, *, motors: Motors = "locked", seed: int = 0) -> ResonanceRange:
    """Return the range of each resonance frequency over the workspace: random configurations, then local search.

    dyn:    compiled dynamics of a robot with elastic joints.
    motors: "locked" (default) or "free", see `resonances`.
    seed:   of the random numbers (default: 0).
    """
    resonances(dyn, np.mean(working_range(dyn.robot), axis=0), motors=motors)  # an error before the search
    highest = largest(dyn.robot, lambda q: resonances(dyn, q, motors=motors), seed)
    lowest = -largest(dyn.robot, lambda q: -resonances(dyn, q, motors=motors), seed)
    return ResonanceRange(lowest, highest, motors)
