"""The catalog against the printed formulas of its sources, written out here by hand."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from armdyn.formats import read
from armdyn.robot import Robot
from catalog.by_hand import centre, gravity, mass_matrix, placed, tool

c, s = np.cos, np.sin
RNG = np.random.default_rng(7)
TIGHT: dict[str, Any] = {"rtol": 0, "atol": 1e-12}


def at_random(n: int) -> np.ndarray:
    return RNG.uniform(-3, 3, n)


def letters(robot: Robot, names: str) -> list[float]:
    """Values of named parameters."""
    return [robot.parameters[name] for name in names.split()]


# Siciliano -------------------------------------------------------------------------------------------


def test_pendulum_is_example_7_1() -> None:
    robot = read("pendulum")
    p = robot.parameters
    for q in at_random(5):
        assert np.allclose(mass_matrix(robot, [q]), p["I"] + p["Im"] * p["kr"] ** 2, **TIGHT)
        assert np.allclose(gravity(robot, [q]), p["m"] * p["g"] * p["l"] * s(q), **TIGHT)
    assert robot.joints[0].friction.viscous == pytest.approx(p["F"] + p["Fm"] * p["kr"] ** 2, rel=1e-15)
    assert p["I"] > p["m"] * p["l"] ** 2  # else the tensor at the centre of mass is impossible


def test_cartesian2_is_section_7_3_1() -> None:
    robot = read("cartesian2")
    p = robot.parameters
    q = at_random(2)
    B = np.diag(
        [
            p["ml1"] + p["mm2"] + p["kr1"] ** 2 * p["Im1"] + p["ml2"],
            p["ml2"] + p["kr2"] ** 2 * p["Im2"],
        ]
    )
    assert np.allclose(mass_matrix(robot, q), B, **TIGHT)
    assert np.allclose(gravity(robot, q), [(p["ml1"] + p["mm2"] + p["ml2"]) * p["g"], 0], **TIGHT)
    assert np.allclose(tool(robot, q)[:3, 3], [q[1], 0, q[0]], **TIGHT)


def test_planar2r_has_the_data_of_example_7_2() -> None:
    p = read("planar2r").parameters
    for name, value in {"a": 1, "l": 0.5, "ml": 50, "Il": 10, "kr": 100, "mm": 5, "Im": 0.01}.items():
        assert p[f"{name}1"] == p[f"{name}2"] == value


def test_planar2r_is_equation_7_82() -> None:
    robot = read("planar2r").with_parameters(
        a1=0.9, a2=1.3, l1=0.3, l2=0.7, ml2=31.0, Il2=7.0, kr2=60.0, mm2=4.0, Im2=0.02
    )
    a1, l1, l2, ml1, ml2, Il1, Il2, kr1, kr2, mm2, Im1, Im2, g = letters(
        robot, "a1 l1 l2 ml1 ml2 Il1 Il2 kr1 kr2 mm2 Im1 Im2 g"
    )
    for _ in range(5):
        q1, q2 = q = at_random(2)
        b11 = Il1 + ml1 * l1**2 + kr1**2 * Im1 + Il2 + ml2 * (a1**2 + l2**2 + 2 * a1 * l2 * c(q2)) + Im2 + mm2 * a1**2
        b12 = Il2 + ml2 * (l2**2 + a1 * l2 * c(q2)) + kr2 * Im2
        b22 = Il2 + ml2 * l2**2 + kr2**2 * Im2
        assert np.allclose(mass_matrix(robot, q), [[b11, b12], [b12, b22]], **TIGHT)
        g2 = ml2 * l2 * g * c(q1 + q2)
        assert np.allclose(gravity(robot, q), [(ml1 * l1 + mm2 * a1 + ml2 * a1) * g * c(q1) + g2, g2], **TIGHT)
        assert np.allclose(centre(robot, q, "link1"), [l1 * c(q1), l1 * s(q1), 0], **TIGHT)


def test_planar3r_masses_and_tip() -> None:
    robot = read("planar3r")
    p = robot.parameters
    q = at_random(3)
    angles = np.cumsum(q)
    a, l = (np.array([p[f"{k}{i}"] for i in (1, 2, 3)]) for k in "al")
    assert np.allclose(tool(robot, q)[:2, 3], [a @ c(angles), a @ s(angles)], **TIGHT)
    joint = a[0] * c(angles[0]) + a[1] * c(angles[1])
    assert centre(robot, q, "link3")[0] == pytest.approx(joint + l[2] * c(angles[2]), abs=1e-12)


def closed(q1p: float, q1s: float) -> np.ndarray:
    """All joints of the parallelogram from its actuated ones."""
    return np.array([q1p, q1s - q1p, np.pi - q1s + q1p, q1s])


CLOSED_RATES = np.array([[1, 0], [-1, 1], [1, -1], [0, 1]])


def test_parallelogram_closes() -> None:
    robot = read("parallelogram")
    (loop,) = robot.loops
    robot = robot.opened
    p = robot.parameters
    for _ in range(5):
        q1p, q1s = at_random(2)
        bodies = placed(robot, closed(q1p, q1s))
        first = bodies[loop.first].T @ loop.first_placement.pose().array().astype(float)
        second = bodies[loop.second].T @ loop.second_placement.pose().array().astype(float)
        assert np.allclose(first[:3, 2:], second[:3, 2:], **TIGHT)
        end = [p["a1s"] * c(q1s) - p["a4"] * c(q1p), p["a1s"] * s(q1s) - p["a4"] * s(q1p)]
        assert np.allclose(tool(robot, closed(q1p, q1s))[:2, 3], end, **TIGHT)


def test_parallelogram_is_section_7_3_3_corrected() -> None:
    """b_a11, b_a12, g_a as printed; b_a22 with 1'' and m_3' where 1' and m_2' are printed."""
    robot = read("parallelogram").opened
    p = robot.parameters
    m1, m2, m3, ms = (p[f"ml{k}"] for k in ("1p", "2p", "3p", "1s"))
    l1, l2, l3, ls = (p[f"l{k}"] for k in ("1p", "2p", "3p", "1s"))
    I1, I2, I3, Is = (p[f"Il{k}"] for k in ("1p", "2p", "3p", "1s"))
    a1, a_s, g = p["a1p"], p["a1s"], p["g"]
    for _ in range(5):
        q1p, q1s = at_random(2)
        b11 = I1 + m1 * l1**2 + m2 * a1**2 + I3 + m3 * l3**2 + m3 * a1**2 - 2 * a1 * m3 * l3
        b12 = (a1 * m2 * l2 + a_s * m3 * (a1 - l3)) * c(q1s - q1p)
        b22 = Is + ms * ls**2 + I2 + m2 * l2**2 + m3 * a_s**2
        q = closed(q1p, q1s)
        B = CLOSED_RATES.T @ mass_matrix(robot, q) @ CLOSED_RATES
        assert np.allclose(B, [[b11, b12], [b12, b22]], **TIGHT)
        held = [(m1 * l1 + m2 * a1 - m3 * (l3 - a1)) * g * c(q1p), (ms * ls + m2 * l2 + m3 * a_s) * g * c(q1s)]
        assert np.allclose(CLOSED_RATES.T @ gravity(robot, q), held, rtol=0, atol=1e-11)


