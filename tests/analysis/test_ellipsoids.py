"""Sets of velocities, forces and accelerations: by sampling, by support functions, against Pinocchio's M and J."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import armdyn
from analysis.arms import TASKS, Array, compiled, foreign, states
from armdyn.analysis import (
    Ellipsoid,
    Polytope,
    acceleration_ellipsoid,
    acceleration_polytope,
    dynamic_manipulability,
    force_ellipsoid,
    manipulability,
    velocity_ellipsoid,
)
from armdyn.control.base import SingularTask
from armdyn.errors import NotApplicable, PhysicsError
from armdyn.kinematics.task_rows import make_task

ARMS = pytest.mark.parametrize("name", TASKS)
LINEAR = {"planar2r": "x y", "planar3r": "x y", "puma560": "x y z", "panda": "x y z", "random 5": "x y z"}


def directions(m: int, count: int = 20, seed: int = 3) -> Array:
    d = np.random.default_rng(seed).normal(size=(count, m))
    return d / np.linalg.norm(d, axis=-1, keepdims=True)


def limits(n: int) -> Array:
    return np.linspace(40.0, 10.0, n)


# Velocities and forces ----------------------------------------------------------------------------------------------


@ARMS
def test_velocity_and_force_ellipsoids_by_sampling(name: str) -> None:
    """Kineto-statics duality: J qd fills the one, J^T gamma bounds the other, and their half axes are reciprocal."""
    dyn = compiled(name)
    q, _ = states(name)
    fastest = limits(dyn.n)
    velocities = velocity_ellipsoid(dyn, q, rows=TASKS[name], qd_max=fastest)
    forces = force_ellipsoid(dyn, q, rows=TASKS[name], tau_max=1 / fastest)
    index = make_task(dyn, TASKS[name]).index
    unit = directions(dyn.n, 200)
    for i in range(len(q)):
        J = dyn.jacobian(q[i])[index]
        x = (J * fastest) @ unit.T
        for d in directions(len(J)):
            support = velocities.support(d)[i]
            assert (d @ x).max() <= support * (1 + 1e-12)
            best = (J * fastest).T @ d
            assert d @ (J * fastest) @ (best / np.linalg.norm(best)) == pytest.approx(support, rel=1e-10)
            load = forces.axes[i] @ (forces.lengths[i] * d)  # a point of the surface
            assert np.linalg.norm((J.T @ load) * fastest) == pytest.approx(1, rel=1e-8)
    np.testing.assert_allclose(velocities.lengths * forces.lengths[..., ::-1], 1, rtol=1e-8)
    np.testing.assert_allclose(velocities.isotropy, forces.isotropy, rtol=1e-8)


def test_lost_directions() -> None:
    dyn = compiled("planar2r")
    stretched = [0.0, 0.0]
    velocities, forces = velocity_ellipsoid(dyn, stretched), force_ellipsoid(dyn, stretched)
    assert velocities.lengths[1] == pytest.approx(0, abs=1e-15) and np.isinf(velocities.condition_number)
    assert np.isinf(forces.lengths[0]) and np.abs(forces.axes[:, 0]) == pytest.approx([1, 0], abs=1e-12)
    assert np.isinf(forces.support([1.0, 0.0])) and np.isfinite(forces.support(forces.axes[:, 1]))
    assert forces.isotropy == 0 == manipulability(dyn, stretched).round(12)


# Accelerations ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", LINEAR)
@pytest.mark.parametrize("moving", [False, True])
def test_exact_acceleration_ellipsoid_by_sampling(name: str, moving: bool) -> None:
    """Torques on the sphere, through forward dynamics: their accelerations lie inside and touch every face."""
    dyn = compiled(name)
    task = make_task(dyn, LINEAR[name])
    strongest = limits(dyn.n)
    for q, qd in zip(*states(name, 2), strict=True):
        here = acceleration_ellipsoid(dyn, q, qd if moving else None, rows=LINEAR[name], tau_max=strongest)
        speed = qd if moving else np.zeros_like(q)
        J, bias = dyn.jacobian(q)[task.index], dyn.jacobian_dot_qd(q, speed)[task.index]

        def tool(tau: Array, q: Array = q, speed: Array = speed, J: Array = J, bias: Array = bias) -> Array:
            return dyn.forward_dynamics(q, speed, tau) @ J.T + bias

        levels = here.level(tool(strongest * directions(dyn.n, 500)))
        assert levels.max() <= 1 + 1e-9
        Mi = np.linalg.inv(dyn.mass_matrix(q))
        for d in directions(len(J)):
            push = strongest * (Mi @ J.T @ d)
            reached = tool(strongest * push / np.linalg.norm(push))
            assert d @ reached == pytest.approx(here.support(d), rel=1e-9)
            assert here.level(reached) == pytest.approx(1, rel=1e-8)


@pytest.mark.parametrize("name", ["planar3r", "puma560", "panda", "random 5"])
def test_acceleration_ellipsoids_of_matrices_by_pinocchio(name: str) -> None:
    """(7.148) and the exact set, as quadratic forms written out with an independent engine's M, g and J."""
    rigid = armdyn.compile(compiled(name).robot.without("rotors", "friction"))
    rows = make_task(rigid, LINEAR[name]).index
    for q in states(name, 2)[0]:
        M, _, g, J6, _ = foreign(name, q, np.zeros_like(q))
        J = J6[rows]
        text = acceleration_ellipsoid(rigid, q, rows=LINEAR[name], method="text")
        exact = acceleration_ellipsoid(rigid, q, rows=LINEAR[name])
        np.testing.assert_allclose(text.centre, -J @ np.linalg.solve(M, g), rtol=1e-9, atol=1e-9)
        core = np.linalg.pinv(J).T @ M.T @ M @ np.linalg.pinv(J)
        inner = np.linalg.inv(J @ np.linalg.inv(M @ M) @ J.T)
        for d in directions(len(J)):
            assert text.level(text.centre + d) == pytest.approx(np.sqrt(d @ core @ d), rel=1e-9)
            assert exact.level(exact.centre + d) == pytest.approx(np.sqrt(d @ inner @ d), rel=1e-9)


