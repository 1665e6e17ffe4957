"""Explicit equations of motion: M(q), C(q, qd), g(q), tau, as a textbook would print them."""

from __future__ import annotations

import math
import re
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

from armdyn.algebra import ZERO, CentralInertia, Mat3
from armdyn.equations import paper, projection, typesetting
from armdyn.equations.document import Document
from armdyn.equations.projection import matrix_of, projected, symbols_of, torques_of, wrench_symbols
from armdyn.errors import NotApplicable, RobotError, unknown_name
from armdyn.graph import (
    Graph,
    Node,
    Operations,
    closed_form,
    constant,
    derivative,
    lambdified,
    normal_form,
    symbol,
    to_sympy,
    trace,
)
from armdyn.mechanics import christoffel
from armdyn.mechanics.registry import FORMULATIONS, Formulation
from armdyn.mechanics.registry import formulation as get_formulation
from armdyn.notebook_view import View
from armdyn.parameters import base_parameters, standard_parameters, with_standard_parameters
from armdyn.result import Result
from armdyn.robot.exact import angle_shift, decimals
from armdyn.robot.features import CLOSED, TREE, takes
from armdyn.robot.parts import Body, Elastic, Joint
from armdyn.robot.robot import Robot
from armdyn.typing import Progress, quiet

if TYPE_CHECKING:
    from armdyn.equations.sheets.steps import Steps

SYMBOLS = ("named", "inertial", "base")
CORIOLIS = ("own", "christoffel")
ARGUMENTS = {
    "M": ("q",),
    "C": ("q", "qd"),
    "g": ("q",),
    "k": ("q",),
    "friction": ("qd",),
    "external": ("q", "h"),
    "tau": ("q", "qd", "qdd"),
    "Gamma": ("q",),
}
"""What each quantity of Equations depends on; tau with a wrench also on h."""


