"""The compiled sweeps against linear programs solved by SciPy, one by one, on cells of random coefficients."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from scipy.optimize import linprog

from armdyn.kernels.procedure import with_slack
from armdyn.motion.grid_timing import _Sweeps
from armdyn.motion.path_grid import Cells
from armdyn.robot.limits import MotionLimits

CELLS = 12


def random_sweeps(seed: int, resting: bool, n: int) -> _Sweeps:
    """Cells with random torques and accelerations, no robot's; resting: x = 0, u = 0 keeps all limits."""
    rng = np.random.default_rng(seed)
    q1, q2, a, b, g = (with_slack((5, CELLS, n)) for _ in range(5))
    for part in (q1, q2, a, b):
        part[...] = rng.normal(size=part.shape)
    a[rng.random(a.shape) < 0.15] = 0.0  # points of zero inertia
    g[...] = rng.uniform(-0.5, 0.5, g.shape) * (1.0 if resting else 2.2)
    x = np.concatenate([[0.0], np.cumsum(rng.uniform(0.05, 0.2, CELLS))])
    free = np.full(n, np.inf)
    limits = MotionLimits(
        lower=-free, upper=free, velocity=rng.uniform(1.0, 3.0, n), acceleration=rng.uniform(1.0, 3.0, n),
        jerk=free, tau_min=-np.ones(n), tau_max=np.ones(n),
        power=free, continuous=free,
    )  # fmt: skip
    cells = Cells(x, q1, q2, a, b, g, np.zeros(q1.shape))
    return _Sweeps(cells, limits, 0.0, 0.0 if resting else 0.3)


def rows_of(work: _Sweeps, i: int) -> tuple[np.ndarray, np.ndarray]:
    """All limits of a cell as rows (k, 2) for (u, x) and their bounds (k,), written down one by one."""
    c, limits, step = work.cells, work.limits, work.step[i]
    rows, bounds = [], []
    for place in (0, 4):
        for j in range(work.n):
            for u, x, rest, most in (
                (c.a[place, i, j], c.b[place, i, j], c.g[place, i, j], limits.tau_max[j]),
                (c.q1[place, i, j], c.q2[place, i, j], 0.0, limits.acceleration[j]),
            ):
                for sign in (1, -1):
                    rows.append([sign * (u + (step * x if place else 0.0)), sign * x])
                    bounds.append(most - sign * rest)
    for k in range(5):
        bound = float(((c.q1[k, i] / limits.velocity) ** 2).max())
        rows.append([bound * step * k / 4, bound])
        bounds.append(1.0)
    return np.array(rows), np.array(bounds)


def extreme(work: _Sweeps, i: int, sign: float, low: float, high: float) -> float | None:
    """Largest (sign 1) or least (-1) x of cell i from which x between low and high can be reached."""
    A, b = rows_of(work, i)
    A, b = np.vstack([A, [work.step[i], 1.0], [-work.step[i], -1.0]]), np.append(b, [high, -low])
    before = rows_of(work, i - 1)[0][-1, 1] if i else 1e-9  # the velocity limits at the end of the cell before
    found = linprog([0.0, -sign], A_ub=A, b_ub=b, bounds=[(None, None), (0.0, 1 / before)], method="highs")
    return float(found.x[1]) if found.status == 0 else None


@pytest.mark.parametrize("n", [3, 7, 10])
@pytest.mark.parametrize("resting", [True, False])
@pytest.mark.parametrize("seed", range(5))
def test_sets_are_those_of_linear_programs(seed: int, resting: bool, n: int) -> None:
    work = random_sweeps(seed, resting, n)
    nothing = np.zeros((2, 2, CELLS, n))
    failed = work.solve(nothing, nothing)
    least: Any = work.end**2
    most: Any = work.end**2
    for i in range(CELLS - 1, -1, -1):
        least, most = (extreme(work, i, sign, least, most) for sign in (-1, 1))
        if least is None or most is None:
            assert failed == i
            return
        assert np.isclose(work.K_low[i], least, atol=1e-7) and np.isclose(work.K_high[i], most, atol=1e-7)
    assert failed == (-1 if work.K_low[0] <= 0 else CELLS)
    if failed < 0:
        u = np.diff(work.x) / work.step
        for i in range(CELLS):
            A, b = rows_of(work, i)
            assert (A @ [u[i], work.x[i]] <= b + 1e-7).all()
            more = (A @ [u[i] + 1e-6, work.x[i]] > b - 1e-7).any()  # no larger u is possible
            assert more or work.x[i] + work.step[i] * (u[i] + 1e-6) > work.K_high[i + 1]


def test_both_outcomes_occur() -> None:
    """The programs above are not all of one kind: some are solved, in some a set is empty."""
    nothing = np.zeros((2, 2, CELLS, 3))
    found = {random_sweeps(seed, resting, 3).solve(nothing, nothing) for seed in range(5) for resting in (True, False)}
    assert -1 in found and len(found) > 1