@pytest.mark.parametrize("name", ["planar2r", "three_link"])
def test_the_two_ellipsoids_are_one_without_redundancy(name: str) -> None:
    """(7.149)"""
    dyn = compiled(name)
    q, _ = states(name)
    exact, text = (acceleration_ellipsoid(dyn, q, tau_max=limits(dyn.n), method=m) for m in ("exact", "text"))  # type: ignore[arg-type]
    np.testing.assert_allclose(exact.lengths, text.lengths, rtol=1e-9)
    for d in directions(len(exact.rows)):
        np.testing.assert_allclose(exact.support(d), text.support(d), rtol=1e-9)


@pytest.mark.parametrize("name", ["planar3r", "panda"])
def test_the_text_s_ellipsoid_of_a_redundant_arm_drops_gravity_of_the_null_space(name: str) -> None:
    """On its surface the torque (7.145) has not the unit norm that it is drawn for; and it lies in the exact set."""
    dyn = compiled(name)
    strongest = 100.0  # N m: the ball must hold the arm's weight for its surface to be comparable
    off: Any = 0.0
    for q in states(name)[0]:
        text, exact = (
            acceleration_ellipsoid(dyn, q, rows=LINEAR[name], tau_max=strongest, method=m)  # type: ignore[arg-type]
            for m in ("text", "exact")
        )
        J = dyn.jacobian(q)[make_task(dyn, LINEAR[name]).index]
        M, g = dyn.mass_matrix(q), dyn.gravity(q)
        shorter: Any = False
        for d in directions(len(J)):
            assert text.support(d) <= exact.support(d) * (1 + 1e-12) + 1e-12
            shorter |= text.support(d) < exact.support(d) - 1e-6
            x = text.centre + text.axes @ (text.lengths * d)
            by_text = M @ np.linalg.pinv(J) @ (x - text.centre)
            assert np.linalg.norm(by_text) == pytest.approx(strongest, rel=1e-9)
            off = max(off, abs(np.linalg.norm(M @ np.linalg.pinv(J) @ x + g) / strongest - 1))
        assert shorter
    assert off > 0.01


