"""Siciliano sec. 7.1 and 7.3: Jacobians of links and rotors, inertia matrix, Christoffel symbols, gravity."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from armdyn.algebra import ops
from armdyn.equations.sheets.arm import Arm, arm_of, product, total, transposed, weighted
from armdyn.equations.sheets.ending import christoffel_lines, closing_lines, linear_rule, rotor_parts, weight_torque
from armdyn.equations.sheets.sheet import Notation, Sheet

if TYPE_CHECKING:
    from armdyn.equations.derivation import Equations

NOTATION = Notation("Siciliano", {"M": "B"}, {"q": r"\vartheta"})
KINETIC = r"m_{#} !J_P^{(#)T} !J_P^{(#)} + !J_O^{(#)T} !R_{*} !I_{#}^{*} !R_{*}^T !J_O^{(#)}"
"""Part of a body in the inertia matrix; # is its name, * its frame."""


def lagrange(sheet: Sheet, equations: Equations) -> None:
    """Siciliano (7.16)-(7.45)."""
    arm = arm_of(equations.tree, sheet, r"!A_{{{i}}}^{{{j}}}", r"!T_{{{i}}}^{{0}}", "(2.52)")
    parts = [*_link_lines(sheet, arm), *rotor_parts(sheet, arm)]
    sheet.section = "Inertia matrix"
    links = KINETIC.replace("*", "i").replace("#", r"\ell_i")
    rotors = rf" + \sum_i \left({KINETIC.replace('*', 'm_i').replace('#', 'm_i')}\right)" if arm.rotors else ""
    B = total([part for _, _, part in parts], arm.n)
    B = sheet.line("!B", rf"\sum_i \left({links}\right){rotors}", B, "(7.32)")
    C = christoffel_lines(sheet, arm, B, "b", "!B", "(7.45)", "(7.44)")
    sheet.section = "Gravity"
    g0 = sheet.line("!g_0", "", arm.robot.gravity)
    rule = r"-\sum_j \left(m_{\ell_j} !g_0^T !J_{P#}^{(\ell_j)} + m_{m_j} !g_0^T !J_{P#}^{(m_j)}\right)"
    g = [
        sheet.line(f"g_{{{i + 1}}}", rule.replace("#", str(i + 1)), weight_torque(g0, parts, i), "(7.39)")
        for i in range(arm.n)
    ]
    velocity = [ops.total(ops.mul(x, rate) for x, rate in zip(row, arm.qd, strict=True)) for row in C]
    whole = r"\sum_j b_{#j} \ddot{q}_j + \sum_j c_{#j} \dot{q}_j + g_{#}"
    closing_lines(sheet, arm, equations, B, velocity, g, whole, "(7.42)")


def _link_lines(sheet: Sheet, arm: Arm) -> list[tuple[Any, Any, Any]]:
    """(mass, J_P, its part of B) of every link."""
    sheet.section = "Links"
    found = []
    for body in arm.bodies:
        i, link = body.label, rf"\ell_{{{body.label}}}"
        com = sheet.line(rf"!p_{{{link}}}^{{{i}}}", "", body.com)
        center = sheet.line(rf"!p_{{{link}}}", rf"!T_{{{i}}}^0 !p_{{{link}}}^{{{i}}}", body.frame.apply(com))
        linear, angular = arm.linear(center, body.link), arm.angular(body.link)
        J_P = sheet.line(rf"!J_{{P}}^{{({link})}}", linear_rule(arm, body.link, link), linear, "(7.16), (7.18)")
        J_O = sheet.line(rf"!J_{{O}}^{{({link})}}", _angular_rule(arm, body.link), angular, "(7.17), (7.19)")
        turned = rf"!R_{{{i}}} !I_{{{link}}}^{{{i}}} !R_{{{i}}}^T"
        tensor = sheet.line(rf"!I_{{{link}}}", turned, body.world_tensor, "(7.11)")
        moving = weighted(body.mass, product(transposed(J_P), J_P))
        kinetic = total([moving, product(transposed(J_O), product(tensor.rows, J_O))], arm.n)
        found.append((body.mass, J_P, kinetic))
    return found


def _angular_rule(arm: Arm, link: int) -> str:
    turning = [j <= link and arm.revolute(j) for j in range(arm.n)]
    shown = [rf"!z_{{{arm.axis_label(j)}}}" if turns else "!0" for j, turns in enumerate(turning)]
    return r"\begin{bmatrix} " + " & ".join(shown) + r" \end{bmatrix}"