# El Baji ---------------------------------------------------------------------------------------------


def test_scara5_tip_is_equation_36() -> None:
    robot = read("scara5")
    l1, l2, l3, l4, l5 = (robot.parameters[f"l{i}"] for i in range(1, 6))
    for _ in range(5):
        d1, t2, t3, t4, d5 = q = at_random(5)
        t23, t234 = t2 + t3, t2 + t3 + t4
        T = [
            [c(t234), s(t234), 0, l2 * c(t2) + l3 * c(t23) + l4 * c(t234)],
            [s(t234), -c(t234), 0, l2 * s(t2) + l3 * s(t23) + l4 * s(t234)],
            [0, 0, -1, l1 + d1 - l5 - d5],
            [0, 0, 0, 1],
        ]
        assert np.allclose(tool(robot, q), T, **TIGHT)


def test_scara5_centres_of_mass() -> None:
    robot = read("scara5").with_parameters(lc2=0.07, lc3=0.11, lc4=0.13)
    p = robot.parameters
    d1, t2, t3, t4, _ = q = at_random(5)
    x2, x3, x4 = (np.array([c(t), s(t), 0]) for t in np.cumsum([t2, t3, t4]))
    height = np.array([0, 0, p["l1"] + d1])
    assert np.allclose(centre(robot, q, "upper_arm"), height + p["lc2"] * x2, **TIGHT)
    assert np.allclose(centre(robot, q, "forearm"), height + p["l2"] * x2 + p["lc3"] * x3, **TIGHT)
    assert np.allclose(centre(robot, q, "hand"), height + p["l2"] * x2 + p["l3"] * x3 + p["lc4"] * x4, **TIGHT)


