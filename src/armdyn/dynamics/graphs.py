"""How each quantity of Dynamics is computed: which formulation, on which robot, as a graph.

Where there are several ways, all that are sensible are traced and the one with the fewest operations is taken.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, Literal

from armdyn.algebra import Scalar
from armdyn.dynamics.model_choice import Lean, cheapest, has_parallel_axes, lean, traced
from armdyn.errors import ArmdynError, PhysicsError
from armdyn.graph import Graph, derivative
from armdyn.mechanics import (
    articulated_body,
    composite_body,
    derivatives,
    energies,
    forward,
    gim_christoffel,
    kinematics,
    linear,
    newton_euler,
)
from armdyn.mechanics.actuators import friction_torques
from armdyn.mechanics.quantity import nested
from armdyn.parameters import regressor
from armdyn.robot import Robot
from armdyn.robot.links import WORLD

Forward = Literal["auto", "composite", "articulated"]
FORWARD: tuple[Forward, ...] = ("auto", "composite", "articulated")
TINY = 4
"""Joints up to which formulas that grow fast with the joints may win."""
SHORT = 7
"""Joints up to which composite bodies always win, and wrenches passed from link to link."""
LONG = 20
"""Joints beyond which products in the world's axes cost less without counting."""
DEEP = 14
"""Joints one behind the other beyond which articulated bodies are cheaper without counting."""


@dataclass(frozen=True)
class Recipe:
    """A quantity: its arguments, and the one that may be left out."""

    name: str
    inputs: tuple[str, ...]
    choice: str | None = None
    """`wrench` (a further input) or `frame` (the name of a frame)."""


RECIPES = {
    recipe.name: recipe
    for recipe in (
        Recipe("inverse_dynamics", ("q", "qd", "qdd"), "wrench"),
        Recipe("forward_dynamics", ("q", "qd", "tau"), "wrench"),
        Recipe("mass_matrix", ("q",)),
        Recipe("coriolis_matrix", ("q", "qd")),
        Recipe("coriolis", ("q", "qd")),
        Recipe("gravity", ("q",)),
        Recipe("friction", ("qd",)),
        Recipe("pose", ("q",), "frame"),
        Recipe("jacobian", ("q",), "frame"),
        Recipe("jacobian_dot_qd", ("q", "qd"), "frame"),
        Recipe("regressor", ("q", "qd", "qdd")),
        Recipe("inverse_dynamics_derivatives", ("q", "qd", "qdd")),
        Recipe("forward_dynamics_derivatives", ("q", "qd", "tau")),
        Recipe("kinetic_energy", ("q", "qd")),
        Recipe("potential_energy", ("q",)),
    )
}
"""What Dynamics has, by name."""


