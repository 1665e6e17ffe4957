"""The fastest timing of a path by reachability analysis: Pham & Pham 2018 (TOPP-RA)

Along a path of parameter s, with u = sdd and x = sd^2, a constraint is a row a u + b x <= r. On a cell of the grid u is
constant, so x grows linearly: x_end = x + 2 ds u. A row may hold at the start of the cell (a u + b x <= r) or at its
end, (a + 2 ds b) u + b x <= r: both are rows in the u and x of the cell.

Backwards: K_i = {x : some u obeys the rows and leads into K_i+1}. Eliminating u (Fourier-Motzkin) leaves inequalities
in x alone: of two rows of one cell (their bound does not depend on K_i+1 and is found for all cells at once, by
`allowed`), and of one row with an end of K_i+1, which is one linear function of that end per row.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from armdyn.typing import Array

TINY = 1e-10
"""Coefficient of u below which a row, scaled to a limit of 1, does not depend on u (a zero-inertia point)."""
SLACK = 1e-9
"""Tolerance of each row, as a fraction of its limit: rounding must not empty a set that is a single point."""
MOST = 60
"""Iterations of the row selection before all rows are taken; three usually suffice."""
HUGE = 1e300
FAR = 1e12
"""Squared path speed that stands for no bound."""


class ConstraintRows(NamedTuple):
    """a u + b x <= r for every cell: (N, m) each."""

    a: Array
    b: Array
    r: Array


class Conflict(NamedTuple):
    """A cell in which no speed is feasible, and the two rows that exclude each other (-1: a bound of the speed)."""

    cell: int
    upper: int
    lower: int


def pruned(rows: ConstraintRows, top: Array) -> Array:
    """Return the indices of the rows that are not redundant in every cell."""
    a, b, r = rows
    if not np.isfinite(top).all():
        return np.arange(a.shape[1])
    end = b * top[:, None]
    most, least = r - np.minimum(end, 0.0), r - np.maximum(end, 0.0)  # of r - b x, for x from 0 to top
    with np.errstate(divide="ignore", invalid="ignore"):
        u_max = np.where(a > TINY, most / a, np.inf).min(axis=1, keepdims=True)
        u_min = np.where(a < -TINY, most / a, -np.inf).max(axis=1, keepdims=True)
        worst = np.where(a > 0, a * u_max, np.where(a < 0, a * u_min, 0.0))
    reached = worst >= least - 1e-9 * (np.abs(least) + 1)  # a row that bounds u itself is reached, up to rounding
    return np.flatnonzero(reached.any(axis=0))


def allowed(rows: ConstraintRows, top: Array) -> tuple[Array, Array, Conflict | None]:
    """Return the interval of x in which the rows of each cell allow some u, (N,) low and (N,) high, or a conflict.

    Largest and least u are piecewise linear in x, their difference is concave. From outside, the zero of the piece
    that is active is a better bound, until none is negative: each step discards a piece, so it ends.
    """
    a, b, r = rows
    positive, negative = a > TINY, a < -TINY
    flat = ~(positive | negative)
    low, high = np.zeros(len(a)), np.minimum(top, FAR)
    conflict: Conflict | None = None
    if flat.any():  # rows without u
        with np.errstate(divide="ignore", invalid="ignore"):
            only = r / b
        high = np.minimum(high, np.where(flat & (b > TINY), only, np.inf).min(axis=1))
        low = np.maximum(low, np.where(flat & (b < -TINY), only, -np.inf).max(axis=1))
        hopeless = flat & (np.abs(b) <= TINY) & (r < 0)
        if hopeless.any():
            cell, row = np.argwhere(hopeless)[0]
            return low, high, Conflict(int(cell), int(row), -1)
    with np.errstate(divide="ignore", invalid="ignore"):
        P, Q = r / a, b / a
    over = np.where(positive, P, HUGE), np.where(positive, Q, 0.0)
    under = np.where(negative, P, -HUGE), np.where(negative, Q, 0.0)
    for x, sign in ((high, -1.0), (low, 1.0)):
        todo = np.arange(len(a))
        for _ in range(2 * a.shape[1] + 2):
            most = over[0][todo] - over[1][todo] * x[todo, None]
            least = under[0][todo] - under[1][todo] * x[todo, None]
            j, k = most.argmin(axis=1), least.argmax(axis=1)
            each = np.arange(len(todo))
            upper, lower = most[each, j], least[each, k]
            crossed = upper - lower < -1e-13 * (np.abs(upper) + np.abs(lower))
            if not crossed.any():
                break
            todo, j, k = todo[crossed], j[crossed], k[crossed]
            slope = under[1][todo, k] - over[1][todo, j]
            if (slope * sign <= 0).any():  # the piece is negative on the whole way
                e = int(np.argmax(slope * sign <= 0))
                return low, high, Conflict(int(todo[e]), int(j[e]), int(k[e]))
            zero = (under[0][todo, k] - over[0][todo, j]) / slope
            better = (zero < x[todo]) if sign < 0 else (zero > x[todo])
            x[todo] = np.where(better, zero, x[todo])
            todo = todo[better]
            if not len(todo):
                break
            outside = low[todo] > high[todo] * (1 + 1e-12) + 1e-14
            if outside.any():
                e = int(np.argmax(outside))
                cell = int(todo[e])
                most, least = (w[0][cell] - w[1][cell] * low[cell] for w in (over, under))
                conflict = Conflict(cell, int(most.argmin()), int(least.argmax()))
                return low, high, conflict
    crossed = low > high * (1 + 1e-12) + 1e-14
    if crossed.any():
        cell = int(np.argmax(crossed))
        upper_row = int(
            np.where(flat[cell] & (b[cell] > TINY), r[cell] / np.where(b[cell] == 0, 1, b[cell]), np.inf).argmin()
        )
        conflict = Conflict(cell, upper_row if flat[cell].any() else -1, -1)
    return low, np.where(high >= FAR, np.inf, high), conflict


def controllable(
    rows: ConstraintRows, ds: Array, low: Array, high: Array, end: float
) -> tuple[Array, Array, Conflict | None]:
    """Return the controllable sets K_i = [low_i, high_i], (N+1,) each: from x in K_i, x = end can be reached.

    Row k and the end h of K_i+1 that it can miss: (b_k + w_k) x <= r_k + w_k h, w = -a/(2 ds). [Fourier-Motzkin]

    Few rows are active: the recursion runs on a selection of rows, all rows are then checked on its result, violated
    rows join the selection, and it runs again, until none is violated. The result is that of all rows.
    """
    a, b, r = rows
    cells = len(a)
    w = -a / (2 * ds[:, None])
    A = b + w
    zero = np.abs(A) <= 1e-12 * (np.abs(b) + np.abs(w)) + 1e-200
    up, down = (A > 0) & ~zero, (A < 0) & ~zero
    with np.errstate(divide="ignore", invalid="ignore"):
        p, q = r / A, w / A
    upper = np.stack([np.where(up, p, HUGE), np.where(up & (w > 0), q, 0.0), np.where(up & (w < 0), q, 0.0)])
    lower = np.stack([np.where(down, p, -HUGE), np.where(down & (w > 0), q, 0.0), np.where(down & (w < 0), q, 0.0)])
    K_low, K_high = np.append(low, end), np.append(np.where(np.isfinite(high), high, FAR), end)
    each = np.arange(cells)
    over, under = Selection(upper), Selection(lower)
    over.add(_bounds(upper, end, end).argmin(axis=1))
    if end > 0 or low.any():  # else the lower ends are zero, as a rule
        under.add(_bounds(lower, end, end).argmax(axis=1))
    for again in range(MOST + 1):
        state = K_high[1:, None], K_low[1:, None]
        ceiling, floor = _bounds(upper, *state), _bounds(lower, *state)
        row, base = ceiling.argmin(axis=1), floor.argmax(axis=1)
        broken = ceiling[each, row] < K_high[:-1] - 1e-13 * (1 + K_high[:-1])
        sunk = floor[each, base] > K_low[:-1] + 1e-13 * (1 + K_low[:-1])
        if again and not (broken.any() or sunk.any()):
            break
        over.add(row, broken)
        under.add(base, sunk)
        if again == MOST:
            over.add_all()
            under.add_all()
        conflict = _sweep(over.lines, under.lines, low.tolist(), high.tolist(), K_low, K_high)
        if conflict is not None:
            h, l = K_high[conflict + 1], K_low[conflict + 1]
            ceiling, floor = _bounds(upper[:, conflict], h, l), _bounds(lower[:, conflict], h, l)
            blocked = floor.max() > max(low[conflict], ceiling.min())
            return K_low, K_high, Conflict(conflict, int(ceiling.argmin()), int(floor.argmax()) if blocked else -1)
    return K_low, K_high, None


Lines = list[list[list[float]]]


def _sweep(over: Lines, under: Lines, low: list[float], high: list[float], K_low: Array, K_high: Array) -> int | None:
    """One recursion from the end to the start; the cell whose set is empty, if there is one."""
    h, l = float(K_high[-1]), float(K_low[-1])
    for i in range(len(low) - 1, -1, -1):
        top, bottom = high[i], low[i]
        for c, f, g in over[i]:
            bound = c + f * h + g * l
            if bound < top:
                top = bound
        for c, f, g in under[i]:
            bound = c + f * h + g * l
            if bound > bottom:
                bottom = bound
        if bottom > top:
            if bottom > top + 1e-9 * (abs(top) + abs(h) + 1e-12) or top < -1e-12:
                return i
            top = bottom = max(0.0, 0.5 * (top + bottom))
        K_low[i], K_high[i] = bottom, top
        h, l = top, bottom
    return None


def _bounds(lines: Array, high: Array | float, low: Array | float) -> Array:
    bounds: Array = lines[0] + lines[1] * high + lines[2] * low
    return bounds


class Selection:
    """The rows of every cell that have been active so far, as plain numbers."""

    def __init__(self, lines: Array) -> None:
        self.all = lines
        self.lines: list[list[list[float]]] = [[] for _ in range(lines.shape[1])]

    def add(self, rows: Array, where: Array | None = None) -> None:
        """Add one row for each of the cells `where`."""
        cells = np.arange(len(rows)) if where is None else np.flatnonzero(where)
        for cell, line in zip(cells.tolist(), self.all[:, cells, rows[cells]].T.tolist(), strict=True):
            self.lines[cell].append(line)

    def add_all(self) -> None:
        self.lines = np.moveaxis(self.all, 0, 2).tolist()


def fastest(rows: ConstraintRows, ds: Array, K_low: Array, K_high: Array, start: float) -> Array:
    """Return x at the N+1 points: from `start`, the largest u of every cell that leads into the next controllable set.

    That u keeps the rows that bound u from below, since some u does. The selection of rows is made as above.
    """
    a, b, r = rows
    cells = len(a)
    positive = a > TINY
    grow = 2 * ds[:, None]
    with np.errstate(divide="ignore", invalid="ignore"):
        lines = np.stack([np.where(positive, grow * r / a, HUGE), np.where(positive, 1 - grow * b / a, 1.0)])
    low, high = K_low.tolist(), K_high.tolist()
    each = np.arange(cells)
    x = K_high.copy()
    x[0] = start
    chosen = Selection(lines)
    chosen.add((lines[0] + lines[1] * start).argmin(axis=1))
    for again in range(MOST + 1):
        bounds = lines[0] + lines[1] * x[:-1, None]
        row = bounds.argmin(axis=1)
        broken = np.maximum(bounds[each, row], K_low[1:]) < x[1:] - 1e-13 * (1 + x[1:])
        if again and not broken.any():
            break
        chosen.add(row, broken)
        if again == MOST:
            chosen.add_all()
        now = start
        for i, cell in enumerate(chosen.lines, 1):
            most = high[i]
            for c, f in cell:
                bound = c + f * now
                if bound < most:
                    most = bound
            now = most if most > low[i] else low[i]
            x[i] = now
    return x