@dataclass(frozen=True)
class Equations(Result):
    """The equations of motion of a robot, by one formulation.

        tau = M qdd + C qd + g + k + friction + external          Siciliano (7.42), Khalil (9.1)

    M, C, g, k, friction, external and tau are SymPy matrices in explicit form; `nodes(name)` gives the same as nested
    tuples of expression nodes. C is the Christoffel matrix: Mdot - 2C is skew-symmetric. k has the torques of springs
    and counterbalances, M those of rotors, external = J^T h those of a wrench h that the robot exerts at the tool. tau
    has all of them that the robot has; external is part of it if the equations were derived with `wrench=True`. With
    elastic joints the coordinates are (q, theta): all joints, then the motors of the elastic ones, and k has the
    springs between.
    """

    robot: Robot
    formulation: str
    raw: Mapping[str, Any]
    """M, christoffel, C, g, k, friction, external, tau as the formulation writes them, before expansion."""
    size: Mapping[str, int]
    """Number of terms of the normal form: every sum multiplied out, s^2 = 1 - c^2. Friction, if any, is not counted."""
    graph: Graph
    seconds: float
    """Time of derivation, normal forms included."""
    tree: Robot
    """The opened tree in the symbols of the equations, without friction."""
    symmetric: bool = True
    """Whether M is symmetric; that of a reduced model need not be."""
    wrench: bool = False
    """Whether tau includes the wrench at the tool."""
    angle_shift: float = 0.0
    """The most by which an angle of the file, rad, was off the multiple of pi that its digits stand for."""
    reduced: str = ""
    """Of a reduced model: how far its torques are off."""

    @property
    def quantities(self) -> tuple[str, ...]:
        """The terms of tau: M, C, g; k if there are springs or counterbalances; friction; external with a wrench."""
        further = [name for name in ("k", "friction") if self.has(name)]
        return ("M", "C", "g", *further, *(["external"] if self.wrench else []))

    @property
    def size_of_x(self) -> int:
        """Number of coordinates: joints, and motors of elastic joints."""
        return len(self.raw["g"])

    def has(self, name: str) -> bool:
        """Whether g, k or friction have a part in the torques."""
        return any(x is not constant(0) for x in self.raw.get(name, ()))

    def nodes(self, name: str) -> Any:
        """One of `raw`, or Gamma, in explicit form, collected as a textbook would."""
        if name not in self.raw and name != "Gamma":
            raise unknown_name("quantity", name, (*self.raw, "Gamma"), where="Equations")
        return self._explicit(name)

    def explicit(self, name: str, *place: int) -> Node:
        """One entry of M, C, g, k or tau in explicit form."""
        if name in ("friction", "tau") and name not in self._closed and self.has("friction"):
            rubbing = _friction_form(self.raw["friction"][place[0]])
            return rubbing if name == "friction" else closed_form(self.raw["frictionless"][place[0]]) + rubbing
        entry: Any = self._closed.get(name, self.raw[name])
        for k in place:
            entry = entry[k]
        return entry if name in self._closed else closed_form(entry)  # type: ignore[no-any-return]

    def _explicit(self, name: str) -> Any:
        if name not in self._closed:
            if name == "C":
                self._closed[name] = self._coriolis()
            elif name == "Gamma":
                self._closed[name] = christoffel.gamma(self._explicit("christoffel"))
            elif name == "friction":
                self._closed[name] = tuple(map(_friction_form, self.raw[name]))
            elif name == "tau" and self.has("friction"):
                parts = zip(closed_form(self.raw["frictionless"]), self._explicit("friction"), strict=True)
                self._closed[name] = tuple(map(_sum, parts))
            else:
                self._closed[name] = closed_form(self.raw[name])
        return self._closed[name]

    def _coriolis(self) -> Any:
        """C_ij = sum_k c_ijk qd_k of explicit Christoffel symbols, many of which are the same."""
        return christoffel.matrix_from_symbols(self._explicit("christoffel"), symbols_of(self.robot, "qd"))

    @cached_property
    def _closed(self) -> dict[str, Any]:
        return {}

    def _matrix(self, name: str) -> Any:
        return to_sympy(self.nodes(name))

    @cached_property
    def M(self) -> Any:
        """Mass matrix, (n, n)."""
        return self._matrix("M")

    @cached_property
    def C(self) -> Any:
        """Coriolis matrix of Christoffel symbols, (n, n)."""
        return self._matrix("C")

    @cached_property
    def Gamma(self) -> Any:
        """Factors of the products of velocities, (n, n(n+1)/2): C qd = Gamma [qd1^2, qd1 qd2, ..., qdn^2].

        Siciliano (7.117).
        """
        return self._matrix("Gamma")

    @cached_property
    def g(self) -> Any:
        """Gravity torques, (n, 1)."""
        return self._matrix("g")

    @cached_property
    def k(self) -> Any:
        """Torques of springs and counterbalances, (n, 1)."""
        return self._matrix("k")

    @cached_property
    def friction(self) -> Any:
        """Torques of friction and torque offsets, (n, 1)."""
        return self._matrix("friction")

    @cached_property
    def external(self) -> Any:
        """J^T h, (n, 1): torques of the wrench h = (fx, fy, fz, mx, my, mz) that the robot exerts at the tool."""
        return self._matrix("external")

    @cached_property
    def tau(self) -> Any:
        """Torques, (n, 1): M qdd + C qd + g + k + friction, and external if derived with `wrench=True`."""
        return self._matrix("tau")

    @cached_property
    def q(self) -> tuple[Any, ...]:
        """Joint positions q1 ... qn as SymPy symbols, with the motors' theta of elastic joints behind them."""
        return self._symbols("q")

    @cached_property
    def qd(self) -> tuple[Any, ...]:
        """Joint velocities qd1 ... qdn as SymPy symbols."""
        return self._symbols("qd")

    @cached_property
    def qdd(self) -> tuple[Any, ...]:
        """Joint accelerations qdd1 ... qddn as SymPy symbols."""
        return self._symbols("qdd")

    @cached_property
    def h(self) -> tuple[Any, ...]:
        """The wrench at the tool, force and moment in world axes, as SymPy symbols."""
        return tuple(map(to_sympy, wrench_symbols()))

    def _symbols(self, name: str) -> tuple[Any, ...]:
        return tuple(to_sympy(node) for node in symbols_of(self.robot, name))

    @cached_property
    def parameters(self) -> dict[Any, float]:
        """Values of the robot's named parameters, by SymPy symbol: `eq.M.subs(eq.parameters)` has numbers instead."""
        values = self.robot.bound().parameters
        return {to_sympy(symbol(name, kind="parameter")): value for name, value in values.items()}

    def lambdify(self, name: str = "tau") -> Callable[..., Any]:
        """Return a NumPy function of one state, made by SymPy.

        name: M, Gamma, g, k (q), C (q, qd), friction (qd), external (q, h) or tau (q, qd, qdd; with a wrench also h).

        The function takes (n,) arrays and, by keyword, `parameters`: new values of named parameters, by name.
        """
        if name not in ARGUMENTS:
            raise unknown_name("quantity", name, ARGUMENTS, where="Equations.lambdify")
        import numpy as np

        matrix, vector = self._matrix(name), name not in ("M", "C", "Gamma")
        needed = (*ARGUMENTS[name], "h") if name == "tau" and self.wrench else ARGUMENTS[name]
        state = [getattr(self, each) for each in needed]
        evaluate = lambdified([*state, list(self.parameters)], matrix)
        usual = {str(each): value for each, value in self.parameters.items()}

        def function(*values: Any, parameters: Mapping[str, float] | None = None) -> Any:
            for unknown in set(parameters or {}) - set(usual):
                raise unknown_name("parameter", unknown, usual, where=f"function of {name}")
            found = np.asarray(evaluate(*values, list({**usual, **(parameters or {})}.values())), dtype=float)
            return found.ravel() if vector else found

        return function

    @property
    def operations(self) -> Operations:
        """Operations of the inverse dynamics as this formulation writes it, common subexpressions shared."""
        return self.graph.operations

    def program(self) -> str:
        """The inverse dynamics as a readable straight-line program, with what it includes in comments above."""
        head = "".join(f"# {line}\n" for line in typesetting.statement(self))
        return head + self.graph.program()

    def terms(self) -> dict[str, tuple[Node, ...]]:
        """Torques split by cause, per joint: inertia, centrifugal, coriolis, gravity, springs, friction, external.

        Springs and friction are there if the robot has any. The sum is tau; external is part of it only if the
        equations were derived with `wrench=True`.
        """
        named = {"springs": "k", "friction": "friction", "external": "external"}
        parts = {
            **_causes(self.robot, self.raw["M"], self.raw["christoffel"], self.raw["g"]),
            **{cause: self.raw[name] for cause, name in named.items() if self.has(name)},
        }
        return {name: tuple(closed_form(part)) for name, part in parts.items()}

    @property
    def by(self) -> str:
        """The formulation in words."""
        return get_formulation(self.formulation).title

    def bodies(self) -> dict[str, tuple[Node, ...]]:
        """Torques split by body: what each one asks of each joint. Their sum is tau without rotors, springs and
        friction.
        """
        function = get_formulation(self.formulation).function("inverse_dynamics")
        arguments = [symbols_of(self.robot, name) for name in ("q", "qd", "qdd")]
        parts = {}
        for joint in self.robot.tree:
            alone = _only(self.tree, joint.body.name)
            torques = projected(self.robot, alone, function, torques_of, *arguments)
            parts[joint.body.name] = tuple(closed_form(_nodes(torques)))
        return {name: tau for name, tau in parts.items() if any(x is not constant(0) for x in tau)}

    def contributions(self, *, apart: bool = False) -> dict[str, dict[str, tuple[Node, ...]]]:
        """Torques split by body and cause: {body: {cause: torques}}, each cause of each body on each joint.

        apart: mass and inertia apart, as "inertia of mass", "inertia of tensor", ... (El Baji sec. 3.4).

        Their sum is tau without rotors, springs and friction. Zero contributions are left out.
        """
        found: dict[str, dict[str, tuple[Node, ...]]] = {}
        for joint in self.robot.tree:
            alone = _only(self.tree, joint.body.name)
            views = {" of mass": _point_masses(alone), " of tensor": _tensors(alone)} if apart else {"": alone}
            causes = {name + view: each for view, tree in views.items() for name, each in self._causes(tree).items()}
            shown = {name: tau for name, tau in causes.items() if any(x is not constant(0) for x in tau)}
            found |= {joint.body.name: shown} if shown else {}
        return found

    def _causes(self, tree: Robot) -> dict[str, tuple[Node, ...]]:
        """Inertia, centrifugal, Coriolis and gravity torques of a tree in explicit form."""
        method, q = get_formulation(self.formulation), symbols_of(self.robot, "q")
        M = _nodes(projected(self.robot, tree, method.function("mass_matrix"), matrix_of, q))
        g = _nodes(projected(self.robot, tree, method.function("gravity"), torques_of, q))
        parts = _causes(self.robot, M, christoffel_symbols(M, q), g)
        return {name: tuple(closed_form(part)) for name, part in parts.items()}

    def entry(self, name: str) -> Any:
        """One entry as a SymPy expression: M12, C31, g2, friction1, tau1 (M2,13 if there are more than nine joints).

        Intermediate results too: c112, h112, Gamma12, kinetic, potential; of T2, J2, p_C2 and omega2, which are
        matrices and vectors of a body, a dictionary by indices, zeros left out. See `armdyn.equations.entries`.

        Only this entry is expanded, which is quick where the whole matrix is not.
        """
        block = typesetting.one_entry(self, name)
        if block.symbol.endswith("_"):
            return {indices: to_sympy(x) for indices, x in block.entries}
        return to_sympy(block.entries[0][1])

    def latex(self, *, columns: int = 1) -> str:
        """LaTeX to be pasted: align environments with one number per equation, lines that fit the column.

        columns: number of columns of the paper, 1 (345 pt wide, as in LaTeX's article class) or 2 (222 pt).
        """
        return paper.fragment(self, typesetting.matrices(self), paper.layout("", columns).room)

    def markdown(self) -> str:
        """A Markdown page with the equations in LaTeX."""
        return typesetting.markdown(self)

    def document(self, format: str | None = None, **parts: Any) -> Document:
        """The equations in one format, as a whole or in parts: see `Document`, whose fields are the arguments."""
        return Document(self, format, **parts)

    def steps(
        self, text: str | None = None, *, format: str | None = None, start: str | None = None, quiz: bool = False
    ) -> Steps:
        """The derivation line by line as its text writes it, each line made of earlier ones; see `Steps`.

        text: siciliano, khalil, truc, milicevic or elbaji, where the formulation has several (default: the first).
        format, start, quiz: fields of `Steps`.
        """
        from armdyn.equations.sheets.steps import Steps, written

        sheet = written(self, text)
        lines, checks = tuple(sheet.lines), tuple(sheet.checks)
        return Steps(self.robot.name, self.formulation, sheet.notation, lines, checks, format, start, quiz)

    def save(self, path: str | Path, **parts: Any) -> Path:
        """Write the equations: .txt, .tex, .md, .py or .json; parts as for `document`."""
        return self.document(**parts).save(path)

    def record(self) -> dict[str, Any]:
        """The equations as texts that Python and SymPy can read, and the facts about them."""
        return typesetting.record(self)

    def _view(self) -> View:
        return typesetting.view(self)

    def __repr__(self) -> str:
        return f"<Equations of {self.robot.name!r} by {self.formulation}: {sum(self.size.values())} terms>"


