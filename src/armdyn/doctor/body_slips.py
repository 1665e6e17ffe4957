"""What can happen to the inertial entries of one body: mistakes of units, order, sign, point and axes.

Each change takes the entries of a body, as a file gives them, to those after the mistake. The same table serves
`explain` (which change turns a body of one model into that of the other) and `fix` (which change, undone, makes the
body of a file plausible).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from itertools import permutations
from typing import Any

import numpy as np

from armdyn.doctor.structure import from_central
from armdyn.typing import Floats

CLOSE = 1e-6
"""Relative difference at which an entry that a change predicts is the one found."""
ENTRIES = ("ixx", "ixy", "ixz", "iyy", "iyz", "izz")
PLACES = ((0, 0), (0, 1), (0, 2), (1, 1), (1, 2), (2, 2))
ORDERS = {
    "xx yy zz xy xz yz": (0, 3, 5, 1, 2, 4),
    "xx yy zz xy yz xz": (0, 3, 5, 1, 4, 2),
    "xx xy yy xz yz zz": (0, 1, 3, 2, 4, 5),
    "xx yy zz yz xz xy": (0, 3, 5, 4, 2, 1),
}
"""Orders of the six entries in other formats: place in xx xy xz yy yz zz of each of them."""
VALUES = ("mass", "centre_of_mass", "tensor")
"""Kinds that are no mistake: other values."""
DECIMALS = (10.0, 0.1, 100.0, 0.01)
LENGTH_UNITS = {1000.0: "mm", 0.001: "mm"}
MASS_UNITS = {1000.0: "g", 0.001: "g"}
RADII = {10.0: "ten times the radius", 0.1: "a tenth of the radius", 2.0: "the diameter as radius",
         0.5: "half of the radius"}  # fmt: skip
TENSOR_UNITS = {1e6: "kg mm^2", 1e-6: "kg mm^2", 1e4: "kg cm^2", 1e-4: "kg cm^2", 1e3: "g m^2", 1e-3: "g m^2",
                1e9: "g mm^2", 1e-9: "g mm^2"}  # fmt: skip


@dataclass(frozen=True, eq=False)
class Entries:
    """Mass, kg; centre of mass in the body's frame, (3,) m; tensor about the centre in its axes, (3, 3) kg m^2."""

    mass: float
    com: Floats
    tensor: Floats

    def pseudo(self) -> Floats:
        return from_central(self.mass, self.com, self.tensor)

    def six(self) -> Floats:
        return np.array([self.tensor[place] for place in PLACES])

    def near(self, other: Entries, length: float, scale: Entries) -> bool:
        """Whether all ten agree. length: m, the scale of the centre of mass; scale: a body for the others, with which
        nothing that is rounded to zero counts.
        """
        m = max(abs(self.mass), abs(other.mass), 1e-3 * abs(scale.mass))
        if abs(self.mass - other.mass) > CLOSE * m:
            return False
        size = max(
            *(float(np.abs(body.tensor).max()) for body in (self, other)), 1e-3 * float(np.abs(scale.tensor).max())
        )
        if np.abs(self.tensor - other.tensor).max() > CLOSE * size:
            return False
        far = max(length, float(np.abs(self.com).max()))
        return bool(m * np.abs(self.com - other.com).max() <= CLOSE * far * m or abs(self.mass) <= CLOSE * m)


@dataclass(frozen=True, eq=False)
class Change:
    """A change of a body. kind: of the cause. words: what was done, in a few words. reals: numbers fitted to do it."""

    kind: str
    words: str
    entries: Entries
    reals: int = 0
    options: int = 1
    """Number of alternatives of the same rule: one among many is weaker evidence."""


Rule = Callable[[Entries, Entries | None], Iterator[Change]]
RULES: list[Rule] = []


def rule(function: Rule) -> Rule:
    RULES.append(function)
    return function


def changes(body: Entries, wanted: Entries | None = None) -> Iterator[Change]:
    """All changes of a body that change anything. wanted: the other model's body, from which numbers are taken."""
    for make in RULES:
        for change in make(body, wanted):
            if not np.array_equal(change.entries.pseudo(), body.pseudo()):
                yield change


def repeated(change: Change, body: Entries) -> Change | None:
    """The same mistake made on another body."""
    return next((other for other in changes(body) if (other.kind, other.words) == (change.kind, change.words)), None)


def pairs(body: Entries, wanted: Entries, size: float) -> Iterator[tuple[Change, Change]]:
    """Two mistakes, one after the other, that turn one body into the other. size: m, the scale of lengths."""
    for first in changes(body):
        if not _one_away(first.entries, wanted, size, body):
            continue
        for second in changes(first.entries, wanted):
            if second.kind not in VALUES and second.entries.near(wanted, size, body):
                yield first, second


