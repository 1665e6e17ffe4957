"""Khalil, appendix: the program of the RX-90 as it is printed, and the operations in it."""

from __future__ import annotations

import ast
from collections.abc import Collection

PROGRAM = """\
No31 = QDP1*ZZ1R; WI12 = QP1*S2; WI22 = C2*QP1; WP12 = QDP1*S2 + QP2*WI22; WP22 = C2*QDP1 - QP2*WI12
DV222 = -WI22**2; DV332 = -QP2**2; DV122 = WI12*WI22; DV132 = QP2*WI12; DV232 = QP2*WI22; U112 = DV222 + DV332
U212 = DV122 + QDP2; U312 = DV132 - WP22; VP12 = -G3*S2; VP22 = -C2*G3; PIS22 = XXR2 - ZZR2
No12 = WP12*XXR2 + DV232*ZZR2; No22 = DV132*PIS22; No32 = -DV122*XXR2 + QDP2*ZZR2; WI13 = C3*WI12 + S3*WI22
WI23 = -S3*WI12 + C3*WI22; W33 = QP2 + QP3; WP13 = QP3*WI23 + C3*WP12 + S3*WP22
WP23 = -QP3*WI13 - S3*WP12 + C3*WP22; WP33 = QDP2 + QDP3; DV113 = -WI13**2; DV333 = -W33**2; DV123 = WI13*WI23
DV133 = W33*WI13; DV233 = W33*WI23; U123 = DV123 - WP33; U223 = DV113 + DV333; U323 = DV233 + WP13
VSP13 = d3*U112 + VP12; VSP23 = d3*U212 + VP22; VSP33 = d3*U312; VP13 = C3*VSP13 + S3*VSP23
VP23 = -S3*VSP13 + C3*VSP23; F13 = MYR3*U123; F23 = MYR3*U223; F33 = MYR3*U323; PIS23 = XXR3 - ZZR3
No13 = WP13*XXR3 + DV233*ZZR3; No23 = DV133*PIS23; No33 = -DV123*XXR3 + WP33*ZZR3; WI14 = -S4*W33 + C4*WI13
WI24 = -C4*W33 - S4*WI13; W34 = QP4 + WI23; WP14 = QP4*WI24 + C4*WP13 - S4*WP33
WP24 = -QP4*WI14 - S4*WP13 - C4*WP33; WP34 = QDP4 + WP23; DV124 = WI14*WI24; DV134 = W34*WI14; DV234 = W34*WI24
VSP14 = RL4*U123 + VP13; VSP24 = RL4*U223 + VP23; VSP34 = RL4*U323 + VSP33; VP14 = C4*VSP14 - S4*VSP34
VP24 = -S4*VSP14 - C4*VSP34; PIS24 = XXR4 - ZZR4; No14 = WP14*XXR4 + DV234*ZZR4; No24 = DV134*PIS24
No34 = -DV124*XXR4 + WP34*ZZR4; WI15 = S5*W34 + C5*WI14; WI25 = C5*W34 - S5*WI14; W35 = QP5 - WI24
WP15 = QP5*WI25 + C5*WP14 + S5*WP34; WP25 = -QP5*WI15 - S5*WP14 + C5*WP34; WP35 = QDP5 - WP24; DV115 = -WI15**2
DV335 = -W35**2; DV125 = WI15*WI25; DV135 = W35*WI15; DV235 = W35*WI25; U125 = DV125 - WP35; U225 = DV115 + DV335
U325 = DV235 + WP15; VP15 = C5*VP14 + S5*VSP24; F15 = MYR5*U125; F25 = MYR5*U225; F35 = MYR5*U325
PIS25 = XXR5 - ZZR5; No15 = WP15*XXR5 + DV235*ZZR5; No25 = DV135*PIS25; No35 = -DV125*XXR5 + WP35*ZZR5
WI16 = -S6*W35 + C6*WI15; WI26 = -C6*W35 - S6*WI15; W36 = QP6 + WI25; WP16 = QP6*WI26 + C6*WP15 - S6*WP35
WP36 = QDP6 + WP25; DV126 = WI16*WI26; DV136 = W36*WI16; DV236 = W36*WI26; PIS26 = XXR6 - ZZ6
No16 = WP16*XXR6 + DV236*ZZ6; No26 = DV136*PIS26; No36 = -DV126*XXR6 + WP36*ZZ6; N16 = CX6 + No16; N26 = CY6 + No26
N36 = CZ6 + No36; FDI16 = C6*FX6 - FY6*S6; FDI36 = -C6*FY6 - FX6*S6; E15 = F15 + FDI16; E25 = F25 + FZ6
E35 = F35 + FDI36; N15 = C6*N16 + No15 - N26*S6 - MYR5*VP24; N25 = N36 + No25
N35 = -(C6*N26) + No35 - N16*S6 - MYR5*VP15; FDI15 = C5*E15 - E25*S5; FDI35 = C5*E25 + E15*S5
N14 = C5*N15 + No14 - N25*S5; N24 = -N35 + No24; N34 = C5*N25 + No34 + N15*S5; FDI14 = C4*FDI15 + E35*S4
FDI34 = C4*E35 - FDI15*S4; E13 = F13 + FDI14; E23 = F23 + FDI35; E33 = F33 + FDI34
N13 = C4*N14 + No13 + FDI34*RL4 - N24*S4 + MYR3*VSP33; N23 = N34 + No23
N33 = -(C4*N24) + No33 - FDI14*RL4 - N14*S4 - MYR3*VP13; FDI23 = C3*E23 + E13*S3; N12 = C3*N13 + No12 - N23*S3
N22 = -(d3*E33) + C3*N23 + No22 + N13*S3; N32 = d3*FDI23 + N33 + No32 - MY2*VP12 + MXR2*VP22
N31 = C2*N22 + No31 + N12*S2; GAM1 = N31; GAM2 = N32; GAM3 = N33 + IA3*QDP3; GAM4 = N34 + IA4*QDP4
GAM5 = N35 + IA5*QDP5; GAM6 = N36 + IA6*QDP6
"""
"""The assignments of the appendix, in their order, several to a line."""


