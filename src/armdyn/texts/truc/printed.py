"""The printed equations (56) to (70) of Truc, in the symbols of the catalog robot `three_link`."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

from armdyn.graph import symbol, symbols

NAMES = "l0 l1 l2 r0 r1 r2 m1 m2 m3 g I1yy I2xx I2yy I2zz I3xx I3yy I3zz"
p = SimpleNamespace(**{name: symbol(name, "parameter") for name in NAMES.split()})
q = q1, q2, q3 = symbols("q1 q2 q3")
qd = v1, v2, v3 = symbols("v1 v2 v3")
LINKS = ("link1", "link2", "link3")
Rows = list[list[Any]]

c1, s1, c2, s2, c3, s3 = q1.cos(), q1.sin(), q2.cos(), q2.sin(), q3.cos(), q3.sin()
c23, s23 = (q2 + q3).cos(), (q2 + q3).sin()

TABLE_1 = (("q1", "l0", "0", "-pi/2"), ("q2", "0", "l1", "0"), ("q3", "0", "l2", "0"))
"""theta, d, a, alpha of each joint."""
DATA_71 = {
    "l0": 0.294,
    "r0": 0.140,
    "m1": 5.248,
    "I1xx": 83.5e-3,
    "I1yy": 30.4e-3,
    "I1zz": 83.5e-3,
    "l1": 0.190,
    "r1": 0.088,
    "m2": 2.412,
    "I2xx": 15.9e-3,
    "I2yy": 40.5e-3,
    "I2zz": 40.5e-3,
    "l2": 0.170,
    "r2": 0.080,
    "m3": 1.577,
    "I3xx": 7.9e-3,
    "I3yy": 20.2e-3,
    "I3zz": 20.2e-3,
    "g": 9.807,
}
CENTRES_71 = ((0, 0.154, 0), (-0.102, 0, 0), (-0.090, 0, 0))

# Kinematics -------------------------------------------------------------------------------------------------------

ROTATIONS = (
    ((c1, 0, -s1), (s1, 0, c1), (0, -1, 0)),
    ((c1 * c2, -c1 * s2, -s1), (s1 * c2, -s1 * s2, c1), (-s2, -c2, 0)),
    ((c1 * c23, -c1 * s23, -s1), (s1 * c23, -s1 * s23, c1), (-s23, -c23, 0)),
)  # (57)
ORIGINS = (
    (0, 0, p.l0),
    (p.l1 * c1 * c2, p.l1 * s1 * c2, p.l0 - p.l1 * s2),
    (c1 * (p.l1 * c2 + c23 * p.l2), s1 * (p.l1 * c2 + c23 * p.l2), p.l0 - p.l1 * s2 - p.l2 * s23),
)  # (56)
ANGULAR = ((0, -v1, 0), (-s2 * v1, -c2 * v1, v2), (-s23 * v1, -c23 * v1, v2 + v3))  # (58)
ROTATIONAL = (
    ((0, 0, 0), (-1, 0, 0), (0, 0, 0)),
    ((-s2, 0, 0), (-c2, 0, 0), (0, 1, 0)),
    ((-s23, 0, 0), (-c23, 0, 0), (0, 1, 1)),
)  # (59)
LOCAL_CENTRES = ((0, p.l0 - p.r0, 0), (p.r1 - p.l1, 0, 0), (p.r2 - p.l2, 0, 0))  # (60)
CENTRES = (
    (0, 0, p.r0),
    (p.r1 * c1 * c2, p.r1 * s1 * c2, p.l0 - p.r1 * s2),
    ((c2 * p.l1 + c23 * p.r2) * c1, (c2 * p.l1 + c23 * p.r2) * s1, p.l0 - p.l1 * s2 - p.r2 * s23),
)  # (61)
TRANSLATIONAL = (
    ((0, 0, 0), (0, 0, 0), (0, 0, 0)),
    ((-s1 * c2 * p.r1, -c1 * s2 * p.r1, 0), (c1 * c2 * p.r1, -s1 * s2 * p.r1, 0), (0, -c2 * p.r1, 0)),
    (
        (-s1 * (c2 * p.l1 + c23 * p.r2), -c1 * (p.l1 * s2 + p.r2 * s23), -c1 * s23 * p.r2),
        (c1 * (c2 * p.l1 + c23 * p.r2), -s1 * (p.l1 * s2 + p.r2 * s23), -s1 * s23 * p.r2),
        (0, -c2 * p.l1 - c23 * p.r2, -c23 * p.r2),
    ),
)  # (62)


def transformation(i: int) -> Rows:
    """(56)"""
    return [[*row, x] for row, x in zip(ROTATIONS[i], ORIGINS[i], strict=True)] + [[0, 0, 0, 1]]


# Dynamics ---------------------------------------------------------------------------------------------------------

LEVER = p.l1 * p.m3 * p.r2
ROLL3 = p.m3 * p.r2**2 + p.I3yy - p.I3xx
ROLL2 = p.l1**2 * p.m3 + p.m2 * p.r1**2 - p.I2xx + p.I2yy


def inertia_matrix() -> Rows:
    """(64), (65)"""
    M11 = (
        p.I3yy * c23**2
        + p.I3xx * s23**2
        + p.I2xx * s2**2
        + p.I1yy
        + (p.m2 * p.r1**2 + p.I2yy) * c2**2
        + p.m3 * (p.r2 * c23 + p.l1 * c2) ** 2
    )
    M22 = 2 * p.l1 * p.m3 * p.r2 * c3 + (p.l1**2 + p.r2**2) * p.m3 + p.m2 * p.r1**2 + p.I3zz + p.I2zz
    M33 = p.m3 * p.r2**2 + p.I3zz
    M23 = p.l1 * p.m3 * p.r2 * c3 + p.m3 * p.r2**2 + p.I3zz
    return [[M11, 0, 0], [0, M22, M23], [0, M23, M33]]


def coriolis_matrix() -> Rows:
    """(67)"""
    C11 = -(ROLL3 * (v2 + v3) * s23 + LEVER * (2 * v2 + v3) * s2) * c23 - ROLL2 * c2 * s2 * v2 - LEVER * s3 * (v2 + v3)
    C21 = ((ROLL3 * s23 + 2 * LEVER * s2) * c23 + ROLL2 * c2 * s2 + LEVER * s3) * v1
    C31 = ((ROLL3 * s23 + LEVER * s2) * c23 + LEVER * s3) * v1
    return [[C11, -C21, -C31], [C21, -LEVER * s3 * v3, -LEVER * s3 * (v2 + v3)], [C31, LEVER * s3 * v2, 0]]


def potential_energy() -> Any:
    """(68)"""
    heights = p.l0 * p.m2 + p.l0 * p.m3 + p.m1 * p.r0 - (p.l1 * p.m3 + p.m2 * p.r1) * s2 - p.m3 * p.r2 * s23
    return p.g * heights


def gravity() -> list[Any]:
    """(69)"""
    g2 = -(p.l1 * p.m3 + p.m2 * p.r1) * p.g * c2 - p.m3 * p.r2 * p.g * c23
    return [0, g2, -p.m3 * p.r2 * p.g * c23]


def skew_matrix(third: Any) -> Rows:
    """(70) with `third` in the place of I3zz (printed) or I3xx (right, Truc-1)."""
    roll = p.m3 * p.r2**2 + p.I3yy - third
    N12 = 2 * ((roll * s23 + 2 * LEVER * s2) * c23 + ROLL2 * c2 * s2 + LEVER * s3) * v1
    N13 = 2 * ((roll * s23 + LEVER * s2) * c23 + LEVER * s3) * v1
    N23 = LEVER * s3 * (2 * v2 + v3)
    return [[0, N12, N13], [-N12, 0, N23], [-N13, -N23, 0]]
