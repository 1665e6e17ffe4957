"""Describe your own arm by a DH table, check it, save it, and load a catalog robot."""

import sys
from pathlib import Path

import armdyn
from armdyn.mechanics import newton_euler

OUT = Path(sys.argv[1] if len(sys.argv) > 1 else "out/examples")
OUT.mkdir(parents=True, exist_ok=True)

# Standard DH: Rz(theta) Tz(d) Tx(a) Rx(alpha). The joint variable is added to theta (revolute) or d (prismatic).
# com: centre of mass in the body frame, m; inertia: xx xy xz yy yz zz at the centre of mass, kg m^2.
rows = [
    {"name": "waist", "d": 0.40, "alpha": "pi/2", "mass": 4.0, "com": [0, -0.1, 0],
     "inertia": [0.05, 0, 0, 0.02, 0, 0.05], "friction": {"viscous": 0.5, "coulomb": 0.8},
     "limits": {"lower": -2.9, "upper": 2.9, "velocity": 2.0, "torque": 60}},
    {"name": "shoulder", "a": 0.50, "mass": 3.0, "com": [-0.25, 0, 0], "inertia": [0.01, 0, 0, 0.07, 0, 0.07],
     "limits": {"lower": -2.0, "upper": 2.0, "velocity": 2.0, "torque": 60}},
    {"name": "elbow", "a": 0.35, "mass": 2.0, "com": [-0.18, 0, 0], "inertia": [0.004, 0, 0, 0.02, 0, 0.02],
     "limits": {"lower": -2.5, "upper": 2.5, "velocity": 3.0, "torque": 25}},
]  # fmt: skip
arm = armdyn.Robot.from_dh(rows, name="arm3")
print(arm)

checkup = armdyn.check(arm)
print("check-up:", checkup.summary)

arm.save(OUT / "arm3.toml")
assert str(armdyn.load(OUT / "arm3.toml")) == str(arm)

# An inertia tensor that no body can have is reported with its place, its value and advice.
impossible = [dict(rows[0], inertia=[0.05, 0, 0, 0.02, 0, 0.20]), *rows[1:]]
for finding in armdyn.check(armdyn.Robot.from_dh(impossible, name="impossible")).findings:
    print(f"{finding.severity}: {finding.where}: {finding.what} ({finding.amount})")

# Robots are immutable: an edit returns a new one.
loaded = arm.with_payload(1.5, (0, 0, 0.05))
stretched_out = [0, 0, 0]
for robot in (arm, loaded):
    print("torques to hold it stretched out, N m:", newton_euler.gravity(robot, stretched_out).round(2))
print("catalog:", ", ".join(armdyn.catalog.names()))