def assignments() -> list[tuple[str, ast.expr]]:
    """(name, expression) of every line."""
    found = []
    for statement in ast.parse(PROGRAM).body:
        assert isinstance(statement, ast.Assign)
        (target,) = statement.targets
        assert isinstance(target, ast.Name)
        found.append((target.id, statement.value))
    return found


def operations(offline: Collection[str], zeros: Collection[str] = ()) -> tuple[int, int]:
    """(multiplications, additions) of the program.

    offline: lines that are constants. zeros: inputs that vanish; operations with them, and with what vanishes because
    of them, are left out. A square is a multiplication, a change of sign is free.
    """
    total, gone = [0, 0], set(zeros)
    for name, expression in assignments():
        counts = [0, 0]
        if _vanishes(expression, gone, counts):
            gone.add(name)
        if name not in offline:
            total = [a + b for a, b in zip(total, counts, strict=True)]
    return total[0], total[1]


def _vanishes(node: ast.expr, gone: Collection[str], counts: list[int]) -> bool:
    if isinstance(node, ast.Name):
        return node.id in gone
    if isinstance(node, ast.UnaryOp):
        return _vanishes(node.operand, gone, counts)
    assert isinstance(node, ast.BinOp)
    left = _vanishes(node.left, gone, counts)
    if isinstance(node.op, ast.Pow):
        counts[0] += not left
        return left
    right = _vanishes(node.right, gone, counts)
    if isinstance(node.op, ast.Mult):
        counts[0] += not (left or right)
        return left or right
    counts[1] += not (left or right)
    return left and right


OFFLINE = ("PIS22", "PIS23", "PIS24", "PIS25", "PIS26")
"""Differences of parameters. The asterisk that marks constants is missing at the first of them (Khalil-7)."""


def executed(known: dict[str, float]) -> dict[str, float]:
    """Every variable of the program.

    Args:
        known: the values of its inputs; the variables are added to them.
    """
    exec(compile(ast.parse(PROGRAM), "appendix", "exec"), {"__builtins__": {}}, known)
    return {name: float(known[name]) for name, _ in assignments()}
