# mypy: disable-error-code="empty-body"
# The functions are declared here; what answers a call is made at the first access, see `Definition.__get__`.
"""The table of quantities: each row declares one function of Dynamics and says how its graph is made.

A row is a declaration under `@row`. Its signature gives the inputs and the optional argument; its docstring says
what the quantity is, what is included, signs, shapes and units; the decorator names the results and holds the rest.
The facade, `help`, export and reference vectors all read this table: a new quantity is one row.
"""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable, Mapping, Sequence
from functools import cached_property
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar, cast

from numpy.typing import ArrayLike

from armdyn.dynamics import graphs
from armdyn.dynamics.graphs import (
    GraphMaker,
    Inputs,
    on_frame,
    on_loaded_robot,
    on_places,
    on_robot,
    on_torques,
    with_wrench,
)
from armdyn.errors import ShapeError, unknown_name
from armdyn.mechanics import (
    articulated_body,
    centroid,
    composite_body,
    derivatives,
    energies,
    gim_christoffel,
    kinematics,
    newton_euler,
    newton_euler_base,
    second_derivatives,
)
from armdyn.mechanics.actuators import friction_torques
from armdyn.mechanics.quantity import quantity
from armdyn.mechanics.reactions import joint_reactions
from armdyn.mechanics.springs import spring_torques
from armdyn.parameters import link_end_regressor, regressor
from armdyn.parameters.energy_regressor import energy_regressor, momentum_regressor
from armdyn.parameters.link_end import TAKES as LINK_ENDS
from armdyn.robot.features import CLOSED, FREE, FRICTIONLESS, LOSSY, declare
from armdyn.robot.features import TREE as RIGID
from armdyn.typing import Floats

if TYPE_CHECKING:
    from armdyn.dynamics.elastic_graphs import Elastic
    from armdyn.dynamics.facade import Dynamics

Formulation = Callable[..., Any]
Wrench = ArrayLike | Mapping[str, ArrayLike] | None
Out = Floats | tuple[Floats, ...] | None
Declaration = TypeVar("Declaration", bound=Callable[..., Any])
TREE = (*RIGID, *FREE)
STILL = (*FRICTIONLESS, *FREE)
UNCOMPENSATED = tuple(name for name in RIGID if name != "gravity_compensation")
OPTIONAL = ("wrench", "frame")
_ENTRY = re.compile(r"(?:Returns )?(\w+): (?:(\(\.\.\..*?\)),? ?)?(.*)")


class Entry(NamedTuple):
    """An argument or a result, as the docstring describes it."""

    name: str
    shape: str
    """With batch axes: "(..., n)"; empty for a name."""
    words: str
    """What it is, with unit and sign."""


