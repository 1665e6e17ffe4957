"""Control an arm with elastic joints: a design for rigid joints rings or misses, a law for elastic joints settles.

The same on the command line:

    armdyn simulate examples/elastic_arm.toml --set plant.measure=link     # grows without bound
    armdyn simulate examples/elastic_arm.toml                              # misses by gravity / k
    armdyn simulate examples/elastic_arm.toml --law elastic_pd             # settles
"""

import sys
from pathlib import Path

import numpy as np

import armdyn
from armdyn.control import ElasticPD, resonance_range
from armdyn.simulation import Plant

OUT = Path(sys.argv[1] if len(sys.argv) > 1 else "out/examples")
OUT.mkdir(parents=True, exist_ok=True)

robot = armdyn.load(Path(__file__).with_name("elastic_arm.toml"))
dyn = armdyn.compile(robot)
print("coordinates:", ", ".join(dyn.coordinates.names))
print(armdyn.derive(robot))

found = resonance_range(dyn)
print(f"first resonance over the workspace, motors locked: {found.lowest[0]:.1f} to {found.highest[0]:.1f} rad/s")

# A control law that is designed for rigid joints, at 20 rad/s: critically damped on paper.
move = armdyn.point_to_point([0.0, 0.0], [0.6, -0.4], "quintic", duration=2.0)
rigid = armdyn.ComputedTorque(armdyn.compile(robot.without("elastic")), kp=400, kd=40)
ringing = armdyn.simulate(
    Plant(dyn, measure="link"), rigid, move, duration=4.0, throw=False, solver=armdyn.Solver(dt=1e-3)
)
missing = armdyn.simulate(dyn, rigid, move, duration=4.0, solver=armdyn.Solver(dt=1e-3))

# PD control of the motors with the torques of gravity at the target, and its condition of stability.
law = ElasticPD(dyn, 2 * ElasticPD.least_kp(dyn), 5.0, follow=True)
settled = armdyn.simulate(dyn, law, move, duration=4.0, solver=armdyn.Solver(dt=1e-3))
print("condition of stability:", law.condition)

for name, run in (("rigid, links measured", ringing), ("rigid, motors measured", missing), ("elastic PD", settled)):
    print(f"{name:>22}: error at the end {np.abs(run.error[-1]).max():.2g} rad. {run.status.value}")
assert not ringing.ok
assert abs(missing.error[-1]).max() > 1e-2 > 1e-4 > abs(settled.error[-1]).max()
settled.plot(OUT / "elastic_joints.png")
print("picture:", OUT / "elastic_joints.png")
