"""The last lines of every derivation: Christoffel symbols, C, friction, J^T h and tau, and the proofs."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from armdyn.algebra import ops
from armdyn.equations import projection
from armdyn.equations.sheets.arm import Arm, Rows
from armdyn.equations.sheets.sheet import Sheet
from armdyn.graph import Node, constant, derivative
from armdyn.mechanics import christoffel
from armdyn.mechanics.registry import formulation

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


def christoffel_lines(sheet: Sheet, arm: Arm, M: Rows, letter: str, matrix: str, source: str, of_C: str) -> None:
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
    N = sheet.line(r"!N", rf"\dot{{{matrix}}} - 2 !C", N, "(7.47)" if letter == "b" else "")
    mirrored = [[-as_nodes(N[j][i]) for j in n] for i in n]
    sheet.check("skew symmetry of N", N, mirrored, "its transpose")


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
    sheet: Sheet, arm: Arm, equations: Equations, M: Rows, g: Sequence[Any], source: str, letter: str = "b"
) -> None:
    """Friction, springs, J^T h and tau; M, C and g are proved by another formulation."""
    other = formulation("kane" if equations.formulation != "kane" else "newton_euler")
    robot, tree = equations.robot, equations.tree
    sheet.check("inertia matrix", M, projection.mass_matrix(robot, tree, other, arm.q), other.title)
    sheet.check("gravity", list(g), projection.gravity(robot, tree, other, arm.q), other.title)
    sheet.section = "Torques"
    n = range(arm.n)
    C = christoffel.matrix_from_symbols(christoffel.symbols(slopes(M, arm.q)), arm.qd)
    torques_lines(
        sheet,
        arm,
        equations,
        [[(M[i][j], arm.qdd[j]) for j in n] + [(C[i][j], arm.qd[j]) for j in n] + [(1, g[i])] for i in n],
        rf"\sum_j {letter}_{{#j}} \ddot{{q}}_j + \sum_j c_{{#j}} \dot{{q}}_j + g_{{#}}",
        source,
    )


def torques_lines(sheet: Sheet, arm: Arm, equations: Equations, terms: Any, rule: str, source: str) -> None:
    """tau of each joint: pairs of factors, and what the joints add."""
    added: dict[str, Any] = {}
    for name, latex, where in (
        ("k", "k", "springs"),
        ("friction", "F", "friction"),
        ("external", r"\left(!J^T !h_e\right)", "wrench at the tool"),
    ):
        if equations.has(name) and (name != "external" or equations.wrench):
            added[latex] = sheet.line(latex, "", list(equations.nodes(name)), where)
    large = sum(equations.size.values()) > MOST_TERMS
    other = formulation("kane" if equations.formulation != "kane" else "newton_euler")
    expected = projection.inverse_dynamics(equations.robot, equations.tree, other, arm.q, arm.qd, arm.qdd)
    for i in range(arm.n):
        bodies = ops.total(ops.mul(x, y) for x, y in terms[i])
        if large:
            continue
        whole = ops.total([bodies, *(part[i] for part in added.values())])
        words = rule.replace("#", str(i + 1)) + "".join(f" + {name}_{{{i + 1}}}" for name in added)
        sheet.line(rf"\tau_{{{i + 1}}}", words, whole, source)
        spring = added["k"][i] if "k" in added else 0
        sheet.check(f"tau_{i + 1}", ops.add(bodies, spring), expected[i], other.title)
