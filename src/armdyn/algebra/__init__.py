"""Linear algebra of rigid bodies over any scalar: see `ops` for what a scalar is."""

from armdyn.algebra import ops
from armdyn.algebra.dual import Dual, derivative, dot_of, gradient, value_of
from armdyn.algebra.inertia import CentralInertia, Inertia, parallel_axis
from armdyn.algebra.ops import Scalar
from armdyn.algebra.poses import Pose, align_z, rot_quaternion, rot_rpy, rot_x, rot_y, rot_z, rpy_of
from armdyn.algebra.screws import Screw, momentum
from armdyn.algebra.vectors import Z_AXIS, ZERO, Mat3, Vec3, cross, dot, named, outer, skew

__all__ = [
    "ZERO",
    "Z_AXIS",
    "CentralInertia",
    "Dual",
    "Inertia",
    "Mat3",
    "Pose",
    "Scalar",
    "Screw",
    "Vec3",
    "align_z",
    "cross",
    "derivative",
    "dot",
    "dot_of",
    "gradient",
    "momentum",
    "named",
    "ops",
    "outer",
    "parallel_axis",
    "rot_quaternion",
    "rot_rpy",
    "rot_x",
    "rot_y",
    "rot_z",
    "rpy_of",
    "skew",
    "value_of",
]
