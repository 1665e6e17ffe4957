"""Barriers that keep bodies, rotors and friction physically possible while they are estimated.

The pseudo-inertia J of a body is linear in its ten parameters, and some distribution of mass has these parameters
exactly if J > 0 (`armdyn.parameters.consistency`). The log-det divergence from the body J0 of the model,

    D(J, J0) = tr(J0^-1 J) - log det J                                                                         [BA-1]

is convex in the parameters, infinite at the border J = 0 and the same in every frame. It is barrier and prior in one:
an estimate that minimises misfit + weight D is physically consistent, and parameters that no torque depends on keep
the model's values, because D is smallest there. For a number that must be positive the same divergence is

    d(x, x0) = x / x0 - log x                                                                                  [BA-2]

Source: the divergence as a prior of bodies is that of Lee, Wensing, Park 2019, Geometric robot dynamic identification.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from scipy.linalg import cho_factor, cho_solve

from armdyn.algebra import Inertia
from armdyn.parameters.consistency import pseudo_inertia
from armdyn.parameters.standard import INERTIAL
from armdyn.typing import Array

UNITS = np.array([pseudo_inertia(Inertia.from_parameters(*row)) for row in np.eye(len(INERTIAL))])
"""(10, 4, 4): the pseudo-inertia of each unit parameter."""


@dataclass(frozen=True)
class BarrierSettings:
    """Weights and floors of the barriers.

    bodies: weight of [BA-1], nats. A body's overall scale then has the standard deviation 1 / sqrt(4 x 0.3) = 0.9 of
            its logarithm: a model whose masses are wrong by a factor of two is no surprise. Results are flat between
            0.03 and 3 on real logs; 1 biases a simulated arm whose bodies are off by 25 %.
    numbers: weight of [BA-2]. Its scale x0 is a guess from the torques, so it weighs less than a model does.
    share: x0 of friction and rotor inertia: their part of the rms torque. A tenth is the usual order of magnitude.
    trusted: the model's own value is x0 if it is between this share of the guess and the guess over this share.
    lightest: mass of a body in the prior, at least this share of the heaviest, so that a massless flange can get mass.
    smallest: radius of gyration of a body in the prior, m, at least, so that a point mass can get an extent.
    tolerance: Newton decrement at which the iteration ends, far below the nat by which solutions are told apart.
    steps: Newton steps at most; four are usual.
    """

    bodies: float = 0.3
    numbers: float = 0.1
    share: float = 0.1
    trusted: float = 0.1
    lightest: float = 0.01
    smallest: float = 0.02
    tolerance: float = 1e-7
    steps: int = 60


BARRIER = BarrierSettings()


def prior_bodies(parameters: Array, settings: BarrierSettings = BARRIER) -> Array:
    """(b, 10) the bodies of a model, each made solid: with mass and extent at least as the settings say.

    parameters: (b, 10) inertial parameters about the bodies' frames, in the order of `INERTIAL`
    """
    masses = np.maximum(parameters[:, 9], 0.0)
    least = settings.lightest * masses.max(initial=0.0) or 1.0  # a model without any mass: bodies of one kilogram
    solid = parameters.copy()
    for body, mass in zip(solid, masses, strict=True):
        J = np.tensordot(body, UNITS, 1)
        centre = J[:3, 3] / mass if mass > 0 else np.zeros(3)
        second = J[:3, :3] - mass * np.outer(centre, centre)
        values, axes = np.linalg.eigh(second)
        m = max(float(mass), least)
        second = (axes * np.maximum(values, m * settings.smallest**2)) @ axes.T + m * np.outer(centre, centre)
        tensor = np.trace(second) * np.eye(3) - second
        body[:] = [*tensor[np.triu_indices(3)], *(m * centre), m]
    return solid


def prior_number(model: float, guess: float, settings: BarrierSettings = BARRIER) -> float:
    """x0 of a positive number: the model's value where it has one, within a factor of the guess from the torques."""
    return float(np.clip(model, settings.trusted * guess, guess / settings.trusted)) if model > 0 else guess