class Definition:
    """One quantity of Dynamics: a row of the table.

    name, inputs, optional: from the declaration; optional is "wrench", "frame" or None.
    results: names of the results.
    graph: makes the graph.
    references: formulations to compare with; the second where the first does not apply to a robot.
    gravity: whether gravity has a part in it.
    inverts: whether it needs the inverse of the mass matrix.
    takes: features that it takes into account, see `armdyn.robot.features`.
    """

    def __init__(
        self,
        declaration: Callable[..., Any],
        results: tuple[str, ...],
        graph: GraphMaker,
        references: tuple[Formulation, ...],
        *,
        gravity: bool,
        inverts: bool,
        takes: tuple[str, ...],
    ) -> None:
        self.declaration, self.results, self.graph, self.references = declaration, results, graph, references
        self.gravity, self.inverts = gravity, inverts
        self.name = declaration.__name__
        self.takes = declare(f"dynamics.{self.name}", takes)
        self.__doc__ = declaration.__doc__
        names = [name for name, each in self.signature.parameters.items() if each.kind is not each.KEYWORD_ONLY]
        self.inputs: Inputs = tuple(name for name in names if name not in OPTIONAL)
        self.optional = next((name for name in names if name in OPTIONAL), None)

    def __get__(self, dynamics: Dynamics | None, owner: type) -> Any:
        """The function of one robot: compiled at the first access, then held by the object itself."""
        if dynamics is None:
            return self.declaration
        return dynamics.__dict__.setdefault(self.name, dynamics._function(self))

    def in_order(
        self, arguments: Sequence[Any], named: Mapping[str, Any], where: str, optional: str | None, options: str = ""
    ) -> tuple[list[Any], Any]:
        """The inputs in order, and the optional argument, if there is one. where, options: named in errors."""
        names = (*self.inputs, optional) if optional else self.inputs
        wanted = ", ".join(self.inputs) + (f" and optionally {optional}" if optional else "")
        if len(arguments) > len(names):
            advice = f"Pass {options} by keyword" if options else ""
            raise ShapeError(f"{len(arguments)} arguments given", where=where, expected=wanted, advice=advice)
        values: dict[str, Any] = dict(zip(names, arguments, strict=False))
        for name, value in named.items():
            if name not in names:
                raise unknown_name("argument", name, [*names, *filter(None, options.split(", "))], where=where)
            if name in values:
                raise ShapeError(f"argument {name} is given twice", where=where, expected=wanted)
            values[name] = value
        missing = [name for name in self.inputs if name not in values]
        if missing:
            raise ShapeError(f"missing arguments: {', '.join(missing)}", where=where, expected=wanted)
        return [values[name] for name in self.inputs], values.get(optional or "")

    @property
    def closed(self) -> GraphMaker:
        """Makes the graph for a robot with closed loops or mimic joints, if the quantity takes them."""
        from armdyn.dynamics import closed_graphs  # not loaded for open chains

        return closed_graphs.QUANTITIES[self.name]

    @property
    def elastic(self) -> Elastic:
        """Graph and reference for a robot with elastic joints, if the quantity takes them."""
        from armdyn.dynamics import elastic_graphs  # not loaded for rigid robots

        return elastic_graphs.QUANTITIES[self.name]

    @cached_property
    def signature(self) -> inspect.Signature:
        """The signature of the bound function, without annotations."""
        _, *bound = inspect.signature(self.declaration).parameters.values()
        return inspect.Signature([each.replace(annotation=each.empty) for each in bound])

    @cached_property
    def doc(self) -> str:
        """The docstring; empty if the interpreter strips them (python -OO)."""
        return inspect.getdoc(self.declaration) or ""

    @cached_property
    def what(self) -> str:
        """What the quantity is: the first paragraph of its docstring."""
        return " ".join(self.doc.partition("\n\n")[0].split())

    @cached_property
    def included(self) -> str:
        """What is included: the second paragraph of the docstring."""
        return " ".join("".join(self.doc.split("\n\n")[1:2]).split())

    @cached_property
    def entries(self) -> Mapping[str, Entry]:
        """Arguments and results by name, as their lines of the docstring describe them."""
        block = re.sub(r"\n +", " ", self.doc).rpartition("\n\n")[2]
        found = map(_ENTRY.fullmatch, block.splitlines())
        return {match[1]: Entry(match[1], match[2] or "", match[3]) for match in found if match}

    def words(self, name: str) -> str:
        """What an argument or result is, with its unit; its name if nothing is known."""
        return self.entries[name].words if name in self.entries else name


def row(
    results: str,
    graph: GraphMaker,
    *references: Formulation,
    closed: bool = True,
    elastic: bool = True,
    gravity: bool = True,
    inverts: bool = False,
    takes: tuple[str, ...] = (),
) -> Callable[[Declaration], Declaration]:
    """Make a declaration a row of the table; results: their names, separated by blanks.

    closed, elastic: whether `closed_graphs` and `elastic_graphs` have it for robots with loops and with elastic joints.
    Others: see Definition.
    """

    def defined(declaration: Declaration) -> Declaration:
        names = tuple(results.split())
        taken = (*(CLOSED if closed else ()), *takes, *(("elastic",) if elastic else ()))
        made = Definition(declaration, names, graph, references, gravity=gravity, inverts=inverts, takes=taken)
        return cast(Declaration, made)

    return defined


