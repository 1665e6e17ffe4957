"""Values and derivatives of piecewise polynomials at many times, as machine code."""

from __future__ import annotations

import math

import numpy as np

from armdyn.kernels.procedure import LANES, VECTOR, WHOLE, Procedure, Procedures, Value
from armdyn.typing import Array

ORDERS = 4
"""Position, velocity, acceleration, jerk."""

procedures = Procedures("evaluation")


@procedures.define("piiiippip")
def _evaluate(
    w: Procedure, knots: Value, pieces: Value, terms: Value, n: Value, count: Value, coefficients: Value, t: Value,
    orders: Value, results: Value,
) -> None:  # fmt: skip
    """Horner's rule for a polynomial and its derivatives at once; results: `orders` planes of (count, n) with slack."""
    piece, plane = w.variable(0, WHOLE), count * n + LANES
    with w.loop(count) as i:
        now, k = t[i], piece.now
        inside = (now >= knots[k]) & (now < knots[k + 1])
        with w.when(w.select(inside, w.value(0, WHOLE), 1) > 0):  # the last knot that is not later, by bisection
            low, high = w.variable(0, WHOLE), w.variable(pieces, WHOLE)
            with w.repeat():
                w.leave_unless(high.now - low.now > 1)
                middle = (low.now + high.now) / 2
                before = knots[middle] <= now
                low.set(w.select(before, middle, low.now))
                high.set(w.select(before, high.now, middle))
            piece.set(low.now)
        k = piece.now
        x, first = now - knots[k], k * terms * n
        with w.loop(n, step=LANES) as j:
            values = [w.variable(0.0, VECTOR) for _ in range(ORDERS)]
            with w.loop(-1, start=terms - 1, step=-1) as term:
                lower = coefficients.vector(first + term * n + j)
                for value in values:
                    before_ = value.now
                    value.set(before_ * x + lower)
                    lower = before_
            for order, value in enumerate(values):
                with w.when(orders > order):
                    results[plane * order + i * n + j] = value.now * float(math.factorial(order))
    w.give(0)


def derivatives_of(knots: Array, coefficients: Array, t: Array, orders: int) -> list[Array]:
    """Return (*t.shape, n) values of the polynomials and of their derivatives, `orders` of them."""
    pieces, terms, n = coefficients.shape
    times = np.ascontiguousarray(t, dtype=float)
    planes = np.empty((orders, times.size * n + LANES))
    _evaluate(knots, pieces, terms, n, times.size, coefficients, times, orders, planes)
    return [plane[: times.size * n].reshape(*t.shape, n) for plane in planes]
