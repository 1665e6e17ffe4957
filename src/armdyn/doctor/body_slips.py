"""What can happen to the inertial entries of one body: slips of units, order, sign, point and axes.

Each slip is a reading of the entries of a body as a file gives them. The same table serves `explain` (which slip turns
a body of one model into that of the other) and `fix` (which slip, undone, makes the body of a file plausible).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from itertools import permutations
from typing import Any

import numpy as np

from armdyn.algebra import CentralInertia, Mat3, Vec3
from armdyn.doctor.reading import Reading
from armdyn.doctor.structure import from_central
from armdyn.robot.parts import Body
from armdyn.robot.physical import steiner
from armdyn.typing import Floats

CLOSE = 1e-6
"""Relative difference at which an entry that a slip predicts is the one found."""
ENTRIES = ("ixx", "ixy", "ixz", "iyy", "iyz", "izz")
PLACES = ((0, 0), (0, 1), (0, 2), (1, 1), (1, 2), (2, 2))
ORDERS = {
    "xx yy zz xy xz yz": (0, 3, 5, 1, 2, 4),
    "xx yy zz xy yz xz": (0, 3, 5, 1, 4, 2),
    "xx xy yy xz yz zz": (0, 1, 3, 2, 4, 5),
    "xx yy zz yz xz xy": (0, 3, 5, 4, 2, 1),
}
"""Orders of the six entries in other formats: place in xx xy xz yy yz zz of each of them."""
DECIMALS = (10.0, 0.1, 100.0, 0.01)
TENSOR_UNITS = {1e6: "kg mm^2", 1e4: "kg cm^2", 1e3: "g m^2", 1e9: "g mm^2"}
"""Units of tensors: how many of them are one kg m^2."""
RADII = {
    10.0: "ten times the radius",
    0.1: "a tenth of the radius",
    2.0: "the diameter as radius",
    0.5: "half of the radius",
}


@dataclass(frozen=True, eq=False)
class InertiaEntries:
    """Mass, kg; centre of mass in the body's frame, (3,) m; tensor about the centre in its axes, (3, 3) kg m^2."""

    mass: float
    com: Floats
    tensor: Floats

    def pseudo(self) -> Floats:
        return from_central(self.mass, self.com, self.tensor)

    def six(self) -> Floats:
        return np.array([self.tensor[place] for place in PLACES])

    def equals(self, other: InertiaEntries) -> bool:
        return self.mass == other.mass and bool((self.com == other.com).all() and (self.tensor == other.tensor).all())

    def near(self, other: InertiaEntries, length: float, scale: InertiaEntries) -> bool:
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


def entries_of(body: Body) -> InertiaEntries:
    """The inertial entries of a body about its centre of mass."""
    inertia = body.inertia.about_com()
    return InertiaEntries(
        float(inertia.mass),
        np.array([float(x) for x in inertia.com]),
        np.array([[float(x) for x in row] for row in inertia.tensor.rows]),
    )


def with_entries(body: Body, entries: InertiaEntries) -> Body:
    """The body with other inertial entries."""
    tensor = Mat3(tuple(tuple(float(x) for x in row) for row in entries.tensor))
    return replace(body, inertia=CentralInertia(entries.mass, Vec3(*map(float, entries.com)), tensor))


def slips_of(body: InertiaEntries) -> Iterator[tuple[Reading, InertiaEntries]]:
    """All slips that change a body, with the body that they make of it."""
    for slip in (*SLIPS, *_radius(body)):
        after = slip.apply(body)
        if not after.equals(body):
            yield slip, after


def pairs(body: InertiaEntries, wanted: InertiaEntries, size: float) -> Iterator[tuple[Reading, Reading]]:
    """Two slips, one after the other, that turn one body into the other. size: m, the scale of lengths."""
    for first, between in slips_of(body):
        if _one_away(between, wanted, size, body):
            turned = [reading for reading in other_values(between, wanted) if reading.kind == "inertia_axes"]
            for second in (*(slip for slip, _ in slips_of(between)), *turned):
                if second.apply(between).near(wanted, size, body):
                    yield first, second


def _one_away(body: InertiaEntries, wanted: InertiaEntries, size: float, scale: InertiaEntries) -> bool:
    """Whether one more slip can do: most change the mass, the centre or the tensor alone."""
    centre = replace(wanted, com=body.com).near(wanted, size, scale)
    mass = replace(wanted, mass=body.mass).near(wanted, size, scale)
    return centre or (mass and replace(wanted, tensor=body.tensor).near(wanted, size, scale))