BY_RECURSION = graphs.Accelerations(
    newton_euler.mass_matrix, newton_euler.inverse_dynamics, derivatives.inverse_dynamics_derivatives
)


class Quantities:
    """The functions of a robot's dynamics. `Dynamics` inherits them.

    All take two options by keyword: `out`, an array (or a tuple of arrays) to write the results into, and `threads`,
    the number of threads for a batch (default 1; 0: one per processor). Those of a robot with closed loops also take
    `near`, a closed configuration of all joints, (..., all), in whose assembly mode the loops are closed (default: the
    robot's assembly), or "previous": the batch is a trajectory (..., N, n), and every sample begins where the one
    before it has ended.
    """

    @row(
        "tau",
        with_wrench(newton_euler.inverse_dynamics),
        newton_euler_base.inverse_dynamics,
        newton_euler.inverse_dynamics,
        takes=(*LOSSY, *FREE),
    )
    def inverse_dynamics(
        self,
        q: ArrayLike,
        qd: ArrayLike,
        qdd: ArrayLike,
        wrench: Wrench = None,
        *,
        out: Out = None,
        threads: int | None = None,
    ) -> Floats:
        """Joint torques that produce a motion: tau = M(q) qdd + C(q, qd) qd + g(q) + springs(q) + friction(qd).

        Included: links, rotors (in M and C), gravity, springs, friction, torque offsets. A wrench adds J(q)^T wrench.
        Presliding friction, which has a state, is that of steady sliding.

        q: (..., n) joint positions, rad (revolute) or m (prismatic)
        qd: (..., n) joint velocities, rad/s or m/s
        qdd: (..., n) joint accelerations, rad/s^2 or m/s^2
        wrench: (..., 6) force and moment that the robot exerts on its environment at the tool's origin, N and N m,
            world axes (default: none); or {name of a frame: (..., 6)}, each at the origin of its frame
        Returns tau: (..., n) N m (revolute) or N (prismatic), exerted by the actuators on +q
        """

    @row(
        "qdd",
        graphs.forward_dynamics,
        articulated_body.forward_dynamics,
        composite_body.forward_dynamics,
        inverts=True,
        takes=(*LOSSY, *FREE),
    )
    def forward_dynamics(
        self,
        q: ArrayLike,
        qd: ArrayLike,
        tau: ArrayLike,
        wrench: Wrench = None,
        *,
        out: Out = None,
        threads: int | None = None,
    ) -> Floats:
        """Joint accelerations that torques produce: qdd = M(q)^-1 (tau - C(q, qd) qd - g(q) - friction(qd)).

        Included: all terms of inverse_dynamics, whose inverse it is.

        Raises PhysicsError if the mass matrix is singular.

        q: (..., n) joint positions, rad (revolute) or m (prismatic)
        qd: (..., n) joint velocities, rad/s or m/s
        tau: (..., n) joint torques, N m (revolute) or N (prismatic), exerted by the actuators on +q
        wrench: (..., 6) force and moment that the robot exerts on its environment at the tool's origin, N and N m,
            world axes (default: none); or {name of a frame: (..., 6)}, each at the origin of its frame
        Returns qdd: (..., n) rad/s^2 or m/s^2
        """

    @row(
        "M",
        on_torques(composite_body.mass_matrix),
        newton_euler.mass_matrix,
        gravity=False,
        takes=STILL,
    )
    def mass_matrix(self, q: ArrayLike, *, out: Out = None, threads: int | None = None) -> Floats:
        """Mass matrix M(q), symmetric; both triangles are filled.

        Included: links and rotors.

        q: (..., n) joint positions, rad (revolute) or m (prismatic)
        Returns M: (..., n, n) kg m^2, kg m or kg
        """

    @row(
        "C",
        graphs.coriolis_matrix,
        gim_christoffel.coriolis_matrix,
        gravity=False,
        takes=STILL,
    )
    def coriolis_matrix(self, q: ArrayLike, qd: ArrayLike, *, out: Out = None, threads: int | None = None) -> Floats:
        """Coriolis matrix C(q, qd) of Christoffel symbols: dM/dt - 2 C is skew-symmetric.

        Included: links and rotors.

        q: (..., n) joint positions, rad (revolute) or m (prismatic)
        qd: (..., n) joint velocities, rad/s or m/s
        Returns C: (..., n, n) torque per unit of qd; C qd acts like tau on +q
        """

    @row(
        "c",
        on_torques(newton_euler.coriolis),
        newton_euler_base.coriolis,
        newton_euler.coriolis,
        gravity=False,
        takes=STILL,
    )
    def coriolis(self, q: ArrayLike, qd: ArrayLike, *, out: Out = None, threads: int | None = None) -> Floats:
        """Coriolis and centrifugal torques C(q, qd) qd.

        Included: links and rotors.

        q: (..., n) joint positions, rad (revolute) or m (prismatic)
        qd: (..., n) joint velocities, rad/s or m/s
        Returns c: (..., n) N m or N, a part of the torques that the actuators exert on +q
        """

    @row(
        "g",
        on_torques(newton_euler.gravity),
        newton_euler_base.gravity,
        newton_euler.gravity,
        takes=STILL,
    )
    def gravity(self, q: ArrayLike, *, out: Out = None, threads: int | None = None) -> Floats:
        """Gravity torques g(q): the torques of the actuators that hold the robot at rest (gravity compensation).

        Included: weights of all links; neither friction nor torque offsets.

        q: (..., n) joint positions, rad (revolute) or m (prismatic)
        Returns g: (..., n) N m or N, exerted by the actuators on +q against gravity
        """

    @row(
        "tau",
        on_robot(spring_torques),
        quantity(spring_torques),
        takes=STILL,
    )
    def springs(self, q: ArrayLike, *, out: Out = None, threads: int | None = None) -> Floats:
        """Torques of springs: with gravity, all torques of the position.

        Included: springs across joints, k (q - rest); the weight that counterbalances carry; the springs of elastic
        joints, k (q - theta) on the links and k (theta - q) on the motors.

        q: (..., n) joint positions, rad (revolute) or m (prismatic)
        Returns tau: (..., n) N m or N, exerted by the actuators on +q against the springs
        """

    @row(
        "tau",
        on_robot(friction_torques),
        quantity(friction_torques),
        gravity=False,
        takes=(*TREE, "presliding"),
    )
    def friction(self, qd: ArrayLike, *, out: Out = None, threads: int | None = None) -> Floats:
        """Friction torques of the joints.

        Included: viscous and dry friction of joints and motors, damping of the springs of elastic joints, torque
        offsets. Dry friction is zero at rest.

        qd: (..., n) joint velocities, rad/s or m/s
        Returns tau: (..., n) N m or N, exerted by the actuators on +q to overcome friction
        """

    @row(
        "T",
        on_frame(kinematics.pose),
        kinematics.pose,
        gravity=False,
        takes=STILL,
    )
    def pose(self, q: ArrayLike, frame: str = "tool", *, out: Out = None, threads: int | None = None) -> Floats:
        """Pose of the tool frame, or of another frame, in the world (forward kinematics): T = [R p; 0 0 0 1].

        Included: the robot's base pose and, for "tool", its tool transform.

        q: (..., n) joint positions, rad (revolute) or m (prismatic)
        frame: name of the frame (default: the tool)
        Returns T: (..., 4, 4) R without unit, p in m; takes coordinates in the frame to the world
        """

    @row(
        "J",
        on_frame(kinematics.jacobian),
        kinematics.jacobian,
        gravity=False,
        takes=STILL,
    )
    def jacobian(self, q: ArrayLike, frame: str = "tool", *, out: Out = None, threads: int | None = None) -> Floats:
        """Geometric Jacobian of the tool frame, or of another frame: (v, w) = J(q) qd, linear rows first, world axes.

        Included: the velocity v of the frame's origin and the angular velocity w of the frame.

        q: (..., n) joint positions, rad (revolute) or m (prismatic)
        frame: name of the frame (default: the tool)
        Returns J: (..., 6, n) m or 1 (linear rows), 1 or 0 (angular rows)
        """

    @row(
        "a",
        on_frame(kinematics.jacobian_dot_qd),
        kinematics.jacobian_dot_qd,
        gravity=False,
        takes=STILL,
    )
    def jacobian_dot_qd(
        self, q: ArrayLike, qd: ArrayLike, frame: str = "tool", *, out: Out = None, threads: int | None = None
    ) -> Floats:
        """Acceleration of the tool frame, or of another frame, due to joint velocities alone: Jdot(q, qd) qd.

        Included: velocity terms only; the frame's acceleration is J qdd + Jdot qd, without gravity.

        q: (..., n) joint positions, rad (revolute) or m (prismatic)
        qd: (..., n) joint velocities, rad/s or m/s
        frame: name of the frame (default: the tool)
        Returns a: (..., 6) m/s^2 (three entries), rad/s^2 (three entries), world axes
        """

    @row(
        "Jdot",
        on_frame(kinematics.jacobian_dot),
        kinematics.jacobian_dot,
        closed=False,
        elastic=False,
        gravity=False,
        takes=FRICTIONLESS,
    )
    def jacobian_dot(
        self, q: ArrayLike, qd: ArrayLike, frame: str = "tool", *, out: Out = None, threads: int | None = None
    ) -> Floats:
        """Rate of the geometric Jacobian of the tool frame, or of another frame, along a motion: dJ/dt.

        Included: velocity terms only; jacobian_dot_qd is its product with qd.

        q: (..., n) joint positions, rad (revolute) or m (prismatic)
        qd: (..., n) joint velocities, rad/s or m/s
        frame: name of the frame (default: the tool)
        Returns Jdot: (..., 6, n) per s: m or 1 (linear rows), 1 or 0 (angular rows)
        """

    @row("Y", on_robot(regressor), regressor, takes=TREE, elastic=False)
    def regressor(
        self, q: ArrayLike, qd: ArrayLike, qdd: ArrayLike, *, out: Out = None, threads: int | None = None
    ) -> Floats:
        """Regressor Y(q, qd, qdd): the matrix with Y pi = tau, pi the standard parameters.

        Included: all terms of inverse_dynamics. The Stribeck velocity of static friction, the rest position of a spring
        and the point that a counterbalance carries are not parameters but known. Columns: XX, XY, XZ, YY, YZ, ZZ,
        MX, MY, MZ, M, Ia, Fv, Fc, off of each joint; after those of all joints, what friction, motors and springs have
        besides.

        `dyn.parameters` holds pi, `dyn.parameter_names` its names.

        q: (..., n) joint positions, rad (revolute) or m (prismatic)
        qd: (..., n) joint velocities, rad/s or m/s
        qdd: (..., n) joint accelerations, rad/s^2 or m/s^2
        Returns Y: (..., n, p) torque per unit of each parameter, of the sign of tau in inverse_dynamics
        """

    @row(
        "Y",
        on_robot(link_end_regressor),
        link_end_regressor,
        closed=False,
        elastic=False,
        takes=LINK_ENDS,
    )
    def link_end_regressor(
        self, q: ArrayLike, qd: ArrayLike, qdd: ArrayLike, *, out: Out = None, threads: int | None = None
    ) -> Floats:
        """Regressor in the frames of the bodies: Y pi = tau without friction, pi their parameters.

        Included: links, rotors by their own moments of inertia, gravity. For standard Denavit-Hartenberg tables the
        frames are at the ends of the links, as in Siciliano (7.73)-(7.84).

        `parameters.link_end_parameters(robot)` holds pi, `parameters.link_end_names(robot)` its names.

        q: (..., n) joint positions, rad (revolute) or m (prismatic)
        qd: (..., n) joint velocities, rad/s or m/s
        qdd: (..., n) joint accelerations, rad/s^2 or m/s^2
        Returns Y: (..., n, e) torque per unit of each of e = 11 n parameters, of the sign of tau in inverse_dynamics
        """

    @row(
        "Y",
        on_robot(momentum_regressor),
        momentum_regressor,
        gravity=False,
        takes=UNCOMPENSATED,
        closed=False,
        elastic=False,
    )
    def momentum_regressor(self, q: ArrayLike, qd: ArrayLike, *, out: Out = None, threads: int | None = None) -> Floats:
        """Regressor of the generalized momentum: Y pi = M(q) qd, pi as in regressor.

        Included: links and rotors; columns of other parameters are zero.

        q: (..., n) joint positions, rad (revolute) or m (prismatic)
        qd: (..., n) joint velocities, rad/s or m/s
        Returns Y: (..., n, p) N m s or N s per unit of each parameter
        """

    @row("Y", on_robot(energy_regressor), energy_regressor, takes=UNCOMPENSATED, closed=False, elastic=False)
    def energy_regressor(self, q: ArrayLike, qd: ArrayLike, *, out: Out = None, threads: int | None = None) -> Floats:
        """Regressor of the energies: Y pi = (T, U), kinetic and potential, pi as in regressor. Siciliano (7.76).

        Included: links, rotors, weights, springs across joints; columns of other parameters are zero.

        q: (..., n) joint positions, rad (revolute) or m (prismatic)
        qd: (..., n) joint velocities, rad/s or m/s
        Returns Y: (..., 2, p) J per unit of each parameter
        """

    @row(
        "dtau_dq dtau_dqd",
        graphs.inverse_dynamics_derivatives,
        derivatives.inverse_dynamics_derivatives,
        takes=TREE,
    )
    def inverse_dynamics_derivatives(
        self,
        q: ArrayLike,
        qd: ArrayLike,
        qdd: ArrayLike,
        *,
        out: Out = None,
        threads: int | None = None,
    ) -> tuple[Floats, Floats]:
        """First derivatives of the torques of inverse_dynamics by q and by qd; by qdd it is the mass matrix.

        Included: all terms of inverse_dynamics. At qd = 0 the jump of dry friction is left out.

        q: (..., n) joint positions, rad (revolute) or m (prismatic)
        qd: (..., n) joint velocities, rad/s or m/s
        qdd: (..., n) joint accelerations, rad/s^2 or m/s^2
        Returns dtau_dq: (..., n, n) torque per unit of q; entry [i, j] is dtau_i/dq_j
        Returns dtau_dqd: (..., n, n) torque per unit of qd; entry [i, j] is dtau_i/dqd_j
        """

    @row(
        "dqdd_dq dqdd_dqd dqdd_dtau",
        graphs.forward_dynamics_derivatives,
        BY_RECURSION.derivatives,
        inverts=True,
        takes=TREE,
    )
    def forward_dynamics_derivatives(
        self,
        q: ArrayLike,
        qd: ArrayLike,
        tau: ArrayLike,
        *,
        out: Out = None,
        threads: int | None = None,
    ) -> tuple[Floats, Floats, Floats]:
        """First derivatives of the accelerations of forward_dynamics by q, by qd and by tau.

        Included: all terms of forward_dynamics. At qd = 0 the jump of dry friction is left out.

        q: (..., n) joint positions, rad (revolute) or m (prismatic)
        qd: (..., n) joint velocities, rad/s or m/s
        tau: (..., n) joint torques, N m (revolute) or N (prismatic), exerted by the actuators on +q
        Returns dqdd_dq: (..., n, n) acceleration per unit of q; entry [i, j] is dqdd_i/dq_j
        Returns dqdd_dqd: (..., n, n) acceleration per unit of qd; entry [i, j] is dqdd_i/dqd_j
        Returns dqdd_dtau: (..., n, n) acceleration per unit of torque: the inverse of the mass matrix
        """

    @row(
        "H_q_q H_q_qd H_qd_qd H_q_qdd",
        on_torques(second_derivatives.inverse_dynamics_hessian, "H_q_q", "H_q_qd", "H_qd_qd", "H_q_qdd"),
        second_derivatives.differentiated_newton_euler,
        takes=RIGID,
        closed=False,
        elastic=False,
    )
    def inverse_dynamics_hessian(
        self,
        q: ArrayLike,
        qd: ArrayLike,
        qdd: ArrayLike,
        weights: ArrayLike,
        *,
        out: Out = None,
        threads: int | None = None,
    ) -> tuple[Floats, Floats, Floats, Floats]:
        """Second derivatives of the weighted sum of torques, weights . tau; by (qd, qdd) and (qdd, qdd) they are zero.

        Included: all terms of inverse_dynamics. At qd = 0 the jump of dry friction is left out.

        q: (..., n) joint positions, rad (revolute) or m (prismatic)
        qd: (..., n) joint velocities, rad/s or m/s
        qdd: (..., n) joint accelerations, rad/s^2 or m/s^2
        weights: (..., n) weight of each joint's result, of any unit
        Returns H_q_q: (..., n, n) weight times torque per unit of q_i and q_j; symmetric
        Returns H_q_qd: (..., n, n) the same by q_i and qd_j
        Returns H_qd_qd: (..., n, n) the same by qd_i and qd_j; symmetric
        Returns H_q_qdd: (..., n, n) the same by q_i and qdd_j
        """

    @row(
        "H_q_q H_q_qd H_qd_qd H_q_tau",
        graphs.forward_dynamics_hessian,
        second_derivatives.differentiated_composite_body,
        inverts=True,
        takes=RIGID,
        closed=False,
        elastic=False,
    )
    def forward_dynamics_hessian(
        self,
        q: ArrayLike,
        qd: ArrayLike,
        tau: ArrayLike,
        weights: ArrayLike,
        *,
        out: Out = None,
        threads: int | None = None,
    ) -> tuple[Floats, Floats, Floats, Floats]:
        """Second derivatives of the weighted sum of accelerations, weights . qdd; by (qd, tau) and (tau, tau) zero.

        Included: all terms of forward_dynamics. At qd = 0 the jump of dry friction is left out.

        q: (..., n) joint positions, rad (revolute) or m (prismatic)
        qd: (..., n) joint velocities, rad/s or m/s
        tau: (..., n) joint torques, N m (revolute) or N (prismatic), exerted by the actuators on +q
        weights: (..., n) weight of each joint's result, of any unit
        Returns H_q_q: (..., n, n) weight times acceleration per unit of q_i and q_j; symmetric
        Returns H_q_qd: (..., n, n) the same by q_i and qd_j
        Returns H_qd_qd: (..., n, n) the same by qd_i and qd_j; symmetric
        Returns H_q_tau: (..., n, n) the same by q_i and tau_j
        """

    @row("F", on_loaded_robot(joint_reactions), joint_reactions, takes=STILL, elastic=False)
    def joint_reactions(
        self,
        q: ArrayLike,
        qd: ArrayLike,
        qdd: ArrayLike,
        wrench: Wrench = None,
        *,
        out: Out = None,
        threads: int | None = None,
    ) -> Floats:
        """Force and moment that each joint transmits to its link: bearing loads.

        Included: links, gravity, spins of rotors carried by links, wrenches; neither friction, springs nor the joint's
        own rotor, which act along the axis. A closed chain has a row for each movable joint, in the order of
        the tree that is left when its loops are cut, then one for each loop: what the closing joint transmits to its
        second body, in the frame placed there. What rigid bodies leave undetermined, as forces out of the plane of a
        planar loop, is zero.

        `robot.opened.joints` are the joints in that order.

        q: (..., n) joint positions, rad (revolute) or m (prismatic)
        qd: (..., n) joint velocities, rad/s or m/s
        qdd: (..., n) joint accelerations, rad/s^2 or m/s^2
        wrench: (..., 6) force and moment that the robot exerts on its environment at the tool's origin, N and N m,
            world axes (default: none); or {name of a frame: (..., 6)}, each at the origin of its frame
        Returns F: (..., n, 6) N (three entries), N m (three entries), in the joint's frame, z on its axis, about its
            origin
        """

    @row(
        "T",
        on_torques(energies.kinetic_energy),
        energies.kinetic_energy,
        gravity=False,
        takes=STILL,
    )
    def kinetic_energy(self, q: ArrayLike, qd: ArrayLike, *, out: Out = None, threads: int | None = None) -> Floats:
        """Kinetic energy 1/2 qd^T M(q) qd.

        Included: links and rotors.

        q: (..., n) joint positions, rad (revolute) or m (prismatic)
        qd: (..., n) joint velocities, rad/s or m/s
        Returns T: (...) J
        """

    @row(
        "U",
        on_places(energies.potential_energy),
        energies.potential_energy,
        takes=STILL,
    )
    def potential_energy(self, q: ArrayLike, *, out: Out = None, threads: int | None = None) -> Floats:
        """Potential energy, zero for masses at the world's origin: its gradient is g(q) + springs(q).

        Included: weights of all links, springs across joints and of elastic joints, counterbalances.

        q: (..., n) joint positions, rad (revolute) or m (prismatic)
        Returns U: (...) J
        """

    @row("p", on_places(centroid.center_of_mass), centroid.center_of_mass, gravity=False, takes=STILL, elastic=False)
    def center_of_mass(self, q: ArrayLike, *, out: Out = None, threads: int | None = None) -> Floats:
        """Centre of mass of the robot in the world.

        Included: all moving links, with the bodies and rotors fixed to them; not what is fixed to the world.

        q: (..., n) joint positions, rad (revolute) or m (prismatic)
        Returns p: (..., 3) m, world axes
        """

    @row(
        "h",
        on_places(centroid.centroidal_momentum),
        centroid.centroidal_momentum,
        gravity=False,
        takes=STILL,
        elastic=False,
    )
    def centroidal_momentum(
        self, q: ArrayLike, qd: ArrayLike, *, out: Out = None, threads: int | None = None
    ) -> Floats:
        """Momentum of the robot about its centre of mass: linear, then angular.

        Included: all moving links, and the spins of rotors carried by links.

        q: (..., n) joint positions, rad (revolute) or m (prismatic)
        qd: (..., n) joint velocities, rad/s or m/s
        Returns h: (..., 6) kg m/s (three entries), kg m^2/s (three entries), world axes
        """

    @row(
        "q_all",
        graphs.positions,
        lambda robot, q: q,
        gravity=False,
        takes=STILL,
    )
    def closed(self, q: ArrayLike, *, out: Out = None, threads: int | None = None) -> Floats:
        """Positions of all movable joints, dependent ones included, in the order of the tree without its loops.

        Included: closed loops and mimic joints. A robot without them has q itself. A free or ball joint has all its
        coordinates.

        `robot.opened.joints` are the joints in that order, `robot.position_names` names coordinates.

        q: (..., n) joint positions, rad (revolute) or m (prismatic)
        Returns q_all: (..., all) rad or m; dependent angles of planar loops are within half a turn
        """


RARE = (
    "inverse_dynamics_hessian",
    "forward_dynamics_hessian",
    "jacobian_dot",
    "link_end_regressor",
    "momentum_regressor",
    "energy_regressor",
)
"""Quantities that few need and that take longest to make."""
QUANTITIES: dict[str, Definition] = {name: row for name, row in vars(Quantities).items() if isinstance(row, Definition)}
"""The table, by name."""
