"""Siciliano, problems 7.9 to 7.11: operational space and manipulability."""

from __future__ import annotations

from typing import Any

import numpy as np

from armdyn.analysis import coriolis_matrix, dynamic_manipulability, manipulability, operational_space
from armdyn.dynamics import compile as compiled
from armdyn.formats import load
from armdyn.mechanics import lagrange
from armdyn.texts.item import Chapter, Check, Outcome, below, distance, matches

chapter = Chapter("siciliano")


def inertia_rate(model: Any, at: Any, rate: Any, **options: Any) -> Any:
    """d B_A/dt along the motion, by fourth-order differences."""
    step = 1e-3
    masses = [operational_space(model, at + k * step * rate, **options).mass for k in (-2, -1, 1, 2)]
    return (masses[0] - 8 * masses[1] + 8 * masses[2] - masses[3]) / (12 * step)


@chapter.item("problem 7.9", "Skew-symmetry in operational space", vouches=(coriolis_matrix,))
def problem_7_9() -> Outcome:
    checks = []
    for name, rows in (("planar2r", "x y"), ("planar3r", "x y"), ("rx90", "x y z rx ry rz")):
        dyn = compiled(load(name))
        at, rate = np.random.default_rng(9).uniform(-1, 1, (2, dyn.n)) + np.array([[0.9], [0.0]])
        N = inertia_rate(dyn, at, rate, rows=rows) - 2 * coriolis_matrix(dyn, at, rate, rows=rows)
        size = float(np.abs(N).max())
        checks.append(
            below(f"{name}: symmetric part of dB_A/dt - 2 C_A, relative", float(np.abs(N + N.T).max()) / size, 1e-6)
        )
        if len(rows.split()) == dyn.n:
            here = operational_space(dyn, at, rate, rows=rows)
            moved = coriolis_matrix(dyn, at, rate, rows=rows) @ here.velocity
            checks.append(below(f"{name}: C_A xd is (7.131)", distance(moved, here.coriolis), 1e-9))
    says = (
        "With X = B_A Jdot Jbar, dB_A/dt = Jbar^T Bdot Jbar - X - X^T. So C_A = Jbar^T C Jbar - X leaves "
        "dB_A/dt - 2 C_A = Jbar^T (Bdot - 2 C) Jbar + X - X^T, which is skew-symmetric."
    )
    return Outcome(
        says, tuple(checks), chosen="Arms of the catalog at random states; derivatives by finite differences."
    )


@chapter.item("problem 7.10", "General solution of (7.140)")
def problem_7_10() -> Outcome:
    dyn = compiled(load("planar3r"))
    at, torque, other = np.random.default_rng(10).uniform(-1, 1, (3, 3)) + np.array([[0.8], [0], [0]])
    here = operational_space(dyn, at, rows="x y")
    J, Jbar, P = here.J, here.inverse, here.null
    gamma = here.tool_force(torque)
    M = dyn.mass_matrix(at)
    particular = J.T @ gamma
    cost = [float(t @ np.linalg.solve(M, t)) for t in (particular, particular + P @ other)]
    checks = (
        below("Jbar^T J^T = 1: J^T gamma is a solution", distance(Jbar.T @ J.T, np.eye(2)), 1e-11),
        below("Jbar^T P = 0: adding P tau_0 keeps it a solution", float(np.abs(Jbar.T @ P).max()), 1e-11),
        below("P P = P", distance(P @ P, P), 1e-11),
        matches("rank of P: the whole null space", int(np.linalg.matrix_rank(P, tol=1e-9)), 1),
        below(
            "every solution tau is J^T gamma + P tau_0, with tau_0 = tau",
            distance(particular + P @ torque, torque),
            1e-11,
        ),
        Check("J^T gamma is the solution of least tau^T B^-1 tau", cost[0] < cost[1], f"{cost[0]:.3g} < {cost[1]:.3g}"),
        below(
            "P tau_0 is orthogonal to it in that norm", abs(float(particular @ np.linalg.solve(M, P @ other))), 1e-11
        ),
    )
    says = (
        "J^T is the right inverse of Jbar^T weighted by B^-1; P projects onto the null space of Jbar^T along the "
        "range of J^T."
    )
    return Outcome(says, checks, chosen="The three-link arm of the catalog at a random configuration.")


@chapter.item(
    "problem 7.11", "Dynamic manipulability and manipulability", vouches=(dynamic_manipulability, manipulability)
)
def problem_7_11() -> Outcome:
    checks = []
    for name, rows in (("planar2r", "x y"), ("rx90", "x y z rx ry rz")):
        dyn = compiled(load(name))
        at = np.random.default_rng(11).uniform(-2, 2, (20, dyn.n))
        ratio = dynamic_manipulability(dyn, at, rows=rows) * np.linalg.det(lagrange.mass_matrix(dyn.robot, at))
        checks.append(
            below(
                f"{name}: w_d det B against w, 20 configurations",
                distance(ratio, manipulability(dyn, at, rows=rows)),
                1e-9,
            )
        )
    says = "The axes of (7.149) are the singular values of J B^-1; their product is w_d = |det J| / det B = w / det B."
    chosen = "Arms of the catalog at random configurations."
    return Outcome(says, tuple(checks), chosen=chosen, unprinted="The text prints no solution.")
