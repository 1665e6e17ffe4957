"""Inertias of MJCF bodies: as <inertial> gives them, or from shapes and meshes."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from xml.etree.ElementTree import Element

import numpy as np

from armdyn.algebra import ZERO, CentralInertia, Inertia, Mat3, Pose, Scalar, Vec3
from armdyn.errors import FileError, RobotError
from armdyn.formats.mesh_integrals import MeshMass
from armdyn.formats.mjcf_meshes import Meshes
from armdyn.formats.mjcf_shapes import SIZES, area, gyration, shell_gyration, volume
from armdyn.formats.mjcf_values import ORIENTATIONS, to_axis
from armdyn.formats.xml_values import shown
from armdyn.robot.record import unit
from armdyn.typing import Floats

DENSITY = 1000.0
"""kg/m^3, MJCF's default."""
LARGEST_SHAPE = 1e9
"""Largest size of a shape, m. Larger ones are rejected as mistakes: masses grow with the third power."""
Placed = Sequence[tuple[Element, Pose]]
"""Elements with the pose of the frame that they stand in."""


@dataclass(frozen=True)
class Weighed(Meshes):
    """Reads inertias; `notes` grows by what cannot be read."""

    notes: list[str] = field(default_factory=list)

    def inertia(self, inertials: Placed, shapes: Placed, label: str, moves: bool) -> CentralInertia:
        """What <inertial> gives or the shapes add up to, as the compiler's settings decide."""
        if len(inertials) > 1:
            raise RobotError("two <inertial>", where=self.document.at(inertials[1][0], label), expected="at most one")
        given = self.given(*inertials[0], label, moves) if inertials else CentralInertia(0, ZERO, Mat3.zero())
        if self.compiler.from_shapes == "false" or (inertials and self.compiler.from_shapes == "auto"):
            return given
        total = Inertia.zero()
        low, high = self.compiler.groups
        for shape, frame in shapes:
            if low <= int(self.optional(shape, "group", label) or 0) <= high:
                total = total + self.shape(shape, label, moves).seen_from(frame)
        return total.about_com() if total.mass else given

    def given(self, inertial: Element, frame: Pose, label: str, moves: bool) -> CentralInertia:
        mass = self.number(inertial, "mass", label)
        com = Vec3(*self.numbers(self.text(inertial, "pos", label), 3, inertial, "pos", label))
        R = frame.R @ self.orientation(inertial, label)
        where = self.document.at(inertial, label)
        tensors = [key for key in ("diaginertia", "fullinertia") if key in inertial.attrib]
        if (not tensors and moves) or len(tensors) > 1:
            raise RobotError(
                f"an <inertial> {'with two tensors' if tensors else 'without a tensor'}",
                where=where,
                expected="diaginertia or fullinertia",
            )
        if "fullinertia" in tensors:
            if inertial.attrib.keys() & ORIENTATIONS:
                raise RobotError("fullinertia with an orientation", where=where, expected="one of the two")
            xx, yy, zz, xy, xz, yz = self.numbers(inertial.attrib["fullinertia"], 6, inertial, "fullinertia", label)
            tensor = Mat3.symmetric(*(R @ Mat3.symmetric(xx, xy, xz, yy, yz, zz) @ R.T).upper())
        else:
            diagonal = self.numbers(inertial.get("diaginertia", "0 0 0"), 3, inertial, "diaginertia", label)
            tensor = turned_tensor(R, diagonal)
        return CentralInertia(mass, frame.p + frame.R @ com, tensor)

    def bounded(self, inertia: CentralInertia) -> CentralInertia:
        """The inertia after the compiler's corrections: lower bounds, and a mean where no body has such moments."""
        compiler = self.compiler
        mass = max(float(inertia.mass), compiler.least_mass)
        moments, axes = np.linalg.eigh(np.array(inertia.tensor.rows, dtype=float))
        kept = np.maximum(moments, compiler.least_inertia)
        a, b, c = sorted(kept)
        if compiler.balance and a + b < c:
            kept[:] = (a + b + c) / 3
        if mass == inertia.mass and np.array_equal(kept, moments):
            return inertia
        tensor = axes @ np.diag(kept) @ axes.T
        return CentralInertia(mass, inertia.com, Mat3.symmetric(*map(float, tensor[np.triu_indices(3)])))

    def shape(self, shape: Element, label: str, moves: bool) -> Inertia:
        """The inertia of a shape in the body's frame; what has none, or none without its file, is noted."""
        kind = shape.get("type", "sphere")
        mass = self.optional(shape, "mass", label)
        density = self.optional(shape, "density", label)
        for key, value in (("mass", mass), ("density", density)):
            if value is not None and value < 0:
                raise RobotError(f"a negative {key}", where=self.document.at(shape, f"{label}, <geom {key}>"))
        if mass == 0 or (mass is None and density == 0):
            return Inertia.zero()
        found = None
        if kind in ("mesh", "sdf") or "mesh" in shape.attrib:
            try:
                found = self.mesh_inertia(shape)
            except FileError as error:
                fitted = " fitted to a mesh" if kind in SIZES else ""
                self.notes.append(f"{label}: mass of a shape of type {shown(kind)!r}{fitted}: {error.what}")
                return Inertia.zero()
        if kind not in SIZES:
            if found is not None:
                return self.solid(found, self.pose(shape, label), mass, density)
            if moves:
                self.notes.append(f"{label}: mass of a shape of type {shown(kind)!r}")
            return Inertia.zero()
        pose, size = self.extent(shape, kind, label) if found is None else self.fitted(shape, kind, found, label)
        if not all(0 < x < LARGEST_SHAPE for x in size):
            sizes = " ".join(f"{x:g}" for x in size)
            raise RobotError(
                f"a shape of size {sizes}",
                where=self.document.at(shape, label),
                expected=f"sizes greater than zero, below {LARGEST_SHAPE:g} m",
            )
        shell = shape.get("shellinertia", "false") == "true"
        extent, moments = (area, shell_gyration) if shell else (volume, gyration)
        weight = (
            float(mass) if mass is not None else float(DENSITY if density is None else density) * extent(kind, size)
        )
        tensor = turned_tensor(pose.R, [weight * g for g in moments(kind, size)])
        return CentralInertia(weight, pose.p, tensor).at_origin()

    def solid(self, found: MeshMass, pose: Pose, mass: Scalar | None, density: Scalar | None) -> Inertia:
        """The inertia of a mesh."""
        weight = float(mass) if mass is not None else float(DENSITY if density is None else density) * found.extent
        R = np.array(pose.R.rows, dtype=float)
        tensor = R @ found.inertia @ R.T * (weight / found.extent)
        com = pose.apply(Vec3(*map(float, found.com)))
        return CentralInertia(weight, com, Mat3.symmetric(*map(float, tensor[np.triu_indices(3)]))).at_origin()

    def fitted(self, shape: Element, kind: str, found: MeshMass, label: str) -> tuple[Pose, list[float]]:
        """Where a primitive fitted to a mesh stands, and how large it is: as a box of the same inertia, or around it.

        Its axes are the principal axes of the mesh, the longest one z.
        """
        moments, axes = np.linalg.eigh(found.inertia)
        moments, axes = moments[::-1], axes[:, ::-1] * np.array([1, 1, np.linalg.det(axes[:, ::-1])])
        centre = found.com
        half = np.sqrt(np.maximum(1.5 * (moments.sum() - 2 * moments) / found.extent, 0))
        if self.compiler.fit_to_box:
            seen = (self.mesh(self.mesh_asset(shape)).vertices - found.com) @ axes
            low, high = seen.min(axis=0), seen.max(axis=0)
            centre, half = found.com + axes @ (low + high) / 2, (high - low) / 2
        scale = float(self.optional(shape, "fitscale", label) or 1)
        inner = Pose(Mat3([list(map(float, row)) for row in axes]), Vec3(*map(float, centre)))
        return self.pose(shape, label) @ inner, [scale * x for x in _sizes(kind, half, self.compiler.fit_to_box)]

    def extent(self, shape: Element, kind: str, label: str) -> tuple[Pose, list[float]]:
        """Where a shape stands and how large it is; `fromto` gives the ends of a long one."""
        needed = SIZES[kind]
        pose, half = self.stretched(shape, label)
        if half is None:
            return pose, self.first(shape, "size", needed, label)
        if needed == 1:
            raise RobotError(
                f"fromto on a {kind}",
                where=self.document.at(shape, label),
                expected="a capsule, cylinder, box or ellipsoid",
            )
        return pose, [*self.first(shape, "size", 1, label) * (needed - 1), half]

    def stretched(self, element: Element, label: str) -> tuple[Pose, float | None]:
        """Where a shape or site stands, and its half length if `fromto` gives its ends."""
        if "fromto" not in element.attrib:
            return self.pose(element, label), None
        if self.vector(element, "pos", label) != ZERO:  # MuJoCo takes zeros for a position that is not given
            raise RobotError("both pos and fromto", where=self.document.at(element, label), expected="one of the two")
        ends = self.numbers(element.attrib["fromto"], 6, element, "fromto", label)
        first, second = Vec3(*ends[:3]), Vec3(*ends[3:])
        along = first - second
        R = to_axis(unit(along, self.document.at(element, f"{label}, fromto")))
        return Pose(R, (first + second) * 0.5), math.sqrt(float(along.dot(along))) / 2


def _sizes(kind: str, half: Floats, around: bool) -> list[float]:
    """Sizes of a primitive from half the edges of a box, which it surrounds or resembles."""
    x, y, z = map(float, half)
    across = max(x, y) if around else (x + y) / 2
    if kind == "sphere":
        return [max(x, y, z) if around else (x + y + z) / 3]
    if kind == "capsule":
        return [across, max(z - (across if around else across / 2), 0.0)]
    return [across, z] if kind == "cylinder" else [x, y, z]


def turned_tensor(R: Mat3, diagonal: Sequence[Scalar]) -> Mat3:
    a, b, c = diagonal
    return Mat3.symmetric(*(R @ Mat3.symmetric(a, 0, 0, b, 0, c) @ R.T).upper())
