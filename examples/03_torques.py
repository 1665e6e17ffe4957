"""Torques of one state, a batch and a motion, split by physical effect."""

import sys
from pathlib import Path

import numpy as np

import armdyn
from armdyn.mechanics import newton_euler

OUT = Path(sys.argv[1] if len(sys.argv) > 1 else "out/examples")
OUT.mkdir(parents=True, exist_ok=True)

robot = armdyn.load("puma560")
dyn = armdyn.compile(robot)

# One state.
q, qd, qdd = np.zeros(6), np.full(6, 0.5), np.ones(6)
print("torques, N m:", dyn.inverse_dynamics(q, qd, qdd).round(3))
print("of them to hold still:", dyn.gravity(q).round(3))

# A batch: the last axis holds the joints, all axes before it broadcast.
states = np.random.default_rng(0).uniform(-1, 1, (3, 5000, 6))
tau = dyn.inverse_dynamics(*states)
assert tau.shape == (5000, 6)
assert np.allclose(tau[:20], newton_euler.inverse_dynamics(robot, *states[:, :20]), rtol=1e-10)

# With a force at the tool: the robot presses down on its environment with 20 N.
press = dyn.inverse_dynamics(q, qd, qdd, wrench=[0, 0, -20, 0, 0, 0])
assert np.allclose(press - dyn.inverse_dynamics(q, qd, qdd), dyn.jacobian(q).T @ [0, 0, -20, 0, 0, 0])

# Along a motion: inertia, centrifugal, Coriolis, gravity and friction, joint by joint.
move = armdyn.point_to_point(np.zeros(6), [0.8, -0.9, 0.6, 0.5, 0.4, 1.0], "quintic", duration=0.9)
parts = armdyn.torque_breakdown(dyn, move)
for name, part in parts.by_effect.items():
    print(f"{name:>12}: largest {abs(part).max(axis=0).round(2)} N m")
assert np.allclose(sum(parts.by_effect.values()), parts.tau)
parts.plot(OUT / "torques.png")
print("picture:", OUT / "torques.png")
