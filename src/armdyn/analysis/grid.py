"""Configurations of an arm for a grid of points, each found from a neighbour's, so that they change gradually."""

from __future__ import annotations

import numpy as np

from armdyn.dynamics import Dynamics
from armdyn.kinematics import inverse_kinematics
from armdyn.kinematics.task_rows import LINEAR, own_rows
from armdyn.typing import Array

STARTS = 8
"""Starts of inverse kinematics for a point that is not reached from a neighbour."""


def solve_grid(dyn: Dynamics, pair: tuple[str, ...], grid: Array, at: Array, frame: str) -> tuple[Array, Array]:
    """q (k1, k2, n) and reached (k1, k2) of a grid (k1, k2, 2) over two of x y z, the third as at `at`.

    Waves spread from the point nearest to the tool at `at`; of what they do not reach, the nearest point that many
    starts reach begins the next waves.
    """
    waves = _Waves(dyn, pair, grid, at, frame)
    nearest = np.array([np.unravel_index(waves.away.argmin(), waves.away.shape)])
    waves.spread(*waves.solve(nearest, STARTS))
    missed = np.argwhere(~waves.reached)
    if len(missed):
        cells, found = waves.solve(missed, STARTS)
        for k in waves.away[tuple(cells.T)].argsort():
            if not waves.reached[tuple(cells[k])]:
                waves.spread(cells[k : k + 1], found[k : k + 1])
    return waves.q, waves.reached


class _Waves:
    """The grid while it is being solved: q holds where a cell is, or where it shall be tried from."""

    def __init__(self, dyn: Dynamics, pair: tuple[str, ...], grid: Array, at: Array, frame: str) -> None:
        index = [LINEAR.index(name) for name in pair]
        home = dyn.pose(at, frame=frame)[:3, 3]
        self.robot, self.frame = dyn.robot, frame
        self.rows = " ".join(LINEAR[i] for i in sorted({*own_rows(dyn, frame, linear=True).tolist(), *index}))
        self.targets = np.broadcast_to(home, (*grid.shape[:-1], 3)).copy()
        self.targets[..., index] = grid
        self.away: Array = np.linalg.norm(self.targets - home, axis=-1)
        self.q = np.broadcast_to(at, (*grid.shape[:-1], dyn.n)).copy()
        self.reached = np.zeros(grid.shape[:-1], dtype=bool)

    def solve(self, cells: Array, starts: int) -> tuple[Array, Array]:
        """Those of cells (k, 2) that are reached from their q, and the configurations found."""
        at = tuple(cells.T)
        found = inverse_kinematics(
            self.robot, self.targets[at], self.q[at], frame=self.frame, rows=self.rows, starts=starts, throw=False
        )
        good = np.asarray(found.reached, dtype=bool)
        return cells[good], found.q[good]

    def spread(self, cells: Array, found: Array) -> None:
        """Continue from reached cells to their neighbours."""
        while len(cells):
            self.q[tuple(cells.T)], self.reached[tuple(cells.T)] = found, True
            fringe = {
                (i, j): self.q[a, b]
                for a, b in cells
                for i, j in ((a + 1, b), (a - 1, b), (a, b + 1), (a, b - 1))
                if 0 <= i < len(self.reached) and 0 <= j < self.reached.shape[1] and not self.reached[i, j]
            }
            if not fringe:
                return
            edge = np.array(list(fringe))
            self.q[tuple(edge.T)] = np.array(list(fringe.values()))
            cells, found = self.solve(edge, 1)
