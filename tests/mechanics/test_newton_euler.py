"""Newton-Euler in link frames: against Pinocchio, against the laws of mechanics, and against its claims of cost."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import armdyn
from armdyn.algebra import Mat3, Vec3, cross, rot_rpy
from armdyn.errors import ShapeError
from armdyn.graph import trace
from armdyn.mechanics import newton_euler
from armdyn.mechanics.kinematics import link_poses
from armdyn.mechanics.steps.newton_euler import angular_acceleration, rate_matrix, turning_moment
from armdyn.robot import Robot
from armdyn.texts.khalil.chapter_7_4 import printed_rate_matrix
from support import pinocchio_model
from support.laws import SHAPES, assert_close, check_scalars, sample

STEP = 1e-30  # complex step: far below rounding of the real part, so derivatives are exact to rounding


@pytest.mark.parametrize("shape", SHAPES)
def test_agrees_with_pinocchio(shape: str) -> None:
    robot, q, qd, qdd, wrench = sample(shape)
    rest, engine = np.zeros(robot.n), pinocchio_model.inverse_dynamics
    weight = engine(robot, q, rest, rest)
    assert_close(newton_euler.inverse_dynamics(robot, q, qd, qdd, wrench), engine(robot, q, qd, qdd, wrench))
    assert_close(newton_euler.inverse_dynamics(robot, q, qd, qdd), engine(robot, q, qd, qdd))
    assert_close(newton_euler.mass_matrix(robot, q), pinocchio_model.mass_matrix(robot, q))
    assert_close(newton_euler.gravity(robot, q), weight)
    fast = 3 * qd  # velocity terms not small against the weight that is subtracted, which costs them digits
    assert_close(newton_euler.coriolis(robot, q, fast), engine(robot, q, fast, rest) - weight, 1e-9)


def test_every_scalar() -> None:
    check_scalars(newton_euler)


def test_a_batch_is_a_loop() -> None:
    robot, *_ = sample("tree")
    rng = np.random.default_rng(5)
    q, qd, qdd = rng.uniform(-2, 2, (3, 2, 3, robot.n))
    wrench = rng.uniform(-5, 5, 6)
    tau = newton_euler.inverse_dynamics(robot, q, qd, qdd, wrench)
    for at in np.ndindex(2, 3):
        one = newton_euler.inverse_dynamics(robot, q[at], qd[at], qdd[at], wrench)
        assert_close(tau[at], one, 1e-13)  # sines of arrays may differ from those of floats in the last digit


@pytest.mark.parametrize("shape", SHAPES)
def test_mass_matrix_is_symmetric_and_positive_definite(shape: str) -> None:
    robot, q, *_ = sample(shape)
    M = newton_euler.mass_matrix(robot, q)
    assert (M == M.T).all()
    assert np.linalg.eigvalsh(M).min() > 0


@pytest.mark.parametrize("shape", SHAPES)
def test_power_goes_into_energy(shape: str) -> None:
    """qd.tau = d(T + U)/dt, T from the mass matrix, U from the heights of the masses."""
    robot, q, qd, qdd, _ = sample(shape)

    def energy(t: complex) -> Any:
        x, v = q + qd * t, qd + qdd * t
        moments = [p.apply(link.inertia.moment * (1 / link.inertia.mass)) * link.inertia.mass
                   for link, p in zip(robot.links, link_poses(robot, x), strict=True)]  # fmt: skip
        return v @ newton_euler.mass_matrix(robot, x) @ v / 2 - sum(robot.gravity.dot(s) for s in moments)

    power: Any = qd @ newton_euler.inverse_dynamics(robot, q, qd, qdd)
    assert abs(power - energy(1j * STEP).imag / STEP) <= 1e-11 * max(abs(power), 1)


@pytest.mark.parametrize("name", ["q", "qd", "qdd", "wrench"])
def test_wrong_sizes_are_refused(name: str) -> None:
    robot, q, qd, qdd, wrench = sample("tree")
    arguments = {"q": q, "qd": qd, "qdd": qdd, "wrench": wrench}
    with pytest.raises(ShapeError, match=f"{name} has shape"):
        newton_euler.inverse_dynamics(robot, **{**arguments, name: arguments[name][:-1]})


# The cheaper forms are the printed equations ----------------------------------------------------------------------


def vectors(seed: int, count: int) -> list[Vec3]:
    return [Vec3(*x) for x in np.random.default_rng(seed).uniform(-2, 2, (count, 3)).tolist()]


def test_angular_acceleration_is_that_of_the_source() -> None:
    """By way of the joint's axis = R^T wd + qdd z + w x qd z, Khalil (7.53)."""
    w_i, wd_i, angles = vectors(1, 3)
    R, spin, rate = rot_rpy(*angles), Vec3(0, 0, 0.7), Vec3(0, 0, -1.3)
    w = R.T @ w_i + spin
    U_z = R.T @ (rate_matrix(w_i, wd_i) @ R.column(2))
    printed = R.T @ wd_i + rate + cross(R.T @ w_i, spin)
    assert_close(angular_acceleration(w, U_z, (R.T @ wd_i + rate).z).array(), printed.array(), 1e-14)


