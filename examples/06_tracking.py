"""Track a motion with computed torque control, and see the effect of an imperfect model."""

import sys
from pathlib import Path

import numpy as np

import armdyn

OUT = Path(sys.argv[1] if len(sys.argv) > 1 else "out/examples")
OUT.mkdir(parents=True, exist_ok=True)

dyn = armdyn.compile(armdyn.load("planar2r"))
move = armdyn.point_to_point([0.2, -0.5], [1.4, 0.8], "quintic", duration=1.0)
law = armdyn.ComputedTorque(dyn, kp=400, kd=40)

# The model is exact: the error is that of the integration step.
run = armdyn.simulate(dyn, law, move, duration=1.5, solver=armdyn.Solver(dt=1e-3))
print(run)
print("largest error, rad:", abs(run.error).max())

# The arm carries a payload that the model does not know; and models that omit a term.
loaded = armdyn.compile(dyn.robot.with_payload(10.0))
surprised = armdyn.simulate(loaded, law, move, duration=1.5, solver=armdyn.Solver(dt=1e-3))
print(f"10 kg in hand, unknown: {abs(surprised.error).max():.4f} rad")
runs = armdyn.imperfect_models(dyn, law, move, duration=1.5, solver=armdyn.Solver(dt=1e-3))
for name, each in runs.items():
    print(f"{name:>20}: largest error {np.abs(each.error).max():.2e} rad, largest torque {abs(each.tau).max():.0f} N m")

# Other control laws for the same motion.
others = {
    "PD and gravity": armdyn.PDGravity(dyn, [2e5, 5e4], [2e4, 5e3], follow=True),
    "sliding mode": armdyn.SlidingMode(dyn, 15.0, 30.0, 0.05),
    "adaptive": armdyn.SlotineLi(dyn, 10.0, 1e3, 0.05),
}
for name, other in others.items():
    error = armdyn.simulate(loaded, other, move, duration=1.5, solver=armdyn.Solver(dt=1e-3)).error
    print(f"{name:>20}, 10 kg unknown: {np.abs(error).max():.4f} rad")
surprised.plot(OUT / "tracking.png")
print("picture:", OUT / "tracking.png")
