"""Single entries of equations, and the intermediate results that lead to them, by the letters of the texts.

M12 C31 g2 k1 tau1 friction1 external1     entries of the terms of tau
h112 c112 Gamma12        factors of products of rates: Siciliano (7.41), (7.45), (7.117)
T2                       pose of body 2 in the world: Khalil (7.12), Milićević (2.1), Truc (56)
J2                       Jacobian of its centre of mass and its rotation: Siciliano (7.16)-(7.19)
p_C2                     position of its centre of mass in the world: Truc (61), Siciliano (7.34)
omega2                   its angular velocity, world axes: Truc (58)
kinetic, potential       energies of the robot: Siciliano (7.30), (7.36)
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

from armdyn.algebra import ops
from armdyn.algebra.ops import half, mul, sub
from armdyn.equations.projection import symbols_of
from armdyn.errors import ArmdynError, NotApplicable
from armdyn.graph import Node, closed_form, constant, derivative
from armdyn.mechanics import energies, kinematics

if TYPE_CHECKING:
    from armdyn.equations.derivation import Equations

TORQUES = {
    "M": "Mass matrix",
    "C": "Coriolis matrix",
    "g": "Gravity torques",
    "k": "Spring torques",
    "friction": "Friction torques",
    "external": "Torques of a wrench at the tool",
    "tau": "Torques",
}
"""The terms of tau, and tau."""
_INDICES = {"M": 2, "C": 2, "h": 3, "c": 3, "Gamma": 2}
"""Letters of entries with more than one index."""
_NAME = re.compile(r"([A-Za-z]+(?:_C)?)_?(\d+(?:,\d+)*)?")


class Entries(NamedTuple):
    """What one name stands for: a title, the letter, and expressions by their indices ("" for a scalar)."""

    title: str
    letter: str
    expressions: tuple[tuple[str, Node], ...]


def entries(equations: Equations, name: str) -> Entries:
    """The entry, or the entries of a matrix or vector, that a name such as M12, c112 or T2 stands for."""
    match = _NAME.fullmatch(name.strip())
    letter, figures = (match[1], match[2] or "") if match else ("", "")
    found = None
    if letter in TORQUES or letter in _PRODUCTS:
        found = _entry(equations, letter, figures)
    elif letter in _OF_BODIES and figures.isdecimal() and 0 < int(figures) <= equations.tree.n:
        found = _of_body(equations, letter, int(figures) - 1)
    elif letter in _ENERGIES and not figures:
        found = _ENERGIES[letter](equations)
    if found is None:
        n = equations.size_of_x
        raise ArmdynError(
            f"{name!r} is no entry of the equations",
            where=f"robot {equations.robot.name!r}, {n} joint{'s' if n > 1 else ''}",
            expected="M, C, Gamma with two indices, h, c with three, g, k, friction, external, tau with one, from 1 to "
            "the number of joints (M12, c112, g2); T, J, p_C, omega of a body (T2); kinetic or potential",
            advice="Separate the indices by commas where the robot has more than nine joints: M2,13",
        )
    return found


def _entry(equations: Equations, letter: str, figures: str) -> Entries | None:
    """M12 and so on; None if there is no such place."""
    size, n = _INDICES.get(letter, 1), equations.size_of_x
    split = figures.split(",") if "," in figures else list(figures) if size > 1 else [figures]
    if len(split) != size or not all(split):
        return None
    places = [int(figure) - 1 for figure in split]
    bounds = [n] * size if letter != "Gamma" else [n, n * (n + 1) // 2]
    if not all(0 <= place < bound for place, bound in zip(places, bounds, strict=True)):
        return None
    written = ("," if max(bounds) > 9 else "").join(str(place + 1) for place in places)
    if letter in TORQUES:
        return Entries(f"{TORQUES[letter]}, entry {written}", letter, ((written, equations.explicit(letter, *places)),))
    title, made = _PRODUCTS[letter]
    return Entries(f"{title}, entry {written}", letter, ((written, made(equations, places)),))


def _gamma(equations: Equations, places: Sequence[int]) -> Node:
    """Siciliano (7.117)"""
    row: Node = equations.nodes("Gamma")[places[0]][places[1]]
    return row


def _christoffel(equations: Equations, places: Sequence[int]) -> Node:
    """c_ijk, Siciliano (7.45)"""
    i, j, k = places
    return closed_form(equations.raw["christoffel"][i][j][k])  # type: ignore[no-any-return]


def _velocity_coefficient(equations: Equations, places: Sequence[int]) -> Node:
    """h_ijk = dM_ij/dq_k - dM_jk/dq_i / 2, Siciliano (7.41)"""
    i, j, k = places
    M, q = equations.raw["M"], symbols_of(equations.robot, "q")
    (by_k,), (by_i,) = derivative([M[i][j]], [q[k]]), derivative([M[j][k]], [q[i]])
    return closed_form(_node(sub(by_k[0], half(by_i[0]))))  # type: ignore[no-any-return]


_PRODUCTS: dict[str, tuple[str, Callable[[Equations, Sequence[int]], Node]]] = {
    "h": ("Factors of products of rates in the equations of Lagrange", _velocity_coefficient),
    "c": ("Christoffel symbols", _christoffel),
    "Gamma": ("Factors of products of velocities", _gamma),
}


# Bodies ---------------------------------------------------------------------------------------------------------------


def _of_body(equations: Equations, letter: str, j: int) -> Entries:
    """A quantity of one body of an open chain."""
    tree, robot = equations.tree, equations.robot
    if robot.constrained or equations.size_of_x != robot.n:
        raise NotApplicable(
            f"{letter} of a body of a closed chain, or with elastic joints",
            where=f"robot {robot.name!r}",
            expected="an open chain of rigid joints",
            advice='For the opened tree derive robot.opened; robot.without("elastic") has rigid joints.',
        )
    title, made = _OF_BODIES[letter]
    body = tree.joints[j].body.name
    shown = closed_form({indices: _node(x) for indices, x in made(equations, body)})
    nonzero = tuple((indices, x) for indices, x in shown.items() if x is not constant(0))
    return Entries(title.format(body), f"{letter}{j + 1}_", nonzero)


def _matrix(rows: Any) -> Iterator[tuple[str, Any]]:
    wide = "," if max(len(rows), len(rows[0])) > 9 else ""
    return ((f"{a}{wide}{b}", x) for a, row in enumerate(rows, 1) for b, x in enumerate(row, 1))


def _vector(values: Any) -> Iterator[tuple[str, Any]]:
    return ((str(a), x) for a, x in enumerate(values, 1))


def _pose(equations: Equations, body: str) -> Iterator[tuple[str, Any]]:
    T = kinematics.pose.formula(equations.tree, symbols_of(equations.robot, "q"), body)
    return _matrix([[*row, p] for row, p in zip(T.R.array(), T.p, strict=True)])


def _jacobian(equations: Equations, body: str) -> Iterator[tuple[str, Any]]:
    return _matrix(kinematics.body_jacobian.formula(equations.tree, symbols_of(equations.robot, "q"), body))


def _centre(equations: Equations, body: str) -> Iterator[tuple[str, Any]]:
    T = kinematics.pose.formula(equations.tree, symbols_of(equations.robot, "q"), body)
    joint = next(each for each in equations.tree.tree if each.body.name == body)
    return _vector(T.apply(joint.body.inertia.about_com().com))


def _omega(equations: Equations, body: str) -> Iterator[tuple[str, Any]]:
    q, qd = (symbols_of(equations.robot, name) for name in ("q", "qd"))
    return _vector(kinematics.velocity.formula(equations.tree, q, qd, body)[3:])


_OF_BODIES: dict[str, tuple[str, Callable[[Equations, str], Iterator[tuple[str, Any]]]]] = {
    "T": ("Pose of {} in the world", _pose),
    "J": ("Jacobian of {}: velocity of the centre of mass, then rotation, world axes", _jacobian),
    "p_C": ("Centre of mass of {} in the world", _centre),
    "omega": ("Angular velocity of {}, world axes", _omega),
}


# Energies -------------------------------------------------------------------------------------------------------------


def _kinetic(equations: Equations) -> Entries:
    """qd^T M qd / 2, rotors included. Siciliano (7.30)"""
    M, qd = equations.nodes("M"), symbols_of(equations.robot, "qd")
    n = range(len(qd))
    twice = ops.total(mul(mul(M[i][j], qd[i]), qd[j]) for i in n for j in n)
    return Entries("Kinetic energy", "kinetic", (("", closed_form(_node(half(twice)))),))


def _potential(equations: Equations) -> Entries:
    """Siciliano (7.36); springs across joints included."""
    robot = equations.robot
    if robot.constrained or equations.size_of_x != robot.n:
        raise NotApplicable(
            "the potential energy of a closed chain, or with elastic joints", where=f"robot {robot.name!r}"
        )
    U = energies.potential_energy.formula(equations.tree, symbols_of(robot, "q"))
    return Entries(
        "Potential energy, zero for masses at the world's origin", "potential", (("", closed_form(_node(U))),)
    )


_ENERGIES: dict[str, Callable[[Equations], Entries]] = {"kinetic": _kinetic, "potential": _potential}


def _node(value: Any) -> Node:
    return value if isinstance(value, Node) else constant(value)


__all__ = ["TORQUES", "Entries", "entries"]