@takes(*CLOSED, "elastic", *TREE)
def derive(
    robot: Robot,
    formulation: str = "newton_euler",
    *,
    symbols: str = "named",
    coriolis: str = "christoffel",
    wrench: bool = False,
    progress: Progress | None = None,
) -> Equations:
    """Explicit equations of motion by a formulation, with friction, rotors and springs where the robot has them.

    formulation: name of a formulation that gives inverse dynamics, mass matrix and gravity torques.
    symbols: "named" keeps the parameters of the robot file and numbers elsewhere; "inertial" has ten symbols per link,
             the standard inertial parameters XX1 ... M1 in the joint frame, as in `Dynamics.parameter_names`; "base"
             uses the smallest set of grouped parameters, without those that are zero in the robot's description
             (Khalil sec. 7.5: a customised model).
    coriolis: "christoffel" differentiates the mass matrix; "own" takes the formulation's own velocity terms.
              Both give the same Christoffel symbols, the first with less rounding where parameters are numbers.
    wrench: have tau include the wrench h that the robot exerts at the tool; `external` is there in any case.
    progress: called with the step and the share done.

    >>> import armdyn
    >>> print(armdyn.derive(armdyn.load("cartesian2"), "kane").nodes("g"))
    (g*(ml1 + ml2 + mm2), 0)
    """
    must_move(robot)
    if coriolis not in CORIOLIS:
        raise unknown_name("choice of Coriolis terms", coriolis, CORIOLIS, where="armdyn.derive")
    say = progress or quiet
    begin = time.perf_counter()
    projection.must_be_derivable(robot)
    tree = symbolic_robot(robot if symbols == "base" else robot.opened, symbols).opened
    _must_have_names_of_their_own(tree, wrench)
    model = _with_friction(robot.symbolic if robot.constrained else tree, robot, tree.parameters)
    method = _derivable(formulation)
    q, qd, qdd = (symbols_of(model, name) for name in ("q", "qd", "qdd"))
    say("mass matrix", 0.0)
    M = _nodes(projection.mass_matrix(model, tree, method, q))
    say("Christoffel symbols", 0.2)
    c = own_symbols(method, model, tree, q, qd) if coriolis == "own" else christoffel_symbols(M, q)
    say("gravity", 0.4)
    raw = {"M": M, "christoffel": c, "g": _nodes(projection.gravity(model, tree, method, q))}
    raw["k"] = _nodes(projection.springs(model, tree, q))
    raw["friction"] = _nodes(projection.friction(model, decimals(robot.opened.symbolic), q, qd))
    h = wrench_symbols()
    raw["external"] = _nodes(projection.external(model, tree, q, h))
    say("torques", 0.6)

    def torques(*state: Any) -> dict[str, Any]:
        rigid = _nodes(projection.inverse_dynamics(model, tree, method, *state[:3]))
        raw["frictionless"] = tuple(map(_sum, zip(rigid, raw["external"], strict=True))) if wrench else rigid
        return {"tau": tuple(map(_sum, zip(raw["frictionless"], raw["friction"], strict=True)))}

    inputs = {"q": tuple(q), "qd": tuple(qd), "qdd": tuple(qdd), **({"h": tuple(h)} if wrench else {})}
    graph = trace(torques, inputs)
    say("normal forms", 0.8)
    counted = ("M", "christoffel", "g", "k", *(["external"] if wrench else []))
    size = {name: normal_form(raw[name]).terms for name in counted}
    raw |= {"C": christoffel.matrix_from_symbols(c, qd), "tau": graph.outputs["tau"]}
    seconds, moved = time.perf_counter() - begin, 0.0 if symbols == "base" else angle_shift(robot)
    return Equations(model, method.name, raw, size, graph, seconds, tree, wrench=wrench, angle_shift=moved)


