"""Volume, centre and second moments of triangle meshes; files in STL, OBJ and MuJoCo's MSH.

The modes are those of MJCF. "exact" integrates over the solid by the divergence theorem: a signed tetrahedron on every
face. "convex" does it for the convex hull. "shell" integrates over the surface. "legacy" takes every tetrahedron as
positive, first about the centroid of the faces and then about the centre of mass that this gives, so that holes and
wrongly oriented faces add volume.
"""

from __future__ import annotations

import struct
from collections.abc import Callable
from functools import partial
from itertools import pairwise
from pathlib import Path
from typing import Any, Literal, NamedTuple

import numpy as np

from armdyn.errors import FileError
from armdyn.files import MEBI, regular_size
from armdyn.typing import Floats

Ints = np.ndarray[Any, np.dtype[np.int64]]
MeshMode = Literal["exact", "convex", "shell", "legacy"]
MODES: tuple[MeshMode, ...] = ("exact", "convex", "shell", "legacy")
LARGEST_MESH = 512 * MEBI
SMALLEST = 1e-15
"""m^3 or m^2; MuJoCo's bound."""


class Mesh(NamedTuple):
    """vertices: (m, 3) m. faces: (k, 3) indices, counter-clockwise seen from outside."""

    vertices: Floats
    faces: Ints


class MeshMass(NamedTuple):
    """Of a mesh at unit density: extent (m^3, for a shell m^2), centre of mass, (3, 3) inertia about it."""

    extent: float
    com: Floats
    inertia: Floats


def mesh_mass(mesh: Mesh, mode: MeshMode = "exact") -> MeshMass:
    """The mass properties of a mesh at unit density.

    Raises FileError for a mesh without extent, or whose faces point inwards.
    """
    if mode == "convex" or not len(mesh.faces):
        mesh = convex_hull(mesh)
    corners = mesh.vertices[mesh.faces]  # (k, 3 corners, 3)
    normals = np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0]) / 2
    areas = np.linalg.norm(normals, axis=1)
    centroid = _mean(corners.mean(axis=1), areas)
    if mode == "shell":
        extents, com = areas, centroid
        corners = corners - com
    else:
        extents = _pyramids(corners - centroid, normals, mode)
        com = centroid + 0.75 * _mean(corners.mean(axis=1) - centroid, extents)
        corners = corners - com
        extents = _pyramids(corners, normals, mode)
    total = float(extents.sum())
    if not total > SMALLEST:
        raise FileError(
            "a mesh without volume" if mode != "shell" else "a mesh without area",
            expected="faces that enclose a volume and point outwards",
        )
    return MeshMass(total, com, _inertia(corners, extents, 12 if mode == "shell" else 20))


def _pyramids(corners: Floats, normals: Floats, mode: MeshMode) -> Floats:
    """Volumes of the pyramids between the origin and the faces."""
    volumes: Floats = np.einsum("ij,ij->i", corners.mean(axis=1), normals) / 3
    return np.abs(volumes) if mode == "legacy" else volumes


def _mean(points: Floats, weights: Floats) -> Floats:
    total = weights.sum()
    return np.asarray(weights @ points / total if abs(total) > SMALLEST else points.mean(axis=0))


def _inertia(corners: Floats, extents: Floats, factor: int) -> Floats:
    """About the origin, from the second moments of simplices with one corner there (of triangles, for a shell)."""
    weighted = corners * extents[:, None, None]
    squares = np.einsum("kai,kaj->ij", weighted, corners)
    sums = np.einsum("ki,kj->ij", weighted.sum(axis=1), corners.sum(axis=1))
    products = (squares + sums) / factor  # of x_i x_j over the body
    return np.asarray(np.trace(products) * np.eye(3) - products)


def convex_hull(mesh: Mesh) -> Mesh:
    """The convex hull, with its faces outwards."""
    from scipy.spatial import ConvexHull, QhullError

    try:
        hull = ConvexHull(mesh.vertices)
    except (QhullError, ValueError):
        raise FileError("a mesh without volume", expected="vertices that do not lie in one plane") from None
    a, b, c = (mesh.vertices[hull.simplices[:, k]] for k in range(3))
    inwards = np.einsum("ij,ij->i", np.cross(b - a, c - a), hull.equations[:, :3]) < 0
    faces = hull.simplices.astype(np.int64)
    faces[inwards] = faces[inwards][:, ::-1]
    return Mesh(mesh.vertices, faces)


# Files --------------------------------------------------------------------------------------------------------------


