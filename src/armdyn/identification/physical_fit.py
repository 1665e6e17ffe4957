"""Physically consistent standard parameters nearest to an estimate of base parameters.

    minimise    (B pi - beta)^T Sigma^-1 (B pi - beta)  +  rho |N^T (pi - pi_prior) / scale|^2
    subject to  pseudo-inertia of every link >= margin,   Ia, Fv, Fc >= 0

beta, Sigma: estimate and covariance. B: the map from standard to base parameters. N: its null space, the directions of
pi that no torque depends on: there, and only there, the prior robot decides. The pseudo-inertia of
`parameters.physical` is linear in pi, so this is a semidefinite program: Wensing, Kim, Slotine 2018; Sousa, Cortesao
2014. Needs the extra `physical` (cvxpy with Clarabel).
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from scipy.linalg import null_space

from armdyn.algebra import Inertia
from armdyn.errors import ArmdynError, MissingExtra, PhysicsError, ShapeError
from armdyn.parameters import (
    BaseParameters,
    PhysicalConsistency,
    StandardParameters,
    physical_consistency,
    standard_parameters,
    with_standard_parameters,
)
from armdyn.parameters.consistency import pseudo_inertia
from armdyn.parameters.standard import INERTIAL
from armdyn.robot import Robot
from armdyn.typing import Array

MARGIN = 1e-6
"""Smallest eigenvalue of a link's pseudo-inertia in units of its mass and extent: clear of the solver's tolerance."""
PRIOR = 1e-2
"""rho: a prior that is off by its own size in some direction costs as much as 0.1 standard deviations. One that is far
smaller leaves masses that hardly act on the torques to noise: the upper arm of a real UR10 got 100 kg, not 13."""
NEVER_NEGATIVE = ("Ia", "Fv", "Fc", "Ks")
UNITS = np.array([pseudo_inertia(Inertia.from_parameters(*row)) for row in np.eye(len(INERTIAL))])
"""(10, 4, 4): the pseudo-inertia of each unit parameter."""


@dataclass(frozen=True, eq=False)
class PhysicalParameters:
    """A physically consistent robot for an estimate.

    base: the base parameters that were estimated
    robot: with these parameters
    parameters: its standard parameters
    offsets: (n,) constant torques by joint, N m or N
    values: (p,) its base parameters
    shift: (p,) how far they are from the estimate, in its standard deviations
    distance: square root of the first term of the objective; sqrt(p) for p standard normal errors
    """

    base: BaseParameters
    robot: Robot
    parameters: StandardParameters
    offsets: Array
    values: Array
    shift: Array
    distance: float

    @cached_property
    def consistency(self) -> PhysicalConsistency:
        return physical_consistency(self.robot)

    def __str__(self) -> str:
        worst = int(np.argmax(np.abs(self.shift)))
        return (
            f"{self.robot.name}: {'' if self.consistency.consistent else 'not '}physically consistent; "
            f"{self.distance:.3g} standard deviations from the estimate, most of all {self.base.names[worst]} "
            f"({self.shift[worst]:+.2g})"
        )


def consistent(
    base: BaseParameters,
    estimate: Any,
    covariance: Any,
    prior: Robot | None = None,
    *,
    margin: float = MARGIN,
    weight: float = PRIOR,
) -> PhysicalParameters:
    """The physically consistent robot nearest to an estimate of its base parameters.

    Args:    base: the base parameters that were estimated
             estimate: (p,) their values
             covariance: (p, p) of the estimate
             prior: decides what the data do not (default: base.robot)
             margin: smallest eigenvalue of the pseudo-inertias, in units of mass and extent of the link
             weight: rho, weight of the prior
    Returns: PhysicalParameters; its robot passes `physical_consistency`.
    Raises:  MissingExtra without cvxpy; PhysicsError if no physically consistent robot has such parameters, as when
             parameters were declared absent that cannot be.
    """
    beta = np.asarray(estimate, dtype=float)
    sigma = np.asarray(covariance, dtype=float)
    if beta.shape != (base.count,) or sigma.shape != (base.count, base.count):
        raise ShapeError(f"estimate {beta.shape}, covariance {sigma.shape}",
                         expected=f"({base.count},) and ({base.count}, {base.count})")  # fmt: skip
    before = base.robot if prior is None else prior
    pi0 = np.array([standard_parameters(before, base.include).as_dict()[name] for name in base.standard], dtype=float)
    scale = _scales(before, base.standard)
    pi = scale * _solved(base, beta, sigma, pi0, scale, margin, weight)
    found = dict(zip(base.standard, pi.tolist(), strict=True))
    found |= {name: max(x, 0.0) for name, x in found.items() if name.startswith(NEVER_NEGATIVE)}
    return _result(base, before, found, beta, sigma)


def _result(
    base: BaseParameters, prior: Robot, found: dict[str, float], beta: Array, sigma: Array
) -> PhysicalParameters:
    values = base.from_standard(found)
    offsets = np.array([found.get(f"off{j + 1}", 0.0) for j in range(base.robot.opened.n)])
    robot = with_standard_parameters(prior, found)
    if not physical_consistency(robot).consistent:
        raise PhysicsError("the solver's parameters are not physically consistent to the last digit",
                           where=f"robot {robot.name!r}", advice="Give a larger margin.")  # fmt: skip
    error = values - beta
    distance = float(np.linalg.norm(whitening(sigma) @ error))
    shift = error / np.sqrt(np.diag(sigma))
    return PhysicalParameters(base, robot, standard_parameters(robot), offsets, values, shift, distance)


def whitening(covariance: Array) -> Array:
    """R with R^T R = covariance^-1, by way of the correlations; none is taken to be closer to 1 than rounding."""
    std = np.sqrt(np.diag(covariance))
    if not (np.isfinite(std).all() and (std > 0).all()):
        raise ArmdynError("a covariance without positive finite variances", where="physical consistency",
                          advice="Estimate again with a motion that determines all parameters.")  # fmt: skip
    eigenvalues, V = np.linalg.eigh(covariance / np.outer(std, std))
    roots = np.sqrt(np.maximum(eigenvalues, 1e-14 * eigenvalues[-1]))
    R: Array = (V / roots).T / std
    return R


def _scales(robot: Robot, names: tuple[str, ...]) -> Array:
    """Sizes of parameters, link by link, of its mass and extent in the prior; of a light link at least a hundredth of
    the heaviest and a twentieth of the longest distance between joints.
    """
    robot = robot.opened
    masses = np.array([abs(float(link.inertia.mass)) for link in robot.links])
    masses = np.maximum(masses, max(0.01 * masses.max(), 1e-3))
    longest = max([0.1, *(float(np.linalg.norm([float(x) for x in link.placement.p])) for link in robot.links)])
    second = np.array([np.trace(pseudo_inertia(link.inertia)[:3, :3]) for link in robot.links])
    lengths = np.maximum(np.sqrt(np.maximum(second, 0.0) / masses), 0.05 * longest)
    powers = {"M": 0} | dict.fromkeys(("MX", "MY", "MZ"), 1)
    kinds = [name.rstrip("0123456789") for name in names]
    links = [int(name[len(kind) :]) - 1 for name, kind in zip(names, kinds, strict=True)]
    return np.array([masses[j] * lengths[j] ** powers.get(kind, 2) for kind, j in zip(kinds, links, strict=True)])


def _solved(
    base: BaseParameters, beta: Array, sigma: Array, pi0: Array, scale: Array, margin: float, weight: float
) -> Array:
    """(number of standard parameters,) the solution over its scale.

    Unknowns of size 1: u, the deviation from the estimate in standard deviations, and c, that from the prior along the
    null space N:  x = x_prior + B^+ (beta + R^-1 u - B x_prior) + N c.
    """
    cp = _cvxpy()
    B, x0 = base.matrix * scale, pi0 / scale
    back, free = np.linalg.pinv(B), null_space(B)
    u, c = cp.Variable(base.count), cp.Variable(free.shape[1]) if free.shape[1] else None
    x = x0 + back @ (beta - B @ x0) + (back @ np.linalg.inv(whitening(sigma))) @ u
    cost = cp.sum_squares(u)
    if c is not None:
        x, cost = x + free @ c, cost + weight * cp.sum_squares(c)
    problem = cp.Problem(cp.Minimize(cost), _physics(cp, base, x, margin))
    try:
        problem.solve(solver=cp.CLARABEL)
    except cp.error.SolverError as error:
        raise PhysicsError(f"the solver failed: {error}", where=f"robot {base.robot.name!r}",
                           advice="Estimate fewer parameters, or give a larger margin.") from None  # fmt: skip
    if problem.status not in ("optimal", "optimal_inaccurate"):
        raise PhysicsError(f"no physically consistent robot has such parameters ({problem.status})",
                           where=f"robot {base.robot.name!r}",
                           advice="Take base parameters without `absent`: a mass cannot be absent.")  # fmt: skip
    return np.asarray(x.value)


def _physics(cp: Any, base: BaseParameters, x: Any, margin: float) -> list[Any]:
    """Pseudo-inertias above the margin, coefficients not negative; x is over its scale, link by link.

    The pseudo-inertia of the scaled parameters is D J D with D = diag(1/l, 1/l, 1/l, 1)/sqrt(m): positive as J is.
    """
    place = {name: i for i, name in enumerate(base.standard)}
    constraints = []
    for j in range(1, base.robot.opened.n + 1):
        kinds = [k for k, kind in enumerate(INERTIAL) if f"{kind}{j}" in place]
        if kinds:
            maps = UNITS[kinds].reshape(len(kinds), 16).T
            J = cp.reshape(maps @ x[[place[f"{INERTIAL[k]}{j}"] for k in kinds]], (4, 4), order="C")
            constraints.append(J - margin * np.eye(4) >> 0)
    signs = [i for name, i in place.items() if name.startswith(NEVER_NEGATIVE)]
    return [*constraints, x[signs] >= 0] if signs else constraints


def consistent_body(parameters: Array, covariance: Array, margin: float = MARGIN) -> Array:
    """(10,) parameters of the physically consistent body nearest to an estimate (XX ... ZZ MX MY MZ M)."""
    cp = _cvxpy()
    mass = max(abs(float(parameters[9])), 1e-6)
    length = max(np.sqrt(np.abs(np.trace(np.tensordot(parameters, UNITS, 1)[:3, :3])) / mass), 1e-3)
    scale = mass * length ** np.array([2] * 6 + [1] * 3 + [0])
    u = cp.Variable(10)
    x = parameters / scale + (np.linalg.inv(whitening(covariance)) / scale[:, None]) @ u
    J = cp.reshape(UNITS.reshape(10, 16).T @ x, (4, 4), order="C")
    problem = cp.Problem(cp.Minimize(cp.sum_squares(u)), [J - margin * np.eye(4) >> 0])
    problem.solve(solver=cp.CLARABEL)
    found: Array = np.asarray(x.value) * scale
    return found


def _cvxpy() -> Any:
    try:
        import cvxpy
    except ImportError:
        raise MissingExtra("cvxpy is not installed", where="physical consistency", expected="cvxpy with Clarabel",
                           advice="pip install 'armdyn[physical]'") from None  # fmt: skip
    return cvxpy


__all__ = ["PhysicalParameters", "consistent", "consistent_body", "whitening"]