@pytest.mark.parametrize("name", ["planar2r", "puma560", "random 6"])
def test_problem_7_11_measures(name: str) -> None:
    """Dynamic manipulability = manipulability / det M for arms that are not redundant; (3.56) by the determinant."""
    dyn = compiled(name)
    q, _ = states(name)
    w = manipulability(dyn, q, rows=TASKS[name])
    np.testing.assert_allclose(
        w, np.abs(np.linalg.det(dyn.jacobian(q)[:, make_task(dyn, TASKS[name]).index])), rtol=1e-8
    )
    np.testing.assert_allclose(
        dynamic_manipulability(dyn, q, rows=TASKS[name]), w / np.linalg.det(dyn.mass_matrix(q)), rtol=1e-8
    )


def test_a_direction_lost_up_to_the_digits_of_a_file_is_printed_as_zero() -> None:
    lengths = np.array([np.inf, 123.4, 2.0, 3e-8])
    found = Ellipsoid("force", ("x", "y", "z", "rx"), np.zeros(4), np.eye(4), lengths)
    assert found.half_axes == "unlimited, 123, 2, 0"
    assert found.lengths[-1] == 3e-8


def test_volume() -> None:
    dyn = compiled("planar2r")
    here = velocity_ellipsoid(dyn, [0.3, 1.0])
    assert here.volume == pytest.approx(np.pi * manipulability(dyn, [0.3, 1.0]))
    assert velocity_ellipsoid(compiled("panda"), np.full(7, 0.4)).volume == pytest.approx(
        4 / 3 * np.pi * manipulability(compiled("panda"), np.full(7, 0.4))
    )


# Polytopes ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", LINEAR)
def test_acceleration_polytope_by_corners_of_the_torque_box(name: str) -> None:
    dyn = compiled(name)
    n = dyn.n
    low, high = -0.5 * limits(n), limits(n)  # not symmetric
    task = make_task(dyn, LINEAR[name])
    corners = np.array(np.meshgrid(*zip(low, high, strict=True))).reshape(n, -1).T
    for q, qd in zip(*states(name, 2), strict=True):
        here = acceleration_polytope(dyn, q, qd, rows=LINEAR[name], tau_max=high, tau_min=low)
        J = dyn.jacobian(q)[task.index]
        images = dyn.forward_dynamics(q, qd, corners) @ J.T + dyn.jacobian_dot_qd(q, qd)[task.index]
        for d in directions(len(J)):
            assert (images @ d).max() == pytest.approx(here.support(d), rel=1e-9)
        d, h = here.faces()
        assert ((images @ d.T) <= h + 1e-8 * np.abs(h).max()).all()
        assert (np.abs((images @ d.T) - h).min(axis=0) < 1e-8 * np.abs(h).max()).all()  # every face is touched
        vertices = here.vertices()
        for direction in directions(len(J)):
            assert (vertices @ direction).max() == pytest.approx(here.support(direction), rel=1e-8)
        gap = np.linalg.norm(vertices[:, None] - images[None], axis=-1).min(axis=1)
        assert gap.max() < 1e-8 * np.abs(images).max()


@pytest.mark.parametrize("name", ["planar2r", "planar3r", "panda"])
def test_largest_isotropic_acceleration(name: str) -> None:
    """The ball of `radius` about zero: nothing smaller by sampling directions, and the nearest face is found."""
    dyn = compiled(name)
    strongest = 800.0 if name == "planar2r" else 100.0
    q, _ = states(name, 3)
    here = acceleration_polytope(dyn, q, rows=LINEAR[name], tau_max=strongest)
    radius = here.radius()
    assert (radius > 0).any()
    rays = directions(len(here.rows), 4000)
    for i, r in enumerate(radius):
        supports = rays @ here.centre[i] + np.abs(rays @ here.generators[i]).sum(axis=-1)
        assert supports.min() >= r - 1e-9
        assert supports.min() <= r + 0.1 * np.ptp(supports)  # sampled directions come close to the nearest face


def test_largest_acceleration_along_a_direction_by_linear_programs() -> None:
    from scipy.optimize import linprog

    dyn = compiled("panda")
    q, _ = states("panda", 2)
    here = acceleration_polytope(dyn, q, rows="x y z")
    low, high = -np.array([87.0] * 4 + [12.0] * 3), np.array([87.0] * 4 + [12.0] * 3)
    for d in directions(3, 4):
        found = here.along(d)
        for i in range(2):
            J, M, g = dyn.jacobian(q[i])[:3], dyn.mass_matrix(q[i]), dyn.gravity(q[i])
            JMi = J @ np.linalg.inv(M)
            best = linprog(
                [*np.zeros(7), -1.0],
                A_eq=np.column_stack([JMi, -d]),
                b_eq=JMi @ g,
                bounds=[*zip(low, high, strict=True), (0, None)],
            )
            assert found[i] == pytest.approx(-best.fun, rel=1e-6)


