"""Coriolis matrices side by side: which are skew, which have the right torques, what they cost (Truc sec. 1)."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np

from armdyn.equations.derivation import must_move
from armdyn.graph import Operations, trace
from armdyn.mechanics import kronecker, newton_euler
from armdyn.mechanics.coriolis_matrices import MATRICES
from armdyn.mechanics.quantity import put_together
from armdyn.robot.features import BODIES, takes
from armdyn.robot.robot import Robot
from armdyn.tables import Column, Section

SMALL = 1e-9
"""Defects below this share are rounding of a few thousand operations."""


@dataclass(frozen=True)
class CoriolisMatrix:
    """One Coriolis matrix; defects are the largest over random states, as shares of the largest entry."""

    name: str
    source: str
    torque_defect: float
    """Of C qd."""
    skew_defect: float
    """Of N + N^T = 0, N = Mdot - 2C."""
    rate_defect: float
    """Of Mdot = C + C^T."""
    operations: Operations

    @property
    def skew(self) -> bool:
        """Whether Mdot - 2C is skew-symmetric."""
        return self.skew_defect < SMALL

    def record(self) -> dict[str, Any]:
        """What was found, as plain values."""
        defects = {
            "torque_defect": self.torque_defect,
            "skew_defect": self.skew_defect,
            "rate_defect": self.rate_defect,
        }
        counts = {"multiplications": self.operations.multiplications, "additions": self.operations.additions}
        return {"name": self.name, "source": self.source, "skew": self.skew, **defects, **counts}


@takes(*BODIES)
def coriolis_matrices(robot: Robot, *, samples: int = 5, seed: int = 0) -> tuple[CoriolisMatrix, ...]:
    """Return all Coriolis matrices of the robot, compared. Friction and reflected rotors have no part in them.

    samples: random states to compare at. seed: of these states.

    >>> import armdyn
    >>> arm = armdyn.load("planar2r").without("rotors_on_links")
    >>> [matrix.name for matrix in coriolis_matrices(arm) if not matrix.skew]
    ['Newton-Euler in link frames', 'U - V^T/2', 'products of rates once']
    """
    must_move(robot)
    bodies, n = robot.without("friction", "rotors").bound(), robot.n
    q, qd = np.random.default_rng(seed).uniform(-1, 1, (2, samples, n))
    columns = [[each[:, j] for j in range(n)] for each in (q, qd)]
    rate = np.asarray(put_together(kronecker.velocity_matrices(bodies, *columns)[0], (samples,)))  # Mdot, Truc (53)
    torques = newton_euler.coriolis(bodies, q, qd)
    found = []
    for name, (source, function) in MATRICES.items():
        C = np.asarray(function(bodies, q, qd))
        N = rate - 2 * C
        turned = C.swapaxes(-1, -2)
        scale = max(float(np.abs(C).max()), 1e-300)
        graph = trace(lambda q, qd, function=function: {"C": function(bodies, q, qd)}, {"q": n, "qd": n})
        found.append(
            CoriolisMatrix(
                name,
                source,
                torque_defect=float(np.abs((C @ qd[..., None])[..., 0] - torques).max()) / scale,
                skew_defect=float(np.abs(N + N.swapaxes(-1, -2)).max()) / scale,
                rate_defect=float(np.abs(rate - C - turned).max()) / scale,
                operations=graph.operations,
            )
        )
    return tuple(found)


def coriolis_section(matrices: Iterable[CoriolisMatrix]) -> Section:
    """Return the comparison as a table."""
    heads = ("matrix", "C qd right", "Mdot - 2C skew", "Mdot = C + C^T", "multiplications", "additions", "source")
    rows = tuple(
        (
            m.name,
            _yes(m.torque_defect),
            _yes(m.skew_defect),
            _yes(m.rate_defect),
            str(m.operations.multiplications),
            str(m.operations.additions),
            m.source,
        )
        for m in matrices
    )
    note = "Bodies only, without rotors. No: the largest defect, as a share of the largest entry of C."
    return Section("Coriolis matrices", tuple(map(Column, heads)), rows, note)


def _yes(defect: float) -> str:
    return "yes" if defect < SMALL else f"no, {defect:.2g}"
