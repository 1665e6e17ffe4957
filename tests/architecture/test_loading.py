"""How much of armdyn small jobs load, counted in a fresh process: modules, and libraries that take long to load."""

from __future__ import annotations

import subprocess
import sys

import pytest

HEAVY = ("flint", "llvmlite", "matplotlib", "rich", "scipy", "sympy", "typer")
"""Libraries that a job loads only if it uses them."""
TORQUE = "dyn = armdyn.compile(armdyn.load('panda')); dyn.inverse_dynamics([0.0] * 7, [0.0] * 7, [0.0] * 7)"
JOBS = {
    "import": ("pass", 2, ()),
    "load": ("armdyn.load('panda')", 50, ()),
    "point_to_point": ("armdyn.point_to_point([0.0], [1.0], duration=1.0)", 40, ()),
    "certify": ("armdyn.certify(armdyn.load('planar2r'))", 150, ("flint",)),
    "first torque": (TORQUE, 165, ("llvmlite",)),
    "export": ("armdyn.export(armdyn.load('panda'), 'c')", 175, ("llvmlite",)),
}
"""Job -> statement, most modules of armdyn, libraries it uses."""


@pytest.mark.parametrize("job", JOBS)
def test_a_job_loads_what_it_uses(job: str) -> None:
    statement, most, used = JOBS[job]
    script = f"import sys, armdyn\n{statement}\nprint(*sys.modules)"
    if job == "first torque":  # the first process compiles; what is counted is loading from the cache
        subprocess.run([sys.executable, "-c", script], check=True, capture_output=True)
    loaded = subprocess.run([sys.executable, "-c", script], check=True, capture_output=True, text=True).stdout.split()
    assert {name for name in HEAVY if name in loaded} == set(used)
    ours = [name for name in loaded if name.split(".")[0] == "armdyn"]
    assert len(ours) <= most, f"{len(ours)} modules: {ours}"
