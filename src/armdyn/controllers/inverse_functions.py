"""The closed form of the inverse kinematics as exported functions."""

from __future__ import annotations

from collections.abc import Iterable
from functools import partial
from typing import Any

import numpy as np

from armdyn.codegen.functions import INVERSE, ExportedFunction, Vectors
from armdyn.controllers.controller import Part
from armdyn.errors import NotApplicable
from armdyn.graph import Graph
from armdyn.kinematics.closed_form import ClosedForm, closed_form
from armdyn.kinematics.inverse_graphs import all_graph, nearest_graph
from armdyn.kinematics.inverse_kernels import all_kernel
from armdyn.mechanics import kinematics
from armdyn.robot import Robot
from armdyn.robot.limits import working_range
from armdyn.typing import Array

NEAREST, ALL = INVERSE
ERROR_SCALE = 1e4
"""Angles are as exact as the pose times the inverse of the Jacobian: four digits fewer than rounding."""
ENTRIES = {
    "T": "wanted pose of the tool in the world, 4 x 4, row by row, m",
    "q0": "joint positions, rad or m: the nearest solution is meant, and free joints stay there",
    "q": "joint positions, rad or m",
    "found": "0 if a solution within the limits is given, 1 if one beyond them, 2 if there is none; "
    "then how far T is from a pose",
    "exists": "1 for branches that exist, else 0",
}


def inverse_functions(robot: Robot, names: Iterable[str]) -> tuple[ExportedFunction, ...]:
    """Return the exported functions of these names: NEAREST, ALL.

    Raises NotApplicable for arms without closed form, and for those with more joints than a pose determines.
    """
    form = closed_form(robot)
    if form is None or form.known is not None or not form.exact:
        raise NotApplicable(
            "no closed form of the inverse kinematics that gives all joints to rounding",
            where=f"robot {robot.name!r}",
            advice="Leave out inverse_kinematics, or export the Jacobian and iterate.",
        )
    return tuple(_function(robot, form, name) for name in names)


def _function(robot: Robot, form: ClosedForm, name: str) -> ExportedFunction:
    if name == ALL:
        what = f"All branches of the inverse kinematics in closed form ({form.family}); angles from -pi to pi."
        part = Part(ALL, what, "", ("q", "exists"), ENTRIES)
        graph = partial(all_graph, robot, form, flat=True)
        return ExportedFunction(part, graph, _no_labels, vectors=partial(_vectors, robot, everything=True))
    what = f"Inverse kinematics in closed form ({form.family}): the branch nearest to q0, within the joint limits."
    part = Part(NEAREST, what, "", ("q", "found"), ENTRIES)
    graph = partial(nearest_graph, robot, form, limits=True, flat=True)
    return ExportedFunction(part, graph, _no_labels, vectors=partial(_vectors, robot, everything=False))


def _no_labels(graph: Graph) -> dict[Any, str]:
    return {}


def _vectors(robot: Robot, count: int, *, everything: bool) -> Vectors:
    """Poses of random configurations by the general formula, and these configurations, which are to be found again."""
    low, high = working_range(robot, one_turn=True)
    q = np.random.default_rng(4).uniform(low, high, (50 * count, robot.n))
    smallest = np.linalg.svd(kinematics.jacobian(robot, q), compute_uv=False)[:, min(robot.n, 6) - 1]
    q = q[smallest.argsort()[-10 * count :]]  # away from singular configurations, where angles lose their digits
    T: Array = kinematics.pose(robot, q)
    scale = np.full(count, ERROR_SCALE)
    if not everything:
        q, T = q[:count], T[:count]
        near = np.clip(q + 0.01, low, high)
        return Vectors({"T": T.reshape(count, 16), "q0": near}, {"q": q, "found": np.zeros((count, 2))}, scale)
    found, exists = all_kernel(robot)(T, np.zeros(robot.n))
    kept = np.flatnonzero(exists.all(axis=1) | (exists.mean(axis=1) == exists.mean(axis=1).max()))[:count]
    outputs = {"q": found[kept].reshape(count, -1), "exists": exists[kept]}
    return Vectors({"T": T[kept].reshape(count, 16), "q0": np.zeros((count, robot.n))}, outputs, scale)
