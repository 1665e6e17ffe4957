"""002 (Khalil), Example 7.1: A, U and Q of the first three links of the RX-90, as identities.

The expected side is the printed text, with ten inertial parameters per link and rotor inertias on the diagonal.
"""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

import armdyn
from armdyn.graph import derivative, identical, symbol, symbols
from armdyn.mechanics import gim_christoffel, kinematics, kronecker, lagrange, lagrange_euler
from armdyn.mechanics.kinematics import velocities

TEN = ["XX", "XY", "XZ", "YY", "YZ", "ZZ", "MX", "MY", "MZ", "M", "Ia"]
NAMES = [f"{name}{j}" for j in (1, 2, 3) for name in TEN] + ["D3", "G3"]
p = SimpleNamespace(**{name: symbol(name, "parameter") for name in NAMES})
q = q1, q2, q3 = symbols("q1 q2 q3")
qd = v1, v2, v3 = symbols("v1 v2 v3")
C2, S2, C3, S3, C23, S23 = q2.cos(), q2.sin(), q3.cos(), q3.sin(), (q2 + q3).cos(), (q2 + q3).sin()

four = pytest.mark.parametrize(
    "module", [lagrange, gim_christoffel, lagrange_euler, kronecker], ids=lambda module: module.__name__.split(".")[-1]
)


def rx90_first_three() -> armdyn.Robot:
    rows = [
        {
            "a": a,
            "alpha": alpha,
            "mass": f"M{j}",
            "moment": [f"MX{j}", f"MY{j}", f"MZ{j}"],
            "inertia_origin": [f"{name}{j}" for name in TEN[:6]],
            "rotor": {"inertia": f"Ia{j}"},
        }
        for j, a, alpha in ((1, 0, 0), (2, 0, "pi/2"), (3, "D3", 0))
    ]
    return armdyn.Robot.from_dh(rows, "modified", gravity=(0, 0, "G3"), parameters=dict.fromkeys(NAMES, 0.7)).symbolic


ROBOT = rx90_first_three()


def inertia_matrix() -> list[list[Any]]:
    """A of Example 7.1 iii."""
    SS2, CC2, CS2, SS23, CC23, CS23 = S2 * S2, C2 * C2, C2 * S2, S23 * S23, C23 * C23, C23 * S23
    A11 = (
        p.Ia1 + p.ZZ1 + SS2 * p.XX2 + 2 * CS2 * p.XY2 + CC2 * p.YY2 + SS23 * p.XX3 + 2 * CS23 * p.XY3 + CC23 * p.YY3
        + 2 * C2 * C23 * p.D3 * p.MX3 - 2 * C2 * S23 * p.D3 * p.MY3 + CC2 * p.D3**2 * p.M3
    )  # fmt: skip
    A12 = S2 * p.XZ2 + C2 * p.YZ2 + S23 * p.XZ3 + C23 * p.YZ3 - S2 * p.D3 * p.MZ3
    A13 = S23 * p.XZ3 + C23 * p.YZ3
    A22 = p.Ia2 + p.ZZ2 + p.ZZ3 + 2 * C3 * p.D3 * p.MX3 - 2 * S3 * p.D3 * p.MY3 + p.D3**2 * p.M3
    A23 = p.ZZ3 + C3 * p.D3 * p.MX3 - S3 * p.D3 * p.MY3
    A33 = p.Ia3 + p.ZZ3
    return [[A11, A12, A13], [A12, A22, A23], [A13, A23, A33]]


def test_angular_velocities() -> None:
    """Example 7.1 i, by [7.17]."""
    _, w = velocities(ROBOT, q, qd)
    assert identical(w, [[0, 0, v1], [S2 * v1, C2 * v1, v2], [S23 * v1, C23 * v1, v2 + v3]])


def test_linear_velocities() -> None:
    """Example 7.1 ii, by [7.18]."""
    v, _ = velocities(ROBOT, q, qd)
    assert identical(v, [[0, 0, 0], [0, 0, 0], [S3 * p.D3 * v2, C3 * p.D3 * v2, -C2 * p.D3 * v1]])


@four
def test_inertia_matrix(module: Any) -> None:
    assert identical(module.mass_matrix(ROBOT, q), inertia_matrix())


def test_inertia_matrix_depends_on_every_term() -> None:
    """The proof can fail: a sign turned in A12 is noticed."""
    A = inertia_matrix()
    A[0][1] = A[0][1] + 2 * S2 * p.D3 * p.MZ3
    assert not identical(lagrange.mass_matrix(ROBOT, q), A)


def test_potential_energy() -> None:
    U = -p.G3 * (p.MZ1 + S2 * p.MX2 + C2 * p.MY2 + S23 * p.MX3 + C23 * p.MY3 + p.D3 * S2 * p.M3)
    assert identical(lagrange.potential_energy(ROBOT, q), U)


@four
def test_gravity_torques(module: Any) -> None:
    Q2 = -p.G3 * (C2 * p.MX2 - S2 * p.MY2 + C23 * p.MX3 - S23 * p.MY3 + p.D3 * C2 * p.M3)
    Q3 = -p.G3 * (C23 * p.MX3 - S23 * p.MY3)
    assert identical(module.gravity(ROBOT, q), [0, Q2, Q3])


@pytest.mark.parametrize("module", [gim_christoffel, lagrange_euler, kronecker])
def test_coriolis_matrix_by_7_7(module: Any) -> None:
    """[7.7] applied to the printed A."""
    dA = derivative(inertia_matrix(), q)
    n = range(3)
    C = [[sum(((dA[i][j][k] + dA[i][k][j] - dA[j][k][i]) * qd[k] for k in n), 0 * q1) / 2 for j in n] for i in n]
    assert identical(module.coriolis_matrix(ROBOT, q, qd), C)


def test_example_7_4_printed_row_fails() -> None:
    """E002-3: in the second row of 4w3 the text prints WI12 where its own appendix has WI13."""
    robot = armdyn.load("rx90")
    state = np.random.default_rng(0).uniform(-2, 2, (2, 6))
    (_, b, c, d, _, _), rates = state
    WI12, WI22, W33 = np.sin(b) * rates[0], np.cos(b) * rates[0], rates[1] + rates[2]
    WI13 = np.cos(c) * WI12 + np.sin(c) * WI22
    R = kinematics.pose(robot, state[0], robot.joints[3].body.name)[:3, :3]
    w4 = R.T @ kinematics.velocity(robot, state[0], rates, robot.joints[3].body.name)[3:]
    assert w4[1] == pytest.approx(-np.sin(d) * WI13 - np.cos(d) * W33, abs=1e-12)
    assert w4[1] != pytest.approx(-np.sin(d) * WI12 - np.cos(d) * W33, abs=1e-3)


def test_table_7_5_printed_polynomial_fails() -> None:
    """E002-4: 252 additions for n = 6 (Raibert) are n^3 + n^2, not the printed 3^n + n^2."""
    n = 6
    assert n**3 + n**2 == 252 and 3**n + n**2 != 252