# Models ---------------------------------------------------------------------------------------------------------------


def _derivable(name: str) -> Formulation:
    needed = ("inverse_dynamics", "mass_matrix", "gravity")
    method = get_formulation(name)
    missing = [quantity for quantity in needed if quantity not in method.gives]
    if missing:
        able = [entry.name for entry in FORMULATIONS if set(needed) <= set(entry.gives)]
        raise RobotError(
            f"{name} gives no {', '.join(missing)}",
            where="armdyn.derive",
            advice=f"Use one that does: {', '.join(able)}.",
        )
    return method


def must_move(robot: Robot) -> None:
    """A robot without joints has no equations of motion."""
    if robot.n == 0:
        raise RobotError(
            "the robot has no movable joint",
            where=f"robot {robot.name!r}",
            expected="at least one revolute or prismatic joint",
            advice="Check the joint types, or what was locked.",
        )


def _must_have_names_of_their_own(robot: Robot, wrench: bool) -> None:
    """Printed equations have one meaning: no parameter is called like a coordinate or an abbreviation."""
    states = {str(node.value): "a coordinate" for name in ("q", "qd", "qdd") for node in symbols_of(robot, name)}
    states |= {str(node.value): "an entry of the wrench" for node in wrench_symbols()} if wrench else {}
    for name in robot.parameters:
        meaning = states.get(name) or ("a sine or cosine" if re.fullmatch(r"[cs]_?\d+", name) else "")
        if meaning:
            raise RobotError(
                f"the parameter {name!r} is called like {meaning} of the equations",
                where=f"robot {robot.name!r}, armdyn.derive",
                advice="Rename it in the robot's file.",
            )


