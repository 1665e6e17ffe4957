"""Machine code reads and writes nothing beyond its arrays: there is no memory behind them, so that it would crash."""

from __future__ import annotations

import ctypes
import itertools
import mmap
import os
import sys
import traceback
from typing import Any

import numpy as np
import pytest

import armdyn
from armdyn.dynamics.looped.tables import looped
from armdyn.robot.random import random_robot

NAMES = ("inverse_dynamics", "forward_dynamics", "mass_matrix", "inverse_dynamics_derivatives", "regressor")
CASES = [*itertools.product([("looped", 5), ("looped", 9), ("straight-line", 3)], NAMES),
         *itertools.product([("free base", 8)], ["inverse_dynamics", "forward_dynamics", "mass_matrix"])]  # fmt: skip
_kept: list[mmap.mmap] = []


def at_the_edge(array: np.ndarray, first: bool) -> np.ndarray:
    """A copy of an array that begins or ends with a page; those around it can be neither read nor written."""
    protect = ctypes.CDLL(None, use_errno=True).mprotect
    protect.argtypes = ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int
    page = mmap.PAGESIZE
    pages = -(-max(array.nbytes, 1) // page)
    memory = mmap.mmap(-1, (pages + 2) * page)
    _kept.append(memory)
    start = ctypes.addressof(ctypes.c_char.from_buffer(memory))
    offset = page if first else (pages + 1) * page - array.nbytes
    copy = np.frombuffer(memory, dtype=float, count=array.size, offset=offset).reshape(array.shape)
    copy[...] = array
    for number in (0, pages + 1):
        assert protect(start + number * page, page, 0) == 0
    return copy


def listed(result: Any) -> tuple[np.ndarray, ...]:
    return result if isinstance(result, tuple) else (result,)


def call_at_the_edge(kernel: Any, samples: int) -> None:
    rng = np.random.default_rng(samples)
    inputs = [rng.uniform(-2, 2, (samples, *port.shape)) for port in kernel.ports.inputs]
    expected = listed(kernel(*inputs))
    for first in (True, False):
        given = [at_the_edge(array, first) for array in inputs]
        out = tuple(at_the_edge(np.zeros_like(array), first) for array in expected)
        kernel(*given, out=out if len(out) > 1 else out[0])
        single = listed(kernel(*(at_the_edge(array[-1], first) for array in inputs)))
        for ours, one, theirs in zip(out, single, expected, strict=True):
            np.testing.assert_array_equal(ours, theirs)
            np.testing.assert_allclose(one, theirs[-1], rtol=1e-9, atol=1e-9)


@pytest.mark.skipif(sys.platform != "linux", reason="pages of Linux")
@pytest.mark.filterwarnings("ignore:.*fork:DeprecationWarning")  # of a process with threads: the copy starts none
@pytest.mark.parametrize(("robot", "name"), CASES, ids=str)
def test_nothing_around_the_arrays_is_touched(robot: tuple[str, int], name: str) -> None:
    """The code is made here and called in a copy of this process, which it may bring down."""
    kind, joints = robot
    made = random_robot(8, joints, branching=0.3, free_root=kind == "free base")
    kernel: Any = armdyn.compile(made).program(name) if kind == "straight-line" else looped(made, name)
    assert kernel is not None
    child = os.fork()
    if not child:
        try:
            for samples in (1, 2, 3, 4, 5, 7, 8, 9, 15, 16, 17, 33):
                call_at_the_edge(kernel, samples)
        except BaseException:
            traceback.print_exc()
            os._exit(1)
        os._exit(0)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
