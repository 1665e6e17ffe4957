"""El Baji table 3 by SymPy's own mechanics: its KanesMethod and LagrangesMethod on the SCARA arm."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

import numpy as np

from armdyn.graph.sympy_view import forget, lambdified
from armdyn.robot.robot import Robot
from armdyn.typing import Array


class Mechanism(NamedTuple):
    """The arm of fig. 2 as SymPy's mechanics describes it: table 2, bodies with central moments about z.

    The parameters have the names of the robot's file. F: forces and torques of the joints.
    """

    frame: Any
    q: Any
    u: Any
    F: Any
    bodies: list[Any]
    potentials: list[Any]
    loads: list[Any]


def mechanism(robot: Robot, *, rates: bool) -> Mechanism:
    """rates: with speeds of their own, as Kane has them; otherwise these are the derivatives of q."""
    from sympy import symbols
    from sympy.physics import mechanics as sm

    p = {name: symbols(name) for name in robot.parameters}
    q, F = sm.dynamicsymbols("q1:6"), symbols("F1:6")
    u = sm.dynamicsymbols("qd1:6") if rates else [each.diff() for each in q]
    N, O = sm.ReferenceFrame("N"), sm.Point("O")
    O.set_vel(N, 0)
    lift = O.locatenew("P1", (p["l1"] + q[0]) * N.z)
    lift.set_vel(N, u[0] * N.z)
    still = sm.inertia(N, 0, 0, 0)
    bodies, frames, end = [sm.RigidBody("B1", lift, N, p["m1"], (still, lift))], [N], lift
    for k in (2, 3, 4):
        before = frames[-1]
        A = before.orientnew(f"A{k}", "Axis", [q[k - 1], N.z])
        A.set_ang_vel(before, u[k - 1] * N.z)
        com, far = end.locatenew(f"C{k}", p[f"lc{k}"] * A.x), end.locatenew(f"P{k}", p[f"l{k}"] * A.x)
        for point in (com, far):
            point.v2pt_theory(end, N, A)
        bodies.append(sm.RigidBody(f"B{k}", com, A, p[f"m{k}"], (sm.inertia(A, 0, 0, p[f"Izz{k}"]), com)))
        frames.append(A)
        end = far
    quill = end.locatenew("P5", -(p["l5"] + q[4]) * N.z)
    quill.set_vel(N, end.vel(N) - u[4] * N.z)
    bodies.append(sm.RigidBody("B5", quill, frames[-1], p["m5"], (still, quill)))
    turning = [load for k in (1, 2, 3) for load in ((frames[k - 1], -F[k] * N.z), (frames[k], F[k] * N.z))]
    loads = [(lift, F[0] * N.z), *turning[1:], (quill, -F[4] * N.z), (end, F[4] * N.z)]
    heights = [body.masscenter.pos_from(O).dot(N.z) for body in bodies]
    potentials = [body.mass * p["g"] * height for body, height in zip(bodies, heights, strict=True)]
    return Mechanism(N, q, u, F, bodies, potentials, loads)


class Derived(NamedTuple):
    """Equations that vanish along every motion; those of Kane have rates of their own."""

    equations: Any
    q: Any
    u: Any
    F: Any


def kanes_method(robot: Robot) -> Derived:
    """Fr + Fr* by SymPy's KanesMethod."""
    from sympy.physics import mechanics as sm

    forget()
    m = mechanism(robot, rates=True)
    gravity = [(body.masscenter, -body.mass * robot_gravity(robot) * m.frame.z) for body in m.bodies]
    method = sm.KanesMethod(m.frame, q_ind=m.q, u_ind=m.u, kd_eqs=[a.diff() - b for a, b in zip(m.q, m.u, strict=True)])
    active, inertial = method.kanes_equations(m.bodies, [*m.loads, *gravity])
    return Derived(active + inertial, m.q, m.u, m.F)


def lagranges_method(robot: Robot) -> Derived:
    """d/dt dL/dqd - dL/dq - Q by SymPy's LagrangesMethod."""
    from sympy.physics import mechanics as sm

    forget()
    m = mechanism(robot, rates=False)
    for body, potential in zip(m.bodies, m.potentials, strict=True):
        body.potential_energy = potential
    method = sm.LagrangesMethod(sm.Lagrangian(m.frame, *m.bodies), m.q, forcelist=m.loads, frame=m.frame)
    return Derived(method.form_lagranges_equations(), m.q, m.u, m.F)


def robot_gravity(robot: Robot) -> Any:
    """The symbol g of the robot's file."""
    from sympy import symbols

    return symbols("g")


SYMPY_METHODS: Mapping[str, Callable[[Robot], Derived]] = {
    "KanesMethod": kanes_method,
    "LagrangesMethod": lagranges_method,
}


def equations_in_numbers(derived: Derived, robot: Robot, states: tuple[Array, Array, Array]) -> Array:
    """(k, 5) forces of k states (k, 5) that make the equations vanish; they are linear in the forces."""
    from sympy import symbols

    names = [symbols(f"{letter}1:6") for letter in ("x", "v", "a")]
    change: dict[Any, Any] = {}
    for order, symbols_of in zip((2, 1, 0), reversed(names), strict=True):
        change |= {each.diff("t", order) if order else each: s for each, s in zip(derived.q, symbols_of, strict=True)}
    if str(derived.u[0]) != str(derived.q[0].diff()):
        change = {u.diff(): s for u, s in zip(derived.u, names[2], strict=True)} | change
        change |= dict(zip(derived.u, names[1], strict=True))
    plain = derived.equations.subs(change)
    slopes = plain.jacobian(derived.F)
    rest = plain.subs(dict.fromkeys(derived.F, 0))
    function = lambdified([*map(list, names), list(map(symbols, robot.parameters))], [*slopes, *rest])
    found = []
    for state in zip(*states, strict=True):
        numbers = np.array(function(*state, list(robot.parameters.values())), dtype=float)
        found.append(np.linalg.solve(numbers[:25].reshape(5, 5), -numbers[25:]))
    return np.array(found)
