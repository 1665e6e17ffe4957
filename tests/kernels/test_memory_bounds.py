"""Machine code reads and writes nothing beyond its arrays: there is no memory behind them, so that it would crash."""

from __future__ import annotations

import subprocess
import sys

import pytest

SCRIPT = """
import ctypes, mmap, sys
import numpy as np
import armdyn
from armdyn.dynamics.looped_programs import looped
from armdyn.robot.random import random_robot

PAGE = mmap.PAGESIZE
protect = ctypes.CDLL(None, use_errno=True).mprotect
protect.argtypes = ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int
kept = []

def at_the_edge(array, first):
    '''A copy of an array that begins or ends with a page; those around it can be neither read nor written.'''
    pages = -(-max(array.nbytes, 1) // PAGE)
    memory = mmap.mmap(-1, (pages + 2) * PAGE)
    kept.append(memory)
    start = ctypes.addressof(ctypes.c_char.from_buffer(memory))
    offset = PAGE if first else (pages + 1) * PAGE - array.nbytes
    copy = np.frombuffer(memory, dtype=float, count=array.size, offset=offset).reshape(array.shape)
    copy[...] = array
    for page in (0, pages + 1):
        assert protect(start + page * PAGE, PAGE, 0) == 0
    return copy

robot = random_robot(8, int(sys.argv[2]), branching=0.3)
if sys.argv[1] == "looped":
    functions = [looped(robot, name) for name in sys.argv[3:]]
else:
    functions = [armdyn.compile(robot).program(name) for name in sys.argv[3:]]
for kernel in functions:
    for samples in (1, 2, 3, 4, 5, 7, 8, 9, 15, 16, 17, 33):
        rng = np.random.default_rng(samples)
        inputs = [rng.uniform(-2, 2, (samples, *port.shape)) for port in kernel.ports.inputs]
        expected = kernel(*inputs)
        expected = expected if isinstance(expected, tuple) else (expected,)
        for first in (True, False):
            given = [at_the_edge(array, first) for array in inputs]
            out = tuple(at_the_edge(np.zeros_like(array), first) for array in expected)
            kernel(*given, out=out if len(out) > 1 else out[0])
            single = kernel(*(at_the_edge(array[-1], first) for array in inputs))
            single = single if isinstance(single, tuple) else (single,)
            for ours, one, theirs in zip(out, single, expected, strict=True):
                np.testing.assert_array_equal(ours, theirs)
                np.testing.assert_allclose(one, theirs[-1], rtol=1e-9, atol=1e-9)
print("done")
"""
NAMES = ("inverse_dynamics", "forward_dynamics", "mass_matrix", "inverse_dynamics_derivatives", "regressor", "jacobian")


@pytest.mark.skipif(sys.platform != "linux", reason="pages of Linux")
@pytest.mark.parametrize(("kind", "joints"), [("looped", "5"), ("looped", "9"), ("straight-line", "3")])
def test_nothing_around_the_arrays_is_touched(kind: str, joints: str) -> None:
    command = [sys.executable, "-X", "faulthandler", "-c", SCRIPT, kind, joints, *NAMES]
    done = subprocess.run(command, capture_output=True, text=True, timeout=300)
    assert done.returncode == 0 and done.stdout == "done\n", done.stderr[-3000:]
