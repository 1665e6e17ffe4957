"""Reference vectors: states and what the functions give there, computed by another formulation than the code's."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from armdyn.codegen.functions import PARAMETERS, ExportedFunction, Model, Vectors
from armdyn.dynamics.quantities import QUANTITIES
from armdyn.errors import ArmdynError
from armdyn.mechanics import closed_chain, kane, loop_forces
from armdyn.mechanics.closed_chain import all_positions
from armdyn.mechanics.dependent_joints import dependent_joints
from armdyn.robot import Robot
from armdyn.robot.compounds import rates
from armdyn.robot.coordinates import coordinates
from armdyn.robot.limits import total_length, working_range
from armdyn.typing import Array

STATES = 6
AT_DEFAULTS = 1
"""The state at which test programs take the parameters from the code's own defaults; the first one is at rest."""
STRETCH = 0.05
"""Largest angle or distance between links and motors of elastic joints, rad or m."""
SPREAD = 0.3
"""rad or m: how far from the assembly of a closed chain its states are."""
TOLERANCE = 1e-12
"""A difference is rounding if it is below this share of the terms that were added up to the result.

A result is a sum of some hundred rounded products: errors of up to some hundred times 1.1e-16 of its terms.
"""
TOLERANCE_OF_FLOATS = 2e-5
"""The same for numbers of 32 bits: some hundred times 6e-8 of the terms."""


def states(robot: Robot, count: int = STATES, seed: int = 0) -> dict[str, Array]:
    """Random states within the joints' limits; the first is at rest with all joints at zero."""
    rng = np.random.default_rng(seed)
    low, high = working_range(robot, one_turn=True)
    if robot.constrained:  # near the assembly, where loops close
        chain = dependent_joints(robot)
        home = np.array([chain.assembly[k] for k in chain.independent])
        low, high = np.maximum(low, home - SPREAD), np.minimum(high, home + SPREAD)
    where = coordinates(robot)
    q = rng.uniform(low, high, (count, robot.n))
    q = np.transpose(where.joined(q.T, q.T + rng.uniform(-STRETCH, STRETCH, (robot.n, count))))
    qd, qdd, tau = (rng.uniform(-size, size, (count, where.size)) for size in (2, 5, 20))
    made = {"q": q, "qd": qd, "qdd": qdd, "tau": tau, "weights": rng.uniform(-1, 1, (count, where.size))}
    if robot.compounds:
        first = home if robot.constrained else np.zeros(robot.n)
        made["q"] = robot.integrate(robot.neutral, np.vstack([first, q[1:]]))
    for name, values in made.items():
        if not (name == "q" and robot.compounds):
            values[0] = home if name == "q" and robot.constrained else 0
    return {name: np.round(values, 6) for name, values in made.items()}


def vectors(model: Model, function: ExportedFunction, count: int = STATES) -> Vectors:
    """Reference vectors of one function."""
    if function.vectors is not None:
        return function.vectors(count)
    robot, state = model.robot, states(model.robot, count)
    if model.real == "float":  # results at the states that the code is given
        state = {name: values.astype(np.float32).astype(float) for name, values in state.items()}
    names = [name for name in function.arguments if name != PARAMETERS]
    expected = reference(robot, function.name, *(state[name] for name in names))
    parts = expected.reshape(count, len(function.definition.results), -1).transpose(1, 0, 2)
    inputs = {name: state[name] for name in names}
    if PARAMETERS in function.arguments:
        inputs[PARAMETERS] = np.tile(model.defaults, (count, 1))
    outputs = dict(zip(function.definition.results, parts, strict=True))
    return Vectors(inputs, outputs, scale(robot, function.name, state, expected))


def reference(robot: Robot, name: str, *arguments: Array) -> Array:
    """The quantity by a formulation that the generated code does not use, where there is one."""
    if robot.constrained:
        return closed_reference(robot, name, *arguments)
    if coordinates(robot).doubled:
        return np.asarray(QUANTITIES[name].elastic.reference(robot, *arguments))
    first, *others = QUANTITIES[name].references
    try:
        return np.asarray(first(robot, *arguments))
    except ArmdynError:
        if not others:
            raise
        return np.asarray(others[0](robot, *arguments))


def closed_reference(robot: Robot, name: str, *arguments: Array) -> Array:
    """The quantity of a closed chain, from that of the opened tree: solved, projected and differentiated in numbers."""
    tree = robot.opened
    inputs = dict(zip(QUANTITIES[name].inputs, arguments, strict=True))
    if name == "friction":
        return _friction(robot, inputs["qd"])
    q_all = np.array([all_positions(robot, q) for q in inputs["q"]], dtype=float)
    if name == "closed":
        return q_all
    G = closed_chain.projection(robot, q_all)
    if name == "forward_dynamics":
        return closed_chain.forward_dynamics(robot, q_all, inputs["qd"], inputs["tau"])
    if name == "inverse_dynamics":
        return closed_chain.inverse_dynamics(robot, q_all, inputs["qd"], inputs["qdd"], by=kane)
    if name in ("coriolis_matrix", "coriolis"):
        return np.asarray(getattr(closed_chain, name)(robot, q_all, inputs["qd"]))
    if name == "joint_reactions":
        return np.asarray(loop_forces.joint_reactions(robot, q_all, inputs["qd"], inputs["qdd"]))
    if name == "inverse_dynamics_derivatives":
        return _slopes(robot, q_all, G, inputs["qd"], inputs["qdd"])
    if name == "forward_dynamics_derivatives":
        qdd = closed_chain.forward_dynamics(robot, q_all, inputs["qd"], inputs["tau"])
        inverse = np.linalg.inv(closed_chain.mass_matrix(robot, q_all))
        slopes = -inverse[:, None] @ _slopes(robot, q_all, G, inputs["qd"], qdd)
        return np.concatenate([slopes, inverse[:, None]], axis=1)
    motion = [q_all]
    if "qd" in inputs:
        motion.append(closed_chain.velocities(robot, q_all, inputs["qd"]))
    if "qdd" in inputs:
        motion.append(closed_chain.accelerations(robot, q_all, inputs["qd"], inputs["qdd"]))
    if name not in PROJECTED:
        raise ArmdynError(
            f"no reference for {name} of a closed chain",
            where=f"robot {robot.name!r}",
            expected=f"one of: {', '.join(PROJECTED)}",
        )
    found = PROJECTED[name](reference(tree, name, *motion), G)
    if name == "jacobian_dot_qd":
        drift = closed_chain.accelerations(robot, q_all, inputs["qd"], np.zeros_like(inputs["qd"]))
        found = found + (reference(tree, "jacobian", q_all) @ drift[..., None])[..., 0]
    return np.asarray(found)


