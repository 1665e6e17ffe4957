"""Siciliano sec. 7.1 and 7.3: Jacobians of links and rotors, inertia matrix, Christoffel symbols, gravity."""

from __future__ import annotations

from typing import Any

from armdyn.algebra import ops
from armdyn.equations.sheets.arm import Arm, arm_of, product, total, transposed, weighted
from armdyn.equations.sheets.ending import christoffel_lines, closing_lines
from armdyn.equations.sheets.sheet import Notation, Sheet
from armdyn.graph import constant

NOTATION = Notation("Siciliano", {"M": "B"}, {"q": r"\vartheta"})


def lagrange(sheet: Sheet, equations: Any) -> None:
    """Siciliano (7.16)-(7.45)."""
    arm = arm_of(equations.tree, sheet, r"!A_{{{i}}}^{{{j}}}", r"!T_{{{i}}}^{{0}}", "(2.52)")
    parts = [*_link_lines(sheet, arm), *_rotor_lines(sheet, arm)]
    sheet.section = "Inertia matrix"
    kinetic = r"m_{#} !J_P^{(#)T} !J_P^{(#)} + !J_O^{(#)T} !R_{*} !I_{#}^{*} !R_{*}^T !J_O^{(#)}"
    terms = rf"\sum_i \left({kinetic.replace('#', 'ℓ').replace('*', 'i')}\right)".replace("ℓ", r"\ell_i")
    rotors = rf" + \sum_i \left({kinetic.replace('#', 'm_i').replace('*', 'm_i')}\right)"
    B = total([part for _, _, part in parts], arm.n)
    B = sheet.line(r"!B", terms + (rotors if arm.rotors else ""), B, "(7.32)")
    christoffel_lines(sheet, arm, B, "b", r"!B", "(7.45)", "(7.44)")
    sheet.section = "Gravity"
    g0 = sheet.line(r"!g_0", "", arm.robot.gravity)
    columns = [(mass, J) for mass, J, _ in parts if J is not None]
    g = [
        sheet.line(
            f"g_{{{i + 1}}}",
            r"-\sum_j \left(m_{\ell_j} !g_0^T !J_{P#}^{(\ell_j)} + m_{m_j} !g_0^T !J_{P#}^{(m_j)}\right)".replace(
                "#", str(i + 1)
            ),
            -_node(
                ops.total(
                    ops.mul(mass, ops.total(ops.mul(g0_k, row[i]) for g0_k, row in zip(g0, J, strict=True)))
                    for mass, J in columns
                )
            ),
            "(7.39)",
        )
        for i in range(arm.n)
    ]
    closing_lines(sheet, arm, equations, B, g, "(7.42)")


def _node(x: Any) -> Any:
    return x if hasattr(x, "op") else constant(x)


def _link_lines(sheet: Sheet, arm: Arm) -> list[tuple[Any, Any, Any]]:
    """(mass, J_P, its part of B) of every link."""
    sheet.section = "Links"
    found = []
    for body in arm.bodies:
        i = body.label
        rule = rf"!T_{{{i}}}^0 !p_{{\ell_{{{i}}}}}^{{{i}}}"
        com = sheet.line(rf"!p_{{\ell_{{{i}}}}}^{{{i}}}", "", body.com)
        center = sheet.line(rf"!p_{{\ell_{{{i}}}}}", rule, body.frame.apply(com))
        J_P = sheet.line(
            rf"!J_{{P}}^{{(\ell_{{{i}}})}}",
            _linear_rule(arm, body.link, rf"\ell_{{{i}}}"),
            arm.linear(center, body.link),
            "(7.16), (7.18)",
        )
        J_O = sheet.line(
            rf"!J_{{O}}^{{(\ell_{{{i}}})}}",
            _angular_rule(arm, body.link),
            arm.angular(body.link),
            "(7.17), (7.19)",
        )
        tensor = sheet.line(
            rf"!I_{{\ell_{{{i}}}}}",
            rf"!R_{{{i}}} !I_{{\ell_{{{i}}}}}^{{{i}}} !R_{{{i}}}^T",
            body.world_tensor,
            "(7.11)",
        )
        kinetic = total(
            [weighted(body.mass, product(transposed(J_P), J_P)), product(transposed(J_O), product(tensor.rows, J_O))],
            arm.n,
        )
        found.append((body.mass, J_P, kinetic))
    return found


def _rotor_lines(sheet: Sheet, arm: Arm) -> list[tuple[Any, Any, Any]]:
    """(mass, J_P, its part of B) of every rotor; one that is only reflected has no J_P."""
    sheet.section = "Rotors"
    found = []
    for rotor in arm.rotors:
        i = rotor.label
        spin = [[0] * arm.n for _ in range(3)] if rotor.axis is not None else [[0] * arm.n]
        for j, ratio in rotor.rates:
            for row, z in zip(spin, rotor.axis or (1,), strict=True):
                row[j] = ops.mul(ratio, z)
        if rotor.center is None or rotor.axis is None or rotor.tensor is None:
            J = sheet.line(
                rf"!J_{{O}}^{{(m_{{{i}}})}}",
                rf"k_{{r{i}}} !e_{{{i}}}^T",
                spin,
                "(7.29), own spin only",
            )
            found.append((0, None, weighted(rotor.inertia, product(transposed(J), J))))
            continue
        J_P = sheet.line(
            rf"!J_{{P}}^{{(m_{{{i}}})}}",
            _linear_rule(arm, rotor.carrier, f"m_{{{i}}}"),
            arm.linear(rotor.center, rotor.carrier),
            "(7.25), (7.26)",
        )
        turned = arm.angular(rotor.carrier)
        both = [[ops.add(x, y) for x, y in zip(*rows, strict=True)] for rows in zip(turned, spin, strict=True)]
        rule = (
            rf"!J_{{O}}^{{(\ell_{{{rotor.carrier + 1}}})}} + k_{{r{i}}} !z_{{m_{i}}} !e_{{{i}}}^T"
            if rotor.carrier >= 0
            else rf"k_{{r{i}}} !z_{{m_{i}}} !e_{{{i}}}^T"
        )
        J_O = sheet.line(rf"!J_{{O}}^{{(m_{{{i}}})}}", rule, both, "(7.28), (7.29)")
        kinetic = total(
            [
                weighted(rotor.mass, product(transposed(J_P), J_P)),
                product(transposed(J_O), product(rotor.tensor.rows, J_O)),
            ],
            arm.n,
        )
        found.append((rotor.mass, J_P, kinetic))
    return found


def _linear_rule(arm: Arm, link: int, point: str) -> str:
    """The columns of a Jacobian J_P."""
    columns = []
    for j in range(arm.n):
        z = rf"!z_{{{arm.axis_label(j)}}}"
        turning = rf"{z} \times \left(!p_{{{point}}} - !p_{{{arm.axis_label(j)}}}\right)"
        columns.append(r"!0" if j > link else turning if arm.revolute(j) else z)
    return r"\begin{bmatrix} " + " & ".join(columns) + r" \end{bmatrix}"


def _angular_rule(arm: Arm, link: int) -> str:
    shown = [rf"!z_{{{arm.axis_label(j)}}}" if j <= link and arm.revolute(j) else r"!0" for j in range(arm.n)]
    return r"\begin{bmatrix} " + " & ".join(shown) + r" \end{bmatrix}"