def symbolic_robot(robot: Robot, symbols: str) -> Robot:
    """The robot as its equations see it: named parameters, without friction."""
    if symbols not in SYMBOLS:
        raise unknown_name("choice of symbols", symbols, SYMBOLS, where="armdyn.derive")
    model = robot.without("friction").symbolic
    if "elastic" in model.features:
        model = replace(model, tree=tuple(map(_without_damping, model.tree)))
    if symbols == "base":
        return base_parameters(model, include=("inertial", "rotor"), absent="zeros").symbolic_robot
    return decimals(with_inertial_symbols(model) if symbols == "inertial" else model)


def _with_friction(model: Robot, robot: Robot, parameters: Mapping[str, Any]) -> Robot:
    """A model with the friction of the robot and the parameters of its equations."""
    own = {joint.name: joint for joint in robot.symbolic.tree}
    kept = ("friction", "motor", "elastic")
    tree = (
        replace(joint, **{key: getattr(own[joint.name], key) for key in kept}) if joint.name in own else joint
        for joint in model.tree  # which has the mass of a counterbalanced body as a body of its own
    )
    return replace(model, tree=tuple(tree), parameters=parameters, left_out=robot.left_out)


def _without_damping(joint: Joint) -> Joint:
    """An elastic joint is a spring alone: its damping and the motor's friction are friction."""
    return joint if joint.elastic is None else replace(joint, elastic=Elastic(joint.elastic.stiffness))


