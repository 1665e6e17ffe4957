"""Controllable sets against linear programs solved by SciPy, one by one."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from scipy.optimize import linprog

from armdyn.motion.reachability import ConstraintRows, allowed, controllable, fastest

CELLS, ROWS = 12, 9


def problem(seed: int, resting: bool) -> tuple[ConstraintRows, np.ndarray, np.ndarray]:
    """Random rows; resting: x = 0, u = 0 obeys them all, as for a robot that can hold itself."""
    rng = np.random.default_rng(seed)
    a, b = rng.normal(size=(2, CELLS, ROWS))
    a[rng.random(a.shape) < 0.15] = 0.0  # points of zero inertia
    r = rng.uniform(0.3, 1.0, a.shape)
    if not resting:
        r -= 0.25 * rng.random(a.shape)
    return ConstraintRows(a, b, r), rng.uniform(0.05, 0.2, CELLS), rng.uniform(0.5, 3.0, CELLS + 1)


def program(
    rows: ConstraintRows, i: int, sign: float, more: list[tuple[float, float, float]], top: float
) -> float | None:
    """Largest (sign 1) or least (-1) x of cell i."""
    A = np.column_stack([rows.a[i], rows.b[i]]).tolist() + [[p, q] for p, q, _ in more]
    bound = [*rows.r[i], *(r for _, _, r in more)]
    found = linprog([0.0, -sign], A_ub=A, b_ub=bound, bounds=[(None, None), (0.0, top)], method="highs")
    return float(found.x[1]) if found.status == 0 else None


@pytest.mark.parametrize("resting", [True, False])
@pytest.mark.parametrize("seed", range(12))
def test_sets_are_those_of_linear_programs(seed: int, resting: bool) -> None:
    rows, ds, top = problem(seed, resting)
    low, high, dead = allowed(rows, top[:-1])
    sets = [(program(rows, i, -1, [], top[i]), program(rows, i, 1, [], top[i])) for i in range(CELLS)]
    if any(x is None for pair in sets for x in pair):
        assert dead is not None and sets[dead.cell] == (None, None)
        return
    assert dead is None
    assert np.allclose(np.transpose([low, high]), np.array(sets, dtype=float), atol=1e-8)
    end = 0.0 if resting else float(0.5 * top[-1])
    K_low, K_high, dead = controllable(rows, ds, low, high, end)
    least: Any = end
    most: Any = end
    for i in range(CELLS - 1, -1, -1):
        into = [(2 * ds[i], 1.0, most), (-2 * ds[i], -1.0, -least)]
        pair = program(rows, i, -1, into, top[i]), program(rows, i, 1, into, top[i])
        if None in pair:
            assert dead is not None and dead.cell == i
            return
        least, most = pair
        assert np.isclose(K_low[i], least, atol=1e-7) and np.isclose(K_high[i], most, atol=1e-7)
    assert dead is None
    x = fastest(rows, ds, K_low, K_high, float(K_low[0]))
    u = np.diff(x) / (2 * ds)
    assert (rows.a * u[:, None] + rows.b * x[:-1, None] <= rows.r + 1e-7).all()
    for i in range(CELLS):  # no larger u is possible
        more = (rows.a[i] * (u[i] + 1e-6) + rows.b[i] * x[i] > rows.r[i] - 1e-7).any()
        assert more or x[i] + 2 * ds[i] * (u[i] + 1e-6) > K_high[i + 1]


def test_both_outcomes_occur() -> None:
    """The programs above are not all of one kind: some sets lie above zero, some are empty."""
    kinds = set()
    for seed in range(12):
        rows, ds, top = problem(seed, False)
        low, high, dead = allowed(rows, top[:-1])
        if dead is None:
            K_low, _, dead = controllable(rows, ds, low, high, float(0.5 * top[-1]))
        kinds.add("empty" if dead is not None else "above zero" if (K_low[:-1] > 0).any() else "from rest")
    assert {"empty", "above zero"} <= kinds
