"""Graphs of robots with closed loops or mimic joints: those of the opened tree, at the closed motion, projected.

    q from q_a (mechanics.dependent_joints),  qd = G qd_a,  qdd = G qdd_a + drift                                  [L-1]
    torques G^T tau,   matrices G^T A G,   Jacobians J G,   derivatives along G                             [L-2], [L-3]

Each function here makes the graph of a row of the table of quantities from the formula of the tree.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from random import Random
from typing import Any, Literal

from armdyn.algebra import Scalar, derivative
from armdyn.algebra.ops import add, sub
from armdyn.dynamics.graphs import ACCELERATION_SLOPES, GraphMaker, Inputs, Near, Source, Variant, wrench_inputs
from armdyn.dynamics.model_choice import traced
from armdyn.errors import NotApplicable
from armdyn.graph import Graph
from armdyn.mechanics import centroid, composite_body, derivatives, energies, kinematics, linear, newton_euler
from armdyn.mechanics.angle_pair import AnglePair
from armdyn.mechanics.closed_chain import ClosedMotion, reduced, reduced_coriolis, reduced_torques
from armdyn.mechanics.dependent_joints import DependentJoints, dependent_joints
from armdyn.mechanics.forward import joint_name, slopes
from armdyn.mechanics.friction import friction_torques
from armdyn.mechanics.loop_forces import transmitted
from armdyn.mechanics.matrices import Rows, identity, plus, product, symmetric, times, transpose
from armdyn.mechanics.moving_axes import at, in_chart, positions_of, steady
from armdyn.mechanics.quantity import nested, quantity
from armdyn.mechanics.springs import spring_torques
from armdyn.parameters.regressor import projected
from armdyn.parameters.standard import FAMILIES
from armdyn.robot import Robot

Formula = Callable[[Robot, ClosedMotion, Any], Any]
"""Of a view of the tree, whose free and ball joints stand where they are, the motion of its joints, and the variant."""
Choice = Literal["torques", "loaded", "places", "robot"]
"""The view of the tree: "loaded" is for torques with wrenches, if there are any; "robot" the tree as it is."""


def of_closed_motion(view: Choice, *, wrenches: bool = False, inverts: bool = False) -> Callable[[Formula], GraphMaker]:
    """Make graphs of a quantity from its formula over the closed motion of the tree.

    wrenches: the variant says where wrenches act; else it is the name of a frame. inverts: the mass matrix is inverted.
    """

    def decorate(formula: Formula) -> GraphMaker:
        def maker(source: Source, inputs: Inputs, variant: Any) -> Graph:
            other, near = (variant.other, True) if isinstance(variant, Near) else (variant, False)
            if inverts:
                _require_inertia(source)
            names = (*inputs, *(wrench_inputs(other) if wrenches else ()), *["near"] * near)
            robot = source.tree.robot if view == "robot" else getattr(source.tree.views, view)
            robot = source.tree.views.torques if view == "loaded" and other is None else robot
            return _graph(source, names, robot, lambda robot, motion: formula(robot, motion, other))

        return maker

    return decorate


def _graph(source: Source, names: Sequence[str], robot: Robot, formula: Callable[[Robot, ClosedMotion], Any]) -> Graph:
    """The graph of a formula of the closed motion."""
    chain = source.chain
    special = {"q": chain.robot.nq, "near": len(chain.tree.joints)}
    sizes = {name: 6 if name.startswith("wrench") else special.get(name, len(chain.independent)) for name in names}
    return traced(_Closed(robot, chain, names, formula), sizes)


class _Closed:
    """A formula with its robot and chain: what `trace` calls with symbols."""

    def __init__(
        self, robot: Robot, chain: DependentJoints, names: Sequence[str], formula: Callable[[Robot, ClosedMotion], Any]
    ) -> None:
        self.robot, self.chain, self.names, self.formula = robot, chain, names, formula

    def __call__(self, *values: Any) -> Any:
        given, closed = dict(zip(self.names, values, strict=True)), self.chain.robot
        robot = at(self.robot, given["q"], closed) if closed.compounds and "q" in given else self.robot
        motion = {**in_chart(closed, given), "position": given.get("q")}  # in the chart, and as it was given
        result = self.formula(robot, ClosedMotion(self.chain, motion))
        return result if isinstance(result, dict) else nested(result)


# Torques --------------------------------------------------------------------------------------------------------------


def _wrench(motion: ClosedMotion, variant: Variant | None) -> Any:
    given = [motion.given[name] for name in wrench_inputs(variant)]
    return dict(zip(variant, given, strict=True)) if isinstance(variant, tuple) else next(iter(given), None)


@of_closed_motion("loaded", wrenches=True)
def inverse_dynamics(robot: Robot, motion: ClosedMotion, variant: Any) -> Any:
    """G^T tau, from the tree's recursion."""
    torques = newton_euler.inverse_dynamics.formula(robot, motion.q, motion.qd, motion.qdd, _wrench(motion, variant))
    return reduced_torques(motion.G, torques)


