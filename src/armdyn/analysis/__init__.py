"""Analysis: the arm as seen from its tool, what it can do there, and over its workspace (004 sec. 7.8, 7.9)."""

from armdyn.analysis.ellipsoids import (
    Ellipsoid,
    Polytope,
    acceleration_ellipsoid,
    acceleration_polytope,
    dynamic_manipulability,
    force_ellipsoid,
    manipulability,
    velocity_ellipsoid,
)
from armdyn.analysis.operational_space import OperationalSpace, coriolis_matrix, operational_space

__all__ = [
    "Ellipsoid",
    "OperationalSpace",
    "Polytope",
    "acceleration_ellipsoid",
    "acceleration_polytope",
    "coriolis_matrix",
    "dynamic_manipulability",
    "force_ellipsoid",
    "manipulability",
    "operational_space",
    "velocity_ellipsoid",
]