def read_mesh(path: Path) -> Mesh:
    """The triangles of an .stl, .obj or .msh file, in single precision as MuJoCo reads them.

    Raises FileError for other kinds of files and for damaged ones.
    """
    readers: dict[str, Callable[[bytes], Mesh]] = {".stl": _stl, ".obj": _obj, ".msh": _msh}
    ending = path.suffix.lower()
    if ending not in readers:
        raise FileError(f"a mesh file of kind {ending!r}", where=str(path), expected=", ".join(readers))
    regular_size(path, LARGEST_MESH)
    try:
        with np.errstate(all="ignore"):  # what is not a number is looked for below
            mesh = readers[ending](path.read_bytes())
    except (ValueError, IndexError, OverflowError, struct.error) as error:
        raise FileError(f"not a mesh: {error}", where=str(path)) from None
    except OSError as error:
        raise FileError(f"cannot be read: {error.strerror}", where=str(path)) from None
    if not np.isfinite(mesh.vertices).all() or (mesh.faces < 0).any() or (mesh.faces >= len(mesh.vertices)).any():
        raise FileError("not a mesh: corners that do not exist", where=str(path))
    return mesh


def _stl(content: bytes) -> Mesh:
    count = struct.unpack_from("<I", content, 80)[0] if len(content) >= 84 else -1
    if len(content) < 84 + 50 * count or count < 0:
        return _ascii_stl(content)
    record = np.dtype([("normal", "<f4", 3), ("corners", "<f4", (3, 3)), ("rest", "<u2")])
    corners = np.frombuffer(content, record, count, 84)["corners"]
    return _welded(corners.reshape(-1, 3))


def _ascii_stl(content: bytes) -> Mesh:
    words = [line.split() for line in content.decode("ascii").splitlines()]
    rows = [[float(x) for x in line[1:4]] for line in words if line and line[0] == "vertex"]
    if not rows or len(rows) % 3:
        raise ValueError("neither a binary nor a text STL file")
    return _welded(np.array(rows, dtype=np.float32))


def _welded(corners: np.ndarray[Any, Any]) -> Mesh:
    """Triangles whose equal corners become one vertex."""
    vertices, index = np.unique(corners, axis=0, return_inverse=True)
    return Mesh(vertices.astype(float), index.reshape(-1, 3).astype(np.int64))


def _obj(content: bytes) -> Mesh:
    """Vertices and faces; a polygon becomes a fan of triangles, a quadrangle two along its shorter diagonal."""
    vertices: list[list[str]] = []
    polygons: list[list[int]] = []
    for line in content.decode("utf-8", errors="replace").splitlines():
        words = line.split()
        if words and words[0] == "v":
            vertices.append(words[1:4])
        elif words and words[0] == "f":
            corners = [int(word.partition("/")[0]) for word in words[1:]]
            polygons.append([k - 1 if k > 0 else len(vertices) + k for k in corners])
    if not vertices:
        raise ValueError("no vertices")
    places = np.array(vertices, dtype=np.float32).astype(float)
    faces = [(first, b, c) for first, *others in map(partial(_turned, places), polygons) for b, c in pairwise(others)]
    return Mesh(places, np.array(faces, dtype=np.int64).reshape(-1, 3))


def _turned(vertices: Floats, corners: list[int]) -> list[int]:
    """The corners of a polygon; those of a quadrangle begin at an end of its shorter diagonal, as in MuJoCo."""
    if len(corners) != 4 or not 0 <= min(corners) <= max(corners) < len(vertices):
        return corners
    a, b, c, d = vertices[corners]
    return corners if np.sum((c - a) ** 2) < np.sum((d - b) ** 2) else [*corners[1:], corners[0]]


def _msh(content: bytes) -> Mesh:
    """MuJoCo's binary format: four counts, then vertices, normals, texture coordinates and faces."""
    counts = struct.unpack_from("<4i", content)
    if min(counts) < 0 or len(content) != 16 + 12 * (counts[0] + counts[1] + counts[3]) + 8 * counts[2]:
        raise ValueError("sizes that do not fit the file")
    vertices = np.frombuffer(content, "<f4", 3 * counts[0], 16).reshape(-1, 3)
    start = 16 + 12 * (counts[0] + counts[1]) + 8 * counts[2]
    faces = np.frombuffer(content, "<i4", 3 * counts[3], start).reshape(-1, 3)
    return Mesh(vertices.astype(float), faces.astype(np.int64))