# The table -----------------------------------------------------------------------------------------------------------


def _slip(kind: str, what: str, change: Callable[..., dict[str, Any]], *values: Any, options: int = 1) -> Reading:
    """A slip whose change gives the new entries from a body and these values."""
    return Reading(kind, (), what, lambda body: replace(body, **change(body, *values)), options=options)


def tensor_of(six: Any) -> Floats:
    xx, xy, xz, yy, yz, zz = (float(x) for x in six)
    return np.array([[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]])


def _times(factor: float) -> str:
    return f"{factor:g} times as large" if factor > 1 else f"{1 / factor:g} times smaller"


def _diagonal(body: InertiaEntries) -> Floats:
    return np.asarray(np.diag(np.diag(body.tensor)))


def _whole_and_mass() -> Iterator[Reading]:
    yield _slip("dropped_link", "left out", lambda b: {"mass": 0.0, "com": 0 * b.com, "tensor": 0 * b.tensor})
    for words, factor in (("twice", 2.0), ("half", 0.5)):
        yield _slip(
            "doubled_link", f"counted {words}", lambda b, f: {"mass": f * b.mass, "tensor": f * b.tensor}, factor
        )
    yield _slip("missing_mass", "the mass is zero", lambda b: {"mass": 0.0})
    for f in (1000.0, 0.001):
        yield _slip("units_mass", f"the mass is {_times(f)}: g instead of kg", lambda b, f: {"mass": f * b.mass}, f)
        yield _slip(
            "units_mass",
            f"mass and tensor are {_times(f)}: g instead of kg",
            lambda b, f: {"mass": f * b.mass, "tensor": f * b.tensor},
            f,
        )
    for f in DECIMALS:
        yield _slip("decimal", f"the mass is {_times(f)}", lambda b, f: {"mass": f * b.mass}, f, options=4)


def _centre() -> Iterator[Reading]:
    yield _slip("missing_com", "the centre of mass is at the origin", lambda b: {"com": 0 * b.com})
    yield _slip("com_sign", "the centre of mass is mirrored through the origin", lambda b: {"com": -b.com})
    for f in (1000.0, 0.001):
        yield _slip(
            "units_length", f"the centre of mass is {_times(f)}: mm instead of m", lambda b, f: {"com": f * b.com}, f
        )
    for unit, axis in zip(np.eye(3), "xyz", strict=True):
        yield _slip(
            "com_sign",
            f"{axis} of the centre of mass has the opposite sign",
            lambda b, unit: {"com": b.com * (1 - 2 * unit)},
            unit,
            options=3,
        )
        for f in DECIMALS:
            yield _slip(
                "decimal",
                f"{axis} of the centre of mass is {_times(f)}",
                lambda b, unit, f: {"com": b.com * np.where(unit, f, 1.0)},
                unit,
                f,
                options=12,
            )


def _tensor() -> Iterator[Reading]:
    yield _slip(
        "product_sign",
        "the products of inertia have the opposite sign",
        lambda b: {"tensor": 2 * _diagonal(b) - b.tensor},
    )
    yield _slip("missing_products", "the products of inertia are left out", lambda b: {"tensor": _diagonal(b)})
    yield _slip("missing_tensor", "the tensor is zero", lambda b: {"tensor": 0 * b.tensor})
    yield _slip(
        "inertia_point",
        "the tensor is about the frame's origin and taken as one about the centre of mass",
        lambda b: {"tensor": b.tensor + steiner(b.mass, b.com)},
    )
    yield _slip(
        "inertia_point",
        "the tensor is moved from the frame's origin to the centre of mass once too often",
        lambda b: {"tensor": b.tensor - steiner(b.mass, b.com)},
    )
    for name, order in ORDERS.items():
        back = [order.index(k) for k in range(6)]
        for taken, words in (
            (list(order), f"the six entries in the order {name} are read as xx xy xz yy yz zz, or the other way round"),
            (back, f"the six entries xx xy xz yy yz zz are read in the order {name}"),
        ):
            yield _slip(
                "entry_order", words, lambda b, taken: {"tensor": tensor_of(b.six()[taken])}, taken, options=len(ORDERS)
            )
    for axes in list(permutations(range(3)))[1:]:
        P = np.eye(3)[list(axes)]
        yield _slip(
            "inertia_axes",
            f"the axes x y z of the tensor are {' '.join('xyz'[k] for k in axes)}",
            lambda b, P: {"tensor": P @ b.tensor @ P.T},
            P,
            options=5,
        )
    for large, unit in TENSOR_UNITS.items():
        for f in (large, 1 / large):
            yield _slip(
                "units_tensor",
                f"the tensor is {_times(f)}: {unit} instead of kg m^2",
                lambda b, f: {"tensor": f * b.tensor},
                f,
                options=8,
            )
    for f in DECIMALS:
        why = ": a length ten times too large or too small" if f in (100.0, 0.01) else ""
        yield _slip("decimal", f"the tensor is {_times(f)}{why}", lambda b, f: {"tensor": f * b.tensor}, f, options=4)
    for k, name in enumerate(ENTRIES):
        if k in (1, 2, 4):
            yield _slip("product_sign", f"{name} has the opposite sign", lambda b, k: _entry(b, k, -1.0), k, options=3)
        for f in (*DECIMALS, 1000.0, 0.001):
            yield _slip("decimal", f"{name} is {_times(f)}", lambda b, k, f: _entry(b, k, f), k, f, options=24)