def _one_away(body: Entries, wanted: Entries, size: float, scale: Entries) -> bool:
    """Whether one more change can do: most change the mass, the centre or the tensor alone."""
    centre = replace(wanted, com=body.com).near(wanted, size, scale)
    mass = replace(wanted, mass=body.mass).near(wanted, size, scale)
    return centre or (mass and replace(wanted, tensor=body.tensor).near(wanted, size, scale))


def tensor(six: Any) -> Floats:
    xx, xy, xz, yy, yz, zz = (float(x) for x in six)
    return np.array([[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]])


def steiner(m: float, c: Floats) -> Floats:
    """What the mass at c adds about the origin: m (c.c 1 - c c^T)."""
    return np.asarray(m * (c @ c * np.eye(3) - np.outer(c, c)))


def _with(body: Entries, **changed: Any) -> Entries:
    return replace(body, **changed)


# The whole body ------------------------------------------------------------------------------------------------------


@rule
def _dropped(body: Entries, wanted: Entries | None) -> Iterator[Change]:
    yield Change("dropped_link", "left out", Entries(0.0, np.zeros(3), np.zeros((3, 3))))
    yield Change("doubled_link", "counted twice", _with(body, mass=2 * body.mass, tensor=2 * body.tensor))
    yield Change("doubled_link", "counted half", _with(body, mass=body.mass / 2, tensor=body.tensor / 2))


# Mass ----------------------------------------------------------------------------------------------------------------


@rule
def _mass(body: Entries, wanted: Entries | None) -> Iterator[Change]:
    yield Change("missing_mass", "the mass is zero", _with(body, mass=0.0))
    for factor, unit in MASS_UNITS.items():
        yield Change("units_mass", f"the mass is {_times(factor)}: {unit} instead of kg",
                     _with(body, mass=factor * body.mass))  # fmt: skip
        yield Change("units_mass", f"mass and tensor are {_times(factor)}: {unit} instead of kg",
                     _with(body, mass=factor * body.mass, tensor=factor * body.tensor))  # fmt: skip
    for factor in DECIMALS:
        yield Change("decimal", f"the mass is {_times(factor)}", _with(body, mass=factor * body.mass), options=4)


# Centre of mass ------------------------------------------------------------------------------------------------------


@rule
def _centre(body: Entries, wanted: Entries | None) -> Iterator[Change]:
    yield Change("missing_com", "the centre of mass is at the origin", _with(body, com=np.zeros(3)))
    yield Change("com_sign", "the centre of mass is mirrored through the origin", _with(body, com=-body.com))
    for factor, unit in LENGTH_UNITS.items():
        yield Change("units_length", f"the centre of mass is {_times(factor)}: {unit} instead of m",
                     _with(body, com=factor * body.com))  # fmt: skip
    for i, axis in enumerate("xyz"):
        for factor in (*DECIMALS, -1.0):
            com = body.com.copy()
            com[i] *= factor
            if factor == -1.0:
                words = f"{axis} of the centre of mass has the opposite sign"
                yield Change("com_sign", words, _with(body, com=com), options=3)
            else:
                words = f"{axis} of the centre of mass is {_times(factor)}"
                yield Change("decimal", words, _with(body, com=com), options=12)


# Tensor --------------------------------------------------------------------------------------------------------------


@rule
def _products(body: Entries, wanted: Entries | None) -> Iterator[Change]:
    diagonal = np.diag(np.diag(body.tensor))
    yield Change("product_sign", "the products of inertia have the opposite sign",
                 _with(body, tensor=2 * diagonal - body.tensor))  # fmt: skip
    yield Change("missing_products", "the products of inertia are left out", _with(body, tensor=diagonal))
    for k in (1, 2, 4):
        six = body.six()
        six[k] *= -1
        yield Change("product_sign", f"{ENTRIES[k]} has the opposite sign", _with(body, tensor=tensor(six)), options=3)


@rule
def _point(body: Entries, wanted: Entries | None) -> Iterator[Change]:
    moved = steiner(body.mass, body.com)
    yield Change("inertia_point", "the tensor is about the frame's origin and taken as one about the centre of mass",
                 _with(body, tensor=body.tensor + moved))  # fmt: skip
    yield Change("inertia_point", "the tensor is moved from the frame's origin to the centre of mass once too often",
                 _with(body, tensor=body.tensor - moved))  # fmt: skip


@rule
def _order(body: Entries, wanted: Entries | None) -> Iterator[Change]:
    six = body.six()
    for name, order in ORDERS.items():
        taken = np.empty(6)
        taken[list(order)] = six
        yield Change("entry_order", f"the six entries in the order {name} are read as xx xy xz yy yz zz, or the other "
                     "way round", _with(body, tensor=tensor(six[list(order)])), options=len(ORDERS))  # fmt: skip
        yield Change("entry_order", f"the six entries xx xy xz yy yz zz are read in the order {name}",
                     _with(body, tensor=tensor(taken)), options=len(ORDERS))  # fmt: skip