def test_scara5_is_figure_3() -> None:
    robot = read("scara5").with_parameters(l2=0.21, l3=0.17, l4=0.19, lc2=0.07, lc3=0.11, lc4=0.13, Izz3=0.004, m4=0.9)
    m1, m2, m3, m4, m5, l2, l3, l4, lc2, lc3, lc4, I2, I3, I4, g = letters(
        robot, "m1 m2 m3 m4 m5 l2 l3 l4 lc2 lc3 lc4 Izz2 Izz3 Izz4 g"
    )
    for _ in range(5):
        _, _, t3, t4, _ = q = at_random(5)
        c3, c4, c34 = c(t3), c(t4), c(t3 + t4)
        M = np.zeros((5, 5))
        M[0, 0], M[0, 4], M[4, 4] = m1 + m2 + m3 + m4 + m5, -m5, m5
        M[3, 3] = I4 + l4**2 * m5 + lc4**2 * m4
        M[2, 3] = I4 + l4 * m5 * (l3 * c4 + l4) + lc4 * m4 * (l3 * c4 + lc4)
        M[1, 3] = I4 + l4 * m5 * (l2 * c34 + l3 * c4 + l4) + lc4 * m4 * (l2 * c34 + l3 * c4 + lc4)
        M[2, 2] = (
            I3 + I4 + lc3**2 * m3 + m4 * (l3**2 + 2 * l3 * lc4 * c4 + lc4**2) + m5 * (l3**2 + 2 * l3 * l4 * c4 + l4**2)
        )
        M[1, 2] = (
            I3 + I4 + lc3 * m3 * (l2 * c3 + lc3)
            + m4 * (l2 * l3 * c3 + l2 * lc4 * c34 + l3**2 + 2 * l3 * lc4 * c4 + lc4**2)
            + m5 * (l2 * l3 * c3 + l2 * l4 * c34 + l3**2 + 2 * l3 * l4 * c4 + l4**2)
        )  # fmt: skip
        M[1, 1] = (
            I2 + I3 + I4 + lc2**2 * m2 + m3 * (l2**2 + 2 * l2 * lc3 * c3 + lc3**2)
            + m4 * (l2**2 + 2 * l2 * l3 * c3 + 2 * l2 * lc4 * c34 + l3**2 + 2 * l3 * lc4 * c4 + lc4**2)
            + m5 * (l2**2 + 2 * l2 * l3 * c3 + 2 * l2 * l4 * c34 + l3**2 + 2 * l3 * l4 * c4 + l4**2)
        )  # fmt: skip
        assert np.allclose(mass_matrix(robot, q), np.triu(M) + np.triu(M, 1).T, **TIGHT)
        assert np.allclose(gravity(robot, q), [g * (m1 + m2 + m3 + m4 + m5), 0, 0, 0, -g * m5], **TIGHT)


def test_scara5_has_the_data_of_table_4() -> None:
    p = read("scara5").parameters
    assert [p[f"m{i}"] for i in range(1, 6)] == [1.228, 1.023, 1.023, 1.023, 0.5114]
    assert [p[f"l{i}"] for i in range(1, 6)] == [0.524, 0.2, 0.2, 0.2, 0.14]
    assert {p[f"lc{i}"] for i in (2, 3, 4)} == {0.229}
    assert {p[f"Izz{i}"] for i in (2, 3, 4)} == {0.0058}


# Truc ----------------------------------------------------------------------------------------


def test_three_link_frames_and_centroids_are_equations_56_and_61() -> None:
    robot = read("three_link")
    l0, l1, l2, r0, r1, r2 = letters(robot, "l0 l1 l2 r0 r1 r2")
    for _ in range(5):
        q1, q2, q3 = q = at_random(3)
        c1, s1, c2, s2, c23, s23 = c(q1), s(q1), c(q2), s(q2), c(q2 + q3), s(q2 + q3)
        reach = l1 * c2 + l2 * c23
        T = [
            [c1 * c23, -c1 * s23, -s1, c1 * reach],
            [s1 * c23, -s1 * s23, c1, s1 * reach],
            [-s23, -c23, 0, l0 - l1 * s2 - l2 * s23],
            [0, 0, 0, 1],
        ]
        assert np.allclose(tool(robot, q), T, **TIGHT)
        assert np.allclose(centre(robot, q, "link1"), [0, 0, r0], **TIGHT)
        assert np.allclose(centre(robot, q, "link2"), [r1 * c1 * c2, r1 * s1 * c2, l0 - r1 * s2], **TIGHT)
        out = c2 * l1 + c23 * r2
        assert np.allclose(centre(robot, q, "link3"), [out * c1, out * s1, l0 - l1 * s2 - r2 * s23], **TIGHT)


