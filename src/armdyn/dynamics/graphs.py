"""How each quantity of Dynamics becomes a graph: which formulation, on which view of the robot.

Where several formulations are sensible, all are traced and the graph with the fewest operations is taken.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, Literal, NamedTuple

import numpy as np

from armdyn.algebra import Scalar
from armdyn.algebra.ops import add, mul, sub, total
from armdyn.dynamics.model_choice import Bound, Kept, Views, cheapest, cheapest_views, has_parallel_axes, traced
from armdyn.errors import ArmdynError, PhysicsError
from armdyn.graph import Graph, derivative
from armdyn.mechanics import (
    articulated_body,
    composite_body,
    derivatives,
    forward,
    gim_christoffel,
    linear,
    newton_euler,
    second_derivatives,
)
from armdyn.mechanics.dependent_joints import DependentJoints, dependent_joints
from armdyn.mechanics.matrices import plus
from armdyn.mechanics.moving_axes import charted, steady
from armdyn.parameters import grouped
from armdyn.robot import Robot
from armdyn.robot.coordinates import coordinates
from armdyn.robot.links import WORLD

TINY = 4
"""Joints up to which formulas that grow fast with the joints may win."""
SHORT = 7
"""Joints up to which composite bodies always win, and wrenches passed from link to link."""
LONG = 20
"""Joints beyond which products in the world's axes cost less without counting."""
DEEP = 14
"""Joints of one chain beyond which articulated bodies are cheaper without counting."""

ACCELERATION_SLOPES = ("dqdd_dq", "dqdd_dqd", "dqdd_dtau")
Variant = str | tuple[str, ...]
"""What a graph has been made for: "wrench", the frames that carry wrenches, or the name of a frame."""
Inputs = tuple[str, ...]


@dataclass(frozen=True)
class Near:
    """A variant whose last input, `near`, is the start of the solution for the dependent joints; other: its variant."""

    other: Variant | None = None


@dataclass(frozen=True)
class Derived:
    """A variant that is a derivative of the function by its inputs, see `derived_graphs`; other: its variant."""

    order: Literal[1, 2]
    other: Variant | None = None


class Source:
    """What the graphs of one robot are traced from: equivalent views of it, chosen when they are first needed.

    robot: in numbers, with loops or without.
    """

    def __init__(self, robot: Robot) -> None:
        self.robot = robot
        self._kept: Kept = {}

    @cached_property
    def tree(self) -> Source:
        """The source of the opened tree: this one, if the robot has neither loops nor mimic joints."""
        return Source(self.robot.opened) if self.robot.constrained else self

    @cached_property
    def chain(self) -> DependentJoints:
        """How the dependent joints follow."""
        return dependent_joints(self.robot)

    @cached_property
    def views(self) -> Views:
        """The views with the fewest operations."""
        return cheapest_views(self.robot, self._kept)

    def traced(self, robot: Robot, formula: Any, inputs: Inputs, **options: Any) -> Graph:
        """The graph of a formula of mechanics on one of the views."""
        body = getattr(formula, "formula", formula)
        size = coordinates(robot).size
        sizes = {name: 6 if name.startswith("wrench") else size for name in inputs}
        if "q" in inputs:
            sizes["q"] += robot.nq - robot.n
        return traced(Bound(robot, body, tuple(options.items()), inputs), sizes, self._kept)


class SymbolicSource(Source):
    """The same with the named parameters of the robot's file as symbols: in its own frames, grouped by name."""

    def __init__(self, robot: Robot) -> None:
        super().__init__(robot.symbolic)

    @cached_property
    def tree(self) -> Source:
        return SymbolicSource(self.robot.opened) if self.robot.constrained else self

    @cached_property
    def views(self) -> Views:
        if self.robot.compounds:  # parameters of free and ball joints are not grouped by name
            return Views(self.robot, self.robot, self.robot)
        torques = grouped(self.robot, rotors=not coordinates(self.robot).doubled)
        return Views(torques, torques, self.robot)


GraphMaker = Callable[[Source, Inputs, Any], Graph]
"""Makes the graph of a quantity from a robot, the names of its inputs, and the variant."""


# Quantities of one formula --------------------------------------------------------------------------------------------


def on_torques(formula: Any, *results: str) -> GraphMaker:
    """A formula of torques: frames and parameters may be chosen freely. results: their names, if there are several."""

    def named(robot: Robot, *values: Any) -> dict[str, Any]:
        return dict(zip(results, formula.formula(robot, *values), strict=True))

    return lambda source, inputs, _: source.traced(source.views.torques, named if results else formula, inputs)


def on_robot(formula: Any) -> GraphMaker:
    """A formula of the parameters as they are."""
    return lambda source, inputs, _: source.traced(source.robot, formula, inputs)


