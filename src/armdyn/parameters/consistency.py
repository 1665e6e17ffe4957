"""Physical consistency: could a body of positive mass have these parameters?

The ten parameters of a link are those of some distribution of mass exactly if its pseudo-inertia

    J = [ tr(I)/2 1 - I    m c ]
        [ (m c)^T           m  ]                                                                                [PC-1]

(second, first and zeroth moments of the mass) is positive semidefinite; positive definite if the body has an extent in
every direction. Wensing, Kim, Slotine 2018, Linear matrix inequalities for physically consistent inertial parameter
identification. Split at the centre of mass, J > 0 says: m > 0 and all three principal second moments about the centre
of mass are positive, which contains the triangle inequality of the principal moments of inertia.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from armdyn.algebra import Inertia
from armdyn.errors import ShapeError
from armdyn.parameters.standard import INERTIAL, StandardParameters
from armdyn.robot import Robot
from armdyn.typing import Array

ROUNDING = 1e-12
"""A moment negative by less than this share of the largest is zero: a point mass, a rod or a plate, rounded."""


@dataclass(frozen=True)
class LinkConsistency:
    """One link: mass, kg, and the principal second moments of its mass about its centre, kg m^2, smallest first.

    Without positive mass there is no centre: the moments are then those about the frame's origin.
    """

    name: str
    mass: float
    moments: tuple[float, float, float]
    smallest: float
    """Smallest eigenvalue of the pseudo-inertia."""

    @property
    def missing_mass(self) -> float:
        """Mass that is missing to zero, kg; 0 if the mass is not negative."""
        return max(0.0, -self.mass)

    @property
    def missing_moment(self) -> float:
        """Second moment that is missing to zero, kg m^2; 0 if the smallest one is not negative."""
        return max(0.0, -self.moments[0]) if -self.moments[0] > ROUNDING * max(map(abs, self.moments)) else 0.0

    @property
    def consistent(self) -> bool:
        """True if some distribution of mass has these parameters (a point, a rod, or none at all, included)."""
        if self.mass == 0:
            return self.smallest >= 0
        return self.mass > 0 and self.missing_moment == 0

    @property
    def solid(self) -> bool:
        """True if the pseudo-inertia is positive definite: a body with an extent in every direction."""
        return self.mass > 0 and self.moments[0] > ROUNDING * max(map(abs, self.moments))

    def __str__(self) -> str:
        if self.solid:
            return f"{self.name}: consistent"
        if self.consistent:
            return f"{self.name}: consistent, without extent in some direction"
        if self.mass <= 0:
            return f"{self.name}: inconsistent, its mass is {self.mass:.6g} kg"
        return f"{self.name}: inconsistent, a second moment of its mass is {self.moments[0]:.6g} kg m^2"


@dataclass(frozen=True)
class PhysicalConsistency:
    """The physical consistency of all links of a robot."""

    links: tuple[LinkConsistency, ...]

    @property
    def consistent(self) -> bool:
        return all(link.consistent for link in self.links)

    @property
    def solid(self) -> bool:
        return all(link.solid for link in self.links)

    def __str__(self) -> str:
        return "\n".join(map(str, self.links))


def physical_consistency(parameters: Robot | StandardParameters | Mapping[str, float]) -> PhysicalConsistency:
    """Test a parameter set, link by link: of a robot, or standard parameters by name (XX1 ... M1, XX2 ...).

    >>> import armdyn
    >>> physical_consistency(armdyn.load("ur5")).consistent
    True
    >>> thin = {"XX1": 3.0, "YY1": 1.0, "ZZ1": 1.0, "M1": 1.0}  # breaks XX < YY + ZZ
    >>> print(physical_consistency(thin))
    link 1: inconsistent, a second moment of its mass is -0.5 kg m^2
    """
    if isinstance(parameters, Robot):
        bodies = {link.name: link.inertia for link in parameters.bound().links}
    else:
        values = parameters.as_dict() if isinstance(parameters, StandardParameters) else dict(parameters)
        bodies = _bodies(values)
    return PhysicalConsistency(tuple(_link(name, body) for name, body in bodies.items()))


def _bodies(values: Mapping[str, float]) -> dict[str, Inertia]:
    numbers = [name.removeprefix(kind) for name in values for kind in INERTIAL if name.removeprefix(kind).isdigit()]
    if not numbers:
        raise ShapeError("no inertial parameters", expected="names such as XX1, MX1, M1")
    return {
        f"link {j}": Inertia.from_parameters(*(values.get(f"{kind}{j}", 0.0) for kind in INERTIAL))
        for j in sorted(set(map(int, numbers)))
    }


def pseudo_inertia(body: Inertia) -> Array:
    """(4, 4) second, first and zeroth moments of the mass about the frame's origin. [PC-1]"""
    tensor = np.array([[float(x) for x in row] for row in body.tensor.rows])
    moment = np.array([float(x) for x in body.moment])
    second = np.trace(tensor) / 2 * np.eye(3) - tensor
    return np.block([[second, moment[:, None]], [moment[None, :], np.array([[float(body.mass)]])]])


def _link(name: str, body: Inertia) -> LinkConsistency:
    J = pseudo_inertia(body)
    mass = float(J[3, 3])
    central = J[:3, :3] - np.outer(J[:3, 3], J[:3, 3]) / mass if mass > 0 else J[:3, :3]
    moments = np.linalg.eigvalsh(central)
    scale = np.abs(J).max()
    smallest = float(np.linalg.eigvalsh(J)[0])
    smallest = 0.0 if abs(smallest) <= ROUNDING * scale else smallest
    return LinkConsistency(name, mass, tuple(moments.tolist()), smallest)


__all__ = ["LinkConsistency", "PhysicalConsistency", "physical_consistency", "pseudo_inertia"]