@of_closed_motion("loaded", wrenches=True, inverts=True)
def forward_dynamics(robot: Robot, motion: ClosedMotion, variant: Any) -> Any:
    """M_a^-1 (tau_a - G^T tau(q, qd, drift))."""
    return _accelerations(robot, motion, _wrench(motion, variant))[1]


def _require_inertia(source: Source) -> None:
    """Raise PhysicsError if the mass matrix is singular, found at one configuration before any code is made."""
    chain, tree = dependent_joints(source.robot.bound()), source.tree.robot.bound()
    q = chain.drawn(Random(2), 1, 0.3)[0]
    M = reduced(chain.projection(q), composite_body.mass_matrix.formula(tree, q))
    linear.factor(M, where=lambda k: joint_name(tree, chain.independent[k]))


def _accelerations(robot: Robot, motion: ClosedMotion, wrench: Any = None) -> tuple[linear.Factors, list[Scalar]]:
    """(factors of M_a, accelerations of the independent joints)."""
    drift = plus(motion.drift, steady(robot, motion.qd)) if robot.compounds else motion.drift
    at_rest = newton_euler.inverse_dynamics.formula(robot, motion.q, motion.qd, drift, wrench)
    factors = linear.factor(reduced(motion.G, composite_body.mass_matrix.formula(robot, motion.q)))
    bias = reduced_torques(motion.G, at_rest)
    return factors, linear.solve(factors, [sub(x, y) for x, y in zip(motion.given["tau"], bias, strict=True)])


def torques(formula: Any, *inputs: str) -> GraphMaker:
    """G^T of torques of the tree that depend on these inputs alone."""
    body = formula.formula
    return of_closed_motion("torques")(lambda robot, m, _: reduced_torques(m.G, body(robot, *m.values(inputs))))


@of_closed_motion("torques")
def coriolis(robot: Robot, motion: ClosedMotion, _: Any) -> Any:
    """G^T (M drift + c)."""
    c = newton_euler.coriolis.formula(robot, motion.q, motion.qd)
    carried = times(composite_body.mass_matrix.formula(robot, motion.q), motion.drift)
    return reduced_torques(motion.G, [add(x, y) for x, y in zip(c, carried, strict=True)])


def friction(source: Source, inputs: Inputs, variant: Any) -> Graph:
    """G^T friction(G qd_a), where the joints with friction follow at constant rates."""
    chain, tree = source.chain, source.tree.robot
    rates: dict[int, list[Scalar]] = {k: list(line.rates) for k, line in chain.linear.items()}
    rates |= dict(zip(chain.independent, identity(len(chain.independent)), strict=True))
    rough = [joint.name for k, joint in enumerate(tree.joints) if k not in rates and joint.friction is not None]
    if rough:
        raise NotApplicable(
            f"the friction of {', '.join(rough)} depends on the configuration",
            where=f"friction of robot {tree.name!r}",
            expected="friction at independent joints, or at joints that follow them at a constant rate",
            advice="Take inverse_dynamics, which includes it, or robot.without('friction').",
        )
    G: Rows = [rates.get(k, [0] * len(chain.independent)) for k in range(tree.n)]
    return _graph(
        source, inputs, tree, lambda robot, m: reduced_torques(G, friction_torques(robot, times(G, m.given["qd"])))
    )


@of_closed_motion("robot")
def regressor(robot: Robot, motion: ClosedMotion, _: Any) -> Any:
    """G^T Y, by the parameters of all links."""
    return projected(robot, motion, FAMILIES)


@of_closed_motion("robot", wrenches=True)
def joint_reactions(robot: Robot, motion: ClosedMotion, variant: Any) -> Any:
    """Of all joints of the tree, then of the closing joints."""
    return transmitted(motion.chain, robot, motion.q, motion.qd, motion.qdd, _wrench(motion, variant))


# Matrices -------------------------------------------------------------------------------------------------------------


@of_closed_motion("torques")
def mass_matrix(robot: Robot, motion: ClosedMotion, _: Any) -> Any:
    """G^T M G, symmetric by construction."""
    return symmetric(reduced(motion.G, composite_body.mass_matrix.formula(robot, motion.q)))


@of_closed_motion("torques")
def coriolis_matrix(robot: Robot, motion: ClosedMotion, _: Any) -> Any:
    """G^T (M Gd + C G)."""
    M = composite_body.mass_matrix.formula(robot, motion.q)
    C = derivatives.coriolis_matrix.formula(robot, motion.q, motion.qd)
    return reduced_coriolis(motion.G, motion.chain.rate(motion.q, motion.qd, motion.G), M, C)


# Places and energies --------------------------------------------------------------------------------------------------


def scalar(formula: Any, *inputs: str, places: bool = False) -> GraphMaker:
    """A quantity of the closed motion that needs no projection: energies, and the centre of mass."""
    view: Choice = "places" if places else "torques"
    return of_closed_motion(view)(lambda robot, motion, _: formula.formula(robot, *motion.values(inputs)))


@of_closed_motion("places")
def pose(robot: Robot, motion: ClosedMotion, frame: Any) -> Any:
    return kinematics.pose.formula(robot, motion.q, frame or "tool")