def test_an_arm_that_cannot_hold_itself() -> None:
    dyn = compiled("planar2r")
    here = acceleration_polytope(dyn, [0.0, 1.0], tau_max=1.0)
    assert here.radius() < 0
    assert np.isnan(here.along([1.0, 0.0]))


def test_corners_of_sets_with_parallel_and_coplanar_generators() -> None:
    """Known sets: a rectangle from three edges, a prism over a hexagon; no point within an edge or face is a corner."""
    line = np.array([[1.0, 0.3, 0.0], [0.0, 0.0, 2.0]]) * 7.3
    rectangle = Polytope(("x", "y"), np.array([0.1, 0.2]), line).vertices()
    expected = np.array([0.1, 0.2]) + 7.3 * np.array([[1.3, 2], [1.3, -2], [-1.3, 2], [-1.3, -2]])
    assert len(rectangle) == 4
    assert np.abs(rectangle[:, None] - expected[None]).max(axis=-1).min(axis=1).max() < 1e-12
    turn = np.linalg.qr(np.random.default_rng(0).normal(size=(3, 3)))[0]
    hexagon = np.array([[1.0, 0.0, 0.0], [0.4, 0.9, 0.0], [-0.5, 0.8, 0.0], [0.0, 0.0, 1.7], [-2.0, 0.0, 0.0]]).T
    assert len(Polytope(("x", "y", "z"), np.zeros(3), turn @ hexagon).vertices()) == 12


def test_flat_polytopes() -> None:
    dyn = compiled("planar2r")
    weightless = acceleration_polytope(dyn, [0.0, 0.0], tau_max=500.0, gravity=False)
    assert weightless.radius() == pytest.approx(0, abs=1e-9)
    assert np.isfinite(weightless.vertices()).all()
    one = acceleration_polytope(armdyn.compile(armdyn.load("pendulum")), [0.3], rows="x", tau_max=5.0)
    assert one.vertices().shape == (2, 1)
    flat = acceleration_polytope(dyn, [0.3, 0.8], rows="x y z rx", tau_max=500.0)
    assert flat.radius() <= 1e-9


def test_wrong_input() -> None:
    dyn = compiled("planar2r")
    with pytest.raises(NotApplicable, match="no torque limit is known of shoulder, elbow"):
        acceleration_polytope(dyn, [0.3, 0.8])
    with pytest.raises(NotApplicable, match="no torque limit"):
        acceleration_ellipsoid(dyn, [0.3, 0.8], tau_max="limits")
    with pytest.raises(NotApplicable, match="qd_max is not limited"):
        velocity_ellipsoid(dyn, [0.3, 0.8], qd_max="limits")
    with pytest.raises(armdyn.ArmdynError, match="unknown method"):
        acceleration_ellipsoid(dyn, [0.3, 0.8], method="other")  # type: ignore[arg-type]
    with pytest.raises(SingularTask, match="method='exact'"):
        acceleration_ellipsoid(dyn, [0.3, 0.0], method="text")
    with pytest.raises(armdyn.ArmdynError, match="one position"):
        acceleration_polytope(dyn, [[0.3, 0.8]], tau_max=5.0).vertices()


def test_what_cannot_be_answered_is_said() -> None:
    massless = armdyn.Robot.from_dh([{"a": 1}, {"a": 1}], name="massless")
    with pytest.raises(PhysicsError, match="singular"):
        acceleration_ellipsoid(massless, [0.1, 0.2], rows="x y")
    many = np.zeros((3, 20))
    many[:2] = np.random.default_rng(0).normal(size=(2, 20))  # all within one plane: two faces hold all of them
    many[2, 0] = 1.0
    with pytest.raises(NotApplicable, match="too many"):
        Polytope(("x", "y", "z"), np.zeros(3), many).vertices()