@rule
def _axes(body: Entries, wanted: Entries | None) -> Iterator[Change]:
    """Half and quarter turns, and, with the other model's tensor at hand, any rotation."""
    for order in permutations(range(3)):
        P = np.eye(3)[list(order)]
        if order != (0, 1, 2):
            yield Change("inertia_axes", f"the axes x y z of the tensor are {' '.join('xyz'[k] for k in order)}",
                         _with(body, tensor=P @ body.tensor @ P.T), options=5)  # fmt: skip
    if wanted is not None and np.abs(wanted.tensor).any() and _same_moments(body.tensor, wanted.tensor):
        yield Change("inertia_axes", f"the tensor is turned by {_turn(body.tensor, wanted.tensor):.3g} deg in its body",
                     _with(body, tensor=wanted.tensor), reals=3)  # fmt: skip


def _same_moments(a: Floats, b: Floats) -> bool:
    first, second = np.linalg.eigvalsh(a), np.linalg.eigvalsh(b)
    return bool(np.abs(first - second).max() <= CLOSE * np.abs(first).max())


def _turn(a: Floats, b: Floats) -> float:
    """The smallest angle between principal axes that takes one tensor to another of the same moments, deg."""
    R = np.linalg.eigh(b)[1] @ np.linalg.eigh(a)[1].T
    V = np.linalg.eigh(a)[1]
    signs = [np.diag([x, y, x * y * (np.sign(np.linalg.det(R)) or 1.0)]) for x in (1, -1) for y in (1, -1)]
    traces = [np.trace(np.linalg.eigh(b)[1] @ s @ V.T) for s in signs]
    return float(np.degrees(np.arccos(np.clip((max(traces) - 1) / 2, -1, 1))))


@rule
def _radius(body: Entries, wanted: Entries | None) -> Iterator[Change]:
    """The tensor of a cylinder whose radius was mistaken: diameter for radius, or a decimal."""
    for axis in range(3):
        across = [k for k in range(3) if k != axis]
        moments = np.diag(body.tensor)
        along, side = moments[axis], moments[across[0]]
        round_ = abs(side - moments[across[1]]) <= CLOSE * abs(side) and not body.tensor[~np.eye(3, dtype=bool)].any()
        if not round_ or along <= 0 or side < along / 2:  # side = m (3 r^2 + l^2) / 12, along = m r^2 / 2
            continue
        for factor, words in RADII.items():
            more = (factor**2 - 1) * along
            moved = np.diag([more if k == axis else more / 2 for k in range(3)])
            yield Change("wrong_radius", f"the tensor is that of a cylinder with {words}",
                         _with(body, tensor=body.tensor + moved), options=len(RADII))  # fmt: skip


@rule
def _tensor_size(body: Entries, wanted: Entries | None) -> Iterator[Change]:
    for factor, unit in TENSOR_UNITS.items():
        yield Change("units_tensor", f"the tensor is {_times(factor)}: {unit} instead of kg m^2",
                     _with(body, tensor=factor * body.tensor), options=8)  # fmt: skip
    yield Change("missing_tensor", "the tensor is zero", _with(body, tensor=np.zeros((3, 3))))
    for factor in DECIMALS:
        why = ": a length ten times too large or too small" if factor in (100.0, 0.01) else ""
        yield Change("decimal", f"the tensor is {_times(factor)}{why}", _with(body, tensor=factor * body.tensor),
                     options=4)  # fmt: skip
        for k, name in enumerate(ENTRIES):
            six = body.six()
            six[k] *= factor
            yield Change("decimal", f"{name} is {_times(factor)}", _with(body, tensor=tensor(six)), options=24)
    for factor in (1000.0, 0.001):
        for k, name in enumerate(ENTRIES):
            six = body.six()
            six[k] *= factor
            yield Change("decimal", f"{name} is {_times(factor)}", _with(body, tensor=tensor(six)), options=24)


# Other values: no mistake is known that gives them -------------------------------------------------------------------


@rule
def _values(body: Entries, wanted: Entries | None) -> Iterator[Change]:
    if wanted is None:
        return
    yield Change("mass", f"the mass is {wanted.mass:.6g} instead of {body.mass:.6g} kg",
                 _with(body, mass=wanted.mass), reals=1)  # fmt: skip
    yield Change("centre_of_mass", f"the centre of mass is {_vector(wanted.com)} instead of {_vector(body.com)} m",
                 _with(body, com=wanted.com), reals=3)  # fmt: skip
    yield Change("tensor", "the tensor has other values", _with(body, tensor=wanted.tensor), reals=6)


def _vector(v: Floats) -> str:
    return "(" + ", ".join(f"{x:.4g}" for x in v) + ")"


def _times(factor: float) -> str:
    return f"{factor:g} times as large" if factor > 1 else f"{1 / factor:g} times smaller"