def with_inertial_symbols(robot: Robot) -> Robot:
    """Ten symbols per link, its standard inertial parameters XX1 ... M1: those of `Dynamics.parameter_names`."""
    numeric = robot.bound()
    values = standard_parameters(numeric, ("inertial",)).as_dict()
    for name, value in values.items():
        own = numeric.parameters.get(name, value)
        if not math.isclose(own, value, rel_tol=1e-12, abs_tol=1e-12):
            raise RobotError(
                f"the robot's own parameter {name} = {own:g} is not the standard parameter of that name "
                f"({value:g}, in the joint frame)",
                where=f"robot {robot.name!r}, armdyn.derive",
                advice="Rename it in the robot's file.",
            )
    named = replace(robot, parameters={**robot.parameters, **values})
    return with_standard_parameters(named, {name: symbol(name, kind="parameter") for name in values})


def christoffel_symbols(M: Any, q: Sequence[Node]) -> Any:
    """c_ijk of an explicit mass matrix."""
    n = range(len(q))
    flat = [M[i][j] for i in n for j in n]
    jacobian = derivative(flat, q)
    dM = [[[jacobian[i * len(q) + j][k] for j in n] for i in n] for k in n]
    return christoffel.symbols(dM)


def own_symbols(method: Formulation, robot: Robot, tree: Robot, q: Sequence[Node], qd: Sequence[Node]) -> Any:
    """c_ijk from a formulation's own velocity terms, without differentiating by positions.

    The torques are quadratic in the velocities, and a quadratic form has one symmetric matrix. A formulation with a
    matrix of its own gives it as dC_ij/dqd_k, the others as half the second derivative of their torques.
    """
    n = range(len(q))
    if "coriolis_matrix" in method.gives and not robot.constrained and len(q) == robot.n:
        C = _nodes(method.function("coriolis_matrix")(tree, q, qd))
        slopes = derivative([C[i][j] for i in n for j in n], qd)
        return tuple(tuple(slopes[i * len(q) + j] for j in n) for i in n)
    rest = (constant(0),) * len(q)
    torques = _nodes(projection.inverse_dynamics(robot, tree, method, q, qd, rest))  # positions alone: no second slope
    slopes = derivative(torques, qd)
    curved = derivative([slopes[i][j] for i in n for j in n], qd)
    return tuple(tuple(tuple(curved[i * len(q) + j][k] / 2 for k in n) for j in n) for i in n)


