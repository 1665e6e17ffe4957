"""Machine code without a compiler, and C for a controller, with a test program."""

import shutil
import subprocess
import sys
from pathlib import Path

import numpy as np

import armdyn

OUT = Path(sys.argv[1] if len(sys.argv) > 1 else "out/examples")
OUT.mkdir(parents=True, exist_ok=True)

dyn = armdyn.compile(armdyn.load("panda"))
q, qd, qdd = np.random.default_rng(1).uniform(-1, 1, (3, 7))
tau = dyn.inverse_dynamics(q, qd, qdd)  # compiled at the first call
assert np.allclose(dyn.forward_dynamics(q, qd, tau), qdd, atol=1e-9)
dtau_dq, dtau_dqd = dyn.inverse_dynamics_derivatives(q, qd, qdd)
kernel = dyn.program("inverse_dynamics")
print(f"inverse dynamics: {kernel.operations.multiplications} multiplications, {kernel.operations.additions} additions")
print(dyn)  # all functions with their operation counts

# The same functions as C: a header, a source, a test program with reference vectors, a CMake file.
paths = armdyn.export(armdyn.load("panda"), "c", ["inverse_dynamics", "mass_matrix"]).save(OUT / "panda_c")
for path in paths:
    print("wrote", path)

compiler = shutil.which("cc")
if compiler:
    sources = [str(path) for path in paths if path.suffix == ".c"]
    program = str(OUT / "panda_c" / "test_panda")
    subprocess.run([compiler, "-O2", "-std=c99", *sources, "-lm", "-o", program], check=True)
    print(subprocess.run([program], check=True, capture_output=True, text=True).stdout.strip())
else:
    print("No C compiler here: the files are written, their test was not run.")