def test_three_link_is_equations_64_65_and_69() -> None:
    robot = read("three_link")
    p = robot.parameters
    l1, r1, r2, m2, m3, g = letters(robot, "l1 r1 r2 m2 m3 g")
    for _ in range(5):
        _, q2, q3 = q = at_random(3)
        c2, s2, c3, c23, s23 = c(q2), s(q2), c(q3), c(q2 + q3), s(q2 + q3)
        M11 = p["I3yy"] * c23**2 + p["I3xx"] * s23**2 + p["I2xx"] * s2**2 + p["I1yy"]
        M11 += (m2 * r1**2 + p["I2yy"]) * c2**2 + m3 * (r2 * c23 + l1 * c2) ** 2
        M22 = 2 * l1 * m3 * r2 * c3 + (l1**2 + r2**2) * m3 + m2 * r1**2 + p["I3zz"] + p["I2zz"]
        M33 = m3 * r2**2 + p["I3zz"]
        M23 = l1 * m3 * r2 * c3 + M33
        assert np.allclose(mass_matrix(robot, q), [[M11, 0, 0], [0, M22, M23], [0, M23, M33]], **TIGHT)
        g3 = -m3 * r2 * g * c23
        assert np.allclose(gravity(robot, q), [0, -(l1 * m3 + m2 * r1) * g * c2 + g3, g3], **TIGHT)
    assert p["g"] == 9.807


# Khalil -----------------------------------------------------------------------------------------------------


def test_rx90_has_khalils_table() -> None:
    robot = read("rx90")
    rows = [(j.geometry.alpha, j.geometry.a, j.geometry.theta, j.geometry.d) for j in robot.joints]
    half, d3, RL4 = np.pi / 2, robot.parameters["d3"], robot.parameters["RL4"]
    assert rows == [(0, 0, 0, 0), (half, 0, 0, 0), (0, d3, 0, 0), (-half, 0, 0, RL4), (half, 0, 0, 0), (-half, 0, 0, 0)]


def test_rx90_angular_velocity_is_example_7_4() -> None:
    """The recursion of Khalil for w6 in frame 6 (with WI13 where WI12 is printed in the row of 4w3)."""
    robot = read("rx90")
    q, qd = at_random(6), at_random(6)
    C, S = dict(enumerate(c(q), 1)), dict(enumerate(s(q), 1))
    WI12, WI22 = S[2] * qd[0], C[2] * qd[0]
    WI13, WI23, W33 = C[3] * WI12 + S[3] * WI22, -S[3] * WI12 + C[3] * WI22, qd[1] + qd[2]
    WI14, WI24, W34 = C[4] * WI13 - S[4] * W33, -S[4] * WI13 - C[4] * W33, WI23 + qd[3]
    WI15, WI25, W35 = C[5] * WI14 + S[5] * W34, -S[5] * WI14 + C[5] * W34, -WI24 + qd[4]
    w6 = [C[6] * WI15 - S[6] * W35, -S[6] * WI15 - C[6] * W35, WI25 + qd[5]]
    body = placed(robot, q)["link6"]
    w = sum(qd[i] * axis for i, _, axis, _ in body.columns)
    assert np.allclose(body.T[:3, :3].T @ w, w6, **TIGHT)


def test_rx90_first_three_links_are_example_7_1() -> None:
    """A and Q with the masses of the wrist set to zero; MX3, MZ3 and the products of inertia vanish here."""
    wrist = {f"{k}{i}": 0.0 for i in (4, 5, 6) for k in ("M", "XX", "YY", "ZZ")} | {"MZ4": 0.0, "MY5": 0.0, "MZ6": 0.0}
    robot = read("rx90").with_parameters(**wrist)
    p = robot.parameters
    D3, MX2, MY2, MY3, M3, g = letters(robot, "d3 MX2 MY2 MY3 M3 g")
    for _ in range(5):
        q = at_random(6)
        C2, S2, S3, C23, S23 = c(q[1]), s(q[1]), s(q[2]), c(q[1] + q[2]), s(q[1] + q[2])
        A11 = p["Ia1"] + p["ZZ1"] + S2**2 * p["XX2"] + C2**2 * p["YY2"] + S23**2 * p["XX3"] + C23**2 * p["YY3"]
        A11 += -2 * C2 * S23 * D3 * MY3 + C2**2 * D3**2 * M3
        A22 = p["Ia2"] + p["ZZ2"] + p["ZZ3"] - 2 * S3 * D3 * MY3 + D3**2 * M3
        A23 = p["ZZ3"] - S3 * D3 * MY3
        A33 = p["Ia3"] + p["ZZ3"]
        assert np.allclose(mass_matrix(robot, q)[:3, :3], [[A11, 0, 0], [0, A22, A23], [0, A23, A33]], **TIGHT)
        Q2 = g * (C2 * MX2 - S2 * MY2 - S23 * MY3 + D3 * C2 * M3)
        assert np.allclose(gravity(robot, q)[:3], [0, Q2, -g * S23 * MY3], **TIGHT)