def _entry(body: InertiaEntries, k: int, factor: float) -> dict[str, Any]:
    six = body.six()
    six[k] *= factor
    return {"tensor": tensor_of(six)}


SLIPS = (*_whole_and_mass(), *_centre(), *_tensor())
"""Slips that need no number from elsewhere."""


def _radius(body: InertiaEntries) -> Iterator[Reading]:
    """The tensor of a cylinder whose radius was mistaken: diameter for radius, or a decimal."""
    moments = np.diag(body.tensor)
    for axis in range(3):
        side, other = (moments[k] for k in range(3) if k != axis)
        round_ = abs(side - other) <= CLOSE * abs(side) and not body.tensor[~np.eye(3, dtype=bool)].any()
        if (
            not round_ or moments[axis] <= 0 or side < moments[axis] / 2
        ):  # side = m (3 r^2 + l^2) / 12, along = m r^2 / 2
            continue
        for factor, words in RADII.items():
            more = (factor**2 - 1) * moments[axis] * np.where(np.arange(3) == axis, 1.0, 0.5)
            yield _slip(
                "wrong_radius",
                f"the tensor is that of a cylinder with {words}",
                lambda b, more: {"tensor": b.tensor + np.diag(more)},
                more,
                options=len(RADII),
            )


# Other values: no slip is known that gives them ----------------------------------------------------------------------


def other_values(body: InertiaEntries, wanted: InertiaEntries) -> Iterator[Reading]:
    """Readings that take the mass, the centre or the tensor from the other model."""
    if np.abs(wanted.tensor).any() and _same_moments(body.tensor, wanted.tensor):
        yield _taken(
            "inertia_axes",
            f"the tensor is turned by {_turn(body.tensor, wanted.tensor):.3g} deg in its body",
            3,
            tensor=wanted.tensor,
        )
    yield _taken("mass", f"the mass is {wanted.mass:.6g} instead of {body.mass:.6g} kg", 1, mass=wanted.mass)
    yield _taken(
        "centre_of_mass",
        f"the centre of mass is {_vector(wanted.com)} instead of {_vector(body.com)} m",
        3,
        com=wanted.com,
    )
    yield _taken("tensor", "the tensor has other values", 6, tensor=wanted.tensor)


def _taken(kind: str, what: str, reals: int, **values: Any) -> Reading:
    return Reading(kind, (), what, lambda body: replace(body, **values), reals)


def _same_moments(a: Floats, b: Floats) -> bool:
    first, second = np.linalg.eigvalsh(a), np.linalg.eigvalsh(b)
    return bool(np.abs(first - second).max() <= CLOSE * np.abs(first).max())


def _turn(a: Floats, b: Floats) -> float:
    """The smallest angle between principal axes that takes one tensor to another of the same moments, deg."""
    V, W = np.linalg.eigh(a)[1], np.linalg.eigh(b)[1]
    handed = np.sign(np.linalg.det(W @ V.T)) or 1.0
    traces = [np.trace(W @ np.diag([x, y, x * y * handed]) @ V.T) for x in (1, -1) for y in (1, -1)]
    return float(np.degrees(np.arccos(np.clip((max(traces) - 1) / 2, -1, 1))))


def _vector(v: Floats) -> str:
    return "(" + ", ".join(f"{x:.4g}" for x in v) + ")"