def on_places(formula: Any) -> GraphMaker:
    """A formula of places: frames may be chosen freely, parameters not."""
    return lambda source, inputs, _: source.traced(source.views.places, formula, inputs)


def on_frame(formula: Any) -> GraphMaker:
    """A formula of the place of a frame, by default the tool."""
    return lambda source, inputs, frame: source.traced(source.views.places, formula, inputs, frame=frame or "tool")


def with_wrench(formula: Any) -> GraphMaker:
    """A formula of torques that may take a wrench at the tool, or wrenches on named frames."""
    return lambda source, inputs, wrench: _loaded(
        source, source.views.torques if wrench is None else source.views.loaded, formula, inputs, wrench
    )


def on_loaded_robot(formula: Any) -> GraphMaker:
    """A formula of the parameters as they are that may take a wrench at the tool, or wrenches on named frames."""
    return lambda source, inputs, wrench: _loaded(source, source.robot, formula, inputs, wrench)


def _loaded(source: Source, view: Robot, formula: Any, inputs: Inputs, wrench: Variant | None) -> Graph:
    if not isinstance(wrench, tuple):
        return source.traced(view, formula, (*inputs, *wrench_inputs(wrench)))
    count = len(inputs)

    def on_frames(robot: Robot, *values: Any) -> Any:
        return formula.formula(robot, *values[:count], dict(zip(wrench, values[count:], strict=True)))

    return source.traced(view, on_frames, (*inputs, *wrench_inputs(wrench)))


def wrench_inputs(wrench: Variant | None) -> Inputs:
    """Names of the inputs that are wrenches: one at the tool, or one on each of several frames."""
    if isinstance(wrench, tuple):
        return tuple(f"wrench{k + 1}" for k in range(len(wrench)))
    return () if wrench is None else ("wrench",)


def positions(source: Source, inputs: Inputs, _: Variant | None) -> Graph:
    """The positions themselves: of a robot without dependent joints they are all."""
    return traced(list, {"q": source.robot.nq})


# Quantities of several formulas ---------------------------------------------------------------------------------------


def forward_dynamics(source: Source, inputs: Inputs, wrench: Variant | None) -> Graph:
    """By composite bodies or articulated bodies."""
    return cheapest(with_wrench(way.forward_dynamics)(source, inputs, wrench) for way in _forward_formulations(source))


def _forward_formulations(source: Source) -> list[Any]:
    require_inertia(source.robot.bound())
    depth = max(len(source.robot.path(link.index)) for link in source.robot.links)
    carried = any(spin.axis is not None and spin.carrier != WORLD for spin in source.views.torques.spins)
    if carried or depth <= SHORT:
        return [composite_body]
    return [composite_body, articulated_body] if depth <= DEEP else [articulated_body]


def coriolis_matrix(source: Source, inputs: Inputs, _: Variant | None) -> Graph:
    """From the derivatives of a recursion; for few joints also from the Christoffel symbols."""
    torques = source.views.torques
    ways = [source.traced(torques, derivatives.coriolis_matrix, inputs, axes=axes) for axes in _axes(source.robot)]
    if source.robot.n <= (SHORT if has_parallel_axes(torques) else TINY):
        ways.append(source.traced(torques, gim_christoffel.coriolis_matrix, inputs))
    return cheapest(ways)


def _axes(robot: Robot) -> tuple[derivatives.Axes, ...]:
    if robot.n > LONG:
        return ("world",)
    return ("link",) if robot.n <= SHORT else derivatives.AXES


def inverse_dynamics_derivatives(source: Source, inputs: Inputs, _: Variant | None) -> Graph:
    """By differentiated recursions; for few joints also by differentiating the graph of the torques."""
    torques, formula = source.views.torques, derivatives.inverse_dynamics_derivatives
    ways = [source.traced(torques, formula, inputs, axes=axes) for axes in _axes(source.robot)]
    pairs = [_pair(way, *way.outputs["out"]) for way in ways]
    if source.robot.n <= TINY and not source.robot.compounds:
        graph = source.traced(torques, newton_euler.inverse_dynamics, inputs)
        slopes = (derivative(graph.outputs["out"], graph.inputs[name]) for name in inputs[:2])
        pairs.append(_pair(graph, *slopes))
    return cheapest(pairs)


def _pair(graph: Graph, dq: Any, dqd: Any) -> Graph:
    return replace(graph, outputs={"dtau_dq": dq, "dtau_dqd": dqd})


