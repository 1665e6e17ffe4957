"""Large results: memory that nobody holds any more is used again, and no other."""

from __future__ import annotations

import sys
import weakref
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest

import armdyn
from armdyn.kernels import result_memory
from armdyn.kernels.call import single as fastcall
from armdyn.robot.random import random_robot

pytestmark = pytest.mark.skipif(not fastcall.layout_holds(), reason="no fast path on this interpreter")

SAMPLES = result_memory.SMALLEST // (8 * 36) + 1
"""Mass matrices of six joints that are just large enough."""


@pytest.fixture(scope="module")
def dynamics() -> armdyn.Dynamics:
    return armdyn.compile(armdyn.load("ur5"))


@pytest.fixture(autouse=True)
def _forgotten(dynamics: armdyn.Dynamics) -> Iterator[None]:
    """Results of other tests are forgotten: as many others, which no test asks for again, take their places."""
    kept = [dynamics.mass_matrix(positions(SAMPLES + 7 + k)) for k in range(result_memory.REMEMBERED)]
    yield
    del kept


def positions(samples: int = SAMPLES, seed: int = 0, joints: int = 6) -> np.ndarray:
    return np.random.default_rng(seed).uniform(-3, 3, (samples, joints))


def address(array: Any) -> int:
    return int(array.ctypes.data)


def test_memory_of_a_dropped_result_is_used_again(dynamics: armdyn.Dynamics) -> None:
    first = address(dynamics.mass_matrix(positions()))
    assert address(dynamics.mass_matrix(positions(seed=1))) == first
    assert address(dynamics.mass_matrix(positions(SAMPLES + 1))) != first


def test_by_other_functions_and_robots_too(dynamics: armdyn.Dynamics) -> None:
    other = armdyn.compile(random_robot(3, 6))
    other.mass_matrix(positions(9))  # the first batch makes its code
    first = address(dynamics.mass_matrix(positions()))
    assert address(other.mass_matrix(positions())) == first


@pytest.mark.parametrize("robot", ["ur5", "chain"])
def test_it_holds_the_new_result(robot: str) -> None:
    """In straight-line and in looped code."""
    made = armdyn.compile(armdyn.load("ur5") if robot == "ur5" else random_robot(5, 30, prismatic=0.0))
    samples = result_memory.SMALLEST // (8 * made.n**2) + 1
    for seed in range(3):
        q, qd, qdd = (positions(samples, 10 * seed + k, made.n) for k in range(3))
        expected = tuple(np.empty((samples, made.n, made.n)) for _ in range(2))
        made.inverse_dynamics_derivatives(q, qd, qdd, out=expected)
        found = made.inverse_dynamics_derivatives(q, qd, qdd)
        np.testing.assert_array_equal(found, expected)
        assert address(found[0]) != address(found[1])
        del found


HOLDERS: dict[str, Callable[[Any], Any]] = {
    "itself": lambda array: array,
    "a view": lambda array: array[3:5].T,
    "a buffer": memoryview,
    "a weak reference": weakref.ref,
}


@pytest.mark.parametrize("holder", HOLDERS)
def test_what_somebody_holds_is_not_touched(holder: str, dynamics: armdyn.Dynamics) -> None:
    array = dynamics.mass_matrix(positions())
    before, first, held = array.copy(), address(array), HOLDERS[holder](array)
    if holder == "a weak reference":  # of an array that is gone: the reference says so
        del array
        assert held() is not None, "remembered"
        assert address(dynamics.mass_matrix(positions(seed=1))) != first
        return
    for seed in range(1, 7):
        assert address(dynamics.mass_matrix(positions(seed=seed))) != first
    np.testing.assert_array_equal(array, before)
    assert held is not None


CHANGES: dict[str, Callable[[Any], None]] = {
    "shape": lambda array: setattr(array, "shape", (array.size,)),
    "rank": lambda array: setattr(array, "shape", (array.shape[0], 36)),
    "read only": lambda array: array.setflags(write=False),
    "type": lambda array: setattr(array, "dtype", np.int64),
}


@pytest.mark.filterwarnings("ignore::DeprecationWarning")
@pytest.mark.parametrize("change", CHANGES)
def test_results_that_were_changed_are_not_given_out_again(change: str, dynamics: armdyn.Dynamics) -> None:
    array = dynamics.mass_matrix(positions())
    CHANGES[change](array)
    del array
    found = dynamics.mass_matrix(positions(seed=1))
    assert found.shape == (SAMPLES, 6, 6) and found.dtype == np.float64 and found.flags.writeable
    np.testing.assert_array_equal(found[:3], dynamics.mass_matrix(positions(seed=1)[:3]))


def test_no_more_than_a_few_are_remembered(dynamics: armdyn.Dynamics) -> None:
    results = [dynamics.mass_matrix(positions(SAMPLES + k)) for k in range(result_memory.REMEMBERED + 2)]
    counts = [sys.getrefcount(array) for array in results]
    assert [count - counts[0] for count in counts] == [0, 0] + [1] * result_memory.REMEMBERED


def test_small_and_huge_results_are_not_remembered(dynamics: armdyn.Dynamics) -> None:
    small, large = (dynamics.mass_matrix(positions(SAMPLES + k)) for k in (-1, 0))
    assert sys.getrefcount(large) == sys.getrefcount(small) + 1
    many = result_memory.LARGEST // (8 * 36) + 1
    huge = dynamics.mass_matrix(np.zeros((many, 6)))
    assert huge.nbytes > result_memory.LARGEST and sys.getrefcount(huge) == sys.getrefcount(small)


def test_together_they_are_not_too_large(dynamics: armdyn.Dynamics) -> None:
    """Of a large result and older ones, those are remembered that fit beside it."""
    third = result_memory.LARGEST // (8 * 36 * 3) + 1
    older = [dynamics.mass_matrix(np.zeros((third + k, 6))) for k in range(2)]
    before = [sys.getrefcount(array) for array in older]
    results = [*older, dynamics.mass_matrix(np.zeros((third, 6)))]
    del older
    assert [sys.getrefcount(array) - before[0] for array in results] == [-1, 0, 0]


def test_nothing_of_a_batch_that_is_refused_stays(dynamics: armdyn.Dynamics) -> None:
    """It is computed before its NaN is found."""
    q = positions()
    q[5, 2] = np.nan
    for _ in range(3):
        with pytest.raises(armdyn.ArmdynError, match="NaN"):
            dynamics.mass_matrix(q)
    found = dynamics.mass_matrix(positions())
    assert np.isfinite(found).all() and sys.getrefcount(found) == 3
