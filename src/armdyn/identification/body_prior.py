"""What is known of bodies before a log: their parameters are of the size that the model tells.

A short log, or one that hardly moves some joints, leaves combinations of parameters open; least squares gives them wild
values, whose torques are wrong in any other motion. The standard parameters are therefore expected about the values of
the model, with a standard deviation of ten times their size: m, m l and m l^2 for a link of mass m and radius of
gyration l. That is far less than a log tells of what it determines, and far more than nothing about the rest.

A model may be wrong, or its masses may be placeholders. The prior loses so much of its weight that the estimate is most
probable (evidence; MacKay 1992); it never gets more.
"""

from __future__ import annotations

import numpy as np

from armdyn.parameters import BaseParameters, standard_parameters
from armdyn.typing import Array

WIDE = 10.0
"""Standard deviation of a parameter over its size."""
SMALLEST = 0.05
"""Radius of gyration, m, that a link has at least."""
TENSOR, MOMENT = ("XX", "XY", "XZ", "YY", "YZ", "ZZ"), ("MX", "MY", "MZ")
FREE = ("F", "off", "K")
"""First letters of parameters that are not of bodies: nothing is expected of them."""


def body_prior(base: BaseParameters) -> Array:
    """(r, p + 1) rows [R | R mu] of the prior of base parameters, R^T R its information; none if the model has no mass.

    Rotors are not bounded by their links: their size is ten times the largest m l^2.
    """
    known = standard_parameters(base.robot, base.include).as_dict()
    model = {name: float(known[name]) for name in base.standard}
    size = np.array(_sizes(model))
    bodies = np.array([not place.startswith(FREE) for place in base.places])
    if not size.any() or not bodies.any():
        return np.zeros((0, base.count + 1))
    mean = base.matrix @ np.where(size > 0, list(model.values()), 0.0)
    root = (base.matrix * (WIDE * size))[bodies]
    lengths = np.linalg.norm(root, axis=1)
    used = lengths > 0
    U, s, _ = np.linalg.svd(root[used] / lengths[used, None], full_matrices=False)
    R = np.zeros((len(s), base.count))
    R[:, np.flatnonzero(bodies)[used]] = (U / s).T / lengths[used]
    return np.column_stack([R, R @ mean])


def _sizes(model: dict[str, float]) -> list[float]:
    """Sizes of standard parameters by their names; 0: nothing is expected. A link without mass has the mean of all."""
    masses = {int(name[1:]): value for name, value in model.items() if name[:1] == "M" and name[1:].isdigit()}
    positive = [m for m in masses.values() if m > 0]
    if not positive:
        return [0.0] * len(model)
    mass = {j: m if m > 0 else float(np.mean(positive)) for j, m in masses.items()}
    largest = {j: max(abs(model.get(f"{kind}{j}", 0.0)) for kind in TENSOR) for j in mass}
    radius = {j: max(np.sqrt(largest[j] / m), SMALLEST) for j, m in mass.items()}
    heaviest = max(m * radius[j] ** 2 for j, m in mass.items())
    sizes = []
    for name in model:
        kind = name.rstrip("0123456789")
        j = int(name[len(kind) :])
        powers = {"M": 0} | dict.fromkeys(MOMENT, 1) | dict.fromkeys(TENSOR, 2)
        if kind in powers and j in mass:
            sizes.append(mass[j] * radius[j] ** powers[kind])
        else:
            sizes.append(10 * heaviest if kind == "Ia" else 0.0)
    return sizes


def weight_of(prior: Array, weight: float, values: Array, covariance: Array) -> float:
    """The share of its information that a prior keeps, at most 1, from an estimate with the share `weight`.

    prior: (r, p + 1) as of `body_prior`
    values, covariance: (p,) and (p, p) of that estimate
    """
    R, off = prior[:, :-1], prior @ np.append(values, -1.0)
    told = len(R) - weight * float(((R @ covariance) * R).sum())
    return min(1.0, max(told, 0.0) / max(float(off @ off), 1e-300))


__all__ = ["body_prior", "weight_of"]
