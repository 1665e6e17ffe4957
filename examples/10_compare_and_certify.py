"""Compare all formulations of a robot, and certify a URDF: exact agreement, not a tolerance."""

import sys
import warnings
from pathlib import Path

import armdyn

OUT = Path(sys.argv[1] if len(sys.argv) > 1 else "out/examples")
OUT.mkdir(parents=True, exist_ok=True)

# The formulations, and the cost of each for this arm.
robot = armdyn.load("scara5")
comparison = armdyn.compare(robot)
print(f"{'formulation':<20}{'x':>7}{'+':>7}   largest difference")
for row in comparison.rows:
    count = row.operations
    print(f"{row.formulation.name:<20}{count.multiplications:>7}{count.additions:>7}   {row.difference:.1e}")
assert comparison.agrees

# Exact agreement: rational arithmetic at random states with random masses; one difference would be a disproof.
certificate = armdyn.certify(robot, points=2)
print(
    f"{len(certificate.checks)} checks hold: {certificate.holds}; chance of error {certificate.error_probability:.0e}"
)

# A URDF file (here written by armdyn) is read, checked and certified in the same way.
robot.save(OUT / "arm.urdf")
with warnings.catch_warnings():
    warnings.simplefilter("ignore", armdyn.ModelWarning)  # the check-up below reports them
    urdf = armdyn.load(OUT / "arm.urdf")
print("check-up of the URDF:", armdyn.check(urdf).summary)
certificate = armdyn.certify(urdf)
print(f"URDF: {certificate.holds}, chance of error {certificate.error_probability:.0e}")
for reason in certificate.left_out:
    print("left out:", reason)