COMPLEX_STEP = 1e-30
"""Small enough for its square to vanish beside one."""


def _slopes(robot: Robot, q_all: Array, G: Array, qd: Array, qdd: Array) -> Array:
    """(..., 2, n, n) derivatives of the torques by q, along which dependent joints follow, and by qd: complex steps."""
    ways = np.moveaxis(np.asarray(G), -1, 0)
    along = [1j * COMPLEX_STEP * rates(robot.opened.compounds, q_all, way) for way in ways]
    torques = closed_chain.inverse_dynamics
    by_q = [np.imag(torques(robot, q_all + step, qd, qdd)) for step in along]
    by_qd = [np.imag(torques(robot, q_all + 0j, qd + 1j * COMPLEX_STEP * unit, qdd)) for unit in np.eye(robot.n)]
    return np.stack([np.stack(by_q, axis=-1), np.stack(by_qd, axis=-1)], axis=1) / COMPLEX_STEP


def _turned(values: Array, G: Array) -> Array:
    """G^T times vectors or matrices."""
    back = np.swapaxes(G, -1, -2)
    return back @ values if values.ndim == G.ndim else (back @ values[..., None])[..., 0]


PROJECTED: dict[str, Callable[[Array, Array], Array]] = {
    "mass_matrix": lambda M, G: _turned(M, G) @ G,
    "gravity": _turned,
    "springs": _turned,
    "regressor": _turned,
    "jacobian": lambda J, G: J @ G,
    "pose": lambda T, G: T,
    "jacobian_dot_qd": lambda a, G: a,
    "kinetic_energy": lambda T, G: T,
    "potential_energy": lambda U, G: U,
    "center_of_mass": lambda p, G: p,
    "centroidal_momentum": lambda h, G: h,
}
"""How a quantity of the tree is projected onto the independent joints."""


def _friction(robot: Robot, qd: Array) -> Array:
    """Friction at independent joints, and at those that follow at a constant rate."""
    chain = dependent_joints(robot)
    G = np.array(chain.projection(chain.assembly), dtype=float)
    return np.asarray(reference(robot.opened, "friction", qd @ G.T) @ G)


def scale(robot: Robot, name: str, state: dict[str, Array], expected: Array) -> Array:
    """Size of the terms that were added up, per state: rounding errors are relative to it."""
    count = len(expected)
    largest = np.abs(expected.reshape(count, -1)).max(axis=1)
    if name in ("pose", "jacobian", "jacobian_dot_qd", "mass_matrix"):
        return np.asarray(np.maximum(largest, 0 if name == "mass_matrix" else _size(robot)))
    q, qd, qdd, tau = (state[key] for key in ("q", "qd", "qdd", "tau"))
    M = reference(robot, "mass_matrix", q)
    sizes = np.abs(M)
    terms = (sizes @ (qd**2)[..., None])[..., 0]
    if QUANTITIES[name].gravity:
        weight = _length(robot.gravity) * sum(abs(float(link.inertia.mass)) for link in robot.opened.links)
        terms = terms + np.abs(reference(robot, "gravity", q)) + weight * _size(robot)
    if name == "inverse_dynamics" or QUANTITIES[name].inverts:
        sliding = robot.without("load_friction", "presliding")  # friction of the rate alone: enough for a size
        terms = terms + np.abs(reference(sliding, "friction", qd)) + np.abs(reference(robot, "springs", q))
    if QUANTITIES[name].inverts:
        inverse = np.abs(np.linalg.inv(M))
        accelerations = (inverse @ (terms + np.abs(tau))[..., None])[..., 0].max(axis=1)
        return np.asarray(accelerations if name == "forward_dynamics" else np.maximum(largest, accelerations))
    if name.startswith("inverse_dynamics"):
        terms = terms + (sizes @ np.abs(qdd)[..., None])[..., 0]
    return np.asarray(np.maximum(largest, terms.max(axis=1)))


def _size(robot: Robot) -> float:
    """Size of positions, m, at least 1: the length of the arm and the distance of its base from the origin."""
    return max(1.0, _length(robot.base.xyz) + total_length(robot))


def _length(v: Any) -> float:
    return float(np.sqrt(sum(float(x) ** 2 for x in v)))
