"""Analysis: operational space, ellipsoids and polytopes, maps over the workspace (Siciliano sec. 7.8, 7.9)."""

from armdyn.analysis.analyse import Analysis, analyse
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
from armdyn.analysis.model_bounds import ModelBounds, model_bounds
from armdyn.analysis.motion_box import MotionBox, box_around, motion_box
from armdyn.analysis.operational_space import OperationalSpace, coriolis_matrix, operational_space
from armdyn.analysis.pruning import Pruned, prune
from armdyn.analysis.significance import Significance, significance
from armdyn.analysis.workspace_map import (
    WorkspaceMap,
    isotropic_acceleration,
    joint_inertia,
    payload_capability,
    workspace_map,
    workspace_samples,
)

__all__ = [
    "Analysis",
    "Ellipsoid",
    "ModelBounds",
    "MotionBox",
    "OperationalSpace",
    "Polytope",
    "Pruned",
    "Significance",
    "WorkspaceMap",
    "acceleration_ellipsoid",
    "acceleration_polytope",
    "analyse",
    "box_around",
    "coriolis_matrix",
    "dynamic_manipulability",
    "force_ellipsoid",
    "isotropic_acceleration",
    "joint_inertia",
    "manipulability",
    "model_bounds",
    "motion_box",
    "operational_space",
    "payload_capability",
    "prune",
    "significance",
    "velocity_ellipsoid",
    "workspace_map",
    "workspace_samples",
]
