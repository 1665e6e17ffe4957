"""Memory of results: nothing of it is kept after the user has let go of them."""

from __future__ import annotations

import subprocess
import sys

import numpy as np
import pytest

import armdyn
from armdyn.kernels.call import arrays

FREED = """
import os, sys
from pathlib import Path
import numpy as np
import armdyn
from armdyn.robot.random import random_robot

def resident():
    return int(Path("/proc/self/statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE") / 2**20

dynamics = armdyn.compile(armdyn.load("ur5") if sys.argv[1] == "ur5" else random_robot(5, 20, prismatic=0.0))
q = np.random.default_rng(1).uniform(-3, 3, (250 * 2**20 // (2 * 8 * dynamics.n**2), dynamics.n))
dynamics.inverse_dynamics_derivatives(q[:9], q[:9], q[:9])
before = resident()
result = dynamics.inverse_dynamics_derivatives(q, q, q)
held = resident() - before
del result
print(held, resident() - before)
"""


@pytest.mark.skipif(sys.platform != "linux", reason="/proc of Linux")
@pytest.mark.parametrize("robot", ["ur5", "chain"])
def test_a_large_result_is_freed(robot: str) -> None:
    """Of straight-line and of looped code, while the Dynamics is still there; in MB of a process of its own, because
    one that has run other tests has memory of theirs to give.
    """
    done = subprocess.run([sys.executable, "-c", FREED, robot], capture_output=True, text=True, check=True)
    held, left = map(float, done.stdout.split())
    assert held > 240
    assert left < 20


@pytest.mark.skipif(not arrays.layout_holds(), reason="no fast path on this interpreter")
def test_nobody_else_holds_the_result_of_a_batch() -> None:
    dynamics = armdyn.compile(armdyn.load("ur5"))
    for samples in (9, 20_000):
        q = np.random.default_rng(samples).uniform(-3, 3, (samples, 6))
        for _ in range(3):
            found = dynamics.mass_matrix(q)
            assert sys.getrefcount(found) == 2
        q[5, 2] = np.nan
        with pytest.raises(armdyn.ArmdynError, match="NaN"):  # computed before NaN is found
            dynamics.mass_matrix(q)
