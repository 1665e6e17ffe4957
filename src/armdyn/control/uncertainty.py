"""Errors of a model's parameters, as robust laws and contact thresholds need them.

    p_true = p + E x

The columns of E, (p, r), are errors that do not depend on each other: of the standard parameters p of `dyn.parameters`.
Read as bounds, |x_k| <= 1; read as a spread, the x_k are normal with variance 1, and E E^T is the covariance of p.
"""

from __future__ import annotations

from collections.abc import Mapping
from inspect import signature
from typing import Any

import numpy as np

from armdyn.control.pointwise import INCIPIENT
from armdyn.dynamics import Dynamics
from armdyn.errors import ArmdynError, ShapeError, unknown_name
from armdyn.parameters.standard import FAMILIES, INERTIAL
from armdyn.robot.features import CLOSED, TREE, takes
from armdyn.robot.limits import working_range
from armdyn.typing import Array

NEGLIGIBLE = 1e-9
"""Share of the largest torque below which an error is left out."""
STATES = 200


@takes(*CLOSED, *TREE)
def parameter_errors(
    dyn: Dynamics,
    *,
    mass: float = 0.1,
    com: float = 0.01,
    inertia: float = 0.1,
    rotor: float = 0.1,
    friction: float = 0.3,
) -> Array:
    """(p, r) errors E of the standard parameters of a model, from errors of bodies and joints.

    Args:
        dyn:      the model.
        mass:     relative error of the masses; inertias follow (default: 0.1).
        com:      error of the centres of mass in each direction, m (default: 0.01).
        inertia:  relative error of the inertias about the centres of mass (default: 0.1).
        rotor:    relative error of the rotors' inertias (default: 0.1).
        friction: relative error of each coefficient of friction (default: 0.3).

    >>> import armdyn
    >>> dyn = armdyn.compile(armdyn.load("planar2r"))
    >>> E = parameter_errors(dyn, mass=0.2, com=0, inertia=0, rotor=0, friction=0)
    >>> float(E[dyn.parameter_names.index("M1")].max() / dyn.parameters[dyn.parameter_names.index("M1")])
    0.2
    """
    given = {"mass": mass, "com": com, "inertia": inertia, "rotor": rotor, "friction": friction}
    if min(given.values()) < 0 or not np.isfinite(list(given.values())).all():
        raise ArmdynError(f"errors {given}", where="parameter_errors", expected="numbers >= 0")
    names, p = list(dyn.parameter_names), np.asarray(dyn.parameters, dtype=float)
    relative = dict.fromkeys(FAMILIES["rotor"], rotor)
    relative |= dict.fromkeys((*FAMILIES["friction"], *FAMILIES["motor"]), friction)
    columns: list[Array] = []
    for k, name in enumerate(names):
        kind = name.rstrip("0123456789")
        if kind == "XX":
            own = [names.index(entry + name[2:]) for entry in INERTIAL]
            for error in _of_body(p[own], mass, com, inertia):
                columns.append(np.zeros(len(p)))
                columns[-1][own] = error
        elif kind in relative:
            columns.append(np.zeros(len(p)))
            columns[-1][k] = relative[kind] * p[k]
    E = np.transpose(columns)
    return np.asarray(E[:, E.any(axis=0)])


def _of_body(p: Array, mass: float, com: float, inertia: float) -> list[Array]:
    """Errors of the ten parameters of a body, (10,) each."""
    XX, XY, XZ, YY, YZ, ZZ, MX, MY, MZ, M = p
    c = np.array([MX, MY, MZ]) / M if M else np.zeros(3)
    central = np.array([[XX, XY, XZ], [XY, YY, YZ], [XZ, YZ, ZZ]]) - M * (c @ c * np.eye(3) - np.outer(c, c))
    found = [mass * p]
    for axis in np.eye(3):
        moved = (1 + mass) * M * com * axis
        turning = 2 * c @ moved * np.eye(3) - np.outer(moved, c) - np.outer(c, moved)
        found.append(np.array([*turning[0], *turning[1, 1:], turning[2, 2], *moved, 0.0]))
    size = np.sqrt(np.maximum(np.diagonal(central), 0.0))
    for entry, (i, j) in enumerate(((0, 0), (0, 1), (0, 2), (1, 1), (1, 2), (2, 2))):
        found.append(inertia * size[i] * size[j] * np.eye(10)[entry])
    return found


def identified_errors(dyn: Dynamics, fit: Any) -> Array:
    """(p, r) errors E of the standard parameters of an identified robot, from the covariance of its base parameters.

    dyn: `armdyn.compile(fit.robot)`.
    fit: result of `armdyn.identify`.
    """
    names, root = dyn.parameter_names, np.asarray(fit.covariance_root, dtype=float)
    if not (np.isfinite(root).all() and {*fit.base.standard} <= {*names}):
        raise ArmdynError(
            "the covariance of the fit is not finite, or not of this model",
            where="identified_errors",
            expected="parameters that the log determines, and the dynamics of fit.robot",
        )
    E = np.zeros((len(names), root.shape[1]))
    E[[names.index(name) for name in fit.base.standard]] = fit.base.to_standard(root.T).T
    return E


def break_away(dyn: Any) -> tuple[Array, Array]:
    """Friction at rest, (n,) each, in the direction of motion and against it, N m or N (over symbols too)."""
    still = np.full(dyn.n, INCIPIENT)
    return dyn.friction(still), dyn.friction(-still)


def error_matrix(E: Any, dyn: Dynamics, where: str) -> Array:
    """The errors as (p, r) numbers: of a matrix (p, r), of one error for each parameter, (p,), or by name.

    By name they are arguments of `parameter_errors`: {"mass": 0.03}.
    """
    if isinstance(E, Mapping):
        known = [name for name in signature(parameter_errors).parameters if name != "dyn"]
        for name in E:
            if name not in known:
                raise unknown_name("error of the model", name, known, where=where)
        E = parameter_errors(dyn, **E)
    matrix = np.asarray(E, dtype=float)
    matrix = np.diag(matrix) if matrix.ndim == 1 else matrix
    count = len(dyn.parameter_names)
    if matrix.ndim != 2 or len(matrix) != count or not np.isfinite(matrix).all():
        raise ShapeError(
            f"errors of shape {np.shape(E)}",
            where=where,
            expected=f"({count}, r) or ({count},) finite numbers: see parameter_errors",
        )
    return matrix


def fewest(E: Array, dyn: Dynamics) -> Array:
    """(p, m) errors with the same covariance of all torques, of as few columns as possible: at most base parameters."""
    low, high = working_range(dyn.robot)
    q, qd, qdd = np.random.default_rng(0).random((3, STATES, dyn.n))
    Y = dyn.regressor(low + (high - low) * q, 2 * qd - 1, 10 * (2 * qdd - 1))
    _, sizes, directions = np.linalg.svd(np.reshape(Y @ E, (-1, E.shape[1])), full_matrices=False)
    return np.asarray(E @ directions[sizes > NEGLIGIBLE * max(sizes.max(initial=0.0), 1e-300)].T)
