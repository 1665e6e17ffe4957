"""The ten inertial parameters of a body in the conventions of other tools, exactly: numbers, fractions or symbols."""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction
from typing import Any, Literal, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from armdyn.algebra import CentralInertia, Inertia, Mat3, Pose, Scalar, Vec3, ops
from armdyn.errors import PhysicsError, ShapeError, unknown_name

FULL = ("xx", "xy", "xz", "yy", "yz", "zz")


class Convention(NamedTuple):
    """names: of the ten numbers, in order; a tensor's entry by its axes, a place by its axis, the mass by m.

    moment: places are first moments m c (else the centre of mass c). point: of the tensor; "unit": about the origin,
    divided by the mass. tool: whose it is, and what it calls them.
    """

    names: tuple[str, ...]
    moment: bool
    point: Literal["origin", "com", "unit"]
    tool: str


PARAMETER_CONVENTIONS: Mapping[str, Convention] = {
    "armdyn": Convention((*FULL, "x", "y", "z", "m"), True, "origin", "armdyn: XX XY XZ YY YZ ZZ MX MY MZ M"),
    "khalil": Convention((*FULL, "x", "y", "z", "m"), True, "origin", "Khalil and Dombre: XX ... ZZ, MX MY MZ, M"),
    "sympybotics": Convention((*FULL, "x", "y", "z", "m"), True, "origin", "SymPyBotics: Lxx ... Lzz, lx ly lz, m"),
    "pinocchio": Convention(
        ("m", "x", "y", "z", "xx", "xy", "yy", "xz", "yz", "zz"),
        True,
        "origin",
        "Pinocchio: Inertia.toDynamicParameters",
    ),
    "figaroh": Convention(
        ("m", "x", "y", "z", "xx", "xy", "yy", "xz", "yz", "zz"),
        True,
        "origin",
        "FIGAROH: m mx my mz Ixx Ixy Iyy Ixz Iyz Izz, as Pinocchio",
    ),
    "mujoco": Convention(
        ("m", "x", "y", "z", "xx", "yy", "zz", "xy", "xz", "yz"),
        False,
        "com",
        "MuJoCo: <inertial> mass, pos, fullinertia",
    ),
    "drake": Convention(
        ("m", "x", "y", "z", "xx", "yy", "zz", "xy", "xz", "yz"),
        False,
        "unit",
        "Drake: SpatialInertia mass, p_PScm_E, UnitInertia G_SP_E",
    ),
    "rtb": Convention(
        ("m", "x", "y", "z", "xx", "yy", "zz", "xy", "yz", "xz"),
        False,
        "com",
        "Robotics Toolbox: m, r, I as a vector of six",
    ),
    "urdf": Convention(("m", "x", "y", "z", *FULL), False, "com", "URDF: <inertial> mass, xyz, ixx ... izz (rpy = 0)"),
}
"""Conventions by name. Products of inertia are entries of the tensor in all of them: I_xy = -integral of x y dm."""


def convert_parameters(values: Any, source: str, target: str, *, frame: ArrayLike | None = None) -> Any:
    """Inertial parameters of bodies from one convention to another.

    values: (..., 10), or (..., 10 n) for n bodies one after the other; numbers, fractions or symbols.
    source, target: "armdyn", "khalil", "sympybotics", "pinocchio", "figaroh", "mujoco", "drake", "rtb" or "urdf"; see
        `PARAMETER_CONVENTIONS` for the order of each.
    frame: (4, 4) T_target_source, the source's frame seen from the target's (default: the same frame).
    Returns: an array of the same shape; fractions and symbols stay exact.
    Raises: PhysicsError for a body without mass in a convention that divides by the mass.

    >>> from fractions import Fraction
    >>> point = [2, 1, 0, 0, 3, 0, 4, 0, 0, 5]  # 2 kg at x = 1/2 m
    >>> [str(x) for x in convert_parameters([Fraction(x) for x in point], "pinocchio", "mujoco")]
    ['2', '1/2', '0', '0', '3', '7/2', '9/2', '0', '0', '0']
    """
    for name in (source, target):
        if name not in PARAMETER_CONVENTIONS:
            raise unknown_name("convention", name, PARAMETER_CONVENTIONS, where="convert_parameters")
    given = np.asarray(values)
    if given.ndim == 0 or given.shape[-1] % 10 or not given.shape[-1]:
        raise ShapeError(
            f"parameters of shape {given.shape}",
            where="convert_parameters",
            expected="ten numbers for each body along the last axis",
        )
    T = None if frame is None else _pose(frame)
    rows = given.reshape(-1, 10)
    made = [_converted(row.tolist(), PARAMETER_CONVENTIONS[source], PARAMETER_CONVENTIONS[target], T) for row in rows]
    exact = given.dtype == object
    return np.array(made, dtype=object if exact else float).reshape(given.shape)


def _pose(frame: ArrayLike) -> Pose:
    rows = np.asarray(frame).tolist()
    return Pose(Mat3([row[:3] for row in rows[:3]]), Vec3(*(row[3] for row in rows[:3])))


def _converted(row: list[Scalar], source: Convention, target: Convention, T: Pose | None) -> list[Scalar]:
    body = _read(dict(zip(source.names, row, strict=True)), source)
    return _written(body if T is None else body.seen_from(T), target)


def _read(entries: Mapping[str, Scalar], convention: Convention) -> Inertia:
    m, place = entries["m"], Vec3(*(entries[axis] for axis in "xyz"))
    tensor = Mat3.symmetric(*(entries[axes] for axes in FULL))
    if convention.point == "com":
        return CentralInertia(m, place, tensor).at_origin()
    if convention.point == "unit":
        tensor = m * tensor
    return Inertia(m, place if convention.moment else m * place, tensor)


def _written(body: Inertia, convention: Convention) -> list[Scalar]:
    if not convention.moment and _is_zero(body.mass) and not all(map(_is_zero, body.parameters())):
        raise PhysicsError(
            "a body without mass has no centre of mass",
            where="convert_parameters",
            expected=f"a mass other than 0 for {convention.tool.split(':')[0]}",
        )
    central = body.about_com()
    place = body.moment if convention.moment else central.com
    tensor = central.tensor if convention.point == "com" else body.tensor
    if convention.point == "unit" and not _is_zero(body.mass):
        tensor = Mat3([[x / body.mass for x in row] for row in body.tensor.rows])
    entries = dict(zip(FULL, tensor.upper(), strict=True)) | dict(zip("xyz", place, strict=True)) | {"m": body.mass}
    return [entries[name] for name in convention.names]


def _is_zero(x: Scalar) -> bool:
    return ops.is_zero(x) or (isinstance(x, int | float | Fraction) and not x)


__all__ = ["PARAMETER_CONVENTIONS", "Convention", "convert_parameters"]