class Kitchen:
    """The graphs of one robot, each made when it is first asked for."""

    def __init__(self, robot: Robot, forward: Forward, group: bool) -> None:
        self.robot, self.forward, self.group = robot, forward, group
        self._graphs: dict[tuple[str, Any], Graph] = {}

    @cached_property
    def _views(self) -> Lean:
        return lean(self.robot, self.group)

    @cached_property
    def torques(self) -> Robot:
        """The robot of torques without wrenches."""
        return self._views.torques

    @cached_property
    def loaded(self) -> Robot:
        """The robot of torques with wrenches."""
        return self._views.loaded

    @cached_property
    def places(self) -> Robot:
        """The robot of poses and potential energy."""
        return self._views.places

    def graph(self, name: str, choice: Any = None) -> Graph:
        """The graph of a quantity.

        choice: "wrench" for the one with a wrench at the tool, a tuple of frames for wrenches on these (inputs wrench1,
        wrench2, ...); or the name of the frame.
        """
        key = name, choice
        if key not in self._graphs:
            made = getattr(self, f"_{name}")(choice) if RECIPES[name].choice else getattr(self, f"_{name}")()
            self._graphs[key] = made
        return self._graphs[key]

    def _traced(self, robot: Robot, formula: Any, inputs: tuple[str, ...], **options: Any) -> Graph:
        """The graph of a formula of mechanics."""
        body = getattr(formula, "formula", formula)
        sizes = {name: 6 if name.startswith("wrench") else robot.n for name in inputs}
        call = _Bound(robot, body, options)
        return traced(call, sizes)

    # Torques -------------------------------------------------------------------------------------------------------

    def _inverse_dynamics(self, wrench: Any) -> Graph:
        return self._loaded(newton_euler.inverse_dynamics, ("q", "qd", "qdd"), wrench)

    def _loaded(self, formula: Any, inputs: tuple[str, ...], wrench: Any) -> Graph:
        """A formula that may take a wrench at the tool, or wrenches on named frames."""
        if wrench is None:
            return self._traced(self.torques, formula, inputs)
        if not isinstance(wrench, tuple):
            return self._traced(self.loaded, formula, (*inputs, "wrench"))
        count = len(inputs)

        def on_frames(robot: Robot, *values: Any) -> Any:
            wrenches = dict(zip(wrench, values[count:], strict=True))
            return formula.formula(robot, *values[:count], wrenches)

        return self._traced(self.loaded, on_frames, (*inputs, *(f"wrench{k + 1}" for k in range(len(wrench)))))

    def _coriolis(self) -> Graph:
        return self._traced(self.torques, newton_euler.coriolis, ("q", "qd"))

    def _gravity(self) -> Graph:
        return self._traced(self.torques, newton_euler.gravity, ("q",))

    def _friction(self) -> Graph:
        return self._traced(self.robot, friction_torques, ("qd",))

    def _mass_matrix(self) -> Graph:
        return self._traced(self.torques, composite_body.mass_matrix, ("q",))

    def _coriolis_matrix(self) -> Graph:
        ways = [
            self._traced(self.torques, derivatives.coriolis_matrix, ("q", "qd"), axes=axes) for axes in self._axes()
        ]
        if self.robot.n <= (SHORT if has_parallel_axes(self.torques) else TINY):
            ways.append(self._traced(self.torques, gim_christoffel.coriolis_matrix, ("q", "qd")))
        return cheapest(ways)

    def _axes(self) -> tuple[derivatives.Axes, ...]:
        if self.robot.n > LONG:
            return ("world",)
        return ("link",) if self.robot.n <= SHORT else derivatives.AXES

    def _regressor(self) -> Graph:
        return self._traced(self.robot, regressor, ("q", "qd", "qdd"))

    # Accelerations -------------------------------------------------------------------------------------------------

    def _forward_dynamics(self, wrench: Any) -> Graph:
        return cheapest(self._loaded(way.forward_dynamics, ("q", "qd", "tau"), wrench) for way in self._ways())

    def _ways(self) -> list[Any]:
        """The formulations of direct dynamics to choose from."""
        require_inertia(self.robot)
        depth = max(len(self.robot.path(link.index)) for link in self.robot.links)
        both = [composite_body, articulated_body]
        if self.forward != "auto":
            return [both[self.forward == "articulated"]]
        if any(spin.axis is not None and spin.carrier != WORLD for spin in self.torques.spins) or depth <= SHORT:
            return [composite_body]
        return both if depth <= DEEP else [articulated_body]

    # Derivatives ---------------------------------------------------------------------------------------------------

    def _inverse_dynamics_derivatives(self) -> Graph:
        inputs = ("q", "qd", "qdd")
        formula = derivatives.inverse_dynamics_derivatives
        ways = [self._traced(self.torques, formula, inputs, axes=axes) for axes in self._axes()]
        pairs = [replace_outputs(way, dtau_dq=way.outputs["out"][0], dtau_dqd=way.outputs["out"][1]) for way in ways]
        if self.robot.n <= TINY:
            graph = self.graph("inverse_dynamics")
            q, qd = graph.inputs["q"], graph.inputs["qd"]
            tau = graph.outputs["out"]
            pairs.append(replace_outputs(graph, dtau_dq=derivative(tau, q), dtau_dqd=derivative(tau, qd)))
        return cheapest(pairs)

    def _forward_dynamics_derivatives(self) -> Graph:
        """(dqdd/dq, dqdd/dqd, dqdd/dtau) = M^-1 (-dtau/dq, -dtau/dqd, 1), at the qdd that the torques produce."""
        require_inertia(self.robot)
        robot, n = self.torques, range(self.robot.n)

        def formula(_: Robot, q: Any, qd: Any, tau: Any) -> dict[str, Any]:
            factors = linear.factor(composite_body.mass_matrix.formula(robot, q))
            rest = [torque - h for torque, h in zip(tau, forward.bias(robot, q, qd), strict=True)]
            qdd = linear.solve(factors, rest)
            slopes = derivatives.inverse_dynamics_derivatives.formula
            dq, dqd = slopes(robot, q, qd, qdd)
            unit = [[-int(i == j) for j in n] for i in n]

            def solved(matrix: Any) -> list[list[Scalar]]:
                columns = [linear.solve(factors, [-matrix[i][j] for i in n]) for j in n]
                return [[columns[j][i] for j in n] for i in n]

            inverse = solved(unit)
            symmetric = [[inverse[max(i, j)][min(i, j)] for j in n] for i in n]
            return {"dqdd_dq": solved(dq), "dqdd_dqd": solved(dqd), "dqdd_dtau": symmetric}

        return self._traced(robot, formula, ("q", "qd", "tau"))

    # Places and energies -------------------------------------------------------------------------------------------

    def _places(self, formula: Any, inputs: tuple[str, ...], **options: Any) -> Graph:
        robots = [self.places] if self.places is self.robot else [self.robot, self.places]
        return cheapest(self._traced(robot, formula, inputs, **options) for robot in robots)

    def _pose(self, frame: Any) -> Graph:
        return self._places(kinematics.pose, ("q",), frame=frame or "tool")

    def _jacobian(self, frame: Any) -> Graph:
        return self._places(kinematics.jacobian, ("q",), frame=frame or "tool")

    def _jacobian_dot_qd(self, frame: Any) -> Graph:
        return self._places(kinematics.jacobian_dot_qd, ("q", "qd"), frame=frame or "tool")

    def _kinetic_energy(self) -> Graph:
        return self._traced(self.torques, energies.kinetic_energy, ("q", "qd"))

    def _potential_energy(self) -> Graph:
        return self._places(energies.potential_energy, ("q",))


