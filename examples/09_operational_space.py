"""Operational space: effective mass, null space, ellipsoids, payload, a map over the workspace."""

import sys
from pathlib import Path

import numpy as np

import armdyn
from armdyn import analysis
from armdyn.report.figures.ellipsoid_figures import ellipsoid_figure, map_figure

OUT = Path(sys.argv[1] if len(sys.argv) > 1 else "out/examples")
OUT.mkdir(parents=True, exist_ok=True)

dyn = armdyn.compile(armdyn.load("panda"))
q = np.array([0.0, -0.6, 0.0, -2.2, 0.0, 1.6, 0.8])

# The effective mass at the tool, and torques that do not accelerate it (seven joints, six rows).
space = analysis.operational_space(dyn, q)
print("mass at the tool, kg:", (1 / np.diag(space.mobility)[:3]).round(2))
inner = space.null @ np.array([1.0, 2.0, -1.0, 0.5, 3.0, -2.0, 1.0])
qdd = np.linalg.solve(dyn.mass_matrix(q), inner)
print("joints accelerate by up to", abs(qdd).max().round(3), "rad/s^2, the tool by", abs(dyn.jacobian(q) @ qdd).max())
assert np.allclose(dyn.jacobian(q) @ qdd, 0, atol=1e-9)

# Velocity, force and acceleration at this configuration.
velocity = analysis.velocity_ellipsoid(dyn, q, rows="x y z")
print("manipulability:", analysis.manipulability(dyn, q, rows="x y z").round(4))
print("half axes of the velocity ellipsoid, m/s:", velocity.lengths.round(3))
polytope = analysis.acceleration_polytope(dyn, q, rows="x y z")
for name, direction in {"up": (0, 0, 1), "down": (0, 0, -1), "forwards": (1, 0, 0)}.items():
    print(f"largest acceleration {name}: {float(polytope.support(direction)):.1f} m/s^2")

# Over the workspace: the payload that can be held at rest, over two joints.
found = analysis.workspace_map(dyn, "payload", ["panda_joint2", "panda_joint4"], at=q, counts=(25, 25))
least, at, where = found.extreme(largest=False)
print(f"least payload {least:.2f} kg, tool at {where.round(3)} m")
found.save(OUT / "payload.csv")
map_figure(found).savefig(OUT / "payload.png", dpi=150)
ellipsoid_figure(dyn, q).savefig(OUT / "ellipsoids.png", dpi=150)
for name in ("payload", "ellipsoids"):
    print("picture:", OUT / f"{name}.png")
