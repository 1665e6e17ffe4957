"""Mesh assets of MJCF: their files, scale and reference frame, and their mass properties."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from xml.etree.ElementTree import Element

import numpy as np

from armdyn.algebra import Mat3, Pose, Vec3
from armdyn.errors import FileError, unknown_name
from armdyn.formats.mesh_integrals import MODES, Mesh, MeshMass, mesh_mass, read_mesh
from armdyn.formats.mjcf_values import COMPLETE, Posed, all_named, known, rotation
from armdyn.formats.xml_values import shown
from armdyn.typing import Floats


@dataclass(frozen=True)
class Meshes(Posed):
    """Reads mesh assets; `folder` is that of the model (None: a text, which has no files)."""

    folder: Path | None = None
    _read: dict[str, Mesh] = field(default_factory=dict)

    def assets(self, tag: str) -> list[Element]:
        """All assets of a kind, with the values of their default classes."""
        sections = all_named(self.document.root, "asset")
        return [self.full(element, "main") for section in sections for element in all_named(section, tag)]

    @cached_property
    def mesh_assets(self) -> dict[str, Element]:
        """Mesh assets by name; without a name, they have that of their file."""
        return {element.get("name") or Path(element.get("file", "")).stem: element for element in self.assets("mesh")}

    def mesh_asset(self, geom: Element) -> Element:
        name = geom.get("mesh", "")
        if name not in self.mesh_assets:
            raise unknown_name("mesh", shown(name), self.mesh_assets, where=self.document.at(geom))
        return self.mesh_assets[name]

    def mesh_path(self, asset: Element) -> Path | None:
        """Where the file of a mesh is, whether it exists or not; None for a mesh without a file."""
        name = asset.get("file", "")
        if self.folder is None or not name:
            return None
        stripped = self.compiler.strip_path and asset.get("class") != COMPLETE
        inner = Path(name).name if stripped else name
        return self.folder / self.compiler.mesh_folder / inner

    def mesh_frame(self, asset: Element) -> tuple[Pose, Vec3]:
        """Reference frame in the axes of the file, and the scale that follows: v -> scale R^T (v - p)."""
        R = Mat3.identity()
        if "refquat" in asset.attrib:
            turned = self.numbers(asset.attrib["refquat"], 4, asset, "refquat", "mesh")
            R = rotation(turned, self.document.at(asset, "refquat"))
        return Pose(R, self.vector(asset, "refpos", "mesh")), self.vector(asset, "scale", "mesh", Vec3(1, 1, 1))

    def mesh(self, asset: Element) -> Mesh:
        """The triangles of a mesh in the frame of a geom that shows it."""
        key = asset.get("name") or asset.get("file") or ""
        if key not in self._read:
            vertices, faces = self._raw(asset)
            (R, p), scale = self.mesh_frame(asset)
            factors = np.array([*scale], dtype=float)
            placed = (vertices - np.array([*p], dtype=float)) @ np.array(R.rows, dtype=float) * factors
            self._read[key] = Mesh(placed, faces[:, ::-1] if factors.prod() < 0 else faces)
        return self._read[key]

    def mesh_inertia(self, geom: Element) -> MeshMass:
        """Of the mesh that a geom shows or is fitted to, at unit density; FileError if it cannot be read."""
        asset = self.mesh_asset(geom)
        where = self.document.at(asset)
        mode = known(asset.get("inertia", "legacy"), MODES, "mode of inertia", where)
        try:
            return mesh_mass(self.mesh(asset), next(each for each in MODES if each == mode))
        except FileError as error:
            raise error.located(where) from None

    def _raw(self, asset: Element) -> Mesh:
        where = self.document.at(asset)
        path = self.mesh_path(asset)
        if path is not None:
            return read_mesh(path)
        if "vertex" not in asset.attrib:
            raise FileError("a mesh without a file", where=where, expected="an .stl, .obj or .msh file")
        vertices = self._list(asset, "vertex")
        if len(vertices) % 3:
            raise FileError("a mesh with a part of a vertex", where=where, expected="three numbers a vertex")
        faces = self._list(asset, "face").astype(np.int64) if "face" in asset.attrib else np.zeros(0, dtype=np.int64)
        corners = vertices.astype(np.float32).astype(float).reshape(-1, 3)
        if len(faces) % 3 or (faces < 0).any() or (faces >= len(corners)).any():
            raise FileError("a mesh with corners that do not exist", where=where, expected="three vertices a face")
        return Mesh(corners, faces.reshape(-1, 3))

    def _list(self, asset: Element, key: str) -> Floats:
        text = asset.attrib[key]
        return np.array(self.numbers(text, len(text.split()), asset, key, "mesh"), dtype=float)
