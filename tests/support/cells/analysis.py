"""Checks of analyses and reduced models."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
from scipy.linalg import null_space

from armdyn import analysis, mechanics
from armdyn.analysis.motion_box import motion_box
from support.cells.case import TAU_MAX, Case, cell, close, refusal
from support.cells.compiled import base_force
from support.cells.equations import number, values_of
from support.energy_model import EnergyModel


def _rows(c: Case) -> Any:
    return c.J[:2]


@cell("analysis.velocity_ellipsoid")
def _velocity(c: Case) -> None:
    close(analysis.velocity_ellipsoid(c.dyn, c.q, rows="x y").lengths, np.linalg.svd(_rows(c), compute_uv=False))


@cell("analysis.force_ellipsoid")
def _force(c: Case) -> None:
    close(analysis.force_ellipsoid(c.dyn, c.q, rows="x y").lengths, 1 / np.linalg.svd(_rows(c), compute_uv=False)[::-1])


@cell("analysis.acceleration_ellipsoid")
def _acceleration(c: Case) -> None:
    found = analysis.acceleration_ellipsoid(c.dyn, c.q, c.qd, rows="x y")
    close(found.lengths, np.linalg.svd(_rows(c) @ np.linalg.inv(c.M), compute_uv=False))
    close(found.centre, (c.J @ np.linalg.solve(c.M, -c.bias) + c.drift(c.x, c.xd))[:2])


@cell("analysis.acceleration_polytope")
def _polytope(c: Case) -> None:
    found = analysis.acceleration_polytope(c.dyn, c.q, rows="x y", tau_max=TAU_MAX)
    close(found.centre, -_rows(c) @ np.linalg.solve(c.M, c.held))
    close(found.generators, TAU_MAX * _rows(c) @ np.linalg.inv(c.M))


@cell("analysis.manipulability")
def _manipulability(c: Case) -> None:
    close(analysis.manipulability(c.dyn, c.q, rows="x y"), np.sqrt(np.linalg.det(_rows(c) @ _rows(c).T)))


@cell("analysis.dynamic_manipulability")
def _dynamic(c: Case) -> None:
    B = _rows(c) @ np.linalg.inv(c.M)
    close(analysis.dynamic_manipulability(c.dyn, c.q, rows="x y"), np.sqrt(np.linalg.det(B @ B.T)))


@cell("analysis.joint_inertia")
def _joint_inertia(c: Case) -> None:
    close(analysis.joint_inertia(c.dyn, c.q), np.diag(c.M))


@cell("analysis.isotropic_acceleration")
def _isotropic(c: Case) -> None:
    """The distance of the faces of the set of accelerations from the origin."""
    B, centre = _rows(c) @ np.linalg.inv(c.M), -_rows(c) @ np.linalg.solve(c.M, c.held)
    faces = [null_space(B[:, [j]].T)[:, 0] for j in range(c.n)]
    room = [TAU_MAX * np.abs(B.T @ f).sum() + s * f @ centre for f in faces for s in (1, -1)]
    found = analysis.isotropic_acceleration(c.dyn, c.q, tau_max=TAU_MAX, rows="x y")
    close(found, max(min(room), 0.0))


@cell("analysis.payload_capability")
def _payload(c: Case) -> None:
    mass = analysis.payload_capability(c.dyn, c.q, tau_max=TAU_MAX)
    held = c.held + mass * c.J[:3].T @ -c.model.gravity_vector
    close(np.abs(held).max(), TAU_MAX)


@cell("analysis.operational_space")
def _operational(c: Case) -> None:
    found = analysis.operational_space(c.dyn, c.q, c.qd, rows="x y")
    J = _rows(c)
    mass = np.linalg.inv(J @ np.linalg.solve(c.M, J.T))
    close(found.mass, mass)
    close(found.bias, c.bias)
    close(found.gravity, mass @ J @ np.linalg.solve(c.M, c.held))


@cell("analysis.coriolis_matrix")
def _operational_coriolis(c: Case) -> None:
    """Bdot - 2 C is skew-symmetric, and C v are the Coriolis forces of (7.131)."""
    C = analysis.coriolis_matrix(c.dyn, c.q, c.qd, rows="x y")

    def mass(x: Any) -> Any:
        J = c.model.jacobian(x)[:2]
        return np.linalg.inv(J @ np.linalg.solve(c.model.mass_matrix(x), J.T))

    rate = np.imag(mass(c.x + 1e-30j * c.xd)) / 1e-30
    close(rate - C - C.T, 0 * C)


@cell("analysis.workspace_map", "analysis.workspace_samples")
def _map(c: Case) -> None:
    first, second = (joint.name for joint in c.robot.joints[:2])
    spans = [(x, x + 0.1) for x in c.q[:2]]
    found = analysis.workspace_map(
        c.dyn, "payload", (first, second), at=c.q, spans=spans, counts=(2, 2), tau_max=TAU_MAX
    )
    close(np.ravel(found.values)[0], analysis.payload_capability(c.dyn, c.q, tau_max=TAU_MAX))
    _payload(c)
    drawn = analysis.workspace_samples(c.dyn, "payload", 4, tau_max=TAU_MAX)
    close(drawn.values[:, 0], analysis.payload_capability(c.dyn, drawn.q, tau_max=TAU_MAX))


@cell("analysis.analyse")
def _summary(c: Case) -> None:
    found = analysis.analyse(c.dyn, c.q)
    close(found.gravity, c.held)
    close(found.inertia, np.diag(c.M))


@cell("analysis.model_bounds")
def _bounds(c: Case) -> None:
    M, C, g = analysis.model_bounds(c.robot).at(float(np.linalg.norm(c.q)))
    assert np.linalg.norm(c.M, 2) <= M
    assert np.linalg.norm(c.model.coriolis_matrix(c.x, c.xd), 2) <= C * np.linalg.norm(c.xd)
    assert np.linalg.norm(c.model.gravity(c.x)) <= g


@cell("analysis.proven_extremes")
def _extremes(c: Case) -> None:
    found = analysis.proven_extremes(c.robot)
    if found.resonance is not None:  # 1 / w^2 of the links on springs, all motors at rest
        springs = {j: float(joint.elastic.stiffness) for j, joint in enumerate(c.robot.joints) if joint.elastic}
        soft, k = [*springs], np.sqrt([*springs.values()])
        assert np.linalg.norm(c.M[np.ix_(soft, soft)] / np.outer(k, k), 2) <= found.resonance[0] ** -2
        return
    assert np.linalg.norm(c.M, 2) <= found.norms["||M||"][0]
    assert (np.diagonal(c.M) <= found.inertia[:, 0] * (1 + 1e-12)).all()
    assert np.linalg.norm(c.model.gravity(c.x)) <= found.norms["||g||"][0]


@cell("analysis.significance")
def _significance(c: Case) -> None:
    found = analysis.significance(c.robot, motion=(c.q, c.qd, c.qdd))
    D, _, constant = found.coefficients(c.q)
    close(D, c.M)
    close(constant, c.held)


@cell("analysis.prune")
def _prune(c: Case) -> None:
    """The whole model is the second one, and the reduced one is within its bound."""
    box = motion_box(c.robot, q_range=(c.q - 0.05, c.q + 0.05), v_max=np.abs(c.qd), a_max=np.abs(c.qdd))
    found = analysis.prune(c.robot, 50.0, box=box)
    values = values_of(c)
    close(number(tuple(found.full.outputs["tau"]), values), c.tau - c.model.friction(c.xd))
    error = np.abs(number(tuple(found.graph.outputs["tau"]), values) - (c.tau - c.model.friction(c.xd)))
    assert (error <= found.bound + 1e-9).all()


@cell("analysis.bound")
def _bound(c: Case) -> None:
    """A robot whose links weigh something else has torques within the bound of the model's."""
    limits = {"v_max": np.abs(c.qd), "a_max": np.abs(c.qdd)}
    found = analysis.bound(c.robot, mass=0.1, points=20_000, **limits)
    factors = 1 + 0.1 * np.random.default_rng(1).choice((-1.0, 1.0), len(c.robot.tree))
    bodies = [replace(j.body, inertia=_times(j.body.inertia, f)) for j, f in zip(c.robot.tree, factors, strict=True)]
    tree = tuple(replace(joint, body=body) for joint, body in zip(c.robot.tree, bodies, strict=True))
    other = EnergyModel(replace(c.robot, tree=tree, expressions=None))
    assert (np.abs(other.inverse_dynamics(c.x, c.xd, c.xdd) - c.tau) <= found.error + 1e-9).all()
    assert (found.error <= 30 * found.found + 1e-9).all()


def _times(inertia: Any, factor: float) -> Any:
    """The inertia of a body of the same shape that is heavier by a factor."""
    scaled = {name: getattr(inertia, name) * factor for name in ("mass", "moment", "tensor") if hasattr(inertia, name)}
    return replace(inertia, **scaled)


@cell("mechanics.loop_forces")
def _loop_forces(c: Case) -> None:
    if not c.robot.constrained:
        assert "loop" in str(refusal(lambda: mechanics.loop_forces.joint_reactions(c.robot, c.x, c.xd, c.xdd)))
        return
    found = mechanics.loop_forces.joint_reactions(c.robot, c.model.links @ c.x + c.model.constant, c.xd, c.xdd)
    close(c.on_base(found), base_force(c))
