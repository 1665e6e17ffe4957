"""Code for another processor, executed by an emulator or another machine: the same results as here.

ARMDYN_OTHER_PYTHON is the command of a Python with NumPy and llvmlite for that processor, which keeps the PYTHONPATH
that it is given. docs/explain/kernels.md says how to put one together for 64-bit ARM.
"""

from __future__ import annotations

import json
import os
import shlex
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import armdyn
from armdyn.kernels import jit

COMMAND = os.environ.get("ARMDYN_OTHER_PYTHON", "")
QUANTITIES = ("inverse_dynamics", "forward_dynamics", "regressor", "inverse_dynamics_derivatives")
PROGRAM = f"""
import gc, json
import numpy as np
import armdyn
from armdyn.dynamics.looped.tables import looped
from armdyn.kernels import jit
robot, found = armdyn.random_robot(3, 5, branching=0.4), {{}}
for name in {QUANTITIES}:
    for kind, kernel in (("straight", armdyn.compile(robot, cache=False).program(name)),
                         ("looped", looped(robot, name, cache=False))):
        values = np.random.default_rng(1).uniform(-1, 1, (11, 3, robot.n))
        values[3] *= 1e12  # angles that are left to the C library
        batch, single = (result if isinstance(result, tuple) else (result,)
                         for result in (kernel(*values.swapaxes(0, 1)), kernel(*values[4])))
        found[f"{{kind}} {{name}}"] = [
            [[x.hex() for x in a.ravel()], [x.hex() for x in b.ravel()]] for a, b in zip(batch, single)
        ]
del kernel
gc.collect()
print(json.dumps({{"results": found, "left": len(jit._parts), "processor": jit.machine_description().split("-")[0]}}))
"""


def executed(command: list[str]) -> Any:
    paths = [str(Path(armdyn.__file__).parents[1])]
    done = subprocess.run([*command, "-c", PROGRAM], env={**os.environ, "PYTHONPATH": os.pathsep.join(paths)},
                          capture_output=True, text=True, check=False)  # fmt: skip
    assert done.returncode == 0, done.stderr[-2000:]
    return json.loads(done.stdout)


@pytest.mark.skipif(not COMMAND, reason="ARMDYN_OTHER_PYTHON names no Python for another processor")
def test_the_same_results() -> None:
    """To the last bit where both multiply and add in one instruction; looped code adds up in another order."""
    here, there = executed([sys.executable]), executed(shlex.split(COMMAND))
    assert there["processor"] != here["processor"]
    assert here["left"] == there["left"] == 0  # code that nobody can call is unloaded
    for name, results in here["results"].items():
        for ours, theirs in zip(results, there["results"][name], strict=True):
            for mine, other in zip(ours, theirs, strict=True):
                a, b = (np.array([float.fromhex(x) for x in each]) for each in (mine, other))
                if name.startswith("straight") and jit.has_fma():
                    np.testing.assert_array_equal(a, b)
                np.testing.assert_allclose(a, b, rtol=1e-12, atol=1e-12 * np.abs(a).max())