@of_closed_motion("places")
def jacobian(robot: Robot, motion: ClosedMotion, frame: Any) -> Any:
    """J G."""
    return product(kinematics.jacobian.formula(robot, motion.q, frame or "tool"), motion.G)


@of_closed_motion("places")
def jacobian_dot_qd(robot: Robot, motion: ClosedMotion, frame: Any) -> Any:
    """dJ/dt qd + J drift."""
    turning = kinematics.jacobian_dot_qd.formula(robot, motion.q, motion.qd, frame or "tool")
    carried = times(kinematics.jacobian.formula(robot, motion.q, frame or "tool"), motion.drift)
    return [add(x, y) for x, y in zip(turning, carried, strict=True)]


@of_closed_motion("robot")
def closed(robot: Robot, motion: ClosedMotion, _: Any) -> Any:
    """All joints."""
    numbers = [x.value() if isinstance(x, AnglePair) else x for x in motion.q]
    return positions_of(robot, numbers, motion.chain.robot, motion.given["position"])


# Derivatives ----------------------------------------------------------------------------------------------------------


def _slopes(robot: Robot, motion: ClosedMotion) -> tuple[Rows, Rows]:
    """Derivatives of tau_a = G^T tau by q_a and qd_a, from those of the tree, of G, qd and qdd. [L-5]

    Along column g of G, a motion that keeps the loops closed: dG^T tau + G^T (dtau/dq g + dtau/dqd dqd + M dqdd).
    """
    chain, given, G = motion.chain, motion.given, motion.G
    by_q, by_qd = derivatives.inverse_dynamics_derivatives.formula(robot, motion.q, motion.qd, motion.qdd)
    columns = [times(by_q, way) for way in transpose(G)], [times(by_qd, way) for way in transpose(G)]
    if not chain.stages:  # G is constant
        return reduced(G, by_q), reduced(G, by_qd)
    M = composite_body.mass_matrix.formula(robot, motion.q)
    torques = newton_euler.inverse_dynamics.formula(robot, motion.q, motion.qd, motion.qdd)

    def moved(q: Sequence[Scalar]) -> tuple[Rows, list[Scalar], list[Scalar]]:
        there = ClosedMotion(chain, given, q)
        return there.G, there.qd, there.qdd

    along_q, along_qd = [], []
    for unit, way, first, second in zip(identity(len(columns[0])), transpose(G), *columns, strict=True):
        dG, dqd, dqdd = derivative(moved, motion.q, way)
        carried = reduced_torques(G, plus(first, times(by_qd, dqd), times(M, dqdd)))
        along_q.append(plus(reduced_torques(dG, torques), carried))
        drift = derivative(lambda v: ClosedMotion(chain, {**given, "qd": v}, motion.q).drift, given["qd"], unit)
        along_qd.append(reduced_torques(G, plus(second, times(M, drift))))
    return transpose(along_q), transpose(along_qd)


@of_closed_motion("torques")
def inverse_dynamics_derivatives(robot: Robot, motion: ClosedMotion, _: Any) -> dict[str, Any]:
    by_q, by_qd = _slopes(robot, motion)
    return {"dtau_dq": by_q, "dtau_dqd": by_qd}


@of_closed_motion("torques", inverts=True)
def forward_dynamics_derivatives(robot: Robot, motion: ClosedMotion, _: Any) -> dict[str, Any]:
    """-M_a^-1 times those of the torques, at the accelerations that the torques produce, and M_a^-1."""
    factors, qdd = _accelerations(robot, motion)
    chart = plus(qdd, steady(motion.chain.robot, motion.given["qd"])) if robot.compounds else qdd
    by_q, by_qd = _slopes(robot, ClosedMotion(motion.chain, {**motion.given, "qdd": chart}, motion.q))
    return dict(zip(ACCELERATION_SLOPES, slopes(factors, by_q, by_qd), strict=True))


QUANTITIES: dict[str, GraphMaker] = {
    "inverse_dynamics": inverse_dynamics,
    "forward_dynamics": forward_dynamics,
    "mass_matrix": mass_matrix,
    "coriolis_matrix": coriolis_matrix,
    "coriolis": coriolis,
    "gravity": torques(newton_euler.gravity, "q"),
    "springs": torques(quantity(spring_torques), "q"),
    "friction": friction,
    "pose": pose,
    "jacobian": jacobian,
    "jacobian_dot_qd": jacobian_dot_qd,
    "regressor": regressor,
    "inverse_dynamics_derivatives": inverse_dynamics_derivatives,
    "forward_dynamics_derivatives": forward_dynamics_derivatives,
    "joint_reactions": joint_reactions,
    "kinetic_energy": scalar(energies.kinetic_energy, "q", "qd"),
    "potential_energy": scalar(energies.potential_energy, "q", places=True),
    "center_of_mass": scalar(centroid.center_of_mass, "q", places=True),
    "centroidal_momentum": scalar(centroid.centroidal_momentum, "q", "qd", places=True),
    "closed": closed,
}
"""The quantities of robots with closed loops or mimic joints, by name."""
