"""The last lines of every derivation: Christoffel symbols, C, friction, J^T h and tau, and the proofs."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cache, partial
from typing import TYPE_CHECKING, Any

from armdyn.algebra import Vec3, ops
from armdyn.equations import projection
from armdyn.equations.sheets.arm import Arm, Rows, product, total, transposed, weighted
from armdyn.equations.sheets.sheet import Sheet
from armdyn.graph import Node, constant, derivative
from armdyn.mechanics.registry import Formulation, formulation

if TYPE_CHECKING:
    from armdyn.equations.derivation import Equations

MOST_TERMS = 1000
"""Torques with more terms are left as M qdd + C qd + g: written out they would fill pages."""


def as_nodes(M: Any) -> Any:
    return [as_nodes(x) for x in M] if isinstance(M, list | tuple) else M if isinstance(M, Node) else constant(M)


def slopes(M: Rows, q: Sequence[Node]) -> list[Rows]:
    """dM/dq_k for every k."""
    n = range(len(M))
    flat = derivative([x for row in as_nodes(M) for x in row], q)
    return [[[flat[i * len(M) + j][k] for j in n] for i in n] for k in range(len(q))]


def christoffel_lines(sheet: Sheet, arm: Arm, M: Rows, letter: str, matrix: str, source: str, of_C: str) -> Rows:
    """c_ijk, C and the matrix N = Mdot - 2 C."""
    sheet.section = "Christoffel symbols"
    n, dM = range(arm.n), slopes(M, arm.q)
    c: list[list[list[Any]]] = [[[0 for _ in n] for _ in n] for _ in n]
    for i in n:
        for j in n:
            for k in range(j, arm.n):
                value = ops.half(as_nodes(dM[k][i][j]) + as_nodes(dM[j][i][k]) - as_nodes(dM[i][j][k]))
                names = f"c_{{{i + 1}{j + 1}{k + 1}}}" + (f" = c_{{{i + 1}{k + 1}{j + 1}}}" if j < k else "")
                c[i][j][k] = c[i][k][j] = sheet.line(
                    names, _christoffel_rule(letter, i + 1, j + 1, k + 1), value, source
                )
    sheet.section = "Coriolis matrix"
    C = [[ops.total(ops.mul(c[i][j][k], arm.qd[k]) for k in n) for j in n] for i in n]
    C = sheet.line(r"!C", r"\sum_k c_{ijk} \dot{q}_k", C, of_C)
    rate = [[ops.total(ops.mul(dM[k][i][j], arm.qd[k]) for k in n) for j in n] for i in n]
    rate = sheet.line(rf"\dot{{{matrix}}}", r"\sum_k \frac{\partial " + matrix + r"}{\partial q_k} \dot{q}_k", rate)
    N = [[ops.sub(rate[i][j], ops.mul(2, C[i][j])) for j in n] for i in n]
    N = sheet.line(r"!N", rf"\dot{{{matrix}}} - 2 !C", N, "Siciliano (7.47)")
    sheet.check("skew symmetry of N", N, lambda: [[-as_nodes(N[j][i]) for j in n] for i in n], "its transpose")
    sheet.results["C"] = C
    rows: Rows = C
    return rows


def _christoffel_rule(letter: str, i: int, j: int, k: int) -> str:
    """1/2 (db_ij/dq_k + db_ik/dq_j - db_jk/dq_i), shortened as the texts do."""

    def slope(a: int, b: int, c: int) -> str:
        return rf"\frac{{\partial {letter}_{{{min(a, b)}{max(a, b)}}}}}{{\partial q_{{{c}}}}}"

    if j == k:
        return (
            rf"\frac{{1}}{{2}} {slope(i, i, i)}" if i == j else rf"{slope(i, j, j)} - \frac{{1}}{{2}} {slope(j, j, i)}"
        )
    if i == j:
        return rf"\frac{{1}}{{2}} {slope(i, i, k)}"
    if i == k:
        return rf"\frac{{1}}{{2}} {slope(i, i, j)}"
    return rf"\frac{{1}}{{2}} \left({slope(i, j, k)} + {slope(i, k, j)} - {slope(j, k, i)}\right)"


def closing_lines(
    sheet: Sheet,
    arm: Arm,
    equations: Equations,
    M: Rows,
    velocity: Sequence[Any],
    g: Sequence[Any],
    rule: str,
    source: str,
) -> None:
    """M qdd + the velocity terms + g; M and g are proved by another formulation."""
    other = _other(equations)
    robot, tree = equations.robot, equations.tree
    sheet.results |= {"M": M, "g": list(g)}
    sheet.check("inertia matrix", M, lambda: projection.mass_matrix(robot, tree, other, arm.q), other.title)
    sheet.check("gravity", list(g), lambda: projection.gravity(robot, tree, other, arm.q), other.title)
    n = range(arm.n)
    torques = [ops.total([*(ops.mul(M[i][j], arm.qdd[j]) for j in n), velocity[i], g[i]]) for i in n]
    torque_lines(sheet, arm, equations, torques, rule, source)


def _other(equations: Equations) -> Formulation:
    """The formulation by which results are proved: not the one that is derived."""
    return formulation("kane" if equations.formulation != "kane" else "newton_euler")


def torque_lines(
    sheet: Sheet, arm: Arm, equations: Equations, torques: Sequence[Any], rule: str, source: str, letter: str = r"\tau"
) -> None:
    """tau of each joint: that of bodies and rotors, and what else there is.

    rule: # is the joint, < the one before.
    """
    sheet.section = "Torques"
    added: dict[str, Any] = {}
    for name, latex, where in (
        ("k", "k", "springs"),
        ("friction", "F", "friction"),
        ("external", r"\left(!J^T !h_e\right)", "wrench at the tool"),
    ):
        if equations.has(name) and (name != "external" or equations.wrench):
            added[latex] = sheet.line(latex, "", list(equations.nodes(name)), where)
    large = sum(equations.size.values()) > MOST_TERMS
    other = _other(equations)

    @cache
    def expected() -> Sequence[Node]:
        return projection.inverse_dynamics(equations.robot, equations.tree, other, arm.q, arm.qd, arm.qdd)  # type: ignore[no-any-return]

    wholes = [ops.total([torques[i], *(part[i] for part in added.values())]) for i in range(arm.n)]
    sheet.results["tau"] = wholes
    for i, whole in enumerate(wholes):
        words = rule.replace("#", str(i + 1)).replace("<", str(i)) + "".join(f" + {name}_{{{i + 1}}}" for name in added)
        shown = as_nodes(sheet.line(f"{letter}_{{{i + 1}}}", words, whole, source, folded=large))
        beside = ops.total(part[i] for latex, part in added.items() if latex != "k")  # not part of the formulations
        sheet.check(f"torque {i + 1}", shown, partial(_entry_of, expected, i, beside), other.title, long=large)


def _entry_of(vector: Callable[[], Sequence[Node]], i: int, beside: Any) -> Node:
    return as_nodes(ops.add(vector()[i], beside))  # type: ignore[no-any-return]


def rotor_parts(sheet: Sheet, arm: Arm) -> list[tuple[Any, Any, Any]]:
    """(mass, J_P, part of the inertia matrix) of every rotor; one that is only reflected has no J_P."""
    sheet.section = "Rotors"
    found: list[tuple[Any, Any, Any]] = []
    for rotor in arm.rotors:
        i = rotor.label
        spin: Rows = [[0] * arm.n for _ in range(3 if rotor.axis is not None else 1)]
        for j, ratio in rotor.rates:
            for row, z in zip(spin, rotor.axis or (1,), strict=True):
                row[j] = ops.mul(ratio, z)
        own = rf"k_{{r{i}}} !z_{{m_{i}}} !e_{{{i}}}^T"
        if rotor.center is None or rotor.tensor is None:
            J = sheet.line(
                rf"!J_{{O}}^{{(m_{{{i}}})}}", rf"k_{{r{i}}} !e_{{{i}}}^T", spin, "Siciliano (7.29), own spin"
            )
            found.append((0, None, weighted(rotor.inertia, product(transposed(J), J))))
            continue
        point = arm.linear(rotor.center, rotor.carrier)
        J_P = sheet.line(
            rf"!J_{{P}}^{{(m_{{{i}}})}}",
            linear_rule(arm, rotor.carrier, f"m_{{{i}}}"),
            point,
            "Siciliano (7.25), (7.26)",
        )
        turned = arm.angular(rotor.carrier)
        both = [[ops.add(x, y) for x, y in zip(*rows, strict=True)] for rows in zip(turned, spin, strict=True)]
        rule = rf"!J_{{O}}^{{(\ell_{{{rotor.carrier + 1}}})}} + {own}" if rotor.carrier >= 0 else own
        J_O = sheet.line(rf"!J_{{O}}^{{(m_{{{i}}})}}", rule, both, "Siciliano (7.28), (7.29)")
        turning = product(transposed(J_O), product(rotor.tensor.rows, J_O))
        found.append((rotor.mass, J_P, total([weighted(rotor.mass, product(transposed(J_P), J_P)), turning], arm.n)))
    return found


def weight_torque(gravity: Vec3, parts: Sequence[tuple[Any, Any, Any]], i: int) -> Any:
    """-sum m g.J_Pi of bodies: what holds them against gravity."""
    columns = [(mass, Vec3(*(row[i] for row in J))) for mass, J, _ in parts if J is not None]
    return -as_nodes(ops.total(ops.mul(mass, gravity.dot(column)) for mass, column in columns))


def linear_rule(arm: Arm, link: int, point: str) -> str:
    """The columns of a Jacobian J_P."""
    columns = []
    for j in range(arm.n):
        z = rf"!z_{{{arm.axis_label(j)}}}"
        turning = rf"{z} \times \left(!p_{{{point}}} - !p_{{{arm.axis_label(j)}}}\right)"
        columns.append(r"!0" if j > link else turning if arm.revolute(j) else z)
    return r"\begin{bmatrix} " + " & ".join(columns) + r" \end{bmatrix}"