def _nodes(value: Any) -> Any:
    """Literal zeros as nodes, so that every entry is one."""
    if isinstance(value, list | tuple):
        return tuple(map(_nodes, value))
    return value if isinstance(value, Node) else constant(value)


def _friction_form(torque: Node) -> Node:
    """Friction of one joint as a textbook writes it; a law that is no polynomial, such as a smooth one, as it is."""
    try:
        return closed_form(torque)  # type: ignore[no-any-return]
    except NotApplicable:
        return torque


def _sum(terms: Any) -> Node:
    total = constant(0)
    for term in terms:
        total = total + term
    return total


def _causes(robot: Robot, M: Any, c: Any, g: Any) -> dict[str, list[Node]]:
    """Torques by cause from mass matrix, Christoffel symbols and gravity torques."""
    n = range(len(M))
    qd, qdd = symbols_of(robot, "qd"), symbols_of(robot, "qdd")
    return {
        "inertia": [_sum(M[i][j] * qdd[j] for j in n) for i in n],
        "centrifugal": [_sum(c[i][j][j] * qd[j] * qd[j] for j in n) for i in n],
        "coriolis": [_sum(2 * c[i][j][k] * qd[j] * qd[k] for j in n for k in n if j < k) for i in n],
        "gravity": list(g),
    }


def _point_masses(robot: Robot) -> Robot:
    """The robot with every body's mass in its centre of mass."""
    return _with_bodies(robot, lambda body: CentralInertia(body.mass, body.com, Mat3.zero()))


def _tensors(robot: Robot) -> Robot:
    """The robot with massless bodies that keep their tensors about their centres of mass."""
    return _with_bodies(robot, lambda body: CentralInertia(0, ZERO, body.tensor))


def _with_bodies(robot: Robot, change: Callable[[CentralInertia], CentralInertia]) -> Robot:
    tree = []
    for joint in robot.tree:
        inertia = joint.body.inertia
        central = inertia if isinstance(inertia, CentralInertia) else inertia.about_com()
        tree.append(replace(joint, body=replace(joint.body, inertia=change(central))))
    return replace(robot, tree=tuple(tree), expressions=None)


def _only(robot: Robot, body: str) -> Robot:
    """The robot with all bodies massless but one, and without rotors and springs."""
    tree = [joint if joint.body.name == body else replace(joint, body=Body(joint.body.name)) for joint in robot.tree]
    bare = tuple(replace(joint, rotor=None, spring=None) for joint in tree)
    return replace(robot, tree=bare, expressions=None)
