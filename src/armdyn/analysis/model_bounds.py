"""Bounds on the norms of the mass matrix, the Coriolis matrix and the gravity torques, for robust control.

    ||M(q)|| <= a1 + a2 x + a3 x^2,   ||C(q, qd)|| <= (a4 + a5 x + a6 x^2) ||qd||,   ||g(q)|| <= a7 + a8 x,  x = ||q||

Khalil sec. 7.3.3.3 g prints them without the term a6. It cannot be spared: in a spherical arm (revolute, revolute,
prismatic) the Christoffel symbol 1/2 dM_11/dq_2 grows with the square of the extension. For revolute joints alone every
bound is its constant. Norms are the 2-norms of vectors and matrices.

The bounds follow from lengths. The centre of mass of link k is at most l_jk + sum |q_i| away from a revolute joint j,
with l_jk the lengths between them and i the prismatic joints between them; so a unit rate of joint j moves it with at
most l_jk + p_jk x, p_jk the root of the number of these joints. The coefficients of Bertrand and Bruneau's formulation
(El Baji (24)-(27)) are bounded term by term with it.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from numpy.polynomial import polynomial

from armdyn.robot import Robot
from armdyn.robot.features import PASSIVE, takes
from armdyn.robot.links import WORLD, Link
from armdyn.tables import Column, Section
from armdyn.typing import Array

Coefficients = tuple[float, ...]
POWERS = ("", " ||q||", " ||q||²")


@dataclass(frozen=True)
class ModelBounds:
    """Coefficients of the bounds, constant term first: polynomials in the norm of q.

    mass_matrix: (a1, a2, a3). coriolis: (a4, a5, a6), per unit of ||qd||. gravity: (a7, a8). SI units; the norms mix
    rad and m as the joint vectors do.
    """

    mass_matrix: Coefficients
    coriolis: Coefficients
    gravity: Coefficients

    def at(self, norm: float) -> tuple[float, float, float]:
        """The three bounds for ||q|| = norm; that of the Coriolis matrix per unit of ||qd||."""
        M, C, g = (float(polynomial.polyval(norm, each)) for each in (self.mass_matrix, self.coriolis, self.gravity))
        return M, C, g

    def section(self) -> Section:
        """The bounds as a table."""
        words = ("||M(q)||", "||C(q, qd)|| / ||qd||", "||g(q)||")
        rows = tuple(
            (word, " + ".join(f"{x:.4g}{POWERS[k]}" for k, x in enumerate(each) if x) or "0")
            for word, each in zip(words, (self.mass_matrix, self.coriolis, self.gravity), strict=True)
        )
        return Section("Bounds for all q and qd", (Column("norm"), Column("at most")), rows, "SI units.")


@takes("dry_friction", "static_friction", "friction_law", "payload", *PASSIVE)
def model_bounds(robot: Robot) -> ModelBounds:
    """Bounds on ||M(q)||, ||C(q, qd)|| / ||qd|| and ||g(q)|| that hold for every q and qd. Khalil sec. 7.3.3.3 g

    robot: an open chain or tree; rotors act on their joints alone.

    >>> import armdyn
    >>> model_bounds(armdyn.load("three_link")).coriolis[1:]  # revolute joints only
    (0.0, 0.0)
    """
    robot = robot.bound()
    n = robot.n
    rotors = max((float(spin.ratio) ** 2 * float(spin.inertia) for spin in robot.spins), default=0.0)
    M, g, c = np.array([rotors, 0.0, 0.0]), np.zeros((n, 2)), np.zeros((n, n, n, 3))
    weight = float(np.linalg.norm(np.asarray(robot.gravity.array(), dtype=float)))
    for link in robot.links:
        body = link.inertia.about_com()
        mass, tensor = float(body.mass), np.asarray(body.tensor.array(), dtype=float)
        turning, gyroscopic = (float(np.abs(np.linalg.eigvalsh(each)).max()) for each in (tensor, _pseudo(tensor)))
        levers = _levers(robot, link, float(np.linalg.norm(np.asarray(body.com.array(), dtype=float))))
        spins = {j: float(robot.links[j].revolute) for j in levers}
        for j, lever in levers.items():
            M += mass * np.convolve(lever, lever)  # El Baji (24)
            M[0] += turning * spins[j]
            g[j] += mass * weight * lever  # El Baji (27)
        for first, later in ((a, b) for a in levers for b in levers if a <= b and spins[a]):
            for i, lever in levers.items():
                share = mass * np.convolve(lever, levers[later])  # El Baji (25), (26)
                share[0] += gyroscopic * spins[i] * spins[later]
                c[i, later, first] += share
                if first != later:
                    c[i, first, later] += share
    norms = [_vector_norm(part) for part in (c.reshape(-1, 3), g)]
    return ModelBounds(tuple(map(float, M)), *norms)


def _levers(robot: Robot, link: Link, com: float) -> Mapping[int, Array]:
    """(l_jk, p_jk) of the joints j that carry a link, nearest to the base first."""
    found: dict[int, Array] = {}
    length, prismatic = com, 0
    k = link.index
    while k != WORLD:
        each = robot.links[k]
        found[k] = np.array([length, np.sqrt(prismatic)]) if each.revolute else np.array([1.0, 0.0])
        length += float(np.linalg.norm(np.asarray(each.placement.p.array(), dtype=float)))
        if not each.revolute:
            length, prismatic = length + abs(float(each.offset)), prismatic + 1
        k = each.parent
    return dict(sorted(found.items()))


def _pseudo(tensor: Array) -> Array:
    """1/2 Tr(I) 1 - I, which gives the gyroscopic moments. El Baji table 1"""
    return np.asarray(np.trace(tensor) / 2 * np.eye(3) - tensor)


def _vector_norm(polynomials: Array) -> Coefficients:
    """A bound on the norm of a vector of polynomials with positive coefficients: the norm of each coefficient."""
    return tuple(float(x) for x in np.linalg.norm(polynomials, axis=0))
