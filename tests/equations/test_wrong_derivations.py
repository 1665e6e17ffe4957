"""Whole derivations with one mistake: the line of the derivation is named.

The derivations are Lagrange's, written here in SymPy for a planar arm with motors and for a spatial arm; they share
nothing with `judge` or with the sheets.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence

import pytest
import sympy
from sympy import cos, sin

import armdyn

FULL = bool(os.environ.get("ARMDYN_FULL"))
q1, q2, q3 = q = sympy.symbols("q1:4")
d1, d2, d3 = qd = sympy.symbols("qd1:4")
Weights = tuple[sympy.Expr, sympy.Expr, sympy.Expr]
HALF = sympy.Rational(1, 2)


def velocity(position: sympy.Matrix) -> sympy.Matrix:
    return sum((position.diff(x) * rate for x, rate in zip(q, qd, strict=True)), sympy.zeros(*position.shape))


def equations(T: sympy.Expr, P: sympy.Expr, n: int, weights: Weights = (HALF, HALF, -HALF)) -> str:
    """M, C and g from the energies; weights: of the derivatives of M in c_ijk."""
    M = sympy.hessian(T, qd[:n]).applyfunc(sympy.expand)
    rows = [f"M_{i + 1}{j + 1} = {M[i, j]}" for i in range(n) for j in range(n)]
    for i in range(n):
        for j in range(n):
            parts = (
                (sympy.diff(M[i, j], q[k]), sympy.diff(M[i, k], q[j]), sympy.diff(M[j, k], q[i])) for k in range(n)
            )
            c = sum(sum(w * x for w, x in zip(weights, part, strict=True)) * qd[k] for k, part in enumerate(parts))
            rows.append(f"C_{i + 1}{j + 1} = {c}")
    return "\n".join([*rows, *(f"g_{i + 1} = {sympy.diff(P, q[i])}" for i in range(n))])


def planar2r(mistake: str) -> str:
    a1, a2, l1, l2, m1, m2, I1, I2 = sympy.symbols("a1 a2 l1 l2 ml1 ml2 Il1 Il2")
    k1, k2, J1, J2, mr, g = sympy.symbols("kr1 kr2 Im1 Im2 mm2 g")
    angle = q2 if mistake == "angle" else q1 + q2
    long, reach = l1 if mistake == "l1 for a1" else a1, a2 if mistake == "a2 for l2" else l2
    p1 = l1 * sympy.Matrix([cos(q1), sin(q1)])
    p2 = long * sympy.Matrix([cos(q1), sin(q1)]) + reach * sympy.Matrix([cos(angle), sin(angle)])
    motor = a1 * sympy.Matrix([cos(q1), sin(q1)])
    v2 = velocity(p2)
    if mistake == "velocity of link 2":
        v2 = v2.subs(d2, 0)
    turning = {"relative angular velocity": d2, "sign of angular velocity": d1 - d2}.get(mistake, d1 + d2)
    spin = k2 * d2 if mistake == "spin of the motor" else d1 + k2 * d2
    T = m1 * velocity(p1).dot(velocity(p1)) + m2 * v2.dot(v2) + mr * velocity(motor).dot(velocity(motor))
    T = (T + I1 * d1**2 + I2 * turning**2 + J1 * (k1 * d1) ** 2 + J2 * spin**2) / 2
    down = 0 if mistake == "gravity along x" else 1
    P = g * (m1 * p1[down] + m2 * p2[down] + mr * motor[down])
    plain: Weights = (HALF, HALF, -HALF)
    weights = {"third term": (HALF, HALF, HALF), "no half": (1, 1, -1)}.get(mistake, plain)
    return equations(T, -P if mistake == "gravity upwards" else P, 2, weights)


def three_link(mistake: str) -> str:
    l0, l1, r1, r2, m2, m3, g = sympy.symbols("l0 l1 r1 r2 m2 m3 g")
    I1, I2, I3 = (sympy.diag(*sympy.symbols(f"I{k}xx I{k}yy I{k}zz")) for k in (1, 2, 3))
    if mistake == "tensor of another link":
        I3 = I2
    angle, length = q3 if mistake == "angle" else q2 + q3, 0 if mistake == "without l1" else l1
    reach2, reach3 = r1 * cos(q2), length * cos(q2) + r2 * cos(angle)
    p2 = sympy.Matrix([reach2 * cos(q1), reach2 * sin(q1), l0 - r1 * sin(q2)])
    p3 = sympy.Matrix([reach3 * cos(q1), reach3 * sin(q1), l0 - length * sin(q2) - r2 * sin(angle)])
    w1 = sympy.Matrix([0, -d1, 0])
    w2 = sympy.Matrix([-sin(q2) * d1, -cos(q2) * d1, d2])
    w3 = sympy.Matrix([-sin(q2 + q3) * d1, -cos(q2 + q3) * d1, d2 + d3])
    if mistake == "link 3 without the waist":
        w3[0], w3[1] = sympy.S(0), sympy.S(0)
    if mistake == "link 3 without the shoulder":
        w3[2] = d3
    v2, v3 = velocity(p2), velocity(p3)
    if mistake == "velocity of link 3":
        v3 = v3.subs(d3, 0)
    T = (m2 * v2.dot(v2) + m3 * v3.dot(v3) + sum((w.dot(I * w) for w, I in ((w1, I1), (w2, I2), (w3, I3))), 0)) / 2
    return equations(T, g * (m2 * p2[2] + m3 * p3[2]), 3)


CASES: Sequence[tuple[Callable[[str], str], str, str]] = [
    (planar2r, "relative angular velocity", "the angular velocity of link 2 (omega_2): without the part of joint 1"),
    (planar2r, "sign of angular velocity", "the angular velocity of link 2 (omega_2): the part of joint 2"),
    (planar2r, "angle", "the position of the centre of mass of link 2 (p_C_2^0): with the angle q2"),
    (planar2r, "l1 for a1", "the position of the centre of mass of link 2 (p_C_2^0): with l1 in place of a1"),
    (planar2r, "a2 for l2", "a2 stands in place of l2"),
    (planar2r, "velocity of link 2", "the velocity of the centre of mass of link 2"),
    (planar2r, "spin of the motor", "the angular velocity of rotor 2"),
    (planar2r, "third term", "1/2 dM_ij/dq_k + 1/2 dM_ik/dq_j + 1/2 dM_jk/dq_i"),
    (planar2r, "no half", "1 dM_ij/dq_k + 1 dM_ik/dq_j - 1 dM_jk/dq_i"),
    (planar2r, "gravity upwards", "gravity has the opposite sign"),
    (planar2r, "gravity along x", "the vector of gravity (g^0)"),
    (three_link, "link 3 without the waist", "the angular velocity of link 3 (omega_3): without the part of joint 1"),
    (
        three_link,
        "link 3 without the shoulder",
        "the angular velocity of link 3 (omega_3): without the part",
    ),
    (three_link, "angle", "the position of the centre of mass of link 3 (p_C_3^0): with the angle q3"),
    (three_link, "without l1", "the position of the centre of mass of link 3 (p_C_3^0): without l1"),
    (three_link, "velocity of link 3", "the velocity of the centre of mass of link 3"),
    (three_link, "tensor of another link", "stand in place of I3xx"),
]


@pytest.mark.parametrize("derive", [planar2r, three_link])
def test_the_right_derivation_is_the_same(derive: Callable[[str], str]) -> None:
    assert armdyn.judge(armdyn.load(derive.__name__).without("friction"), derive("")).same


@pytest.mark.parametrize(("derive", "mistake", "cause"), CASES if FULL else CASES[::2])
def test_the_wrong_line_is_named(derive: Callable[[str], str], mistake: str, cause: str) -> None:
    judgement = armdyn.judge(armdyn.load(derive.__name__).without("friction"), derive(mistake))
    assert not judgement.same and cause in judgement.cause, judgement.cause
