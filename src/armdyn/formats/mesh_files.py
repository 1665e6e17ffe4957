"""Where the mesh files of a robot are: package:// and model:// addresses, ROS package paths, relative names.

Nothing is fetched, and of all files only a package.xml is opened: the answer is a path that exists, or None.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import unquote

from armdyn.errors import FileError
from armdyn.formats.text import read_text

ENVIRONMENT = ("ROS_PACKAGE_PATH", "AMENT_PREFIX_PATH", "GAZEBO_MODEL_PATH", "GZ_SIM_RESOURCE_PATH")
"""Variables that hold folders of packages, separated by colons."""
ENDINGS = (".stl", ".obj", ".dae", ".ply", ".msh", ".glb", ".gltf", ".off", ".3mf")
HIGHEST = 8
"""Folders above the robot's file that are searched for a package."""


def find_mesh(name: str, folder: Path) -> Path | None:
    """The mesh file of that name.

    name: as the robot's file has it: package://NAME/..., model://NAME/..., file://..., or a path.
    folder: of the robot's file.
    """
    scheme, separator, rest = name.partition("://")
    if not separator:
        return next(filter(_is_mesh, _relative(name, folder)), None)
    rest = unquote(rest)
    if scheme == "file":
        path = Path(rest if rest.startswith("/") else f"/{rest}")
        return path if _is_mesh(path) else None
    if scheme not in ("package", "model"):
        return None
    package, _, inner = rest.partition("/")
    return next(filter(_is_mesh, _in_packages(package, inner, folder)), None)


def find_package(name: str, folder: Path) -> Path | None:
    """The folder of a package: above the given folder, beside one above it, or in the paths of ROS."""
    return next((path for path in _packages(name, folder.resolve()) if path.is_dir()), None)


def _packages(package: str, here: Path) -> Iterator[Path]:
    for above in (here, *list(here.parents)[:HIGHEST]):
        if above.name == package or _declared_name(above) == package:
            yield above
        yield above / package
    for variable in ENVIRONMENT:
        for place in filter(None, os.environ.get(variable, "").split(os.pathsep)):
            yield Path(place) / package
            yield Path(place) / "share" / package


def _declared_name(folder: Path) -> str | None:
    """The name of a package as its package.xml has it: a clone's folder may be called otherwise."""
    try:
        found = re.search(r"<name>\s*([^<\s]+)\s*</name>", read_text(folder / "package.xml"))
    except FileError:
        return None
    return found[1] if found else None


def _relative(name: str, folder: Path) -> Iterator[Path]:
    """Beside the file; else in a folder above it, as files that were moved into urdf/ have it."""
    path = Path(name)
    yield folder / path
    if not path.is_absolute():
        yield from (above / path for above in list(folder.resolve().parents)[:HIGHEST])


def _in_packages(package: str, inner: str, folder: Path) -> Iterator[Path]:
    here = folder.resolve()
    yield from (place / inner for place in _packages(package, here))
    for above in (here, *list(here.parents)[:HIGHEST]):  # the package's folder may have another name
        yield above / inner


def _is_mesh(path: Path) -> bool:
    try:
        return path.suffix.lower() in ENDINGS and path.is_file()
    except (OSError, ValueError):
        return False
