"""Procedures: loops, branches and variables as machine code, against the same in Python."""

from __future__ import annotations

import numpy as np
import pytest

from armdyn.errors import ArmdynError
from armdyn.kernels import jit
from armdyn.kernels.procedure import LANES, Procedure, Procedures, Value, with_slack

procedures = Procedures("test")


@procedures.define("piii")
def visited(w: Procedure, found: Value, start: Value, stop: Value, down: Value) -> None:
    """The numbers of loops upwards or downwards, in order; how many."""
    count = w.variable(0, "i64")
    for flag, step in ((down < 1, 2), (down > 0, -3)):
        with w.when(flag), w.loop(stop, start, step) as i:
            found[count.now] = i
            count.set(count.now + 1)
    w.give(count.now)


@procedures.define("pppid")
def combined(w: Procedure, x: Value, y: Value, out: Value, count: Value, limit: Value) -> None:
    """Arithmetic of vectors, then of doubles; where in x the limit is first exceeded, count if nowhere."""
    largest = w.variable(-1e9)
    with w.loop(count, 0, LANES) as i:
        a, b = x.vector(i), y.vector(i)
        value = w.select(a > limit, (a - b) * 2.0 / (b + 3.0), w.least(a, 1.0 - b))
        with w.when(w.any(b < 0.0)):
            largest.set(w.largest(largest.now, w.reduced("fmax", w.call("fabs", value))))
        w.do(f"store {value.kind} {value.name}, ptr {out.at(i).name}, align 8")
    out[count] = largest.now
    place = w.variable(0, "i64")
    with w.repeat():
        w.leave_unless(place.now < count)
        w.leave_unless(x[place.now] <= limit)
        place.set(place.now + 1)
    w.give(place.now)


@pytest.mark.parametrize(("start", "stop", "down"), [(0, 7, 0), (3, 3, 0), (5, 2, 0), (9, 0, 1), (8, -1, 1), (0, 0, 1)])
def test_loops_stop_where_ranges_do(start: int, stop: int, down: int) -> None:
    expected, found = list(range(start, stop, -3 if down else 2)), np.zeros(20)
    assert visited(found, start, stop, down) == len(expected)
    np.testing.assert_array_equal(found[: len(expected)], expected)
    assert not found[len(expected) :].any()


def test_vectors_branches_and_reductions() -> None:
    rng = np.random.default_rng(2)
    x, y = (rng.uniform(-1, 1, 24) for _ in range(2))
    y[8:16] = np.abs(y[8:16])
    y[3], out = -0.5, np.zeros(25)
    place = combined(x, y, out, 24, 0.3)
    expected = np.where(x > 0.3, (x - y) * 2 / (y + 3), np.minimum(x, 1 - y))
    np.testing.assert_allclose(out[:24], expected, rtol=1e-15, atol=1e-16)
    blocks = [block for block in np.arange(24).reshape(3, LANES) if (y[block] < 0).any()]
    assert len(blocks) < 3
    assert out[24] == pytest.approx(max(np.abs(expected[block]).max() for block in blocks), rel=1e-15)
    assert place == np.flatnonzero(x > 0.3)[0]
    assert combined(x, y, out, 24, 2.0) == 24


def test_vectors_may_reach_beyond_an_array() -> None:
    rows = with_slack((3, 5))
    assert rows.shape == (3, 5)
    assert not rows.any()
    assert rows.base is not None
    assert rows.base.size >= rows.size + LANES - 1


def test_without_machine_code(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(jit, "available", lambda: False)
    with pytest.raises(ArmdynError, match="no machine code for a test"):
        Procedures("a test").define("i")(lambda w, count: w.give(count))(1)