def test_turning_moment_is_that_of_the_source() -> None:
    """Multiplied out = I wd + w x (I w), Khalil (7.56)."""
    w, wd, diagonal, products = vectors(2, 4)
    tensor = Mat3.symmetric(diagonal.x, products.x, products.y, diagonal.y, products.z, diagonal.z)
    printed = tensor @ wd + cross(w, tensor @ w)
    found = turning_moment(tensor, w, wd, rate_matrix(w, wd))
    assert_close(found.array(), printed.array(), 1e-14)


def test_erratum_khalil_1(monkeypatch: pytest.MonkeyPatch) -> None:
    """Khalil (7.57) prints hat(w) where hat(wd) stands: a point of the body would not feel angular acceleration."""
    w, wd, r = vectors(3, 3)
    point = cross(wd, r) + cross(w, cross(w, r))
    assert_close((rate_matrix(w, wd) @ r).array(), point.array(), 1e-14)
    assert np.abs((printed_rate_matrix(w, wd) @ r - point).array()).max() > 0.1

    robot, q, qd, qdd, _ = sample("turning")
    engine = pinocchio_model.inverse_dynamics(robot, q, qd, qdd)
    assert_close(newton_euler.inverse_dynamics(robot, q, qd, qdd), engine)
    monkeypatch.setattr("armdyn.mechanics.steps.newton_euler.rate_matrix", printed_rate_matrix)
    assert np.abs(newton_euler.inverse_dynamics(robot, q, qd, qdd) - engine).max() > 0.01 * np.abs(engine).max()


# Operation counts --------------------------------------------------------------------------------------------------


def ten_symbols(rows: list[dict[str, object]], **lengths: float) -> Robot:
    """A robot by modified DH rows whose links have all ten inertial parameters as symbols, in their own frames."""
    joints, values = [], {"g": 9.81, **lengths}
    for j, row in enumerate(rows, start=1):
        tensor = [f"{name}{j}" for name in ("XX", "XY", "XZ", "YY", "YZ", "ZZ")]
        moment, mass = [f"{name}{j}" for name in ("MX", "MY", "MZ")], f"M{j}"
        joints.append({"type": "revolute", "mass": mass, "moment": moment, "inertia_origin": tensor, **row})
        values |= dict.fromkeys([*tensor, *moment], 0.1) | {mass: 1.0}
    return Robot.from_dh(joints, "modified", (0, 0, "-g"), parameters=values).symbolic


def puma() -> Robot:
    quarter = ("0", "-pi/2", "0", "-pi/2", "pi/2", "-pi/2")
    rows: list[dict[str, object]] = [{"alpha": alpha} for alpha in quarter]
    rows[2] |= {"a": "a3", "d": "d3"}
    rows[3] |= {"a": "a4", "d": "d4"}
    return ten_symbols(rows, a3=0.43, d3=0.15, a4=-0.02, d4=0.43)


@pytest.mark.parametrize(
    ("robot", "multiplications", "additions"),
    [
        (armdyn.load("scara5").symbolic, 46, 36),  # what OpenSYMORO reaches
        (puma(), 287, 268),  # OpenSYMORO: 345 and 296
    ],
    ids=["scara5", "puma 560, ten parameters a link"],
)
def test_operation_counts(robot: Robot, multiplications: int, additions: int) -> None:
    inputs = {"q": robot.n, "qd": robot.n, "qdd": robot.n}
    count = trace(lambda q, qd, qdd: newton_euler.inverse_dynamics(robot, q, qd, qdd), inputs).operations
    assert count.multiplications <= multiplications
    assert count.additions <= additions
    assert count.divisions == 0


def test_intermediate_values_have_the_numbers_of_their_links() -> None:
    """Khalil's names: No32 is the third component of a moment of link 2."""
    program = str(armdyn.derive(armdyn.load("planar2r"), "newton_euler").program())
    values = dict(line.split(" = ", 1) for line in program.splitlines() if not line.startswith("#"))
    assert "Il1" in values["No31"] and "Il2" in values["No32"] and "ml2" in values["F22"]