def forward_dynamics_derivatives(source: Source, inputs: Inputs, _: Variant | None) -> Graph:
    """(dqdd/dq, dqdd/dqd, dqdd/dtau) = M^-1 (-dtau/dq, -dtau/dqd, 1), at the qdd that the torques produce."""
    require_inertia(source.robot.bound())

    def formula(robot: Robot, q: Any, qd: Any, tau: Any) -> dict[str, Any]:
        factors, qdd = _solved(robot, q, qd, tau)
        dq, dqd = derivatives.inverse_dynamics_derivatives.formula(robot, q, qd, plus(qdd, steady(robot, qd)))
        return dict(zip(ACCELERATION_SLOPES, forward.slopes(factors, dq, dqd), strict=True))

    return source.traced(source.views.torques, formula, inputs)


def _solved(robot: Robot, q: Any, qd: Any, tau: Any) -> tuple[linear.Factors, list[Scalar]]:
    """(factors of the mass matrix, accelerations)."""
    factors = linear.factor(composite_body.mass_matrix.formula(robot, q))
    return factors, linear.solve(
        factors, [torque - h for torque, h in zip(tau, forward.bias(robot, q, qd), strict=True)]
    )


def forward_dynamics_hessian(source: Source, inputs: Inputs, _: Variant | None) -> Graph:
    """Second derivatives of weighted accelerations, from those of the torques at the qdd that the torques produce.

    Let u = M^-1 weights, A the second derivatives of u.tau, G those by (q, qdd), a_q = dqdd/dq, ...: differentiating
    ID(q, qd, qdd(q, qd, tau)) = tau twice gives -(A_qq + G a_q + (G a_q)^T), -(A_qqd + G a_qd), -A_qdqd, -G a_tau.
    """
    require_inertia(source.robot.bound())
    n = range(source.robot.n)

    def formula(robot: Robot, q: Any, qd: Any, tau: Any, weights: Any) -> dict[str, Any]:
        factors, qdd = _solved(robot, q, qd, tau)
        u = linear.solve(factors, list(weights))
        dq, dqd = derivatives.inverse_dynamics_derivatives.formula(robot, q, qd, qdd)
        q_q, q_qd, qd_qd, q_qdd = second_derivatives.inverse_dynamics_hessian.formula(robot, q, qd, qdd, u)
        rates = [linear.solve(factors, row) for row in q_qdd]  # G M^-1

        def product(matrix: Any) -> list[list[Scalar]]:
            return [[total(mul(row[k], matrix[k][j]) for k in n) for j in n] for row in rates]

        by_q, by_qd = product(dq), product(dqd)  # -G a_q, -G a_qd
        return {
            "H_q_q": [[sub(add(by_q[i][j], by_q[j][i]), q_q[i][j]) for j in n] for i in n],
            "H_q_qd": [[sub(by_qd[i][j], q_qd[i][j]) for j in n] for i in n],
            "H_qd_qd": [[-entry for entry in row] for row in qd_qd],
            "H_q_tau": [[-entry for entry in row] for row in rates],
        }

    return source.traced(source.views.torques, formula, inputs)


class Accelerations(NamedTuple):
    """Forward dynamics and its derivatives, by solving for what another formulation needs: to compare with."""

    mass_matrix: Any
    inverse_dynamics: Any
    inverse_dynamics_derivatives: Any

    def forward_dynamics(self, robot: Robot, q: Any, qd: Any, tau: Any) -> Any:
        bias = self.inverse_dynamics(robot, q, qd, np.zeros_like(qd))
        return np.linalg.solve(self.mass_matrix(robot, q), (tau - bias)[..., None])[..., 0]

    def derivatives(self, robot: Robot, q: Any, qd: Any, tau: Any) -> Any:
        """(..., 3, n, n)"""
        inverse = np.linalg.inv(self.mass_matrix(robot, q))
        slopes = self.inverse_dynamics_derivatives(robot, q, qd, self.forward_dynamics(robot, q, qd, tau))
        by_q, by_qd = np.moveaxis(np.asarray(slopes), -3, 0)
        return np.stack([-inverse @ by_q, -inverse @ by_qd, inverse], axis=-3)


def some_configuration(robot: Robot) -> list[float]:
    """A fixed configuration, no joint at a multiple of another's position."""
    return [0.3 + 0.7548776662 * (k + 1) % 2.0 for k in range(robot.nq)]


def require_inertia(robot: Robot) -> None:
    """Raise PhysicsError if the mass matrix is singular, found at one fixed configuration before any code is made."""
    view, placed = charted(robot, {"q": some_configuration(robot)})
    try:
        M = composite_body.mass_matrix.formula(view, placed["q"])
        linear.factor(M, where=lambda k: forward.joint_name(robot, k))
    except ZeroDivisionError as error:
        raise PhysicsError("the mass matrix is singular", where=f"robot {robot.name!r}") from error


def parameterless(robot: Robot) -> Robot:
    """The robot in numbers; raises ArmdynError if a symbol has no value."""
    numeric = robot.bound()
    if numeric.has_symbols:
        raise ArmdynError("the robot has symbols without a value", where=f"robot {robot.name!r}", expected="numbers")
    return numeric