@dataclass(frozen=True, eq=False)
class Barrier:
    """The barriers of a vector of unknowns.

    bodies: (b, 10) places of the inertial parameters of each body
    prior: (b, 10) the model's parameters, positive definite
    numbers: (s,) places of the unknowns that are positive
    scales: (s,) their x0
    """

    bodies: Array
    prior: Array
    numbers: Array
    scales: Array
    settings: BarrierSettings = BARRIER

    def weight(self) -> Array:
        """(s,) slope of the linear part of [BA-2]."""
        return self.settings.numbers / self.scales

    def start(self, size: int) -> Array:
        """(size,) a point inside the barriers: their minimum; zeros elsewhere."""
        x = np.zeros(size)
        x[self.bodies] = self.prior
        x[self.numbers] = self.scales
        return x

    def value(self, x: Array) -> float:
        """The sum of the divergences; infinite outside."""
        positive = x[self.numbers]
        if (positive <= 0).any():
            return np.inf
        try:
            roots = np.linalg.cholesky(self._inertias(x))
        except np.linalg.LinAlgError:
            return np.inf
        logarithms = 2 * np.log(np.einsum("bii->bi", roots)).sum()
        bodies = (self._slopes * x[self.bodies]).sum() - logarithms
        numbers = (positive / self.scales - np.log(positive)).sum()
        return float(self.settings.bodies * bodies + self.settings.numbers * numbers)

    def expansion(self, x: Array) -> tuple[Array, Array]:
        """(size,) gradient and (size, size) Hessian at a point inside."""
        gradient, hessian = np.zeros(len(x)), np.zeros((len(x), len(x)))
        if len(self.bodies):
            inverse = np.linalg.inv(self._inertias(x))
            turned = np.einsum("bij,kjl->bkil", inverse, UNITS)  # J^-1 B_k
            slopes = self._slopes - np.einsum("bkii->bk", turned)
            curves = np.einsum("bkij,blji->bkl", turned, turned)
            gradient[self.bodies] = self.settings.bodies * slopes
            for places, curve in zip(self.bodies, curves, strict=True):
                hessian[np.ix_(places, places)] = self.settings.bodies * curve
        positive, weight = x[self.numbers], self.settings.numbers
        gradient[self.numbers] = weight * (1 / self.scales - 1 / positive)
        hessian[self.numbers, self.numbers] = weight / positive**2
        return gradient, hessian

    @property
    def _slopes(self) -> Array:
        """(b, 10) slope of tr(J0^-1 J)."""
        inverse = np.linalg.inv(np.tensordot(self.prior, UNITS, 1))
        return np.asarray(np.einsum("bij,kji->bk", inverse, UNITS))

    def _inertias(self, x: Array) -> Array:
        return np.asarray(np.tensordot(x[self.bodies], UNITS, 1))


def minimised(H: Array, b: Array, barrier: Barrier, start: Array) -> tuple[Array, Array]:
    """(x, Hessian there) of the smallest x'Hx/2 - b'x + barriers, by Newton steps from a point inside.

    The problem is convex, so that this is the global minimum. Unknowns without any curvature stay where they are.
    """
    x, settings = start.copy(), barrier.settings
    live = np.flatnonzero(np.diag(H) + _touched(barrier, len(x)) > 0)
    value = _objective(H, b, barrier, x)
    for _ in range(settings.steps):
        slope, curve = barrier.expansion(x)
        gradient, hessian = (H @ x - b + slope)[live], (H + curve)[np.ix_(live, live)]
        scale = 1 / np.sqrt(np.diag(hessian))
        step = -scale * cho_solve(_factor(hessian * np.outer(scale, scale)), scale * gradient)
        decrement = -float(gradient @ step)
        length, whole = 1.0, np.zeros(len(x))
        whole[live] = step
        while (new := _objective(H, b, barrier, x + length * whole)) > value - 1e-4 * length * decrement:
            length /= 2
            if length < 1e-12:  # rounding: there is nothing left to gain
                return x, H + curve
        x, value = x + length * whole, new
        if decrement < settings.tolerance:
            break
    return x, H + barrier.expansion(x)[1]


def _objective(H: Array, b: Array, barrier: Barrier, x: Array) -> float:
    return float(x @ (H @ x)) / 2 - float(b @ x) + barrier.value(x)


def _touched(barrier: Barrier, size: int) -> Array:
    """(size,) 1 for unknowns with a barrier."""
    touched = np.zeros(size)
    touched[barrier.bodies.ravel()] = touched[barrier.numbers] = 1.0
    return touched


def _factor(A: Array) -> tuple[Array, bool]:
    """Cholesky factor of a matrix with ones on its diagonal; rounding may need a little more on it."""
    more = 0.0
    while True:
        try:
            return cho_factor(A + more * np.eye(len(A)))  # type: ignore[no-any-return]
        except np.linalg.LinAlgError:
            more = max(10 * more, 1e-14)


def inverse_of(hessian: Array) -> Array:
    """Inverse of a Hessian, by way of a unit diagonal; zeros for unknowns without any curvature."""
    live = np.flatnonzero(np.diag(hessian) > 0)
    scale = 1 / np.sqrt(np.diag(hessian)[live])
    part = hessian[np.ix_(live, live)] * np.outer(scale, scale)
    inverse = np.zeros_like(hessian)
    inverse[np.ix_(live, live)] = cho_solve(_factor(part), np.eye(len(part))) * np.outer(scale, scale)
    return inverse


__all__: Sequence[str] = [
    "BARRIER",
    "Barrier",
    "BarrierSettings",
    "inverse_of",
    "minimised",
    "prior_bodies",
    "prior_number",
]
