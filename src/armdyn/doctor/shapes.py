"""Shapes as witnesses: what a body's mesh says about its mass, centre and tensor at uniform density."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from armdyn.doctor.body_slips import InertiaEntries
from armdyn.errors import ArmdynError
from armdyn.formats.mesh_integrals import mesh_mass, read_mesh
from armdyn.formats.visuals import Visual, visuals
from armdyn.robot.robot import Robot
from armdyn.typing import Floats

LIGHTEST, DENSEST = 100.0, 8000.0
"""kg/m^3 of robot links within the hulls of their shapes, where neighbours do not tell."""
SPREAD = 5.0
"""Factor by which the density of one body may differ from the median of its neighbours."""
MOST_BYTES = 20_000_000
"""Larger meshes are not read: their evidence is not worth the wait."""


@dataclass(frozen=True, eq=False)
class MeshHull:
    """The convex hull of a body's meshes: volume m^3, centre (3,) m, and its tensor per mass (3, 3) m^2."""

    volume: float
    com: Floats
    gyration: Floats


@dataclass(frozen=True, eq=False)
class Shapes:
    """The shapes of a robot's bodies, read when they are asked for."""

    robot: Robot
    shown: Mapping[str, Sequence[Visual]]

    def of(self, name: str) -> MeshHull | None:
        """The shape of a body, if its meshes can be read."""
        known = self.__dict__.setdefault("_known", {})
        if name not in known:
            known[name] = _shape(self.shown.get(name, ()))
        found: MeshHull | None = known[name]
        return found

    @cached_property
    def density(self) -> tuple[float, float]:
        """Lowest and highest plausible density, kg/m^3: around the median of the robot's bodies."""
        values = []
        for joint in self.robot.tree:
            mass = float(joint.body.inertia.mass)
            shape = self.of(joint.body.name) if mass > 0 and joint.body.name in self.shown else None
            if shape is not None:
                values.append(mass / shape.volume)
        if len(values) < 3:
            return LIGHTEST, DENSEST
        middle = float(np.median(values))
        return middle / SPREAD, middle * SPREAD

    def nearest(self, name: str, bodies: Sequence[InertiaEntries]) -> tuple[int, list[float]] | None:
        """(which body agrees best with the shape, distances of all); None without a shape."""
        shape = self.of(name)
        if shape is None or not bodies:
            return None
        distances = [_distance(body, shape, self.density) for body in bodies]
        return int(np.argmin(distances)), distances


def _distance(body: InertiaEntries, shape: MeshHull, density: tuple[float, float]) -> float:
    """How far a body is from its shape: logarithms of the moments per mass, centre over size, density out of range."""
    size = float(np.sqrt(np.trace(shape.gyration)))
    moments, wanted = np.linalg.eigvalsh(body.tensor / body.mass), np.linalg.eigvalsh(shape.gyration)
    apart = float(np.linalg.norm(np.log(np.maximum(moments, 1e-12 * size**2) / wanted)))
    turned = float(np.abs(body.tensor / body.mass - shape.gyration).max() / np.abs(shape.gyration).max())
    rho = body.mass / shape.volume
    outside = max(np.log(density[0] / rho), np.log(rho / density[1]), 0.0)
    return apart + min(turned, 2.0) + float(np.linalg.norm(body.com - shape.com)) / size + float(outside)


def shapes_of(robot: Robot) -> Shapes:
    """The meshes of a robot's bodies; none if it was not read from a file with meshes."""
    shown: dict[str, list[Visual]] = {}
    try:
        for shape in visuals(robot):
            if shape.kind == "mesh" and shape.mesh is not None:
                shown.setdefault(shape.body, []).append(shape)
    except (ArmdynError, OSError):
        return Shapes(robot, {})
    return Shapes(robot, shown)


def _shape(parts: Sequence[Visual]) -> MeshHull | None:
    """All meshes of a body as one: each by its convex hull, which closes holes and doubled walls."""
    total, first, second = 0.0, np.zeros(3), np.zeros((3, 3))
    try:
        for part in parts:
            if part.mesh is None or part.mesh.stat().st_size > MOST_BYTES:
                return None
            mesh = read_mesh(part.mesh)
            T = np.asarray(part.pose.array(), float)
            scaled = mesh._replace(vertices=mesh.vertices * np.array(part.size) @ T[:3, :3].T + T[:3, 3])
            volume, com, inertia = mesh_mass(scaled, "convex")
            total, first = total + volume, first + volume * com
            second = second + inertia + volume * (com @ com * np.eye(3) - np.outer(com, com))
    except (ArmdynError, OSError, ValueError):
        return None
    if total <= 0:
        return None
    com = first / total
    return MeshHull(total, com, second / total - (com @ com * np.eye(3) - np.outer(com, com)))