class _Bound:
    """A formula with its robot: what `trace` calls with symbols."""

    def __init__(self, robot: Robot, formula: Callable[..., Any], options: dict[str, Any]) -> None:
        self.robot, self.formula, self.options = robot, formula, options

    def __call__(self, *values: Any) -> Any:
        result = self.formula(self.robot, *values, **self.options)
        return result if isinstance(result, dict) else nested(result)


def replace_outputs(graph: Graph, **outputs: Any) -> Graph:
    return replace(graph, outputs=outputs)


def require_inertia(robot: Robot) -> None:
    """A singular mass matrix is found before any code is made, at a state picked once and for all."""
    for q in _states(robot.n):
        try:
            M = composite_body.mass_matrix.formula(robot, q)
            linear.factor(M, where=lambda k: forward.joint_name(robot, k))
        except ZeroDivisionError as error:
            raise PhysicsError("the mass matrix is singular", where=f"robot {robot.name!r}") from error


def _states(n: int) -> Iterator[list[float]]:
    """Positions without symmetry: no joint at a multiple of another's."""
    yield [0.3 + 0.7548776662 * (k + 1) % 2.0 for k in range(n)]


def parameterless(robot: Robot) -> Robot:
    """The robot in numbers; an error names the parameters that have none."""
    numeric = robot.bound()
    if numeric.has_symbols:
        raise ArmdynError("the robot has symbols without a value", where=f"robot {robot.name!r}", expected="numbers")
    return numeric
