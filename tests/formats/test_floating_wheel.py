"""Files of the wheel on a free joint at the root, against Pinocchio's model of the same file on a free flyer."""

from __future__ import annotations

import math
import warnings
from pathlib import Path

import numpy as np
import pytest

import armdyn
from armdyn.mechanics import articulated_body, centroid, composite_body, derivatives, newton_euler
from armdyn.robot.engines import to_pinocchio
from support.limits import FULL

pin = pytest.importorskip("pinocchio", reason="Pinocchio is the independent engine of this test")
LARGE = 60_000
"""Bytes of a file that is read with ARMDYN_FULL=1 only."""
MOST_COMPILED = 30
"""Velocities of robots whose derivatives of forward dynamics are compiled, with ARMDYN_FULL=1."""


def test_a_floating_root(wheel_file: Path) -> None:
    if wheel_file.stat().st_size > LARGE and not FULL:
        pytest.skip("a large file: with ARMDYN_FULL=1")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            robot = armdyn.load(wheel_file, free_root=True).opened.without("friction", "rotors")
        except armdyn.ArmdynError:
            pytest.skip("not a complete robot")
    model = pin.buildModelFromUrdf(str(wheel_file), pin.JointModelFreeFlyer())
    data = model.createData()
    names = [joint.name for joint in robot.joints[6:]]
    order = [*range(6), *(model.joints[model.getJointId(name)].idx_v for name in names)]
    assert model.nv == robot.n
    rng = np.random.default_rng(robot.n)
    q = robot.integrate(robot.neutral, rng.uniform(-1, 1, robot.n))
    v, a, tau = rng.uniform(-1, 1, (3, robot.n))
    x = pin.neutral(model)
    x[:7] = to_pinocchio(robot, q)[:7]
    for name, value in zip(names, q[7:], strict=True):
        joint = model.joints[model.getJointId(name)]
        x[joint.idx_q : joint.idx_q + joint.nq] = [value] if joint.nq == 1 else [math.cos(value), math.sin(value)]
    rates = np.zeros((3, model.nv))
    rates[:, order] = v, a, tau

    def agree(found: np.ndarray, expected: np.ndarray, tolerance: float = 1e-10) -> None:
        np.testing.assert_allclose(found, expected, rtol=0, atol=tolerance * (1 + np.abs(expected).max()))

    agree(newton_euler.inverse_dynamics(robot, q, v, a), pin.rnea(model, data, x, *rates[:2])[order])
    M = pin.crba(model, data, x)
    M = (np.triu(M) + np.triu(M, 1).T)[np.ix_(order, order)]
    agree(composite_body.mass_matrix(robot, q), M)
    agree(centroid.center_of_mass(robot, q), pin.centerOfMass(model, data, x))
    agree(centroid.centroidal_momentum(robot, q, v), pin.computeCentroidalMomentum(model, data, x, rates[0]).vector)
    pin.computeRNEADerivatives(model, data, x, *rates[:2])
    for found, slope in zip(derivatives.inverse_dynamics_derivatives(robot, q, v, a), (data.dtau_dq, data.dtau_dv),
                            strict=True):  # fmt: skip
        agree(found, slope[np.ix_(order, order)])
    if np.linalg.cond(M) < 1e9:  # bodies without mass at the ends have no accelerations
        expected = pin.aba(model, data, x, rates[0], rates[2])[order]
        lost = max(1e-10, 1e-16 * np.linalg.cond(M))  # digits that no method of forward dynamics has
        agree(articulated_body.forward_dynamics(robot, q, v, tau), expected, lost)
        if FULL and robot.n <= MOST_COMPILED:
            pin.computeABADerivatives(model, data, x, rates[0], rates[2])
            slopes = data.ddq_dq, data.ddq_dv, np.triu(data.Minv) + np.triu(data.Minv, 1).T
            for found, slope in zip(armdyn.compile(robot).forward_dynamics_derivatives(q, v, tau), slopes, strict=True):
                agree(found, slope[np.ix_(order, order)], lost)
